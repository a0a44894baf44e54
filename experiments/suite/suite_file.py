"""Read and write suites: Parquet, one row per position, with the columns `SUITE` of `experiments/record/schema.py`.

The file's metadata contain the board's size and the recipe, including the names and specs of the field.
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from knights_isolation.isolation.files.received import DamagedFileError, read_shipped
from knights_isolation.isolation.games.batches import Positions
from knights_isolation.isolation.rules.game import Size, parse_size

from ..record.checked_parquet import read_parquet, write_parquet
from ..record.columns import Table, lists, numbers, texts
from ..record.schema import SUITE, schema_of

if TYPE_CHECKING:
    import pandas as pd

Split = Literal["fit", "screen"]

SCHEMA = schema_of(SUITE)
MOST_MEMBERS = 15
"""Maximum number of members of a reference field: one bit each in an int16."""

_SIZE = b"isolation.size"
_MADE = b"isolation.suite"
_LEVEL = 19


@dataclass(frozen=True)
class Suite:
    """Positions of one board with the exact result of every move: n positions with m legal moves in total.

    Attributes:
        name: board of the shipped suite, or the file's name.
        positions: moves that lead to each position.
        legal: int16[m], the legal moves of all positions, one after another.
        starts: int64[n + 1]; position i has the legal moves starts[i] to starts[i + 1].
        keeps: bool[m], whether the mover wins after the move.
        errs: int16[m], which members of the field err in their reply to the move, one bit each.
        kept_by: int16[n], which members of the field keep the win, one bit each; 0 in lost positions.
        orbit: uint64[n], orbit of the opening.
        opening_winner: int8[n], 1 or 2; 0 if unknown.
        split: str[n], `fit` or `screen`.
        source: str[n], source of the position's game.
        field: specs of the reference field.
        made: recipe of the suite.
    """

    name: str
    positions: Positions
    legal: NDArray[np.int16]
    starts: NDArray[np.int64]
    keeps: NDArray[np.bool_]
    errs: NDArray[np.int16]
    kept_by: NDArray[np.int16]
    orbit: NDArray[np.uint64]
    opening_winner: NDArray[np.int8]
    split: NDArray[np.str_]
    source: NDArray[np.str_]
    field: tuple[str, ...]
    made: dict[str, Any]

    def __len__(self) -> int:
        return len(self.orbit)

    @property
    def size(self) -> Size:
        """The size of the board."""
        return self.positions.size

    @cached_property
    def is_telling(self) -> NDArray[np.bool_]:
        """bool[n]: won, with a losing move. The others are lost, with moves of different difficulty for the winner."""
        won: NDArray[np.bool_] = np.add.reduceat(self.keeps, self.starts[:-1]) > 0 if len(self) else np.zeros(0, bool)
        return won

    @property
    def telling(self) -> Suite:
        """Its telling positions."""
        return self.take(np.flatnonzero(self.is_telling))

    @cached_property
    def position_of(self) -> NDArray[np.int64]:
        """int64[m]: the position of each legal move."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @cached_property
    def errors(self) -> NDArray[np.float64]:
        """float64[m]: the share of the reference field that errs in its reply to the move."""
        return members(self.errs) / max(1, len(self.field))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per position: the columns of the file, and `is_telling`; moves and results are tuples."""
        import pandas as pd

        ends = zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True)
        parts = [slice(first, last) for first, last in ends]
        columns = {name: [tuple(getattr(self, name)[part].tolist()) for part in parts] for name in _OF_MOVES}
        moves = {"moves": [self.positions[index] for index in range(len(self))]}
        of_positions = {name: getattr(self, name) for name in _OF_POSITIONS}
        return pd.DataFrame({**moves, **columns, **of_positions, "is_telling": self.is_telling})

    def take(self, rows: NDArray[np.int64]) -> Suite:
        """Return some of the positions, in this order."""
        moves = np.diff(self.starts)[rows]
        starts = np.concatenate(([0], np.cumsum(moves))).astype(np.int64)
        move_rows = np.arange(starts[-1]) + np.repeat(self.starts[rows] - starts[:-1], moves)
        of_moves = {name: getattr(self, name)[move_rows] for name in _OF_MOVES}
        of_positions = {name: getattr(self, name)[rows] for name in _OF_POSITIONS}
        return replace(self, positions=self.positions.take(rows), starts=starts, **of_moves, **of_positions)

    def sample(self, count: int, seed: int) -> Suite:
        """Return a random sample of positions; a larger sample contains the smaller ones."""
        drawn = np.random.default_rng(seed).permutation(len(self))[:count]
        return self.take(np.sort(drawn))


_OF_MOVES = ("legal", "keeps", "errs")
_TEXTS = ("split", "source")
_OF_POSITIONS = ("kept_by", "orbit", "opening_winner", *_TEXTS)


def read_suite(name: str | Path = "7x7", split: Split | None = None) -> Suite:
    """Read a suite, given the board of a shipped one, as in `7x7`, or a file.

    Args:
        split: only these positions; default: both splits. Use `fit` for fitting and `screen` for evaluation.

    Raises:
        ValueError: no such suite ships, there is no such file, or it is damaged or holds something else.
    """
    path = Path(name)
    shipped = shipped_suites()
    if str(name) in shipped:
        path = shipped[str(name)]
        read_shipped(path)
    elif not path.exists():
        raise ValueError(f"no suite {name}: use {', '.join(shipped)} or a file made by isolation suite build")
    suite = _suite(str(name) if str(name) in shipped else path.name, read_table(path))
    return suite if split is None else suite.take(np.flatnonzero(suite.split == split))


def shipped_suites() -> dict[str, Path]:
    """Return the suites that ship with the package: their files by board."""
    return {path.stem: path for path in sorted(Path(__file__).with_name("data").glob("*x*.parquet"))}


def members(bits: NDArray[np.int16]) -> NDArray[np.int64]:
    """Return the number of members of the field in each bit set."""
    return np.bitwise_count(bits.astype(np.uint16)).astype(np.int64)


def read_table(path: Path) -> Table:
    """Read the file as a table, with its metadata; raise ValueError if it is no suite."""
    try:
        table = read_parquet(path, SCHEMA)
    except (OSError, DamagedFileError) as error:
        raise ValueError(f"{path}: cannot be read as a suite: {error}") from None
    if _SIZE not in (table.schema.metadata or {}):
        raise ValueError(f"{path}: not a suite file: it does not name its board")
    return table


def write_table(path: Path, table: Table, size: Size, made: dict[str, Any]) -> None:
    """Write a suite atomically; see `write_parquet`."""
    metadata = {_SIZE: str(size).encode(), _MADE: json.dumps(made, sort_keys=True).encode()}
    write_parquet(path, table.replace_schema_metadata(metadata), _LEVEL)


def how_made(table: Table) -> tuple[Size, dict[str, Any]]:
    """Return the board and the recipe of a suite."""
    metadata = table.schema.metadata
    return parse_size(metadata[_SIZE].decode()), json.loads(metadata.get(_MADE, b"{}"))


def _suite(name: str, table: Table) -> Suite:
    size, made = how_made(table)
    columns: dict[str, NDArray[Any]] = {column: lists(table, column)[0] for column in _OF_MOVES}
    columns |= {column: (texts if column in _TEXTS else numbers)(table, column) for column in _OF_POSITIONS}
    columns |= {"keeps": columns["keeps"].astype(bool), "starts": lists(table, "legal")[1]}
    positions, field = Positions(size, *lists(table, "moves")), tuple(made.get("field", ()))
    return Suite(name=name, positions=positions, field=field, made=made, **columns)


FILE = Path(__file__).with_name("data") / "gauntlets.csv"


@dataclass(frozen=True)
class Agreement:
    """Rank correlations (Spearman) between a gauntlet's win rates and a suite's scores of the same agents.

    Attributes:
        size: board.
        limit: limit of the agents, in the syntax of specs.
        agents: number of agents.
        pairs: number of openings that each of them played against each opponent, on both sides.
        kept, trouble, both: correlations of wins kept, of trouble, and of both.
    """

    size: str
    limit: str
    agents: int
    pairs: int
    kept: float
    trouble: float
    both: float


def known_agreements(name: str) -> list[Agreement]:
    """Return the known correlations of a shipped suite, by ascending limit; empty for other suites."""
    rows = TypeAdapter(list[Agreement]).validate_python([*csv.DictReader(read_shipped(FILE).decode().splitlines())])
    return [row for row in rows if row.size == name]
