"""The board: a mutable position of any size, with the classic methods and a modern API based on cell numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import index, itemgetter
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypeVar

from .game import Reason, SizeLike, check_size, size_of
from .geometry import Locations, Move, Position, cells_of, full_mask, knight_mask, move_of, parse_fen, write_fen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    _Fact = property
else:

    class _Fact:
        """A read-only property that existing subclasses may shadow with an attribute."""

        def __init__(self, compute):
            self._compute, self.__doc__ = compute, compute.__doc__

        def __get__(self, board, owner):
            return self if board is None else self._compute(board)


K = TypeVar("K")
T = TypeVar("T")
_new = object.__new__


@dataclass(frozen=True)
class Outcome:
    """Result of a game on the board: the winner (1 or 2) and a `Reason.word`."""

    winner: Literal[1, 2]
    reason: str


class MoveList(list[Move]):
    """(row, column) moves in row-major order: a list that is also a set of cells under ``&``, ``|`` and ``-``.

    The operators accept any iterable of moves. Their results have no duplicates and are ordered like the left operand.
    """

    __slots__ = ()
    _order: Callable[[Move], Any] | None = None

    def __and__(self, other: Iterable[Move]) -> Self:
        return self._ordered(set(self).intersection(other))

    def __or__(self, other: Iterable[Move]) -> Self:
        return self._ordered(set(self).union(other))

    def __sub__(self, other: Iterable[Move]) -> Self:
        return self._ordered(set(self).difference(other))

    def _ordered(self, moves: set[Move]) -> Self:
        return type(self)(sorted(moves, key=self._order))


class BlankList(MoveList):
    """Moves in column-major order, as the classic engines list blank cells."""

    __slots__ = ()
    _order = itemgetter(1, 0)


class Board:
    """A game of knight's Isolation between two players.

    Players may be any objects; they are compared by identity, then by ``==``. Methods of a player raise RuntimeError if
    it is not one of this game. The classic API uses players and (row, column) moves. The modern API uses player indices
    0 and 1, and cells as row-major ints (see `isolation.rules.geometry`). Subclasses may override any classic method:
    all methods that make moves call the overridden `copy`, `forecast_move` and `apply_move`.

    Boards with equal positions are equal and have equal hashes, since classic players look positions up in
    dictionaries. A board is mutable, as the classic API requires, and its hash changes with its position. Do not change
    a board that is a dictionary key: make moves on copies, as `forecast_move` and `successor` do.

    Attributes:
        width, height: numbers of columns and rows.
        move_count: number of plies played.
        blank: mask of the open cells.
        players, locations: objects and cells of player 1 and player 2, None before placement.
        active_index: 0 if player 1 is to move, 1 if player 2 is.

    >>> board = Board.from_moves([24, 14])
    >>> board.get_legal_moves()
    [(1, 2), (1, 4), (2, 1), (2, 5), (4, 1), (4, 5), (5, 2), (5, 4)]
    >>> board.successor(9)
    Board.from_moves([24, 14, 9], size="7x7")
    """

    _copies_fields = True
    """Whether `copy` may copy field by field. False for subclasses, which may have other fields or override methods."""
    _is_viewed = False
    """Whether a subclass caches derived values that `_forget_views` must drop when the position changes."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls._copies_fields = False

    def __init__(self, player_1: Any, player_2: Any, width: int = 7, height: int = 7) -> None:
        """Start a game on an empty board. Raises ValueError if a side is not an integer or is below 1."""
        self.height, self.width = check_size(height, width)
        self.players: tuple[Any, Any] = (player_1, player_2)
        self.move_count = 0
        self.blank = full_mask(self.height, self.width)
        self.locations: Locations = (None, None)
        self.active_index = 0
        self._grid = _grid(self.height, self.width)
        # Undo records, oldest first: the cell of each ply, and locations and blank before it.
        self._past: tuple[tuple[int, Locations, int], ...] = ()
        # If old code has set the position: cells visited by player 2 before _past begins. Else None.
        self._setup: int | None = None

    @classmethod
    def from_moves(cls, cells: Sequence[int], size: SizeLike = "7x7", players: tuple[Any, Any] = (1, 2)) -> Self:
        """Return the position after the given cells were played, player 1 first; `size` is (rows, columns) or "7x7".

        Raises:
            ValueError: bad size, or illegal cell; the message gives the ply, the cell and the reason.
        """
        rows, columns = size_of(size)
        board = cls(*players, width=columns, height=rows)
        for ply, cell in enumerate(cells, start=1):
            try:
                board.play_cell(cell)
            except ValueError as error:
                raise ValueError(f"illegal move at ply {ply} on {rows}x{columns}: {error}") from None
        return board

    @classmethod
    def from_fen(cls, text: str, players: tuple[Any, Any] = (1, 2)) -> Self:
        """Return the position described by a FEN (see `isolation.rules.geometry`).

        The history is known only if no cells but those of the knights have been visited.

        >>> Board.from_fen("7/7/7/3N3/7/7/n6 w").history
        (24, 42)

        Raises:
            ValueError: the text is not a FEN of a position of this game.
        """
        rows, columns, blank, locations, active_index = parse_fen(text)
        board = cls(*players, width=columns, height=rows)
        placed = [cell for cell in locations if cell is not None]
        visited = board.blank.bit_count() - blank.bit_count()
        if visited == len(placed) and active_index == visited % 2:
            for cell in placed:
                board.play_cell(cell)
            return board
        board.blank, board.locations, board.active_index = blank, locations, active_index
        board.move_count, board._setup = visited, 0
        return board

    # The classic API

    @property
    def active_player(self) -> Any:
        """The player to move."""
        return self.players[self.active_index]

    @property
    def inactive_player(self) -> Any:
        """The waiting player."""
        return self.players[1 - self.active_index]

    def get_opponent(self, player: Any) -> Any:
        """Return the other player."""
        first, second = self.players
        if player is first:
            return second
        return first if player is second else self.players[1 - self._index_of(player)]

    def get_player_location(self, player: Any) -> Move | None:
        """Return the location of a player, or None before its placement."""
        cell = self.locations[self._index_of(player)]
        return None if cell is None else divmod(cell, self.width)

    def get_legal_moves(self, player: Any = None) -> MoveList:
        """Return the moves of a player, by default the player to move."""
        # `_index_of` is inlined because interpreted searches call this method most.
        first, second = self.players
        if player is None:
            cell = self.locations[self.active_index]
        else:
            cell = self.locations[0 if player is first else 1 if player is second else self._index_of(player)]
        if cell is None:
            return self.get_blank_spaces()
        grid = self._grid
        return MoveList(grid.moves[grid.knight[cell] & self.blank])

    def get_blank_spaces(self) -> MoveList:
        """Return the open cells, column by column."""
        blank = self.blank
        return BlankList([move for bit, move in self._grid.by_column if blank & bit])

    def move_is_legal(self, move: Move) -> bool:
        """Return whether the cell is on the board and open (classic: not whether the player to move can reach it)."""
        row, column = move
        if not (0 <= row < self.height and 0 <= column < self.width):
            return False
        return bool(self.blank >> (row * self.width + column) & 1)

    def copy(self) -> Self:
        """Return an independent copy of the same class; the players are shared."""
        new = _new(type(self))
        if not self._copies_fields:
            new.__dict__.update(self.__dict__)
            if new._is_viewed:
                new._forget_views()
            return new
        # Field by field, since a dictionary of its own makes a board slower.
        new.height, new.width, new.players = self.height, self.width, self.players
        new.move_count, new.blank, new._grid = self.move_count, self.blank, self._grid
        new.locations, new.active_index = self.locations, self.active_index
        new._past, new._setup = self._past, self._setup
        return new

    def forecast_move(self, move: Move) -> Self:
        """Return a copy with the move applied."""
        if not self._copies_fields:  # a subclass may override `copy` and `apply_move`
            new = self.copy()
            new.apply_move(move)
            return new
        # `copy` and `apply_move` in one, since interpreted searches spend most of their time here.
        row, column = move
        height, width, locations = self.height, self.width, self.locations
        if not (0 <= row < height and 0 <= column < width):
            raise IndexError(f"({row}, {column}) is not on the {height}x{width} board")
        cell = index(row * width + column)
        blank, grid = self.blank, self._grid
        new = _new(type(self))
        new.height, new.width, new.players = height, width, self.players
        new.move_count = self.move_count + 1
        new.blank = blank & grid.others[cell]
        if self.active_index:
            new.locations, new.active_index = (locations[0], cell), 0
        else:
            new.locations, new.active_index = (cell, locations[1]), 1
        new._grid, new._setup = grid, self._setup
        new._past = self._past + ((cell, locations, blank),)  # noqa: RUF005 -- unpacked, it takes twice as long
        return new

    def apply_move(self, move: Move) -> None:
        """Play a move for the player to move, without checking whether it is legal, as the classic engines do.

        Raises:
            IndexError: the cell is not on the board.
        """
        row, column = move
        if not (0 <= row < self.height and 0 <= column < self.width):
            raise IndexError(f"({row}, {column}) is not on the {self.height}x{self.width} board")
        if self._is_viewed:
            self._forget_views()
        cell = index(row * self.width + column)
        locations = self.locations
        self._past += ((cell, locations, self.blank),)
        self.blank &= self._grid.others[cell]
        if self.active_index:
            self.locations = (locations[0], cell)
            self.active_index = 0
        else:
            self.locations = (cell, locations[1])
            self.active_index = 1
        self.move_count += 1

    def is_winner(self, player: Any) -> bool:
        """Return whether the player waits and the player to move has no move."""
        return not self.moves_mask(self.active_index) and self._index_of(player, strict=False) == 1 - self.active_index

    def is_loser(self, player: Any) -> bool:
        """Return whether the player is to move and has no move."""
        return not self.moves_mask(self.active_index) and self._index_of(player, strict=False) == self.active_index

    def utility(self, player: Any) -> float:
        """Return positive infinity if the player has won, negative infinity if it has lost, else 0.0."""
        if self.moves_mask(self.active_index):
            return 0.0
        if self.is_winner(player):
            return float("inf")
        return float("-inf") if self.is_loser(player) else 0.0

    # The modern API

    @_Fact
    def size(self) -> str:
        """The size as "ROWSxCOLUMNS"."""
        return f"{self.height}x{self.width}"

    @_Fact
    def history(self) -> tuple[int, ...]:
        """The cells played so far; empty if old code has set the position, because the moves are then unknown."""
        return tuple(cell for cell, _, _ in self._past) if self._setup is None else ()

    @_Fact
    def fen(self) -> str:
        """The position as a FEN that `from_fen` can read."""
        return write_fen(self._position())

    def moves_mask(self, player_index: int) -> int:
        """Return the mask of the cells that a player could move to now; before its placement, all blank cells."""
        cell = self.locations[player_index]
        return self.blank if cell is None else self._grid.knight[cell] & self.blank

    def mask(self) -> NDArray[np.bool_]:
        """Return bool[cells]: where the player to move can move to or be placed, as learning agents mask actions."""
        import numpy as np

        moves = np.zeros(self.height * self.width, bool)
        moves[list(self.legal_cells())] = True
        return moves

    def observation(self) -> NDArray[np.bool_]:
        """Return bool[4, rows, columns]: blank cells, the mover's knight, the other's, and the moves of the mover."""
        import numpy as np

        planes = np.zeros((4, self.height * self.width), bool)
        own, other = self.locations[self.active_index], self.locations[1 - self.active_index]
        for plane, cells in enumerate((cells_of(self.blank), [own], [other], self.legal_cells())):
            planes[plane, [cell for cell in cells if cell is not None]] = True
        return planes.reshape(4, self.height, self.width)

    def legal_cells(self) -> tuple[int, ...]:
        """Return the cells the player to move can move to or be placed on, in ascending order."""
        cell = self.locations[self.active_index]
        if cell is None:
            return tuple(cells_of(self.blank))
        grid = self._grid
        return grid.cells[grid.knight[cell] & self.blank]

    def successor(self, cell: int) -> Self:
        """Return a copy with a legal cell played."""
        return self.forecast_move(divmod(cell, self.width))

    def play_cell(self, cell: int) -> None:
        """Play a cell for the player to move. Raises ValueError, with the reason, if it is not legal."""
        if reason := self._refusal(cell):
            raise ValueError(reason)
        self.apply_move(move_of(index(cell), self.width))

    def undo(self) -> int:
        """Take the last ply back and return its cell. Raises ValueError if none is known."""
        if not self._past:
            raise ValueError("no move to take back")
        if self._is_viewed:
            self._forget_views()
        cell, self.locations, self.blank = self._past[-1]
        self._past = self._past[:-1]
        self.active_index = 1 - self.active_index
        self.move_count -= 1
        return cell

    def outcome(self) -> Outcome | None:
        """Return the result, or None while the player to move has a move."""
        if self.moves_mask(self.active_index):
            return None
        return Outcome(winner=1 if self.active_index else 2, reason=Reason.NO_MOVES.word)

    def reach(self, cells: Iterable[Move]) -> MoveList:
        """Return the blank cells a knight's move away from any of these (row, column) cells, in row-major order."""
        knight, width = self._grid.knight, self.width
        mask = 0
        for row, column in cells:
            mask |= knight[row * width + column]
        return MoveList([divmod(cell, width) for cell in cells_of(mask & self.blank)])

    def links(self, cells: Iterable[Move]) -> int:
        """Return how many pairs of these (row, column) cells are a knight's move apart; duplicates are ignored."""
        given = {row * self.width + column for row, column in cells}
        mask = sum(1 << cell for cell in given)
        return sum((self._grid.knight[cell] & mask).bit_count() for cell in given) // 2

    def territory(self, player: Any) -> tuple[int, int]:
        """Return how many blank cells the player reaches before its opponent, and how many the opponent reaches first.

        Both make knight's moves over blank cells, the side to move first. Cells that both reach in the same number of
        moves belong to the side to move.
        """
        blank, active, claimed = self.blank, self.active_index, [0, 0]
        first, second = self.moves_mask(active), self.moves_mask(1 - active)
        while first or second:
            blank &= ~first
            second &= blank
            blank &= ~second
            claimed[0] += first.bit_count()
            claimed[1] += second.bit_count()
            first, second = self._next_to(first) & blank, self._next_to(second) & blank
        own = self._index_of(player) ^ active
        return claimed[own], claimed[1 - own]

    def distances(self, player: Any) -> tuple[int, int]:
        """Return the sum of the player's distances to all blank cells, and that of its opponent.

        Distances are in knight's moves over blank cells. An unreachable cell counts as many moves as the board has
        cells.
        """
        own = self._index_of(player)
        return self._sum_of_distances(own), self._sum_of_distances(1 - own)

    def _sum_of_distances(self, player_index: int) -> int:
        blank, moves, total, step = self.blank, self.moves_mask(player_index), 0, 0
        while moves:
            step += 1
            total += step * moves.bit_count()
            blank &= ~moves
            moves = self._next_to(moves) & blank
        return total + self.height * self.width * blank.bit_count()

    def _next_to(self, cells: int) -> int:
        knight, reached = self._grid.knight, 0
        for cell in cells_of(cells):
            reached |= knight[cell]
        return reached

    def __eq__(self, other: object) -> bool:
        """Return whether both positions are equal: size, open cells, locations and side to move."""
        return self._position() == other._position() if isinstance(other, Board) else NotImplemented

    def __hash__(self) -> int:
        """Return the hash of the current position. Do not change a board while it is a dictionary key."""
        return hash(self._position())

    def __repr__(self) -> str:
        if self._setup is None:
            cells = [cell for cell, _, _ in self._past]
            return f'{type(self).__name__}.from_moves({cells}, size="{self.height}x{self.width}")'
        return (
            f"<{type(self).__name__} {self.height}x{self.width}, players on cells {self.locations}, "
            f"player {self.active_index + 1} to move>"
        )

    def _forget_views(self) -> None:
        """Drop values that a subclass has derived from the position."""

    def _position(self) -> Position:
        return self.height, self.width, self.blank, self.locations, self.active_index

    def _index_of(self, player: Any, strict: bool = True) -> int:
        first, second = self.players
        if player is first:
            return 0
        if player is second:
            return 1
        seat = 0 if player == first else 1 if player == second else -1
        if seat < 0 and strict:
            raise RuntimeError(f"{player!r} is not a player of this game")
        return seat

    def _refusal(self, cell: int) -> str:
        cells = self.height * self.width
        if isinstance(cell, bool) or not hasattr(cell, "__index__"):
            return f"{cell!r} is not a cell: expected a number from 0 to {cells - 1}"
        if not 0 <= cell < cells:
            return f"cell {cell} is not on the board (cells 0 to {cells - 1})"
        if not self.blank >> index(cell) & 1:
            return f"cell {cell} is already visited"
        if not self.moves_mask(self.active_index) >> index(cell) & 1:
            return f"cell {cell} is not a knight's move from cell {self.locations[self.active_index]}"
        return ""


