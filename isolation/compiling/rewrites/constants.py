"""Write values known before a heuristic runs into its module."""

from __future__ import annotations

import ast
import enum
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from ...rules.net import Net
from ...usercode.function_source import fields_of
from ...usercode.parsing import parse, parse_expression
from ..compile_errors import refuse, refuse_unrepeatable
from ..source.rewrite import is_fresh, support

LARGEST = 1 << 63
Table = Mapping[Any, Any]
_MOST_COMPARED = 200
_KINDS = (np.dtype(np.bool_), np.dtype(np.int64), np.dtype(np.float64))


def expression(value: Any, node: ast.AST, what: str) -> ast.expr:
    """Return a constant as an expression: numbers, strings, None, and (nested) tuples, lists and sets of them.

    Lists and sets become tuples, dictionaries the tuple of their keys, rectangular lists of lists of numbers NumPy
    arrays. `what` names it in errors.
    """
    if isinstance(value, enum.Enum):
        value = value.value
    if isinstance(value, np.generic):
        if value.dtype not in _KINDS:
            refuse(f"it uses {what}, which is NumPy's {value.dtype}: compiled code has float64 and int64", node)
        return _numpys(expression(value.item(), node, what))
    if value is None or isinstance(value, bool | int | str):
        return ast.Constant(value)
    if isinstance(value, float):
        return ast.BinOp(ast.Constant(np.inf), ast.Sub(), ast.Constant(np.inf)) if value != value else _number(value)
    if isinstance(value, complex):
        return parse_expression(f"_isolation.builtins.complex({value.real!r}, {value.imag!r})")
    if isinstance(value, np.ndarray) or (isinstance(value, list) and value and _is_matrix(value)):
        return _array(_as_array(value, node, what), node, what)
    if isinstance(value, set | frozenset):
        if loses_its_order(value):
            refuse_order(what, node)
        value = sorted(value)
    if isinstance(value, Mapping):
        value = tuple(value)
    if isinstance(value, range):
        return ast.Call(ast.Name("range", ast.Load()), [_number(n) for n in (value.start, value.stop, value.step)], [])
    if fields := fields_of(type(value)):
        value = tuple(getattr(value, field) for field in fields)
    if isinstance(value, tuple | list):
        return ast.Tuple([expression(item, node, what) for item in _alike(value, node, what)], ast.Load())
    if isinstance(value, Net):
        return support("net", ast.Constant(value.text))
    refuse(f"it uses {what}, an object of class {type(value).__name__}, which compiled code does not support", node)


def loses_its_order(value: Any) -> bool:
    """Whether a value is a set whose order is another one each time Python starts: one of more than numbers and cells.

    Texts hash by a seed that is drawn again (see PYTHONHASHSEED), and functions and the like by where they lie.
    """
    return isinstance(value, set | frozenset) and len(value) > 1 and not all(map(_hashes_alike, value))


def refuse_order(what: str, node: ast.AST) -> NoReturn:
    """Raise the CompileError for what may depend on the order of such a set."""
    subject = "a set" if is_fresh(node) else f"{what}, a set"
    advice = "write a tuple, or sorted(...)"
    refuse_unrepeatable(f"it uses {subject} whose order changes with every start of Python: {advice}", node)


def _hashes_alike(value: Any) -> bool:
    if isinstance(value, tuple | frozenset):
        return all(map(_hashes_alike, value))
    return isinstance(value, int | float | complex | np.number | np.bool_)


def _number(value: float) -> ast.expr:
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def _numpys(node: ast.expr) -> ast.expr:
    """Mark a constant as one that is NumPy's in Python, which rounds it otherwise."""
    node.is_numpys = True  # type: ignore[attr-defined]
    return node


def is_numpys_constant(node: ast.AST) -> bool:
    """Whether a node is a constant that is NumPy's in Python."""
    return getattr(node, "is_numpys", False)


def _as_array(values: Any, node: ast.AST, what: str) -> np.ndarray[Any, Any]:
    """Make an array of numbers; whole ones that are rounded, as fractions stand among them, are refused."""
    array = np.asarray(values)
    if array.dtype.kind == "f":
        for value, fraction in zip(np.asarray(values, dtype=object).flat, array.ravel().tolist(), strict=True):
            if isinstance(value, int) and value != fraction:
                refuse(f"it uses {what}, where {value} is among floats, which cannot represent it exactly", node)
    return array


