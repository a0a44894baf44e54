"""Take a heuristic from its file to a verdict: the function is the command `research`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from knights_isolation.evaluation import evaluate
from knights_isolation.experiments.roster import AgentLike, reference_of
from knights_isolation.isolation.rules.limits import Limit
from knights_isolation.learning import fit, screen, tune
from knights_isolation.reports.text.sections import Section
from knights_isolation.result import Result
from knights_isolation.runs import agent_spec, match

if TYPE_CHECKING:
    from knights_isolation.experiments.roster import Spec
    from knights_isolation.reports.charts.chart import Plot, RowChart

NODES = 1000
"""Node limit of the agent that the heuristic is compared with."""
SPRT = (0.0, 20.0)


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
    sections: tuple[Section, ...] = field(default=(), repr=False)
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


STEPS = ("cost", "fit", "screen", "tune", "test")


def research(
    heuristic: AgentLike,
    *,
    against: AgentLike = "ID:learned",
    games: int = 20_000,
    pairs: int = 10_000,
    seed: int = 1,
    jobs: int = 0,
) -> Result[Research]:
    """Measure a heuristic's cost, fit it, screen it, tune it, and test it in games, all at equal cost.

    It stops at the first no. The cost is kept, and so is what was played: the same call resumes or repeats the answer.
    In the end it writes one page, in a folder below `runs/`.

    Args:
        heuristic: a function of (game, player), or FILE.py:FUNCTION.
        against: a search by a heuristic.
        games: to tune with.
        pairs: most openings of the sequential test of 0 against 20 Elo, each played twice.

    Raises:
        ValueError: an argument is invalid.
    """
    work = _Work(reference_of(heuristic), agent_spec(against), games, pairs, seed, jobs)
    steps: list[Step] = []
    for step in work.run():
        steps.append(step)
        if not step.passed:
            break
    done = Research(tuple(steps), str(work.spec or ""), work.cost, work.page())
    section = _section(done, work.against)
    _write_page(done, section, work.reference)
    return Result(done, (section,))


@dataclass
class _Work:
    reference: str
    against: str
    games: int
    pairs: int
    seed: int
    jobs: int
    spec: Spec | None = None
    cost: float = float("nan")
    values: dict[str, float] = field(default_factory=dict)

    def page(self) -> Path:
        """Return the file of the page: the same for the same question."""
        from knights_isolation.experiments.record.run_directory import HOME, digest_of
        from knights_isolation.reports.pages.kept_pages import PAGE

        file = Path(self.reference.partition(".py")[0]).name
        digest = digest_of([self.reference, self.against, self.games, self.pairs, self.seed])
        return HOME / f"research-{file}-{digest}" / PAGE

    def run(self) -> Iterator[Step]:
        """Take one step after the other."""
        yield self._measure()
        yield self._fit()
        yield self._screen()
        yield self._tune()
        yield self._test()

    def _measure(self) -> Step:
        from knights_isolation.experiments.evaluation.evaluate import candidate_reference
        from knights_isolation.experiments.play.pools.equal_cost_limits import scaled_nodes
        from knights_isolation.experiments.roster import named, parse_spec

        answer = evaluate(self.reference, budget="cost", baseline=self.against)
        if answer.error_kind or answer.cost is None:
            return Step("cost", False, answer.feedback)
        other = replace(named(parse_spec(self.against)), limit=Limit(nodes=NODES))
        own = parse_spec(f"{self.against.partition(':')[0].rpartition('=')[2]}:{candidate_reference(self.reference)}")
        nodes = scaled_nodes(NODES, answer.cost)
        self.against, self.cost, self.spec = str(other), answer.cost, replace(named(own), limit=Limit(nodes=nodes))
        return Step("cost", True, f"a node costs {answer.cost:.2f} ×: {nodes:,} nodes to its {NODES:,}")

    def _fit(self) -> Step:
        if not self._has_parameters():
            return Step("fit", True, "it has no parameters")
        assert self.spec is not None
        from knights_isolation.reports.charts.study_charts import fit_chart

        result = fit(self.spec.target, at="depth=3", seed=self.seed)
        fitted = result.value
        step = self._took("fit", fitted.values, fitted.is_better)
        return replace(step, sections=result.sections, chart=fit_chart(fitted.fit))

    def _screen(self) -> Step:
        from knights_isolation.reports.charts.study_charts import screening_chart
        from knights_isolation.reports.studies.screening import verdict
        from knights_isolation.reports.text.cell_values import Points, estimate_of

        result = screen(str(self.spec), baseline=self.against, jobs=self.jobs)
        screening = result.value.screening
        ((_, compared),) = screening.contenders
        finding = f"{verdict(compared)}: {estimate_of(compared.both, Points).text} points on held-out positions"
        return Step("screen", verdict(compared) != "worse", finding, result.sections, screening_chart(screening))

    def _tune(self) -> Step:
        if not self._has_parameters():
            return Step("tune", True, "it has no parameters")
        from knights_isolation.experiments.record.run_directory import HOME, digest_of
        from knights_isolation.isolation.files.atomic_write import make_folder
        from knights_isolation.reports.charts.study_charts import tuning_chart

        make_folder(HOME)
        out = HOME / f"research-{digest_of([self._code(), self.against, self.games, self.seed])}.jsonl"
        result = tune(str(self.spec), opponent=self.against, games=self.games, seed=self.seed, jobs=self.jobs, out=out)
        tuned = result.value
        step = self._took("tune", tuned.values, tuned.is_better)
        return replace(step, sections=result.sections, chart=tuning_chart(tuned.tuning))  # type: ignore[arg-type]

    def _test(self) -> Step:
        from knights_isolation.experiments.verdicts.sprt_tests import own_tests
        from knights_isolation.reports.charts.running_estimates import running
        from knights_isolation.reports.text.wording import decision_sentence

        result = match(
            str(self.spec), self.against, sprt=SPRT, pairs=self.pairs, seed=self.seed, limit=f"nodes={NODES}",
            jobs=self.jobs,
        )  # fmt: skip
        (test,) = own_tests(result.value)
        finding = decision_sentence(test)
        return Step("test", test.path.decision == "H1", finding, result.sections, running(result.value))

    def _took(self, name: str, values: dict[str, float], is_better: bool) -> Step:
        """Go on with new values if they are significantly better; old ones are no reason to stop."""
        if not is_better:
            return Step(name, True, "no significantly better values: the old ones stay")
        from knights_isolation.experiments.learn.parameter_space import options_text
        from knights_isolation.experiments.learn.tuning_games import with_values

        assert self.spec is not None
        self.spec = with_values(self.spec, values)
        return Step(name, True, f"better values: {options_text(values)}")

    def _has_parameters(self) -> bool:
        from knights_isolation.experiments.roster import make_agent
        from knights_isolation.isolation.rules.parameters import parameters_of

        assert self.spec is not None
        return bool(parameters_of(make_agent(self.spec).heuristic))

    def _code(self) -> str:
        from knights_isolation.experiments.roster import make_agent, settings_text

        assert self.spec is not None
        return settings_text(self.spec, make_agent(self.spec))


def _write_page(done: Research, section: Section, reference: str) -> None:
    """Write the page: the verdict with all steps, and of each step its chart and its tables."""
    from knights_isolation.isolation.files.atomic_write import make_folder, write_text
    from knights_isolation.reports.pages.study_page import Part, study_page

    steps = [
        Part(step.name, f"{step.name.capitalize()}: {step.finding}", step.sections, step.chart)
        for step in done.steps
        if step.sections
    ]
    make_folder(done.page.parent)
    parts = [Part(section.key, "Steps", (replace(section, title="Steps"),), is_open=True), *steps]
    heading = f"At equal cost: every search takes the time of {NODES:,} nodes of its opponent."
    write_text(done.page, study_page(f"Research: {Path(reference).name}", heading, section.title, parts))


def _section(done: Research, against: str) -> Section:
    """Return one row per step, and what to conclude."""
    rows = tuple(
        {"step": step.name, "says": "yes" if step.passed else "no", "finding": step.finding} for step in done.steps
    )
    title = (
        f"Better than {against} at equal cost." if done.is_better
        else f"Stopped at {done.steps[-1].name}: nothing shows that it is better than {against} at equal cost."
    )  # fmt: skip
    notes = (f"The agent: {done.spec}",) if done.spec else ()
    return Section("research", title, rows, notes)
