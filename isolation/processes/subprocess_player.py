"""Players in child processes, timed, killed and judged by the parent; players from files are loaded only there."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..loading.load_user_code import content_hash, load_player
from ..rules.classic_board import Board
from ..rules.edition import THIRD
from ..rules.game import PROCESS_DIED, Limit, Reason
from ..rules.third_edition import unsupported_size_reason
from ..search import SearchResult
from ..search.agents import Agent, AgentPicklingError, ForfeitError, OwnProcessAgent, SearchAgent, in_time
from ..search.classic_agent import ClassicAgent, ClassicPlayer, Given, judged
from ..usercode.user_exceptions import LONGEST_LINE, to_one_line
from .child import (
    PROCESSOR_SECONDS,
    START_SECONDS,
    Child,
    Failure,
    Idle,
    NoAnswer,
    Setup,
    Termination,
    one_line,
    recipe,
)

HANGS_AFTER = 60.0
"""Seconds beyond its time limit after which a move counts as a hang, if there is no hard cap."""
NEW_GAME: tuple[()] = ()
"""The question that begins a new game; (board, seed) asks for a move."""
MOST_KEPT = 32
"""Most idle processes kept for later games; enough for every member of a class."""
SLACK_MS = 30.0
"""Tolerance between the player's own clock and the parent's, which includes the transmission."""
IMPORT_SECONDS = 10.0
"""Timeout of importing a file in a restricted process, including the start of the process."""
USUAL_CAP = 10.0
"""Default hard cap of a move in a restricted process, in seconds."""

_NONSENSE = ForfeitError(Reason.ERROR, "RuntimeError: its process answered with nonsense")


@dataclass(frozen=True)
class Spent:
    """Wall and CPU time of a move in seconds, measured by the parent; `is_first` marks the first move of a game."""

    wall: float
    processor: float
    is_first: bool

    def check(self, limit: Limit) -> None:
        """Raise ForfeitError if the move took longer than a time limit by the parent's clocks.

        Time used by other processes is not charged: even under a wall-time limit, the CPU time must exceed the limit. A
        game's first move is exempt, because the player object is created with it.
        """
        longest = (limit.value + SLACK_MS) / 1e3
        if not self.is_first and self.processor > longest and (limit.unit == "cpu_ms" or self.wall > longest):
            used = f"used {self.processor * 1e3:.0f} ms of processor time of {limit.value:g} ms"
            raise ForfeitError(Reason.TIMEOUT, f"{used}, seen from outside")


def judge(agent: Agent, answer: Any, spent: Spent, *, is_timed: bool) -> SearchResult:
    """Return the result of a move from the answer of an agent's process; it may be late unless it `is_timed`.

    Raises:
        ForfeitError: the game is lost.
        TypeError: the answer is none of such an agent.
    """
    if isinstance(agent, ClassicAgent | FileAgent):
        if not isinstance(answer, Given):
            raise TypeError
        limit: Limit | None = agent.limit
        is_timed = is_timed and not agent.overruns
        given = replace(
            answer,
            seconds=min(max(answer.seconds, 0.0), spent.processor if agent.limit.cpu_ms else spent.wall),
            computed=min(max(answer.computed, 0.0), spent.processor),
            text=to_one_line(answer.text, LONGEST_LINE),
        )
        result = judged(given, agent.limit, overruns=not is_timed)
    else:
        if not isinstance(answer, SearchResult):
            raise TypeError
        result = answer
        limit = agent.limit if isinstance(agent, SearchAgent) and agent.limit.ms is not None else None
        if is_timed and limit:
            in_time(replace(answer, seconds=min(answer.seconds, spent.wall)), limit)
    if is_timed and limit:
        spent.check(limit)
    return result


@dataclass
class SubprocessPlayer:
    """The player of an agent of user code, in a child process that is ended if it does not answer.

    The process only reports the player's answer, which is judged here. A move is late by the process's own clock, as
    far as the parent's clock confirms it, so that transmission is not charged; or by the parent's clocks (see `Spent`).
    The process is kept from game to game, and for a while after `close` for the next player of the same agent. It is
    replaced if it had to be ended.
    """

    agent: Agent
    order: Setup
    hard_cap: float
    start: Callable[[Setup], Child] = Child
    _child: Child | None = field(default=None, init=False)
    _has_moved: bool = field(default=False, init=False)

    def new_game(self) -> None:
        """Create a new player in the process.

        Raises:
            ForfeitError: the player fails, does not answer within the hard cap, or the process dies.
            AgentPicklingError: the agent cannot be recreated in another process.
        """
        self._has_moved = False
        self._ask(NEW_GAME)

    def choose(self, board: Board, seed: int) -> SearchResult:
        """Return the move chosen by the player in the process; raise what `new_game` does, or that it has lost."""
        return self._result(board, seed, is_timed=True)

    def find(self, board: Board, seed: int) -> SearchResult:
        """Return the same as `choose`, even if it is late, within the hard cap."""
        return self._result(board, seed, is_timed=False)

    def close(self) -> None:
        """Leave the process to the next player of the agent."""
        child, self._child = self._child, None
        if child is not None:
            _idle.put(self.order, child)

    def _result(self, board: Board, seed: int, *, is_timed: bool) -> SearchResult:
        child = self._running()
        used, started = child.used(), time.monotonic()
        answer = self._ask((board, seed))
        spent = Spent(time.monotonic() - started, child.used() - used, not self._has_moved)
        self._has_moved = True
        try:
            return judge(self.agent, answer, spent, is_timed=is_timed)
        except TypeError:
            raise _NONSENSE from None

    def _ask(self, question: tuple[Any, ...]) -> object:
        try:
            answer = self._running().ask(question, self.hard_cap)
        except NoAnswer as error:
            raise _loss_of(error, f"no answer within {self.hard_cap:g} s") from None
        if not isinstance(answer, Failure):
            return answer
        loss = ForfeitError(Reason.ERROR, to_one_line(answer.detail, LONGEST_LINE), answer.traceback)
        if isinstance(self.agent, FileAgent):
            self.agent.note(loss)
        raise loss

    def _running(self) -> Child:
        if self._child is None or self._child.is_over:
            self._child = _idle.take(self.order) or self._started()
        return self._child

    def _started(self) -> Child:
        child, file = self.start(self.order), self.agent if isinstance(self.agent, FileAgent) else None
        seconds = IMPORT_SECONDS if file and file.is_restricted else START_SECONDS
        try:
            child.start(seconds)
        except NoAnswer as error:
            if error.why is not Termination.REFUSED:
                raise _loss_of(error, f"its process did not start within {seconds:g} s") from None
            if file:
                raise ForfeitError(Reason.ERROR, f"cannot be loaded: {error.detail}") from None
            raise AgentPicklingError(self.agent.name, error.detail) from None
        return child


def _loss_of(error: NoAnswer, late: str) -> ForfeitError:
    if error.why is Termination.NONSENSE:
        return _NONSENSE
    if error.why is Termination.DIED:
        return ForfeitError(Reason.ERROR, PROCESS_DIED)
    return ForfeitError(Reason.HANG, f"{PROCESS_DIED}: it was ended, {late}")


def subprocess_player(agent: Agent, size: tuple[int, int], hard_cap: float) -> SubprocessPlayer:
    """Return the guarded player of an agent for boards of (rows, columns); its process starts with the first question.

    Raises:
        AgentPicklingError: the agent cannot be pickled.
    """
    try:
        make = recipe(_open_agent, agent, size)
    except Exception as error:
        raise AgentPicklingError(agent.name, one_line(error)) from None
    return SubprocessPlayer(agent, Setup(make), hard_cap)


def patience(agent: Agent) -> float:
    """Return the seconds after which a move of user code counts as a hang: `HANGS_AFTER` and its time limit."""
    limit = getattr(agent, "limit", None)
    allowed = limit.value / 1e3 if limit and not limit.is_reproducible else 0.0
    return HANGS_AFTER + allowed if agent.is_user_code else math.inf


_idle: Idle[Child] = Idle(MOST_KEPT)


def _open_agent(agent: Agent, size: tuple[int, int] | None = None) -> Callable[..., object]:
    """Return a function that answers `NEW_GAME` and (board, seed) for an agent; the parent judges the moves."""
    if size is not None:
        agent.compiled(size)
    player = agent.open()

    def answer(*question: Any) -> object:
        if not question:
            return player.new_game()  # type: ignore[func-returns-value]
        if isinstance(player, ClassicPlayer):
            return player.give(*question)
        return player.find(*question) if isinstance(player, SearchAgent) else player.choose(*question)

    return answer


@dataclass(frozen=True)
class FileAgent(OwnProcessAgent):
    """A player in a file that is never loaded in this process.

    Attributes:
        file: absolute path of the file.
        player: name of the player's class or factory function in the file.
        content: hash of its code.
        edition: edition of its class; empty if unknown.
        is_restricted: whether its process may only read files and compute; see `sandbox.enter_sandbox`.
        hard_cap: seconds after which a move or the start of a game counts as a hang; None for the default.
        data: hash of what its file read when it was imported; empty if nothing, or if that is unknown.
        errors: folder for tracebacks; empty to discard them.
    """

    name: str
    file: str
    player: str
    content: str
    limit: Limit
    edition: str = ""
    is_restricted: bool = False
    hard_cap: float | None = None
    errors: str = ""
    data: str = ""
    is_deterministic: bool = field(default=False, init=False)
    is_user_code: bool = field(default=True, init=False)

    @property
    def overruns(self) -> bool:
        """Whether it may go on computing beyond its limit, as far as is known; see `judged`."""
        return self.edition in ("", THIRD.name)

    def why_unfit(self, size: tuple[int, int]) -> str:
        """Return that the board is too large for third-edition states, if the player is of that edition; else ""."""
        return unsupported_size_reason(*size) if self.edition == THIRD.name else ""

    def settings(self) -> dict[str, Any]:
        """Return the origin of the player's code, and its limit."""
        kind, player = "apart" if self.is_restricted else "classic", f"{Path(self.file).name}:{self.player}"
        data = {"data": self.data} if self.data else {}
        return {"kind": kind, "player": player, "limit": {self.limit.unit: self.limit.value}, **data}

    def capped(self, seconds: float) -> FileAgent:
        """Return the same player with a timeout of `seconds` per move."""
        return replace(self, hard_cap=seconds)

    def open(self, start: Callable[[Setup], Child] = Child) -> SubprocessPlayer:
        """Return a player; its process is started for the first game."""
        make = recipe(_open_file, self.file, self.player, self.content, self.name, self.limit)
        usual = USUAL_CAP if self.is_restricted else patience(self)
        cap = usual if self.hard_cap is None else self.hard_cap
        if self.is_restricted:
            return SubprocessPlayer(self, sandboxed(make, self.file, cap), cap, start)
        return SubprocessPlayer(self, Setup(make, folder=str(Path(self.file).parent)), cap, start)

    def note(self, loss: ForfeitError) -> None:
        """Write the traceback of an error to the folder of errors."""
        if loss.traceback and self.errors:
            path = Path(self.errors, f"{file_name(self.name)}.jsonl")
            with suppress(OSError):
                path.parent.mkdir(exist_ok=True)
                with path.open("a", encoding="utf-8") as file:
                    file.write(f"{json.dumps({'detail': loss.detail, 'traceback': loss.traceback})}\n")


