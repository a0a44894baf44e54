"""Loops that flood the board from one player's moves, two that do not meet: told as one.

    while front:
        moves += 1
        total += moves * len(front)
        unreached = unreached - front
        front = game.reach(front) & unreached

A knight's move changes colour. So the fronts of two floods stay apart in one bitboard if one of them waits for a round
where both begin on the same colour, and so do the cells that they have not reached, in two sets used in turns. A round
then costs one step for both; see `_TOGETHER`.

Such a loop is known by what a round does to the front and to the unreached cells, however it is written. It must begin
with legal moves and all blank cells; what else it does must be to add up what is nothing for an empty front, since the
flood that ends first goes on with one. Loops in functions are written out where these are called; see `inlining`. Of
two in one block the first is moved down to the other, with what depends on it, only past statements that neither change
what it mentions nor mention what it changes, and only where nothing between them changes anything in place, which might
have another name as well, or leaves the function.
"""

from __future__ import annotations

import ast
import copy
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import combinations, count
from math import copysign

from isolation.compiling.rewrites.loops.inlining import (
    Helper,
    as_helper,
    function_called,
    has_scopes,
    rename,
    renamed,
    write_out,
)
from isolation.compiling.rewrites.loops.set_dataflow import (
    Start,
    Unlike,
    blocks,
    bound,
    is_lasting,
    mover,
    read,
    side_by_side,
    start,
    table,
    tables,
    times_named,
    value_of,
)
from isolation.compiling.source.function_source import bound_names
from isolation.compiling.source.rewrite import at, name, statements, target
from isolation.compiling.source.scopes import SUPPORT

# The truth tables of the front, of the cells unreached before it, and of the blank cells a knight's move away from it.
_FRONT, _UNREACHED, _NEXT = tables(3)
_POSSIBLE = (_UNREACHED | ~_FRONT) & (~_NEXT | ~_FRONT)
"""Rows of a truth table that can be: the front is unreached so far, and what is next to it has the other colour."""
_CELLS = "_v_cells"
"""In what a flood counts, the cells that are counted."""
_SMALL = 1 << 16
_LARGEST = 1 << 31
_MOST = 6
"""How many floods of a block are looked at, each beside each of the others."""
_READS = {"abs", "bool", "float", "int", "len", "max", "min", "round", f"{SUPPORT}.number"}
_OWN_VARIABLES = ("OWN", "ODD", "EVEN", "FRONT", "LEFT", "FIRST_BEGINS", "SECOND_BEGINS", "FIRST_LEFT", "SECOND_LEFT")
_BEGIN = f"BEGINS = {SUPPORT}.padded_moves(GAME, PLAYER)"
_TOGETHER = f"""
LEFT = {SUPPORT}.padded_blanks(GAME)
OWN = {SUPPORT}.blanks_like(GAME, FIRST_BEGINS)
ODD, EVEN, FRONT = LEFT, LEFT, FIRST_BEGINS
if SECOND_BEGINS & OWN:
    FIRST_ON_ALL
    ODD = ODD - FRONT
    FRONT = {SUPPORT}.next_to(GAME, FRONT, EVEN)
    ODD, EVEN, OWN = EVEN, ODD, LEFT - OWN
FRONT = FRONT | SECOND_BEGINS
while FRONT:
    FIRST_ON_OWN
    SECOND_ON_OTHER
    ODD = ODD - FRONT
    FRONT = {SUPPORT}.next_to(GAME, FRONT, EVEN)
    FIRST_ON_OTHER
    SECOND_ON_OWN
    EVEN = EVEN - FRONT
    FRONT = {SUPPORT}.next_to(GAME, FRONT, ODD)
FIRST_LEFT, SECOND_LEFT = ODD & OWN | EVEN - OWN, ODD - OWN | EVEN & OWN
FIRST_OPEN, SECOND_OPEN = {SUPPORT}.close_up(GAME, FIRST_LEFT), {SUPPORT}.close_up(GAME, SECOND_LEFT)
FIRST, SECOND = FIRST - FIRST, SECOND - SECOND
"""
"""Two floods as one. In odd rounds the first one is on cells of its `OWN` colour, the second on those of the other.

`ODD` are the cells that may still be reached in odd rounds: of the one colour those that the first flood has not
reached, of the other those that the second has not; `EVEN` likewise. An even round is done without a look whether
there are cells left, since no flood's end can be foretold, and every wrong guess costs as much as a round.
"""


