"""`CompileError`: why a heuristic cannot be compiled, and what to write instead.

Numba's errors are explained in plain words, and refusals of heuristics told from faults of the compiler.
"""

from __future__ import annotations

import ast
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import NoReturn

from ..suggestions import CompilerFault
from ..usercode.compile_error import CompileError as CompileError
from ..usercode.user_exceptions import format_exception

CHANCE_AND_TIME = dict.fromkeys(("random", "secrets", "uuid", "numpy.random"), "chance")
CHANCE_AND_TIME |= dict.fromkeys(("time", "datetime", "timeit"), "the time")
"""Modules, and what the value of a heuristic that uses them depends on."""


def refuse(reason: str, node: ast.AST | None = None) -> NoReturn:
    """Raise the CompileError for a construct."""
    raise CompileError(reason, getattr(node, "lineno", None))


def refuse_unrepeatable(reason: str, node: ast.AST) -> NoReturn:
    """Raise the CompileError for chance, time, memory between calls, or an order that changes."""
    raise CompileError(reason, getattr(node, "lineno", None), is_unrepeatable=True)


_LOOP = "write a loop, or compute it outside of the function"
_METHODS = {
    "rotate": "write q.append(q.pop(0)), or q.insert(0, q.pop())",
    "tolist": "leave it out: the elements of an array are read as those of a list",
    "item": "write array[index]",
    "popitem": "keep the keys in a list as well",
    "fromkeys": "write {key: value for key in keys}",
    "translate": "write a dictionary, and look up each sign",
    "encode": "look texts up in a dictionary, or compare them",
    "astype": "write float(x) or int(x) for each element",
}
_CALLS = {
    "einsum": "write a @ b, or loops",
    **dict.fromkeys(("hex", "oct"), 'write "%d" % x, or compare numbers'),
    **dict.fromkeys(("bytearray", "bytes"), "write a list of numbers"),
    "lru_cache": "call the function itself",
    "trace": "write a sum over the diagonal",
    **dict.fromkeys(("zip", "enumerate"), "write for i in range(len(rows)), and rows[i]"),
}


def instead_of_call(called: str) -> str:
    """Return what to write instead of a call of a function of a library."""
    return _CALLS.get(called, _LOOP)


def instead_of_method(called: str) -> str:
    """Return what to write instead of an attribute or method."""
    return _METHODS.get(called, "check its spelling, or write a loop")


def instead_of_operator(sign: str, kinds: Sequence[str]) -> str:
    """Return what to write instead of an operation on two kinds of values."""
    first, second = kinds
    if sign in ("-=", "&=", "|=") and first.endswith("of cells"):
        return f"write a = a {sign[0]} b instead of a {sign} b"
    if "None" in first or "None" in second:
        return "test for None first, or write a number such as -1 for what is missing"
    if "text" in (first, second):
        return "write str(x), or int(x), so that both are of one kind"
    if any("number" in kind and " of " not in kind for kind in kinds) and any("list" in kind for kind in kinds):
        return "write len(...) for how many, or [index] for one of them"
    if "cell" in kinds:
        return "write cell[0] and cell[1]"
    return "write it part by part, in a loop"


