"""Improve heuristics: rank features, fit and tune parameters, and sweep them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from knights_isolation.experiments.roster import complete, parse_limit, reference_of
from knights_isolation.reports.answers import Result, drawn

from .. import inputs
from ..inputs import AgentLike
from ..parameters import About, command
from ..surface import captured, counting, keeping, play_kept_run, tell

if TYPE_CHECKING:
    from knights_isolation.experiments.learn.feature_selection import Selection
    from knights_isolation.experiments.learn.parameter_space import Space
    from knights_isolation.experiments.learn.parameter_sweep import Sweep
    from knights_isolation.experiments.roster import Spec
    from knights_isolation.reports.studies.tuning import Fitted, Tuned

At = Annotated[str, About(help="Limit of the search run before evaluation: depth=N or nodes=N.", metavar="LIMIT")]
Wanted = Annotated[Sequence[str], About(metavar="PARAMETER", help="Change only this parameter.")]
Patch = Annotated[str | Path, About(suffixes=("",), help="Write the new defaults as a patch to this file.")]
Plies = Annotated[int, About(low=2, help="Plies of the random openings.")]


@command("tables", "plot", tables=("alone", "chosen"))
def features(
    *names: Annotated[AgentLike, About(metavar="FEATURE", is_code=True)],
    at: At = "depth=1",
    guide: str = "territory",
    suite: inputs.SuiteName = "7x7",
    most: Annotated[int, About(low=1)] = 5,
) -> Result[Selection]:
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

    Raises:
        ValueError: there is no such feature, or it does not compile.
    """
    from knights_isolation.experiments.learn.feature_selection import feature_name, select_features
    from knights_isolation.experiments.learn.move_pairs import reproducible_limit
    from knights_isolation.experiments.noting import note_selection
    from knights_isolation.experiments.suite import read_suite
    from knights_isolation.heuristics import FEATURES, canonical_name
    from knights_isolation.reports.charts.study_charts import features_chart
    from knights_isolation.reports.studies.tuning import feature_sections

    limit, leader = reproducible_limit(at), canonical_name(guide)
    with captured(", ".join(name for name in map(str, names) if ".py" in name)), counting("features") as show:
        chosen = list(dict.fromkeys(feature_name(reference_of(name)) for name in names)) or list(FEATURES)
        parts = read_suite(suite, "fit"), read_suite(suite, "screen")
        selection = select_features(*parts, chosen, limit, leader, most, show)
    note_selection(selection, str(suite))
    return Result(
        selection, feature_sections(selection), partial(drawn, features_chart(selection)),
        stopped="the features chosen before are shown" if selection.is_interrupted else "",
    )  # fmt: skip


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
) -> Result[Fitted]:
    """Fit a heuristic's parameters to proven results; screen it before and after on held-out positions.

    The fit uses the openings of the suite's split fit: of two moves in a position, the one that keeps the win should
    get the higher value. The result is evaluated on the split screen.

    Args:
        limit: limit of the final screening.

    Examples:
        isolation fit my_heuristic.py
        isolation fit my_heuristic.py:score --patch score.patch

    Raises:
        ValueError: there is nothing to fit, or the heuristic runs interpreted or fails.
    """
    from knights_isolation.experiments.learn.move_pairs import reproducible_limit
    from knights_isolation.experiments.learn.pairwise_fit import fit as fit_values
    from knights_isolation.experiments.learn.pairwise_fit import screened
    from knights_isolation.experiments.learn.parameter_space import options_text, space_of
    from knights_isolation.experiments.noting import note_screening
    from knights_isolation.experiments.plan.catalogue import heuristic_named
    from knights_isolation.experiments.suite import read_suite
    from knights_isolation.isolation.loading.load_user_code import load_heuristic
    from knights_isolation.reports.charts.study_charts import fit_chart
    from knights_isolation.reports.studies.screening import screening_sections
    from knights_isolation.reports.studies.tuning import Fitted, fit_sections, new_agent_text

    at_limit, screen_limit = reproducible_limit(at), parse_limit(limit)
    with captured(str(heuristic)):
        path, name = heuristic_named(reference_of(heuristic))
        function = load_heuristic(path, name).value
        space = space_of(function, parameters)
    target = f"{path}:{name}"
    _check(patch, target, space, parameters)
    with captured(str(heuristic)):
        held_out = read_suite(suite, "screen")
        fitted = fit_values(function, read_suite(suite, "fit"), held_out, at_limit, parameters, seed)
        result = Fitted(fitted, screened(function, fitted.values, held_out, screen_limit))
    if spec := f"ID:{target}@{limit},{options_text(result.values)}" if result.values else "":
        note_screening("fit", [result.screening], [spec], "split screen", {})
    _write(patch, target, result)
    keep = "No significant improvement on held-out positions: keep the old values."
    advice = new_agent_text(f"ID:{target}", result.values) if result.is_better else keep
    sections = (*fit_sections(fitted), *screening_sections(result.screening)[:1])
    return Result(result, sections, partial(drawn, fit_chart(fitted)), closing=f"\n{advice}")


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
) -> Result[Tuned]:
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

    Raises:
        ValueError: the agent has no parameters, or an argument is invalid.
    """
    from knights_isolation.experiments.learn.optuna_tuning import tuner_named
    from knights_isolation.experiments.learn.spsa_tuning import OPENINGS, TuningTask, judge, tunable
    from knights_isolation.experiments.learn.tuning_games import opponent_of, subject_of
    from knights_isolation.reports.studies import tuning as words

    plan_of, tune_values = tuner_named(sampler)
    spec, bound = inputs.agent_spec(agent), parse_limit(limit)
    subject = subject_of(spec, bound)
    other = complete(opponent_of(inputs.agent_spec(opponent)), bound) if opponent else None
    with captured(spec):
        space = tunable(subject, parameters, with_choices=sampler == "optuna")
    _check(patch, subject.target, space, parameters)
    with keeping("what was played" if out else "", Path(out or "")):
        with captured(spec), words.watching() as show:
            subject, costs = _scaled_to(other, subject, board) if equal_cost else (subject, ())
            plan = plan_of(games // 2 if other else games, seed)
            question = TuningTask(subject, other, tuple(parameters), board, plies, OPENINGS, plan)
            tuning = tune_values(question, Path(out) if out else None, jobs=jobs, cluster=cluster, show=show)
        play, values = partial(play_kept_run, command="tune"), tuning.values
        judged = judge(question, values, pairs, jobs=jobs, cluster=cluster, play=play) if values else None
    advice = words.new_agent_text(spec, values, "--limit", limit)
    return _tuned(words.Tuned(tuning, judged), costs, patch, subject.target, advice)


def _tuned(result: Tuned, costs: tuple[str, ...], patch: str | Path | None, target: str, advice: str) -> Result[Tuned]:
    """Write the patch, and return the result with what nodes cost, and the advice if the new values are better."""
    from knights_isolation.reports.charts.study_charts import tuning_chart
    from knights_isolation.reports.studies.tuning import tuned_sections

    _write(patch, target, result)
    chart = tuning_chart(result.tuning)
    figure, closing = partial(drawn, chart) if chart else None, f"\n{advice}" if result.is_better else ""
    return Result(result, tuned_sections(result, costs), figure, closing=closing)


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
) -> Result[Sweep]:
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

    Raises:
        KeyboardInterrupt: it was interrupted; the same call resumes.
    """
    from knights_isolation.experiments.learn.parameter_sweep import parse_axis, plan_sweep, play_sweep
    from knights_isolation.experiments.learn.tuning_games import limited_of, opponent_of, subject_of
    from knights_isolation.experiments.roster import named, parse_spec
    from knights_isolation.reports.charts.line_plots import response_chart
    from knights_isolation.reports.studies.tuning import sweep_section

    axes = [parse_axis(text) for text in over]
    if limit and any(axis.name == "limit" for axis in axes):
        raise ValueError("--over limit=... and --limit exclude each other: use one of them")
    spec, default = inputs.agent_spec(agent), parse_limit(limit or "nodes=1000")
    settings = {"size": board, "plies": plies, "pairs": pairs, "seed": seed, "jobs": jobs, "cluster": cluster}
    with captured(spec):
        subject = (limited_of if all(axis.name == "limit" for axis in axes) else subject_of)(spec, default)
        other = opponent_of(inputs.agent_spec(opponent)) if opponent else None
        varied, folder = named(parse_spec(spec)), Path(out) if out else None
        runs = plan_sweep(varied, axes, other, default, equal_cost=equal_cost, out=folder, **settings)  # type: ignore[arg-type]
    with keeping("what was played" if out else "", Path(out or "")):
        swept = play_sweep(axes, runs, partial(play_kept_run, command="sweep"))
    name = inputs.agent_spec(opponent) if opponent else subject.name
    return Result(swept, (sweep_section(swept, name),), partial(drawn, response_chart(swept, name)))


