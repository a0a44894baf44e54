"""Parameters to fit or tune, from a file and a name or from an agent's spec."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.compiling.comparison import sample_positions
from knights_isolation.isolation.rules.parameters import (
    Parameter,
    ParameterError,
    bind_parameters,
    name_of,
    parameters_of,
    unknown,
)

from ..roster.spec import number_text

Vector = NDArray[np.float64]
_DIGITS = 4
SAMPLE = 60
"""Number of positions in which the scale of a parameter is found."""


@dataclass(frozen=True)
class Space:
    """The parameters that are looked through, p of them.

    Attributes:
        parameters: all of the heuristic's.
        free: the places of those that are looked through.
    """

    parameters: tuple[Parameter, ...]
    free: tuple[int, ...]

    @property
    def start(self) -> Vector:
        """float64[p], where the heuristic stands."""
        return np.array([self.parameters[index].default for index in self.free], np.float64)

    @property
    def low(self) -> Vector:
        """float64[p], the lower ends."""
        return np.array([self.parameters[index].low for index in self.free], np.float64)

    @property
    def high(self) -> Vector:
        """float64[p], the upper ends."""
        return np.array([self.parameters[index].high for index in self.free], np.float64)

    @property
    def is_whole(self) -> NDArray[np.bool_]:
        """bool[p], who takes whole numbers only."""
        return np.array([self.parameters[index].is_whole for index in self.free], bool)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters to search."""
        return tuple(self.parameters[index].name for index in self.free)

    @property
    def choices(self) -> tuple[Parameter, ...]:
        """The choices among those that are not looked through."""
        return tuple(
            parameter for index, parameter in enumerate(self.parameters) if parameter.choices and index not in self.free
        )

    def filled(self, vector: Vector) -> Vector:
        """float64, all parameters in their order, those looked through from a vector."""
        every = np.array([parameter.default for parameter in self.parameters], np.float64)
        every[list(self.free)] = vector
        return every

    def rounded(self, vector: Vector) -> Vector:
        """The vector in so many digits as anybody wants to read, within the ranges; whole numbers whole."""
        return np.array([self._rounded(index, float(value)) for index, value in enumerate(vector)])

    def values(self, vector: Vector) -> dict[str, float]:
        """A vector as specs have it."""
        return {name: float(value) for name, value in zip(self.names, vector, strict=True)}

    def _rounded(self, index: int, value: float) -> float:
        parameter = self.parameters[self.free[index]]
        if parameter.is_whole:
            return float(round(value))
        width = parameter.high - parameter.low
        text = float(f"{value:.{_DIGITS}g}") if abs(value) > 1e-6 * width else 0.0
        return min(max(text, parameter.low), parameter.high)


def space_of(
    heuristic: Callable[[Any, Any], float], wanted: Sequence[str] = (), *, with_choices: bool = False
) -> Space:
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
    names = [parameter.name for parameter in parameters]
    for named in wanted:
        if named not in names:
            raise ParameterError(unknown(heuristic, named))
    free = tuple(
        index
        for index, parameter in enumerate(parameters)
        if (not wanted or parameter.name in wanted) and (with_choices or not parameter.choices)
    )
    left_out = [
        parameter.name
        for parameter in parameters
        if parameter.choices and not with_choices and (parameter.name in wanted or not free)
    ]
    if left_out:
        raise ParameterError(
            f"{left_out[0]} is categorical and cannot be fitted: use isolation tune --sampler optuna or isolation sweep"
        )
    parameters = tuple(_scaled(parameter, heuristic) for parameter in parameters)
    for index in free:
        parameter = parameters[index]
        if parameter.low == parameter.high:
            raise ParameterError(
                f"the range of {parameter.name} is the single number {parameter.low:g}: declare a range, "
                f"as in {parameter.name}: Annotated[float, Interval(ge=-1, le=1)] = {parameter.default}"
            )
    return Space(parameters, free)


def _scaled(parameter: Parameter, heuristic: Callable[[Any, Any], float]) -> Parameter:
    """Return a parameter that starts at 0 without a range with one that suits its term: at its ends, the term varies
    between positions twice as much as the rest of the value does. Where that cannot be told, the range stays.
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


def _sampled_values(heuristic: Callable[[Any, Any], float]) -> Vector | None:
    """Return float64[n], the values in positions of whole games; None if one is no finite number."""
    try:
        values = [float(heuristic(board.copy(), board.active_player)) for board in sample_positions((7, 7), SAMPLE)]
    except Exception:  # any exception of user code
        return None
    return np.array(values) if np.isfinite(values).all() else None


def end_of(value: float, low: float, high: float, near: float) -> str:
    """Return `lower` or `upper` if a value is that near to an end of a range, else nothing."""
    return "lower" if value <= low + near else "upper" if value >= high - near else ""


def options_text(values: dict[str, float]) -> str:
    """Values as the options of a spec."""
    return ",".join(f"option.{name}={number_text(value)}" for name, value in values.items())
