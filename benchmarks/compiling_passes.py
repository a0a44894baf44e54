"""Benefit of each optional compiler pass: CPU time per node without it, divided by that with it.

    python -m benchmarks.compiling_passes cell_sums results.jsonl

Measures the shipped heuristics, those in `tests/data`, and about 150 in the style of public projects, if the pass
changes the compiled text: alpha-beta at a fixed depth on 7x7, the two versions in turn, medians of ratios.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.public_style import write
from knights_isolation import heuristics
from knights_isolation.isolation.checks.search_cost import compare_turns, random_openings
from knights_isolation.isolation.compiling import compile_heuristic, linking, source_rewriter
from knights_isolation.isolation.games.batches import Positions, asking
from knights_isolation.isolation.loading.load_user_code import is_heuristic, load_module
from knights_isolation.isolation.rules.game import Limit
from knights_isolation.isolation.search import SearchOptions
from knights_isolation.isolation.search.compiled import compiled_search

PASSES: dict[str, tuple[Any, str, Any]] = {
    "cell_sums": (source_rewriter, "tabulate_cell_sums", lambda module: None),
    "integer_ranks": (linking, "_in_whole_numbers", lambda text: None),
}
"""For each pass: the module that calls it, its name there, and its replacement."""
DATA = Path(__file__).parents[1] / "tests" / "data"
DEPTH = 5
_TURN = 3_000_000
"""Minimum duration of a turn in nanoseconds."""


@contextmanager
def without(name: str) -> Iterator[None]:
    """Compile without a pass, under other file names than with it."""
    position, function, nothing = PASSES[name]
    source_rewriter._remembered.cache_clear()
    linked = f"# without {name}{compile_heuristic._LINKED}"
    with patch.object(position, function, nothing), patch.object(compile_heuristic, "_LINKED", linked):
        yield
    source_rewriter._remembered.cache_clear()


def all_heuristics() -> Iterator[tuple[str, Callable[..., float]]]:
    """Yield the shipped heuristics, those of tests and those in the style of public projects, with their names."""
    yield from ((f"shipped:{name}", heuristics.get(name)) for name in heuristics.names())
    folders = [DATA / "user", DATA / "classic" / "first", DATA / "classic" / "second"]
    files = [file for folder in folders for file in sorted(folder.glob("*.py"))]
    skipped = {"refused.py", "agent_test.py", "game_agent.py", "undo_board.py"}
    with tempfile.TemporaryDirectory() as folder:
        for file in [write(Path(folder)), *(file for file in files if file.name not in skipped)]:
            module = load_module(file)
            own = [value for value in vars(module).values() if getattr(value, "__module__", "") == module.__name__]
            result = [value for value in own if is_heuristic(value) and hasattr(value, "__name__")]
            if file.stem.startswith("public"):
                result = [value for value in result if value.__name__.startswith("public_")]
            yield from ((f"{file.stem}:{value.__name__}", value) for value in result)


def search_of(function: Callable[..., float]) -> Callable[[], int]:
    """Return a function that searches some positions of the opening and the middle game, and returns its nodes."""
    try:
        compiled = _player(function, attempt=0)
    except Exception:
        compiled = _player(function, attempt=1)
    openings = [cells for plies in (2, 12) for cells in random_openings(20, plies)]
    positions = Positions.of(openings, "7x7")
    ask = asking(compiled, positions, np.zeros(len(positions), np.uint64))

    def search() -> int:
        answers = ask()
        if answers.first_failure is not None:
            raise ArithmeticError("it fails")
        return int(answers.nodes.sum())

    search()
    return search


def _player(function: Any, attempt: int) -> Any:
    compiled = compile_heuristic._uncompiled(function, source_rewriter.rewrite(function, attempt))
    return compiled_search(compiled, "alphabeta", SearchOptions(), Limit(depth=DEPTH), (7, 7))


def _turn(search: Callable[[], int], repeats: int) -> tuple[int, int]:
    started = time.thread_time_ns()
    nodes = sum(search() for _ in range(repeats))
    return nodes, time.thread_time_ns() - started


def measured(function: Callable[..., float], name: str) -> dict[str, Any]:
    """Measure the benefit of a pass for a heuristic: the factor in time per node without it."""
    source = source_rewriter.rewrite(function).source
    with without(name):
        is_same = source_rewriter.rewrite(function).source == source and name != "integer_ranks"
    if is_same:
        return {"status": "unchanged"}
    with_it = search_of(function)
    with without(name):
        without_it = search_of(function)
    if with_it() != without_it():
        return {"status": "other nodes"}
    _, once = _turn(with_it, 1)
    turns = [partial(_turn, search, max(1, _TURN // once)) for search in (with_it, without_it)]
    own, other = compare_turns(turns)
    times = [round(value, 3) for value in (other.times, other.low, other.high)]
    return {"status": "measured", "times": times, "ns": round(own.nanoseconds, 2)}


def main(name: str, file: str) -> None:
    """Measure a pass on all heuristics and append a line of JSON for each to a file."""
    path = Path(file)
    done = {json.loads(line)["heuristic"] for line in path.read_text().splitlines()} if path.exists() else set()
    for called, function in all_heuristics():
        if called in done:
            continue
        try:
            row = measured(function, name)
        except Exception as error:
            row = {"status": "refused", "reason": str(error)[:100]}
        with path.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps({"heuristic": called, **row}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