@dataclass
class _Flood:
    """A loop that floods the board: its variables, the tables of its sets, and what it counts, told of `_CELLS`."""

    loop: ast.While
    game: str
    player: ast.expr
    front: str
    unreached: str
    sets: dict[str, int] = field(default_factory=dict)
    counts: list[ast.AugAssign] = field(default_factory=list)

    def table(self, node: ast.expr) -> int:
        """The truth table of an expression that is a set."""
        return table(node, self.sets, self.game, _reached)

    def do(self, statement: ast.stmt) -> None:
        """Follow a statement of a round."""
        if (added := _added(statement)) is not None and added[0] not in self.sets:
            called, operator, value = added
            counted = ast.AugAssign(target(called), operator, _Counted(self).visit(copy.deepcopy(value)))
            self.counts.append(at(statement, counted))
        elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            called = statement.target.id
            self.sets[called] = self.table(ast.BinOp(name(called), statement.op, statement.value))
        elif isinstance(statement, ast.Assign):
            places, values = side_by_side(statement)
            self.sets.update(zip(places, [self.table(value) for value in values], strict=True))
        else:
            raise Unlike


def _added(statement: ast.stmt) -> tuple[str, ast.operator, ast.expr] | None:
    """The variable, the sign and the amount of an addition or subtraction: `a += 1`, `a = a + 1` or `a = 1 + a`."""
    place: ast.expr
    if isinstance(statement, ast.AugAssign):
        place, operator, value = statement.target, statement.op, statement.value
    elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp) and len(statement.targets) == 1:
        place, operator, sides = statement.targets[0], statement.value.op, [statement.value.left, statement.value.right]
        if isinstance(operator, ast.Add) and ast.unparse(sides[1]) == ast.unparse(place):
            sides.reverse()
        if ast.unparse(sides[0]) != ast.unparse(place):
            return None
        value = sides[1]
    else:
        return None
    if not isinstance(operator, ast.Add | ast.Sub) or not isinstance(place, ast.Name):
        return None
    return place.id, operator, value


class _Counted(ast.NodeTransformer):
    """What is added up, told of `_CELLS`: it may ask for the length of the front, and for no other set."""

    def __init__(self, flood: _Flood) -> None:
        self.flood = flood

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if ast.unparse(node.func) != "len" or len(node.args) != 1 or not _same(self.flood.table(node.args[0]), _FRONT):
            raise Unlike
        return ast.Call(name("len"), [name(_CELLS)], [])


def _same(one: int, other: int) -> bool:
    return (one ^ other) & _POSSIBLE == 0


def _reached(origin: int) -> int:
    if not _same(origin, _FRONT):
        raise Unlike
    return _NEXT


def fuse_flood_fills(module: ast.Module) -> None:
    """Rewrite such loops in a finished module, and leave out the functions that nothing calls any more."""
    fresh = count(1)
    known = {function_called(inner) for inner in ast.walk(module)}
    helpers: dict[str, Helper] = {}
    for place, written in enumerate(module.body):
        if not isinstance(written, ast.FunctionDef):
            continue
        while (changed := _with_two_as_one(written, helpers, fresh)) is not None:
            module.body[place] = written = changed
        if (helper := as_helper(written, helpers, fresh)) is not None:
            helpers[written.name] = helper
    for part in reversed(module.body):  # callers come after what they call
        if isinstance(part, ast.FunctionDef) and part.name in known & set(helpers) and part.name not in read(module):
            module.body.remove(part)


def _with_two_as_one(
    written: ast.FunctionDef, helpers: Mapping[str, Helper], fresh: Iterator[int]
) -> ast.FunctionDef | None:
    """A function with two of its floods told as one; None if there are no two that can be."""
    if any(isinstance(inner, ast.Try) for inner in ast.walk(written)):
        return None
    for number, original in enumerate(blocks(written)):
        if not 2 <= _floods_at_most(original, helpers) <= _MOST:
            continue
        trial = copy.deepcopy(written)
        block = list(blocks(trial))[number]
        write_out(trial, block, helpers, fresh)
        for first, second in combinations([one for one in block if isinstance(one, ast.While)], 2):
            if block is trial.body and not has_scopes(trial):
                _tell_apart(block, first, fresh)
            together = _together(trial, block, first, second, fresh)
            if together is not None:
                block[:] = together
                return trial
    return None


def _floods_at_most(block: list[ast.stmt], helpers: Mapping[str, Helper]) -> int:
    """How many floods may stand in a block when helpers are written out, those in blocks within it apart."""
    loops = sum(isinstance(statement, ast.While) for statement in block)
    plain = [one for one in block if isinstance(one, ast.Assign | ast.AugAssign | ast.Return)]
    return loops + sum(function_called(inner) in helpers for one in plain for inner in ast.walk(one))


