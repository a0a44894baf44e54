"""Compare the solver's results with those of the C++ comparator, which has another search and shares no code.

    python benchmarks/check_solved.py 8x8                  a sample of the shipped table
    python benchmarks/check_solved.py 8x8 FILE             of the finished part of a file by `perfect solve --all`

A class of openings of 8x8 takes the comparator some 15 seconds of CPU time.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
from itertools import permutations
from pathlib import Path

import click

from knights_isolation.experiments.exact.board_solving import read_pairs, shipped_pairs
from knights_isolation.isolation import Board
from knights_isolation.isolation.rules.game import Size, parse_size
from knights_isolation.isolation.rules.geometry import canonical_opening, cell_name
from knights_isolation.isolation.search.solver import is_mirrored

SOLVER = Path(__file__).parent / "comparators" / "solver.cpp"


@click.command()
@click.argument("board")
@click.argument("file", required=False, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--sample", type=click.IntRange(min=1), default=12, show_default=True, help="So many classes of openings."
)
@click.option("--seed", default=1, show_default=True)
def main(board: str, file: Path | None, sample: int, seed: int) -> None:
    """Check the winners of a sample of openings, except those decided by symmetry, with a second solver."""
    try:
        size = parse_size(board)
        winners = read_pairs(file, size) if file else shipped_pairs(size)
    except ValueError as error:
        sys.exit(str(error))
    known = [opening for opening in undecided_classes(size) if winners[opening]]
    chosen = random.Random(seed).sample(known, min(sample, len(known)))
    result = winners_by_comparator(size, chosen)
    for opening, winner in zip(chosen, result, strict=True):
        ours = int(winners[opening])
        text = "–".join(cell_name(cell, size.columns) for cell in opening)
        click.echo(f"{text}: player {winner}" + ("" if ours == winner else f", and here player {ours}"))
    wrong = sum(int(winners[opening]) != winner for opening, winner in zip(chosen, result, strict=True))
    click.echo(f"{len(chosen) - wrong} of {len(chosen)} agree, of {len(known)} classes that are solved")
    sys.exit(bool(wrong))


def undecided_classes(size: Size) -> list[tuple[int, ...]]:
    """Return the first opening of each class, except those lost because the other side can mirror every move."""
    rows, columns = size
    classes = dict.fromkeys(canonical_opening(pair, rows, columns) for pair in permutations(range(rows * columns), 2))
    return [opening for opening in classes if not is_mirrored(Board.from_moves(opening, size))]


def winners_by_comparator(size: Size, openings: list[tuple[int, ...]]) -> list[int]:
    """Return the winner of each opening by the C++ solver."""
    compiler = next(filter(None, map(shutil.which, ("g++", "clang++"))), None)
    if compiler is None:
        sys.exit("there is no C++ compiler here")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "solver"
        options = ["-O3", "-march=native", "-std=c++20", "-DBOARD={},{}".format(*size)]
        subprocess.run([compiler, *options, SOLVER, "-o", program], check=True)
        text = "\n".join(f"{first} {second}" for first, second in openings)
        out = subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout
    return [int(line) for line in out.splitlines()[: len(openings)]]


if __name__ == "__main__":
    main()
