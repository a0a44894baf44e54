"""Tunable parameters of heuristics: declaration, ranges, binding.

A parameter is a keyword-only argument whose default is a number: `def score(game, player, *, reach=0.5)`. A range is
given as `reach: Annotated[float, Interval(ge=0, le=2)] = 0.5`, by the constraints of `annotated_types`; otherwise tools
look from 0 to twice the default, or to the largest number there is. A whole number as default takes whole numbers only,
unless it is annotated `float`. `layers: Literal[2, 3, 5] = 3` is a choice: one of these whole numbers, none of which
is nearer to another. A composite has the parameters of its parts, and its weights that have names.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property, lru_cache, partial
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import annotated_types

Heuristic = Callable[..., float]
_LARGEST = sys.float_info.max
KINDS_OF_VALUES = "parameters must be numbers, and choices whole numbers, as in Literal[0, 1]"
"""What is told of values that are none."""


class ParameterError(ValueError):
    """A heuristic does not have such a parameter, or the parameter cannot have that value; one line says why."""


@dataclass(frozen=True)
class Parameter:
    """A number that a heuristic takes.

    Attributes:
        name: what specs call it.
        default: its value where nobody gives another.
        low, high: the range that tools look through, ends included; both finite.
        least, most: what it may be given, as far as it is declared; else infinite.
        choices: the whole numbers that it may be given, if it is one of several; else none.
    """

    name: str
    default: float
    low: float
    high: float
    least: float = -math.inf
    most: float = math.inf
    choices: tuple[int, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether it takes whole numbers only."""
        return isinstance(self.default, int)

    def checked(self, value: float) -> float:
        """The value as the heuristic takes it.

        Raises:
            ParameterError: it lies outside of the declared range, or is no whole number where one is wanted.
        """
        if not math.isfinite(value):
            raise ParameterError(f"{self.name} must be a finite number, not {value:g}")
        if self.is_whole and not self.choices and value != int(value):
            raise ParameterError(f"{self.name} must be a whole number, like its default {self.default}, not {value:g}")
        if not self.least <= value <= self.most or (self.choices and value not in self.choices):
            raise ParameterError(f"{self.name} must be {self.allowed}, not {value:g}")
        return int(value) if self.is_whole else float(value)

    def __str__(self) -> str:
        return f"{self.name}={self.default:g} ({self.looked_through})"

    @property
    def looked_through(self) -> str:
        """What tools look through, in words."""
        return choices_text(self.choices) if self.choices else range_text(self.low, self.high)

    @property
    def allowed(self) -> str:
        """The declared range, in words."""
        if self.choices:
            return choices_text(self.choices)
        below, above = _left_out(self.least, -math.inf), _left_out(self.most, math.inf)
        lower = f"at least {self.least:g}" if below is None else f"more than {below:g}"
        upper = f"at most {self.most:g}" if above is None else f"less than {above:g}"
        if self.most == math.inf:
            return lower
        if self.least == -math.inf:
            return upper
        return f"from {self.least:g} to {self.most:g}" if below is above is None else f"{lower} and {upper}"


def choices_text(choices: Sequence[int]) -> str:
    """Choices in words.

    >>> choices_text((2, 3, 5))
    '2, 3 or 5'
    """
    *others, last = map(str, choices)
    return f"{', '.join(others)} or {last}" if others else last


def range_text(low: float, high: float, format_number: Callable[[float], str] = "{:g}".format) -> str:
    """A range in words; an end that is left out is named as it was declared.

    >>> range_text(0, 2)
    '0 to 2'
    >>> range_text(math.nextafter(0, 1), 2)
    'more than 0, to 2'
    """
    below, above = _left_out(low, -math.inf), _left_out(high, math.inf)
    first = format_number(low) if below is None else f"more than {format_number(below)},"
    return f"{first} to {format_number(high) if above is None else f'less than {format_number(above)}'}"


