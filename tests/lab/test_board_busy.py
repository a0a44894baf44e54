"""A board that is kept busy: long questions, clients that go away, ends in the middle, damaged runs."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from board_server import SECRETS, cookie, request, serving
from played_games import write_run

from knights_isolation.experiments.plan import parse_agent
from knights_isolation.isolation.loading.load_user_code import load_heuristic
from knights_isolation.isolation.search.agents import RandomAgent
from knights_isolation.reports.board.board_processes import ServerLimits
from knights_isolation.reports.board.resources import Resources, packed

LATE = {"size": "7x7", "moves": [24, 14, 9, 1]}
SHORT = {"position": LATE, "heuristics": ["improved"], "depth": 1}
USUAL_LIMITS = ServerLimits(short=1.0, longest=3600.0, long_places=2, long_places_a_page=1)


@dataclass(frozen=True)
class Pondering(RandomAgent):
    """Takes its time when it is to move, and no processor's."""

    name: str = "pondering"
    seconds: float = 0.0

    def open(self):
        time.sleep(self.seconds)
        return super().open()


@dataclass(frozen=True)
class Ending(RandomAgent):
    """Ends its process when it is to move."""

    name: str = "ending"

    def open(self):
        os._exit(3)


@dataclass(frozen=True)
class Greedy(RandomAgent):
    """Takes two gigabytes when it is to move."""

    name: str = "greedy for memory"

    def open(self):
        return [bytearray(1 << 30) for _ in range(2)]


AGENTS = {
    "endless": Pondering("endless", 3600.0),
    "long": Pondering("long", 2.5),
    "computing": parse_agent("ID:improved@nodes=900000000000"),
    "ending": Ending(),
    "greedy for memory": Greedy(),
}


def sleeping(game, player):
    time.sleep(USUAL_LIMITS.short)


def ask(port, address, question, page=""):
    status, _, text = request(
        port, f"/api/{address}", json.dumps(question).encode(), **({"x_page": page} if page else {})
    )
    return status, json.loads(text)


def ask_until_taken(port, address, question, page):
    """Ask again as long as others are before it."""
    while is_busy(answer := ask(port, address, question, page)):
        pass
    return answer


def move(agent):
    return {"position": {"size": "9x11", "moves": [40, 50]}, "agent": agent}


def begun(port, agent, page, **details):
    """A connection on which a move was asked for."""
    connection = socket.create_connection(("127.0.0.1", port))
    body = json.dumps({**move(agent), **details}).encode()
    head = f"POST /api/move HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\nx-page: {page}\r\n"
    head += f"cookie: {cookie(port)}\r\n"
    connection.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
    return connection


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A heuristic's file, as it was when the board was started."""
    path = tmp_path_factory.mktemp("files") / "mine.py"
    path.write_text("def score(game, player):\n    return 1.0\n")
    return path


@pytest.fixture(scope="module")
def port(file):
    resources = Resources(
        heuristics={"sleeping": sleeping, "mine": load_heuristic(str(file), "score").value}, agents=AGENTS
    )
    with serving(resources, USUAL_LIMITS) as port:
        ask(port, "values", SHORT)
        yield port


def told_busy(port):
    return is_busy(ask(port, "move", move("long"), "someone"))


def is_busy(answer):
    return (
        answer[0] == 503
        and "the board is busy with other long requests: try again later, or request less" in answer[1]["error"]
    )


def until(is_so):
    assert any(is_so() for _ in range(100))


@pytest.mark.exhaustive
def test_short_questions_are_answered_while_long_ones_run_and_no_more_long_ones_are_taken(port):
    with closing(begun(port, "endless", "a")):
        with closing(begun(port, "endless", "b")):
            until(lambda: told_busy(port))
            # On a crowded machine a short question may take long, and is refused as one that does.
            until(lambda: ask(port, "values", SHORT)[0] == 200)
            until(lambda: ask(port, "move", {"position": LATE, "agent": "random"})[0] == 200)
        # One has gone away, and left its place, but not to the page that has one.
        until(lambda: not told_busy(port))
        assert is_busy(ask(port, "values", {**SHORT, "heuristics": ["sleeping"]}, "a"))
    assert ask(port, "move", move("long"))[0] == 200


@pytest.mark.exhaustive
def test_a_newer_question_of_a_page_takes_the_place_of_its_older_one(port):
    with ThreadPoolExecutor(1) as pool, closing(begun(port, "endless", "b")):
        older = pool.submit(ask_until_taken, port, "move", move("endless"), "a")
        until(lambda: told_busy(port))
        assert ask(port, "move", move("long"), "a")[0] == 200
        status, answer = older.result()
    assert status == 409
    assert "replaced by another request, or the board was closed" in answer["error"]


@pytest.mark.slow
def test_nobody_moves_for_an_agent_that_thinks_in_a_game(port):
    game = {**move("endless"), "is_game": True}
    moves = [*game["position"]["moves"], 59]
    after = {"position": {**game["position"], "moves": moves}, "agent": "random", "is_game": True}
    with closing(begun(port, "endless", "c", is_game=True)):
        until(lambda: "only its answer moves" in ask(port, "move", after, "c")[1].get("error", ""))
        assert "only its answer" not in str(ask(port, "move", after, "another page"))


