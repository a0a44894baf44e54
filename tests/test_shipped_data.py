"""Shipped tables: a damaged one is refused by every reader, and each can be made again."""

from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from click.testing import CliRunner

from cli import main
from knights_isolation.experiments.published import result_tables as published
from knights_isolation.experiments.suite import suite_file
from knights_isolation.isolation import Board
from knights_isolation.isolation.files.received import CHECKSUMS, read_shipped, write_shipped
from knights_isolation.isolation.rules import solved_tables
from knights_isolation.isolation.search import solver

ROOT = Path(__file__).parents[1]
FOLDERS = sorted(
    {path.parent for package in ("isolation", "experiments") for path in ROOT.glob(f"{package}/**/data/*")}
)
TABLES = [path for folder in FOLDERS for path in sorted(folder.iterdir()) if path.name not in (CHECKSUMS, "README.md")]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def flip_a_bit(path: Path, index: int) -> None:
    data = bytearray(path.read_bytes())
    data[index] ^= 1
    path.write_bytes(data)


def forget() -> None:
    """Forget the tables that were read."""
    solved_tables._tables.cache_clear()
    solver._early_table.cache_clear()


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Path]]:
    """Copies of all tables, which are read in place of the shipped ones: by name."""
    for folder in FOLDERS:
        copytree(folder, tmp_path / folder.relative_to(ROOT))
    tables = [(solved_tables, "FILE"), (solver, "EARLY_FILE"), (suite_file, "FILE"), (published, "FILE")]
    for module, name in tables:
        monkeypatch.setattr(module, name, tmp_path / getattr(module, name).resolve().relative_to(ROOT))
    there = {size: tmp_path / path.resolve().relative_to(ROOT) for size, path in suite_file.shipped_suites().items()}
    monkeypatch.setattr(suite_file, "shipped_suites", lambda: there)
    forget()
    yield {path.name: tmp_path / path.relative_to(ROOT) for path in TABLES}
    forget()


READERS: dict[str, Callable[[], Any]] = {
    "solved.json": lambda: solved_tables.pair_is_won(8, 8, 24, 0),
    "early_7x7.xz": lambda: solver.early_value(Board.from_moves([24, 0])),
    "published_results.csv": published.bundled_csv,
    "gauntlets.csv": lambda: suite_file.known_agreements("7x7"),
    **{f"{size}.parquet": lambda size=size: suite_file.read_suite(size) for size in ("6x6", "7x7", "8x8", "9x11")},
}


def test_every_shipped_table_has_a_reader_here() -> None:
    assert sorted(READERS) == sorted(path.name for path in TABLES)


@pytest.mark.parametrize("path", TABLES, ids=name_of)
def test_a_shipped_table_has_its_checksum_and_a_readme_with_version_and_recipe(path: Path) -> None:
    assert read_shipped(path)
    readme = (path.parent / "README.md").read_text()
    assert f"`{path.name}`" in readme
    assert "Version " in readme
    assert "```\n" in readme


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_checksums_name_the_tables_and_nothing_else(folder: Path) -> None:
    named = [line.split("  ")[1] for line in (folder / CHECKSUMS).read_text().splitlines()]
    assert named == sorted(path.name for path in TABLES if path.parent == folder)


@pytest.mark.parametrize("name", sorted(READERS))
@pytest.mark.parametrize("share", [0.0, 0.37, 0.999])
def test_a_shipped_table_with_a_flipped_bit_is_refused(name: str, share: float, shipped: dict[str, Path]) -> None:
    READERS[name]()
    forget()
    flip_a_bit(shipped[name], int(share * shipped[name].stat().st_size))
    with pytest.raises(OSError, match=r"damaged or changed.*reinstall the package"):
        READERS[name]()


@pytest.mark.parametrize("name", sorted(READERS))
def test_a_shipped_table_without_its_checksum_is_refused(name: str, shipped: dict[str, Path]) -> None:
    (shipped[name].parent / CHECKSUMS).unlink()
    with pytest.raises(OSError, match="damaged or changed"):
        READERS[name]()


def test_solve_names_no_winner_from_a_damaged_table(shipped: dict[str, Path]) -> None:
    sound = CliRunner().invoke(main, ["perfect", "solve", "--board", "6x6", "--moves", "14,0"])
    assert sound.exit_code == 0
    forget()
    flip_a_bit(shipped["solved.json"], shipped["solved.json"].read_bytes().index(b'"6x6": "') + 40)
    damaged = CliRunner().invoke(main, ["perfect", "solve", "--board", "6x6", "--moves", "14,0"])
    assert damaged.exit_code == 1
    assert "solved.json: checksum mismatch with SHA256SUMS" in damaged.output
    assert "wins" not in damaged.output


def test_a_written_table_is_read_again_and_others_keep_their_checksums(tmp_path: Path) -> None:
    write_shipped(tmp_path / "b.csv", "1,2\n")
    write_shipped(tmp_path / "a.csv", "5\n")
    write_shipped(tmp_path / "b.csv", "3,4\n")
    assert (read_shipped(tmp_path / "a.csv"), read_shipped(tmp_path / "b.csv")) == (b"5\n", b"3,4\n")
    assert [line.split("  ")[1] for line in (tmp_path / CHECKSUMS).read_text().splitlines()] == ["a.csv", "b.csv"]
