"""Verdict on each contender of a run: difference to the baseline, interval, significance; and pandas frames of them.

In frames, shares are between 0 and 1, differences of shares between -1 and 1 (0.03 is three percentage points), ratings
are in Elo. Nothing is rounded, and unknown values are NaN. `low` and `high` are the ends of a 95 % interval.

Also differences of two runs: designs, agents, shared games; and runs of one question at other costs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..record.agent_facts import read_facts, run_facts
from ..record.log import read_games
from ..record.run_directory import FACTS, is_imported, load_run
from ..record.schema import RunInfo
from ..record.tries import known_tries
from .account import account_for
from .game_pairs import opponents_of
from .paired_differences import Comparison, HeadToHead, compare_all, compare_each
from .proportions import ALPHA, Interval, without_gap
from .ratings import Ratings, rate_agents
from .run_results import RunResults, load_findings
from .sequential_tests import live_estimate

if TYPE_CHECKING:
    import pandas as pd

_SIGNS = {"better": 1, "worse": -1}

Result = TypeVar("Result", Comparison, HeadToHead, Comparison | HeadToHead)


@dataclass(frozen=True)
class Verdicts:
    """Comparisons of all contenders with the baseline: over shared opponents, or head to head if there are none.

    `direct` are the games head to head of contenders that are in `comparisons`: an answer to another question, since
    who wins more against others need not win against the baseline. They are a family of their own.
    """

    baseline: str
    comparisons: tuple[Comparison, ...]
    duels: tuple[HeadToHead, ...]
    controls: tuple[str, ...]
    direct: tuple[HeadToHead, ...] = ()

    @property
    def results(self) -> tuple[Comparison | HeadToHead, ...]:
        """All comparisons, over shared opponents and head to head."""
        return *self.comparisons, *self.duels, *self.direct

    @property
    def claims(self) -> tuple[Comparison, ...]:
        """The comparisons that are not controls."""
        return tuple(comparison for comparison in self.comparisons if comparison.contender not in self.controls)

    @property
    def checks(self) -> tuple[Comparison, ...]:
        """The comparisons of controls, which show what chance does."""
        return tuple(comparison for comparison in self.comparisons if comparison.contender in self.controls)

    @property
    def judged(self) -> tuple[Comparison | HeadToHead, ...]:
        """One result of each contender that is no control: over shared opponents, or else head to head."""
        return *self.claims, *(duel for duel in self.duels if duel.contender not in self.controls)

    @property
    def best(self) -> Comparison | None:
        """The claim of the largest difference; None without any."""
        claims = [claim for claim in self.claims if not claim.is_empty]
        return max(claims, key=lambda claim: claim.estimate, default=None)

    @property
    def family(self) -> int:
        """Number of contenders that share the error level."""
        return len(self.judged)

    def against_baseline(self, contender: str) -> HeadToHead | None:
        """Return the result head to head of a contender that is compared over shared opponents; None without games."""
        return next((duel for duel in self.direct if duel.contender == contender), None)

    @property
    def disagreeing(self) -> tuple[str, ...]:
        """Contenders whose verdicts differ: over shared opponents and head to head, both with games."""
        return tuple(
            claim.contender
            for claim in self.claims
            if (duel := self.against_baseline(claim.contender))
            and not claim.is_empty
            and not duel.is_empty
            and _SIGNS.get(claim.verdict, 0) != _SIGNS.get(duel.verdict, 0)
        )


def judge(findings: RunResults, alpha: float = ALPHA) -> Verdicts:
    """Compare every contender with the baseline; p-values and intervals are joint over all of them except controls.

    As long as games are missing, and in an extended run, joint intervals are those that are valid at any time, and
    there are no adjusted p-values. Verdicts also allow for earlier looks at the same contenders, and for what else was
    tried (`account`). Games head to head with the baseline are another question: they are judged among themselves.

    Raises:
        ValueError: there is no baseline, or no agent to compare with it.
    """
    return judge_together([findings], alpha)[0]


def judge_together(runs: Sequence[RunResults], alpha: float = ALPHA) -> list[Verdicts]:
    """Judge several runs of one report, as `judge` does; p-values and intervals are joint over all contenders of all.

    Raises:
        ValueError: a run has no baseline, or no agent to compare with it.
    """
    separate = [_compare(findings, alpha) for findings in runs]
    controls = [findings.having("control") for findings in runs]
    accounted = account_for(runs, separate, controls, known_tries(), alpha)
    verdicts = []
    for findings, results, of_run in zip(runs, accounted, controls, strict=True):
        comparisons = tuple(result for result in results if isinstance(result, Comparison))
        compared = {comparison.contender for comparison in comparisons}
        met = [result for result in results if isinstance(result, HeadToHead)]
        duels, direct = (tuple(duel for duel in met if (duel.contender in compared) == both) for both in (False, True))
        verdicts.append(Verdicts(str(findings.baseline), comparisons, duels, of_run, direct))
    return verdicts


def _compare(findings: RunResults, alpha: float) -> tuple[Comparison | HeadToHead, ...]:
    baseline, pairs = findings.baseline, findings.pairs
    if baseline is None:
        known = ", ".join(pairs.agents)
        raise ValueError(f"no baseline to compare with: name one with --baseline; agents: {known or 'none'}")
    if not findings.played:
        return ()
    met = opponents_of(pairs, baseline)
    shared = {name: opponents_of(pairs, name) & met - {name, baseline} for name in findings.contenders}
    chosen = [name for name in findings.contenders if shared[name] or name in met]
    if not chosen:
        raise ValueError(
            f"no agent has played {baseline} or one of its opponents: name another baseline with --baseline"
        )
    chance = {
        name: [other for other in {*shared[name], baseline} if not findings.repeats_itself([name, baseline, other])]
        for name in chosen
    }
    controls, pool = findings.having("control"), findings.population
    results = compare_all(
        pairs, baseline, chosen, controls, alpha=alpha, chance=chance,
        pools=dict.fromkeys(chosen, pool) if pool else {}, also=findings.pooled_controls,
    )  # fmt: skip
    if findings.is_interim:
        results = _at_any_time(findings, results, controls, alpha)
    compared = [result.contender for result in results if isinstance(result, Comparison)]
    asked = [(name, baseline) for name in compared if name in opponents_of(findings.all_pairs, baseline) - {*controls}]
    direct = compare_each(findings.all_pairs, asked, alpha=alpha, pools=[findings.pool_of(names) for names in asked])
    # a test of the differences has stopped these games as well
    is_open = findings.is_interim or findings.stopped_early
    return *results, *(_at_any_time(findings, direct, (), alpha) if is_open else direct)


def _at_any_time(
    findings: RunResults, results: Sequence[Result], controls: Collection[str], alpha: float
) -> tuple[Result, ...]:
    """Return claims with joint intervals that are valid at any time, and therefore without adjusted p-values."""
    claims = [result for result in results if result.contender not in controls and not result.is_empty]
    return tuple(
        replace(result, jointly=_live_interval(findings, result, alpha / len(claims)), adjusted_p=math.nan)
        if result in claims
        else result
        for result in results
    )


def _live_interval(findings: RunResults, result: Comparison | HeadToHead, alpha: float) -> Interval:
    is_duel = isinstance(result, HeadToHead)
    low, high = live_estimate(findings, result.contender, result.baseline, is_duel, 1 - alpha).last
    low, high = (low, high) if is_duel else (2 * low - 1, 2 * high - 1)
    estimate = result.estimate + 0.5 if is_duel else result.estimate
    return Interval(estimate, min(low, estimate), max(high, estimate), result.jointly.confidence)


def judge_all_pairs(findings: RunResults, alpha: float = ALPHA) -> tuple[HeadToHead, ...]:
    """Compare every two agents that met in a run without baseline, such as a round-robin.

    P-values and intervals are adjusted for all of these comparisons.

    The agent that won more of their games comes first. Empty if there is a baseline.
    """
    pairs = findings.pairs
    if any("baseline" in facts.roles for facts in findings.agents.values()) or findings.baseline is not None:
        return ()
    met = [(agent, other) for agent, other in combinations(pairs.agents, 2) if agent in opponents_of(pairs, other)]
    duels = compare_each(pairs, met, alpha=alpha, pools=[findings.pool_of(names) for names in met])
    turned = [
        (duel.baseline, duel.contender) if duel.rate.estimate < 0.5 else names
        for duel, names in zip(duels, met, strict=True)
    ]
    results = compare_each(pairs, turned, alpha=alpha, pools=[findings.pool_of(names) for names in turned])
    return _at_any_time(findings, results, (), alpha) if findings.is_interim else results


def rate(findings: RunResults, zero: str | None = None) -> Ratings:
    """Fit ratings in Elo with the baseline, or `zero`, at zero; in a run without baseline the pool's mean is zero.

    All games count, also those of contenders with the baseline itself: a rating is to explain each of them.

    Raises:
        ValueError: `zero` has no games.
    """
    pairs = findings.all_pairs
    if zero is None and findings.baseline in pairs.agents:
        zero = findings.baseline
    return rate_agents(pairs, zero, pool=findings.pool_of(pairs.agents))


VERDICTS = (
    *("contender", "baseline", "measure", "estimate", "low", "high", "joint_low", "joint_high", "p_value"),
    *("adjusted_p", "verdict", "is_control", "observations", "is_census", "run_state"),
)
STANDINGS = (
    *("agent", "wins", "games", "win_rate", "low", "high", "both_won", "split", "both_lost"),
    *("unfinished", "openings", "run_state"),
)
RATINGS = ("agent", "rating", "low", "high", "wins", "games", "is_zero", "half_game_added", "run_state")


def verdict_frame(findings: RunResults, alpha: float = ALPHA) -> pd.DataFrame:
    """Return a row for each contender and measure, in the order of the run: is it better than the baseline?

    Over shared opponents `measure` is ``difference``: `estimate` is the contender's win rate minus the baseline's, and
    `observations` are openings. Head to head it is ``score``: the share of games won against the baseline, where 0.5 is
    no difference, and `observations` are pairs. A gauntlet has both: they are two questions, and may have different
    answers. All values are about the openings of the run's kind on its board. `low`, `high` and `p_value` hold
    individually; `joint_low`, `joint_high` and `adjusted_p` hold for all rows of one measure except controls together.
    As long as games are missing, `joint_low`, `joint_high` and `verdict` are valid at any time, the others for a single
    look at the end, and `adjusted_p` is NaN. `verdict` is ``better`` or ``worse`` exactly if no difference is outside
    of `joint_low` to `joint_high`, or at an end that is open there: if `adjusted_p` is at most `alpha`. Otherwise it is
    ``no significant difference``, after a census also ``equal``. `is_census`: every existing opening was played.
    `run_state` is ``running``, ``stopped`` or ``finished``, as in all frames.

    Raises:
        ValueError: there is no baseline, or no agent to compare with it.
    """
    verdicts = judge(findings, alpha)
    rows = [
        _verdict(comparison, "difference", comparison.difference, comparison.openings, verdicts.controls)
        for comparison in verdicts.comparisons
    ]
    duels = (*verdicts.duels, *verdicts.direct)
    rows += [_verdict(duel, "score", duel.rate, duel.pairs.n, verdicts.controls) for duel in duels]
    return _frame(findings, rows, VERDICTS)


def standings_frame(findings: RunResults) -> pd.DataFrame:
    """Return one row per agent, the highest win rate first, over all opponents.

    `wins` and `games` count all games. `win_rate` is the share of games won in complete pairs, with an interval over
    openings. `both_won`, `split` and `both_lost` count the pairs, `unfinished` those that lack a game, and `openings`
    the openings played.
    """
    rows = [
        (
            *(each.agent, each.wins, each.games, each.rate.estimate, each.rate.low, each.rate.high),
            *(each.pairs.won, each.pairs.split, each.pairs.lost, each.unfinished, each.openings),
        )
        for each in findings.standings
    ]
    return _frame(findings, rows, STANDINGS)


def ratings_frame(findings: RunResults, zero: str | None = None) -> pd.DataFrame:
    """Return one row per agent, the highest rating first: Bradley-Terry ratings in Elo.

    Intervals are by bootstrap over openings.

    The baseline, or the agent `zero`, is at 0, and its `is_zero` is true; without either the mean of the pool is 0. An
    end of an interval is infinite if the results do not bound it. `half_game_added`: an agent was given half a game won
    and half a game lost, because it won, or lost, all its games against the largest group, or had none.

    Raises:
        ValueError: `zero` has no games.
    """
    ratings = rate(findings, zero)
    rows = [
        (
            *(each.agent, each.elo, each.low, each.high, each.wins, each.games),
            *(each.agent == ratings.zero, each.agent in ratings.half_game_added),
        )
        for each in ratings.ratings
    ]
    return _frame(findings, rows, RATINGS)


def _verdict(
    comparison: Comparison | HeadToHead, measure: str, interval: Interval, observations: int, controls: Iterable[str]
) -> tuple[Any, ...]:
    null = 0.5 if isinstance(comparison, HeadToHead) else 0.0
    ends = (interval.low, interval.high, comparison.jointly.low, comparison.jointly.high)
    return (
        *(comparison.contender, comparison.baseline, measure, interval.estimate),
        *(without_gap(end, null) for end in ends),
        *(comparison.p_value, comparison.adjusted_p, comparison.verdict, comparison.contender in controls),
        *(observations, comparison.is_census),
    )


def _frame(findings: RunResults, rows: list[tuple[Any, ...]], columns: tuple[str, ...]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame([(*row, findings.state) for row in rows], columns=list(columns))


_ROLES = {"contenders": "contender", "baseline": "baseline", "opponents": "opponent"}
"""Keys of the design that name agents, and the roles of those."""
_KNOWN_OF_IMPORTED = ("board",)
"""Facts that are known about games that were played elsewhere."""
_GAME = ["agent_1", "agent_2", "opening", "rows", "columns"]


@dataclass(frozen=True)
class DesignChange:
    """A key of the design, or code, or a version, that differs between the runs."""

    what: str
    before: Any
    after: Any


@dataclass(frozen=True)
class SharedGames:
    """Games that both runs have: same players by name, same sides, same opening; and those with the same moves.

    `unchanged` are the agents all of whose games are in both runs, with the same moves.
    """

    games: int
    same_winner: int
    same_moves: int
    unchanged: frozenset[str]


def design_changes(before: RunInfo, after: RunInfo) -> tuple[DesignChange, ...]:
    """Return changed keys of the request, agents with other settings, agents of one run only, and changed versions.

    Agents count as equal in the request if their completed specs are equal. Little is known about imported games, so
    only that is compared.
    """
    imported = is_imported(before) or is_imported(after)
    keys = _KNOWN_OF_IMPORTED if imported else dict.fromkeys((*before.requested, *after.requested))
    changes = [DesignChange(key, _requested_value(before, key), _requested_value(after, key)) for key in keys]
    names = dict.fromkeys((*before.agents, *after.agents))
    settings = [[_settings(info, name) for name in names] for info in (before, after)]
    agents = map(DesignChange, names, *settings)
    if imported:
        return tuple(change for change in (*changes, *agents) if _is_known(change) and change.before != change.after)
    changes += agents
    tools = dict.fromkeys((*before.versions, *after.versions))
    changes += [
        DesignChange(f"version of {tool}", before.versions.get(tool), after.versions.get(tool)) for tool in tools
    ]
    return tuple(change for change in changes if change.before != change.after)


def _settings(info: RunInfo, agent: str) -> str | None:
    return info.agents[agent].settings if agent in info.agents else None


def _requested_value(info: RunInfo, key: str) -> Any:
    asked = info.requested.get(key)
    if key not in _ROLES or not asked:
        return asked
    return sorted(entry.spec for entry in info.agents.values() if _ROLES[key] in entry.roles)


def _is_known(change: DesignChange) -> bool:
    """Return whether a change applies to an imported run, of whose players only the names are known."""
    return change.what in _KNOWN_OF_IMPORTED or None in (change.before, change.after)


def shared_games(before: Path, after: Path) -> SharedGames:
    """Count the games that both runs have, and those with the same moves."""
    first, other = (_keyed(path) for path in (before, after))
    both = first.add_suffix("_before").join(other.add_suffix("_after"), how="inner")
    same_winner = both["winner_before"] == both["winner_after"]
    same_moves = both["moves_before"] == both["moves_after"]
    counts = [
        Counter(name for column in _GAME[:2] for name in games.index.get_level_values(column))
        for games in (first, other, both[same_moves & same_winner])
    ]
    unchanged = frozenset(name for name in counts[2] if len({count[name] for count in counts}) == 1)
    return SharedGames(len(both), int(same_winner.sum()), int(same_moves.sum()), unchanged)


def difference_of(before: Interval, after: Interval) -> Interval:
    """Estimate the difference of two rates from separate runs, from their own intervals.

    Newcombe, R. G. (1998), "Interval estimation for the difference between independent proportions", method 10. If the
    runs share openings it is conservative.
    """
    change = after.estimate - before.estimate
    down = math.hypot(after.estimate - after.low, before.high - before.estimate)
    up = math.hypot(after.high - after.estimate, before.estimate - before.low)
    return Interval(change, max(change - down, -1.0), min(change + up, 1.0), after.confidence)


def _keyed(path: Path) -> pd.DataFrame:
    games = read_games(path, [*_GAME, "winner", "moves"])
    for column in ("opening", "moves"):
        games[column] = [cells.tobytes() for cells in games[column]]
    for column in ("agent_1", "agent_2"):
        games[column] = games[column].astype(str)
    return games.drop_duplicates(_GAME).set_index(_GAME)


_SAME = ("board", "format", "openings", "limit")
"""Keys that must be equal in two runs that differ in their cost only."""


@dataclass(frozen=True)
class EqualCost:
    """A run at equal cost, and its verdicts on contenders, by their names in the other run."""

    run: Path
    claims: dict[str, Comparison | HeadToHead]


def equal_cost_verdicts(findings: RunResults, names: Iterable[str]) -> EqualCost | None:
    """Return the verdicts on these contenders of the latest equal-cost run in the same folder; None if there are none.

    That run has the same settings and the same baseline, and its contenders differ from these in their limits only.
    """
    wanted = {findings.agents[name].apart_from_limit: name for name in names}
    for info in _beside(findings):
        facts = [run_facts(name, entry) for name, entry in info.agents.items() if "contender" in entry.roles]
        called = {fact.name: wanted[fact.apart_from_limit] for fact in facts if fact.apart_from_limit in wanted}
        verdicts = judge(load_findings([info.path])) if called else None
        claims = verdicts.judged if verdicts else ()
        if claims_by_name := {called[claim.contender]: claim for claim in claims if claim.contender in called}:
            return EqualCost(info.path, claims_by_name)
    return None


def _beside(findings: RunResults) -> Iterator[RunInfo]:
    """Yield runs of the same settings at equal cost in the folder of a run, the latest first."""
    first, baseline = findings.sources[0].info, findings.agents[findings.baseline or ""]
    runs = []
    for facts in first.path.parent.glob(f"*/{FACTS}"):
        with suppress(ValueError):  # unreadable runs are skipped
            runs.append(load_run(facts.parent))
    for info in sorted(runs, key=lambda info: info.created_at, reverse=True):
        asked = info.requested
        is_same = all(asked.get(key) == first.requested.get(key) for key in _SAME)
        settings = read_facts(info.agents[info.baseline].settings).settings if info.baseline else None
        if asked.get("equal_cost") and is_same and settings == baseline.settings:
            yield info