def _alike(values: Any, node: ast.AST, what: str) -> Any:
    """Make whole numbers among fractions fractions too, in rows of tuples column by column: indexing needs one type."""
    rows = all(isinstance(value, tuple) and value and len(value) == len(values[0]) for value in values)
    if rows and values and not any(fields_of(type(value)) for value in values):
        columns = [_alike(column, node, what) for column in zip(*values, strict=True)]
        return list(zip(*columns, strict=True))
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    if numbers and any(isinstance(value, float) for value in values):
        return _as_array(values, node, what).tolist()
    return values


def _holds_tuples(value: Any) -> bool:
    """Whether cells are among what a list of lists holds: they are looked for, and no numbers of an array."""
    return isinstance(value, tuple) or (isinstance(value, list) and any(map(_holds_tuples, value)))


def _is_matrix(value: list[Any]) -> bool:
    if not all(isinstance(row, list) for row in value) or _holds_tuples(value):
        return False
    try:
        array = np.array(value)
    except ValueError:
        return False
    return array.ndim >= 2 and array.dtype.kind in "bif"


def _array(array: np.ndarray[Any, Any], node: ast.AST, what: str) -> ast.expr:
    if array.dtype not in _KINDS:
        refuse(f"it uses {what}, an array of {array.dtype}: compiled code has float64 and int64", node)
    kind = {"b": "bool_", "i": "int64", "f": "float64"}[array.dtype.kind]
    text = f"_isolation.np.array({array.tolist()!r}, _isolation.np.{kind})".replace("inf", "_isolation.np.inf")
    return parse_expression(text.replace("nan", "_isolation.np.nan"))


def lookup(table: Table, node: ast.AST, what: str) -> list[ast.stmt]:
    """Return module statements that define `look_up(key)` and `has(key)` for a dictionary that never changes.

    Values are numbers, or all of one shape, or lists of cells of any length. Keys that are whole numbers, or tuples of
    as many, are found in an array; others, such as texts, one after another.
    """
    if not table:
        refuse_unrepeatable(
            f"it looks things up in {what}, which is empty: what is kept between calls is unknown", node
        )
    array, place = _places_in_array(list(table), node, what) or ("", _places_one_by_one(list(table), node, what))
    values, read = _values(list(table.values()), node, what)
    text = f"""
{array}
{values}
{place}
@_isolation.jit
def has(key):
    return place(key) >= 0
@_isolation.jit
def look_up(key):
    index = place(key)
    if index < 0:
        raise KeyError("no such key")
    {read}
@_isolation.jit
def get(key, default):
    if not has(key):
        return default
    return look_up(key)
@_isolation.jit
def get_or_none(key):
    if not has(key):
        return None
    return look_up(key)
"""
    return parse(text).body


def _places_one_by_one(keys: list[Any], node: ast.AST, what: str) -> str:
    """The definition of `place(key)`, which compares a key with one after another."""
    if len(keys) > _MOST_COMPARED:
        refuse(f"it looks things up in {what}, with more than {_MOST_COMPARED} keys that are no whole numbers", node)
    tests = [f"    if _isolation.equal(key, {ast.unparse(expression(key, node, what))}):" for key in keys]
    compared = "".join(f"{test}\n        return {index}\n" for index, test in enumerate(tests))
    return f"@_isolation.jit\ndef place(key):\n{compared}    return -1"


def _places_in_array(keys: list[Any], node: ast.AST, what: str) -> tuple[str, str] | None:
    """The definitions of an array and of `place(key)`, which looks into it; None if not all keys are whole numbers."""
    paths = _paths(keys[0])
    if paths is None or any(_paths(key) != paths for key in keys):
        return None
    grid = np.array([_numbers_of(key) for key in keys], dtype=np.int64)
    low, high = grid.min(axis=0), grid.max(axis=0)
    if np.prod((high - low + 1).astype(float)) > 1 << 16:
        if paths == [""]:
            return _places_in_sorted_array(grid[:, 0])
        refuse(f"it looks things up in {what}, whose keys are too far apart: use smaller numbers", node)
    indices = np.full(tuple(high - low + 1), -1, dtype=np.int64)
    for index, key in enumerate(grid):
        indices[tuple(key - low)] = index
    parts = [f"key{path}" for path in paths]
    bounds = " and ".join(f"{low[i]} <= {part} <= {high[i]}" for i, part in enumerate(parts))
    inner = ", ".join(f"{part} - {low[i]}" for i, part in enumerate(parts))
    array = f"PLACES = _isolation.np.array({indices.tolist()!r})"
    return array, f"@_isolation.jit\ndef place(key):\n    return PLACES[{inner}] if {bounds} else -1"


