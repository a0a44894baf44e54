"""Find games of runs: by a condition, by number, by SQL, or by a position, as the opening explorer does.

The SQL views for DuckDB are `games`, `plays`, `plies`, `agents` and `labels`; `docs/reference/log.md` lists their
columns. What is unknown is NULL: scores that are NaN, searches of opening plies, labels that the limit left open. Parts
of a log that have been merged into others are ignored, as everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.game import ON_THE_BOARD, Size
from knights_isolation.isolation.rules.geometry import cells_of, full_mask
from knights_isolation.isolation.suggestions import advice, command

from .exact import labels
from .plan.openings import Ids, orbit_ids, orbit_ids_by_ply
from .record import columns as arrow
from .record.columns import Table
from .record.log import PER_PLY, SCHEMA, find_row, fold_batches, read_games, read_table
from .record.log_validation import check_log
from .record.run_directory import is_run, load_run, run_called
from .record.schema import AGENTS, schema_of

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["all", "longest", "shortest", "upsets", "forfeits"]
KINDS: tuple[Kind, ...] = get_args(Kind)
FACTS = tuple(name for name in SCHEMA.names if name not in (*PER_PLY, "opening", "settings_1", "settings_2"))
"""Columns that a condition can use, in addition to `won_by` and `lost_by`."""


def find_games(run: str | Path, kind: Kind = "all", where: str = "") -> pd.DataFrame:
    """Return the games of a kind that meet a condition, the most remarkable first, as a frame of `FACTS`.

    Longest and shortest count plies. Forfeits are games that were lost by a failure. Upsets were won by the agent with
    the lower share of wins in the run; the largest difference of shares comes first.

    Args:
        where: an expression over the columns, in the syntax of `pandas.DataFrame.query`. Besides the log's columns it
            can use `won_by` and `lost_by`, the names of the winner and the loser.

    Raises:
        ValueError: there is no run there, it contains games that do not belong to it, there is no such kind, or the
            condition cannot be evaluated.
    """
    if kind not in KINDS:
        raise ValueError(f"no kind of games {kind!r}; choose one of {', '.join(KINDS)}")
    check_log(run)
    games = named_games(run, FACTS)
    if kind == "upsets":
        wins, losses = games["won_by"].value_counts(), games["lost_by"].value_counts()
        shares = wins.div(wins.add(losses, fill_value=0), fill_value=0)
        games["gap"] = games["lost_by"].map(shares) - games["won_by"].map(shares)
    games = _meeting(games, where)
    if kind == "forfeits":
        return games[~games["reason"].isin(ON_THE_BOARD)]
    if kind == "upsets":
        return games[games["gap"] > 0].sort_values("gap", ascending=False, kind="stable")
    return games if kind == "all" else games.sort_values("plies", ascending=kind == "shortest", kind="stable")


def named_games(run: str | Path, columns: Sequence[str]) -> pd.DataFrame:
    """Read games, with the names of winner and loser in `won_by` and `lost_by`; `columns` have players and winner."""
    games = read_games(run, columns)
    names = games[["agent_1", "agent_2"]].astype(object)
    is_first = games["winner"] == 1
    games["won_by"] = names["agent_1"].where(is_first, names["agent_2"])
    games["lost_by"] = names["agent_2"].where(is_first, names["agent_1"])
    return games


def with_mistakes(run: str | Path, games: pd.DataFrame, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return columns of games as rows. If the run has labels, `mistakes` counts the wins thrown away in each game.

    `mistakes` follows `plies`, which must be among the columns, and is None for a game without labels.
    """
    rows = [dict(zip(columns, row, strict=True)) for row in games[list(columns)].astype(object).itertuples(index=False)]
    if not labels.has_labels(run):
        return rows
    counts, column_index = labels.mistake_counts(run), list(columns).index("plies") + 1
    names = [*columns[:column_index], "mistakes", *columns[column_index:]]
    return [{name: row.get(name, counts.get(row["game_id"])) for name in names} for row in rows]


