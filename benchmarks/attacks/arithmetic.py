"""Random heuristics over arithmetic: compiled code computes what Python computes, or is not used.

`python -m benchmarks.attacks.arithmetic SEED COUNT FOLDER` compares COUNT heuristics in this process and prints each
difference that it finds, including those that the check before use would detect.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.attacks.attack import Attack
from benchmarks.attacks.expressions import IMPORTS, Written, heuristics, module_of
from knights_isolation.isolation import Board
from knights_isolation.isolation.compiling.comparison import compare, difference, positions_of_games
from knights_isolation.isolation.compiling.compile_heuristic import CompileError, compiled_alone, with_parameters
from knights_isolation.isolation.loading.load_user_code import load_module
from knights_isolation.isolation.rules.parameters import bind_parameters

HEURISTICS = 20_000
BATCH = 40
"""Number of heuristics that are compiled together."""
EVALUATIONS = 120
"""Minimum number of evaluations of each one: whole games, every ply, for both players."""
AT_A_TIME = 200
"""Number of heuristics that one process compares: loaded code stays in memory."""


@dataclass
class Compared:
    """Results of comparing some heuristics.

    `silent` are the differences that the check before use does not detect, `refused` those that it does.
    """

    heuristics: int = 0
    evaluations: int = 0
    uncompiled: dict[str, int] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)


def attack(folder: Path, share: float) -> Iterator[Attack]:
    """Compare them in separate processes, one per processor."""
    count = max(BATCH, round(share * HEURISTICS))
    seeds = range(1, 1 + -(-count // AT_A_TIME))
    what = "random heuristics over arithmetic, compiled and in Python"
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(lambda seed: _elsewhere(seed, min(count, AT_A_TIME), folder), seeds):
            if isinstance(result, str):
                yield Attack(what, result)
                continue
            yield Attack(what, count=result.heuristics)
            yield Attack("evaluations of them in whole games", count=result.evaluations)
            yield Attack("differences that the check found, so that Python is used", count=len(result.refused))
            yield from (Attack(what, f"a difference that the check does not find: {agent}") for agent in result.silent)


def _elsewhere(seed: int, count: int, folder: Path) -> Compared | str:
    """Return what a separate process finds, or how it ended."""
    words = [sys.executable, "-m", "benchmarks.attacks.arithmetic", str(seed), str(count), str(folder), "--json"]
    environment = os.environ | {"ISOLATION_CACHE": str(folder / f"cache-{seed}")}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f"seed {seed}: exit code {done.returncode}: {done.stderr[-300:]}"
    return Compared(**json.loads(done.stdout.splitlines()[-1]))


def compared(seed: int, count: int, folder: Path) -> Compared:
    """Compare a number of random heuristics."""
    warnings.simplefilter("ignore")  # NumPy's warnings about means of nothing
    chance, result = Random(seed), Compared()
    for number in range(-(-count // BATCH)):
        batch = heuristics(chance, min(BATCH, count - number * BATCH))
        boards = positions_of_games((7, 7), EVALUATIONS // 2, chance)
        _compare(batch, boards, folder, f"batch_{seed}_{number}", result)
    return result


def _compare(batch: list[Written], boards: list[Board], folder: Path, name: str, result: Compared) -> None:
    compiled = _compiled(batch, folder, name, result)
    if compiled is None:
        return
    for which, written in enumerate(batch):
        changed = with_parameters(compiled, bind_parameters(compiled.function, {"which": which}))
        result.heuristics += 1
        result.evaluations += 2 * len(boards)
        if problem := difference(changed.function, changed.value_of, boards):
            noticed = compare([(changed.function, changed.value_of)], (7, 7))
            text = f"{problem.reason}\n{IMPORTS}\n\n{written.source()}"
            (result.refused if noticed else result.silent).append(text)


def _compiled(batch: list[Written], folder: Path, name: str, result: Compared) -> Any:
    """Compile all of a batch as one heuristic; those that do not compile are removed from the batch."""
    while batch:
        text = module_of(batch)
        path = folder / f"{name}_{len(batch)}.py"
        path.write_text(text)
        try:
            return compiled_alone(load_module(path).score)
        except CompileError as error:
            result.uncompiled[error.reason] = result.uncompiled.get(error.reason, 0) + 1
            del batch[_at_line(text, error.line)]
    return None


def _at_line(text: str, line: int | None) -> int:
    """Return the index of the heuristic that a line of a module belongs to."""
    before = "\n".join(text.splitlines()[:line])
    return max([0, *map(int, re.findall(r"^ *if which == (\d+):", before, re.MULTILINE))])


def main(seed: str, count: str, folder: str, form: str = "") -> None:
    """Compare, and print the findings."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    result = compared(int(seed), int(count), Path(folder))
    if form == "--json":
        print(json.dumps(asdict(result)))
        return
    for kind, examples in (("found by the check", result.refused), ("SILENT", result.silent)):
        for example in examples:
            print(f"--- {kind}: {example}")
    for reason, number in result.uncompiled.items():
        print(f"{number} not compiled: {reason}")
    refused, silent = len(result.refused), len(result.silent)
    print(f"{result.heuristics} heuristics, {result.evaluations:,} evaluations, {refused} refused, {silent} silent")


if __name__ == "__main__":
    main(*sys.argv[1:])
