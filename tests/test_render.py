import doctest
import xml.etree.ElementTree as ET

from hypothesis import given
from random_games import games, small_sizes

from isolation import Board, render
from isolation.render import Theme, standing, to_svg, to_text

SVG = "{http://www.w3.org/2000/svg}"


def test_examples_in_docstrings_hold():
    assert doctest.testmod(render).failed == 0


def test_a_position_in_text_shows_pieces_visited_cells_legal_moves_and_numbers():
    board = Board.from_moves([0, 11, 6], size="3x4")
    assert to_text(board, ascii_only=True).splitlines() == [
        "     0   1   2   3",
        "   +---+---+---+---+",
        " 0 | # |   | . |   |",
        "   +---+---+---+---+",
        " 1 |   | . | 1 |   |",
        "   +---+---+---+---+",
        " 2 |   |   |   | 2 |",
        "   +---+---+---+---+",
        "Player 2 to move.",
    ]
    assert to_text(board).splitlines()[1:5] == [
        "   ┌───┬───┬───┬───┐",
        " 0 │ ░ │   │ · │   │",
        "   ├───┼───┼───┼───┤",
        " 1 │   │ · │ ♘ │   │",
    ]


@given(games(sizes=small_sizes))
def test_text_has_one_symbol_for_each_cell(board):
    for ascii_only, symbols in ((True, "12#. "), (False, "♘♞░· ")):
        text = to_text(board, ascii_only)
        assert not ascii_only or text.isascii()
        lines = text.splitlines()
        cells = "".join(line[len(str(board.height - 1)) + 4 :: 4] for line in lines[2:-2:2])
        visited = board.width * board.height - len(board.get_blank_spaces())
        placed = sum(cell is not None for cell in board.locations)
        moves = len(board.get_legal_moves())
        counts = [int(placed > 0), int(placed > 1), visited - placed, moves, len(board.get_blank_spaces()) - moves]
        assert [cells.count(symbol) for symbol in symbols] == counts
        assert lines[-1] == standing(board)


def test_the_last_line_says_who_is_to_move_or_has_won():
    assert standing(Board(1, 2)) == "Player 1 to move."
    assert standing(Board.from_moves([3])) == "Player 2 to move."
    assert standing(Board.from_moves([0], size="1x1")) == "Player 1 has won: player 2 has no move."


def elements(board, tag):
    return ET.fromstring(to_svg(board)).findall(f"{SVG}{tag}")


@given(games(sizes=small_sizes))
def test_svg_draws_both_knights_the_legal_moves_and_the_visited_cells(board):
    visited = board.width * board.height - len(board.get_blank_spaces())
    placed = sum(cell is not None for cell in board.locations)
    assert len(elements(board, "circle")) == len(board.get_legal_moves())
    assert len([path for path in elements(board, "path") if path.get("transform")]) == placed
    fills = [rect.get("fill") for rect in elements(board, "rect")]
    assert fills.count(Theme().visited) == visited - placed
    assert fills.count(Theme().last_move) == min(board.move_count, 1) + (board.move_count > 2)
    assert [text.text for text in elements(board, "text")] == [
        *map(str, range(board.width)),
        *map(str, range(board.height)),
    ]
    assert elements(board, "title")[0].text == f"{board.size} board. {standing(board)}"


def test_svg_takes_another_theme_and_notebooks_show_the_default():
    board = Board.from_moves([24, 14])
    assert 'fill="#123456"' in to_svg(board, Theme(open="#123456"))
    assert board._repr_svg_() == to_svg(board)


def test_svg_shows_the_last_move_where_the_history_is_unknown():
    board = Board("a", "b")
    board._board_state = Board.from_moves([24, 14, 9])._board_state
    assert [rect.get("fill") for rect in elements(board, "rect")].count(Theme().last_move) == 1
