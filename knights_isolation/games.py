"""Games: select, replay, query, export and import them; each function is the command of its name."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from knights_isolation.reports.text.sections import Section
from knights_isolation.result import Result
from knights_isolation.runs import RunLike, run_path, run_paths, summary

if TYPE_CHECKING:
    from pandas import DataFrame

    from knights_isolation.experiments.exchange.find_games import Kind
    from knights_isolation.experiments.statistics.run_results import RunResults
    from knights_isolation.isolation.games.match import GameRecord
    from knights_isolation.reports.replay.replay import Replay


def games(
    run: RunLike | None = None, *, where: str = "", kind: Kind = "all", limit: int | None = None
) -> Result[DataFrame]:
    """Select games of a run, the most remarkable first.

    Args:
        run: by default the latest one.
        where: a condition, as in "won_by == 'Random' and plies > 30".
        kind: all, longest, shortest, upsets or forfeits.
        limit: show at most this many.

    Raises:
        ValueError: there is no such run, or the condition is wrong.
    """
    from knights_isolation.experiments.exchange.find_games import SHOWN, find_games, with_mistakes
    from knights_isolation.reports.text.cell_values import Identifier

    path = run_path(run)
    found = find_games(path, kind, where)
    rows = with_mistakes(path, found.head(limit) if limit else found, SHOWN)
    shown = tuple({**row, "game_id": Identifier(row["game_id"])} for row in rows)
    title = f"{len(rows):,} of {len(found):,} games." if len(found) else "No matching games."
    return Result(found, (Section("games", title, shown, keep=("won_by",)),))


def replay(
    source: RunLike | GameRecord | Sequence[int] | None = None, game_id: int | None = None, *, size: str = "7x7"
) -> Result[Replay]:
    """Replay a game: its card in a notebook is a board to step through, with the players' scores.

    Args:
        source: a run, by default the latest one; or a saved game, FILE; or what `isolation.play` returned; or the
            cells played, both placements first.
        game_id: which game of the run.
        size: the board of cells.

    Raises:
        ValueError: there is no such game, or a move is illegal.
    """
    from knights_isolation.isolation.games.match import GameRecord
    from knights_isolation.reports.replay.replay import (
        describe_end,
        find_replay,
        ply_rows,
        replay_of_moves,
        replay_of_record,
        replay_of_run,
    )
    from knights_isolation.reports.replay.replay_page import replay_frame

    if isinstance(source, GameRecord):
        game = replay_of_record("A game", source)
    elif isinstance(source, Sequence) and not isinstance(source, str):
        game = replay_of_moves(source, size)
    elif game_id is None:
        game = find_replay([str(run_path(source))], size, "")
    else:
        game = replay_of_run(run_path(source), game_id)
    section = Section("plies", game.title, tuple(ply_rows(game)), (describe_end(game),))
    return Result(game, (section,), card=partial(replay_frame, game))


def sql(query: str, *runs: RunLike) -> DataFrame:
    """Answer an SQL query over runs by DuckDB, as a frame: views games, plays, plies, agents, labels.

    Raises:
        ValueError: DuckDB is not installed, there is no such run, or the query is wrong.
    """
    from knights_isolation.experiments.exchange.sql_views import query_runs

    frame: DataFrame = query_runs(query, run_paths(runs)).to_pandas()
    return frame


def export(run: RunLike, to: Literal["pgn", "csv", "jsonl", "duckdb"], out: str | Path) -> Path:
    """Write the games of a run as PGN, CSV, JSON lines or a DuckDB database into a new file, and return its path.

    Raises:
        ValueError: there is no such run, or the file exists.
    """
    from knights_isolation.experiments.exchange.export_games import exported

    path = Path(out)
    if to == "duckdb":
        from knights_isolation.experiments.exchange.sql_views import connect_runs

        connect_runs([run_path(run)], path).close()
        return path
    pieces = exported(run_path(run), to)
    first = next(pieces, "")  # errors in the pieces occur before the file is created
    try:
        with path.open("x", encoding="utf-8") as new:
            new.write(first)
            new.writelines(pieces)
    except FileExistsError:
        raise ValueError(f"{path} already exists: choose another name, or remove it") from None
    return path


def import_games(file: str | Path, out: str | Path) -> Result[RunResults]:
    """Import games played elsewhere, as PGN, into a new run, and return its summary.

    Raises:
        ValueError: the file cannot be read, or `out` exists.
    """
    from knights_isolation.experiments.exchange.import_games import import_pgn

    for note in import_pgn(Path(file), Path(out)).notes:
        warnings.warn(note, stacklevel=2)
    return summary(out)
