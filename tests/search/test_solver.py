"""The exact values against plain minimax to the end of the game, known counts, and each other."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from functools import cache
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_games import positions, random_game

from knights_isolation.isolation import Board, Limit, solve
from knights_isolation.isolation.rules.game import parse_size
from knights_isolation.isolation.rules.geometry import cell_of, move_of, symmetries
from knights_isolation.isolation.rules.solved_tables import pair_is_won
from knights_isolation.isolation.search import solver
from knights_isolation.isolation.search.solver import SearchBudget, is_mirrored, move_results, solve_length

COUNTS = json.loads((Path(__file__).parents[1] / "data" / "solved.json").read_text())["boards"]

# Plain minimax, on nothing but the rules


@cache
def jumps(cell: int, rows: int, columns: int) -> tuple[int, ...]:
    row, column = divmod(cell, columns)
    steps = [(down, right) for down in (-2, -1, 1, 2) for right in (-2, -1, 1, 2) if abs(down) != abs(right)]
    targets = [(row + down, column + right) for down, right in steps]
    return tuple(r * columns + c for r, c in targets if 0 <= r < rows and 0 <= c < columns)


def plies_left(open_cells: frozenset[int], mover: int, other: int, rows: int, columns: int) -> int:
    """Plies to the end if the winner hurries and the loser delays: odd if the side to move wins."""

    @cache
    def left(open_cells: frozenset[int], mover: int, other: int) -> int:
        lengths = [
            1 + left(open_cells - {cell}, other, cell) for cell in jumps(mover, rows, columns) if cell in open_cells
        ]
        winning = [length for length in lengths if length % 2]
        return min(winning) if winning else max(lengths, default=0)

    return left(open_cells, mover, other)


def plies_left_on(board: Board) -> int:
    cells = frozenset(cell for cell in range(board.width * board.height) if board.blank >> cell & 1)
    mover, other = board.locations[board.active_index], board.locations[1 - board.active_index]
    return plies_left(cells, mover, other, board.height, board.width)


def winner_by_minimax(board: Board) -> int:
    mover_wins = plies_left_on(board) % 2
    return 1 if mover_wins == (board.active_index == 0) else 2


def late_position(rng: random.Random, size: str, blank_cells: int) -> Board:
    """A random position with at most so many blank cells, in which the side to move can move."""
    rows, columns = parse_size(size)
    while True:
        board = random_game(rng, rows, columns, rows * columns - blank_cells)
        if board.blank.bit_count() <= blank_cells and board.legal_cells():
            return board


LATE = {"5x5": 15, "6x6": 16, "7x7": 18, "6x8": 18}


@pytest.mark.parametrize("size", ["3x3", "3x4", "4x3", "4x4", pytest.param("3x6", marks=pytest.mark.exhaustive)])
def test_every_opening_of_a_small_board_has_the_value_of_minimax(size):
    rows, columns = parse_size(size)
    for pair in permutations(range(rows * columns), 2):
        board = Board.from_moves(pair, size)
        winner = winner_by_minimax(board)
        assert solve(board).winner == winner
        assert not board.legal_cells() or SearchBudget().search(board, None) == (winner == 1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("size", LATE)
def test_late_positions_have_the_value_the_moves_and_the_length_of_minimax(size):
    rng = random.Random(1)
    for _ in range(300):
        board = late_position(rng, size, LATE[size])
        length = plies_left_on(board)
        solution = solve(board)
        assert (solution.winner - 1 == board.active_index) == (length % 2 == 1)
        assert solution.moves == tuple(
            cell for cell in board.legal_cells() if plies_left_on(board.successor(cell)) % 2 == 0
        )
        result = solve_length(board)
        assert (result.winner, result.plies, result.at_least) == (solution.winner, length, length)
        assert result.moves == tuple(
            cell for cell in board.legal_cells() if plies_left_on(board.successor(cell)) == length - 1
        )


@pytest.mark.parametrize("size", COUNTS)
def test_the_shipped_tables_have_the_known_counts(size):
    rows, columns = parse_size(size)
    won = [pair_is_won(rows, columns, *pair) for pair in permutations(range(rows * columns), 2)]
    assert len(won) == COUNTS[size]["openings"]
    assert sum(won) == COUNTS[size]["mover_wins"]
    assert solve(Board.from_moves([], size)).winner == 2


@pytest.mark.exhaustive
@pytest.mark.parametrize("size", ["3x4", "4x3", "4x5", "5x5"])
def test_the_shipped_tables_say_what_the_search_finds(size):
    for pair in permutations(range(len(symmetries(*parse_size(size))[0])), 2):
        board = Board.from_moves(pair, size)
        searched = SearchBudget().search(board, None) if board.legal_cells() else False
        assert searched is pair_is_won(*parse_size(size), *pair)


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(st.tuples(st.integers(0, 48), st.integers(0, 48)).filter(lambda pair: pair[0] != pair[1]))
def test_the_table_of_7x7_says_what_the_search_finds(pair):
    assert SearchBudget().search(Board.from_moves(pair), None) is pair_is_won(7, 7, *pair)


@pytest.mark.parametrize("size", ["2x5", "3x4", "4x4", "4x5", "5x6", "6x6", "6x9"])
def test_who_stands_on_the_mirror_image_and_is_not_to_move_wins(size):
    rows, columns = parse_size(size)
    for image in symmetries(rows, columns):
        if any(image[image[cell]] != cell or image[cell] == cell for cell in range(rows * columns)):
            continue
        for cell in range(rows * columns):
            board = Board.from_moves([cell, image[cell]], size)
            assert is_mirrored(board)
            assert pair_is_won(rows, columns, cell, image[cell]) is False


def mirrored_position(rng: random.Random, size: str) -> Board:
    """A position in which player 2 has answered every move of player 1 by its image in the middle of the board."""
    last = len(symmetries(*parse_size(size))[0]) - 1
    first = rng.choice([cell for cell in range(last + 1) if 2 * cell != last])
    board = Board.from_moves([first, last - first], size)
    for _ in range(rng.randrange(5)):
        cells = [cell for cell in board.legal_cells() if 2 * cell != last]
        if cells:
            cell = rng.choice(cells)
            board = board.successor(cell).successor(last - cell)
    return board


def test_a_mirrored_position_is_lost_unless_a_blank_cell_is_its_own_image():
    rng = random.Random(2)
    for _ in range(100):
        board = mirrored_position(rng, rng.choice(["4x4", "4x5", "3x6"]))
        assert is_mirrored(board)
        assert plies_left_on(board) % 2 == 0
    with_middle = [mirrored_position(rng, "5x5") for _ in range(100)]
    assert not any(is_mirrored(board) for board in with_middle)
    assert any(plies_left_on(board) % 2 for board in with_middle if board.blank.bit_count() < 18)


@pytest.mark.exhaustive
def test_a_board_with_an_even_number_of_cells_is_won_by_player_2_however_large():
    for size in ("9x10", "8x16"):
        limit = Limit(nodes=1)
        assert solve(Board.from_moves([], size), limit).winner == 2
        assert solve(Board.from_moves([5], size), limit).winner == 2
        assert solve(Board.from_moves([5], size), limit).moves


@cache
def mobilities(rows: int, columns: int):
    """A compiled function of blank cells, in two words: the mobility of each cell in row-major order."""
    from numba import njit

    from knights_isolation.isolation.native.bitboards import contains
    from knights_isolation.isolation.native.kernels.solve import mobility
    from knights_isolation.isolation.native.position import make_position

    @njit
    def of_each_cell(low, high):
        ones, twos, fours = mobility(make_position(rows, columns, low, high, 0, 0, 0))
        return [contains(ones, i) + 2 * contains(twos, i) + 4 * contains(fours, i) for i in range(rows * columns)]

    return of_each_cell


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(["3x3", "5x7", "8x8", "9x9"]), st.integers(0, 2**81 - 1))
def test_the_mobility_of_all_cells_at_once_is_that_of_each(size, blank):
    rows, columns = parse_size(size)
    blank &= (1 << rows * columns) - 1
    around = [sum(blank >> near & 1 for near in jumps(cell, rows, columns)) for cell in range(rows * columns)]
    assert mobilities(rows, columns)(np.uint64(blank & (1 << 64) - 1), np.uint64(blank >> 64)) == [
        count % 8 for count in around
    ]


# What is answered


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(positions(sizes=st.sampled_from(["5x5", "6x6", "4x7", "6x8"])))
def test_the_line_is_legal_ends_the_game_and_the_winner_makes_no_mistake(board):
    solution = solve(board)
    for cell in solution.line:
        if solution.winner - 1 == board.active_index:
            assert cell in solve(board).moves
        board = board.successor(cell)
    assert board.outcome().winner == solution.winner


@settings(deadline=None, max_examples=30)
@given(positions(sizes=st.sampled_from(["5x5", "6x6", "4x7"])))
def test_along_the_best_line_each_ply_brings_the_end_one_ply_nearer(board):
    length = solve_length(board)
    assert len(length.line) == length.plies
    for done, cell in enumerate(length.line, start=1):
        board = board.successor(cell)
        assert solve_length(board).plies == length.plies - done
    assert board.outcome().winner == length.winner


@settings(deadline=None, max_examples=30)
@given(positions(sizes=st.sampled_from(["5x5", "6x6"])), st.integers(0, 7))
def test_symmetric_positions_have_the_same_result(board, which):
    image = symmetries(board.height, board.width)[which]
    other = Board.from_moves([image[cell] for cell in board.history], board.size)
    solution, mirrored = solve(board), solve(other)
    assert mirrored.winner == solution.winner
    assert mirrored.moves == tuple(sorted(image[cell] for cell in solution.moves))
    assert solve_length(other).plies == solve_length(board).plies


def test_a_finished_game_is_lost_for_the_side_to_move():
    board = Board.from_moves([4, 0], "3x3")
    assert solve(board).winner == 2
    assert (solve(board).moves, solve(board).line) == ((), ())
    assert (solve_length(board).winner, solve_length(board).plies) == (2, 0)


def test_before_the_placements_the_moves_are_those_the_tables_say():
    (first,) = {solve(Board.from_moves([])).winner}
    answer = solve(Board.from_moves([24]))
    assert first == 2
    assert answer.winner == 2
    assert answer.moves == tuple(cell for cell in range(49) if cell != 24 and not pair_is_won(7, 7, 24, cell))
    assert answer.nodes < 5_000_000


def test_placements_on_a_board_without_a_table_are_searched(monkeypatch):
    empty, placed = Board.from_moves([], "3x5"), Board.from_moves([0], "3x5")
    by_table = solve(placed)
    monkeypatch.setattr(solver, "pair_is_won", lambda *pair: None)
    searched = solve(placed)
    assert (searched.winner, searched.moves) == (by_table.winner, by_table.moves)
    assert searched.nodes > by_table.nodes
    assert solve(empty).winner == 2


def test_the_length_counts_the_placements_too():
    board = Board.from_moves([], "3x4")
    lengths = {first: solve_length(board.successor(first)).plies for first in range(12)}
    solution = solve_length(board)
    assert solution.plies == len(solution.line) == 1 + max(lengths.values())
    assert solution.moves == tuple(first for first in lengths if lengths[first] == max(lengths.values()))


@pytest.mark.exhaustive
def test_a_wide_board_is_solved_like_a_narrow_one():
    rng = random.Random(5)
    board = late_position(rng, "6x8", 24)
    wide = Board.from_moves([cell_of(move_of(cell, 8)[::-1], 6) for cell in board.history], "8x6")
    assert solve(board).winner == solve(wide).winner
    for size in ("9x9", "8x16"):
        late = late_position(rng, size, 20)
        assert solve(late).winner == winner_by_minimax(late)


# Limits


def test_a_limit_that_is_too_small_leaves_the_result_unknown():
    board = Board.from_moves([40, 0], "9x9")
    solution = solve(board, Limit(nodes=10_000))
    assert (solution.winner, solution.moves, solution.line) == (None, (), ())
    assert solution.undecided == board.legal_cells()
    assert solution.nodes == 10_000
    length = solve_length(board, Limit(nodes=10_000))
    assert (length.winner, length.plies) == (None, None)


def test_nodes_are_reproducible_and_enough_of_them_solve():
    board = Board.from_moves([24, 14, 9, 29, 18, 16])
    needed = solve(board)
    assert solve(board, Limit(nodes=needed.nodes)) == needed
    assert solve(board, Limit(nodes=needed.nodes - 1)) != needed


def test_what_a_limited_search_knows_is_true():
    rng = random.Random(3)
    for _ in range(50):
        board = late_position(rng, "6x6", 22)
        whole, length = solve(board), solve_length(board)
        for nodes in (10, 100, 1000):
            part = solve(board, Limit(nodes=nodes))
            assert part.winner in (None, whole.winner)
            assert set(part.moves) <= set(whole.moves) <= set(part.moves) | set(part.undecided)
            assert part.line == whole.line[: len(part.line)]
            shorter = solve_length(board, Limit(nodes=nodes))
            assert shorter.plies in (None, length.plies)
            assert shorter.at_least <= length.plies
            assert shorter.winner is None or set(length.moves) & set(shorter.moves)


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["ms", "cpu_ms"])
def test_time_limits_end_the_search(unit):
    started = time.monotonic()
    assert solve(Board.from_moves([49, 0], "9x11"), Limit(**{unit: 30.0})).winner is None
    assert time.monotonic() - started < 20


@pytest.mark.slow
@pytest.mark.parametrize("limit", [None, Limit(nodes=10**12), Limit(ms=10**7)])
def test_a_long_search_can_be_interrupted(limit):
    def interrupt(signum, frame):
        raise KeyboardInterrupt

    solve(Board.from_moves([49, 0], "9x11"), Limit(nodes=1))
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            solve(Board.from_moves([49, 0], "9x11"), limit)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_depth_is_no_limit_for_the_solver():
    with pytest.raises(ValueError, match="use a limit of nodes or time, not depth=3"):
        solve(Board.from_moves([24, 14]), Limit(depth=3))


# What cannot be solved


def test_a_board_that_is_too_large_is_refused():
    with pytest.raises(ValueError, match="boards of up to 128 cells; 13x13 has 169"):
        solve(Board.from_moves([], "13x13"))


def test_positions_that_cannot_arise_are_refused():
    board = Board.from_moves([24, 14])
    board.locations = (24, 24)
    with pytest.raises(ValueError, match="not a position of this game"):
        solve(board)
    half = Board.from_moves([24, 14, 9])
    half.locations = (9, None)
    with pytest.raises(ValueError, match="a player is not placed"):
        solve(half)


def test_judging_asks_for_no_more_than_is_taken():
    board = Board.from_moves([24, 14, 9, 29, 18, 16, 3, 1])
    meter, whole = SearchBudget(), SearchBudget()
    next(move_results(board, meter))
    list(move_results(board, whole))
    assert 0 < meter.nodes < whole.nodes


@pytest.mark.exhaustive
def test_compiled_code_is_found_again_by_the_next_process(tmp_path):
    code = (
        "from knights_isolation.isolation import Board, solve\n"
        "from knights_isolation.isolation.search.solver import solve_length\n"
        "b = Board.from_moves([24, 14, 9, 29, 18, 16]); print(solve(b), solve_length(b))"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"ISOLATION_CACHE": str(tmp_path), "PATH": ""},
        ).stdout
        for _ in range(2)
    ]
    assert runs[0] == runs[1]


def test_what_is_known_without_a_search_needs_no_limit():
    nothing = Limit(nodes=1)
    mirrored = solve(Board.from_moves([0, 89], "9x10"), nothing)
    assert (mirrored.winner, mirrored.moves, mirrored.undecided) == (2, (), ())
    in_table = solve(Board.from_moves([20, 8], size="6x7"), nothing)
    assert in_table.winner == 1
    assert in_table.undecided
    assert in_table.line == ()
    hurried = solve_length(Board.from_moves([20, 8], size="6x7"), nothing)
    assert (hurried.winner, hurried.plies) == (1, None)
