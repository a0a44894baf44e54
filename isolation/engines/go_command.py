"""Parse the `go` command into search limits."""

from __future__ import annotations

import re
from dataclasses import dataclass

from isolation.rules.limits import Limit
from isolation.usercode.user_exceptions import to_one_line

OVERHEAD_MS = 10.0
"""What is left of a time for the way of the answer."""
_MOVES_TO_GO = 20
"""Into how many moves the time left is divided where nobody says how many there are; games of 7x7 have no more."""
_SHOWN = 40
_CLOCKS = {"p1time": "wtime", "p2time": "btime", "p1inc": "winc", "p2inc": "binc"}


@dataclass(frozen=True)
class GoRequest:
    """A search that is asked for; it ends with the first of its limits that it reaches.

    Attributes:
        depth, nodes, ms: its limits; without any of them the agent has its own.
        is_infinite: it waits for `stop` to answer.
        notes: where it is not the one that was asked for, what is done instead.
    """

    depth: int | None = None
    nodes: int | None = None
    ms: float | None = None
    is_infinite: bool = False
    notes: tuple[str, ...] = ()

    @property
    def limits(self) -> tuple[Limit, ...]:
        """One limit for each of depth, nodes and time that is said."""
        said = {"depth": self.depth, "nodes": self.nodes, "ms": self.ms}
        return tuple(Limit(**{unit: value}) for unit, value in said.items() if value is not None)  # type: ignore[arg-type]


def read_go(words: list[str], active_index: int) -> GoRequest:
    """What the words behind `go` ask of the side to move; a number that is none is left out, with a note.

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
    """What of a time is thought for."""
    return max(1.0, time / 2, time - OVERHEAD_MS)
