"""A child is asked by deadlines and says why it does not answer; in all places untrusted code has the same sandbox."""

import base64
import json
import pickle
import re
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import psutil
import pytest
from board_server import request, serving

import knights_isolation as ki
from knights_isolation.experiments.league.entries import check_one
from knights_isolation.experiments.league.submissions import Submission
from knights_isolation.experiments.plan import parse_agent
from knights_isolation.experiments.play.cluster import daemons
from knights_isolation.experiments.play.cluster.dispatcher import LOSSES_ALLOWED
from knights_isolation.experiments.play.pools.recovery import DEATHS_ALLOWED
from knights_isolation.experiments.play.sandboxed_run import setup_of
from knights_isolation.experiments.studies.evaluate import LONGEST_WAIT
from knights_isolation.isolation import Limit, play
from knights_isolation.isolation.engines.engine_agent import WAITS
from knights_isolation.isolation.processes.child import (
    PROCESSOR_SECONDS,
    Child,
    Failure,
    NoAnswer,
    Setup,
    Termination,
    decode_answer,
    recipe,
    to_bytes,
)
from knights_isolation.isolation.processes.sandbox import (
    ADDRESSES,
    LARGEST_FILE,
    MEMORY,
    MOST_STARTED,
    landlock_version,
)
from knights_isolation.isolation.processes.subprocess_player import HANGS_AFTER, IMPORT_SECONDS, USUAL_CAP
from knights_isolation.isolation.search.agents import GreedyAgent
from knights_isolation.reports.board.board_processes import USUAL_LIMITS
from knights_isolation.reports.board.resources import Resources
from knights_isolation.reports.lab.starting_runs import BEGIN_SECONDS, SILENT_SECONDS

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems cannot limit another process")

ORDINALS = {3: "third", 8: "eighth"}


def makers():
    """Return a function that makes one that does what it is asked to do, and one for forks; both cross by value."""

    def acting():
        def act(what, *arguments):
            import os
            import time
            from pathlib import Path

            if what == "compute":
                end = time.process_time() + arguments[0]
                while time.process_time() < end:
                    pass
            elif what == "end":
                os.kill(os.getpid(), arguments[0])
            elif what == "object":
                return Path("odd")
            elif what == "wait":
                time.sleep(arguments[0])
            return what

        return act

    def noting():
        act, earlier = acting(), []

        def do(note, what, *arguments):
            earlier.append(what)
            note(f"begins to {what}")
            if what == "flood":
                note("x" * 3_000_000)
            act(what, *arguments)
            return len(earlier)

        return do

    return acting, noting


ACTING, NOTING = map(recipe, makers())


@pytest.mark.parametrize(
    ("question", "seconds", "why", "detail"),
    [
        (("wait", 60), 0.5, Termination.TIMED_OUT, ""),
        (("end", 9), 60, Termination.DIED, "was ended by SIGKILL"),
        (("object",), 60, Termination.NONSENSE, ""),
    ],
)
def test_a_child_that_does_not_answer_is_ended_and_the_reason_is_said(question, seconds, why, detail):
    child = Child(Setup(ACTING))
    child.start()
    assert child.ask(("compute", 0), 60) == "compute"
    with pytest.raises(NoAnswer) as caught:
        child.ask(question, seconds)
    assert (caught.value.why, caught.value.detail) == (why, detail)
    assert child.is_over
    with pytest.raises(NoAnswer, match="died"):
        child.ask(("compute", 0), 60)


def test_an_answer_that_lacks_a_part_is_no_answer():
    forged = b"\x80\x02cknights_isolation.isolation.processes.child\nFailure\n)\x81."
    with pytest.raises(AttributeError):
        decode_answer(base64.b64encode(forged))


def test_an_answer_does_not_change_a_class():
    state = pickle.dumps((None, {"traceback": "forged"}), protocol=2)[2:-1]
    forged = b"\x80\x02cknights_isolation.isolation.processes.child\nFailure\n" + state + b"b0N."
    with pytest.raises(pickle.UnpicklingError, match="class"):
        decode_answer(base64.b64encode(forged))
    assert Failure("").traceback == ""


FORGING = """
import base64, os, pickle, stat
for file in range(3, 64):
    try:
        if stat.S_ISFIFO(os.fstat(file).st_mode):
            os.write(file, base64.b64encode(pickle.dumps(5)) + b"\\n")
    except OSError:
        continue

class CustomPlayer:
    def get_move(self, game, time_left):
        return game.get_legal_moves()[0]
"""


def test_a_file_that_forges_what_it_holds_is_refused_in_one_line(tmp_path):
    file = tmp_path / "game_agent.py"
    file.write_text(FORGING)
    with pytest.raises(ValueError, match="tampered with its own result"):
        parse_agent(f"{file}:CustomPlayer", Limit(cpu_ms=50))


