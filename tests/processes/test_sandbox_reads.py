"""What a player of a class can read: its own folder, Python and the toolkit, and nothing of others."""

import html
import os
import zipfile
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from submissions import HONEST, league, submit

from knights_isolation.experiments.league.entries import source_remarks
from knights_isolation.experiments.plan import parse_agent
from knights_isolation.isolation.processes.child import START, Child, Setup, recipe
from knights_isolation.isolation.processes.sandbox import UNRESTRICTED_READS, landlock_version
from knights_isolation.isolation.processes.subprocess_player import FileAgent
from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.game import Limit
from knights_isolation.isolation.search.agents import ForfeitError

WITHOUT_LANDLOCK = START.replace(
    "from", f"import {landlock_version.__module__} as sandbox; sandbox.landlock_version = lambda: 0; from", 1
)
WAYS = {
    "open": "open('../ada/secret.py').read()",
    "an absolute path": "open(ADA + '/secret.py', 'rb').read()",
    "bytes": "open(b'../ada/secret.py').read()",
    "a text of its own kind": "open(type('Text', (str,), {'startswith': lambda *_: True})(ADA + '/secret.py')).read()",
    "os.open": "os.read(os.open(ADA + '/secret.py', os.O_RDONLY), 99)",
    "pathlib": "pathlib.Path('..', 'ada', 'secret.py').read_text()",
    "io": "io.FileIO('../ada/secret.py').read()",
    "io.open_code": "io.open_code(ADA + '/secret.py').read()",
    "mmap": "mmap.mmap(os.open('../ada/secret.py', os.O_RDONLY), 0, prot=mmap.PROT_READ)[:]",
    "a descriptor of the folder": "os.read("
    "os.open('secret.py', os.O_RDONLY, dir_fd=os.open('../ada', os.O_RDONLY)), 99)",
    "another working directory": "(os.chdir('../ada'), open('secret.py').read())",
    "imports by path": "importlib.machinery.SourceFileLoader('m', ADA + '/secret.py').load_module().WORD",
    "a spec": "(s := importlib.util.spec_from_file_location('n', ADA + '/secret.py'), "
    "m := importlib.util.module_from_spec(s), s.loader.exec_module(m), m.WORD)",
    "sys.path": "(sys.path.insert(0, ADA), __import__('secret').WORD)",
    "importlib": "(sys.path.insert(0, ADA), importlib.import_module('secret').WORD)",
    "runpy": "runpy.run_path('../ada/secret.py')['WORD']",
    "pkgutil": "pkgutil.get_data('secret', 'secret.py')",
    "linecache": "linecache.getlines(ADA + '/secret.py')",
    "inspect": "inspect.findsource(compile('0', ADA + '/secret.py', 'exec'))",
    "tokenize": "tokenize.open('../ada/secret.py').read()",
    "zipimport": "(sys.path.insert(0, ADA + '/book.zip'), __import__('packed').WORD)",
    "zipfile": "zipfile.ZipFile('../ada/book.zip').read('packed.py')",
    "numpy.load": "numpy.load('../ada/weights.npy')",
    "numpy.fromfile": "numpy.fromfile('../ada/weights.npy', 'u1').tobytes()",
    "numpy.memmap": "numpy.memmap('../ada/weights.npy', mode='r').tobytes()",
    "listdir": "os.listdir('../ada')",
    "scandir": "[entry.name for entry in os.scandir(ADA)]",
    "glob": "glob.glob('../*/*')",
    "walk": "list(os.walk('..'))",
    "iterdir": "[str(path) for path in pathlib.Path('../ada').iterdir()]",
    "the root of /proc": "open('/proc/self/root' + ADA + '/secret.py').read()",
    "the folder of /proc": "open('/proc/self/cwd/../ada/secret.py').read()",
    "the folder of its parent": "open(f'/proc/{os.getppid()}/root' + ADA + '/secret.py').read()",
    "the variables of its parent": "open(f'/proc/{os.getppid()}/environ').read()",
    "a link": "open('link.py').read()",
    "a linked folder": "open('folder/secret.py').read()",
    "a link of its own": "(os.symlink(ADA, 'mine'), open('mine/secret.py').read())",
    "a hard link": "(os.link(ADA + '/secret.py', 'mine.py'), open('mine.py').read())",
    "a copy": "open(shutil.copyfile(ADA + '/secret.py', 'copy.py')).read()",
    "a program": "subprocess.run(['cat', ADA + '/secret.py'], capture_output=True).stdout",
    "a program without events": "(setattr(sys, 'audit', lambda *_: None), "
    "subprocess.run(['/bin/cat', ADA + '/secret.py'], capture_output=True).stdout)",
    "another interpreter": "interpret('WORD = open(' + repr(ADA + '/secret.py') + ').read()')",
    "another thread": "in_thread(lambda: open('../ada/secret.py').read())",
    "native code": "native(ADA + '/secret.py')",
}
"""Expressions that hold what a player has read of the submission in the folder `ADA`."""
PLAYER = """
import ctypes, glob, importlib.machinery, importlib.util, inspect, io, linecache, mmap, numpy, os, pathlib
import pkgutil, runpy, shutil, subprocess, sys, threading, time, tokenize, zipfile
ADA, WAYS = {ada!r}, {ways!r}

def in_thread(read):
    found = []
    thread = threading.Thread(target=lambda: found.append(read()))
    thread.start()
    thread.join()
    return found

def native(path):
    library, into = ctypes.CDLL(None), ctypes.create_string_buffer(99)
    library.read(library.open(path.encode(), os.O_RDONLY), into, 99)
    return into.value

def interpret(source):
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    return interpreters.run_string(interpreters.create(), source) or "secret"

class CustomPlayer:
    def get_move(self, game, time_left):
        tried = ""
        for way in WAYS:
            os.chdir(os.path.dirname(__file__))
            try:
                tried += "+" if "secret" in str(eval(way, globals())) else "-"
            except BaseException:
                tried += "-"
        raise LookupError(tried)
"""
OWN = """
import json, numpy, os, random, time
with open("weights.json") as file:
    WEIGHTS = json.load(file)

class CustomPlayer:
    def get_move(self, game, time_left):
        import bisect, decimal, hashlib, numpy.fft, numpy.polynomial, ssl, zoneinfo
        import heuristics, isolation.search, sample_players
        assert WEIGHTS == json.loads(open(os.path.join(os.path.dirname(__file__), "more", "weights.json")).read())
        assert sorted(os.listdir(".")) == ["game_agent.py", "more", "weights.json"]
        time.localtime(), zoneinfo.ZoneInfo("Europe/Berlin"), os.urandom(8), random.SystemRandom().random()
        hashlib.sha256(b"").hexdigest(), numpy.linalg.norm(numpy.ones(3)), open(os.devnull).read(), os.cpu_count()
        return game.get_legal_moves()[0]
"""


