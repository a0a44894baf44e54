"""Solver: winner, winning moves, best line and game length; and perft, the count of move sequences.

A position is searched to the end of the game, without a heuristic. Positions with both players placed are searched in
compiled code; before that, every placement that differs under the symmetries of the board is tried. Placement pairs of
solved boards, and the first plies on 7x7, are looked up in tables that ship with the package.

To search a position of the first plies takes up to a tenth of a second, to read it some ten microseconds. An opening,
both placements, is one of 315 up to symmetry, and each move after it one of eight steps of a knight. So
`data/early_7x7.xz`, unpacked, has a byte for each opening, then for each opening and one step, and so on up to
`LAST_PLY`; its bit `step` is set if that move wins. `benchmarks/make_solved_tables.py` writes it.
"""

from __future__ import annotations

import lzma
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import count, permutations
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..files.received import read_shipped
from ..native import layout as on_desk
from ..native import workspaces
from ..rules.classic_board import Board
from ..rules.game import MOST_COMPILED_CELLS, Limit
from ..rules.geometry import KNIGHT_STEPS, canonical_opening, cells_of, full_mask, knight_masks, move_of, symmetries
from ..rules.solved_tables import pair_is_won
from . import Budget, is_compilable, limits_of
from .interpreted import by_mobility

Winner = Literal[1, 2]

_TO_THE_END = 1 << 20
_SHORT = 20_000_000
"""Nodes searched in about a third of a second."""
_LONG = 3_000_000_000
"""Nanoseconds after which users may want to interrupt a search."""


@dataclass(frozen=True)
class Solution:
    """The exact result of a position.

    Attributes:
        winner: 1 or 2; None if the search reached its limit first.
        moves: winning moves of the side to move, ascending; all of them if there are no `undecided` ones.
        line: moves to the end of the game. The winner's moves keep the win; the loser maximises its number of moves
            minus the opponent's. Shorter if the search reached its limit, and empty if no first move is known.
        nodes: positions visited, without those decided by a table or by mirroring.
        undecided: moves left undecided by the limit, ascending.
    """

    winner: Winner | None
    moves: tuple[int, ...]
    line: tuple[int, ...]
    nodes: int
    undecided: tuple[int, ...] = ()


@dataclass(frozen=True)
class Length:
    """Length of a game between a winner who hurries and a loser who delays.

    Attributes:
        winner, plies: 1 or 2, and the remaining plies; None if the search reached its limit first.
        at_least: lower bound of the remaining plies.
        moves: the best moves, ascending: those that win soonest or lose last. If only `plies` is unknown, a set of
            moves that includes a best one; if the winner is unknown, the moves not known to lose.
        line: best moves to the end; shorter if the search reached its limit, and empty if `plies` is unknown.
        nodes: positions visited.
    """

    winner: Winner | None
    plies: int | None
    at_least: int
    moves: tuple[int, ...]
    line: tuple[int, ...]
    nodes: int


class MoveValue(NamedTuple):
    """Whether a move keeps the win (None if the limit left it unknown), and the nodes searched to decide that."""

    cell: int
    keeps: bool | None
    nodes: int


class SearchBudget(Budget):
    """A limit in nodes or time shared by any number of searches to the end of the game."""

    def __init__(self, limit: Limit | None = None) -> None:
        """Start the clock. Raises ValueError for a limit in depth."""
        solver_limits(limit)
        super().__init__(limit)

    def search(self, board: Board, within: int | None) -> bool | None:
        """Return whether the side to move wins, or None if the limit ended the search.

        Both players must be placed, and the side to move must have a move. With `within` > 0, the side that would make
        the last of `within` more plies must win by then; the other side wins if it has not lost by then.
        """
        from ..compiling.specialise import native_function, pack

        low, high, cell_0, cell_1, turn = pack(board)
        own, other = (cell_1, cell_0) if turn else (cell_0, cell_1)
        call = native_function("solve", None, board.height, board.width).call
        search = partial(call, low, high, own, other, _TO_THE_END if within is None else within)
        (clock, budget), left = self.clock, self.most - self.nodes
        if left <= 10 * _SHORT or (clock >= 0 and budget <= _LONG):
            return self._run(search, left)
        # It may take more than a few seconds, so that users may want to interrupt it.
        won = self._run(search, _SHORT)
        return self._run(search, self.most - self.nodes, is_interruptible=True) if won is None else won

    def _run(self, search: Callable[..., float], nodes: int, is_interruptible: bool = False) -> bool | None:
        """Run a search of at most `nodes` nodes in the remaining time; return its result, or None if it was stopped."""
        with workspaces.borrow_workspace() as desk:
            limited = partial(search, nodes, *self.clock, desk.address)
            won = _interruptibly(limited, desk) if is_interruptible else limited()
            self.nodes += int(desk.numbers[on_desk.NODES])
            return None if desk.numbers[on_desk.STOPPED] else won == 1.0


