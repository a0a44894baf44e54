"""Programs: weighted sums of what is counted in sets of cells, as plain data; their Python and their cost.

A term is written from the viewpoint of one side. A program measures each of its terms for the side to move and for the
waiting side, whose sets are then its own. Printed as plain Python, it is compiled like any user's function; what
several terms share is computed once, so that the lines that are printed are also the lines that cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any, Literal, get_args

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


def structure(program: Program) -> frozenset[Shape]:
    """Return what a program measures."""
    return frozenset(term.shape for term in program)


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
_SIGNS = {"either": "|", "both": "&", "without": "-"}


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
            count = self.assign(f"count_{SIDES[side]}", f"len({self._set(shape.over, side)})")
            name = self.assign(f"ratio_{SIDES[side]}", f"{name} / ({count} + 1)")
        if shape.phase:
            filled = self.assign("filled", _FILLED)
            share = filled if shape.phase == "late" else f"(1 - {filled})"
            name = self.assign(f"{shape.phase}_{SIDES[side]}", f"{name} * {share}")
        return name

    def _measured(self, shape: Shape, side: int) -> str:
        """Return the name that holds what a shape measures, before it is divided or scaled."""
        first = self._set(shape.first, side)
        if shape.measure == "across":
            both = sorted((first, self._set(shape.second, side)))  # the same text for both sides where it can be
            within = [self._links(each, side) for each in both]
            beyond = self._links(self.assign("either", " | ".join(both)), side)
            return self.assign(f"across_{SIDES[side]}", " - ".join([beyond, *sorted(within)]))
        cells = self._combined(shape, first, side)
        if shape.measure == "count":
            return self.assign(f"count_{SIDES[side]}", f"len({cells})")
        return self._links(cells, side)

    def _links(self, cells: str, side: int) -> str:
        return self.assign(f"links_{SIDES[side]}", f"game.links({cells})")

    def _combined(self, shape: Shape, first: str, side: int) -> str:
        if not shape.combine:
            return first
        name = f"{shape.combine}_{SIDES[side]}"
        if shape.combine == "reach":
            return self.assign(name, f"game.reach({first})")
        second = self._set(shape.second, side)
        if shape.combine == "flood":
            return self.assign(name, f"{first} | game.reach({first}) & {second}")
        return self.assign(name, f"{first} {_SIGNS[shape.combine]} {second}")

    def _set(self, number: int, side: int) -> str:
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
    lines = ["def score(game, player):"]
    if docstring:
        lines += [f'    """{docstring}"""']
    lines += ["    if over := game.utility(player):", "        return over"]
    lines += [f"    {line}" for line in written.lines]
    lines += ["    value = 0.0", *(f"    value {sign}= {weight!r} * {name}" for sign, weight, name in terms)]
    return "\n".join([*lines, "    return value if player == game.active_player else -value", ""])


def estimated_cost(program: Program) -> float:
    """Return about how many nanoseconds a node of a search by a program takes; `learned` takes about 20."""
    written, _ = _written(program)
    return SEARCHING + written.cost


def _written(program: Program) -> tuple[_Lines, list[tuple[str, float, str]]]:
    written = _Lines()
    terms = []
    for term in program:
        for side, weight in enumerate((term.weight, term.waiting)):
            if weight:
                sign = "+" if (weight > 0) == (side == 0) else "-"
                terms.append((sign, abs(weight), written.value(term.shape, side)))
    return written, terms
