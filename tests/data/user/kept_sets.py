# ruff: noqa -- written as people write heuristics
"""Sets that dictionaries hold."""

from collections import defaultdict

KNIGHT = [(1, 2), (1, -2), (-1, 2), (-1, -2), (2, 1), (2, -1), (-2, 1), (-2, -1)]


def kept_1(game, player):
    groups = defaultdict(set)
    for r, c in game.get_legal_moves(player):
        groups[r].add(c)
    return float(sum(len(g) ** 2 for g in groups.values()))


def kept_2(game, player):
    me, other = player, game.get_opponent(player)
    land = {me: set(), other: set()}
    for p in land:
        frontier = {game.get_player_location(p)}
        for _ in range(3):
            frontier = {
                (cell[0] + a, cell[1] + b)
                for cell in frontier
                for a, b in KNIGHT
                if game.move_is_legal((cell[0] + a, cell[1] + b))
            } - land[p]
            land[p] |= frontier
    return float(len(land[me] - land[other]) - len(land[other] - land[me]))


def kept_3(game, player):
    rows = {}
    for r, c in game.get_blank_spaces():
        if r not in rows:
            rows[r] = set()
        rows[r].add(c)
    total = 0
    for r in rows:
        if 3 in rows[r]:
            total += len(rows[r])
    return total


def kept_4(game, player):
    rows = {}
    for r, c in game.get_blank_spaces():
        rows.setdefault(r, set()).add((r, c))
    own = set(game.get_legal_moves(player))
    return sum(len(cells & own) for cells in rows.values())


def kept_5(game, player):
    reach = {p: set(game.get_legal_moves(p)) for p in (player, game.get_opponent(player))}
    return len(reach[player] - reach[game.get_opponent(player)]) + 0.5 * len(
        reach[player] & reach[game.get_opponent(player)]
    )


def kept_6(game, player):
    by_row = {}
    for cell in game.get_blank_spaces():
        if cell[0] in by_row:
            by_row[cell[0]].add(cell[1])
        else:
            by_row[cell[0]] = {cell[1]}
    total = 0.0
    for row, columns in sorted(by_row.items()):
        total += row * len(columns) + max(columns) / 4
    for columns in by_row.values():
        total += 3 in columns
    return total


def kept_7(game, player):
    lines = defaultdict(set)
    for r, c in game.get_legal_moves(player):
        lines[r].add(c)
    total = 0
    for r, columns in lines.items():
        for c in columns:
            total += r * c
    return total + len(lines[0] | lines[1])
