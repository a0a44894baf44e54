"""The perfect player: solves positions, and searches those it cannot solve."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..rules.classic_board import Board
from ..rules.game import MOST_COMPILED_CELLS, Limit
from . import Heuristic, SearchResult
from .agents import SearchAgent, StatelessAgent, code_hash, in_time
from .solver import MoveValue, SearchBudget, longest_resistance, move_results

if TYPE_CHECKING:
    from .compiled import CompiledPlayer

DEFAULT_LIMIT = Limit(nodes=10_000_000)
"""Default limit, about a fifth of a second: enough to solve most 7x7 games from the first move on."""

_INFINITY = float("inf")


@dataclass(frozen=True)
class PerfectAgent(StatelessAgent):
    """Wins every won position that it can solve, and tries to play the longest game in lost ones.

    Half of the limit is used for solving the position. In a lost position, the other half is used to find the longest
    game; in an undecided one, for alpha-beta with the heuristic. The solver's results have `exact` set and a score of
    ±inf; in a lost position their `depth` is a lower bound of the remaining plies. Results of the heuristic search do
    not have `exact` set.
    """

    name: str
    heuristic: Heuristic
    heuristic_name: str
    limit: Limit = DEFAULT_LIMIT
    is_user_code = False
    is_compilable = False

    def __post_init__(self) -> None:
        SearchBudget(self.limit)

    def settings(self) -> dict[str, Any]:
        limit = {self.limit.unit: getattr(self.limit, self.limit.unit)}
        fallback = {"heuristic": self.heuristic_name, "code": code_hash(self.heuristic)}
        return {"kind": "perfect", "limit": limit, **fallback}

    def compiled(self, size: tuple[int, int]) -> CompiledPlayer | None:
        """Return None: moves are chosen in Python. The functions they need are compiled now, so that no move waits."""
        if size[0] * size[1] <= MOST_COMPILED_CELLS:
            from ..compiling.specialise import native_function

            native_function("solve", None, *size)
        self.fallback.compiled(size)
        return None

    @property
    def fallback(self) -> SearchAgent:
        """The heuristic search, with half of the limit."""
        return SearchAgent(self.name, "alphabeta", self.heuristic, self.heuristic_name, _half(self.limit))

    def choose(self, board: Board, seed: int) -> SearchResult:
        return in_time(self.find(board, seed), self.limit)

    def find(self, board: Board, seed: int) -> SearchResult:
        """Return the same as `choose`, even if it is late."""
        self.compiled((board.height, board.width))
        started = time.perf_counter()
        result = self._choose(board, seed)
        return replace(result, seconds=time.perf_counter() - started)

    def _choose(self, board: Board, seed: int) -> SearchResult:
        if board.width * board.height > MOST_COMPILED_CELLS:
            return replace(self.fallback.find(board, seed), exact=False)
        meter = SearchBudget(_half(self.limit))
        values = []
        for move in move_results(board, meter):
            if move.keeps:
                return _solved(move.cell, _INFINITY, 0, meter.nodes)
            values.append(move)
        if any(move.keeps is None for move in values):
            return self._fall_back(board, seed, values, meter.nodes)
        second_budget = SearchBudget(_half(self.limit))
        _, at_least, moves = longest_resistance(board, values, second_budget)
        cell = next(move.cell for move in values if move.cell in moves)
        return _solved(cell, -_INFINITY, at_least, meter.nodes + second_budget.nodes)

    def _fall_back(self, board: Board, seed: int, values: list[MoveValue], nodes: int) -> SearchResult:
        """Return the heuristic search's move; if that is known to lose, the most promising undecided move."""
        if None in board.locations:
            result = self.fallback.placing().choose(board, seed)
        else:
            result = self.fallback.find(board, seed)
        open_moves = [move.cell for move in values if move.keeps is None]
        if result.move not in open_moves:
            result = replace(result, move=open_moves[0], pv=(open_moves[0],))
        return replace(result, nodes=nodes + result.nodes, exact=False)


def _solved(cell: int, score: float, depth: int, nodes: int) -> SearchResult:
    return SearchResult(cell, score, depth, nodes, 0.0, (cell,), True)


def _half(limit: Limit) -> Limit:
    if limit.nodes is not None:
        return Limit(nodes=max(1, limit.nodes // 2))
    return Limit(ms=limit.ms / 2) if limit.ms is not None else Limit(cpu_ms=limit.value / 2)
