"""Estimate how long a plan takes to play."""

from __future__ import annotations

import math

from experiments.plan.agent_facts import AgentFacts, read_facts
from experiments.plan.tournament_plan import Entrant, Plan
from isolation.rules.geometry import parse_size

WITHIN = 2.5
"""How far off the forecast may be, either way: heuristics and machines differ."""
_NODE = 20e-9
"""Seconds a node takes: `improved` needs 14e-9 on one core, the shipped heuristics on average more."""
_SHARE_OF_NODES = 0.65
"""Of a limit of nodes, what moves take of it on average: late in the game trees are smaller."""
_TREE_NODES = {"mcts": 2e-6, "bestfirst": 0.2e-6}
"""What a simulation takes, and a position of best-first search: both walk down a tree for each."""
_BRANCHING = {"minimax": 3.7, "alphabeta": 2.7}
"""Nodes of a search of so many plies are about this to the power of them."""
_GAME = 150e-6
"""Seconds a game takes beside its moves: its part of the log, and its way there."""
_SHARE_OF_CELLS = 0.62
"""Of the board's cells, how many are visited when a game ends."""


def seconds_to_play(plan: Plan, games: int | None = None) -> float:
    """Processor seconds that a plan, or so many of its games, takes about: right within a factor of `WITHIN`.

    Code that cannot be compiled is some hundred times slower, which nobody knows before it has been tried. Moves of
    `of_unknown_speed` are not in it.
    """
    rows, columns = parse_size(plan.schedule.size)
    moves = max(_SHARE_OF_CELLS * rows * columns - plan.schedule.cells.shape[1], 1) / 2
    costs = [_seconds_a_move(entrant) for entrant in plan.entrants]
    total = math.fsum(
        2 * match.pairs * (_GAME + moves * (costs[match.first] + costs[match.second]))
        for match in plan.schedule.matches
    )
    return total if games is None else total * games / len(plan.schedule)


def of_unknown_speed(plan: Plan) -> list[str]:
    """The engines that nothing but their own speed tells when to answer: they have no limit of time."""
    return [entrant.agent.name for entrant in plan.entrants if _has_unknown_speed(read_facts(entrant.settings))]


def whole_limits(plan: Plan) -> list[str]:
    """Clauses on classic players, which may answer long before the limit of time that the forecast counts in full."""
    return [
        f"{entrant.agent.name} uses its full {_seconds_a_move(entrant) * 1000:g} ms per move"
        for entrant in plan.entrants
        if entrant.agent.is_user_code and not entrant.agent.is_compilable
    ]


def _has_unknown_speed(facts: AgentFacts) -> bool:
    return facts.is_unknown and (facts.limit is None or facts.limit[0] in ("depth", "nodes"))


def _seconds_a_move(entrant: Entrant) -> float:
    facts = read_facts(entrant.settings)
    if _has_unknown_speed(facts):
        return 0.0
    if facts.limit is None:
        return 1e-6
    unit, value = facts.limit
    if unit in ("ms", "cpu_ms"):
        return value / 1000
    if unit == "depth":
        return _NODE * math.exp(value * math.log(_BRANCHING.get(facts.method, 3.0)))
    return value * _TREE_NODES.get(facts.method, _SHARE_OF_NODES * _NODE)
