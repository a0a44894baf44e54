"""Opening sets: legal, distinct, unfinished, reproducible, and the same up to symmetry where they should be."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knights_isolation.experiments.plan.openings import (
    OpeningSet,
    check_opening,
    colour_roles,
    file_openings,
    opening_ids,
    orbit_ids,
    placement_openings,
    random_openings,
)
from knights_isolation.isolation import Board
from knights_isolation.isolation.rules.game import Size
from knights_isolation.isolation.rules.geometry import canonical_opening, symmetries

SIZES = st.sampled_from([Size(3, 3), Size(3, 4), Size(5, 5), Size(4, 7), Size(7, 7), Size(9, 11)])


def positions(openings: OpeningSet) -> list[object]:
    return [Board.from_moves(openings[row], openings.size) for row in range(len(openings))]


@given(SIZES, st.integers(0, 6), st.integers(1, 60), st.integers(0, 2**32))
@settings(deadline=None, max_examples=60)
def test_random_openings_are_distinct_legal_and_leave_a_move(size: Size, plies: int, count: int, seed: int) -> None:
    try:
        openings = random_openings(size, plies, count, seed)
    except ValueError as error:
        assert "has no opening" in str(error)  # noqa: PT017
        return
    boards = positions(openings)
    assert len(set(boards)) == len(openings) <= count
    assert all(board.get_legal_moves() and len(board.history) == plies for board in boards)


@pytest.mark.parametrize(("size", "plies"), [(Size(7, 7), 2), (Size(7, 7), 4), (Size(7, 7), 6), (Size(9, 11), 4)])
def test_a_smaller_draw_is_the_beginning_of_a_larger_one(size: Size, plies: int) -> None:
    few, many = random_openings(size, plies, 50, seed=3), random_openings(size, plies, 9000, seed=3)
    assert np.array_equal(few.cells, many.cells[:50])
    assert not np.array_equal(few.cells, random_openings(size, plies, 50, seed=4).cells)


def test_a_board_has_no_more_openings_than_it_has() -> None:
    drawn = random_openings(Size(7, 7), 2, 10_000, seed=1)
    assert len(drawn) == drawn.population == 2352
    assert drawn.population == len(drawn)
    assert random_openings(Size(7, 7), 2, 2351, seed=1).population == 2352


def test_openings_too_many_to_list_have_an_unknown_population() -> None:
    drawn = random_openings(Size(7, 7), 6, 100, seed=1)
    assert len(drawn) == 100
    assert drawn.population == 0


def test_every_placement_pair_of_7x7_and_their_orbits() -> None:
    every = placement_openings(Size(7, 7))
    assert len(every) == 2352
    assert len(set(orbit_ids(every.cells, Size(7, 7)).tolist())) == 315


def test_placements_that_end_the_game_are_no_openings() -> None:
    # On 3x3 nobody moves from or to the centre, so player 1 has no move from there.
    assert {opening[0] for opening in map(placement_openings(Size(3, 3)).__getitem__, range(64))} == set(range(9)) - {4}


def test_placements_split_by_colour() -> None:
    same, other = placement_openings(Size(7, 7), "same"), placement_openings(Size(7, 7), "other")
    assert (len(same), len(other)) == (25 * 24 + 24 * 23, 2 * 25 * 24)
    assert set(colour_roles(same.cells, Size(7, 7))) == {0}
    assert set(colour_roles(other.cells, Size(7, 7))) == {1}
    assert all(sum(divmod(cell, 7)) % 2 == sum(divmod(reply, 7)) % 2 for cell, reply in same.cells.tolist())


def test_random_openings_keep_the_colours_asked_for() -> None:
    assert set(colour_roles(random_openings(Size(9, 11), 6, 80, 1, "other").cells, Size(9, 11))) == {1}


@pytest.mark.parametrize("plies", [2, 5])
def test_the_two_halves_share_no_orbit(plies: int) -> None:
    fit, screen = (random_openings(Size(7, 7), plies, 300, 1, half) for half in ("fit", "screen"))
    assert not set(orbit_ids(fit.cells, Size(7, 7)).tolist()) & set(orbit_ids(screen.cells, Size(7, 7)).tolist())
    assert len(fit) == len(screen) == 300
    populations = [random_openings(Size(7, 7), 2, 1, 1, subset).population for subset in ("any", "fit", "screen")]
    assert populations[0] == sum(populations[1:])


@pytest.mark.exhaustive
@given(SIZES, st.integers(0, 6), st.integers(0, 2**32))
@settings(deadline=None, max_examples=60)
def test_orbits_are_the_classes_of_symmetric_openings(size: Size, plies: int, seed: int) -> None:
    try:
        openings = random_openings(size, plies, 40, seed)
    except ValueError:
        return
    rows, columns = size
    orbits = orbit_ids(openings.cells, size)
    for image in symmetries(rows, columns):
        assert np.array_equal(orbit_ids(np.array(image, np.int16)[openings.cells], size), orbits)
    if plies == 2:
        canonical = [canonical_opening(openings[row], rows, columns) for row in range(len(openings))]
        assert len(set(orbits.tolist())) == len(set(canonical))


def test_two_ways_to_one_position_are_one_opening(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text("0,24,9,15\n24 0 9 15 # the knights come from each other's cells\n\n0,24,15,9\n")
    assert [tuple(row) for row in file_openings(path, Size(7, 7)).cells.tolist()] == [(0, 24, 9, 15), (0, 24, 15, 9)]


@pytest.mark.slow
def test_ids_are_equal_exactly_where_positions_are() -> None:
    every = [
        (first, second, third, fourth)
        for first, second in placement_openings(Size(4, 5)).cells.tolist()
        for third in range(20)
        for fourth in range(20)
        if _is_opening((first, second, third, fourth), Size(4, 5))
    ]
    boards = {Board.from_moves(cells, "4x5") for cells in every}
    ids = set(opening_ids(np.array(every, np.int16), Size(4, 5)).tolist())
    assert len(every) > len(boards) == len(ids) == random_openings(Size(4, 5), 4, 10**6, seed=0).population


def _is_opening(cells: tuple[int, ...], size: Size) -> bool:
    try:
        check_opening(cells, size)
    except ValueError:
        return False
    return True


def test_the_same_position_has_the_same_id_on_no_other_board() -> None:
    cells = np.array([[0, 1]], np.int16)
    assert len({int(opening_ids(cells, size)[0]) for size in (Size(7, 7), Size(7, 8), Size(8, 7))}) == 3


def test_openings_of_a_file_keep_their_order_and_length(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text("24,14\n0,1,15,16\n")
    openings = file_openings(path, Size(7, 7))
    assert [openings[row] for row in range(2)] == [(24, 14), (0, 1, 15, 16)]
    assert openings.population == 0


def test_a_file_that_lists_every_placement_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text("\n".join(f"{first} {second}" for first, second in placement_openings(Size(4, 4)).cells.tolist()))
    openings = file_openings(path, Size(4, 4))
    assert openings.population == len(openings)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("24,14\n24,24", ":2: ply 2: cell 24 is already visited"),
        ("24,49", ":1: ply 2: a 7x7 board has no cell 49, only 0 to 48"),
        ("24,14,25", ":1: ply 3: cell 25 is not a knight's move from cell 24"),
        ("24;14", ":1: a cell must be a row-major whole number, not '24;14'"),
        ("# nothing\n", ": no openings in this file"),
    ],
)
def test_a_bad_opening_is_named_by_file_line_and_ply(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "book.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"^{path}{message}$"):
        file_openings(path, Size(7, 7))


def test_an_opening_that_ends_the_game_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="player 1 has no move after it"):
        check_opening([4, 0], Size(3, 3))


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no such file"):
        file_openings(tmp_path / "none.txt", Size(7, 7))
