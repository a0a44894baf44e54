"""Tunable parameters of heuristics: declaration, ranges, binding.

A parameter is a keyword-only argument whose default is a number: `def score(game, player, *, reach=0.5)`. Its range is
declared with the constraints of `annotated_types`: `reach: Annotated[float, Interval(ge=0, le=2)] = 0.5`. Without a
range, tools search from 0 to twice the default, or to the largest float; from -1 to 1, or as far as its term deserves,
if the default is 0.0. If the default is an integer, only integers
are allowed, unless the parameter is annotated `float`. `layers: Literal[2, 3, 5] = 3` is a categorical parameter with
integer values, whose order has no meaning. The parameters of a composite are those of its parts, and its named weights.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property, lru_cache, partial
from itertools import chain
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import annotated_types

Heuristic = Callable[..., float]
_LARGEST = sys.float_info.max
KINDS_OF_VALUES = "parameters must be numbers, and choices whole numbers, as in Literal[0, 1]"
"""Error message for invalid kinds of values."""


class ParameterError(ValueError):
    """The heuristic has no such parameter, or its value is not allowed; the message is one line."""


@dataclass(frozen=True)
class Parameter:
    """A tunable number of a heuristic, by its name in specs.

    Attributes:
        low, high: range searched by tools, inclusive and finite.
        least, most: declared bounds, inclusive; infinite if not declared.
        choices: the allowed integers of a categorical parameter; else empty.
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
        """Whether it takes integers only."""
        return isinstance(self.default, int)

    @property
    def is_unscaled(self) -> bool:
        """Whether nothing says how large its values may be: it starts at 0, and no bound is declared."""
        return not self.is_whole and self.default == 0 and (self.least, self.most) == (-math.inf, math.inf)

    def checked(self, value: float) -> float:
        """Check a value and convert it to the type that the heuristic expects.

        Raises:
            ParameterError: the value is outside of the declared range, or not an integer although one is required.
        """
        if not math.isfinite(value):
            raise ParameterError(f"{self.name} must be a finite number, not {value:g}")
        if self.is_whole and not self.choices and value != int(value):
            raise ParameterError(f"{self.name} must be a whole number, like its default {self.default}, not {value:g}")
        if not self.least <= value <= self.most or (self.choices and value not in self.choices):
            raise ParameterError(f"{self.name} must be {self.allowed}, not {value:g}")
        return int(value) if self.is_whole else float(value)

    def __str__(self) -> str:
        return f"{self.name}={self.default:g} ({self.range_text})"

    @property
    def range_text(self) -> str:
        """The range searched by tools, in words."""
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


def choices_text(choices: Sequence[object], before_last: str = "or") -> str:
    """Format choices, or parts joined by another word, in words.

    >>> choices_text((2, 3, 5)), choices_text(["alpha", "beta"], "and")
    ('2, 3 or 5', 'alpha and beta')
    """
    *others, last = map(str, choices)
    return f"{', '.join(others)} {before_last} {last}" if others else last


def range_text(low: float, high: float, format_number: Callable[[float], str] = "{:g}".format) -> str:
    """Format a range in words; an open end is shown as it was declared.

    >>> range_text(0, 2)
    '0 to 2'
    >>> range_text(math.nextafter(0, 1), 2)
    'more than 0, to 2'
    """
    below, above = _left_out(low, -math.inf), _left_out(high, math.inf)
    first = format_number(low) if below is None else f"more than {format_number(below)},"
    return f"{first} to {format_number(high) if above is None else f'less than {format_number(above)}'}"


def _left_out(end: float, outwards: float) -> float | None:
    """Return the bound just beyond an end of a range if the range was declared open there, recognised by its digits."""
    if not math.isfinite(end):
        return None
    beyond = math.nextafter(end, outwards)
    return beyond if math.isfinite(beyond) and len(repr(beyond)) + 2 < len(repr(float(end))) else None


