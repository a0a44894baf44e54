"""Measure the results in docs/explanation/perfect-play.md, and write that page: every number there is computed here.

python examples/perfect_play.py            all games; if interrupted, call it again to resume
python examples/perfect_play.py --quick    few games in another directory, as a test
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import prod
from pathlib import Path
from typing import Any

import click
import pandas as pd
from findings import DOCS, HERE, played
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from scipy.stats import spearmanr

from knights_isolation import heuristics
from knights_isolation.experiments import (
    RunResults,
    accuracies,
    label_run,
    opening_winners,
    run_decisions,
    split_by_theory,
)
from knights_isolation.experiments.exact.accuracy import Accuracy
from knights_isolation.experiments.exact.accuracy_games import described, judged_plies, play_and_label
from knights_isolation.experiments.exact.board_solving import BoardSummary, shipped_pairs, summarise
from knights_isolation.experiments.statistics.game_pairs import standings
from knights_isolation.isolation import Board, solve
from knights_isolation.isolation.rules.game import MOST_COMPILED_CELLS, USUAL_SIZE
from knights_isolation.isolation.rules.geometry import cell_name
from knights_isolation.isolation.rules.solved_tables import covered_sizes
from knights_isolation.isolation.search.solver import is_mirrored
from knights_isolation.reports.charts.grids import refutation_maps
from knights_isolation.reports.charts.line_plots import accuracy_by_depth, accuracy_by_ply
from knights_isolation.reports.plots.draw_chart import draw_chart, save
from knights_isolation.reports.text.cell_values import Mean, Share, estimate_of
from knights_isolation.reports.watch import counting

FEWEST_ROWS = 3
"""Minimum number of rows: on boards with fewer, knights can hardly move."""
NODES = 1000


@dataclass(frozen=True)
class Scale:
    """Extent of the measurement.

    `positions`: telling positions for each of `names` at each of `depths`. `pairs`: pairs per match of the round-robins
    at `ranked` depths and of the gauntlet, of which `labelled` games get exact values.
    """

    names: tuple[str, ...]
    depths: tuple[int, ...] = (1, 3, 5, 7)
    ranked: tuple[int, ...] = (3, 5)
    positions: int = 2000
    pairs: int = 200
    labelled: int = 4000


QUICK = Scale(("null", "open", "improved", "territory"), (1, 3), (3,), 30, 4, 20)


@dataclass(frozen=True)
class Ranking:
    """Rank correlation of scores and accuracies in a round-robin at one depth."""

    depth: int
    games: int
    correlation: float


@click.command()
@click.option("--quick", is_flag=True, help="Few games, only to see that it works; nothing in docs/ changes.")
@click.option("--home", type=click.Path(path_type=Path), help="Where the runs lie; runs/perfect-play by default.")
@click.option("--jobs", type=click.IntRange(min=0), default=0, help="Worker processes; 0: one per core.")
def main(quick: bool, home: Path | None, jobs: int) -> None:
    """Play, solve, and write docs/explanation/perfect-play.md and its plots."""
    scale = QUICK if quick else Scale(tuple(heuristics.names()))
    home = home or Path("runs/perfect-play-quick" if quick else "runs/perfect-play")
    docs = home if quick else DOCS
    fresh = _judged(home / "decisions.parquet", scale, jobs)
    rankings = [_ranking(home, scale, depth, fresh, jobs) for depth in scale.ranked]
    gauntlet = _labelled(home / f"gauntlet-{NODES}", scale, jobs)
    (docs / "images").mkdir(parents=True, exist_ok=True)
    save(
        draw_chart(refutation_maps(summarise(shipped_pairs(USUAL_SIZE), USUAL_SIZE))),
        docs / "images" / "refutations.svg",
    )
    save(draw_chart(accuracy_by_depth(fresh)), docs / "images" / "accuracy-by-depth.svg")
    middle = fresh[fresh["depth"] == scale.ranked[-1]]
    save(draw_chart(accuracy_by_ply(middle)), docs / "images" / "accuracy-by-ply.svg")
    (docs / "perfect-play.md").write_text(page_text(scale, fresh, rankings, gauntlet), encoding="utf-8")
    click.echo(f"Wrote {docs / 'perfect-play.md'}")


def page_text(scale: Scale, fresh: pd.DataFrame, rankings: Sequence[Ranking], gauntlet: RunResults) -> str:
    """Return the page as Markdown."""
    templates = Environment(
        loader=FileSystemLoader(HERE), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
    summary = summarise(shipped_pairs(USUAL_SIZE), USUAL_SIZE)
    sizes = [size for size in covered_sizes() if min(size) >= FEWEST_ROWS]
    boards = [summarise(shipped_pairs(size), size) for size in sizes]
    wider = [board for board in boards if board.size.rows > FEWEST_ROWS]
    fewest_unsolved = _fewest_unsolved()
    measured = accuracies(fresh)
    decisions = run_decisions(gauntlet.sources[0].info.path)
    return templates.get_template("perfect_play.md.jinja").render(
        size=USUAL_SIZE,
        fewest_unsolved=fewest_unsolved,
        larger=[size for size in covered_sizes() if size.cells > fewest_unsolved],
        boards=[_board_row(board) for board in boards],
        unexplained=[board.size for board in wider if board.unexplained],
        explained=[board.size for board in wider if not board.unexplained],
        summary=summary,
        exceptions=", ".join(f"{_name(first)}–{_name(second)}" for first, second in summary.exceptions),
        mirrors=all(_can_mirror(pair) for pair in summary.exceptions),
        depths=scale.depths,
        ranked=scale.ranked[-1],
        where=described(USUAL_SIZE),
        window=judged_plies(USUAL_SIZE),
        positions=f"{scale.positions:,}",
        eligible=f"{sum(first.eligible for first in measured):,}",
        moves=f"{sum(first.decisions for first in measured):,}",
        depth_rows=_depth_rows(measured, scale),
        rankings=rankings,
        nodes=f"{NODES:,}",
        gauntlet_games=f"{len(gauntlet.games):,}",
        labelled=f"{decisions['game_id'].nunique():,}",
        gauntlet_rows=_gauntlet_rows(accuracies(decisions), gauntlet),
        bands=_band_rows(decisions, set(gauntlet.measured)),
    )


def _fewest_unsolved() -> int:
    """Return the number of cells of the smallest board that is not solved."""
    solved, sizes = set(covered_sizes()), combinations_with_replacement(range(1, MOST_COMPILED_CELLS + 1), 2)
    return min(prod(size) for size in sizes if size not in solved)


def _board_row(summary: BoardSummary) -> list[str]:
    replies = [len(cells) for cells in summary.refutations]
    return [
        str(summary.size),
        f"player {summary.winner}",
        f"{summary.openings:,}",
        Share(summary.first_wins / summary.openings).text,
        f"{min(replies)} to {max(replies)}" if min(replies) < max(replies) else str(min(replies)),
        Share(summary.rule_holds / summary.openings).text,
        str(len(summary.exceptions)),
        str(len(summary.unexplained)),
    ]


def _can_mirror(pair: tuple[int, int]) -> bool:
    """Return whether player 1 has a winning move to the mirror image of its opponent."""
    board = Board.from_moves(pair, USUAL_SIZE)
    return any(is_mirrored(board.successor(cell)) for cell in solve(board).moves)


def _judged(path: Path, scale: Scale, jobs: int) -> pd.DataFrame:
    """Return the decisions in fresh games, stored in a file."""
    if not path.exists():
        with counting("players") as show:
            frame = play_and_label(
                scale.names, scale.depths, scale.positions, size=USUAL_SIZE, jobs=jobs or os.cpu_count() or 1, show=show
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        frame.to_parquet(path)
    return pd.read_parquet(path)


def _ranking(home: Path, scale: Scale, depth: int, fresh: pd.DataFrame, jobs: int) -> Ranking:
    """Return Spearman's correlation of accuracies with the scores of a round-robin from other openings."""
    keys: dict[str, Any] = {
        "format": "round-robin",
        "contenders": [f"AB:{name}@depth={depth}" for name in scale.names],
        "openings": "random:4",
        "pairs": scale.pairs,
        "jobs": jobs,
    }
    run = played(home / f"round-robin-{depth}", keys)
    facts = {name: agent.heuristic for name, agent in run.agents.items()}
    scores = {str(facts[standing.agent]): standing.rate.estimate for standing in standings(run.pairs)}
    kept = {accuracy.heuristic: accuracy.kept.estimate for accuracy in accuracies(fresh[fresh["depth"] == depth])}
    names = sorted(kept)
    correlation = spearmanr([kept[name] for name in names], [scores[name] for name in names])
    return Ranking(depth, len(run.games), float(correlation.statistic))


