"""Players in child processes: timed out, killed and judged from outside."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from isolation.players.agents import ForfeitError, SearchAgent
from isolation.players.classic_agent import ClassicAgent, ClassicPlayer, Given, judged
from isolation.processes.agent_pickling import AgentPicklingError, one_line, recipe
from isolation.processes.child import Failure, Setup, SetupError
from isolation.processes.child_process import START_SECONDS, ChildProcess, exchange
from isolation.processes.transport import Idle, Transport, TransportClosed, TransportTimeout
from isolation.rules.outcome import PROCESS_DIED, Reason
from isolation.search.result import SearchResult, is_well_formed
from isolation.usercode.user_exceptions import LONGEST_LINE, to_one_line

if TYPE_CHECKING:
    from isolation.editions.classic_board import Board
    from isolation.players.agents import Agent
    from isolation.rules.limits import Limit

HANGS_AFTER = 60.0
"""Seconds beyond its time limit after which a move counts as a hang where no hard cap was asked for."""
NEW_GAME: tuple[()] = ()
"""The question that has a fresh player made; a move is asked for by (board, seed)."""
MOST_KEPT = 32
"""Processes that are kept for agents that do not play just now: one for everybody in a class."""
SLACK_MS = 30.0
"""What may lie between a player's own clock and ours, which also counts the way there and back."""

DIED = ForfeitError(Reason.ERROR, PROCESS_DIED)
_NONSENSE = ForfeitError(Reason.ERROR, "RuntimeError: its process answered with nonsense")


@dataclass(frozen=True)
class Spent:
    """What a move took, measured here: seconds on the clock, and of processor time; `is_first` of a game or not."""

    wall: float
    processor: float
    is_first: bool

    def by(self, limit: Limit) -> float:
        """Seconds by the clock of a limit."""
        return self.processor if limit.unit == "cpu_ms" else self.wall

    def is_beyond(self, limit: Limit) -> bool:
        """Whether it took longer than a limit in time, whatever the player's own clock says.

        What else the machine does meanwhile is not held against it: under a limit of wall time it must have computed
        for so long as well. With the first move of a game the player object is made, which is nobody's thinking.
        """
        longest = (limit.value + SLACK_MS) / 1e3
        return not self.is_first and self.processor > longest and (limit.unit == "cpu_ms" or self.wall > longest)


Judge = Callable[[Any, Spent, bool], SearchResult]
"""The result of a move, from what the process has answered, what it took, and whether being late counts.

It raises Forfeit if the game is lost, and TypeError if that is no answer.
"""


@dataclass
class SubprocessPlayer:
    """The player of an agent whose code is a user's: it lives in a process that is ended if it does not answer.

    What came of a move is judged here: the process says what the player gave, and no more. It is late by its own clock,
    as far as ours allows that, so that the way there and back is not charged; or by ours: see `Spent`. The process
    serves one game after another, is replaced when it had to be ended, and is kept for a while after `close`, for
    whoever opens the same agent next.

    Attributes:
        refused: makes what is raised where the agent cannot be made in another process, of why; without it
            AgentPicklingError.
        note: told of every loss that the player's code has raised.
    """

    name: str
    order: Setup
    hard_cap: float
    judge: Judge
    start: Callable[[], Transport] = ChildProcess
    start_seconds: float = START_SECONDS
    refused: Callable[[str], Exception] | None = None
    note: Callable[[ForfeitError], None] = lambda loss: None
    _transport: Transport | None = field(default=None, init=False)
    _is_waiting: bool = field(default=False, init=False)
    _has_moved: bool = field(default=False, init=False)

    def new_game(self) -> None:
        """Have the process make a fresh player.

        Raises:
            Forfeit: it fails, does not answer within the hard cap, or the process dies.
            AgentPicklingError: the agent cannot be made in another process.
        """
        self._has_moved = False
        self._ask(NEW_GAME)

    def choose(self, board: Board, seed: int) -> SearchResult:
        """The move that the player in the process chooses.

        Raises:
            Forfeit: it has lost, does not answer within the hard cap, or the process dies.
            AgentPicklingError: the agent cannot be made in another process.
        """
        return self._result(board, seed, is_timed=True)

    def find(self, board: Board, seed: int) -> SearchResult:
        """The same, however long it took within the hard cap."""
        return self._result(board, seed, is_timed=False)

    def close(self) -> None:
        """Leave the process to the next who opens the agent; end it if an answer is still due."""
        transport, self._transport = self._transport, None
        if transport is None:
            return
        if self._is_waiting:
            transport.end()
        else:
            _idle.put(self.order, transport)

    def _result(self, board: Board, seed: int, *, is_timed: bool) -> SearchResult:
        transport = self._running()
        used, started = _used(transport), time.monotonic()
        answer = self._ask((board, seed))
        spent = Spent(time.monotonic() - started, _used(transport) - used, not self._has_moved)
        self._has_moved = True
        try:
            result = self.judge(answer, spent, is_timed)
        except TypeError:
            raise _NONSENSE from None
        return result

    def _ask(self, question: tuple[Any, ...]) -> object:
        answer = self._exchange(self._running(), question, self.hard_cap, "no answer")
        if isinstance(answer, Failure):
            loss = _as_error(answer)
            self.note(loss)
            raise loss
        return answer

    def _running(self) -> Transport:
        """The process, which has the agent."""
        if self._transport is None:
            self._transport = _idle.take(self.order) or self._started()
        return self._transport

    def _started(self) -> Transport:
        self._transport = transport = self.start()
        answer = self._exchange(transport, self.order, self.start_seconds, "its process did not start")
        if isinstance(answer, SetupError):
            self._end()
            why = to_one_line(answer.why, LONGEST_LINE)
            raise self.refused(why) if self.refused else AgentPicklingError(self.name, why)
        return transport

    def _exchange(self, transport: Transport, question: Setup | tuple[Any, ...], seconds: float, late: str) -> object:
        """An answer; if this is cut short, it is still due."""
        self._is_waiting = True
        try:
            answer: object = exchange(transport, question, seconds)
        except TransportTimeout:
            self._end()
            raise ForfeitError(Reason.HANG, f"{PROCESS_DIED}: it was ended, {late} within {seconds:g} s") from None
        except TransportClosed:
            self._end()
            raise DIED from None
        except Exception:  # of whatever a line is that our side of the process has not written
            self._end()
            raise _NONSENSE from None
        self._is_waiting = False
        return answer

    def _end(self) -> None:
        if self._transport is not None:
            self._transport.end()
        self._transport, self._is_waiting = None, False


