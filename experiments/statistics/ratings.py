"""Bradley–Terry ratings on the Elo scale.

Ratings use every game of the pool. They are differences: the zero is arbitrary, and they hold for this pool of agents,
under these limits, from these openings. Maximum-likelihood ratings are infinite for agents that won or lost every game,
and undetermined between groups that never met or of which one won every game. Those agents get half a game won and half
a game lost, spread over all others, and are listed in `half_game_added`.

Intervals come from resampling openings; an end is infinite if too many resamples contain no result that bounds it.
Resamples of a few openings, or of openings in which some agent never loses, vary too little, so hypothetical openings
are added to those drawn from: for every agent one in which it wins all its games and one in which it loses them, drawn
with a probability that falls with its number of opponents. Between two agents these are the two won and two lost pairs
of `proportions`. Simulated coverage at 95 %: at least 0.92 in pools, and at least 0.88 for two agents of scores up to
0.99, from 20 openings on.

Sources: R. A. Bradley and M. E. Terry (1952); L. R. Ford (1957) for when the maximum exists.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import scipy

from .game_pairs import PairTable
from .proportions import ALPHA, ELO_PER_LOGIT, ConvergenceError, Floats, check_integer

if TYPE_CHECKING:
    from .run_results import RunResults

DRAWS = 500

_CHUNK_CELLS = 4_000_000
_STEPS = 200
_LONGEST_STEP = 2.0
_SETTLED = 1e-10
_STILL = 1e-6
"""Steps in logits below this (0.0002 Elo) count as converged: rounding in sums over very many games causes as much."""
_EQUAL = 0.001
"""Ratings in Elo that differ by less than this are equal up to rounding."""


@dataclass(frozen=True)
class Rating:
    """One agent's rating in Elo above the zero, with its interval over resampled openings.

    The low end is infinite if in too many resamples the agent has no win over the anchor of `Ratings`, neither directly
    nor through a chain of agents that beat the next one. The high end is infinite if it has no such loss to the anchor.
    """

    agent: str
    elo: float
    low: float
    high: float
    games: int
    wins: int


@dataclass(frozen=True)
class Ratings:
    """Ratings, best first. `superiority[i][j]` is the likelihood that `ratings[i]` is above `ratings[j]`.

    `is_exact`: all openings of the pool were played. `zero` names the agent at 0; None if the mean of the pool is 0.
    `anchor` is the agent relative to which results bound the others: the one at 0, or else the one for which the
    smaller of its wins and losses is largest. `unfinished` pairs are left out.
    """

    ratings: tuple[Rating, ...]
    superiority: tuple[tuple[float, ...], ...]
    zero: str | None
    anchor: str | None
    half_game_added: tuple[str, ...]
    openings: int
    unfinished: int
    draws: int
    seed: int
    is_exact: bool = False

    @property
    def ranks(self) -> tuple[int, ...]:
        """Rank of each of `ratings`: 1 plus the number of agents rated above it, so that ties share a rank."""
        ranks_so_far: list[int] = []
        for position, rating in enumerate(self.ratings, start=1):
            is_equal = position > 1 and self.ratings[position - 2].elo - rating.elo < _EQUAL
            ranks_so_far.append(ranks_so_far[-1] if is_equal else position)
        return tuple(ranks_so_far)

    @property
    def open_ended(self) -> tuple[str, ...]:
        """Agents whose intervals are infinite on one side or both, best first."""
        return tuple(rating.agent for rating in self.ratings if math.isinf(rating.low) or math.isinf(rating.high))


def rate_agents(
    table: PairTable,
    zero: str | None = None,
    *,
    seed: int = 0,
    draws: int = DRAWS,
    pool: int | None = None,
) -> Ratings:
    """Fit ratings to the complete pairs of `table`, with intervals by resampling whole openings `draws` times.

    `zero` names the agent whose rating is 0; by default the mean of the pool is 0. `pool` is the number of existing
    openings, if all agents are deterministic: then only the unplayed openings are uncertain. ValueError if `zero` is
    unknown; ConvergenceError if a fit does not converge.
    """
    check_integer("seed", seed)
    check_integer("draws", draws, 2)
    zero_code = None if zero is None else table.code(zero)
    agents = len(table.agents)
    met, won, lost = _by_opening(table)
    openings = len(won)
    if not openings:
        return Ratings((), (), zero, None, (), 0, table.unfinished, draws, seed)
    totals = _win_matrix(np.ones((1, openings)), won, lost, met, agents)
    added = outside_main_group(totals[0])
    logits = _anchored(fit_ratings(totals), zero_code)[0]
    resampled = _resample(won, lost, met, agents, np.random.default_rng(seed), draws)
    unseen = math.sqrt(_unseen(table, len(met), pool))
    spread = _anchored(fit_ratings(resampled), zero_code)
    spread = logits + unseen * (spread - logits)
    wins, losses = totals[0].sum(axis=1), totals[0].sum(axis=0)
    games = wins + losses
    anchor = zero_code if zero_code is not None else int(np.argmax(np.minimum(losses, wins)))
    reached = _reached(resampled) if unseen else np.ones_like(resampled, bool)
    tail = student_tail(openings)
    low = np.quantile(np.where(reached[:, :, anchor], spread, -np.inf), tail, axis=0, method="lower")
    high = np.quantile(np.where(reached[:, anchor, :], spread, np.inf), 1 - tail, axis=0, method="higher")
    order = np.argsort(-logits, kind="stable")
    elo, low, high = ELO_PER_LOGIT * np.array([logits, np.minimum(low, logits), np.maximum(high, logits)])
    return Ratings(
        ratings=tuple(
            Rating(table.agents[i], float(elo[i]), float(low[i]), float(high[i]), round(games[i]), round(wins[i]))
            for i in order
        ),
        superiority=_superiority(spread[:, order]),
        zero=zero,
        anchor=table.agents[anchor],
        half_game_added=tuple(table.agents[i] for i in np.flatnonzero(added)),
        openings=openings,
        unfinished=table.unfinished,
        draws=draws,
        seed=seed,
        is_exact=not unseen,
    )


def _superiority(spread: Floats) -> tuple[tuple[float, ...], ...]:
    """Return the share of resamples (r, k) in which each agent is above each other; ties count half."""
    lead = (spread[:, :, None] - spread[:, None, :]) * ELO_PER_LOGIT
    above, equal = (lead > _EQUAL).mean(axis=0), (abs(lead) <= _EQUAL).mean(axis=0)
    return tuple(tuple(float(p) for p in row) for row in above + equal / 2)


def _unseen(table: PairTable, meetings: int, pool: int | None) -> float:
    """Return the share of a pool's openings that is not yet played by all that meet; 1 without a pool."""
    if not pool:
        return 1.0
    complete = table.complete
    cells = np.stack([table.first[complete], table.second[complete], table.opening[complete]])
    return float(max(1 - np.unique(cells, axis=1).shape[1] / (meetings * pool), 0.0))


