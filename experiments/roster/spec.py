"""`Spec` and `SpecError`, which underlines the wrong part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from isolation.rules.limits import Limit

if TYPE_CHECKING:
    from isolation.engines.program import Program

UNITS = ("depth", "nodes", "ms", "cpu_ms")


class SpecError(ValueError):
    """A spec that cannot be read: the message, then the spec with the wrong part underlined."""

    def __init__(self, message: str, text: str, start: int, end: int) -> None:
        self.message = message
        super().__init__(f"{message}\n  {text}\n  {' ' * start}{'^' * max(1, end - start)}")


@dataclass(frozen=True)
class Spec:
    """A parsed spec. What it does not say is empty or None until `complete` fills it in.

    `kind` is the name of a row of `agent_kinds.KINDS`; `prefix` the word that specs of its kind begin with, if there is
    one; `method` how it searches, if it does. `target` is a registry name,
    `*`, `FILE.py:FUNCTION`, for a classic player `FILE.py:CLASS`, or for an engine its name or path; the name is empty
    where a file stands alone. `parameters` are those of the heuristic that differ from its defaults, by name and value.
    `options` are those of an engine, and `program` what it is if its name is known.
    `usual_limit` is what players of a file get that name none, once the file was looked into.
    `pattern` is what the path of the file matched, if a pattern found it.
    `start` and `end` are where it stands in `text`, for messages.
    """

    text: str
    kind: str
    prefix: str = ""
    name: str = ""
    method: str = ""
    target: str = ""
    limit: Limit | None = None
    switches: tuple[str, ...] = ()
    parameters: tuple[tuple[str, float], ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    program: Program | None = None
    usual_limit: Limit | None = None
    pattern: str = ""
    start: int = 0
    end: int = 0

    @property
    def is_file(self) -> bool:
        """Whether the target is a user's file."""
        return ".py:" in self.target

    def __str__(self) -> str:
        """The spec in the grammar; `parse_spec` reads it back."""
        player = ":".join(part for part in (self.prefix or self.method, self.target) if part) or self.kind
        limit = f"{self.limit.unit}={number_of(self.limit)}" if self.limit else ""
        given = (f"option.{name}={value}" for name, value in self.options)
        parameters = (f"option.{name}={number_text(value)}" for name, value in self.parameters)
        options = ",".join(part for part in (limit, *self.switches, *given, *parameters) if part)
        return f"{self.name + '=' if self.name else ''}{player}{'@' + options if options else ''}"


def parse_limit(text: str) -> Limit:
    """Read `depth=N`, `nodes=N`, `ms=X` or `cpu_ms=X`.

    >>> parse_limit("nodes=5000")
    Limit(nodes=5000)

    Raises:
        ValueError: the text is none of these, or the number is not positive.
    """
    unit, equals, value = text.partition("=")
    if unit not in UNITS or not equals:
        raise ValueError(f"a limit must be written depth=N, nodes=N, ms=N or cpu_ms=N, not {text!r}")
    whole = unit in ("depth", "nodes")
    try:
        number = parse_number(value)
        number = int(value) if whole else number
    except ValueError:
        raise ValueError(f"{unit} must be a positive {'whole number' if whole else 'number'}, not {value!r}") from None
    return Limit(**{unit: number})  # type: ignore[arg-type]


def parse_number(text: str) -> float:
    """A number as people write it; the underscores of Python's are none.

    >>> parse_number("0.5")
    0.5

    Raises:
        ValueError: it is none.
    """
    if "_" in text:
        raise ValueError(f"{text!r} is not a number")
    return float(text)


def number_of(limit: Limit) -> float:
    """The number of a limit, as short as it goes and in full."""
    number: float = getattr(limit, limit.unit)  # not its value: a float holds no more than 53 bits
    return int(number) if float(number).is_integer() else number


def number_text(value: float) -> str:
    """A number in full, as short as it goes.

    >>> number_text(2.0), number_text(0.1)
    ('2', '0.1')
    """
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def raise_spec_error(message: str, text: str, start: int, end: int) -> NoReturn:
    """Raise a SpecError that underlines text[start:end] without the blanks around it."""
    part = text[start:end]
    start += len(part) - len(part.lstrip()) if part.strip() else 0
    raise SpecError(message, text, start, start + len(part.strip()))
