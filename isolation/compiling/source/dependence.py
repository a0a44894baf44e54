"""What a value depends on: parameters, facts of the position such as the blank cells, chance, time, changed globals."""

from __future__ import annotations

import ast
import dis
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from ...rules.parameters import unpartial
from ...usercode.function_source import Definition, bound_names, changed_name, codes_in, definition, taken
from ..compile_errors import CHANCE_AND_TIME, CompileError
from .scopes import Kind, as_callee

Fact = str | tuple[str, object]
"""`width`, `blank`, ("at", player): where that player stands, ("is", player): which one it is, ("name", parameter)."""
EVERYTHING: Fact = "everything"
SIZE = {"width", "height"}
Player = tuple[str, bool]
"""A parameter that holds a player, and whether their opponent is meant."""
Roles = Mapping[str, Player | None]
"""The parameters that hold a player; None for one that holds the game."""
_DEEPEST = 6


def roles_of(kinds: Mapping[str, Kind]) -> Roles:
    """Return the roles of a function's parameters of these kinds."""
    return {name: None if kind == "game" else (name, False) for name, kind in kinds.items()}


@dataclass
class Key:
    """What the key of a dictionary determines."""

    facts: set[Fact] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    expressions: set[str] = field(default_factory=set)


class Dependence:
    """What values depend on at one statement of a function.

    Whatever is not certain counts as a dependence on everything. `used` are the statements that the values seen so
    far were computed by.
    """

    def __init__(self, target: FunctionType, node: Definition, roles: Roles, place: ast.stmt | None = None) -> None:
        self.target, self.node, self.roles = target, node, roles
        self.key = Key()
        self.used: list[ast.stmt] = []
        self.depth = 0
        self.seen: set[str] = set()
        self.parents = {child: parent for parent in ast.walk(node) for child in ast.iter_child_nodes(parent)}
        self.around = list(self._above(place)) if place is not None else []
        self.binders: dict[str, list[ast.stmt]] = {}
        for inner in ast.walk(node):
            if isinstance(inner, ast.stmt) and inner is not node:
                for called in _bound_by(inner):
                    self.binders.setdefault(called, []).append(inner)

    def of(self, node: ast.AST) -> set[Fact]:
        """Return what an expression or statement depends on, apart from what the key determines."""
        if isinstance(node, ast.expr) and ast.dump(node) in self.key.expressions:
            return set()
        match node:
            case ast.Name(called, ast.Load()):
                return self._of_name(called)
            case ast.Attribute(ast.Name(owner), "width" | "height" as side) if self._is_game(owner):
                return self._unless_known(side)
            case ast.Call(ast.Attribute(ast.Name(owner), method), given, []) if self._is_game(owner):
                return self._of_method(method, given) - self.key.facts
            case ast.Call(ast.Name(called), given, []) if any(map(self._has_role, given)):
                return self._of_helper(called, given) - self.key.facts
        return {fact for child in ast.iter_child_nodes(node) for fact in self.of(child)}

    def determined_by(self, key: ast.expr) -> Key | None:
        """Return what is known where a key is; None if a variable in it changes."""
        if not self._keeps_its_value(key):
            return None
        found = Key()
        self._cover(key, found)
        return found

    def player(self, node: ast.AST) -> Player | None:
        """Return the player that an expression stands for."""
        match node:
            case ast.Name(called) if called in self.roles:
                return self.roles[called] if self._is_constant(called) else None
            case ast.Name(called) if (value := self._only_value(called)) is not None:
                return self.player(value)
            case ast.Call(ast.Attribute(ast.Name(owner), "get_opponent"), [asked], []) if self._is_game(owner):
                player = self.player(asked)
                return None if player is None else (player[0], not player[1])
        return None

    def _unless_known(self, fact: Fact) -> set[Fact]:
        return set() if fact in self.key.facts else {fact}

    def _of_name(self, called: str) -> set[Fact]:
        if self._is_game(called):
            return {EVERYTHING}
        if player := self.player(ast.Name(called, ast.Load())):
            return self._unless_known(("is", player))
        if called in self.key.names or called in self.seen:
            return set()
        if called in self.target.__code__.co_freevars:
            return {EVERYTHING}
        self.seen.add(called)
        own: set[Fact] = {("name", called)} if called in taken(self.node) else set()
        facts = own.union(*(self._of_binder(called, binder) for binder in self.binders.get(called, [])))
        self.seen.discard(called)
        return facts

    def _of_binder(self, called: str, binder: ast.stmt) -> set[Fact]:
        """What a variable depends on by a statement that gives it a value, or changes what it holds."""
        if binder in self.around:
            return {("name", called)}
        chain = [binder, *self._above(binder)]
        outermost = next(one for one, above in pairwise(chain) if above in (*self.around, self.node))
        loops = [loop for loop in self.around if isinstance(loop, ast.For | ast.While) and loop in chain]
        if loops and not (outermost is binder and isinstance(binder, ast.Assign) and len(self.binders[called]) == 1):
            return {EVERYTHING}
        assert isinstance(outermost, ast.stmt)
        if outermost not in self.used:
            self.used.append(outermost)
        return self.of(outermost)

    def _of_method(self, method: str, given: list[ast.expr]) -> set[Fact]:
        player = self.player(given[0]) if len(given) == 1 else None
        if method == "get_blank_spaces" and not given:
            return {"blank"}
        if method == "move_is_legal" and len(given) == 1:
            return {"blank", *self.of(given[0])}
        if method == "get_legal_moves" and player:
            return {"blank", ("at", player)}
        if method == "get_player_location" and player:
            return {("at", player)}
        if method == "get_opponent" and player:
            return {("is", (player[0], not player[1]))}
        return {EVERYTHING}

    def _of_helper(self, called: str, given: list[ast.expr]) -> set[Fact]:
        """What a function of the user's depends on that is given the game or a player."""
        callee = None if called in self.binders else as_callee(self.target.__globals__.get(called))
        if callee is None or not isinstance(callee.target, FunctionType) or callee.defaults or self.depth > _DEEPEST:
            return {EVERYTHING}
        node = definition(callee.target)
        wanted = taken(node)
        if len(given) > len(wanted) or node.args.vararg:
            return {EVERYTHING}
        roles: dict[str, Player | None] = {}
        facts: set[Fact] = set()
        for parameter, argument in zip(wanted, given, strict=False):
            if self._has_role(argument):
                roles[parameter] = self.player(argument)
            else:
                facts |= self.of(argument)
        inside = Dependence(callee.target, node, roles)
        inside.depth = self.depth + 1
        inside.key.names = {*wanted, *inside.binders} - roles.keys()
        if any(not inside._is_constant(parameter) for parameter in roles):
            return {EVERYTHING}
        body = node.body if isinstance(node.body, list) else [node.body]
        return facts | {fact for part in body for fact in inside.of(part)}

    def _cover(self, node: ast.expr, found: Key) -> None:
        if isinstance(node, ast.Name) and self._is_game(node.id):
            return
        if self._keeps_its_value(node):
            found.expressions.add(ast.dump(node))
        elif not isinstance(node, ast.Tuple):
            return
        match node:
            case ast.Tuple(parts) if not any(isinstance(part, ast.Starred) for part in parts):
                for part in parts:
                    self._cover(part, found)
            case ast.Name(called):
                if player := self.player(node):
                    found.facts.add(("is", player))
                else:
                    found.names.add(called)
                    if (value := self._only_value(called)) is not None and self._is_at_hand(called):
                        self._cover(value, found)
            case ast.Call(ast.Name("tuple" | "list"), [items], []):
                self._cover(items, found)
            case ast.Call(ast.Name("frozenset" | "sorted"), [items], []):
                if isinstance(items, ast.Name):
                    items = self._only_value(items.id) or items
                found.facts |= self.of(items) & {"blank"} if isinstance(items, ast.Call) else set()
            case ast.Attribute(ast.Name(owner), "width" | "height" as side) if self._is_game(owner):
                found.facts.add(side)
            case ast.Call(ast.Attribute(ast.Name(owner), "get_blank_spaces" | "get_player_location"), _, []):
                found.facts |= self.of(node) if self._is_game(owner) else set()

    def _only_value(self, called: str) -> ast.expr | None:
        """The value of a variable that is given one in one statement."""
        if not self._is_constant(called) or called in taken(self.node):
            return None
        match self.binders.get(called):
            case [ast.Assign([ast.Name()], value)]:
                return value
            case [ast.Assign([ast.Tuple(places)], ast.Tuple(values))] if len(places) == len(values):
                for place, value in zip(places, values, strict=True):
                    if isinstance(place, ast.Name) and place.id == called:
                        return value
        return None

    def _keeps_its_value(self, node: ast.expr) -> bool:
        """Whether no variable in an expression is given another value."""
        return all(self._is_constant(inner.id) for inner in ast.walk(node) if isinstance(inner, ast.Name))

    def _is_at_hand(self, called: str) -> bool:
        """Whether a variable is given its value in every round of the loops around the statement."""
        return all(self.parents[binder] in (*self.around, self.node) for binder in self.binders.get(called, []))

    def _is_constant(self, called: str) -> bool:
        return len(self.binders.get(called, [])) + (called in taken(self.node)) <= 1

    def _is_game(self, called: str) -> bool:
        return called in self.roles and self.roles[called] is None and self._is_constant(called)

    def _has_role(self, node: ast.expr) -> bool:
        return (isinstance(node, ast.Name) and self._is_game(node.id)) or self.player(node) is not None

    def _above(self, node: ast.AST) -> Iterator[ast.AST]:
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent


