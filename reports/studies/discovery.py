"""Tables, charts and page of `discover`; the page grows with the search, and ends with the verdict."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from knights_isolation.experiments.discovery import finals
from knights_isolation.experiments.discovery.campaign import CLIMBS, EDGES, Campaign, SearchTask, run_campaign
from knights_isolation.experiments.discovery.finals import CEILING, Finalist, Headroom, Strength
from knights_isolation.experiments.discovery.programs import NODES, REFERENCE
from knights_isolation.experiments.plan import AgentLike, spec_of
from knights_isolation.experiments.play.pools.interrupts import keeping
from knights_isolation.experiments.record.run_directory import HOME
from knights_isolation.experiments.statistics.contender_verdicts import judge
from knights_isolation.experiments.statistics.proportions import ALPHA, Interval, agree
from knights_isolation.experiments.statistics.step_down import holm
from knights_isolation.isolation.files.atomic_write import write_text
from knights_isolation.isolation.rules.game import Size
from knights_isolation.isolation.suggestions import called_as

from ..answers import Result, drawn
from ..charts.chart import Panel, Plot, RowChart, Series, fit_axis
from ..charts.interval_charts import differences_chart
from ..pages.report_page import parts_of, study_page
from ..pages.templates import PAGE
from ..text.cell_values import Minutes, Points, Ratio, Share, estimate_of, pluralise
from ..text.rendering import Section
from .research import Match
from .screening import screen_result

_ROWS = 12
_BASELINE = "ID:improved"
_SECONDS_OF_A_PAGE = 10.0
"""Between two pages of a search that goes on."""


@dataclass(frozen=True)
class Verdict:
    """What the champion achieved on something held out, at equal cost.

    Attributes:
        judged_on: openings or positions, in words.
        opponent: the agent compared with, and its limit in nodes.
        nodes: that limit.
        n: number of openings or positions.
        difference: to the opponent: games won less games lost, or wins kept.
        p_value: of no difference, adjusted for all verdicts of the campaign.
    """

    judged_on: str
    opponent: str
    nodes: int
    n: int
    difference: Interval
    p_value: float

    @property
    def words(self) -> str:
        """Whether it is better, worse, or neither significantly."""
        if self.p_value > ALPHA:
            return "no difference"
        return "better" if self.difference.estimate > 0 else "worse"


@dataclass(frozen=True)
class Discovery:
    """What a campaign found.

    Attributes:
        campaign: the archive, and how it grew.
        finalists: its best programs as files, the champion first.
        verdicts: what the champion achieved on held-out openings and positions.
        headroom: what there is to gain against the opponent; None while it is searched.
        strengths: what the best program so far won, by the processor time of the search.
    """

    campaign: Campaign
    finalists: tuple[Finalist, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    headroom: Headroom | None = None
    strengths: tuple[Strength, ...] = ()


def discovery_result(
    task: SearchTask, against: AgentLike, minutes: float, out: str | Path | None, pairs: int, jobs: int,
    show: Callable[[str], None], match: Match,
) -> Result[Discovery]:  # fmt: skip
    """Search for so many processor minutes, or go on, let the best play finals, judge the champion, write the page.

    Args:
        out: folder of the journal and of what is found; by default one below `runs/`.
        pairs: held-out openings of each verdict.
        show: called with a line after each round.
    """
    opponent, size, seed = spec_of(against), task.size, task.seed
    finals.check_opponent(opponent, size)
    folder = (Path(out) if out else HOME / f"discover-{size}-seed{seed}").resolve()
    next_page = 0.0

    def after_round(campaign: Campaign) -> None:
        nonlocal next_page
        last = campaign.growth[-1]
        show(
            f"round {last.round}: {last.seconds / 60:.1f} processor minutes, {last.candidates:,} candidates, "
            f"best {100 * last.best.train:.1f} % of wins kept, {100 * last.best.validation:.1f} % in validation"
        )
        if time.monotonic() >= next_page:
            write_discovery_page(Discovery(campaign), folder, size)
            next_page = time.monotonic() + _SECONDS_OF_A_PAGE

    with keeping("what was searched is in the journal"), called_as():
        campaign = run_campaign(task, folder / "journal.jsonl", minutes, jobs=jobs, show=after_round)
        held = finals.hold_finals(campaign.archive.all[: finals.FINALISTS], opponent, size, folder, seed, jobs)
        play = partial(match, openings="random:4,screen", pairs=pairs, equal_cost=True, board=str(size), seed=seed)
        verdicts = _judged(held[0].spec, opponent, size, partial(play, jobs=jobs), jobs)
        headroom = finals.measure_headroom(opponent, size, seed, jobs)
        evidence = [*map(evidence_sentence, verdicts), *headroom_sentences(headroom, opponent)]
        finals.write_found(held[0].found, held[0].file, evidence)
        strengths = tuple(finals.measure_strength(campaign, opponent, size, folder, seed, jobs))
        found = Discovery(campaign, tuple(held), verdicts, headroom, strengths)
        write_discovery_page(found, folder, size)
    chart = strength_chart(strengths) or growth_chart(campaign)
    return Result(found, discovery_sections(found), partial(drawn, chart, "One round is no curve yet."))


def _judged(champion: str, opponent: str, size: Size, match: Match, jobs: int) -> tuple[Verdict, ...]:
    """Return verdicts from held-out openings and from the split `screen`, their p-values adjusted for each other.

    All are added to the log of tries.
    """
    verdicts, limits = [], [f"nodes={nodes}" for nodes in NODES]
    for other, limit in dict.fromkeys([(opponent, limits[0]), (opponent, limits[-1]), (_BASELINE, limits[-1])]):
        (duel,) = judge(match(champion, other, limit=limit).value).duels
        less_lost = {end: 2 * getattr(duel.rate, end) - 1 for end in ("estimate", "low", "high")}
        nodes, lead = NODES[limits.index(limit)], replace(duel.rate, **less_lost)
        verdicts.append(Verdict("games", other, nodes, duel.pairs.n, lead, duel.p_value))
    screening = screen_result([champion], opponent, str(size), limits[-1], equal_cost=True, jobs=jobs).value.screening
    ((_, compared),) = screening.contenders
    verdicts.append(Verdict("positions", opponent, NODES[-1], len(screening.suite), compared.both, compared.p_value))
    adjusted = holm([verdict.p_value for verdict in verdicts])
    return tuple(
        replace(verdict, p_value=p_value, difference=agree(verdict.difference, p_value <= ALPHA))
        for verdict, p_value in zip(verdicts, adjusted, strict=True)
    )


def discovery_sections(found: Discovery) -> tuple[Section, ...]:
    """Return the verdicts on the champion, the strength over time, the finalists, the archive, and how it grew."""
    verdicts, archive = _verdicts(found.finalists, found.verdicts), _archive(found.campaign)
    sections = (verdicts, _strengths(found.strengths), _finalists(found.finalists), archive, _growth(found.campaign))
    return tuple(section for section in sections if section.rows)


def growth_chart(campaign: Campaign) -> Plot | None:
    """Plot the wins that the best program keeps over processor time; None before the second round."""
    if len(campaign.growth) < 2:
        return None
    minutes = tuple(each.seconds / 60 for each in campaign.growth)
    train = tuple(100 * each.best.train for each in campaign.growth)
    validation = tuple(100 * each.best.validation for each in campaign.growth)
    lines = (Series("training", "0", minutes, train), Series("validation", "1", minutes, validation))
    panel = Panel(
        "", lines, fit_axis("processor minutes", minutes), fit_axis("wins kept, per cent", (*train, *validation))
    )
    note = "Of the best program so far, at equal estimated cost. Climbs see those for training alone; all choose it."
    first, last = validation[0], validation[-1]
    return Plot(f"In validation {first:.1f} % of wins kept became {last:.1f} % in {_time(minutes[-1])}", (panel,), note)


def strength_chart(strengths: Sequence[Strength]) -> Plot | None:
    """Plot the games that the best program wins over the processor time that found it; None for a single time."""
    minutes = sorted({strength.minutes for strength in strengths})
    if len(minutes) < 2:
        return None
    lines: list[Series] = []
    for opponent in dict.fromkeys(strength.opponent for strength in strengths):
        met = [strength for strength in strengths if strength.opponent == opponent]
        for at, nodes in enumerate(NODES):
            won = tuple(100 * strength.won[at] for strength in met)
            x = tuple(strength.minutes for strength in met)
            lines.append(Series(f"{opponent}, {nodes:,} nodes", str(len(lines)), x, won))
    shares = [share for line in lines for share in line.y]
    axes = fit_axis("processor minutes", minutes, is_log=True), fit_axis("games won, per cent", [50.0, *shares])
    note = (
        f"The best program in solved positions so far, at equal cost, from openings for fitting; each point is "
        f"{strengths[0].games:,} games, with a standard error of about 0.9."
    )
    return Plot(f"Strength over {_time(minutes[-1])}", (Panel("", tuple(lines), *axes, level=50.0),), note)


def _archive_chart(campaign: Campaign) -> Plot | None:
    best = [cell[0] for cell in campaign.archive.cells if cell]
    others = [found for cell in campaign.archive.cells for found in cell[1:]]
    if len(best) < 2:
        return None
    named = [
        Series(pluralise(len(found.program), "term"), "0", (found.cost,), (100 * found.kept,), form="points")
        for found in best
    ]
    cloud = Series(
        "", "other", tuple(found.cost for found in others), tuple(100 * found.kept for found in others),
        form="points",
    )  # fmt: skip
    everything = [*best, *others]
    x = fit_axis("estimated nanoseconds a node", [found.cost for found in everything])
    y = fit_axis("wins kept, per cent", [100 * found.kept for found in everything])
    leader = max(best, key=lambda found: found.kept)
    title = f"{len(everything)} programs of all costs; the best costs {leader.cost:.0f} ns a node"
    note = "With a name: the best of each class of cost. Grey: others that were kept, to be varied further."
    return Plot(title, (Panel("Archive", (cloud, *named) if others else tuple(named), x, y),), note)


def _verdict_chart(verdicts: Sequence[Verdict]) -> RowChart | None:
    rows = (
        (
            f"{verdict.opponent}, {verdict.nodes:,} nodes, {verdict.judged_on}",
            verdict.difference,
            verdict.words if verdict.words in ("better", "worse") else "",
        )
        for verdict in verdicts
    )
    note = "95 % intervals, each by itself, at equal cost. Games: won less lost. Positions: wins kept."
    return differences_chart("The champion", rows, note)


def verdict_title(finalists: Sequence[Finalist], verdicts: Sequence[Verdict]) -> str:
    """Say in a sentence which opponents the champion beats."""
    games = [verdict for verdict in verdicts if verdict.judged_on == "games"]
    ahead = [f"{verdict.opponent} at {verdict.nodes:,} nodes" for verdict in games if verdict.words == "better"]
    name = str(finalists[0].file.name) if finalists else "nothing"
    return f"{name} is better than {', '.join(ahead)}." if ahead else f"{name}: significantly better than no opponent."


def evidence_sentence(verdict: Verdict) -> str:
    """Say what the champion achieved, for its file."""
    return (
        f"{verdict.judged_on.capitalize()} against {verdict.opponent} at {verdict.nodes:,} nodes, equal cost: "
        f"{estimate_of(verdict.difference, Points).text} points, n = {verdict.n:,}."
    )


def headroom_sentences(headroom: Headroom, opponent: str) -> list[str]:
    """Say what there is to gain against an opponent, and what a per cent of the games is worth."""
    price = headroom.nodes_for_a_point
    worth = (
        f"so 1 % of the games is worth {100 * price:.0f} % more nodes" if price < 10 else "so nodes are worth little"
    )
    return [
        f"Ceiling: {CEILING} wins {100 * headroom.ceiling:.1f} % against {opponent} at {headroom.nodes:,} nodes.",
        f"Exchange rate: {opponent} with twice the nodes wins {100 * headroom.doubled:.1f} %, {worth}.",
    ]


def _time(minutes: float) -> str:
    return f"{minutes:.1f} processor minutes"


def _verdicts(finalists: Sequence[Finalist], verdicts: Sequence[Verdict]) -> Section:
    rows = tuple(
        {
            "against": verdict.opponent,
            "nodes": verdict.nodes,
            "judged_on": verdict.judged_on,
            "n": verdict.n,
            "difference": estimate_of(verdict.difference, Points),
            "says": verdict.words,
        }
        for verdict in verdicts
    )
    title = verdict_title(finalists, verdicts)
    notes = (
        "At equal cost: the champion gets as many nodes as take the opponent's time. Games: from held-out openings, "
        "each played twice, games won less games lost. Positions: of the split screen, which nothing was learned from. "
        "Verdicts are adjusted for each other; intervals agree with them.",
    )
    return Section("discover", title, rows, notes)


def _strengths(strengths: Sequence[Strength]) -> Section:
    rows = tuple(
        {
            "processor_time": Minutes(strength.minutes),
            "against": strength.opponent,
            "cost": Ratio(strength.cost),
            **{f"won_at_{nodes}": Share(won) for nodes, won in zip(NODES, strength.won, strict=True)},
            "validation": Share(strength.found.validation),
        }
        for strength in strengths
    )
    notes = (
        "The best program in solved positions that so much processor time had found: games won at equal cost, from "
        "openings for fitting, which chose nothing.",
    )
    return Section("strength", "Strength over processor time", rows, notes)


def _finalists(finalists: Sequence[Finalist]) -> Section:
    rows = tuple(
        {
            "file": finalist.file.name,
            "terms": len(finalist.found.program),
            "train": Share(finalist.found.train),
            "validation": Share(finalist.found.validation),
            "cost": Ratio(finalist.cost),
            "spread": Share(finalist.spread),
            "won": Share(finalist.won),
        }
        for finalist in finalists
    )
    notes = (
        "Train, validation: wins kept at equal estimated cost. Cost: measured, a node over the opponent's. Won: "
        f"games against the opponent at equal cost, at {NODES[0]} and {NODES[1]:,} nodes, from openings for fitting; "
        "they choose the champion, less what the spread of its cost may be worth, so its own is too high.",
    )
    return Section("finalists", "Finalists, the champion first", rows, notes)


def _archive(campaign: Campaign) -> Section:
    ends = ["", *(f"{edge:g}" for edge in EDGES), ""]
    rows = tuple(
        {
            "cost": f"{ends[index]}–{ends[index + 1]}".strip() if cell else "",
            "programs": len(cell),
            "train": Share(cell[0].train),
            "validation": Share(cell[0].validation),
            "terms": len(cell[0].program),
        }
        for index, cell in enumerate(campaign.archive.cells)
        if cell
    )
    notes = (
        f"The best program of each cost, in estimated nanoseconds a node: wins kept in solved positions, the mean at "
        f"{NODES[0]} and {NODES[1]:,} nodes of a program that costs {REFERENCE:g} ns.",
    )
    return Section("archive", "Archive by cost", rows, notes)


def _growth(campaign: Campaign) -> Section:
    step = -(-len(campaign.growth) // _ROWS) or 1
    rows = tuple(
        {
            "processor_time": Minutes(each.seconds / 60),
            "climbs": CLIMBS * each.round,
            "candidates": each.candidates,
            "train": Share(each.best.train),
            "validation": Share(each.best.validation),
        }
        for each in campaign.growth[::-step][::-1]
    )
    notes = ("Processor time of the search, climbs, programs tried, and the wins kept by the best program.",)
    return Section("growth", "How it grew", rows, notes)


def write_discovery_page(found: Discovery, folder: Path, size: Size) -> Path:
    """Write the page of a campaign on a board into its folder, where the lab finds it; return its path."""
    growth, verdicts, champion = found.campaign.growth, found.verdicts, found.finalists[:1]
    sections = [
        replace(section, title="In figures") if section.key == "discover" else section
        for section in discovery_sections(found)
    ]
    plots = strength_chart(found.strengths), growth_chart(found.campaign), _archive_chart(found.campaign)
    page = study_page(
        f"Discovery on {size}: {folder.name}",
        f"{growth[-1].candidates:,} candidates in {growth[-1].seconds / 60:.1f} processor minutes." if growth else "",
        verdict_title(found.finalists, verdicts) if verdicts else "The search goes on." if growth else "",
        parts_of(sections),
        charts=[chart] if (chart := _verdict_chart(verdicts)) else [],
        plots=[plot for plot in plots if plot],
        champion=champion[0].file.read_text(encoding="utf-8") if verdicts else "",
    )
    write_text(folder / PAGE, page)
    return folder / PAGE