def test_an_answer_takes_no_more_memory_than_it_is_long():
    far = b"\x80\x02Nr" + (1 << 24).to_bytes(4, "little") + b"."  # to be remembered under a large number
    tracemalloc.start()
    try:
        assert decode_answer(base64.b64encode(far)) is None
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_a_setup_that_cannot_be_made_is_refused_with_its_reason():
    with pytest.raises(NoAnswer) as caught:
        Child(Setup(recipe(int, "one"))).start()
    assert caught.value.why is Termination.REFUSED
    assert caught.value.detail.startswith("invalid literal")


def test_any_thread_may_end_a_child_while_another_asks_it():
    child = Child(Setup(ACTING))
    child.start()
    errors = []

    def ask():
        try:
            child.ask(("wait", 600), 600)
        except NoAnswer as error:
            errors.append(error.why)

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.3)
    child.end()
    thread.join(30)
    assert errors == [Termination.DIED]
    assert child.is_over


@on_linux
def test_the_processor_time_of_a_sandboxed_process_is_limited_anew_for_each_answer(tmp_path):
    child = Child(Setup(ACTING, "sandboxed", str(tmp_path), processor=1))
    child.start()
    for _ in range(3):
        assert child.ask(("compute", 0.7), 60) == "compute"
    with pytest.raises(NoAnswer) as caught:
        child.ask(("compute", 60), 60)
    assert (caught.value.why, caught.value.detail) == (Termination.SPENT, "was ended by SIGXCPU")


FATES = {
    ("compute", 0): (60, [1], ""),
    ("compute", 60): (60, [], "used up its processor time"),
    ("wait", 60): (1, [], "timed out"),
    ("end", 9): (60, [], "died"),
    ("flood",): (60, [], "answered nonsense"),
}
"""Questions to a fork, with the seconds that it may take, its answer, and why there is none."""


def test_forks_leave_nothing_behind_and_their_notes_outlive_them(tmp_path):
    child = Child(Setup(NOTING, "forking"))
    child.start()
    for question, (wall, answer, why) in FATES.items():
        setup = Setup(to_bytes(question), "sandboxed", str(tmp_path), processor=1, wall=wall)
        said, reason, seconds = child.ask((setup,), 100)
        assert (said, reason) == ([f"begins to {question[0]}", *answer], why)
        assert seconds < 3
    child.end()


KEEPS = """
import sys
from knights_isolation.isolation.processes.child import Setup, recipe, to_bytes
from knights_isolation.isolation.processes.child import Child

def computing():
    def compute(*question):
        while True:
            pass

    return compute

guard, folder = sys.argv[1:]
child = Child(Setup(recipe(computing), guard, folder))
child.start()
print(flush=True)
child.ask((Setup(to_bytes(()), "sandboxed", folder),) if guard == "forking" else (), 600)
"""


