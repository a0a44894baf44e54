"""Self-contained HTML pages: the report of runs, and those of studies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from knights_isolation.experiments.exact.accuracy import accuracies, run_decisions
from knights_isolation.experiments.exact.labels import has_labels
from knights_isolation.experiments.record.run_directory import CONFIG
from knights_isolation.experiments.statistics.anytime import read_contest
from knights_isolation.experiments.statistics.contender_verdicts import Verdicts, judge
from knights_isolation.experiments.statistics.game_pairs import splits
from knights_isolation.experiments.statistics.move_statistics import (
    FEWEST,
    Placement,
    commonest_size,
    leads_by_opening,
    placements,
)
from knights_isolation.experiments.statistics.paired_differences import Comparison, HeadToHead
from knights_isolation.experiments.statistics.ratings import Ratings, rate
from knights_isolation.experiments.statistics.run_results import RunResults, relative_costs
from knights_isolation.experiments.statistics.sprt import stopping_duels
from knights_isolation.isolation.files.atomic_write import check_output, write_text
from knights_isolation.isolation.rules.game import Cost, Size
from knights_isolation.isolation.rules.geometry import cell_name
from knights_isolation.isolation.suggestions import command

from ..charts import grids, interval_charts, line_plots
from ..charts.chart import Grid, Plot, RowChart
from ..charts.interval_charts import nearest_to_decision, running
from ..tables.accuracy import accuracy_sections, theory_section
from ..tables.compare import verdict_sections
from ..tables.ratings import highest, rating_rows, rating_sections
from ..tables.run_notes import equal_cost_sentences
from ..tables.sequential import contest_sentence
from ..tables.summary import summary_sections
from ..text import decisions, verdict_details, wording
from ..text.cell_values import Points, Ratio, Share, estimate_of, pluralise
from ..text.rendering import Section
from ..text.verdict_details import opponents_title
from .next_steps import links_to_games, next_steps
from .templates import data_url, page_template, page_with_script


def titles_of(
    findings: RunResults, verdicts: Verdicts | None, costs: Mapping[str, Cost], ratings: Ratings
) -> dict[str, str]:
    """Return titles by the keys of their sections; sections without a finding keep their default title."""
    titles = {
        "comparison": f"Difference from {verdicts.baseline}" if verdicts and verdicts.claims else "",
        "opponents": opponents_title(verdicts),
        "sides": _sides(findings),
        "telemetry": _cost(findings, costs),
    }
    if ratings.ratings:
        titles["ratings"] = f"{highest(ratings)} rated highest: {rating_rows(ratings)[0]['rating'].text} Elo"
    return {key: title for key, title in titles.items() if title}


def _sides(findings: RunResults) -> str:
    # the side that the colours of an opening favour
    sums = {True: [0, 0], False: [0, 0]}
    for name in findings.measured:
        for split in splits(findings.pairs, name, pool=findings.pool_among(name)):
            is_favoured = split.placed_first == split.same_colour
            sums[is_favoured][0] += split.wins
            sums[is_favoured][1] += split.games
    if not all(games for _, games in sums.values()):
        return ""
    favoured, other = (Share(won / games).text for won, games in (sums[True], sums[False]))
    return f"The measured agents won {favoured} on the side that the colours favour, {other} on the other"


def _cost(findings: RunResults, costs: Mapping[str, Cost]) -> str:
    known = {name: costs[name].times for name in findings.contenders if name in costs}
    if len(known) < 2:
        return ""
    dear, cheap = max(known, key=lambda name: known[name]), min(known, key=lambda name: known[name])
    return (
        f"CPU time per node compared with {findings.baseline}: {dear} {Ratio(known[dear]).text}, {cheap} "
        f"{Ratio(known[cheap]).text}"
    )


# columns of the verdicts that are moved to a second table, since the first would be wider than a page
_MORE_COLUMNS = ["better against all", "heterogeneity p", "openings"]
_FEW_LIMITS = 2
_CLOSED = (
    *("tests of the verdicts", "effects by opponent", "wins and losses by opponent", "ratings as a table"),
    *("who is likely to be stronger", "depths, nodes and lengths of games", "first placements", "example games"),
    "config.toml",
)


@dataclass(frozen=True)
class DrawnPlot:
    """A plot, and each of its panels as SVG."""

    plot: Plot
    svgs: tuple[Markup, ...]


def write_report(findings: RunResults, out: str | Path | None = None) -> Path:
    """Write the page of a run into the file `out`, by default the first run's report.html, atomically.

    Raises:
        ValueError: it cannot be written there.
    """
    out = Path(out or findings.sources[0].info.path / "report.html")
    check_output(out)
    write_text(out, report_page(findings))
    return out


def report_page(findings: RunResults) -> str:
    """Return the page as text. All strings from agents, such as names and error texts, are escaped."""
    verdicts = judge(findings) if findings.baseline is not None else None
    costs = relative_costs(findings)
    runs = [source.info.path for source in findings.sources]
    decisions = run_decisions(runs[0]) if len(runs) == 1 and has_labels(runs[0]) else None
    rated = rate(findings)
    ratings, superiority = rating_sections(findings, ratings=rated)
    title = finding_of(findings, verdicts)
    compared = {section.key: section for section in verdict_sections(findings) if section.rows}
    effects, tables = compared.pop("effects", None), dict[str, Any](summary_sections(findings))
    return page_with_script(
        "report.html",
        title=title,
        facts=_facts(findings, sum(row["games"] for row in tables["forfeits"].rows)),
        headline=[sentence for sentence in headline(findings, verdicts) if sentence.rstrip(".") != title],
        first_sentences=1 + len(_warnings(findings)),
        steps=next_steps(findings, verdicts, costs),
        titles=titles_of(findings, verdicts, costs, rated),
        verdicts=list(compared.values()),
        more_columns=_MORE_COLUMNS,
        effects=effects,
        theory=theory_section(findings),
        ratings=ratings,
        superiority=superiority,
        agents=_agents_section(findings),
        accuracy=None if decisions is None else accuracy_sections(accuracies(decisions))[0],
        accuracy_by_ply=None if decisions is None else draw_plot(line_plots.accuracy_by_ply(decisions), "accuracy"),
        runs=[_run_facts(findings, number) for number in range(len(findings.sources))],
        reproduce=command("report", *runs),
        closed=_CLOSED,
        **(tables | {"sides": _sides_by_agent(tables["sides"])} | _charts(findings, verdicts, costs, rated)),
    )


def _charts(
    findings: RunResults, verdicts: Verdicts | None, costs: Mapping[str, Cost], ratings: Ratings
) -> dict[str, Any]:
    size, first_placements = commonest_size(findings), placements(findings)
    leads = grids.leads(findings, verdicts)
    best = verdicts.best.contender if verdicts and verdicts.best else ""
    by_opening = leads_by_opening(findings, best) if best else ()
    of_pairs = {pair: lead.lead for pair, lead in leads.items()}
    links = links_to_games(findings, of_pairs, first_placements, best, by_opening)
    best_games = {
        pair[0]: links.by_opponent[pair] for pair in sorted(links.by_opponent, key=lambda pair: leads[pair].lead)
    }
    scatter = line_plots.strength_by_cost(findings, verdicts, costs, best_games) if verdicts else None
    return {
        "forest": interval_charts.forest(findings, verdicts) if verdicts else None,
        "scatter": draw_plot(scatter, "cost"),
        "running": draw_plot(running(findings, nearest_to_decision(findings, verdicts)), "running"),
        "differences": grids.differences(findings, leads, links.by_opponent, ratings),
        "limits": draw_plot(line_plots.limits_chart([findings]), "limits"),
        "games": links.games,
        "ladder": interval_charts.ladder(ratings),
        "calibration": grids.calibration(findings),
        "spreads": [interval_charts.spread(findings, kind) for kind in interval_charts.SPREADS],
        "maps": grids.placement_maps(first_placements, size, links.by_placement),
        "placements": _placement_section(first_placements, size),
        "visits": grids.visit_map(findings),
        "where": grids.lead_map(best, by_opening, size, links.by_opening) if size else None,
    }


def draw_plot(plot: Plot | None, key: str) -> DrawnPlot | None:
    """Return a plot with its panels as SVG; matplotlib is only loaded if there is something to draw."""
    if plot is None:
        return None
    from ..plots.draw_chart import inline_svg

    is_small = len(plot.panels) > 1
    svgs = (inline_svg(panel, f"{key}-{number}", is_small=is_small) for number, panel in enumerate(plot.panels))
    return DrawnPlot(plot, tuple(svgs))


def finding_of(findings: RunResults, verdicts: Verdicts | None) -> str:
    """Return what a run found in a clause or two: the heading of its report, and its line in a list of runs."""
    if verdicts is None or read_contest(findings) or stopping_duels(findings):
        return f"{wording.state_words(findings)}{_judgement(findings, verdicts)[0].rstrip('.')}"
    first = wording.finding_sentence(findings, verdicts).rstrip(".").partition("; ")[0]
    return "; ".join(filter(None, [first, wording.direct_clause(verdicts)]))


def headline(findings: RunResults, verdicts: Verdicts | None) -> list[str]:
    """Return the findings in a few sentences: forfeits first, since they affect everything else, then by importance."""
    return _warnings(findings) + _judgement(findings, verdicts)


def _warnings(findings: RunResults) -> list[str]:
    return [*wording.caveats(findings), *equal_cost_sentences(findings), *wording.forfeit_sentences(findings)]


def _judgement(findings: RunResults, verdicts: Verdicts | None) -> list[str]:
    if contest := read_contest(findings):
        return [contest_sentence(contest)]
    if tests := stopping_duels(findings):
        return decisions.stopped_sentences(tests)
    if verdicts is None:
        return [_highest_rated(findings)]
    judged: list[Comparison | HeadToHead] = [
        *sorted(verdicts.claims, key=lambda claim: -claim.difference.estimate),
        *sorted(verdicts.duels, key=lambda duel: -duel.rate.estimate),
    ]
    if not judged:
        return ["No complete pairs to judge yet."]
    unit, words = "of games won head to head", {"better": "Beat", "worse": "Lost to"}
    if verdicts.comparisons:
        unit, kinds = "in percentage points of the win rate", {"better": "more", "worse": "less"}
        words = {kind: f"Won {amount} against the same opponents than" for kind, amount in kinds.items()}
    same = " against the same opponents" if verdicts.direct else ""
    together = " for all contenders at once" if verdicts.family > 1 else ""
    sentences = []
    for kind, did in words.items():
        if leads := _leads_of(judged, kind):
            sentence = f"{did} {verdicts.baseline}: {leads}; {unit}, with 95 % intervals{together}."
            pooling = wording.pooling_sentences([claim for claim in judged if claim.verdict == kind])
            sentences.append(" ".join([sentence, *pooling]))
    equal = [claim.contender for claim in judged if claim.verdict == "equal"]
    undecided = [claim.contender for claim in judged if claim.verdict == "no significant difference"]
    if equal:
        sentences.append(f"Equal to {verdicts.baseline} on all openings: {', '.join(equal)}.")
    if len(undecided) == len(judged):
        sentences.append(f"No contender differs significantly from {verdicts.baseline}{same} yet.")
    elif undecided:
        sentences.append(f"No significant difference from {verdicts.baseline}{same} yet: {', '.join(undecided)}.")
    sentences += wording.pooling_sentences([claim for claim in judged if claim.verdict not in words])
    sentences += [*verdict_details.alike_sentences(findings, verdicts.claims), *_direct_sentences(verdicts)]
    return [*sentences, *map(verdict_details.control_sentence, verdicts.checks), *_exact(verdicts)]


def _highest_rated(findings: RunResults) -> str:
    rows = rating_sections(findings)[0].rows
    if not rows:
        return "No games to judge yet."
    rating, equals = rows[0]["rating"], ", ".join(row["agent"] for row in rows if row["rank"] == 1)
    if math.isinf(rating.low) and math.isinf(rating.high):
        return "No highest rating yet: the ratings have no finite bounds."
    return f"Rated highest: {equals}, {rating.text} Elo, individual 95 % interval."


def _leads_of(results: Sequence[Comparison | HeadToHead], kind: str) -> str:
    return ", ".join(
        f"{result.contender} with {estimate_of(result.jointly).text}"
        if isinstance(result, HeadToHead)
        else f"{result.contender} by {estimate_of(result.jointly, Points).text}"
        for result in results
        if result.verdict == kind
    )


def _direct_sentences(verdicts: Verdicts) -> list[str]:
    ranked = sorted(verdicts.direct, key=lambda duel: -duel.estimate)
    sentences = [
        f"Head to head {words} {verdicts.baseline}: {leads} of the games, with 95 % intervals."
        for kind, words in (("better", "beat"), ("worse", "lost to"))
        if (leads := _leads_of(ranked, kind))
    ]
    if verdicts.direct and not sentences:
        sentences.append(f"Head to head nobody significantly beat or lost to {verdicts.baseline}.")
    if verdicts.disagreeing:
        differing = ", ".join(verdicts.disagreeing)
        sentences.append(f"The verdicts against the same opponents and head to head differ: {differing}.")
    return sentences


def _agents_section(findings: RunResults) -> Section:
    rows = tuple(
        {
            "agent": name,
            "role": ", ".join(facts.roles),
            "spec": facts.spec,
            "repeats_itself": facts.deterministic,
            "settings": "; ".join(f"{key} {_plain(value)}" for key, value in facts.parsed_settings.items()),
        }
        for name, facts in findings.agents.items()
    )
    return Section("agents", "Agents", rows)


def _exact(verdicts: Verdicts) -> list[str]:
    sentences = []
    for claim in (claim for claim in verdicts.judged if claim.is_census):
        did = f"is {claim.verdict}: {Points(claim.estimate).text}"
        if isinstance(claim, HeadToHead):
            did = f"won {Share(claim.pairs.score).text}"
        on_all = f"On all {claim.openings:,} openings of this kind"
        sentences.append(f"{on_all} {claim.contender} {did}, without sampling error.")
    return sentences


def _sides_by_agent(sides: Section) -> Section:
    rows: dict[str, dict[str, Any]] = {}
    for row in sides.rows:
        cells = rows.setdefault(row["agent"], {"agent": row["agent"]})
        cells[f"{row['places']}, {row['colours']} colours"] = row["win_rate"]
    columns = list(dict.fromkeys(key for row in rows.values() for key in row))
    note = (
        "Win rates with individual 95 % intervals. Same colours: both first placements on cells of one colour; this "
        "decides strong players' games."
    )
    table = tuple({column: row.get(column) for column in columns} for row in rows.values())
    return Section(sides.key, sides.title, table, (note,) if table else ("No games yet.",))


def _facts(findings: RunResults, forfeits: int) -> list[tuple[str, str]]:
    def asked(key: str) -> str:
        return " and ".join(dict.fromkeys(source.info.requested[key] for source in findings.sources))

    games, planned = findings.played + findings.repeated, findings.planned
    texts = (findings.agents[name].limit_text for name in findings.measured)
    limits = list(dict.fromkeys(text for text in texts if text))
    if len(limits) > _FEW_LIMITS:
        limits = [*limits[:_FEW_LIMITS], f"{len(limits) - _FEW_LIMITS} others"]
    return [
        ("Design", f"{asked('format').capitalize()} on {asked('board')}"),
        ("Games", f"{games:,}" if games == planned else f"{games:,} of {planned:,} planned"),
        ("Agents", f"{len(findings.pairs.agents)}"),
        ("Openings", f"{findings.games['opening_id'].nunique():,}, {asked('openings')}"),
        ("Limit", " and ".join(limits) or "none"),
        ("Census", "yes" if findings.is_census else "no"),
        ("Forfeits", f"{forfeits:,}"),
        ("Played", ", ".join(dict.fromkeys(source.info.created_at[:10] for source in findings.sources))),
    ]


def _run_facts(findings: RunResults, number: int) -> dict[str, Any]:
    info = findings.sources[number].info
    config = ""
    with suppress(OSError):
        lines = (info.path / CONFIG).read_text(encoding="utf-8").splitlines(keepends=True)
        config = "".join(line for line in lines if not line.startswith("out = "))  # the output directory exists already
    return {
        "path": str(info.path),
        "created": info.created_at.replace("T", " "),
        "games": pluralise(int((findings.games["run"] == number).sum()), "game"),
        "command": f"isolation tournament {CONFIG}",
        "config": config,
        "config_url": data_url("application/toml", config),
        "notes": info.notes,
        "versions": ", ".join(f"{name} {version}" for name, version in info.versions.items()),
    }


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key}={item}" for key, item in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " ".join(map(str, value)) or "none"
    return str(value)


def _placement_section(placements: Sequence[Placement], size: Size | None) -> Section:
    width = size.columns if size else 1
    rows = tuple(
        {
            "cell": cell_name(placement.cell, width),
            "placed": "first" if placement.placed_first else "second",
            "alike": len(placement.cells),
            "openings": placement.openings,
            "games": placement.games,
            "won": estimate_of(placement.rate),
        }
        for placement in sorted(placements, key=lambda each: (not each.placed_first, -each.rate.estimate))
    )
    notes = (
        "Symmetric cells and symmetric openings are counted together. The 95 % intervals are individual and computed "
        "over openings, because games of one opening are dependent. Pairings differ from cell to cell by chance. "
        f"Cells with fewer than {FEWEST} openings are blank on the map.",
    )
    return Section("placements", "First placements", rows, notes if rows else ())


StudyChart = RowChart | Grid | Plot


@dataclass(frozen=True)
class Part:
    """What opens under a heading: a chart, and tables; `key` is its address on the page."""

    key: str
    title: str
    sections: Sequence[Section] = ()
    chart: StudyChart | None = None
    is_open: bool = False


def parts_of(sections: Sequence[Section], *, is_first_open: bool = True) -> list[Part]:
    """Return a part for each table."""
    return [
        Part(section.key, section.title, (section,), is_open=is_first_open and not number)
        for number, section in enumerate(sections)
    ]


def study_page(
    title: str,
    heading: str,
    verdict: str,
    parts: Sequence[Part],
    *,
    charts: Sequence[StudyChart] = (),
    plots: Sequence[Plot] = (),
    champion: str = "",
    command: str = "",
) -> str:
    """Return a self-contained page.

    Args:
        heading: a line below the title.
        verdict: the answer in a sentence; "" if there is none yet.
        charts: below the verdict.
        plots: cards of their own.
        champion: the text of the program that the study has found.
        command: writes the page again.
    """
    drawn = [(part, _drawn(part.chart, part.key)) for part in parts]
    return page_template("study.html").render(
        title=title,
        heading=heading,
        verdict=verdict,
        charts=[_drawn(chart, f"chart-{number}") for number, chart in enumerate(charts)],
        plots=[draw_plot(plot, f"plot-{number}") for number, plot in enumerate(plots)],
        champion=champion,
        parts=drawn,
        command=command,
    )


def _drawn(chart: StudyChart | None, key: str) -> Any:
    return draw_plot(chart, key) if isinstance(chart, Plot) else chart
