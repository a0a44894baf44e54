"""Operators, comparisons, truth, attributes and elements of all values."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import FunctionType, MethodType
from typing import Any

from ..rules.classic_board import Board
from ..usercode.function_source import changes_itself, is_users
from . import library
from .board import attribute_of_game, cells_of, has_cell, is_empty, on_board
from .conversions import convert
from .flow import Flow
from .iteration import each, items_of, length
from .kinds import in_memory, join
from .memory import append, as_table, element_at, length_of, set_element
from .numbers import (
    OPERATORS,
    SYMBOLS,
    arithmetic,
    as_bit,
    choice,
    compare_numbers,
    is_numeric,
    lifted,
    look_up,
    static,
    tabulated,
    to_int,
    truth_of_number,
)
from .values import (
    BOOL,
    INT,
    Bound,
    Cell,
    Cells,
    Choice,
    Entries,
    Fields,
    Frozen,
    Game,
    Held,
    Items,
    ListInMemory,
    Number,
    Optional,
    Player,
    Pointer,
    Reference,
    Signal,
    Static,
    Text,
    Tuple,
    UnsupportedError,
    Value,
    is_number,
    of_kind,
    parts_of,
    signals_of,
    truth,
    whole,
)


def run_python(flow: Flow, function: Callable[..., Any], *arguments: Any) -> Value:
    """What a pure function gives for known objects; its exception is raised where the code would call it."""
    try:
        return Static(function(*arguments))
    except Exception as error:
        flow.fail(type(error))
        return Static(None)


def is_list(value: Value) -> bool:
    """Return whether content is that of a list."""
    return isinstance(value, Items | ListInMemory) or (isinstance(value, Cells) and value.order != "set")


# --- truth


def truth_of(flow: Flow, value: Value) -> Signal | Static:
    """Whether a value is true: one bit, or a static truth value."""
    if flow.is_dead:
        return Static(False)
    value = flow.content(value)
    if isinstance(value, Static):
        return Static(bool(value.value))
    if isinstance(value, Number):
        return truth_of_number(flow, value)
    if isinstance(value, Cells):
        return flow.build.not_(is_empty(flow, on_board(flow, value).signal))
    if isinstance(value, ListInMemory):
        return flow.build.icmp_signed("!=", length_of(flow, value).signal, whole(0))
    if isinstance(value, Choice):
        known = lifted(flow, bool, value)
        return known if isinstance(known, Static) else _bit(flow, known)
    if isinstance(value, Optional):
        return flow.build.and_(flow.build.not_(value.signal), as_bit(truth_of(flow, value.value)))
    if isinstance(value, Tuple | Items | Entries):
        return Static(bool(value.items))
    if isinstance(value, Fields):
        for name in ("__bool__", "__len__"):
            if hasattr(value.owner, name):
                found = flow.operations.call(flow, Static(getattr(value.owner, name)), [value], {}, "truth")
                return truth_of(flow, found)
    return Static(True)


def _bit(flow: Flow, value: Value | None) -> Signal:
    if not isinstance(value, Choice):
        raise UnsupportedError("the truth of such a choice")
    return flow.build.trunc(look_up(flow, [int(option) for option in value.values], value.signal, INT), BOOL)


def as_value(bit: Signal | Static) -> Value:
    """A truth value as a value."""
    return bit if isinstance(bit, Static) else Number("bool", bit, 0, 1)


def negation(flow: Flow, bit: Signal | Static) -> Signal | Static:
    """The opposite of a truth value."""
    return Static(not bit.value) if isinstance(bit, Static) else flow.build.not_(bit)


# --- comparisons

_EQUALITIES = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)


def compare(flow: Flow, operation: type[ast.AST], left: Value, right: Value) -> Value:
    """What a comparison gives."""
    if flow.is_dead:
        return Static(None)
    if operation in (ast.In, ast.NotIn):
        found = contains(flow, right, left)
        return found if operation is ast.In else as_value(negation(flow, truth_of(flow, found)))
    if operation in (ast.Is, ast.IsNot) and isinstance(left, Reference) and isinstance(right, Reference):
        return Static((left == right) == (operation is ast.Is))
    if (
        operation in (ast.Is, ast.IsNot)
        and isinstance(left, Pointer | Reference)
        and isinstance(right, Pointer | Reference)
    ):
        ends = [value if isinstance(value, Pointer) else flow.operations.point(flow, value) for value in (left, right)]
        same = flow.build.icmp_unsigned("==", ends[0].signal, ends[1].signal)
        return as_value(same if operation is ast.Is else flow.build.not_(same))
    if isinstance(left, Text) or isinstance(right, Text):
        return _compare_texts(flow, operation, left, right)
    if isinstance(left, Frozen) or isinstance(right, Frozen):
        lists = [_as_list(flow, value) for value in (left, right)]
        if None not in lists:
            return _compare_lists(flow, operation, *lists)  # type: ignore[arg-type]
        return _of_different_types(flow, operation)
    left, right = flow.content(left), flow.content(right)
    if isinstance(left, Static) and isinstance(right, Static):
        return run_python(flow, OPERATORS[operation], left.value, right.value)
    for one, other in ((left, right), (right, left)):
        if isinstance(other, Static) and other.value is None:
            return _compare_with_none(flow, operation, one)
    if isinstance(left, Optional) or isinstance(right, Optional):
        return _compare_optional(flow, operation, left, right)
    if isinstance(left, Player) or isinstance(right, Player):
        if isinstance(left, Player) and isinstance(right, Player) and operation in _EQUALITIES:
            same = flow.build.icmp_signed("==", left.signal, right.signal)
            return as_value(same if operation in (ast.Eq, ast.Is) else flow.build.not_(same))
        return _of_different_types(flow, operation)
    if is_numeric(left) and is_numeric(right):
        return compare_numbers(flow, operation, left, right)
    return _compare_others(flow, operation, left, right)


def _compare_others(flow: Flow, operation: type[ast.AST], left: Value, right: Value) -> Value:
    known = lifted(flow, OPERATORS[operation], left, right)
    if known is not None:
        return known
    if isinstance(left, Choice) and isinstance(right, Choice):
        return _compare_choices(flow, operation, left, right)
    if isinstance(left, Cell) and isinstance(right, Cell) and operation in _EQUALITIES:
        same = flow.build.icmp_signed("==", left.signal, right.signal)
        return as_value(same if operation in (ast.Eq, ast.Is) else flow.build.not_(same))
    if isinstance(left, Cells) and isinstance(right, Cells):
        return _compare_cells(flow, operation, left, right)
    first, second = _sequence(flow, left), _sequence(flow, right)
    if first is not None and second is not None and is_list(left) == is_list(right):
        return _compare_items(flow, operation, first, second)
    if is_list(left) and is_list(right):
        return _compare_lists(flow, operation, left, right)
    mirrored = _MIRRORED.get(operation, operation)
    for one, other, name in ((left, right, _COMPARISONS.get(operation)), (right, left, _COMPARISONS.get(mirrored))):
        if isinstance(one, Fields) and name and _has_own(one.owner, name):
            return flow.operations.call(flow, Static(vars(one.owner)[name]), [one, other], {}, "compare")
    if isinstance(left, Fields) or isinstance(right, Fields):
        raise UnsupportedError("a comparison of objects")
    return _of_different_types(flow, operation)


def _compare_choices(flow: Flow, operation: type[ast.AST], left: Choice, right: Choice) -> Value:
    """A comparison of what is chosen by two numbers, by the places of both among all options."""
    both = [*left.values, *right.values]
    known: list[Any] = []
    for option in both:
        if not any(option is other or option == other for other in known):
            known.append(option)
    if operation not in _EQUALITIES:
        try:
            known.sort()
        except TypeError:
            raise UnsupportedError("a comparison of objects") from None
    places = [
        look_up(flow, [known.index(option) for option in value.values], value.signal, INT) for value in (left, right)
    ]
    return as_value(flow.build.icmp_signed(SYMBOLS[operation], *places))


_COMPARISONS: dict[Any, str] = {
    ast.Eq: "__eq__", ast.NotEq: "__ne__", ast.Lt: "__lt__", ast.LtE: "__le__", ast.Gt: "__gt__", ast.GtE: "__ge__",
}  # fmt: skip
_MIRRORED: dict[Any, Any] = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}


def _has_own(owner: type, name: str) -> bool:
    return isinstance(vars(owner).get(name), FunctionType) and vars(owner)[name].__code__.co_filename != "<string>"


def _compare_texts(flow: Flow, operation: type[ast.AST], left: Value, right: Value) -> Value:
    lists: list[Value] = []
    for value in (left, right):
        if isinstance(value, Text):
            lists.append(value.value)
        elif isinstance(value, Static) and isinstance(value.value, str):
            lists.append(flow.new(Items(tuple(map(Static, value.value)))))
        else:
            raise UnsupportedError("a comparison of a text that is made while the code runs")
    return _compare_lists(flow, operation, *lists)


def _as_list(flow: Flow, value: Value) -> Value | None:
    """The items of a tuple as a list; None if the value is no tuple."""
    if isinstance(value, Frozen):
        return value.value
    items = _sequence(flow, value) if not isinstance(value, Reference | Pointer) else None
    return flow.new(Items(tuple(items))) if items is not None else None


def _compare_lists(flow: Flow, operation: type[ast.AST], left: Value, right: Value) -> Value:
    if operation in (ast.Lt, ast.LtE, ast.Gt, ast.GtE):
        first, second = (left, right) if operation in (ast.Lt, ast.LtE) else (right, left)
        given = [first, second, Static(operation in (ast.LtE, ast.GtE))]
        return flow.operations.call(flow, Static(library.comes_first), given, {}, "compare")
    same = flow.operations.call(flow, Static(library.are_equal), [left, right], {}, "compare")
    return same if operation in (ast.Eq, ast.Is) else as_value(negation(flow, truth_of(flow, same)))


def _of_different_types(flow: Flow, operation: type[ast.AST]) -> Value:
    if operation in _EQUALITIES:
        return Static(operation in (ast.NotEq, ast.IsNot))
    flow.fail(TypeError)
    return Static(None)


def _sequence(flow: Flow, value: Value) -> list[Value] | None:
    """The items of a tuple or list of known length."""
    is_sequence = isinstance(value, Tuple | Items | Cell)
    is_sequence |= isinstance(value, Static) and isinstance(value.value, tuple | list)
    is_sequence |= isinstance(value, Choice) and all(isinstance(option, tuple) for option in value.values)
    return items_of(flow, value) if is_sequence else None


def _compare_with_none(flow: Flow, operation: type[ast.AST], value: Value) -> Value:
    if operation not in _EQUALITIES:
        flow.fail(TypeError)
        return Static(None)
    wants_none = operation in (ast.Eq, ast.Is)
    if isinstance(value, Optional):
        return as_value(value.signal if wants_none else flow.build.not_(value.signal))
    known = lifted(flow, lambda option: (option is None) == wants_none, value)
    return known if known is not None else Static(not wants_none)


def _compare_optional(flow: Flow, operation: type[ast.AST], left: Value, right: Value) -> Value:
    nones = [value.signal if isinstance(value, Optional) else truth(False) for value in (left, right)]
    values = [value.value if isinstance(value, Optional) else value for value in (left, right)]
    if operation not in _EQUALITIES:
        for none in nones:
            flow.fail_if(none, TypeError)
        return compare(flow, operation, *values)
    equal = as_bit(truth_of(flow, compare(flow, ast.Eq, *values)))
    build = flow.build
    both, neither = build.and_(*nones), build.not_(build.or_(*nones))
    same = build.or_(both, build.and_(neither, equal))
    return as_value(same if operation in (ast.Eq, ast.Is) else build.not_(same))


def _compare_cells(flow: Flow, operation: type[ast.AST], left: Cells, right: Cells) -> Value:
    left, right = on_board(flow, left), on_board(flow, right)
    build = flow.build
    if "any" in (left.order, right.order) and left.order != right.order:
        flow.demand_order()
    if operation in (ast.Eq, ast.NotEq):
        if left.order != right.order and "set" in (left.order, right.order):
            return Static(operation is ast.NotEq)
        same = build.icmp_unsigned("==", left.signal, right.signal)
        return as_value(same if operation is ast.Eq else build.not_(same))
    if left.order == right.order == "set":
        inner, outer = (left, right) if operation in (ast.Lt, ast.LtE) else (right, left)
        is_part = is_empty(flow, build.and_(inner.signal, build.not_(outer.signal)))
        if operation in (ast.Lt, ast.Gt):
            is_part = build.and_(is_part, build.icmp_unsigned("!=", inner.signal, outer.signal))
        return as_value(is_part)
    raise UnsupportedError("such a comparison of sets of cells")


def _compare_items(flow: Flow, operation: type[ast.AST], first: list[Value], second: list[Value]) -> Value:
    if operation in _EQUALITIES:
        if len(first) != len(second):
            return Static(operation in (ast.NotEq, ast.IsNot))
        same = _all_equal(flow, first, second)
        return as_value(same if operation in (ast.Eq, ast.Is) else negation(flow, same))
    strict = ast.Lt if operation in (ast.Lt, ast.LtE) else ast.Gt
    shorter_wins = len(first) < len(second) if strict is ast.Lt else len(first) > len(second)
    result: Signal = truth(shorter_wins or (len(first) == len(second) and operation in (ast.LtE, ast.GtE)))
    for one, other in reversed(list(zip(first, second, strict=False))):
        equal = as_bit(truth_of(flow, compare(flow, ast.Eq, one, other)))
        ahead = as_bit(truth_of(flow, compare(flow, strict, one, other)))
        result = flow.build.or_(ahead, flow.build.and_(equal, result))
    return as_value(result)


def _all_equal(flow: Flow, first: list[Value], second: list[Value]) -> Signal | Static:
    bits = [truth_of(flow, compare(flow, ast.Eq, one, other)) for one, other in zip(first, second, strict=True)]
    if any(isinstance(bit, Static) and not bit.value for bit in bits):
        return Static(False)
    unknown = [bit for bit in bits if not isinstance(bit, Static)]
    result: Signal | Static = Static(True)
    for bit in unknown:
        result = bit if isinstance(result, Static) else flow.build.and_(result, bit)
    return result


def contains(flow: Flow, container: Value, value: Value) -> Value:
    """What `in` gives."""
    if flow.is_dead:
        return Static(None)
    content = flow.content(container)
    if isinstance(content, Static) and isinstance(value, Static):
        return run_python(flow, lambda: value.value in content.value)
    if isinstance(content, Optional):
        flow.fail_if(content.signal, TypeError)
        return contains(flow, content.value, value)
    if isinstance(content, Cells):
        if isinstance(value, Static) and not isinstance(value.value, tuple):
            return Static(False)
        return has_cell(flow, content, value)
    if isinstance(content, Static):
        known = lifted(flow, lambda option: option in content.value, value)
        if known is not None:
            return known
        is_container = isinstance(content.value, set | frozenset | list | tuple | dict)
        cells = cells_of(flow, Static(list(content.value))) if is_container else None
        if cells is not None and isinstance(value, Cell | Tuple):
            return has_cell(flow, cells, value)
    if isinstance(content, Fields):
        return flow.operations.call(flow, Bound(container, "__contains__"), [value], {}, "in")
    items = list(content.keys) if isinstance(content, Entries) else _members(flow, content)
    if items is not None:
        bits = [truth_of(flow, compare(flow, ast.Eq, item, value)) for item in items]
        return as_value(_any(flow, bits))
    if isinstance(content, ListInMemory):
        return _is_element(flow, container, value)
    raise UnsupportedError("`in` what is no container")


def _members(flow: Flow, content: Value) -> list[Value] | None:
    if isinstance(content, Static) and isinstance(content.value, set | frozenset):
        return list(map(Static, content.value))
    return items_of(flow, content)


def _any(flow: Flow, bits: Sequence[Signal | Static]) -> Signal | Static:
    if any(isinstance(bit, Static) and bit.value for bit in bits):
        return Static(True)
    result: Signal | Static = Static(False)
    for bit in bits:
        if not isinstance(bit, Static):
            result = bit if isinstance(result, Static) else flow.build.or_(result, bit)
    return result


def _is_element(flow: Flow, container: Value, value: Value) -> Value:
    return flow.operations.call(flow, Static(library.is_element), [container, value], {}, "in")


# --- operators


def binary(flow: Flow, operation: type[ast.AST], left: Value, right: Value, is_in_place: bool = False) -> Value:
    """What a binary operator gives; in place, a list is extended and a set changed."""
    if flow.is_dead:
        return Static(None)
    if operation is ast.Add and isinstance(left, Text) and isinstance(right, Text):
        return Text(binary(flow, operation, left.value, right.value))
    a, b = flow.content(left), flow.content(right)
    if isinstance(a, Static) and isinstance(b, Static):
        return run_python(flow, OPERATORS[operation], a.value, b.value)
    if isinstance(a, Cells) and operation in _OF_SETS:
        return _combine_sets(flow, operation, left, a, right, is_in_place)
    if isinstance(a, Fields):
        name = _SPECIAL[operation]
        in_place = f"__i{name[2:]}"
        is_there = is_in_place and hasattr(a.owner, in_place)
        return flow.operations.call(flow, Bound(left, in_place if is_there else name), [right], {}, ("operator", name))
    if isinstance(b, Fields) and hasattr(b.owner, f"__r{_SPECIAL[operation][2:]}"):
        name = f"__r{_SPECIAL[operation][2:]}"
        return flow.operations.call(flow, Bound(right, name), [left], {}, ("operator", name))
    if operation is ast.Add and (isinstance(a, Tuple | Cell) or isinstance(b, Tuple | Cell)):
        first, second = items_of(flow, a), items_of(flow, b)
        if first is not None and second is not None:
            return Tuple((*first, *second))
    if operation is ast.Add and is_list(a) and (is_list(b) or is_in_place):
        return _concatenate(flow, left, right, is_in_place)
    if operation is ast.Mult and isinstance(a, Items) and isinstance(b, Static) and not is_in_place:
        return flow.new(Items(a.items * b.value))
    if operation is ast.Mult and (is_list(a) or is_list(b)) and not is_in_place:
        given = [a, b] if is_list(a) else [b, a]
        return flow.operations.call(flow, Static(library.repeated), given, {}, "repeated")
    if operation is ast.Mult and isinstance(a, Tuple) and isinstance(b, Static) and isinstance(b.value, int):
        return Tuple(a.items * b.value)
    known = lifted(flow, OPERATORS[operation], a, b)
    if known is not None:
        return known
    if is_numeric(a) and is_numeric(b):
        return arithmetic(flow, operation, a, b)
    if operation is ast.Mod and isinstance(a, Static) and isinstance(a.value, str):
        values = list(b.items) if isinstance(b, Tuple) else [b]
        known = tabulated(flow, lambda *given: a.value % given, *values)
    elif isinstance(a, Static | Choice) or isinstance(b, Static | Choice):
        known = tabulated(flow, OPERATORS[operation], a, b)
    if known is not None:
        return known
    raise UnsupportedError("an operator on such values")


_SPECIAL: dict[Any, str] = {
    ast.Add: "__add__", ast.Sub: "__sub__", ast.Mult: "__mul__", ast.Div: "__truediv__", ast.FloorDiv: "__floordiv__",
    ast.Mod: "__mod__", ast.Pow: "__pow__", ast.BitAnd: "__and__", ast.BitOr: "__or__", ast.BitXor: "__xor__",
    ast.LShift: "__lshift__", ast.RShift: "__rshift__",
}  # fmt: skip
_OF_SETS = (ast.BitAnd, ast.BitOr, ast.Sub, ast.BitXor)


def _combine_sets(
    flow: Flow, operation: type[ast.AST], left: Value, a: Cells, right: Value, is_in_place: bool
) -> Value:
    other = cells_of(flow, right)
    is_set = a.order == "set"
    if is_set and isinstance(flow.content(right), Fields):
        flow.demand_order()
    if other is None or (is_set != (other.order == "set")):
        raise UnsupportedError("an operator on a set of cells and something else")
    build = flow.build
    masks: dict[Any, Callable[[], Signal]] = {
        ast.BitAnd: lambda: build.and_(a.signal, other.signal),
        ast.BitOr: lambda: build.or_(a.signal, other.signal),
        ast.Sub: lambda: build.and_(a.signal, build.not_(other.signal)),
        ast.BitXor: lambda: build.xor(a.signal, other.signal),
    }
    mask = masks[operation]()
    if not is_set:
        return Cells(mask, a.order)
    made = Cells(mask, "set", _outside(flow, operation, a.outside, other.outside))
    if is_in_place:
        flow.change(left, made)
        return left
    return flow.new(made)


def _outside(flow: Flow, operation: type[ast.AST], first: Signal, second: Signal) -> Signal:
    """Whether what an operator makes of two sets may hold what is no cell."""
    if operation is ast.Sub:
        return first
    if first is None or second is None:
        return None if operation is ast.BitAnd else first or second
    return flow.build.and_(first, second) if operation is ast.BitAnd else flow.build.or_(first, second)


def _concatenate(flow: Flow, left: Value, right: Value, is_in_place: bool) -> Value:
    result = left if is_in_place else flow.new(Items(()))
    if isinstance(result, Reference):
        with flow.holding(result):
            for addend in (right,) if is_in_place else (left, right):
                extend(flow, result, addend, (flow.path, id(flow.node), addend is right))
        return result
    raise UnsupportedError("a list of moves that grows")


def extend(flow: Flow, target: Value, items: Value, key: Any) -> None:
    """Add all items of an iterable to a list."""
    known = items_of(flow, items) if not isinstance(flow.content(items), Cells) else None
    content = flow.content(target)
    if isinstance(content, Items) and known is not None:
        flow.change(target, Items((*content.items, *known)))
    else:
        each(flow, items, lambda item: add_to_list(flow, target, item), ("extend", key))


def add_to_list(flow: Flow, target: Value, item: Value) -> None:
    """Add an item to a list."""
    if flow.is_dead:
        return
    content = flow.content(target)
    if isinstance(content, Items):
        flow.change(target, Items((*content.items, item)))
    elif isinstance(content, ListInMemory):
        append(flow, content, item)
    else:
        add_to_list(flow, in_memory_list(flow, target), item)


def in_memory_list(flow: Flow, target: Value) -> Value:
    """A list, which lies in memory from here on.

    Raises:
        UnsupportedError: it is no list, or one that the function did not make.
    """
    if not isinstance(target, Reference) or not is_list(flow.content(target)):
        raise UnsupportedError("a list of moves that is changed")
    return flow.operations.point(flow, target)


# --- attributes


def attribute(flow: Flow, value: Value, name: str) -> Value:
    """What `value.name` gives."""
    if flow.is_dead:
        return Static(None)
    if isinstance(value, Optional):
        flow.fail_if(value.signal, AttributeError)
        return attribute(flow, value.value, name)
    if isinstance(value, Game):
        return attribute_of_game(flow, value, name)
    if isinstance(value, Static):
        return _attribute_of_object(flow, value, name)
    content = flow.content(value)
    if isinstance(content, Choice) and all(isinstance(option, Static) for option in content.options):
        found = lifted(flow, lambda option: getattr(option, name), content)
        if found is not None and not all(_is_builtin_method(option) for option in getattr(found, "values", ())):
            return found
    if isinstance(content, Tuple) and content.named is not None and name in content.named._fields:  # type: ignore[attr-defined]
        return content.items[content.named._fields.index(name)]  # type: ignore[attr-defined]
    if isinstance(content, Fields) and name in content.names:
        return content.items[content.names.index(name)]
    if isinstance(content, Fields | Tuple):
        owner = content.owner if isinstance(content, Fields) else content.named
        found = getattr(owner, name, None)
        if isinstance(found, property | functools.cached_property):
            getter = found.fget if isinstance(found, property) else found.func
            return flow.operations.call(flow, Static(getter), [value], {}, ("property", name))
        if owner is not None and found is not None and not callable(found):
            return Static(found)
    return Bound(value, name)


def _is_builtin_method(value: Any) -> bool:
    return callable(value) and not isinstance(value, FunctionType | MethodType)


def _attribute_of_object(flow: Flow, value: Static, name: str) -> Value:
    kind = type(value.value)
    if is_users(kind) and not issubclass(kind, type | tuple) and changes_itself(kind):
        raise UnsupportedError(
            f"it asks an object of {kind.__name__}, which changes between calls", is_unrepeatable=True
        )
    try:
        found = getattr(value.value, name)
    except AttributeError:
        flow.fail(AttributeError)
        return Static(None)
    is_method = (
        callable(found) and getattr(found, "__self__", None) is value.value and not isinstance(value.value, type)
    )
    return Bound(value, name) if is_method and not hasattr(value.value, "__name__") else static(flow, found)


_BOARD = Board(1, 2)


def has_attribute(flow: Flow, value: Value, name: str) -> bool:
    """What `hasattr` gives."""
    if isinstance(value, Game):
        return hasattr(_BOARD, name)
    content = flow.content(value)
    if isinstance(content, Static):
        return hasattr(content.value, name)
    if isinstance(content, Fields):
        return name in content.names or hasattr(content.owner, name)
    raise UnsupportedError("hasattr of such a value")


def set_attribute(flow: Flow, value: Value, name: str, item: Value) -> None:
    """Carry out `value.name = item`."""
    content = flow.content(value)
    if not isinstance(content, Fields):
        raise UnsupportedError("an attribute of such an object is set")
    fields = dict(zip(content.names, content.items, strict=True)) | {name: item}
    flow.change(value, Fields(content.owner, tuple(fields), tuple(fields.values())))


# --- elements


def valid_index(flow: Flow, index: Value, count: Value) -> Signal:
    """An index from 0 to below a count; Python's negative indices, and IndexError for others."""
    total = to_int(flow, count)
    given = to_int(flow, index)
    signal = given.signal
    if given.low < 0:
        from_end = flow.build.add(signal, total.signal)
        signal = flow.build.select(flow.build.icmp_signed("<", signal, whole(0)), from_end, signal)
    if not 0 <= given.low <= given.high < total.low:
        flow.fail_if(flow.build.icmp_unsigned(">=", signal, total.signal), IndexError)
    return signal


