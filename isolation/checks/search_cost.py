"""Games per second, and search cost: CPU time per node, measured for several agents in turn.

Wall time depends on how busy the machine is. CPU time hardly does, but a processor also slows down when other
processes share its core or caches. Therefore agents take turns of a few milliseconds and are compared turn by turn, so
that any slowdown affects them equally.
"""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..games.batches import Positions, asking, choose_moves
from ..rules.classic_board import Board
from ..rules.game import USUAL_SIZE, Cost, Reason, Size, SizeLike, size_of
from ..search.agents import Agent, ForfeitError, SearchAgent, forfeit_from
from ..usercode.timeouts import cpu_timeout

if TYPE_CHECKING:
    from ..search.compiled import CompiledPlayer


NODES = 10_000
"""Most nodes per move at which agents are measured, and the number for agents whose limit is not in nodes."""
PYTHON_NODES = 100
"""The same for searches in Python."""
ROUNDS, FEWEST_ROUNDS = 20, 5
_SETS = 2
_POSITIONS, _MOST_POSITIONS, _PYTHON_POSITIONS = 30, 300, 4
_TURN = 3_000_000
_LONGEST = 1_000_000_000
"""Shortest turn, and longest total of an agent's turns, in nanoseconds; `FEWEST_ROUNDS` may take longer."""
_QUICK = 10_000_000
"""Nanoseconds up to which a turn in a few positions is extended to many."""
_PATIENCE = 10.0
"""Timeout of a first turn in Python, in seconds of CPU time."""

Turn = Callable[[], tuple[int, int]]
"""Searches, and returns the number of nodes visited and the CPU time in nanoseconds."""


def measure_costs(
    agents: Sequence[Agent], size: SizeLike = USUAL_SIZE, *, interpreted: bool = False, most_rounds: int = ROUNDS
) -> list[Cost | str]:
    """Return the cost of each agent's search in the opening and the middle game, or why it cannot be measured.

    Each agent searches with its own limit, up to `NODES` per move. The reference is the first agent that can be
    measured. Agents with the same code and limit are measured once and get the same cost. Fast agents have
    `most_rounds`; fewer are quicker and less exact.
    """
    size = size_of(size)
    turns: dict[str, tuple[Turn, int] | str] = {}
    keys = [_key(agent) for agent in agents]
    for key, agent in zip(keys, agents, strict=True):
        if key not in turns:
            turns[key] = _first_turn(agent, size, interpreted)
    ready = {key: turn for key, turn in turns.items() if not isinstance(turn, str)}
    costs: dict[str, Cost] = {}
    for group, rounds in _groups(ready, most_rounds):
        costs |= dict(zip(group, compare_turns([ready[key][0] for key in group], rounds), strict=True))
    return [costs.get(key) or str(turns[key]) for key in keys]


def compare_turns(turns: Sequence[Turn], rounds: int = ROUNDS) -> list[Cost]:
    """Return the costs of searches given by their turns; the first is the reference.

    If one of them is not steady after `rounds` rounds, as many rounds are added.
    """
    taken = np.empty((0, len(turns)))
    for _ in range(_SETS):
        taken = np.vstack([taken, [[ns / nodes for nodes, ns in (turn() for turn in turns)] for _ in range(rounds)]])
        costs = [_cost(column, taken[:, 0]) for column in taken.T]
        if all(cost.is_steady for cost in costs):
            break
    return costs


def _cost(own: NDArray[np.float64], reference: NDArray[np.float64]) -> Cost:
    ratios = np.sort(own / reference)
    rank = max(0, math.floor(len(ratios) / 2 - 0.98 * math.sqrt(len(ratios))))  # sign test, at 95 %
    return Cost(float(own.min()), float(np.median(ratios)), float(ratios[rank]), float(ratios[-1 - rank]))


def _key(agent: Agent) -> str:
    searching = agent.searching(NODES)
    return json.dumps(searching.settings(), sort_keys=True) if searching else agent.name


