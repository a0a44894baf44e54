"""The folder of compiled code."""

import os
import platform
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

import grimp
import pytest

from knights_isolation import isolation
from knights_isolation.experiments.plan import parse_agent
from knights_isolation.isolation import play
from knights_isolation.isolation.compiling import code_cache

PACKAGE = Path(isolation.__file__).parent


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv(code_cache.ENVIRONMENT_VARIABLE, raising=False)
    return tmp_path


def test_compiled_code_lies_in_the_cache_folder_of_the_user(home):
    caches = "Library/Caches" if platform.system() == "Darwin" else ".cache"
    assert code_cache.folder.__wrapped__() == home / caches / "isolation"


def test_the_folder_can_be_chosen(home, monkeypatch):
    monkeypatch.setenv(code_cache.ENVIRONMENT_VARIABLE, "~/mine")
    assert code_cache.folder.__wrapped__() == home / "mine"


def test_a_folder_that_cannot_be_made_is_replaced_by_a_temporary_one(home, monkeypatch):
    (home / "file").touch()
    monkeypatch.setenv(code_cache.ENVIRONMENT_VARIABLE, str(home / "file" / "below"))
    replaced = code_cache.folder.__wrapped__()
    assert replaced.is_dir()
    assert home not in replaced.parents


def test_all_that_compiled_code_imports_is_in_its_fingerprint():
    graph = grimp.build_graph("knights_isolation", exclude_type_checking_imports=True, cache_dir=None)
    native = {"knights_isolation.isolation.native", *graph.find_descendants("knights_isolation.isolation.native")}
    above = native.union(*map(graph.find_upstream_modules, native))
    reached = {module for module in above if module.startswith("knights_isolation.isolation.")}
    sources = {path.relative_to(PACKAGE).with_suffix("").as_posix() for path in code_cache.engine_sources()}
    modules = {
        "knights_isolation.isolation." + source.replace("/", ".").removesuffix(".__init__") for source in sources
    }
    assert reached <= modules


def test_a_byte_changed_in_a_source_changes_the_fingerprint(tmp_path, monkeypatch):
    copies = [tmp_path / f"{number}.py" for number, _ in enumerate(code_cache.engine_sources())]
    for copy, source in zip(copies, code_cache.engine_sources(), strict=True):
        copy.write_bytes(source.read_bytes())
    monkeypatch.setattr(code_cache, "engine_sources", lambda: copies)
    seen = {code_cache.engine_fingerprint.__wrapped__()}
    for copy in copies:
        copy.write_bytes(copy.read_bytes() + b"#")
        seen.add(code_cache.engine_fingerprint.__wrapped__())
    assert len(seen) == len(copies) + 1


# Damage

TEXT = "VALUE = 1\n"
DAMAGES = {
    "empty": lambda data: b"",
    "truncated": lambda data: data[: len(data) // 2],
    "cut short by a byte": lambda data: data[:-1],
    "flipped": lambda data: data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :],
    "something else": lambda data: b"\x00\xff not what was written",
}


def loaded(path):
    """What another process would load."""
    for name in [name for name in sys.modules if name.startswith("isolation_compiled_entry")]:
        del sys.modules[name]
    return code_cache.load(path, TEXT).VALUE


def kept(path, times_made):
    """The content that is kept, and how often it has been made so far."""

    def make():
        times_made.append(path)
        return b"machine code"

    return code_cache.load_or_make(path, make), len(times_made)


def test_code_is_made_once_and_kept_without_a_word(tmp_path, recwarn):
    made = []
    assert kept(tmp_path / "entry" / "search.o", made) == (b"machine code", 1)
    assert kept(tmp_path / "entry" / "search.o", made) == (b"machine code", 1)
    assert not recwarn


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_code_is_made_anew_once_with_a_note(damage, tmp_path, recwarn):
    made = []
    path = tmp_path / "search.o"
    kept(path, made)
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert kept(path, made) == (b"machine code", 2)
    (note,) = recwarn
    assert f"compiled code is damaged; compiling again: {path}" in str(note.message)
    assert kept(path, made) == (b"machine code", 2)
    assert len(recwarn) == 1


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_source_is_written_anew_with_a_note(damage, tmp_path):
    path = tmp_path / "entry" / "module.py"
    assert loaded(path) == 1
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    with pytest.warns(UserWarning, match="damaged"):
        assert loaded(path) == 1
    assert path.read_text() == TEXT


def test_a_folder_in_the_place_of_a_file_is_replaced(tmp_path):
    for path in (tmp_path / "entry" / "module.py", tmp_path / "entry" / "search.o"):
        path.mkdir(parents=True)
    with pytest.warns(UserWarning, match="damaged"):
        assert loaded(tmp_path / "entry" / "module.py") == 1
    with pytest.warns(UserWarning, match="damaged"):
        assert kept(tmp_path / "entry" / "search.o", []) == (b"machine code", 1)


def test_bytecode_is_not_believed(tmp_path):
    loaded(tmp_path / "entry" / "module.py")
    assert not list(tmp_path.rglob("*.pyc"))


def test_what_cannot_be_imported_raises_as_it_did(tmp_path):
    with pytest.raises(ZeroDivisionError):
        code_cache.load(tmp_path / "broken" / "module.py", "1 / 0")


def asked_while_it_is_made(path, until):
    """What the second of two gets that want the same once; the first is done when `until` is set or the second is."""
    made, got = [], []

    def second():
        got.append(code_cache.load_or_make_locked(path, TEXT, lambda: b"made by the second"))
        until.set()

    def first():
        made.append(Thread(target=second))
        made[0].start()
        assert until.wait(60)
        return b"made by the first"

    code_cache.load_or_make_locked(path, TEXT, first)
    made[0].join()
    return got[0]


def test_what_another_process_is_making_is_waited_for(tmp_path, monkeypatch):
    waits = Event()
    monkeypatch.setattr(code_cache.time, "sleep", lambda seconds: waits.set())
    assert asked_while_it_is_made(tmp_path / "kernel.py", waits) == b"made by the first"


def test_nobody_waits_for_long_for_a_process_that_may_have_been_suspended(tmp_path, monkeypatch):
    monkeypatch.setattr(code_cache, "_LONGEST_WAIT", 0.0)
    assert asked_while_it_is_made(tmp_path / "kernel.py", Event()) == b"made by the second"


GAME = """
import sys
from knights_isolation.experiments.plan import parse_agent
from knights_isolation.isolation import play
agents = [parse_agent(spec) for spec in sys.argv[1:]]
print(play(*agents, [24, 14]).moves, "numba" in sys.modules)
"""
LISTS = """
def score(game, player):
    moves = [move for move in game.get_legal_moves(player) if move[0] > 0]
    moves.append((0, 0))
    found = {"even": 0.0, "odd": 0.0}
    for row, _ in moves:
        found["odd" if row % 2 else "even"] += 1.0
    return float(len(moves)) + found["odd"] / 2
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("heuristic", "needs_numba"),
    [pytest.param("lists.py:score", True, marks=pytest.mark.exhaustive), ("improved", False)],
)
def test_known_code_runs_without_numba_unless_it_makes_lists_and_dictionaries(
    tmp_path, monkeypatch, heuristic, needs_numba
):
    monkeypatch.chdir(tmp_path)
    Path("lists.py").write_text(LISTS)
    specs = ["ID:territory@nodes=50", f"AB:{heuristic}@depth=2"]
    moves = play(*map(parse_agent, specs), [24, 14]).moves
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    command = [sys.executable, "-c", GAME, *specs]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{moves} {needs_numba}"
