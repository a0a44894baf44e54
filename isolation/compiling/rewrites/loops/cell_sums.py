"""Replace loops that sum over cells by lookup tables.

    for row, column in game.get_legal_moves(player):
        total += weight * (h - abs(h - row))

becomes `total += _isolation.weighed(game.get_legal_moves(player), game, term)`, where `term(game, cell)` is what a cell
adds. How many moves there are cannot be foretold, and a loop that ends unexpectedly costs a processor more than all the
rest of such a sum; see `isolation.native.runtime.cell_sums` for what is done instead, and for when it is not.

What a cell adds may depend on constants and on *facts*: variables that tell nothing but the size of the board and how
many cells are blank, arguments among them that are the same at every call.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ....usercode.function_source import bound_names, names_in, parameters
from ....usercode.parsing import parse_expression
from ...source.rewrite import at, function, name, support, target
from ...source.scopes import SUPPORT

GAME = "_v_game"
"""What the game is called in facts and terms."""
_CELL = "_v_cell"
_ENTRY = "score"
_FACTS = ("width", "height", "move_count")
_PURE = {"abs", "bool", "float", "int", "len", "max", "min", "round"}
_ARITHMETIC = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple, ast.Subscript)
_STATEMENTS = (ast.Assign, ast.AugAssign, ast.If, ast.Pass)


@dataclass
class _Written:
    """A function of the module: its definition, its variable that is the game, and its facts."""

    node: ast.FunctionDef
    game: str | None = None
    facts: dict[str, ast.expr] = field(default_factory=dict)


@dataclass(frozen=True)
class _Sum:
    """A loop that adds to a variable what its cells are worth; `is_all` says that it holds nothing but this sum."""

    loop: ast.For
    total: str
    body: list[ast.stmt]
    is_all: bool


def tabulate_cell_sums(module: ast.Module) -> None:
    """Rewrite the sums in a finished module whose entry is `score(game, player, ...)`."""
    written = {part.name: _Written(part) for part in module.body if isinstance(part, ast.FunctionDef)}
    if _ENTRY not in written:
        return
    calls = _calls(written)
    known: set[str] = set()
    for called in reversed(list(written)):  # callers come after what they call
        definition = written[called]
        if called == _ENTRY:
            definition.game = parameters(definition.node)[0]
        elif calls[called] and all(caller in known for caller, _ in calls[called]):
            _learn_from_calls(definition, [(written[caller], call) for caller, call in calls[called]])
        _learn_from_assignments(definition)
        known.add(called)
    for called, definition in written.items():
        _replace(
            module, definition, _lender(definition, [(written[caller], call) for caller, call in calls[called]], known)
        )


def _calls(written: dict[str, _Written]) -> dict[str, list[tuple[str, ast.Call]]]:
    """The calls of each function, with the functions they stand in."""
    calls: dict[str, list[tuple[str, ast.Call]]] = defaultdict(list)
    for caller, definition in written.items():
        for inner in ast.walk(definition.node):
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id in written:
                calls[inner.func.id].append((caller, inner))
    return calls


# --- facts --------------------------------------------------------------------------------------------------------


class _Unknown(Exception):
    """An expression tells more than facts."""


class _Told(ast.NodeTransformer):
    """An expression in terms of `GAME` and constants, if it is a fact."""

    def __init__(self, definition: _Written) -> None:
        self.definition = definition

    def visit(self, node: ast.AST) -> ast.AST:
        """Refuse whatever is not known to be a fact."""
        if isinstance(node, ast.Constant | ast.expr_context | ast.operator | ast.unaryop | ast.boolop | ast.cmpop):
            return node
        if isinstance(node, ast.Name) and node.id in self.definition.facts:
            return copy.deepcopy(self.definition.facts[node.id])
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Call) and not node.keywords:
            return self._call(node)
        if isinstance(node, _ARITHMETIC):
            return self.generic_visit(node)
        raise _Unknown

    def _attribute(self, node: ast.Attribute) -> ast.AST:
        if node.attr in _FACTS and isinstance(node.value, ast.Name) and node.value.id == self.definition.game:
            return ast.Attribute(name(GAME), node.attr, node.ctx)
        if ast.unparse(node).startswith(f"{SUPPORT}.math."):
            return node
        raise _Unknown

    def _call(self, node: ast.Call) -> ast.AST:
        if ast.unparse(node) == f"len({self.definition.game}.get_blank_spaces())":
            return parse_expression(f"len({GAME}.get_blank_spaces())")
        is_pure = isinstance(node.func, ast.Name) and node.func.id in _PURE
        called = node.func if is_pure else self.visit(node.func)
        return ast.Call(called, [self.visit(argument) for argument in node.args], [])  # type: ignore[arg-type,misc]


def _fact_of(definition: _Written, node: ast.expr) -> ast.expr | None:
    """Return the fact that an expression in a function states, if it is one."""
    try:
        fact = _Told(definition).visit(copy.deepcopy(node))
    except _Unknown:
        return None
    assert isinstance(fact, ast.expr)
    return fact


def _learn_from_calls(definition: _Written, calls: list[tuple[_Written, ast.Call]]) -> None:
    """Note which parameter is the game at every call, and which are the same fact."""
    bound = {name for statement in definition.node.body for name in bound_names(statement)}
    for index, parameter in enumerate(parameters(definition.node)):
        given = [(caller, call.args[index]) for caller, call in calls if index < len(call.args)]
        if parameter in bound or len(given) < len(calls):
            continue
        if all(isinstance(value, ast.Name) and value.id == caller.game for caller, value in given):
            definition.game = definition.game or parameter
            continue
        facts = [_fact_of(caller, value) for caller, value in given]
        if facts[0] is not None and len({value and ast.dump(value) for value in facts}) == 1:
            definition.facts[parameter] = facts[0]


def _learn_from_assignments(definition: _Written) -> None:
    bound = _times_bound(definition.node)
    if bound.get(definition.game or "", 0) > 1:
        definition.game = None
    for statement in definition.node.body:
        for variable, value in _assigned(statement):
            fact = _fact_of(definition, value) if bound[variable] == 1 else None
            if fact is not None:
                definition.facts[variable] = fact


def _times_bound(node: ast.FunctionDef) -> dict[str, int]:
    """How often a function binds each of its variables, parameters included."""
    times: dict[str, int] = defaultdict(int)
    for bound in [*parameters(node), *(bound_name for statement in node.body for bound_name in bound_names(statement))]:
        times[bound] += 1
    return times


def _assigned(statement: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The variables that an assignment gives values to, `a, b = 1, 2` among them, with the values."""
    if not isinstance(statement, ast.Assign):
        return
    for variable in statement.targets:
        if isinstance(variable, ast.Name):
            yield variable.id, statement.value
        elif isinstance(variable, ast.Tuple) and isinstance(statement.value, ast.Tuple):
            pairs = zip(variable.elts, statement.value.elts, strict=False)
            yield from ((variable.id, value) for variable, value in pairs if isinstance(variable, ast.Name))


