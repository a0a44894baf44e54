"""Programs: weighted sums of counts in sets of cells, as plain data; their variations, Python, cost and fitness.

A term is written from the viewpoint of one side. A program measures each of its terms for the side to move and for the
waiting side, whose sets are then its own. Printed as plain Python, it is compiled like any user's function; what
several terms share is computed once, so that the lines that are printed are also the lines that cost.

Fitness is the share of wins that a program keeps in solved positions, at equal estimated cost. For it, programs are
parameters of one evaluation function, compiled once for a whole campaign. It is a user's function like any other,
generated for six terms, so that it is compared with Python when it is compiled.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, get_args

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from knights_isolation.isolation.compiling.compile_heuristic import CompiledHeuristic, compile_heuristic
from knights_isolation.isolation.files.folders import temporary_folder
from knights_isolation.isolation.games.batches import asking
from knights_isolation.isolation.loading.load_user_code import load_heuristic
from knights_isolation.isolation.rules.game import Limit, Size
from knights_isolation.isolation.rules.seeds import splitmix64
from knights_isolation.isolation.search import SearchOptions
from knights_isolation.isolation.search.compiled import compiled_search

from ..play.equal_cost import scaled_nodes
from ..suite.suite_file import Suite, read_suite

Measure = Literal["count", "links", "across"]
Combine = Literal["", "either", "both", "without", "reach", "flood"]
Phase = Literal["", "late", "early"]
MEASURES, COMBINES, PHASES = get_args(Measure), get_args(Combine), get_args(Phase)
NEAR, WALKS = 6, 4
"""Most jumps of the two kinds of sets."""
BASES = (
    "moves",
    *(f"near_{jumps}" for jumps in range(2, NEAR + 1)),
    *(f"walk_{jumps}" for jumps in range(2, WALKS + 1)),
)
SETS = (*BASES, *(f"their_{name}" for name in BASES))
"""Sets of cells. near: cells that this side reaches first, within so many jumps; the side to move takes those that both
reach in as many. walk: cells within so many jumps, whatever the other side does. their: the same of the other side."""
MOST_TERMS = 6


@dataclass(frozen=True)
class Shape:
    """What a term measures.

    Attributes:
        measure: how many cells, how many links between them, or how many links two sets have together beyond those
            within each; a link within both counts as minus one.
        first, second: numbers of sets.
        combine: the measured cells: those of the first set; of either, of both, of the first without the second; a jump
            away from the first; or the first and a jump away from it within the second.
        over: number of the set by whose count plus one the value is divided; -1 for none.
        phase: multiply by the filled share of the board, or by the blank share.
    """

    measure: Measure = "count"
    first: int = 0
    combine: Combine = ""
    second: int = 0
    over: int = -1
    phase: Phase = ""

    @property
    def normal(self) -> Shape:
        """The same without what has no effect."""
        combine = "" if self.measure == "across" else self.combine
        has_second = self.measure == "across" or combine not in ("", "reach")
        if has_second and self.first == self.second:
            return replace(self, measure="count" if self.measure == "across" else self.measure, combine="", second=0)
        return replace(self, combine=combine, second=self.second if has_second else 0)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Its attributes as whole numbers, for the interpreter."""
        return (
            1 + MEASURES.index(self.measure), self.first, COMBINES.index(self.combine), self.second, self.over,
            PHASES.index(self.phase),
        )  # fmt: skip


@dataclass(frozen=True)
class Term:
    """What is measured, its weight for the side to move, and its weight for the waiting side."""

    shape: Shape
    weight: float
    waiting: float


Program = tuple[Term, ...]
"""Its value for the side to move: the sum of weight × its measure − waiting × the measure of the waiting side."""


def tidy(program: Sequence[Term]) -> Program:
    """Return a program with weights of three digits, without terms that have none, each shape once."""
    terms: dict[Shape, Term] = {}
    for term in program:
        shape = term.shape.normal
        weights = (float(f"{weight:.3g}") for weight in (term.weight, term.waiting))
        terms.setdefault(shape, Term(shape, *weights))
    return tuple(term for term in terms.values() if term.weight or term.waiting)[:MOST_TERMS]


