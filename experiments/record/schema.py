"""What is in the files of a run and in the other Parquet files: every column with its type, meaning and unit.

The tables of `docs/reference/log.md` and of `experiments/suite/data/README.md` say the same. No column was added since
version 0.1.0; files of earlier commits differ in types alone, and `lift` makes them equal to those of today.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True)
class Column:
    """A column of a file.

    Attributes:
        name: its name in the file.
        type: its Arrow type; lists of the log and of labels have one entry a ply.
        meaning: what a value says.
        unit: unit of the values; empty for ids, codes, texts and truth values.
        since: version of the toolkit that wrote it first.
    """

    name: str
    type: pa.DataType
    meaning: str
    unit: str = ""
    since: str = "0.1.0"


_NAMES = pa.dictionary(pa.int16(), pa.string())
_CODES = pa.dictionary(pa.int8(), pa.string())
_BYTES, _SHORTS, _LONGS = pa.list_(pa.int8()), pa.list_(pa.int16()), pa.list_(pa.int64())

LOG = (
    Column("game_id", pa.int64(), "the game's place in the schedule; unique in the run"),
    Column("pair_id", pa.int64(), "shared by the two games of a pair; `game_id // 2`"),
    Column("rows", pa.int16(), "height of the board", "cells"),
    Column("columns", pa.int16(), "width of the board", "cells"),
    Column("agent_1", _NAMES, "name of the agent that places first"),
    Column("agent_2", _NAMES, "name of the other agent"),
    Column(
        "settings_1",
        _NAMES,
        "all that influences agent 1's play, as JSON: heuristic by name and hash of its code, method, limit, options, "
        "hash of any file",
    ),
    Column("settings_2", _NAMES, "the same of agent 2"),
    Column("opening", _SHORTS, "the cells the game started with"),
    Column("opening_id", pa.int64(), "names the position after the opening, the same in every run"),
    Column("orbit", pa.int64(), "names it up to rotation and reflection: openings of one orbit are one cluster"),
    Column(
        "colours",
        _CODES,
        "whether the two placements are on cells of the `same` or of `other` colours; `none` without two",
    ),
    Column(
        "population",
        pa.int64(),
        "how many of this kind the board has, where known and both agents are deterministic; otherwise 0",
        "openings",
    ),
    Column("winner", pa.int8(), "1 or 2"),
    Column(
        "reason",
        _CODES,
        "what the loser did: `no_moves`, `resigned` (it named no move where every move loses), `timeout`, "
        "`illegal_move`, `error`, `hang`, and of an engine `crash`, `nonsense`",
    ),
    Column("detail", pa.string(), "more about an unusual end, mostly empty"),
    Column("plies", pa.int16(), "played, the opening's included", "plies"),
    Column("moves", _SHORTS, "the cells, `row * columns + column`, from the first placement on"),
    Column(
        "score",
        pa.list_(pa.float64()),
        "the mover's view of the move it chose; ±inf is proven, NaN on opening plies and for players without scores",
    ),
    Column("depth", _SHORTS, "of the last finished iteration; of a tree (BF, MCTS) of its longest line", "plies"),
    Column("nodes", _LONGS, "positions searched (simulations for MCTS)", "nodes"),
    Column(
        "time_us",
        _LONGS,
        "wall time of the search. Deterministic searches are cached in each worker; a cached move repeats the "
        "time of the original search, so the sum can exceed the run's time",
        "µs",
    ),
    Column("exact", pa.list_(pa.bool_()), "whether the score is the result under perfect play"),
    Column("seed", pa.uint64(), "the game's seed"),
    Column("started_at", pa.timestamp("us", tz="UTC"), "when the game's batch began", "µs, UTC"),
)
"""The log, `RUN/games/`: a row a game."""

LABELS = (
    Column("game_id", pa.int64(), "as in the log"),
    Column("value", _SHORTS, "of the position before the ply: 1 if the mover wins with perfect play, 0 if not"),
    Column("winning", _SHORTS, "how many of the mover's moves keep the win, 0 in lost positions", "moves"),
    Column("legal", _SHORTS, "how many moves it had", "moves"),
    Column("kept", _SHORTS, "1 if the move played kept the win, 0 if it lost it, −1 if there was none to keep"),
)
"""Exact values of logged moves, `RUN/labels.parquet`: a row a game. −1 is unknown."""

SUITE = (
    Column(
        "moves",
        _SHORTS,
        "the cells played so far, from the empty board, row * columns + column; players 1 and 2 alternate",
    ),
    Column("legal", _SHORTS, "the cells the side to move may go to, ascending"),
    Column("keeps", _BYTES, "for each of them, 1 if the mover wins after it with perfect play, 0 if not"),
    Column(
        "errs",
        _SHORTS,
        "for each of them, which members of the reference field err in their answer: bit i for the i-th; 0 for all in "
        "won positions",
    ),
    Column("kept_by", pa.int16(), "which members of the field, asked in this position, keep the win; 0 in lost ones"),
    Column("orbit", pa.uint64(), "of the opening, the first two plies, up to symmetry, as in logs"),
    Column("opening_winner", pa.int8(), "who wins the opening with perfect play: 1 or 2; 0 if unknown"),
    Column("split", pa.string(), "`fit` or `screen`, by the orbit alone, so that no two suites of a board mix them"),
    Column(
        "source",
        pa.string(),
        "whose games the position comes from; in shipped suites classic, mcts, mixture, perfect or shipped",
    ),
)
"""A suite: a row a position. The file's metadata name the board, and the recipe with the specs of the field."""

SOLVED = (
    Column("opening", pa.list_(pa.int16(), 2), "the two cells"),
    Column("winner", pa.int8(), "who wins with perfect play: 1 or 2; 0 if the limit left it unknown"),
    Column("nodes", pa.int64(), "positions searched", "nodes"),
)
"""Solutions of a board: a row a placement pair. The file's metadata name the board."""

DATASET = (
    Column(
        "moves", _SHORTS, "the cells played so far, both placements first; the side to move follows from their number"
    ),
    Column("legal", _SHORTS, "the cells the side to move may go to, ascending"),
    Column("values", _BYTES, "for each of them, 1 if it wins with perfect play, -1 if it loses"),
    Column("value", pa.int8(), "the label: 1 if the side to move wins with perfect play, -1 if it loses"),
    Column("ply", pa.int16(), "the number of moves played so far"),
    Column("orbit", pa.uint64(), "of the opening, the first two moves, up to symmetry"),
)
"""A dataset: a row a position. Columns of heuristics follow, see `feature_column`."""


def feature_column(name: str) -> Column:
    """Return the column of a dataset for a heuristic."""
    return Column(name, pa.float64(), f"value of the heuristic `{name}` for the side to move")


def schema_of(columns: Iterable[Column]) -> pa.Schema:
    """Return the Arrow schema of a file with these columns."""
    return pa.schema([(column.name, column.type) for column in columns])


def lift(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return the columns of a table as this version writes them; its metadata stay the file's.

    Raises:
        pyarrow.ArrowInvalid: a value of an older type does not fit the type of today.
    """
    fields = pa.schema([schema.field(name) for name in table.column_names], table.schema.metadata)
    return table if table.schema.equals(fields) else table.cast(fields)
