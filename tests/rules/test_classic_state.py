"""The private state of both classic editions, read and written through a board."""

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_games import all_sizes, games, replay, small_sizes

from knights_isolation.isolation import Board


def copy_like_the_first_edition(board):
    new = Board(board.__player_1__, board.__player_2__, width=board.width, height=board.height)
    new.move_count = board.move_count
    new.__active_player__ = board.__active_player__
    new.__inactive_player__ = board.__inactive_player__
    new.__last_player_move__ = copy.copy(board.__last_player_move__)
    new.__player_symbols__ = copy.copy(board.__player_symbols__)
    new.__board_state__ = copy.deepcopy(board.__board_state__)
    return new


def copy_like_the_second_edition(board):
    new = Board(board._player_1, board._player_2, width=board.width, height=board.height)
    new.move_count = board.move_count
    new._active_player = board._active_player
    new._inactive_player = board._inactive_player
    new._board_state = copy.copy(board._board_state)
    return new


def copy_element_by_element(board):
    new = Board(*board.players, board.width, board.height)
    new._active_player = board._active_player
    for position, value in enumerate(board._board_state):
        new._board_state[position] = value
    for row, values in enumerate(board.__board_state__):
        new.__board_state__[row] = values
    for player, move in board.__last_player_move__.items():
        new.__last_player_move__[player] = move
    return new


COPIES = [
    (copy_like_the_first_edition, all_sizes),
    (copy_like_the_second_edition, all_sizes),
    (copy_element_by_element, small_sizes),
]


@pytest.mark.parametrize(("copy_board", "sizes"), COPIES)
@given(data=st.data())
def test_a_position_survives_copying_its_private_state(copy_board, sizes, data):
    game = data.draw(games(max_plies=20, sizes=sizes))
    new = copy_board(game)
    assert new == game
    assert new.get_legal_moves() == game.get_legal_moves()
    assert new._board_state == game._board_state
    assert new.__last_player_move__ == game.__last_player_move__
    assert new.active_player == game.active_player