def read_game(run: str | Path, game_id: int) -> dict[str, Any]:
    """Read the row of one game, per-ply columns as lists.

    Raises:
        ValueError: there is no run there, it has no such game, or it contains games that do not belong to it.
    """
    check_log(run)
    row = find_row(run, game_id)
    if row is None:
        listing = advice(command("games", run), f"ki.games({str(run)!r})")
        raise ValueError(f"{run} has no game {game_id}; list its games with {listing}")
    return row


def _meeting(games: pd.DataFrame, where: str) -> pd.DataFrame:
    if not where.strip():
        return games
    if "@" in where or "__" in where:
        raise ValueError(f"--where {where!r}: conditions may use only columns, without @ and __")
    try:
        chosen: Any = games.eval(where, engine="python")
        if getattr(chosen, "dtype", None) is None or chosen.dtype.kind != "b":
            raise ValueError("not a true/false condition; did you mean `==`?")
        met: pd.DataFrame = games.loc[chosen.to_numpy()]
        return met
    except Exception as error:
        columns = ", ".join(column for column in games.columns if column != "gap")
        message = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(
            f"--where {where!r}: {message}; write something like \"won_by == 'Random' and plies > 30\" "
            f"with the columns {columns}"
        ) from None


_OF_GAMES = tuple(name for name in SCHEMA.names if not name.startswith("settings_"))
VIEWS = Path(__file__).parent / "templates" / "log_views.sql"
"""Views of the tables of games, agents and labelled games."""


def connect_runs(runs: Sequence[str | Path], file: str | Path | None = None) -> Any:
    """Return a DuckDB connection with the views of runs; with `file`, a new database that contains their data.

    Raises:
        ValueError: DuckDB is not installed, there is no such run, or the file exists.
    """
    try:
        duckdb = import_module("duckdb")
    except ImportError:
        raise ValueError("SQL needs DuckDB: pip install 'knights-isolation[sql]'") from None
    if file is not None and Path(file).exists():
        raise ValueError(f"{file} already exists: choose another name, or remove it")
    paths = [run_called(run) for run in runs]
    games = arrow.concatenate((_with_run(path, read_table(path, _OF_GAMES)) for path in paths), SCHEMA)
    tables = {"games": games, "agents": _agents(paths), "labelled_games": _labels(paths)}
    connection = duckdb.connect(str(file) if file is not None else ":memory:")
    stored, view = ("TABLE", "VIEW") if file is not None else ("TEMP VIEW", "TEMP VIEW")
    for name, table in tables.items():
        connection.register(f"arrow_{name}", table)
        connection.execute(f"CREATE {stored} {name} AS SELECT * FROM arrow_{name}")
    connection.execute(VIEWS.read_text(encoding="utf-8").replace("CREATE VIEW", f"CREATE {view}"))
    return connection


def query_runs(query: str, runs: Sequence[str | Path]) -> Table:
    """Return the answer to a query as an Arrow table.

    Raises:
        ValueError: DuckDB is not installed, there is no such run, or the query is wrong.
    """
    connection = connect_runs(runs)
    try:
        answer = connection.sql(query)
        if answer is None:
            raise ValueError("the query has no answer: begin it with SELECT")
        return answer.to_arrow_table()
    except import_module("duckdb").Error as error:
        raise ValueError(str(error).rstrip()) from None
    finally:
        connection.close()


def _labels(paths: Sequence[Path]) -> Table:
    tables = [_with_run(path, labels.read_label_table(path)) for path in paths if labels.has_labels(path)]
    return arrow.concatenate(tables, _with_run(Path(), labels.SCHEMA.empty_table()).schema)


def _with_run(path: Path, table: Table) -> Table:
    runs = arrow.to_names(np.zeros(len(table), np.int8), [str(path)])
    return arrow.with_plain_texts(table.replace_schema_metadata().add_column(0, "run", runs))


def _agents(paths: Sequence[Path]) -> Table:
    rows = [
        {
            "run": str(path),
            "agent": name,
            "role": ", ".join(entry.roles),
            "spec": entry.spec,
            "settings": entry.settings,
            "deterministic": entry.deterministic,
        }
        for path in paths
        if is_run(path)
        for name, entry in load_run(path).agents.items()
    ]
    return arrow.table_of_rows(rows, schema_of(AGENTS))