def class_of_two(home: Path) -> FileAgent:
    """Ada's submission, with a secret in each file, and a player beside it that tries to read it."""
    ada = submit(home, "ada", "WORD = 'secret'\n", "secret.py").parent
    np.save(ada / "weights.npy", np.array(["secret"], "S6"))
    with zipfile.ZipFile(ada / "book.zip", "w") as book:
        book.writestr("packed.py", "WORD = 'secret'\n")
    spy = submit(home, "spy", PLAYER.format(ada=str(ada), ways=list(WAYS.values())))
    (spy.parent / "link.py").symlink_to(ada / "secret.py")
    (spy.parent / "folder").symlink_to(ada)
    return restricted(spy)


def restricted(file: Path) -> FileAgent:
    agent = parse_agent(f"apart:{file}:CustomPlayer", Limit(cpu_ms=9999))
    assert isinstance(agent, FileAgent)
    return agent


def move_of(agent: FileAgent, program: str = START) -> int | None:
    """The first move of a player."""

    player = agent.capped(60).open(partial(Child, program=program))
    try:
        player.new_game()
        return player.choose(Board.from_moves([24, 14]), 1).move
    finally:
        player.close()


FENCES = pytest.mark.parametrize(
    "program",
    [
        pytest.param(START, marks=pytest.mark.skipif(not landlock_version(), reason="the system has no Landlock")),
        WITHOUT_LANDLOCK,
    ],
    ids=["Landlock", "Python"],
)


