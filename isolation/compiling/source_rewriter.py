"""Rewrite a heuristic into the source of a module that numba compiles.

The module holds everything the function refers to: helpers, constants, the functions inside it; see `rewrites` for what
is rewritten. The rewrites look at the source only: nothing runs, nothing is compiled.
"""

from __future__ import annotations

import ast
import copy
import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from types import FunctionType
from typing import Any

from ..rules.net import Net
from ..rules.parameters import Parameter, base_function, opened, owners
from ..rules.third_edition import StateHeuristic
from ..usercode.function_source import Definition, definition, parameters, taken
from ..usercode.parsing import parse, parse_expression
from ..usercode.user_exceptions import format_exception, to_one_line
from . import FUNCTIONS_REMEMBERED
from .compile_errors import CompileError, explain_line, explain_result, instead_of_call, line_reached, refuse
from .rewrites import constants
from .rewrites.arithmetic import LowerNumerics, check, count_rounds
from .rewrites.choices import LowerChoices
from .rewrites.classic_api import LowerClassicApi, LowerStates
from .rewrites.containers import LowerContainers, LowerCounters, SplitDictionaries
from .rewrites.element_types import PromoteInts, TypeEmptyContainers, UseOneKind
from .rewrites.guesses import GuessElements
from .rewrites.idioms import LowerIdioms, LowerPartials, ResolveAliases, lower_walrus
from .rewrites.loops.cell_sums import tabulate_cell_sums
from .rewrites.loops.comprehensions import LowerComprehensions
from .rewrites.loops.unrolling import Unroll
from .rewrites.memos import LowerMemos
from .rewrites.name_resolution import ResolveNames
from .rewrites.nones import LowerNoneChecks, LowerNoneInTuples, LowerOptional
from .rewrites.objects import LowerNonlocals, LowerObjects, LowerRecords
from .rewrites.representations import HoldBoardSets, KeepLists, KeepSets, OrderSets
from .rewrites.sequences import LowerGenerators, LowerIterators, LowerTexts, LowerUnpacking
from .rewrites.simplification import CleanUp, EvaluateConstants, Fold, LargeResults, Prune
from .rewrites.tables import Literals, LowerRaggedTables, SizeTables, read_from_arrays
from .source.dependence import unrepeatable_code
from .source.rewrite import FunctionContext, Rewrite, at, call, function, name, statements
from .source.scopes import SUPPORT, Callee, Kind, Nested, Scope, as_callee, scope_of, variables_read
from .source.stand_ins import is_of_library, is_stand_in

__all__ = ["CompileError", "Rewritten", "rewrite"]

_RESERVED = re.compile(rf"_[hcpvt]\d+_|_v_|{SUPPORT}")
_MOST_FUNCTIONS = 300
ATTEMPTS = 4
"""How often a heuristic is rewritten until it compiles: at first as it stands, then with what may help."""
_WITH_FRACTIONS, _WITH_ONE_KIND = (1, 3), (2, 3)
"""The attempts in which whole numbers in lists become fractions, and variables hold one kind of collection."""
Slots = Mapping[int, Mapping[str, str]]
"""By the id of a function, the variables that hold its parameters, by the names of its arguments."""
NO_SLOTS: Slots = {}
Size = tuple[int, int]


@dataclass(frozen=True)
class Rewritten:
    """The source of a module and the name of its function of (game, player), and of the parameters, one after another.

    `plain` is the source before sums were written as tables. `lines` gives for a line of the
    source the line of the user's file it comes from.
    """

    source: str
    plain: str
    entry: str
    lines: dict[int, int]
    parameters: tuple[Parameter, ...]

    @property
    def code(self) -> str:
        """The plain source with a first line of its own, which identifies the heuristic whatever compiles it.

        The module's own first line says where this engine keeps what modules import; the one here never changes, since
        logs hold hashes of it.
        """
        _, _, below = self.plain.partition("\n")
        return f"from isolation.rewrites import support as {SUPPORT}\n{below}"

    def explain(self, error: Exception) -> tuple[str, int | None]:
        """Put what numba says against the module in plain words, with the line of the source it speaks of."""
        reason, line = explain_line(str(error))
        if (failed := line_reached(error)) is not None:
            line = failed
            reason = "this line does what compiled code does not support: write it in smaller steps, with loops"
        last = self.source[: self.source.rindex(f"def {self.entry}(")].count("\n") + 1
        if line is not None and line >= last:
            reason = explain_result(str(error)) or reason
        return reason, line

    def written_at(self, line: int | None) -> int | None:
        """The line of the user's file that a line of the source comes from, if any does."""
        known = [own for own in self.lines if line is not None and own <= line]
        return self.lines[max(known)] if known else None