PLIES = 24
"""Number of plies of each game that are indexed; hardly any later position occurs twice."""


class PlayedGames(NamedTuple):
    """Games of a run on boards of one size.

    Attributes:
        ids: one row per game: `orbit_ids` of its first `PLIES` + 1 positions, 0 after its end.
        drawn: number of plies in each game's random opening.
        winners: 1 or 2.
    """

    ids: Ids
    drawn: NDArray[np.int16]
    winners: NDArray[np.int8]


@dataclass(frozen=True)
class Reply:
    """Moves that are equivalent by symmetry, the number of games that continued with them, and the mover's wins."""

    cells: tuple[int, ...]
    games: int
    won: int


@dataclass(frozen=True)
class Continuations:
    """Continuations of a run's games from a position.

    Attributes:
        games: number of games that reached the position and continued.
        drawn: whether the moves were part of random openings because no player chose any here.
        replies: all legal moves, the most often played first.
    """

    games: int
    drawn: bool
    replies: tuple[Reply, ...]


def read_played(run: str | Path, size: Size) -> PlayedGames:
    """Read the games of a run on boards of a size, for `explore`.

    Raises:
        ValueError: there is no run there, it contains games that do not belong to it, or a file of it is damaged.
    """
    check_log(run)
    columns = ("rows", "columns", "opening", "moves", "winner")
    parts = fold_batches(run, columns, lambda games: [_known(arrow.on_board(table, size), size) for table in games])
    parts.append(PlayedGames(np.empty((0, PLIES + 1), np.uint64), np.empty(0, np.int16), np.empty(0, np.int8)))
    return PlayedGames(*map(np.concatenate, zip(*parts, strict=True)))


def explore(played: PlayedGames, board: Board) -> Continuations:
    """Count how games continued from a position: by the players' choices or, if there were none, by random openings."""
    ply = min(board.move_count, PLIES - 1)
    went_on = (played.ids[:, ply] == _orbits(board)[0]) & (played.ids[:, ply + 1] != 0)
    chosen = went_on & (played.drawn <= ply)
    drawn = bool(went_on.any()) and not chosen.any()
    counted = went_on if drawn else chosen
    after, has_won = played.ids[counted, ply + 1], played.winners[counted] == board.active_index + 1
    replies = [
        Reply(cells, int((after == reply).sum()), int(has_won[after == reply].sum()))
        for reply, cells in _replies(board).items()
    ]
    ordered = sorted(replies, key=lambda reply: (-reply.games, -reply.won, reply.cells))
    return Continuations(int(counted.sum()), drawn, tuple(ordered))


def _known(table: Table, size: Size) -> PlayedGames:
    moves, starts = arrow.lists(table, "moves")
    game = np.repeat(np.arange(len(table)), np.diff(starts))
    ply = np.arange(len(moves)) - starts[game]
    is_kept = ply < PLIES
    cells = np.full((len(table), PLIES), -1, np.int16)
    cells[game[is_kept], ply[is_kept]] = moves[is_kept]
    drawn = arrow.lengths(table, "opening").astype(np.int16)
    return PlayedGames(orbit_ids_by_ply(cells, size), drawn, arrow.numbers(table, "winner").astype(np.int8))


def _orbits(*boards: Board) -> list[int]:
    ways = np.array([_way_to(board) for board in boards], np.int16).reshape(len(boards), -1)
    return list(map(int, orbit_ids(ways, Size(boards[0].height, boards[0].width))))


def _replies(board: Board) -> dict[int, tuple[int, ...]]:
    cells = board.legal_cells()
    if not cells:
        return {}
    ids = _orbits(*map(board.successor, cells))
    return {
        reply: tuple(cell for cell, other in zip(cells, ids, strict=True) if other == reply)
        for reply in dict.fromkeys(ids)
    }


def _way_to(board: Board) -> list[int]:
    """Return an order of visits that leads to the position: only the last two matter, where the knights stand."""
    locations = [board.locations[board.active_index], board.locations[1 - board.active_index]]
    stand = [cell for cell in locations if cell is not None]
    visited = cells_of(full_mask(board.height, board.width) & ~board.blank)
    return [*(cell for cell in visited if cell not in stand), *stand]
