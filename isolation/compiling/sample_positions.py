"""Positions for comparing heuristics: few, chosen from whole games for coverage."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from itertools import permutations

from knights_isolation.isolation.editions.classic_board import Board

_CANDIDATES = 8
"""How many positions are played for each that is chosen."""


def sample_positions(size: tuple[int, int], count: int, seed: int = 1) -> Iterator[Board]:
    """Positions with both players placed, finished ones included, those that show most first.

    They are from whole games, in turn games between players who avoid running out of moves, which on 7x7 reach the
    last cells, and games of random moves; the first begin in the corners. What occurs in these games is among the
    positions: each number of plies, each pair of numbers of moves, each cell that either player stands on, also with
    eight moves, and each distance of the two.
    """
    for board in _chosen(size, count, seed):
        yield board.copy()


@lru_cache(maxsize=32)
def _chosen(size: tuple[int, int], count: int, seed: int) -> tuple[Board, ...]:
    generator = random.Random(seed)
    rows, columns = size
    corners = dict.fromkeys((rows * columns - 1, (rows - 1) * columns, columns - 1, 0))
    games = positions_of_games(size, _CANDIDATES * count, generator, list(permutations(corners, 2)))
    candidates = [(board, _features(board)) for board in games]
    frequencies = Counter(feature for _, features in candidates for feature in features)
    chosen, others, seen = [], [], set[Hashable]()
    for board, features in candidates:
        if features <= seen:
            # Drawn by rarity without replacement: Efraimidis & Spirakis 2006.
            others.append((generator.random() ** (1 / sum(1 / frequencies[feature] for feature in features)), board))
        else:
            chosen.append(board)
        seen |= features
    others.sort(key=lambda drawn: -drawn[0])
    return tuple([*chosen, *(board for _, board in others)][:count])


def _features(board: Board) -> set[Hashable]:
    """Return the features of a position that others may lack."""
    moves = tuple(board.moves_mask(index).bit_count() for index in (0, 1))
    cells = ((index, board.locations[index], moves[index] == 8) for index in (0, 1))
    (row, column), (other_row, other_column) = (divmod(cell or 0, board.width) for cell in board.locations)
    return {board.move_count, moves, *cells, ("apart", abs(row - other_row), abs(column - other_column))}


def positions_of_games(
    size: tuple[int, int], count: int, generator: random.Random, placements: Sequence[tuple[int, ...]] = ()
) -> list[Board]:
    """The positions of whole games, at least so many; of one that is longer than this, its beginning.

    In turn a game is long and of random moves; the first begin with these placements, all others at random.
    """
    boards: list[Board] = []
    remaining, is_long = iter(placements), False
    while len(boards) < count:
        board, first, is_long = Board(1, 2, width=size[1], height=size[0]), len(boards), not is_long
        placement = next(remaining, ())
        while True:
            if board.move_count >= 2:
                boards.append(board.copy())
            cells = board.legal_cells()
            if not cells or len(boards) - first >= count:
                break
            if board.move_count < len(placement):
                board.play_cell(placement[board.move_count])
            else:
                board.play_cell(_narrowest(board, cells, generator) if is_long else generator.choice(cells))
        if board.move_count < 2:
            break
    return boards


def _narrowest(board: Board, cells: tuple[int, ...], generator: random.Random) -> int:
    """A move that leaves both players a way on, if one does, and the mover few: Warnsdorff's rule of knight's tours."""
    if board.move_count < 2:
        return generator.choice(cells)

    def ways_on(cell: int) -> tuple[bool, int, float]:
        after = board.successor(cell)
        own, other = (after.moves_mask(index).bit_count() for index in (board.active_index, after.active_index))
        return own == 0 or other == 0, own, generator.random()

    return min(cells, key=ways_on)
