"""Parameters to fit or tune, from a file and a name or from an agent's spec; new defaults, as a patch of the file."""

from __future__ import annotations

import ast
import math
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.compiling.comparison import sample_positions
from knights_isolation.isolation.files.atomic_write import write_text
from knights_isolation.isolation.rules.parameters import (
    Parameter,
    ParameterError,
    bind_parameters,
    name_of,
    parameters_of,
    unknown,
)
from knights_isolation.isolation.usercode.parsing import parse

from ..plan import Spec
from ..plan.agent_kinds import number_text
from ..statistics.proportions import ALPHA, Floats

Heuristic = Callable[[Any, Any], float]
_DIGITS = 4
SAMPLE = 60
"""Number of positions in which the scale of a parameter is found."""


@dataclass(frozen=True)
class TunedParameter:
    """A tuned parameter: the range searched, also in words if it need not be numbers, and its values before and after.

    Where they are known, `low` and `high` are an interval of the best value, and `p_value` is adjusted for the number
    of parameters. `end` is `lower` or `upper` if the best value lies where no further games were played.
    """

    name: str
    range: tuple[float, float]
    before: float
    after: float
    low: float = math.nan
    high: float = math.nan
    p_value: float = math.nan
    end: str = ""
    range_text: str = ""

    @property
    def matters(self) -> bool:
        """Whether the effect on the results is significant."""
        return self.p_value <= ALPHA