def _places_in_sorted_array(keys: np.ndarray[Any, Any]) -> tuple[str, str]:
    """The definitions for keys that are far apart, such as masks of one bit."""
    order = np.argsort(keys, kind="stable")
    array = f"KEYS = _isolation.np.array({keys[order].tolist()!r})\nPLACES = _isolation.np.array({order.tolist()!r})"
    return (
        array,
        """@_isolation.jit
def place(key):
    at = _isolation.np.searchsorted(KEYS, key)
    return PLACES[at] if at < len(KEYS) and KEYS[at] == key else -1""",
    )


def _paths(key: Any) -> list[str] | None:
    """Where the whole numbers of a key stand, such as ``[0][1]``; None if it has other or wide parts."""
    if isinstance(key, int) and not isinstance(key, bool):
        return None if _is_wide(key) else [""]
    if not isinstance(key, tuple):
        return None
    inside = [_paths(part) for part in key]
    return [f"[{place}]{path}" for place, paths in enumerate(inside) for path in paths or ()] if all(inside) else None


def _numbers_of(key: Any) -> list[int]:
    return [number for part in key for number in _numbers_of(part)] if isinstance(key, tuple) else [key]


def flattened(table: Table) -> Table | None:
    """Return a dictionary of dictionaries as one by pairs of keys; None for others."""
    if not table or not all(isinstance(value, Mapping) for value in table.values()):
        return None
    return {(first, second): value for first, inner in table.items() for second, value in inner.items()}


def by_number(table: Table) -> Table | None:
    """Return a table whose keys are texts by the whole numbers of which they are the texts, without other keys.

    None for a table with other keys than texts, or with no such text.
    """
    if not all(isinstance(key, str) for key in table):
        return None
    numbers = {key: int(key) for key in table if key.removeprefix("-").isdecimal() and key.isascii()}
    return {number: table[key] for key, number in numbers.items() if str(number) == key} or None


def _values(values: list[Any], node: ast.AST, what: str) -> tuple[str, str]:
    """Return the definition of the values of a table and the statements that read the one at `index`."""
    if any(isinstance(value, Mapping) for value in values):
        refuse(f"it keeps a dictionary that it looks up in {what}: look it up at once, as in {what}[key][other]", node)
    if any(map(_is_wide, values)):
        return "", f"return {ast.unparse(expression(tuple(values), node, what))}[index]"
    if all(isinstance(value, int | float | np.number) for value in values):
        return f"VALUES = {ast.unparse(_array(_as_array(values, node, what), node, what))}", "return VALUES[index]"
    if all(isinstance(value, list | set | frozenset) for value in values):
        flat = [item for value in values for item in (sorted(value) if not isinstance(value, list) else value)]
        ends = np.cumsum([len(value) for value in values]).tolist()
        cells = ast.unparse(_array(np.array(flat), node, what))
        item = "(ALL[i, 0], ALL[i, 1])" if flat and isinstance(flat[0], tuple) else "ALL[i]"
        return (
            f"ALL = {cells}\nENDS = _isolation.np.array({[0, *ends]!r})",
            f"return [{item} for i in range(ENDS[index], ENDS[index + 1])]",
        )
    if _are_rows_of_several_kinds(values):
        columns = [
            ast.unparse(_array(_as_array(column, node, what), node, what)) for column in zip(*values, strict=True)
        ]
        lines = [f"VALUES_{place} = {column}" for place, column in enumerate(columns)]
        parts = ", ".join(f"VALUES_{place}[index]" for place in range(len(columns)))
        return "\n".join(lines), f"return ({parts},)"
    return f"VALUES = {ast.unparse(expression(tuple(values), node, what))}", "return VALUES[index]"


def _is_wide(value: Any) -> bool:
    return type(value) is int and not -LARGEST <= value < LARGEST


def _are_rows_of_several_kinds(values: list[Any]) -> bool:
    """Whether values are tuples of as many numbers, fractions at a place in some and whole numbers in others."""
    if not all(isinstance(value, tuple) and value and len(value) == len(values[0]) for value in values):
        return False
    kinds = {tuple(map(type, value)) for value in values}
    return len(kinds) > 1 and all(kind in (int, float) for row in kinds for kind in row)
