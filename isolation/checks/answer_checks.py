"""Check that a heuristic returns, and gives the same answer twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from ..compiling.source_rewriter import CompileError, rewrite
from ..processes.child import AgentPicklingError
from ..processes.subprocess_player import subprocess_player
from ..rules.classic_board import Board
from ..rules.game import Limit, Reason
from ..search import SearchResult
from ..search.agents import Agent, ForfeitError, SearchAgent, opened_player

NODES = 40
POSITIONS = 3
SAMPLE = 60
LONGEST_ANSWER = 2.0
LONGEST_LOOK = 5.0


def check_determinism(agent: Agent, size: tuple[int, int]) -> Agent:
    """Return the agent, marked as nondeterministic if its heuristic gives two answers to the same question.

    Only user code that does not compile is tested, since other code is analysed from its source. The test runs in a
    child process, because user code may hang or end it. Agents that cannot be tested are assumed deterministic.
    """
    if not isinstance(agent, SearchAgent) or not agent.is_user_code or not agent.is_deterministic or _compiles(agent):
        return agent
    boards = _positions(size)
    deadline = time.monotonic() + LONGEST_LOOK
    seen: dict[int, tuple[int, float]] = {}
    with suppress(ForfeitError, AgentPicklingError), _asked(agent, size) as choose:
        for index in (*range(len(boards)), *range(len(boards))):
            result = choose(boards[index])
            if seen.setdefault(index, (result.move, result.score)) != (result.move, result.score):
                return replace(agent, contradicts_itself=True)
            if time.monotonic() > deadline:
                break
    return agent


def unresponsive_reason(agent: Agent, size: tuple[int, int]) -> str:
    """Return a message if an agent of user code does not finish a short search, as in an endless loop; else "".

    The search runs in a child process. Agents that cannot be tested, or fail in another way, return "".
    """
    if not isinstance(agent, SearchAgent) or not agent.is_user_code:
        return ""
    try:
        with _asked(agent, size) as choose:
            choose(_positions(size)[0])
    except ForfeitError as error:
        if error.reason == Reason.HANG:
            return (
                f"{agent.name} did not search {NODES} nodes within {LONGEST_ANSWER:g} s, it may never return: check it "
                f"with isolation try"
            )
    except AgentPicklingError:
        pass
    return ""


@contextmanager
def _asked(agent: SearchAgent, size: tuple[int, int]) -> Iterator[Callable[[Board], SearchResult]]:
    """Yield a function that asks the agent for a move, by a short search in a child process."""
    short = replace(agent, limit=Limit(nodes=NODES))
    with opened_player(subprocess_player(short, size, LONGEST_ANSWER)) as player:
        player.new_game()
        yield lambda board: player.choose(board, 0)


def _compiles(agent: SearchAgent) -> bool:
    if agent.heuristic is None:
        return True
    try:
        rewrite(agent.heuristic)
    except CompileError:
        return False
    return True


def _positions(size: tuple[int, int]) -> list[Board]:
    """Return the positions of seeded games with the most legal moves."""
    from ..compiling.compile_heuristic import sample_positions

    return sorted(sample_positions(size, SAMPLE), key=lambda board: -len(board.legal_cells()))[:POSITIONS]
