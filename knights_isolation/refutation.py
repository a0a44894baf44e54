"""Refute agents from openings that are won for them: the function is the command `refute`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from knights_isolation.experiments.roster import AgentLike, make_agents, parse_agent, parse_limit
from knights_isolation.result import Result, drawn
from knights_isolation.runs import agent_spec

if TYPE_CHECKING:
    from knights_isolation.experiments.exact.refutation import Refuted


def refute(
    *agents: AgentLike,
    board: str | Sequence[str] = "5x5",
    limits: Sequence[str] = ("nodes=1000",),
    openings: int | None = None,
    opponent: AgentLike = "ID:improved",
    seed: int = 1,
    jobs: int = 0,
) -> Result[list[Refuted]]:
    """Search lines that beat agents, with their moves pinned, from openings that are won for them.

    For each opening there is a shortest line that beats the agent, or the proof that there is none. The value has the
    answers of each agent on each board at each limit.

    Args:
        agents: agents that leave nothing to chance; `ID:*` stands for all shipped heuristics.
        board: one, or several.
        limits: of agents without one; a table row for each.
        openings: draw so many of two placements; None for all of a board.
        opponent: whom the agents' wins from the same openings are counted against.
        jobs: threads; 0: one per core.

    Raises:
        ValueError: an agent is invalid or leaves something to chance, or the board has more than 64 cells.
    """
    from knights_isolation.experiments.exact.refutation import Refuted
    from knights_isolation.experiments.exact.refutation import refute as answer_openings
    from knights_isolation.reports.charts.study_charts import refutations_chart
    from knights_isolation.reports.studies.refutations import line_section, refutations_section, shortest_refutation
    from knights_isolation.reports.watch.run_progress import counting

    results = []
    for size in [board] if isinstance(board, str) else board:
        for text in limits:
            other = parse_agent(agent_spec(opponent), parse_limit(text))
            for agent in agents:
                for spec, made in make_agents(agent_spec(agent), parse_limit(text))[0]:
                    with counting("openings") as show:
                        answers = answer_openings(made, other, size, openings, seed, jobs or os.cpu_count() or 1, show)
                    results.append(Refuted(made.name, str(spec.limit or "–"), size, tuple(answers)))
    sections = [refutations_section(results, other.name)]
    if len(results) == 1 and (shortest := shortest_refutation(results[0].answers)):
        sections.append(line_section(results[0], shortest))
    return Result(results, tuple(sections), partial(drawn, refutations_chart(results)))
