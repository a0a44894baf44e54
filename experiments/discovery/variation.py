"""Random programs, mutation and crossover: pure functions of a random generator."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TypeVar

from numpy.random import Generator

from experiments.discovery.programs import COMBINES, MEASURES, MOST_TERMS, PHASES, SETS, Program, Shape, Term, tidy

T = TypeVar("T")


def random_program(generator: Generator) -> Program:
    """Return a program of one to three random terms."""
    return tidy([_random_term(generator) for _ in range(int(generator.integers(1, 4)))])


def mutated(generator: Generator, program: Program) -> Program:
    """Return a program with other weights, or with a term added, dropped or changed; never an empty one."""
    chance, index = generator.random(), int(generator.integers(len(program)))
    terms, term = list(program), program[index]
    if chance < (0.45 if len(program) > 1 else 0.1):  # of a single term only the ratio of its weights matters
        for _ in range(1 + int(generator.integers(2))):
            index = int(generator.integers(len(program)))
            terms[index] = _reweighted(generator, terms[index])
    elif chance < 0.62 and len(terms) < MOST_TERMS:
        terms.append(_random_term(generator, _scale(program)))
    elif chance < 0.72 and len(terms) < MOST_TERMS:  # beside the old one, as a correction
        scale = 0.3 * _factor(generator, 1.0)
        terms.append(Term(_reshaped(generator, term.shape), scale * term.weight, scale * term.waiting))
    elif chance < 0.80 and len(terms) > 1:
        del terms[index]
    else:
        terms[index] = replace(term, shape=_reshaped(generator, term.shape))
    return tidy(terms) or program


def crossed(generator: Generator, parent: Program, other: Program) -> Program:
    """Return a program with a term of another one, at the scale of its own."""
    term = other[int(generator.integers(len(other)))]
    scale = _factor(generator, 0.5) * _scale(parent) / _scale(other)
    return tidy([*parent[: MOST_TERMS - 1], Term(term.shape, scale * term.weight, scale * term.waiting)])


def _random_term(generator: Generator, scale: float = 1.0) -> Term:
    """Return a random term of random sign, with a weight of at most `scale`, the same for both sides."""
    weight = scale * 10 ** generator.uniform(-2.5, 0) * (1 if generator.random() < 0.5 else -1)
    shape = Shape(
        _one(generator, MEASURES), _set(generator), _one(generator, COMBINES) if generator.random() < 0.5 else "",
        _set(generator), _set(generator) if generator.random() < 0.3 else -1,
        _one(generator, PHASES) if generator.random() < 0.2 else "",
    )  # fmt: skip
    return Term(shape, weight, weight)


def _reshaped(generator: Generator, shape: Shape) -> Shape:
    """Return a shape with one of its attributes drawn again."""
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
        return replace(shape, over=_set(generator) if generator.random() < 0.75 else -1)
    return replace(shape, phase=_one(generator, PHASES))


def _reweighted(generator: Generator, term: Term) -> Term:
    """Return a term with its weights scaled, made different for the two sides, equal, or with other signs."""
    chance, factor = generator.random(), _factor(generator, 0.5)
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


def _scale(program: Program) -> float:
    return max(abs(weight) for term in program for weight in (term.weight, term.waiting))


def _factor(generator: Generator, spread: float) -> float:
    return math.exp(spread * generator.normal())


def _set(generator: Generator) -> int:
    return int(generator.integers(len(SETS)))


def _one(generator: Generator, values: tuple[T, ...]) -> T:
    return values[int(generator.integers(len(values)))]
