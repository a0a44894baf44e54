"""Typed protocol of `game`: the API that exists both interpreted and compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeAlias

Location: TypeAlias = tuple[int, int]
Player: TypeAlias = object


class Cells(Protocol):
    """Cells as `(row, column)`: a list in the interpreter, a bit mask in compiled code."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Location]: ...
    def __contains__(self, cell: object, /) -> bool: ...
    def __and__(self, other: Cells, /) -> Cells: ...
    def __or__(self, other: Cells, /) -> Cells: ...
    def __sub__(self, other: Cells, /) -> Cells: ...


class Game(Protocol):
    """A position: `isolation.Board` in the interpreter, `isolation.native.position.Position` in compiled code."""

    @property
    def width(self) -> int:
        """Number of columns."""

    @property
    def height(self) -> int:
        """Number of rows."""

    @property
    def active_player(self) -> Player:
        """The player to move."""

    @property
    def inactive_player(self) -> Player:
        """The waiting player."""

    def get_opponent(self, player: Player, /) -> Player:
        """Return the other player."""

    def get_legal_moves(self, player: Player, /) -> Cells:
        """Return the cells `player` could move to now; before its placement, all blank cells."""

    def get_blank_spaces(self) -> Cells:
        """Return the cells not yet visited."""

    def get_player_location(self, player: Player, /) -> Location | None:
        """Return the location of `player`, or None before its placement."""

    def utility(self, player: Player, /) -> float:
        """Return +inf if `player` has won, -inf if it has lost, else 0."""

    def reach(self, cells: Iterable[Location], /) -> Cells:
        """Return the blank cells a knight's move away from any of `cells`."""

    def links(self, cells: Iterable[Location], /) -> int:
        """Return how many pairs of `cells` are a knight's move apart."""

    def territory(self, player: Player, /) -> tuple[int, int]:
        """Return how many blank cells `player` reaches before its opponent, and how many the opponent reaches first."""

    def distances(self, player: Player, /) -> tuple[int, int]:
        """Return the sums of the distances of `player` and of its opponent to all blank cells, in knight's moves."""


Heuristic: TypeAlias = Callable[[Game, Player], float]