def solver_limits(limit: Limit | None) -> tuple[int, int, int]:
    """Return a limit as `limits_of` does. Raises ValueError for a limit in depth."""
    if limit is not None and limit.unit == "depth":
        raise ValueError(f"the solver searches to the end of the game: use a limit of nodes or time, not {limit}")
    return limits_of(limit)


def _interruptibly(search: Callable[[], float], desk: workspaces.Workspace) -> float:
    """Run compiled code in a thread, so that Ctrl-C reaches the calling thread, which then stops it."""
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(search)
        try:
            return running.result()
        except BaseException:
            desk.numbers[on_desk.NODE_LIMIT] = desk.numbers[on_desk.CHECKPOINT] = 0
            raise


def solve(board: Board, limit: Limit | None = None) -> Solution:
    """Find the winner under perfect play, and the winning moves, within a total limit in nodes or time, if any.

    >>> solve(Board.from_moves([5, 0], size="4x4"))
    Solution(winner=2, moves=(), line=(11, 6, 2, 8, 4, 1, 10, 7, 3, 9), nodes=42, undecided=())

    Thread-safe: concurrent calls do not affect each other, and each uses one core.

    Raises:
        ValueError: more than `MOST_COMPILED_CELLS` cells, a limit in depth, or a position that cannot arise.
    """
    meter, values = _valued(board, limit)
    is_decided = _any(move.keeps for move in values) is not None
    return Solution(
        winner=_winner(board, values),
        moves=tuple(sorted(move.cell for move in values if move.keeps)),
        line=tuple(_line(board, values, meter)) if is_decided else (),
        nodes=meter.nodes,
        undecided=tuple(sorted(move.cell for move in values if move.keeps is None)),
    )


def solve_length(board: Board, limit: Limit | None = None) -> Length:
    """Find how long the game lasts if the winner hurries and the loser delays; limit and errors are as for `solve`."""
    meter, values = _valued(board, limit)
    winner = _winner(board, values)
    if _any(move.keeps for move in values) is None:
        open_moves = tuple(sorted(move.cell for move in values if move.keeps is not False))
        return Length(winner, None, 1, open_moves, (), meter.nodes)
    plies, at_least, moves = longest_resistance(board, values, meter)
    line = () if plies is None else tuple(_best_line(board, plies, meter))
    return Length(winner, plies, at_least, moves, line, meter.nodes)


def move_results(board: Board, meter: SearchBudget) -> Iterator[MoveValue]:
    """Yield every move and whether it keeps the win, most promising first. Each is searched only when requested."""
    known: dict[int, tuple[bool | None, int]] = {}
    winning = early_moves(board)
    if winning is not None:
        known = {cell: (cell in winning, 0) for cell in board.legal_cells()}
    elif known_value(board) is False:
        known = dict.fromkeys(board.legal_cells(), (False, 0))
    twin = _twins(board)
    for cell in order_moves(board):
        like = twin.get(cell, cell)
        if like not in known:
            before = meter.nodes
            known[like] = (_opposite(value(board.successor(like), meter)), meter.nodes - before)
        yield MoveValue(cell, *known[like])


