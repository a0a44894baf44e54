"""An agent's moves in many positions, compiled where possible."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isolation.editions.classic_board import Board
from isolation.players.agents import Agent, Player, forfeit_from, opened_player
from isolation.rules.geometry import full_mask, parse_size
from isolation.rules.outcome import Reason
from isolation.usercode.user_exceptions import IsCtrlC, detect_ctrl_c

if TYPE_CHECKING:
    from isolation.search.compiled import CompiledPlayer

NO_ANSWER = -1

_WORD_BITS = 64
_FIRST_BATCH = 4
_GROWTH = 32
_BATCH_SECONDS = 0.25

IsCancelled = Callable[[], bool]
"""Returns whether the answers are no longer needed."""


@dataclass(frozen=True)
class Positions:
    """Positions on boards of one size, given by the moves that lead to them. The side to move must have a move.

    Attributes:
        size: ROWSxCOLUMNS.
        moves: the cells of all positions, concatenated; each begins with two placements.
        starts: int64[n + 1]; position i has the cells starts[i] to starts[i + 1].
    """

    size: str
    moves: NDArray[np.int16]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, games: Sequence[Sequence[int]], size: str) -> Positions:
        """Create positions from one sequence of cells each."""
        starts = np.cumsum([0, *map(len, games)])
        return cls(size, np.array([cell for moves in games for cell in moves], np.int16), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, index: int) -> tuple[int, ...]:
        """Return the cells played up to a position."""
        return tuple(self.moves[self.starts[index] : self.starts[index + 1]].tolist())

    @property
    def plies(self) -> NDArray[np.int64]:
        """Number of plies played in each position."""
        return np.diff(self.starts)

    def take(self, rows: NDArray[np.int64]) -> Positions:
        """Return the positions at these indices, in this order."""
        plies = self.plies[rows]
        starts = np.concatenate(([0], np.cumsum(plies)))
        move_rows = np.arange(starts[-1]) + np.repeat(self.starts[rows] - starts[:-1], plies)
        return Positions(self.size, self.moves[move_rows], starts)


@dataclass(frozen=True)
class BatchMoves:
    """An agent's answers in n positions.

    Attributes:
        cells: int16[n], its moves, -1 where it failed.
        failure: int8[n], the number of a `Reason` where it failed, else 0.
        detail: details of the `first_failure`; empty if it always moved.
        nodes: int64[n], positions visited; 0 if the agent does not report them.
        nanoseconds: int64[n], time used.
    """

    cells: NDArray[np.int16]
    failure: NDArray[np.int8]
    detail: str
    nodes: NDArray[np.int64]
    nanoseconds: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def first_failure(self) -> int | None:
        """Index of the first error, else of the first other failure; None if the agent always moved."""
        return first_failure(self.failure)


def first_failure(failure: NDArray[np.int8]) -> int | None:
    """Return the index of the first error, else of the first other failure; None if all reasons are 0.

    >>> first_failure(np.array([0, Reason.TIMEOUT, Reason.ERROR, Reason.ERROR], np.int8))
    2
    """
    errors, failures = np.flatnonzero(failure == Reason.ERROR), np.flatnonzero(failure)
    return int((errors if len(errors) else failures)[0]) if len(failures) else None


def choose_moves(
    agent: Agent, positions: Positions, seeds: NDArray[np.uint64], is_cancelled: IsCancelled = lambda: False
) -> BatchMoves:
    """Ask an agent for one move in every position, each as if in a new game.

    Compiled agents are asked by compiled code, which releases Python's lock, so that any number of threads may call
    this function. Each compiled call takes about a quarter of a second, so that Python can handle signals in between.

    Args:
        seeds: uint64, one per move.
        is_cancelled: called between positions, for threads, which receive no signals.

    Raises:
        CancelledError: `is_cancelled` returned True.
    """
    rows, columns = parse_size(positions.size)
    player = agent.compiled((rows, columns))
    if player is None:
        return _answer_interpreted(agent, positions, seeds, is_cancelled)
    answers = asking(player, positions, seeds, is_cancelled)()
    if answers.first_failure is None:
        return answers
    return _with_detail(answers, agent, positions, seeds, is_cancelled)


def join_answers(parts: Sequence[BatchMoves]) -> BatchMoves:
    """Concatenate the answers to several sets of positions."""
    cells, failure, nodes, nanoseconds = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("cells", "failure", "nodes", "nanoseconds")
    )
    first = first_failure(failure)
    if first is None:
        return BatchMoves(cells, failure, "", nodes, nanoseconds)
    part = int(np.searchsorted(np.cumsum([len(part) for part in parts]), first, side="right"))
    return BatchMoves(cells, failure, parts[part].detail, nodes, nanoseconds)


def asking(
    player: CompiledPlayer,
    positions: Positions,
    seeds: NDArray[np.uint64],
    is_cancelled: IsCancelled = lambda: False,
) -> Callable[[], BatchMoves]:
    """Return a function that asks a compiled player in every position, with all preparations already done.

    Its answers contain no details of failures, and are overwritten by the next call.
    """
    from isolation.compiling.specialise import native_function
    from isolation.native import workspaces
    from isolation.search.compiled import as_row

    count = len(positions)
    cells, failure = np.empty(count, np.int16), np.empty(count, np.int8)
    nodes, nanoseconds = np.empty(count, np.int64), np.empty(count, np.int64)
    asked = [np.ascontiguousarray(column) for column in (*packed(positions), np.asarray(seeds, np.uint64))]
    row = np.array(as_row(player), np.int64)
    call = native_function("answers", None, *parse_size(positions.size)).call

    def ask() -> BatchMoves:
        given, filled = (
            [(workspaces.address_of(column), column.itemsize) for column in columns]
            for columns in (asked, (cells, failure, nodes, nanoseconds))
        )
        with workspaces.borrow_workspace() as desk:
            for first, batch in batches(count, is_cancelled):
                call(
                    *(address + first * width for address, width in given),
                    batch, workspaces.address_of(row), desk.address,
                    *(address + first * width for address, width in filled),
                )  # fmt: skip
        return BatchMoves(cells, failure, "", nodes, nanoseconds)

    return ask


def batches(count: int, is_cancelled: IsCancelled = lambda: False) -> Iterator[tuple[int, int]]:
    """Yield the first position and the number of positions of each compiled call.

    A call should take a quarter of a second. The number of positions is estimated from the time the caller took so far.

    Raises:
        CancelledError: `is_cancelled` returned True.
    """
    first, batch, started = 0, _FIRST_BATCH, time.perf_counter()
    while first < count:
        if is_cancelled():
            raise CancelledError
        yield first, min(batch, count - first)
        first += batch
        affordable = int(first * _BATCH_SECONDS / (time.perf_counter() - started))
        batch = max(1, min(affordable, _GROWTH * batch))


def packed(positions: Positions) -> tuple[NDArray[Any], ...]:
    """Return positions as compiled code expects them: blank cells in two words, the mover's cell, the other's cell."""
    count, plies = len(positions), positions.plies
    moves = positions.moves.astype(np.int64)
    position = np.repeat(np.arange(count), plies)
    visited = np.zeros((2, count), np.uint64)
    bits = np.uint64(1) << (moves % _WORD_BITS).astype(np.uint64)
    np.bitwise_or.at(visited, (moves // _WORD_BITS, position), bits)
    everywhere = full_mask(*parse_size(positions.size))
    low, high = (np.uint64(everywhere >> shift & (1 << _WORD_BITS) - 1) for shift in (0, _WORD_BITS))
    last = positions.starts[1:]
    return low & ~visited[0], high & ~visited[1], moves[last - 2], moves[last - 1]


def _with_detail(
    answers: BatchMoves, agent: Agent, positions: Positions, seeds: NDArray[np.uint64], is_cancelled: IsCancelled
) -> BatchMoves:
    """Add the details of the first failure, which compiled code cannot report, by asking again in Python.

    If Python raises no error, a number was too large for compiled code; then Python's answer is used.
    """
    errors = np.flatnonzero(answers.failure == Reason.ERROR)
    again = _answer_interpreted(agent, positions.take(errors), seeds[errors], is_cancelled)
    for column, values in zip(_columns(answers), _columns(again), strict=True):
        column[errors] = values
    first = answers.first_failure
    is_late = first is not None and answers.failure[first] == Reason.TIMEOUT
    return BatchMoves(answers.cells, answers.failure, "late" if is_late else again.detail, *_columns(answers)[2:])


def _columns(answers: BatchMoves) -> tuple[NDArray[Any], ...]:
    return answers.cells, answers.failure, answers.nodes, answers.nanoseconds


def _answer_interpreted(
    agent: Agent, positions: Positions, seeds: NDArray[np.uint64], is_cancelled: IsCancelled
) -> BatchMoves:
    rows = []
    with opened_player(agent.open()) as player, detect_ctrl_c() as is_ctrl_c:
        for i in range(len(positions)):
            if is_cancelled():
                raise CancelledError
            rows.append(_ask(player, Board.from_moves(positions[i], positions.size), int(seeds[i]), is_ctrl_c))
    columns = list(zip(*rows, strict=True)) or [()] * 5
    cells, failure, details, nodes, nanoseconds = columns
    reasons = np.array(failure, np.int8)
    first = first_failure(reasons)
    costs = np.array(nodes, np.int64), np.array(nanoseconds, np.int64)
    return BatchMoves(np.array(cells, np.int16), reasons, "" if first is None else details[first], *costs)


def _ask(player: Player, board: Board, seed: int, is_ctrl_c: IsCtrlC) -> tuple[int, int, str, int, int]:
    """Return cell, failure, detail, nodes and nanoseconds of one answer."""
    try:
        player.new_game()
        result = player.choose(board, seed)
    except BaseException as error:
        if is_ctrl_c(error):
            raise
        loss = forfeit_from(error)
        return NO_ANSWER, int(loss.reason), loss.detail, 0, 0
    if not board.moves_mask(board.active_index) >> result.move & 1:
        return NO_ANSWER, int(Reason.ILLEGAL_MOVE), f"played cell {result.move}", 0, 0
    return result.move, 0, "", result.nodes, int(result.seconds * 1e9)
