"""Processes that play for somebody, kept between games for whoever asks for the very same."""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable
from typing import Generic, Protocol, TypeVar

MOST_IDLE = 8
"""How many of a kind are kept once nobody plays with them, unless another number is given."""


class Endable(Protocol):
    """What has an end."""

    def end(self) -> None:
        """End it at once and for good."""


Key = TypeVar("Key", bound=Hashable)
Kept = TypeVar("Kept", bound=Endable)


class Idle(Generic[Key, Kept]):
    """Processes without a game, by what was ordered of them; of too many the one that waits longest is ended."""

    def __init__(self, most: int = MOST_IDLE) -> None:
        self._most = most
        self._waiting: list[tuple[int, Key, Kept]] = []
        self._lock = threading.Lock()

    def take(self, order: Key) -> Kept | None:
        """A process of this very order that this process has started."""
        with self._lock:
            for place, (owner, known, kept) in enumerate(self._waiting):
                if owner == os.getpid() and known == order:
                    del self._waiting[place]
                    return kept
        return None

    def put(self, order: Key, kept: Kept) -> None:
        """Keep a process."""
        with self._lock:
            self._waiting.append((os.getpid(), order, kept))
            surplus = self._waiting.pop(0) if len(self._waiting) > self._most else None
        if surplus is not None:
            surplus[2].end()
