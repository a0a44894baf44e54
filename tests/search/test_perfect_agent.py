"""The perfect player keeps every win it can see, and puts up a fight where there is none."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_games import positions, random_game

from knights_isolation import heuristics
from knights_isolation.isolation import Board, Limit, play, solve
from knights_isolation.isolation.search import agents, perfect_agent
from knights_isolation.isolation.search.agents import PLACING_NODES, GreedyAgent, RandomAgent, SearchAgent
from knights_isolation.isolation.search.perfect_agent import PerfectAgent
from knights_isolation.isolation.search.solver import solve_length

INFINITY = float("inf")


def perfect(limit: Limit, name: str = "Perfect") -> PerfectAgent:
    return PerfectAgent(name, heuristics.get("territory"), "territory", limit)


PLENTY = perfect(Limit(nodes=10**9))
STRONG = SearchAgent("strong", "alphabeta", heuristics.get("territory"), "territory", Limit(nodes=3000))


@pytest.mark.exhaustive
@settings(deadline=None, max_examples=60)
@given(positions(sizes=st.sampled_from(["4x4", "4x5", "5x5"])))
def test_it_keeps_a_win_and_loses_as_late_as_can_be(board):
    result = PLENTY.choose(board, 0)
    best = solve(board).moves or solve_length(board).moves
    assert result.move in best
    assert result.exact
    assert result.score == (INFINITY if solve(board).moves else -INFINITY)
    if result.score < 0:
        assert result.depth == solve_length(board).plies


@pytest.mark.parametrize("opponent", [RandomAgent(), GreedyAgent(), STRONG])
def test_it_converts_every_won_opening(opponent):
    rng = random.Random(1)
    won = 0
    while won < 6:
        opening = rng.sample(range(25), 2)
        winner = solve(Board.from_moves(opening, "5x5")).winner
        agents = (PLENTY, opponent) if winner == 1 else (opponent, PLENTY)
        game = play(*agents, opening, "5x5", seed=won)
        assert game.winner == winner
        assert all(game.exact[2 if winner == 1 else 3 :: 2])
        won += 1


def test_it_places_perfectly_where_a_table_covers_the_board():
    game = play(STRONG, PLENTY, (), "5x5", seed=3)
    assert game.winner == 2
    assert game.exact[1]


@pytest.mark.exhaustive
def test_it_does_not_keep_people_waiting_for_a_placement_that_no_table_covers():
    first = perfect(Limit(nodes=400_000)).choose(Board.from_moves([], "9x11"), 0)
    assert not first.exact
    assert first.nodes <= 200_000 + PLACING_NODES


@pytest.mark.slow
def test_the_record_says_which_moves_the_heuristic_search_chose():
    weak = perfect(Limit(nodes=20_000))
    game = play(weak, RandomAgent(), [49, 0], "9x11", seed=1)
    exact = game.exact[2::2]
    assert not exact[0]
    assert exact[-1]
    assert all(score in (INFINITY, -INFINITY) for score, known in zip(game.score[2::2], exact, strict=True) if known)


@pytest.mark.exhaustive
def test_it_searches_on_under_half_the_limit_what_it_could_not_solve():
    board = Board.from_moves([49, 0], "9x11")
    result = perfect(Limit(nodes=2000)).choose(board, 0)
    alone = SearchAgent("half", "alphabeta", heuristics.get("territory"), "territory", Limit(nodes=1000)).choose(
        board, 0
    )
    assert (result.move, result.score, result.depth) == (alone.move, alone.score, alone.depth)
    assert result.nodes == 1000 + alone.nodes


def test_the_search_is_not_followed_into_a_move_known_to_lose():
    rng = random.Random(8)
    met = 0
    while met < 3:
        board = random_game(rng, 7, 7, rng.randint(10, 16))
        known = solve(board, Limit(nodes=300))
        follower = PerfectAgent("follower", heuristics.get("null"), "null", Limit(nodes=600))
        if known.moves or not known.undecided or follower.fallback.choose(board, 0).move in known.undecided:
            continue
        assert follower.choose(board, 0).move in known.undecided
        met += 1


def test_boards_too_large_to_solve_are_left_to_the_search():
    board = Board.from_moves([60, 0, 35, 27], "13x13")
    assert not perfect(Limit(nodes=100)).choose(board, 0).exact


def test_under_a_node_limit_it_plays_the_same_game_again():
    agent = perfect(Limit(nodes=30_000))
    assert agent.is_deterministic
    games = [play(agent, STRONG, [24, 14, 9, 29], seed=seed) for seed in (1, 2)]
    assert games[0].moves == games[1].moves
    assert games[0].nodes == games[1].nodes


@pytest.mark.parametrize("unit", ["ms", "cpu_ms"])
def test_a_time_limit_does_not_lose_it_the_game(unit, monkeypatch):
    # Whoever else computes on this machine may hold it up, but not for a second.
    monkeypatch.setattr(agents, "LATE_MS", 1e3)
    agent = perfect(Limit(**{unit: 20.0}))
    assert not agent.is_deterministic
    agent.compiled((9, 11))
    assert play(agent, RandomAgent(), [49, 0], "9x11", seed=2).reason == "no_moves"


def test_a_depth_is_refused():
    with pytest.raises(ValueError, match="of nodes or time, not depth=3"):
        perfect(Limit(depth=3))


def test_its_settings_name_the_limit_and_the_heuristic_with_its_content():
    facts = perfect(Limit(nodes=500)).settings()
    assert facts["limit"] == {"nodes": 500}
    assert facts["heuristic"] == "territory"
    other = PerfectAgent("Perfect", heuristics.get("improved"), "territory", Limit(nodes=500)).settings()
    assert other["code"] != facts["code"]


def test_a_late_fallback_is_judged_by_the_players_own_limit(monkeypatch):
    monkeypatch.setattr(agents, "LATE_MS", -1e9)
    monkeypatch.setattr(perfect_agent, "in_time", lambda result, limit: result)
    result = perfect(Limit(ms=200)).choose(Board.from_moves([49, 0], "9x11"), 0)
    assert not result.exact
