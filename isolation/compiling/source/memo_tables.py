"""Dictionaries of a file that may be memos: empty when it is imported, and filled by one function."""

from __future__ import annotations

import ast
from functools import lru_cache
from types import FunctionType

from knights_isolation.isolation.compiling.source.function_source import (
    bound_names,
    changed_name,
    definition,
    file_tree,
    taken,
)

_GIVING = {"get", "setdefault", "items", "values", "pop"}
"""Methods that give what a dictionary holds."""


def memo_tables(function: FunctionType) -> set[str]:
    """Return the names of the dictionaries that only one function uses, and may keep in them what it has computed.

    They are of its file, or the defaults of its own parameters.
    """
    tree = file_tree(function)
    node = definition(function)
    used = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    known = {table for table, owner in _tables_of(tree).items() if owner in (node.lineno, 0) and table in used}
    return {table for table in known if table in function.__globals__} | _defaults(node)


def _defaults(node: ast.AST) -> set[str]:
    """The parameters whose default is an empty dictionary."""
    if not isinstance(node, ast.FunctionDef):
        return set()
    positional = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    values = [*zip(positional[len(positional) - len(node.args.defaults) :], node.args.defaults, strict=True)]
    by_keyword = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    values += [(argument.arg, value) for argument, value in by_keyword if value]
    bound = {called for statement in node.body for called in bound_names(statement)}
    return {called for called, value in values if _is_empty_dictionary(value) and called not in bound}


@lru_cache(maxsize=64)
def _tables_of(tree: ast.Module) -> dict[str, int]:
    """The names that a file gives an empty dictionary, each with the line of the only function that uses it."""
    given: dict[str, int] = {}
    for statement in tree.body:
        for called in bound_names(statement):
            given[called] = given.get(called, 0) + 1
    empty = {called for statement in tree.body if (called := _given_an_empty_dictionary(statement))}
    tables = {called for called in empty if given[called] == 1}
    users: dict[str, set[int]] = {table: set() for table in tables}
    members = [member for kind in tree.body if isinstance(kind, ast.ClassDef) for member in kind.body]
    for part in (*tree.body, *members):
        if isinstance(part, ast.ClassDef) or _given_an_empty_dictionary(part) in tables:
            continue
        for called in _used(part) & tables:
            users[called].add(part.lineno if isinstance(part, ast.FunctionDef) else -1)
    return {table: next(iter(lines)) for table, lines in users.items() if len(lines) == 1}


def _used(part: ast.stmt) -> set[str]:
    """The names that a part of a file uses, other than to empty what they hold."""
    own = set(taken(part)) if isinstance(part, ast.FunctionDef) else set()
    emptied = {id(inner.func.value) for inner in ast.walk(part) if is_emptying(inner)}  # type: ignore[attr-defined]
    names = [inner for inner in ast.walk(part) if isinstance(inner, ast.Name) and id(inner) not in emptied]
    return {name.id for name in names} - own


def is_emptying(node: ast.AST) -> bool:
    """Whether an expression is `table.clear()`."""
    match node:
        case ast.Call(ast.Attribute(ast.Name(), "clear"), [], []):
            return True
    return False


def _given_an_empty_dictionary(statement: ast.stmt) -> str:
    match statement:
        case ast.Assign([ast.Name(called)], value) | ast.AnnAssign(ast.Name(called), _, value):
            return called if value is not None and _is_empty_dictionary(value) else ""
    return ""


def _is_empty_dictionary(node: ast.expr) -> bool:
    match node:
        case ast.Dict([], []) | ast.Call(ast.Name("dict"), [], []):
            return True
    return False


def is_changed_by_users(tree: ast.Module, maker: ast.FunctionDef, table: str, store: ast.Assign) -> bool:
    """Whether functions of a file change in place what one of them, `maker`, has remembered in a table by `store`."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    shared = {(maker.lineno, called) for place in (*store.targets, store.value) for called in _names(place)}
    returned = {maker.name}
    before = -1
    while before != len(shared) + len(returned):
        before = len(shared) + len(returned)
        for function in functions:
            _share(function, functions, shared, returned, table)
    return any(
        (function.lineno, called) in shared
        for function in functions
        for inner in ast.walk(function)
        if (called := changed_name(inner)) and called != table
        if function.lineno != maker.lineno or inner.lineno > store.lineno  # type: ignore[attr-defined]
    )


def _share(
    function: ast.FunctionDef,
    functions: list[ast.FunctionDef],
    shared: set[tuple[int, str]],
    returned: set[str],
    table: str,
) -> None:
    """Note which variables of a function, and parameters of those it calls, hold what was remembered, or a part."""

    def is_shared(node: ast.AST | None) -> bool:
        match node:
            case ast.Name(called):
                return called == table or (function.lineno, called) in shared
            case ast.Call(ast.Name(called), _):
                return called in returned
            case ast.Call(ast.Attribute(owner, called), _):
                return called in returned or (called in _GIVING and is_shared(owner))
            case ast.Subscript(owner) | ast.Attribute(owner) | ast.Starred(owner):
                return is_shared(owner)
            case ast.IfExp(_, first, second):
                return is_shared(first) or is_shared(second)
            case ast.Tuple(parts) | ast.List(parts) | ast.BoolOp(_, parts):
                return any(map(is_shared, parts))
        return False

    for inner in ast.walk(function):
        match inner:
            case ast.Assign(places, value) if is_shared(value):
                shared |= {(function.lineno, called) for place in places for called in _names(place)}
            case ast.For(place, value) | ast.comprehension(place, value) if is_shared(value):
                shared |= {(function.lineno, called) for called in _names(place)}
            case ast.NamedExpr(place, value) if is_shared(value):
                shared |= {(function.lineno, called) for called in _names(place)}
            case ast.Return(value) if is_shared(value):
                returned.add(function.name)
            case ast.Call(ast.Name(called) | ast.Attribute(_, called), given):
                for other in functions:
                    wanted = taken(other) if other.name == called else []
                    wanted = wanted[1:] if isinstance(inner.func, ast.Attribute) and wanted[:1] == ["self"] else wanted
                    for parameter, argument in zip(wanted, given, strict=False):
                        if is_shared(argument):
                            shared.add((other.lineno, parameter))


def _names(place: ast.AST) -> set[str]:
    """The variables that a place to store in, or a value, consists of."""
    if isinstance(place, ast.Name):
        return {place.id}
    parts = place.elts if isinstance(place, ast.Tuple | ast.List) else []
    return {called for part in parts for called in _names(part)}
