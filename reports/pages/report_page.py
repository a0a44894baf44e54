"""The report: one self-contained HTML page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from knights_isolation.experiments.exact.accuracy import accuracies, run_decisions
from knights_isolation.experiments.exact.labels import has_labels
from knights_isolation.experiments.inference.bradley_terry import Ratings
from knights_isolation.experiments.inference.contenders.baseline_comparison import Comparison
from knights_isolation.experiments.inference.contenders.head_to_head import HeadToHead
from knights_isolation.experiments.record.run_directory import CONFIG
from knights_isolation.experiments.statistics.agent_costs import relative_costs
from knights_isolation.experiments.statistics.effort import measure_effort
from knights_isolation.experiments.statistics.first_placements import commonest_size, placements
from knights_isolation.experiments.statistics.run_results import RunResults
from knights_isolation.experiments.verdicts.best_of import read_contest
from knights_isolation.experiments.verdicts.contender_verdicts import Verdicts, judge, judge_all_pairs, rate
from knights_isolation.experiments.verdicts.opening_leads import leads_by_opening
from knights_isolation.experiments.verdicts.sprt_tests import stopping_duels
from knights_isolation.isolation.checks.search_cost import Cost
from knights_isolation.isolation.files.atomic_write import check_output, write_text
from knights_isolation.isolation.shell import command
from knights_isolation.reports.charts import board_maps, coloured_tables, interval_rows, line_plots
from knights_isolation.reports.charts.chart import Plot
from knights_isolation.reports.charts.running_estimates import nearest_to_decision, running
from knights_isolation.reports.pages.example_links import links_to_games
from knights_isolation.reports.pages.next_steps import next_steps
from knights_isolation.reports.pages.section_titles import titles_of
from knights_isolation.reports.pages.templates import data_url, page_template, script_of
from knights_isolation.reports.tables.accuracy import accuracy_sections, theory_section
from knights_isolation.reports.tables.best_of import contest_section, contest_sentence
from knights_isolation.reports.tables.compare import duel_sections, each_section, effects_section, verdict_section
from knights_isolation.reports.tables.costs import equal_cost_sentences
from knights_isolation.reports.tables.placements import placement_section
from knights_isolation.reports.tables.ratings import rating_sections
from knights_isolation.reports.tables.summary import (
    forfeits_section,
    lengths_section,
    opponents_section,
    search_section,
    sides_section,
    standings_section,
)
from knights_isolation.reports.text.cell_values import Points, Share, estimate_of, pluralise
from knights_isolation.reports.text.sections import Section
from knights_isolation.reports.text.wording import (
    alike_sentences,
    caveats,
    control_sentence,
    direct_clause,
    finding_sentence,
    forfeit_sentences,
    pooling_sentences,
    state_words,
    stopped_sentences,
)

_MORE_COLUMNS = ["better against all", "heterogeneity p", "openings"]
"""Columns of the verdicts that are moved to a second table, since the first would be wider than a page."""
_FEW_LIMITS = 2
_CLOSED = (
    *("tests of the verdicts", "effects by opponent", "wins and losses by opponent", "ratings as a table"),
    *("who is likely to be stronger", "depths, nodes and lengths of games", "first placements", "example games"),
    "config.toml",
)


@dataclass(frozen=True)
class RunFacts:
    """Facts about a run on the page: its settings, how to repeat it, and its agents."""

    path: str
    created: str
    games: str
    command: str
    config: str
    config_url: str
    notes: tuple[str, ...]
    versions: str


@dataclass(frozen=True)
class DrawnPlot:
    """A plot, and each of its panels as SVG."""

    plot: Plot
    svgs: tuple[Markup, ...]


def write_report(findings: RunResults, out: str | Path) -> Path:
    """Write the page of a run into the file `out`, atomically.

    Raises:
        ValueError: it cannot be written there.
    """
    out = Path(out)
    check_output(out)
    write_text(out, report_page(findings))
    return out


def report_page(findings: RunResults) -> str:
    """Return the page as text. All strings from agents, such as names and error texts, are escaped."""
    verdicts = judge(findings) if findings.baseline is not None else None
    costs = relative_costs(findings)
    decisions = _decisions(findings)
    rated = rate(findings)
    ratings, superiority = rating_sections(findings, ratings=rated)
    title = finding_of(findings, verdicts)
    script, script_hash = script_of("report.js")
    return page_template("report.html").render(
        title=title,
        facts=_facts(findings),
        headline=[sentence for sentence in headline(findings, verdicts) if sentence.rstrip(".") != title],
        first_sentences=1 + len(_warnings(findings)),
        steps=next_steps(findings, verdicts, costs),
        titles=titles_of(findings, verdicts, costs, ratings),
        verdicts=_verdict_sections(findings, verdicts, costs),
        more_columns=_MORE_COLUMNS,
        effects=effects_section(findings, verdicts) if verdicts and verdicts.comparisons else None,
        standings=standings_section(findings),
        opponents=opponents_section(findings),
        sides=_sides_by_agent(sides_section(findings)),
        theory=theory_section(findings),
        ratings=ratings,
        superiority=superiority,
        forfeits=forfeits_section(findings),
        lengths=lengths_section(findings),
        search=search_section(findings, measure_effort(findings)),
        agents=agents_section(findings),
        accuracy=None if decisions is None else accuracy_sections(accuracies(decisions))[0],
        accuracy_by_ply=None if decisions is None else draw_plot(line_plots.accuracy_by_ply(decisions), "accuracy"),
        runs=[_run_facts(findings, number) for number in range(len(findings.sources))],
        reproduce=command("report", *(source.info.path for source in findings.sources)),
        script=script,
        script_hash=script_hash,
        closed=_CLOSED,
        **_charts(findings, verdicts, costs, rated),
    )


def _charts(
    findings: RunResults, verdicts: Verdicts | None, costs: Mapping[str, Cost], ratings: Ratings
) -> dict[str, Any]:
    """Return the charts for the template by name; None or empty if there is nothing to draw."""
    size, first_placements = commonest_size(findings), placements(findings)
    leads = coloured_tables.leads(findings, verdicts)
    best = verdicts.best.contender if verdicts and verdicts.best else ""
    by_opening = leads_by_opening(findings, best) if best else ()
    of_pairs = {pair: lead.lead for pair, lead in leads.items()}
    links = links_to_games(findings, of_pairs, first_placements, best, by_opening)
    best_games = {
        pair[0]: links.by_opponent[pair] for pair in sorted(links.by_opponent, key=lambda pair: leads[pair].lead)
    }
    scatter = line_plots.strength_by_cost(findings, verdicts, costs, best_games) if verdicts else None
    return {
        "forest": interval_rows.forest(findings, verdicts) if verdicts else None,
        "scatter": draw_plot(scatter, "cost"),
        "running": draw_plot(running(findings, nearest_to_decision(findings, verdicts)), "running"),
        "differences": coloured_tables.differences(findings, leads, links.by_opponent, ratings),
        "limits": draw_plot(line_plots.limits_chart([findings]), "limits"),
        "games": links.games,
        "ladder": interval_rows.ladder(ratings),
        "calibration": coloured_tables.calibration(findings),
        "spreads": [interval_rows.spread(findings, kind) for kind in interval_rows.SPREADS],
        "maps": board_maps.placement_maps(first_placements, size, links.by_placement),
        "placements": placement_section(first_placements, size),
        "visits": board_maps.visit_map(findings),
        "where": board_maps.lead_map(best, by_opening, size, links.by_opening) if size else None,
    }


def draw_plot(plot: Plot | None, key: str) -> DrawnPlot | None:
    """Return a plot with its panels as SVG; matplotlib is only loaded if there is something to draw."""
    if plot is None:
        return None
    from knights_isolation.reports.plots.inline_svg import inline_svg

    is_small = len(plot.panels) > 1
    svgs = (inline_svg(panel, f"{key}-{number}", is_small=is_small) for number, panel in enumerate(plot.panels))
    return DrawnPlot(plot, tuple(svgs))


def finding_of(findings: RunResults, verdicts: Verdicts | None) -> str:
    """Return what a run found in a clause or two: the heading of its report, and its line in a list of runs."""
    if verdicts is None or read_contest(findings) or stopping_duels(findings):
        return f"{state_words(findings)}{_judgement(findings, verdicts)[0].rstrip('.')}"
    first = finding_sentence(findings, verdicts).rstrip(".").partition("; ")[0]
    return "; ".join(filter(None, [first, direct_clause(verdicts)]))


def headline(findings: RunResults, verdicts: Verdicts | None) -> list[str]:
    """Return the findings in a few sentences: forfeits first, since they affect everything else, then by importance."""
    return _warnings(findings) + _judgement(findings, verdicts)


def _warnings(findings: RunResults) -> list[str]:
    return [*caveats(findings), *equal_cost_sentences(findings), *forfeit_sentences(findings)]


def _judgement(findings: RunResults, verdicts: Verdicts | None) -> list[str]:
    if contest := read_contest(findings):
        return [contest_sentence(contest)]
    if tests := stopping_duels(findings):
        return stopped_sentences(tests)
    if verdicts is None:
        rows = rating_sections(findings)[0].rows
        if not rows:
            return ["No games to judge yet."]
        best = rows[0]
        if math.isinf(best["rating"].low) and math.isinf(best["rating"].high):
            return ["No highest rating yet: the ratings have no finite bounds."]
        equals = ", ".join(row["agent"] for row in rows if row["rank"] == 1)
        return [f"Rated highest: {equals}, {best['rating'].text} Elo, individual 95 % interval."]
    claims = {
        claim.contender: (claim.verdict, f"{claim.contender} by {estimate_of(claim.jointly, Points).text}")
        for claim in sorted(verdicts.claims, key=lambda claim: -claim.difference.estimate)
    }
    claims |= {
        duel.contender: (duel.verdict, f"{duel.contender} with {estimate_of(duel.jointly).text}")
        for duel in sorted(verdicts.duels, key=lambda duel: -duel.rate.estimate)
    }
    if not claims:
        return ["No complete pairs to judge yet."]
    unit, words = "of games won head to head", {"better": "Beat", "worse": "Lost to"}
    if verdicts.comparisons:
        unit = "in percentage points of the win rate"
        kinds = {"better": "more", "worse": "less"}
        words = {kind: f"Won {amount} against the same opponents than" for kind, amount in kinds.items()}
    same = " against the same opponents" if verdicts.direct else ""
    judged: list[Comparison | HeadToHead] = [*verdicts.claims, *verdicts.duels]
    sentences = []
    for verdict in ("better", "worse"):
        pooling = pooling_sentences([claim for claim in judged if claim.verdict == verdict])
        names = [text for kind, text in claims.values() if kind == verdict]
        if names:
            sentence = (
                f"{words[verdict]} {verdicts.baseline}: {', '.join(names)}; {unit}, with 95 % intervals"
                f"{' for all contenders at once' if verdicts.family > 1 else ''}."
            )
            sentences.append(" ".join([sentence, *pooling]))
    equal = [name for name, (kind, _) in claims.items() if kind == "equal"]
    if equal:
        sentences.append(f"Equal to {verdicts.baseline} on all openings: {', '.join(equal)}.")
    open_ones = [name for name, (kind, _) in claims.items() if kind == "no significant difference"]
    if len(open_ones) == len(claims):
        sentences.append(f"No contender differs significantly from {verdicts.baseline}{same} yet.")
    elif open_ones:
        sentences.append(f"No significant difference from {verdicts.baseline}{same} yet: {', '.join(open_ones)}.")
    sentences += pooling_sentences([claim for claim in judged if claim.verdict not in words])
    sentences += [*alike_sentences(findings, verdicts.claims), *_direct_sentences(verdicts)]
    return [*sentences, *map(control_sentence, verdicts.checks), *_exact(verdicts)]


def _direct_sentences(verdicts: Verdicts) -> list[str]:
    """Return who beat the baseline itself, who lost to it, and for whom this differs from the mean over opponents."""
    sentences = []
    for verdict, words in (("better", "beat"), ("worse", "lost to")):
        duels = sorted((duel for duel in verdicts.direct if duel.verdict == verdict), key=lambda duel: -duel.estimate)
        if duels:
            names = ", ".join(f"{duel.contender} with {estimate_of(duel.jointly).text}" for duel in duels)
            sentences.append(f"Head to head {words} {verdicts.baseline}: {names} of the games, with 95 % intervals.")
    if verdicts.direct and not sentences:
        sentences.append(f"Head to head nobody significantly beat or lost to {verdicts.baseline}.")
    if verdicts.disagreeing:
        differing = ", ".join(verdicts.disagreeing)
        sentences.append(f"The verdicts against the same opponents and head to head differ: {differing}.")
    return sentences


def agents_section(findings: RunResults) -> Section:
    """Return every agent with its spec and settings."""
    rows = tuple(
        {
            "agent": facts.name,
            "role": ", ".join(facts.roles),
            "spec": facts.spec,
            "repeats_itself": facts.is_deterministic,
            "settings": "; ".join(f"{key} {_plain(value)}" for key, value in facts.settings.items()),
        }
        for facts in findings.agents.values()
    )
    return Section("agents", "Agents", rows)


def _verdict_sections(findings: RunResults, verdicts: Verdicts | None, costs: Mapping[str, Cost]) -> list[Section]:
    if contest := read_contest(findings):
        return [contest_section(findings, contest)]
    if verdicts is None:
        each = judge_all_pairs(findings)
        return [each_section(findings, each)] if each else []
    sections = []
    if verdicts.comparisons:
        sections.append(verdict_section(findings, verdicts, costs))
    return sections + duel_sections(findings, verdicts, costs)


def _exact(verdicts: Verdicts) -> list[str]:
    """Return what a census implies for its openings."""
    sentences = []
    for claim in verdicts.judged:
        found = f"is {claim.verdict}: {Points(claim.estimate).text}"
        if isinstance(claim, HeadToHead):
            found = f"won {Share(claim.pairs.score).text}"
        if claim.is_census:
            sentences.append(
                f"On all {claim.openings:,} openings of this kind {claim.contender} {found}, without sampling error."
            )
    return sentences


def _sides_by_agent(sides: Section) -> Section:
    """Return one row per agent, one column per side and colour role."""
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


def _decisions(findings: RunResults) -> pd.DataFrame | None:
    """Return the moves of a single run that have exact values; None without any."""
    runs = [source.info.path for source in findings.sources]
    return run_decisions(runs[0]) if len(runs) == 1 and has_labels(runs[0]) else None


def _limits(findings: RunResults) -> list[str]:
    """Return the limits of the measured agents, in the syntax of specs."""
    texts = (findings.agents[name].limit_text for name in findings.measured)
    return list(dict.fromkeys(text for text in texts if text))


def _design(findings: RunResults) -> str:
    formats = dict.fromkeys(source.info.requested["format"] for source in findings.sources)
    boards = dict.fromkeys(source.info.requested["board"] for source in findings.sources)
    return f"{' and '.join(formats).capitalize()} on {' and '.join(boards)}"


def _facts(findings: RunResults) -> list[tuple[str, str]]:
    games, planned = findings.played + findings.repeated, findings.planned
    limits = _limits(findings)
    if len(limits) > _FEW_LIMITS:
        limits = [*limits[:_FEW_LIMITS], f"{len(limits) - _FEW_LIMITS} others"]
    openings = dict.fromkeys(source.info.requested["openings"] for source in findings.sources)
    return [
        ("Design", _design(findings)),
        ("Games", f"{games:,}" if games == planned else f"{games:,} of {planned:,} planned"),
        ("Agents", f"{len(findings.pairs.agents)}"),
        ("Openings", f"{findings.games['opening_id'].nunique():,}, {' and '.join(openings)}"),
        ("Limit", " and ".join(limits) or "none"),
        ("Census", "yes" if findings.is_census else "no"),
        ("Forfeits", f"{sum(row['games'] for row in forfeits_section(findings).rows):,}"),
        ("Played", ", ".join(dict.fromkeys(source.info.created_at[:10] for source in findings.sources))),
    ]


def _run_facts(findings: RunResults, number: int) -> RunFacts:
    info = findings.sources[number].info
    try:
        config = (info.path / CONFIG).read_text(encoding="utf-8")
    except OSError:
        config = ""
    return RunFacts(
        path=str(info.path),
        created=info.created_at.replace("T", " "),
        games=pluralise(int((findings.games["run"] == number).sum()), "game"),
        command=f"isolation tournament {CONFIG}",
        config=_without_place(config),
        config_url=data_url("application/toml", _without_place(config)),
        notes=tuple(info.notes),
        versions=", ".join(f"{name} {version}" for name, version in info.versions.items()),
    )


def _without_place(config: str) -> str:
    """Return a configuration without its output directory, which exists already."""
    return "".join(line for line in config.splitlines(keepends=True) if not line.startswith("out = "))


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key}={item}" for key, item in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " ".join(map(str, value)) or "none"
    return str(value)
