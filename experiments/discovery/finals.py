"""The finals of a campaign: its best programs as files, and games at equal measured cost that choose the champion.

These games are of the openings for fitting, so that the champion has won nothing on those that judge it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.discovery.kept_wins import NODES, REFERENCE, Found
from experiments.discovery.printing import to_python
from experiments.learn.tuning_games import playing, pool_of, prepare
from experiments.play.pools.equal_cost_limits import specs_at_equal_cost
from experiments.roster import parse_limit, parse_spec
from experiments.roster.spec_parser import complete, named
from isolation.files.atomic_write import write_text

FINALISTS, CHOOSING_PAIRS, PLIES = 5, 1000, 4
_AT_ONCE = 100


@dataclass(frozen=True)
class Finalist:
    """A program in a file.

    Attributes:
        found: the program.
        file: where it is.
        cost: measured processor time a node, over the opponent's.
        is_steady: whether the measurements of the cost agree.
        won: share of games won against the opponent, at equal cost on openings for fitting.
    """

    found: Found
    file: Path
    cost: float
    is_steady: bool
    won: float

    @property
    def spec(self) -> str:
        """Its agent, named like the file."""
        return spec_of_file(self.file)


def spec_of_file(file: Path) -> str:
    """Return the spec of the search by a found function."""
    return f"{file.stem}=ID:{file}:score"


def write_found(found: Found, file: Path, judged: Sequence[str] = ()) -> None:
    """Write a program as Python with its evidence, and with what games and held-out positions said of it."""
    lines = [
        "Found by isolation discover.",
        "",
        f"Wins kept in solved positions, at {NODES[0]} and {NODES[1]:,} nodes of a program of {REFERENCE:g} ns a node:",
        f"{100 * found.train:.1f} % of those it was chosen by, {100 * found.validation:.1f} % of those for validation.",
        *judged,
        "",
    ]  # fmt: skip
    write_text(file, to_python(found.program, "\n    ".join(lines).replace("    \n", "\n")))


def hold_finals(
    finalists: Sequence[Found], opponent: str, size: str, out: Path, seed: int, jobs: int
) -> list[Finalist]:
    """Write the finalists to files, measure their costs, and let them play; return them, the champion first.

    Args:
        opponent: spec of a search by a heuristic, without a limit.

    Raises:
        ValueError: a cost cannot be measured.
    """
    files = [out / f"found_{number}.py" for number in range(1, len(finalists) + 1)]
    for found, file in zip(finalists, files, strict=True):
        write_found(found, file)
    limit = parse_limit(f"nodes={NODES[-1]}")
    specs = [complete(named(parse_spec(text)), limit) for text in (opponent, *map(spec_of_file, files))]
    (baseline, *others), (_, *costs) = specs_at_equal_cost(specs, size)
    prepare([str(spec) for spec in (baseline, *others)], size)
    won = _shares_won([str(spec) for spec in others], str(baseline), size, seed, jobs)
    held = [
        Finalist(found, file, cost.times, cost.is_steady, share)
        for found, file, cost, share in zip(finalists, files, costs, won, strict=True)
    ]
    return sorted(held, key=lambda finalist: -finalist.won)


def _shares_won(specs: Sequence[str], opponent: str, size: str, seed: int, jobs: int) -> list[float]:
    """Return the shares of games that agents win against an opponent, all from the same openings for fitting."""
    pool = pool_of(size, PLIES, CHOOSING_PAIRS, seed)
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
