"""Loops over sets whose order cannot be seen.

A set of cells is a bitboard, which has no order of its own. A loop over one may take the cells in any order if all
that it does is to add to sets, to count, to give a dictionary an entry for each, and to ask what it does not change;
and, where it asks whether something is in a set already, adds it there and does nothing else that depends on anything
but that.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


@dataclass
class Effects:
    """What a loop does to variables.

    Attributes:
        grown: names of the sets that it adds to, once for each place that does.
        counted: names of the numbers that it adds to.
        own: names that each round sets anew.
        filled: names of the dictionaries that get an entry for each item.
    """

    grown: list[str] = field(default_factory=list)
    counted: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    filled: set[str] = field(default_factory=set)
    item: str = ""


def effects_in_any_order(loop: ast.For) -> Effects | None:
    """What a loop does to variables, if its order cannot be seen; None if it may be."""
    body = _without_continue(loop.body)
    effects = Effects(own=set(_names(loop.target)), item=ast.unparse(loop.target))
    if loop.orelse or not all(_note(statement, effects) for statement in body):
        return None
    changed = {*effects.grown, *effects.counted, *effects.filled}
    return effects if not changed & effects.own and _reads_no_other(body, effects, changed) else None


def _names(node: ast.AST) -> list[str]:
    return [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]


def _without_continue(statements: list[ast.stmt]) -> list[ast.stmt]:
    """Statements in which `if test: continue` has become a test of all that follows."""
    for place, statement in enumerate(statements):
        match statement:
            case ast.If(test, [ast.Continue()], []):
                rest = _without_continue(statements[place + 1 :])
                return [*statements[:place], ast.If(ast.UnaryOp(ast.Not(), test), rest, [])]
    return statements


def _note(statement: ast.stmt, effects: Effects) -> bool:
    """Note what a statement does; False if its order may be seen."""
    match statement:
        case ast.Pass():
            return True
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "add" | "update"), [_], [])):
            effects.grown.append(name)
            return True
        case ast.AugAssign(ast.Name(name), ast.BitOr()):
            effects.grown.append(name)
            return True
        case ast.AugAssign(ast.Name(name), ast.Add() | ast.Sub()):
            effects.counted.add(name)
            return True
        case ast.Assign([ast.Subscript(ast.Name(name), key)]) if ast.unparse(key).strip("()") == effects.item.strip(
            "()"
        ):
            effects.filled.add(name)
            return True
        case ast.Assign([target]) if not any(
            isinstance(part, ast.Subscript | ast.Attribute) for part in ast.walk(target)
        ):
            effects.own.update(_names(target))
            return True
        case ast.If(_, body, orelse):
            return all(_note(part, effects) for part in (*_without_continue(body), *orelse))
        case ast.For(target, _, body, []):
            effects.own.update(_names(target))
            return all(_note(part, effects) for part in _without_continue(body))
    return False


def _reads_no_other(statements: Iterable[ast.stmt], effects: Effects, changed: set[str]) -> bool:
    """Whether statements read nothing that the loop changes, unless they add it where it was not."""
    for statement in statements:
        match statement:
            case ast.If(test, body, orelse):
                if not _is_fine_test(test, body, orelse, effects, changed):
                    return False
            case ast.For(_, iterated, body):
                if changed & set(_names(iterated)) or not _reads_no_other(_without_continue(body), effects, changed):
                    return False
            case ast.Expr(ast.Call(_, arguments)):
                if changed & {name for argument in arguments for name in _names(argument)}:
                    return False
            case ast.Assign(_, value) | ast.AugAssign(_, _, value):
                if changed & set(_names(value)):
                    return False
    return True


def _is_fine_test(
    test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt], effects: Effects, changed: set[str]
) -> bool:
    body = _without_continue(body)
    asked = [part for part in _conjuncts(test, True) if changed & set(_names(part[0]))]
    if not asked:
        return _reads_no_other((*body, *orelse), effects, changed)
    if len(asked) > 1 or orelse:
        return False
    match asked[0]:
        case (ast.Compare(value, [ast.NotIn()], [ast.Name(name)]), True) | (
            ast.Compare(value, [ast.In()], [ast.Name(name)]),
            False,
        ):
            return effects.grown.count(name) == 1 and _depends_on(value, name, body, effects, changed)
    return False


def _conjuncts(test: ast.expr, holds: bool) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the tests all of which hold, or do not, where a test holds, or does not."""
    match test:
        case ast.UnaryOp(ast.Not(), operand):
            yield from _conjuncts(operand, not holds)
        case ast.BoolOp(operator, values) if isinstance(operator, ast.And) == holds:
            for value in values:
                yield from _conjuncts(value, holds)
        case _:
            yield test, holds


def _depends_on(value: ast.expr, name: str, body: list[ast.stmt], effects: Effects, changed: set[str]) -> bool:
    """Whether statements add a value to a set, and what they do depends on nothing of the loop's but that value."""
    known = set(_names(value))
    adds = False
    for statement in body:
        match statement:
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(grown), "add"), [added])) if grown == name:
                adds = ast.dump(added) == ast.dump(value)
                if not adds:
                    return False
            case ast.Expr(ast.Call(ast.Attribute(ast.Name()), [added])):
                if (effects.own - known | changed) & set(_names(added)):
                    return False
            case ast.AugAssign(_, _, amount):
                if (effects.own - known | changed) & set(_names(amount)):
                    return False
            case _:
                return False
    return adds
