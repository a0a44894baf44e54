"""`Spec` and `SpecError`, which underlines the wrong part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from knights_isolation.isolation.rules.limits import Limit

if TYPE_CHECKING:
    from knights_isolation.isolation.engines.protocol import Program

UNITS = ("depth", "nodes", "ms", "cpu_ms")


class SpecError(ValueError):
    """A spec that cannot be parsed: the message, then the spec with the wrong part underlined."""

    def __init__(self, message: str, text: str, start: int, end: int) -> None:
        self.message = message
        super().__init__(f"{message}\n  {text}\n  {' ' * start}{'^' * max(1, end - start)}")


@dataclass(frozen=True)
class Spec:
    """A parsed spec. Unspecified fields are empty or None until `complete` sets them.

    `kind` is the name of a row of `agent_kinds.KINDS`; `prefix` is the word that specs of its kind begin with, if any;
    `method` is its search method, if any. `target` is a registry name, `*`, `FILE.py:FUNCTION`, for a classic player
    `FILE.py:CLASS`, or for an engine its name or path; the name after `:` is empty for a file alone. `parameters` are
    those of the heuristic that differ from its defaults, by name and value. `options` are those of an engine, and
    `program` is its program if its name is known. `usual_limit` is the default limit of a file's player, once the file
    has been inspected. `pattern` is the part of the file's path that matched a pattern, if a pattern found it. `start`
    and `end` are its position in `text`, for messages.
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
        """Return whether the target is a user's file."""
        return ".py:" in self.target

    @property
    def path(self) -> str:
        """Path of the user's file; empty if the target is none."""
        return self.target.rpartition(":")[0] if self.is_file else ""

    @property
    def member(self) -> str:
        """Name of the function or class in its file."""
        return self.target.rpartition(":")[2]

    def __str__(self) -> str:
        """Format the spec; `parse_spec` reads it back."""
        player = ":".join(part for part in (self.prefix or self.method, self.target) if part) or self.kind
        limit = f"{self.limit.unit}={number_of(self.limit)}" if self.limit else ""
        given = (f"option.{name}={value}" for name, value in self.options)
        parameters = (f"option.{name}={number_text(value)}" for name, value in self.parameters)
        options = ",".join(part for part in (limit, *self.switches, *given, *parameters) if part)
        return f"{self.name + '=' if self.name else ''}{player}{'@' + options if options else ''}"


def split_reference(reference: str) -> tuple[str, str]:
    """Return the file and the name in ``FILE.py:NAME``, with or without ``ID:``; the name is empty for a file alone.

    >>> split_reference("ID:mine.py:score"), split_reference("mine.py")
    (('mine.py', 'score'), ('mine.py', ''))
    """
    reference = reference.removeprefix("ID:")
    path, _, name = reference.rpartition(":")
    return (path, name) if name and path.endswith(".py") else (reference, "")


def parse_limit(text: str) -> Limit:
    """Parse `depth=N`, `nodes=N`, `ms=X` or `cpu_ms=X`.

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
    """Parse a plain number, or raise ValueError; Python's underscores are not allowed.

    >>> parse_number("0.5")
    0.5
    """
    if "_" in text:
        raise ValueError(f"{text!r} is not a number")
    return float(text)


def number_of(limit: Limit) -> float:
    """Return the number of a limit, exactly and as short as possible."""
    number: float = getattr(limit, limit.unit)  # not its value: a float holds no more than 53 bits
    return int(number) if float(number).is_integer() else number


def number_text(value: float) -> str:
    """Format a number exactly and as short as possible.

    >>> number_text(2.0), number_text(0.1)
    ('2', '0.1')
    """
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def raise_spec_error(message: str, text: str, start: int, end: int) -> NoReturn:
    """Raise a SpecError that underlines text[start:end] without surrounding spaces."""
    part = text[start:end]
    start += len(part) - len(part.lstrip()) if part.strip() else 0
    raise SpecError(message, text, start, start + len(part.strip()))
