"""Play the games for docs/explanation/findings.md, and write that page and the example report.

python examples/findings.py            all games; if interrupted, call it again to resume
python examples/findings.py --quick    few games in another directory, as a test
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from rich.console import Console

from knights_isolation.experiments import (
    Config,
    RunResults,
    Verdicts,
    judge,
    load_config,
    load_findings,
    play_tournament,
)
from knights_isolation.experiments.published.claims import Claim, PublishedAnalysis, analyse_file
from knights_isolation.experiments.record.run_directory import is_finished, is_run
from knights_isolation.experiments.statistics.paired_differences import Comparison, HeadToHead
from knights_isolation.experiments.statistics.run_results import relative_costs
from knights_isolation.reports import write_report
from knights_isolation.reports.charts.line_plots import limits_chart
from knights_isolation.reports.plots.draw_chart import draw_chart, save
from knights_isolation.reports.studies.published import claim_words, repetition_words
from knights_isolation.reports.tables.run_notes import cost_cell
from knights_isolation.reports.text.cell_values import Points, Share, estimate_of, pluralise
from knights_isolation.reports.text.verdict_details import control_sentence
from knights_isolation.reports.watch import display

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs" / "explanation"
SIGNS = {"better": "▲", "worse": "▼", "equal": "=", "no significant difference": ""}

PUBLISHED_NAMES = {
    "ID_net_advantage_score": "ID_Net_Advantage",
    "ID_net_mobility_score": "ID_Net_Mobility",
    "ID_accessibility_score": "ID_Accessibility",
    "ID_offensive_score": "ID_Offensive",
    "ID_proximity_score": "ID_Proximity",
    "ID_combo_offensive_nearopponent_netmobility_score": "ID_Offensive_Proximity_Net_Mobility",
    "ID_combo_netadvantage_nearopponent_score": "ID_Net_Advantage_Proximity",
    "edge_distance": "ID_Edge_Distance",
    "edge_distance_weighted": "ID_Edge_Distance_Weighted",
    "edge_distance_dynamic": "ID_Edge_Distance_Dynamic",
}


NEW = ("learned", "territory", "two_step_mobility", "horizon", "phased")
OUTCOMES = (
    *("better at every limit", "better at some limits", "no significant difference anywhere"),
    *("worse at some limits", "worse at every limit"),
)


@dataclass(frozen=True)
class Scale:
    """Extent of the games: node limits, pairs per match of the gauntlets, and further keys of their configurations.

    The default tournament is played with `report_pairs`; the duels use the openings `duels`.
    """

    limits: tuple[int, ...] = (300, 1_000, 3_000, 10_000)
    pairs: int = 400
    report_pairs: int = 180
    duels: str = "placements"
    contenders: tuple[str, ...] = ("ID:*",)
    opponents: tuple[str, ...] = ()


QUICK = Scale((50, 200), 6, 4, "random:2", ("ID:open", "ID:territory", "ID:edge_distance_dynamic"))


@dataclass(frozen=True)
class AtLimit:
    """Results at one node limit: the gauntlet, and the duels with the baseline."""

    nodes: int
    gauntlet: RunResults
    duels: RunResults
    verdicts: Verdicts
    duel_verdicts: Verdicts


@click.command()
@click.option("--quick", is_flag=True, help="Few games, only to see that it works; nothing in docs/ changes.")
@click.option("--home", type=click.Path(path_type=Path), help="Where the runs lie; runs/findings by default.")
@click.option("--jobs", type=click.IntRange(min=0), default=0, help="Worker processes; 0: one per core.")
def main(quick: bool, home: Path | None, jobs: int) -> None:
    """Play, and write docs/explanation/findings.md, its plot and docs/explanation/example-report.html."""
    scale = QUICK if quick else Scale()
    home = home or Path("runs/findings-quick" if quick else "runs/findings")
    docs = home if quick else DOCS
    report, results, priced = play_all(scale, home, jobs)
    write_report(report, docs / "example-report.html")
    (docs / "images").mkdir(parents=True, exist_ok=True)
    save(draw_chart(limits_chart([result.gauntlet for result in results])), docs / "images" / "win-rate-by-limit.svg")
    (docs / "findings.md").write_text(findings_text(report, results, priced, analyse_file(None)), encoding="utf-8")
    click.echo(f"Wrote {docs / 'findings.md'} and {docs / 'example-report.html'}")


def play_all(scale: Scale, home: Path, jobs: int = 0) -> tuple[RunResults, list[AtLimit], RunResults]:
    """Play the missing games: the default tournament, games at each limit, and a gauntlet at equal cost."""
    common: dict[str, Any] = {"contenders": scale.contenders, "jobs": jobs}
    if scale.opponents:
        common["opponents"] = scale.opponents
    report = played(home / "default", {**common, "pairs": scale.report_pairs, "limit": f"nodes={scale.limits[-1]}"})
    results = []
    for nodes in scale.limits:
        limit = f"nodes={nodes}"
        gauntlet = played(home / f"gauntlet-{nodes}", {**common, "pairs": scale.pairs, "limit": limit, "seed": 2})
        duel = {"format": "head-to-head", "contenders": scale.contenders, "openings": scale.duels, "jobs": jobs}
        duels = played(home / f"duels-{nodes}", {**duel, "limit": limit})
        results.append(AtLimit(nodes, gauntlet, duels, judge(gauntlet), judge(duels)))
    priced = {"pairs": scale.pairs, "limit": f"nodes={scale.limits[-1]}", "seed": 2, "equal_cost": True}
    return report, results, played(home / "equal-cost", {**common, **priced})


def findings_text(
    report: RunResults, results: Sequence[AtLimit], priced: RunResults, published: PublishedAnalysis
) -> str:
    """Return the page as Markdown; costs per node are from the default tournament, measured in one session."""
    templates = Environment(
        loader=FileSystemLoader(HERE), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
    last = results[-1]
    return templates.get_template("findings.md.jinja").render(
        limits=[f"{result.nodes:,}" for result in results],
        short=_in_short(results),
        results=[_in_words(result.nodes, result.verdicts) for result in results],
        priced=_in_words(results[-1].nodes, judge(priced)),
        no_longer=_no_longer_better(last, judge(priced)),
        gauntlet_rows=_gauntlet_rows(results, judge(priced), report),
        duel_rows=_duel_rows(results),
        duel_openings=pluralise(max(duel.pairs.n for duel in last.duel_verdicts.duels), "opening"),
        is_census=last.duels.is_census,
        openings=pluralise(max(claim.openings for claim in last.verdicts.claims), "opening"),
        baseline_openings=f"{max(claim.baseline_openings for claim in last.verdicts.claims):,}",
        games=f"{_games([priced, *(run for result in results for run in (result.gauntlet, result.duels))]):,}",
        colours=[(f"{result.nodes:,}", *_colour_shares(result.duels)) for result in results],
        controls=[
            (f"{result.nodes:,}", control_sentence(comparison))
            for result in results
            for comparison in result.verdicts.comparisons
            if comparison.contender in result.verdicts.controls
        ],
        every=[(f"{result.nodes:,}", _against_every(result)) for result in results],
        claims=[_claim_row(claim, results) for claim in _each_once(published)],
        fallen=[claim_words(claim) for claim in published.claims if claim.published != "equal" and not claim.stands],
        standing=[claim for claim in published.claims if claim.stands],
        repetitions=[repetition_words(repetition) for repetition in published.repetitions],
        baseline=last.verdicts.baseline,
    )


def played(path: Path, keys: dict[str, Any]) -> RunResults:
    """Return a run, after playing or resuming it if necessary."""
    if not is_finished(path):
        config: Config = load_config(None, {**keys, "out": str(path)})
        with display(Console()) as show:
            outcome = play_tournament(config, resume=is_run(path), show=show)
        if not outcome.finished:
            raise click.ClickException("interrupted; the same command goes on from here")
    return load_findings([path])


def _in_words(nodes: int, verdicts: Verdicts) -> dict[str, Any]:
    claims = sorted(verdicts.claims, key=lambda comparison: -comparison.jointly.estimate)

    def those(verdict: str) -> list[str]:
        return [
            f"`{_bare(claim.contender)}` by {estimate_of(claim.jointly, Points).text}"
            for claim in claims
            if claim.verdict == verdict
        ]

    return {
        "limit": f"{nodes:,}",
        "better": ", ".join(those("better")),
        "worse": ", ".join(reversed(those("worse"))),
        "open": ", ".join(
            f"`{_bare(claim.contender)}`" for claim in claims if claim.verdict == "no significant difference"
        ),
    }


def _no_longer_better(last: AtLimit, priced: Verdicts) -> str:
    """Name the agents that are better at equal nodes, but not significantly better at equal cost."""
    better = {claim.contender for claim in last.verdicts.claims if claim.verdict == "better"}
    there = [claim for claim in priced.claims if claim.contender in better and claim.verdict != "better"]
    there.sort(key=lambda comparison: comparison.jointly.estimate)
    return ", ".join(
        f"`{_bare(comparison.contender)}` by {estimate_of(comparison.jointly, Points).text}" for comparison in there
    )


def _games(runs: Sequence[RunResults]) -> int:
    return sum(len(run.games) for run in runs)


def _in_short(results: Sequence[AtLimit]) -> list[tuple[str, str]]:
    """Describe how many published and new heuristics are better or worse."""
    verdicts = [{claim.contender: claim.verdict for claim in result.verdicts.claims} for result in results]
    groups: dict[tuple[str, str], list[str]] = {}
    for name in verdicts[0]:
        kind = "new here" if _bare(name) in NEW else "published"
        outcome = [at[name] for at in verdicts]
        for verdict in ("better", "worse"):
            where = [f"{result.nodes:,}" for result, item in zip(results, outcome, strict=True) if item == verdict]
            if len(where) == len(results):
                groups.setdefault((kind, f"{verdict} at every limit"), []).append(f"`{_bare(name)}`")
            elif where:
                groups.setdefault((kind, f"{verdict} at some limits"), []).append(
                    f"`{_bare(name)}` ({', '.join(where)})"
                )
        if not set(outcome) - {"no significant difference"}:
            groups.setdefault((kind, "no significant difference anywhere"), []).append(f"`{_bare(name)}`")
    order = [(kind, what) for kind in ("published", "new here") for what in OUTCOMES if (kind, what) in groups]
    return [(f"{kind}, {what}", ", ".join(groups[kind, what])) for kind, what in order]


def _gauntlet_rows(results: Sequence[AtLimit], priced: Verdicts, timed: RunResults) -> list[list[str]]:
    """Return rows by contender: differences at each limit and at equal cost, and the cost per node in a run of all."""
    fair = {claim.contender: claim for claim in priced.claims}
    costs = relative_costs(timed)
    by_limit = [{claim.contender: claim for claim in result.verdicts.claims} for result in results]
    order = sorted(by_limit[-1].values(), key=lambda comparison: -comparison.jointly.estimate)
    return [
        [
            f"`{_bare(comparison.contender)}`",
            *(_difference_cell(outcome[comparison.contender]) for outcome in (*by_limit, fair)),
            cost_cell(costs, comparison.contender).text,
        ]
        for comparison in order
    ]


def _duel_rows(results: Sequence[AtLimit]) -> list[list[str]]:
    by_limit = [{duel.contender: duel for duel in result.duel_verdicts.duels} for result in results]
    order = sorted(by_limit[-1].values(), key=lambda duel: -duel.pairs.score)
    return [
        [f"`{_bare(duel.contender)}`", *(_duel_cell(outcome[duel.contender]) for outcome in by_limit)] for duel in order
    ]


def _difference_cell(comparison: Comparison) -> str:
    return f"{estimate_of(comparison.jointly, Points).text} {SIGNS[comparison.verdict]}".rstrip()


def _duel_cell(duel: HeadToHead) -> str:
    return f"{Share(duel.pairs.score).text} {SIGNS[duel.verdict]}".rstrip()


def _against_every(result: AtLimit) -> str:
    names = [f"`{_bare(claim.contender)}`" for claim in result.verdicts.claims if claim.better_against_every_opponent]
    return ", ".join(names) or "none"


def _colour_shares(findings: RunResults) -> tuple[str, str]:
    """Return how often the player that placed first wins, by whether both placements have the same colour."""
    games = findings.games
    first = games["winner"] == 1
    return tuple(Share(first[games["same_colour"] == same].mean()).text for same in (True, False))  # type: ignore[return-value]


def _each_once(published: PublishedAnalysis) -> list[Claim]:
    """Return the claims by table, and those of agents with several tables combined."""
    return [*published.claims, *(claim for claim in published.pooled if len(claim.tables) > 1)]


def _claim_row(claim: Claim, results: Sequence[AtLimit]) -> list[str]:
    """Return a published claim, whether it holds by its own numbers, and the result here at the highest limit."""
    ours = {claim.contender: claim for claim in results[-1].verdicts.claims}
    here = ours.get(PUBLISHED_NAMES.get(claim.agent, ""))
    return [
        f"`{claim.agent}`, {' and '.join(claim.tables)}",
        f"{claim.published}: {Points(claim.test.difference.estimate).text}",
        "stands" if claim.stands else "does not stand",
        f"{here.verdict}: {_difference_cell(here)}" if here else "–",
    ]


def _bare(name: str) -> str:
    """Return the heuristic of an agent with a default name."""
    return name.removeprefix("ID_").lower()


if __name__ == "__main__":
    main()
