"""Accuracy: the share of moves that kept a won position won.

A *decision* is a move of an agent in a position whose exact value is known. It is *eligible* if the position was won
and at least one legal move would have thrown the win away: other decisions carry no information about the player.

Intervals are clustered by opening, with symmetric openings merged: the decisions of one game depend on each other, and
so do the games of one opening. A deterministic player makes the same first moves in all of them, whoever it plays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from numpy.typing import NDArray

from ..record import log
from ..record.columns import Table
from ..record.schema import read_facts
from ..statistics.proportions import Interval
from .labels import PER_PLY, labelled_games, labelled_plies
from .theory import share_taken

if TYPE_CHECKING:
    import pandas as pd

BAND = 7
"""Number of plies per band in the tables."""


@dataclass(frozen=True)
class Accuracy:
    """Accuracy of an agent in a band of plies, or over all plies.

    Attributes:
        agent: its name.
        heuristic: heuristic of its search, or empty.
        depth: its depth limit, or None.
        first, last: plies of the band; the first placement is ply 0.
        games: games in which it made a decision in the band.
        decisions: moves of known value; `unknown` counts those that the limit left unsolved.
        eligible: decisions that could have thrown a win away.
        kept: share of eligible moves that kept the win.
        chance: share that random legal moves would have kept.
        mistakes: wins thrown away per game.
        won_games: games in which it had a won position in the band.
        conversion: share of those games that it won.
    """

    agent: str
    heuristic: str
    depth: int | None
    first: int
    last: int
    games: int
    decisions: int
    unknown: int
    eligible: int
    kept: Interval
    chance: float
    mistakes: Interval
    won_games: int
    conversion: Interval


def run_decisions(run: str | Path) -> pd.DataFrame:
    """Return every labelled move of a run, one row per decision.

    Columns: `game_id`, `orbit` (of the opening, up to symmetry), `ply`, `agent`, `heuristic`, `depth` (the agent's
    limit; NaN if it has none), `value`, `winning`, `legal`, `kept` (see `experiments.exact.labels`) and `won`, whether
    the agent won the game.

    Raises:
        ValueError: there is no such run, or it has no labels.
    """
    log.existing_folder(run)
    columns = ("orbit", "agent_1", "agent_2", "settings_1", "settings_2", "winner")
    games, labels = labelled_games(run, columns)
    return decisions_frame(games.to_pandas(), labels)


def accuracies(decisions: pd.DataFrame, band: int | None = None, confidence: float = 0.95) -> list[Accuracy]:
    """Return the accuracy of each agent, over all plies or in bands of `band` plies; agents by name, bands in order."""
    width = band or int(decisions["ply"].max(skipna=True)) + 1 if len(decisions) else 1
    groups = decisions.groupby(["agent", decisions["ply"] // width], observed=True)
    return [_accuracy(group, width, confidence) for _, group in groups]


def accuracy_lines(decisions: pd.DataFrame, band: int = 4, fewest: int = 10) -> dict[str, list[Accuracy]]:
    """Return the bands of each agent in order of plies; the agent with the highest lower bound of accuracy comes first.

    Bands with fewer than `fewest` eligible moves are left out, and so are agents without any other band.
    """
    bands = [accuracy for accuracy in accuracies(decisions, band) if accuracy.eligible >= fewest]
    best = sorted(accuracies(decisions), key=lambda accuracy: -accuracy.kept.low) if bands else []
    lines = {whole.agent: [accuracy for accuracy in bands if accuracy.agent == whole.agent] for whole in best}
    return {name: line for name, line in lines.items() if line}


def chance_by(lines: Iterable[Sequence[Accuracy]], x_of: Callable[[Accuracy], float]) -> dict[float, float]:
    """Return the share of all agents' eligible moves that random moves would have kept, by position on an axis."""
    groups = groupby(sorted(chain.from_iterable(lines), key=x_of), x_of)
    at_x = {x: np.array([(accuracy.chance, accuracy.eligible) for accuracy in group]).T for x, group in groups}
    return {x: float(np.average(chances, weights=eligible)) for x, (chances, eligible) in at_x.items()}


