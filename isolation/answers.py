"""One move of an agent in each of many positions: a batch, in compiled code where the agent is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isolation.agents import Agent, Player, as_loss, closing
from isolation.board import Board
from isolation.faults import IsCtrlC, heeding_ctrl_c
from isolation.geometry import full_mask, parse_size
from isolation.outcome import Reason

if TYPE_CHECKING:
    from isolation.search.compiled import CompiledPlayer

NO_ANSWER = -1

_WORD_BITS = 64


@dataclass(frozen=True)
class Positions:
    """Positions of one board by the moves that lead to them, in which the side to move has a move.

    Attributes:
        size: ROWSxCOLUMNS.
        moves: the cells of all positions, one after another; two placements and more in each.
        starts: int64[n + 1], position i has the cells starts[i] to starts[i + 1].
    """

    size: str
    moves: NDArray[np.int16]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, games: Sequence[Sequence[int]], size: str) -> Positions:
        """Positions from one sequence of cells each."""
        starts = np.cumsum([0, *map(len, games)])
        return cls(size, np.array([cell for moves in games for cell in moves], np.int16), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, index: int) -> tuple[int, ...]:
        """The cells played up to a position."""
        return tuple(self.moves[self.starts[index] : self.starts[index + 1]].tolist())

    @property
    def plies(self) -> NDArray[np.int64]:
        """How many plies have been played in each."""
        return np.diff(self.starts)

    def take(self, rows: NDArray[np.int64]) -> Positions:
        """Some of the positions, in this order."""
        plies = self.plies[rows]
        starts = np.concatenate(([0], np.cumsum(plies)))
        places = np.arange(starts[-1]) + np.repeat(self.starts[rows] - starts[:-1], plies)
        return Positions(self.size, self.moves[places], starts)


@dataclass(frozen=True)
class Answers:
    """What an agent did in n positions.

    Attributes:
        cells: int16[n], its moves, -1 where it lost by something else.
        failure: int8[n], the number of a `Reason` there, otherwise 0.
        detail: what happened at the first of these; empty if it always moved.
        nodes: int64[n], positions it visited; 0 if it does not tell.
        nanoseconds: int64[n], what it took.
    """

    cells: NDArray[np.int16]
    failure: NDArray[np.int8]
    detail: str
    nodes: NDArray[np.int64]
    nanoseconds: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.cells)


def answer_all(agent: Agent, positions: Positions, seeds: NDArray[np.uint64]) -> Answers:
    """Ask an agent once in every position, each as if in a game of its own.

    Compiled agents are asked in compiled code, which runs without Python's lock: any number of threads may ask.

    Args:
        seeds: uint64, one a move.
    """
    rows, columns = parse_size(positions.size)
    player = agent.compiled((rows, columns))
    if player is None:
        return _answer_interpreted(agent, positions, seeds)
    answers = _answer_compiled(player, positions, seeds)
    broken = np.flatnonzero(answers.failure)
    return answers if not len(broken) else _with_detail(answers, agent, positions, seeds, int(broken[0]))


def join_answers(parts: Sequence[Answers]) -> Answers:
    """The answers to one set of positions after another; the detail is the first there is."""
    cells, failure, nodes, nanoseconds = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("cells", "failure", "nodes", "nanoseconds")
    )
    return Answers(cells, failure, next((part.detail for part in parts if part.detail), ""), nodes, nanoseconds)


def _answer_compiled(player: CompiledPlayer, positions: Positions, seeds: NDArray[np.uint64]) -> Answers:
    from isolation.compiling.specialise import native_function
    from isolation.native import desks
    from isolation.search.compiled import as_row

    count = len(positions)
    cells, failure = np.empty(count, np.int16), np.empty(count, np.int8)
    nodes, nanoseconds = np.empty(count, np.int64), np.empty(count, np.int64)
    asked = [np.ascontiguousarray(column) for column in (*packed(positions), np.asarray(seeds, np.uint64))]
    row = np.array(as_row(player), np.int64)
    with desks.lent() as desk:
        native_function("answers", None, *parse_size(positions.size)).call(
            *map(desks.address_of, asked), count, desks.address_of(row), desk.address,
            *(desks.address_of(column) for column in (cells, failure, nodes, nanoseconds)),
        )  # fmt: skip
    return Answers(cells, failure, "", nodes, nanoseconds)


def packed(positions: Positions) -> tuple[NDArray[Any], ...]:
    """Positions as compiled code takes them: blank cells in two words, the cell of the side to move, the other's."""
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


def _with_detail(answers: Answers, agent: Agent, positions: Positions, seeds: NDArray[np.uint64], row: int) -> Answers:
    """The answers with what happened at the first failure, which compiled code cannot tell."""
    if answers.failure[row] == Reason.TIMEOUT:
        detail = "late"
    else:
        detail = _answer_interpreted(agent, positions.take(np.array([row])), seeds[row : row + 1]).detail
    return Answers(answers.cells, answers.failure, detail, answers.nodes, answers.nanoseconds)


def _answer_interpreted(agent: Agent, positions: Positions, seeds: NDArray[np.uint64]) -> Answers:
    with closing(agent.open()) as player, heeding_ctrl_c() as is_ctrl_c:
        rows = [
            _ask(player, Board.from_moves(positions[i], positions.size), int(seeds[i]), is_ctrl_c)
            for i in range(len(positions))
        ]
    columns = list(zip(*rows, strict=True)) or [()] * 5
    cells, failure, details, nodes, nanoseconds = columns
    detail = next((text for text, why in zip(details, failure, strict=True) if why), "")
    costs = np.array(nodes, np.int64), np.array(nanoseconds, np.int64)
    return Answers(np.array(cells, np.int16), np.array(failure, np.int8), detail, *costs)


def _ask(player: Player, board: Board, seed: int, is_ctrl_c: IsCtrlC) -> tuple[int, int, str, int, int]:
    """Cell, failure, its detail, nodes and nanoseconds of one answer."""
    try:
        player.new_game()
        found = player.choose(board, seed)
    except BaseException as error:
        if is_ctrl_c(error):
            raise
        loss = as_loss(error)
        return NO_ANSWER, int(loss.reason), loss.detail, 0, 0
    if not board.moves_mask(board.active_index) >> found.move & 1:
        return NO_ANSWER, int(Reason.ILLEGAL_MOVE), f"played cell {found.move}", 0, 0
    return found.move, 0, "", found.nodes, int(found.seconds * 1e9)
