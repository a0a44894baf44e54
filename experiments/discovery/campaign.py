"""A campaign: rounds of climbs from programs of the archive, and a journal that is the only state.

The climbs of a round follow from the seed and from the archive before it, so the same seed gives the same campaign
for any number of processes, interrupted or not; a longer budget continues a shorter one.
"""

from __future__ import annotations

import time
from bisect import bisect
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from knights_isolation.isolation.rules.geometry import parse_size

from ..play.parallel_map import Spread, parallel_mapper
from ..record.checked_lines import append_lines, open_journal
from .climbing import climb, grown, ranking_of
from .kept_wins import Found, compiled_interpreter, parts_of
from .programs import Program, Shape, from_json, structure, to_json

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
            best.setdefault(structure(each.program), each)
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
    """What is searched for: the board, the seed, and whether labels are exchanged at random, as a control."""

    size: str = "7x7"
    seed: int = 1
    is_shuffled: bool = False


@dataclass(frozen=True)
class Growth:
    """The archive after a round: processor seconds, candidates, the wins that the best program keeps in training
    and in validation."""

    round: int
    seconds: float
    candidates: int
    train: float
    validation: float


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

    Args:
        rounds: at most so many rounds.
        show: called after each round that the journal did not have whole.

    Raises:
        ValueError: no suite ships for the board, or the journal is of another question or damaged.
        ChildProcessError: a process of the search died.
    """
    heading = {"what": "discovery", "version": _VERSION, **asdict(question)}
    campaign = Campaign(searched=dict(open_journal(journal, heading, _read)))
    compiled_interpreter(parse_size(question.size))  # once, before other processes want it
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
    best = archive.all[0]
    campaign.growth.append(Growth(number + 1, campaign.seconds, campaign.candidates, best.train, best.validation))


def _pairs(question: SearchTask, archive: Archive, number: int) -> Iterator[tuple[Program, Program]]:
    """Yield the programs where the climbs of a round begin, each with one to take terms from; empty ones are grown."""
    for index in range(CLIMBS):
        generator = np.random.default_rng([question.seed, number, index])
        if len(archive) < CLIMBS or generator.random() < RANDOM:
            yield (), ()
        else:
            yield archive.pick(generator).program, archive.pick(generator).program


def _climb(question: SearchTask, number: int, index: int, program: list[Any], other: list[Any]) -> dict[str, Any]:
    parts = parts_of(question.size, question.is_shuffled)
    ranking = ranking_of(question.size, question.is_shuffled)  # made before the clock starts
    started = time.process_time()
    generator = np.random.default_rng([question.seed, number, index, 1])
    start = from_json(program) or grown(ranking, generator)
    found = climb(start, from_json(other) or start, parts, ranking, generator)
    seconds = round(time.process_time() - started, 2)
    return {"round": number, "index": index, "seconds": seconds, **asdict(found), "program": to_json(found.program)}


def _read(line: dict[str, Any]) -> tuple[tuple[int, int], tuple[Found, float]]:
    numbers = (line[name] for name in ("cost", "train", "validation", "candidates"))
    return (line["round"], line["index"]), (Found(from_json(line["program"]), *numbers), line["seconds"])
