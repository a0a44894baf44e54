"""A board in the shape some players made for themselves: it steps forward and back on the private state."""
# ruff: noqa - it stands for code that is not ours to tidy

from copy import copy, deepcopy

from isolation import Board


class UndoBoard(Board):
    def __init__(self, board):
        Board.__init__(self, board.__player_1__, board.__player_2__, board.width, board.height)
        self.move_count = board.move_count
        self.__active_player__ = board.__active_player__
        self.__inactive_player__ = board.__inactive_player__
        self.__last_player_move__ = copy(board.__last_player_move__)
        self.__player_symbols__ = copy(board.__player_symbols__)
        self.__board_state__ = deepcopy(board.__board_state__)
        self.trail = [self.__last_player_move__[self.active_player], self.__last_player_move__[self.inactive_player]]

    def apply_move(self, move):
        row, col = move
        self.__last_player_move__[self.active_player] = move
        self.__board_state__[row][col] = self.__player_symbols__[self.active_player]
        self.__active_player__, self.__inactive_player__ = self.__inactive_player__, self.__active_player__
        self.move_count += 1
        self.trail.append(move)

    def step_back(self):
        row, col = self.trail.pop()
        self.__board_state__[row][col] = Board.BLANK
        self.__last_player_move__[self.inactive_player] = self.trail[-2]
        self.__active_player__, self.__inactive_player__ = self.__inactive_player__, self.__active_player__
        self.move_count -= 1
