"""Perfect play: solve positions and boards, label runs, measure accuracy, refute agents, write datasets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from knights_isolation.experiments.plan import parse_limit, spec_of
from knights_isolation.isolation.rules.game import parse_size
from knights_isolation.reports.answers import Result, run_path

from .. import inputs
from ..inputs import AgentLike
from ..parameters import About, command
from . import rooms

if TYPE_CHECKING:
    from pandas import DataFrame

    from knights_isolation.experiments.exact.board_solving import BoardSummary
    from knights_isolation.experiments.exact.refutation import Refuted
    from knights_isolation.isolation.search.solver import Solution

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
) -> Result[Solution] | Result[BoardSummary]:
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
    """
    bound = parse_limit(limit) if limit else None
    if all:
        return rooms.board_answer(board, length, bound, jobs, cluster, out)
    rooms.refuse_without("--all", jobs=jobs or None, cluster=cluster, out=out)
    return rooms.position_answer(board, length, bound)


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
    """
    return rooms.label_answer(run_path(run), sample, first_ply, parse_limit(limit) if limit else None, jobs, cluster)


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
    """
    size = parse_size(board) if board else None
    options = {"depths": depths, "positions": positions, "board": size, "jobs": jobs, "cluster": cluster}
    return rooms.accuracy_answer(run, heuristics, options, by_ply, plot_by_ply, plot_by_depth)


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
    """
    sizes, specs = list(map(parse_size, [board] if isinstance(board, str) else board)), list(map(spec_of, agents))
    return rooms.refutations_answer(
        specs, spec_of(opponent), sizes, list(map(parse_limit, limits)), openings, seed, jobs
    )


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
    """
    spec, start = spec_of(agent), first_ply and first_ply - 1
    recipe = rooms.DatasetRecipe(positions, parse_size(board), spec, random_moves, start, tuple(features), nodes, seed)
    return rooms.dataset_answer(recipe, Path(out or f"dataset_{board}"), jobs)
