"""Classic player objects as agents: asked, timed and judged as their edition does."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from isolation.editions.classic_board import Board
from isolation.editions.edition import THIRD, TOO_LATE, edition_of, make_player, seat
from isolation.editions.third.conversion import unsupported_size_reason
from isolation.players.agents import ForfeitError, Player, UncompiledAgent
from isolation.rules.limits import Limit
from isolation.rules.outcome import Reason
from isolation.search import SearchResult
from isolation.usercode.user_exceptions import safe_repr


@dataclass(frozen=True)
class ClassicAgent(UncompiledAgent):
    """A player object of the classic scripts, of any edition; each game has a fresh one.

    `limit` is the wall or CPU time of a move. Before each move the generators of `random` and NumPy are seeded with
    the move's seed. Both, like the clock of CPU time, belong to the whole process: where classic players play in
    several threads at once, one draws from what another has seeded, and each is charged for the work of all.
    """

    name: str
    factory: Callable[[], Any]
    origin: tuple[tuple[str, str], ...]
    limit: Limit = Limit(ms=150)
    is_deterministic: bool = field(default=False, init=False)
    is_user_code: bool = field(default=True, init=False)

    def __post_init__(self) -> None:
        if self.limit.is_reproducible:
            raise ValueError(f"a classic player needs a limit of ms or cpu_ms, not {self.limit}")

    def settings(self) -> dict[str, Any]:
        """Where the player's code comes from, and its limit."""
        return {"kind": "classic", **dict(self.origin), "limit": {self.limit.unit: self.limit.value}}

    def why_unfit(self, size: tuple[int, int]) -> str:
        """That the board is too large for the states of the third edition, if its player knows those."""
        return unsupported_size_reason(*size) if edition_of(self.factory) is THIRD else ""

    @property
    def overruns(self) -> bool:
        """Whether it may go on computing beyond its limit: see `judged`."""
        return edition_of(self.factory) is THIRD

    def open(self) -> Player:
        """What makes a fresh player object for each game, and asks it for moves."""
        _seed_numpy(0)  # imports it now, before anybody waits for a move
        return ClassicPlayer(self.factory, self.limit)


@dataclass(frozen=True)
class Given:
    """What a player object has given for a move, before anybody judges it.

    Attributes:
        cell: a legal move; None for anything else.
        text: what it gave, for people, where that is no legal move.
        seconds: how long it took by the clock of its limit.
        computed: seconds of processor time.
        is_missing: whether there is none, as where a player of the third edition has put nothing on its queue.
    """

    cell: int | None
    text: str
    seconds: float
    computed: float
    is_missing: bool = False


def judged(given: Given, limit: Limit, *, overruns: bool) -> SearchResult:
    """The move that a player object has given, judged as the engine of its edition does: late first, then legal.

    Args:
        overruns: whether it may take longer than its limit, as players of the third edition do: what they have put on
            their queue before counts.

    Raises:
        ForfeitError: there is none, or it is late, or illegal.
    """
    if given.is_missing or (given.seconds * 1e3 > limit.value and not overruns):
        raise ForfeitError(Reason.TIMEOUT, _lateness(given, limit))
    if given.cell is None:
        raise ForfeitError(Reason.ILLEGAL_MOVE, f"played {given.text}")
    return SearchResult(given.cell, float("nan"), 0, 0, given.seconds, (given.cell,), False)


@dataclass
class ClassicPlayer:
    """The player of a `ClassicAgent`."""

    factory: Callable[[], Any]
    limit: Limit
    player: Any = None

    def new_game(self) -> None:
        """Let the player object go; a fresh one is made when it is known which side it plays."""
        self.player = None

    def close(self) -> None:
        """Let the player object go."""
        self.player = None

    def choose(self, board: Board, seed: int) -> SearchResult:
        """The move that the player gives; see `judged`."""
        return judged(self.give(board, seed), self.limit, overruns=edition_of(self.player) is THIRD)

    def find(self, board: Board, seed: int) -> SearchResult:
        """The move that the player gives, however long it took."""
        return judged(self.give(board, seed), self.limit, overruns=True)

    def give(self, board: Board, seed: int) -> Given:
        """Whatever the player gives."""
        if self.player is None:
            self.player = make_player(self.factory, board.active_index)
        random.seed(seed)
        _seed_numpy(seed)
        clock = time.perf_counter if self.limit.ms is not None else time.process_time
        legal_moves = board.get_legal_moves()
        game = seat(board, self.player)
        started, computing = clock(), time.process_time()

        def time_left() -> float:
            return self.limit.value - 1e3 * (clock() - started)

        move = edition_of(self.player).ask(self.player, game, time_left)
        seconds, computed = clock() - started, time.process_time() - computing
        if not isinstance(move, tuple) or move not in legal_moves:
            return Given(None, safe_repr(move), seconds, computed, move is TOO_LATE)
        return Given(int(move[0]) * board.width + int(move[1]), "", seconds, computed)


def _lateness(given: Given, limit: Limit) -> str:
    """How late a move was, and whether it would have been in time by the processor's clock."""
    if given.is_missing:
        return f"put no action on its queue within {limit.value:g} ms" + (" of processor time" if limit.cpu_ms else "")
    took, computed = given.seconds * 1e3, given.computed * 1e3
    late = f"took {took:.1f} ms of {limit.value:g} ms, {took - limit.value:.1f} ms too long"
    if limit.ms is None or computed > limit.value:
        return late
    return f"{late}; it computed for {computed:.1f} ms of them, in time under cpu_ms={limit.value:g}"


def _seed_numpy(seed: int) -> None:
    import numpy as np

    np.random.seed(seed % 2**32)
