"""Best-first search: what it follows, what it plays, and what its proofs are worth."""

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_games import positions

from knights_isolation import heuristics
from knights_isolation.isolation import Board, Limit, search, solve
from knights_isolation.isolation.native.tree_policy import is_more_promising, is_safer

IMPROVED = heuristics.get("improved")
WIN, LOSS = math.inf, -math.inf


def found(board, nodes, heuristic=IMPROVED, **options):
    return search(board, heuristic, Limit(nodes=nodes), "bestfirst", **options)


@pytest.mark.exhaustive
@settings(max_examples=40)
@given(board=positions())
def test_what_it_proves_is_what_perfect_play_gives(board):
    result = found(board, 20_000)
    assert result.exact == math.isinf(result.score)
    assume(result.exact)
    solution = solve(board)
    assert (result.score == WIN) == (solution.winner == 1 + board.active_index)
    assert result.score == LOSS or result.move in solution.moves


@pytest.mark.slow
def test_late_in_the_game_it_does_prove_results():
    board = Board.from_moves([24, 14])
    while not (result := found(board, 5_000)).exact:
        board.play_cell(result.move)
    assert len(board.legal_cells()) > 1


@pytest.mark.slow
@settings(max_examples=20)
@given(board=positions(), nodes=st.integers(50, 5_000))
def test_its_line_is_legal_and_as_long_as_it_says_at_most(board, nodes):
    result = found(board, nodes)
    assert result.pv[0] == result.move
    assert 1 <= len(result.pv) <= max(1, result.depth)
    for cell in result.pv:
        assert cell in board.legal_cells()
        board.play_cell(cell)


@settings(max_examples=30)
@given(board=positions())
def test_knowing_nothing_but_its_replies_it_plays_the_one_with_the_best_heuristic(board):
    result = found(board, 1 + len(board.legal_cells()))
    after = [board.successor(cell) for cell in board.legal_cells()]
    worths = [IMPROVED(child, board.active_player) if child.legal_cells() else WIN for child in after]
    assert (result.depth, result.nodes) == (1, 1 + len(worths))
    assert (result.score, result.move) == (max(worths), board.legal_cells()[worths.index(max(worths))])


@pytest.mark.parametrize("name", ["open", "improved"])
def test_compiled_it_grows_the_same_tree_as_in_python_also_where_much_is_worth_the_same(name):
    """With more nodes than the compiled tree has room for at first."""
    for cells in ([24, 14], [0, 9], [17, 30]):
        board = Board.from_moves(cells)
        compiled, plain = (found(board, 2_500, heuristics.get(name), interpreted=way) for way in (False, True))
        assert (compiled.pv, compiled.score, compiled.depth) == (plain.pv, plain.score, plain.depth)
        assert compiled.nodes == plain.nodes


def test_with_as_many_nodes_it_looks_further_ahead_than_alpha_beta():
    board = Board.from_moves([24, 14])
    assert found(board, 10_000).depth > 2 * search(board, IMPROVED, Limit(nodes=10_000)).depth


def test_it_goes_on_at_the_end_of_the_line_that_is_best_for_both():
    """The tree after a second step has the replies to the best first move, and no other's."""
    board = Board.from_moves([24, 14])
    first = found(board, 1 + len(board.legal_cells()))
    after = board.successor(first.move)
    second = found(board, first.nodes + len(after.legal_cells()))
    answers = [-IMPROVED(after.successor(cell), after.active_player) for cell in after.legal_cells()]
    assert (second.depth, second.move, second.score) == (2, first.move, min(answers))


@pytest.mark.parametrize(
    ("better", "worse"),
    [((2.0, 5), (1.0, 0)), ((1.0, 3), (1.0, 4)), ((0.0, 9), (LOSS, 0)), ((WIN, 1), (2.0, 0))],
)
def test_what_is_worth_most_is_looked_into_and_among_equals_what_is_known_least(better, worse):
    assert is_more_promising(*better, *worse)
    assert not is_more_promising(*worse, *better)
    assert not is_more_promising(*better, *better)


@pytest.mark.parametrize(
    ("better", "worse"),
    [((WIN, 1), (2.0, 9)), ((0.0, 1), (LOSS, 9)), ((1.0, 5), (2.0, 4)), ((2.0, 5), (1.0, 5)), ((LOSS, 9), (LOSS, 8))],
)
def test_a_win_is_played_first_a_loss_last_and_otherwise_what_was_looked_into_most(better, worse):
    assert is_safer(*better, *worse)
    assert not is_safer(*worse, *better)
    assert not is_safer(*better, *better)


@given(*(st.floats(allow_nan=False) for _ in range(3)), *(st.integers(0, 3) for _ in range(3)))
def test_both_preferences_are_orders(worth_1, worth_2, worth_3, visits_1, visits_2, visits_3):
    first, second, three = (worth_1, visits_1), (worth_2, visits_2), (worth_3, visits_3)
    for prefers in (is_more_promising, is_safer):
        if prefers(*first, *second) and prefers(*second, *three):
            assert prefers(*first, *three)
