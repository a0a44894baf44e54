"""What numba says, in plain words."""

from __future__ import annotations

import re

_TYPES = [
    (r"Literal\[\w+\]\([^)]*\)|u?int\d+", "whole number"),
    (r"float\d+", "number"),
    (r"\bbool(ean)?\b", "truth value"),
    (r"Position\d+x\d+", "game"),
    (r"(Moves|Blank)\d+x\d+", "list of cells"),
    (r"UniTuple\(whole number x 2\)", "cell"),
    (r"(reflected )?list\(([^()]*)\)(<iv=None>)?", r"list of \2s"),
    (r"(reflected )?set\(([^()]*)\)", r"set of \2s"),
    (r"unicode_type", "text"),
    (r"\bnone\b", "None"),
    (r"array\((.*?), 1d, \w\)", r"array of \1s"),
]
_OPERATORS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "add": "+", "sub": "-", "mul": "*"}
_OPERATORS |= {"truediv": "/", "iadd": "+=", "isub": "-=", "getitem": "[]", "contains": "in"}


def explain_line(message: str) -> tuple[str, int | None]:
    """Return why numba refuses a generated module, and the line of that module."""
    return _reason(message), _line(message)


def _reason(message: str) -> str:
    if found := re.search(r"Unknown attribute '(\w+)' of type (.+)", message):
        return f"it uses .{found[1]} of a {_plain(found[2])}, which compiled code does not have"
    if found := re.search(r"Cannot unify (.+) and (.+) for '([\w.]+)'", message):
        variable = found[3].partition(".")[0]
        return f"{_variable(variable)} is here a {_plain(found[1])} and there a {_plain(found[2])}"
    if found := re.search(r"Can't unify return type from the following types: (.+)", message):
        return f"it returns now one, now the other of these: {_plain(found[1].rstrip('.'))}"
    if "Cannot infer the type of variable" in message or "cannot be determined" in message:
        return "the type of a value is not known, such as that of an empty list or dictionary"
    calls = re.findall(r">>> ([\w.<>]+)\((.*)\)", message)
    if calls:
        function, arguments = calls[-1]
        return f"it uses {_operation(function)} on ({_plain(arguments)}), which compiled code does not have"
    if found := re.search(r"Variable '(\w+)' is not defined|variable '(\w+)' referenced before assignment", message):
        return f"{_variable(found[1] or found[2])} may be used before it has a value"
    telling = [line.strip() for line in message.splitlines() if line.strip() and "nopython mode pipeline" not in line]
    return telling[0] if telling else "numba refuses it"


def _line(message: str) -> int | None:
    for path, line in re.findall(r'File "([^"]+)", line (\d+):', message):
        if "numba/" not in path and not re.search(r"isolation/(rewrites|position|bits)", path):
            return int(line)
    return None


def _plain(types: str) -> str:
    for pattern, words in _TYPES:
        types = re.sub(pattern, words, types)
    return types.strip()


def _variable(name: str) -> str:
    """Return how to speak of a variable; those of generated loops have no name the user knows."""
    return "a value in a loop" if name.startswith("_v") else f"the variable {name}"


def _operation(function: str) -> str:
    return _OPERATORS.get(function, function.removeprefix("impl_").lstrip("_"))