def element(flow: Flow, value: Value, index: Value) -> Value:
    """What `value[index]` gives."""
    if flow.is_dead:
        return Static(None)
    if isinstance(value, Optional):
        flow.fail_if(value.signal, TypeError)
        return element(flow, value.value, index)
    content = flow.content(value)
    if isinstance(index, Tuple) and index.named is slice:
        part = _slice(flow, content, index)
        return replace(value, value=part) if isinstance(value, Text | Frozen) else part
    if isinstance(content, Static):
        if isinstance(index, Static):
            return run_python(flow, lambda: content.value[index.value])
        return _element_of_object(flow, content, index)
    if isinstance(content, Entries):
        return entry(flow, content, index, None)
    if isinstance(content, Fields):
        return flow.operations.call(flow, Bound(value, "__getitem__"), [index], {}, "element")
    if isinstance(content, Cells):
        return _cell_at(flow, content, index)
    if isinstance(content, ListInMemory):
        return element_at(flow, content, valid_index(flow, index, length_of(flow, content)))
    known = lifted(flow, lambda option, place: option[place], content, index)
    if known is not None:
        return known
    items = items_of(flow, content)
    if items is None:
        raise UnsupportedError("an element of what has none")
    return _item_at(flow, items, index)


def _element_of_object(flow: Flow, content: Static, index: Value) -> Value:
    known = lifted(flow, lambda place: content.value[place], index)
    if known is not None:
        return known
    if isinstance(content.value, dict):
        found = by_cell(flow, content.value, index, None)
        if found is not None:
            return found
        entries = Entries(tuple(map(Static, content.value)), tuple(map(Static, content.value.values())))
        return entry(flow, entries, index, None)
    items = items_of(flow, content)
    if items is None:
        raise UnsupportedError("an element of such an object")
    return _item_at(flow, items, index)


