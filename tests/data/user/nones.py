# ruff: noqa -- written as people write heuristics
"""Heuristics that keep None in tuples."""

from collections import deque


def best_and_none(game, player):
    best = (-1, None)
    for move in game.get_legal_moves(player):
        if move[0] > best[0]:
            best = (move[0], move)
    value, move = best
    return 0 if move is None else value + move[1]


def a_search_that_may_find_no_move(game, player):
    def search(depth, state):
        moves = state.get_legal_moves(player)
        if depth == 0 or not moves:
            return len(moves), None
        best, choice = -100, None
        for move in moves:
            value, _ = search(depth - 1, state)
            if value > best:
                best, choice = value, move
        return best, choice

    value, move = search(1, game)
    if move is None:
        return value
    row, column = move
    return value + row * 2 + column + move[-1]


def a_queue_of_cells_and_where_they_come_from(game, player):
    start = game.get_player_location(player)
    queue, seen, turns = deque([(start, None, 0)]), set(), 0
    while queue:
        cell, parent, depth = queue.popleft()
        if cell in seen or depth > 2:
            continue
        seen.add(cell)
        turns += parent != start and parent in game.get_legal_moves(player)
        for move in game.get_legal_moves(player):
            if move != parent:
                queue.append((move, cell, depth + 1))
    return len(seen) + turns / 8


def pairs_of_which_few_are_whole(game, player):
    pairs = [(move, None) for move in game.get_legal_moves(player)]
    pairs.append(((0, 0), (1, 1)))
    return sum(1 for _, other in pairs if other is None) + sum(other[0] for _, other in pairs if other)
