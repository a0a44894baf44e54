"""Constructs that take more than one line of the compiler, each in the smallest heuristic that has it."""

import heapq
import math
from collections import Counter, defaultdict
from functools import lru_cache

import pytest
from compiled_alone import evaluations, problem

from knights_isolation.isolation.codegen.score import score_texts
from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.usercode.compile_error import CompileError

JUMPS = ((1, 2), (2, 1), (-1, 2), (1, -2), (-2, 1), (2, -1), (-1, -2), (-2, -1))


def longest(game, cell, used, limit):
    best = 0
    if len(used) < limit:
        for other in game.reach([cell]):
            if other not in used:
                used.add(other)
                best = max(best, 1 + longest(game, other, used, limit))
                used.discard(other)
    return best


def recursion(game, player):
    return longest(game, game.get_player_location(player), set(), 4)


def changed_by_inner_functions(game, player):
    count, seen = 0, []

    def visit(cell, depth):
        nonlocal count
        count += depth
        seen.append(cell)
        for other in game.reach([cell]):
            if depth < 3 and other not in seen:
                visit(other, depth + 1)

    visit(game.get_player_location(player), 0)
    return count + len(seen)


def exceptions_through_calls(game, player):
    def down(n):
        if n == 0:
            raise ValueError
        return down(n - 1) if n != 12 else n

    try:
        return down(len(game.get_legal_moves(player)) + 9)
    except ValueError:
        return -1


def grows_while_it_is_gone_through(game, player):
    queue = [game.get_player_location(player)]
    for row, column in queue:
        for down, right in JUMPS:
            cell = (row + down, column + right)
            if game.move_is_legal(cell) and cell not in queue:
                queue.append(cell)
    return len(queue)


def other_names(game, player):
    rows = [[0] * 3 for _ in range(4)]
    same, first = rows, rows[0]
    for row, column in game.get_legal_moves(player):
        same[row % 4][column % 3] += 1
        first[0] += 10
    chosen = rows[1] if len(game.get_legal_moves(player)) > 3 else rows[2]
    chosen[1] = 100
    return sum(map(sum, rows)) + len(rows[1])


def objects_in_lists(game, player):
    class_of = {}

    class Node:
        def __init__(self, cell):
            self.cell, self.parent, self.size = cell, None, 1

        def root(self):
            node = self
            while node.parent is not None:
                node = node.parent
            return node

    nodes = [Node(cell) for cell in game.get_blank_spaces()]
    for node in nodes:
        class_of[node.cell] = node
    for node in nodes:
        for other in game.reach([node.cell]):
            one, two = node.root(), class_of[other].root()
            if one is not two:
                two.parent = one
                one.size += two.size
    return max((node.size for node in nodes), default=0)


def dijkstra(game, player):
    best, heap = {}, [(0, game.get_player_location(player))]
    while heap:
        cost, cell = heapq.heappop(heap)
        if cell in best:
            continue
        best[cell] = cost
        for other in game.reach([cell]):
            heapq.heappush(heap, (cost + 1 + other[0] % 3, other))
    return sum(best.values())


def counters(game, player):
    rows = Counter(row for row, _ in game.get_blank_spaces())
    columns = defaultdict(list)
    for row, column in game.get_legal_moves(player):
        columns[column].append(row)
    return rows.most_common(1)[0][1] + sum(len(found) * column for column, found in columns.items()) if rows else 0


def generators(game, player):
    def rings(start):
        seen, front = {start}, [start]
        while front:
            yield front
            front = [cell for old in front for cell in game.reach([old]) if cell not in seen]
            seen.update(front)

    return sum(place * len(ring) for place, ring in enumerate(rings(game.get_player_location(player))) if place < 4)


def kept_iterators(game, player):
    moves = iter(game.get_legal_moves(player))
    first = next(moves, (0, 0))
    return first[0] + sum(row for row, _ in moves) + len(list(moves))


def bits(game, player):
    free = 0
    for row, column in game.get_blank_spaces():
        free |= 1 << (row * (game.width + 2) + column)
    row, column = game.get_player_location(player)
    here = 1 << (row * (game.width + 2) + column)
    near = (here << 5 | here >> 1) & free
    return bin(near).count("1") + (free & -free).bit_length()


def lengths(game, player):
    here, there = game.get_player_location(player), game.get_player_location(game.get_opponent(player))
    share = game.move_count / 7
    return math.hypot(share, here[0] / 3) + math.dist(here, there) + round(share, 2) + -7.5 // (share + 1)


def texts(game, player):
    names = {f"{row}{column}": row - column for row in range(3) for column in range(3)}
    lines = "".join("o" if game.move_is_legal((row, 3)) else "x" for row in range(game.height))
    row, column = game.get_player_location(player)
    return names.get(f"{row}{column}", 9) + lines.count("o") + (lines[1] == "x")


def matches(game, player):
    match len(game.get_legal_moves(player)), game.move_count % 3:
        case 0, _:
            return -9
        case 1 | 2, 0:
            return 1
        case n, 1 if n > 3:
            return n / 3
        case _:
            return 0.5


@lru_cache
def walks(cell, left):
    return 1 if left == 0 else sum(walks((cell[0] + down, cell[1] + right), left - 1) for down, right in JUMPS[:3])


def caches(game, player):
    return walks(game.get_player_location(player), 3) + len(game.get_legal_moves(player))


FUNCTIONS = [
    recursion, changed_by_inner_functions, exceptions_through_calls, grows_while_it_is_gone_through, other_names,
    dijkstra, counters, generators, kept_iterators, bits, lengths, texts, matches, caches,
]  # fmt: skip


@pytest.mark.parametrize("size", [(7, 7), (9, 11)])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_construct_does_what_it_does_in_python(function, size):
    assert problem(function, size, 60) is None


changing = {"calls": 0}
NAMES = {"corner", "edge", "centre"}


def counts_calls(game, player):
    changing["calls"] += 1
    return changing["calls"]


def order_of_names(game, player):
    return [len(name) for name in NAMES][0]  # noqa: RUF015


def misspelled(game, player):
    return lenght(game.get_legal_moves(player))  # noqa: F821


@pytest.mark.parametrize(
    ("function", "reason", "line"),
    [
        (counts_calls, "it reads changing, which line", 1),
        (order_of_names, "order changes with every start of Python", 1),
        (misspelled, "lenght is not defined", 1),
    ],
)
def test_what_no_code_can_be_right_for_is_refused_with_its_line(function, reason, line):
    with pytest.raises(CompileError, match=reason) as refused:
        list(score_texts(function, 7, 7))
    assert refused.value.line == function.__code__.co_firstlineno + line


def test_a_loop_without_end_ends():
    def waits(game, player):
        steps = 0
        while len(game.get_legal_moves(player)) >= 0:
            steps += 1
            if steps > 10**9:
                break
        return steps

    assert next(evaluations(waits, 7, 7))(Board.from_moves([24, 14]), 0) is None
