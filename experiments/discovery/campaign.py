"""A campaign: rounds of climbs from programs of the archive, and a journal that is the only state.

The climbs of a round follow from the seed and from the archive before it, so the same seed gives the same campaign
for any number of processes, interrupted or not; a longer budget continues a shorter one. A climb goes from one program
to a better one, by variations that keep at least as many wins.

Weights come from ranking moves: in solved positions, moves that keep the win should look better than those that lose
it. Ranking needs no search, only the values of terms after each move, and takes a tenth of the time of a fitness. It
decides nothing: it gives a new term its weights, and picks from several terms which one is worth a fitness.
"""

from __future__ import annotations

import math
import time
from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import expit

from knights_isolation.isolation.compiling.compile_heuristic import CompiledHeuristic
from knights_isolation.isolation.games.batches import evaluate_all
from knights_isolation.isolation.rules.game import USUAL_SIZE, Limit, Size

from ..play.parallel_map import Spread, parallel_mapper
from ..record.checked_lines import append_lines, open_journal
from ..statistics.proportions import Floats
from ..studies.pairwise_fit import Comparisons, compare_moves
from . import programs
from .programs import NODES, Found, Parts, Program, Shape, Term, from_json, kept, to_json

EDGES = (10.0, 12.0, 14.0, 17.0, 20.0, 25.0, 32.0)
"""Upper ends of the cells of the archive, in estimated nanoseconds a node; the last cell is open."""
EACH = 4
"""Programs kept in each cell, of different structures."""


class Archive:
    """The best programs of each cell by wins kept in all positions of `fit`, the best first.

    Climbs decide by those for training alone: what was lucky there does not beget the programs that follow.
    """

    def __init__(self) -> None:
        self.cells: list[list[Found]] = [[] for _ in range(len(EDGES) + 1)]

    def __len__(self) -> int:
        return sum(map(len, self.cells))

    @property
    def all(self) -> list[Found]:
        """All programs, the best first."""
        return sorted((found for cell in self.cells for found in cell), key=lambda found: -found.kept)

    def add(self, found: Found) -> None:
        """Add a program if it belongs to the best of its cell; of equal structures only the best stays."""
        cell = self.cells[bisect(EDGES, found.cost)]
        best: dict[frozenset[Shape], Found] = {}
        for each in sorted([*cell, found], key=lambda each: -each.kept):  # stable: the earlier one of equals stays
            best.setdefault(frozenset(term.shape for term in each.program), each)
        cell[:] = list(best.values())[:EACH]

    def pick(self, generator: Generator) -> Found:
        """Draw a program: any in three cases of ten, else the best of three."""
        everything = self.all
        draws = generator.integers(len(everything), size=3)
        return everything[int(draws[0] if generator.random() < 0.3 else draws.min())]


CLIMBS = 8
"""Climbs in a round."""
RANDOM = 0.1
"""Share of them that begin at random once there is an archive."""
_VERSION = 2


@dataclass(frozen=True)
class SearchTask:
    """What is searched for: the board, and the seed."""

    size: Size = USUAL_SIZE
    seed: int = 1


@dataclass(frozen=True)
class Growth:
    """The archive after a round: processor seconds, candidates, and the program that keeps the most wins."""

    round: int
    seconds: float
    candidates: int
    best: Found


@dataclass
class Campaign:
    """The state of a campaign: its archive, how it grew, and the climbs that were made, by round and number."""

    archive: Archive = field(default_factory=Archive)
    growth: list[Growth] = field(default_factory=list)
    searched: dict[tuple[int, int], tuple[Found, float]] = field(default_factory=dict)
    seconds: float = 0.0
    candidates: int = 0


def run_campaign(
    question: SearchTask,
    journal: Path,
    minutes: float,
    *,
    jobs: int = 1,
    rounds: int | None = None,
    show: Callable[[Campaign], None] = lambda campaign: None,
) -> Campaign:
    """Search for so many processor minutes, of which those in the journal count; the round begun last is finished.

    There are at most so many `rounds`; `show` is called after each that the journal did not have whole.

    Raises:
        ValueError: no suite ships for the board, or the journal is of another question or damaged.
        ChildProcessError: a process of the search died.
    """
    heading = {"what": "discovery", "version": _VERSION, **asdict(question), "size": str(question.size)}
    heading["is_shuffled"] = False  # as journals have it since labels could be exchanged as a control
    campaign = Campaign(searched=dict(open_journal(journal, heading, _read)))
    programs.compiled_interpreter(question.size)  # once, before other processes want it
    with parallel_mapper(jobs, None) as spread:
        while (rounds is None or len(campaign.growth) < rounds) and campaign.seconds < 60 * minutes:
            known = len(campaign.searched)
            _play_round(question, campaign, journal, spread)
            if len(campaign.searched) > known:
                show(campaign)
    return campaign


