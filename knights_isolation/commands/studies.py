"""Studies of heuristics: screen, evaluate, fit, tune, sweep, research and discover them, and build suites."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Literal, cast

from knights_isolation.experiments.studies.evaluation import Budget, Evaluation
from knights_isolation.isolation.rules.game import parse_size
from knights_isolation.isolation.suggestions import COMMAND, tell
from knights_isolation.reports import studies
from knights_isolation.reports.answers import Result

from .. import inputs
from ..parameters import About, command
from .tournaments import match

At = Annotated[str, About(help="Limit of the search run before evaluation: depth=N or nodes=N.", metavar="LIMIT")]
Wanted = Annotated[Sequence[str], About(metavar="PARAMETER", help="Change only this parameter.")]
Patch = Annotated[str | Path, About(suffixes=("",), help="Write the new defaults as a patch to this file.")]
Plies = Annotated[int, About(low=2, help="Plies of the random openings.")]
Opponent = Annotated[inputs.Agent, About(help="A search by a heuristic, to be beaten at equal cost.")]


@command("tables", "plot", "html")
def screen(
    *agents: inputs.Agents,
    baseline: inputs.Agent = "ID:improved",
    suite: inputs.SuiteName = "7x7",
    limit: inputs.LimitText = "nodes=1000",
    split: Literal["screen", "fit", "all"] = "screen",
    sample: Annotated[int, About(low=2)] | None = None,
    repeats: inputs.Count = 4,
    seed: inputs.Seed = 1,
    equal_cost: inputs.EqualCost = False,
    jobs: inputs.Jobs = 0,
    cluster: inputs.Cluster | None = None,
) -> Result[studies.Screened]:
    """Score agents on positions with proven answers: a verdict in seconds.

    A SPEC names an agent, as in ID:territory or mine.py:score; mine.py is all of its heuristics, 'ID:*' is all shipped
    ones. With one contender, it also reports where the contender errs and shows its clearest mistakes.

    Args:
        baseline: compare with this agent.
        split: openings to use; heuristics are fitted on those of fit.
        sample: use a random sample of this many positions.
        repeats: answers per position of nondeterministic agents.

    Examples:
        isolation screen ID:my_heuristic.py:score
        isolation screen 'ID:*' --limit nodes=300
    """
    settings = {"split": split, "sample": sample, "repeats": repeats, "seed": seed, "equal_cost": equal_cost}
    return studies.screen_result(agents, baseline, suite, limit, jobs=jobs, cluster=cluster, **settings)


@command()
def suite_build(
    board: Annotated[inputs.Size, About(place="option")] = "7x7",
    *,
    field: Sequence[inputs.Agent] = (),
    first_ply: inputs.Ply | None = None,
    last_ply: inputs.Ply | None = None,
    openings: inputs.Count | None = None,
    nodes: inputs.SolvingNodes = 20_000_000,
    seed: inputs.Seed = 1,
    jobs: inputs.Jobs = 0,
    cluster: inputs.Cluster | None = None,
    out: inputs.Output | None = None,
) -> Path:
    """Build a suite: positions of a board with exact results, and the trouble that moves make. Return its file.

    What is there already is kept: the same call goes on from there. `read_suite` of `experiments` reads the file.

    Args:
        field: use these agents as the reference field.
        first_ply: first ply to include; ply 1 is the first placement; 11 on 7x7 by default.
        last_ply: last ply to include; 32 on 7x7 by default.
        openings: maximum number of openings, up to symmetry.
        out: output file; suite_BOARD.parquet by default.

    Examples:
        isolation suite build --board 6x6
        isolation screen ID:territory --suite suite_6x6.parquet
    """
    recipe = studies.recipe_of(parse_size(board), first_ply, last_ply, field, seed=seed, openings=openings, limit=nodes)
    return studies.build_result(Path(out or f"suite_{board}.parquet"), recipe, jobs=jobs, cluster=cluster)


def evaluate(
    candidate: inputs.AgentLike | Path,
    *,
    budget: Budget = "games",
    baseline: inputs.AgentLike = "ID:improved",
    board: str = "7x7",
    reveal: bool = False,
) -> Evaluation:
    """Evaluate one candidate; see `evaluate_all`, which evaluates several side by side."""
    return evaluate_all([candidate], budget=budget, baseline=baseline, reveal=reveal, board=board, jobs=1)[0]


@command("rows", "json")
def evaluate_all(
    candidates: Sequence[inputs.AnyHeuristic | Path],
    *,
    budget: Budget = "games",
    baseline: inputs.Agent = "ID:improved",
    reveal: bool = False,
    board: inputs.Size = "7x7",
    jobs: inputs.Jobs = 0,
) -> list[Evaluation]:
    """Evaluate heuristics by stages of rising cost, until one says no; made to be called by programs.

    Values, compilation, cost, 300 solved positions, all of the split fit, games until a sequential test decides,
    held-out positions: from the cost on, everything is at equal cost. Each candidate has a sandboxed process; the
    workers stay warm between calls, and answers are kept in `runs/evaluated/`, so that nothing is evaluated twice. On
    the command line, exit code 1 if a file failed, whatever the reason.

    Args:
        candidates: each FILE[:FUNCTION], the text of a file, or a function of (game, player).
        budget: the last stage; held-out is for your best alone, since it uses positions that nothing was learned from.
        baseline: compare with this search, at equal cost; candidates search by its method.
        reveal: say the lead on held-out positions, too: not to a program that searches.

    Examples:
        isolation evaluate my_heuristic.py --format json
        isolation evaluate my_heuristic.py:score --budget suite --baseline ID:learned
    """
    evaluated = studies.evaluations_result(candidates, budget, baseline, board, reveal, jobs)
    return cast("list[Evaluation]", evaluated) if COMMAND.get() else evaluated.value  # what Python gets


@command("tables", "plot", tables=("alone", "chosen"))
def features(
    *names: Annotated[inputs.AgentLike, About(metavar="FEATURE", is_code=True)],
    at: At = "depth=1",
    guide: str = "territory",
    suite: inputs.SuiteName = "7x7",
    most: Annotated[int, About(low=1)] = 5,
) -> Result[studies.Selection]:
    """Rank features by gain and cost, and select a subset greedily.

    A FEATURE is one of those in docs/reference/features.md, any shipped heuristic, or a function of yours as
    FILE:FUNCTION; all shipped features by default. Weights are fitted and features selected on a suite's split fit; the
    ranking of moves is evaluated on its split screen.

    Args:
        guide: heuristic of this search.
        most: select at most this many.

    Examples:
        isolation features
        isolation features --most 3 --format json
    """
    return studies.features_result(names, at, guide, suite, most)


@command("tables", "plot", tables=("parameters", "profiles", "screen"))
def fit(
    heuristic: inputs.HeuristicFile,
    *,
    at: At = "depth=1",
    suite: inputs.SuiteName = "7x7",
    parameters: Wanted = (),
    limit: inputs.LimitText = "nodes=1000",
    seed: inputs.Seed = 1,
    patch: Patch | None = None,
) -> Result[studies.Fitted]:
    """Fit a heuristic's parameters to proven results; screen it before and after on held-out positions.

    The fit uses the openings of the suite's split fit: of two moves in a position, the one that keeps the win should
    get the higher value. The result is evaluated on the split screen.

    Args:
        limit: limit of the final screening.

    Examples:
        isolation fit my_heuristic.py
        isolation fit my_heuristic.py:score --patch score.patch
    """
    return studies.fit_result(heuristic, at, limit, suite, parameters, seed, patch)


@command("tables", "plot", tables=("parameters", "judged"))
def tune(
    agent: inputs.CodeAgent,
    *,
    opponent: inputs.Agent | None = None,
    limit: inputs.LimitText = "nodes=1000",
    games: Annotated[int, About(low=160)] = 20_000,
    pairs: Annotated[int, About(low=10)] = 1000,
    parameters: Wanted = (),
    sampler: Literal["spsa", "optuna"] = "spsa",
    equal_cost: inputs.EqualCost = False,
    board: inputs.Size = "7x7",
    plies: Plies = 4,
    seed: inputs.Seed = 1,
    jobs: inputs.Jobs = 0,
    cluster: inputs.Cluster | None = None,
    out: inputs.Output | None = None,
    patch: Patch | None = None,
) -> Result[studies.Tuned]:
    """Tune the parameters of an agent's heuristic by playing games; evaluate the result on held-out openings.

    SPSA plays both ends of random directions on shared openings; a quadratic fitted to all games gives the best values,
    intervals, and a test for each parameter. Values that Optuna suggests play the present ones; the best play finals.

    Args:
        opponent: opponent; by default the agent itself with other values.
        games: approximate number of games; spsa adds a tenth for finals, optuna uses a quarter for finals.
        pairs: held-out openings, each played twice, to evaluate the result.
        sampler: search algorithm; optuna also handles categorical parameters.
        out: keep the games to learn from in this file; the same call resumes.

    Examples:
        isolation tune ID:my_heuristic.py:score
        isolation tune ID:my_heuristic.py:score --sampler optuna --out tuning.parquet
    """
    keys = {"wanted": parameters, "size": parse_size(board), "plies": plies}
    task = studies.tuning_task(agent, opponent, limit, games, seed, sampler, **keys)
    return studies.tune_result(agent, limit, task, pairs, out, patch, equal_cost, jobs=jobs, cluster=cluster)


@command("tables", "plot")
def sweep(
    agent: inputs.CodeAgent,
    *over: Annotated[str, About(place="option", metavar="WHAT=VALUES", is_needed=True)],
    opponent: inputs.Agent | None = None,
    limit: inputs.LimitText | None = None,
    pairs: Annotated[int, About(low=2)] = 300,
    equal_cost: inputs.EqualCost = False,
    board: inputs.Size = "7x7",
    plies: Plies = 4,
    seed: inputs.Seed = 1,
    jobs: inputs.Jobs = 0,
    cluster: inputs.Cluster | None = None,
    out: inputs.Output | None = None,
) -> Result[studies.Sweep]:
    """Play every combination of parameter values against one opponent on shared openings.

    Args:
        over: what to vary: option.NAME=0:1:0.1, option.NAME=0,1,2 or limit=nodes=300,1000.
        opponent: opponent; by default the agent unchanged.
        limit: limit of agents without one, nodes=1000 by default; not with a limit that is swept.
        pairs: openings, each played twice.
        out: directory of the run, or of one run for each limit; by default in runs/.

    Examples:
        isolation sweep ID:my_heuristic.py:score --over option.weight=0:2:0.5
        isolation sweep ID:territory --over limit=nodes=300,1000,3000 --plot sweep.svg
    """
    settings = {"pairs": pairs, "equal_cost": equal_cost, "size": board, "plies": plies, "seed": seed}
    return studies.sweep_result(agent, over, opponent, limit, out, jobs=jobs, cluster=cluster, **settings)


@command("tables")
def research(
    heuristic: inputs.HeuristicFile,
    *,
    against: Opponent = "ID:learned",
    games: Annotated[int, About(low=160)] = 20_000,
    pairs: Annotated[int, About(low=10)] = 10_000,
    seed: inputs.Seed = 1,
    jobs: inputs.Jobs = 0,
) -> Result[studies.Research]:
    """Take a heuristic through cost, fit, screening, tuning and a sequential test, all at equal cost.

    It stops at the first no, and writes one page, in a folder below runs/. Run again, it continues or repeats the
    answer. On the command line, exit code 1 if the heuristic fails.

    Args:
        games: games to tune with.
        pairs: most openings of the last test, of 0 against 20 Elo, each played twice.

    Examples:
        isolation research my_heuristic.py:score
        isolation research my_heuristic.py:score --against ID:territory --games 5000
    """
    return studies.research_result(heuristic, against, games, pairs, seed, jobs, match)


@command("tables", "plot")
def discover(
    *,
    minutes: Annotated[float, About(low=0, is_open=True)] = 5.0,
    seed: inputs.Seed = 1,
    board: inputs.Size = "7x7",
    against: Opponent = "ID:learned",
    out: Annotated[str | Path, About(is_folder=True, metavar="DIR")] | None = None,
    pairs: Annotated[int, About(low=10)] = 3000,
    jobs: inputs.Jobs = 0,
    show: Annotated[Callable[[str], None], About(place="python")] = tell,
) -> Result[studies.Discovery]:
    """Search for evaluation functions among set programs, and judge the best one at equal cost.

    Programs are fitted to solved positions of the split fit, two thirds of them for training. The best twelve are
    written as Python files and play against the opponent; the champion alone is judged, by games from held-out openings
    and on the split screen. Ctrl-C keeps the search; run again, it continues, or repeats the answer. The lab lists its
    page, which is written meanwhile.

    Args:
        minutes: processor minutes of the search; more of them continue a shorter search.
        board: board size with a shipped suite of solved positions, 7x7 or 6x6.
        out: folder of the journal and of what is found; default: one below runs/.
        pairs: held-out openings of each verdict, each played twice.
        show: called with a line after each round.

    Examples:
        isolation discover --minutes 5 --seed 1
        isolation discover --minutes 2 --board 6x6 --against ID:territory
    """
    task = studies.SearchTask(parse_size(board), seed)
    return studies.discovery_result(task, against, minutes, out, pairs, jobs, show, match)
