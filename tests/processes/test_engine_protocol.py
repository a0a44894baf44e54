"""Processes that play: lines by a deadline, the end of all that was started, and agents that cross to them."""

import functools
import os
import select
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from knights_isolation.experiments.plan import parse_agent
from knights_isolation.isolation import Board, Limit, play
from knights_isolation.isolation.games.match import play_games
from knights_isolation.isolation.loading.load_user_code import load_player
from knights_isolation.isolation.processes.child import (
    START_SECONDS,
    Child,
    Failure,
    NoAnswer,
    Setup,
    SupervisedProgram,
    Termination,
    decode,
    encode,
    from_bytes,
    to_bytes,
)
from knights_isolation.isolation.processes.subprocess_player import (
    MOST_KEPT,
    NEW_GAME,
    SubprocessPlayer,
    subprocess_player,
)
from knights_isolation.isolation.rules.game import Reason
from knights_isolation.isolation.search import SearchResult
from knights_isolation.isolation.search.agents import (
    AgentPicklingError,
    ForfeitError,
    GreedyAgent,
    RandomAgent,
    SearchAgent,
)
from knights_isolation.isolation.search.classic_agent import ClassicAgent

BOARD = Board.from_moves([24, 14])


def python(program):
    return SupervisedProgram([sys.executable, "-c", program], None, os.devnull, 1 << 20)