def by_cell(flow: Flow, table: dict[Any, Any], key: Value, default: Value | None) -> Value | None:
    """What a dictionary holds for a cell or one of several objects; None if the key is no such, or unlike values."""
    if isinstance(key, Cell):
        options: list[Any] = [divmod(cell, flow.columns) for cell in range(flow.rows * flow.columns)]
    elif isinstance(key, Choice):
        options = key.values
    else:
        return None
    try:
        held = [option in table for option in options]
        if not any(held) or (not all(held) and default is not None and not isinstance(default, Static)):
            return None
    except TypeError:
        return None
    if not all(held) and default is None:
        found = look_up(flow, [int(is_held) for is_held in held], key.signal, INT)
        flow.fail_if(flow.build.icmp_signed("==", found, whole(0)), KeyError)
    other = default.value if isinstance(default, Static) else next(iter(table.values()))
    return choice(flow, key.signal, [table.get(option, other) for option in options])


def _item_at(flow: Flow, items: list[Value], index: Value) -> Value:
    """An item of a sequence of known length."""
    if isinstance(index, Static):
        return run_python_on(flow, items, index.value)
    if not items:
        flow.fail(IndexError)
        return Static(None)
    place = valid_index(flow, index, Static(len(items)))
    if all(isinstance(item, Static) for item in items):
        return choice(flow, place, [item.value for item in items])  # type: ignore[attr-defined]
    return selected(
        flow, [flow.build.icmp_signed("==", place, whole(number)) for number in range(len(items) - 1)], items
    )


