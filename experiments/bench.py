"""The engine's speed on this machine: what `isolation bench` prints."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import heuristics
from isolation.agents import SearchAgent
from isolation.limits import Limit
from isolation.speed import games_per_second, nodes_per_second, random_openings

DEPTH = 11
"""Deep enough that a search takes milliseconds."""
COMMAND = (sys.executable, "-P", "-c", "from cli import main; main(prog_name='isolation')")
"""Starts the command line as `isolation` does; `-m cli` would run a file cli.py of the working directory."""
_COMPARATOR = "improved"
_SHOWN = ("net_advantage", "edge_distance_dynamic", "territory")
_FIRST_MOVE = """
import warnings
from isolation import Board, Limit, search
def score(game, player):
    return len(game.get_legal_moves(player)) - {weight} * len(game.get_legal_moves(game.get_opponent(player)))
warnings.simplefilter("error")
search(Board.from_moves([24, 14]), score, Limit(nodes=1000))
"""


def measure() -> list[dict[str, Any]]:
    """One row a measurement: what, how much, in which unit, and where there is a comparator, how it compares."""
    rows = _searches()
    rows += _games()
    return rows + _start_up()


def _searches() -> list[dict[str, Any]]:
    openings = random_openings(60, 2)
    improved = heuristics.get(_COMPARATOR)
    reference = nodes_per_second(improved, openings, DEPTH).per_second
    rows = [_row(f"alpha-beta, {_COMPARATOR}, 7x7, depth {DEPTH}", reference / 1e6, "M nodes/s", None, "")]
    for name in _SHOWN:
        speed = nodes_per_second(heuristics.get(name), openings, DEPTH).per_second
        ratio = speed / reference
        rows.append(_row(f"alpha-beta, {name}, 7x7, depth {DEPTH}", speed / 1e6, "M nodes/s", ratio, _COMPARATOR))
    large = nodes_per_second(improved, random_openings(20, 2, "9x11"), DEPTH - 2, "9x11").per_second
    rows.append(
        _row(f"alpha-beta, improved, 9x11, depth {DEPTH - 2}", large / 1e6, "M nodes/s", large / reference, "7x7")
    )
    few = openings[:5]
    slow = nodes_per_second(improved, few, DEPTH - 1, interpreted=True).per_second
    fast = nodes_per_second(improved, few, DEPTH - 1).per_second
    rows.append(_row(f"the first, interpreted, depth {DEPTH - 1}", slow / 1e6, "M nodes/s", slow / fast, "compiled"))
    return rows


def _games() -> list[dict[str, Any]]:
    agent = SearchAgent("AB", "alphabeta", heuristics.get("improved"), "improved", Limit(depth=5))
    compiled = games_per_second(agent, agent, random_openings(5000, 2)).per_second
    slow = games_per_second(agent, agent, random_openings(100, 2), interpreted=True).per_second
    return [
        _row("whole games, AB:improved@depth=5 against itself", compiled, "games/s", None, ""),
        _row("the same, move by move", slow, "games/s", slow / compiled, "in one call"),
    ]


def _start_up() -> list[dict[str, Any]]:
    rows = [_row("isolation --help", min(_seconds([*COMMAND, "--help"], None) for _ in range(3)), "s", None, "")]
    with tempfile.TemporaryDirectory() as folder:
        other, first = Path(folder, "other.py"), Path(folder, "first.py")
        other.write_text(_FIRST_MOVE.format(weight=1))
        first.write_text(_FIRST_MOVE.format(weight=2))
        _seconds([sys.executable, str(other)], folder)
        new = _seconds([sys.executable, str(first)], folder)
        warm = min(_seconds([sys.executable, str(first)], folder) for _ in range(3))
    rows.append(_row("start to first move, new heuristic", new, "s", None, ""))
    rows.append(_row("start to first move, warm cache", warm, "s", None, ""))
    return rows


def _seconds(command: list[str], cache: str | None) -> float:
    environment = {**os.environ, **({"ISOLATION_CACHE": cache} if cache else {})}
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=environment)
    return time.perf_counter() - started


def _row(what: str, value: float, unit: str, ratio: float | None, to: str) -> dict[str, Any]:
    return {"measured": what, "value": value, "unit": unit, "ratio": ratio, "to": to}
