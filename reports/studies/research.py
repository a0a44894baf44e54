"""Tables of `research` and `evaluate`, and the page of a research."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knights_isolation.experiments.plan import (
    AgentLike,
    Spec,
    make_agent,
    named,
    parse_spec,
    reference_of,
    settings_text,
    spec_of,
)
from knights_isolation.experiments.plan.run_keeping import digest_of
from knights_isolation.experiments.play.pools.interrupts import keeping
from knights_isolation.experiments.record.run_directory import HOME
from knights_isolation.experiments.studies.evaluation import Budget, Evaluation, EvaluationTask, revealed
from knights_isolation.isolation.files.atomic_write import make_folder, write_text
from knights_isolation.isolation.rules.game import Limit, parse_size
from knights_isolation.isolation.suggestions import called_as
from knights_isolation.isolation.usercode.output_capture import captured

from ..answers import Result
from ..pages.templates import PAGE
from ..text.cell_values import Estimate, Points, estimate_of
from ..text.rendering import Section, render_rows, terminal_width, wrapped

if TYPE_CHECKING:
    from knights_isolation.experiments.statistics.run_results import RunResults

    from ..charts.chart import Plot, RowChart

Match = Callable[..., "Result[RunResults]"]
"""Plays two agents head to head; see `commands.tournaments.match`."""
STEPS = ("cost", "fit", "screen", "tune", "test")
NODES = 1000
"""Node limit of the agent that the heuristic is compared with."""
SPRT = (0.0, 20.0)
"""Elo of the hypotheses of the last test."""


@dataclass(frozen=True)
class Step:
    """A step that was taken.

    Attributes:
        name: one of `STEPS`.
        passed: whether it said yes.
        finding: what was found, in a sentence.
        sections, chart: the tables of its command, and what they show.
    """

    name: str
    passed: bool
    finding: str
    sections: Sequence[Section] = field(default=(), repr=False)
    chart: RowChart | Plot | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Research:
    """What became of a heuristic.

    Attributes:
        steps: those that were taken; the last one said no, unless all said yes.
        spec: the agent with the values and the limit that it ended with.
        cost: of a node, over the opponent's; NaN if it was not measured.
        page: the file that shows all of it; the lab lists it.
    """

    steps: tuple[Step, ...]
    spec: str
    cost: float
    page: Path

    @property
    def is_better(self) -> bool:
        """Whether the heuristic is better than its opponent at equal cost."""
        return len(self.steps) == len(STEPS) and all(step.passed for step in self.steps)


def research_result(
    heuristic: AgentLike, against: AgentLike, games: int, pairs: int, seed: int, jobs: int, match: Match
) -> Result[Research]:
    """Take a heuristic from step to step, each at equal cost, until one says no, and write the page."""
    reference = reference_of(heuristic)
    with keeping("what was played is in runs/"), captured(str(heuristic)), called_as():
        step, cost, spec, opponent = _measured(reference, spec_of(against))
        steps = [step]
        takes = (
            partial(_fit, seed=seed),
            partial(_screen, opponent=opponent, jobs=jobs),
            partial(_tune, opponent=opponent, games=games, seed=seed, jobs=jobs),
            partial(_test, match=partial(match, sprt=SPRT, pairs=pairs, seed=seed, jobs=jobs), opponent=opponent),
        )
        for take in takes:
            if spec is None or not steps[-1].passed:
                break
            step, spec = take(spec)
            steps.append(step)
    file, digest = Path(reference.partition(".py")[0]).name, digest_of([reference, opponent, games, pairs, seed])
    done = Research(tuple(steps), str(spec or ""), cost, HOME / f"research-{file}-{digest}" / PAGE)
    rows = tuple({"step": step.name, "says": "yes" if step.passed else "no", "finding": step.finding} for step in steps)
    stopped = f"Stopped at {steps[-1].name}: nothing shows that it is better than {opponent} at equal cost."
    title = f"Better than {opponent} at equal cost." if done.is_better else stopped
    section = Section("research", title, rows, (f"The agent: {done.spec}",) if done.spec else ())
    write_research_page(done, section, reference)
    return Result(done, (section,), written=(done.page,), passes=not isnan(cost))


def _measured(reference: str, against: str) -> tuple[Step, float, Spec | None, str]:
    """Return the step of the cost, the agent at the limit that takes the opponent's time, and this opponent."""
    from knights_isolation.experiments.play.equal_cost import scaled_nodes
    from knights_isolation.experiments.studies.evaluate import candidate_reference, evaluate_all

    (answer,) = evaluate_all([reference], EvaluationTask("cost", against), 1)
    if answer.error_kind or answer.cost is None:
        return Step("cost", False, answer.feedback), float("nan"), None, against
    method, nodes = against.partition(":")[0].rpartition("=")[2], scaled_nodes(NODES, answer.cost)
    own, other = (named(parse_spec(spec)) for spec in (f"{method}:{candidate_reference(reference)}", against))
    step = Step("cost", True, f"a node costs {answer.cost:.2f} ×: {nodes:,} nodes to its {NODES:,}")
    return step, answer.cost, replace(own, limit=Limit(nodes=nodes)), str(replace(other, limit=Limit(nodes=NODES)))