def is_alive(pid):
    """Whether a process runs; one that has ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until_gone(pid):
    """Wait until a process that is no child of ours has ended; half a minute is more than it ever takes."""
    handle = os.pidfd_open(pid)
    try:
        return bool(select.select([handle], [], [], 30)[0])
    finally:
        os.close(handle)


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at other processes as Linux shows them")


# The transport


def test_lines_go_there_and_back_whole_and_in_order():
    transport = python("import sys\nfor line in sys.stdin: print(line.strip()[::-1], flush=True)")
    long = b"ab" * 200_000
    transport.send(b"one", 30)
    transport.send(b"two", 30)
    assert [transport.receive(30), transport.receive(30)] == [b"eno", b"owt"]
    transport.send(long, 30)
    assert transport.receive(30) == long[::-1]
    transport.end()


def test_silence_is_told_from_the_end():
    transport = python("import sys; sys.stdin.readline(); print('half', end='', flush=True); sys.stdin.readline()")
    with pytest.raises(NoAnswer, match="timed out"):
        transport.receive(0.01)
    transport.send(b"go", 30)
    with pytest.raises(NoAnswer, match="timed out"):
        transport.receive(0.01)
    transport.send(b"end", 30)
    with pytest.raises(NoAnswer, match="died"):
        transport.receive(30)
    transport.end()


def test_who_takes_no_lines_is_silent_and_who_is_gone_has_ended():
    deaf = python("import time; time.sleep(60)")
    with pytest.raises(NoAnswer, match="timed out"):
        deaf.send(b"x" * 10_000_000, 0.05)
    deaf.end()
    with pytest.raises(NoAnswer, match="died"):
        deaf.send(b"x", 1)
    with pytest.raises(NoAnswer, match="died"):
        deaf.receive(1)
    gone = python("")
    with pytest.raises(NoAnswer, match="died"):
        gone.receive(30)
    with pytest.raises(NoAnswer, match="died"):
        gone.send(b"x" * 10_000_000, 30)
    gone.end()


@on_linux
def test_a_process_ends_with_all_it_has_started_and_ending_it_twice_does_nothing():
    transport = python(
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(child.pid, flush=True)\nsys.stdin.readline()"
    )
    grandchild = int(transport.receive(30))
    assert is_alive(grandchild)
    transport.end()
    assert until_gone(grandchild) if is_alive(grandchild) else True
    assert not is_alive(transport.pid)
    transport.end()


@on_linux
def test_a_process_has_no_open_file_of_ours():
    ours = os.pipe()
    for end in ours:
        os.set_inheritable(end, True)
    transport = python("import os; print(*sorted(os.listdir('/proc/self/fd')), flush=True)")
    held = {int(number) for number in transport.receive(30).split()}
    assert not held & set(ours)
    assert held <= {0, 1, 2, 3}
    transport.end()
    for end in ours:
        os.close(end)


# The protocol, without a process


class Script(Child):
    """A child that answers as told, and keeps what is sent."""

    def __init__(self, *answers):
        self.setup = Setup(b"")
        self.is_over = False
        self._asking = threading.RLock()
        self.answers = list(answers)
        self.sent = []
        self.ended = 0

    def send(self, line, seconds):
        self.sent.append(decode(line))

    def receive(self, seconds):
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return encode(answer)

    def used(self):
        return 0.0

    def ending(self, seconds):
        return ""

    def end(self):
        self.ended += 1
        self.is_over = True


MOVE = SearchResult(9, 0.0, 1, 1, 0.0, (9,), False)
ORDERS = iter(range(1000))


def scripted(*scripts):
    """A guard over these transports, one after another; nobody else has its order."""
    waiting = list(scripts)

    def start(order):
        script = waiting.pop(0)
        script.setup = order
        return script

    return SubprocessPlayer(RandomAgent("it"), Setup(b"agent %d" % next(ORDERS)), 5.0, start)


def test_an_order_goes_first_then_questions_over_one_process():
    script = Script(None, None, MOVE, None, MOVE)
    player = scripted(script)
    for _ in range(2):
        player.new_game()
        assert player.choose(BOARD, 3) == MOVE
    assert script.sent == [player.order, NEW_GAME, (BOARD, 3), NEW_GAME, (BOARD, 3)]


def test_what_a_player_raises_is_an_error_and_the_process_goes_on():
    script = Script(None, Failure("ValueError: x", "in line 3"), MOVE)
    player = scripted(script)
    with pytest.raises(ForfeitError, match="ValueError: x") as caught:
        player.new_game()
    assert (caught.value.reason, caught.value.traceback) == (Reason.ERROR, "in line 3")
    assert player.choose(BOARD, 0) == MOVE
    assert not script.ended


@pytest.mark.parametrize(
    ("answer", "reason", "detail"),
    [
        (NoAnswer(Termination.TIMED_OUT), Reason.HANG, "its process died: it was ended, no answer within 5 s"),
        (NoAnswer(Termination.DIED), Reason.ERROR, "its process died"),
    ],
)
def test_who_does_not_answer_or_dies_is_ended_and_replaced_for_the_next_game(answer, reason, detail):
    first, second = Script(None, answer), Script(None, None)
    player = scripted(first, second)
    with pytest.raises(ForfeitError) as caught:
        player.new_game()
    assert (caught.value.reason, caught.value.detail) == (reason, detail)
    assert first.ended == 1
    player.new_game()
    assert second.sent == [player.order, NEW_GAME]


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (NoAnswer(Termination.TIMED_OUT), ForfeitError, "did not start within 70 s"),
        (NoAnswer(Termination.DIED), ForfeitError, "its process died"),
        (
            Failure("no module called x"),
            AgentPicklingError,
            "it cannot play in its own process.*: no module called x",
        ),
    ],
)
def test_a_process_that_does_not_start_is_ended(answer, error, message):
    script = Script(answer)
    player = scripted(script)
    with pytest.raises(error, match=message):
        player.new_game()
    assert script.ended == 1


def test_a_closed_guard_leaves_its_process_to_the_next_of_the_same_order_only():
    script = Script(None, None, None)
    player = scripted(script)
    player.new_game()
    player.close()
    player.close()
    other = SubprocessPlayer(player.agent, Setup(player.order.make, "none"), 5.0, lambda _: Script(None, None))
    other.new_game()
    again = SubprocessPlayer(player.agent, player.order, 5.0, lambda _: pytest.fail("a process waits already"))
    again.new_game()
    assert script.sent == [player.order, NEW_GAME, NEW_GAME]
    assert not script.ended


def test_a_process_whose_answer_is_still_due_is_ended_not_kept():
    script = Script(None, KeyboardInterrupt())
    player = scripted(script)
    with pytest.raises(KeyboardInterrupt):
        player.new_game()
    player.close()
    assert script.ended == 1


def test_of_too_many_waiting_processes_the_oldest_is_ended():
    scripts = [Script(None, None) for _ in range(MOST_KEPT + 1)]
    for script in scripts:
        player = scripted(script)
        player.new_game()
        player.close()
    assert [script.ended for script in scripts] == [1, *[0] * MOST_KEPT]


# Agents in processes


class First:
    """A player that plays the first legal move."""

    def get_move(self, game, time_left):
        return game.get_legal_moves()[0]


class Remembering:
    """A player that counts its moves, and how many of its kind have been made, in `made`."""

    made = 0

    def __init__(self):
        Remembering.made += 1
        self.moves = 0

    def get_move(self, game, time_left):
        self.moves += 1
        raise ValueError(f"{self.moves} of {Remembering.made} in {os.getpid()}")


class Interrupting:
    def get_move(self, game, time_left):
        raise KeyboardInterrupt


class Printing(First):
    """A player that writes where answers go, and reads where questions come from."""

    def get_move(self, game, time_left):
        print("thinking", flush=True)
        os.write(1, b"hard\n")
        os.write(2, b"harder\n")
        assert sys.stdin.read() == ""
        return super().get_move(game, time_left)


class Odd(Exception):
    """An exception that cannot be made again from what it holds."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


