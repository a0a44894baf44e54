"""Many positions at a time: an agent's moves, evaluations, principal variations, and which moves win."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..native import workspaces
from ..native.layout import FAILED, MAX_PLY, NO_LIMIT
from ..rules.classic_board import Board
from ..rules.game import USUAL_SIZE, Limit, Reason, Size, SizeLike, size_of
from ..rules.geometry import knight_masks
from ..search import SearchResult
from ..search.agents import Agent, ForfeitError, Player, move_or_forfeit, opened_player
from ..usercode.user_exceptions import IsCtrlC, detect_ctrl_c

if TYPE_CHECKING:
    from ..compiling.compile_heuristic import CompiledHeuristic
    from ..compiling.specialise import ScoreModule, Template
    from ..search.compiled import CompiledPlayer


NO_ANSWER = -1

_WORD_BITS = 64
_WORD = (1 << _WORD_BITS) - 1
_FIRST_BATCH = 4
_GROWTH = 32
_BATCH_SECONDS = 0.25
COUNT, DESK = "count", "desk"
Arguments = tuple[NDArray[Any] | int | str, ...]

IsCancelled = Callable[[], bool]
"""Returns whether the answers are no longer needed."""


@dataclass(frozen=True)
class Positions:
    """Positions on boards of one size, given by the moves that lead to them. The side to move must have a move.

    The cells of all positions are concatenated in `moves`: those of position i, of which the first two are placements,
    begin at starts[i] and end before starts[i + 1].
    """

    size: Size
    moves: NDArray[np.int16]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, games: Sequence[Sequence[int]], size: SizeLike) -> Positions:
        """Create positions from one sequence of cells each."""
        starts = np.cumsum([0, *map(len, games)])
        return cls(size_of(size), np.fromiter(chain.from_iterable(games), np.int16, starts[-1]), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, index: int) -> tuple[int, ...]:
        """Return the cells played up to a position."""
        return tuple(self.moves[self.starts[index] : self.starts[index + 1]].tolist())

    @property
    def plies(self) -> NDArray[np.int64]:
        """Number of plies played in each position."""
        return np.diff(self.starts)

    @property
    def turns(self) -> NDArray[np.int64]:
        """int64[n], the player to move, 0 or 1."""
        return self.plies % 2

    def board(self, index: int) -> Board:
        """Return a position as a board."""
        return Board.from_moves(self[index], self.size)

    def take(self, rows: NDArray[np.int64]) -> Positions:
        """Return the positions at these indices, in this order."""
        plies = self.plies[rows]
        starts = np.concatenate(([0], np.cumsum(plies)))
        move_rows = np.arange(starts[-1]) + np.repeat(self.starts[rows] - starts[:-1], plies)
        return Positions(self.size, self.moves[move_rows], starts)


@dataclass(frozen=True)
class States:
    """n positions on boards of one size, given by their blank cells and the knights' cells, without a history.

    The side to move must have a move. Bit i of `low` is cell i, bit i of `high` cell 64 + i, set if it is blank; `own`
    and `other` are the cells of the side to move and of its opponent, and `turns` is the player to move, 0 or 1.
    """

    size: Size
    low: NDArray[np.uint64]
    high: NDArray[np.uint64]
    own: NDArray[np.int64]
    other: NDArray[np.int64]
    turns: NDArray[np.int64]

    @classmethod
    def of(cls, boards: Sequence[Board]) -> States:
        """Create the states of boards of one size, on each of which both players have been placed.

        Raises:
            ValueError: there is no board, their sizes differ, or a player is not placed.
        """
        sizes = {Size(board.height, board.width) for board in boards}
        if len(sizes) != 1 or any(None in board.locations for board in boards):
            raise ValueError("boards of one size are needed, on which both players have been placed")
        low, high = (_words([board.blank for board in boards], word) for word in (0, 1))
        players = np.array([board.active_index for board in boards], np.int64)
        cells, rows = np.array([board.locations for board in boards], np.int64), np.arange(len(boards))
        return cls(sizes.pop(), low, high, cells[rows, players], cells[rows, 1 - players], players)

    @classmethod
    def of_arrays(
        cls, blank: ArrayLike, own: ArrayLike, other: ArrayLike, turns: ArrayLike = 0, size: SizeLike = USUAL_SIZE
    ) -> States:
        """Create states from arrays of n positions.

        Args:
            blank: the blank cells: uint64[n] or uint64[n, 2], bit i of the words for cell i, or bool[n, rows, columns].
            own, other: int[n], the cells of the side to move and of its opponent.
            turns: int[n], the player to move, 0 or 1; one number stands for all.

        Raises:
            ValueError: the shapes do not fit each other, or a cell is not on the board.
        """
        size = size_of(size)
        cells = size.cells
        masks = np.asarray(blank)
        if masks.dtype == bool:
            bits = np.packbits(masks.reshape(len(masks), cells), axis=1, bitorder="little")
            masks = np.pad(bits, ((0, 0), (0, 16 - bits.shape[1]))).view("<u8")
        masks = masks.reshape(len(masks), -1).astype(np.uint64)
        places = [np.ascontiguousarray(np.broadcast_to(column, len(masks)), np.int64) for column in (own, other, turns)]
        if masks.shape[1] > 2 or any(len(place) and not 0 <= place.min() <= place.max() < cells for place in places):
            raise ValueError(f"blank cells are one or two words a position, and cells numbers from 0 to {cells - 1}")
        low = np.ascontiguousarray(masks[:, 0])
        high = np.ascontiguousarray(masks[:, 1]) if masks.shape[1] == 2 else np.zeros_like(low)
        return cls(size, low, high, *places)

    def __len__(self) -> int:
        return len(self.low)

    def board(self, index: int) -> Board:
        """Return a position as a board, without its history."""
        rows, columns = self.size
        board = Board(1, 2, columns, rows)
        board.blank = int(self.low[index]) | int(self.high[index]) << _WORD_BITS
        own, other, board.active_index = int(self.own[index]), int(self.other[index]), int(self.turns[index])
        board.locations = (other, own) if board.active_index else (own, other)
        return Board.from_fen(board.fen)

    def take(self, rows: NDArray[np.int64]) -> States:
        """Return the positions at these indices, in this order."""
        low, high = self.low[rows], self.high[rows]
        return States(self.size, low, high, self.own[rows], self.other[rows], self.turns[rows])


def _words(masks: Sequence[int], word: int) -> NDArray[np.uint64]:
    """Return the cells from 64 * `word` on of each mask."""
    return np.array([mask >> _WORD_BITS * word & _WORD for mask in masks], np.uint64)


AnyPositions = Positions | States


@dataclass(frozen=True)
class BatchMoves:
    """An agent's answers in n positions.

    Attributes:
        cells: its moves, -1 where it failed.
        failure: the number of a `Reason` where it failed, else 0.
        detail: details of the `first_failure`; empty if it always moved.
        nodes, nanoseconds: positions visited, 0 if the agent does not report them, and time used.
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
        errors, failures = np.flatnonzero(self.failure == Reason.ERROR), np.flatnonzero(self.failure)
        return int((errors if len(errors) else failures)[0]) if len(failures) else None