def rewrite(heuristic: Callable[[Any, Any], float], attempt: int = 0, size: Size | None = None) -> Rewritten:
    """Write a module for a heuristic: a function, or a composite, which has `phases`.

    Args:
        attempt: below `ATTEMPTS`; from 1 on with what may help one that does not compile or is wrong without.
        size: the rows and columns of the board, where the module is for one size: tables that the heuristic remembers
            for a size become constants, for which its functions are run.

    Raises:
        CompileError: what it does that compiled code cannot, and the line; also if a rewrite fails, whatever on.
    """
    heuristic = base_function(heuristic)
    try:
        return _remembered(heuristic, attempt, size)
    except TypeError:  # no hash, as objects of most dataclasses
        return _written(heuristic, attempt, size)


@lru_cache(maxsize=FUNCTIONS_REMEMBERED)
def _remembered(heuristic: Callable[[Any, Any], float], attempt: int, size: Size | None) -> Rewritten:
    return _written(heuristic, attempt, size)


def _written(heuristic: Callable[[Any, Any], float], attempt: int, size: Size | None) -> Rewritten:
    try:
        return _rewrite(heuristic, attempt, size)
    except CompileError as error:
        with suppress(Exception):
            return _rewrite(heuristic, attempt, size, prunes=True)
        raise error
    except Exception as error:  # whatever people write, the heuristic runs at least interpreted
        raise CompileError(
            f"it cannot be translated for compilation ({format_exception(error)})", _line_reached(error)
        ) from error


def _line_reached(error: Exception) -> int | None:
    """The line that was being rewritten: that of the innermost syntax node which what failed had in hand."""
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        for value in frame.f_locals.values():
            if isinstance(value, ast.AST) and hasattr(value, "lineno"):
                return int(value.lineno)
    return None


def _rewrite(
    heuristic: Callable[[Any, Any], float], attempt: int, size: Size | None, prunes: bool = False
) -> Rewritten:
    module = _Module(attempt, prunes, size)
    slots, parameters = _slots(heuristic)
    value = module.evaluate(heuristic, "the heuristic", slots)
    body = statements(f"return {SUPPORT}.number(VALUE)", VALUE=value)
    if size is not None and module.is_of_size:
        other = f"if game.height != {size[0]} or game.width != {size[1]}:\n    raise ValueError('another size')"
        body = [*statements(other), *body]
    callee = as_callee(heuristic)
    origin = definition(callee.target) if callee and isinstance(callee.target, FunctionType) else ast.Pass()
    module.add(at(origin, function("score", ["game", "player", *_variables(slots)], body)))
    return module.finish("score", parameters)


def nondeterminism_reason(heuristic: Any) -> str:
    """Why a heuristic may say something else of the same position later; empty if nothing in its code says so.

    What compiles cannot: it knows neither chance nor time, and keeps nothing between calls. Of other code, the
    functions it reaches are looked through; what they call in other packages is taken to be repeatable.
    """
    heuristic = base_function(heuristic)
    try:
        return _why_unrepeatable(heuristic)
    except TypeError:  # no hash, as objects of most dataclasses
        return _find(heuristic)


@lru_cache(maxsize=FUNCTIONS_REMEMBERED)
def _why_unrepeatable(heuristic: Any) -> str:
    return _find(heuristic)


def _find(heuristic: Any) -> str:
    try:
        rewrite(heuristic)
    except CompileError as error:
        return error.reason if error.is_unrepeatable else unrepeatable_code(heuristic)
    return ""


def _slots(heuristic: Any) -> tuple[Slots, tuple[Parameter, ...]]:
    """The variables that hold the parameters of what a heuristic is made of, and these parameters."""
    slots: dict[int, Mapping[str, str]] = {}
    parameters: list[Parameter] = []
    for part, own in owners(heuristic):
        slots[id(part)] = {name: f"_p{len(parameters) + at}_{name}" for at, name in enumerate(own)}
        parameters += own.values()
    return slots, tuple(parameters)


def _variables(slots: Slots) -> list[str]:
    return [variable for own in slots.values() for variable in own.values()]