@pytest.mark.slow
def test_a_question_that_takes_too_long_is_ended():
    with serving(Resources(agents=AGENTS), ServerLimits(short=0.2, longest=1.0)) as port:
        status, answer = ask(port, "move", move("computing"))
    assert (status, answer["error"]) == (503, "no answer within 1 s: request less")


def test_nobody_waits_in_a_line_without_end():
    with serving(Resources(agents=AGENTS), ServerLimits(short_places=1, waiting=0)) as port:
        assert ask(port, "values", SHORT) == (503, {"error": "the board is busy: try again later"})


@pytest.mark.slow
def test_an_agent_that_ends_its_process_ends_no_other_question(port):
    assert ask(port, "move", move("ending")) == (500, {"error": "the process for this request has died"})
    assert ask(port, "values", SHORT)[0] == 200


@pytest.mark.exhaustive
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is counted on Linux only")
def test_a_question_that_takes_too_much_memory_is_told_so(port):
    status, answer = ask(port, "move", move("greedy for memory"))
    assert status == 400
    assert "memory" in answer["error"].lower()


def test_a_file_that_has_changed_fails_its_own_questions_only(port, file):
    file.write_text("def score(game, player):\n    return 2.0\n")
    status, answer = ask(port, "values", {**SHORT, "heuristics": ["mine"]})
    assert status == 400
    assert re.fullmatch(r"mine: \S+mine.py has changed since it was loaded; restart the board to use it",
                        answer["error"])  # fmt: skip
    assert ask(port, "values", SHORT)[0] == 200


def test_what_belongs_to_this_process_cannot_be_offered():
    lock = threading.Lock()
    with pytest.raises(ValueError, match=r"^the board cannot use locked, because it cannot run in another process: "):
        packed(Resources(heuristics={"locked": lambda game, player: float(lock.locked())}))


# The end


def processes_of(leader):
    """The processes that a process has started and that have not ended."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,stat="], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    return {int(pid) for pid, parent, stat in rows if int(parent) == leader and not stat.startswith("Z")}


def are_running(pids):
    listed = subprocess.run(["ps", "-eo", "pid=,stat="], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    return pids & {int(pid) for pid, stat in rows if not stat.startswith("Z")}


@pytest.mark.exhaustive
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_board_ends_at_once_with_all_its_processes_also_while_a_long_question_runs(end, tmp_path):
    (tmp_path / "slow.py").write_text(
        "import time\n\nclass Slow:\n    def get_move(self, game, time_left):\n        time.sleep(600)\n"
    )
    command = [
        sys.executable,
        "-m",
        "knights_isolation.command_line",
        "board",
        "--no-open",
        "--agent",
        "slow.py:Slow@ms=900000",
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as board, ExitStack() as stack:  # fmt: skip
        stack.callback(board.kill)
        number, secret = re.search(r":(\d+)/board\?token=(\S+)", board.stdout.readline()).groups()
        port = int(number)
        SECRETS[port] = secret
        name = json.loads(request(port, "/api/start")[2])["agents"][0]
        assert ask(port, "values", SHORT)[0] == 200
        with closing(begun(port, name, "a")), closing(socket.create_connection(("127.0.0.1", port))) as half:
            half.sendall(f"POST /api/move HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-le".encode())
            assert ask(port, "values", SHORT)[0] == 200
            started = processes_of(board.pid)
            board.send_signal(end)
            board.wait(timeout=30)
        assert board.stderr.read() == ""
    assert started
    until(lambda: not are_running(started))


# Damaged runs


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run that is sound, and what attackers of every kind have left of others."""
    folder = tmp_path_factory.mktemp("runs")
    write_run(folder / "sound")
    for name in ("flipped", "torn", "empty", "gone", "facts", "typed"):
        shutil.copytree(folder / "sound", folder / name)
    return folder


def damage(run):
    part = min((run / "games").glob("*.parquet"))
    data = part.read_bytes()
    match run.name:
        case "flipped":
            middle = len(data) // 2
            part.write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])
        case "torn":
            part.write_bytes(data[: len(data) // 2])
        case "empty":
            part.write_bytes(b"")
        case "gone":
            shutil.rmtree(run)
        case "facts":
            (run / "run.json").write_text("{")
        case "typed":
            (run / "run.json").write_text('{"agents": 3, "games": [], "created_at": 7, "notes": {}}')


DAMAGED = ("flipped", "torn", "empty", "gone", "facts", "typed")


@pytest.fixture(scope="module")
def damaged_port(runs):
    with serving(Resources(tuple(runs / name for name in ("sound", *DAMAGED)))) as port:
        for name in DAMAGED:
            damage(runs / name)
        yield port


@pytest.mark.parametrize("name", DAMAGED)
@pytest.mark.parametrize("path", ["games", "games/3"])
def test_a_damaged_run_is_a_sentence_on_the_page_and_other_runs_go_on(damaged_port, name, path):
    status, _, text = request(damaged_port, f"/api/runs/{name}/{path}")
    answer = json.loads(text)
    if name in ("flipped", "torn", "empty", "gone"):
        assert status == 400
        assert name in answer["error"]
        assert "\n" not in answer["error"]
        assert "Traceback" not in answer["error"]
    else:
        assert status in (200, 400)
    status, _, text = request(damaged_port, f"/api/runs/sound/{path}")
    assert status == 200