@given(games())
def test_first_edition_state_tells_who_visited_each_cell(game):
    state = [[0] * game.width for _ in range(game.height)]
    for ply, cell in enumerate(game.history):
        state[cell // game.width][cell % game.width] = 1 + ply % 2
    assert game.__board_state__ == state
    assert game.__last_player_move__ == dict(zip(game.players, replay(game)[1], strict=True))
    assert game.__player_symbols__ == {0: 0, "first": 1, "second": 2}
    assert (game.__player_1__, game.__player_2__) == game.players
    assert (game.__active_player__, game.__inactive_player__) == (game.active_player, game.inactive_player)


@given(games())
def test_second_edition_state_is_flat_and_column_by_column(game):
    visited, locations = replay(game)
    flat = [int((row, column) in visited) for column in range(game.width) for row in range(game.height)]
    first, second = (None if at is None else at[0] + at[1] * game.height for at in locations)
    assert game._board_state == [*flat, game.active_index, second, first]
    assert (game._player_1, game._player_2) == game.players
    assert (game._active_player, game._inactive_player) == (game.active_player, game.inactive_player)


@given(games(max_plies=20), st.booleans())
def test_who_visited_a_cell_is_remembered_when_play_goes_on_from_set_state(game, first):
    new = (copy_like_the_first_edition if first else lambda board: board.copy())(game)
    for cell in game.legal_cells()[:1]:
        assert new.successor(cell).__board_state__ == game.successor(cell).__board_state__


@given(games())
def test_private_moves_equal_public_ones(game):
    for player in game.players:
        location = game.get_player_location(player)
        assert game.__get_moves__(location) == game.get_legal_moves(player)
        assert game._Board__get_moves(location) == game.get_legal_moves(player)


def test_single_cells_can_be_closed_and_opened_in_either_edition():
    board = Board("a", "b", width=4, height=3)
    board.__board_state__[2][3] = 2
    board._board_state[1 + 0 * 3] = 1
    assert board.__board_state__ == [[0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 2]]
    assert not board.move_is_legal((2, 3))
    board.__board_state__[2][3] = Board.BLANK
    board._board_state[:3] = [0, 0, 0]
    assert board == Board("a", "b", width=4, height=3)


def test_players_can_be_placed_in_either_edition():
    board = Board("a", "b")
    board.__last_player_move__["a"] = (3, 3)
    board._board_state[-2] = 2 + 1 * 7
    assert board.locations == (24, 15)
    assert board.get_player_location("b") == (2, 1)
    assert board.move_is_legal((3, 3))
    board._board_state[-1] = None
    assert board.get_player_location("a") is None


def test_the_players_and_the_side_to_move_can_be_set():
    board = Board("a", "b")
    board._player_1, board.__player_2__ = "c", "d"
    assert board.players == ("c", "d")
    board._active_player, board._inactive_player = board._inactive_player, board._active_player
    assert (board.active_player, board.inactive_player) == ("d", "c")
    board._board_state[-3] ^= 1
    assert board.active_player == "d"
    with pytest.raises(RuntimeError, match="'x' is not a player"):
        board.__active_player__ = "x"


def test_copies_of_what_was_read_are_plain_and_write_nowhere():
    board = Board.from_moves([24, 14], players=("a", "b"))
    before = board.copy()
    for state in (board._board_state, board.__board_state__[3], board.__last_player_move__):
        for plain in (copy.copy(state), copy.deepcopy(state), state.copy(), pickle.loads(pickle.dumps(state))):
            assert type(plain) in (list, dict)
            assert plain == state
            plain[next(iter(plain)) if isinstance(plain, dict) else 0] = (9, 9)
    rows = copy.deepcopy(board.__board_state__)
    rows[0][0] = 1
    assert board == before


class Remembering(Board):
    """A board that is copied with all it has, as some students' boards are."""

    def copy(self):
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        return new


@pytest.mark.parametrize("kind", [Board, Remembering])
def test_what_is_read_again_is_what_the_board_is_then_and_its_own(kind):
    board = kind.from_moves([24, 14, 9], players=("a", "b"))
    for copied in (board.copy(), board.forecast_move((2, 1)), copy.copy(board), copy.deepcopy(board)):
        rows, flat, last = board.__board_state__, board._board_state, board.__last_player_move__
        assert (board.__board_state__, board._board_state, board.__last_player_move__) == (rows, flat, last)
        copied.__board_state__[6][6] = 1
        copied._board_state[5] = 1
        copied.__last_player_move__["a"] = (0, 0)
        assert copied.get_player_location("a") == (0, 0)
        assert not copied.move_is_legal((6, 6))
        assert board.__board_state__[6][6] == board._board_state[5] == 0
        assert board.get_player_location("a") == (1, 2)
        assert copied.__board_state__[6][6] == copied._board_state[5] == 1
    board.apply_move((4, 1))
    assert board.__board_state__[4][1] == 2
    assert rows[4][1] == 0
    assert (board._board_state[4 + 7], board.__last_player_move__["b"]) == (1, (4, 1))
    board.undo()
    assert (board.__board_state__, board._board_state, board.__last_player_move__) == (rows, flat, last)
    board.players = ("c", "b")
    assert board.__last_player_move__ == {"c": (1, 2), "b": (2, 0)}


def test_history_is_unknown_once_the_position_was_set_and_known_while_nothing_changed():
    board = Board.from_moves([24, 14], players=("a", "b"))
    board._active_player, board._board_state = board._active_player, board._board_state
    assert board.history == (24, 14)
    board.__board_state__[0][0] = 1
    assert board.history == ()
    assert repr(board) == "<Board 7x7, players on cells (24, 14), player 1 to move>"
    board.play_cell(9)
    assert board.history == ()
    assert board.undo() == 9
    with pytest.raises(ValueError, match="no move to take back"):
        board.undo()


def test_a_player_that_plays_itself_keeps_its_turns_when_state_is_copied_back():
    board = Board.from_moves([24], players=("me", "me"))
    board._active_player, board._inactive_player = "me", "me"
    assert board.active_index == 1
