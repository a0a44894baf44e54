"""Take a heuristic from its file to a verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from knights_isolation.experiments.roster import reference_of
from knights_isolation.reports.answers import Result
from knights_isolation.reports.studies.research import NODES, Research, Step, research_section, write_research_page

from ..inputs import HeuristicFile, Jobs, Seed, agent_spec
from ..parameters import About, command
from ..surface import captured, keeping, nested
from .discovery import Opponent
from .evaluation import evaluate
from .suites import screen
from .tournaments import match
from .tuning import fit, tune

if TYPE_CHECKING:
    from knights_isolation.experiments.roster import Spec
    from knights_isolation.reports.charts.chart import Plot, RowChart

SPRT = (0.0, 20.0)


@command("tables")
def research(
    heuristic: HeuristicFile,
    *,
    against: Opponent = "ID:learned",
    games: Annotated[int, About(low=160)] = 20_000,
    pairs: Annotated[int, About(low=10)] = 10_000,
    seed: Seed = 1,
    jobs: Jobs = 0,
) -> Result[Research]:
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
    from knights_isolation.experiments.record.run_directory import HOME, digest_of
    from knights_isolation.reports.pages.templates import PAGE

    reference = reference_of(heuristic)
    with keeping("what was played is in runs/"), captured(str(heuristic)), nested():
        step, cost, spec, opponent = _measured(reference, agent_spec(against))
        steps = [step]
        takes = (
            partial(_fit, seed=seed), partial(_screen, opponent=opponent, jobs=jobs),
            partial(_tune, opponent=opponent, games=games, seed=seed, jobs=jobs),
            partial(_test, opponent=opponent, pairs=pairs, seed=seed, jobs=jobs),
        )  # fmt: skip
        for take in takes:
            if spec is None or not steps[-1].passed:
                break
            step, spec = take(spec)
            steps.append(step)
    file, digest = Path(reference.partition(".py")[0]).name, digest_of([reference, opponent, games, pairs, seed])
    done = Research(tuple(steps), str(spec or ""), cost, HOME / f"research-{file}-{digest}" / PAGE)
    section = research_section(done, opponent)
    write_research_page(done, section, reference)
    return Result(done, (section,), written=(done.page,), passes=not isnan(cost))


def _measured(reference: str, against: str) -> tuple[Step, float, Spec | None, str]:
    """Return the step of the cost, the agent at the limit that takes the opponent's time, and this opponent."""
    from knights_isolation.experiments.evaluation.evaluate import candidate_reference
    from knights_isolation.experiments.play.pools.preparation import scaled_nodes
    from knights_isolation.experiments.roster import named, parse_spec
    from knights_isolation.isolation.rules.limits import Limit

    answer = evaluate(reference, budget="cost", baseline=against)
    if answer.error_kind or answer.cost is None:
        return Step("cost", False, answer.feedback), float("nan"), None, against
    method, nodes = against.partition(":")[0].rpartition("=")[2], scaled_nodes(NODES, answer.cost)
    own, other = (named(parse_spec(spec)) for spec in (f"{method}:{candidate_reference(reference)}", against))
    step = Step("cost", True, f"a node costs {answer.cost:.2f} ×: {nodes:,} nodes to its {NODES:,}")
    return step, answer.cost, replace(own, limit=Limit(nodes=nodes)), str(replace(other, limit=Limit(nodes=NODES)))


def _fit(spec: Spec, seed: int) -> tuple[Step, Spec]:
    from knights_isolation.reports.charts.study_charts import fit_chart

    return _improved("fit", spec, lambda: fit(spec.target, at="depth=3", seed=seed), lambda it: fit_chart(it.fit))


def _tune(spec: Spec, **settings: Any) -> tuple[Step, Spec]:
    from knights_isolation.experiments.record.run_directory import HOME, digest_of
    from knights_isolation.experiments.roster import make_agent, settings_text
    from knights_isolation.isolation.files.atomic_write import make_folder
    from knights_isolation.reports.charts.study_charts import tuning_chart

    make_folder(HOME)
    facts = [settings_text(spec, make_agent(spec)), *(settings[key] for key in ("opponent", "games", "seed"))]
    found = partial(tune, str(spec), out=HOME / f"research-{digest_of(facts)}.jsonl", **settings)
    return _improved("tune", spec, found, lambda it: tuning_chart(it.tuning))


def _improved(
    name: str, spec: Spec, improve: Callable[[], Result[Any]], chart_of: Callable[[Any], Plot | RowChart | None]
) -> tuple[Step, Spec]:
    """Go on with new values if they are significantly better; old ones are no reason to stop."""
    from knights_isolation.experiments.learn.parameter_space import options_text
    from knights_isolation.experiments.learn.tuning_games import with_values
    from knights_isolation.experiments.roster import make_agent
    from knights_isolation.isolation.rules.parameters import parameters_of

    if not parameters_of(make_agent(spec).heuristic):
        return Step(name, True, "it has no parameters"), spec
    result = improve()
    values = result.value.values if result.value.is_better else {}
    found = f"better values: {options_text(values)}" if values else "no significantly better values: the old ones stay"
    return Step(name, True, found, result.sections, chart_of(result.value)), with_values(spec, values)


def _screen(spec: Spec, opponent: str, jobs: int) -> tuple[Step, Spec]:
    from knights_isolation.reports.charts.study_charts import screening_chart
    from knights_isolation.reports.studies.screening import verdict
    from knights_isolation.reports.text.cell_values import Points, estimate_of

    result = screen(str(spec), baseline=opponent, jobs=jobs)
    screening = result.value.screening
    ((_, compared),) = screening.contenders
    finding = f"{verdict(compared)}: {estimate_of(compared.both, Points).text} points on held-out positions"
    passed = verdict(compared) != "worse"
    return Step("screen", passed, finding, result.sections, screening_chart(screening)), spec


def _test(spec: Spec, opponent: str, pairs: int, seed: int, jobs: int) -> tuple[Step, Spec]:
    from knights_isolation.experiments.statistics.sequential_tests import own_tests
    from knights_isolation.reports.charts.interval_charts import running
    from knights_isolation.reports.text.wording import decision_sentence

    result = match(str(spec), opponent, sprt=SPRT, pairs=pairs, seed=seed, limit=f"nodes={NODES}", jobs=jobs)
    (test,) = own_tests(result.value)
    passed = test.path.decision == "H1"
    return Step("test", passed, decision_sentence(test), result.sections, running(result.value)), spec
