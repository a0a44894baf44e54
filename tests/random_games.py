"""Random games for property tests, and a second, naive account of the rules to compare with."""

from __future__ import annotations

from hypothesis import assume
from hypothesis import strategies as st

from knights_isolation.isolation import Board
from knights_isolation.isolation.rules.game import parse_size

KNIGHT_JUMPS = {(down, right) for down in (-2, -1, 1, 2) for right in (-2, -1, 1, 2) if abs(down) != abs(right)}

small_sizes = st.one_of(
    st.sampled_from([(1, 1), (3, 4), (4, 3), (7, 7), (9, 11)]), st.tuples(st.integers(1, 9), st.integers(1, 9))
)
all_sizes = st.one_of(small_sizes, st.just((101, 101)))


@st.composite
def games(draw: st.DrawFn, max_plies: int = 40, sizes: st.SearchStrategy[tuple[int, int]] = all_sizes) -> Board:
    """A board after random legal moves; its size is random too."""
    rows, columns = draw(sizes)
    random = draw(st.randoms(use_true_random=False))
    return random_game(random, rows, columns, draw(st.integers(0, max_plies)))


@st.composite
def positions(draw: st.DrawFn, sizes: st.SearchStrategy[str] | None = None) -> Board:
    """A position, 7x7 by default, with both players placed and in which the side to move can move."""
    rows, columns = parse_size("7x7" if sizes is None else draw(sizes))
    random = draw(st.randoms(use_true_random=False))
    board = random_game(random, rows, columns, draw(st.integers(2, 30)))
    while not board.legal_cells():
        board.undo()
    assume(board.move_count >= 2)
    return Board.from_moves(board.history, board.size)


def random_game(random, rows, columns, plies):
    board = Board.from_moves([], size=(rows, columns), players=("first", "second"))
    for _ in range(plies):
        if not board.legal_cells():
            break
        board.play_cell(random.choice(board.legal_cells()))
    return board


def replay(board: Board) -> tuple[set, list]:
    """The visited (row, column) cells and both players' locations, from the history alone."""
    moves = [divmod(cell, board.width) for cell in board.history]
    return set(moves), [moves[player::2][-1] if moves[player::2] else None for player in (0, 1)]


def naive_moves(board: Board, player: int) -> set:
    """The moves of player 0 or 1, found by trying every cell of the board."""
    visited, locations = replay(board)
    cells = {(row, column) for row in range(board.height) for column in range(board.width)} - visited
    if locations[player] is None:
        return cells
    row, column = locations[player]
    return {cell for cell in cells if (cell[0] - row, cell[1] - column) in KNIGHT_JUMPS}
