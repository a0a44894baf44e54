"""Parquet files: a bit flipped anywhere, and whatever is missing, is noticed in one line that names the file."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from invented_runs import gauntlet

from knights_isolation.experiments.exact import board_solving, labelling, labels
from knights_isolation.experiments.record import log, log_parts
from knights_isolation.experiments.record.checked_parquet import (
    count_rows,
    read_batches,
    read_parquet,
    save_table,
    write_parquet,
)
from knights_isolation.experiments.record.run_directory import LABELS_FILE
from knights_isolation.isolation.rules.game import Size

SCHEMA = pa.schema([("number", pa.int64()), ("text", pa.string())])
TABLE = pa.table({"number": [1, 2, 3], "text": ["a", "b", "c"]}, SCHEMA)


def log_part(folder: Path) -> tuple[Path, Callable[[], Any]]:
    run = gauntlet(openings=2).write(folder / "run")
    return next((run / "games").iterdir()), lambda: log.read_table(run, ["winner"])


def label_file(folder: Path) -> tuple[Path, Callable[[], Any]]:
    run = gauntlet(openings=2).write(folder / "run")
    games = log.read_table(run, ["game_id", "plies"]).to_pydict()
    write_parquet(
        run / LABELS_FILE,
        labelling.label_table(games["game_id"], [[(1, 2, 3, 1)] * plies for plies in games["plies"]]),
    )
    return run / LABELS_FILE, lambda: labels.read_label_table(run)


def solved_table(folder: Path) -> tuple[Path, Callable[[], Any]]:
    board_solving.solve_all(Size(2, 3), folder / "solved.parquet")
    return folder / "solved.parquet", lambda: board_solving.read_pairs(folder / "solved.parquet", Size(2, 3))


@pytest.mark.parametrize("make", [log_part, label_file, solved_table])
def test_a_bit_flipped_in_any_part_of_a_file_is_noticed(make: Callable[..., Any], tmp_path: Path) -> None:
    path, read = make(tmp_path)
    read()
    data = path.read_bytes()
    chance = random.Random(1)
    for index in range(0, len(data), 1 + len(data) // 500):
        flipped = bytearray(data)
        flipped[index] ^= 1 << chance.randrange(8)
        path.write_bytes(flipped)
        with pytest.raises(ValueError, match=path.name) as message:
            read()
        assert "\n" not in str(message.value)


@pytest.mark.parametrize("kept", [0, 3, 12, 100, -1, -4, -8, -300])
def test_a_file_that_was_cut_is_noticed(kept: int, tmp_path: Path) -> None:
    path, read = log_part(tmp_path)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match=rf"{path.name} is damaged.*restore it, or delete it and replay"):
        read()
    with pytest.raises(ValueError, match=path.name):
        log.count_games(tmp_path / "run")


def test_counting_reads_no_pages_and_checks_the_footer(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    save_table(path, TABLE)
    data = bytearray(path.read_bytes())
    data[10] ^= 1
    path.write_bytes(data)
    assert count_rows(path) == 3
    data[-20] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match="footer"):
        count_rows(path)


def test_other_programs_read_the_file_and_may_verify_its_pages(tmp_path: Path) -> None:
    save_table(tmp_path / "table.parquet", TABLE)
    assert pq.read_table(tmp_path / "table.parquet", page_checksum_verification=True).equals(TABLE)


def test_what_others_have_written_is_read_as_it_is(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "table.parquet")
    assert read_parquet(tmp_path / "table.parquet", SCHEMA).equals(TABLE)
    assert read_parquet(tmp_path / "table.parquet", SCHEMA, ["text"]).column_names == ["text"]


def test_what_arrow_reads_lies_in_its_own_memory_as_its_threads_may_outlast_python(tmp_path: Path) -> None:
    path, numbers = tmp_path / "large.parquet", np.random.default_rng(1).integers(0, 2**62, 50_000)
    save_table(path, pa.table({"number": numbers, "text": ["a"] * len(numbers)}, SCHEMA))
    before = pa.total_allocated_bytes()
    batches = read_batches(path, SCHEMA, ["text"], 10)
    assert next(batches).num_rows == 10
    assert pa.total_allocated_bytes() - before > path.stat().st_size > 8 * len(numbers)


@pytest.mark.parametrize("table", [TABLE.drop(["text"]), pa.table({"number": ["one"], "text": ["a"]})])
def test_a_table_of_other_columns_is_refused(table: pa.Table, tmp_path: Path) -> None:
    save_table(tmp_path / "table.parquet", table)
    with pytest.raises(ValueError, match=r"table\.parquet is damaged or not a log file"):
        read_parquet(tmp_path / "table.parquet", SCHEMA)


def test_a_game_is_found_in_whichever_part_it_lies(tmp_path: Path) -> None:
    run = gauntlet(openings=2).write(tmp_path / "run")
    (part,) = (run / "games").iterdir()
    table = log.read_part(part)
    part.unlink()
    for piece in (table.slice(0, 5), table.slice(5)):
        log_parts.append(run / "games", piece)
    result = [log.find_row(run, game_id) for game_id in (3, 6)]
    assert [row["game_id"] for row in result if row] == [3, 6]
    assert log.find_row(run, 10**30) is log.find_row(run, -1) is None
    assert np.array_equal(log.read_games(run)["game_id"], np.arange(len(table)))
