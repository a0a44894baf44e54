"""Loops that share out the blank cells between two sides, in turns: told as one flood instead of two.

    while movers or waiters:
        unclaimed = unclaimed - movers
        waiters = waiters & unclaimed
        unclaimed = unclaimed - waiters
        balance += len(movers) - len(waiters)
        movers, waiters = game.reach(movers) & unclaimed, game.reach(waiters) & unclaimed

becomes `first, second, unclaimed = _isolation.claimed(game, mover, waiter)`, with the players whose moves the two sides
begin with, and `balance += first - second`; see `isolation.native.territory_fill`. Such a loop is known by what a round
does to the sets, whatever they are called and however it is written: a set is followed as the truth table of what it is
made of, the sets that the round begins with and the cells reached from them. Both sides must begin with legal moves,
and the unclaimed cells must be all blank ones. What is added up must be whole, so that the order of the additions does
not matter.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from isolation.compiling.rewrites.loops.set_dataflow import (
    Start,
    Unlike,
    blocks,
    is_lasting,
    mover,
    read,
    side_by_side,
    start,
    table,
    tables,
    times_named,
)
from isolation.compiling.source.function_source import bound_names
from isolation.compiling.source.rewrite import at, name, statements, support, target

# The truth tables of three sets at the beginning of a round, and of what the two sides reach from their cells.
_FIRST, _SECOND, _UNCLAIMED, _BY_FIRST, _BY_SECOND = tables(5)
_POSSIBLE = (_UNCLAIMED | ~_FIRST) & (_UNCLAIMED | ~_SECOND)
"""Rows of a truth table that can be: the cells of both sides are unclaimed ones."""
_CLAIMED_SECOND = _SECOND & ~_FIRST
_LEFT = _UNCLAIMED & ~_FIRST & ~_SECOND
_LARGEST = 1 << 31
"""What a total may begin with, far from where floating point leaves out whole numbers."""


@dataclass
class _Round:
    """What a round has done so far: the tables of the sets by their names, and what was added to totals.

    `claimed` are the names of how many cells each side has claimed in the end.
    """

    game: str
    claimed: tuple[str, str]
    sets: dict[str, int]
    totals: list[ast.AugAssign]

    def table(self, node: ast.expr) -> int:
        """The truth table of an expression that is a set."""
        return table(node, self.sets, self.game, _reached)

    def do(self, statement: ast.stmt) -> None:
        """Follow a statement."""
        if isinstance(statement, ast.Assign):
            places, values = side_by_side(statement)
            self.sets.update(zip(places, [self.table(value) for value in values], strict=True))
        elif not isinstance(statement, ast.AugAssign) or not isinstance(statement.target, ast.Name):
            raise Unlike
        elif statement.target.id in self.sets:
            called = statement.target.id
            self.sets[called] = self.table(ast.BinOp(name(called), statement.op, statement.value))
        elif isinstance(statement.op, ast.Add | ast.Sub):
            added = copy.deepcopy(statement)
            added.value = self.counted(added.value)
            self.totals.append(added)
        else:
            raise Unlike

    def counted(self, node: ast.expr) -> ast.expr:
        """What a round adds to a total, in terms of the sets that are claimed in the end."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            return ast.BinOp(self.counted(node.left), node.op, self.counted(node.right))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "len" and len(node.args) == 1:
            counted = self.table(node.args[0])
            for side, called in zip((_FIRST, _CLAIMED_SECOND), self.claimed, strict=True):
                if _same(counted, side):
                    return name(called)
        raise Unlike


def _same(one: int, other: int) -> bool:
    return (one ^ other) & _POSSIBLE == 0


def _reached(origin: int) -> int:
    for side, reached in ((_FIRST, _BY_FIRST), (_CLAIMED_SECOND, _BY_SECOND)):
        if _same(origin, side):
            return reached
    raise Unlike


def fuse_territory_loops(module: ast.Module) -> None:
    """Rewrite such loops in a finished module."""
    fresh = count(1)
    for written in module.body:
        if isinstance(written, ast.FunctionDef):
            for block in list(blocks(written)):
                for loop in [one for one in block if isinstance(one, ast.While)]:
                    _replace(written, block, loop, fresh)