def choose_moves(
    agent: Agent, positions: AnyPositions, seeds: NDArray[np.uint64], is_cancelled: IsCancelled = lambda: False
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
    player = agent.compiled(positions.size)
    if player is None:
        return _answer_interpreted(agent, positions, seeds, is_cancelled)
    answers = asking(player, positions, seeds, is_cancelled)()
    if answers.first_failure is None:
        return answers
    return _with_detail(answers, agent, positions, seeds, is_cancelled)


def join_answers(parts: Sequence[BatchMoves]) -> BatchMoves:
    """Concatenate the answers to several sets of positions."""
    cells, failure, nodes, nanoseconds = map(np.concatenate, zip(*map(_columns, parts), strict=True))
    joined = BatchMoves(cells, failure, "", nodes, nanoseconds)
    if (first := joined.first_failure) is None:
        return joined
    part = int(np.searchsorted(np.cumsum([len(part) for part in parts]), first, side="right"))
    return replace(joined, detail=parts[part].detail)


def asking(
    player: CompiledPlayer,
    positions: AnyPositions,
    seeds: NDArray[np.uint64],
    is_cancelled: IsCancelled = lambda: False,
) -> Callable[[], BatchMoves]:
    """Return a function that asks a compiled player in every position, with all preparations already done.

    Its answers contain no details of failures, and are overwritten by the next call.
    """
    from ..search.compiled import as_row

    count = len(positions)
    cells, failure = np.empty(count, np.int16), np.empty(count, np.int8)
    nodes, nanoseconds = np.empty(count, np.int64), np.empty(count, np.int64)
    row = np.array(as_row(player), np.int64)
    asked = *packed(positions), np.ascontiguousarray(seeds, np.uint64)
    call = _compiled("answers", positions.size)

    def ask() -> BatchMoves:
        given: Arguments = (*asked, COUNT, workspaces.address_of(row), DESK)
        call_in_batches(call, count, (*given, cells, failure, nodes, nanoseconds), is_cancelled=is_cancelled)
        return BatchMoves(cells, failure, "", nodes, nanoseconds)

    return ask


def _compiled(template: Template, size: Size, score: ScoreModule | None = None) -> Callable[..., float]:
    from ..compiling.specialise import native_function

    return native_function(template, score, *size).call


def call_in_batches(
    call: Callable[..., float],
    count: int,
    arguments: Arguments,
    failure: str = "",
    is_cancelled: IsCancelled = lambda: False,
) -> None:
    """Call compiled code for `count` positions, with so many at a time that a call takes a quarter of a second.

    Args:
        arguments: arrays with a row for each position, numbers, and in place of the number of positions of a call and
            of its workspace's address `COUNT` and `DESK`.
        failure: the message if a call fails; failures are ignored by default.

    Raises:
        ArithmeticError: a call failed.
        CancelledError: `is_cancelled` returned True.
    """
    with workspaces.borrow_workspace() as desk:
        for first, batch in batches(count, is_cancelled):
            numbers = {COUNT: batch, DESK: desk.address}
            call(*(_argument(each, first, numbers) for each in arguments))
            if failure and desk.numbers[FAILED]:
                raise ArithmeticError(failure)


def _argument(value: NDArray[Any] | int | str, first: int, numbers: Mapping[str, int]) -> int:
    if isinstance(value, np.ndarray):
        return workspaces.address_of(value[first:])
    return numbers[value] if isinstance(value, str) else value


def batches(count: int, is_cancelled: IsCancelled) -> Iterator[tuple[int, int]]:
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


def packed(positions: AnyPositions) -> tuple[NDArray[Any], ...]:
    """Return positions as compiled code expects them: blank cells in two words, the mover's cell, the other's cell."""
    if isinstance(positions, States):
        return tuple(map(np.ascontiguousarray, (positions.low, positions.high, positions.own, positions.other)))
    count = len(positions)
    given = np.ascontiguousarray(positions.moves, np.int16), np.ascontiguousarray(positions.starts, np.int64)
    columns = tuple(np.empty(count, kind) for kind in (np.uint64, np.uint64, np.int64, np.int64))
    _compiled("pack", positions.size)(
        *(workspaces.address_of(column) for column in given), count,
        *(workspaces.address_of(column) for column in columns),
    )  # fmt: skip
    return columns


def check_positions(positions: Positions) -> None:
    """Check that positions follow from legal moves and that the side to move has a move.

    Raises:
        ValueError: one does not; the message has its index.
    """
    cells, moves, plies = positions.size.cells, positions.moves, positions.plies
    ply = np.arange(len(moves)) - np.repeat(positions.starts[:-1], plies)
    owner = np.repeat(np.arange(len(positions)), plies)
    wrong = np.zeros(len(positions), bool)
    wrong[plies < 2] = True
    wrong[owner[(moves < 0) | (moves >= cells)]] = True
    if not wrong.any():
        near = np.array([[mask >> cell & 1 for cell in range(cells)] for mask in knight_masks(*positions.size)], bool)
        later = np.flatnonzero(ply >= 2)
        wrong[owner[later[~near[moves[later - 2], moves[later]]]]] = True
        low, high, *_ = packed(positions)
        wrong |= np.bitwise_count(low).astype(np.int64) + np.bitwise_count(high) + plies != cells
        wrong |= is_over(positions)
    if wrong.any():
        index = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"position {index}, {positions[index]}, is not one of legal moves on {positions.size} with both players "
            "placed and a move to make"
        )


