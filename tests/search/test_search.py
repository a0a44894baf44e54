"""Compiled and interpreted search: reference counts, equality, limits."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_games import positions

from knights_isolation import heuristics
from knights_isolation.isolation import Board, Limit, search
from knights_isolation.isolation.search import METHODS, TREES, SearchOptions
from knights_isolation.isolation.search.interpreted import NotANumber, greedy_interpreted, value_of_move

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "perft.json").read_text())
POSITIONS = {position["name"]: position for position in REFERENCE["positions"]}
REFERENCES = [pytest.param(name, marks=[pytest.mark.exhaustive] * (name in "HJ")) for name in POSITIONS]
"""Two of them take as long as all others."""
OPTIONS = [{}, *({name: True} for name in SearchOptions.__dataclass_fields__)]


def reference_board(position):
    return Board.from_moves(position["moves"], f"{position['height']}x{position['width']}")


def facts(result):
    return result.move, result.score, result.depth, result.nodes, result.pv, result.exact


@pytest.mark.parametrize("method", ["minimax", "alphabeta"])
@pytest.mark.parametrize("name", REFERENCES)
def test_values_and_node_counts_are_the_references(name, method):
    position = POSITIONS[name]
    board = reference_board(position)
    for depth, (value, nodes) in enumerate(zip(position["value"], position[f"{method}_nodes"], strict=True), start=1):
        result = search(board, heuristics.get("improved"), Limit(depth=depth), method)
        assert (result.score, result.nodes, result.depth) == (float(value), nodes, depth)


@pytest.mark.parametrize("method", ["minimax", "alphabeta"])
@pytest.mark.parametrize("name", POSITIONS)
def test_the_interpreted_search_counts_the_same(name, method):
    position = POSITIONS[name]
    board = reference_board(position)
    for depth in range(1, 5):
        result = search(board, heuristics.get("improved"), Limit(depth=depth), method, interpreted=True)
        assert (result.score, result.nodes) == (
            float(position["value"][depth - 1]),
            position[f"{method}_nodes"][depth - 1],
        )


@pytest.mark.parametrize("size", ["7x7", pytest.param("9x11", marks=pytest.mark.slow)])
@settings(max_examples=15)
@given(
    data=st.data(),
    method=st.sampled_from(METHODS),
    limit=st.one_of(
        st.integers(1, 3).map(lambda depth: Limit(depth=depth)), st.integers(1, 300).map(lambda n: Limit(nodes=n))
    ),
    options=st.sampled_from(OPTIONS),
    seed=st.integers(0, 2**64 - 1),
)
def test_compiled_and_interpreted_search_agree_to_the_node(size, data, method, limit, options, seed):
    board = data.draw(positions(st.just(size)))
    if method in TREES:
        options = {}
        limit = limit if limit.nodes else Limit(nodes=100)
    compiled, interpreted = (
        search(board, heuristics.get("improved"), limit, method, seed=seed, interpreted=flag, **options)
        for flag in (False, True)
    )
    assert facts(compiled) == facts(interpreted)


@settings(max_examples=30)
@given(board=positions(), seed=st.integers(0, 2**64 - 1))
def test_mcts_without_a_heuristic_plays_the_same_playouts_compiled_and_interpreted(board, seed):
    compiled, interpreted = (
        search(board, None, Limit(nodes=60), "mcts", seed=seed, interpreted=flag) for flag in (False, True)
    )
    assert facts(compiled) == facts(interpreted)


@pytest.mark.parametrize("name", ["", "improved"])
def test_mcts_grows_the_same_tree_where_it_outgrows_the_room_it_has_at_first(name):
    """It has room for 1,024 nodes, and most simulations add some four."""
    heuristic = heuristics.get(name) if name else None
    for cells in ([24, 14], [0, 9]):
        compiled, interpreted = (
            search(Board.from_moves(cells), heuristic, Limit(nodes=1_500), "mcts", seed=5, interpreted=flag)
            for flag in (False, True)
        )
        assert facts(compiled) == facts(interpreted)


@given(board=positions(), name=st.sampled_from(heuristics.names()), depth=st.integers(1, 3))
def test_alpha_beta_has_minimaxs_value_and_move_for_every_heuristic(board, name, depth):
    pruned = search(board, heuristics.get(name), Limit(depth=depth), "alphabeta")
    full = search(board, heuristics.get(name), Limit(depth=depth), "minimax", interpreted=True)
    assert (pruned.score, pruned.move) == (full.score, full.move)
    assert pruned.nodes <= full.nodes


@pytest.mark.exhaustive
@settings(max_examples=60)
@given(board=positions(), depth=st.integers(1, 6))
def test_move_ordering_changes_no_value(board, depth):
    plain, ordered = (
        search(board, heuristics.get("improved"), Limit(depth=depth), order_moves=flag) for flag in (False, True)
    )
    assert ordered.score == plain.score


@settings(max_examples=50)
@given(board=positions(), nodes=st.integers(1, 3000), method=st.sampled_from(METHODS))
def test_a_search_never_exceeds_its_node_limit(board, nodes, method):
    result = search(board, heuristics.get("improved"), Limit(nodes=nodes), method)
    assert result.nodes <= nodes
    assert board.moves_mask(board.active_index) >> result.move & 1


@pytest.mark.parametrize("method", ["alphabeta", "bestfirst"])
@pytest.mark.parametrize("interpreted", [False, True])
def test_a_node_limit_too_small_for_one_iteration_plays_the_first_legal_move(method, interpreted):
    board, few = Board.from_moves([24, 14]), Limit(nodes=3)
    result = search(board, heuristics.get("improved"), few, method, interpreted=interpreted)
    assert (result.move, result.depth, result.exact) == (9, 0, False)


@pytest.mark.parametrize("limit", [Limit(ms=30), Limit(cpu_ms=30)])
@pytest.mark.parametrize("method", METHODS)
def test_a_time_limit_ends_the_search_with_a_finished_iteration(limit, method):
    result = search(Board.from_moves([24, 14]), heuristics.get("improved"), limit, method)
    assert result.depth > 3
    assert not result.exact


def test_an_infinite_score_is_a_proof_even_if_the_heuristic_claims_victories():
    def boastful(game, player):
        return float("inf") if len(game.get_legal_moves(player)) > 3 else float("-inf")

    result = search(Board.from_moves([24, 14]), boastful, Limit(depth=2))
    assert math.isfinite(result.score)
    assert not result.exact


def test_a_lost_position_keeps_the_move_that_hid_the_loss_longest():
    for seed in range(200):
        board = random_board(seed, plies=18)
        full = search(board, heuristics.get("improved"), Limit(nodes=10**6))
        if full.score == -math.inf and full.depth > 2:
            before = search(board, heuristics.get("improved"), Limit(depth=full.depth - 1))
            assert before.score > -math.inf
            assert full.move == before.move
            return
    pytest.fail("no lost position among the samples")


def test_the_principal_variation_is_playable_and_leads_to_the_score():
    board = Board.from_moves([24, 14])
    result = search(board, heuristics.get("improved"), Limit(depth=6))
    assert result.pv[0] == result.move
    assert len(result.pv) == 6
    for cell in result.pv:
        board.play_cell(cell)
    assert heuristics.get("improved")(board, 1) == result.score


def test_agreement_ends_deepening_once_three_iterations_choose_the_same_move():
    board = Board.from_moves([24, 14])
    moves = [search(board, heuristics.get("improved"), Limit(depth=d)).move for d in range(1, 15)]
    expected = next(d for d in range(3, 15) if len(set(moves[d - 3 : d])) == 1)
    result = search(board, heuristics.get("improved"), Limit(nodes=10**6), stop_on_agreement=True)
    assert (result.depth, result.move) == (expected, moves[expected - 1])


@pytest.mark.parametrize("method", ["minimax", "alphabeta", "bestfirst"])
def test_a_score_of_nothing_is_0_and_not_minus_0_in_python_as_in_compiled_code(method):
    board, limit = Board.from_moves([24, 14]), Limit(nodes=60) if method == "bestfirst" else Limit(depth=2)
    result = search(board, lambda game, player: -0.0, limit, method, interpreted=True)
    assert math.copysign(1, result.score) == 1
    assert math.copysign(1, greedy_interpreted(board, lambda game, player: -0.0).score) == 1


def test_random_ties_choose_between_all_best_moves_and_no_others():
    board = Board.from_moves([24, 14])
    chosen = {search(board, heuristics.get("null"), Limit(depth=2), seed=s, random_ties=True).move for s in range(200)}
    assert chosen == set(board.legal_cells())


@pytest.mark.parametrize("interpreted", [False, True])
def test_random_ties_are_between_moves_that_are_worth_as_much(interpreted):
    improved, told_apart = heuristics.get("improved"), 0
    for board in (random_board(seed, plies=8) for seed in range(40)):
        worth = {cell: value_of_move(board, improved, cell, 2) for cell in board.legal_cells()}
        best = {cell for cell in worth if worth[cell] == max(worth.values())}
        if 1 < len(best) < len(worth):
            options = {"random_ties": True, "interpreted": interpreted}
            results = {search(board, improved, Limit(depth=2), seed=seed, **options).move for seed in range(30)}
            assert results == best
            told_apart += 1
    assert told_apart > 2


@pytest.mark.exhaustive
@pytest.mark.parametrize(("moves", "depth"), [([8, 37], 3), ([24, 10, 15, 23], 4)])
def test_replies_are_ordered_as_far_from_the_horizon_with_quiescence_as_without(moves, depth):
    board, both = Board.from_moves(moves), {"order_moves": True, "quiescence": True}
    improved = heuristics.get("improved")
    compiled, interpreted = (search(board, improved, Limit(depth=depth), interpreted=i, **both) for i in (False, True))
    assert facts(compiled) == facts(interpreted)


def test_quiescence_follows_forced_replies_before_judging():
    improved = heuristics.get("improved")
    differing = 0
    for seed in range(60):
        board = random_board(seed, plies=20)
        plain, quiet = (search(board, improved, Limit(depth=2), quiescence=q) for q in (False, True))
        assert quiet.nodes >= plain.nodes or quiet.score != plain.score
        assert facts(quiet) == facts(search(board, improved, Limit(depth=2), quiescence=True, interpreted=True))
        differing += quiet.score != plain.score
    assert differing > 0


def random_board(seed, plies):
    from knights_isolation.isolation.checks.search_cost import random_openings

    return Board.from_moves(random_openings(1, plies, seed=seed)[0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "mcts", "limit": Limit(depth=3)}, "MCTS has no depth"),
        ({"method": "bestfirst", "limit": Limit(depth=3)}, "best-first search has no depth"),
        ({"method": "negamax"}, "must be one of minimax, alphabeta, bestfirst, mcts"),
        ({"heuristic": None}, "needs a heuristic"),
        ({"fast": True}, "unknown search option 'fast'"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, message):
    call = {"heuristic": heuristics.get("improved"), "limit": Limit(nodes=5), **arguments}
    with pytest.raises(ValueError, match=message):
        search(Board.from_moves([24, 14]), **call)


def test_a_finished_game_has_no_move_to_choose():
    with pytest.raises(ValueError, match="the game is over"):
        search(Board.from_fen(f"{6 * '*******/'}N*****n w"), heuristics.get("improved"), Limit(depth=1))


@pytest.mark.parametrize("moves", [[], [3]])
def test_placements_are_searched_too(moves):
    result = search(Board.from_moves(moves, "3x4"), heuristics.get("improved"), Limit(nodes=10**5))
    assert result.exact
    assert (result.score > 0) == (len(moves) == 1)


def test_boards_beyond_128_cells_run_interpreted():
    result = search(Board.from_moves([0, 5000], "101x101"), heuristics.get("improved"), Limit(depth=2))
    assert result.depth == 2


def is_nan_at_times(game, player):
    own = float(len(game.get_legal_moves(player)))
    return own if own != 3 else (own * 1e308 * 10) - (own * 1e308 * 10)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("interpreted", [False, True])
def test_a_heuristic_that_returns_nan_has_failed(method, interpreted):
    with pytest.raises(NotANumber, match="the heuristic returned NaN"):
        search(Board.from_moves([24, 14]), is_nan_at_times, Limit(nodes=1000), method, interpreted=interpreted)
