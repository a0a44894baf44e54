"""Thousands of positions in one call: their values, moves and exact results, from move lists and from arrays."""

from typing import Any

import numpy as np
import pytest

import knights_isolation as ki
from knights_isolation import heuristics
from knights_isolation.experiments import read_suite
from knights_isolation.isolation import Board
from knights_isolation.isolation.games.batches import Positions, States, packed
from knights_isolation.isolation.rules.game import parse_size


def random_positions(size: str, count: int) -> list[tuple[int, ...]]:
    """Positions of random games, both players placed, in which the side to move has a move."""
    rng, positions = np.random.default_rng(1), []
    while len(positions) < count:
        board, plies = Board.from_moves([], size), rng.integers(2, 24)
        while len(board.history) < plies and board.legal_cells():
            board.play_cell(int(rng.choice(board.legal_cells())))
        if board.legal_cells() and len(board.history) >= 2:
            positions.append(board.history)
    return positions


@pytest.mark.parametrize("size", ["5x5", "7x7", "9x11"])
def test_flat_arrays_are_the_positions_of_their_moves(size: str) -> None:
    games = random_positions(size, 50)
    boards = [Board.from_moves(moves, size) for moves in games]
    given, states = Positions.of(games, size), States.of(boards)
    for column, other in zip(packed(given), packed(states), strict=True):
        assert column.tolist() == other.tolist()
    assert [states.board(index).fen for index in range(50)] == [board.fen for board in boards]
    planes = np.array([board.observation()[0] for board in boards])
    again = States.of_arrays(planes, states.own, states.other, states.turns, size)
    assert (again.low.tolist(), again.high.tolist()) == (states.low.tolist(), states.high.tolist())


def rounded(game: Any, player: Any) -> float:
    """A heuristic that only Python can run."""
    return float(str(len(game.get_legal_moves(player))).rjust(9).strip()) if hasattr(game, "undo") else 0.0


@pytest.mark.parametrize("heuristic", ["territory", pytest.param(rounded, marks=pytest.mark.exhaustive)])
def test_values_of_positions_are_those_of_the_boards(heuristic: Any) -> None:
    games = random_positions("7x7", 20)
    boards = [Board.from_moves(moves) for moves in games]
    function = heuristics.get(heuristic) if isinstance(heuristic, str) else heuristic
    expected = [function(board, board.active_player) for board in boards]
    assert ki.evaluate_positions(heuristic, games).tolist() == expected
    assert ki.evaluate_positions(heuristic, boards).tolist() == expected
    waiting = 1 - States.of(boards).turns
    values = ki.evaluate_positions(heuristic, Positions.of(games, "7x7"), players=waiting)
    assert values.tolist() == [function(board, board.inactive_player) for board in boards]


def test_moves_that_are_not_legal_are_named() -> None:
    for wrong in ([24], [24, 24], [24, 14, 16], [24, 49], [24, 14, 9, 1, 24]):
        with pytest.raises(ValueError, match=r"position 1, .* is not one of legal moves on 7x7"):
            ki.evaluate_positions("open", [[24, 14], wrong])
    with pytest.raises(ValueError, match="cells numbers from 0 to 48"):
        States.of_arrays([3], [49], [1])


def test_an_agent_answers_many_positions_as_it_answers_each() -> None:
    games = random_positions("7x7", 20)
    boards = [Board.from_moves(game) for game in games]
    moves = ki.best_moves("improved", games, limit="depth=2").tolist()
    assert moves == ki.best_moves("improved", boards, limit="depth=2").tolist()
    assert all(board.mask()[move] for board, move in zip(boards, moves, strict=True))


def test_exact_values_of_moves_agree_with_the_winner() -> None:
    for moves in (game for game in random_positions("5x5", 20)):
        board = Board.from_moves(moves, "5x5")
        values = ki.move_values(board)
        assert tuple(values) == board.legal_cells()
        assert set(values.values()) <= {1.0, -1.0}
        assert (max(values.values()) == 1.0) == (ki.exact(board) == board.active_index + 1)
        assert ki.solve(board).value.moves == tuple(cell for cell, value in values.items() if value == 1.0)
    assert ki.move_values(Board.from_moves([24, 14, 9, 1]), "improved").keys() == set(
        Board.from_moves([24, 14, 9, 1]).legal_cells()
    )


def test_observations_show_the_mover_first() -> None:
    board = Board.from_moves([24, 14, 9])
    planes = board.observation()
    assert planes.shape == (4, *parse_size("7x7"))
    assert np.flatnonzero(planes[1]).tolist() == [14]
    assert np.flatnonzero(planes[2]).tolist() == [9]
    assert np.flatnonzero(~planes[0]).tolist() == [9, 14, 24]
    assert np.flatnonzero(planes[3]).tolist() == np.flatnonzero(board.mask()).tolist() == list(board.legal_cells())


def test_a_suite_is_a_frame() -> None:
    suite = read_suite("7x7", "screen").sample(30, seed=1)
    frame = suite.to_frame()
    assert len(frame) == 30
    assert sum(map(len, frame["legal"])) == len(suite.legal)
    assert [any(keeps) for keeps in frame["keeps"]] == frame["is_telling"].tolist()