def is_over(positions: AnyPositions) -> NDArray[np.bool_]:
    """Return bool[n]: whether the side to move has no move. It must have been placed."""
    low, high, own, _ = packed(positions)
    masks = knight_masks(*positions.size)
    near_low, near_high = (_words(masks, word)[own] for word in (0, 1))
    over: NDArray[np.bool_] = (low & near_low | high & near_high) == 0
    return over


def _with_detail(
    answers: BatchMoves, agent: Agent, positions: AnyPositions, seeds: NDArray[np.uint64], is_cancelled: IsCancelled
) -> BatchMoves:
    """Add the details of the first failure, which compiled code cannot report, by asking again in Python."""
    # If Python raises no error, a number was too large for compiled code; then Python's answer is used.
    errors = np.flatnonzero(answers.failure == Reason.ERROR)
    again = _answer_interpreted(agent, positions.take(errors), seeds[errors], is_cancelled)
    for column, values in zip(_columns(answers), _columns(again), strict=True):
        column[errors] = values
    first = answers.first_failure
    is_late = first is not None and answers.failure[first] == Reason.TIMEOUT
    return replace(answers, detail="late" if is_late else again.detail)


def _columns(answers: BatchMoves) -> tuple[NDArray[Any], ...]:
    return answers.cells, answers.failure, answers.nodes, answers.nanoseconds