def _replace(written: ast.FunctionDef, block: list[ast.stmt], loop: ast.While, fresh: Iterator[int]) -> None:
    """Put one flood in place of a loop if it is one that shares out cells."""
    before = block[: block.index(loop)]
    sides = _sides(loop)
    claimed = f"_v_first{next(fresh)}", f"_v_second{next(fresh)}"
    for first, second in (sides, sides[::-1]) if sides else ():
        found = _shared_out(before, loop, first, second, claimed)
        if found is None:
            continue
        done, unclaimed, players = found
        totals = {added.target.id for added in done.totals if isinstance(added.target, ast.Name)}
        is_whole = all(_is_whole(written, total) for total in totals)
        if not is_whole or not _keeps_its_own(written, loop, {first, second, unclaimed, *totals}):
            return
        places = ast.Tuple([target(one) for one in (*claimed, unclaimed)], ast.Store())
        new: list[ast.stmt] = [ast.Assign([places], support("claimed", name(done.game), *players)), *done.totals]
        new += statements("A = A - A\nB = B - B", A=name(first), B=name(second))
        block[block.index(loop) : block.index(loop) + 1] = [at(loop, one) for one in new]
        return


def _sides(loop: ast.While) -> list[str]:
    """The two sets that a loop goes on for as long as one of them has cells."""
    if loop.orelse or not isinstance(loop.test, ast.BoolOp) or not isinstance(loop.test.op, ast.Or):
        return []
    asked = [value.id for value in loop.test.values if isinstance(value, ast.Name)]
    return asked if len(asked) == len(loop.test.values) == 2 else []


def _shared_out(
    before: list[ast.stmt], loop: ast.While, first: str, second: str, claimed: tuple[str, str]
) -> tuple[_Round, str, list[ast.expr]] | None:
    """What a round does, what the unclaimed cells are called, and the players, if a loop shares cells out to two."""
    starts = {called: start(before, called) for called in {first, second, *read(loop)}}
    one, other = starts[first], starts[second]
    if one is None or other is None or {one.method, other.method} != {"get_legal_moves"} or one.game != other.game:
        return None
    open_ = [called for called, start in starts.items() if start == Start(one.game, "get_blank_spaces")]
    if len(open_) != 1:
        return None
    done = _Round(one.game, claimed, {first: _FIRST, second: _SECOND, open_[0]: _UNCLAIMED}, [])
    try:
        for statement in loop.body:
            done.do(statement)
    except Unlike:
        return None
    after = {first: _BY_FIRST & _LEFT, second: _BY_SECOND & _LEFT, open_[0]: _LEFT}
    if not all(_same(done.sets[side], table) for side, table in after.items()):
        return None
    players = [mover(side) for side in (one, other)]
    return (done, open_[0], players) if all(map(is_lasting, players)) else None


def _is_whole(written: ast.FunctionDef, total: str) -> bool:
    """Whether a variable never holds anything but whole numbers that are counted from, up or down."""
    told = 0
    for node in ast.walk(written):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub):
            pairs = [(getattr(node.target, "id", ""), node.value)]
        elif isinstance(node, ast.Assign):
            try:
                pairs = list(zip(*side_by_side(node), strict=True))
            except Unlike:
                continue
        else:
            continue
        told += sum(called == total and _counts(value) for called, value in pairs)
    return told == sum(
        isinstance(node, ast.Name) and node.id == total and isinstance(node.ctx, ast.Store)
        for node in ast.walk(written)
    ) and all(node.arg != total for node in ast.walk(written) if isinstance(node, ast.arg))


def _counts(node: ast.expr) -> bool:
    """Whether an expression is a whole number that no sum of its kind makes too large to be exact in floating point."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        return _counts(node.left) and _counts(node.right)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _counts(node.operand)
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return abs(node.value) < _LARGEST and float(node.value).is_integer()
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "len"


def _keeps_its_own(written: ast.FunctionDef, loop: ast.While, told: set[str]) -> bool:
    """Whether nothing that a loop gives a value is mentioned outside of it, but what is told: sets and totals."""
    own = set(bound_names(loop)) - told
    return all(times_named(written, one) == times_named(loop, one) for one in own)
