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


JUMPS = [(-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1)]


def flood_by_sets_made_of_arithmetic(game, player):
    blank = set(game.get_blank_spaces())
    seen = set()
    frontier = set(game.get_legal_moves(player))
    waves = 0
    while frontier and waves < 3:
        seen |= frontier
        frontier = {(row + down, column + right) for row, column in frontier for down, right in JUMPS} & blank - seen
        waves += 1
    return len(seen) + len(blank & set((row, 3) for row in range(-2, 9)))


def cells_put_into_a_set_where_they_are_blank(game, player):
    blank = game.get_blank_spaces()
    seen = {game.get_player_location(player)}
    for row, column in game.get_legal_moves(player):
        for down, right in JUMPS:
            if (row + down, column + right) in blank:
                seen.add((row + down, column + right))
    seen.update(game.get_legal_moves(game.get_opponent(player)))
    seen -= {(0, 0), (1, 2)}
    return len(seen) + sum(1 for row, column in seen if row > column)


def sets_that_also_hold_what_is_no_cell(game, player):
    seen, other = set(), set(game.get_blank_spaces())
    for row, column in game.get_legal_moves(player):
        for row in range(9):
            seen.add((row, column + 5))
    alias = other
    for move in game.get_legal_moves(player):
        move = (move[0] + 9, move[1])
        other.add(move)
    return len(seen) + len(other) * 100 + len(alias)
