"""Classic player objects as agents, called, timed and judged as in their edition."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..rules.classic_board import Board
from ..rules.edition import THIRD, TOO_LATE, describe_answer, edition_of, make_player, names_no_move, read_move, seat
from ..rules.game import Limit, Reason, start_clock
from ..rules.geometry import cell_of
from ..rules.third_edition import unsupported_size_reason
from . import SearchResult
from .agents import ForfeitError, Player, UncompiledAgent


@dataclass(frozen=True)
class ClassicAgent(UncompiledAgent):
    """A player object of a classic script, of any edition; each game has a new one.

    `limit` is the wall or CPU time of a move. Before each move the generators of `random` and NumPy are seeded with
    the move's seed. The generators and the CPU clock are process-wide: if classic players play in several threads at
    once, they disturb each other's random numbers, and each is charged the CPU time of all.
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
        return {"kind": "classic", **dict(self.origin), "limit": {self.limit.unit: self.limit.value}}

    def why_unfit(self, size: tuple[int, int]) -> str:
        """Return that the board is too large for third-edition states, if the player is of that edition; else ""."""
        return unsupported_size_reason(*size) if edition_of(self.factory) is THIRD else ""

    @property
    def overruns(self) -> bool:
        """Whether it may go on computing beyond its limit; see `judged`."""
        return edition_of(self.factory) is THIRD

    def open(self) -> Player:
        _seed_numpy(0)  # imports NumPy before moves are timed
        return ClassicPlayer(self.factory, self.limit)


@dataclass(frozen=True)
class Given:
    """A player object's answer before it is judged.

    Attributes:
        cell: a legal move; None for anything else, which `text` describes.
        seconds: time by the limit's clock.
        computed: CPU time in seconds.
        is_missing: whether there is no answer, as when a player of the third edition puts no action on its queue.
        gives_up: whether the answer names no move: None or (-1, -1).
    """

    cell: int | None
    text: str
    seconds: float
    computed: float
    is_missing: bool = False
    gives_up: bool = False


def judged(given: Given, limit: Limit, *, overruns: bool) -> SearchResult:
    """Judge a player object's answer as the engine of its edition does: first the time, then the legality.

    With `overruns` it may take longer than its limit, like players of the third edition, for whom the last action put
    on the queue in time counts. Raises ForfeitError if the move is missing, late or illegal.
    """
    if given.is_missing or (given.seconds * 1e3 > limit.value and not overruns):
        raise ForfeitError(Reason.TIMEOUT, _lateness(given, limit))
    if given.cell is None:
        raise ForfeitError(Reason.ILLEGAL_MOVE, given.text, gives_up=given.gives_up)
    return SearchResult(given.cell, float("nan"), 0, 0, given.seconds, (given.cell,), False)


@dataclass
class ClassicPlayer:
    """The player of a `ClassicAgent`."""

    factory: Callable[[], Any]
    limit: Limit
    player: Any = None

    def new_game(self) -> None:
        """Discard the player object. A new one is created when its side is known."""
        self.player = None

    close = new_game

    def choose(self, board: Board, seed: int) -> SearchResult:
        """Return the player's move; see `judged`."""
        return judged(self.give(board, seed), self.limit, overruns=edition_of(self.player) is THIRD)

    def find(self, board: Board, seed: int) -> SearchResult:
        """Return the player's move, even if it is late."""
        return judged(self.give(board, seed), self.limit, overruns=True)

    def give(self, board: Board, seed: int) -> Given:
        """Return the player's answer."""
        if self.player is None:
            self.player = make_player(self.factory, board.active_index)
        random.seed(seed)
        _seed_numpy(seed)
        clock = time.perf_counter if self.limit.ms is not None else time.process_time
        legal_moves = board.get_legal_moves()
        game = seat(board, self.player)
        started, computing = clock(), time.process_time()
        move = edition_of(self.player).ask(self.player, game, start_clock(self.limit.value, clock))
        seconds, computed = clock() - started, time.process_time() - computing
        cell = read_move(move)
        if cell is None or cell not in legal_moves:
            what = describe_answer(getattr(self.player, "get_move", None), move)
            return Given(None, what, seconds, computed, move is TOO_LATE, names_no_move(move))
        return Given(cell_of(cell, board.width), "", seconds, computed)


def _lateness(given: Given, limit: Limit) -> str:
    """Describe how late a move was, and whether it would have been in time by the CPU clock."""
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
