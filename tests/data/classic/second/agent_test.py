"""Unit tests in the shape of the second edition's: a counting board on the flat private state."""
# ruff: noqa - it stands for code that is not ours to tidy

import unittest
from copy import copy

import game_agent
from isolation import Board


class CountingBoard(Board):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.calls = []
        self.root = None

    def copy(self):
        new_board = CountingBoard(self._player_1, self._player_2, width=self.width, height=self.height)
        new_board.move_count = self.move_count
        new_board._active_player = self._active_player
        new_board._inactive_player = self._inactive_player
        new_board._board_state = copy(self._board_state)
        new_board.calls = self.calls
        new_board.root = self.root
        return new_board

    def forecast_move(self, move):
        self.calls.append(move)
        new_board = self.copy()
        new_board.apply_move(move)
        if new_board.root is None:
            new_board.root = move
        return new_board


class SecondEditionTest(unittest.TestCase):
    def start(self, player, location, width=7, height=7):
        player.time_left = lambda: 1e3
        board = CountingBoard(player, "nobody", width, height)
        board.apply_move(location)
        board.apply_move((0, 0))
        return board

    def counts(self, board):
        return len(board.calls), len(set(board.calls))

    def test_minimax(self):
        table = [[0] * 7 for _ in range(7)]
        table[1][5], table[4][3], table[6][6] = 1, 2, 3

        def score(game, player):
            row, col = game.get_player_location(player)
            return table[row][col]

        best = [{(1, 5)}, {(1, 5)}, {(3, 1), (3, 5)}, {(3, 1), (3, 5)}, {(3, 5), (4, 2)}]
        counts = [(8, 8), (24, 10), (92, 27), (418, 32), (1650, 43)]
        for depth in range(1, 6):
            player = game_agent.MinimaxPlayer(depth, score)
            board = self.start(player, (2, 3))
            self.assertIn(player.minimax(board, depth), best[depth - 1])
            self.assertEqual(self.counts(board), counts[depth - 1])

    def test_alphabeta_on_a_huge_board(self):
        counts = [(8, 8), (17, 10), (74, 42), (139, 51), (540, 119)]
        for depth in range(1, 6):
            branch = []

            def score(game, player):
                if not branch:
                    branch.append(game.root)
                return 1.0 if game.root in branch else 0.0

            player = game_agent.AlphaBetaPlayer(depth, score)
            board = self.start(player, (50, 50), 101, 101)
            self.assertIn(player.alphabeta(board, depth), branch)
            self.assertEqual(self.counts(board), counts[depth - 1])

    def test_get_move_in_time_and_out_of_time(self):
        for player in (game_agent.MinimaxPlayer(1), game_agent.AlphaBetaPlayer()):
            board = Board(player, "nobody", 9, 9)
            board.apply_move((2, 7))
            board.apply_move((0, 0))
            countdown = iter(range(500, 0, -1))
            self.assertIn(player.get_move(board, lambda: next(countdown)), board.get_legal_moves())
            self.assertEqual(player.get_move(board, lambda: 0), (-1, -1))

    def test_the_flat_state_tells_the_position(self):
        board = Board("a", "b", width=5, height=4)
        board.apply_move((3, 1))
        board.apply_move((0, 4))
        self.assertEqual(board._board_state[3 + 1 * 4], 1)
        self.assertEqual(board._board_state[0 + 4 * 4], 1)
        self.assertEqual(sum(board._board_state[:-3]), 2)
        self.assertEqual(board._board_state[-3:], [0, 16, 7])
        self.assertEqual(board._Board__get_moves((3, 1)), board.get_legal_moves("a"))
        self.assertEqual(board.hash(), board.copy().hash())


if __name__ == "__main__":
    unittest.main()