def _left_out(end: float, outwards: float) -> float | None:
    """The number just beyond an end of a range if it is so much rounder that the end is its neighbour; else None."""
    if not math.isfinite(end):
        return None
    beyond = math.nextafter(end, outwards)
    return beyond if math.isfinite(beyond) and len(repr(beyond)) + 2 < len(repr(float(end))) else None


@dataclass(frozen=True)
class BoundHeuristic:
    """A heuristic some of whose parameters have values of their own; called like any heuristic.

    Two that differ in values only share compiled code.
    """

    function: Heuristic
    values: tuple[tuple[str, float], ...]

    def __call__(self, game: Any, player: Any) -> float:
        """The function's value with these parameters."""
        return self.bound(game, player)

    @cached_property
    def bound(self) -> Heuristic:
        """The function with its parameters filled in: a partial function, or a composite of those."""
        values = dict(self.values)
        given = {
            id(part): {own: values[parameter.name] for own, parameter in parameters.items() if parameter.name in values}
            for part, parameters in owners(self.function)
        }
        filled: Heuristic = _filled(self.function, given)
        return filled


def parameters_of(heuristic: Any) -> tuple[Parameter, ...]:
    """The parameters of a heuristic, in the order of its signature; those of a composite part by part.

    Parts that are the same function share their parameters. Where different parts have parameters of the same name,
    these are called `PART.NAME`.

    Raises:
        ParameterError: a range is empty, too wide, or does not hold the default.
    """
    if isinstance(heuristic, BoundHeuristic):
        values = dict(heuristic.values)
        own = parameters_of(heuristic.function)
        return tuple(replace(parameter, default=values.get(parameter.name, parameter.default)) for parameter in own)
    return _parameters(heuristic) if isinstance(heuristic, Hashable) else _parameters.__wrapped__(heuristic)


@lru_cache(maxsize=1024)
def _parameters(heuristic: Any) -> tuple[Parameter, ...]:
    return tuple(parameter for _, parameters in owners(heuristic) for parameter in parameters.values())


def parameter_values(heuristic: Any) -> dict[str, float]:
    """The values of a heuristic's parameters, its own or the defaults, in the order of `parameters_of`."""
    return {parameter.name: parameter.default for parameter in parameters_of(heuristic)}


def bind_parameters(heuristic: Heuristic, values: Mapping[str, float]) -> Heuristic:
    """The heuristic with values for some of its parameters; itself if there are none.

    Raises:
        ParameterError: it has no such parameter, or the parameter cannot have that value.
    """
    if not values:
        return heuristic
    known = {parameter.name: parameter for parameter in parameters_of(heuristic)}
    for name in values:
        if name not in known:
            raise ParameterError(unknown(heuristic, name))
    checked = {name: known[name].checked(values[name]) for name in known if name in values}
    base, before = (
        (heuristic.function, dict(heuristic.values)) if isinstance(heuristic, BoundHeuristic) else (heuristic, {})
    )
    return BoundHeuristic(base, tuple((name, (before | checked)[name]) for name in known if name in before | checked))


def unknown(heuristic: Any, name: str) -> str:
    """Why a heuristic has no parameter of that name, and which are meant or there instead, in one line."""
    defaults = no_parameters(heuristic)
    if name in defaults:
        return f"{name} is not a parameter of {name_of(heuristic)}: its default is {defaults[name]}; {KINDS_OF_VALUES}"
    known = [parameter.name for parameter in parameters_of(heuristic)]
    return f"{name_of(heuristic)} has no parameter {name!r}; {_hint(name, known)}"


def no_parameters(heuristic: Any) -> dict[str, str]:
    """Keyword-only arguments of a heuristic that are no parameters, each with what its default is, in words."""
    return {
        parameter.name: _in_words(parameter.default)
        for part in _parts(heuristic)
        for parameter in ([] if hasattr(part, "phases") else _keywords(part))
        if parameter.default is not parameter.empty and not _is_number(parameter.default)
    }