def _bound_by(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement gives a value itself, or whose lists, sets and dictionaries it changes."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
        return
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.stmt):
            continue
        yield from bound_names(child)
        for inner in _expressions_in(child):
            if called := changed_name(inner):
                yield called


def _expressions_in(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt):
            yield from _expressions_in(child)


def facts_or_everything(dependence: Dependence, node: ast.AST) -> set[Fact]:
    """Return what an expression depends on; everything where a definition is not found."""
    try:
        return dependence.of(node)
    except CompileError:
        return {EVERYTHING}


_CHANGES = ("STORE_GLOBAL", "DELETE_GLOBAL")
_MOST_FUNCTIONS = 300


def unrepeatable_code(heuristic: Any) -> str:
    """Return the first thing in a heuristic's functions that depends on more than the position."""
    seen: set[int] = set()
    waiting = [heuristic]
    while waiting and len(seen) < _MOST_FUNCTIONS:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        for function in _functions(value):
            for code in codes_in(function.__code__):
                if why := _in_instructions(code, function):
                    return why
                waiting += [known for name in code.co_names if _is_own(known := function.__globals__.get(name))]
            cells = function.__closure__ or ()
            waiting += [cell.cell_contents for cell in cells if _is_filled(cell) and _is_own(cell.cell_contents)]
    return ""


