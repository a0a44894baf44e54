import json
from pathlib import Path

import pytest

from knights_isolation.isolation import Board, perft

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "perft.json").read_text())


@pytest.mark.parametrize("size", REFERENCE["perft"])
def test_counts_from_the_empty_board_are_the_references(size):
    counts = REFERENCE["perft"][size]
    assert perft(Board.from_moves([], size), len(counts)) == counts


@pytest.mark.parametrize("position", REFERENCE["positions"], ids=lambda position: position["name"])
def test_counts_from_positions_are_the_references(position):
    board = Board.from_moves(position["moves"], f"{position['height']}x{position['width']}")
    assert perft(board, len(position["perft"])) == position["perft"]


@pytest.mark.parametrize("depth", [0, -1, 1.5, True])
def test_a_depth_that_is_not_a_positive_whole_number_is_refused(depth):
    with pytest.raises(ValueError, match="depth of perft must be a positive whole number"):
        perft(Board.from_moves([]), depth)


def test_a_large_board_is_counted_too():
    assert perft(Board.from_moves([5000, 0], "101x101"), 2) == [8, 16]
