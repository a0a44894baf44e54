"""Datasets: every label is the solver's, splits share nothing, and the folder loads."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from cli import main
from knights_isolation import heuristics
from knights_isolation.experiments.exact.dataset import SPLITS, DatasetRecipe, write_dataset
from knights_isolation.experiments.plan.openings import orbit_ids, split_of
from knights_isolation.isolation import Board
from knights_isolation.isolation.rules.game import Size
from knights_isolation.isolation.search.solver import SearchBudget, move_results


def read(folder: Path) -> dict[str, pa.Table]:
    return {split: pq.read_table(folder / "data" / f"{split}.parquet") for split in SPLITS}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dataset") / "made"
    counts = write_dataset(DatasetRecipe(900, Size(5, 5), features=("improved",)), folder, jobs=1)
    assert sum(counts.values()) == 900
    assert counts == {split: len(table) for split, table in read(folder).items()}
    return folder


@pytest.mark.slow
def test_labels_values_and_features_are_those_of_the_position(folder: Path) -> None:
    rows = pa.concat_tables(read(folder).values()).to_pylist()
    for row in rows[::9]:
        board = Board.from_moves(row["moves"], "5x5")
        keeps = {move.cell: move.keeps for move in move_results(board, SearchBudget())}
        assert tuple(row["legal"]) == board.legal_cells() != ()
        assert row["values"] == [1 if keeps[cell] else -1 for cell in row["legal"]]
        assert row["value"] == max(row["values"])
        assert row["ply"] == board.move_count
        assert row["improved"] == heuristics.get("improved")(board, board.active_player)
    assert {-1, 1} == {row["value"] for row in rows}


@pytest.mark.slow
def test_splits_share_no_opening_and_no_position_is_there_twice(folder: Path) -> None:
    tables = read(folder)
    orbits = {split: set(table["orbit"].to_pylist()) for split, table in tables.items()}
    assert not orbits["train"] & orbits["validation"]
    assert all(orbits.values())
    for split, ids in orbits.items():
        assert set(split_of(np.array(sorted(ids), np.uint64))) == {"screen" if split == "test" else "fit"}
    games = pa.concat_tables(tables.values())["moves"].to_pylist()
    cells = np.full((len(games), 25), -1, np.int16)
    for row, moves in zip(cells, games, strict=True):
        row[: len(moves)] = moves
    assert len(set(orbit_ids(cells, Size(5, 5)).tolist())) == len(games)


@pytest.mark.exhaustive
def test_the_same_settings_give_the_same_positions(folder: Path, tmp_path: Path) -> None:
    recipe = DatasetRecipe(900, Size(5, 5), features=("improved",))
    write_dataset(recipe, tmp_path / "again", jobs=2)
    assert all(read(folder)[split].equals(table) for split, table in read(tmp_path / "again").items())
    with pytest.raises(ValueError, match="is not empty"):
        write_dataset(recipe, tmp_path / "again", jobs=1)


@pytest.mark.slow
def test_an_interrupted_dataset_keeps_its_batches_and_ends_like_one_that_was_not(folder: Path, tmp_path: Path) -> None:
    recipe = DatasetRecipe(900, Size(5, 5), features=("improved",))

    def stop(done: int, wanted: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_dataset(recipe, tmp_path / "made", jobs=1, show=stop)
    with pytest.raises(ValueError, match="was begun with other settings"):
        write_dataset(DatasetRecipe(901, Size(5, 5)), tmp_path / "made", jobs=1)
    shown: list[int] = []
    write_dataset(recipe, tmp_path / "made", jobs=1, show=lambda done, wanted: shown.append(done))
    assert shown[0] > 0
    assert all(read(folder)[split].equals(table) for split, table in read(tmp_path / "made").items())
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == ["README.md", "data"]


@pytest.mark.slow
def test_datasets_loads_the_folder(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    loaded = pytest.importorskip("datasets").load_dataset(str(folder), cache_dir=str(tmp_path))
    assert {split: len(loaded[split]) for split in SPLITS} == {split: len(t) for split, t in read(folder).items()}


@pytest.mark.exhaustive
def test_the_command_writes_a_card_and_says_when_a_board_has_too_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["perfect", "dataset", "--positions", "100000", "--board", "3x4", "--jobs", "1"])
    assert result.exit_code == 0
    assert "different positions of the 100,000 wanted" in result.output
    assert "positions in dataset_3x4 (train " in result.output
    card = Path("dataset_3x4/README.md").read_text()
    assert card.startswith("---\nlicense: mit\n")
    assert '"board": "3x4"' in card


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--feature", "nothing"), "nothing"),
        (("--agent", "ID:nothing"), "nothing"),
        (("--board", "20x20"), "128 cells"),
        (("--board", "1x1"), "no position after 2 plies"),
        (("--feature", "open", "--feature", "open"), "named twice"),
    ],
)
def test_wrong_settings_end_in_one_line(
    options: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["perfect", "dataset", "--positions", "5", *options])
    assert result.exit_code == 2
    assert message in result.output
    assert not list(tmp_path.iterdir())