class Raising:
    def get_move(self, game, time_left):
        raise Odd("this", "that")


class Dying:
    def get_move(self, game, time_left):
        os._exit(3)


def classic(factory, **limit):
    return ClassicAgent("it", factory, (), Limit(**(limit or {"ms": 60_000})))


def against_greedy(agent, hard_cap=60.0):
    return play(agent, GreedyAgent(), [24, 14], hard_cap=hard_cap)


def test_a_guarded_player_plays_as_it_does_unguarded():
    alone, guarded = play(classic(First), GreedyAgent(), [24, 14]), against_greedy(classic(First))
    assert (alone.moves, alone.reason) == (guarded.moves, guarded.reason)


def test_one_process_serves_a_batch_and_the_next_with_a_fresh_player_a_game():
    agent = classic(Remembering)
    details = []
    for _ in range(2):
        records = play_games(agent, GreedyAgent(), [(24, 14), (0, 1)], [1, 2], hard_cap=20.0).detail
        details += [detail.partition(" (test_engine_protocol.py, line ")[0] for detail in records]
    assert [detail.partition(" in ")[0] for detail in details] == [f"ValueError: 1 of {n}" for n in (1, 2, 3, 4)]
    assert len({detail.partition(" in ")[2] for detail in details} - {str(os.getpid())}) == 1


@pytest.mark.parametrize(
    ("factory", "reason", "detail"),
    [
        (Raising, "error", "Odd: this and that"),
        (Interrupting, "error", "KeyboardInterrupt"),
        (Dying, "error", "its process died"),
        (Printing, "no_moves", ""),
    ],
)
def test_what_a_player_does_in_its_process_stays_there(factory, reason, detail, capfd):
    record = against_greedy(classic(factory))
    assert (record.reason, record.detail.partition(" (test_engine_protocol.py, line ")[0]) == (reason, detail)
    assert capfd.readouterr() == ("", "")


def test_local_classes_and_lambdas_cross():
    factor = 1

    class Local:
        def get_move(self, game, time_left):
            return game.get_legal_moves()[factor - 1]

    for factory in (Local, lambda: Local(), functools.partial(Local)):
        assert against_greedy(classic(factory)).reason == "no_moves"


@pytest.mark.slow
def test_a_search_by_a_function_of_a_script_crosses_and_plays_compiled():
    def score(game, player):
        return float(len(game.get_legal_moves(player)))

    agent = SearchAgent("it", "alphabeta", score, "score", Limit(depth=3), is_user_code=True)
    assert against_greedy(agent).moves == play(agent, GreedyAgent(), [24, 14]).moves


class Compiling:
    """An agent whose players say in a new game for which boards its code has been compiled before."""

    name = "it"

    def compiled(self, size):
        self.size = size

    def open(self):
        return self

    def new_game(self):
        raise ValueError(f"compiled for {self.size}")