def _in_words(default: Any) -> str:
    if isinstance(default, bool):
        return str(default)
    if isinstance(default, str):
        return "a text"
    return "no finite float" if isinstance(default, int | float) else "no number"


def base_function(heuristic: Any) -> Any:
    """The function behind a heuristic, whose parameters are at their defaults."""
    return heuristic.function if isinstance(heuristic, BoundHeuristic) else heuristic


def opened(heuristic: Any) -> Any:
    """What has values of its own as a partial function, or as a composite of those; anything else as it is."""
    return heuristic.bound if isinstance(heuristic, BoundHeuristic) else heuristic


def owners(heuristic: Any) -> list[tuple[Any, dict[str, Parameter]]]:
    """What has parameters in a heuristic: functions, by their arguments, and composites, by their weights."""
    parts: list[tuple[Any, dict[str, Parameter]]] = []
    for part in _parts(heuristic):
        if own := _weights(part) if hasattr(part, "phases") else _declared(part):
            parts.append((part, own))
    names = [name for _, own in parts for name in own]
    if len(names) == len(set(names)):
        return parts
    called: list[str] = []
    for part, _ in parts:
        like = sum(name.rstrip("0123456789") == name_of(part) for name in called)
        called.append(f"{name_of(part)}{like + 1 if like else ''}")
    return [
        (
            part,
            {
                name: _renamed(parameter, prefix) if names.count(name) > 1 else parameter
                for name, parameter in own.items()
            },
        )
        for prefix, (part, own) in zip(called, parts, strict=True)
    ]


def _renamed(parameter: Parameter, prefix: str) -> Parameter:
    return replace(parameter, name=f"{prefix}.{parameter.name}")


def name_of(heuristic: Any) -> str:
    """The name of the function behind a heuristic."""
    heuristic = base_function(heuristic)
    while isinstance(heuristic, partial):
        heuristic = heuristic.func
    return str(getattr(heuristic, "__name__", type(heuristic).__name__))


def _parts(heuristic: Any) -> list[Any]:
    """The heuristic, and what a composite is made of, each once."""
    heuristic = opened(heuristic)
    heuristics: list[Any] = [heuristic]
    if not hasattr(heuristic, "phases"):
        return heuristics
    for _, parts in heuristic.phases:
        for _, part in parts:
            heuristics += [inner for inner in _parts(part) if not any(inner is known for known in heuristics)]
    return heuristics


def _filled(heuristic: Any, given: Mapping[int, Mapping[str, float]]) -> Any:
    """The heuristic, its functions with these arguments filled in."""
    heuristic = opened(heuristic)
    if not hasattr(heuristic, "phases"):
        return partial(heuristic, **given[id(heuristic)]) if given.get(id(heuristic)) else heuristic
    own = given.get(id(heuristic), {})
    phases = tuple(
        (until, tuple((_weighed(weight, own), _filled(part, given)) for weight, part in parts))
        for until, parts in heuristic.phases
    )
    return replace(heuristic, phases=phases)


def _weighed(weight: Any, given: Mapping[str, float]) -> Any:
    """A weight with the value that it is given."""
    return replace(weight, value=given[weight.name]) if hasattr(weight, "name") and weight.name in given else weight


def _weights(composite: Any) -> dict[str, Parameter]:
    """The parameters that are weights of a composite."""
    named = [weight for _, parts in composite.phases for weight, _ in parts if hasattr(weight, "name")]
    return {
        weight.name: _parameter(
            weight.name, float(weight.value), Annotated[float, annotated_types.Interval(ge=weight.low, le=weight.high)]
        )
        for weight in named
    }


def _declared(function: Any) -> dict[str, Parameter]:
    """The parameters in the signature of a function."""
    numbers = [
        keyword for keyword in _keywords(function) if _is_number(keyword.default) and _takes(function, keyword.name)
    ]
    hints = _hints(function) if numbers else {}
    return {number.name: _parameter(number.name, number.default, hints.get(number.name)) for number in numbers}


