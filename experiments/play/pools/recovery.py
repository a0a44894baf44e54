"""Work on a task in a pool: compile its agents, measure them, play its games, and recover when workers die.

If a worker dies during a game, the game is played again alone and interpreted, since compiled code may have died or
hung. If that succeeds, or if the worker was ended from outside, nothing is recorded; a player that does not answer in a
child process either loses there. A game that kills its worker repeatedly is lost by the player whose code is
responsible (see `guilty`). Other games that were lost with the worker are played again with all others. A player that
kills its worker in several games in a row forfeits the rest.
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from knights_isolation.isolation.rules.game import PROCESS_DIED, Cost, Reason
from knights_isolation.isolation.usercode.user_exceptions import format_exception

from ...plan.schedule import Ids
from ..finished_games import FinishedGames, forfeited_game, joined
from .batch_feed import BatchFeed
from .game_worker import GameWorker, Sharers, Task
from .interrupts import Interrupted
from .pool import TICK, Died, Event, Failed, Finished, Pool, Suspect

DEATHS_ALLOWED = 3
"""Deaths after which a game is lost by `error`. As many in a row without a finished game end the run."""
GAMES_ALLOWED = 3
"""Number of games in a row, lost by killing the worker, after which a player forfeits the rest."""
KILLED = PROCESS_DIED
"""Prefix of the details of games that were lost by killing, or forfeited because of it."""
FORFEITED = f"{KILLED} in {GAMES_ALLOWED} games in a row, so that this one was not played"


def guilty(mover: int, users: Collection[int], killing: Collection[int]) -> tuple[int, str]:
    """Return the player (1 or 2) who loses a game that killed its worker, and the detail for the log.

    A process may die in one player's turn because of the other's code, for example because that has closed its files.

    Args:
        mover: the last player known to have been on the move.
        users: players whose code is a user's; ours does not kill.
        killing: if both are users, those that also killed a worker when they met a player of ours.
    """
    detail = f"{KILLED} {DEATHS_ALLOWED} times in this game"
    if len(users) == 1:
        (player,) = users
        return player, detail
    if len(users) < 2:
        return mover, detail
    if len(killing) == 1:
        (player,) = killing
        return player, f"{detail}, and also when it met Random, but not when the other did"
    who = "either" if killing else "neither"
    return mover, f"{detail}, and it was to move; {who} of the two kills it when it meets Random"


_LOGGER = logging.getLogger(__name__)

Costs = Mapping[str, Cost | str]
"""Costs of agents by name, or the reasons why they have none."""
Report = Callable[[Sequence[Sharers], dict[int, str]], None]
"""Called with the code that is being compiled, and why agents run interpreted, by their indices in the plan."""

_DIED = "its process died during compilation and checks"


def prepare(pool: Pool, task: Task, jobs: int, interrupted: Interrupted, report: Report) -> dict[int, str]:
    """Compile or load every agent, `jobs` at a time; return the reasons of those that run interpreted, by index.

    Code that kills its worker twice runs interpreted.

    Raises:
        ValueError: compiled code cannot be kept, or a user's file has changed since the plan was made.
    """
    reasons: dict[int, str] = {}
    left, deaths = list(task.sharers), Counter[Sharers]()
    out: dict[int, Sharers] = {}
    while (left or out) and not interrupted():
        while left and len(out) < jobs:
            sharers = left.pop(0)
            out[pool.call(GameWorker.compile_agents, sharers)] = sharers
        report(tuple(out.values()), reasons)
        for event in pool.finished(TICK):
            sharers = out.pop(event.number)
            match event:
                case Finished(value=interpreted):
                    reasons |= interpreted
                case Failed(error=error):
                    raise error
                case Died():
                    deaths[sharers] += 1
                    if deaths[sharers] == 1:
                        left.append(sharers)
                    elif deaths[sharers] == 2:
                        out[pool.call(GameWorker.refuse_to_compile, sharers, _DIED)] = sharers
    return dict(sorted(reasons.items()))


def measure_in(pool: Pool, names: Sequence[str], interrupted: Interrupted) -> Costs:
    """Measure the costs of these agents of the pool's task, relative to the first, in one of its workers.

    None once `interrupted`.
    """
    pool.call(GameWorker.measure_costs, tuple(names))
    while not interrupted():
        match pool.finished(TICK):
            case [Finished(value=costs)]:
                return dict(costs)
            case [Failed(error=error)]:
                return dict.fromkeys(names, format_exception(error))
            case [Died()]:
                return dict.fromkeys(names, "the process measuring the agents died")
    return {}


def play_missing(
    pool: Pool,
    feed: BatchFeed,
    record: Callable[[FinishedGames], None],
    interrupted: Interrupted,
    report: Callable[[], None],
    *,
    users: Collection[int],
    given_up: Iterable[int],
) -> None:
    """Play until nothing is missing, or until interrupted; every game that was returned has then been recorded.

    Args:
        report: called about ten times a second.
        users: agents, by their indices in the plan, that run code that does not ship with the toolkit.
        given_up: those that have forfeited games before.

    Raises:
        UnreachableError: the workers cannot be reached any more.
        ValueError: workers die, or cannot be started, or a batch reports an error in the task.
        OSError: the log cannot be written.
    """
    run = _Run(pool, feed, record, users, Counter(dict.fromkeys(given_up, GAMES_ALLOWED)))
    while not interrupted():
        run.play_next_suspect()
        feed.pace = pool.cluster_state.pace if pool.cluster_state else feed.pace
        # A player that kills again and again is given up before it has ended all workers many times.
        while pool.has_room and not run.suspects and len(ids := feed.take()):
            ids = run.without_forfeits(ids)
            if len(ids):
                pool.submit(ids)
        if not pool.is_busy:
            break
        for event in pool.finished(TICK):
            run.take(event)
        report()


_Steps = Generator[int, Event, None]
"""Yields the number of a batch or a call, and is sent its event."""


@dataclass
class _Run:
    """State of the games being played.

    Attributes:
        kills: games in a row that each agent, by its index in the plan, has lost by killing its worker; who has reached
            `GAMES_ALLOWED` forfeits the rest.
        suspects: games that have killed their worker, to be played alone, one after another.
        alone: the number of what the one being played waits for, and its steps.
        in_vain: how often each game was lost by a death without a suspect since a game was finished.
    """

    pool: Pool
    feed: BatchFeed
    record: Callable[[FinishedGames], None]
    users: Collection[int]
    kills: Counter[int]
    suspects: deque[Suspect] = field(default_factory=deque)
    alone: tuple[int, _Steps] | None = None
    in_vain: Counter[int] = field(default_factory=Counter)

    def without_forfeits(self, ids: Ids) -> Ids:
        if max(self.kills.values(), default=0) < GAMES_ALLOWED:
            return ids
        losers = {id_: self.forfeiting(id_) for id_ in ids.tolist()}
        lost = [forfeited_game(self.feed.schedule, id_, loser, FORFEITED) for id_, loser in losers.items() if loser]
        if lost:
            self.record(joined(lost))
        return ids[[loser is None for loser in losers.values()]]

    def forfeiting(self, game_id: int) -> int | None:
        """Return the player (1 or 2) who forfeits a game; None if it is to be played."""
        sides = enumerate(self._agents_of(game_id), 1)
        return next((side for side, agent in sides if self.kills[agent] >= GAMES_ALLOWED), None)

    def play_next_suspect(self) -> None:
        """Let the next suspect be played alone, if none is."""
        while self.suspects and not self.alone:
            suspect = self.suspects.popleft()
            if self.forfeiting(suspect.game_id) is None:
                steps = self._play_alone(suspect)
                self.alone = next(steps), steps
            else:
                self.feed.give_back([suspect.game_id])

    def take(self, event: Event) -> None:
        """Take what has become of a batch, or of what the game that is played alone waits for."""
        if self.alone and event.number == self.alone[0]:
            steps, self.alone = self.alone[1], None
            with suppress(StopIteration):
                self.alone = steps.send(event), steps
            return
        match event:
            case Finished(value=batch):
                self._record(batch.played)
                self.feed.learn(batch.matches, batch.seconds)
                self.in_vain.clear()
            case Failed(error=error):
                raise error
            case Died(lost=lost, suspect=suspect):
                _LOGGER.info("a worker died: %s", event)
                self.feed.give_back(id_ for id_ in lost if not suspect or id_ != suspect.game_id)
                if suspect:
                    self.suspects.append(suspect)
                    self.in_vain.clear()
                    return
                self.in_vain.update(lost)
                if DEATHS_ALLOWED in self.in_vain.values():
                    raise ValueError("worker processes die before playing a game")

    def _play_alone(self, suspect: Suspect) -> _Steps:
        """Play a game that has killed its worker until it is finished, or lost by having killed too many."""
        for _ in range(1, DEATHS_ALLOWED):
            match (yield self.pool.submit(np.array([suspect.game_id]), interpreted=True)):
                case Finished(value=batch):
                    self._record(batch.played)
                    return
                case Failed(error=error):
                    raise error
                case Died() as death:
                    _LOGGER.info("a worker died alone: %s", death)
                    suspect = death.suspect or suspect
        agents = self._agents_of(suspect.game_id)
        users, killing = [side for side in (1, 2) if agents[side - 1] in self.users], []
        for side in users if len(users) == 2 else []:
            event = yield self.pool.call(GameWorker.play_one_of_ours, suspect.game_id, side)
            if isinstance(event, Died):
                killing.append(side)
        loser, detail = guilty(suspect.mover, users, killing)
        self.kills[agents[loser - 1]] += 1
        self.record(forfeited_game(self.feed.schedule, suspect.game_id, loser, detail))

    def _agents_of(self, game_id: int) -> list[int]:
        agents: list[int] = self.feed.schedule.players(np.array([game_id]))[0].tolist()
        return agents

    def _record(self, played: FinishedGames) -> None:
        """Record games, and count those lost by killing a worker; agents that finished a game begin anew."""
        self.record(played)
        players, games = self.feed.schedule.players(played.ids), played.games
        lost = np.flatnonzero(np.isin(games.reason, (Reason.ERROR, Reason.HANG))).tolist()
        killed = [game for game in lost if games.detail[game].startswith(KILLED)]
        finished = set(np.unique(np.delete(players, killed, axis=0)).tolist())
        losers = [int(players[game, 2 - games.winner[game]]) for game in killed]
        self.kills.update(loser for loser in losers if loser not in finished)
        for agent in finished:
            self.kills[agent] = self.kills[agent] if self.kills[agent] >= GAMES_ALLOWED else 0
