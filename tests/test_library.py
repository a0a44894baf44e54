"""The folder of compiled code."""

import platform
from pathlib import Path

import grimp
import pytest

import isolation
from isolation.compiling import library

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
