"""Parameters of commands: what a value means and may be, said once for Python and the command line.

A command is a function marked by `command`. The annotation of a parameter says what it accepts, and with `About` how
it is described and written on the command line; its default is that of the signature. Values are checked by the same
function on both sides, so that a mistake gets the same sentence.
"""

from __future__ import annotations

import functools
import inspect
import math
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from knights_isolation.isolation.files.atomic_write import check_output

Passing = Literal["position", "star", "name"]
View = Literal["rows", "json", "tables", "full", "plot", "html"]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class About:
    """What is known of a parameter besides its type and its default.

    Attributes:
        help: its description; one in the docstring of a function comes before it.
        low, high: bounds of a number; `is_open` excludes them.
        metavar: placeholder on the command line.
        complete: what its values are for completion: agent, file, run, heuristic or plot.
        flags: its options, if they are not named like the parameter.
        hidden: former options, which are taken, but not shown.
        place: whether it is an argument or an option on the command line, or only in Python; by default arguments are
            the parameters that a call may pass by position.
        suffixes: endings of a file to write; such a path is checked before anything is computed. Of any file: ("",).
        is_folder: the path to write may be a folder, and its parents may be missing.
        is_code: it may name user code, with which the command line continues in a child process.
        is_needed: there must be one value at least of any number.
        count: values after one option.
        is_many: it takes any number of values, although one alone may be given in Python, too.
        flag_value: value of the option without one.
        variable: an environment variable that has the value if the option is not given.
        is_position: it is a Board, which the command line makes of --board, --moves and --fen.
        is_raw: arguments that are taken as they are, even if they look like options.
    """

    help: str = ""
    low: float | None = None
    high: float | None = None
    is_open: bool = False
    metavar: str = ""
    complete: Literal["", "agent", "file", "run", "heuristic", "plot"] = ""
    flags: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    place: Literal["", "argument", "option", "python"] = ""
    suffixes: tuple[str, ...] = ()
    is_folder: bool = False
    is_code: bool = False
    is_needed: bool = False
    count: int = 1
    is_many: bool = False
    flag_value: str = ""
    variable: str = ""
    is_position: bool = False
    is_raw: bool = False


@dataclass(frozen=True)
class Parameter:
    """A parameter of a command.

    Attributes:
        name: in Python.
        kind: int, float, bool, or str for everything else that text can be.
        about: what else is known of it.
        choices: the values it may have, if they are listed.
        default: None if it has none.
        is_required: whether it has no default.
        is_many: whether it takes any number of values.
        is_argument: whether it is an argument on the command line.
        passing: how a call passes it: by its position, among `*name`, or by name.
    """

    name: str
    kind: type
    about: About
    choices: tuple[str, ...]
    default: Any
    is_required: bool
    is_many: bool
    is_argument: bool
    passing: Passing

    def checked(self, value: Any) -> Any:
        """Return a value as the function takes it.

        Raises:
            ValueError: it is none; the message has neither the name nor the option in front.
        """
        if value is None or callable(value):
            return value
        if isinstance(value, list | tuple) and (self.is_many or self.about.count > 1 or self.kind is str):
            return type(value)(map(self._checked, value))
        return self._checked(value)

    def _checked(self, value: Any) -> Any:
        if self.choices and value in self.choices:
            return value
        if self.kind in (int, float) and not isinstance(value, bool):
            value = _number(value, self.kind, self.choices)
            _check_range(value, self.about)
        elif self.choices:
            raise ValueError(f"{value!r} is not one of {', '.join(map(repr, self.choices))}")
        if self.about.suffixes or self.about.is_folder:
            suffixes = tuple(suffix for suffix in self.about.suffixes if suffix)
            check_output(Path(value), suffixes, makes_folders=self.about.is_folder)
        return value


@dataclass(frozen=True)
class Command:
    """A function that is a command.

    Attributes:
        function: what users of Python call.
        parameters: in the order of its signature.
        help: its docstring up to the list of parameters.
        examples: command lines in its docstring.
        views: further ways of showing its result, each an option of the command line.
        tables: names of its tables, if they do not depend on its arguments.
    """

    function: Callable[..., Any]
    parameters: tuple[Parameter, ...]
    help: str
    examples: tuple[str, ...]
    views: tuple[View, ...]
    tables: tuple[str, ...]


def command(*views: View, tables: tuple[str, ...] = ()) -> Callable[[F], F]:
    """Mark a function as a command, and check its arguments; `views` are the ways of showing its result.

    "rows": one table in any format, in JSON a list, with "json" also by --json; "tables": several with notes, whose
    names the command line checks first if they are among `tables`; "full": a first look at them, and all of them with
    --full; "plot" and "html": its plot or page in a file.
    """

    def mark(function: F) -> F:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def checked(*arguments: Any, **keywords: Any) -> Any:
            bound = signature.bind(*arguments, **keywords)
            known = {parameter.name: parameter for parameter in parameters_of(function)}
            for name, value in list(bound.arguments.items()):
                if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
                    bound.arguments[name] = {key: _checked(known.get(key), key, each) for key, each in value.items()}
                else:
                    bound.arguments[name] = _checked(known.get(name), name, value)
            return function(*bound.args, **bound.kwargs)

        checked.__dict__.update(views=views, tables=tables)
        return checked  # type: ignore[return-value]

    return mark


def _checked(parameter: Parameter | None, name: str, value: Any) -> Any:
    try:
        return parameter.checked(value) if parameter else value
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def command_of(function: Callable[..., Any]) -> Command:
    """Return a function as a command."""
    text, sections = _parts_of_docstring(function)
    examples = tuple(line.strip() for line in sections.get("Examples", "").splitlines() if line.strip())
    plain = inspect.unwrap(function)
    views, tables = (getattr(function, key, ()) for key in ("views", "tables"))
    return Command(function, parameters_of(plain), text, examples, views, tables)