def _play_round(question: SearchTask, campaign: Campaign, journal: Path, spread: Spread) -> None:
    """Make the climbs of the next round that the journal lacks, and add all to the archive in their order."""
    number, archive = len(campaign.growth), campaign.archive
    calls = (
        (question, number, index, to_json(program), to_json(other))
        for index, (program, other) in enumerate(_pairs(question, archive, number))
        if (number, index) not in campaign.searched
    )
    for line in spread(_climb, calls):
        append_lines(journal, [line])
        campaign.searched.update([_read(line)])
    for index in range(CLIMBS):
        found, taken = campaign.searched[number, index]
        archive.add(found)
        campaign.seconds, campaign.candidates = campaign.seconds + taken, campaign.candidates + found.candidates
    campaign.growth.append(Growth(number + 1, campaign.seconds, campaign.candidates, archive.all[0]))


def _pairs(question: SearchTask, archive: Archive, number: int) -> Iterator[tuple[Program, Program]]:
    """Yield the programs where the climbs of a round begin, each with one to take terms from; empty ones are grown."""
    for index in range(CLIMBS):
        generator = np.random.default_rng([question.seed, number, index])
        if len(archive) < CLIMBS or generator.random() < RANDOM:
            yield (), ()
        else:
            yield archive.pick(generator).program, archive.pick(generator).program


def _climb(question: SearchTask, number: int, index: int, program: list[Any], other: list[Any]) -> dict[str, Any]:
    parts = programs.parts_of(question.size)
    ranking = ranking_of(question.size)  # made before the clock starts
    started = time.process_time()
    generator = np.random.default_rng([question.seed, number, index, 1])
    start = from_json(program) or grown(ranking, generator)
    found = climb(start, from_json(other) or start, parts, ranking, generator)
    seconds = round(time.process_time() - started, 2)
    return {"round": number, "index": index, "seconds": seconds, **asdict(found), "program": to_json(found.program)}


def _read(line: dict[str, Any]) -> tuple[tuple[int, int], tuple[Found, float]]:
    numbers = (line[name] for name in ("cost", "train", "validation", "candidates"))
    return (line["round"], line["index"]), (Found(from_json(line["program"]), *numbers), line["seconds"])


NODES_EXPONENT = 0.25
"""Wins thrown away fall with about the fourth root of the nodes: by `learned` on 7x7, 6.6 % at 300, 4.7 % at 1,000."""
RANKED = 2
"""One training position in so many is ranked."""
_PRIOR = 1e-3
_STEPS = 5
_REMEMBERED = 200


@dataclass(frozen=True, eq=False)
class Ranking:
    """Pairs of moves of the positions for training, and the interpreter that computes the values of programs there."""

    pairs: Comparisons
    interpreter: CompiledHeuristic

    def values(self, program: Program) -> Floats:
        """Return float64[q]: by how much a program prefers the move that keeps the win."""
        parameters = programs.parameters_of_program(program)
        return self.pairs.differences(evaluate_all(self.interpreter, self.pairs.leaves, parameters))

    def fitted(self, shapes: Sequence[Shape], rest: Program = ()) -> tuple[Program, float]:
        """Return a program, and the wins that it may throw away, on a scale of their own.

        New terms measure `shapes`, each with two weights; the weights of the others, `rest`, keep their ratios. Terms
        that are the same after all moves get none; if there are no others, the program is empty, the worst.
        """
        columns = [self.values(rest)] if rest else []
        columns += [column for shape in shapes for column in _of_shape(self, shape)]
        loss, weights = _fit(np.array(columns), self.pairs.weights / self.pairs.weights.sum())
        scale, of_shapes = (weights[0], weights[1:]) if rest else (1.0, weights)
        terms = [(term.shape, float(scale * term.weight), float(scale * term.waiting)) for term in rest]
        terms += zip(shapes, *of_shapes.reshape(-1, 2).T.tolist(), strict=True)
        largest = max(abs(weight) for _, *weights in terms for weight in weights) or 1.0
        program = programs.tidy([Term(shape, weight / largest, waiting / largest) for shape, weight, waiting in terms])
        return program, loss * programs.estimated_cost(program) ** NODES_EXPONENT if program else math.inf


@cache
def ranking_of(size: Size) -> Ranking:
    """Return the pairs of the positions for training; see `parts_of`."""
    interpreter, train = programs.compiled_interpreter(size), programs.parts_of(size).train
    train = train.take(np.arange(0, len(train), RANKED))
    return Ranking(compare_moves(train, Limit(depth=1), interpreter, interpreter.parameters), interpreter)


