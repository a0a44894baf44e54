"""Heuristics in the style of public projects, made from templates, to measure compiler passes on.

The proportions are those of a sample of public projects: most combine two counts of moves, many use the players'
locations, fewer add something up over moves, very few flood the board.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, product
from pathlib import Path

_HEAD = """
def {name}(game, player):
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    own_moves = game.get_legal_moves(player)
    opp_moves = game.get_legal_moves(game.get_opponent(player))
    own, opp = len(own_moves), len(opp_moves)
"""
_PLACES = """\
    y, x = game.get_player_location(player)
    r, c = game.get_player_location(game.get_opponent(player))
    h, w = game.height / 2., game.width / 2.
"""

_COUNTS = [
    "float(own - opp)", "float(own - 2 * opp)", "float(own - 3 * opp)", "float(2 * own - opp)",
    "float(3 * own - 2 * opp)", "float(own - 1.5 * opp)", "own - 0.5 * opp", "float(1.5 * own - opp)",
    "float(own * own - opp * opp)", "float(own ** 2 - 1.5 * opp ** 2)", "float(own - opp) / (own + opp + 1)",
    "float(own) / (opp + 1)", "float(own + 1) / float(opp + 1)", "own / opp if opp else 100.0", "float(-opp)",
    "float(own * (len(game.get_blank_spaces()) - 1) - opp * len(game.get_blank_spaces()))",
    "float(own - opp) * game.move_count", "float((own - opp) + 0.01 * game.move_count)",
    "float(own - opp) / len(game.get_blank_spaces())", "float(own - 2 * opp - 2 * game.move_count)",
    "float(own - opp + (1 if player == game.active_player else 0))", "2.0 ** own - 2.0 ** opp",
    "float(max(own, opp) if own > opp else own - opp)", "float(own - opp if own != opp else 0.5)",
]  # fmt: skip

_PHASES = [
    """
    if game.move_count < {limit}:
        return float(own - {late} * opp)
    return float({late} * own - opp)
""",
    """
    left = len(game.get_blank_spaces())
    share = left / (game.width * game.height)
    if share > 0.{limit}:
        return float(own)
    if share > 0.1:
        return float(own - opp)
    return float(own - {late} * opp)
""",
    """
    weight = {late} if len(game.get_blank_spaces()) > {limit} else 1
    return float(own - weight * opp)
""",
    """
    if game.move_count > {limit} and own > opp:
        return 10. * (own - opp)
    return float(own - {late} * opp)
""",
]

_STANDING = [
    "float((h - y) ** 2 + (w - x) ** 2)", "-float(abs(h - y) + abs(w - x))",
    "((h - y) ** 2 + (w - x) ** 2) ** 0.5", "float((h - r) ** 2 + (w - c) ** 2 - (h - y) ** 2 - (w - x) ** 2)",
    "float(abs(y - r) + abs(x - c))", "-float(abs(y - r) + abs(x - c))", "float((y - r) ** 2 + (x - c) ** 2)",
    "-math.sqrt((y - r) ** 2 + (x - c) ** 2)", "float(max(abs(y - r), abs(x - c)))",
    "-1.0 if y in (0, game.height - 1) or x in (0, game.width - 1) else 0.0",
    "-5.0 if (y, x) in [(0, 0), (0, 6), (6, 0), (6, 6)] else 0.0", "float(min(y, 6 - y) + min(x, 6 - x))",
    "math.hypot(h - r, w - c) - math.hypot(h - y, w - x)", "1.0 if (y + x) % 2 == (r + c) % 2 else -1.0",
]  # fmt: skip
_MIXES = [
    "{standing}", "own - opp + {standing}", "own - 2 * opp - 0.1 * ({standing})",
    "float(own - opp) if game.move_count > 20 else {standing}",
]  # fmt: skip

_OVER_MOVES = [
    "sum((3 - abs(3 - row)) + (3 - abs(3 - column)) for row, column in {moves})",
    "sum(1 / (1 + abs(row - 3) + abs(column - 3)) for row, column in {moves})",
    "sum(math.sqrt((row - 3) ** 2 + (column - 3) ** 2) for row, column in {moves})",
    "len([move for move in {moves} if move in CORNERS])",
    "sum(1 for row, column in {moves} if row in (0, game.height - 1) or column in (0, game.width - 1))",
    "sum(VALUES[row][column] for row, column in {moves})",
    "sum(2 if 2 <= move[0] <= 4 and 2 <= move[1] <= 4 else 1 for move in {moves})",
    "centrality(game, {moves})",
]
_SUMS = ["{of_own} - {of_opp}", "own - opp + 0.1 * ({of_own})"]

_OVERLAPS = [
    "float(own - opp + len([move for move in own_moves if move in opp_moves]))",
    "float(len(set(own_moves) - set(opp_moves)) - len(set(opp_moves) - set(own_moves)))",
    "float(len(set(own_moves) & set(opp_moves)))",
    "float(own - 2 * opp + (5 if any(move in opp_moves for move in own_moves) else 0))",
    "float(own - opp) + 0.5 * len(set(own_moves).intersection(opp_moves))",
    "own - opp - (2.0 if game.get_player_location(game.get_opponent(player)) in own_moves else 0)",
    "float(own) if game.active_player == player and set(own_moves) & set(opp_moves) else float(own - opp)",
    "float(len(own_moves + opp_moves))",
]

_AHEAD = [
    """
    return float(sum(len(game.forecast_move(move).get_legal_moves(player)) for move in own_moves) - opp)
