"""How fast things run: nodes a second, games a second."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from isolation.board import Board
from isolation.geometry import parse_size
from isolation.limits import Limit
from isolation.search import Method, SearchResult, search

if TYPE_CHECKING:
    from isolation.agents import Agent

Heuristic = Callable[[Any, Any], float]


@dataclass(frozen=True)
class Speed:
    """Things counted in a span of time."""

    count: int
    seconds: float

    @property
    def per_second(self) -> float:
        """How many a second."""
        return self.count / self.seconds


def random_openings(count: int, plies: int, size: str = "7x7", seed: int = 1) -> list[tuple[int, ...]]:
    """Random legal openings of so many plies after which the side to move can move; they may repeat."""
    rows, columns = parse_size(size)
    generator = random.Random(seed)
    found: list[tuple[int, ...]] = []
    while len(found) < count:
        board = Board(1, 2, width=columns, height=rows)
        for _ in range(plies):
            if cells := board.legal_cells():
                board.play_cell(generator.choice(cells))
        if board.move_count == plies and board.legal_cells():
            found.append(board.history)
    return found


def nodes_per_second(
    heuristic: Heuristic,
    openings: Sequence[Sequence[int]],
    depth: int,
    size: str = "7x7",
    *,
    method: Method = "alphabeta",
    interpreted: bool = False,
    at_least: float = 0.5,
) -> Speed:
    """Nodes of fixed-depth searches from the openings, taken again and again for at least so many seconds."""
    boards = [Board.from_moves(opening, size) for opening in openings]

    def run(board: Board, depth: int) -> SearchResult:
        return search(board, heuristic, Limit(depth=depth), method, interpreted=interpreted)

    run(boards[0], 1)
    nodes, started = 0, time.perf_counter()
    while True:
        for board in boards:
            nodes += run(board, depth).nodes
        seconds = time.perf_counter() - started
        if seconds >= at_least:
            return Speed(nodes, seconds)


def games_per_second(
    agent_1: Agent, agent_2: Agent, openings: Sequence[Sequence[int]], size: str = "7x7", *, interpreted: bool = False
) -> Speed:
    """Whole games, one from each opening."""
    from isolation.match import play_games

    play_games(agent_1, agent_2, openings[:1], [0], size, interpreted=interpreted)
    started = time.perf_counter()
    play_games(agent_1, agent_2, openings, range(len(openings)), size, interpreted=interpreted)
    return Speed(len(openings), time.perf_counter() - started)


def agent_nodes_per_second(agent: Agent, size: str = "7x7", at_least: float = 0.3) -> float:
    """Nodes a second of an agent that searches, at its own limit, at positions of the opening and the middle game."""
    from isolation.agents import closing

    rows, columns = parse_size(size)
    plies = [2, max(2, rows * columns // 4)]
    boards = [Board.from_moves(cells, size) for n in plies for cells in random_openings(10, n, size)]
    nodes, seconds = 0, 0.0
    with closing(agent.open()) as player:
        player.new_game()
        player.choose(boards[0], 0)
        while seconds < at_least:
            for board in boards:
                result = player.choose(board, 0)
                nodes, seconds = nodes + result.nodes, seconds + result.seconds
    return nodes / seconds


def processor_times(agents: Sequence[Agent], size: str = "7x7", rounds: int = 20) -> list[float]:
    """Nanoseconds of processor time a node, of each agent at its own limit, in the opening and the middle game.

    All are measured in turn, again and again, and the least counts: what else the machine does hardly disturbs it.
    """
    from isolation.answers import Positions, answer_all

    rows, columns = parse_size(size)
    plies = (2, max(2, rows * columns // 4))
    positions = Positions.of([cells for n in plies for cells in random_openings(30, n, size)], size)
    seeds = np.zeros(len(positions), np.uint64)
    least = [float("inf")] * len(agents)
    for _ in range(rounds + 1):
        for place, agent in enumerate(agents):
            started = time.thread_time_ns()
            nodes = int(answer_all(agent, positions, seeds).nodes.sum())
            least[place] = min(least[place], (time.thread_time_ns() - started) / nodes)
    return least
