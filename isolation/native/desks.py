"""Working memory for compiled code, lent to one call at a time: "desks"; see `kernels.desk` for what lies on them.

Compiled code runs without Python's global lock, so calls in two threads run at the same time and must not share a desk.
One desk for each thread would not do either. A signal's handler or a finaliser may search between the end of a compiled
call and the reading of its answers, in the same thread; and a call that is waited for in another thread (see
`solver`) outlives its caller if the caller is interrupted twice. So a desk is lent for the length of a `with` block, in
which nobody else gets it, and the thread keeps those that came back, mostly a single one, for its next calls.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Desk:
    """Memory, int64[DESK_SIZE], and its address, which compiled code takes and which takes NumPy long to tell."""

    numbers: NDArray[np.int64]
    address: int


class _Free(threading.local):
    """The desks of this thread that nobody uses."""

    def __init__(self) -> None:
        self.desks: list[Desk] = []


_free = _Free()


@contextmanager
def lent() -> Iterator[Desk]:
    """A desk that is nobody else's for the length of the block.

    What lies on it is left over from earlier calls. After an exception it is not lent again: a call may still be
    writing on it.
    """
    try:
        desk = _free.desks.pop()
    except IndexError:
        desk = _new()
    yield desk
    _free.desks.append(desk)


def address_of(numbers: NDArray[Any]) -> int:
    """Where the numbers of an array lie, without gaps, as compiled code takes them; the array has to stay alive."""
    assert numbers.flags.c_contiguous
    return numbers.ctypes.data


def _new() -> Desk:
    import numpy as np

    from isolation.native.layout import DESK_SIZE

    numbers = np.zeros(DESK_SIZE, np.int64)
    return Desk(numbers, numbers.ctypes.data)
