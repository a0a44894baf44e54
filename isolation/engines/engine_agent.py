"""External engines as agents, each in a process that is kept from game to game."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any

from isolation.editions.classic_board import Board
from isolation.engines.program import Program
from isolation.engines.protocol import Info, parse_pv
from isolation.engines.session import WAITS, Session, Start, Timeouts, start_engine, start_session
from isolation.players.agents import ForfeitError, UncompiledAgent
from isolation.processes.transport import Idle
from isolation.rules.limits import Limit
from isolation.rules.outcome import Reason
from isolation.search.result import SearchResult

MOST_NOTES = 20_000_000
"""Bytes of what is written of searches by one process of ours; that is enough for some hundred thousand moves."""
_Order = tuple[Program, str, Timeouts]


@dataclass(frozen=True)
class EngineAgent(UncompiledAgent):
    """An engine under a limit.

    It might hang, but needs no guard: it lives in a process of its own, and its session waits for nothing without end.

    Attributes:
        errors: the folder that its standard error goes to, a file a process, and beside it what it says of its
            searches, a line of JSON a move, up to `MOST_NOTES` bytes; empty for nowhere.
        waits: how long it is waited for.
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
        """That nobody here knows what it does."""
        return "engines may be nondeterministic"

    def settings(self) -> dict[str, Any]:
        """Its command, files by name and content, its protocol and options, and its limit."""
        limit = {self.limit.unit: getattr(self.limit, self.limit.unit)}
        return {"kind": "engine", **self.program.facts(), "limit": limit}

    @property
    def has_own_process(self) -> bool:
        """Yes: whatever it plays in can be ended."""
        return True

    def keeping_errors(self, folder: Path) -> EngineAgent:
        """The same engine, its standard error going to files in a folder, which is made in one that exists."""
        return replace(self, errors=str(folder)) if folder.parent.is_dir() else self

    def capped(self, seconds: float) -> EngineAgent:
        """The same engine, given up after so many seconds without a move, or without being ready for one."""
        return replace(self, waits=replace(self.waits, move=seconds, cap=seconds))

    def open(self, start: Start = start_engine) -> EnginePlayer:
        """What asks the engine for moves; it is started for the first game."""
        return EnginePlayer(self, start)


@dataclass
class EnginePlayer:
    """The player of an engine, which is restarted once it had to be ended, and left to the next who opens it.

    Attributes:
        game: what the game that is on is called in what is written of its searches.
    """

    agent: EngineAgent
    start: Start = start_engine
    game: int = field(default=0, init=False)
    _session: Session | None = field(default=None, init=False)

    def new_game(self) -> None:
        """Tell the engine of a new game, and start it if need be.

        Raises:
            Forfeit: it cannot be started, does not answer, or is gone.
        """
        session = self._session or _idle.take(self._order)
        if session is not None and not session.is_over:
            self._session = session
            try:
                return session.new_game()
            except ForfeitError as loss:
                if loss.reason is not Reason.CRASH:
                    raise
        # None is running, or the one that was has ended between two games, which is no way to lose the next.
        self._session = start_session(self.agent.program, self._errors(), self.agent.waits, self.start)
        self._session.new_game()

    def choose(self, board: Board, seed: int) -> SearchResult:
        """The engine's move; the seed is nothing to it.

        Raises:
            Forfeit: there is none, or it is illegal or late.
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
        """Leave the engine to the next who opens it; end it if it owes a move."""
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
        """The file that the engine's standard error goes to: of its agent and of our process."""
        name = re.sub(r"[^\w.+-]", "_", self.agent.name)
        return str(Path(self.agent.errors, f"{name}-{os.getpid()}.txt")) if self.agent.errors else ""

    def _note(self, board: Board, info: Info, line: Sequence[int], lost: Reason | None = None) -> None:
        """Write down which ply of which game it was, what the engine said of its search and, if it lost by that, how;
        the line it expects is one of cells."""
        if not self.agent.errors:
            return
        said: dict[str, Any] = {"game_id": self.game, "ply": board.move_count + 1, "fen": board.fen}
        said |= {"score": info.score if isfinite(info.score) else str(info.score), "depth": info.depth}
        said |= {"nodes": info.nodes, "pv": line, **({"lost": lost.word} if lost else {})}
        with suppress(OSError), Path(self._errors()).with_suffix(".jsonl").open("a", encoding="utf-8") as file:
            if file.tell() < MOST_NOTES:
                file.write(f"{json.dumps(said)}\n")


_idle: Idle[_Order, Session] = Idle()