def _by_opening(table: PairTable) -> tuple[npt.NDArray[np.int64], Floats, Floats]:
    """Return the meetings as `first * agents + second`, and games won and lost by the first, (openings, meetings)."""
    agents, complete = len(table.agents), table.complete
    _, group = np.unique(table.cluster[complete], return_inverse=True)
    first, second = table.first[complete], table.second[complete]
    wins = (table.won_placing_first + table.won_placing_second)[complete]
    met, meeting = np.unique(first.astype(np.int64) * agents + second, return_inverse=True)
    shape = int(group.max(initial=-1)) + 1, met.size
    won, lost = np.zeros(shape), np.zeros(shape)
    np.add.at(won, (group, meeting), wins)
    np.add.at(lost, (group, meeting), 2 - wins)
    return met, won, lost


def outside_main_group(wins: Floats) -> npt.NDArray[np.bool_]:
    """Return which agents have no finite maximum-likelihood rating, given the wins `wins[i, j]` of i over j.

    Two agents are in one group if each has beaten the other, directly or through a chain. All agents outside the
    largest group (among groups of equal size, the one with most games) are marked, including those without games.
    """
    from scipy.sparse.csgraph import connected_components

    groups, group = connected_components(wins > 0, directed=True, connection="strong")
    sizes = np.bincount(group, minlength=groups)
    games = np.bincount(group, wins.sum(axis=0) + wins.sum(axis=1), groups)
    main = max(range(groups), key=lambda g: (sizes[g], games[g])) if groups else 0
    return np.asarray(group != main)


def student_tail(openings: int) -> float:
    """Return the share of resamples to exclude on either side of a 95 % interval, corrected for few openings.

    It is smaller than `ALPHA`/2 by the ratio of Student's to the normal quantile, and because resamples vary less than
    samples do (Hesterberg, 2015). 0 for a single opening.
    """
    if openings < 2:
        return 0.0
    student = math.sqrt(openings / (openings - 1)) * float(scipy.special.stdtrit(openings - 1, 1 - ALPHA / 2))
    return float(scipy.special.ndtr(-student))