@pytest.mark.parametrize(("guard", "count"), [("none", 2), ("contained", 2), ("sandboxed", 2), ("forking", 3)])
def test_a_child_in_an_endless_loop_ends_when_its_parent_is_killed(guard, count, tmp_path):
    words = [sys.executable, "-c", KEEPS, guard, str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        processes = []
        while len(processes) < count:  # a supervisor, the child, and its fork
            assert parent.poll() is None
            processes = psutil.Process(parent.pid).children(recursive=True)
        parent.kill()
    assert psutil.wait_procs(processes, 30)[1] == []


def test_a_run_of_the_lab_may_compute_for_as_long_as_it_takes(tmp_path):
    assert setup_of({}, tmp_path, tmp_path, ()).processor == 0


LIMITS = {
    "worker of the pool": (f"the {ORDINALS[DEATHS_ALLOWED]}, that game",),
    "cluster machine": (f"{daemons.PATIENCE:g} s without scheduler", f"the {ORDINALS[LOSSES_ALLOWED]}, the run"),
    "player of a file": (f"{HANGS_AFTER:g} s beyond its limit", f"{MOST_STARTED} a move"),
    "restricted player": (f"import {IMPORT_SECONDS:g} s, move {USUAL_CAP:g} s", f"{PROCESSOR_SECONDS} s an answer"),
    "evaluated candidate": (f"{LONGEST_WAIT:g} s", f"{PROCESSOR_SECONDS} s"),
    "pasted function": (f"{USUAL_LIMITS.longest:g} s", f"{PROCESSOR_SECONDS} s an answer"),
    "sandboxed run of the lab": (f"{BEGIN_SECONDS:g} s to begin, {SILENT_SECONDS:g} s a game",),
    "question of the board": (f"{USUAL_LIMITS.longest:g} s", f"{USUAL_LIMITS.memory >> 30} GiB more"),
    "engine": (f"{WAITS.start:g} s to start, {WAITS.silence:g} s of silence",),
}


def test_the_table_of_guarantees_has_every_child_and_its_limits():
    page = (Path(__file__).parents[2] / "docs" / "explanation" / "guarantees.md").read_text(encoding="utf-8")
    lines = page.partition("## Child processes")[2].partition("\n## ")[0].splitlines()
    rows = {line.split("|")[1].strip(): line for line in lines if line.startswith("| ") and "---" not in line}
    del rows["child"]
    assert rows.keys() == LIMITS.keys()
    assert [text for name, row in rows.items() for text in LIMITS[name] if text not in row] == []
    sandboxed = {name for name, row in rows.items() if f"| {MEMORY >> 30} GiB |" in row and "| none | none |" in row}
    assert sandboxed == {"restricted player", "evaluated candidate", "pasted function", "sandboxed run of the lab"}


HOSTILE = """
import ctypes, importlib, mmap, os, resource, socket, subprocess, sys, time
OTHER = {other!r}
WAYS = (
    lambda: os.environ["SECRET"],
    lambda: open("/proc/self/environ").read().index("SECRET"),
    lambda: open(OTHER).read(),
    lambda: open(os.path.join(os.path.dirname(__file__), "written"), "w"),
    lambda: os.remove(OTHER),
    lambda: os.fork(),
    lambda: subprocess.run(["true"]),
    lambda: os.kill(os.getppid(), 0),
    lambda: socket.create_connection(("127.0.0.1", 1)),
    lambda: socket.socket().bind(("127.0.0.1", 0)),
    lambda: socket.socket().listen(),
    lambda: os.memfd_create("memory"),
    lambda: mmap.mmap(-1, 2 << 30),
    lambda: resource.setrlimit(resource.RLIMIT_CPU, (1, 1)),
    lambda: os.nice(0),
    lambda: ctypes.CDLL(None).getpid(),
    lambda: importlib.import_module("_posixsubprocess").fork_exec(),
    lambda: importlib.import_module("readline"),
    lambda: bytearray(2 << 30),
)
SIGNS = {{KeyError: "k", ValueError: "v", PermissionError: "p", ImportError: "i", MemoryError: "m", OSError: "o"}}

def sign(way):
    try:
        way()
    except Exception as error:
        return SIGNS.get(type(error), "?")
    return "+"

SIGNED = "".join(map(sign, WAYS))
MOST = [resource.getrlimit(getattr(resource, "RLIMIT_" + name))[0] for name in ("DATA", "AS", "FSIZE", "CORE")]
LEFT = resource.getrlimit(resource.RLIMIT_CPU)[0] - time.process_time()
raise LookupError(f"tried:{{SIGNED}}:{{MOST}}:{{0 < LEFT <= 61}}:".replace(" ", ""))

class CustomPlayer:
    def get_move(self, game, time_left):
        return game.get_legal_moves()[0]

def score(game, player):
    return 1.0
"""
REFUSED = "kvpppppppppppppppim"
"""What becomes of each of `WAYS`: variables are missing, and all else is refused."""


def as_player(file: Path) -> str:
    agent = parse_agent(f"apart:{file}:CustomPlayer", Limit(cpu_ms=9999))
    return play(agent, GreedyAgent(), [24, 14]).detail


def as_submission(file: Path) -> str:
    return check_one(Submission("it", file, "CustomPlayer", "")).why_not


def as_candidate(file: Path) -> str:
    return ki.evaluate(f"{file}:score", budget="values").feedback


def pasted(file: Path) -> str:
    with serving(Resources(home=file.parent / "runs")) as port:
        asked = json.dumps({"source": file.read_text(encoding="utf-8"), "heuristic": ""}).encode()
        return request(port, "/api/trial", asked)[2]


@pytest.mark.slow
@pytest.mark.skipif(not landlock_version(), reason="the system has no Landlock")
def test_hostile_code_is_refused_the_same_in_all_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "secret")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / "secret.txt"
    other.write_text("secret")
    file = tmp_path / "it" / "game_agent.py"
    file.parent.mkdir()
    file.write_text(HOSTILE.format(other=str(other)))
    seen = {}
    for place in (as_player, as_submission, as_candidate, pasted):
        text = place(file)
        found = re.search(r"tried:(\S+):", text)
        assert found, text
        seen[place.__name__] = found[1]
    limits = f"[{MEMORY},{ADDRESSES},{LARGEST_FILE},0]"
    assert seen == dict.fromkeys(seen, f"{REFUSED}:{limits}:True")
    assert other.read_text() == "secret"
    assert not (file.parent / "written").exists()