def run_python_on(flow: Flow, items: list[Value], index: Any) -> Value:
    """The item of a list of values at an index."""
    try:
        return items[index]  # type: ignore[no-any-return]
    except (IndexError, TypeError) as error:
        flow.fail(type(error))
        return Static(None)


def selected(flow: Flow, conditions: Sequence[Signal], items: Sequence[Value]) -> Value:
    """The first item whose condition holds, the last if none does."""
    kind = flow.deep_kind(items[0], flow.here())
    for item in items[1:]:
        kind = join(kind, flow.deep_kind(item, flow.here()))
    if any(isinstance(part, Held) for part in parts_of(kind)):
        kind = in_memory(kind)  # one of several objects, not a copy of it
    columns = [signals_of(convert(flow, item, kind)) for item in items]
    result = columns[-1]
    for condition, signals in zip(reversed(conditions), reversed(columns[:-1]), strict=True):
        result = [flow.build.select(condition, one, other) for one, other in zip(signals, result, strict=True)]
    return flow.settled(of_kind(kind, iter(result)))


def entry(flow: Flow, content: Entries, key: Value, default: Value | None) -> Value:
    """The value of a key of a dictionary whose keys are known; without a default, KeyError if it is none."""
    if isinstance(key, Static):
        if key in content.keys:
            return content.items[content.keys.index(key)]
        if default is None:
            flow.fail(KeyError)
            return Static(None)
        return default
    conditions = [as_bit(truth_of(flow, compare(flow, ast.Eq, key, known))) for known in content.keys]
    if not conditions:
        if default is None:
            flow.fail(KeyError)
            return Static(None)
        return default
    if all(isinstance(item, Static) and is_number(item.value) for item in content.items) and isinstance(key, Choice):
        known = lifted(
            flow,
            lambda option: dict(zip([k.value for k in content.keys], [i.value for i in content.items], strict=True))[  # type: ignore[attr-defined]
                option
            ],
            key,
        )
        if known is not None:
            return known
    if default is None:
        found = as_bit(_any(flow, conditions))
        flow.fail_if(flow.build.not_(found), KeyError)
        return selected(flow, conditions[:-1], content.items)
    return selected(flow, conditions, [*content.items, default])