def _labelled(path: Path, scale: Scale, jobs: int) -> RunResults:
    """Return a gauntlet of which some games have exact values."""
    contenders = [f"ID:{name}" for name in scale.names if name != "improved"]
    keys = {"contenders": contenders, "limit": f"nodes={NODES}", "pairs": scale.pairs, "seed": 3, "jobs": jobs}
    run = played(path, keys)
    with counting("games") as show:
        label_run(path, sample=scale.labelled, jobs=jobs or os.cpu_count() or 1, show=show)
    return run


def _depth_rows(result: Sequence[Accuracy], scale: Scale) -> list[list[str]]:
    """Return rows by heuristic, the most accurate at the last ranked depth first: the share kept at each depth."""
    by_player = {(item.heuristic, item.depth): item for item in result}
    last = scale.ranked[-1]
    order = sorted(scale.names, key=lambda name: -by_player[name, last].kept.estimate)
    return [
        [
            f"`{name}`",
            *(estimate_of(by_player[name, depth].kept).text for depth in scale.depths),
            Share(by_player[name, last].chance).text,
            Mean(by_player[name, last].mistakes.estimate).text,
            Share(by_player[name, last].conversion.estimate).text,
        ]
        for name in order
    ]


def _gauntlet_rows(result: Sequence[Accuracy], gauntlet: RunResults) -> list[list[str]]:
    """Return rows by measured agent, the most accurate first: its moves, and its games by the winner of the opening."""
    splits = {
        accuracy.agent: accuracy
        for accuracy in split_by_theory(
            gauntlet.games, opening_winners(gauntlet.sources[0].info.path), gauntlet.measured
        )
    }
    ranked = sorted(
        (accuracy for accuracy in result if accuracy.agent in splits), key=lambda accuracy: -accuracy.kept.estimate
    )
    return [
        [
            f"`{accuracy.agent}`",
            f"{accuracy.eligible:,}",
            estimate_of(accuracy.kept).text,
            Mean(accuracy.mistakes.estimate).text,
            estimate_of(splits[accuracy.agent].converted).text,
            estimate_of(splits[accuracy.agent].saved).text,
        ]
        for accuracy in ranked
    ]


def _band_rows(decisions: pd.DataFrame, measured: set[str]) -> list[list[str]]:
    """Return rows by band of seven plies: the measured agents' moves, eligible moves, and share of wins kept."""
    together = decisions[decisions["agent"].isin(measured)].assign(agent="all")
    return [
        [
            f"{accuracy.first + 1}–{accuracy.last + 1}",
            f"{accuracy.decisions:,}",
            f"{accuracy.eligible:,}",
            estimate_of(accuracy.kept).text,
        ]
        for accuracy in accuracies(together, 7)
    ]


def _name(cell: int) -> str:
    return cell_name(cell, USUAL_SIZE.columns)


if __name__ == "__main__":
    main()
