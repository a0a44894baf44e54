"""Agents' moves in the positions of a suite.

Deterministic agents are asked once; others are asked several times, and their results are averaged.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.checks.answer_checks import unresponsive_reason
from knights_isolation.isolation.checks.search_cost import measure_costs
from knights_isolation.isolation.editions.classic_board import Board
from knights_isolation.isolation.games.batch_moves import BatchMoves, Positions, choose_moves, join_answers
from knights_isolation.isolation.players.agents import Agent, SearchAgent
from knights_isolation.isolation.rules.limits import Cost, Limit
from knights_isolation.isolation.rules.outcome import Reason
from knights_isolation.isolation.rules.seeds import splitmix64
from knights_isolation.isolation.rules.sizes import Size
from knights_isolation.isolation.usercode.output_capture import WantsToEnd, capture_output, prevent_exit
from knights_isolation.isolation.usercode.timeouts import UserCodeTimeout, cpu_timeout

from ..play.cluster.cluster_access import UserFile, chosen, files_of, placed_specs
from ..play.parallel_map import parallel_map
from ..roster import make_agent, make_agents, parse_spec

REPEATS = 4
"""Number of times that nondeterministic agents are asked in each position."""
LONGEST_SEARCH = 10.0
"""Time limit in CPU seconds for repeating a search that failed."""

Question = tuple[str, int, Positions, NDArray[np.uint64]]
"""The spec of an agent, a number, and positions in which it is asked, with a seed for each."""
_COMPILED_CHUNK = 1000
_INTERPRETED_CHUNK = 10


@dataclass(frozen=True)
class AgentAnswers:
    """Moves of an agent: `repeats` answers in each position, ordered by repetition, then by position.

    Attributes:
        name: name of the agent.
        spec: its complete spec.
        repeats: number of answers in each position.
        answers: its moves.
    """

    name: str
    spec: str
    repeats: int
    answers: BatchMoves


def collect_answers(
    specs: Sequence[str],
    positions: Positions,
    *,
    limit: Limit | None = None,
    repeats: int = REPEATS,
    seed: int = 1,
    jobs: int = 1,
    cluster: str | None = None,
    show: Callable[[int, int], None] = lambda asked, agents: None,
) -> list[AgentAnswers]:
    """Ask each agent for its move in each position.

    A spec may stand for several agents, as `ID:*` does; duplicates count once.

    Compiled agents are asked in threads of this process, others in worker processes or on a cluster.

    Args:
        limit: for agents without a limit.
        jobs, cluster: see `parallel_map.parallel_mapper`.
        show: called with the number of finished agents, and of all.

    Raises:
        SpecError: a spec names no agent.
        ValueError: user code does not answer in time.
    """
    wanted = agents_of(specs, limit)
    compiled = {spec for spec, agent in wanted.items() if agent.compiled(positions.size) is not None}
    alone = [spec for spec in wanted if spec not in compiled]
    for spec in alone:
        if silence := unresponsive_reason(wanted[spec], positions.size):
            raise ValueError(silence)
    questions = [
        (spec, number, *_asked(positions, rows, seed))
        for spec, agent in wanted.items()
        for number, rows in enumerate(_chunks(agent, len(positions), repeats, spec in compiled))
    ]
    parts: dict[str, dict[int, BatchMoves]] = {spec: {} for spec in wanted}
    due = Counter(spec for spec, *_ in questions)
    files = files_of(alone) if chosen(cluster, jobs) else ()
    here = _in_threads(wanted, [question for question in questions if question[0] in compiled], jobs)
    apart = ((files, *question) for question in questions if question[0] not in compiled)
    show(0, len(wanted))
    for spec, number, answers in chain(here, parallel_map(_ask_again, apart, jobs, cluster)):
        parts[spec][number] = answers
        show(sum(len(parts[each]) == due[each] for each in wanted), len(wanted))
    joined = {spec: join_answers([parts[spec][number] for number in range(due[spec])]) for spec in wanted}
    return [AgentAnswers(agent.name, spec, _times(agent, repeats), joined[spec]) for spec, agent in wanted.items()]


def costs_over_first(specs: Sequence[str], size: Size) -> dict[str, Cost]:
    """Measure the agents' costs per node on this machine, relative to the first, by name; see `measure_costs`.

    Agents whose cost cannot be measured are missing; if the first one is among them, all are.
    """
    agents = [make_agent(parse_spec(spec)) for spec in specs]
    first, *others = measure_costs(agents, size)
    known = zip(agents, (first, *others), strict=True) if isinstance(first, Cost) else ()
    return {agent.name: cost for agent, cost in known if isinstance(cost, Cost)}


def agents_of(specs: Sequence[str], limit: Limit | None) -> dict[str, Agent]:
    """Return the agents of specs by their completed specs; warn about files that are left out."""
    wanted: dict[str, Agent] = {}
    for text in specs:
        made, left_out = make_agents(text, limit)
        wanted |= {str(spec): agent for spec, agent in made}
        for why in left_out:
            warnings.warn(f"left out: {why}", stacklevel=2)
    return wanted


def ask(agent: Agent, positions: Positions, repeats: int = REPEATS, seed: int = 1) -> AgentAnswers:
    """Ask one agent for its moves in all positions, in this process."""
    rows = np.arange(_times(agent, repeats) * len(positions))
    return AgentAnswers(agent.name, "", _times(agent, repeats), choose_moves(agent, *_asked(positions, rows, seed)))


def failing_position(agent: SearchAgent, root: Board) -> Board | None:
    """Repeat a search from `root` in Python, and return the position at which the heuristic fails.

    None if it does not fail again, or not within some seconds.
    """
    asked = root

    def watched(game: Any, player: Any) -> float:
        nonlocal asked
        asked = game
        return agent.heuristic(game, player)  # type: ignore[misc]

    try:
        with capture_output(), prevent_exit(), cpu_timeout(LONGEST_SEARCH):
            replace(agent, heuristic=watched).find_in_python(root.copy(), 0)
    except (UserCodeTimeout, WantsToEnd):
        return None
    except Exception:  # any exception of the heuristic
        return asked.copy()
    return None


def failing_positions(asked: Sequence[AgentAnswers], positions: Positions) -> dict[str, tuple[str, Board]]:
    """Return, by agent name, the FILE:FUNCTION of each heuristic that failed in these positions, and where it fails.

    Heuristics with other parameter values than their defaults, and failures that do not recur, are left out.
    """
    first_failures = {}
    for answers in asked:
        first = answers.answers.first_failure
        if first is None or answers.answers.failure[first] != Reason.ERROR:
            continue
        spec = parse_spec(answers.spec)
        agent = make_agent(spec)
        if isinstance(agent, SearchAgent) and spec.is_file and not spec.parameters:
            root = positions.board(first % len(positions))
            if board := failing_position(agent, root):
                first_failures[answers.name] = spec.target, board
    return first_failures


def _times(agent: Agent, repeats: int) -> int:
    return 1 if agent.is_deterministic else repeats


def _chunks(agent: Agent, count: int, repeats: int, is_compiled: bool) -> list[NDArray[np.int64]]:
    rows = np.arange(_times(agent, repeats) * count)
    chunk = _COMPILED_CHUNK if is_compiled else _INTERPRETED_CHUNK
    return [rows[first : first + chunk] for first in range(0, len(rows), chunk)]


def _asked(positions: Positions, rows: NDArray[np.int64], seed: int) -> tuple[Positions, NDArray[np.uint64]]:
    """Return the positions of some answers, which are ordered by repetition, then by position, and a seed for each."""
    seeds = splitmix64(np.uint64(splitmix64(seed)) ^ splitmix64(rows.astype(np.uint64) + np.uint64(1)))
    return positions.take(rows % len(positions)), seeds


def _in_threads(
    agents: Mapping[str, Agent], questions: Sequence[Question], jobs: int
) -> Iterator[tuple[str, int, BatchMoves]]:
    if not questions:
        return
    is_cancelled = threading.Event()
    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        running = {
            pool.submit(choose_moves, agents[spec], asked, seeds, is_cancelled.is_set): (spec, number)
            for spec, number, asked, seeds in questions
        }
        try:
            for done in as_completed(running):
                yield *running[done], done.result()
        except BaseException:
            is_cancelled.set()
            pool.shutdown(cancel_futures=True)
            raise


def _ask_again(
    files: Sequence[UserFile], spec: str, number: int, positions: Positions, seeds: NDArray[np.uint64]
) -> tuple[str, int, BatchMoves]:
    """Recreate an agent in another process, perhaps on another machine with transferred user files, and ask it."""
    (here,) = placed_specs([spec], files)
    return spec, number, choose_moves(make_agent(parse_spec(here)), positions, seeds)
