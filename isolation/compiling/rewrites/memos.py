"""Compute anew what a function remembers: `if key not in TABLE: TABLE[key] = value(key)`.

Where the value depends on nothing but the key, what is remembered is what would be computed. Whatever else is done with
the dictionary, the function stays as it is, and is refused as one that keeps something between calls.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from knights_isolation.isolation.compiling.source.dependence import Dependence, facts_or_everything, roles_of
from knights_isolation.isolation.compiling.source.function_source import bound_names, definition, file_tree, taken
from knights_isolation.isolation.compiling.source.memo_tables import is_changed_by_users, is_emptying, memo_tables
from knights_isolation.isolation.compiling.source.rewrite import FunctionContext, Rewrite, at, name, target

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
        """Rewrite the body of a definition in place."""
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
        """Return what is done where the key is not in the table."""
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
        places = [index for index, part in enumerate(block) if isinstance(part, ast.Assign) and self._stores(part)]
        if len(places) != 1 or self.store is not None:
            raise _NotAMemo
        store = block[places[0]]
        assert isinstance(store, ast.Assign)
        store.targets = [target(self.value) if self._is_read(place) else place for place in store.targets]
        self.store = store
        return places[0]

    def _stores(self, statement: ast.Assign) -> bool:
        return any(self._is_read(place) for place in statement.targets)

    def _holds_stored(self, called: str, block: Block, at_store: int) -> bool:
        """Whether a variable holds what is stored in a block."""
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
        """Whether an expression is the table's entry for the key."""
        match node:
            case ast.Subscript(ast.Name(owner), key) if owner == self.table and self.key is not None:
                return ast.dump(key) == ast.dump(self.key)
        return False

    def _is_used_in(self, node: ast.AST) -> bool:
        return any(isinstance(inner, ast.Name) and inner.id == self.table for inner in ast.walk(node))

    def _read_in(self, statement: ast.stmt) -> ast.stmt:
        """Write the variable in place of the table's entry."""
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
    is_read = any(
        isinstance(inner, ast.Name) and inner.id == key and isinstance(inner.ctx, ast.Load) for inner in ast.walk(node)
    )
    if is_read:
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
