"""What a round of a loop does to sets of cells, followed as truth tables, and what its variables begin with.

A set is followed as the truth table of what it is made of: bit `row` of a table says whether a cell is in the set that
is in just those of the first sets whose places `row` has as bits.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from isolation.compiling.source.function_source import bound_names


class Unlike(Exception):
    """A loop does something else than what is looked for."""


@dataclass(frozen=True)
class Start:
    """What a set begins with: the cells that a method of a game returns, for a player or for nobody in particular."""

    game: str
    method: str
    player: ast.expr | None = None


def tables(sets: int) -> list[int]:
    """The truth tables of so many first sets."""
    return [sum(1 << row for row in range(1 << sets) if row >> place & 1) for place in range(sets)]


def table(node: ast.expr, sets: Mapping[str, int], game: str, reached: Callable[[int], int]) -> int:
    """The truth table of an expression that is a set.

    Args:
        sets: the tables of variables.
        reached: from the table of some cells to that of the cells which `game.reach` gives for them.

    Raises:
        Unlike: it is not known to be a set.
    """
    if isinstance(node, ast.Name) and node.id in sets:
        return sets[node.id]
    if isinstance(node, ast.BinOp):
        left, right = table(node.left, sets, game, reached), table(node.right, sets, game, reached)
        if isinstance(node.op, ast.BitAnd):
            return left & right
        if isinstance(node.op, ast.BitOr):
            return left | right
        if isinstance(node.op, ast.Sub):
            return left & ~right
    if isinstance(node, ast.Call) and ast.unparse(node.func) == f"{game}.reach" and len(node.args) == 1:
        return reached(table(node.args[0], sets, game, reached))
    raise Unlike


def side_by_side(assignment: ast.Assign) -> tuple[list[str], list[ast.expr]]:
    """The variables of an assignment, `a, b = 1, 2` among them, and their values.

    Raises:
        Unlike: something else than variables is given values, or nobody can tell which one each is given.
    """
    place, value = assignment.targets[0], assignment.value
    if isinstance(place, ast.Tuple) and isinstance(value, ast.Tuple):
        places, values = place.elts, value.elts
    else:
        places, values = [place], [value]
    named = [place.id for place in places if isinstance(place, ast.Name)]
    if len(assignment.targets) != 1 or len(named) != len(places) or len(places) != len(values):
        raise Unlike
    return named, values


def blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements in a function."""
    for inner in ast.walk(node):
        for field in ("body", "orelse", "finalbody"):
            if isinstance(block := getattr(inner, field, None), list):
                yield block


def value_of(before: list[ast.stmt], called: str) -> tuple[ast.expr, int] | None:
    """What a variable was given last, for certain, in some statements, and the place of the one that gave it."""
    since = [place for place, statement in enumerate(before) if called in bound_names(statement)][-1:]
    if not since or not isinstance(assignment := before[since[0]], ast.Assign):
        return None
    try:
        places, values = side_by_side(assignment)
    except Unlike:
        return None
    return dict(zip(places, values, strict=True))[called], since[0]


def start(before: list[ast.stmt], called: str) -> Start | None:
    """What a variable has its value from, if nothing has happened since to it or to what it comes from."""
    found = value_of(before, called)
    if found is None:
        return None
    value, place = found
    origin = start(before[:place], value.id) if isinstance(value, ast.Name) else _asked(value)
    if origin is None:
        return None
    named = {origin.game} | (read(origin.player) if origin.player else set())
    return None if named & bound(before[place:]) else origin


def _asked(value: ast.expr) -> Start | None:
    """What an expression asks of a game, if it is nothing more than that."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute) or value.keywords:
        return None
    if not isinstance(value.func.value, ast.Name) or len(value.args) > 1:
        return None
    return Start(value.func.value.id, value.func.attr, *value.args)


def mover(origin: Start) -> ast.expr:
    """The player whom a game was asked about, who is to move if it was told of none."""
    return origin.player or ast.Attribute(ast.Name(origin.game, ast.Load()), "active_player", ast.Load())


def is_lasting(node: ast.expr) -> bool:
    """Whether an expression is worth the same for as long as its names are."""
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).endswith(".get_opponent") and all(map(is_lasting, [node.func, *node.args]))
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name))


def bound(body: list[ast.stmt]) -> set[str]:
    """The variables that statements give values to."""
    return {bound_name for statement in body for bound_name in bound_names(statement)}


def read(node: ast.AST) -> set[str]:
    """The variables that are read in a node."""
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)}


def times_named(node: ast.AST, variable: str) -> int:
    """How often a node mentions a variable."""
    return sum(isinstance(inner, ast.Name) and inner.id == variable for inner in ast.walk(node))
