"""Memory of compiled code: a scratch workspace per call, and a table of answers that is kept from call to call.

Compiled code runs without Python's global lock, so calls in two threads run at the same time and must not share a desk.
One desk for each thread would not do either. A signal's handler or a finaliser may search between the end of a compiled
call and the reading of its answers, in the same thread; and a call that is waited for in another thread (see
`solver`) outlives its caller if the caller is interrupted twice. So a desk is lent for the length of a `with` block, in
which nobody else gets it, and the thread keeps those that came back, mostly a single one, for its next calls.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .layout import CHECKPOINT, DESK_SIZE, NODE_LIMIT, NODES, SLOT, SLOTS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Workspace:
    """Memory, int64[DESK_SIZE], and its address, which compiled code takes and which takes NumPy long to tell."""

    numbers: NDArray[np.int64]
    address: int


class _Free(threading.local):
    """The desks of this thread that nobody uses, and those in use if anybody wants to know."""

    def __init__(self) -> None:
        self.desks: list[Workspace] = []
        self.in_use: list[Workspace] | None = None


_free = _Free()


@contextmanager
def borrow_workspace() -> Iterator[Workspace]:
    """A desk that is nobody else's for the length of the block.

    What lies on it is left over from earlier calls. After an exception it is not lent again: a call may still be
    writing on it.
    """
    try:
        desk = _free.desks.pop()
    except IndexError:
        desk = _new()
    if _free.in_use is not None:
        _free.in_use.append(desk)
    yield desk
    if _free.in_use is not None:
        _free.in_use.remove(desk)
    _free.desks.append(desk)


@dataclass(frozen=True)
class Searches:
    """The compiled searches of a thread that are under way, for other threads."""

    desks: list[Workspace]

    def halt(self) -> None:
        """End them as if their nodes were used up, with the last iteration they have finished.

        A search that has just begun misses it: whoever means all of a block calls again until it is over.
        """
        for desk in tuple(self.desks):
            desk.numbers[NODE_LIMIT] = 0
            desk.numbers[CHECKPOINT] = 0

    def nodes(self) -> int:
        """How many positions they have visited, about."""
        return sum(int(desk.numbers[NODES]) for desk in tuple(self.desks))


@contextmanager
def interruptible() -> Iterator[Searches]:
    """Gives other threads the searches of this one, for the length of the block."""
    searches = Searches([])
    before, _free.in_use = _free.in_use, searches.desks
    try:
        yield searches
    finally:
        _free.in_use = before


def address_of(numbers: NDArray[Any]) -> int:
    """Return the address of a contiguous array for compiled code; the array must be kept alive."""
    assert numbers.flags.c_contiguous
    return numbers.ctypes.data


def _new() -> Workspace:
    import numpy as np

    numbers = np.zeros(DESK_SIZE, np.int64)
    return Workspace(numbers, numbers.ctypes.data)


class MoveCache:
    """A table of answers, and the players that have a number in it. One call at a time may use it.

    Players are distinguished by what compiled code takes of them: the same code with the same parameters under the same
    limit is one player, by whatever name.
    """

    def __init__(self) -> None:
        import numpy as np

        self.table = np.zeros(SLOTS * SLOT, np.int64)
        self._numbers: dict[Hashable, int] = {}

    def number_of(self, player: Hashable) -> int:
        """The number, from 1, of a player, given by what tells it from all others for good."""
        return self._numbers.setdefault(player, len(self._numbers) + 1)
