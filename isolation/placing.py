"""Search players before both knights stand on the board."""

from __future__ import annotations

from dataclasses import replace

from isolation.agents import Agent, SearchAgent
from isolation.limits import Limit

NODES = 1000


def quick_to_place(agent: Agent) -> Agent:
    """The agent as it places its knight when a person waits: a search player may look at a thousand positions.

    Compiled search begins once both knights are placed. Before that there are dozens of moves and each position costs
    a hundred times as much, so that an ordinary limit would take minutes.
    """
    if not isinstance(agent, SearchAgent):
        return agent
    return replace(agent, limit=Limit(nodes=min(agent.limit.nodes or NODES, NODES)))
