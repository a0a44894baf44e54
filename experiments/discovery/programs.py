"""Programs: weighted sums of what is counted in sets of cells, as plain data.

A term is written from the viewpoint of one side. A program measures each of its terms for the side to move and for the
waiting side, whose sets are then its own.
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
