"""Refutations: lines that beat an agent which leaves nothing to chance, from openings that are won for it.

With the agent's moves pinned, only its opponent chooses. The agent loses a won opening exactly if some line leads to a
position in which its move throws the win away: from there the opponent wins whatever the agent plays. So the lines are
searched breadth first, every move of the agent is checked by the solver, and the first error found is a shortest
refutation. If no line is left and none had an error, there is no refutation.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.games.batches import States, choose_moves, is_over, solve_moves
from knights_isolation.isolation.games.match import play_games
from knights_isolation.isolation.rules.game import Limit, Size
from knights_isolation.isolation.rules.geometry import full_mask, knight_masks
from knights_isolation.isolation.search.agents import Agent

from ..plan import make_agents, parse_agent
from ..plan.openings import placement_openings

MOST_POSITIONS = 300_000
"""Number of the agent's positions in an opening after which it is left undecided."""
MOST_CELLS = 64
_ONE = np.uint64(1)
Cells = NDArray[np.int64]


@dataclass(frozen=True)
class OpeningAnswer:
    """Whether an agent holds an opening that is won for it.

    Attributes:
        opening: the placements.
        side: the player that it is won for, and that the agent is: 1 or 2.
        line: a game that beats the agent, the placements first; empty if there is none.
        error_ply: the number of plies before the move that throws the win away; 0 if there is none.
        positions: the agent's positions that were examined.
        is_decided: whether there were few enough of them.
        wins: whether the agent wins it against the opponent that it is also compared with.
    """

    opening: tuple[int, ...]
    side: int
    line: tuple[int, ...]
    error_ply: int
    positions: int
    is_decided: bool
    wins: bool

    @property
    def is_held(self) -> bool:
        """Whether it is proven that nobody beats the agent there."""
        return self.is_decided and not self.line


@dataclass(frozen=True)
class Refuted:
    """What an agent holds on a board: the answers for its openings."""

    agent: str
    limit: str
    size: Size
    answers: tuple[OpeningAnswer, ...]

    @property
    def held(self) -> float:
        """The share of openings that it is proven to hold."""
        return sum(answer.is_held for answer in self.answers) / max(1, len(self.answers))

    @property
    def won(self) -> float:
        """The share of openings that it wins against the opponent that it is also compared with."""
        return sum(answer.wins for answer in self.answers) / max(1, len(self.answers))


def refute(
    agents: Sequence[str],
    opponent: str,
    sizes: Sequence[Size],
    limits: Sequence[Limit],
    count: int | None,
    seed: int,
    jobs: int,
    *,
    counting: Callable[[], AbstractContextManager[Callable[[int, int], None]]],
) -> tuple[list[Refuted], str]:
    """Answer for each opening of two placements whether agents hold it, as the player that it is won for.

    Args:
        agents: specs, each of which may be of several agents.
        opponent: plays each opening against each agent once, for comparison; its name is returned, too.
        limits: of agents without one.
        count: draw so many openings at random; None for all.
        jobs: threads; 0: one per core.
        counting: gives for an agent on a board what is called with the number of openings done, and of all.

    Raises:
        ValueError: an agent leaves something to chance, or a board is too large.
    """
    results = []
    for size, limit in product(sizes, limits):
        other = parse_agent(opponent, limit)
        for spec, agent in (each for text in agents for each in make_agents(text, limit)[0]):
            with counting() as show, ThreadPoolExecutor(jobs or os.cpu_count() or 1) as threads:
                openings, answers = _openings(agent, other, size, count, seed), list[OpeningAnswer]()
                for answer in threads.map(partial(_answer, agent, other, size), openings):
                    answers.append(answer)
                    show(len(answers), len(openings))
            results.append(Refuted(agent.name, str(spec.limit or "–"), size, tuple(answers)))
    return results, other.name


def _openings(agent: Agent, opponent: Agent, size: Size, count: int | None, seed: int) -> list[tuple[int, ...]]:
    """Return the openings to answer for, once both agents are compiled."""
    if size.cells > MOST_CELLS:
        raise ValueError(f"refutations are searched on boards of up to {MOST_CELLS} cells; {size} has {size.cells}")
    if not agent.is_deterministic:
        why = agent.why_unrepeatable or "its moves depend on its seed"
        raise ValueError(f"{agent.name} leaves something to chance, so no line refutes it: {why}")
    agent.compiled(size)
    opponent.compiled(size)
    every = placement_openings(size)
    chosen: Sequence[int] = range(len(every))
    if count is not None and count < len(every):
        chosen = sorted(np.random.default_rng(seed).choice(len(every), count, replace=False).tolist())
    return [tuple(every[index]) for index in chosen]


