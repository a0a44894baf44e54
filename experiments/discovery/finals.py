"""The finals of a campaign: its best programs as files, and games at equal measured cost that choose the champion.

These games are of the openings for fitting, so that the champion has won nothing on those that judge it.

Strength over processor time is what a search had found after so many minutes, in such games: they choose nothing, and
the programs were chosen by solved positions alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

import numpy as np

from knights_isolation.isolation.files.atomic_write import make_folder, write_text
from knights_isolation.isolation.rules.game import Cost, Limit, Size

from ..plan import parse_spec
from ..plan.spec_parser import complete, named
from ..play.equal_cost import scaled_nodes, specs_at_equal_cost
from ..statistics.proportions import Floats
from ..studies.batches import playing, pool_of, prepare
from ..studies.cascade import check_question
from ..studies.evaluation import EvaluationTask
from ..suite.suite_file import shipped_suites
from .campaign import Campaign
from .programs import NODES, REFERENCE, Found, to_python

FINALISTS, CHOOSING_PAIRS, PLIES = 12, 1500, 4
"""Number of finalists, and the openings that each plays twice against the opponent at each of `NODES`."""
WON_BY_COST = 0.1
"""Share of games that an error in cost is worth, over the relative error: a tenth is worth a hundredth of the games."""
CEILING, CEILING_PAIRS = "BF:learned@nodes=10000", 250
"""A near-perfect player, and the openings that it plays twice."""
_AT_ONCE = 100


@dataclass(frozen=True)
class Finalist:
    """A program in a file, a node's measured cost over the opponent's, and the relative width of its interval, spread.

    `won` is the share of games won against the opponent, the mean over `NODES`, at equal cost on openings for fitting.
    """

    found: Found
    file: Path
    cost: float
    spread: float
    won: float

    @property
    def surely_won(self) -> float:
        """Share of games won if the cost is at the upper end of its interval."""
        return self.won - WON_BY_COST * self.spread / 2

    @property
    def spec(self) -> str:
        """Its agent, named like the file."""
        return spec_of_file(self.file)


@dataclass(frozen=True)
class Headroom:
    """What a near-perfect player wins against an opponent at so many nodes, and the opponent itself with twice as many.

    Both are shares of games from openings for fitting.
    """

    nodes: int
    ceiling: float
    doubled: float

    @property
    def nodes_for_a_point(self) -> float:
        """How many more nodes, as a share, win one per cent more of the games; infinite if more nodes gain nothing."""
        gain = 100 * self.doubled - 50
        return 2 ** (1 / gain) - 1 if gain > 0 else math.inf


def check_opponent(opponent: str, size: Size) -> None:
    """Check that programs can be judged against an opponent.

    Raises:
        ValueError: it is no search by a heuristic, it has a limit, or there are no solved positions of the board.
    """
    if str(size) not in shipped_suites():
        raise ValueError(f"no solved positions ship for {size}: choose one of {', '.join(shipped_suites())}")
    if parse_spec(opponent).limit:
        raise ValueError(f"{opponent}: leave out its limit; games are played at several")
    check_question(EvaluationTask("cost", opponent, size))


def spec_of_file(file: Path) -> str:
    """Return the spec of the search by a found function."""
    return f"{file.stem}=ID:{file}:score"


def write_found(found: Found, file: Path, judged: Sequence[str] = ()) -> None:
    """Write a program as Python with its evidence, and with what games and held-out positions said of it."""
    lines = [
        "Found by isolation discover.",
        "",
        f"Wins kept in solved positions, at {NODES[0]} and {NODES[1]:,} nodes of a program of {REFERENCE:g} ns a node:",
        f"{100 * found.train:.1f} % of those for training, {100 * found.validation:.1f} % of those for validation.",
        *judged,
        "",
    ]  # fmt: skip
    write_text(file, to_python(found.program, "\n    ".join(lines).replace("    \n", "\n")))


def _written(programs: Sequence[Found], path: Path) -> list[Path]:
    files = [path.with_name(f"{path.name}_{number}.py") for number in range(1, len(programs) + 1)]
    for found, file in zip(programs, files, strict=True):
        write_found(found, file)
    return files


def hold_finals(
    finalists: Sequence[Found], opponent: str, size: Size, out: Path, seed: int, jobs: int
) -> list[Finalist]:
    """Write the finalists to files, measure their costs, and let them play; return them, the champion first.

    Raises:
        ValueError: a cost cannot be measured.
    """
    files = _written(finalists, out / "found")
    costs, won = play_at_equal_cost(files, opponent, size, seed, jobs)
    held = [
        Finalist(found, file, cost.times, cost.spread, float(share))
        for found, file, cost, share in zip(finalists, files, costs, won.mean(axis=0), strict=True)
    ]
    return sorted(held, key=lambda finalist: -finalist.surely_won)


def play_at_equal_cost(
    files: Sequence[Path], opponent: str, size: Size, seed: int, jobs: int
) -> tuple[list[Cost], Floats]:
    """Return the costs of programs over an opponent, and the shares of games won, float64[NODES, programs].

    Raises:
        ValueError: a cost cannot be measured.
    """
    limit = Limit(nodes=NODES[-1])
    specs = [complete(named(parse_spec(text)), limit) for text in (opponent, *map(spec_of_file, files))]
    _, (_, *costs) = specs_at_equal_cost(specs, size)
    won = []
    for nodes in NODES:
        limits = [Limit(nodes=scaled_nodes(nodes, times)) for times in (1.0, *(cost.times for cost in costs))]
        baseline, *others = (str(replace(spec, limit=own)) for spec, own in zip(specs, limits, strict=True))
        won.append(_shares_won(others, baseline, size, seed, jobs, CHOOSING_PAIRS))
    return costs, np.array(won)


def measure_headroom(opponent: str, size: Size, seed: int, jobs: int) -> Headroom:
    """Let a near-perfect player, and the opponent with twice the nodes, play against the opponent."""
    nodes = NODES[-1]
    once, twice = (str(complete(named(parse_spec(opponent)), Limit(nodes=n))) for n in (nodes, 2 * nodes))
    strong = [str(complete(named(parse_spec(f"ceiling={CEILING}")))), f"twice={twice.partition('=')[2]}"]
    (ceiling,) = _shares_won(strong[:1], once, size, seed, jobs, CEILING_PAIRS)
    (doubled,) = _shares_won(strong[1:], once, size, seed, jobs, CHOOSING_PAIRS)
    return Headroom(nodes, ceiling, doubled)


def _shares_won(specs: Sequence[str], opponent: str, size: Size, seed: int, jobs: int, pairs: int) -> list[float]:
    """Return the shares of games that agents win against an opponent, all from the same openings for fitting."""
    prepare((opponent, *specs), size)
    pool = pool_of(size, PLIES, pairs, seed)
    batches = [
        pool.batch(len(specs) * start + index, spec, opponent, start, min(_AT_ONCE, len(pool) - start))
        for start in range(0, len(pool), _AT_ONCE)
        for index, spec in enumerate(specs)
    ]
    wins = [0] * len(specs)
    with playing(size, jobs, None) as play:
        for result in play(batches):
            wins[result.key % len(specs)] += result.wins
    return [won / (2 * len(pool)) for won in wins]


MINUTES = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0)
"""Processor minutes after which strength is measured; so it is at the end."""
YARDSTICK = "ID:territory"
FOLDER = "strength"


@dataclass(frozen=True)
class Strength:
    """What the best program won that was found within so many processor minutes of finished rounds.

    `cost` is that of a node, over the opponent's, and `won` the shares of `games` won at each of `NODES`.
    """

    minutes: float
    found: Found
    opponent: str
    cost: float
    won: tuple[float, ...]
    games: int = 2 * CHOOSING_PAIRS


def best_by_minutes(campaign: Campaign) -> dict[float, Found]:
    """Return the best programs of some times, by the processor minutes of the rounds until then."""
    best = {}
    for growth, later in zip_longest(campaign.growth, campaign.growth[1:]):
        minutes = growth.seconds / 60
        if later is None or any(minutes <= mark < later.seconds / 60 for mark in MINUTES):
            best[minutes] = growth.best
    return best


def measure_strength(campaign: Campaign, opponent: str, size: Size, out: Path, seed: int, jobs: int) -> list[Strength]:
    """Let the best program of each time play against the opponent and against `YARDSTICK`, at equal cost.

    The programs are written below `out`, the folder of the campaign.

    Raises:
        ValueError: a cost cannot be measured.
    """
    best = best_by_minutes(campaign)
    programs = list({found.program: found for found in best.values()}.values())
    make_folder(out / FOLDER)
    files, places = _written(programs, out / FOLDER / "best"), [found.program for found in programs]
    strengths = []
    for other in dict.fromkeys((opponent, YARDSTICK)):
        costs, won = play_at_equal_cost(files, other, size, seed, jobs)
        for minutes, found in best.items():
            place = places.index(found.program)
            strengths.append(Strength(minutes, found, other, costs[place].times, tuple(won[:, place].tolist())))
    return strengths
