# ruff: noqa -- written as people write heuristics
"""Heuristics whose empty containers are filled by inner or recursive functions."""

STEPS = ((-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1))


def neighbours(cell, cells):
    row, col = cell
    return [(row + down, col + right) for down, right in STEPS if (row + down, col + right) in cells]


def numbers_in_one_go(game, player):
    cells = set(game.get_blank_spaces())
    order, low = {}, {}

    def visit(cell):
        order[cell] = low[cell] = len(order)
        for other in neighbours(cell, cells):
            if other in order:
                low[cell] = min(low[cell], order[other])
            else:
                visit(other)
                low[cell] = min(low[cell], low[other])

    for cell in game.get_legal_moves(player):
        if cell not in order:
            visit(cell)
    return float(sum(low[cell] for cell in game.get_legal_moves(player)) + len(order))


def walk(cell, cells, depth, seen, path):
    seen[cell] = depth
    path.append(cell)
    if depth < 3:
        for other in neighbours(cell, cells):
            if other not in seen:
                walk(other, cells, depth + 1, seen, path)


def fills_by_a_helper(game, player):
    cells = game.get_blank_spaces()
    seen = {}
    path = []
    for cell in game.get_legal_moves(player):
        if cell not in seen:
            walk(cell, cells, 0, seen, path)
    return float(sum(seen.values()) + len(path))


def mark(game, cell, parents, depth):
    if depth == 0:
        return
    for other in game.get_legal_moves(game.active_player):
        if other not in parents:
            parents[other] = cell
            mark(game, other, parents, depth - 1)


def keeps_parents(game, player):
    parents = {}
    mark(game, (0, 0), parents, 2)
    return float(sum(row for row, _ in parents.values()))


def groups_by_a_helper(game, player):
    groups = []
    seen = set()
    cells = set(game.get_blank_spaces())

    def gather(cell, group):
        seen.add(cell)
        group.append(cell)
        for other in neighbours(cell, cells):
            if other not in seen:
                gather(other, group)

    for cell in sorted(cells):
        if cell not in seen:
            group = []
            gather(cell, group)
            groups.append(len(group))
    return float(max(groups, default=0))


def collects_scores(game, player):
    scores = []

    def look(depth, cell):
        row, col = cell
        if depth == 0:
            scores.append(row * 0.5 + col)
            return
        for down, right in STEPS:
            if game.move_is_legal((row + down, col + right)):
                look(depth - 1, (row + down, col + right))

    for cell in game.get_legal_moves(player):
        look(1, cell)
    return max(scores) if scores else 0.0