def ways_that_read(agent: FileAgent, program: str = START) -> list[str]:
    """The ways in which a player, in its first move, has read another's files."""
    with pytest.raises(ForfeitError) as loss:
        move_of(agent, program)
    tried = loss.value.detail.removeprefix("LookupError: ").partition(" ")[0]
    assert len(tried) == len(WAYS), loss.value.detail
    return [name for name, sign in zip(WAYS, tried, strict=True) if sign == "+"]


@FENCES
def test_a_player_reads_nothing_of_others_in_any_way(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "secret")
    assert ways_that_read(class_of_two(tmp_path), program) == []
    assert sorted(os.listdir(tmp_path / "spy")) == ["folder", "game_agent.py", "link.py"]


def test_where_reading_is_not_restricted_every_way_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "secret")
    assert ways_that_read(replace(class_of_two(tmp_path), is_restricted=False)) == list(WAYS)


@FENCES
def test_a_player_reads_its_own_files_python_and_the_toolkit(program: str, tmp_path: Path) -> None:
    for name in ("weights.json", "more/weights.json"):
        submit(tmp_path, "eva", "[1, 2]", name)
    assert move_of(restricted(submit(tmp_path, "eva", OWN)), program) is not None


@pytest.mark.skipif(not landlock_version(), reason="the system has no Landlock")
@pytest.mark.parametrize(
    "module", ["json", pytest.param("knights_isolation.reports.analysis.file_answers", marks=pytest.mark.slow)]
)
def test_every_thread_of_a_sandboxed_process_is_restricted(module: str, tmp_path: Path) -> None:
    def restrictions() -> str:
        threads = [status.read_text() for status in Path("/proc/self/task").glob("*/status")]
        return ",".join(status.partition("NoNewPrivs:")[2].split()[0] for status in threads)

    process = Child(Setup(recipe(restrictions), "sandboxed", str(tmp_path), imports=(module,)))
    try:
        threads = process.start().split(",")
    finally:
        process.end()
    assert set(threads) == {"1"}
    assert len(threads) > 1


CHANGES = {
    "chmod": "function('chmod')(FILE, 0o777)",
    "utimes": "function('utimes')(FILE, None)",
    "setxattr": "function('setxattr')(FILE, b'user.seen', b'1', 1, 0)",
}
SPOILER = """
import ctypes, _ctypes
FILE = {file!r}.encode()
FINDERS = (
    lambda name: getattr(ctypes.CDLL(None), name),
    lambda name: getattr(ctypes.pythonapi, name),
    lambda name: ctypes.CFUNCTYPE(ctypes.c_int)((name, ctypes.pythonapi)),
    lambda name: ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(
        _ctypes.dlsym(ctypes.pythonapi._handle, name)
    ),
)

class CustomPlayer:
    def get_move(self, game, time_left):
        refused = 0
        for function in FINDERS:
            try:
                {change}
            except PermissionError:
                refused += 1
            except TypeError:
                pass
        raise LookupError(refused)
"""


@FENCES
@pytest.mark.parametrize("change", CHANGES)
def test_a_player_changes_no_attributes_of_others_files_by_ctypes(change: str, program: str, tmp_path: Path) -> None:
    file = submit(tmp_path, "ben", HONEST.format(prefers="0"))
    os.utime(file, (1, 1))
    before = os.stat(file)
    spoiler = submit(tmp_path, "ada", SPOILER.format(file=str(file), change=CHANGES[change]))
    with pytest.raises(ForfeitError, match="LookupError: 4"):
        move_of(restricted(spoiler), program)
    after = os.stat(file)
    assert (after.st_mode, after.st_mtime, after.st_ctime_ns) == (before.st_mode, 1, before.st_ctime_ns)


