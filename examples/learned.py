"""Choose features, tune `learned` again, measure it, and write docs/explanation/learned.md.

Every number there is computed here, except the list of what was tried, which is kept unchanged.

    python examples/learned.py            all games; if interrupted, call it again to resume
    python examples/learned.py --quick    few games in another directory, as a test
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from findings import DOCS, HERE, played
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from knights_isolation import heuristics
from knights_isolation.experiments import judge as judge_run
from knights_isolation.experiments import parse_agent, read_games, read_suite
from knights_isolation.experiments.plan.openings import orbit_ids, split_of
from knights_isolation.experiments.statistics.proportions import Interval
from knights_isolation.experiments.studies.feature_selection import Selection, select_features
from knights_isolation.experiments.studies.samplers import plan_of
from knights_isolation.experiments.studies.screening import Score, collect_answers, score
from knights_isolation.experiments.studies.tuning import (
    OPENINGS,
    Judgement,
    Tuning,
    TuningTask,
    judge,
    subject_of,
    tune,
)
from knights_isolation.isolation import Limit, measure_costs
from knights_isolation.isolation.rules.game import Cost, Size, parse_size
from knights_isolation.reports.text.cell_values import Share

LEARNED, BEST_BEFORE, BASELINE = "ID:learned", "ID:territory", "ID:improved"
SEARCHES = {"alpha-beta": "ID", "best-first": "BF"}
PLAIN = "ID:learned@option.moves=0,option.waiting_moves=0,option.near=0,option.across=0"
"""Heuristic of links per cell alone, from which tuning starts."""
TRIED = (
    ("nearer", "as many cells, five jumps at most"),
    ("links", "how many links there are, not how many a cell"),
    ("link_roots", "the square root of that number"),
    ("links_a_cell", "links a cell, without moves"),
    ("walks", "the longest walk that colours allow"),
    ("own_region", "cells that the other will never get to"),
    ("phased", "territory, and mobility early"),
    ("two_step_mobility", "paths of two moves"),
)


@dataclass(frozen=True)
class Scale:
    """Extent of the games: costs in nodes of the baseline, tuning games, boards with their openings and pairs."""

    costs: tuple[int, ...] = (300, 1_000, 3_000, 10_000)
    games: int = 40_000
    pairs: int = 1_000
    openings: str = "placements"
    boards: tuple[tuple[str, str, int], ...] = (
        ("6x6", "placements", 0), ("8x8", "random:2", 500), ("9x11", "random:2", 300),
    )  # fmt: skip
    positions: int | None = None
    tried: int = 1_000
    features: int | None = None


QUICK = Scale((50,), 160, 10, "random:2", (("6x6", "random:2", 4),), 100, 50, 3)


@dataclass(frozen=True)
class Meeting:
    """Result of `learned`, or of an alternative, against `territory` at equal cost: nodes of both, and games won."""

    cost: int
    nodes: tuple[int, int]
    rate: Interval
    held_out: float


@click.command()
@click.option("--quick", is_flag=True, help="Few games, only to see that it works; nothing in docs/ changes.")
@click.option("--home", type=click.Path(path_type=Path), help="Where the runs lie; runs/learned by default.")
@click.option("--jobs", type=click.IntRange(min=0), default=0, help="Worker processes; 0: one per core.")
def main(quick: bool, home: Path | None, jobs: int) -> None:
    """Choose features, tune, play, screen, and write docs/explanation/learned.md."""
    scale = QUICK if quick else Scale()
    home = home or Path("runs/learned-quick" if quick else "runs/learned")
    home.mkdir(parents=True, exist_ok=True)
    page = (home if quick else DOCS) / "learned.md"
    page.write_text(page_text(scale, home, jobs), encoding="utf-8")
    click.echo(f"Wrote {page}")


def page_text(scale: Scale, home: Path, jobs: int) -> str:
    """Return the page as Markdown."""
    suite, held_out = (read_suite("7x7", split) for split in ("fit", "screen"))
    if scale.positions:
        suite, held_out = (part.sample(scale.positions, 1) for part in (suite, held_out))
    selection = select_features(suite, held_out, list(heuristics.FEATURES)[: scale.features], Limit(depth=3))
    tuning, judgement = _tuned(scale, home, jobs)
    meetings = [_meeting(home, "7x7", scale.openings, 0, LEARNED, cost, scale, jobs) for cost in scale.costs]
    tried = [
        (name, why, _meeting(home, "7x7", scale.openings, 0, f"ID:{name}", scale.tried, scale, jobs))
        for name, why in TRIED
    ]
    boards = [
        (board, [_meeting(home, board, openings, pairs, LEARNED, cost, scale, jobs) for cost in scale.costs])
        for board, openings, pairs in scale.boards
    ]
    screened = [_screened(held_out, search, cost, jobs) for search in SEARCHES for cost in scale.costs]
    templates = Environment(
        loader=FileSystemLoader(HERE), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
    return templates.get_template("learned.md.jinja").render(
        costs=[f"{cost:,}" for cost in scale.costs],
        meetings=[_meeting_row(meeting) for meeting in meetings],
        tried=[(name, why, *_meeting_row(contribution)) for name, why, contribution in tried],
        tried_at=f"{scale.tried:,}",
        boards=[
            (board, [Share(contribution.rate.estimate).text for contribution in result]) for board, result in boards
        ],
        screened=screened,
        alone=[
            (contribution.feature, f"{contribution.loss:.3f}", Share(contribution.ranked).text)
            for contribution in selection.alone[:8]
        ],
        chosen=_chosen_rows(selection),
        decisions=f"{selection.decisions:,}",
        tuned=_tuned_rows(tuning),
        games=f"{scale.games:,}",
        promised=Share(tuning.promised.estimate).text,
        judged=Share(judgement.rate.estimate).text if judgement else "–",
    )


def _tuned(scale: Scale, home: Path, jobs: int) -> tuple[Tuning, Judgement | None]:
    """Tune the weights again, starting from links per cell alone."""
    agent = subject_of(PLAIN, Limit(nodes=1_000))
    question = TuningTask(agent, None, (), Size(7, 7), 4, OPENINGS, plan_of(scale.games, 1))
    tuning = tune(question, home / "tuning.jsonl", jobs=jobs)
    held_out = home / "tuning-held-out"
    return tuning, judge(question, tuning.values, scale.pairs, jobs=jobs, out=held_out) if tuning.values else None


def _meeting(
    home: Path, board: str, openings: str, pairs: int, contender: str, cost: int, scale: Scale, jobs: int
) -> Meeting:
    """Play a duel at equal cost: each agent's node limit takes the time of `cost` nodes of the baseline."""
    base, *slower = _costs((BASELINE, contender, BEST_BEFORE), board, home)
    nodes = tuple(max(1, round(cost * base / item)) for item in slower)
    keys: dict[str, Any] = {
        "format": "head-to-head", "board": board, "openings": openings, "jobs": jobs,
        "contenders": [f"{contender}@nodes={nodes[0]}"], "baseline": f"{BEST_BEFORE}@nodes={nodes[1]}",
    }  # fmt: skip
    if pairs:
        keys["pairs"] = pairs
    run = home / f"{contender.removeprefix('ID:')}-{board}-{cost}"
    (duel,) = judge_run(played(run, keys)).duels
    return Meeting(cost, (nodes[0], nodes[1]), duel.rate, _on_held_out(run, board, duel.contender))


