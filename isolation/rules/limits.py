"""`Limit` of a search: a depth, a number of nodes, wall time or CPU time; `Cost` of a node of it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

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
            raise ValueError(
                f"a limit must be exactly one of depth, nodes, ms and cpu_ms, not {' and '.join(given) or 'none'}"
            )
        value = getattr(self, given[0])
        whole = given[0] in ("depth", "nodes")
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or not 0 < value < inf:
            raise ValueError(f"{given[0]} must be a positive {'whole number' if whole else 'number'}, not {value!r}")
        if value >= 2**62:
            raise ValueError(f"{given[0]} must be less than {2**62:,}")

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