@dataclass(frozen=True)
class BoundHeuristic:
    """A heuristic with values for some of its parameters, called like any heuristic.

    Bound heuristics that differ only in values share compiled code.
    """

    function: Heuristic
    values: tuple[tuple[str, float], ...]

    def __call__(self, game: Any, player: Any) -> float:
        """Return the function's value with these parameters."""
        return self.bound(game, player)

    @cached_property
    def bound(self) -> Heuristic:
        """The function with its parameters filled in: a partial function, or a composite of partial functions."""
        values = dict(self.values)
        given = {
            id(part): {own: values[parameter.name] for own, parameter in parameters.items() if parameter.name in values}
            for part, parameters in owners(self.function)
        }
        bound: Heuristic = filled(self.function, given)
        return bound


def parameters_of(heuristic: Any) -> tuple[Parameter, ...]:
    """Return the parameters of a heuristic in the order of its signature; those of a composite part by part.

    Parts that are the same function share their parameters. If different parts have parameters of the same name, these
    are named `PART.NAME`.

    Raises:
        ParameterError: a range is empty, too wide, or does not contain the default.
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
    """Return the values of a heuristic's parameters, bound or default, in the order of `parameters_of`."""
    return {parameter.name: parameter.default for parameter in parameters_of(heuristic)}


def bind_parameters(heuristic: Heuristic, values: Mapping[str, float]) -> Heuristic:
    """Bind values to some of a heuristic's parameters; return the heuristic itself if there are none.

    Raises:
        ParameterError: the heuristic has no such parameter, or the value is not allowed.
    """
    if not values:
        return heuristic
    known = {parameter.name: parameter for parameter in parameters_of(heuristic)}
    for name in values:
        if name not in known:
            raise ParameterError(unknown(heuristic, name))
    bound = dict(heuristic.values) if isinstance(heuristic, BoundHeuristic) else {}
    bound |= {name: known[name].checked(values[name]) for name in known if name in values}
    return BoundHeuristic(base_function(heuristic), tuple((name, bound[name]) for name in known if name in bound))


def unknown(heuristic: Any, name: str) -> str:
    """Explain in one line that a heuristic has no parameter of that name, and suggest or list existing ones."""
    defaults = no_parameters(heuristic)
    if name in defaults:
        return f"{name} is not a parameter of {name_of(heuristic)}: its default is {defaults[name]}; {KINDS_OF_VALUES}"
    known = [parameter.name for parameter in parameters_of(heuristic)]
    hint = f"it has {', '.join(known)}"
    if not known:
        hint = "it has none: a parameter is a keyword-only argument whose default is a number, as in `*, reach=0.5`"
    elif near := get_close_matches(name, known, n=1):
        hint = f"did you mean {near[0]}?"
    return f"{name_of(heuristic)} has no parameter {name!r}; {hint}"


def no_parameters(heuristic: Any) -> dict[str, str]:
    """Return keyword-only arguments of a heuristic that are not parameters, with descriptions of their defaults."""
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
    """Return the function behind a heuristic, with default parameters."""
    return heuristic.function if isinstance(heuristic, BoundHeuristic) else heuristic


def opened(heuristic: Any) -> Any:
    """Convert a bound heuristic to a partial function or a composite of them; return other heuristics unchanged."""
    return heuristic.bound if isinstance(heuristic, BoundHeuristic) else heuristic


def owners(heuristic: Any) -> list[tuple[Any, dict[str, Parameter]]]:
    """Return the parts of a heuristic that have parameters: functions (arguments) and composites (weights)."""
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
    for prefix, (_, own) in zip(called, parts, strict=True):
        for name in own:
            if names.count(name) > 1:
                own[name] = replace(own[name], name=f"{prefix}.{own[name].name}")
    return parts


def unpartial(function: Any) -> Any:
    """Return the function of a partial function; others as they are."""
    while isinstance(function, partial):
        function = function.func
    return function