@functools.cache
def parameters_of(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """Return the parameters of a function, with those of its `**settings: Unpack[...]` in their place."""
    described = _described(function)
    return tuple(
        replace(parameter, about=replace(parameter.about, help=described.get(parameter.name, parameter.about.help)))
        for parameter in _bare_parameters(function)
    )


def _bare_parameters(function: Callable[..., Any]) -> Iterator[Parameter]:
    for parameter in inspect.signature(function).parameters.values():
        hint = _evaluated(parameter.annotation, function)
        if parameter.kind is parameter.VAR_KEYWORD:
            (settings,) = get_args(hint)
            for name, each in settings.__annotations__.items():
                yield _parameter(name, _evaluated(each, settings), None, "name", is_required=False)
            continue
        passing = _PASSINGS.get(parameter.kind, "position")
        is_required = parameter.default is parameter.empty and passing != "star"
        default = None if parameter.default is parameter.empty else parameter.default
        yield _parameter(parameter.name, hint, default, passing, is_required=is_required)


def _evaluated(annotation: Any, of: Any) -> Any:
    """Return an annotation as an object; strings inside it stay, as they may name what only type checkers import."""
    text = getattr(annotation, "__forward_arg__", annotation)
    return eval(text, vars(sys.modules[of.__module__])) if isinstance(text, str) else annotation


_PASSINGS: dict[Any, Passing] = {inspect.Parameter.VAR_POSITIONAL: "star", inspect.Parameter.KEYWORD_ONLY: "name"}


def _parameter(name: str, hint: Any, default: Any, passing: Passing, *, is_required: bool) -> Parameter:
    kinds, about, choices, is_sequence = _unwrapped(hint)
    is_argument = about.place == "argument" if about.place else passing != "name"
    kind: type = next((kind for kind in (bool, int, float) if kind in kinds), str)
    is_many = (is_sequence or about.is_many or passing == "star") and about.count == 1
    is_required = is_required or about.is_needed
    return Parameter(name, kind, about, choices, default, is_required, is_many, is_argument, passing)


def _unwrapped(hint: Any) -> tuple[list[type], About, tuple[str, ...], bool]:
    """Return the types in an annotation, what it is about, its listed values, and whether it takes several."""
    origin = get_origin(hint)
    if origin is Annotated:
        inner, *extras = get_args(hint)
        kinds, about, choices, is_many = _unwrapped(inner)
        said = {key: value for extra in extras for key, value in vars(extra).items() if value != getattr(About, key)}
        return kinds, replace(about, **said), choices, is_many
    if origin is Literal:
        return [str], About(), get_args(hint), False
    if origin in (Union, types.UnionType):
        parts = [_unwrapped(part) for part in get_args(hint) if part is not type(None)]
        kinds = [kind for part in parts for kind in part[0]]
        about = next((part[1] for part in parts if part[1] != About()), About())
        is_text = any(str in part[0] and not part[2] and not part[3] for part in parts)
        listed: tuple[str, ...] = sum((part[2] for part in parts), ())
        return [str] if is_text else kinds, about, listed, not is_text and any(part[3] for part in parts)
    if origin in (tuple, list) or (isinstance(origin, type) and issubclass(origin, Sequence)):
        kinds, about, choices, _ = _unwrapped(get_args(hint)[0])
        return kinds, about, choices, True
    return [hint if isinstance(hint, type) else object], About(), (), False


def _described(function: Callable[..., Any]) -> Mapping[str, str]:
    """Return the descriptions of parameters in a docstring, as sentences."""
    listed = _parts_of_docstring(function)[1].get("Args", "")
    found = re.findall(r"^ {4}(\w+(?:, \w+)*): (.+?)(?=\n {4}\w|\Z)", listed, re.MULTILINE | re.DOTALL)
    words = {name: " ".join(text.split()) for names, text in found for name in names.split(", ")}
    return {name: text[:1].upper() + text[1:] for name, text in words.items()}


def _parts_of_docstring(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Return the text of a docstring, and its sections by their headings."""
    text, *parts = re.split(r"^(Args|Examples|Raises|Returns|Yields):\n", inspect.getdoc(function) or "", flags=re.M)
    return text.strip(), dict(zip(parts[::2], parts[1::2], strict=True))


def _number(value: Any, kind: type, others: Sequence[str]) -> Any:
    """Return a number, also of text; a whole one if `kind` is int."""
    if isinstance(value, str) and re.fullmatch(r"\d{1,3}(,\d{3})+", value):
        value = value.replace(",", "")
    alternative = "".join(f" or {other!r}" for other in others)
    error = ValueError(f"{value!r} is not a {'whole ' * (kind is int)}number{alternative}")
    try:
        number = kind(value)
    except (TypeError, ValueError, OverflowError):
        raise error from None
    if kind is int and not isinstance(value, str) and number != value:
        raise error
    return number


def _check_range(value: Any, about: About) -> None:
    low, high = about.low, about.high
    is_low = low is not None and (value < low or (about.is_open and value == low))
    is_high = high is not None and (value > high or (about.is_open and value == high))
    if not (is_low or is_high or (isinstance(value, float) and math.isnan(value))):
        return
    if high is None and not about.is_open:
        raise ValueError(f"{value} is less than {low:g}")
    sign = "<" if about.is_open else "<="
    bounds = f"{low:g}{sign}x" * (low is not None) or "x"
    raise ValueError(f"{value} is not in the range {bounds}" + (f"{sign}{high:g}" if high is not None else ""))
