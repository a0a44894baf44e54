# ruff: noqa -- written as people write heuristics
"""Heuristics that keep cells as complex numbers."""

HOPS = [2 + 1j, 2 - 1j, -2 + 1j, -2 - 1j, 1 + 2j, 1 - 2j, -1 + 2j, -1 - 2j]
UP = 1j


def z(square):
    return complex(*square)


def walks_towards_the_middle(game, player):
    own = game.get_player_location(player)
    opp = game.get_player_location(game.get_opponent(player))
    own, opp = z(own), z(opp)
    blanks = set(z(s) for s in game.get_blank_spaces())
    middle = complex((game.height - 1) / 2, (game.width - 1) / 2)
    gravity = sum(blanks) / len(blanks) if blanks else middle
    exits = [own + h for h in HOPS if own + h in blanks]
    return len(exits) + 0.3 * (abs(opp - gravity) - abs(own - gravity))


def turns_by_multiplication(game, player):
    here = z(game.get_player_location(player))
    cells = {complex(row, col) for row, col in game.get_legal_moves(player)}
    total = 0
    step = 2 + 1j
    for _ in range(4):
        if here + step in cells:
            total += 1
        if here + step.conjugate() in cells:
            total += 1
        step *= UP
    return float(total)


def reads_both_parts(game, player):
    total = 0.0
    for row, col in game.get_legal_moves(player):
        cell = row + col * 1j
        total += cell.real * 2 - cell.imag
    return total


def counts_under_complex_keys(game, player):
    counts = {}
    for row, col in game.get_legal_moves(player):
        for hop in HOPS:
            cell = complex(row, col) + hop
            counts[cell] = counts.get(cell, 0) + 1
    return float(sum(1 for cell in counts if counts[cell] > 1))
