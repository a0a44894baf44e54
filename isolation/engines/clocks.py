"""What `go` asks of an engine: how long it may think, read from the words behind it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from isolation.limits import Limit

WITHOUT_END = Limit(nodes=2**61)
OVERHEAD_MS = 10.0
"""What is left of a time for the way of the answer."""
_MOVES_TO_GO = 20
"""Into how many moves the time left is divided where nobody says how many there are; games of 7x7 have no more."""
_CLOCKS = {"p1time": "wtime", "p2time": "btime", "p1inc": "winc", "p2inc": "binc"}


@dataclass(frozen=True)
class Search:
    """A search that is asked for.

    Attributes:
        limit: None for the agent's own.
        is_infinite: it waits for `stop` to answer.
        note: where it is not the one that was asked for, what is done instead.
    """

    limit: Limit | None
    is_infinite: bool = False
    note: str = ""


def read_go(words: list[str], active_index: int) -> Search:
    """What the words behind `go` ask of the side to move; the first of depth, nodes, movetime and clocks counts.

    >>> read_go(["nodes", "500"], 0).limit, read_go(["p1time", "2000", "p2time", "9"], 0).limit
    (Limit(nodes=500), Limit(ms=90.0))

    Raises:
        ValueError: a number is missing or is none.
    """
    said = {_CLOCKS.get(name, name): place for place, name in enumerate(words)}

    def number(name: str) -> int | None:
        if name not in said:
            return None
        text = words[said[name] + 1] if said[name] + 1 < len(words) else ""
        if not re.fullmatch(r"-?\d{1,15}", text, re.ASCII):
            raise ValueError(f"go {name} is followed by a whole number, not by {text!r}")
        return int(text)

    if "infinite" in said:
        return Search(WITHOUT_END, is_infinite=True)
    for name in ("depth", "nodes"):
        if (value := number(name)) is not None:
            note = f"go {name} {value} is taken for go {name} 1" if value < 1 else ""
            return Search(Limit(**{name: max(1, value)}), note=note)
    if (time := number("movetime")) is not None:
        return Search(_time(time))
    left, more = number("wb"[active_index] + "time"), number("wb"[active_index] + "inc") or 0
    if left is None:
        return Search(None)
    moves = max(1, number("movestogo") or _MOVES_TO_GO)
    return Search(_time(min(left / moves + more, left)))


def _time(milliseconds: float) -> Limit:
    return Limit(ms=max(1.0, milliseconds / 2, milliseconds - OVERHEAD_MS))
