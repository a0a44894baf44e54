"""Select games of a run by a condition, and read one of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from knights_isolation.isolation.rules.outcome import ON_THE_BOARD
from knights_isolation.isolation.suggestions import advice, command

from ..exact import labels
from ..record.log import PER_PLY, SCHEMA, find_row, read_games
from ..record.log_validation import check_log

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["all", "longest", "shortest", "upsets", "forfeits"]
KINDS: tuple[Kind, ...] = get_args(Kind)
FACTS = tuple(name for name in SCHEMA.names if name not in (*PER_PLY, "opening", "settings_1", "settings_2"))
"""Columns that a condition can use, in addition to `won_by` and `lost_by`."""
SHOWN = ("game_id", "agent_1", "agent_2", "won_by", "plies", "reason", "detail")


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
    import pandas as pd

    if kind not in KINDS:
        raise ValueError(f"no kind of games {kind!r}; choose one of {', '.join(KINDS)}")
    check_log(run)
    games = read_games(run, FACTS)
    names = games[["agent_1", "agent_2"]].astype(object)
    is_first = games["winner"] == 1
    games["won_by"] = names["agent_1"].where(is_first, names["agent_2"])
    games["lost_by"] = names["agent_2"].where(is_first, names["agent_1"])
    if kind == "upsets":
        wins = games["won_by"].value_counts()
        shares = wins.reindex(pd.unique(names.to_numpy().ravel()), fill_value=0) / names.stack().value_counts()
        games["gap"] = games["lost_by"].map(shares) - games["won_by"].map(shares)
    return _ordered(_meeting(games, where), kind)


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


def _ordered(games: pd.DataFrame, kind: Kind) -> pd.DataFrame:
    if kind == "forfeits":
        return games[~games["reason"].isin(ON_THE_BOARD)]
    if kind == "upsets":
        return games[games["gap"] > 0].sort_values("gap", ascending=False, kind="stable")
    return games if kind == "all" else games.sort_values("plies", ascending=kind == "shortest", kind="stable")