def _cell_at(flow: Flow, cells: Cells, index: Value) -> Value:
    if cells.order == "any":
        flow.demand_order()
    if cells.order == "set":
        flow.fail(TypeError)
        return Static(None)
    place = valid_index(flow, index, length(flow, cells))
    if cells.order == "column":
        raise UnsupportedError("an index of blank spaces")
    return _nth(flow, cells.signal, place)


def _nth(flow: Flow, mask: Signal, place: Signal) -> Value:
    """The cell of a bitboard before which so many are; it has so many."""
    found = flow.operations.call(
        flow, Static(library.nth), [Cells(mask, "row"), Number("int", place, 0, 63)], {}, "nth"
    )
    return found.value if isinstance(found, Optional) else found


def _slice(flow: Flow, content: Value, index: Tuple) -> Value:
    items = items_of(flow, content) if not isinstance(content, Cells | ListInMemory) else None
    if items is not None and all(isinstance(part, Static) for part in index.items):
        taken = items[slice(*(part.value for part in index.items))]  # type: ignore[attr-defined]
        is_tuple = isinstance(content, Tuple | Cell) or isinstance(getattr(content, "value", None), tuple)
        if isinstance(content, Static) and isinstance(content.value, str):
            return Static("".join(item.value for item in taken))  # type: ignore[attr-defined]
        return Tuple(tuple(taken)) if is_tuple else flow.new(Items(tuple(taken)))
    low, high, step = index.items
    if isinstance(step, Static) and type(step.value) is int and step.value > 1:
        return flow.operations.call(
            flow, Static(library.strided), [content, low, high, step], {}, ("slice", id(flow.node))
        )
    if isinstance(step, Static) and step.value == -1 and low == high == Static(None):
        return flow.operations.call(flow, Static(library.backwards), [content], {}, ("slice", id(flow.node)))
    if isinstance(step, Static) and step.value in (None, 1):
        return flow.operations.call(flow, Static(library.part), [content, low, high], {}, ("slice", id(flow.node)))
    raise UnsupportedError("such a slice")