def sandboxed(make: bytes, file: str | Path, longest: float = 0.0) -> Setup:
    """Return the setup of a sandboxed process for a user's file: it may read that file's folder, and compiled code.

    An answer that may take `longest` seconds gets processor time for all of them, on a busy machine as well.
    """
    # Here, since it imports LLVM, which players do without.
    from ..compiling.code_cache import engine_folders

    processor = max(PROCESSOR_SECONDS, math.ceil(2 * longest)) if longest < math.inf else 0
    readable = tuple(map(str, engine_folders()))
    return Setup(make, "sandboxed", str(Path(file).parent), readable=readable, processor=processor)


def _open_file(path: str, name: str, content: str, agent: str, limit: Limit) -> Callable[..., object]:
    """Open the player in its process, from code with the hash `content`."""
    was_same = content_hash(path) == content
    factory = load_player(path, name).value if was_same else None
    if factory is None or content_hash(path) != content:  # checked again, since it may change while being loaded
        raise ValueError(f"{path} has changed since the run began")
    return _open_agent(ClassicAgent(agent, factory, (), limit))


def file_name(agent: str) -> str:
    """Convert an agent's name to a file name.

    >>> file_name("my agent/2")
    'my_agent_2'
    """
    return re.sub(r"[^\w.+-]", "_", agent)
