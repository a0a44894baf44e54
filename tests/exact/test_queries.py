"""How the games of a run went on from a position: counted by hand, over all symmetries."""

from collections import Counter

import numpy as np
import pytest
from invented_runs import gauntlet, random_wins
from played_games import random_record, write_games

from knights_isolation.experiments import queries
from knights_isolation.experiments.game_files import append_game
from knights_isolation.experiments.plan.openings import orbit_ids, orbit_ids_by_ply
from knights_isolation.experiments.queries import explore, read_played
from knights_isolation.experiments.record import log
from knights_isolation.experiments.record.log import read_games
from knights_isolation.isolation import Board
from knights_isolation.isolation.rules.game import Size, parse_size
from knights_isolation.isolation.rules.geometry import symmetries


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Games on a small board, so that positions are met again and again."""
    path = tmp_path_factory.mktemp("runs") / "played"
    write_games(path, [random_record(seed, size="3x4") for seed in range(60)])
    append_game(path, random_record(1, size="5x5"), (None, None))
    return path


def images(board):
    """The position under every symmetry: open cells and places."""
    for image in symmetries(board.height, board.width):
        blank = frozenset(image[cell] for cell in range(len(image)) if board.blank >> cell & 1)
        yield blank, tuple(None if cell is None else image[cell] for cell in board.locations), board.active_index


def folded(board):
    return frozenset(images(board))


def counted(run, board, drawn):
    """How games went on from the position, by the folded position they came to: games, and those the mover won."""
    games, won = Counter(), Counter()
    for row in read_games(run).itertuples():
        if (row.rows, row.columns) != parse_size(board.size):
            continue
        for ply in range(0 if drawn else len(row.opening), min(row.plies, queries.PLIES)):
            before = Board.from_moves(row.moves[:ply].tolist(), board.size)
            if folded(before) == folded(board):
                after = folded(before.successor(int(row.moves[ply])))
                games[after] += 1
                won[after] += row.winner == board.active_index + 1
    return games, won


def check(run, board, drawn=False):
    explored_moves = explore(read_played(run, Size(board.height, board.width)), board)
    games, won = counted(run, board, drawn)
    assert explored_moves.games == games.total()
    cells = [cell for reply in explored_moves.replies for cell in reply.cells]
    assert sorted(cells) == list(board.legal_cells())
    for reply in explored_moves.replies:
        (after,) = {folded(board.successor(cell)) for cell in reply.cells}
        assert (reply.games, reply.won) == (games[after], won[after])
    assert [reply.games for reply in explored_moves.replies] == sorted(
        (reply.games for reply in explored_moves.replies), reverse=True
    )
    return explored_moves


@pytest.mark.parametrize("ply", [2, 3, 4])
def test_what_players_chose_and_won_is_counted_over_all_symmetries(run, ply):
    result = 0
    for seed in range(8):
        board = Board.from_moves(random_record(seed, size="3x4").moves[:ply], "3x4")
        result += check(run, board).games
    assert result >= 8


def test_moves_of_openings_are_told_from_those_that_players_chose(run):
    problems = check(run, Board.from_moves([], "3x4"), drawn=True)
    assert (problems.games, problems.drawn) == (60, True)
    assert len(problems.replies) == 4  # the 12 cells are 4 by symmetry
    assert not check(run, Board.from_moves(random_record(0, size="3x4").moves[:2], "3x4")).drawn


def test_a_position_that_was_set_up_is_the_one_that_was_played(run):
    played = Board.from_moves(random_record(3, size="3x4").moves[:5], "3x4")
    board = Board.from_fen(played.fen)
    assert board.history == ()
    assert explore(read_played(run, Size(3, 4)), board) == explore(read_played(run, Size(3, 4)), played)
    assert check(run, board).games


def test_nothing_is_known_of_other_boards_nor_of_positions_beyond_the_known_plies(run, monkeypatch):
    assert explore(read_played(run, Size(7, 7)), Board(1, 2)).games == 0
    assert read_played(run, Size(7, 7)).ids.shape == (0, queries.PLIES + 1)
    board = Board.from_moves(random_record(3, size="3x4").moves[:5], "3x4")
    monkeypatch.setattr(queries, "PLIES", 4)
    explored_moves = explore(read_played(run, Size(3, 4)), board)
    assert explored_moves.games == 0
    assert {cell for reply in explored_moves.replies for cell in reply.cells} == set(board.legal_cells())


def test_a_finished_position_has_no_replies(run):
    board = Board.from_moves(random_record(3, size="3x4").moves, "3x4")
    assert explore(read_played(run, Size(3, 4)), board) == queries.Continuations(0, False, ())


def test_ids_by_ply_are_those_of_the_positions_on_the_way():
    cells = np.array([[24, 14, 9, 1, 0, -1], [0, 48, 9, -1, -1, -1], [3, 2, -1, -1, -1, -1]], np.int16)
    orbits = orbit_ids_by_ply(cells, Size(7, 7))
    for row, moves in enumerate(cells):
        for ply in range(cells.shape[1] + 1):
            played = moves[:ply]
            expected = 0 if -1 in played else orbit_ids(played.reshape(1, -1), Size(7, 7))[0]
            assert orbits[row, ply] == expected


def test_a_run_of_many_parts_is_read_whole(tmp_path, monkeypatch):
    path = gauntlet(8, random_wins({"Base": 0.5, "Mine": 0.7}), contenders=("Mine",)).write(tmp_path / "run")
    games = len(read_games(path))
    monkeypatch.setattr(log, "_BATCH", 5)
    size = Size(*map(int, read_games(path)[["rows", "columns"]].iloc[0]))
    assert explore(read_played(path, size), Board.from_moves([], size)).games == games


def test_where_no_run_lies_is_said(tmp_path):
    with pytest.raises(ValueError, match="not a run directory"):
        read_played(tmp_path, Size(7, 7))