def _answer_interpreted(
    agent: Agent, positions: AnyPositions, seeds: NDArray[np.uint64], is_cancelled: IsCancelled
) -> BatchMoves:
    rows = []
    with opened_player(agent.open()) as player, detect_ctrl_c() as is_ctrl_c:
        for i in range(len(positions)):
            if is_cancelled():
                raise CancelledError
            rows.append(_ask(player, positions.board(i), int(seeds[i]), is_ctrl_c))
    columns = list(zip(*rows, strict=True)) or [()] * 5
    cells, failure, details, nodes, nanoseconds = columns
    costs = np.array(nodes, np.int64), np.array(nanoseconds, np.int64)
    answers = BatchMoves(np.array(cells, np.int16), np.array(failure, np.int8), "", *costs)
    return answers if (first := answers.first_failure) is None else replace(answers, detail=details[first])


def _ask(player: Player, board: Board, seed: int, is_ctrl_c: IsCtrlC) -> tuple[int, int, str, int, int]:
    """Return cell, failure, detail, nodes and nanoseconds of one answer."""

    def choose() -> SearchResult:
        player.new_game()
        return player.choose(board, seed)

    given = move_or_forfeit(choose, board, is_ctrl_c, resigns=False)
    if isinstance(given, ForfeitError):
        return NO_ANSWER, int(given.reason), given.detail, 0, 0
    return given.move, 0, "", given.nodes, int(given.seconds * 1e9)


@dataclass(frozen=True)
class EvaluationBatch:
    """n positions to evaluate, each for one of the players, as columns in the form that compiled code expects.

    They are blank cells in two words, the players' cells, the player to move, and the player to evaluate for.
    """

    size: Size
    columns: tuple[NDArray[Any], ...]

    @classmethod
    def of(cls, positions: AnyPositions, players: NDArray[np.int64]) -> EvaluationBatch:
        """Return the positions to be evaluated for these players (0 or 1)."""
        low, high, own, other = packed(positions)
        turns = positions.turns
        cells = np.where(turns == 0, own, other), np.where(turns == 0, other, own)
        columns = (low, high, *cells, turns, players.astype(np.int64))
        return cls(positions.size, tuple(np.ascontiguousarray(column) for column in columns))

    def __len__(self) -> int:
        return len(self.columns[0])