# --- what a flood is ------------------------------------------------------------------------------------------------


def _flood(written: ast.FunctionDef, block: list[ast.stmt], loop: ast.While) -> _Flood | None:
    """The flood that a loop in a block of a function is, if it is one, and one that may go on with an empty front."""
    before = block[: block.index(loop)]
    front = _asked(loop.test)
    origin = start(before, front)
    if loop.orelse or origin is None or origin.method != "get_legal_moves" or not is_lasting(player := mover(origin)):
        return None
    unreached = [one for one in sorted(read(loop)) if start(before, one) == Start(origin.game, "get_blank_spaces")]
    if len(unreached) != 1:
        return None
    found = _Flood(loop, origin.game, player, front, unreached[0], {front: _FRONT, unreached[0]: _UNREACHED})
    try:
        for statement in loop.body:
            found.do(statement)
    except Unlike:
        return None
    after = {front: _NEXT & _UNREACHED, unreached[0]: _UNREACHED & ~_FRONT}
    is_flood = all(_same(found.sets[one], after[one]) for one in after)
    passing = set(found.sets) - set(after)
    is_own = all(times_named(written, one) == times_named(loop, one) for one in passing)
    return found if is_flood and is_own and _may_go_on(written, before, found) else None


def _asked(test: ast.expr) -> str:
    """The set that a loop goes on for as long as it has cells, as far as it is asked for in a usual way."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and ast.unparse(test).endswith((") > 0", ") != 0")):
        test = test.left
    if isinstance(test, ast.Call) and ast.unparse(test.func) == "len" and len(test.args) == 1:
        test = test.args[0]
    return test.id if isinstance(test, ast.Name) else ""


def _may_go_on(written: ast.FunctionDef, before: list[ast.stmt], found: _Flood) -> bool:
    """Whether rounds with an empty front change nothing but counters, which nothing else reads."""
    added: dict[str, list[ast.expr]] = defaultdict(list)
    for counted in found.counts:
        added[counted.target.id].append(counted.value)  # type: ignore[union-attr]
    counters = {called for called, values in added.items() if all(map(_is_number, values))}
    for called, values in added.items():
        first = value_of(before, called)
        if called in found.sets or first is None or not _is_number(first[0]):
            return False
        if called in counters and times_named(written, called) != times_named(found.loop, called) + 1:
            return False
        if called not in counters and not all(_vanishes(value, counters) for value in values):
            return False
    return True


def _is_number(node: ast.expr) -> bool:
    """Whether an expression is a number, neither minus zero nor so large that a few of them multiply to infinity."""
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, int | float) and 0 <= value < _LARGEST and copysign(1, value) > 0


def _vanishes(node: ast.expr, counters: set[str]) -> bool:
    """Whether an expression is zero for an empty front."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        pairs = ((node.left, node.right), (node.right, node.left))
        return any(_vanishes(one, counters) and _is_finite(other, counters) for one, other in pairs)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        return _vanishes(node.left, counters) and _vanishes(node.right, counters)
    return isinstance(node, ast.Call)


