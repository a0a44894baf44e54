import copy
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_games import games, naive_moves, replay

from knights_isolation import isolation
from knights_isolation.isolation import Board, Outcome
from knights_isolation.isolation.rules.geometry import cells_of

# Rules


@given(games())
def test_moves_of_both_players_are_those_found_by_trying_every_cell(game):
    for player, name in enumerate(game.players):
        moves = naive_moves(game, player)
        assert set(game.get_legal_moves(name)) == moves
        assert len(game.get_legal_moves(name)) == len(moves)
        assert {divmod(cell, game.width) for cell in cells_of(game.moves_mask(player))} == moves


@given(games())
def test_the_reading_api_tells_what_the_history_implies(game):
    visited, locations = replay(game)
    cells = {(row, column) for row in range(game.height) for column in range(game.width)}
    assert set(game.get_blank_spaces()) == cells - visited
    assert [game.get_player_location(name) for name in game.players] == locations
    assert all(game.move_is_legal(cell) == (cell not in visited) for cell in cells)
    assert game.move_count == len(game.history)
    assert game.active_player == game.players[game.move_count % 2]
    assert game.inactive_player == game.get_opponent(game.active_player)
    assert game.active_player == game.get_opponent(game.inactive_player)


@given(games())
def test_the_side_to_move_without_a_move_has_lost(game):
    lost = not naive_moves(game, game.active_index)
    mover, other = game.active_player, game.inactive_player
    assert game.is_loser(mover) == game.is_winner(other) == lost
    assert not game.is_winner(mover)
    assert not game.is_loser(other)
    assert game.utility(mover) == (float("-inf") if lost else 0.0)
    assert game.utility(other) == (float("inf") if lost else 0.0)
    winner = 2 if game.active_index == 0 else 1
    assert game.outcome() == (Outcome(winner, "no_moves") if lost else None)


def test_on_1x1_the_second_player_loses_at_once():
    game = Board.from_moves([0], size="1x1")
    assert game.legal_cells() == ()
    assert game.outcome() == Outcome(winner=1, reason="no_moves")


def test_an_outcome_is_a_value():
    with pytest.raises(FrozenInstanceError):
        Outcome(1, "no_moves").winner = 2


@given(games())
def test_legal_cells_ascend_and_blank_spaces_run_column_by_column(game):
    assert list(game.legal_cells()) == list(cells_of(game.moves_mask(game.active_index)))
    blanks = game.get_blank_spaces()
    assert blanks == sorted(blanks, key=lambda move: (move[1], move[0]))
    moves = game.get_legal_moves()
    placed = game.locations[game.active_index] is not None
    assert moves == (sorted(moves) if placed else blanks)


def test_knight_moves_come_in_the_classic_order():
    game = Board.from_moves([24, 0])
    assert game.get_legal_moves() == [(1, 2), (1, 4), (2, 1), (2, 5), (4, 1), (4, 5), (5, 2), (5, 4)]


@given(games(), st.data())
def test_reach_is_the_blank_cells_a_knights_move_from_any_cell(game, data):
    cells = data.draw(st.lists(st.tuples(st.integers(0, game.height - 1), st.integers(0, game.width - 1)), max_size=5))
    expected = {
        (row, column)
        for row, column in game.get_blank_spaces()
        for from_row, from_column in cells
        if sorted((abs(row - from_row), abs(column - from_column))) == [1, 2]
    }
    assert game.reach(cells) == sorted(expected)
    assert game.reach(cell for cell in cells) == sorted(expected)


# Move lists


