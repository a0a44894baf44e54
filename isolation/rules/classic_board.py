"""`isolation.Board`: the plain board with the classic engines' private state and game loop, and games as text.

Those engines kept a position in private attributes, which unit tests and players read, write and assign; here they are
views of the plain board.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from operator import attrgetter, itemgetter
from typing import Any

from . import board as plain
from .drawing import to_svg
from .edition import GameHistory, edition_of, read_move
from .game import USUAL_SIZE, SizeLike, size_of, start_clock
from .geometry import Locations, Move, cell_of, full_mask, parse_moves, words

_VIEWS = ("_rows_view", "_flat_view", "_is_viewed")
"""Views of the position, computed when first read and cached until it changes, and the mark that there are some."""


def _player_of_seat(seat: int) -> property:
    def assign(board: Any, player: Any) -> None:
        board.players = (board.players[0], player) if seat else (player, board.players[1])

    return property(lambda board: board.players[seat], assign)


def _player_in_turn(waiting: int) -> property:
    """Return the property of the player to move (0) or of the other (1), which assigning it changes."""
    return property(
        lambda board: board.players[waiting ^ board.active_index],
        lambda board, player: board._set_active(player, waiting),
    )


class Board(plain.Board):
    """A board with the full API of the classic engines' boards, private attributes included.

    This is `isolation.Board`: the position and its methods are those of `isolation.rules.board.Board`. The private
    state of both classic editions is readable, assignable and writable by element.

    First edition: ``__board_state__[row][column]`` (0 open, else the number of the player that visited it),
    ``__last_player_move__`` {player: (row, column) or None}, ``__player_symbols__``, ``__player_1__``,
    ``__player_2__``, ``__active_player__``, ``__inactive_player__``, ``__get_moves__``.
    Second edition: ``_board_state``, flat and column by column (0 open, 1 visited), then the index of the player to
    move and the indices where player 2 and player 1 stand; ``_player_1``, ``_player_2``, ``_active_player``,
    ``_inactive_player``, ``_Board__get_moves``.

    Reading returns a snapshot whose element assignments write through to the board. Writing makes the board's history
    unknown, unless nothing changes.
    """

    BLANK = 0
    NOT_MOVED = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _VIEWS}

    def _forget_views(self) -> None:
        """Drop the cached views; views that were already read keep their contents."""
        for name in _VIEWS:
            self.__dict__.pop(name, None)

    # First edition

    @cached_property
    def _rows_view(self) -> list[list[int]]:
        self._is_viewed = True
        rows, columns = self.height, self.width
        cells = rows * columns
        values = _bits(full_mask(rows, columns) & ~self.blank, cells)
        if second := self._visited_by_second() & ~self.blank:
            values = [value + two for value, two in zip(values, _bits(second, cells), strict=True)]
        lines = [values[row * columns : (row + 1) * columns] for row in range(rows)]
        name = "__board_state__"
        return _MirrorList((_MirrorList(line, self, name, row) for row, line in enumerate(lines)), self, name)

    def _set_rows(self, rows: Sequence[Sequence[int]]) -> None:
        values = [value for row in rows for value in row]
        blank, second = (sum(1 << cell for cell, v in enumerate(values) if v == visitor) for visitor in (0, 2))
        self._set_position(blank=blank, second=second)

    # `attrgetter` is implemented in C: code that reads single elements spends most of its time here.
    __board_state__ = property(attrgetter("_rows_view"), _set_rows)

    @property
    def __last_player_move__(self) -> dict[Any, Move | None]:
        moves = [None if cell is None else divmod(cell, self.width) for cell in self.locations]
        return _MirrorDict(zip(self.players, moves, strict=True), self, "__last_player_move__")

    @__last_player_move__.setter
    def __last_player_move__(self, moves: dict[Any, Move | None]) -> None:
        placed = [moves.get(player) for player in self.players]
        first, second = (None if move is None else cell_of(move, self.width) for move in placed)
        self._set_position(locations=(first, second))

    @property
    def __player_symbols__(self) -> dict[Any, int]:
        return {0: 0, self.players[0]: 1, self.players[1]: 2}

    @__player_symbols__.setter
    def __player_symbols__(self, symbols: dict[Any, int]) -> None:
        """Ignore the assignment, which old copying code makes; the symbols are always 1 and 2."""

    def __get_moves__(self, move: Move | None) -> list[Move]:
        return self.get_blank_spaces() if move is None else self.reach([move])

    # Second edition

    @cached_property
    def _flat_view(self) -> list[Any]:
        self._is_viewed = True
        rows, columns = self.height, self.width
        entries: list[Any] = _bits(full_mask(rows, columns) & ~self.blank, rows * columns)
        first, second = self.locations
        entries += (self.active_index, self._flat_at(second), self._flat_at(first))
        return _MirrorList(_by_column(rows, columns)(entries), self, "_board_state")

    def _set_flat_state(self, flat: Sequence[Any]) -> None:
        # The entry of the side to move only repeats it, as in the classic engine.
        cells, by_column = self.height * self.width, self._grid.by_column
        blank = sum(bit for (bit, _), value in zip(by_column, flat, strict=False) if value == 0)
        locations = (self._cell_at_flat(flat[cells + 2]), self._cell_at_flat(flat[cells + 1]))
        # This edition does not record who visited a cell: player 2 keeps the cells known to be its own.
        second = self._visited_by_second()
        if locations[1] is not None:
            second |= 1 << locations[1]
        if locations[0] is not None:
            second &= ~(1 << locations[0])
        self._set_position(blank=blank, locations=locations, second=second)

    _board_state = property(attrgetter("_flat_view"), _set_flat_state)

    _Board__get_moves = __get_moves__

    # Both

    _player_1 = __player_1__ = _player_of_seat(0)
    _player_2 = __player_2__ = _player_of_seat(1)
    _active_player = __active_player__ = _player_in_turn(0)
    _inactive_player = __inactive_player__ = _player_in_turn(1)

    def hash(self) -> int:
        """Return the hash of the position."""
        return hash(self)

    def to_string(self, symbols: Sequence[str] = ("1", "2")) -> str:
        """Return the board as the classic engines print it: numbered, and each line ends with newline and return."""
        margin, columns = len(str(self.height - 1)) + 1, self.width
        visited = full_mask(self.height, columns) & ~self.blank
        signs = [" -"[bit] for bit in _bits(visited, self.height * columns)]
        for cell, symbol in zip(reversed(self.locations), reversed(symbols), strict=False):
            if cell is not None and signs[cell] != " ":
                signs[cell] = symbol
        header = " " * (margin + 3) + "   ".join(map(str, range(columns)))
        rows = (signs[start : start + columns] for start in range(0, len(signs), columns))
        lines = [f"{row:<{margin}} | {' | '.join(line)} | " for row, line in enumerate(rows)]
        return "".join(f"{line}\n\r" for line in [header, *lines])

    def print_board(self) -> str:
        """Return the same text as `to_string`; like the classic engines, it does not print."""
        return self.to_string()

    def play(self, time_limit: float | None = None) -> tuple[Any, GameHistory, str]:
        """Play the rest of the game between the two player objects.

        Args:
            time_limit: milliseconds a move; by default 200 if a player has the first edition's
                ``get_move(game, legal_moves, time_left)``, else 150.

        Returns:
            The winner, the moves, and the reason: "illegal move" (the normal end, and a first-edition bad move),
            "forfeit" (a bad move while legal moves remained) or "timeout" (which takes precedence). If a player is of
            the first edition, the moves are a list of [player 1's move, player 2's move] that includes the losing move;
            otherwise they are a list of [row, column].
        """
        edition = edition_of(*self.players)
        limit = edition.usual_limit if time_limit is None else time_limit
        first_mover = self.active_index
        moves: list[Any] = []
        while True:
            legal_moves = self.get_legal_moves()
            clock = start_clock(limit)
            mover = self.active_player
            move = edition_of(mover).ask(mover, self.copy(), clock)
            late = edition_of(mover).is_late(move, clock)
            cell = read_move(move)
            if late or cell is None or cell not in legal_moves:
                break
            moves.append(cell)
            self.apply_move(cell)
        outcome = "timeout" if late else edition.bad_move if legal_moves else "illegal move"
        return self.inactive_player, edition.history(moves, move, first_mover), outcome

    def _repr_svg_(self) -> str:
        return to_svg(self)

    def _visited_by_second(self) -> int:
        """Return the mask of the cells that player 2 is known to have visited."""
        mask = self._setup or 0
        if not mask and (self.height * self.width - self.blank.bit_count()) == len(self._past):  # none visited twice
            for cell, _, _ in self._past[1 - (self.active_index ^ (len(self._past) & 1)) :: 2]:
                mask |= 1 << cell
            return mask
        mover = self.active_index ^ (len(self._past) & 1)
        for cell, _, _ in self._past:
            mask = mask | 1 << cell if mover else mask & ~(1 << cell)
            mover = 1 - mover
        return mask

    def _set_position(
        self,
        blank: int | None = None,
        locations: Locations | None = None,
        active_index: int | None = None,
        second: int | None = None,
    ) -> None:
        before = self._visited_by_second()
        new_blank = self.blank if blank is None else blank
        new_locations = self.locations if locations is None else locations
        new_active = self.active_index if active_index is None else active_index
        new_second = (before if second is None else second) & ~new_blank
        if (new_blank, new_locations, new_active, new_second) == (
            self.blank, self.locations, self.active_index, before & ~self.blank,
        ):  # fmt: skip
            return
        self.blank, self.locations, self.active_index = new_blank, new_locations, new_active
        self._past, self._setup = (), new_second
        self._forget_views()

    def _set_active(self, player: Any, waiting: int) -> None:
        # A player that plays against itself is indistinguishable from its opponent.
        if self.players[0] is not self.players[1]:
            self._set_position(active_index=self._index_of(player) ^ waiting)

    def _flat_at(self, cell: int | None) -> int | None:
        return None if cell is None else cell // self.width + cell % self.width * self.height

    def _cell_at_flat(self, position: int | None) -> int | None:
        return None if position is None else position % self.height * self.width + position // self.height


Board._copies_fields = True


def enable_board_extensions(find_method: Callable[[str, str], Any]) -> None:
    """Provide methods that students added to `Board` in files beside their players, to users' files, from now on.

    This is off by default: if a class has a `__getattr__`, Python (3.11) looks up all attributes and methods the slow
    way, and searches written in Python take two to three times as long. `find_method` finds a method, if there is one,
    by the name of the calling module and its own.
    """

    def added_attribute(board: Board, name: str) -> Any:
        module = sys._getframe(1).f_globals.get("__name__", "")
        method = None if name.startswith("__") else find_method(module, name)
        if method is None:
            raise AttributeError(f"{type(board).__name__!r} object has no attribute {name!r}")
        return method.__get__(board, type(board))

    if not hasattr(Board, "__getattr__"):
        Board.__getattr__ = added_attribute  # type: ignore[attr-defined]


class _Mirror:
    """A part of a board's private state, whose item assignments also change the board; copies are plain.

    It is the board's attribute `name`, or the element `row` of that.
    """

    __slots__ = ()
    board: Board
    name: str
    row: int | None

    def __init__(self, values: Iterable[Any], board: Board, name: str, row: int | None = None) -> None:
        super().__init__(values)  # type: ignore[call-arg]
        self.board, self.name, self.row = board, name, row  # type: ignore[misc]

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)  # type: ignore[misc]
        state = changed = getattr(self.board, self.name).copy()
        if self.row is not None:
            state[self.row] = changed = state[self.row].copy()
        changed[key] = value
        setattr(self.board, self.name, state)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        kind: Any = list if isinstance(self, list) else dict
        return kind, (kind(self),)


class _MirrorList(_Mirror, list[Any]):
    __slots__ = ("board", "name", "row")

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return [value.copy() if isinstance(value, list) else value for value in self]


class _MirrorDict(_Mirror, dict[Any, Any]):
    __slots__ = ("board", "name", "row")


_BITS_OF_BYTES = [[byte >> bit & 1 for bit in range(8)] for byte in range(256)]


def _bits(mask: int, cells: int) -> list[int]:
    """Return the bits of a mask, cell 0 first; byte by byte for speed."""
    bits: list[int] = []
    for byte in mask.to_bytes((cells + 7) // 8, "little"):
        bits += _BITS_OF_BYTES[byte]
    del bits[cells:]
    return bits


@lru_cache(maxsize=64)
def _by_column(rows: int, columns: int) -> itemgetter[Any]:
    """Return a getter that reorders a row-major list of cells by columns and keeps the three entries after them."""
    cells = rows * columns
    order = [row * columns + column for column in range(columns) for row in range(rows)]
    return itemgetter(*order, cells, cells + 1, cells + 2)


def position_of(size: SizeLike | None = None, moves: str = "", fen: str | None = None) -> Board:
    """Return the board after `moves` on a board of a size, 7x7 by default, or that of a FEN.

    Moves are in the notation of `geometry.parse_moves`.

    >>> position_of(moves="d3,a2").history
    (24, 14)

    Raises:
        ValueError: a size or FEN is invalid, or a FEN was given with another; or a move is not a cell or illegal, and
            the message names cells as they were written.
    """
    if fen is not None:
        if moves:
            raise ValueError("--moves and --fen exclude each other: use one of them")
        if size:
            raise ValueError("a FEN contains its board: omit --board")
        return Board.from_fen(fen)
    size = size_of(size or USUAL_SIZE)
    cells = parse_moves(moves, size)
    written = {cell: word for cell, word in zip(cells, words(moves), strict=True) if not word.isdecimal()}
    try:
        return Board.from_moves(cells, size)
    except ValueError as error:
        message = re.sub(r"cell (\d+)", lambda match: written.get(int(match[1]), match[0]), str(error))
        raise ValueError(message) from None


def game_as_text(
    winner: object, move_history: Sequence[object], termination: str = "", board: Board | None = None
) -> str:
    """Replay a game returned by `Board.play` move by move, as text.

    Args:
        winner: the winning player.
        move_history: the moves, in either edition's format.
        termination: the reason why the game ended.
        board: the start position, by default an empty 7x7 board. It is not changed.
    """
    game = Board(1, 2) if board is None else board.copy()
    history: Sequence[Any] = move_history
    is_flat = all(isinstance(cell, int) for move in history for cell in move)
    moves = history if is_flat else [move for turn in history for move in turn]
    text = []
    for ply, move in enumerate(move and (move[0], move[1]) for move in moves):
        text.append(f"{ply // 2}.{' ...' if ply % 2 else ''} {move}\r\n")
        if move is not None and game.move_is_legal(move):
            game.apply_move(move)
        text.append(game.print_board())
    return "".join([*text, f"{termination}\r\n", f"Winner: {winner}\r\n"])