def _check(patch: str | Path | None, target: str, space: Space, wanted: Sequence[str]) -> None:
    """Check that new defaults can be written, and name the categorical parameters that keep theirs."""
    from knights_isolation.experiments.learn.parameter_space import check_patch

    if patch:
        check_patch(target, space.names)
    for choice in () if wanted else space.choices:
        warnings.warn(
            f"{choice.name} is categorical ({choice.allowed}) and keeps its default {choice.default}; to tune it, use "
            f"isolation tune --sampler optuna.",
            stacklevel=4,
        )


def _write(patch: str | Path | None, target: str, result: Fitted | Tuned) -> None:
    from knights_isolation.experiments.learn.parameter_space import write_patch

    if patch:
        tell(write_patch(Path(patch), target, result.values, result.is_better))


def _scaled_to(opponent: Spec | None, subject: Spec, size: str) -> tuple[Spec, tuple[str, ...]]:
    """Return an agent with the limit at which it takes the time of its opponent, and what its nodes cost."""
    from knights_isolation.experiments.play.pools.preparation import specs_at_equal_cost
    from knights_isolation.reports.tables.costs import scaled_sentence

    if opponent is None:
        raise ValueError("equal cost needs an opponent: under other values the agent costs what it costs")
    (_, scaled), (_, cost) = specs_at_equal_cost([opponent, subject], size)
    return scaled, (scaled_sentence(scaled, cost, opponent),)
