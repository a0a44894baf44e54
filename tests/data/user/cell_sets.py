# ruff: noqa -- written as people write heuristics
"""Heuristics that treat moves as sets and lists, and change them."""

from collections import deque


def shared(game, player):
    own = set(game.get_legal_moves(player))
    opp = set(game.get_legal_moves(game.get_opponent(player)))
    if own.issubset(opp):
        return -5.0
    return len(own & opp) + 0.5 * len(own.difference(opp)) - len(own.union(opp)) / 9


def corners_and_edges(game, player):
    last = game.height - 1
    corners = {(0, 0), (0, last), (last, 0), (last, last)}
    in_corner = len(corners & set(game.get_legal_moves(player)))
    at_edge = len({move for move in game.get_legal_moves(player) if move[0] in (0, last)})
    return float(-3 * in_corner - at_edge)


def walls(game, player):
    sides = [[(0, i) for i in range(game.width)], [(i, 0) for i in range(game.height)]]
    score = 0
    for move in game.get_legal_moves(player):
        for side in sides:
            if move in side:
                score -= 1
    return float(score if game.get_legal_moves() != [] else 0)


def joined_and_sliced(game, player):
    both = game.get_legal_moves(player) + game.get_legal_moves(game.get_opponent(player))
    some = both[:5]
    last = game.get_legal_moves(player)[-1:]
    return len(both) - len(some) + sum(row for row, _ in last) + sum(column for _, column in reversed(some))


def changed_lists(game, player):
    moves = game.get_legal_moves(player)
    here = game.get_player_location(player)
    moves.append(here)
    moves.sort(key=lambda move: move[1])
    open_cells = set(game.get_blank_spaces())
    open_cells.discard(moves[0])
    return float(moves.index(here) + 10 * len(open_cells))


def flood(game, player):
    seen = []
    to_visit = [game.get_player_location(player)]
    while to_visit:
        row, column = to_visit.pop()
        for dr, dc in [(0, 1), (1, 0), (0, -1), (-1, 0)]:
            cell = (row + dr, column + dc)
            if game.move_is_legal(cell) and cell not in seen:
                seen.append(cell)
                to_visit.append(cell)
    return float(len(seen))


def flattened(game, player):
    again = sum([game.reach((move,)) for move in game.get_legal_moves(player)], [])
    return len(again) + len(set(again)) / 100


def breadth_first(game, player):
    start = game.get_player_location(player)
    queue = deque([(start, 0)])
    seen = {start}
    total = 0
    while queue:
        cell, depth = queue.popleft()
        total += depth
        for neighbour in game.reach((cell,)):
            if neighbour not in seen:
                seen.add(neighbour)
                queue.append((neighbour, depth + 1))
    return float(total)


def counted_rows(game, player):
    counts = {}
    for row, column in game.get_blank_spaces():
        counts[row] = counts.get(row, 0) + 1
    return float(sum(count * count for count in counts.values()) + len(counts))