def value(board: Board, meter: SearchBudget, within: int | None = None) -> bool | None:
    """Return whether the side to move wins; None if the limit left it unknown.

    With `within`, the side that would make the last of `within` more plies must win by then; the other side wins if it
    has not lost by then.
    """
    if not board.moves_mask(board.active_index):
        return False
    if within == 0:
        return True
    if None in board.locations:
        below = None if within is None else within - 1
        after = [board.successor(cell) for cell in dict.fromkeys(_twins(board).values())]
        return _any(_opposite(value(child, meter, below)) for child in sorted(after, key=is_mirrored, reverse=True))
    known = known_value(board) if within is None else None
    return meter.search(board, within) if known is None else known


def longest_resistance(
    board: Board, values: Sequence[MoveValue], meter: SearchBudget
) -> tuple[int | None, int, tuple[int, ...]]:
    """Return the plies to the end (None if the limit ended the search), a lower bound of them, and the best moves.

    `values` must hold all moves of a position whose winner is known.
    """
    is_won = any(move.keeps for move in values)
    moves = tuple(sorted(move.cell for move in values if not is_won or move.keeps is not False))
    if not moves:
        return 0, 0, ()
    for plies in count(1 if is_won else 2, 2):
        outcomes = {cell: value(board.successor(cell), meter, plies - 1) for cell in moves}
        over = tuple(cell for cell, wins in outcomes.items() if wins is (not is_won))
        lasting = tuple(cell for cell in moves if cell not in over)
        if None in outcomes.values():
            return None, plies, moves if is_won else lasting
        if is_won and over:
            return plies, plies, over
        if not is_won:
            if not lasting:
                return plies, plies, moves
            moves = lasting
    raise AssertionError("a game ends")


def is_mirrored(board: Board) -> bool:
    """Return whether the side to move loses because the other side can mirror its moves.

    This holds if both players stand on mirror images of each other, the blank cells are symmetric, and no blank cell is
    its own image: every move is answered by its image, which is another blank cell. On boards with an even number of
    cells player 2 wins by a mirrored placement.
    """
    mover, other = board.locations[board.active_index], board.locations[1 - board.active_index]
    if mover is None or other is None:
        return False
    for image in symmetries(board.height, board.width):
        if image[mover] == other and image[other] == mover:
            blank = list(cells_of(board.blank))
            if all(image[cell] != cell == image[image[cell]] and board.blank >> image[cell] & 1 for cell in blank):
                return True
    return False


def check_position(board: Board) -> None:
    """Check that the solver supports a position.

    Raises:
        ValueError: more than `MOST_COMPILED_CELLS` cells, or a position that cannot arise.
    """
    cells = board.width * board.height
    if cells > MOST_COMPILED_CELLS:
        raise ValueError(f"the solver supports boards of up to {MOST_COMPILED_CELLS} cells; {board.size} has {cells}")
    visited = full_mask(board.height, board.width) & ~board.blank
    locations = [cell for cell in board.locations if cell is not None]
    if any(not visited >> cell & 1 for cell in locations) or len(set(locations)) < len(locations):
        raise ValueError(f"not a position of this game: {board!r} has a player on a cell that is not its own")
    if len(locations) < 2 and (board.locations[board.active_index] is not None or visited.bit_count() > len(locations)):
        raise ValueError(f"not a position of this game: {board!r} has visited cells, but a player is not placed")


def _valued(board: Board, limit: Limit | None) -> tuple[SearchBudget, list[MoveValue]]:
    """Value every move within a limit whose clock starts after compilation; return the budget and the values."""
    from ..compiling.specialise import native_function

    check_position(board)
    native_function("solve", None, board.height, board.width)
    meter = SearchBudget(limit)
    return meter, list(move_results(board, meter))


def _line(board: Board, values: Iterable[MoveValue], meter: SearchBudget) -> Iterator[int]:
    """Yield moves to the end: the winner keeps the win; the loser maximises its own moves minus the opponent's."""
    winning = next((move.cell for move in values if move.keeps), None)
    is_won = winning is not None
    cell = winning if is_won else next(iter(order_moves(board)), None)
    while cell is not None:
        yield cell
        board, is_won = board.successor(cell), not is_won
        good = (move.cell for move in move_results(board, meter) if move.keeps) if is_won else iter(order_moves(board))
        cell = next(good, None)


