"""Fitness: the share of wins that a program keeps in solved positions, at equal estimated cost.

Programs are parameters of one evaluation function, compiled once for a whole campaign. It is a user's function like any
other, generated for six terms, so that it is compared with Python when it is compiled.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.games.batch_moves import asking
from knights_isolation.isolation.rules.geometry import parse_size
from knights_isolation.isolation.rules.limits import Limit
from knights_isolation.isolation.rules.seeds import splitmix64
from knights_isolation.isolation.search import SearchOptions
from knights_isolation.isolation.search.compiled import compiled_search

from ..play.pools.preparation import scaled_nodes
from ..suite.suite_file import Suite, read_suite
from .programs import BASES, COMBINES, MEASURES, MOST_TERMS, NEAR, PHASES, SETS, WALKS, Program, estimated_cost

if TYPE_CHECKING:
    from knights_isolation.isolation.compiling.compile_heuristic import CompiledHeuristic

_ATTRIBUTES = ("measure", "first", "combine", "second", "over", "phase")
_WALKS_FROM = BASES.index("walk_2")
_NUMBERS = {
    "measure": (0, len(MEASURES)), "first": (0, len(SETS) - 1), "combine": (0, len(COMBINES) - 1),
    "second": (0, len(SETS) - 1), "over": (-1, len(SETS) - 1), "phase": (0, len(PHASES) - 1),
}  # fmt: skip
_DEFAULTS = {"measure": 2, "first": 3, "over": 3}


def parameters_of_program(program: Program) -> NDArray[np.float64]:
    """Return a program as the parameters of the interpreter, in their order."""
    numbers: list[float] = [float(_has_walks(program))]
    for term in program:
        numbers += [*term.shape.numbers, term.weight, term.waiting]
    idle = [0.0] * (len(_ATTRIBUTES) + 2)
    return np.array(numbers + (MOST_TERMS - len(program)) * idle)


@cache
def compiled_interpreter(size: tuple[int, int]) -> CompiledHeuristic:
    """Return the interpreter, compiled for boards of (rows, columns) and compared with Python."""
    from knights_isolation.isolation.compiling.compile_heuristic import compile_heuristic
    from knights_isolation.isolation.files.temp_folders import temporary_folder
    from knights_isolation.isolation.loading.load_user_code import load_heuristic

    folder = temporary_folder("discover")
    try:
        file = Path(folder.path) / "interpreter.py"
        file.write_text(interpreter_source(), encoding="utf-8")
        return compile_heuristic(load_heuristic(file, "score").value, size)
    finally:
        folder.remove()


def _has_walks(program: Program) -> bool:
    used = {number for term in program for number in (term.shape.first, term.shape.second, term.shape.over)}
    return any(number >= 0 and number % len(BASES) >= _WALKS_FROM for number in used)


@cache
def interpreter_source() -> str:
    """Return the interpreter as Python."""
    names = [f"{attribute}_{term}" for term in range(MOST_TERMS) for attribute in (*_ATTRIBUTES, "weight", "waiting")]
    sides = [[f"{name}_{side}" for name in BASES] for side in (0, 1)]
    lines = ["from typing import Annotated", "from annotated_types import Interval", "", *_pick(), "", *_measure(), ""]
    lines += ["def score(game, player, *, walks: Annotated[int, Interval(ge=0, le=1)] = 1,"]
    lines += [f"          {_declared(name)}," for name in names]
    lines += ["          ):", "    if over := game.utility(player):", "        return over", *_sets()]
    lines += ["    filled = 1 - len(game.get_blank_spaces()) / (game.width * game.height)", "    value = 0.0"]
    for term in range(MOST_TERMS):
        numbers = ", ".join(f"{attribute}_{term}" for attribute in _ATTRIBUTES)
        for side, (weight, sign) in enumerate((("weight", "+"), ("waiting", "-"))):
            cells = ", ".join(sides[side] + sides[1 - side])
            lines.append(f"    if measure_{term} and {weight}_{term} != 0.0:")
            lines.append(f"        value {sign}= {weight}_{term} * measured(game, filled, {numbers}, {cells})")
    return "\n".join([*lines, "    return value if player == game.active_player else -value", ""])


def _declared(name: str) -> str:
    """Return the declaration of a parameter; by default the first two terms are some, so that they are compared."""
    attribute, _, term = name.partition("_")
    is_used = int(term) < 2
    if attribute not in _NUMBERS:
        return f"{name}: Annotated[float, Interval(ge=-2, le=2)] = {0.5 if is_used else 0.0}"
    low, high = _NUMBERS[attribute]
    return f"{name}: Annotated[int, Interval(ge={low}, le={high})] = {_DEFAULTS.get(attribute, 0) if is_used else low}"


def _pick() -> list[str]:
    lines = [f"def pick(number, {', '.join(SETS)}):"]
    for number, name in enumerate(SETS[:-1]):
        lines += [f"    if number == {number}:", f"        return {name}"]
    return [*lines, f"    return {SETS[-1]}"]


def _measure() -> list[str]:
    cells = ", ".join(SETS)
    lines = [f"def measured(game, filled, {', '.join(_ATTRIBUTES)}, {cells}):"]
    lines += [f"    cells = pick(first, {cells})", f"    other = pick(second, {cells})"]
    combined = (
        "cells | other",
        "cells & other",
        "cells - other",
        "game.reach(cells)",
        "cells | game.reach(cells) & other",
    )
    lines += [
        f"    if measure == {1 + MEASURES.index('across')}:",
        "        value = float(game.links(cells | other) - game.links(cells) - game.links(other))",
        "    else:",
    ]
    for number, text in enumerate(combined, start=1):
        lines += [f"        {'if' if number == 1 else 'elif'} combine == {number}:", f"            cells = {text}"]
    lines += [
        f"        value = float(len(cells)) if measure == {1 + MEASURES.index('count')} else float(game.links(cells))",
        "    if over >= 0:",
        f"        value = value / (len(pick(over, {cells})) + 1)",
        f"    if phase == {PHASES.index('late')}:",
        "        value = value * filled",
        f"    if phase == {PHASES.index('early')}:",
        "        value = value * (1 - filled)",
        "    return value",
    ]
    return lines


def _sets() -> list[str]:
    """Return the lines that compute all sets; those of walks only where a program has some."""
    lines = [
        "    moves_0 = game.get_legal_moves(game.active_player)",
        "    moves_1 = game.get_legal_moves(game.inactive_player)",
    ]
    mover, waiter = "moves_0", "near_1_1"
    lines.append("    near_1_1 = moves_1 - moves_0")
    for jumps in range(2, NEAR + 1):
        lines.append(f"    near_{jumps}_0 = {mover} | game.reach({mover}) - {waiter}")
        lines.append(f"    near_{jumps}_1 = {waiter} | game.reach({waiter}) - near_{jumps}_0")
        mover, waiter = f"near_{jumps}_0", f"near_{jumps}_1"
    walks = [(jumps, side) for jumps in range(2, WALKS + 1) for side in (0, 1)]
    lines += [f"    walk_{jumps}_{side} = moves_{side}" for jumps, side in walks]
    lines.append("    if walks:")
    for jumps, side in walks:
        before = f"walk_{jumps - 1}_{side}" if jumps > 2 else f"moves_{side}"
        lines.append(f"        walk_{jumps}_{side} = {before} | game.reach({before})")
    return lines


NODES = (300, 1000)
"""Node limits of a program that costs `REFERENCE`; others get as many as take the same time."""
REFERENCE = 20.0
"""Estimated nanoseconds a node of `learned`."""
HELD_BACK = 3
"""One orbit in so many is for validation."""


class Parts(NamedTuple):
    """Positions of the split `fit`, by orbits: for training, the same in three stages, and for validation."""

    train: Suite
    stages: tuple[Suite, ...]
    validation: Suite


@dataclass(frozen=True)
class Found:
    """A program, its estimated cost in nanoseconds a node, and how many `candidates` were tried to find it.

    `train` and `validation` are shares of wins kept, the mean over `NODES` at equal cost.
    """

    program: Program
    cost: float
    train: float
    validation: float
    candidates: int

    @property
    def kept(self) -> float:
        """Share of wins kept in all positions: one in `HELD_BACK` is for validation."""
        return ((HELD_BACK - 1) * self.train + self.validation) / HELD_BACK


@cache
def parts_of(size: str, is_shuffled: bool = False) -> Parts:
    """Return the positions to learn from: the won ones of the split `fit`; never any of the split `screen`.

    Args:
        is_shuffled: exchange which moves keep the win within each position: a control, where nothing can be learned.
    """
    suite = read_suite(size, "fit")
    suite = suite.take(np.flatnonzero(suite.is_telling))
    if is_shuffled:
        suite = replace(suite, keeps=_shuffled(suite))
    is_held_back = splitmix64(suite.orbit) % np.uint64(HELD_BACK) == 0
    train = suite.take(np.flatnonzero(~is_held_back))
    stages = tuple(train.take(np.arange(first, len(train), every)) for first, every in ((0, 4), (2, 4), (1, 2)))
    return Parts(train, stages, suite.take(np.flatnonzero(is_held_back)))


def kept(program: Program, suite: Suite, nodes: int) -> float:
    """Return the share of wins that alpha-beta search by a program keeps in positions.

    Args:
        nodes: limit of a program that costs `REFERENCE`.
    """
    size = parse_size(suite.size)
    limit = Limit(nodes=scaled_nodes(nodes, estimated_cost(program) / REFERENCE))
    heuristic = replace(compiled_interpreter(size), parameters=parameters_of_program(program))
    player = compiled_search(heuristic, "alphabeta", SearchOptions(), limit, size)
    answers = asking(player, suite.positions, np.zeros(len(suite), np.uint64))()
    return float((suite.keeps & (suite.legal == answers.cells[suite.position_of])).sum() / len(suite))


def _shuffled(suite: Suite) -> NDArray[np.bool_]:
    order = np.lexsort((np.random.default_rng(1).random(len(suite.keeps)), suite.position_of))
    shuffled: NDArray[np.bool_] = suite.keeps[order]
    return shuffled
