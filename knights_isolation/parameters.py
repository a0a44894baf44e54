"""Parameters of commands: what a value means and may be, said once for Python and the command line.

A command is a function marked by `command`. The annotation of a parameter says what it accepts, and with `About` how
it is described and written on the command line; its default is that of the signature. Values are checked by the same
function on both sides, so that a mistake gets the same sentence.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

View = Literal["rows", "json", "tables", "full", "plot", "html"]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class About:
    """A parameter of a command: in an annotation, what it says besides the type; the rest follows from the signature.

    Attributes:
        name: in Python.
        kind: int, float, bool, or str for everything else that text can be.
        choices: the values it may have, if they are listed.
        default: None if it has none.
        help: its description; one in the docstring of a function comes before it.
        low, high: bounds of a number; `is_open` excludes them. One with a `high` has a `low`.
        metavar: placeholder on the command line.
        complete: what its values are for completion: agent, file, run, heuristic or plot.
        flags: its options, if they are not named like the parameter.
        hidden: former options, which are taken, but not shown.
        place: whether it is an argument or an option on the command line, or only in Python; by default arguments are
            the parameters that a call may pass by position.
        suffixes: endings of a file to write; such a path is checked before anything is computed. Of any file: ("",).
        is_folder: the path to write may be a folder, and its parents may be missing.
        is_code: it may name user code, with which the command line continues in a child process.
        is_needed: it must be given; of any number of values, one at least.
        count: values after one option.
        is_many: it takes any number of values, although one alone may be given in Python, too.
        flag_value: value of the option without one.
        variable: an environment variable that has the value if the option is not given.
        is_position: it is a Board, which the command line makes of --board, --moves and --fen.
        is_raw: arguments that are taken as they are, even if they look like options.
    """

    name: str = ""
    kind: type = str
    choices: tuple[str, ...] = ()
    default: Any = None
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

    @property
    def said(self) -> dict[str, Any]:
        """What is not as by default."""
        return {key: value for key, value in vars(self).items() if value != getattr(About, key)}

    @property
    def word(self) -> str:
        """Its name on the command line."""
        return self.metavar if self.place == "argument" else self.flags[0]

    def checked(self, value: Any) -> Any:
        """Return a value as the function takes it.

        Raises:
            ValueError: it is none; the message has neither the name nor the option in front.
        """
        if value is None or callable(value) or (self.choices and value in self.choices):
            return value
        if isinstance(value, list | tuple) and (self.is_many or self.count > 1 or self.kind is str):
            return type(value)(map(self.checked, value))
        if self.kind in (int, float) and not isinstance(value, bool):
            value = self._number(value)
        elif self.choices:
            raise ValueError(f"{value!r} is not one of {', '.join(map(repr, self.choices))}")
        if self.suffixes or self.is_folder:
            from knights_isolation.isolation.files.atomic_write import check_output

            check_output(Path(value), tuple(filter(None, self.suffixes)), makes_folders=self.is_folder)
        return value

    def _number(self, value: Any) -> Any:
        """Return a number in the range, also of text; a whole one if `kind` is int."""
        if isinstance(value, str) and re.fullmatch(r"\d{1,3}(,\d{3})+", value):
            value = value.replace(",", "")
        low, high = self.low, self.high
        try:
            number = self.kind(value)
            is_broken = self.kind is int and not isinstance(value, str) and number != value
            if is_broken or (number != number and low is None):
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            others = "".join(f" or {other!r}" for other in self.choices)
            raise ValueError(f"{value!r} is not a {'whole ' * (self.kind is int)}number{others}") from None
        is_inside = (low is None or number >= low) and (high is None or number <= high)
        if is_inside and not (self.is_open and number in (low, high)):
            return number
        if high is None and not self.is_open:
            raise ValueError(f"{number} is less than {low:g}")
        sign = "<" if self.is_open else "<="
        raise ValueError(f"{number} is not in the range {low:g}{sign}x" + ("" if high is None else f"{sign}{high:g}"))


@dataclass(frozen=True)
class Command:
    """A function that is a command: its docstring up to the parameters, the examples there, and what `command` says."""

    function: Callable[..., Any]
    parameters: tuple[About, ...]
    help: str
    examples: tuple[str, ...]
    views: tuple[View, ...]
    tables: tuple[str, ...]


def command(*views: View, tables: tuple[str, ...] = ()) -> Callable[[F], F]:
    """Mark a function as a command, and check its arguments; `views` are the ways of showing its result.

    "rows": one table in any format, in JSON a list, with "json" also by --json; "tables": several with notes, whose
    names the command line checks first if they are among `tables`; "full": a first look at them, and all of them with
    --full; "plot" and "html": its plot or page in a file.

    Every command raises ValueError if an argument is not right, `Failed` if it could not do what it should, and
    `Stopped`, a KeyboardInterrupt, on Ctrl-C; its own docstring names only what else it raises.
    """

    def mark(function: F) -> F:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def checked(*arguments: Any, **keywords: Any) -> Any:
            bound = signature.bind(*arguments, **keywords)
            for values in (bound.arguments, bound.arguments.get("settings", {})):
                check(parameters_of(function), values, lambda parameter: parameter.name)
            return function(*bound.args, **bound.kwargs)

        checked.marks = {"views": views, "tables": tables}  # type: ignore[attr-defined]
        return checked  # type: ignore[return-value]

    return mark


def check(parameters: Iterable[About], values: dict[str, Any], word: Callable[[About], str]) -> None:
    """Replace values by what their parameters make of them.

    Raises:
        ValueError: one is wrong; the message begins with the `word` for its parameter.
    """
    for parameter in parameters:
        if parameter.name in values:
            try:
                values[parameter.name] = parameter.checked(values[parameter.name])
            except ValueError as error:
                raise ValueError(f"{word(parameter)}: {error}") from None


def command_of(function: Callable[..., Any]) -> Command:
    """Return a function as a command."""
    sections, parameters = _sections(function), parameters_of(inspect.unwrap(function))
    examples = tuple(line.strip() for line in sections.get("Examples", "").splitlines() if line.strip())
    return Command(function, parameters, sections[""].strip(), examples, **function.marks)  # type: ignore[attr-defined]


@functools.cache
def parameters_of(function: Callable[..., Any]) -> tuple[About, ...]:
    """Return the parameters of a function, with those of its `**settings: Unpack[...]` in their place."""
    listed = _sections(function).get("Args", "")
    found = re.findall(r"^ {4}(\w+(?:, \w+)*): (.+?)(?=\n {4}\w|\Z)", listed, re.MULTILINE | re.DOTALL)
    described = {name: " ".join(text.split()) for names, text in found for name in names.split(", ")}
    return tuple(_about(each, described.get(each.name, "")) for each in _flat_signature(function))


def _flat_signature(function: Callable[..., Any]) -> Iterator[inspect.Parameter]:
    for parameter in inspect.signature(function).parameters.values():
        hint = _evaluated(parameter.annotation, function)
        if parameter.kind is parameter.VAR_KEYWORD:
            (settings,) = get_args(hint)
            for name, each in settings.__annotations__.items():
                hint = _evaluated(each, settings)
                yield inspect.Parameter(name, parameter.KEYWORD_ONLY, default=None, annotation=hint)
        else:
            yield parameter.replace(annotation=hint)


def _about(parameter: inspect.Parameter, description: str) -> About:
    about, is_star = _meaning(parameter.annotation), parameter.kind is parameter.VAR_POSITIONAL
    is_given = parameter.default is not parameter.empty
    place = about.place or ("option" if parameter.kind is parameter.KEYWORD_ONLY else "argument")
    is_many = (about.is_many or is_star) and about.count == 1
    option = parameter.name.strip("_").replace("_", "-")
    return replace(
        about,
        name=parameter.name,
        default=parameter.default if is_given else None,
        help=description[:1].upper() + description[1:] or about.help,
        metavar=about.metavar or (parameter.name.upper() if place == "argument" else ""),
        flags=about.flags or (f"--{option.removesuffix('s') if is_many else option}",),
        place=place,
        is_needed=about.is_needed or not (is_given or is_star),
        is_many=is_many,
    )


def _evaluated(annotation: Any, of: Any) -> Any:
    """Return an annotation as an object; strings inside it stay, as they may name what only type checkers import."""
    text = getattr(annotation, "__forward_arg__", annotation)
    return eval(text, vars(sys.modules[of.__module__])) if isinstance(text, str) else annotation


def _meaning(hint: Any) -> About:
    """Return what an annotation says: its type, the values it lists, whether it takes several, and what is added."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return replace(_meaning(inner[0]), **{key: each for extra in inner[1:] for key, each in extra.said.items()})
    if origin is Literal:
        return About(choices=inner)
    if origin in (Union, types.UnionType):
        parts = [_meaning(part) for part in inner if part is not type(None)]
        said = {key: value for part in reversed(parts) for key, value in part.said.items()}
        is_text = any(part.kind is str and not part.choices and not part.is_many for part in parts)
        return About(**said | ({"kind": str, "is_many": False} if is_text else {}))
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return replace(_meaning(inner[0]), is_many=True)
    return About(kind=hint if hint in (bool, int, float) else str)


def _sections(function: Callable[..., Any]) -> dict[str, str]:
    """Return the parts of a docstring by their headings; the first has none."""
    text = inspect.getdoc(function) or ""
    first, *parts = re.split(r"^(Args|Examples|Raises|Returns|Yields):\n", text, flags=re.MULTILINE)
    return {"": first, **dict(zip(parts[::2], parts[1::2], strict=True))}
