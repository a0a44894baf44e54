"""Variation of programs: other weights, and new terms; pure functions of a random generator."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TypeVar

from numpy.random import Generator

from experiments.discovery.programs import COMBINES, MEASURES, MOST_TERMS, PHASES, SETS, Program, Shape, Term, tidy

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