@dataclass
class _Module:
    """The module being written; `attempt`, `size`: see `rewrite`; `prunes`: code that never runs is left out."""

    attempt: int = 0
    prunes: bool = False
    size: Size | None = None
    is_of_size: bool = False
    is_of_states: bool = False
    entries: set[int] = field(default_factory=set)
    parts: list[ast.stmt] = field(default_factory=list)
    names: dict[Any, str] = field(default_factory=dict)
    library: set[str] = field(default_factory=set)
    kept: list[Any] = field(default_factory=list)  # what is known by its id must stay alive
    flat: dict[int, constants.Table | None] = field(default_factory=dict)
    counter: Iterator[int] = field(default_factory=lambda: count(1))

    def add(self, part: ast.stmt) -> None:
        if isinstance(part, ast.FunctionDef):
            part.decorator_list = [parse_expression(f"{SUPPORT}.jit")]
        self.parts.append(part)

    def finish(self, entry: str, parameters: tuple[Parameter, ...]) -> Rewritten:
        imports = parse(f"from knights_isolation.isolation.native.runtime import runtime_library as {SUPPORT}").body
        tree = ast.fix_missing_locations(ast.Module([*imports, *self.parts], []))
        lower_walrus(tree)
        plain = ast.unparse(tree) + "\n"
        tabulate_cell_sums(tree)
        check(tree, widens=self.attempt > 0)
        read_from_arrays(tree)
        count_rounds(tree, entry, self.library)
        source = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        lines: dict[int, int] = {}
        _match_lines(parse(source), tree, lines)
        return Rewritten(source, plain, entry, lines, parameters)

    def evaluate(self, heuristic: Any, what: str, slots: Slots) -> ast.expr:
        """Write a heuristic and return its call on `game`, `player` and what it has of the slots."""
        heuristic = opened(heuristic)
        if hasattr(heuristic, "phases"):
            given = [name(variable) for variable in ("game", "player", *_variables(slots))]
            return call(name(self.composite(heuristic, ast.Pass(), slots)), *given)
        if isinstance(heuristic, StateHeuristic):
            return self._of_state(heuristic, slots.get(id(heuristic), {}))
        if isinstance(heuristic, Net):
            return self._asked("NET(game, player)", {"NET": heuristic}, {}, ast.Pass())
        callee = as_callee(heuristic)
        if callee is None:
            raise CompileError(f"{what} is {_described(heuristic)}, not a plain function")
        self.entries.add(id(_checked(callee)))
        own = slots.get(id(heuristic), {})
        return self._asked(f"HEURISTIC(game, player{_keywords(own)})", {"HEURISTIC": callee}, own, _checked(callee))

    def _of_state(self, heuristic: StateHeuristic, own: Mapping[str, str]) -> ast.expr:
        """Write a heuristic of the third edition for either player, and return its call on the state of `game`."""
        self.is_of_states = True
        given = f"({SUPPORT}.as_state(game){_keywords(own)})"
        known = dict(zip(("FIRST", "SECOND"), map(as_callee, heuristic.of_players), strict=True))
        asked = f"FIRST{given} if player == 0 else SECOND{given}"
        return self._asked(asked, known, own, definition(heuristic.__wrapped__))

    def _asked(self, question: str, known: dict[str, Any], own: Mapping[str, str], origin: ast.AST) -> ast.expr:
        """Write what an expression calls that knows `game`, `player` and the variables of parameters; return it."""
        asked = at(origin, parse_expression(question))
        kinds: dict[str, Kind] = {"game": "game", "player": "player"}
        scope = Scope({*kinds, *own.values()}, lambda name, node: None, known, kinds, {})
        written = ResolveNames(FunctionContext(scope, self.counter), self).visit(asked)
        assert isinstance(written, ast.expr)
        return written

    def helper(self, callee: Callee, given: dict[str, Any], kinds: dict[str, Kind], node: ast.AST) -> str:
        """Write a function with some parameters known; once for what is the same."""
        target = callee.target
        original = target.node if not isinstance(target, FunctionType) else definition(target)
        key = (
            id(original),
            id(target) if isinstance(target, FunctionType) else id(target.scope),
            tuple((parameter, _identity(value)) for parameter, value in given.items()),
            tuple(kinds.items()),
        )
        if key in self.names:
            return self.names[key]
        self.kept += [original, target, *given.values()]
        if isinstance(target, FunctionType):
            _check_names(original)
        called = original.name if isinstance(original, ast.FunctionDef) else "lambda"
        new = self.names[key] = self._fresh("h", called)
        if len(self.names) > _MOST_FUNCTIONS:
            refuse(f"{called} is called with too many different argument types", original)
        written = copy.deepcopy(original)
        if not is_of_library(target):
            self.add(self._write(new, callee, written, given, dict(kinds)))
            return new
        self.library.add(new)
        _move_to_line(written, node)
        try:
            self.add(self._write(new, callee, written, given, dict(kinds)))
        except CompileError as error:
            if is_stand_in(target):
                raise
            advice = instead_of_call(called)
            reason = f"it calls {target.__module__}.{called}, which compiled code does not support: {advice}"
            raise CompileError(reason, error.line) from error
        return new

    def _write(
        self, new: str, callee: Callee, node: Definition, given: dict[str, Any], kinds: dict[str, Kind]
    ) -> ast.FunctionDef:
        wanted = [parameter for parameter in taken(node) if parameter not in given]
        is_entry = isinstance(callee.target, FunctionType) and id(definition(callee.target)) in self.entries
        context = FunctionContext(
            scope_of(callee.target, node, {}, kinds), self.counter, self.is_of_states, self.attempt
        )
        hidden: list[str] = []
        for parameter, value in given.items():
            if isinstance(value, Callee):
                own = tuple(context.fresh(read) for read in variables_read(value))
                hidden += own
                given = {**given, parameter: Callee(value.target, own, value.defaults)}
        context.scope.names.update(hidden)
        body: list[ast.stmt] = node.body if isinstance(node.body, list) else [at(node.body, ast.Return(node.body))]
        written = at(node, function(new, [*wanted, *hidden, *variables_read(Callee(callee.target))], body))
        self._write_memos(callee.target, context, given, written)
        passes = (
            LowerObjects(context),
            LowerGenerators(context),
            LowerNonlocals(context),
            ResolveAliases(context),
            LowerPartials(context),
            *(
                [Prune(context), Fold(context, given), Prune(context), CleanUp(context)]
                if self.prunes
                else [CleanUp(context), Fold(context, given)]
            ),
            LowerIdioms(context),
            LowerIterators(context),
            *([EvaluateConstants(context)] if self.attempt or self.prunes else []),
            *([LargeResults(context)] if self.attempt and is_entry else []),
            LowerCounters(context),
            *([SplitDictionaries(context)] if self.attempt else []),
            LowerRecords(context),
            LowerTexts(context),
            LowerUnpacking(context),
            Unroll(context),
            LowerChoices(context),
            LowerClassicApi(context),
            LowerStates(context),
            Literals(context),
            LowerRaggedTables(context),
            LowerContainers(context),
            OrderSets(context),
            *self._by_attempt(context),
            TypeEmptyContainers(context),
            LowerNumerics(context),
            LowerComprehensions(context),
            ResolveNames(context, self),
        )
        for rewriting in passes:
            rewriting.apply(written)
        return written

    def _write_memos(
        self, target: FunctionType | Nested, context: FunctionContext, given: dict[str, Any], node: ast.FunctionDef
    ) -> None:
        """Compute anew what a function remembers, or once for the board's size."""
        if not isinstance(target, FunctionType) or is_of_library(target):
            return
        memos = LowerMemos(context, target, given)
        memos.apply(node)
        if self.size is not None:
            SizeTables(context, target, memos.values, self.size, self._note_size).apply(node)

    def _note_size(self) -> None:
        self.is_of_size = True

    def _by_attempt(self, context: FunctionContext) -> list[Rewrite]:
        """The rewrites of collections and of None, of which each attempt has others."""
        if self.attempt == 0:
            return [HoldBoardSets(context)]
        passes: list[Rewrite] = [KeepSets(context), KeepLists(context), LowerNoneInTuples(context)]
        passes += [LowerNoneChecks(context), LowerOptional(context)]
        is_of_one_kind = self.attempt in _WITH_ONE_KIND
        passes += [UseOneKind(context)] if is_of_one_kind else []
        passes += [PromoteInts(context, self.attempt == ATTEMPTS - 1)] if self.attempt in _WITH_FRACTIONS else []
        return [*passes, *([GuessElements(context)] if is_of_one_kind else [])]

    def composite(self, composite: Any, node: ast.AST, slots: Slots = NO_SLOTS) -> str:
        """Write a composite as one function: the end judged once, then the phase's weighted sum.

        It takes (game, player) and all slots, from which it and its parts have their parameters; without slots, as
        where a function calls it, these are at their defaults.
        """
        key = ("composite", id(composite), bool(slots))
        if key in self.names:
            return self.names[key]
        self.kept.append(composite)
        own = slots.get(id(composite), {})
        new = self.names[key] = self._fresh("h", "composite")
        lines = ["over = game.utility(player)", "if over:", "    return over", "cells = game.width * game.height"]
        lines += ["filled = (cells - len(game.get_blank_spaces())) / cells"]
        for until, parts in composite.phases:
            last = until == composite.phases[-1][0]
            lines += ["if True:" if last else f"if filled < {float(until)!r}:", "    total = 0.0"]
            for weight, part in parts:
                value = ast.unparse(self.evaluate(part, "a part of the composite", slots))
                weighed = own.get(getattr(weight, "name", ""), repr(float(weight)))
                lines.append(f"    total += {weighed} * {value}")
            lines.append("    return total")
        self.add(at(node, function(new, ["game", "player", *_variables(slots)], statements("\n".join(lines)))))
        return new

    def constant(self, value: ast.expr, what: str) -> str:
        """Write a module-level constant; once for what is the same."""
        key = ast.unparse(value)
        if key not in self.names:
            self.names[key] = self._fresh("c", what)
            self.add(ast.Assign([ast.Name(self.names[key], ast.Store())], value))
        return self.names[key]

    def flattened(self, value: constants.Table) -> constants.Table | None:
        """Return a dictionary of dictionaries as one by pairs of keys, the same one for the same; None for others."""
        if id(value) not in self.flat:
            self.kept.append(value)
            self.flat[id(value)] = constants.flattened(value)
        return self.flat[id(value)]

    def table(self, value: constants.Table, node: ast.AST, what: str) -> str:
        """Write the look-up functions of a dictionary; once for what is the same."""
        key = ("table", id(value))
        if key not in self.names:
            self.kept.append(value)
            prefix = self.names[key] = self._fresh("c", what)
            written = constants.lookup(value, node, what)
            own = {name for part in written for name in _defined(part)}
            for part in written:
                for inner in ast.walk(part):
                    if isinstance(inner, ast.Name) and inner.id in own:
                        inner.id = f"{prefix}_{inner.id}"
                    elif isinstance(inner, ast.FunctionDef):
                        inner.name = f"{prefix}_{inner.name}"
                self.parts.append(part)
        return self.names[key]

    def _fresh(self, kind: str, what: str) -> str:
        return f"_{kind}{next(self.counter)}_{re.sub(r'[^A-Za-z0-9_]', '_', what)[:40]}"