def name_of(heuristic: Any) -> str:
    """Return the name of the function behind a heuristic."""
    heuristic = unpartial(base_function(heuristic))
    return str(getattr(heuristic, "__name__", type(heuristic).__name__))


def _parts(heuristic: Any) -> list[Any]:
    """Return the heuristic and all parts of a composite, each once."""
    heuristic = opened(heuristic)
    heuristics: list[Any] = [heuristic]
    if not hasattr(heuristic, "phases"):
        return heuristics
    for _, parts in heuristic.phases:
        for _, part in parts:
            heuristics += [inner for inner in _parts(part) if not any(inner is known for known in heuristics)]
    return heuristics


def filled(heuristic: Any, given: Mapping[int, Mapping[str, Any]]) -> Any:
    """The heuristic with values for parameters, by the id of the part that has them and their names there."""
    heuristic = opened(heuristic)
    if not hasattr(heuristic, "phases"):
        return partial(heuristic, **given[id(heuristic)]) if given.get(id(heuristic)) else heuristic
    own = given.get(id(heuristic), {})
    phases = tuple(
        (until, tuple((_weighed(weight, own), filled(part, given)) for weight, part in parts))
        for until, parts in heuristic.phases
    )
    return replace(heuristic, phases=phases)


def _weighed(weight: Any, given: Mapping[str, float]) -> Any:
    return replace(weight, value=given[weight.name]) if hasattr(weight, "name") and weight.name in given else weight


def _weights(composite: Any) -> dict[str, Parameter]:
    named = {weight.name: weight for _, parts in composite.phases for weight, _ in parts if hasattr(weight, "name")}
    ranges = {name: annotated_types.Interval(ge=weight.low, le=weight.high) for name, weight in named.items()}
    return {
        name: _parameter(name, float(weight.value), Annotated[float, ranges[name]]) for name, weight in named.items()
    }


def _declared(function: Any) -> dict[str, Parameter]:
    numbers = [
        keyword for keyword in _keywords(function) if _is_number(keyword.default) and _takes(function, keyword.name)
    ]
    hints = _hints(function) if numbers else {}
    return {number.name: _parameter(number.name, number.default, hints.get(number.name)) for number in numbers}


def _keywords(function: Any) -> list[inspect.Parameter]:
    return [argument for argument in arguments_of(function) if argument.kind is argument.KEYWORD_ONLY]


def arguments_of(function: Any) -> list[inspect.Parameter]:
    """Return what a function takes; empty for built-ins without a signature, and for values that are not callable."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def _takes(function: Any, name: str) -> bool:
    """Return whether a function really accepts a keyword; its signature may be that of a function it wraps."""
    with suppress(ValueError):  # a cache
        try:
            inspect.signature(function, follow_wrapped=False).bind_partial(**{name: 0})
        except TypeError:
            return False
    return True


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -_LARGEST <= value <= _LARGEST


def _hints(function: Any) -> dict[str, Any]:
    function = inspect.unwrap(unpartial(function))
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
    is_open = default == 0 and isinstance(default, float)
    low, high = (-1.0, 1.0) if is_open else sorted((0 * default, min(max(2 * default, -_LARGEST), _LARGEST)))
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
    """Return the range that annotations declare, inclusive."""
    groups = [each if isinstance(each, annotated_types.GroupedMetadata) else [each] for each in constraints]

    def ends(kind: type, name: str) -> list[Any]:
        return [getattr(each, name) for each in chain.from_iterable(groups) if isinstance(each, kind)]

    above = [end + 1 if is_whole else math.nextafter(end, math.inf) for end in ends(annotated_types.Gt, "gt")]
    below = [end - 1 if is_whole else math.nextafter(end, -math.inf) for end in ends(annotated_types.Lt, "lt")]
    least = max([-math.inf, *ends(annotated_types.Ge, "ge"), *above])
    return least, min([math.inf, *ends(annotated_types.Le, "le"), *below])