def _on_held_out(run: Path, board: str, name: str) -> float:
    """Return the share of games won from openings of the split that was not used for learning."""
    games = read_games(run, ["opening", "agent_1", "agent_2", "winner"])
    cells = np.array([list(opening)[:2] for opening in games["opening"]], np.int16)
    chosen = games[split_of(orbit_ids(cells, parse_size(board))) == "screen"]
    winner = np.where(chosen["winner"] == 1, chosen["agent_1"].astype(str), chosen["agent_2"].astype(str))
    return float((winner == name).mean())


def _costs(specs: Sequence[str], board: str, home: Path) -> list[float]:
    """Return CPU time per node relative to the baseline's, stored so that runs can be resumed."""
    kept = home / f"processor-costs-{board}.txt"
    known = dict(line.split("=", 1) for line in kept.read_text().split()) if kept.exists() else {}
    missing = [spec for spec in specs if spec not in known]
    if missing:
        both = [BASELINE, *missing] if BASELINE not in missing else missing
        costs = measure_costs([parse_agent(f"{spec}@nodes=1000") for spec in both], parse_size(board))
        known |= {spec: repr(cost.times) for spec, cost in zip(both, costs, strict=True) if isinstance(cost, Cost)}
        kept.write_text("\n".join(f"{spec}={cost}" for spec, cost in known.items()))
    return [float(known[spec]) for spec in specs]


def _screened(suite: Any, search: str, cost: int, jobs: int) -> list[str]:
    """Return wins kept on held-out positions with this many nodes, and the reduction of territory's mistakes."""
    agents = [agent.replace("ID", SEARCHES[search]) for agent in (BEST_BEFORE, LEARNED)]
    asked = collect_answers(agents, suite.positions, limit=Limit(nodes=cost), jobs=max(1, jobs))
    before, now = (score(suite, question) for question in asked)
    fewer = 1 - (1 - now.kept.estimate) / (1 - before.kept.estimate)
    return [search, f"{cost:,}", *map(_kept, (before, now)), Share(fewer).text]


def _kept(accuracy: Score) -> str:
    return Share(accuracy.kept.estimate).text


def _meeting_row(first: Meeting) -> list[str]:
    low, high = Share(first.rate.low).text, Share(first.rate.high).text
    spread = "" if first.rate.low == first.rate.high else f" ({low} to {high})"
    nodes = (f"{count:,}" for count in first.nodes)
    return [f"{first.cost:,}", *nodes, Share(first.rate.estimate).text + spread, Share(first.held_out).text]


def _chosen_rows(selection: Selection) -> list[list[str]]:
    return [
        [choice.feature, f"{choice.gain:.1f}", f"{choice.nanoseconds:.1f}", Share(choice.ranked).text]
        for choice in selection.chosen
    ]


def _tuned_rows(tuning: Tuning) -> list[list[str]]:
    shipped = {parameter.name: parameter.default for parameter in _parameters()}
    return [
        [
            parameter.name,
            f"{parameter.before:.3g}",
            f"{parameter.after:.3g}",
            f"{parameter.low:.3g} to {parameter.high:.3g}",
            f"{shipped[parameter.name]:g}",
        ]
        for parameter in tuning.parameters
    ]


def _parameters() -> Sequence[Any]:
    from knights_isolation.isolation.rules.parameters import parameters_of

    return parameters_of(heuristics.get("learned"))


if __name__ == "__main__":
    main()