def _keywords(own: Mapping[str, str]) -> str:
    """Parameters as keyword arguments of a call: each with the variable that holds it."""
    return "".join(f", {parameter}={variable}" for parameter, variable in own.items())


def _checked(callee: Callee) -> Definition:
    """Return the definition of a heuristic, which takes (game, player)."""
    assert isinstance(callee.target, FunctionType)
    node = definition(callee.target)
    called = node.name if isinstance(node, ast.FunctionDef) else "lambda"
    if node.args.vararg or node.args.kwarg:
        signature = ast.unparse(node.args)
        refuse(
            f"what is called is {called}({signature}), perhaps a decorator's: it takes any number of arguments", node
        )
    if len([parameter for parameter in parameters(node) if parameter not in callee.defaults]) < 2:
        refuse(f"{called} does not take (game, player)", node)
    return node


def _described(value: object) -> str:
    called = to_one_line(getattr(value, "__name__", ""))
    return f"{called}, " * bool(called) + f"an object of the class {type(value).__name__}"


def _match_lines(new: ast.AST, old: ast.AST, lines: dict[int, int]) -> None:
    """Note which line of the source each line of what was written came from."""
    if type(new) is not type(old):
        return
    if isinstance(new, ast.stmt) and getattr(old, "lineno", 1) > 1:
        lines.setdefault(new.lineno, old.lineno)  # type: ignore[attr-defined]
    for child, other in zip(ast.iter_child_nodes(new), ast.iter_child_nodes(old), strict=False):
        _match_lines(child, other, lines)


def _defined(part: ast.stmt) -> list[str]:
    if isinstance(part, ast.FunctionDef):
        return [part.name]
    assert isinstance(part, ast.Assign)
    return [target.id for target in part.targets if isinstance(target, ast.Name)]


def _move_to_line(definition: ast.AST, node: ast.AST) -> None:
    """Say of all that a function consists of that it is written in the line that calls it."""
    for inner in ast.walk(definition):
        if "lineno" in inner._attributes:
            ast.copy_location(inner, node)


def _identity(value: Any) -> Any:
    """Return what tells one known argument from another."""
    if isinstance(value, Callee):
        target = value.target
        return ("function", id(target if isinstance(target, FunctionType) else target.node), len(value.reads or ()))
    if value is None or isinstance(value, bool | int | float | str):
        return (type(value), value)
    return id(value)


def _check_names(node: ast.AST) -> None:
    """Refuse names that could be taken for those of the generated module."""
    for inner in ast.walk(node):
        for written in (getattr(inner, "id", ""), getattr(inner, "arg", ""), getattr(inner, "name", "")):
            if isinstance(written, str) and _RESERVED.match(written):
                refuse(f"the name {written} is reserved in compiled code", inner)