def _in_instructions(code: CodeType, function: FunctionType) -> str:
    known = [value for name in code.co_names if (value := function.__globals__.get(name)) is not None]
    imported = [i.argval for i in dis.get_instructions(code) if i.opname == "IMPORT_NAME"]
    modules = [value for value in known if isinstance(value, ModuleType)]
    inside = [getattr(module, name, None) for module in modules for name in code.co_names]
    known += [value for value in inside if isinstance(value, ModuleType)]
    for name in [*imported, *(_home(value) for value in known)]:
        for module, on_what in CHANCE_AND_TIME.items():
            if name == module or name.startswith(f"{module}."):
                return f"it uses {module}, so its value depends on {on_what}"
    changed = [i.argval for i in dis.get_instructions(code) if i.opname in _CHANGES]
    return f"it changes {changed[0]}, which outlives the call" if changed else ""


def _home(value: Any) -> str:
    """The module that a value is, or that a function or the class of an object comes from."""
    if isinstance(value, ModuleType):
        return value.__name__
    if isinstance(getattr(value, "__self__", None), ModuleType) or isinstance(value, FunctionType | type):
        home = getattr(value, "__module__", None)
    else:  # an object, or a method of one, such as `random.random`
        home = type(getattr(value, "__self__", value)).__module__
    home = home if isinstance(home, str) else ""
    return "numpy.random" if home.startswith("numpy.random") else home


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _is_own(value: Any) -> bool:
    """Whether a value is the user's code, not that of Python or of a package."""
    home = getattr(value if isinstance(value, type | FunctionType) else type(value), "__module__", "") or ""
    return isinstance(home, str) and (home.startswith("knights_isolation.user_") or home == "__main__")


def _functions(value: Any) -> Iterator[FunctionType]:
    value = unpartial(value)
    while hasattr(value, "__wrapped__"):
        value = value.__wrapped__
    if isinstance(value, MethodType):
        value = value.__func__
    if isinstance(value, FunctionType):
        yield value
        return
    kind = value if isinstance(value, type) else type(value)
    yield from (member for member in vars(kind).values() if isinstance(member, FunctionType))