def _keywords(function: Any) -> list[inspect.Parameter]:
    """The keyword-only arguments in the signature of a function."""
    try:
        arguments = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # built-ins that do not tell, and what cannot be called
        return []
    return [argument for argument in arguments if argument.kind is argument.KEYWORD_ONLY]


def _takes(function: Any, name: str) -> bool:
    """Whether a function takes a keyword that it shows: a decorator may show the signature of what it hides."""
    try:
        inspect.signature(function, follow_wrapped=False).bind_partial(**{name: 0})
    except TypeError:
        return False
    except ValueError:  # a cache
        return True
    return True


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -_LARGEST <= value <= _LARGEST


def _hints(function: Any) -> dict[str, Any]:
    while isinstance(function, partial):
        function = function.func
    function = inspect.unwrap(function)
    try:
        return get_type_hints(function, include_extras=True)
    except Exception:  # annotations may be anything
        return dict(getattr(function, "__annotations__", {}))


def _parameter(name: str, default: float, hint: Any) -> Parameter:
    kind, *constraints = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if get_origin(kind) is Literal:
        if _bounds(constraints, True) != (-math.inf, math.inf):
            raise ParameterError(f"{name} is declared both as a choice and with a range: remove the range")
        return _choice(name, default, get_args(kind))
    default = float(default) if kind is float else default
    least, most = _bounds(constraints, isinstance(default, int))
    if not least <= default <= most:
        raise ParameterError(f"the default of {name}, {default:g}, is not within its range, {range_text(least, most)}")
    low, high = sorted((0 * default, min(max(2 * default, -_LARGEST), _LARGEST)))
    low, high = (least if least > -math.inf else low), (most if most < math.inf else high)
    if max(high, default) / 2 - min(low, default) / 2 > _LARGEST / 2:
        raise ParameterError(f"the range of {name}, {range_text(low, high)}, is too wide to search")
    return Parameter(name, default, min(low, default), max(high, default), least, most)


def _choice(name: str, default: float, choices: tuple[Any, ...]) -> Parameter:
    if not all(type(choice) is int for choice in choices):
        raise ParameterError(f"the choices of {name} must be whole numbers, as in Literal[2, 3, 5]")
    if default not in choices:
        raise ParameterError(f"the default of {name}, {default:g}, is not among its choices, {choices_text(choices)}")
    low, high = min(choices), max(choices)
    return Parameter(name, int(default), low, high, low, high, choices)


def _bounds(constraints: list[Any], is_whole: bool) -> tuple[float, float]:
    """The range that annotations declare, ends included."""
    least, most = -math.inf, math.inf
    for constraint in _unpacked(constraints):
        if isinstance(constraint, annotated_types.Ge):
            least = max(least, constraint.ge)  # type: ignore[call-overload]
        elif isinstance(constraint, annotated_types.Gt):
            least = max(least, constraint.gt + 1 if is_whole else math.nextafter(constraint.gt, math.inf))  # type: ignore[operator, arg-type]
        elif isinstance(constraint, annotated_types.Le):
            most = min(most, constraint.le)  # type: ignore[call-overload]
        elif isinstance(constraint, annotated_types.Lt):
            most = min(most, constraint.lt - 1 if is_whole else math.nextafter(constraint.lt, -math.inf))  # type: ignore[operator, arg-type]
    return least, most


def _unpacked(constraints: list[Any]) -> Iterator[Any]:
    for constraint in constraints:
        if isinstance(constraint, annotated_types.GroupedMetadata):
            yield from constraint
        else:
            yield constraint


def _hint(name: str, known: Sequence[str]) -> str:
    if not known:
        return "it has none: a parameter is a keyword-only argument whose default is a number, as in `*, reach=0.5`"
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]}?" if near else f"it has {', '.join(known)}"