@lru_cache(maxsize=_REMEMBERED)
def _of_shape(ranking: Ranking, shape: Shape) -> tuple[Floats, Floats]:
    """Return the values of a shape for the side to move, and for the waiting side."""
    return ranking.values((Term(shape, 1.0, 0.0),)), ranking.values((Term(shape, 0.0, 1.0),))


def _fit(columns: Floats, shares: Floats) -> tuple[float, Floats]:
    """Return the least logistic loss of pairs, and the weights of columns that have it, by Newton's method."""
    # Sums are of NumPy's own loops: a BLAS adds in another order for another number of threads.
    spread = np.sqrt(np.einsum("kq,kq,q->k", columns, columns, shares)) + 1e-9
    scaled = columns / spread[:, None]
    weights = np.zeros(len(scaled))
    for _ in range(_STEPS):
        right = expit(np.einsum("k,kq->q", weights, scaled))
        slope = np.einsum("kq,q->k", scaled, shares * (1 - right)) - 2 * _PRIOR * weights
        bend = np.einsum("kq,jq->kj", scaled * (shares * right * (1 - right)), scaled)
        weights = weights + np.linalg.solve(bend + 2 * _PRIOR * np.eye(len(scaled)), slope)
    loss = shares @ np.logaddexp(0.0, -np.einsum("k,kq->q", weights, scaled))
    return float(loss), weights / spread


CANDIDATES = 40
"""Programs tried in one climb."""
DEAREST = 60.0
"""Estimated nanoseconds a node of the dearest program tried."""
GROWN_TERMS, GROWN_FROM = 3, 10
"""Terms of a program to begin with, and random shapes from which ranking chooses each."""
DRAWN = 5
"""New terms from which ranking chooses one to be tried."""
_WEIGHTS, _WEIGHTS_OF_ONE = 0.45, 0.1
"""Share of candidates that change weights alone; of a single term only the ratio of its two matters."""
_REFITTED = 0.15
"""Share of the others whose weights are all fitted again."""
_SLACK = (0.003, 0.002, 0.0)
"""Share of wins by which a candidate may be behind after each stage of training."""


def grown(ranking: Ranking, generator: Generator) -> Program:
    """Return a program to begin with: one term after another, each the best of some random ones."""
    program: Program = ()
    for _ in range(GROWN_TERMS):
        shapes = [term.shape for term in program]
        fits = [ranking.fitted([*shapes, programs.random_shape(generator)]) for _ in range(GROWN_FROM)]
        program = min(fits, key=lambda fit: fit[1])[0]
    return program


def climb(program: Program, other: Program, parts: Parts, ranking: Ranking, generator: Generator) -> Found:
    """Try changes of a program, some by terms of another one; keep what is at least as good in training.

    A candidate that is behind after a stage is given up there. The result is a pure function of the arguments.
    """
    best, shares = program, _shares(program, parts) or []
    for _ in range(CANDIDATES):
        candidate = _changed(best, other, ranking, generator)
        if candidate in ((), best) or programs.estimated_cost(candidate) > DEAREST:
            continue
        if reached := _shares(candidate, parts, shares):
            best, shares = candidate, reached
    on_train, on_validation = (
        float(np.mean([kept(best, suite, nodes) for nodes in NODES])) for suite in (parts.train, parts.validation)
    )
    return Found(best, programs.estimated_cost(best), on_train, on_validation, CANDIDATES)


def _shares(program: Program, parts: Parts, to_reach: Sequence[float] = ()) -> list[float] | None:
    """Return the shares of wins kept in the positions of each stage and those before, or None if one is too small."""
    alone: list[float] = []
    shares: list[float] = []
    for number, stage in enumerate(parts.stages):
        alone.append(kept(program, stage, NODES[0]))
        shares.append(float(np.average(alone, weights=[len(each) for each in parts.stages[: number + 1]])))
        if to_reach and shares[-1] < to_reach[number] - _SLACK[number]:
            return None
    return shares


def _changed(program: Program, other: Program, ranking: Ranking, generator: Generator) -> Program:
    """Return a program with other weights, or with the new term that ranks moves best."""
    if generator.random() < (_WEIGHTS if len(program) > 1 else _WEIGHTS_OF_ONE):
        return programs.reweighted(generator, program)
    fits = []
    for _ in range(DRAWN):
        rest, shape = programs.with_room(generator, program, other)
        if generator.random() < _REFITTED:
            fits.append(ranking.fitted([*(term.shape for term in rest), shape]))
        else:
            fits.append(ranking.fitted([shape], rest))
    return min(fits, key=lambda fit: fit[1])[0]