def _fit(spec: Spec, seed: int) -> tuple[Step, Spec]:
    from ..charts.line_plots import fit_chart
    from .tuning import fit_result

    fit = partial(fit_result, spec.target, "depth=3", f"nodes={NODES}", "7x7", (), seed)
    return _improved("fit", spec, fit, lambda found: fit_chart(found.fit))


def _tune(spec: Spec, opponent: str, games: int, seed: int, jobs: int) -> tuple[Step, Spec]:
    from knights_isolation.experiments.studies.tuning import tuning_task

    from ..charts.line_plots import tuning_chart
    from .tuning import tune_result

    make_folder(HOME)
    facts = [settings_text(spec, make_agent(spec)), opponent, games, seed]
    out = HOME / f"research-{digest_of(facts)}.jsonl"
    limit = f"nodes={NODES}"

    def tune() -> Result[Any]:
        task = tuning_task(str(spec), opponent, limit, games, seed, "spsa")
        return tune_result(str(spec), limit, task, 1000, out, None, False, jobs=jobs)

    return _improved("tune", spec, tune, lambda found: tuning_chart(found.tuning))


def _improved(
    name: str, spec: Spec, improve: Callable[[], Result[Any]], chart_of: Callable[[Any], Plot | RowChart | None]
) -> tuple[Step, Spec]:
    """Go on with new values if they are significantly better; old ones are no reason to stop."""
    from knights_isolation.experiments.studies.parameter_space import options_text, with_values
    from knights_isolation.isolation.rules.parameters import parameters_of

    if not parameters_of(make_agent(spec).heuristic):
        return Step(name, True, "it has no parameters"), spec
    result = improve()
    values = result.value.values if result.value.is_better else {}
    found = f"better values: {options_text(values)}" if values else "no significantly better values: the old ones stay"
    return Step(name, True, found, result.sections, chart_of(result.value)), with_values(spec, values)


def _screen(spec: Spec, opponent: str, jobs: int) -> tuple[Step, Spec]:
    from ..charts.interval_charts import screening_chart
    from .screening import screen_result, verdict

    result = screen_result([str(spec)], opponent, "7x7", f"nodes={NODES}", jobs=jobs)
    screening = result.value.screening
    ((_, compared),) = screening.contenders
    finding = f"{verdict(compared)}: {estimate_of(compared.both, Points).text} points on held-out positions"
    passed = verdict(compared) != "worse"
    return Step("screen", passed, finding, result.sections, screening_chart(screening)), spec


def _test(spec: Spec, opponent: str, match: Match) -> tuple[Step, Spec]:
    from knights_isolation.experiments.statistics.sprt import own_tests

    from ..charts.interval_charts import running
    from ..text.decisions import decision_sentence

    result = match(str(spec), opponent, limit=f"nodes={NODES}")
    (test,) = own_tests(result.value)
    passed = test.path.decision == "H1"
    return Step("test", passed, decision_sentence(test), result.sections, running(result.value)), spec


def write_research_page(done: Research, section: Section, reference: str) -> None:
    """Write the page: the verdict with all steps, and of each step its chart and its tables."""
    from ..pages.report_page import Part, study_page

    steps = [
        Part(step.name, f"{step.name.capitalize()}: {step.finding}", step.sections, step.chart)
        for step in done.steps
        if step.sections
    ]
    make_folder(done.page.parent)
    parts = [Part(section.key, "Steps", (replace(section, title="Steps"),), is_open=True), *steps]
    heading = f"At equal cost: every search takes the time of {NODES:,} nodes of its opponent."
    write_text(done.page, study_page(f"Research: {Path(reference).name}", heading, section.title, parts))


def evaluations_result(
    candidates: Sequence[AgentLike | Path], budget: Budget, baseline: AgentLike, size: str, reveal: bool, jobs: int
) -> Result[list[Evaluation]]:
    """Evaluate candidates and note it; return a row for each, and below what happened to it in words."""
    from knights_isolation.experiments.studies.evaluate import evaluate_all
    from knights_isolation.experiments.studies.noted_tries import note_evaluations

    question = EvaluationTask(budget, spec_of(baseline), parse_size(size))
    evaluations = evaluate_all(candidates, question, jobs)
    note_evaluations(candidates, evaluations, question)
    evaluations = [revealed(evaluation, reveal) for evaluation in evaluations]
    answers = list(zip(map(str, candidates), evaluations, strict=True))
    words = [wrapped(f"{name}: {evaluation.feedback}", terminal_width()) for name, evaluation in answers]
    section = Section("evaluate", "", tuple({"candidate": name, **asdict(answer)} for name, answer in answers))
    text = "\n".join([render_rows([_row(*answer) for answer in answers], "table"), *words])
    is_sound = not any(evaluation.error_kind for evaluation in evaluations)
    return Result(evaluations, (section,), text=text, passes=is_sound)


def _row(name: str, evaluation: Evaluation) -> dict[str, Any]:
    """Return what a table shows of an evaluation; the score in points of wins kept."""
    line = f", line {evaluation.error_line}" if evaluation.error_line else ""
    score = Estimate(*(Points(end / 100) for end in (evaluation.score, evaluation.low, evaluation.high)))
    return {
        "candidate": name,
        "stage": evaluation.stage,
        "passed": evaluation.passed,
        "error": f"{evaluation.error_kind}{line}" if evaluation.error_kind else "–",
        "score": score.text if evaluation.low != evaluation.high else "–",
        "cost": f"{evaluation.cost:.2f}" if evaluation.cost else "–",
    }
