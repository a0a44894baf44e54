"""Functions of plain statements and one loop: written out where they are called, so that two can be done together.

Such a function takes a game and players only, and what a call gives it are variables, and what the game tells of them.
So it makes no difference that its statements come before all else that the calling statement does.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from isolation.compiling.rewrites.loops.set_dataflow import bound, read, times_named
from isolation.compiling.source.function_source import parameters
from isolation.compiling.source.rewrite import at, name, target

_ASKS_FOR_PLAYERS = {"get_legal_moves", "get_opponent", "get_player_location", "is_loser", "is_winner", "utility"}
_SCOPES = (ast.Lambda, ast.FunctionDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr)


@dataclass(frozen=True)
class Helper:
    """A function that is written out where it is called, and its parameter that is the game."""

    node: ast.FunctionDef
    game: str


def as_helper(written: ast.FunctionDef, helpers: Mapping[str, Helper], fresh: Iterator[int]) -> Helper | None:
    """A function, with what it calls written out in it, if that is plain statements, one loop and then a result."""
    if not any(isinstance(inner, ast.While) or function_called(inner) in helpers for inner in ast.walk(written)):
        return None
    written = copy.deepcopy(written)
    write_out(written, written.body, helpers, fresh)
    *body, last = written.body
    loops = [one for one in body if isinstance(one, ast.While)]
    is_plain = all(isinstance(one, ast.Assign | ast.AugAssign | ast.While) for one in body)
    returns = [inner for inner in ast.walk(written) if isinstance(inner, ast.Return)]
    has_result = isinstance(last, ast.Return) and last.value is not None and returns == [last]
    if len(loops) != 1 or not is_plain or not has_result or has_scopes(written):
        return None
    game = _game(written)
    return Helper(written, game) if _takes_players(written, game) else None


def _game(written: ast.FunctionDef) -> str:
    """The parameter that a function asks, as one asks a game; none if there is not just one."""
    asked = {
        inner.func.value.id
        for inner in ast.walk(written)
        if isinstance(inner, ast.Call)
        and isinstance(inner.func, ast.Attribute)
        and isinstance(inner.func.value, ast.Name)
    }
    games = [parameter for parameter in parameters(written) if parameter in asked]
    return games[0] if len(games) == 1 else ""


def _takes_players(written: ast.FunctionDef, game: str) -> bool:
    """Whether a function takes nothing but a game, and players, whom it does nothing with but ask the game for."""
    given = written.args
    asked = [
        ast.unparse(argument)
        for inner in ast.walk(written)
        if isinstance(inner, ast.Call) and ast.unparse(inner.func) in {f"{game}.{one}" for one in _ASKS_FOR_PLAYERS}
        for argument in inner.args
    ]
    players = [parameter for parameter in parameters(written) if parameter != game]
    return (
        game in parameters(written)
        and not (given.defaults or given.kwonlyargs or given.vararg or given.kwarg)
        and not set(parameters(written)) & bound(written.body)
        and all(asked.count(player) == times_named(written, player) for player in players)
    )


def function_called(node: ast.AST) -> str:
    """The name of the function that a node calls, if it is a call and the function has a name."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def has_scopes(node: ast.AST) -> bool:
    """Whether names in parts of a node mean something else than in the rest, or are bound by expressions."""
    return any(isinstance(inner, _SCOPES) for inner in ast.walk(node) if inner is not node)


def write_out(
    caller: ast.FunctionDef, block: list[ast.stmt], helpers: Mapping[str, Helper], fresh: Iterator[int]
) -> None:
    """Write helpers out before the statements of a block of a function that call them, whatever else these evaluate."""
    own = bound(caller.body) | set(parameters(caller))
    written: list[ast.stmt] = []
    for statement in block:
        if isinstance(statement, ast.Assign | ast.AugAssign | ast.Return) and not has_scopes(statement):
            results: dict[int, str] = {}
            for called in _always_evaluated(statement.value):
                helper = helpers.get(function_called(called))
                if helper is not None and _gives_players(called, helper) and not own & _foreign(helper):
                    results[id(called)] = f"_v_result_{next(fresh)}"
                    written += [at(called, one) for one in _written_out(called, helper, results[id(called)], fresh)]
            statement = _Put(results).visit(statement)
        written.append(statement)
    block[:] = written


class _Put(ast.NodeTransformer):
    """Puts variables in place of calls."""

    def __init__(self, results: Mapping[int, str]) -> None:
        self.results = results

    def visit_Call(self, node: ast.Call) -> ast.AST:
        return at(node, name(self.results[id(node)])) if id(node) in self.results else self.generic_visit(node)


def _always_evaluated(node: ast.AST | None) -> Iterator[ast.Call]:
    """The calls in an expression that are evaluated whatever its other parts are, one after another."""
    if isinstance(node, ast.Call):
        yield node
    if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Call | ast.Tuple):
        for inner in ast.iter_child_nodes(node):
            yield from _always_evaluated(inner)


def _gives_players(called: ast.Call, helper: Helper) -> bool:
    """Whether a call gives a variable for the game, and for players what any statement before could tell as well."""
    taken = parameters(helper.node)
    if len(called.args) != len(taken):
        return False
    game, players = called.args[taken.index(helper.game)], [inner for arg in called.args for inner in ast.walk(arg)]
    return isinstance(game, ast.Name) and all(
        isinstance(inner, ast.Name | ast.Attribute | ast.expr_context)
        or (isinstance(inner, ast.Call) and ast.unparse(inner.func) == f"{game.id}.get_opponent")
        for inner in players
    )


def _foreign(helper: Helper) -> set[str]:
    """The names that a helper does not give their meaning."""
    return read(helper.node) - bound(helper.node.body) - set(parameters(helper.node))


def _written_out(called: ast.Call, helper: Helper, result: str, fresh: Iterator[int]) -> list[ast.stmt]:
    """The statements of a helper for one call, its variables under names of their own, and what gives its result."""
    given = dict(zip(parameters(helper.node), called.args, strict=True))
    names = {one: renamed(one, fresh) for one in sorted({*bound(helper.node.body), *given})}
    names |= {one: value.id for one, value in given.items() if isinstance(value, ast.Name)}
    taken = [ast.Assign([target(names[one])], value) for one, value in given.items() if not isinstance(value, ast.Name)]
    body = copy.deepcopy(helper.node.body)
    rename(body, names)
    *body, last = body
    assert isinstance(last, ast.Return)
    assert last.value is not None
    return [*taken, *body, ast.Assign([target(result)], last.value)]


def renamed(variable: str, fresh: Iterator[int]) -> str:
    """A name that is used nowhere else."""
    return f"_v_{variable.removeprefix('_v_')}_{next(fresh)}"


def rename(body: Sequence[ast.AST], names: Mapping[str, str]) -> None:
    """Give variables other names."""
    for node in body:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name):
                inner.id = names.get(inner.id, inner.id)