@dataclass(frozen=True, eq=False)
class Space:
    """The parameters that are `searched`, p of them, and their places among all that the heuristic has.

    `start`, `low` and `high`, float64[p], are the heuristic's values and the ends of the ranges; `is_whole`, bool[p],
    says who takes whole numbers only.
    """

    parameters: tuple[Parameter, ...]
    free: tuple[int, ...]
    searched: tuple[Parameter, ...]
    start: Floats
    low: Floats
    high: Floats
    is_whole: NDArray[np.bool_]

    @classmethod
    def of(cls, parameters: tuple[Parameter, ...], free: tuple[int, ...]) -> Space:
        """Return the space of some of the parameters, by their places."""
        searched = tuple(parameters[index] for index in free)
        columns = [(float(each.default), float(each.low), float(each.high)) for each in searched]
        start, low, high = np.array(columns).reshape(-1, 3).T.copy()
        return cls(parameters, free, searched, start, low, high, np.array([each.is_whole for each in searched], bool))

    @property
    def width(self) -> Floats:
        """float64[p], the widths of the ranges."""
        return self.high - self.low

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters to search."""
        return tuple(parameter.name for parameter in self.searched)

    def filled(self, vector: Floats) -> Floats:
        """Return all parameters in their order, those searched from a vector: float64."""
        every = np.array([parameter.default for parameter in self.parameters], np.float64)
        every[list(self.free)] = vector
        return every

    def at(self, shares: Floats) -> Floats:
        """Return the vectors at shares of the ranges, [..., p]."""
        vectors: Floats = self.low + shares * self.width
        return vectors

    def shares(self, vectors: Floats) -> Floats:
        """Return where in the ranges vectors are, [..., p], from 0 to 1."""
        shares: Floats = (vectors - self.low) / self.width
        return shares

    def playable(self, vectors: Floats) -> Floats:
        """Return vectors, [..., p], with whole numbers where no others are taken."""
        return np.where(self.is_whole, np.round(vectors), vectors)

    def rounded(self, vector: Floats) -> Floats:
        """Return the vector in few digits, within the ranges; whole numbers whole."""
        return np.array([_rounded(*pair) for pair in zip(self.searched, map(float, vector), strict=True)])

    def values(self, vector: Floats) -> dict[str, float]:
        """Return a vector by name, as specs have it."""
        return {name: float(value) for name, value in zip(self.names, vector, strict=True)}


def _rounded(parameter: Parameter, value: float) -> float:
    if parameter.is_whole:
        return float(round(value))
    width = parameter.high - parameter.low
    text = float(f"{value:.{_DIGITS}g}") if abs(value) > 1e-6 * width else 0.0
    return min(max(text, parameter.low), parameter.high)


def space_of(heuristic: Heuristic, wanted: Sequence[str] = (), *, with_choices: bool = False) -> Space:
    """The parameters of a heuristic, or those of them that are named; choices only if they can be looked through.

    Raises:
        ParameterError: it has none, one that is named is none of its, or a range is of no width.
    """
    parameters = parameters_of(heuristic)
    name = name_of(heuristic)
    if not parameters:
        raise ParameterError(
            f"{name} has no parameters: declare some as keyword-only arguments, as in `def {name}(game, player, *, "
            "reach=0.5)`"
        )
    for named in wanted:
        if named not in [parameter.name for parameter in parameters]:
            raise ParameterError(unknown(heuristic, named))
    asked = [index for index, parameter in enumerate(parameters) if not wanted or parameter.name in wanted]
    free = [index for index in asked if with_choices or not parameters[index].choices]
    left_out = [parameters[index].name for index in asked if index not in free]
    if left_out and (wanted or not free):
        raise ParameterError(
            f"{left_out[0]} is categorical and cannot be fitted: use isolation tune --sampler optuna or isolation sweep"
        )
    space = Space.of(tuple(_scaled(parameter, heuristic) for parameter in parameters), tuple(free))
    for parameter in space.searched:
        if parameter.low == parameter.high:
            raise ParameterError(
                f"the range of {parameter.name} is the single number {parameter.low:g}: declare a range, "
                f"as in {parameter.name}: Annotated[float, Interval(ge=-1, le=1)] = {parameter.default}"
            )
    return space


def _scaled(parameter: Parameter, heuristic: Heuristic) -> Parameter:
    """Return a parameter that starts at 0 without a range with one that suits its term, if that can be told.

    At its ends, the term varies between positions twice as much as the rest of the value does.
    """
    if not parameter.is_unscaled:
        return parameter
    here, there = (
        _sampled_values(bind_parameters(heuristic, {parameter.name: value})) for value in (0.0, parameter.high)
    )
    if here is None or there is None or not np.std(there - here) or not np.std(here):
        return parameter
    most = float(f"{2 * parameter.high * np.std(here) / np.std(there - here):.1g}")
    return replace(parameter, low=-most, high=most)


def _sampled_values(heuristic: Heuristic) -> Floats | None:
    """Return float64[n], the values in positions of whole games; None if one is no finite number."""
    try:
        values = [float(heuristic(board.copy(), board.active_player)) for board in sample_positions((7, 7), SAMPLE)]
    except Exception:  # any exception of user code
        return None
    return np.array(values) if np.isfinite(values).all() else None


def end_of(value: float, low: float, high: float, near: float) -> str:
    """Return `lower` or `upper` if a value is that near to an end of a range, else nothing."""
    return "lower" if value <= low + near else "upper" if value >= high - near else ""


def with_values(spec: Spec, values: Mapping[str, float]) -> Spec:
    """Return the spec of the agent with these values of some parameters, under the same name."""
    return replace(spec, parameters=tuple(sorted((dict(spec.parameters) | dict(values)).items())))


def options_text(values: dict[str, float]) -> str:
    """Values as the options of a spec."""
    return ",".join(f"option.{name}={number_text(value)}" for name, value in values.items())


def check_parameters(
    heuristic: Heuristic, wanted: Sequence[str], target: str, *, is_patched: bool, with_choices: bool = False
) -> None:
    """Check that `space_of` finds parameters; warn of the categorical ones that keep their defaults.

    Raises:
        ValueError: it finds none, or `is_patched` and FILE:FUNCTION, the target, has no such defaults to be patched.
    """
    space = space_of(heuristic, wanted, with_choices=with_choices)
    if is_patched:
        path, _, function = target.rpartition(":")
        if not path.endswith(".py"):
            raise ValueError("--patch needs a heuristic from your own file, FILE.py:FUNCTION")
        patch_of_defaults(Path(path), function, dict.fromkeys(space.names, 0.0))
    left_out = (each for each in space.parameters if each.choices and each not in space.searched and not wanted)
    for choice in left_out:
        warnings.warn(
            f"{choice.name} is categorical ({choice.allowed}) and keeps its default {choice.default}; to tune it, use "
            f"isolation tune --sampler optuna.",
            stacklevel=5,
        )


def write_patch(patch: Path, target: str, values: Mapping[str, float], is_better: bool) -> str:
    """Write new defaults of FILE:FUNCTION as a patch if they were found better; return how to apply it, or why not.

    Raises:
        ValueError: the file cannot be written.
    """
    path, _, function = target.rpartition(":")
    if not is_better:
        why = "the new values are not significantly better" if values else "no value changed"
        return f"Did not write {patch}: {why}."
    try:
        write_text(patch, patch_of_defaults(Path(path), function, values))
    except OSError as error:
        raise ValueError(f"--patch: {patch} cannot be written: {error.strerror}") from None
    return f"Wrote {patch}; {path} is unchanged. To apply the new defaults: patch {path} {patch}"


def patch_of_defaults(path: Path, name: str, values: Mapping[str, float]) -> str:
    """A unified diff, for `patch` or `git apply`, that gives a function's keyword-only arguments these defaults.

    Raises:
        ValueError: the file does not define the function with these arguments and their defaults itself.
    """
    text = path.read_text(encoding="utf-8")
    defaults = _defaults(text, name)
    missing = [value for value in values if value not in defaults]
    if missing:
        raise ValueError(
            f"{path} has no `def {name}` with a default for {missing[0]} to patch: change weights of a composite and "
            f"imported functions by hand"
        )
    new, starts = text.encode(), [0, *accumulate(len(line.encode()) for line in text.splitlines(keepends=True))]
    for parameter, node in sorted(defaults.items(), key=lambda item: (item[1].lineno, item[1].col_offset))[::-1]:
        if parameter in values:
            end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
            literal = _literal(values[parameter], node).encode()
            new = new[: starts[node.lineno - 1] + node.col_offset] + literal + new[end:]
    # as `git apply` wants it: from the current directory if it is below, else from the root
    whole, here = Path(os.path.abspath(path)), Path.cwd()
    file = (whole.relative_to(here) if whole.is_relative_to(here) else whole).as_posix().lstrip("/")
    before, after = (each.splitlines(keepends=True) for each in (text, new.decode()))
    return "".join(unified_diff(before, after, f"a/{file}", f"b/{file}"))


def _defaults(text: str, name: str) -> dict[str, ast.expr]:
    """The defaults of the keyword-only arguments of the last function of that name at the top of a file."""
    definitions = [node for node in parse(text).body if isinstance(node, ast.FunctionDef) and node.name == name]
    if not definitions:
        return {}
    arguments = definitions[-1].args
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return {argument.arg: default for argument, default in pairs if default is not None}


def _literal(value: float, node: ast.expr) -> str:
    is_whole = isinstance(node, ast.Constant) and isinstance(node.value, int)
    return str(int(value)) if is_whole and value == int(value) else repr(float(value))