def _answer(agent: Agent, opponent: Agent, size: Size, opening: tuple[int, ...]) -> OpeningAnswer:
    first, second = opening
    blank = np.array([full_mask(*size) & ~(1 << first) & ~(1 << second)], np.uint64)
    root = States.of_arrays(blank, [first], [second], 0, size)
    side = 1 if not is_over(root)[0] and solve_moves(root).values[0] > 0 else 2
    agents = (agent, opponent) if side == 1 else (opponent, agent)
    wins = bool(play_games(*agents, [opening], [1], size).winner[0] == side)
    if side == 1:
        states, paths = root, np.zeros((1, 0), np.int64)
    else:  # the opponent moves first
        states, _ = _expanded(root)
        paths = states.other[:, None]
    line, error, positions = _refutation(agent, states, paths)
    game, error_ply = ((), 0) if line is None else ((*opening, *line), len(opening) + error)
    return OpeningAnswer(opening, side, game, error_ply, positions, positions <= MOST_POSITIONS, wins)


def _refutation(agent: Agent, states: States, paths: Cells) -> tuple[list[int] | None, int, int]:
    """Search breadth first for an error of the agent, to move in `states`, to each of which a row of `paths` leads.

    Return the moves of a line that beats it, None if there is none or too many positions were examined; the number of
    moves before the error; and that of the agent's positions that were examined.
    """
    positions = 0
    while len(states):
        positions += len(states)
        if positions > MOST_POSITIONS:
            break
        moves, failed = _asked(agent, states)
        error = paths.shape[1]
        if failed.any():
            return paths[failed.argmax()].tolist(), error, positions
        theirs, paths = _moved(states, moves), np.column_stack([paths, moves])
        going_on = np.flatnonzero(~is_over(theirs))
        theirs, paths = theirs.take(going_on), paths[going_on]
        thrown = np.flatnonzero(solve_moves(theirs).values > 0)[:1]
        if len(thrown):
            return [*paths[thrown[0]].tolist(), *_won_by_opponent(agent, theirs.take(thrown))], error, positions
        states, parents = _expanded(theirs)
        paths = np.column_stack([paths[parents], states.other])
    return None, 0, positions


def _asked(agent: Agent, states: States) -> tuple[Cells, NDArray[np.bool_]]:
    """Return the agent's moves, and where it fails."""
    answers = choose_moves(agent, states, np.ones(len(states), np.uint64))
    return answers.cells.astype(np.int64), answers.failure != 0


def _won_by_opponent(agent: Agent, theirs: States) -> list[int]:
    """Return the rest of a game in which the opponent keeps the win that it was given."""
    line: list[int] = []
    while True:
        winning = int(solve_moves(theirs).winning[0, 0])
        line.append((winning & -winning).bit_length() - 1)
        states = _moved(theirs, np.array(line[-1:], np.int64))
        if is_over(states)[0]:
            return line
        moves, failed = _asked(agent, states)
        if failed[0]:
            return line
        line.append(int(moves[0]))
        theirs = _moved(states, moves)


def _moved(states: States, cells: Cells) -> States:
    """Return the positions after a move in each."""
    low = states.low & ~(_ONE << cells.astype(np.uint64))
    return States(states.size, low, states.high, states.other, cells, 1 - states.turns)


def _expanded(states: States) -> tuple[States, Cells]:
    """Return the distinct positions after every move, and for each the position that it comes from."""
    near = np.array(knight_masks(*states.size), np.uint64)[states.own] & states.low
    parents, targets = np.nonzero(near[:, None] >> np.arange(states.size.cells, dtype=np.uint64) & _ONE)
    after = _moved(states.take(parents), targets.astype(np.int64))
    keys = np.stack([after.low, after.own.astype(np.uint64), after.other.astype(np.uint64)], axis=1)
    kept = np.sort(np.unique(keys, axis=0, return_index=True)[1])
    return after.take(kept), parents[kept].astype(np.int64)
