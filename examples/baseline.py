"""Train a small network by Q-learning against itself, and draw its learning curve in regret against perfect play.

    python examples/baseline.py --minutes 4

It writes `baseline.npz`, the weights, and `baseline.svg`, the curve, into the current folder, from where the result
plays like any agent, with this file copied there: `isolation match policy:baseline:play random`.
"""

from __future__ import annotations

import argparse
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knights_isolation import VectorGames, agent_policy, solve_moves

SIDE, CELLS, HIDDEN, GAMES = 7, 49, 256, 256
WEIGHTS = Path("baseline.npz")
Network = dict[str, NDArray[np.float32]]


def new_network(rng: np.random.Generator) -> Network:
    """One hidden layer from the four planes of an observation to a value of each cell."""
    shapes = {"w1": (4 * CELLS, HIDDEN), "b1": (HIDDEN,), "w2": (HIDDEN, CELLS), "b2": (CELLS,)}
    scale = {"w1": 0.1, "w2": 0.01}
    return {
        name: (scale.get(name, 0) * rng.standard_normal(shape)).astype(np.float32) for name, shape in shapes.items()
    }


def values(network: Network, inputs: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The hidden layer, and the value of every cell to the side to move: 1 for a won game, -1 for a lost one."""
    hidden = np.maximum(inputs @ network["w1"] + network["b1"], 0)
    return hidden, np.tanh(hidden @ network["w2"] + network["b2"])


def best(q: NDArray[Any], masks: NDArray[Any]) -> NDArray[np.int64]:
    """The legal cell of the highest value."""
    return np.where(masks, q, -np.inf).argmax(axis=1)


def decide(network: Network, observations: NDArray[Any], masks: NDArray[Any]) -> NDArray[np.int64]:
    """The best legal cell by the mean value over the eight symmetries of the board."""
    total = np.zeros((len(masks), SIDE, SIDE), np.float32)
    for turns in range(4):
        for flip in (1, -1):
            seen = np.rot90(observations, turns, axes=(2, 3))[..., ::flip]
            q = values(network, seen.reshape(len(masks), -1).astype(np.float32))[1].reshape(-1, SIDE, SIDE)
            total += np.rot90(q[..., ::flip], -turns, axes=(1, 2))
    return best(total.reshape(len(masks), -1), masks)


def play(observations: NDArray[Any], masks: NDArray[Any]) -> NDArray[np.int64]:
    """The policy of the trained network, for `policy:baseline:play`."""
    return decide(trained(), observations, masks)


@cache
def trained() -> Network:
    """The weights that training has written beside this file, or in the current folder."""
    beside = Path(__file__).with_name(WEIGHTS.name)
    return dict(np.load(beside if beside.is_file() else WEIGHTS))


class Adam:
    """Gradient descent with moments (Kingma & Ba 2015)."""

    def __init__(self, network: Network, rate: float) -> None:
        self._network, self._rate, self._steps = network, rate, 0
        self._mean = {name: np.zeros_like(weights) for name, weights in network.items()}
        self._square = {name: np.zeros_like(weights) for name, weights in network.items()}

    def step(self, gradients: Network) -> None:
        """Move all weights against their gradients."""
        self._steps += 1
        rate = self._rate * np.sqrt(1 - 0.999**self._steps) / (1 - 0.9**self._steps)
        for name, gradient in gradients.items():
            mean, square = self._mean[name], self._square[name]
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient * gradient - square)
            self._network[name] -= (rate * mean / (np.sqrt(square) + 1e-8)).astype(np.float32)


def gradients(network: Network, inputs: Any, hidden: Any, q: Any, cells: Any, targets: Any) -> Network:
    """Of half the mean squared error of the cells that were played."""
    rows = np.arange(len(cells))
    error = np.zeros_like(q)
    error[rows, cells] = (q[rows, cells] - targets) * (1 - q[rows, cells] ** 2) / len(cells)
    below = (error @ network["w2"].T) * (hidden > 0)
    return {"w1": inputs.T @ below, "b1": below.sum(axis=0), "w2": hidden.T @ error, "b2": error.sum(axis=0)}


class Exam:
    """Won positions of random games in which a move can throw the win away, and the share of wins thrown away."""

    def __init__(self, rng: np.random.Generator, size: str = "7x7", positions: int = 2000, first_ply: int = 12) -> None:
        games, observations, solved, self._keeps = VectorGames(GAMES, size), [], 0, []
        while solved < positions:
            masks = games.mask()
            chosen = np.flatnonzero((games.plies >= first_ply) & (rng.random(GAMES) < 0.1))
            if len(chosen):
                winning = solve_moves(games.states(chosen)).winning
                keeps = np.unpackbits(winning.view(np.uint8), axis=1, count=masks.shape[1], bitorder="little") > 0
                telling = keeps.any(axis=1) & (keeps.sum(axis=1) < masks[chosen].sum(axis=1))
                observations.append(games.observations[chosen[telling]])
                self._keeps.append(keeps[telling])
                solved += int(telling.sum())
            games.step(best(rng.random(masks.shape), masks))
        self.observations, self.keeps = np.concatenate(observations), np.concatenate(self._keeps)
        self.masks = self.observations[:, 3].reshape(len(self.keeps), -1)

    def regret(self, cells: NDArray[np.int64]) -> float:
        """Mean regret of one move in each position."""
        return float(1 - self.keeps[np.arange(len(cells)), cells].mean())

    def of_random_moves(self) -> float:
        """The regret to be expected of random moves."""
        return float(1 - (self.keeps.sum(axis=1) / self.masks.sum(axis=1)).mean())


def train(minutes: float, exam: Exam, rng: np.random.Generator) -> tuple[Network, list[tuple[float, float]]]:
    """Play against itself with random moves mixed in; return the network and its regret by millions of moves."""
    network, games = new_network(rng), VectorGames(GAMES)
    adam, curve, moves, until = Adam(network, 1e-3), [], 0, time.monotonic() + 60 * minutes
    next_exam, inputs = 0, games.observations.reshape(GAMES, -1).astype(np.float32)
    hidden, q = values(network, inputs)
    while time.monotonic() < until:
        if moves >= next_exam:
            curve.append((moves / 1e6, exam.regret(decide(network, exam.observations, exam.masks))))
            next_exam = 1.25 * moves + 20_000
        masks = games.mask()
        explores = rng.random(GAMES) < 0.1
        cells = np.where(explores, best(rng.random(masks.shape, np.float32), masks), best(q, masks))
        done = games.step(cells)
        next_inputs = games.observations.reshape(GAMES, -1).astype(np.float32)
        next_hidden, next_q = values(network, next_inputs)
        # What is best for the opponent is worst for the player who has moved.
        targets = np.where(done, 1, -np.where(games.mask(), next_q, -np.inf).max(axis=1))
        adam.step(gradients(network, inputs, hidden, q, cells, targets))
        inputs, hidden, q, moves = next_inputs, next_hidden, next_q, moves + GAMES
    curve.append((moves / 1e6, exam.regret(decide(network, exam.observations, exam.masks))))
    return network, curve


def draw(name: str, curve: list[tuple[float, float]], others: dict[str, float], file: Path) -> None:
    """Draw a learning curve, with other players' regret as lines."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    axes.plot(*zip(*curve[1:], strict=True), color="C0", marker=".", label=name)
    for number, (other, regret) in enumerate(others.items(), start=1):
        axes.axhline(regret, color=f"C{number}", linestyle="--", label=other)
    axes.set(xscale="log", ylim=(0, None), xlabel="million moves of training", ylabel="wins thrown away a move")
    axes.legend(frameon=False, loc="lower left")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file)


def main() -> None:
    """Train, save the weights and draw the curve."""
    parser = argparse.ArgumentParser(description="Train a small network on 7x7, and draw its regret.")
    parser.add_argument("--minutes", type=float, default=4.0)
    minutes = parser.parse_args().minutes
    rng = np.random.default_rng(1)
    exam = Exam(rng)
    others = {"random": exam.of_random_moves()}
    others |= {spec: exam.regret(agent_policy(spec)(exam.observations)) for spec in ("greedy", "ID:improved@depth=3")}
    network, curve = train(minutes, exam, rng)
    np.savez_compressed(WEIGHTS, allow_pickle=False, **network)
    draw("the network", curve, others, WEIGHTS.with_suffix(".svg"))
    print(f"{curve[-1][0]:.1f} million moves; wins thrown away in {len(exam.masks)} positions:")
    for name, regret in {"before training": curve[0][1], "the network": curve[-1][1], **others}.items():
        print(f"{name:>20} {100 * regret:5.1f} %")


if __name__ == "__main__":
    main()
