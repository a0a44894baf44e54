"""Speed: games per second, and openings for measuring it."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..editions.classic_board import Board
from ..rules.geometry import parse_size

if TYPE_CHECKING:
    from ..players.agents import Agent


def random_openings(count: int, plies: int, size: str = "7x7", seed: int = 1) -> list[tuple[int, ...]]:
    """Return random legal openings of `plies` plies after which the side to move can move; they may repeat."""
    rows, columns = parse_size(size)
    generator = random.Random(seed)
    openings: list[tuple[int, ...]] = []
    while len(openings) < count:
        board = Board(1, 2, width=columns, height=rows)
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