# --- sums ---------------------------------------------------------------------------------------------------------


def _lender(definition: _Written, calls: list[tuple[_Written, ast.Call]], known: set[str]) -> Callable[[], bool]:
    """Return a rewrite that adds the game to a function's arguments if all callers have it; called at most once."""

    def lend() -> bool:
        if definition.game is None and calls and all(caller.game and caller.node.name in known for caller, _ in calls):
            definition.game = GAME
            definition.node.args.args.append(ast.arg(GAME))
            for caller, call in calls:
                call.args.append(name(caller.game or ""))
        return definition.game is not None

    return lend


def _replace(module: ast.Module, definition: _Written, lend: Callable[[], bool]) -> None:
    """Put a call in place of every sum of a function, and what its cells are worth before the function."""

    class Replace(ast.NodeTransformer):
        def visit_For(self, node: ast.For) -> ast.AST:
            loop_sum = _sum(definition, node)
            if loop_sum is None or (term := _term(definition, loop_sum, f"_v_term{len(module.body)}")) is None:
                return self.generic_visit(node)
            reads_game = any(isinstance(inner, ast.Name) and inner.id == GAME for inner in ast.walk(term))
            if reads_game and not lend():
                return node
            module.body.insert(module.body.index(definition.node), term)
            game = name(definition.game) if definition.game else ast.Constant(0)
            given = [self.visit(node.iter), game, name(term.name)]
            if loop_sum.is_all:
                return at(node, ast.AugAssign(target(loop_sum.total), ast.Add(), support("weighed", *given)))
            sum_of_both = support("weighed_onto", name(loop_sum.total), *given)
            return at(node, ast.Assign([target(loop_sum.total)], sum_of_both))

    Replace().visit(definition.node)


def _sum(definition: _Written, loop: ast.For) -> _Sum | None:
    """The sum that a loop is, if it is one: a single variable is added to, at most once for each cell."""
    added = [inner for inner in ast.walk(loop) if isinstance(inner, ast.AugAssign)]
    totals = {inner.target.id for inner in added if isinstance(inner.target, ast.Name)}
    plain = all(isinstance(inner.op, ast.Add | ast.Sub) and isinstance(inner.target, ast.Name) for inner in added)
    iterates = isinstance(loop.iter, ast.Name | ast.Call) and not _is_builtin_call(loop.iter)
    if loop.orelse or len(totals) != 1 or not plain or not iterates or not _are_plain(loop.body):
        return None
    (total,) = totals
    reads = [inner for inner in _names(loop.body) if inner.id == total and isinstance(inner.ctx, ast.Load)]
    stores = [inner for inner in _names(loop.body) if inner.id == total and isinstance(inner.ctx, ast.Store)]
    if (
        reads
        or len(stores) != len(added)
        or _most_additions(loop.body) != 1
        or not _are_own(definition.node, loop, total)
    ):
        return None
    starts = _starts(definition, total)
    if starts is None:
        return None
    everywhere = sum(
        isinstance(inner, ast.AugAssign) and total in bound_names(inner) for inner in ast.walk(definition.node)
    )
    is_all = everywhere == len(added) and starts == [0] and loop in definition.node.body
    return _Sum(loop, total, loop.body, is_all)


