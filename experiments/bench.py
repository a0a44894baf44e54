"""Measurements of `isolation system bench`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from knights_isolation import heuristics
from knights_isolation.isolation.checks.search_cost import games_per_second, measure_costs, random_openings
from knights_isolation.isolation.rules.game import USUAL_SIZE, Cost, Limit, Size
from knights_isolation.isolation.search.agents import SearchAgent

LIMIT = Limit(nodes=10_000)
"""Limit per move in tournaments."""
COMMAND = (sys.executable, "-P", "-c", "from knights_isolation.command_line import run; run()")
"""Starts the command line as `isolation` does, whatever is in the working directory."""
_COMPARATOR = "improved"
_SHOWN = ("net_advantage", "edge_distance_dynamic", "territory")
_FIRST_MOVE = """
import warnings
from knights_isolation.isolation import Board, Limit, search
def score(game, player):
    return len(game.get_legal_moves(player)) - {weight} * len(game.get_legal_moves(game.get_opponent(player)))
warnings.simplefilter("error")
search(Board.from_moves([24, 14]), score, Limit(nodes=1000))
"""


def measure() -> list[dict[str, Any]]:
    """Return one row per measurement: name, value, unit, and the comparison with a comparator if there is one."""
    return [*_searches(), *_games(), *_start_up()]


def _searches() -> list[dict[str, Any]]:
    compared = [
        SearchAgent(f"ID:{name}@{LIMIT}", "alphabeta", heuristics.get(name), name, LIMIT)
        for name in (_COMPARATOR, *_SHOWN)
    ]
    reference, *others = _costs(compared)
    (large,), (slow,) = _costs(compared[:1], Size(9, 11)), _costs(compared[:1], interpreted=True)
    pairs = zip(compared[1:], others, strict=True)
    rows = [
        (compared[0].name, reference, None, ""),
        *((agent.name, cost, 1 / cost.times, _COMPARATOR) for agent, cost in pairs),
        (f"{compared[0].name} on 9x11", large, reference.nanoseconds / large.nanoseconds, "7x7"),
        ("the first, interpreted", slow, reference.nanoseconds / slow.nanoseconds, "compiled"),
    ]
    return [_row(what, 1e3 / cost.nanoseconds, "M nodes/s", ratio, to) for what, cost, ratio, to in rows]


def _costs(agents: Sequence[SearchAgent], size: Size = USUAL_SIZE, *, interpreted: bool = False) -> list[Cost]:
    return [cost for cost in measure_costs(agents, size, interpreted=interpreted) if isinstance(cost, Cost)]


def _games() -> list[dict[str, Any]]:
    agent = SearchAgent("AB", "alphabeta", heuristics.get("improved"), "improved", Limit(depth=5))
    compiled = games_per_second(agent, agent, random_openings(5000, 2))
    slow = games_per_second(agent, agent, random_openings(100, 2), interpreted=True)
    return [
        _row("whole games, AB:improved@depth=5 against itself", compiled, "games/s", None, ""),
        _row("the same, move by move", slow, "games/s", slow / compiled, "in one call"),
    ]


def _start_up() -> list[dict[str, Any]]:
    answering = min(_seconds([*COMMAND, "--help"], None) for _ in range(3))
    with tempfile.TemporaryDirectory() as folder:
        other, first = Path(folder, "other.py"), Path(folder, "first.py")
        other.write_text(_FIRST_MOVE.format(weight=1))
        first.write_text(_FIRST_MOVE.format(weight=2))
        _seconds([sys.executable, str(other)], folder)
        new = _seconds([sys.executable, str(first)], folder)
        warm = min(_seconds([sys.executable, str(first)], folder) for _ in range(3))
    return [
        _row("isolation --help", answering, "s", None, ""),
        _row("start to first move, new heuristic", new, "s", None, ""),
        _row("start to first move, warm cache", warm, "s", None, ""),
    ]


def _seconds(command: list[str], cache: str | None) -> float:
    environment = {**os.environ, **({"ISOLATION_CACHE": cache} if cache else {})}
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=environment)
    return time.perf_counter() - started


def _row(what: str, value: float, unit: str, ratio: float | None, to: str) -> dict[str, Any]:
    return {"measured": what, "value": value, "unit": unit, "ratio": ratio, "to": to}
