"""Boards of the two editions of the classic engine, in plain Python, for comparison only.

Both store lists and copy them for every move. Their common part is in `_Classic`; players are any two objects.
"""

from __future__ import annotations

from copy import copy, deepcopy
from random import shuffle

STEPS = [(-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1)]


class _Classic:
    BLANK = 0
    NOT_MOVED = None

    def __init__(self, player_1, player_2, width=7, height=7):
        self.width, self.height, self.move_count = width, height, 0
        self._player_1, self._player_2 = player_1, player_2
        self._active_player, self._inactive_player = player_1, player_2

    @property
    def active_player(self):
        return self._active_player

    @property
    def inactive_player(self):
        return self._inactive_player

    def get_opponent(self, player):
        if player == self._active_player:
            return self._inactive_player
        if player == self._inactive_player:
            return self._active_player
        raise RuntimeError("not a player of this game")

    def forecast_move(self, move):
        child = self.copy()
        child.apply_move(move)
        return child

    def get_legal_moves(self, player=None):
        return self._moves_from(self.get_player_location(self.active_player if player is None else player))

    def is_winner(self, player):
        return player == self._inactive_player and not self.get_legal_moves(self._active_player)

    def is_loser(self, player):
        return player == self._active_player and not self.get_legal_moves(self._active_player)

    def utility(self, player):
        if self.get_legal_moves(self._active_player):
            return 0.0
        return float("inf") if player == self._inactive_player else float("-inf")

    def get_blank_spaces(self):
        return [(r, c) for c in range(self.width) for r in range(self.height) if self._is_blank(r, c)]

    def move_is_legal(self, move):
        row, column = move
        return 0 <= row < self.height and 0 <= column < self.width and self._is_blank(row, column)

    def _moves_from(self, location):
        if location is None:
            return self.get_blank_spaces()
        row, column = location
        cells = [(row + down, column + right) for down, right in STEPS]
        return self._in_order([cell for cell in cells if self.move_is_legal(cell)])

    def _in_order(self, moves):
        return moves

    def _swap(self):
        self._active_player, self._inactive_player = self._inactive_player, self._active_player
        self.move_count += 1


class FirstBoard(_Classic):
    """First edition: a list of rows, and a dictionary of locations."""

    def __init__(self, player_1, player_2, width=7, height=7):
        super().__init__(player_1, player_2, width, height)
        self.__board_state__ = [[0] * width for _ in range(height)]
        self.__last_player_move__ = {player_1: None, player_2: None}
        self.__player_symbols__ = {0: 0, player_1: 1, player_2: 2}

    def copy(self):
        child = type(self)(self._player_1, self._player_2, self.width, self.height)
        child.move_count = self.move_count
        child._active_player, child._inactive_player = self._active_player, self._inactive_player
        child.__last_player_move__ = copy(self.__last_player_move__)
        child.__player_symbols__ = copy(self.__player_symbols__)
        child.__board_state__ = deepcopy(self.__board_state__)
        return child

    def get_player_location(self, player):
        return self.__last_player_move__[player]

    def apply_move(self, move):
        row, column = move
        self.__last_player_move__[self._active_player] = move
        self.__board_state__[row][column] = self.__player_symbols__[self._active_player]
        self._swap()

    def _is_blank(self, row, column):
        return self.__board_state__[row][column] == 0

    def to_string(self):
        here, there = self.__last_player_move__[self._player_1], self.__last_player_move__[self._player_2]
        text = ""
        for row in range(self.height):
            text += " | "
            for column in range(self.width):
                if not self.__board_state__[row][column]:
                    text += " "
                elif here and (row, column) == here:
                    text += "1"
                elif there and (row, column) == there:
                    text += "2"
                else:
                    text += "-"
                text += " | "
            text += "\r\n"
        return text


class SecondBoard(_Classic):
    """Second edition: one flat list, column by column, with three additional entries."""

    def __init__(self, player_1, player_2, width=7, height=7):
        super().__init__(player_1, player_2, width, height)
        self._board_state = [0] * (width * height + 3)
        self._board_state[-1] = self._board_state[-2] = None

    def copy(self):
        child = type(self)(self._player_1, self._player_2, self.width, self.height)
        child.move_count = self.move_count
        child._active_player, child._inactive_player = self._active_player, self._inactive_player
        child._board_state = copy(self._board_state)
        return child

    def get_player_location(self, player):
        index = self._board_state[-1 if player == self._player_1 else -2]
        return None if index is None else (index % self.height, index // self.height)

    def apply_move(self, move):
        row, column = move
        index = row + column * self.height
        self._board_state[index] = 1
        self._board_state[-1 if self._active_player == self._player_1 else -2] = index
        self._board_state[-3] ^= 1
        self._swap()

    def hash(self):
        return str(self._board_state).__hash__()

    def _is_blank(self, row, column):
        return self._board_state[row + column * self.height] == 0

    def _in_order(self, moves):
        shuffle(moves)
        return moves

    def to_string(self, symbols=("1", "2")):
        here, there = self._board_state[-1], self._board_state[-2]
        margin = len(str(self.height - 1)) + 1
        text = " " * (margin + 3) + "   ".join(map(str, range(self.width))) + "\n\r"
        for row in range(self.height):
            text += str(row).ljust(margin) + " | "
            for column in range(self.width):
                index = row + column * self.height
                if not self._board_state[index]:
                    text += " "
                elif index == here:
                    text += symbols[0]
                elif index == there:
                    text += symbols[1]
                else:
                    text += "-"
                text += " | "
            text += "\n\r"
        return text
