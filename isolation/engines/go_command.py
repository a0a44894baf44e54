"""Parse the `go` command into search limits."""

from __future__ import annotations

import re
from dataclasses import dataclass

from isolation.rules.limits import Limit
from isolation.usercode.user_exceptions import to_one_line

OVERHEAD_MS = 10.0
"""Part of a time limit reserved for transmitting the answer."""
_MOVES_TO_GO = 20
"""Number of moves that share the remaining time if `movestogo` is not given; 7x7 games have no more."""
_SHOWN = 40
_CLOCKS = {"p1time": "wtime", "p2time": "btime", "p1inc": "winc", "p2inc": "binc"}


@dataclass(frozen=True)
class GoRequest:
    """The search requested by `go`; it ends when any of its limits is reached.

    Attributes:
        depth, nodes, ms: limits; without any, the agent's own applies.
        is_infinite: answer only after `stop`.
        notes: what is done differently from the request.
    """

    depth: int | None = None
    nodes: int | None = None
    ms: float | None = None
    is_infinite: bool = False
    notes: tuple[str, ...] = ()

    @property
    def limits(self) -> tuple[Limit, ...]:
        """One `Limit` for each of depth, nodes and time that is given."""
        said = {"depth": self.depth, "nodes": self.nodes, "ms": self.ms}
        return tuple(Limit(**{unit: value}) for unit, value in said.items() if value is not None)  # type: ignore[arg-type]


def read_go(words: list[str], active_index: int) -> GoRequest:
    """Parse the arguments of `go` for the side to move; invalid numbers are ignored with a note.

    >>> read_go(["nodes", "500", "movetime", "100"], 0).limits
    (Limit(nodes=500), Limit(ms=90.0))
    >>> read_go(["p1time", "2000", "p2time", "9"], 0).limits
    (Limit(ms=90.0),)
    """
    said = {_CLOCKS.get(name, name): index for index, name in enumerate(words)}
    notes: list[str] = []
    if "infinite" in said:
        return GoRequest(is_infinite=True)

    def number(name: str) -> int | None:
        if name not in said:
            return None
        text = words[said[name] + 1] if said[name] + 1 < len(words) else ""
        if re.fullmatch(r"-?\d{1,15}", text, re.ASCII):
            return int(text)
        notes.append(f"go {name} expects a whole number, not {to_one_line(repr(text), _SHOWN)}; ignored")
        return None

    def positive(name: str) -> int | None:
        if (value := number(name)) is not None and value < 1:
            notes.append(f"go {name} {value} is treated as go {name} 1")
        return value if value is None else max(1, value)

    depth, nodes = positive("depth"), positive("nodes")
    times: list[float | None] = [number("movetime")]
    left, increment = number("wb"[active_index] + "time"), number("wb"[active_index] + "inc") or 0
    moves = max(1, number("movestogo") or _MOVES_TO_GO)
    if left is not None:
        times.append(min(left / moves + increment, left))
    ms = min((_milliseconds(time) for time in times if time is not None), default=None)
    return GoRequest(depth, nodes, ms, notes=tuple(notes))


def _milliseconds(time: float) -> float:
    """Return the part of a time limit used for thinking."""
    return max(1.0, time / 2, time - OVERHEAD_MS)
