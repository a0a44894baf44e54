"""Positions and moves as other programs write them, and counts that those programs have made."""

import random

import pytest
from click.testing import CliRunner
from hypothesis import given
from random_games import games, random_game, small_sizes

from cli import main
from knights_isolation.isolation import Board, Limit, perft, search
from knights_isolation.isolation.engines.protocol import read_move, variants_text, write_move, write_san
from knights_isolation.isolation.rules.geometry import parse_square, square_name


@given(games(sizes=small_sizes))
def test_a_fen_gives_the_position_back(game):
    again = Board.from_fen(game.fen)
    assert again == game
    assert again.fen == game.fen
    assert again.move_count == game.move_count
    assert set(again.legal_cells()) == set(game.legal_cells())


def test_a_fen_of_nothing_but_knights_has_a_history_and_others_have_none():
    assert Board.from_fen("7/7/7/7/7/7/7 w").history == ()
    assert Board.from_fen("7/7/7/3N3/7/7/7[n] b - - 0 1").history == (24,)
    assert Board.from_fen("7/7/n6/3N3/7/7/7 w - - 0 1").history == (24, 14)
    assert Board.from_fen("7/7/n6/3N3/7/7/7 b").history == ()
    assert Board.from_moves([24, 14, 9]).fen == "7/2N4/n6/3*3/7/7/7 b - - 1 1"


def test_a_position_of_a_fen_is_searched_as_the_same_position_of_a_game(positions_of_games):
    def improved(game, player):
        return float(len(game.get_legal_moves(player)) - len(game.get_legal_moves(game.get_opponent(player))))

    for game in positions_of_games:
        results = [
            search(board, improved, Limit(nodes=500), interpreted=True) for board in (game, Board.from_fen(game.fen))
        ]
        assert results[0].move == results[1].move
        assert results[0].nodes == results[1].nodes


@pytest.fixture
def positions_of_games():
    result = [random_game(random.Random(seed), 6, 7, 10) for seed in range(5)]
    return [game for game in result if game.legal_cells()]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected one like 7/7/7/3N3/7/n6/7 w"),
        ("7/7 x", "expected one like"),
        ("7/6 w", "rows of different lengths"),
        ("7//7 w", "a row has no cells"),
        ("7/3K3 w", "'K' in it is neither"),
        ("NN5/n6 w", "each player must have one knight"),
        ("7/7 b", "player 1 (N) places first"),
        ("N6/7 w", "player 1 (N) places first"),
        ("n6/7 b", "player 1 (N) places first"),
        ("7/2N4/n6[Nn] b", "knights in hand must be those not on the board, here none"),
        ("7/2N4/7[N] b", "here n"),
        ("7/7[nn] w", "here Nn"),
        ("99999999/7 w", "more than any board has"),
        ("9999/" * 3000 + "9999 w", "not a FEN"),
    ],
)
def test_what_is_no_fen_is_refused_and_why(text, message):
    with pytest.raises(ValueError, match="not a FEN") as error:
        Board.from_fen(text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@given(games(sizes=small_sizes))
def test_moves_are_read_as_they_are_written(game):
    for cell in game.legal_cells():
        texts = (
            write_move(game, cell),
            write_move(game, cell, "joust"),
            write_san(game, cell),
            square_name(cell, game.height, game.width),
        )
        assert [read_move(game, text) for text in texts] == [cell] * 4


def test_squares_are_counted_from_the_bottom_on_boards_with_unequal_sides():
    names = [square_name(cell, 2, 3) for cell in range(6)]
    assert names == ["a2", "b2", "c2", "a1", "b1", "c1"]
    assert [parse_square(name, 2, 3) for name in names] == list(range(6))
    for text in ("a0", "a3", "d1", "a", "1"):
        with pytest.raises(ValueError, match="square"):
            parse_square(text, 2, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a move"),
        ("(none)", "is not a move"),
        ("d4d5", "is not legal in 7/7/n6/3N3/7/7/7 w"),
        ("c4c2", "leaves c4, but the knight stands on d4"),
        ("N@c2", "the knight is already on d4"),
        ("d4h9", "not on the 7x7 board"),
        ("d4c2,a1b1", "closes a1b1; a move closes what it leaves, here ,c2d4"),
        ("d4c2,d4", "closes d4; a move closes what it leaves, here ,c2d4"),
        ("d4c2,", "closes nothing"),
        ("Nc2,a1", "closes a1; a move closes what it leaves, here ,d4"),
        ("Nc2,c2d4", "here ,d4"),
        ("c2,e5+", "here ,d4"),
        ("d4c2,c2d4 and more", "is not a move"),
    ],
)
def test_what_is_no_move_is_refused_and_why(text, message):
    with pytest.raises(ValueError, match=r".") as error:
        read_move(Board.from_moves([24, 14]), text)
    assert message in str(error.value)