def evaluate_all(
    heuristic: CompiledHeuristic, asking: EvaluationBatch, parameters: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the heuristic's values, float64[n].

    Args:
        parameters: float64, in the order of `parameters_of`; by default those of the heuristic.

    Raises:
        ArithmeticError: the heuristic raised an exception at one of the positions.
    """
    given = heuristic.parameters if parameters is None else parameters
    values, parameters = np.empty(len(asking)), np.ascontiguousarray(given, np.float64)
    call = _compiled("values", asking.size, heuristic.score_on(asking.size))
    failure = "the heuristic raises an exception at one of the positions"
    numbers = workspaces.address_of(parameters)
    call_in_batches(call, len(asking), (*asking.columns, COUNT, DESK, numbers, values), failure)
    return values


@dataclass(frozen=True)
class PrincipalVariations:
    """Search results of n positions: scores for the side to move, of which ±inf are proven, and lines.

    Those are the first plies[i] of cells[i], int16[n, MAX_PLY]; none if the limit was too small.
    """

    scores: NDArray[np.float64]
    plies: NDArray[np.int64]
    cells: NDArray[np.int16]


def expected_lines(
    heuristic: CompiledHeuristic,
    positions: Positions,
    parameters: NDArray[np.float64],
    depth: int | None,
    nodes: NDArray[np.int64] | None,
) -> PrincipalVariations:
    """Search positions by alpha-beta, each as part of a search for the side that has just moved.

    Args:
        depth: depth in plies, or None to use `nodes`.
        nodes: int64[n], node limit of each position.

    Raises:
        ArithmeticError: the heuristic raised an exception or returned NaN.
    """
    count = len(positions)
    lines = PrincipalVariations(np.empty(count), np.zeros(count, np.int64), np.zeros((count, MAX_PLY), np.int16))
    most = np.full(count, NO_LIMIT) if nodes is None else np.ascontiguousarray(nodes, np.int64)
    parameters = np.ascontiguousarray(parameters, np.float64)
    filled = (workspaces.address_of(parameters), lines.scores, lines.plies, lines.cells)
    call = _compiled("lines", positions.size, heuristic.score_on(positions.size))
    failure = "the heuristic raises an exception or returns NaN in a search"
    call_in_batches(call, count, (*packed(positions), COUNT, depth or 0, most, DESK, *filled), failure)
    return lines


@dataclass(frozen=True)
class SolvedMoves:
    """The exact results of n positions on boards of one size, and the number of nodes visited, int64[n].

    `winning` are the moves that win, `undecided` those that the limit left so: uint64[n, 2], bit i of the words for
    cell i.
    """

    size: Size
    winning: NDArray[np.uint64]
    undecided: NDArray[np.uint64]
    nodes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def values(self) -> NDArray[np.float64]:
        """float64[n]: 1.0 if the side to move wins, -1.0 if it loses, NaN if the limit left it unknown."""
        won, unknown = self.winning.any(axis=1), self.undecided.any(axis=1)
        return np.where(won, 1.0, np.where(unknown, np.nan, -1.0))

    def regrets(self, cells: ArrayLike) -> NDArray[np.float64]:
        """Return float64[n]: 1.0 for a move that throws a win away, 0.0 for any other, NaN if unknown.

        Args:
            cells: int[n], the legal move played in each position.
        """
        index = np.asarray(cells, np.int64)
        bits = np.uint64(1) << (index & 63).astype(np.uint64)
        rows, words = np.arange(len(self)), index >> 6
        keeps, unknown = ((mask[rows, words] & bits) != 0 for mask in (self.winning, self.undecided))
        values = self.values
        regrets: NDArray[np.float64] = np.where(keeps | (values < 0), 0.0, np.where(unknown, np.nan, (values + 1) / 2))
        return regrets


def solve_moves(positions: AnyPositions, limit: Limit | None = None) -> SolvedMoves:
    """Find the winning moves in every position. Late positions take about ten microseconds each.

    Args:
        limit: nodes or milliseconds for each position; without one, all are solved.

    Raises:
        ValueError: the limit is in depth.
    """
    from ..search.solver import solver_limits

    nodes, clock, nanoseconds = solver_limits(limit)
    count = len(positions)
    winning, undecided = np.zeros((2, count, 2), np.uint64)
    solved = SolvedMoves(positions.size, winning, undecided, np.zeros(count, np.int64))
    call, filled = _compiled("solve_many", positions.size), (winning, undecided, solved.nodes)
    call_in_batches(call, count, (*packed(positions), COUNT, nodes, clock, nanoseconds, DESK, *filled))
    return solved
