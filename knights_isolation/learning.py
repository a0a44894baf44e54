"""Screen, fit, tune, sweep and rank heuristics: each function is the command of its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from knights_isolation.experiments.roster import AgentLike, parse_limit, reference_of
from knights_isolation.isolation.rules.limits import Limit
from knights_isolation.result import Result, drawn
from knights_isolation.runs import agent_spec
from knights_isolation.tried import note_screening, note_selection, noting

if TYPE_CHECKING:
    from knights_isolation.experiments.analysis.analyse_file import Analysis
    from knights_isolation.experiments.learn.feature_selection import Selection
    from knights_isolation.experiments.learn.held_out import Judgement
    from knights_isolation.experiments.learn.optuna_tuning import Sampling
    from knights_isolation.experiments.learn.pairwise_fit import Fit
    from knights_isolation.experiments.learn.parameter_sweep import Sweep
    from knights_isolation.experiments.learn.spsa_tuning import Tuning
    from knights_isolation.experiments.play.runner import Play
    from knights_isolation.experiments.roster import Spec
    from knights_isolation.experiments.suite.screening import Mistake, Screening
    from knights_isolation.experiments.suite.suite_file import Split, Suite
    from knights_isolation.isolation.checks.search_cost import Cost

MISTAKES = 5
"""Number of mistakes that `screen` shows of each contender."""


@dataclass(frozen=True)
class Screened:
    """Scores on a suite, by contender the clearest mistakes, and by agent the cost of a node."""

    screening: Screening
    mistakes: dict[str, list[Mistake]]
    costs: dict[str, Cost]


@dataclass(frozen=True)
class Fitted:
    """Fitted parameters, and the heuristic screened with the old and the new values on held-out positions."""

    fit: Fit
    screening: Screening

    @property
    def values(self) -> dict[str, float]:
        """The new values by name."""
        return self.fit.values

    @property
    def is_better(self) -> bool:
        """Whether the new values are significantly better on held-out positions."""
        from knights_isolation.reports.studies.screening import verdict

        return verdict(self.screening.contenders[0][1]) == "better"


@dataclass(frozen=True)
class Tuned:
    """Tuned parameters, and the new values judged on held-out openings; None if no value changed."""

    tuning: Tuning | Sampling
    judgement: Judgement | None

    @property
    def values(self) -> dict[str, float]:
        """The new values of the parameters that matter, by name."""
        return self.tuning.values

    @property
    def is_better(self) -> bool:
        """Whether the new values are significantly better on held-out openings."""
        from knights_isolation.reports.studies.tuning import significant_lead

        return self.judgement is not None and significant_lead(self.judgement) > 0


def screen(
    *agents: AgentLike,
    baseline: AgentLike = "ID:improved",
    suite: str | Path = "7x7",
    limit: str = "nodes=1000",
    split: Literal["screen", "fit", "all"] = "screen",
    sample: int | None = None,
    repeats: int = 4,
    seed: int = 1,
    equal_cost: bool = False,
    jobs: int = 0,
    cluster: str | None = None,
) -> Result[Screened]:
    """Score agents on positions with proven answers: a verdict in seconds.

    With one contender, tables also say where it errs and show its clearest mistakes.

    Args:
        limit: for agents without one.
        split: openings to use; heuristics are fitted on those of `fit`.
        sample: use a random sample of this many positions.
        repeats: answers per position of nondeterministic agents.
        equal_cost: scale the agents' node limits so that all take the time of the baseline.

    Raises:
        ValueError: an agent or the suite is invalid, or user code does not answer in time.
    """
    from knights_isolation.experiments.suite.agent_answers import collect_answers, costs_over_first, failing_positions
    from knights_isolation.experiments.suite.gauntlet_agreement import known_agreements
    from knights_isolation.experiments.suite.screening import screen as compare_answers
    from knights_isolation.experiments.suite.screening import where_it_errs, worst_mistakes
    from knights_isolation.reports.charts.study_charts import screening_chart
    from knights_isolation.reports.studies import screening as reported
    from knights_isolation.reports.watch.run_progress import counting

    whole = _read_suite(suite, None if split == "all" else split)
    positions = whole if sample is None else whole.sample(sample, seed)
    specs = [agent_spec(agent) for agent in (baseline, *(each for agent in agents for each in _heuristics_of(agent)))]
    if equal_cost:
        specs, _ = _at_equal_cost(specs, limit, positions.size)
    with counting("agents") as show:
        own, *others = collect_answers(
            specs, positions.positions, limit=parse_limit(limit), repeats=repeats, seed=seed, jobs=jobs,
            cluster=cluster, show=show,
        )  # fmt: skip
    _check_others(own.name, others)
    costs = costs_over_first([own.spec, *(other.spec for other in others)], positions.size)
    failing = failing_positions([own, *others], positions.positions)
    screening = compare_answers(positions, own, others)
    sections = [*reported.screening_sections(screening, known_agreements(positions.name), costs=costs, failing=failing)]
    if equal_cost:
        sections[0] = replace(sections[0], notes=(reported.equal_cost_note(own, others), *sections[0].notes))
    mistakes = {other.name: worst_mistakes(positions, other, own, MISTAKES) for other in others}
    if len(others) == 1:
        sections.append(reported.parts_section(others[0].name, own.name, where_it_errs(positions, others[0], own)))
        sections.append(reported.mistakes_section(others[0].name, mistakes[others[0].name], positions.size))
    part = f"split {split}" + (f", {sample} of them with seed {seed}" if sample else "")
    times = {name: cost.times for name, cost in costs.items()}
    note_screening("screen", [screening], [other.spec for other in others], part, times)
    return Result(Screened(screening, mistakes, costs), tuple(sections), partial(drawn, screening_chart(screening)))


def analyse(
    heuristic: AgentLike,
    *,
    baseline: AgentLike | None = None,
    limit: str = "nodes=10000",
    opponents: Sequence[AgentLike] = (),
    board: str | None = None,
    pairs: int | None = None,
    seed: int = 1,
    jobs: int = 0,
    play: Play | None = None,
) -> Result[Analysis]:
    """Analyse a function, or all heuristics and players of a file: check, screen and play them, in about a minute.

    They are compared with the baseline at equal nodes and at equal cost. The same call repeats the answer.

    Args:
        heuristic: a function of (game, player), FILE.py, or FILE.py:NAME.
        baseline: by default ID_Improved.
        opponents: by default the seven classic ones.
        board: by default 7x7, or that of the file's edition.
        play: plays the runs; by default with a progress bar.

    Raises:
        ValueError: the file cannot be read, or an argument is invalid.
    """
    from knights_isolation.experiments.analysis.analyse_file import analyse as analyse_contents
    from knights_isolation.experiments.analysis.file_contents import read_file
    from knights_isolation.experiments.analysis.gauntlets import TrialConditions
    from knights_isolation.reports.analysis.analysis_page import cost_table, forests, opponents_table, verdict_table
    from knights_isolation.reports.watch.run_progress import play_in_view

    contents = read_file(reference_of(heuristic))
    contents = replace(contents, size=board or contents.size)
    against = agent_spec(baseline) if baseline else None
    question = TrialConditions(against, tuple(map(agent_spec, opponents)), limit, contents.size, pairs, seed)
    *_, analysis = analyse_contents(contents, question, play or play_in_view, jobs)
    tables = (verdict_table(analysis), cost_table(analysis), opponents_table(analysis))
    return Result(analysis, tables, partial(drawn, next(iter(forests(analysis)), None)))


def fit(
    heuristic: AgentLike,
    *,
    at: str = "depth=1",
    suite: str | Path = "7x7",
    parameters: Sequence[str] = (),
    limit: str = "nodes=1000",
    seed: int = 1,
) -> Result[Fitted]:
    """Fit a heuristic's parameters to proven results; screen it before and after on held-out positions.

    Args:
        heuristic: a function of (game, player) with parameters, or FILE.py:FUNCTION.
        at: limit of the search run before evaluation: depth=N or nodes=N.
        parameters: fit only these.
        limit: of the final screening.
        seed: for additional starts.

    Raises:
        ValueError: there is nothing to fit, or the heuristic runs interpreted or fails.
    """
    from knights_isolation.experiments.learn.pairwise_fit import fit as fit_values
    from knights_isolation.experiments.learn.pairwise_fit import screened
    from knights_isolation.experiments.learn.parameter_space import options_text
    from knights_isolation.experiments.plan.catalogue import heuristic_named
    from knights_isolation.isolation.loading.load_user_code import load_heuristic
    from knights_isolation.reports.charts.study_charts import fit_chart
    from knights_isolation.reports.studies.screening import screening_sections
    from knights_isolation.reports.studies.tuning import fit_sections

    at_limit, screen_limit = reproducible_limit(at), parse_limit(limit)
    path, name = heuristic_named(reference_of(heuristic))
    function = load_heuristic(path, name).value
    held_out = _read_suite(suite, "screen")
    fitted = fit_values(function, _read_suite(suite, "fit"), held_out, at_limit, parameters, seed)
    screening = screened(function, fitted.values, held_out, screen_limit)
    sections = (*fit_sections(fitted), *screening_sections(screening)[:1])
    if fitted.values:
        note_screening(
            "fit", [screening], [f"ID:{path}:{name}@{limit},{options_text(fitted.values)}"], "split screen", {}
        )
    return Result(Fitted(fitted, screening), sections, partial(drawn, fit_chart(fitted)))


def tune(
    agent: AgentLike,
    *,
    opponent: AgentLike | None = None,
    limit: str = "nodes=1000",
    games: int = 20_000,
    pairs: int = 1000,
    parameters: Sequence[str] = (),
    sampler: Literal["spsa", "optuna"] = "spsa",
    equal_cost: bool = False,
    board: str = "7x7",
    plies: int = 4,
    seed: int = 1,
    jobs: int = 0,
    cluster: str | None = None,
    out: str | Path | None = None,
    play: Play | None = None,
) -> Result[Tuned]:
    """Tune the parameters of an agent's heuristic by playing games; evaluate the result on held-out openings.

    Args:
        opponent: by default the agent itself with other values.
        games: approximate number of games.
        pairs: held-out openings, each played twice, to evaluate the result.
        parameters: tune only these.
        sampler: search algorithm; optuna also handles categorical parameters.
        equal_cost: scale the agent's node limit so that it takes the time of the opponent.
        plies: of the random openings.
        out: keep the games to learn from in this file; the same call resumes.
        play: plays the run on held-out openings; by default with a progress bar.

    Raises:
        ValueError: the agent has no parameters, or an argument is invalid.
    """
    from knights_isolation.experiments.learn.held_out import judge
    from knights_isolation.experiments.learn.spsa_tuning import OPENINGS, Tuning, TuningTask
    from knights_isolation.experiments.learn.tuning_games import opponent_of, subject_of
    from knights_isolation.experiments.roster import complete
    from knights_isolation.reports.charts.study_charts import tuning_chart
    from knights_isolation.reports.studies.tuning import judged_section, tuning_sections, watching
    from knights_isolation.reports.watch.run_progress import play_in_view

    plan_of, tune_values = _sampler_named(sampler)
    chosen = parse_limit(limit)
    other = complete(opponent_of(agent_spec(opponent)), chosen) if opponent else None
    plan = plan_of(games // 2 if other else games, seed)
    subject = subject_of(agent_spec(agent), chosen)
    subject, costs = _scaled_to(other, subject, limit, board) if equal_cost else (subject, ())
    question = TuningTask(subject, other, tuple(parameters), board, plies, OPENINGS, plan)
    with watching() as show:
        tuning = tune_values(question, Path(out) if out else None, jobs=jobs, cluster=cluster, show=show)
    first, *others = tuning_sections(tuning)
    sections = (replace(first, notes=(*costs, *first.notes)), *others)
    figure = partial(drawn, tuning_chart(tuning)) if isinstance(tuning, Tuning) and tuning.parameters else None
    if not tuning.values:
        return Result(Tuned(tuning, None), sections, figure)
    judgement = judge(
        question, tuning.values, pairs, jobs=jobs, cluster=cluster, play=play or noting("tune", play_in_view)
    )
    return Result(Tuned(tuning, judgement), (*sections, judged_section(tuning, judgement)), figure)


def sweep(
    agent: AgentLike,
    *over: str,
    opponent: AgentLike | None = None,
    limit: str = "nodes=1000",
    pairs: int = 300,
    equal_cost: bool = False,
    board: str = "7x7",
    plies: int = 4,
    seed: int = 1,
    jobs: int = 0,
    cluster: str | None = None,
    out: str | Path | None = None,
    play: Play | None = None,
) -> Result[Sweep]:
    """Play every combination of parameter values against one opponent on shared openings.

    Args:
        over: `option.NAME=0:1:0.1`, `option.NAME=0,1,2` or `limit=nodes=300,1000`, one for each quantity.
        opponent: by default the agent unchanged.
        equal_cost: scale node limits so that all take the time of the opponent.
        out: directory of the run, or of one run for each limit; by default below `runs/`.
        play: plays the runs; by default with a progress bar.

    Raises:
        ValueError: an argument is invalid.
        KeyboardInterrupt: it was interrupted; the same call resumes.
    """
    from knights_isolation.experiments.learn.parameter_sweep import parse_axis, plan_sweep, play_sweep
    from knights_isolation.experiments.learn.tuning_games import limited_of, opponent_of, subject_of
    from knights_isolation.experiments.roster import named, parse_spec
    from knights_isolation.reports.charts.line_plots import response_chart
    from knights_isolation.reports.studies.tuning import sweep_section
    from knights_isolation.reports.watch.run_progress import play_in_view

    spec, default, axes = agent_spec(agent), parse_limit(limit), [parse_axis(text) for text in over]
    subject = (limited_of if all(axis.name == "limit" for axis in axes) else subject_of)(spec, default)
    other = opponent_of(agent_spec(opponent)) if opponent else None
    runs = plan_sweep(
        named(parse_spec(spec)), axes, other, default, size=board, plies=plies, pairs=pairs, seed=seed,
        equal_cost=equal_cost, out=Path(out) if out else None, jobs=jobs, cluster=cluster,
    )  # fmt: skip
    swept = play_sweep(axes, runs, play or noting("sweep", play_in_view))
    name = agent_spec(opponent) if opponent else subject.name
    return Result(swept, (sweep_section(swept, name),), partial(drawn, response_chart(swept, name)))


def features(
    *names: AgentLike, at: str = "depth=1", guide: str = "territory", suite: str | Path = "7x7", most: int = 5
) -> Result[Selection]:
    """Rank features by gain and cost, and select a subset greedily.

    Args:
        names: shipped features and heuristics, functions of (game, player), or FILE.py:FUNCTION; by default all
            shipped features.
        at: limit of the search run before evaluation: depth=N or nodes=N.
        guide: heuristic of this search.
        most: select at most this many.

    Raises:
        ValueError: there is no such feature, or it does not compile.
    """
    from knights_isolation.experiments.learn.feature_selection import feature_name, select_features
    from knights_isolation.heuristics import FEATURES, canonical_name
    from knights_isolation.reports.charts.study_charts import features_chart
    from knights_isolation.reports.studies.tuning import feature_sections
    from knights_isolation.reports.watch.run_progress import counting

    limit, leader = reproducible_limit(at), canonical_name(guide)
    with counting("features") as show:
        chosen = list(dict.fromkeys(feature_name(reference_of(name)) for name in names)) or list(FEATURES)
        selection = select_features(
            _read_suite(suite, "fit"), _read_suite(suite, "screen"), chosen, limit, leader, most, show
        )  # fmt: skip
    note_selection(selection, str(suite))
    return Result(selection, tuple(feature_sections(selection)), partial(drawn, features_chart(selection)))


def _heuristics_of(agent: AgentLike) -> list[AgentLike]:
    """Return the heuristics of FILE.py, or that of FILE.py:NAME, as agents; other agents as they are."""
    from knights_isolation.experiments.analysis.file_contents import read_file
    from knights_isolation.isolation.loading.load_user_code import LoadError

    reference, at, limit = agent.partition("@") if isinstance(agent, str) else ("", "", "")
    if not re.fullmatch(r"(?!\w+:)[^=]+\.py(:[\w.]+)?", reference):
        return [agent]
    path = reference.rpartition(":")[0] or reference
    try:
        functions = read_file(reference).functions
    except LoadError:
        if path == reference:
            raise
        return [agent]  # it may be a player
    return [f"ID:{path}:{name}{at}{limit}" for name in functions] or [agent]


def _check_others(baseline: str, others: Sequence[object]) -> None:
    """Raise an error if the baseline would be compared with itself alone."""
    if not others:
        raise ValueError(f"{baseline} is the baseline itself: name another contender or another --baseline")


def _at_equal_cost(specs: Sequence[str], limit: str, size: str) -> tuple[list[str], list[Cost]]:
    """Return completed specs with limits at which all take the time of the first, and their costs."""
    from knights_isolation.experiments.play.pools.equal_cost_limits import specs_at_equal_cost
    from knights_isolation.experiments.roster import parse_spec
    from knights_isolation.experiments.suite.agent_answers import completed_specs

    completed = [parse_spec(spec) for spec in completed_specs(specs, parse_limit(limit))]
    scaled, costs = specs_at_equal_cost(completed, size)
    return [str(spec) for spec in scaled], costs


def _scaled_to(opponent: Spec | None, subject: Spec, limit: str, size: str) -> tuple[Spec, tuple[str, ...]]:
    """Return an agent with the limit at which it takes the time of its opponent, and what its nodes cost."""
    from knights_isolation.experiments.roster import parse_spec
    from knights_isolation.reports.tables.costs import scaled_sentence

    if opponent is None:
        raise ValueError("equal cost needs an opponent: under other values the agent costs what it costs")
    (_, scaled), (_, cost) = _at_equal_cost([str(opponent), str(subject)], limit, size)
    return parse_spec(scaled), (scaled_sentence(parse_spec(scaled), cost, opponent),)


def _read_suite(name: str | Path, split: Split | None) -> Suite:
    from knights_isolation.experiments.suite import read_suite

    return read_suite(name, split)


def reproducible_limit(text: str) -> Limit:
    """Parse the limit of a search run before evaluation.

    Raises:
        ValueError: it is not one of depth or nodes.
    """
    limit = parse_limit(text)
    if not limit.is_reproducible:
        raise ValueError(f"--at must be depth=N or nodes=N, not {text}")
    return limit


def _sampler_named(name: str) -> tuple[Callable[[int, int], Any], Callable[..., Any]]:
    """Return the function that plans a tuning from games and a seed, and the one that runs it."""
    if name == "optuna":
        from knights_isolation.experiments.learn.optuna_tuning import check_optuna, sample, sampling_plan

        check_optuna()
        return sampling_plan, sample
    from knights_isolation.experiments.learn.spsa import plan_of
    from knights_isolation.experiments.learn.spsa_tuning import tune

    return plan_of, tune
