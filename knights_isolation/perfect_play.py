"""Perfect play in runs, suites and datasets: each function is the command of its name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from knights_isolation.experiments.roster import AgentLike, parse_limit, reference_of
from knights_isolation.reports.text.sections import Section
from knights_isolation.result import Result, drawn
from knights_isolation.runs import RunLike, agent_spec, run_path

if TYPE_CHECKING:
    from pandas import DataFrame


def label(
    run: RunLike | None = None,
    *,
    sample: int | None = None,
    first_ply: int = 1,
    limit: str | None = None,
    jobs: int = 0,
    cluster: str | None = None,
) -> int:
    """Solve the positions of a run, store which moves keep the win, and return how many games have this now.

    The same call resumes after Ctrl-C.

    Args:
        run: by default the latest one.
        sample: use a random sample of this many games.
        first_ply: start at this ply; the first placement is ply 1.
        limit: per position, nodes=N, ms=N or cpu_ms=N.

    Raises:
        ValueError: there is no such run, or its board is out of reach of the limit.
    """
    from knights_isolation.experiments.exact.labels import DEFAULT_LIMIT, label_run
    from knights_isolation.reports.watch.run_progress import counting

    bound = parse_limit(limit) if limit else DEFAULT_LIMIT
    with counting("games") as show:
        return label_run(
            run_path(run), sample=sample, first_ply=first_ply - 1, limit=bound, jobs=jobs, cluster=cluster, show=show
        )


def accuracy(
    run: RunLike | None = None,
    *,
    heuristics: Sequence[AgentLike] | Literal["*"] = (),
    depths: Sequence[int] = (3,),
    positions: int = 500,
    board: str = "7x7",
    jobs: int = 0,
    cluster: str | None = None,
    by_ply: bool = False,
) -> Result[DataFrame]:
    """Measure how often agents kept a win when a mistake was possible; the value has a row per decision.

    Judges the moves of a labelled run; or heuristics in fresh games against a fixed field.

    Args:
        run: by default the latest one.
        heuristics: names of shipped ones, functions of (game, player) or FILE.py:FUNCTION; "*" stands for all shipped.
        depths: of the heuristics' searches.
        positions: number of test positions for each heuristic and depth.
        board: of the heuristics' games.
        by_ply: also by bands of seven plies.

    Raises:
        ValueError: the run has no labels, or a run was named beside heuristics.
    """
    from knights_isolation.experiments.exact.accuracy import BAND, accuracies, run_decisions
    from knights_isolation.experiments.record.log import count_games
    from knights_isolation.reports.charts.line_plots import accuracy_by_depth, accuracy_by_ply
    from knights_isolation.reports.tables.accuracy import accuracy_sections

    if heuristics:
        if run is not None:
            raise ValueError("name either a labelled run or heuristics, not both")
        decisions, notes = _fresh_decisions(heuristics, depths, positions, board, jobs, cluster)
    else:
        labelled = run_path(run)
        decisions = run_decisions(labelled)
        notes = [f"{decisions['game_id'].nunique():,} of {count_games(labelled):,} games are labelled."]
    bands = accuracies(decisions, BAND) if by_ply else ()
    chart_of = accuracy_by_depth if len(depths) > 1 else accuracy_by_ply
    figure = partial(drawn, chart_of(decisions), "No agent with enough labelled moves.")
    return Result(decisions, tuple(accuracy_sections(accuracies(decisions), bands, notes)), figure)


def suite_build(
    board: str = "7x7",
    *,
    field: Sequence[AgentLike] = (),
    first_ply: int | None = None,
    last_ply: int | None = None,
    openings: int | None = None,
    nodes: int = 20_000_000,
    seed: int = 1,
    jobs: int = 0,
    cluster: str | None = None,
    out: str | Path | None = None,
) -> Path:
    """Build a suite: positions of a board with exact results, and the trouble that moves make. Return its file.

    The same call resumes after Ctrl-C. `read_suite` of `experiments` reads the file, `screen(suite=…)` uses it.

    Args:
        field: agents of the reference field.
        first_ply, last_ply: range of plies; the first placement is ply 1; 11 and 32 on 7x7 by default.
        openings: at most so many, up to symmetry.
        nodes: limit per solved position; unsolved positions are excluded.
        out: by default suite_BOARD.parquet.

    Raises:
        ValueError: an argument is invalid, or the file was made with other settings.
    """
    from knights_isolation.experiments.suite.build_suite import Recipe, build_suite, usual_plies
    from knights_isolation.experiments.suite.position_sources import field_of, sources_of
    from knights_isolation.reports.watch.run_progress import counting

    path, specs = Path(out or f"suite_{board}.parquet"), tuple(map(agent_spec, field))
    first, last = usual_plies(board)
    plies = (first_ply - 1 if first_ply else first, last_ply - 1 if last_ply else last)
    recipe = Recipe(board, *plies, seed, openings, nodes, sources_of(specs), field_of(specs))
    with counting("openings") as show:
        build_suite(recipe, path, jobs=jobs, cluster=cluster, show=show)
    return path


def dataset(
    positions: int,
    *,
    board: str = "7x7",
    agent: AgentLike = "ID:improved@depth=2",
    random_moves: float = 0.2,
    first_ply: int | None = None,
    features: Sequence[str] = (),
    nodes: int = 20_000_000,
    seed: int = 1,
    jobs: int = 0,
    out: str | Path | None = None,
) -> Result[dict[str, int]]:
    """Write positions of self-play with the exact value of every move, as Parquet with a data card.

    The value is the number of positions of each split. The same call resumes after Ctrl-C.

    Args:
        agent: player of both sides.
        random_moves: share of random moves.
        first_ply: first ply to include; by default where at most 41 cells are blank, 9 on 7x7.
        features: names of shipped heuristics and features whose values are added as columns.
        nodes: limit per position; unsolved positions are left out.
        out: folder to write; by default dataset_BOARD.

    Raises:
        ValueError: an argument is invalid, or the folder holds something else.
    """
    from knights_isolation.experiments.exact.data_card import DatasetRecipe
    from knights_isolation.experiments.exact.dataset import write_dataset
    from knights_isolation.reports.text.cell_values import pluralise
    from knights_isolation.reports.watch.run_progress import counting

    folder, first = Path(out or f"dataset_{board}"), None if first_ply is None else first_ply - 1
    recipe = DatasetRecipe(positions, board, agent_spec(agent), random_moves, first, tuple(features), nodes, seed)
    with counting("positions") as show:
        counts = write_dataset(recipe, folder, jobs=jobs, show=show)
    rows = tuple({"split": split, "positions": count} for split, count in counts.items())
    note = f"Described in {folder / 'README.md'}."
    return Result(
        counts, (Section("splits", f"{pluralise(sum(counts.values()), 'position')} in {folder}", rows, (note,)),)
    )


def _fresh_decisions(
    wanted: Sequence[AgentLike] | Literal["*"], depths: Sequence[int], positions: int, board: str, jobs: int,
    cluster: str | None,
) -> tuple[DataFrame, list[str]]:  # fmt: skip
    """Return the decisions of heuristics in games played for this, and sentences about their origin."""
    from knights_isolation import heuristics
    from knights_isolation.experiments.exact.accuracy_games import described, play_and_label, shortages
    from knights_isolation.reports.watch.run_progress import counting

    chosen = heuristics.names() if wanted == "*" else [reference_of(name) for name in wanted]
    failures: list[str] = []
    with counting("players") as show:
        frame = play_and_label(
            chosen, depths, positions, size=board, jobs=jobs, cluster=cluster, show=show, note=failures.append
        )
    return frame, [*failures, described(board), *shortages(frame, positions)]
