"""The folder of compiled code."""

import hashlib
import platform
import shutil
import sys
from pathlib import Path

import grimp
import pytest

import isolation
from isolation.compiling import library
from isolation.match import load_compiled_games

PACKAGE = Path(isolation.__file__).parent


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv(library.ENVIRONMENT_VARIABLE, raising=False)
    return tmp_path


def test_compiled_code_lies_in_the_cache_folder_of_the_user(home):
    caches = "Library/Caches" if platform.system() == "Darwin" else ".cache"
    assert library.folder.__wrapped__() == home / caches / "isolation"


def test_the_folder_can_be_chosen(home, monkeypatch):
    monkeypatch.setenv(library.ENVIRONMENT_VARIABLE, "~/mine")
    assert library.folder.__wrapped__() == home / "mine"


def test_a_folder_that_cannot_be_made_is_replaced_by_a_temporary_one(home, monkeypatch):
    (home / "file").touch()
    monkeypatch.setenv(library.ENVIRONMENT_VARIABLE, str(home / "file" / "below"))
    replaced = library.folder.__wrapped__()
    assert replaced.is_dir()
    assert home not in replaced.parents


def test_all_that_compiled_code_imports_is_in_its_fingerprint():
    graph = grimp.build_graph("isolation", exclude_type_checking_imports=True, cache_dir=None)
    native = {"isolation.native", *graph.find_descendants("isolation.native")}
    reached = native.union(*map(graph.find_upstream_modules, native)) - {"isolation"}
    sources = {path.relative_to(PACKAGE).with_suffix("").as_posix() for path in library.engine_sources()}
    modules = {"isolation." + source.replace("/", ".").removesuffix(".__init__") for source in sources}
    assert reached <= modules


def test_all_native_code_that_plays_games_is_vouched_for_so_that_no_process_compiles_it_again():
    load_compiled_games((3, 3))
    folder = library.folder() / library.fingerprint("no heuristic")
    native = list(folder.glob("__pycache__/games_3x3.*.nb[ic]"))
    assert len(native) == 2
    known = (folder / "games_3x3.sums").read_text().split()
    assert {hashlib.sha256(path.read_bytes()).hexdigest() for path in native} <= set(known)


def test_a_byte_changed_in_a_source_changes_the_fingerprint(tmp_path, monkeypatch):
    copies = [tmp_path / f"{number}.py" for number, _ in enumerate(library.engine_sources())]
    for copy, source in zip(copies, library.engine_sources(), strict=True):
        copy.write_bytes(source.read_bytes())
    monkeypatch.setattr(library, "engine_sources", lambda: copies)
    seen = {library.engine_fingerprint.__wrapped__()}
    for copy in copies:
        copy.write_bytes(copy.read_bytes() + b"#")
        seen.add(library.engine_fingerprint.__wrapped__())
    assert len(seen) == len(copies) + 1


# Damage

TEXT = "from numba import cfunc\n\n@cfunc('float64(float64)', cache=True)\ndef entry(x):\n    return x + 1\n"
DAMAGES = {
    "empty": lambda data: b"",
    "truncated": lambda data: data[: len(data) // 2],
    "flipped": lambda data: data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :],
    "something else": lambda data: b"\x00\xff not what was written",
}
KINDS = ("module.py", "module.sums", "__pycache__/*.nbi", "__pycache__/*.nbc")


@pytest.fixture(autouse=True)
def nobody_else_is_writing(monkeypatch):
    monkeypatch.setattr(library, "_PAUSE", 0)


def loaded(path):
    """What another process would load."""
    for name in [name for name in sys.modules if name.startswith("isolation_compiled_entry")]:
        del sys.modules[name]
    return library.load(path, TEXT).entry.ctypes(1.0)


def native(path):
    return {file: file.stat().st_mtime_ns for file in library._native(path)}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    path = tmp_path_factory.mktemp("library") / "entry" / "module.py"
    assert loaded(path) == 2.0
    return path.parent


@pytest.fixture
def entry(compiled, tmp_path):
    return shutil.copytree(compiled, tmp_path / "entry", copy_function=shutil.copy2) / "module.py"


def test_compiled_code_is_kept_and_loaded_without_a_word(entry, recwarn):
    loaded(entry)
    before = native(entry)
    assert loaded(entry) == 2.0
    assert native(entry) == before
    assert len(before) == 2
    assert not recwarn


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_made_anew_once_with_a_note(kind, damage, entry, recwarn):
    (file,) = entry.parent.glob(kind)
    file.write_bytes(DAMAGES[damage](file.read_bytes()))
    assert loaded(entry) == 2.0
    (note,) = recwarn
    assert "made anew" in str(note.message)
    recwarn.clear()
    assert entry.read_text() == TEXT
    before = native(entry)
    assert loaded(entry) == 2.0
    assert native(entry) == before
    assert not recwarn


def test_a_folder_in_the_place_of_a_file_is_replaced(entry):
    entry.unlink()
    entry.mkdir()
    with pytest.warns(UserWarning, match="damaged"):
        assert loaded(entry) == 2.0


def test_what_a_process_died_at_is_made_anew_without_a_word(entry, recwarn):
    (entry.parent / "module.sums").unlink()
    (index,) = entry.parent.glob("__pycache__/*.nbi")
    index.write_bytes(b"")
    assert loaded(entry) == 2.0
    assert not recwarn


def test_bytecode_is_not_believed(entry):
    loaded(entry)
    assert not list(entry.parent.rglob("*.pyc"))


def test_an_index_that_numba_cannot_read_is_made_anew(entry):
    (index,) = entry.parent.glob("__pycache__/*.nbi")
    index.write_bytes(b"not a pickle")
    library._vouch(entry)  # as if it had been written like that
    with pytest.warns(UserWarning, match="cannot be loaded"):
        assert loaded(entry) == 2.0


def test_what_cannot_be_compiled_raises_as_it_did(tmp_path):
    with pytest.raises(ZeroDivisionError):
        library.load(tmp_path / "broken" / "module.py", "1 / 0")
