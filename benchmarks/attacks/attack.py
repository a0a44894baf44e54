"""One attack: what was done, and whether what is promised held."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Attack:
    """What was done, in the words of the table; and what was seen instead of what is promised, empty if that held.

    `count` is how many attacks this stands for.
    """

    what: str
    failure: str = ""
    count: int = 1


Family = Callable[[Path, float], Iterator[Attack]]


def some(things: Sequence[T], share: float) -> list[T]:
    """A share of things, evenly spread, at least one."""
    wanted = max(1, round(len(things) * share))
    return [things[index * len(things) // wanted] for index in range(wanted)]