def set_element_of(flow: Flow, value: Value, index: Value, item: Value) -> None:
    """Carry out `value[index] = item`."""
    if flow.is_dead:
        return
    content = flow.content(value)
    if isinstance(content, Fields):
        flow.operations.call(flow, Bound(value, "__setitem__"), [index, item], {}, "element")
    elif isinstance(content, Entries) and isinstance(index, Static):
        entries = dict(zip(content.keys, content.items, strict=True)) | {index: item}
        flow.change(value, Entries(tuple(entries), tuple(entries.values())))
    elif isinstance(content, Entries) and isinstance(index, Choice) and set(index.options) <= set(content.keys):
        _set_one_of(flow, value, content, index, item)
    elif isinstance(content, Entries):
        flow.change(value, as_table(flow, content))
        set_element_of(flow, value, index, item)
    elif isinstance(content, Items) and isinstance(index, Static):
        items = list(content.items)
        if not -len(items) <= index.value < len(items):
            flow.fail(IndexError)
            return
        items[index.value] = item
        flow.change(value, Items(tuple(items)))
    elif isinstance(content, Items):
        set_element_of(flow, in_memory_list(flow, value), index, item)
    elif isinstance(content, ListInMemory):
        set_element(flow, content, valid_index(flow, index, length_of(flow, content)), item)
    elif is_list(content):
        set_element_of(flow, in_memory_list(flow, value), index, item)
    else:
        raise UnsupportedError("an element of such a container is set")


def _set_one_of(flow: Flow, value: Value, content: Entries, index: Choice, item: Value) -> None:
    """Set the entry of one of several keys that a dictionary has."""
    items = list(content.items)
    for place, option in enumerate(index.options):
        is_meant = flow.build.icmp_signed("==", index.signal, whole(place))
        at = content.keys.index(option)
        items[at] = selected(flow, [is_meant], [item, items[at]])
    flow.change(value, Entries(content.keys, tuple(items)))
