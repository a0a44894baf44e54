"""Positions with proven answers: screen agents on a suite of them, or build a suite."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from knights_isolation.experiments.roster import parse_limit
from knights_isolation.isolation.suggestions import command as shell_command
from knights_isolation.reports.answers import Result, drawn

from .. import inputs
from ..parameters import About, command
from ..surface import counting, tell

if TYPE_CHECKING:
    from knights_isolation.experiments.suite.screen_agents import Screened


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
) -> Result[Screened]:
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

    Raises:
        ValueError: an agent or the suite is invalid, or user code does not answer in time.
    """
    from knights_isolation.experiments.analysis.file_contents import agents_named
    from knights_isolation.experiments.noting import note_screening
    from knights_isolation.experiments.suite import read_suite
    from knights_isolation.experiments.suite.screen_agents import screen_agents
    from knights_isolation.reports.charts.study_charts import screening_chart
    from knights_isolation.reports.studies.screening import mistake_texts, screened_sections, screening_page

    whole = read_suite(suite, None if split == "all" else split)
    positions = whole if sample is None else whole.sample(sample, seed)
    named = [baseline, *(each for agent in agents for each in agents_named(agent))]
    ask = partial(screen_agents, limit=parse_limit(limit), repeats=repeats, seed=seed, jobs=jobs, cluster=cluster)
    with counting("agents") as show:
        found = ask(list(map(inputs.agent_spec, named)), positions, equal_cost=equal_cost, show=show)
    part = f"split {split}" + (f", {sample} of them with seed {seed}" if sample else "")
    times = {name: cost.times for name, cost in found.costs.items()}
    note_screening("screen", [found.screening], [other.spec for other in found.others], part, times)
    sections, chart = screened_sections(found, equal_cost), screening_chart(found.screening)
    shown = mistake_texts(found.mistakes[found.others[0].name], positions.size) if len(found.others) == 1 else ""
    page = partial(screening_page, sections, found.mistakes, positions.size)
    return Result(found, sections, partial(drawn, chart), closing=f"\n{shown}" if shown else "", page=page)


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

    Raises:
        ValueError: an argument is invalid, or the file was made with other settings.
    """
    from knights_isolation.experiments.suite.build_suite import Recipe, build_suite, field_of, sources_of, usual_plies
    from knights_isolation.reports.text.cell_values import pluralise

    path, specs = Path(out or f"suite_{board}.parquet"), tuple(map(inputs.agent_spec, field))
    first, last = usual_plies(board)
    plies = (first_ply - 1 if first_ply else first, last_ply - 1 if last_ply else last)
    recipe = Recipe(board, *plies, seed, openings, nodes, sources_of(specs), field_of(specs))
    with counting("openings", "what was found", path) as show:
        built = build_suite(recipe, path, jobs=jobs, cluster=cluster, show=show)
    tell(f"{pluralise(len(built), 'position')}. Next: {shell_command('screen', 'ID:*', '--suite', path)}")
    return path