def test_code_is_compiled_before_the_hard_cap_counts():
    player = subprocess_player(Compiling(), (5, 6), 20.0)
    with pytest.raises(ForfeitError) as caught:
        player.new_game()
    player.close()
    assert caught.value.detail.startswith("ValueError: compiled for (5, 6) (test_engine_protocol.py, line ")


def test_what_belongs_to_this_process_cannot_cross_and_says_so_in_a_line():
    lock = threading.Lock()

    class Locked(First):
        held = lock

    with pytest.raises(ValueError, match=r"^it cannot play in its own process, which a hard cap needs: .*lock") as it:
        against_greedy(classic(Locked))
    assert "\n" not in str(it.value)


PLAYER = """
from aside import pick
import functools

def wrapped(cls):
    @functools.lru_cache
    def make():
        return cls()
    make.cache_clear()
    return make

@wrapped
class Mine:
    def get_move(self, game, time_left):
        return pick(game.get_legal_moves())
"""


def test_a_player_of_a_file_is_loaded_there_again_unless_the_file_has_changed(tmp_path):
    path = tmp_path / "my-player.py"
    path.write_text(PLAYER)
    (tmp_path / "aside.py").write_text("def pick(moves):\n    return moves[0]\n")
    agent = parse_agent(f"It={path}:Mine@ms=60000")
    assert against_greedy(agent).reason == "no_moves"
    factory = load_player(path, "Mine").value
    packed = to_bytes(classic(factory))
    assert from_bytes(packed).factory is factory
    (tmp_path / "aside.py").write_text("def pick(moves):\n    return moves[1]\n")
    with pytest.raises(ValueError, match=r"my-player\.py has changed since it was loaded"):
        from_bytes(packed)
    agent = replace(agent, name="another")  # the process of the first one, which has loaded it, goes on
    assert against_greedy(agent).detail == "cannot be loaded: my-player.py has changed since the run began"
    (tmp_path / "other.py").write_text("class P:\n    def get_move(self, game, time_left):\n        pass\n")
    other = parse_agent(f"It={tmp_path / 'other.py'}:P")
    (tmp_path / "other.py").unlink()
    assert against_greedy(other).detail.startswith("cannot be loaded: no such file")


def test_threads_guard_players_at_the_same_time():
    records = []
    threads = [threading.Thread(target=lambda: records.append(against_greedy(classic(First)))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({record.moves for record in records}) == 1
    assert len(records) == 3


HANGING_SCRIPT = """
import sys
from knights_isolation.isolation import Limit, play
from knights_isolation.isolation.search.agents import GreedyAgent
from knights_isolation.isolation.search.classic_agent import ClassicAgent

class Hanging:
    where = sys.argv[1]

    def get_move(self, game, time_left):
        import os
        with open(self.where, "w") as file:
            file.write(f"{os.getpid()}\\n")
        while True:
            pass

play(ClassicAgent("it", Hanging, (), Limit(ms=10)), GreedyAgent(), [24, 14], hard_cap=600)
"""


@pytest.mark.slow
@on_linux
def test_a_script_needs_no_main_guard_and_killing_it_ends_the_player_s_process(tmp_path):
    script, fifo = tmp_path / "script.py", tmp_path / "pid"
    script.write_text(HANGING_SCRIPT)
    os.mkfifo(fifo)
    parent = subprocess.Popen([sys.executable, str(script), str(fifo)])
    try:
        with fifo.open() as file:
            pid = int(file.readline())
        assert is_alive(pid)
    finally:
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
    assert not is_alive(pid) or until_gone(pid)


def test_random_and_greedy_need_no_process():
    assert play(RandomAgent(), GreedyAgent(), [24, 14], hard_cap=1e-9).reason == "no_moves"


def test_packed_agents_of_this_process_are_alike():
    assert subprocess_player(classic(First), (7, 7), 1.0).order == subprocess_player(classic(First), (7, 7), 9.0).order
    assert START_SECONDS > 1