""",
    """
    best = 0
    for move in own_moves:
        best = max(best, len(game.forecast_move(move).get_legal_moves(player)))
    return float(own - opp + best)
""",
    """
    total = own
    for row, column in own_moves:
        for down, right in STEPS:
            if game.move_is_legal((row + down, column + right)):
                total += 1
    return float(total - opp)
""",
    """
    free = 0
    y, x = game.get_player_location(player)
    for down, right in STEPS:
        if (y + down, x + right) in game.get_blank_spaces():
            free += 1
    return float(free - opp)
""",
    """
    y, x = game.get_player_location(player)
    near = 0
    for row, column in game.get_blank_spaces():
        if abs(row - y) <= 2 and abs(column - x) <= 2:
            near += 1
    return float(own - opp) + near / 10
""",
    """
    y, x = game.get_player_location(player)
    near = [1 for row, column in game.get_blank_spaces() if abs(row - y) + abs(column - x) < 4]
    return float(len(near) - opp)
""",
    """
    total = 0.0
    y, x = game.get_player_location(player)
    for row, column in own_moves:
        total += abs(row - y) * 0.5 + abs(column - 3)
    return total - opp
""",
    """
    center = (3, 3)
    if center in own_moves:
        return own - opp + 2.0
    return float(own - opp)
""",
    """
    top = sum(1 for row, column in game.get_blank_spaces() if row < 3 and column < 3)
    low = sum(1 for row, column in game.get_blank_spaces() if row > 3 and column > 3)
    y, x = game.get_player_location(player)
    return float(own - opp + (top if y < 3 and x < 3 else low) / 10)
""",
    """
    return sum(weight * part(game, player) for part, weight in PARTS)
""",
    """
    total = 0.0
    for part, weight in PARTS:
        total += weight * part(game, player)
    return total
""",
]

_FLOODS = [
    """
    return float(reachable(game, player) - reachable(game, game.get_opponent(player)))
""",
    """
    if game.move_count < 20:
        return float(own - opp)
    return float(reachable(game, player) - reachable(game, game.get_opponent(player)))
""",
    """
    left, front, other = game.get_blank_spaces(), own_moves, opp_moves
    balance = 0
    while front or other:
        left = left - front
        other = other & left
        left = left - other
        balance += len(front) - len(other)
        front, other = game.reach(front) & left, game.reach(other) & left
    return float(balance)
""",
    """
    return float(len(region(game, own_moves)) - len(region(game, opp_moves)))
""",
    """
    return float(away(game, game.get_opponent(player)) - away(game, player))
""",
    """
    return float(own - opp + len(game.reach(own_moves)) - len(game.reach(opp_moves)))
""",
]

_COMMON = '''"""Heuristics made by benchmarks/public_style.py."""

import math

CORNERS = [(0, 0), (0, 6), (6, 0), (6, 6)]
STEPS = [(-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1)]
VALUES = [[min(row, 6 - row) + min(column, 6 - column) + 2 for column in range(7)] for row in range(7)]


def mobility(game, player):
    return len(game.get_legal_moves(player))


def pressure(game, player):
    return -len(game.get_legal_moves(game.get_opponent(player)))


PARTS = [(mobility, 1.0), (pressure, 1.5)]


def centrality(game, moves):
    total = 0
    for move in moves:
        total += (game.height / 2 - abs(game.height / 2 - move[0])) * (game.width / 2 - abs(game.width / 2 - move[1]))
    return total


def reachable(game, player):
    seen, queue = set(), [game.get_player_location(player)]
    while queue:
        row, column = queue.pop(0)
        for down, right in STEPS:
            cell = (row + down, column + right)
            if cell not in seen and game.move_is_legal(cell):
                seen.add(cell)
                queue.append(cell)
    return len(seen)


def region(game, cells):
    found = cells
    while game.reach(found) - found:
        found = found | game.reach(found)
    return found


def away(game, player):
    left, front, total, step = game.get_blank_spaces(), game.get_legal_moves(player), 0, 0
    while front:
        step += 1
        total += step * len(front)
        left = left - front
        front = game.reach(front) & left
    return total + 49 * len(left)

'''


def write(folder: Path) -> Path:
    """Write the module of all these heuristics and return its path; their names begin with `public_`."""
    texts = (body.replace("{name}", f"public_{number}") for number, body in enumerate(_bodies()))
    path = folder / "public_style_heuristics.py"
    path.write_text(_COMMON + "\n".join(texts), encoding="utf-8")
    return path


def _bodies() -> Iterator[str]:
    """Yield the definitions, with placeholders for their names."""
    returns = chain(
        _COUNTS,
        _OVERLAPS,
        (
            mix.format(of_own=sum_.format(moves="own_moves"), of_opp=sum_.format(moves="opp_moves"))
            for sum_, mix in product(_OVER_MOVES, _SUMS)
        ),
    )
    yield from (f"{_HEAD}    return {value}\n" for value in returns)
    standing = (mix.format(standing=value) for value, mix in product(_STANDING, _MIXES))
    yield from (f"{_HEAD}{_PLACES}    return {value}\n" for value in standing)
    phases = (phase.format(limit=limit, late=late) for phase, limit, late in product(_PHASES, (15, 25), (1.5, 2, 3)))
    yield from (_HEAD + body.lstrip("\n") for body in chain(phases, _AHEAD, _FLOODS))
