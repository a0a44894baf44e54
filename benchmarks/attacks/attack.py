"""One attack: its description, and whether the guarantee held."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Attack:
    """An attack as described in the table, and what happened instead of the guarantee (empty if it held).

    `count` is the number of attacks this stands for.
    """

    what: str
    failure: str = ""
    count: int = 1


Family = Callable[[Path, float], Iterator[Attack]]


def some(things: Sequence[T], share: float) -> list[T]:
    """Return an evenly spread share of things, at least one."""
    wanted = max(1, round(len(things) * share))
    return [things[index * len(things) // wanted] for index in range(wanted)]