def _used(transport: Transport) -> float:
    """Seconds of processor time of the process that plays; 0 if they cannot be had."""
    return transport.used() if isinstance(transport, ChildProcess) else 0.0


def _as_error(failure: Failure) -> ForfeitError:
    """How a player has lost whose code has raised something."""
    if type(failure.detail) is not str or type(failure.traceback) is not str:
        return _NONSENSE
    return ForfeitError(Reason.ERROR, to_one_line(failure.detail, LONGEST_LINE), failure.traceback)


# Judges


def judge_of(agent: Agent) -> Judge:
    """What judges the moves of an agent."""
    if isinstance(agent, ClassicAgent):
        return judge_given(agent.limit, overruns=agent.overruns)
    return _judge_search(agent) if isinstance(agent, SearchAgent) else _judge_result


def judge_given(limit: Limit, *, overruns: bool) -> Judge:
    """What judges the moves that a player object gives; see `classic_agent.judged`."""

    def judge(answer: Any, spent: Spent, is_timed: bool) -> SearchResult:
        if not (isinstance(answer, Given) and _is_well_formed(answer)):
            raise TypeError
        given = replace(
            answer,
            seconds=min(max(answer.seconds, 0.0), spent.by(limit)),
            computed=min(max(answer.computed, 0.0), spent.processor),
            text=to_one_line(answer.text, LONGEST_LINE),
        )
        result = judged(given, limit, overruns=overruns or not is_timed)
        if is_timed and not overruns:
            _check(spent, limit)
        return result

    return judge


def _judge_search(agent: SearchAgent) -> Judge:
    def judge(answer: Any, spent: Spent, is_timed: bool) -> SearchResult:
        result = _judge_result(answer, spent, is_timed)
        if is_timed:
            agent.in_time(replace(result, seconds=min(result.seconds, spent.wall)))
            if agent.limit.ms is not None:
                _check(spent, agent.limit)
        return result

    return judge


def _judge_result(answer: Any, spent: Spent, is_timed: bool) -> SearchResult:
    if not (isinstance(answer, SearchResult) and is_well_formed(answer)):
        raise TypeError
    return answer


def _check(spent: Spent, limit: Limit) -> None:
    """Raise Forfeit if a move took longer than a limit, whatever the player's own clock says."""
    if spent.is_beyond(limit):
        used = spent.processor * 1e3
        raise ForfeitError(
            Reason.TIMEOUT, f"used {used:.0f} ms of processor time of {limit.value:g} ms, seen from outside"
        )


def _is_well_formed(given: Given) -> bool:
    """Whether what a player gave is of the right types."""
    return (
        (given.cell is None or (type(given.cell) is int and 0 <= given.cell < 1 << 15))
        and type(given.text) is str
        and all(type(number) in (int, float) and abs(number) < math.inf for number in (given.seconds, given.computed))
        and type(given.is_missing) is bool
    )


# Making one


def subprocess_player(agent: Agent, size: tuple[int, int], hard_cap: float) -> SubprocessPlayer:
    """The guarded player of an agent for boards of (rows, columns); the process starts when it is first asked.

    Raises:
        AgentPicklingError: the agent cannot be sent to another process.
    """
    try:
        make = recipe(_open_agent, agent, size)
    except Exception as error:
        raise AgentPicklingError(agent.name, one_line(error)) from None
    return SubprocessPlayer(agent.name, Setup(make), hard_cap, judge_of(agent))


def patience(agent: Agent) -> float:
    """Seconds after which a move is a hang where nothing else was asked for.

    Users' agents have a minute beyond their time limit; ours may think as long as they like.
    """
    limit = getattr(agent, "limit", None)
    allowed = limit.value / 1e3 if limit and not limit.is_reproducible else 0.0
    return HANGS_AFTER + allowed if agent.is_user_code else math.inf


_idle: Idle[Setup, Transport] = Idle(MOST_KEPT)

# In the process


def _open_agent(agent: Agent, size: tuple[int, int]) -> Callable[..., object]:
    agent.compiled(size)
    return open_for_questions(agent)


def open_for_questions(agent: Agent) -> Callable[..., object]:
    """What answers `NEW_GAME` and (board, seed) for an agent: a move that others judge."""
    player = agent.open()

    def answer(*question: Any) -> object:
        if not question:
            return player.new_game()  # type: ignore[func-returns-value]
        if isinstance(player, ClassicPlayer):
            return player.give(*question)
        return player.find(*question) if isinstance(player, SearchAgent) else player.choose(*question)

    return answer