def to_json(program: Program) -> list[Any]:
    """Return a program as lists, for the journal."""
    return [[*astuple(term.shape), term.weight, term.waiting] for term in program]


def from_json(lists: list[Any]) -> Program:
    """Return the program that `to_json` wrote.

    Raises:
        ValueError, TypeError: it is none.
    """
    return tuple(Term(Shape(*shape), float(weight), float(waiting)) for *shape, weight, waiting in lists)


SIDES = ("mover", "waiter")
SEARCHING, LINE = 3.2, 0.22
"""Nanoseconds a node of alpha-beta search without an evaluation, and of each line of an evaluation; `learned` takes 20.

These and the following are the least squares of 24 programs of 4 to 43 ns, measured against `learned` on 7x7; none is
off by more than a tenth.
"""
OPERATIONS = {"game.reach(": 0.93, "game.links(": 1.23, " / ": 0.26}
"""Nanoseconds a node of some operations beside those of their line."""
_FILLED = "1 - len(game.get_blank_spaces()) / (game.width * game.height)"
_PLAYERS = ("game.active_player", "game.inactive_player")
_COMBINED = {
    "either": "{first} | {second}", "both": "{first} & {second}", "without": "{first} - {second}",
    "reach": "game.reach({first})", "flood": "{first} | game.reach({first}) & {second}",
}  # fmt: skip