def test_nobody_leaves_a_square_before_its_placement():
    with pytest.raises(ValueError, match="leaves d4, but the knight is not placed yet"):
        read_move(Board(1, 2), "d4c2")
    with pytest.raises(ValueError, match="closes a cell; a placement closes only its own"):
        read_move(Board(1, 2), "N@d4,d4")


def test_a_right_wall_is_read_in_capitals_and_with_signs_behind_it():
    board = Board.from_moves([24, 14])
    assert {read_move(board, text) for text in ("D4C2,C2D4", "Nc2,d4+", "Nd4c2,d4!?", "c2,d4")} == {37}


# Counts that others have made


@pytest.mark.parametrize(
    ("placements", "counts"),
    [
        ([15, 37], [6, 34, 136, 515, 2244]),
        ([34, 8], [4, 16, 76, 362, 1628]),
        ([23, 38], [7, 35, 150, 610, 2251]),
        ([30, 40], [8, 30, 120, 515, 2006]),
        ([37, 4], [6, 24, 98, 428, 1794]),
        ([38, 0], [6, 12, 56, 266, 1106]),
    ],
)
def test_moves_are_counted_as_fairy_stockfish_counts_them(placements, counts):
    assert perft(Board.from_moves(placements), 5) == counts
    assert perft(Board.from_fen(Board.from_moves(placements).fen), 5) == counts


def position_counts(rows, columns):
    """How many positions there are after moves from opposite corners, and how many of them are ends of games."""
    start = Board.from_moves([0, rows * columns - 1], size=f"{rows}x{columns}")
    result, waiting = {start}, [start]
    while waiting:
        board = waiting.pop()
        for cell in board.legal_cells():
            after = board.successor(cell)
            if after not in result:
                result.add(after)
                waiting.append(after)
    return len(result), sum(board.outcome() is not None for board in result)


def test_positions_are_counted_as_gamescrafters_counts_them():
    assert position_counts(4, 4) == (521, 154)
    assert position_counts(5, 4) == (16_211, 4_844)


# The command


def test_eval_and_solve_read_a_fen_as_they_read_moves():
    for words in (["eval", "--format", "csv"], ["perfect", "solve", "--format", "csv"]):
        by_moves, by_fen = (
            CliRunner().invoke(main, [*words, *position]).output
            for position in (["--moves", "d3,a2,c1"], ["--fen", "7/2N4/n6/3*3/7/7/7 b"])
        )
        assert by_moves == by_fen


def test_show_reads_a_fen_and_writes_one():
    result = CliRunner().invoke(main, ["show", "--fen", "7/7/n6/3N3/7/7/7 w"]).output
    assert result == CliRunner().invoke(main, ["show", "--moves", "d3,a2"]).output
    assert CliRunner().invoke(main, ["show", "--moves", "d3,a2", "--fen"]).output == "7/7/n6/3N3/7/7/7 w - - 0 1\n"
    both = CliRunner().invoke(main, ["show", "--moves", "d3", "--fen", "7/7 w"])
    assert (both.output, both.exit_code) == ("Error: --moves and --fen exclude each other: use one of them\n", 2)


@pytest.mark.slow
def test_rules_variants_and_moves_in_writing_are_those_of_fairy_stockfish():
    """Its rules as a library are installed with what tests need, but on machines for which it does not come built."""
    pyffish = pytest.importorskip("pyffish")
    for size in ("5x6", "7x7", "9x11", "8x8"):
        rows, columns = map(int, size.split("x"))
        pyffish.load_variant_config(variants_text((rows, columns)))
        placing, joust = f"placing{size}", "joust" if size == "8x8" else f"joust{size}"
        for seed in range(5):
            game = random_game(random.Random(seed), rows, columns, 2 + 3 * seed)
            legal = pyffish.legal_moves(joust, game.fen, [])
            assert sorted(legal) == sorted(write_move(game, cell, "joust") for cell in game.legal_cells())
            written = {write_move(game, cell, "joust"): write_san(game, cell) for cell in game.legal_cells()}
            assert {move: pyffish.get_san(joust, game.fen, move) for move in legal} == written
            for move in legal:
                after = pyffish.get_fen(joust, game.fen, [move])
                assert Board.from_fen(after) == game.successor(read_move(game, move))
        for plies in (0, 1):
            game = random_game(random.Random(1), rows, columns, plies)
            legal = pyffish.legal_moves(placing, game.fen, [])
            assert sorted(legal) == sorted(write_move(game, cell) for cell in game.legal_cells())
