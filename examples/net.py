"""Train a net of 16 hidden units on solved positions, write it as a heuristic, and play it against ID_Improved.

    OPENBLAS_NUM_THREADS=1 python examples/net.py my_net.py    a minute; with threads of BLAS it takes longer
    python examples/net.py my_net.py --rounds 1 --pairs 10     a quick look

The suite of 7x7 says of every move whether it keeps the win. Positions to learn from are those that short searches
expect after these moves, since that is where a search asks a heuristic. The net learns who wins them, by logistic
regression with Adam (Kingma & Ba 2015), each batch under another of the board's eight symmetries.
"""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from knights_isolation import heuristics
from knights_isolation.command_line.main import main as isolation
from knights_isolation.experiments import read_suite
from knights_isolation.experiments.studies.pairwise_fit import compare_moves
from knights_isolation.isolation import Limit
from knights_isolation.isolation.compiling.compile_heuristic import compile_heuristic

Floats = NDArray[np.float32]

SIDE, CELLS = 7, 49
DEPTHS = (1, 2, 3, 4, 5)
BATCH = 512
RATE, DECAY = 3e-3, 1e-4


def positions() -> tuple[Floats, Floats]:
    """Return inputs, [n, 3, cells], and for each position 1 if its side to move wins, else -1."""
    suite, improved = read_suite("7x7", "fit"), compile_heuristic(heuristics.get("improved"))
    inputs, outcomes = [], []
    for depth in DEPTHS:
        moves = compare_moves(suite, Limit(depth=depth), improved, improved.parameters)
        blank, _, cell_1, cell_2, turn, mover = moves.leaves.columns
        own, other = np.where(turn == 0, cell_1, cell_2), np.where(turn == 0, cell_2, cell_1)
        at = np.eye(CELLS)
        bits = blank[:, None] >> np.arange(CELLS, dtype=np.uint64) & np.uint64(1)
        inputs.append(np.stack([bits, at[own], at[other]], axis=1).astype(np.float32))
        outcomes.append(np.where(moves.keeps == (turn == mover), 1, -1).astype(np.float32))
    return np.concatenate(inputs), np.concatenate(outcomes)


def trained(inputs: Floats, outcomes: Floats, units: int, rounds: int, seed: int = 1) -> list[Floats]:
    """Return hidden weights, hidden bias and output weights after so many rounds over all positions."""
    random = np.random.default_rng(seed)
    grid = np.arange(CELLS).reshape(SIDE, SIDE)
    symmetries = [np.rot90(turned, quarter).ravel() for turned in (grid, grid.T) for quarter in range(4)]
    shapes = {(3 * CELLS, units): 0.1, (units,): 0.3}
    hidden, output = (random.normal(0, scale, shape).astype(np.float32) for shape, scale in shapes.items())
    weights = [hidden, np.zeros(units, np.float32), output]
    mean, square = ([np.zeros_like(part) for part in weights] for _ in range(2))
    steps = rounds * (len(outcomes) // BATCH)
    rows = np.concatenate([random.permutation(len(outcomes))[: steps // rounds * BATCH] for _ in range(rounds)])
    for step, batch in enumerate(rows.reshape(steps, BATCH), start=1):
        seen = inputs[batch][:, :, symmetries[random.integers(8)]].reshape(BATCH, -1)
        gradients = slopes(weights, seen, outcomes[batch])
        rate = RATE * (1 - step / (steps + 1))
        for part, gradient, first, second in zip(weights, gradients, mean, square, strict=True):
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient**2 - second)
            change = first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
            part -= rate * (change + DECAY * part)
    return weights


def slopes(weights: list[Floats], inputs: Floats, outcomes: Floats) -> list[Floats]:
    """Return the derivatives of the mean logistic loss by the weights."""
    hidden_weights, bias, output = weights
    units = np.maximum(inputs @ hidden_weights + bias, 0)
    slope = -outcomes / (1 + np.exp(outcomes * (units @ output))) / len(outcomes)
    of_units = np.outer(slope, output) * (units > 0)
    return [inputs.T @ of_units, of_units.sum(axis=0), units.T @ slope]


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--units", default=16, help="Hidden units.")
@click.option("--rounds", default=60, help="Rounds over all positions.")
@click.option("--pairs", default=500, help="Pairs of games to play.")
def main(file: Path, units: int, rounds: int, pairs: int) -> None:
    """Train a net, write it to FILE, and play it."""
    inputs, outcomes = positions()
    learned = trained(inputs, outcomes, units, rounds)
    parts = ", ".join(str(part.astype(float).round(4).tolist()) for part in learned)
    file.write_text(f"from knights_isolation.isolation import Net\n\nscore = Net({parts})\n", encoding="utf-8")
    click.echo(f"Learned from {len(outcomes):,} positions; wrote {file}")
    isolation(["match", f"ID:{file}:score@nodes=1000", "ID:improved@nodes=1000", "--pairs", str(pairs)])


if __name__ == "__main__":
    main()
