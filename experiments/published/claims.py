"""Published claims: each agent compared with the baseline of its source, and baselines that were measured repeatedly.

Such tables contain no openings, so nothing is known about pairing: all games are treated as independent. If openings
decide games and sides were swapped, the true uncertainty is smaller, so these tests are conservative.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..statistics.proportions import ALPHA, Proportion, wilson
from ..statistics.step_down import holm
from .result_tables import PublishedTables, bundled_csv, parse_csv, parse_published
from .stratified_tests import MantelHaenszel, Stratum, homogeneity, mantel_haenszel

PAIRING_UNKNOWN = (
    "The openings were not published, so pairing is unknown and games are treated as independent. Where swapped "
    "openings decide many games, the true uncertainty is smaller and these tests are conservative."
)
_BASELINE = re.compile(r"(id|ab)_improved(_score)?", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"student|(ab|id)?_?custom(_?(player|score))?(_\d+)?", re.IGNORECASE)


@dataclass(frozen=True)
class AgentResult:
    """Results of one agent in one table: share of games won by opponent, with Wilson intervals."""

    source: str
    table: str
    agent: str
    opponents: Mapping[str, Proportion]

    @property
    def rate(self) -> Proportion:
        """Share of all games won."""
        shares = self.opponents.values()
        return wilson(sum(share.wins for share in shares), sum(share.games for share in shares))


@dataclass(frozen=True)
class Claim:
    """A published claim about an agent compared with the baseline, and whether it holds.

    `tables` are the tables it is based on, several if runs of the same agent are combined; `opponents` are the common
    opponents, and `total` sums the games against them. `published` is the verdict by the plain shares: "better",
    "worse" or "equal". `adjusted_p` is Holm-adjusted over the claims of the source. If the table has no baseline of its
    own, all baselines of the source are combined.
    """

    source: str
    tables: tuple[str, ...]
    agent: str
    baseline: str
    opponents: tuple[str, ...]
    total: Stratum
    published: str
    test: MantelHaenszel
    adjusted_p: float

    @property
    def stands(self) -> bool:
        """Return whether the difference is significant."""
        return self.published != "equal" and self.adjusted_p <= ALPHA

    @property
    def is_anonymous(self) -> bool:
        """Return whether the agent has a name from a template, which may be another function in every run."""
        return _PLACEHOLDER.fullmatch(self.agent) is not None


@dataclass(frozen=True)
class Repetition:
    """The same baseline measured several times in one source: an A/A experiment, in which all differences are luck.

    `largest_difference` is the range of the shares won; `expected_difference` is the 95 % quantile of the difference of
    two such runs if it is due to luck alone; `p_value` is of equal rates in all runs (see `homogeneity`).
    """

    source: str
    agent: str
    runs: tuple[AgentResult, ...]
    largest_difference: float
    expected_difference: float
    p_value: float

    @property
    def is_luck(self) -> bool:
        """Return whether the differences between the runs are consistent with luck at the 5 % level."""
        return self.p_value > ALPHA


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


def analyse_file(path: Path | None, baseline: str | None = None) -> PublishedAnalysis:
    """Analyse a file, or by default the tables that ship with the project.

    Raises:
        ValueError: the file cannot be read or contains no results, or no agent in it is called `baseline`.
    """
    if path is None:
        return analyse_published(parse_csv(bundled_csv()), baseline)
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
        return analyse_published(parse_published(text, path.stem), baseline)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: {error.strerror if isinstance(error, OSError) else error}") from None


def analyse_published(tables: PublishedTables, baseline: str | None = None) -> PublishedAnalysis:
    """Compute intervals and tests against the baseline of the same source, and decide which claims hold.

    `baseline` names the baseline in every source; the default is the agent called ID_Improved or AB_Improved (with or
    without "_score", in any case). Raises ValueError if `baseline` is given and does not occur.
    """
    by_agent: dict[tuple[str, str, str], dict[str, Proportion]] = {}
    for row in tables.rows:
        share = wilson(row.wins, row.wins + row.losses)
        by_agent.setdefault((row.source, row.table, row.agent), {})[row.opponent] = share
    names = sorted({agent for _, _, agent in by_agent})
    if baseline is not None and baseline not in names:
        raise ValueError(f"baseline must be one of the agents {', '.join(names)}, not {baseline!r}")
    results = tuple(AgentResult(*key, shares) for key, shares in by_agent.items())
    claims, pooled = list[Claim](), list[Claim]()
    repetitions: list[Repetition] = []
    notes = [PAIRING_UNKNOWN, *tables.problems]
    for source in dict.fromkeys(result.source for result in results):
        own = [result for result in results if result.source == source]
        is_base = _BASELINE.fullmatch if baseline is None else baseline.__eq__
        name = next((result.agent for result in own if is_base(result.agent)), None)
        if name is None:
            notes.append(f"{source or 'the text'}: no baseline (ID_Improved or AB_Improved), so nothing is compared")
            continue
        bases = [result for result in own if result.agent == name]
        contenders = [result for result in own if result.agent != name]
        agents = dict.fromkeys(contender.agent for contender in contenders)
        claims += _claims([[contender] for contender in contenders], bases)
        if len(contenders) > len(agents):
            pooled += _claims([[run for run in contenders if run.agent == agent] for agent in agents], bases)
        if len(bases) > 1:
            repetitions.append(_repetition(bases))
    return PublishedAnalysis(results, tuple(claims), tuple(pooled), tuple(repetitions), tuple(notes))


def _claims(groups: Sequence[Sequence[AgentResult]], bases: Sequence[AgentResult]) -> list[Claim]:
    claims = [_claim(runs, bases) for runs in groups]
    adjusted = holm([claim.test.p_value for claim in claims])
    return [replace(claim, adjusted_p=p) for claim, p in zip(claims, adjusted, strict=True)]


def _claim(runs: Sequence[AgentResult], bases: Sequence[AgentResult]) -> Claim:
    """Test the claim based on `runs` of one agent, each against the baseline of its own table."""
    # If one has none, all are combined and compared with all of the baseline's games, so that no game counts twice.
    compared = [([run], [base for base in bases if base.table == run.table]) for run in runs]
    if not all(others for _, others in compared):
        compared = [([*runs], [*bases])]
    strata: list[Stratum] = []
    opponents: dict[str, None] = {}
    for own, others in compared:
        base = _total(others)
        for opponent, counts in _total(own).items():
            if opponent in base:
                strata.append(Stratum(*counts, *base[opponent]))
                opponents[opponent] = None
    test = mantel_haenszel(strata)
    shift = test.difference.estimate
    return Claim(
        source=runs[0].source,
        tables=tuple(run.table for run in runs),
        agent=runs[0].agent,
        baseline=bases[0].agent,
        opponents=tuple(opponents),
        total=Stratum(*map(sum, zip(*strata, strict=True))) if strata else Stratum(0, 0, 0, 0),
        published="equal" if math.isnan(shift) or shift == 0 else "better" if shift > 0 else "worse",
        test=test,
        adjusted_p=test.p_value,
    )


def _total(results: Iterable[AgentResult]) -> dict[str, tuple[int, int]]:
    """Return wins and losses by opponent."""
    total: dict[str, tuple[int, int]] = {}
    for result in results:
        for opponent, share in result.opponents.items():
            wins, losses = total.get(opponent, (0, 0))
            total[opponent] = (wins + share.wins, losses + share.games - share.wins)
    return total


def _repetition(runs: Sequence[AgentResult]) -> Repetition:
    shared = [name for name in runs[0].opponents if all(name in run.opponents for run in runs)]
    by_run = [[_total([run])[name] for name in shared] for run in runs]
    counts = np.array(by_run, np.int64).reshape(len(runs), len(shared), 2)  # [run, opponent, (wins, losses)]
    played = counts.sum(axis=(1, 2))
    rates = counts[:, :, 0].sum(axis=1) / np.maximum(played, 1)
    # two runs of the shortest length, with each opponent's rate over all runs together
    games = int(played.min())
    wins, losses = counts.sum(axis=0).T
    variance = games / max(int(played.sum()), 1) * float((wins * losses / np.maximum(wins + losses, 1)).sum())
    return Repetition(
        source=runs[0].source,
        agent=runs[0].agent,
        runs=tuple(runs),
        largest_difference=float(rates.max() - rates.min()),
        expected_difference=1.96 * math.sqrt(2 * variance) / games if games else math.nan,
        p_value=homogeneity(by_run),
    )