def _is_finite(node: ast.expr, counters: set[str]) -> bool:
    """Whether an expression is made of numbers, counters and lengths, by addition and multiplication."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
        return _is_finite(node.left, counters) and _is_finite(node.right, counters)
    return _is_number(node) or isinstance(node, ast.Call) or (isinstance(node, ast.Name) and node.id in counters)


# --- two as one -----------------------------------------------------------------------------------------------------


def _tell_apart(block: list[ast.stmt], loop: ast.While, fresh: Iterator[int]) -> None:
    """Give names of their own to variables of a loop where a later statement of the function uses them anew."""
    mentioned = _mentioned([loop])
    for place, statement in enumerate(block):
        if place <= block.index(loop) or not isinstance(statement, ast.Assign):
            continue
        with suppress(Unlike):
            names = {one: renamed(one, fresh) for one in side_by_side(statement)[0] if one in mentioned}
            rename([*statement.targets, *block[place + 1 :]], names)


def _together(
    written: ast.FunctionDef, block: list[ast.stmt], first: ast.While, second: ast.While, fresh: Iterator[int]
) -> list[ast.stmt] | None:
    """A block with two of its loops as one flood in place of the second; None if they cannot be."""
    one, other = _flood(written, block, first), _flood(written, block, second)
    if one is None or other is None or one.game != other.game:
        return None
    begin, end = block.index(first), block.index(second)
    stays: list[ast.stmt] = []
    moved: list[ast.stmt] = [first]
    for statement in block[begin + 1 : end]:
        if not _only_names(statement, one.game):
            return None
        dependent = _mentioned([statement]) & bound(moved)
        (moved if dependent else stays).append(statement)
        if bound(stays) & _mentioned(moved):
            return None
    if bound([second]) & _mentioned(moved):
        return None
    names = {kind: renamed(kind.lower(), fresh) for kind in _OWN_VARIABLES}
    after = [*moved[1:], *block[end + 1 :]]
    for flood, left in ((one, names["FIRST_LEFT"]), (other, names["SECOND_LEFT"])):
        _count(after, flood.unreached, left)
    both = [at(second, statement) for statement in _as_one(one, other, names)]
    return [*block[:begin], _begin(one, names["FIRST_BEGINS"]), *stays, *both, *after]


def _begin(flood: _Flood, begins: str) -> ast.stmt:
    """What gives a variable the cells that a flood begins with."""
    (statement,) = statements(_BEGIN, BEGINS=name(begins), GAME=name(flood.game), PLAYER=copy.deepcopy(flood.player))
    return at(flood.loop, statement)


def _count(body: list[ast.stmt], cells: str, left: str) -> None:
    """Count a variable's cells in another one of as many, until something else is given to it."""

    class Count(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.AST:
            self.generic_visit(node)
            return ast.Call(name("len"), [name(left)], []) if ast.unparse(node) == f"len({cells})" else node

    for statement in body:
        if cells in bound_names(statement):
            break
        at(statement, Count().visit(statement))


def _as_one(first: _Flood, second: _Flood, names: Mapping[str, str]) -> list[ast.stmt]:
    """The statements that do what two floods do; the first one's cells to begin with are known."""
    parts = {**names, "GAME": first.game, "FIRST": first.front, "SECOND": second.front}
    parts |= {"FIRST_OPEN": first.unreached, "SECOND_OPEN": second.unreached}
    front, own = name(parts["FRONT"]), name(parts["OWN"])
    on = {"ALL": front, "OWN": ast.BinOp(front, ast.BitAnd(), own), "OTHER": ast.BinOp(front, ast.Sub(), own)}
    told = {f"FIRST_ON_{where}": _told(first, cells) for where, cells in on.items()}
    told |= {f"SECOND_ON_{where}": _told(second, cells) for where, cells in on.items()}
    new = [_begin(second, names["SECOND_BEGINS"])]
    new += statements(_TOGETHER, **{one: name(variable) for one, variable in parts.items()})
    for block in [new, *(inner for statement in new for inner in blocks(statement))]:
        block[:] = [one for statement in block for one in told.get(_mark(statement), [statement])]
    return new


def _mark(statement: ast.stmt) -> str:
    return ast.unparse(statement.value) if isinstance(statement, ast.Expr) else ""


def _told(flood: _Flood, cells: ast.expr) -> list[ast.stmt]:
    """What a flood counts in a round, for a front that consists of these cells."""
    told = [_Filled(cells).visit(copy.deepcopy(count)) for count in flood.counts]
    for statement in told:
        statement.is_small = all(map(_is_small, ast.walk(statement)))
    return told


def _is_small(node: ast.AST) -> bool:
    """Whether a part of what is counted keeps it far below 64 bits: there are few rounds, and few cells."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return not any(isinstance(inner, ast.BinOp) for inner in (node.left, node.right))
    return not isinstance(node, ast.Constant) or not isinstance(node.value, int) or abs(node.value) < _SMALL


class _Filled(ast.NodeTransformer):
    """Puts an expression in place of `_CELLS`."""

    def __init__(self, cells: ast.expr) -> None:
        self.cells = cells

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return copy.deepcopy(self.cells) if node.id == _CELLS else node


def _mentioned(body: list[ast.stmt]) -> set[str]:
    return {inner.id for statement in body for inner in ast.walk(statement) if isinstance(inner, ast.Name)}


def _only_names(statement: ast.stmt, game: str) -> bool:
    """Whether a statement does nothing but give names to what it computes, and changes nothing in place."""
    if not isinstance(statement, ast.Assign) or has_scopes(statement):
        return False
    with suppress(Unlike):
        side_by_side(statement)
        return all(_only_reads(inner, game) for inner in ast.walk(statement) if isinstance(inner, ast.Call))
    return False


def _only_reads(called: ast.Call, game: str) -> bool:
    function = called.func
    is_method = isinstance(function, ast.Attribute) and ast.unparse(function.value) == game
    return is_method or ast.unparse(function) in _READS