def fit_ratings(wins: Floats) -> Floats:
    """Maximum-likelihood ratings in logits, mean zero, shape (…, agents), for win matrices (…, agents, agents).

    Agents marked by `outside_main_group` get half a game won and half a game lost, spread evenly over all others.
    ConvergenceError, for example, if losses are lost in rounding next to very many wins.
    """
    agents = wins.shape[-1]
    if agents < 2:
        return np.zeros(wins.shape[:-1])
    stack = _joined(wins.reshape(-1, agents, agents))
    games = stack + stack.transpose(0, 2, 1)
    logits = np.zeros(stack.shape[:-1])
    for _ in range(_STEPS):
        step = _newton_step(stack, games, logits)
        longest = np.abs(step).max(axis=1, keepdims=True)
        logits += step * np.minimum(1, _LONGEST_STEP / np.maximum(longest, 1e-300))
        if longest.max(initial=0.0) < _SETTLED:
            break
    if not longest.max(initial=0.0) < _STILL:
        raise ConvergenceError(f"ratings still move by {longest.max() * ELO_PER_LOGIT:.1g} Elo after {_STEPS} steps")
    return np.asarray((logits - logits.mean(axis=1, keepdims=True)).reshape(wins.shape[:-1]))


def _joined(stack: Floats) -> Floats:
    stack = stack.copy()
    share = 0.5 / (stack.shape[-1] - 1)
    for matrix in stack:
        outside = outside_main_group(matrix)
        matrix[outside, :] += share
        matrix[:, outside] += share
        np.fill_diagonal(matrix, 0)
    return stack


def _newton_step(stack: Floats, games: Floats, logits: Floats) -> Floats:
    agents = logits.shape[-1]
    chances = scipy.special.expit(logits[:, :, None] - logits[:, None, :])
    gradient = (stack - games * chances).sum(axis=2)
    weights = games * chances * (1 - chances)
    information = -weights
    diagonal = np.arange(agents)
    information[:, diagonal, diagonal] += weights.sum(axis=2)
    # ratings are determined up to a constant; the added matrix of ones keeps their mean where it is
    ones = np.ones((agents, agents)) / agents
    pinned = information + ones * weights.sum(axis=(1, 2))[:, None, None]
    return np.asarray(np.linalg.solve(pinned, gradient[:, :, None])[..., 0])


def _anchored(logits: Floats, zero: int | None) -> Floats:
    return logits if zero is None else logits - logits[:, [zero]]


def _win_matrix(weights: Floats, won: Floats, lost: Floats, met: npt.NDArray[np.int64], agents: int) -> Floats:
    """Return win matrices (draws, agents, agents) of openings weighted (draws, openings)."""
    wins = np.zeros((len(weights), agents, agents))
    first, second = np.divmod(met, agents)
    wins[:, first, second] = weights @ won
    wins[:, second, first] = weights @ lost
    return wins


def _reached(wins: Floats) -> npt.NDArray[np.bool_]:
    """Return whether i has beaten j, directly or through a chain (true for i = j); (…, agents, agents)."""
    agents = wins.shape[-1]
    reached = (wins > 0) | np.eye(agents, dtype=bool)
    for _ in range(max(agents - 1, 1).bit_length()):
        reached = np.matmul(reached, reached)
    return np.asarray(reached)


def _resample(
    won: Floats, lost: Floats, met: npt.NDArray[np.int64], agents: int, rng: np.random.Generator, draws: int
) -> Floats:
    won, lost, chances = _with_added(won, lost, met, agents)
    drawn = round(float(chances.sum()))
    size = max(_CHUNK_CELLS // len(chances), 1)
    parts = []
    for start in range(0, draws, size):
        weights = rng.multinomial(drawn, chances / chances.sum(), size=min(size, draws - start)).astype(np.float64)
        parts.append(_win_matrix(weights, won, lost, met, agents))
    return np.concatenate(parts)


def _with_added(won: Floats, lost: Floats, met: npt.NDArray[np.int64], agents: int) -> tuple[Floats, Floats, Floats]:
    """Return wins, losses and weights of the played openings (weight 1) and of the hypothetical ones."""
    pairing = np.stack(np.divmod(met, agents))
    agent_index = np.arange(agents)[:, None]
    is_first, is_second = pairing[0] == agent_index, pairing[1] == agent_index
    games = (won + lost).mean(axis=0)
    weights = 1 / np.maximum((is_first | is_second).sum(axis=1), 1)
    return (
        np.concatenate([won, is_first * games, is_second * games]),
        np.concatenate([lost, is_second * games, is_first * games]),
        np.concatenate([np.ones(len(won)), weights, weights]),
    )


def rate(findings: RunResults, zero: str | None = None) -> Ratings:
    """Fit ratings in Elo with the baseline, or `zero`, at zero; in a run without baseline the pool's mean is zero.

    All games count, also those of contenders with the baseline itself. ValueError if `zero` has no games.
    """
    pairs = findings.all_pairs
    if zero is None and findings.baseline in pairs.agents:
        zero = findings.baseline
    return rate_agents(pairs, zero, pool=findings.pool_of(pairs.agents))