def is_eligible(decisions: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which decisions were made in won positions in which a losing choice existed."""
    winning = decisions["winning"].to_numpy()
    kept, legal = decisions["kept"].to_numpy(), decisions["legal"].to_numpy()
    return np.asarray((kept >= 0) & (winning >= 0) & (winning < legal))


def _accuracy(group: pd.DataFrame, width: int, confidence: float) -> Accuracy:
    first = int(group["ply"].iloc[0]) // width * width
    value, kept = group["value"].to_numpy(), group["kept"].to_numpy()
    winning, legal = group["winning"].to_numpy(), group["legal"].to_numpy()
    _, start, game = np.unique(group["game_id"].to_numpy(), return_index=True, return_inverse=True)
    cluster = np.unique(group["orbit"].to_numpy()[start], return_inverse=True)[1]
    eligible, depth = is_eligible(group), float(group["depth"].iloc[0])
    by_chance = winning[eligible] / legal[eligible]
    had_win = np.bincount(game, value == 1) > 0
    won = np.bincount(game, group["won"].to_numpy()) > 0
    return Accuracy(
        agent=str(group["agent"].iloc[0]),
        heuristic=str(group["heuristic"].iloc[0]),
        depth=None if math.isnan(depth) else int(depth),
        first=first,
        last=first + width - 1,
        games=len(start),
        decisions=int((value >= 0).sum()),
        unknown=int((value < 0).sum()),
        eligible=int(eligible.sum()),
        kept=share_taken(
            np.bincount(game, eligible & (kept == 1)), np.bincount(game, eligible), cluster, 2, confidence
        ),
        chance=float(by_chance.mean()) if len(by_chance) else math.nan,
        mistakes=_mean_interval(np.bincount(game, kept == 0), cluster, confidence),
        won_games=int(had_win.sum()),
        conversion=share_taken(won & had_win, had_win, cluster, 2, confidence),
    )


def decisions_frame(games: pd.DataFrame, labels: Table) -> pd.DataFrame:
    """Return the frame of `run_decisions`, given games with the columns it reads and their labels in the same order."""
    from pandas import DataFrame

    plies = labelled_plies(games, labels)
    is_first = plies["ply"].to_numpy() % 2 == 0
    agents, settings = (
        np.where(is_first, *(plies[f"{name}_{side}"].astype(str).to_numpy() for side in (1, 2)))
        for name in ("agent", "settings")
    )
    facts = {text: read_facts(text) for text in np.unique(settings)}
    limits = {text: fact.limit or ("", 0) for text, fact in facts.items()}
    depths = {text: value if unit == "depth" else math.nan for text, (unit, value) in limits.items()}
    return DataFrame(
        {
            **{name: plies[name].to_numpy() for name in ("game_id", "orbit", "ply")},
            "agent": agents,
            "heuristic": [facts[text].heuristic for text in settings],
            "depth": [depths[text] for text in settings],
            **{name: plies[name].to_numpy() for name in PER_PLY},
            "won": plies["winner"].to_numpy() == np.where(is_first, 1, 2),
        }
    )


def _mean_interval(counts: NDArray[Any], cluster: NDArray[np.int64], confidence: float) -> Interval:
    """Estimate the mean of a count per game, with Student's t interval over clusters of games, truncated at 0."""
    # Two games with count zero and two with count one are added for the interval, so that its width is not zero if all
    # games are equal. Each is a cluster of its own, weighted with the design effect (effective games per cluster) of
    # the observed games.
    totals, games = np.bincount(cluster, counts), np.bincount(cluster)
    mean = float(counts.mean())
    apart = float(((counts - mean) ** 2).sum())
    together = float(((totals - mean * games) ** 2).sum()) / apart if apart else 1.0
    weight = min(max(together, 1.0), float(games.mean()))
    totals, games = np.append(totals, [0, 0, weight, weight]), np.append(games, [weight] * 4)
    centre = float(totals.sum() / games.sum())
    squares = float(((totals - centre * games) ** 2).sum()) * games.size / (games.size - 1)
    half = float(scipy.special.stdtrit(games.size - 1, 0.5 + confidence / 2)) * math.sqrt(squares) / float(games.sum())
    return Interval(mean, max(0.0, min(mean, centre - half)), max(mean, centre + half), confidence)
