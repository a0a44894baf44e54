"""Answers of the lab besides the board's, computed in child processes: findings, reports, trials, ratings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..board.resources import Resources, run_of
from ..text.cell_values import Elo, Estimate, Points, Share, estimate_of
from .run_lines import RunLine, target_of
from .suite_positions import loaded

if TYPE_CHECKING:
    from knights_isolation.experiments.statistics.run_results import RunResults


MOST_RUNS = 8


def finding(shelf: Resources, run: str) -> dict[str, Any]:
    """Return the finding, and for each contender low, estimate, high in percentage points, the verdict and its name.

    The interval is that of the verdict.
    """
    from knights_isolation.experiments.statistics.contender_verdicts import judge
    from knights_isolation.experiments.statistics.run_results import load_findings

    from ..pages.report_page import finding_of

    results = load_findings([run_of(shelf, run)])
    verdicts = judge(results) if results.baseline is not None else None
    sentence = finding_of(results, verdicts)
    if verdicts is None:
        return {"finding": sentence, "bars": _rates(results)}
    bars = [
        [*(100 * value for value in (claim.lead[0], claim.estimate, claim.lead[1])), claim.verdict, claim.contender]
        for claim in verdicts.judged
        if not claim.is_empty
    ]
    return {"finding": sentence, "bars": sorted(bars, key=lambda bar: -bar[1])}


def _rates(results: RunResults) -> list[list[Any]]:
    """Return win rates in percentage points above one half."""
    return [
        [*(100 * share - 50 for share in (standing.rate.low, standing.rate.estimate, standing.rate.high)), "", name]
        for standing in results.standings
        if (name := standing.agent) in results.measured
    ]


def report(shelf: Resources, runs: Sequence[str]) -> dict[str, Any]:
    """Return the page with the report of a run, or of several that can be pooled."""
    if len(runs) > MOST_RUNS:
        raise ValueError(f"a report has at most {MOST_RUNS} runs")
    from knights_isolation.experiments.statistics.run_results import load_findings

    from ..pages.report_page import report_page

    return {"page": report_page(load_findings([run_of(shelf, run) for run in runs]))}


def diff(shelf: Resources, names: tuple[str, str]) -> dict[str, Any]:
    """Return the page with the differences of two runs."""
    from knights_isolation.experiments.statistics.run_results import load_findings

    from ..pages.templates import page_template, script_of
    from ..tables.run_comparisons import change_sections

    before, after = (load_findings([run_of(shelf, run)]) for run in names)
    script, script_hash = script_of("report.js")
    page = page_template("diff.html").render(
        title=" and ".join(names),
        runs=names,
        sections=change_sections(before, after),
        script=script,
        script_hash=script_hash,
    )
    return {"page": page}


def league(shelf: Resources, name: str, page: str) -> dict[str, Any]:
    """Return a page of a league as it is now; the pages in its folder are not read."""
    from knights_isolation.experiments.exact.labels import has_labels

    from .run_lines import signature

    run = run_of(shelf, name)
    made = _league_pages(run, signature(run), has_labels(run))
    if page not in made:
        raise ValueError(f"there is no page {page}")
    return {"page": made[page]()}


@lru_cache(maxsize=1)
def _league_pages(run: Path, seen: str, is_labelled: bool) -> dict[str, Callable[[], str]]:
    from knights_isolation.experiments.league.entries import LeagueEntries, read_book
    from knights_isolation.experiments.league.league_results import read_results

    from ..league.league_pages import pages

    return pages(run, read_book(run) or LeagueEntries((), ()), read_results(run))


def trial(shelf: Resources, heuristic: str) -> dict[str, Any]:
    """Return what a trial of a heuristic found: figures for the gallery, and all of it as sentences."""
    from knights_isolation.experiments.analysis.quick_trial import try_heuristic
    from knights_isolation.isolation.checks.search_cost import Cost
    from knights_isolation.isolation.loading.load_user_code import inputs_of

    from ..analysis.quick_trial import trial_lines

    path, colon, name = heuristic.rpartition(":")
    tried = try_heuristic(loaded(heuristic))
    cost = tried.cost if tried.problem is None else tried.python_cost
    screening = tried.screening
    against = screening.contenders[0][1] if screening else None
    return {
        "lines": trial_lines(Path(path).name + colon + name, tried),
        "compiles": "yes" if tried.problem is None else "no",
        "isSound": tried.is_sound,
        "cost": f"{cost.times:.2g} ×" if isinstance(cost, Cost) else "–",
        "kept": Share(screening.contenders[0][0].kept.estimate).text if screening else "–",
        "screening": estimate_of(against.both, Points).text if against else "–",
        "games": estimate_of(tried.interval).text if tried.interval and tried.interval.pairs.n else "–",
        "inputs": inputs_of(path) if colon else {},
    }


MOST_GAMES = 1_000_000
"""Games that a pool reads; older runs beyond that are left out."""
_USUAL = "improved"
"""Heuristic whose rating is zero in pools without one baseline."""


@dataclass(frozen=True)
class RunPool:
    """Runs with one board and limit, the latest first, and the signatures of their files."""

    board: str
    limit: str
    runs: tuple[str, ...]
    seen: tuple[str, ...]


def pools(lines: Iterable[RunLine]) -> list[RunPool]:
    """Return the pools of runs that have games, those of most runs first."""
    by_question: dict[tuple[str, str], list[RunLine]] = defaultdict(list)
    for line in sorted(lines, key=lambda line: line.begun, reverse=True):
        if line.played and line.limit:
            by_question[line.board, line.limit].append(line)
    found = []
    for (board, limit), of_pool in by_question.items():
        read = np.cumsum([line.played for line in of_pool])
        latest = of_pool[: max(int(np.searchsorted(read, MOST_GAMES, side="right")), 1)]
        found.append(RunPool(board, limit, tuple(line.name for line in latest), tuple(line.seen for line in latest)))
    return sorted(found, key=lambda pool: -len(pool.runs))


def rated(shelf: Resources, runs: Sequence[str], limit: str) -> dict[str, Any]:
    """Return the ratings of the heuristics that agents with `limit` played.

    Each has a 95 % interval as text, what it is relative to, and the number of its runs and games.
    """
    from knights_isolation.experiments.statistics.contender_verdicts import rate
    from knights_isolation.experiments.statistics.run_results import load_findings

    findings = load_findings([run_of(shelf, run) for run in runs], mixed=True)
    agents = _most_played(findings, limit)
    ratings = rate(findings, None if findings.baseline else agents.get(_USUAL))
    known = {rating.agent: rating for rating in ratings.ratings}
    zero = f"compared with {ratings.zero}" if ratings.zero else "above the mean of its pool"
    rows = {}
    for reference, agent in agents.items():
        if agent in known:
            rating = known[agent]
            text = Estimate(*map(Elo, (rating.elo, rating.low, rating.high))).text
            played = sum(agent in source.names.values() for source in findings.sources)
            scale = "the zero of its pool" if agent == ratings.zero else zero
            rows[reference] = {"elo": text, "zero": scale, "runs": played, "games": rating.games}
    return {"ratings": rows}


def _most_played(findings: RunResults, limit: str) -> dict[str, str]:
    """Return for each heuristic, as the gallery calls it, its agent of this limit: the baseline, or else of most games.

    A control stands for no heuristic: it is the baseline on other openings.
    """
    pairs = findings.all_pairs
    games = np.bincount(np.concatenate([pairs.first, pairs.second]), minlength=len(pairs.agents))
    found: dict[str, str] = {}
    for name in sorted(pairs.agents, key=lambda name: (name == findings.baseline, games[pairs.code(name)])):
        facts = findings.agents[name]
        is_shown = facts.limit_text == limit and "control" not in facts.roles
        if is_shown and (reference := target_of(facts.spec).rpartition("/")[2]):
            found[reference] = name
    return found
