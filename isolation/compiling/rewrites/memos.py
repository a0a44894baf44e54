"""Compute anew what a function remembers: `if key not in TABLE: TABLE[key] = value(key)`.

Where the value depends on nothing but the key, what is remembered is what would be computed. Whatever else is done with
the dictionary, the function stays as it is, and is refused as one that keeps something between calls.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import FunctionType
from typing import Any

from ...usercode.function_source import bound_names, changed_name, definition, file_tree, names_in, taken
from ..source.dependence import Dependence, facts_or_everything, roles_of
from ..source.rewrite import FunctionContext, Rewrite, at, name, target

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


Block = list[ast.stmt]
_HARMLESS = (ast.Tuple, ast.Name, ast.Attribute, ast.Constant, ast.Load)


class _NotAMemo(Exception):
    """The dictionary is used otherwise."""


@dataclass
class _Question:
    """Whether a key is in the table: what is done if so, if not, and in both cases."""

    key: ast.expr
    hit: Block
    miss: Block
    after: Block


class LowerMemos(Rewrite):
    """Memos become what they remember.

    `given` are the parameters that are known. `lowered` are the names of the tables that are no longer used, `values`
    the variables that hold what they would.
    """

    def __init__(self, context: FunctionContext, function: FunctionType, given: Mapping[str, Any]) -> None:
        super().__init__(context)
        self.function, self.given = function, given
        self.lowered: set[str] = set()
        self.values: set[str] = set()

    def apply(self, node: ast.FunctionDef) -> None:
        original = definition(self.function)
        if not isinstance(original, ast.FunctionDef):
            return
        defaults = list(map(id, (*(self.function.__defaults__ or ()), *(self.function.__kwdefaults__ or {}).values())))
        for table in sorted(memo_tables(self.function)):
            if table in taken(original) and id(self.given.get(table)) not in defaults:
                continue
            rewritten = ast.FunctionDef(node.name, original.args, copy.deepcopy(node.body), [])
            memo = _Memo(self.context, table)
            try:
                rewritten.body = memo.of_block(rewritten.body)
                self._check(memo, rewritten, original)
            except _NotAMemo:
                continue
            if isinstance(memo.key, ast.Name):
                _drop_unread(rewritten, memo.key.id)
            node.body = rewritten.body or [at(node, ast.Pass())]
            self.lowered.add(table)
            self.values.add(memo.value)
            self.scope.names.update({memo.value, *memo.renamed})

    def _check(self, memo: _Memo, node: ast.FunctionDef, original: ast.FunctionDef) -> None:
        """Check that the value is determined by the key, and that nothing else is done with the table."""
        inside = list(ast.walk(ast.Module(node.body, [])))
        functions = [inner.func for inner in inside if isinstance(inner, ast.Call)]
        called = [getattr(function, "id", getattr(function, "attr", "")) for function in functions]
        store = memo.store
        is_left = any(isinstance(inner, ast.Name) and inner.id == memo.table for inner in inside)
        if memo.key is None or store not in inside or is_left or original.name in called:
            raise _NotAMemo
        dependence = Dependence(self.function, node, roles_of(self.scope.kinds), store)
        key = dependence.determined_by(memo.key)
        if key is None:
            raise _NotAMemo
        dependence.key = key
        if facts_or_everything(dependence, store.value):
            raise _NotAMemo
        if is_changed_by_users(file_tree(self.function), original, memo.table, store):
            raise _NotAMemo


class _Memo:
    """The rewriting of one table's uses in a function."""

    def __init__(self, context: FunctionContext, table: str) -> None:
        self.context, self.table = context, table
        self.value = context.fresh("memo")
        self.key: ast.expr | None = None
        self.store: ast.Assign | None = None
        self.renamed: set[str] = set()

    def of_block(self, block: Block) -> Block:
        """Return statements without the table."""
        written: Block = []
        block = [part for statement in block for part in self._plain(statement)]
        for index, statement in enumerate(block):
            question = self._question(statement, block[index + 1 :])
            if question is not None:
                return written + self._answered(question)
            written += self._inside(statement)
        return written

    def _inside(self, statement: ast.stmt) -> Block:
        """Rewrite the blocks of a statement, and `setdefault`."""
        for attribute in ("body", "orelse", "finalbody"):
            if isinstance(block := getattr(statement, attribute, None), list):
                setattr(statement, attribute, self.of_block(block))
        match statement:
            case ast.Assign(_, value) | ast.Return(value) if value is not None and self._is_default_set(value):
                assert isinstance(value, ast.Call)
                self._found(value.args[0])
                self.store = at(statement, ast.Assign([target(self.value)], value.args[1]))
                statement.value = name(self.value)
                return [self.store, statement]
        return [statement]

    def _is_default_set(self, node: ast.expr) -> bool:
        match node:
            case ast.Call(ast.Attribute(ast.Name(owner), "setdefault"), [_, _], []):
                return owner == self.table
        return False

    def _plain(self, statement: ast.stmt) -> Block:
        """Return a statement in simple parts, without what only bounds the size of the table."""
        match statement:
            case ast.Global(names) if self.table in names:
                others = [other for other in names if other != self.table]
                return [at(statement, ast.Global(others))] if others else []
            case ast.AnnAssign(place, _, value) if value is not None and self._is_used_in(statement):
                return [at(statement, ast.Assign([place], value))]
            case ast.Expr(value) if is_emptying(value) and self._is_used_in(value):
                return []
            case ast.If(test, body, []) if self._asks_for_length(test):
                return [part for inner in body for part in self._plain(inner)]
            case ast.If(ast.Compare(ast.NamedExpr(place, value), _, _) as test) if self._is_get(value):
                test.left = name(place.id)
                return [at(statement, ast.Assign([place], value)), statement]
        return [statement]

    def _asks_for_length(self, test: ast.expr) -> bool:
        """Whether a test is `len(TABLE) >= MOST`."""
        match test:
            case ast.Compare(ast.Call(ast.Name("len"), [ast.Name(owner)], []), [_], [most]):
                return owner == self.table and isinstance(most, ast.Name | ast.Constant | ast.Attribute | ast.BinOp)
        return False

    def _question(self, statement: ast.stmt, after: Block) -> _Question | None:
        match statement:
            case ast.If(ast.UnaryOp(ast.Not(), ast.Compare() as test), body, orelse):
                question = self._question(ast.If(test, body, orelse), after)
                return question and _Question(question.key, question.miss, question.hit, after)
            case ast.If(ast.Compare(key, [ast.In()], [ast.Name(self_table)]), hit, miss) if self_table == self.table:
                return _Question(key, hit, miss, after)
            case ast.If(ast.Compare(key, [ast.NotIn()], [ast.Name(self_table)]), miss, hit) if self_table == self.table:
                return _Question(key, hit, miss, after)
            case ast.Try([hit], [ast.ExceptHandler(kind, None, miss)], [] as found, []) | ast.Try(
                [hit], [ast.ExceptHandler(kind, None, miss)], [ast.Return()] as found, []
            ) if self._is_used_in(hit) and getattr(kind, "id", "") in ("KeyError", "LookupError", ""):
                value = hit.value if isinstance(hit, ast.Return | ast.Assign) else None
                if not isinstance(value, ast.Subscript):
                    raise _NotAMemo
                return _Question(value.slice, [hit, *found], miss, after)
            case ast.Assign([ast.Name(called)], value) if self._is_get(value) and after:
                assert isinstance(value, ast.Call)
                read = ast.Assign(
                    statement.targets, ast.Subscript(name(self.table), copy.deepcopy(value.args[0]), ast.Load())
                )
                return self._after_get(called, value.args[0], at(statement, read), after)
        return None

    @staticmethod
    def _after_get(called: str, key: ast.expr, read: ast.stmt, after: Block) -> _Question | None:
        match after[0]:
            case ast.If(
                ast.Compare(ast.Name(asked), [ast.Is() | ast.Eq()], [ast.Constant(None)])
                | ast.UnaryOp(ast.Not(), ast.Name(asked)),
                miss,
                hit,
            ) if asked == called:
                return _Question(key, [read, *hit], miss, after[1:])
            case ast.If(
                ast.Compare(ast.Name(asked), [ast.IsNot() | ast.NotEq()], [ast.Constant(None)]) | ast.Name(asked),
                hit,
                miss,
            ) if asked == called:
                return _Question(key, [read, *hit], miss, after[1:])
        return None

    def _is_get(self, node: ast.expr) -> bool:
        match node:
            case ast.Call(ast.Attribute(ast.Name(owner), "get"), [_] | [_, ast.Constant(None)], []):
                return owner == self.table
        return False

    def _answered(self, question: _Question) -> Block:
        self._found(question.key)
        hit = [part for part in question.hit if not isinstance(part, ast.Pass)]
        miss = self._flat(question.miss)
        after = self._flat(question.after)
        held = ""
        match hit:
            case [ast.Return(value)] if self._is_read(value):
                return self._returned(miss if _ends(miss) else miss + after)
            case [ast.Assign([ast.Name(called)], value), ast.Return(ast.Name(given))] if self._is_read(value):
                if called != given:
                    raise _NotAMemo
                return self._returned(miss if _ends(miss) else miss + after)
            case [ast.Assign([ast.Name() as variable], value)] if self._is_read(value):
                held = variable.id
            case []:
                match after:
                    case [ast.Return(value)] if _ends(miss) and self._is_read(value):
                        return self._returned(miss)
            case _:
                raise _NotAMemo
        at_store = self._stored(miss)
        if any(isinstance(inner, ast.Return | ast.Break | ast.Continue) for part in miss for inner in ast.walk(part)):
            raise _NotAMemo
        if held and not self._holds_stored(held, miss, at_store):
            raise _NotAMemo
        self._check_effects(miss)
        own = {called for part in miss for called in bound_names(part)} - {held, self.value}
        read = {inner.id for part in after for inner in ast.walk(part) if isinstance(inner, ast.Name)}
        if own & read and not self._rename(miss, own & read, after):
            raise _NotAMemo
        return miss + self.of_block([self._read_in(part) for part in after])

    def _returned(self, block: Block) -> Block:
        """Check a block that computes a value, stores it and returns it; return it."""
        index = self._stored(block)
        match block[index + 1 :]:
            case [ast.Return(value)] if value is not None and self._is_read(value):
                block[index + 1] = at(block[index + 1], ast.Return(name(self.value)))
            case [ast.Return(ast.Name(called))] if self._holds_stored(called, block, index):
                pass
            case _:
                raise _NotAMemo
        if any(isinstance(inner, ast.Return | ast.Yield) for part in block[:index] for inner in ast.walk(part)):
            raise _NotAMemo
        self._check_effects(block)
        return block

    def _stored(self, block: Block) -> int:
        """Write a variable in place of the table where it is filled, and return the place."""
        stores = [(index, part) for index, part in enumerate(block) if isinstance(part, ast.Assign)]
        places = [index for index, part in stores if any(map(self._is_read, part.targets))]
        if len(places) != 1 or self.store is not None:
            raise _NotAMemo
        store = block[places[0]]
        assert isinstance(store, ast.Assign)
        store.targets = [target(self.value) if self._is_read(place) else place for place in store.targets]
        self.store = store
        return places[0]

    def _holds_stored(self, called: str, block: Block, at_store: int) -> bool:
        store = block[at_store]
        assert isinstance(store, ast.Assign)
        is_given = any(isinstance(place, ast.Name) and place.id == called for place in store.targets)
        is_stored = isinstance(store.value, ast.Name) and store.value.id == called
        is_later = any(called in bound_names(part) for part in block[at_store + 1 :])
        return (is_given or is_stored) and not is_later

    def _check_effects(self, block: Block) -> None:
        """Refuse what changes more than its own variables, and would not if the value was remembered."""
        own = {called for part in block for called in bound_names(part)}
        changed = Rewrite(self.context).changed_names(ast.Module(block, []))
        if changed - own or any(isinstance(inner, ast.Global | ast.Nonlocal) for p in block for inner in ast.walk(p)):
            raise _NotAMemo

    def _rename(self, miss: Block, called: set[str], after: Block) -> bool:
        """Give variables of a block names of their own, if what follows binds them itself."""
        bound = {inner for part in after for inner in bound_names(part)}
        given = {inner.arg for part in miss for inner in ast.walk(part) if isinstance(inner, ast.arg)}
        if called - bound or called & given:
            return False
        fresh = {one: self.context.fresh(one) for one in sorted(called)}
        self.renamed.update(fresh.values())
        for part in miss:
            for inner in ast.walk(part):
                if isinstance(inner, ast.Name) and inner.id in fresh:
                    inner.id = fresh[inner.id]
        return True

    def _flat(self, block: Block) -> Block:
        """Return the statements of a block in simple parts, without `pass`."""
        return [part for one in block for part in self._plain(one) if not isinstance(part, ast.Pass)]

    def _found(self, key: ast.expr) -> None:
        if self.key is not None:
            raise _NotAMemo
        self.key = key

    def _is_read(self, node: ast.expr | None) -> bool:
        match node:
            case ast.Subscript(ast.Name(owner), key) if owner == self.table and self.key is not None:
                return ast.dump(key) == ast.dump(self.key)
        return False

    def _is_used_in(self, node: ast.AST) -> bool:
        return any(isinstance(inner, ast.Name) and inner.id == self.table for inner in ast.walk(node))

    def _read_in(self, statement: ast.stmt) -> ast.stmt:
        memo = self

        class Read(ast.NodeTransformer):
            def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
                self.generic_visit(node)
                return at(node, name(memo.value)) if memo._is_read(node) else node

        written = Read().visit(statement)
        assert isinstance(written, ast.stmt)
        return written


def _ends(block: Block) -> bool:
    return bool(block) and isinstance(block[-1], ast.Return)


def _drop_unread(node: ast.FunctionDef, key: str) -> None:
    """Drop the statement that made the key, if nothing reads it any more and it can raise nothing."""
    if key in names_in(node, ast.Load):
        return
    for inner in ast.walk(node):
        for attribute in ("body", "orelse"):
            block = getattr(inner, attribute, None)
            if isinstance(block, list):
                block[:] = [part for part in block if not _only_makes(part, key)] or block[:1]


def _only_makes(statement: ast.AST, key: str) -> bool:
    match statement:
        case ast.Assign([ast.Name(called)], value) if called == key:
            return all(isinstance(inner, _HARMLESS) or _is_harmless_call(inner) for inner in ast.walk(value))
    return False


def _is_harmless_call(node: ast.AST) -> bool:
    match node:
        case ast.Call(ast.Name("tuple" | "frozenset"), [_], []):
            return True
        case ast.Call(ast.Attribute(ast.Name(), "get_blank_spaces" | "get_player_location"), _, []):
            return True
    return False