def _best_line(board: Board, plies: int, meter: SearchBudget) -> Iterator[int]:
    """Yield moves to the end of a game that lasts `plies`; no move changes that length."""
    for left in range(plies, 0, -1):
        # Two plies before the end the loser may play any move; earlier, none that lets the winner win two plies sooner.
        within = left - 1 if left % 2 else left - 3
        for cell in board.legal_cells():
            after = board.successor(cell)
            wins = False if within < 0 else value(after, meter, within)
            if wins is None:
                return
            if not wins:
                break
        yield cell
        board = after


def order_moves(board: Board) -> tuple[int, ...]:
    """Return the legal cells by own minus opponent mobility, best first; placements in ascending order."""
    return board.legal_cells() if None in board.locations else by_mobility(board)


def _twins(board: Board) -> dict[int, int]:
    """Return for each legal cell the lowest cell that is equivalent to it by a symmetry of the position."""
    # Symmetries are not looked for once both players have moved away from their placements.
    cells = board.legal_cells()
    placed = [cell for cell in board.locations if cell is not None]
    if _visited(board) > len(placed):
        return {cell: cell for cell in cells}
    kept = [image for image in symmetries(board.height, board.width) if all(image[cell] == cell for cell in placed)]
    return {cell: min(image[cell] for image in kept) for cell in cells}


def known_value(board: Board) -> bool | None:
    """Return whether the side to move wins, if that is known without a search; else None.

    It is known right after both placements on a board covered by a table, in the first plies on 7x7, and if the other
    side can mirror every move.
    """
    mover, other = board.locations[board.active_index], board.locations[1 - board.active_index]
    if mover is None or other is None:
        return None
    known = early_value(board)
    if known is None and _visited(board) == 2:
        known = pair_is_won(board.height, board.width, mover, other)
    return False if known is None and is_mirrored(board) else known


def _visited(board: Board) -> int:
    return board.width * board.height - board.blank.bit_count()


def _winner(board: Board, values: Iterable[MoveValue]) -> Winner | None:
    won = _any(move.keeps for move in values)
    won = known_value(board) if won is None else won
    return None if won is None else 1 if won == (board.active_index == 0) else 2


def _any(values: Iterable[bool | None]) -> bool | None:
    """Return `any` in three-valued logic."""
    unknown = False
    for known in values:
        if known:
            return True
        unknown |= known is None
    return None if unknown else False


def _opposite(known: bool | None) -> bool | None:
    return None if known is None else not known


def perft(board: Board, depth: int) -> list[int]:
    """Count the move sequences of exactly 1, 2, … `depth` plies; finished games do not count at later plies.

    >>> perft(Board.from_moves([24, 14]), 3)
    [8, 30, 144]

    Raises:
        ValueError: the depth is not a positive integer.
    """
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
        raise ValueError(f"the depth of perft must be a positive whole number, not {depth!r}")
    counts = np.zeros(depth, np.int64)
    _count(board, counts)
    return [int(count) for count in counts]


def _count(board: Board, counts: NDArray[np.int64]) -> None:
    if is_compilable(board):
        from ..compiling.specialise import native_function, pack

        native_function("perft", None, board.height, board.width).call(*pack(board), len(counts), counts.ctypes.data)
        return
    cells = board.legal_cells()
    counts[0] += len(cells)
    for cell in cells if len(counts) > 1 else ():
        _count(board.successor(cell), counts[1:])


EARLY_FILE = Path(__file__).parents[1] / "data" / "early_7x7.xz"
ROWS = COLUMNS = 7
LAST_PLY = 6
"""Plies of the last positions whose moves the early table has."""


STEPS = len(KNIGHT_STEPS)


class Opening(NamedTuple):
    """An opening's number among those that differ under symmetry, and the symmetry that leads to the first of them."""

    number: int
    image: tuple[int, ...]


def early_moves(board: Board) -> tuple[int, ...] | None:
    """Return the moves that win, ascending; None if the table does not have the position.

    >>> from knights_isolation.isolation import Board
    >>> early_moves(Board.from_moves([24, 14, 9, 1]))
    (0, 4, 18, 22)
    """
    path = _path_to(board, LAST_PLY)
    if path is None:
        return None
    winning = _winning_after(path)
    return tuple(cell for cell in board.legal_cells() if cell in winning)


