"""What defines a game besides its moves: board size, limits of its players, outcome; and the cost of a node."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from math import inf
from operator import index
from time import perf_counter
from typing import NamedTuple


class Size(NamedTuple):
    """A board's size. As text it is ROWSxCOLUMNS, which `parse_size` can read.

    >>> f"{Size(9, 11)}"
    '9x11'
    """

    rows: int
    columns: int

    def __str__(self) -> str:
        return f"{self.rows}x{self.columns}"

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self.rows * self.columns


USUAL_SIZE = Size(7, 7)
SizeLike = str | tuple[int, int]
"""A size as people give it."""
MOST_COMPILED_CELLS = 128
"""Largest board supported by compiled code, which represents a set of cells as an integer of at most 128 bits."""
MOST_CELLS = 32_767
"""Largest board: logs store cells in 16 bits."""
_TOO_LARGE = f"too large: a board has at most {MOST_CELLS:,} cells"
_MOST_DIGITS = 9
_LONGEST_SHOWN = 60


def parse_size(text: str) -> Size:
    """Parse a size written ROWSxCOLUMNS.

    >>> parse_size("9x11")
    Size(rows=9, columns=11)

    Raises:
        ValueError: the text does not have that form, or a side is below 1.
    """
    match = re.fullmatch(r"\s*([+-]?\d+)\s*[xX×]\s*([+-]?\d+)\s*", text, re.ASCII) if isinstance(text, str) else None
    if match is None:
        shown = repr(text) if len(repr(text)) <= _LONGEST_SHOWN else f"{repr(text)[:_LONGEST_SHOWN]}…"
        raise ValueError(f"a board size must be ROWSxCOLUMNS, such as 7x7, not {shown}")
    if max(map(len, match.groups())) > _MOST_DIGITS:
        raise ValueError(_TOO_LARGE)
    return check_size(int(match[1]), int(match[2]))


def size_of(given: SizeLike) -> Size:
    """Return the size that a caller gave as text or as (rows, columns); for functions that people call.

    Raises:
        ValueError: there is no board of this size.
    """
    return check_size(*given) if isinstance(given, tuple) and len(given) == 2 else parse_size(given)


def check_size(rows: int, columns: int) -> Size:
    """Check a size; its sides become plain ints.

    Raises:
        ValueError: a side is not an integer or is below 1, or there are more than `MOST_CELLS` cells.
    """
    if any(isinstance(side, bool) or not hasattr(side, "__index__") for side in (rows, columns)):
        raise ValueError(f"rows and columns must be whole numbers, not {rows!r} and {columns!r}")
    if rows < 1 or columns < 1:
        raise ValueError(f"a board must have at least 1 row and 1 column, not {rows} x {columns}")
    if rows * columns > MOST_CELLS:
        raise ValueError(_TOO_LARGE)
    return Size(index(rows), index(columns))


_UNITS = ("depth", "nodes", "ms", "cpu_ms")
STEADY = 0.1
"""Relative interval width above which a cost is unsteady: it is measured again, and if still unsteady reported so."""


@dataclass(frozen=True)
class Limit:
    """Exactly one of a depth (in plies, including the root move), a node count, or wall or CPU time in milliseconds.

    Depth and nodes are reproducible; time depends on the machine.

    >>> Limit(depth=5)
    Limit(depth=5)
    >>> Limit(nodes=100, ms=5)
    Traceback (most recent call last):
    ValueError: a limit must be exactly one of depth, nodes, ms and cpu_ms, not nodes and ms
    """

    depth: int | None = None
    nodes: int | None = None
    ms: float | None = None
    cpu_ms: float | None = None

    def __post_init__(self) -> None:
        given = [unit for unit in _UNITS if getattr(self, unit) is not None]
        if len(given) != 1:
            several = " and ".join(given) or "none"
            raise ValueError(f"a limit must be exactly one of depth, nodes, ms and cpu_ms, not {several}")
        unit, value = given[0], getattr(self, given[0])
        kind, number = (int, "whole number") if self.is_reproducible else (int | float, "number")
        if isinstance(value, bool) or not isinstance(value, kind) or not 0 < value < inf:
            raise ValueError(f"{unit} must be a positive {number}, not {value!r}")
        if value >= 2**62:
            raise ValueError(f"{unit} must be less than {2**62:,}")

    @property
    def unit(self) -> str:
        """The unit that is set: depth, nodes, ms or cpu_ms."""
        return next(unit for unit in _UNITS if getattr(self, unit) is not None)

    @property
    def value(self) -> float:
        """The value in its unit."""
        return float(getattr(self, self.unit))

    @property
    def is_reproducible(self) -> bool:
        """Whether searches under this limit give the same result on every machine."""
        return self.unit in ("depth", "nodes")

    def __str__(self) -> str:
        return f"{self.unit}={self.value:g}" if self.value < 1e6 else f"{self.unit}={int(self.value)}"

    def __repr__(self) -> str:
        return f"Limit({self.unit}={getattr(self, self.unit)!r})"


TimeLeft = Callable[[], float]
"""Returns the milliseconds left for a player's move; negative if it is late."""


