"""Unit tests in the shape of the first edition's: a counting board that copies the private state by hand."""
# ruff: noqa - it stands for code that is not ours to tidy

import unittest
from collections import Counter
from copy import copy, deepcopy
from importlib import reload

import game_agent
import isolation
import undo_board


class CountingBoard(isolation.Board):
    def __init__(self, *args, **kwargs):
        super(CountingBoard, self).__init__(*args, **kwargs)
        self.forecasts = Counter()
        self.root = None

    def copy(self):
        new_board = CountingBoard(self.__player_1__, self.__player_2__, width=self.width, height=self.height)
        new_board.move_count = self.move_count
        new_board.__active_player__ = self.__active_player__
        new_board.__inactive_player__ = self.__inactive_player__
        new_board.__last_player_move__ = copy(self.__last_player_move__)
        new_board.__player_symbols__ = copy(self.__player_symbols__)
        new_board.__board_state__ = deepcopy(self.__board_state__)
        new_board.forecasts = self.forecasts
        new_board.root = self.root
        return new_board

    def forecast_move(self, move):
        self.forecasts[move] += 1
        new_board = self.copy()
        new_board.apply_move(move)
        if new_board.root is None:
            new_board.root = move
        return new_board

    @property
    def counts(self):
        return sum(self.forecasts.values()), len(self.forecasts)


def table_score(table):
    def score(game, player):
        row, col = game.get_player_location(player)
        return table[row][col]

    return score


def first_branch_score(branch):
    def score(game, player):
        if not branch:
            branch.append(game.root)
        return 1.0 if game.root in branch else 0.0

    return score


class FirstEditionTest(unittest.TestCase):
    def start(self, depth, score, location, width, height):
        reload(game_agent)
        player = game_agent.CustomPlayer(depth, score, False)
        player.time_left = lambda: 1e3
        board = CountingBoard(player, "nobody", width, height)
        board.apply_move(location)
        board.apply_move((0, 0))
        return player, board

    def test_heuristic_returns_a_float(self):
        game = isolation.Board("Player1", "Player2")
        game.apply_move((0, 0))
        game.apply_move((1, 1))
        self.assertIsInstance(game_agent.custom_score(game, "Player1"), float)

    def test_get_move_on_an_empty_board_and_in_play(self):
        player = game_agent.CustomPlayer(1, lambda game, player: 0.0, False)
        board = isolation.Board(player, "nobody", 9, 9)
        for move in [None, (2, 7), (0, 0)]:
            if move is not None:
                board.apply_move(move)
            legal_moves = board.get_legal_moves()
            self.assertIn(player.get_move(board, legal_moves, lambda: 99), legal_moves)

    def test_minimax(self):
        table = [[0] * 7 for _ in range(7)]
        table[1][5], table[4][3], table[6][6] = 1, 2, 3
        best = [{(1, 5)}, {(1, 5)}, {(3, 1), (3, 5)}, {(3, 1), (3, 5)}, {(3, 5), (4, 2)}]
        counts = [(8, 8), (24, 10), (92, 27), (418, 32), (1650, 43)]
        for depth in range(1, 6):
            player, board = self.start(depth, table_score(table), (2, 3), 7, 7)
            _, move = player.minimax(board, depth)
            self.assertIn(move, best[depth - 1])
            self.assertEqual(board.counts, counts[depth - 1])

    def test_alphabeta_on_a_huge_board(self):
        counts = [(8, 8), (17, 10), (74, 42), (139, 51), (540, 119)]
        for depth in range(1, 6):
            branch = []
            player, board = self.start(depth, first_branch_score(branch), (50, 50), 101, 101)
            _, move = player.alphabeta(board, depth)
            self.assertIn(move, branch)
            self.assertEqual(board.counts, counts[depth - 1])

    def test_a_board_that_steps_back_on_private_state(self):
        game = isolation.Board("a", "b")
        for move in [(3, 3), (2, 0), (1, 2)]:
            game.apply_move(move)
        own = undo_board.UndoBoard(game)
        for move in own.get_legal_moves():
            own.apply_move(move)
            after = game.forecast_move(move)
            self.assertEqual(own.__board_state__, after.__board_state__)
            self.assertEqual(own.get_legal_moves(), after.get_legal_moves())
            own.step_back()
            self.assertEqual(own.__board_state__, game.__board_state__)
            self.assertEqual(own.__last_player_move__, game.__last_player_move__)
            self.assertIs(own.active_player, game.active_player)


if __name__ == "__main__":
    unittest.main()