class _Lines:
    """Lines of Python that are being written; an expression that was written before is not written again."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.cost = 0.0
        self._names: dict[str, str] = {}
        self._used: dict[str, int] = {}

    def assign(self, name: str, text: str) -> str:
        """Return the name that holds the value of a text; `name` is numbered if it is taken."""
        if text not in self._names:
            self._used[name] = self._used.get(name, 0) + 1
            count = self._used[name]
            self._names[text] = f"{name}_{count}" if count > 1 else name
            self.lines.append(f"{self._names[text]} = {text}")
            self.cost += LINE + sum(cost * text.count(operation) for operation, cost in OPERATIONS.items())
        return self._names[text]

    def value(self, shape: Shape, side: int) -> str:
        """Return the name that holds the value of a shape for a side: 0 to move, 1 waiting."""
        name = self._measured(shape, side)
        if shape.over >= 0:
            count = self.assign(f"count_{SIDES[side]}", f"len({self.cells(shape.over, side)})")
            name = self.assign(f"ratio_{SIDES[side]}", f"{name} / ({count} + 1)")
        if shape.phase:
            filled = self.assign("filled", _FILLED)
            share = filled if shape.phase == "late" else f"(1 - {filled})"
            name = self.assign(f"{shape.phase}_{SIDES[side]}", f"{name} * {share}")
        return name

    def _measured(self, shape: Shape, side: int) -> str:
        """Return the name that holds what a shape measures, before it is divided or scaled."""
        first = self.cells(shape.first, side)
        if shape.measure == "across":
            both = sorted((first, self.cells(shape.second, side)))  # the same text for both sides where it can be
            within = [self._links(each, side) for each in both]
            beyond = self._links(self.assign("either", " | ".join(both)), side)
            return self.assign(f"across_{SIDES[side]}", " - ".join([beyond, *sorted(within)]))
        if text := _COMBINED.get(shape.combine):
            second = self.cells(shape.second, side) if "{second}" in text else ""
            first = self.assign(f"{shape.combine}_{SIDES[side]}", text.format(first=first, second=second))
        if shape.measure == "count":
            return self.assign(f"count_{SIDES[side]}", f"len({first})")
        return self._links(first, side)

    def _links(self, cells: str, side: int) -> str:
        return self.assign(f"links_{SIDES[side]}", f"game.links({cells})")

    def cells(self, number: int, side: int) -> str:
        """Return the name that holds a set of a side, by its number."""
        base, is_theirs = number % len(BASES), number >= len(BASES)
        side = 1 - side if is_theirs else side
        kind, _, jumps = SETS[base].partition("_")
        if kind == "near":
            return self._near(int(jumps), side)
        cells = self._moves(side)
        for _ in range(1, int(jumps or 1)):
            cells = self.assign(f"walk_{SIDES[side]}", f"{cells} | game.reach({cells})")
        return cells

    def _moves(self, side: int) -> str:
        return self.assign(f"moves_{SIDES[side]}", f"game.get_legal_moves({_PLAYERS[side]})")

    def _near(self, jumps: int, side: int) -> str:
        mover = self._moves(0)
        waiter = self.assign("near_waiter", f"{self._moves(1)} - {mover}")
        for jump in range(2, jumps + 1):
            mover = self.assign("near_mover", f"{mover} | game.reach({mover}) - {waiter}")
            if jump < jumps or side == 1:
                waiter = self.assign("near_waiter", f"{waiter} | game.reach({waiter}) - {mover}")
        return (mover, waiter)[side]


def to_python(program: Program, docstring: str = "") -> str:
    """Return a program as a function `score(game, player)` with a docstring."""
    written, terms = _written(program)
    lines = ["def score(game, player):", *([f'    """{docstring}"""'] if docstring else [])]
    lines += ["    if over := game.utility(player):", "        return over"]
    lines += [f"    {line}" for line in written.lines]
    lines += ["    value = 0.0", *(f"    value {sign}= {weight!r} * {name}" for sign, weight, name in terms)]
    return "\n".join([*lines, "    return value if player == game.active_player else -value", ""])


def estimated_cost(program: Program) -> float:
    """Return about how many nanoseconds a node of a search by a program takes; `learned` takes about 20."""
    return SEARCHING + _written(program)[0].cost


def _written(program: Program) -> tuple[_Lines, list[tuple[str, float, str]]]:
    written = _Lines()
    terms = []
    for term in program:
        for side, weight in enumerate((term.weight, term.waiting)):
            if weight:
                sign = "+" if (weight > 0) == (side == 0) else "-"
                terms.append((sign, abs(weight), written.value(term.shape, side)))
    return written, terms


T = TypeVar("T")


def random_shape(generator: Generator) -> Shape:
    """Return a random shape."""
    first = _set(generator)
    return Shape(
        _one(generator, MEASURES), first, _one(generator, COMBINES) if generator.random() < 0.5 else "",
        _set(generator), _divisor(generator, first) if generator.random() < 0.4 else -1,
        _one(generator, PHASES) if generator.random() < 0.2 else "",
    ).normal  # fmt: skip


def with_room(generator: Generator, program: Program, other: Program) -> tuple[Program, Shape]:
    """Return terms of a program, and a shape to be added to them: random, one of its own changed, or one of `other`."""
    index = int(generator.integers(len(program)))
    is_replaced = len(program) == MOST_TERMS or generator.random() < 0.4
    rest = (*program[:index], *program[index + 1 :]) if is_replaced else program
    chance = generator.random()
    if chance < 0.35:
        return rest, random_shape(generator)
    if chance < 0.55:
        return rest, other[int(generator.integers(len(other)))].shape
    return rest, _reshaped(generator, program[index].shape).normal


def reweighted(generator: Generator, program: Program) -> Program:
    """Return a program with one or two weights changed, or without a term; never an empty one."""
    terms = list(program)
    if len(terms) > 1 and generator.random() < 0.15:
        del terms[int(generator.integers(len(terms)))]
    else:
        for _ in range(1 + int(generator.integers(2))):
            index = int(generator.integers(len(program)))
            terms[index] = _with_other_weights(generator, terms[index])
    return tidy(terms) or program


def _reshaped(generator: Generator, shape: Shape) -> Shape:
    chance = generator.random()
    if chance < 0.15:
        return replace(shape, measure=_one(generator, MEASURES))
    if chance < 0.40:
        return replace(shape, first=_set(generator))
    if chance < 0.60:
        return replace(shape, combine=_one(generator, COMBINES), second=_set(generator))
    if chance < 0.70:
        return replace(shape, second=_set(generator))
    if chance < 0.90:
        return replace(shape, over=_divisor(generator, shape.first) if generator.random() < 0.75 else -1)
    return replace(shape, phase=_one(generator, PHASES))


def _with_other_weights(generator: Generator, term: Term) -> Term:
    """Return a term with its weights scaled, made different for the two sides, equal, or with other signs."""
    chance, factor = generator.random(), math.exp(0.5 * generator.normal())
    if chance < 0.5:
        return replace(term, weight=factor * term.weight, waiting=factor * term.waiting)
    if chance < 0.65:
        return replace(term, weight=factor * (term.weight or term.waiting))
    if chance < 0.80:
        return replace(term, waiting=factor * (term.waiting or term.weight))
    if chance < 0.88:
        return replace(term, weight=-term.weight, waiting=-term.waiting)
    if chance < 0.94:
        return replace(term, waiting=term.weight)
    return replace(term, weight=0.0) if generator.random() < 0.5 else replace(term, waiting=0.0)


def _divisor(generator: Generator, first: int) -> int:
    """Return the number of a set to divide by: in half of all cases the measured one."""
    return first if generator.random() < 0.5 else _set(generator)


def _set(generator: Generator) -> int:
    return int(generator.integers(len(SETS)))


def _one(generator: Generator, values: tuple[T, ...]) -> T:
    return values[int(generator.integers(len(values)))]


_WALKS_FROM = BASES.index("walk_2")


def parameters_of_program(program: Program) -> NDArray[np.float64]:
    """Return a program as the parameters of the interpreter, in their order."""
    used = {number for term in program for number in (term.shape.first, term.shape.second, term.shape.over)}
    has_walks = any(number >= 0 and number % len(BASES) >= _WALKS_FROM for number in used)
    numbers = [float(has_walks)]
    for term in program:
        numbers += [*term.shape.numbers, term.weight, term.waiting]
    return np.array(numbers + (MOST_TERMS - len(program)) * (len(Shape().numbers) + 2) * [0.0])


@cache
def compiled_interpreter(size: tuple[int, int]) -> CompiledHeuristic:
    """Return the interpreter, compiled for boards of (rows, columns) and compared with Python."""
    folder = temporary_folder("discover")
    try:
        file = Path(folder.path) / "interpreter.py"
        file.write_text(interpreter_source(), encoding="utf-8")
        return compile_heuristic(load_heuristic(file, "score").value, size)
    finally:
        folder.remove()


@cache
def interpreter_source() -> str:
    """Return the interpreter as Python."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    written = _Lines()
    near = [[written.cells(number, side) for number in range(_WALKS_FROM)] for side in (0, 1)]
    count = len(written.lines)
    walks = [[written.cells(number, side) for number in range(_WALKS_FROM, len(BASES))] for side in (0, 1)]
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")), undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    return environment.get_template("interpreter.py.jinja").render(
        names=SETS, sets=", ".join(SETS), measures=MEASURES, combines=COMBINES, combined=_COMBINED, phases=PHASES,
        most_terms=MOST_TERMS, filled=_FILLED, near=written.lines[:count], walks=written.lines[count:],
        sides=[near[side] + walks[side] for side in (0, 1)],
    )  # fmt: skip


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
def parts_of(size: Size) -> Parts:
    """Return the positions to learn from: the won ones of the split `fit`; never any of the split `screen`."""
    suite = read_suite(str(size), "fit").telling
    is_held_back = splitmix64(suite.orbit) % np.uint64(HELD_BACK) == 0
    train = suite.take(np.flatnonzero(~is_held_back))
    stages = tuple(train.take(np.arange(first, len(train), every)) for first, every in ((0, 4), (2, 4), (1, 2)))
    return Parts(train, stages, suite.take(np.flatnonzero(is_held_back)))


def kept(program: Program, suite: Suite, nodes: int) -> float:
    """Return the share of wins that alpha-beta search by a program keeps; a program of `REFERENCE` gets the nodes."""
    size = suite.size
    limit = Limit(nodes=scaled_nodes(nodes, estimated_cost(program) / REFERENCE))
    heuristic = replace(compiled_interpreter(size), parameters=parameters_of_program(program))
    player = compiled_search(heuristic, "alphabeta", SearchOptions(), limit, size)
    answers = asking(player, suite.positions, np.zeros(len(suite), np.uint64))()
    return float((suite.keeps & (suite.legal == answers.cells[suite.position_of])).sum() / len(suite))
