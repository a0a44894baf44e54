"""Sums over cells of what depends on the cell alone, which compiled code takes from tables."""


def sums_of_all_kinds(game, player):
    own, other = game.get_legal_moves(player), game.get_legal_moves(game.get_opponent(player))
    h, w = game.height / 2, game.width / 2
    halves = 0.0
    for row, column in own:
        halves += (h - abs(h - row)) + (w - abs(w - column))
    sixteenths = 0.0
    for row, column in other:
        sixteenths += row / 4 + column / 16
    thirds = 0.0
    for row, column in own:
        thirds += (row - column) / 3
    for move in other:
        thirds -= (move[0] + 2 * move[1]) / 7
    far = sum(1 / (1 + row + column) for row, column in game.reach(own))
    return halves + sixteenths + thirds + far


def sums_that_change_as_the_board_fills(game, player):
    own, other = game.get_legal_moves(player), game.get_legal_moves(game.get_opponent(player))
    filled = game.move_count / (game.width * game.height)
    late = sum(filled * row + (1 - filled) * column for row, column in own)
    share = len(game.get_blank_spaces()) / (game.width * game.height)
    edge = 0
    for row, column in other:
        if row in (0, game.height - 1) or column in (0, game.width - 1):
            edge -= share
        else:
            edge += 1
    blank = 0
    for row, column in game.get_blank_spaces():
        blank += row * column - 3
    return late + edge + blank + len([cell for cell in other if cell[0] > cell[1]])


def sums_onto_what_there_is(game, player):
    own, onto, more, again = game.get_legal_moves(player), 1, 0.1, 0.0
    for row, _column in own:
        onto += row / 2
    for row, column in own:
        more += (row + 1) / (column + 3)
    for _ in range(len(own) % 4):
        for row, column in own:
            again += (row + 1) / (column + 3)
    by_column = 0.0
    for row, column in game.get_blank_spaces():
        by_column += (row + 1) / (column + 3)
    return (onto, by_column, again, more)[len(own) % 4]


def the_top_row_is_an_error(game, player):
    total = 0.0
    for row, _column in game.get_legal_moves(player):
        total += 1 / row
    return total
