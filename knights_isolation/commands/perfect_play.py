"""Perfect play: solve positions and boards, label runs, measure accuracy, refute agents, write datasets."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from knights_isolation.experiments.roster import make_agents, parse_agent, parse_limit, reference_of
from knights_isolation.isolation.suggestions import command as shown_command
from knights_isolation.reports.answers import Result, drawn
from knights_isolation.reports.text.cell_values import pluralise
from knights_isolation.reports.text.rendering import Section

from .. import heuristics as shipped
from .. import inputs
from ..inputs import AgentLike
from ..parameters import About, command
from ..surface import COMMAND, counting, tell

if TYPE_CHECKING:
    from pandas import DataFrame

    from knights_isolation.experiments.exact.refutation import Refuted
    from knights_isolation.isolation.exact.solver import Solution

Picture = Annotated[str | Path, About(suffixes=(".svg", ".png"))]


@command("rows", "plot")
def solve(
    board: inputs.Position,
    *,
    length: bool = False,
    limit: str | None = None,
    all: bool = False,
    jobs: inputs.Jobs = 0,
    cluster: inputs.Cluster | None = None,
    out: inputs.Output | None = None,
) -> Result[Solution]:
    """Solve a position: winner, winning moves and best line; or all pairs of placements of a board.

    Args:
        length: also report the game length with best play.
        limit: give up after nodes=N, ms=N or cpu_ms=N (with --all: for each pair).
        all: solve every pair of placements and write a Parquet file; can be resumed.
        jobs: with --all: worker processes; 0: one per core.
        out: with --all: output file; solved_BOARD.parquet by default.

    Examples:
        isolation perfect solve --moves d3,a2
        isolation perfect solve --all --board 5x5

    Raises:
        ValueError: the limit is invalid.
    """
    from knights_isolation.isolation.exact import solver
    from knights_isolation.reports.charts.study_charts import solution_map
    from knights_isolation.reports.studies.perfect_play import solution_rows

    bound = parse_limit(limit) if limit else None
    if all:
        if board.history or length:
            raise ValueError(f"{'length' if length else '--moves'}: requires a position instead of --all")
        return _solve_board(board.size, bound, jobs, cluster, Path(out or f"solved_{board.size}.parquet"))
    if unfit := next((name for name, value in {"jobs": jobs, "cluster": cluster, "out": out}.items() if value), None):
        raise ValueError(f"{unfit}: requires --all")
    solution = solver.solve(board, bound)
    rows = solution_rows(board, solution, solver.solve_length(board, bound) if length else None)
    figure = partial(drawn, solution_map(board, solution))
    return Result(solution, (Section("solution", "Solution", tuple(rows)),), figure)


def _solve_board(size: str, limit: Any, jobs: int, cluster: str | None, path: Path) -> Result[Any]:
    from knights_isolation.experiments.exact.board_solving import solve_all, summarise
    from knights_isolation.reports.charts.grids import refutation_maps
    from knights_isolation.reports.studies.perfect_play import board_sections

    with counting("placement pairs", "what was solved", path) as show:
        winners = solve_all(size, path, jobs=jobs, cluster=cluster, limit=limit, show=show)
    summary = summarise(winners, size)
    return Result(summary, board_sections(summary, str(path)), partial(drawn, refutation_maps(summary)))


@command()
def label(
    run: inputs.Run | None = None,
    *,
    sample: inputs.Count | None = None,
    first_ply: inputs.Count = 1,
    limit: inputs.SolvingLimit | None = None,
    jobs: inputs.Jobs = 0,
    cluster: inputs.Cluster | None = None,
) -> int:
    """Solve the positions of a run and store the results: which moves keep the win.

    Returns how many games have this now. What was labelled is kept: the same command resumes.

    Args:
        run: by default the latest one.
        sample: use a random sample of this many games.
        first_ply: start at this ply; the first placement is ply 1.

    Examples:
        isolation perfect label runs/first
        isolation perfect label runs/first --sample 200

    Raises:
        ValueError: there is no such run, or its board is out of reach of the limit.
    """
    from knights_isolation.experiments.exact.labels import DEFAULT_LIMIT, FILE, label_run

    path, bound = inputs.run_path(run), parse_limit(limit) if limit else DEFAULT_LIMIT
    with counting("games", "what was labelled", path / FILE) as show:
        start = first_ply - 1
        games = label_run(path, sample=sample, first_ply=start, limit=bound, jobs=jobs, cluster=cluster, show=show)
    if COMMAND.get():
        print(f"{pluralise(games, 'game')} labelled. Next: {shown_command('perfect', 'accuracy', path)}")
    return games


@command("tables", "plot")
def accuracy(
    run: inputs.Run | None = None,
    *,
    heuristics: Annotated[str | Sequence[AgentLike], About(metavar="NAMES", complete="heuristic")] | None = None,
    depths: str | Sequence[int] | None = None,
    positions: inputs.Count | None = None,
    board: inputs.Size | None = None,
    jobs: inputs.Jobs | None = None,
    cluster: inputs.Cluster | None = None,
    by_ply: bool = False,
    plot_by_ply: Picture | None = None,
    plot_by_depth: Picture | None = None,
) -> Result[DataFrame]:
    """Measure how often agents kept a win when a mistake was possible; the value has a row per decision.

    Judges the moves of a labelled RUN; or, without a run, heuristics in fresh games against a fixed field.

    Args:
        run: by default the latest one.
        heuristics: test these heuristics instead, as in improved,mine.py:score; all if '*'.
        depths: with --heuristics: search depths, as in 1,3,5; 3 by default.
        positions: with --heuristics: number of test positions for each of them; 500 by default.
        board: with --heuristics: board size, ROWSxCOLUMNS; 7x7 by default.
        jobs: with --heuristics: worker processes; 0, the default: one per core.
        by_ply: also by bands of seven plies.
        plot_by_ply: draw accuracy by ply, .svg or .png.
        plot_by_depth: draw accuracy by depth, .svg or .png.

    Examples:
        isolation perfect accuracy runs/first
        isolation perfect accuracy --heuristics improved,territory

    Raises:
        ValueError: the run has no labels, or a run was named beside heuristics.
    """
    from knights_isolation.experiments.exact.accuracy import BAND, accuracies, run_decisions
    from knights_isolation.experiments.record.log import count_games
    from knights_isolation.reports.charts.line_plots import accuracy_by_depth, accuracy_by_ply
    from knights_isolation.reports.plots.style import save
    from knights_isolation.reports.tables.accuracy import accuracy_sections

    searched = _depths(depths)
    if run is not None and heuristics is not None:
        raise ValueError(f"name a labelled {'RUN or --heuristics NAMES' if COMMAND.get() else 'run or heuristics'}")
    if heuristics is None:
        given = {"depths": depths, "positions": positions, "board": board, "jobs": jobs, "cluster": cluster}
        if unfit := next((name for name, value in given.items() if value is not None), None):
            raise ValueError(f"{unfit}: requires --heuristics")
        labelled = inputs.run_path(run)
        decisions = run_decisions(labelled)
        notes = [f"{decisions['game_id'].nunique():,} of {count_games(labelled):,} games are labelled."]
    else:
        where = {"size": board or "7x7", "jobs": jobs or 0, "cluster": cluster}
        decisions, notes = _fresh_decisions(heuristics, searched, positions or 500, where)
    missing = "No agent with enough labelled moves."
    plots = ((plot_by_ply, accuracy_by_ply), (plot_by_depth, accuracy_by_depth))
    written = [save(drawn(chart_of(decisions), missing), Path(path)) for path, chart_of in plots if path]
    chart_of = accuracy_by_depth if len(searched) > 1 else accuracy_by_ply
    sections = accuracy_sections(accuracies(decisions), accuracies(decisions, BAND) if by_ply else (), notes)
    return Result(decisions, sections, partial(drawn, chart_of(decisions), missing), written=tuple(written))


def _depths(depths: str | Sequence[int] | None) -> list[int]:
    words = depths.split(",") if isinstance(depths, str) else depths or (3,)
    for word in words:
        if not str(word).strip().isdecimal() or not int(word):
            raise ValueError(f"depths: a positive whole number or several, as in 1,3,5, not {word!r}")
    return [int(word) for word in words]


def _fresh_decisions(
    wanted: str | Sequence[AgentLike], depths: Sequence[int], positions: int, where: dict[str, Any]
) -> tuple[DataFrame, list[str]]:
    from knights_isolation.experiments.exact.accuracy_games import described, play_and_label, shortages

    failures = list[str]()
    named = [word.strip() for word in wanted.split(",")] if isinstance(wanted, str) else wanted
    chosen = shipped.names() if wanted == "*" else [reference_of(name) for name in named]
    with counting("players") as show:
        frame = play_and_label(chosen, depths, positions, **where, show=show, note=failures.append)
    return frame, [*failures, described(where["size"]), *shortages(frame, positions)]


@command("tables", "plot", "html")
def refute(
    *agents: inputs.Agents,
    board: Annotated[inputs.Size | Sequence[str], About(is_many=True)] = ("5x5",),
    limits: Annotated[Sequence[str], About(help="Limit of agents without one.")] = ("nodes=1000",),
    openings: inputs.Count | None = None,
    opponent: inputs.Agent = "ID:improved",
    seed: inputs.Seed = 1,
    jobs: inputs.Jobs = 0,
) -> Result[list[Refuted]]:
    """Search lines that beat agents which leave nothing to chance, from openings that are won for them.

    Their moves are pinned, and every one is checked by the solver: for each opening there is a shortest line that beats
    the agent, or the proof that there is none. One agent's shortest refutation is shown.

    Args:
        openings: draw so many openings at random; by default all.
        opponent: count the wins from the same openings against this agent.

    Examples:
        isolation perfect refute ID:learned --limit nodes=300
        isolation perfect refute 'ID:*' --board 6x6 --openings 100 --limit nodes=300 --limit nodes=3000

    Raises:
        ValueError: an agent is invalid or leaves something to chance, or the board has more than 64 cells.
    """
    from knights_isolation.experiments.exact import refutation
    from knights_isolation.reports.charts.study_charts import refutations_chart
    from knights_isolation.reports.studies import perfect_play as tables

    results = []
    for size, text in product([board] if isinstance(board, str) else board, limits):
        other = parse_agent(inputs.agent_spec(opponent), parse_limit(text))
        made = (each for agent in agents for each in make_agents(inputs.agent_spec(agent), parse_limit(text))[0])
        for spec, player in made:
            with counting("openings") as show:
                workers = jobs or os.cpu_count() or 1
                answers = refutation.refute(player, other, size, openings, seed, workers, show)
            results.append(refutation.Refuted(player.name, str(spec.limit or "–"), size, tuple(answers)))
    sections, closing = [tables.refutations_section(results, other.name)], ""
    if len(results) == 1 and (shortest := tables.shortest_refutation(results[0].answers)):
        sections.append(tables.line_section(results[0], shortest))
        closing = "\n" + tables.board_text(shortest, results[0].size)
    return Result(
        results, tuple(sections), partial(drawn, refutations_chart(results)), closing=closing,
        page=partial(tables.refutations_page, results, sections),
    )  # fmt: skip


@command()
def dataset(
    positions: Annotated[int, About(low=1, place="option")],
    *,
    board: inputs.Size = "7x7",
    agent: inputs.Agent = "ID:improved@depth=2",
    random_moves: Annotated[float, About(low=0, high=1, flags=("--random",))] = 0.2,
    first_ply: inputs.Ply | None = None,
    features: Annotated[Sequence[str], About(metavar="NAME", complete="heuristic")] = (),
    nodes: inputs.SolvingNodes = 20_000_000,
    seed: inputs.Seed = 1,
    jobs: inputs.Jobs = 0,
    out: inputs.Output | None = None,
) -> Result[dict[str, int]]:
    """Write positions of self-play with the exact value of every move, for learning programs.

    The folder has Parquet files for training, validation and tests, and a data card. What was found is kept: the same
    command resumes. The value is the number of positions of each split.

    Args:
        positions: number of positions.
        agent: player of both sides.
        random_moves: share of random moves.
        first_ply: first ply to include; by default where at most 41 cells are blank, 9 on 7x7.
        features: add the value of a shipped heuristic or feature as a column.
        out: folder to write; dataset_BOARD by default.

    Examples:
        isolation perfect dataset --positions 100000
        isolation perfect dataset --positions 5000 --board 6x6 --feature territory

    Raises:
        ValueError: an argument is invalid, or the folder holds something else.
    """
    from knights_isolation.experiments.exact.dataset import PARTS, DatasetRecipe, write_dataset

    folder, first = Path(out or f"dataset_{board}"), None if first_ply is None else first_ply - 1
    recipe = DatasetRecipe(
        positions, board, inputs.agent_spec(agent), random_moves, first, tuple(features), nodes, seed
    )
    with counting("positions", "what was found", folder / PARTS) as show:
        counts = write_dataset(recipe, folder, jobs=jobs, show=show)
    total = sum(counts.values())
    if total < positions:
        tell(f"These settings give only {total:,} different positions of the {positions:,} wanted.")
    rows = tuple({"split": split, "positions": count} for split, count in counts.items())
    title, card = f"{pluralise(total, 'position')} in {folder}", folder / "README.md"
    parts = ", ".join(f"{split} {count:,}" for split, count in counts.items())
    section = Section("splits", title, rows, (f"Described in {card}.",))
    return Result(counts, (section,), text=f"{title} ({parts}), described in {card}")