def early_value(board: Board) -> bool | None:
    """Return whether the side to move wins; None if it does not follow from the table."""
    path = _path_to(board, LAST_PLY + 1)
    if path is None:
        return None
    if len(path) <= LAST_PLY:
        return _early_table()[index_of(path, ROWS, COLUMNS)] != 0
    return path[-1] not in _winning_after(path[:-1])


def _winning_after(path: Sequence[int]) -> set[int]:
    """Return the cells to move to by which the side to move wins after a path in the table."""
    image, steps = openings(ROWS, COLUMNS)[path[0], path[1]].image, steps_between(ROWS, COLUMNS)
    wins, own = _early_table()[index_of(path, ROWS, COLUMNS)], path[-2]
    targets = cells_of(knight_masks(ROWS, COLUMNS)[own])
    return {cell for cell in targets if wins >> steps[image[own], image[cell]] & 1}


def index_of(path: Sequence[int], rows: int, columns: int) -> int:
    """Return the place in a table of the position that moves lead to, from both placements on."""
    known = openings(rows, columns)
    opening, steps = known[path[0], path[1]], steps_between(rows, columns)
    index = opening.number
    for before, cell in zip(path, path[2:], strict=False):
        index = index * STEPS + steps[opening.image[before], opening.image[cell]]
    return index + first_index(len(path), _count_openings(rows, columns))


def first_index(ply: int, openings: int) -> int:
    """Return where in a table the positions of a ply begin."""
    return sum(openings * STEPS**later for later in range(ply - 2))


@lru_cache(maxsize=4)
def openings(rows: int, columns: int) -> dict[tuple[int, int], Opening]:
    """Return every opening's place in a table."""
    numbers: dict[tuple[int, ...], int] = {}
    places = {}
    for pair in permutations(range(rows * columns), 2):
        canonical = canonical_opening(pair, rows, columns)
        image = next(image for image in symmetries(rows, columns) if tuple(image[cell] for cell in pair) == canonical)
        places[pair] = Opening(numbers.setdefault(canonical, len(numbers)), image)
    return places


@lru_cache(maxsize=4)
def _count_openings(rows: int, columns: int) -> int:
    return len({opening.number for opening in openings(rows, columns).values()})


@lru_cache(maxsize=4)
def steps_between(rows: int, columns: int) -> dict[tuple[int, int], int]:
    """Return the number of the step that leads from a cell to another, by both."""
    moves = [move_of(cell, columns) for cell in range(rows * columns)]
    return {
        (cell, target): KNIGHT_STEPS.index((moves[target][0] - moves[cell][0], moves[target][1] - moves[cell][1]))
        for cell, mask in enumerate(knight_masks(rows, columns))
        for target in cells_of(mask)
    }


def _path_to(board: Board, last: int) -> list[int] | None:
    """Return moves that lead to a position of at most `last` plies; None if there are none, or more."""
    if (board.height, board.width) != (ROWS, COLUMNS):
        return None
    visited = full_mask(ROWS, COLUMNS) & ~board.blank
    plies, (first, second) = visited.bit_count(), board.locations
    if not 2 <= plies <= last or plies % 2 != board.active_index or first is None or second is None:
        return None
    for own in _trails(first, (plies + 1) // 2, visited & ~(1 << second)):
        left = visited & ~sum(1 << cell for cell in own)
        for other in _trails(second, plies // 2, left):
            path = [0] * plies
            path[::2], path[1::2] = own, other
            return path
    return None


def _trails(cell: int, length: int, cells: int) -> Iterator[list[int]]:
    """Yield the ways of a knight over so many of some cells, each once, that end on a cell."""
    if not cells >> cell & 1:
        return
    if length == 1:
        yield [cell]
        return
    left = cells & ~(1 << cell)
    for before in cells_of(knight_masks(ROWS, COLUMNS)[cell] & left):
        for trail in _trails(before, length - 1, left):
            yield [*trail, cell]


@cache
def _early_table() -> bytes:
    return lzma.decompress(read_shipped(EARLY_FILE))
