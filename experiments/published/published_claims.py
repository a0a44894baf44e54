"""Re-analyse published win and loss tables against the baseline of the same source.

Such tables contain no openings, so nothing is known about pairing: all games are treated as independent. If openings
decide games and sides were swapped, the true uncertainty is smaller, so these tests are conservative.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..inference.argument_checks import check_between
from ..inference.contenders.multiple_testing import holm
from ..inference.intervals import Proportion, wilson
from ..inference.mantel_haenszel import Homogeneity, MantelHaenszel, Stratum, homogeneity, mantel_haenszel
from .published_tables import PublishedRow, PublishedTables, bundled_csv, parse_classic_text, parse_csv

PAIRING_UNKNOWN = (
    "The openings were not published, so pairing is unknown and games are treated as independent. Where swapped "
    "openings "
    "decide many games, the true uncertainty is smaller and these tests are conservative."
)

_BASELINE = re.compile(r"(id|ab)_improved(_score)?", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"student|(ab|id)?_?custom(_?(player|score))?(_\d+)?", re.IGNORECASE)


@dataclass(frozen=True)
class AgentResult:
    """Results of one agent in one table: share of games won, overall and by opponent, with Wilson intervals."""

    source: str
    table: str
    agent: str
    rate: Proportion
    opponents: tuple[tuple[str, Proportion], ...]


@dataclass(frozen=True)
class Claim:
    """A published claim about an agent compared with the baseline, and whether it holds.

    `tables` are the tables it is based on, several if runs of the same agent are combined; `opponents` are the common
    opponents. `published` is the verdict by the plain shares: "better", "worse" or "equal". `adjusted_p` is
    Holm-adjusted over the claims of the source. If the table has no baseline of its own, all baselines of the source
    are combined.
    """

    source: str
    tables: tuple[str, ...]
    agent: str
    baseline: str
    opponents: tuple[str, ...]
    contender_wins: int
    contender_games: int
    baseline_wins: int
    baseline_games: int
    published: str
    test: MantelHaenszel
    adjusted_p: float
    alpha: float

    @property
    def stands(self) -> bool:
        """Return whether the difference is significant."""
        return self.published != "equal" and self.adjusted_p <= self.alpha

    @property
    def is_anonymous(self) -> bool:
        """Return whether the agent has a name from a template, which may be another function in every run."""
        return _PLACEHOLDER.fullmatch(self.agent) is not None


@dataclass(frozen=True)
class Repetition:
    """The same baseline measured several times in one source: an A/A experiment, in which all differences are luck.

    `largest_difference` is the range of the shares won; `expected_difference` is the 95 % quantile of the difference of
    two such runs if it is due to luck alone.
    """

    source: str
    agent: str
    runs: tuple[AgentResult, ...]
    largest_difference: float
    expected_difference: float
    test: Homogeneity

    @property
    def is_luck(self) -> bool:
        """Return whether the differences between the runs are consistent with luck at the 5 % level."""
        return self.test.p_value > 0.05


@dataclass(frozen=True)
class PublishedAnalysis:
    """Results of analysing published tables.

    `claims` are per table. `pooled` are per agent, with all its tables combined, for sources in which an agent has
    several. `repetitions` are the baselines measured more than once. `notes` are assumptions, and problems of the text.
    """

    results: tuple[AgentResult, ...]
    claims: tuple[Claim, ...]
    pooled: tuple[Claim, ...]
    repetitions: tuple[Repetition, ...]
    notes: tuple[str, ...]


def parse_published(text: str, source: str = "notes") -> PublishedTables:
    """Parse CSV or the output of the classic scripts.

    `source` is the source's name if `text` does not contain one.
    """
    first = next((line for line in text.splitlines() if line.strip()), "")
    columns = {name.strip().strip('"') for name in first.lstrip("\ufeff").split(",")}
    if {"wins", "losses"} <= columns:
        return parse_csv(text.lstrip("\ufeff"), source)
    return parse_classic_text(text, source)


def analyse_published(
    tables: PublishedTables, baseline: str | None = None, confidence: float = 0.95, alpha: float = 0.05
) -> PublishedAnalysis:
    """Compute intervals and tests against the baseline of the same source, and decide which claims hold.

    `baseline` names the baseline in every source; the default is the agent called ID_Improved or AB_Improved (with or
    without "_score", in any case). Raises ValueError if `baseline` is given and does not occur.
    """
    check_between("confidence", confidence)
    check_between("alpha", alpha)
    rows = tables.rows
    if baseline is not None and baseline not in {row.agent for row in rows}:
        names = ", ".join(sorted({row.agent for row in rows}))
        raise ValueError(f"baseline must be one of the agents {names}, not {baseline!r}")
    results = _results(rows, confidence)
    claims: list[Claim] = []
    pooled: list[Claim] = []
    repetitions: list[Repetition] = []
    notes = [PAIRING_UNKNOWN, *tables.problems]
    for source in dict.fromkeys(row.source for row in rows):
        own = [result for result in results if result.source == source]
        name = _baseline_of(own, baseline)
        if name is None:
            notes.append(f"{source or 'the text'}: no baseline (ID_Improved or AB_Improved), so nothing is compared")
            continue
        bases = [result for result in own if result.agent == name]
        contenders = [result for result in own if result.agent != name]
        claims += _adjust([_claim([contender], bases, confidence, alpha) for contender in contenders])
        runs_of = _by_agent(contenders)
        if any(len(runs) > 1 for runs in runs_of.values()):
            pooled += _adjust([_claim(runs, bases, confidence, alpha) for runs in runs_of.values()])
        if len(bases) > 1:
            repetitions.append(_repetition(bases, confidence))
    return PublishedAnalysis(results, tuple(claims), tuple(pooled), tuple(repetitions), tuple(notes))


def _results(rows: Iterable[PublishedRow], confidence: float) -> tuple[AgentResult, ...]:
    grouped: dict[tuple[str, str, str], list[PublishedRow]] = {}
    for row in rows:
        grouped.setdefault((row.source, row.table, row.agent), []).append(row)
    return tuple(
        AgentResult(
            *key,
            rate=wilson(sum(r.wins for r in group), sum(r.wins + r.losses for r in group), confidence),
            opponents=tuple((r.opponent, wilson(r.wins, r.wins + r.losses, confidence)) for r in group),
        )
        for key, group in grouped.items()
    )


def _baseline_of(results: Iterable[AgentResult], wanted: str | None) -> str | None:
    agents = [result.agent for result in results]
    if wanted is not None:
        return wanted if wanted in agents else None
    return next((agent for agent in agents if _BASELINE.fullmatch(agent)), None)


def _by_agent(results: Iterable[AgentResult]) -> dict[str, list[AgentResult]]:
    grouped: dict[str, list[AgentResult]] = {}
    for result in results:
        grouped.setdefault(result.agent, []).append(result)
    return grouped


def _claim(runs: Sequence[AgentResult], bases: Sequence[AgentResult], confidence: float, alpha: float) -> Claim:
    """Test the claim based on `runs` of one agent, each against the baseline of its own table."""
    # If one has none, all are combined and compared with all of the baseline's games, so that no game counts twice.
    of_table = {base.table: [baseline for baseline in bases if baseline.table == base.table] for base in bases}
    elsewhere = any(run.table not in of_table for run in runs)
    compared = [(runs, bases)] if elsewhere else [([run], of_table[run.table]) for run in runs]
    strata: list[Stratum] = []
    opponents: dict[str, None] = {}
    for own, others in compared:
        base = _total(others)
        for opponent, (won, played) in _total(own).items():
            if opponent in base:
                wins, games = base[opponent]
                strata.append(Stratum(won, played - won, wins, games - wins))
                opponents[opponent] = None
    test = mantel_haenszel(strata, confidence)
    shift = test.difference.estimate
    return Claim(
        source=runs[0].source,
        tables=tuple(run.table for run in runs),
        agent=runs[0].agent,
        baseline=bases[0].agent,
        opponents=tuple(opponents),
        contender_wins=sum(s.contender_wins for s in strata),
        contender_games=sum(s.contender_wins + s.contender_losses for s in strata),
        baseline_wins=sum(s.baseline_wins for s in strata),
        baseline_games=sum(s.baseline_wins + s.baseline_losses for s in strata),
        published="equal" if math.isnan(shift) or shift == 0 else "better" if shift > 0 else "worse",
        test=test,
        adjusted_p=test.p_value,
        alpha=alpha,
    )


def _total(results: Iterable[AgentResult]) -> dict[str, tuple[int, int]]:
    total: dict[str, tuple[int, int]] = {}
    for result in results:
        for opponent, share in result.opponents:
            wins, games = total.get(opponent, (0, 0))
            total[opponent] = (wins + share.wins, games + share.games)
    return total


def _adjust(claims: Sequence[Claim]) -> list[Claim]:
    adjusted = holm([claim.test.p_value for claim in claims])
    return [replace(claim, adjusted_p=p) for claim, p in zip(claims, adjusted, strict=True)]


def _repetition(runs: Sequence[AgentResult], confidence: float) -> Repetition:
    shared = [name for name, _ in runs[0].opponents if all(name in dict(run.opponents) for run in runs)]
    counts = [
        [(share.wins, share.games - share.wins) for share in (dict(run.opponents)[name] for name in shared)]
        for run in runs
    ]
    test = homogeneity(counts)
    total = _total(runs)
    # two runs of the shortest length, with each opponent's rate over all runs together
    share = min(sum(won + lost for won, lost in run) for run in counts) / max(sum(total[n][1] for n in shared), 1)
    variance = sum(
        total[n][1] * share * (total[n][0] / total[n][1]) * (1 - total[n][0] / total[n][1])
        for n in shared
        if total[n][1]
    )
    games = share * sum(total[n][1] for n in shared)
    rates = [sum(won for won, _ in run) / max(sum(won + lost for won, lost in run), 1) for run in counts]
    return Repetition(
        source=runs[0].source,
        agent=runs[0].agent,
        runs=tuple(runs),
        largest_difference=max(rates) - min(rates),
        expected_difference=1.96 * math.sqrt(2 * variance) / games if games else math.nan,
        test=test,
    )


def analyse_file(path: Path | None, baseline: str | None = None) -> PublishedAnalysis:
    """Analyse a file, or by default the tables that ship with the project.

    Raises:
        ValueError: the file cannot be read or contains no results, or no agent in it is called `baseline`.
    """
    if path is None:
        return analyse_published(parse_csv(bundled_csv()), baseline)
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    try:
        return analyse_published(parse_published(text, path.stem), baseline)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