def _first_turn(agent: Agent, size: Size, interpreted: bool) -> tuple[Turn, int] | str:
    """Take an agent's first turn, its code compiled and loaded; return its turn and nanoseconds, or why it has none."""
    searching = agent.searching(NODES)
    if searching is None:
        return "it does not search by countable nodes"
    try:
        player = None if interpreted else searching.compiled(size)
        with cpu_timeout(_PATIENCE):
            search = (
                _compiled_search(searching, player, size, _POSITIONS) if player else _python_search(searching, size)
            )
            nodes, taken = _timed(search, 1)
            if player and taken < _QUICK:
                search = _compiled_search(searching, player, size, _MOST_POSITIONS)
                nodes, taken = _timed(search, 1)
    except Exception as error:
        return forfeit_from(error).detail
    if not nodes:
        return "it visited no nodes"
    repeats = math.ceil(_TURN / max(taken, 1))
    return partial(_timed, search, repeats), repeats * taken


def _timed(search: Callable[[], int], repeats: int) -> tuple[int, int]:
    started = time.thread_time_ns()
    nodes = sum(search() for _ in range(repeats))
    return nodes, time.thread_time_ns() - started


def _groups(ready: dict[str, tuple[Turn, int]], most: int) -> list[tuple[list[str], int]]:
    """Return the groups measured together and their numbers of rounds: all fast agents at once, each slow one alone."""
    rounds = {key: min(most, max(FEWEST_ROUNDS, _LONGEST // taken)) for key, (_, taken) in ready.items()}
    first, *others = list(ready) or [""]
    if not first:
        return []
    together = [key for key in others if rounds[key] == most]
    return [
        ([first, *together], rounds[first]),
        *(([first, key], min(rounds[first], rounds[key])) for key in others if rounds[key] < most),
    ]


@cache
def _positions(size: Size, count: int) -> list[tuple[int, ...]]:
    """Return `count` positions of the opening and as many of the middle game, always the same."""
    plies = (2, max(2, size.cells // 4))
    return [cells for number in plies for cells in random_openings(count, number, size)]


def _compiled_search(agent: SearchAgent, player: CompiledPlayer, size: Size, most: int) -> Callable[[], int]:
    """Return a function that searches at most `most` positions of each kind; it returns the number of nodes visited."""
    nodes = agent.limit.nodes or NODES
    # with few positions, repeated searches would train the processor's branch prediction
    count = min(most, max(_POSITIONS, _POSITIONS * NODES // nodes))
    positions = Positions.of(_positions(size, count), size)
    seeds = np.zeros(len(positions), np.uint64)
    if detail := choose_moves(agent, positions, seeds).detail:
        raise ForfeitError(Reason.ERROR, detail)
    ask = asking(player, positions, seeds)
    return lambda: int(ask().nodes.sum())


def _python_search(agent: SearchAgent, size: Size) -> Callable[[], int]:
    boards = [Board.from_moves(cells, size) for cells in _positions(size, _PYTHON_POSITIONS)]
    searching = agent.searching(PYTHON_NODES)
    return lambda: sum(searching.find_in_python(board, 0).nodes for board in boards)


def random_openings(count: int, plies: int, size: Size = USUAL_SIZE, seed: int = 1) -> list[tuple[int, ...]]:
    """Return random legal openings of `plies` plies after which the side to move can move; they may repeat."""
    generator = random.Random(seed)
    openings: list[tuple[int, ...]] = []
    while len(openings) < count:
        board = Board(1, 2, width=size.columns, height=size.rows)
        for _ in range(plies):
            if cells := board.legal_cells():
                board.play_cell(generator.choice(cells))
        if board.move_count == plies and board.legal_cells():
            openings.append(board.history)
    return openings


def games_per_second(
    agent_1: Agent, agent_2: Agent, openings: Sequence[Sequence[int]], *, interpreted: bool = False
) -> float:
    """Measure the speed of whole games on 7x7, one from each opening, in CPU time."""
    from ..games.match import play_games

    play_games(agent_1, agent_2, openings[:1], [0], interpreted=interpreted)
    started = time.process_time()
    play_games(agent_1, agent_2, openings, range(len(openings)), interpreted=interpreted)
    return len(openings) / (time.process_time() - started)