def _is_builtin_call(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and hasattr(builtins, node.func.id)


def _are_plain(body: list[ast.stmt]) -> bool:
    """Whether statements only compute: assignments to variables, and what is done under a condition."""
    for statement in body:
        if not isinstance(statement, _STATEMENTS):
            return False
        if isinstance(statement, ast.Assign) and any(
            not isinstance(inner, ast.Name | ast.Tuple | ast.expr_context)
            for variable in statement.targets
            for inner in ast.walk(variable)
        ):
            return False
        if isinstance(statement, ast.If) and not (_are_plain(statement.body) and _are_plain(statement.orelse)):
            return False
    return True


def _most_additions(body: list[ast.stmt]) -> int:
    """How many additions there are at most on a way through statements."""
    return sum(
        max(_most_additions(statement.body), _most_additions(statement.orelse))
        if isinstance(statement, ast.If)
        else isinstance(statement, ast.AugAssign)
        for statement in body
    )


def _names(body: list[ast.stmt]) -> Iterator[ast.Name]:
    return (inner for statement in body for inner in ast.walk(statement) if isinstance(inner, ast.Name))


def _are_own(node: ast.FunctionDef, loop: ast.For, total: str) -> bool:
    """Whether a loop's variables but the total mean nothing outside it, nor in its next round."""
    own = {bound for bound in bound_names(loop) if bound != total}
    if not own <= _given_anew(loop) or own & set(parameters(node)):
        return False
    within = [other for other in ast.walk(loop) if isinstance(other, ast.For)]
    around = [other for other in ast.walk(node) if isinstance(other, ast.For) and loop in ast.walk(other)]
    others = [other for other in ast.walk(node) if isinstance(other, ast.For) and other not in (*within, *around)]
    return all(
        _times_named(node, name)
        == sum(_times_named(each, name) for each in (loop, *others) if name in _given_anew(each))
        for name in own
    )


def _times_named(node: ast.AST, variable: str) -> int:
    return sum(isinstance(inner, ast.Name) and inner.id == variable for inner in ast.walk(node))


def _given_anew(loop: ast.For) -> set[str]:
    """The variables that every round of a loop gives a value, before anything else in it mentions them."""
    given = set(names_in(loop.target))
    mentioned = set(given)
    for statement in loop.body:
        if isinstance(statement, ast.Assign):
            mentioned |= set(names_in(statement.value))
            given |= set(bound_names(statement)) - mentioned
        mentioned |= set(names_in(statement))
    return given


def _starts(definition: _Written, total: str) -> list[float] | None:
    """The numbers that a total starts from; None where it starts from anything else, which might be minus zero."""
    starts: list[float] = []
    for inner in ast.walk(definition.node):
        if not isinstance(inner, ast.Assign) or total not in bound_names(inner):
            continue
        values = [
            fact for variable, value in _assigned(inner) if variable == total and (fact := _fact_of(definition, value))
        ]
        if len(values) != 1 or not isinstance(values[0], ast.Constant):
            return None
        start = values[0].value
        if isinstance(start, bool) or not isinstance(start, int | float):
            return None
        starts.append(start)
    return None if total in parameters(definition.node) or not starts else starts


def _term(written: _Written, loop_sum: _Sum, called: str) -> ast.FunctionDef | None:
    """Return a cell's term of a sum as a function of the game and the cell; None if it depends on more."""
    own = {*names_in(loop_sum.loop.target), *(bound for statement in loop_sum.body for bound in bound_names(statement))}
    is_known = True

    class Fill(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            nonlocal is_known
            if node.id in own or not isinstance(node.ctx, ast.Load) or node.id not in variables:
                return node
            if node.id == written.game:
                return name(GAME)
            is_known = is_known and node.id in written.facts
            return copy.deepcopy(written.facts.get(node.id, node))

    variables = {*parameters(written.node), *(bound for part in written.node.body for bound in bound_names(part))}
    body = [Fill().visit(copy.deepcopy(statement)) for statement in loop_sum.body]
    cell = ast.Assign([copy.deepcopy(loop_sum.loop.target)], name(_CELL))
    start = ast.Assign([target(loop_sum.total)], ast.Constant(0))
    made = function(called, [GAME, _CELL], [cell, start, *body, ast.Return(name(loop_sum.total))])
    made.decorator_list = [parse_expression(f"{SUPPORT}.term")]
    return at(loop_sum.loop, made) if is_known and not _asks_for_more(made) else None


def _asks_for_more(term: ast.FunctionDef) -> bool:
    """Whether a term asks the game itself for more than its size and its blank cells."""
    return any(
        isinstance(inner, ast.Attribute)
        and isinstance(inner.value, ast.Name)
        and inner.value.id == GAME
        and inner.attr not in (*_FACTS, "get_blank_spaces")
        for inner in ast.walk(term)
    )