def test_a_player_finds_no_secret_in_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", "secret")
    for name, is_kept in (("apart", False), ("classic", True)):
        look = "(os.environ.get('API_TOKEN'), b'API_TOKEN' in open('/proc/self/environ', 'rb').read())"
        source = HONEST.format(prefers="0").replace(
            "def get_move(self, game, time_left):",
            f"def get_move(self, game, time_left):\n        import os\n        raise LookupError({look})",
        )
        agent = replace(restricted(submit(tmp_path, name, source)), is_restricted=not is_kept)
        player = agent.capped(60).open()
        player.new_game()
        with pytest.raises(ForfeitError) as loss:
            player.choose(Board.from_moves([24, 14]), 1)
        player.close()
        assert ("'secret', True" if is_kept else "None, False") in loss.value.detail


# Remarks, and what is said where reads are not restricted


@pytest.mark.parametrize(
    ("source", "remarks"),
    [
        ("x = 1\nexec('x')\neval('x')\nexec('x')\n", ["uses exec (line 2, line 4)", "uses eval (line 3)"]),
        ("import os\nos.path.join('a')\nos.listdir()\n", ["uses os.listdir (line 3)"]),
        ("from os import path, popen\n", ["uses os.popen (line 1)"]),
        ("import numpy, ctypes.util\nfrom subprocess import run\n",
         ["imports ctypes.util (line 1)", "imports subprocess (line 2)"]),
        ("open('../ben/a.py')\nopen('data/a..b.json')\n", ["names a path outside its folder, ../ben/a.py (line 1)"]),
        ("p = '/home/ben/a.py'\nq = 'a/../../b', '..'\n'''Win/loss: 1 / 2, see ../ben'''\n", [
            "names a path outside its folder, /home/ben/a.py (line 1)",
            "names a path outside its folder, a/../../b (line 2)",
            "names a path outside its folder, .. (line 2)",
        ]),
        ("import helper\n", ["uses eval (helper.py line 1)"]),
        ("import re, math, random, pickle\nre.compile('a/b')\nmath.exp(1)\n", []),
    ],
)  # fmt: skip
def test_what_may_run_other_code_or_read_elsewhere_is_remarked_with_its_line(
    source: str, remarks: list[str], tmp_path: Path
) -> None:
    submit(tmp_path, "ada", "y = eval\n", "helper.py")
    found = source_remarks(submit(tmp_path, "ada", source))
    assert [remark.seen for remark in found] == remarks
    assert not [remark for remark in found if remark.ok or not remark.is_note]


@pytest.mark.slow
def test_a_league_says_where_the_system_did_not_restrict_reads_and_names_remarks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knights_isolation.experiments.league.entries.landlock_version", lambda: 0)
    submit(tmp_path / "class", "ada", HONEST.format(prefers="0"))
    submit(tmp_path / "class", "ben", HONEST.format(prefers="eval('1')"))
    checked = " ".join(league(tmp_path / "class", "--check-only").output.split())
    assert UNRESTRICTED_READS in checked
    assert "all checks passed, 1 remark" in checked
    monkeypatch.setattr("knights_isolation.experiments.league.entries.landlock_version", lambda: 7)
    assert UNRESTRICTED_READS not in " ".join(league(tmp_path / "class", "--check-only").output.split())
    monkeypatch.setattr("knights_isolation.experiments.league.entries.landlock_version", lambda: 0)
    played = league(tmp_path / "class", "--pairs", "1", "--out", tmp_path / "run")
    page = (tmp_path / "run" / "league" / "index.html").read_text(encoding="utf-8")
    for text in (" ".join(played.output.split()), html.unescape(page)):
        assert UNRESTRICTED_READS in text
        assert "uses eval (line 4)" in text