_TYPES = [
    (r"Literal\[str\]\((.*?)\)(?=[,)\s]|$)|\bunicode_type\b", "text"),
    (r"Literal\[bool\]\(\w+\)|\bbool(ean)?\b", "truth value"),
    (r"Literal\[\w+\]\([^)]*\)|u?int\d+", "whole number"),
    (r"complex\d+", "complex number"),
    (r"float\d+", "number"),
    (r"BoundFunction\(\(.*?, '(\w+)'\) for .*?\)", r"method \1 without ()"),
    (r"Position\d+x\d+", "game"),
    (r"(Moves|Blank)\d+x\d+", "list of cells"),
    (r"Steps\d+x\d+", "list of liberties"),
    (r"Int256", "whole number"),
    (r"slice<a:b(:c)?>", "part from a to b"),
    (r"UniTuple\(whole number x 2\)", "cell"),
    (r"UniTuple\(([^()]*) x (\d+)\)", r"tuple of \2 \1s"),
    (r"Tuple\(\)", "empty tuple"),
    (r"Tuple\(([^()]*)\)", r"tuple of (\1)"),
    (r"(reflected )?list\(([^()]*)\)(<iv=[^>]*>)?", r"list of \2s"),
    (r"(reflected )?set\(undefined\)", "empty set"),
    (r"(reflected )?list\(undefined\)(<iv=[^>]*>)?", "empty list"),
    (r"(reflected )?set\(([^()]*)\)", r"set of \2s"),
    (r"DictType\[undefined,\s*undefined\](<iv=[^>]*>)?", "dictionary of unknown values"),
    (r"DictType\[([^\[\]]*?),([^\[\]]*?)\](<iv=[^>]*>)?", r"dictionary of \2s by \1"),
    (r"OptionalType\((.*?)\)|Optional\((.*?)\)", r"\1\2 or None"),
    (r"\bnone\b", "None"),
    (r"array\((.*?), 1d, \w+\)", r"array of \1s"),
    (r"array\((.*?), (\d)d, \w+\)", r"\2-dimensional array of \1s"),
    (r"Module\(<module '([\w.]+)'.*?>\)", r"module \1"),
    (r"Function\(<(built-in )?function (\w+).*?>\)", r"function \2"),
]
_OPERATORS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**"}
_OPERATORS |= {"and_": "&", "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "matmul": "@"}
_OPERATORS |= {f"i{name.rstrip('_')}": f"{sign}=" for name, sign in _OPERATORS.items()}
_OPERATORS |= {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "is_": "is", "is_not": "is not"}
_SIGNS = {"neg": "-", "pos": "+", "invert": "~", "not_": "not "}
_METHODS_OF_GAMES = {"get_legal_moves", "get_blank_spaces", "get_player_location", "get_opponent", "move_is_legal"}
_METHODS_OF_GAMES |= {"forecast_move", "copy", "reach", "links", "territory", "distances"}
_METHODS_OF_GAMES |= {"utility", "is_winner", "is_loser"}
_UNDECIDED = ("Cannot infer the type of variable", "cannot be determined", "Undecided type")
_CANNOT = "which compiled code does not support"
_MODULE = "heuristic.py"
"""How the file of a generated module ends."""


def line_reached(error: Exception) -> int | None:
    """The line of a generated module at which numba's code failed by no error of its own; None if another's did."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    is_numbas_error = any(kind.__name__ == "NumbaError" for kind in type(error).__mro__)
    if is_numbas_error or not frames or "numba" not in Path(frames[-1].f_code.co_filename).parts:
        return None
    for frame in reversed(frames):
        for value in frame.f_locals.values():
            with suppress(Exception):  # whatever numba holds
                place = getattr(value, "loc", value)
                if place.filename.endswith(_MODULE):
                    return int(place.line)
    return None


def explain_line(message: str) -> tuple[str, int | None]:
    """Return why numba refuses a generated module, and the line of that module."""
    return _reason(message), _line(message)


def explain_result(message: str) -> str | None:
    """Return why what a heuristic returns is no number, where numba refuses to make one of it."""
    match = re.search(r">>> number\((.*)\)", message)
    if not match:
        return None
    kind = _plain(match[1])
    if kind == "None":
        return "it never returns a value: a return with a number is missing"
    return f"it returns {_a(kind)}, where a number is expected"


def _reason(message: str) -> str:
    if match := re.search(r"Refused: (.+)", message):
        return match[1]
    if match := re.search(r"Unknown attribute '(\w+)' of type Module\(<module '([\w.]+)'", message):
        return f"it uses {match[2]}.{match[1]}, {_CANNOT}: {instead_of_call(match[1])}"
    if match := re.search(r"Unknown attribute '(\w+)' of type (.+)", message):
        return f"it uses .{match[1]} of {_a(_plain(match[2]))}, {_CANNOT}: {instead_of_method(match[1])}"
    if match := re.search(r"Cannot unify (.+) and (.+) for '([\w.$]+)'", message):
        variable = match[3].partition(".")[0]
        kinds = f"{_a(_plain(match[1]))} and sometimes {_a(_plain(match[2]))}"
        return f"{_variable(variable)} is sometimes {kinds}: write a variable for each"
    if match := re.search(r"Can't unify return type from the following types: (.+)", message):
        return f"it returns values of different types: {_plain(match[1].rstrip('.'))}: return numbers alone, or tuples"
    if any(sign in message for sign in _UNDECIDED):
        return (
            "the type of this value is unknown: is it a list, set or dictionary that stays empty? "
            "Write down an element that it will hold, or fill it in the function that makes it"
        )
    if match := re.search(r"Cannot capture the non-constant value associated with variable '(\w+)'", message):
        return f"it keeps a function that reads {match[1]}: give {match[1]} to it as an argument, or call it at once"
    if "Dict.value_type cannot be of type" in message:
        return "it keeps None in a dictionary: write what is no value of it instead, such as -1 or (-1, -1)"
    if match := re.search(r"(.+) as value is forbidden", message):
        advice = "keep numbers, tuples or lists, or write a variable for each key"
        kind = _plain(match[1].rpartition("Error: ")[2]).replace("list of undefineds", "list that is empty")
        return f"it keeps {_a(kind)} in a dictionary: {advice}"
    if match := re.search(r"BoundFunction\(\w+\.(?:append|add|insert) for (.+)\) with parameters \((.+)\)", message):
        return f"it puts {_a(_plain(match[2]))} into {_a(_plain(match[1]))}: write a variable for each kind"
    if match := re.search(r"Invalid use of getiter with parameters \((.+)\)", message):
        return f"it runs over {_a(_plain(match[1]))}, {_CANNOT}: write lists of one length, or a loop for each"
    if match := re.search(r"Invalid use of (.+?) with parameters \(", message):
        return f"it calls {_a(_plain(match[1]))} as if it were a function"
    calls = re.findall(r">>> ([\w.<>]+)\((.*)\)", message)
    if calls:
        return _refused_call(*calls[-1])
    if match := re.search(r"Variable '(\w+)' is not defined|variable '(\w+)' referenced before assignment", message):
        return f"{_variable(match[1] or match[2])} may be used before it has a value"
    telling = [line.strip() for line in message.splitlines() if line.strip() and "nopython mode pipeline" not in line]
    if not telling:
        return "the compiler refuses this line without a reason: write it in smaller steps"
    words = re.sub(r",? (defined )?at \S+ \(\d+\)|'?\$[\w.]+'?", "", telling[0])
    return f"the compiler refuses this line ({_plain(words)}): write it in smaller steps"


def _refused_call(function: str, arguments: str) -> str:
    """Return what cannot be done, as a user would write it: an operator, an index, a method, a call."""
    function = function.removeprefix("impl_").lstrip("_")
    kinds = [_plain(kind) for kind in _split(arguments)]
    if function in _OPERATORS and len(kinds) == 2:
        sign = _OPERATORS[function]
        return f"it computes ({kinds[0]}) {sign} ({kinds[1]}), {_CANNOT}: {instead_of_operator(sign, kinds)}"
    if function in _SIGNS and len(kinds) == 1:
        return f"it computes {_SIGNS[function]}({kinds[0]}), {_CANNOT}"
    if function in ("getitem", "static_getitem") and len(kinds) == 2:
        return f"it takes [{kinds[1]}] of {_a(kinds[0])}, {_CANNOT}"
    if function in ("setitem", "static_setitem") and len(kinds) == 3:
        if kinds[0] == "list of nones":
            return (
                f"it puts {_a(kinds[2])} among None: write a number such as -1 for what is empty, and compare with it"
            )
        return f"it puts {_a(kinds[2])} at [{kinds[1]}] of {_a(kinds[0])}, {_CANNOT}: write a variable for each kind"
    if function == "contains" and len(kinds) == 2:
        return f"it looks for {_a(kinds[1])} in {_a(kinds[0])}, {_CANNOT}"
    if function == "number":
        advice = ": compute the number, as own + opponent / 10" if kinds == ["text"] else ""
        return f"it makes a number of {_a(', '.join(kinds))}, {_CANNOT}{advice}"
    if function in _METHODS_OF_GAMES and kinds[:1] == ["game"]:
        return f"it calls {function} of a game with ({', '.join(kinds[1:])}), {_CANNOT}"
    if function == "cast" and len(kinds) == 2:
        instead = "begin with 0.0 instead of 0" if kinds[0] == "number" else "keep values of one kind in each variable"
        return f"it puts {_a(kinds[0])} where something else was kept before: {instead}"
    return f"it calls {function} with ({', '.join(kinds)}), {_CANNOT}: {instead_of_call(function)}"


def _line(message: str) -> int | None:
    for path, line in re.findall(r'File "([^"]+)", line (\d+):', message):
        if path.endswith(_MODULE):
            return int(line)
    return None


def _plain(types: str) -> str:
    for pattern, words in _TYPES * 2:  # what is inside another type first
        types = re.sub(pattern, words, types)
    return re.sub(r"(cell|number|value)s{2,}\b", r"\1s", types).strip()


def _split(kinds: str) -> list[str]:
    parts, depth = [""], 0
    for sign in kinds:
        depth += (sign in "([<") - (sign in ")]>")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]


def _a(kind: str) -> str:
    if kind in ("text", "None") or kind.startswith(("None", "text")):
        return kind
    return f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"


def _variable(name: str) -> str:
    """Return how to speak of a variable; those of generated loops have no name the user knows."""
    return "a value" if name.startswith(("_v", "$")) else f"the variable {name}"


@contextmanager
def blaming_us(unless: Callable[[Exception], bool] = lambda error: False) -> Iterator[None]:
    """Raise whatever is raised here as a `CompilerFault`, unless it says something of a heuristic or of the machine."""
    try:
        yield
    except (CompilerFault, MemoryError, OSError):
        raise
    except Exception as error:
        if unless(error):
            raise
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{'/'.join(Path(frame.filename).parts[-3:])}:{frame.lineno}"
        versions = ", ".join(f"{name} {version(name)}" for name in ("numba", "llvmlite"))
        raise CompilerFault(
            f"the compiler fails (a bug in this toolkit; please report): {format_exception(error)} at {where}, "
            f"Python {python_version()}, {versions}"
        ) from error


def refuses_heuristic(error: Exception) -> bool:
    """Whether an exception of the compiler's is about the heuristic.

    Numba's own errors are, and our refusals; so is whatever numba's code raises while it translates one of its lines.
    """
    is_refusal = _is_numbas(error) or isinstance(error, CompileError | RecursionError)
    return is_refusal or line_reached(error) is not None


def _is_numbas(error: Exception) -> bool:
    errors = sys.modules.get("numba.core.errors")
    return errors is not None and isinstance(error, errors.NumbaError) and not isinstance(error, errors.InternalError)