_SMALL = 128
"""Largest board, in cells, whose tables are computed in advance."""


class Memo(dict[K, T], Generic[K, T]):
    """A table filled on first use."""

    def __init__(self, make: Callable[[K], T]) -> None:
        self._make = make

    def __missing__(self, key: K) -> T:
        value = self[key] = self._make(key)
        return value


class _Grid:
    """Tables shared by all boards of one size, filled on first use, since boards may be large."""

    def __init__(self, rows: int, columns: int) -> None:
        self.size = (rows, columns)
        # By cell: the mask of a knight's moves from it, and the mask of all other cells.
        self.knight = _by_cell(lambda cell: knight_mask(cell, rows, columns), rows * columns)
        board = full_mask(rows, columns)
        self.others = _by_cell(lambda cell: board ^ 1 << cell, rows * columns)
        # By mask of knight moves; there are at most 256 per cell.
        self.moves: Memo[int, tuple[Move, ...]] = Memo(lambda mask: tuple(move_of(c, columns) for c in cells_of(mask)))
        self.cells: Memo[int, tuple[int, ...]] = Memo(lambda mask: tuple(cells_of(mask)))

    @cached_property
    def by_column(self) -> list[tuple[int, Move]]:
        """All cells as (bit, move), column by column."""
        rows, columns = self.size
        return [(1 << row * columns + column, (row, column)) for column in range(columns) for row in range(rows)]

    def __reduce__(self) -> tuple[Callable[[int, int], _Grid], tuple[int, int]]:
        return _grid, self.size


def _by_cell(make: Callable[[int], int], cells: int) -> Sequence[int] | Memo[int, int]:
    """Return a table by cell: a list for small boards, because it is fastest, else a memo."""
    return [make(cell) for cell in range(cells)] if cells <= _SMALL else Memo(make)


@lru_cache(maxsize=64)
def _grid(rows: int, columns: int) -> _Grid:
    return _Grid(rows, columns)