@pytest.mark.exhaustive
@given(games(), st.randoms(use_true_random=False))
def test_move_lists_are_sets_of_cells_that_keep_the_left_operands_order(game, random):
    knight_moves = game.reach([divmod(random.randrange(game.width * game.height), game.width) for _ in range(4)])
    others = random.sample(game.get_blank_spaces(), len(game.get_blank_spaces()) // 2)
    blanks = game.get_blank_spaces()
    by_column = {"key": lambda move: (move[1], move[0])}
    for left, order in ((knight_moves, {}), (blanks, by_column)):
        assert left & others == sorted(set(left) & set(others), **order)
        assert left | others == sorted(set(left) | set(others), **order)
        assert left - others == sorted(set(left) - set(others), **order)
        assert type(left & others) is type(left | others) is type(left - others) is type(left)


def test_move_lists_are_plain_lists_to_old_code():
    moves = Board.from_moves([24, 0]).get_legal_moves()
    assert isinstance(moves, list)
    assert moves == [(1, 2), (1, 4), (2, 1), (2, 5), (4, 1), (4, 5), (5, 2), (5, 4)]
    assert sorted(moves, reverse=True) == moves[::-1]
    assert moves + [(0, 0)] == [*moves, (0, 0)]  # noqa: RUF005 - old code concatenates them
    moves.remove((1, 2))
    assert (1, 2) not in moves
    assert (1, 2) in Board.from_moves([24, 0]).get_legal_moves()


# Making and taking back moves


@given(games(), st.randoms(use_true_random=False))
def test_undo_restores_every_earlier_position(game, random):
    seen = []
    while game.legal_cells() and len(seen) < 30:
        seen.append((copy.copy(game), game.history))
        game.play_cell(random.choice(game.legal_cells()))
    for before, history in reversed(seen):
        last = game.history[-1]
        assert game.undo() == last
        assert game == before
        assert (game.history, game.move_count) == (history, before.move_count)


def test_undo_takes_back_classic_moves_too_and_refuses_at_the_start():
    game = Board("a", "b")
    game.apply_move((3, 3))
    game.undo()
    assert game == Board("a", "b")
    with pytest.raises(ValueError, match="no move to take back"):
        game.undo()


@given(games())
def test_successors_leave_the_board_alone_and_equal_playing_the_cell(game):
    before = copy.deepcopy(game)
    for cell in game.legal_cells()[:8]:
        after = game.successor(cell)
        played = game.copy()
        played.play_cell(cell)
        assert after == played == game.forecast_move(divmod(cell, game.width))
        assert after.history == (*game.history, cell)
        assert after != game
    assert game == before
    assert game.history == before.history


@given(games())
def test_copies_are_independent(game):
    for duplicate in (game.copy(), copy.copy(game), copy.deepcopy(game), pickle.loads(pickle.dumps(game))):
        assert duplicate == game
        assert duplicate.history == game.history
        assert duplicate.players == game.players
        history = game.history
        if duplicate.legal_cells():
            duplicate.play_cell(duplicate.legal_cells()[0])
            assert duplicate != game
            assert game.history == history


def test_a_pickled_board_carries_no_tables():
    assert len(pickle.dumps(Board(1, 2, 101, 101))) < 3000


def test_subclasses_are_honoured_wherever_a_board_is_made():
    class Counting(Board):
        forecasts = 0

        def forecast_move(self, move):
            Counting.forecasts += 1
            return super().forecast_move(move)

    start = Counting.from_moves([24, 0])
    start.label = "kept"
    for child in (start.copy(), start.forecast_move((1, 2)), start.successor(9), copy.deepcopy(start)):
        assert type(child) is Counting
        assert child.label == "kept"
    assert Counting.forecasts == 2


def test_a_subclass_may_call_things_its_own_that_are_facts_of_board():
    class Remembering(Board):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.history = []
            self.size = 49

        def apply_move(self, move):
            super().apply_move(move)
            self.history.append(move)

    game = Remembering("a", "b")
    game.apply_move((3, 3))
    assert game.history == [(3, 3)]
    assert repr(game) == 'Remembering.from_moves([24], size="7x7")'


# Equality, text


@given(games(), games())
def test_boards_are_equal_exactly_when_their_positions_are(first, second):
    def position(game):
        return game.size, sorted(game.get_blank_spaces()), game.locations, game.active_index

    assert (first == second) == (position(first) == position(second))
    if first == second:
        assert hash(first) == hash(second)


def test_positions_reached_in_another_order_are_equal_and_hash_alike():
    first = Board.from_moves([0, 48, 9, 33, 24, 46, 15])
    second = Board.from_moves([24, 48, 9, 33, 0, 46, 15])
    assert first == second
    assert hash(first) == hash(second)
    assert len({Board.from_moves([3, 4]), Board.from_moves([3, 4]), Board.from_moves([4, 3])}) == 2
    assert Board(1, 2) != "7x7"
    assert Board("a", "b") == Board("c", "d")


def test_a_board_that_is_a_key_keeps_its_place_while_copies_of_it_move_on():
    board = Board.from_moves([24, 14])
    worth = {board: 1.0}
    children = [board.successor(cell) for cell in board.legal_cells()]
    worth |= dict.fromkeys(children, 2.0)
    board.forecast_move((1, 2)).apply_move((3, 4))
    assert len(worth) == 1 + len(children)
    assert worth[Board.from_moves([24, 14])] == 1.0
    assert all(worth[child.copy()] == 2.0 for child in children)


def test_the_hash_follows_the_position_so_that_a_key_must_not_move():
    board = Board.from_moves([24, 14])
    before, worth = hash(board), {board: 1.0}
    board.play_cell(9)
    assert hash(board) == hash(Board.from_moves([24, 14, 9])) != before
    assert board not in worth
    board.undo()
    assert hash(board) == before
    assert worth[board] == 1.0


@given(games())
def test_repr_reads_back(game):
    again = eval(repr(game), {"Board": Board})
    assert again == game
    assert again.history == game.history


# Players


def test_players_are_told_apart_by_identity_before_equality():
    first, second = [1], [1]
    game = Board(first, second)
    game.apply_move((0, 0))
    assert game.active_player is second
    assert game.get_opponent(second) is first
    assert game.get_player_location(second) is None
    assert game.get_player_location([1]) == (0, 0)


@pytest.mark.parametrize("method", ["get_opponent", "get_player_location", "get_legal_moves"])
def test_a_stranger_is_refused(method):
    with pytest.raises(RuntimeError, match="'x' is not a player"):
        getattr(Board("a", "b"), method)("x")


def test_a_stranger_has_neither_won_nor_lost():
    game = Board.from_moves([0], size="1x1")
    assert not game.is_winner("x")
    assert not game.is_loser("x")
    assert game.utility("x") == 0.0


# Input


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([24, 24], "ply 2 on 7x7: cell 24 is already visited"),
        ([24, 14, 20], "ply 3 on 7x7: cell 20 is not a knight's move from cell 24"),
        ([24, 49], "ply 2 on 7x7: cell 49 is not on the board (cells 0 to 48)"),
        ([-1], "ply 1 on 7x7: cell -1 is not on the board"),
        ([2.0], "ply 1 on 7x7: 2.0 is not a cell: expected a number from 0 to 48"),
        (["c4"], "ply 1 on 7x7: 'c4' is not a cell: expected a number from 0 to 48"),
    ],
)
def test_an_illegal_cell_is_refused_with_its_ply_and_why(cells, message):
    with pytest.raises(ValueError, match="illegal move") as caught:
        Board.from_moves(cells)
    assert message in str(caught.value)


