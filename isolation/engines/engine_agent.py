"""External engines as agents. Their processes are kept from game to game."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any

from ..editions.classic_board import Board
from ..players.agents import ForfeitError, OwnProcessAgent
from ..processes.file_agent import file_name
from ..processes.transport import Idle
from ..rules.limits import Limit
from ..rules.outcome import Reason
from ..search import SearchResult
from .program import Program
from .protocol import Info, parse_pv
from .session import WAITS, Session, Start, Timeouts, start_engine, start_session

MOST_NOTES = 20_000_000
"""Largest file of search information per process, in bytes; enough for some hundred thousand moves."""
_Order = tuple[Program, str, Timeouts]


@dataclass(frozen=True)
class EngineAgent(OwnProcessAgent):
    """An engine under a limit.

    An engine may hang, but needs no guard: it runs in its own process, and its session has a timeout for every answer.

    Attributes:
        errors: the folder for standard error (a file per process) and for the engine's search information (a line of
            JSON per move, up to `MOST_NOTES` bytes); empty to discard both.
        waits: timeouts.
    """

    name: str
    program: Program
    limit: Limit
    errors: str = ""
    waits: Timeouts = WAITS
    is_deterministic: bool = field(default=False, init=False)
    is_user_code: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        if self.limit.cpu_ms is not None:
            raise ValueError(f"an engine needs a limit of depth, nodes or ms, not {self.limit}")

    @property
    def why_unrepeatable(self) -> str:
        """The reason why moves are not reproducible: the engine's behaviour is unknown."""
        return "engines may be nondeterministic"

    def settings(self) -> dict[str, Any]:
        """Return its command (files by name and content), protocol, options and limit."""
        limit = {self.limit.unit: getattr(self.limit, self.limit.unit)}
        return {"kind": "engine", **self.program.facts(), "limit": limit}

    def capped(self, seconds: float) -> EngineAgent:
        """Return the same engine with a timeout of `seconds` for each move and for becoming ready."""
        return replace(self, waits=replace(self.waits, move=seconds, cap=seconds))

    def open(self, start: Start = start_engine) -> EnginePlayer:
        """Return a player; the engine is started for its first game."""
        return EnginePlayer(self, start)


@dataclass
class EnginePlayer:
    """The player of an engine.

    An engine that had to be ended is restarted. A closed player leaves its engine running for the next player.

    Attributes:
        game: id of the current game in the file of search information.
    """

    agent: EngineAgent
    start: Start = start_engine
    game: int = field(default=0, init=False)
    _session: Session | None = field(default=None, init=False)

    def new_game(self) -> None:
        """Announce a new game to the engine, and start it if necessary.

        Raises:
            Forfeit: the engine cannot be started, does not answer, or has ended.
        """
        session = self._session or _idle.take(self._order)
        if session is not None and not session.is_over:
            self._session = session
            try:
                return session.new_game()
            except ForfeitError as loss:
                if loss.reason is not Reason.CRASH:
                    raise
        # No engine is running, or it ended between two games, which must not lose the next one.
        self._session = start_session(self.agent.program, self._errors(), self.agent.waits, self.start)
        self._session.new_game()

    def choose(self, board: Board, seed: int) -> SearchResult:
        """Return the engine's move; the seed is ignored.

        Raises:
            Forfeit: the engine gives no move, or an illegal or late one.
        """
        session = self._session
        assert session is not None
        try:
            result = session.choose(board, self.agent.limit)
        except ForfeitError as loss:
            self._note(board, session.info, parse_pv(board, session.info.pv), loss.reason)
            raise
        self._note(board, session.info, result.pv)
        return result

    def close(self) -> None:
        """Leave the engine to the next player; end it if it still owes a move."""
        session, self._session = self._session, None
        if session is None or session.is_over:
            return
        if session.is_due:
            session.end()
        else:
            _idle.put(self._order, session)

    @property
    def _order(self) -> _Order:
        return self.agent.program, self.agent.errors, self.agent.waits

    def _errors(self) -> str:
        path = Path(self.agent.errors, f"{file_name(self.agent.name)}-{os.getpid()}.txt")
        return str(path) if self.agent.errors else ""

    def _note(self, board: Board, info: Info, line: Sequence[int], lost: Reason | None = None) -> None:
        """Append the search information of a ply to the file of notes; `line` is the expected line in cells, `lost` the
        reason if the engine has just lost."""
        if not self.agent.errors:
            return
        said: dict[str, Any] = {"game_id": self.game, "ply": board.move_count + 1, "fen": board.fen}
        said |= {"score": info.score if isfinite(info.score) else str(info.score), "depth": info.depth}
        said |= {"nodes": info.nodes, "pv": line, **({"lost": lost.word} if lost else {})}
        with suppress(OSError), Path(self._errors()).with_suffix(".jsonl").open("a", encoding="utf-8") as file:
            if file.tell() < MOST_NOTES:
                file.write(f"{json.dumps(said)}\n")


_idle: Idle[_Order, Session] = Idle()
