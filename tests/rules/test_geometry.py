from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knights_isolation.isolation.rules import geometry
from knights_isolation.isolation.rules.game import Size, parse_size, size_of
from knights_isolation.isolation.rules.geometry import (
    canonical_opening,
    cell_of,
    cells_of,
    column_masks,
    full_mask,
    knight_mask,
    knight_masks,
    move_of,
    symmetries,
)

small_sizes = st.tuples(st.integers(1, 9), st.integers(1, 9))


@given(st.integers(1, 181), st.integers(1, 181))
def test_a_size_is_read_back_from_its_text(rows, columns):
    assert parse_size(str(Size(rows, columns))) == (rows, columns)


@pytest.mark.parametrize("text", ["182x182", "99999x99999", "9999999x9999999", "1x" + "9" * 5000])
def test_a_board_too_large_for_anything_is_refused_at_once(text):
    with pytest.raises(ValueError, match="at most 32,767 cells"):
        parse_size(text)


@pytest.mark.parametrize("text", ["7", "7x", "x7", "7x7x7", "axb", "7.0x7", "", "７x７", None, 7, (7, 7)])
def test_a_size_that_is_not_rows_x_columns_is_refused_with_its_text(text):
    with pytest.raises(ValueError, match="ROWSxCOLUMNS") as caught:
        parse_size(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("text", ["0x7", "7x0", "-3x7"])
def test_a_size_below_one_is_refused(text):
    with pytest.raises(ValueError, match="at least 1"):
        parse_size(text)


def test_people_give_a_size_as_text_or_as_rows_and_columns():
    assert size_of("5x6") == size_of((5, 6)) == Size(5, 6)
    for wrong in ((5,), (5, 6, 7), 5):
        with pytest.raises(ValueError, match="ROWSxCOLUMNS"):
            size_of(wrong)


@given(small_sizes, st.data())
def test_cells_and_moves_are_two_names_of_one_thing(size, data):
    rows, columns = size
    cell = data.draw(st.integers(0, rows * columns - 1))
    row, column = move_of(cell, columns)
    assert 0 <= row < rows
    assert 0 <= column < columns
    assert cell_of((row, column), columns) == cell


@given(st.sets(st.integers(0, 200)))
def test_a_mask_lists_its_cells_in_ascending_order(cells):
    assert list(cells_of(sum(1 << cell for cell in cells))) == sorted(cells)


@given(small_sizes)
def test_knights_move_two_one_way_and_one_the_other(size):
    rows, columns = size
    for cell, mask in enumerate(knight_masks(rows, columns)):
        row, column = move_of(cell, columns)
        near = {
            target
            for target in range(rows * columns)
            if sorted((abs(target // columns - row), abs(target % columns - column))) == [1, 2]
        }
        assert set(cells_of(mask)) == near
        assert knight_mask(cell, rows, columns) == mask


def test_the_classic_order_of_knight_steps_is_row_major():
    assert list(geometry.KNIGHT_STEPS) == sorted(geometry.KNIGHT_STEPS)
    assert len(set(geometry.KNIGHT_STEPS)) == 8


@given(small_sizes)
def test_columns_cover_the_board_once(size):
    rows, columns = size
    masks = column_masks(rows, columns)
    assert sum(masks) == full_mask(rows, columns)
    assert [{cell % columns for cell in cells_of(mask)} for mask in masks] == [{column} for column in range(columns)]


@given(small_sizes)
def test_symmetries_are_permutations_that_keep_knight_moves(size):
    rows, columns = size
    masks = knight_masks(rows, columns)
    images = symmetries(rows, columns)
    assert len(images) == (8 if rows == columns else 4)
    assert images[0] == tuple(range(rows * columns))
    for image in images:
        assert sorted(image) == list(range(rows * columns))
        for cell, mask in enumerate(masks):
            assert {image[target] for target in cells_of(mask)} == set(cells_of(masks[image[cell]]))


def test_a_square_has_eight_different_symmetries_and_a_rectangle_four():
    assert len(set(symmetries(7, 7))) == 8
    assert len(set(symmetries(3, 4))) == 4


@given(small_sizes, st.data())
def test_an_opening_and_its_images_share_one_canonical_form(size, data):
    rows, columns = size
    cells = data.draw(st.lists(st.integers(0, rows * columns - 1), max_size=4, unique=True))
    canonical = canonical_opening(cells, rows, columns)
    assert canonical in [tuple(image[cell] for cell in cells) for image in symmetries(rows, columns)]
    for image in symmetries(rows, columns):
        assert canonical_opening([image[cell] for cell in cells], rows, columns) == canonical


def test_7x7_has_315_two_ply_openings_up_to_symmetry():
    assert len({canonical_opening(pair, 7, 7) for pair in permutations(range(49), 2)}) == 315