def test_numpy_cells_and_moves_stay_plain_ints_inside():
    game = Board.from_moves(np.array([90, 5], dtype=np.int16), size="9x11")
    game.apply_move(tuple(np.array([6, 3])))
    assert game.history == (90, 5, 69)
    assert all(type(cell) is int for cell in (*game.history, *game.locations))
    assert game == Board.from_moves([90, 5, 69], size="9x11")


@pytest.mark.parametrize("sides", [(0, 7), (7, -1), (7.0, 7), ("7", 7), (True, 7)])
def test_a_board_without_cells_is_refused(sides):
    with pytest.raises(ValueError, match=r"board|rows and columns must be whole numbers"):
        Board(1, 2, *sides)


def test_a_move_off_the_board_is_refused():
    with pytest.raises(IndexError, match=r"\(-1, -1\) is not on the 7x7 board"):
        Board(1, 2).apply_move((-1, -1))


def test_width_is_columns_and_height_is_rows():
    game = Board("a", "b", width=11, height=9)
    assert (game.width, game.height, game.size) == (11, 9, "9x11")
    assert len(game.get_blank_spaces()) == 99
    assert max(game.get_blank_spaces()) == (8, 10)


# Counts known from elsewhere


def count_sequences(game, depth):
    return 1 if depth == 0 else sum(count_sequences(game.successor(cell), depth - 1) for cell in game.legal_cells())


@pytest.mark.parametrize(
    ("size", "counts"),
    [
        ("3x3", [9, 72, 112, 160, 128, 96, 64]),
        ("3x4", [12, 132, 280, 568, 688, 768, 800, 760, 624]),
        ("4x4", [16, 240, 672, 1792, 3456, 6416]),
        ("5x5", [25, 600, 2208, 7712]),
        ("7x7", [49, 2352, 11280]),
    ],
)
def test_move_sequences_are_as_many_as_known(size, counts):
    start = Board.from_moves([], size=size)
    assert [count_sequences(start, depth) for depth in range(1, len(counts) + 1)] == counts


@given(games(max_plies=0))
def test_the_empty_board_is_all_blank(game):
    assert len(game.get_blank_spaces()) == game.width * game.height


def test_importing_the_board_imports_no_compiler_nor_plots():
    code = (
        "import sys; from knights_isolation import isolation; from knights_isolation.isolation import Board, Limit\n"
        "isolation.game_as_text; Board(1, 2);"
        "print([name for name in ('numba', 'pandas', 'matplotlib', 'numpy') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_public_names_are_the_functions_whatever_was_imported_before():
    code = (
        "from knights_isolation import isolation; import knights_isolation.isolation.search.solver\n"
        "import knights_isolation.isolation.search, knights_isolation.isolation.games.match\n"
        "from knights_isolation.isolation import perft, search\n"
        "print(callable(perft), callable(search), callable(isolation.perft), 'Board' in dir(isolation))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["True"] * 4


def test_an_unknown_public_name_is_refused():
    with pytest.raises(AttributeError, match=r"module 'knights_isolation\.isolation' has no attribute 'nonsense'"):
        isolation.nonsense  # noqa: B018 - reading it is the test