def start_clock(milliseconds: float, now: Callable[[], float] = perf_counter) -> TimeLeft:
    """Return the time left of so many milliseconds, which run from now on; `now` returns seconds."""
    started = now()
    return lambda: milliseconds - 1e3 * (now() - started)


@dataclass(frozen=True)
class Cost:
    """Cost of a search node. For MCTS a node is a simulation.

    Attributes:
        nanoseconds: CPU time per node, the minimum over all rounds, which other processes disturbed least.
        times: ratio to the reference's cost, the median over all rounds.
        low, high: 95 % interval of that median, from its order statistics.
    """

    nanoseconds: float
    times: float
    low: float
    high: float

    @property
    def spread(self) -> float:
        """Width of the interval, relative to the cost."""
        return (self.high - self.low) / self.times

    @property
    def is_steady(self) -> bool:
        """Whether the rounds agree well enough."""
        return self.spread <= STEADY

    def over(self, other: Cost) -> Cost:
        """Return the cost relative to another agent's; the interval is conservative."""
        if self == other:
            return Cost(self.nanoseconds, 1.0, 1.0, 1.0)
        return Cost(self.nanoseconds, self.times / other.times, self.low / other.high, self.high / other.low)


class Reason(IntEnum):
    """Reason why the loser lost. Compiled code and columns use the numbers; records and the log use the words."""

    NO_MOVES = 0
    """The loser had no legal move."""
    TIMEOUT = 1
    """Its move was late."""
    ILLEGAL_MOVE = 2
    """It played an illegal move."""
    ERROR = 3
    """It raised an exception, or its process died."""
    HANG = 4
    """It did not answer."""
    CRASH = 5
    """The engine could not be started, or it ended."""
    NONSENSE = 6
    """The engine's answer could not be parsed."""
    RESIGNED = 7
    """It named no move where every move loses, or a person gave up."""

    @property
    def word(self) -> str:
        """The reason's name in records and in the log, such as no_moves."""
        return self.name.lower()

    @property
    def is_forfeit(self) -> bool:
        """Whether the loser failed, rather than lost on the board: resigning a lost game changes no result."""
        return self not in (Reason.NO_MOVES, Reason.RESIGNED)


REASON_WORDS = tuple(reason.word for reason in Reason)
"""The words of all reasons, indexed by `Reason`."""
ON_THE_BOARD = tuple(reason.word for reason in Reason if not reason.is_forfeit)
"""The words of the reasons that are no forfeits."""
PROCESS_DIED = "its process died"
"""First words of the details of games lost because the player's process ended or had to be ended."""
AT_LAST = "; at last: "
"""Separator in details between the failure of an engine and the last lines of the dialogue."""
