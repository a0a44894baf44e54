"""Players and unit tests written for the classic engines, in their own words, run on ours as they are."""

import unittest
from pathlib import Path

import pytest

from knights_isolation.isolation import Board
from knights_isolation.isolation.loading.load_user_code import load, load_module

CLASSIC = Path(__file__).parents[1] / "data" / "classic"


@pytest.mark.slow
@pytest.mark.parametrize("edition", ["first", "second"])
def test_unit_tests_of_the_edition_pass_unmodified(edition):
    suite = unittest.defaultTestLoader.loadTestsFromModule(load_module(CLASSIC / edition / "agent_test.py"))
    result = unittest.TestResult()
    suite.run(result)
    assert result.testsRun >= 4
    assert [trace for _, trace in [*result.errors, *result.failures]] == []


def test_players_of_both_editions_play_each_other_side_by_side():
    first = load(CLASSIC / "first" / "game_agent.py", "CustomPlayer").value(search_depth=2, iterative=False)
    second = load(CLASSIC / "second" / "game_agent.py", "MinimaxPlayer").value(search_depth=2)
    board = Board(first, second, 5, 5)
    for move in [(2, 2), (0, 0)]:
        board.apply_move(move)
    winner, history, outcome = board.play(time_limit=10_000)
    assert winner in (first, second)
    assert outcome == "illegal move"
    assert all(len(turn) == 2 for turn in history[:-1])
    assert board.outcome().winner == (1 if winner is first else 2)


def test_the_classic_players_choose_alike_at_equal_depth():
    folder = CLASSIC / "second" / "game_agent.py"
    minimax, alphabeta = (load(folder, name).value(score_fn=load(folder, "custom_score").value)
                          for name in ("MinimaxPlayer", "AlphaBetaPlayer"))  # fmt: skip
    for cells in ([24, 14], [0, 48, 9, 33], [38, 3, 47, 12]):
        for depth in (1, 2, 3):
            player_moves = []
            for player, search in ((minimax, minimax.minimax), (alphabeta, alphabeta.alphabeta)):
                player.time_left = lambda: 1e3
                player_moves.append(search(Board.from_moves(cells, players=(player, "other")), depth))
            assert player_moves[0] == player_moves[1]
