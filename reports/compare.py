"""Is each contender better than the baseline, by how much, and how sure is that?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from experiments.inference.clusters import Interval, rate_interval
from experiments.inference.comparison import Comparison, compare_all
from experiments.inference.multiplicity import holm
from experiments.inference.pairing import PairTable, record_of
from experiments.inference.pairs import PairCounts, PairInterval, count_pairs, pair_interval
from experiments.inference.permutation import sign_flip_test
from experiments.inference.planning import pairs_after_pilot
from experiments.inference.standings import standings
from experiments.verdicts.effort import Effort, measure_effort
from experiments.verdicts.findings import Findings
from reports.accuracy import theory_section
from reports.cells import Elo, Estimate, Points, PValue, Share, Times, counted, estimate_of
from reports.sections import Section
from reports.summary import pair_cells, run_notes

ALPHA = 0.05


@dataclass(frozen=True)
class Duel:
    """A contender head to head with the baseline.

    `rate` is the contender's share of games won, over openings at large, clustered by symmetry; `on_these` is about
    the pool the openings were drawn from, None if that is unknown or chance had a part. `p_value` is the exact
    sign-flip test over openings, `adjusted_p` Holm-adjusted over the `family`.
    """

    contender: str
    baseline: str
    pairs: PairCounts
    unfinished: int
    rate: Interval
    on_these: PairInterval | None
    p_value: float
    adjusted_p: float
    family: int
    alpha: float

    @property
    def verdict(self) -> str:
        """For openings at large: "better", "worse" or "cannot tell"."""
        if self.adjusted_p > self.alpha or self.pairs.score == 0.5:
            return "cannot tell"
        return "better" if self.pairs.score > 0.5 else "worse"

    @property
    def words(self) -> str:
        """The verdict as one plain phrase."""
        if self.verdict != "cannot tell":
            return self.verdict
        lead = self.pairs.score - 0.5
        if not self.pairs.n:
            return "cannot tell: no complete pairs"
        if self.on_these is not None and self.on_these.is_census:
            return "cannot tell beyond these openings, all of which were played"
        needed = pairs_after_pilot(self.pairs, lead, alpha=self.alpha / self.family).more if lead else math.inf
        if needed > 1e6:
            return "cannot tell: no difference to speak of was seen"
        return f"cannot tell: about {int(float(f'{max(needed, 1):.2g}')):,} more pairs would be needed"


@dataclass(frozen=True)
class Verdicts:
    """Every contender beside the baseline: over shared opponents, or where there are none, head to head."""

    baseline: str
    comparisons: tuple[Comparison, ...]
    duels: tuple[Duel, ...]
    controls: tuple[str, ...]

    @property
    def claims(self) -> tuple[Comparison, ...]:
        """The comparisons that are not controls."""
        return tuple(one for one in self.comparisons if one.contender not in self.controls)


def judge(findings: Findings, alpha: float = ALPHA) -> Verdicts:
    """Compare every contender with the baseline; p-values are Holm-adjusted over all of them, controls aside.

    Raises:
        ValueError: there is no baseline, or nobody to compare with it.
    """
    baseline = findings.baseline
    table = findings.table
    if baseline is None:
        known = ", ".join(table.agents)
        raise ValueError(f"no baseline to compare with: name one with --baseline; there are {known or 'no games'}")
    if not len(findings.games):
        return Verdicts(baseline, (), (), ())
    table.code(baseline)
    controls = findings.having("control")
    beside = [name for name in findings.contenders if _met(table, name) & _met(table, baseline) - {name, baseline}]
    against = [name for name in findings.contenders if name not in beside and baseline in _met(table, name)]
    if not beside and not against:
        raise ValueError(f"nobody has met {baseline} or one of its opponents: name another with --baseline")
    comparisons = tuple(
        one
        for name in beside
        for one in compare_all(table, baseline, [name], controls, alpha=alpha, pool=_pool(findings, name, baseline))
    )
    duels = tuple(_duel(findings, name, baseline, alpha) for name in against)
    return _adjusted(Verdicts(baseline, comparisons, duels, controls))


def compare_sections(findings: Findings) -> tuple[Section, ...]:
    """The verdicts, the effects per opponent, and what they rest on."""
    verdicts = judge(findings)
    efforts = measure_effort(findings)
    sections = []
    if verdicts.comparisons or not verdicts.duels:
        sections += [verdict_section(findings, verdicts, efforts), effects_section(verdicts)]
    if verdicts.duels:
        sections.append(duels_section(findings, verdicts, efforts))
    if theory := theory_section(findings):
        sections.append(theory)
    return tuple(sections)


def verdict_section(findings: Findings, verdicts: Verdicts, efforts: dict[str, Effort]) -> Section:
    """One row a contender, the largest difference first; the control last."""
    rates = {one.agent: estimate_of(one.rate) for one in standings(findings.table)}
    ordered = sorted(
        verdicts.comparisons, key=lambda one: (one.contender in verdicts.controls, -_or_low(one.difference))
    )
    has_pool = any(one.on_these for one in ordered)
    rows = []
    for one in ordered:
        row: dict[str, Any] = {
            "contender": one.contender,
            "difference": estimate_of(one.difference, Points),
            "verdict": control_words(one) if one.contender in verdicts.controls else one.words,
        }
        if has_pool:
            row["on_these_openings"] = estimate_of(one.on_these, Points) if one.on_these else None
        is_control = one.contender in verdicts.controls
        row |= {
            "win_rate": rates[one.contender],
            "p": PValue(one.p_value),
            "adjusted_p": None if is_control else PValue(one.adjusted_p),
            "better_against_all": one.better_against_every_opponent,
            "heterogeneity_p": PValue(one.heterogeneity_p),
            "openings": one.openings,
            "cost": _cost(efforts, one.contender, verdicts.baseline),
        }
        rows.append(row)
    title = f"Beside {verdicts.baseline}, which won {rates[verdicts.baseline].shown}" if rates else "No games yet"
    return Section("verdicts", title, tuple(rows), verdict_notes(findings, verdicts))


def effects_section(verdicts: Verdicts) -> Section:
    """The difference to the baseline against each opponent, and their mean."""
    rows = []
    for one in verdicts.comparisons:
        rows += [
            {
                "contender": one.contender,
                "opponent": effect.opponent,
                "openings": effect.openings,
                "contender_rate": Share(effect.contender_rate),
                "baseline_rate": Share(effect.baseline_rate),
                "difference": estimate_of(effect.difference, Points),
                "p_better": PValue(effect.p_better),
            }
            for effect in one.effects
        ]
        rows.append(
            {
                "contender": one.contender,
                "opponent": "mean",
                "openings": one.openings,
                "contender_rate": Share(one.contender_rate),
                "baseline_rate": Share(one.baseline_rate),
                "difference": estimate_of(one.difference, Points),
                "p_better": None,
            }
        )
    note = "p better: one-sided, against no better than the baseline; not adjusted for the number of opponents."
    return Section("effects", "Difference to the baseline by opponent", tuple(rows), (note,) if rows else ())


def duels_section(findings: Findings, verdicts: Verdicts, efforts: dict[str, Effort]) -> Section:
    """One row a contender that met the baseline itself."""
    rows = []
    for one in sorted(verdicts.duels, key=lambda duel: -_or_low(duel.rate)):
        at_large = PairInterval(
            one.pairs, None, one.rate.confidence, "", one.rate.estimate, one.rate.low, one.rate.high
        )
        row: dict[str, Any] = {
            "contender": one.contender,
            "win_rate": estimate_of(one.rate),
            "elo": Estimate(*(Elo(value) for value in at_large.elo)),
            "verdict": one.words,
        }
        if one.on_these or any(duel.on_these for duel in verdicts.duels):
            row["on_these_openings"] = estimate_of(one.on_these) if one.on_these else None
        row |= {
            "p": PValue(one.p_value),
            "adjusted_p": PValue(one.adjusted_p),
            **pair_cells(one.pairs),
            "cost": _cost(efforts, one.contender, verdicts.baseline),
        }
        rows.append(row)
    notes = list(run_notes(findings))
    notes.append(
        "Win rate, Elo and p-values: openings at large, clustered by symmetry. A pair is one opening, both sides."
    )
    for one in verdicts.duels:
        if one.on_these and one.on_these.is_census:
            notes.append(f"These {one.pairs.n:,} openings, all of their kind: {one.contender}'s share is exact.")
    return Section("head_to_head", f"Head to head with {verdicts.baseline}", tuple(rows), tuple(notes))


def verdict_notes(findings: Findings, verdicts: Verdicts) -> tuple[str, ...]:
    """What the verdicts rest on, and what was left out of them."""
    notes = [*run_notes(findings)]
    if not verdicts.comparisons:
        return (*notes, "No complete pairs to compare yet.")
    openings = max(one.openings for one in verdicts.comparisons)
    notes.append(
        f"Differences in percentage points, mean over opponents. Verdicts, intervals and p-values are about openings "
        f"at large, with {counted(openings, 'opening')} as the sample; p-values are Holm-adjusted over "
        f"{counted(len(verdicts.claims), 'contender')}."
    )
    if on_these := next((one for one in verdicts.comparisons if one.on_these), None):
        is_exact = (
            " exact, as all of them were played" if on_these.is_census else " with what the unplayed ones could change"
        )
        notes.append(f"On these openings: the {on_these.pool:,} of this kind on the board,{is_exact}.")
    elif chance := [name for name in findings.table.agents if not findings.agents[name].is_deterministic]:
        verb = "leaves" if len(chance) == 1 else "leave"
        notes.append(f"{', '.join(chance)} {verb} moves to chance or a clock: no result is exact for these openings.")
    notes += [control_sentence(one) for one in verdicts.comparisons if one.contender in verdicts.controls]
    notes += left_out(verdicts.comparisons)
    notes.append("Cost: time per node over the baseline's, on the machine that played.")
    return tuple(notes)


def left_out(comparisons: Sequence[Comparison]) -> list[str]:
    """Which opponents and openings could not be used, and for whom."""
    whom: dict[str, list[str]] = {}
    for one in comparisons:
        if one.missing:
            text = f"{', '.join(one.missing)}, whom only one of the two has finished a pair with"
            whom.setdefault(text, []).append(one.contender)
        if one.unshared:
            text = f"{counted(one.unshared, 'opening')} that only one of the two has finished"
            whom.setdefault(text, []).append(one.contender)
    return [f"Left out beside the baseline: {what} ({', '.join(names)})." for what, names in whom.items()]


def control_words(one: Comparison) -> str:
    """Whether a control does what it should: differ from the baseline by luck alone."""
    return "control: no difference, as it should be" if one.p_value > one.alpha else "control: differs from itself!"


def control_sentence(one: Comparison) -> str:
    """What the control shows, in a sentence."""
    shown = estimate_of(one.difference, Points).shown
    if one.p_value > one.alpha:
        return (
            f"Control: {one.contender} is {one.baseline} on {counted(one.openings, 'opening')} of its own. "
            f"It differs from itself by {shown} points, {_p(one.p_value)}: luck, and a measure of how much there is."
        )
    return (
        f"Control: {one.contender} is {one.baseline} on openings of its own, and still differs by {shown} points, "
        f"{_p(one.p_value)}. One run in twenty does so by luck; otherwise distrust this run."
    )


def _met(table: PairTable, agent: str) -> set[str]:
    if agent not in table.agents:
        return set()
    code = table.code(agent)
    others = {*np.unique(table.second[table.first == code]), *np.unique(table.first[table.second == code])}
    return {table.agents[other] for other in others}


def _pool(findings: Findings, name: str, baseline: str) -> int | None:
    shared = _met(findings.table, name) & _met(findings.table, baseline)
    return findings.pool_of([name, baseline, *shared])


def _duel(findings: Findings, name: str, baseline: str, alpha: float) -> Duel:
    table = findings.table
    record = record_of(table, name)
    chosen = record.opponent == table.code(baseline)
    wins, clusters = record.wins[chosen], record.cluster[chosen]
    pairs = count_pairs(wins)
    _, unit = np.unique(clusters, return_inverse=True)
    pool = findings.pool_of([name, baseline])
    p_value = sign_flip_test(np.bincount(unit, 2 * (wins - 1)).astype(np.int64)).p_value
    codes = {table.code(name), table.code(baseline)}
    of_both = np.isin(table.first, list(codes)) & np.isin(table.second, list(codes))
    return Duel(
        contender=name,
        baseline=baseline,
        pairs=pairs,
        unfinished=int(np.count_nonzero(of_both & ~table.complete)),
        rate=rate_interval(np.bincount(unit, wins), 2 * np.bincount(unit)),
        on_these=pair_interval(pairs, pool=pool) if pool and pairs.n <= pool else None,
        p_value=p_value,
        adjusted_p=p_value,
        family=1,
        alpha=alpha,
    )


def _adjusted(verdicts: Verdicts) -> Verdicts:
    claims: Sequence[Comparison | Duel] = (*verdicts.claims, *verdicts.duels)
    adjusted = dict(zip((one.contender for one in claims), holm([one.p_value for one in claims]).adjusted, strict=True))
    return replace(
        verdicts,
        comparisons=tuple(
            replace(one, adjusted_p=adjusted.get(one.contender, one.p_value), family=len(claims) or 1)
            for one in verdicts.comparisons
        ),
        duels=tuple(replace(one, adjusted_p=adjusted[one.contender], family=len(claims)) for one in verdicts.duels),
    )


def _cost(efforts: dict[str, Effort], name: str, baseline: str) -> Times:
    """Time per node over the baseline's; unknown where the baseline's moves were too quick for the clock."""
    usual = efforts[baseline].nanoseconds_a_node
    return Times(efforts[name].nanoseconds_a_node / usual if usual else math.nan)


def _or_low(interval: Interval) -> float:
    return -2.0 if math.isnan(interval.estimate) else interval.estimate


def _p(value: float) -> str:
    text = PValue(value).shown
    return f"p {text}" if text.startswith("<") else f"p = {text}"
