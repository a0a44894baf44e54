import math
import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from random_games import games, small_sizes

from knights_isolation.isolation import Board
from knights_isolation.isolation.rules.drawing import (
    DARK,
    KNIGHT,
    LIGHT,
    Annotations,
    Theme,
    standing,
    strength,
    to_svg,
    to_text,
)
from knights_isolation.isolation.rules.game import Size
from knights_isolation.isolation.rules.geometry import (
    cell_name,
    column_name,
    format_moves,
    parse_cell,
    parse_moves,
)
from knights_isolation.reports.pages.board_images import to_image, write_gif, write_png

SVG = "{http://www.w3.org/2000/svg}"


def test_a_position_in_text_shows_pieces_visited_cells_legal_moves_and_numbers():
    board = Board.from_moves([0, 11, 6], size="3x4")
    assert to_text(board, ascii_only=True).splitlines() == [
        "     a   b   c   d",
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


@given(st.integers(1, 40), st.integers(1, 800), st.data())
def test_a_cell_is_read_back_from_its_name_and_from_its_row_and_column(rows, columns, data):
    cell = data.draw(st.integers(0, rows * columns - 1))
    name, (row, column) = cell_name(cell, columns), divmod(cell, columns)
    assert name.startswith(column_name(column))
    assert name.endswith(str(row))
    for text in (name, name.upper(), f" {name} ", f"{row},{column}", f"({row}, {column})"):
        assert parse_cell(text, rows, columns) == cell


def test_columns_have_different_names():
    names = [column_name(column) for column in range(20_000)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("h3", "h3 is not on the 7x7 board (cells a0 to g6)"),
        ("d7", "d7 is not on the 7x7 board"),
        ("7,0", "7,0 is not on the 7x7 board"),
        ("", "'' is not a cell"),
        ("3d", "'3d' is not a cell: expected a column and a row like d3, or row,column like 3,3"),
        ("d-1", "is not a cell"),
        ("d٣", "is not a cell"),
    ],
)
def test_what_is_no_cell_is_refused_with_what_would_be_right(text, complaint):
    with pytest.raises(ValueError, match=re.escape(complaint)):
        parse_cell(text, 7, 7)


@given(games(sizes=small_sizes))
def test_moves_are_read_back_from_their_names_and_from_their_numbers(board):
    assert parse_moves(format_moves(board.history, board.width), (board.height, board.width)) == list(board.history)
    assert parse_moves(" ".join(map(str, board.history)), (board.height, board.width)) == list(board.history)


@pytest.mark.parametrize("text", ["24,x", "49", "d3,h9", "d3;a2", "-1", "²"])
def test_moves_that_are_no_cells_are_refused(text):
    with pytest.raises(ValueError, match=r"is not (a cell|on the 7x7 board)"):
        parse_moves(text)


def elements(board, tag, marks=None):
    return ET.fromstring(to_svg(board, marks=marks)).findall(f"{SVG}{tag}")


@given(games(sizes=small_sizes))
def test_svg_draws_both_knights_the_legal_moves_and_the_visited_cells(board):
    visited = board.width * board.height - len(board.get_blank_spaces())
    placed = sum(cell is not None for cell in board.locations)
    assert len(elements(board, "circle")) == len(board.get_legal_moves())
    assert len([path for path in elements(board, "path") if path.get("d") == KNIGHT]) == placed
    fills = [rect.get("fill") for rect in elements(board, "rect")]
    left = [ply for ply, cell in enumerate(board.history) if cell not in board.locations]
    assert fills.count(LIGHT.trail_1) == sum(ply % 2 == 0 for ply in left)
    assert fills.count(LIGHT.trail_2) == sum(ply % 2 for ply in left) == visited - placed - fills.count(LIGHT.trail_1)
    assert fills.count(LIGHT.last_move) == min(board.move_count, 1) + (board.move_count > 2)
    assert [text.text for text in elements(board, "text", Annotations(numbers=False))] == [
        *map(column_name, range(board.width)),
        *map(str, range(board.height)),
    ]
    assert elements(board, "title")[0].text == f"{board.size} board. {standing(board)}"


@given(games(sizes=small_sizes))
def test_visited_cells_show_when_they_were_visited_and_by_whom(board):
    numbers = elements(board, "text")[board.width + board.height :]
    visited = [ply for ply, cell in enumerate(board.history, start=1) if cell not in board.locations]
    assert [int(number.text) for number in numbers] == visited
    assert [number.get("fill") for number in numbers] == [LIGHT.number_1 if n % 2 else LIGHT.number_2 for n in visited]


