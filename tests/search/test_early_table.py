"""The table of the first plies on 7x7: it says what searching says, and how it was made."""

from itertools import permutations

import numpy as np
import pytest

from benchmarks.make_solved_tables import solve_early
from knights_isolation.isolation import Board
from knights_isolation.isolation.games.batches import States, solve_moves
from knights_isolation.isolation.rules.geometry import cells_of
from knights_isolation.isolation.rules.solved_tables import pair_is_won
from knights_isolation.isolation.search.solver import (
    LAST_PLY,
    SearchBudget,
    early_moves,
    early_value,
    index_of,
    move_results,
    openings,
    solve,
    steps_between,
)

RANDOM = np.random.default_rng(5)


def random_path(plies: int, size: str, cells: int) -> list[int]:
    """Return the moves of a random game of so many plies."""
    while True:
        path = RANDOM.choice(cells, 2, replace=False).tolist()
        board = Board.from_moves(path, size)
        while len(path) < plies and board.legal_cells():
            path.append(int(RANDOM.choice(board.legal_cells())))
            board = board.successor(path[-1])
        if len(path) == plies:
            return path


def test_the_table_agrees_with_that_of_the_openings() -> None:
    for pair in permutations(range(49), 2):
        assert early_value(Board.from_moves(pair)) == pair_is_won(7, 7, *pair)


def test_the_table_says_which_moves_a_search_finds() -> None:
    boards = [Board.from_moves(random_path(plies, "7x7", 49)) for plies in (3, 4, 5, 6, 6, 6) for _ in range(4)]
    searched = solve_moves(States.of(boards))
    assert [early_moves(board) for board in boards] == [tuple(cells_of(int(low))) for low, _ in searched.winning]
    assert {early_value(board) for board in boards} == {False, True}
    after = [board.successor(cell) for board in boards[-8:] for cell in board.legal_cells()]
    values = solve_moves(States.of([board for board in after if board.legal_cells()])).values
    assert [early_value(board) for board in after if board.legal_cells()] == (values > 0).tolist()


def test_positions_without_history_are_found_and_others_are_not() -> None:
    board = Board.from_moves([24, 14, 9, 1, 0, 16])
    assert early_moves(Board.from_fen(board.fen)) == early_moves(board) == solve(board).moves
    assert sum(move.nodes for move in move_results(board, SearchBudget())) == 0
    later = Board.from_moves(random_path(LAST_PLY + 2, "7x7", 49))
    assert early_moves(later) is early_value(later) is early_moves(Board.from_moves([12, 1], "5x5")) is None
    assert early_moves(Board.from_moves([24])) is None
    scattered = Board.from_fen("7/7/*5*/3N3/7/7/n6 w - - 2 3")  # no knight comes from the visited cells
    assert early_moves(scattered) is early_value(scattered) is None


def test_a_table_is_made_of_what_the_solver_says() -> None:
    table = solve_early(4, 4, 4)
    for _ in range(40):
        path = random_path(int(RANDOM.integers(2, 5)), "4x4", 16)
        image, steps = openings(4, 4)[path[0], path[1]].image, steps_between(4, 4)
        wins, board = table[index_of(path, 4, 4)], Board.from_moves(path, "4x4")
        made = [cell for cell in board.legal_cells() if wins >> steps[image[path[-2]], image[cell]] & 1]
        assert made == list(solve(board).moves)


@pytest.mark.slow
def test_regret_is_known_for_all_moves_of_the_first_plies() -> None:
    from knights_isolation.isolation.games.learning import PerfectPlay

    path = random_path(LAST_PLY + 1, "7x7", 49)
    board = Board.from_moves(path[:2])
    perfect = PerfectPlay(board, None)
    for cell in path[2:]:
        board = board.successor(cell)
        perfect.follow(cell, board)
        assert perfect.regret is not None
