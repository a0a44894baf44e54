"""Strength over processor time: what a search had found after so many minutes, in games at equal cost.

These games are of the openings for fitting and choose nothing; the programs were chosen by solved positions alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from experiments.discovery.archive import Archive
from experiments.discovery.campaign import Campaign
from experiments.discovery.finals import CHOOSING_PAIRS, play_at_equal_cost, spec_of_file, write_found
from experiments.discovery.kept_wins import Found
from isolation.files.atomic_write import make_folder

MINUTES = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0)
"""Processor minutes after which strength is measured; so it is at the end."""
YARDSTICK = "ID:territory"
FOLDER = "strength"


@dataclass(frozen=True)
class Strength:
    """What the best program won that was found within so many processor minutes.

    Attributes:
        minutes: of the rounds until then.
        found: the program that kept the most wins in all positions of `fit`.
        opponent: spec of the agent that it played against.
        cost: of a node, over the opponent's.
        won: share of games won at each of `NODES`, each of `games`.
    """

    minutes: float
    found: Found
    opponent: str
    cost: float
    won: tuple[float, ...]
    games: int = 2 * CHOOSING_PAIRS


def best_by_minutes(campaign: Campaign) -> dict[float, Found]:
    """Return the best programs of some times, by the processor minutes of the rounds until then."""
    archive, best = Archive(), {}
    for number, growth in enumerate(campaign.growth):
        for climb in sorted(climb for climb in campaign.searched if climb[0] == number):
            archive.add(campaign.searched[climb][0])
        minutes = growth.seconds / 60
        is_last = number + 1 == len(campaign.growth)
        if is_last or any(minutes <= mark < campaign.growth[number + 1].seconds / 60 for mark in MINUTES):
            best[minutes] = archive.all[0]
    return best


def measure_strength(campaign: Campaign, opponent: str, size: str, out: Path, seed: int, jobs: int) -> list[Strength]:
    """Let the best program of each time play against the opponent and against `YARDSTICK`, at equal cost.

    Args:
        opponent: spec of a search by a heuristic, without a limit.
        out: folder of the campaign; the programs are written below it.

    Raises:
        ValueError: a cost cannot be measured.
    """
    best = best_by_minutes(campaign)
    programs = list({found.program: found for found in best.values()}.values())
    files = [out / FOLDER / f"best_{number}.py" for number in range(1, len(programs) + 1)]
    make_folder(out / FOLDER)
    for found, file in zip(programs, files, strict=True):
        write_found(found, file)
    places = {found.program: place for place, found in enumerate(programs)}
    strengths = []
    for other in dict.fromkeys((opponent, YARDSTICK)):
        costs, won = play_at_equal_cost([spec_of_file(file) for file in files], other, size, seed, jobs)
        for minutes, found in best.items():
            place = places[found.program]
            shares = tuple(won[:, place].tolist())
            strengths.append(Strength(minutes, found, other, costs[place].times, shares))
    return strengths