def test_svg_takes_another_theme_and_notebooks_show_the_default():
    board = Board.from_moves([24, 14])
    assert 'fill="#123456"' in to_svg(board, Theme(open="#123456"))
    assert DARK.open in to_svg(board, DARK)
    assert "var(--open)" in to_svg(board, Theme(open="var(--open)"))
    assert board._repr_svg_() == to_svg(board)


def test_svg_shows_the_last_move_where_the_history_is_unknown():
    board = Board("a", "b")
    board._board_state = Board.from_moves([24, 14, 9])._board_state
    assert [rect.get("fill") for rect in elements(board, "rect")].count(LIGHT.last_move) == 1


def test_values_take_the_place_of_the_dots_over_a_colour_from_bad_to_good():
    board = Board.from_moves([24, 14])
    cells = board.legal_cells()
    marks = Annotations(values=dict(zip(cells, [2.0, -1.0, math.inf, -math.inf], strict=False)), numbers=False)
    assert [text.text for text in elements(board, "text", marks)][14:] == ["2", "−1", "win", "loss"]
    assert len(elements(board, "circle", marks)) == len(cells) - 4
    heat = [rect for rect in elements(board, "rect", marks) if rect.get("fill") in (LIGHT.good, LIGHT.bad)]
    assert [rect.get("fill") for rect in heat] == [LIGHT.good, LIGHT.bad, LIGHT.good, LIGHT.bad]
    assert float(heat[0].get("fill-opacity")) == float(heat[2].get("fill-opacity")) > float(heat[1].get("fill-opacity"))


@given(st.dictionaries(st.integers(0, 48), st.floats(), min_size=1))
def test_the_strength_of_a_colour_is_a_share_with_the_sign_of_the_value(values):
    for value in values.values():
        share = strength(value, values)
        assert -1 <= share <= 1
        assert math.isnan(value) or share * value >= 0


def test_arrows_point_from_cell_to_cell_and_captions_are_escaped():
    board = Board.from_moves([24, 14])
    svg = to_svg(board, marks=Annotations(arrows=((24, 9), (14, 14)), caption="<a> & b"))
    arrows = [path for path in ET.fromstring(svg).iter(f"{SVG}path") if path.get("fill") == LIGHT.arrow]
    assert len(arrows) == 1
    assert ET.fromstring(svg).findall(f"{SVG}text")[-1].text == "<a> & b"


def test_legal_moves_and_numbers_can_be_left_out():
    board = Board.from_moves([24, 14, 9, 1])
    marks = Annotations(legal=False, numbers=False)
    assert elements(board, "circle", marks) == []
    assert len(elements(board, "text", marks)) == 14


def test_a_png_shows_what_the_svg_shows(tmp_path):
    board = Board.from_moves([24, 14, 9, 1])
    write_png(tmp_path / "board.png", board)
    with Image.open(tmp_path / "board.png") as image:
        pixel = {cell: image.getpixel(middle(cell, scale=2, off=-18)) for cell in (24, 0, 1)}
        assert image.size == (2 * (26 + 7 * 48 + 6),) * 2
        assert pixel == {24: rgb(LIGHT.trail_1), 0: rgb(LIGHT.open), 1: rgb(LIGHT.last_move)}
        # The dark knight, and a legal move of its.
        assert image.getpixel(middle(1, scale=2, off=4)) == rgb(LIGHT.player_2)
        assert image.getpixel(middle(board.legal_cells()[0], scale=2)) == rgb(LIGHT.legal)


def middle(cell, scale, off=0):
    """A pixel of a 7x7 picture near the middle of a cell."""
    row, column = divmod(cell, 7)
    return scale * (26 + 48 * column + 24 + off), scale * (26 + 48 * row + 24 + off)


def rgb(colour):
    return tuple(bytes.fromhex(colour.removeprefix("#")))


def test_a_dark_picture_with_everything_on_it_can_be_painted():
    board = Board.from_moves([0, 11, 6], size="3x4")
    marks = Annotations(arrows=((11, 2),), values={2: math.inf, 5: -0.5}, caption="player 2 to move")
    assert to_image(board, DARK, marks, scale=1).size == (26 + 4 * 48 + 6, 26 + 3 * 48 + 6 + 28)


def test_a_gif_has_a_frame_for_every_position_at_the_chosen_pace(tmp_path):
    write_gif(tmp_path / "game.gif", [0, 5, 6], Size(3, 4), ["start", "one", "two", "three"], ("A", "B"), seconds=0.25)
    with Image.open(tmp_path / "game.gif") as image:
        durations = []
        for frame in range(image.n_frames):
            image.seek(frame)
            durations.append(image.info["duration"])
    assert durations == [250, 250, 250, 750]
