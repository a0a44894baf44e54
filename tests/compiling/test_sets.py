"""Sets: their order, where it can be seen, is that of CPython's."""

import pytest
from compiled_alone import problem


def order_of_moves(game, player):
    moves = set(game.get_legal_moves(player)) | {game.get_player_location(player)}
    return sum(place * (7 * row + column) for place, (row, column) in enumerate(moves))


def order_after_discards(game, player):
    cells = set(game.get_blank_spaces())
    for row, column in game.get_legal_moves(player):
        cells.discard((row, column))
    cells.add((3, 3))
    value = 0
    for cell in cells:
        value = (3 * value + 7 * cell[0] + cell[1]) % 10007
    return value


def order_of_operations(game, player):
    own = set(game.get_legal_moves(player))
    other = set(game.get_legal_moves(game.get_opponent(player)))
    blank = set(game.get_blank_spaces())
    value = 0
    for cells in (own | other, blank & own, blank - other, own ^ blank, own.union(other, blank), blank.difference(own)):
        for place, cell in enumerate(cells):
            value = (value * 5 + place * cell[0] + cell[1]) % 100003
    return value


def order_of_numbers(game, player):
    numbers = {row * 8 - column * 3 for row, column in game.get_blank_spaces()}
    numbers |= {-1, len(numbers), 64}
    return sum(place * number for place, number in enumerate(numbers))


def popped(game, player):
    cells, value = set(game.get_blank_spaces()), 0
    while len(cells) > 2:
        row, column = cells.pop()
        value = (2 * value + row * 3 + column) % 65521
    return value


def sums_of_fractions(game, player):
    return sum(0.1 * row + 0.7 / (column + 1) for row, column in set(game.get_blank_spaces()))


def floods(game, player):
    blank, seen, front = set(game.get_blank_spaces()), set(), {game.get_player_location(player)}
    rounds = 0
    while front:
        following = set()
        for row, column in front:
            for down, right in ((1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1)):
                cell = (row + down, column + right)
                if cell in blank and cell not in seen:
                    seen.add(cell)
                    following.add(cell)
        front = following
        rounds += len(front)
    return rounds + len(seen)


def beyond_the_board(game, player):
    row, column = game.get_player_location(player)
    around = {(row + down, column + right) for down in (-2, -1, 1, 2) for right in (-2, -1, 1, 2)}
    return len(around & set(game.get_blank_spaces())) + 100 * len(around) + sum(r * c for r, c in around)


def last_of_a_loop(game, player):
    cell = (0, 0)
    for cell in set(game.get_legal_moves(player)):  # noqa: B007
        pass
    return 7 * cell[0] + cell[1]


def yielded_from_a_set(game, player):
    def places():
        place = 0
        for row, column in set(game.get_blank_spaces()):
            place += 1  # noqa: SIM113
            yield place * row + column

    return sum(places())


def filled_from_a_set(game, player):
    exits = {}
    for cell in set(game.get_blank_spaces()):
        exits[cell] = len(game.reach([cell]))
    value = 0
    for cell, count in exits.items():
        value = (3 * value + cell[0] * count) % 9973
    return value + exits.get((3, 3), -1)


@pytest.mark.parametrize("size", [(7, 7), (5, 6), (9, 11)])
@pytest.mark.parametrize(
    "function",
    [
        order_of_moves, order_after_discards, order_of_operations, order_of_numbers, popped, sums_of_fractions, floods,
        beyond_the_board, last_of_a_loop, yielded_from_a_set,
        filled_from_a_set,
    ],
)  # fmt: skip
def test_sets_are_gone_through_as_python_does(function, size):
    assert problem(function, size, 60) is None
