"""How many lost openings could be saved at all: by a player who knows every result, and what the other will answer.

Where all moves lose, the other side must err for a game to be saved. So we let it answer one line after another, those
first that take longest to refute, as if each were a game of its own, until it errs or has answered often enough. No
player can know that much; what even this one does not save is beyond anybody.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from experiments.inference.proportions import Proportion, clopper_pearson
from isolation.agents import Agent, Player, closing
from isolation.board import Board
from isolation.solver import Meter, value, valued_moves

ANSWERS = 150
"""How often the other side answers, an opening."""


def ceiling(other: Agent, size: str, openings: Sequence[Sequence[int]], kept: Path) -> Proportion:
    """The share of openings, of a size that is solved, whose loser could be saved against another agent.

    `kept` is a file with an answer a line, of openings done before; those to come are added.
    """
    names = {" ".join(map(str, opening)): opening for opening in openings}
    known = dict(json.loads(line) for line in kept.read_text().splitlines()) if kept.exists() else {}
    with closing(other.open()) as player, kept.open("a", encoding="utf-8") as file:
        for text, opening in names.items():
            if text not in known:
                known[text] = can_be_saved(player, Board.from_moves(opening, size))
                file.write(f"{json.dumps([text, known[text]])}\n")
                file.flush()
    return clopper_pearson(sum(known[text] for text in names), len(names))


def can_be_saved(player: Player, board: Board, answers: int = ANSWERS) -> bool:
    """Whether the side that has lost finds a line along which a player lets it off, within so many answers."""
    asked = 0

    def saves(board: Board) -> bool:
        """Whether we, who are to move, get to a won position."""
        losing = []
        for move in valued_moves(board, Meter()):
            if move.keeps:
                return True
            losing.append(move)
        hardest_first = sorted(losing, key=lambda move: -move.nodes)
        return any(lets_off(board.successor(move.cell)) for move in hardest_first)

    def lets_off(board: Board) -> bool:
        """Whether the other side, which is to move and has won, comes to let us have a won position."""
        nonlocal asked
        if not board.legal_cells() or asked >= answers:
            return False
        asked += 1
        player.new_game()
        return saves(board.successor(player.choose(board, seed=0).move))

    return lets_off(board) if value(board, Meter()) else saves(board)
