"""Learn a table of values on 5x5 against itself, draw its learning curve in regret, and play a small gauntlet.

    python examples/tabular.py --moves 6000000

A position is looked up by the knights' cells and the blank cells around them, the same for symmetric ones: 5x5 has too
many positions to visit each. The script writes `tabular.npz`, the table, and `tabular.svg`, the curve, into the current
folder, and plays as the policy `policy:tabular:play`.
"""

from __future__ import annotations

import argparse
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from baseline import Exam, best, draw
from numpy.typing import NDArray

from knights_isolation import VectorGames, agent_policy, tournament

SIZE, SIDE, CELLS, GAMES = "5x5", 5, 25, 256
SLOTS, RATE, EXPLORES = 22, 0.1, 0.2
OPPONENTS = ("random", "greedy", "MM:open@depth=2", "ID:improved@depth=3")
FILE = Path("tabular.npz")
LOW = 13
_GRID = np.arange(CELLS).reshape(SIDE, SIDE)
SYMMETRIES = [np.rot90(grid, turns).ravel() for grid in (_GRID, _GRID[:, ::-1]) for turns in range(4)]
Values = NDArray[np.float32]


def _moved_bits(symmetry: NDArray[np.int64], first: int, count: int) -> NDArray[np.int64]:
    """Where a symmetry puts each set of the cells `first` to `first + count - 1`."""
    sets = np.arange(1 << count)
    return sum((sets >> cell & 1) << symmetry[first + cell] for cell in range(count))  # type: ignore[return-value]


MOVED = [
    (_moved_bits(each, 0, LOW), _moved_bits(each, LOW, CELLS - LOW), np.append(each, CELLS)) for each in SYMMETRIES
]


def _nearby(moves: int) -> NDArray[np.int64]:
    """By cell, what a knight there reaches within so many moves; nothing for one that is not placed."""
    rows, columns = np.divmod(np.arange(CELLS), SIDE)
    jumps = np.abs(rows[:, None] - rows) * np.abs(columns[:, None] - columns) == 2
    within = np.linalg.matrix_power(jumps + np.eye(CELLS, dtype=int), moves) > 0
    return np.append(within @ (1 << np.arange(CELLS)), 0)


NEAR, FAR = _nearby(1), _nearby(2)


def slots(blank: NDArray[np.int64], knight: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """The slots in the table of positions that moves lead to.

    Args:
        blank: their blank cells, bit i for cell i.
        knight: of the player who has moved; the cells one move away from it count.
        other: of the player to move, 25 if it is not placed; the cells up to two moves away from it count.
    """
    seen = blank & (NEAR[knight] | FAR[other])
    low, high = seen & ((1 << LOW) - 1), seen >> LOW
    keys = [lows[low] | highs[high] | cells[knight] << 25 | cells[other] << 30 for lows, highs, cells in MOVED]
    mixed = np.min(keys, axis=0).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return (mixed >> np.uint64(64 - SLOTS)).astype(np.int64)


def moves_of(observations: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """All legal moves of some positions: the position, the cell, and the slot of the position it leads to."""
    planes = observations.reshape(len(observations), 4, CELLS)
    positions, cells = np.nonzero(planes[:, 3])
    blank = planes[:, 0] @ (1 << np.arange(CELLS))
    other = np.where(planes[:, 2].any(axis=1), planes[:, 2].argmax(axis=1), CELLS)
    return positions, cells, slots(blank[positions] & ~(1 << cells), cells, other[positions])


def values(table: Values, observations: NDArray[np.bool_]) -> tuple[Values, NDArray[np.int64]]:
    """The value of each cell to the side to move, -inf if it is not legal, and its slot."""
    positions, cells, found = moves_of(observations)
    q, where = np.full((len(observations), CELLS), -np.inf, np.float32), np.zeros((len(observations), CELLS), np.int64)
    q[positions, cells], where[positions, cells] = table[found], found
    return q, where


def play(observations: NDArray[np.bool_], masks: NDArray[Any]) -> NDArray[np.int64]:
    """The policy of the table, for `policy:tabular:play`."""
    return values(trained(), observations)[0].argmax(axis=1)


@cache
def trained() -> Values:
    """The table that learning has written into the current folder, or beside this file."""
    table = np.zeros(1 << SLOTS, np.float32)
    with np.load(FILE if FILE.is_file() else Path(__file__).with_name(FILE.name)) as kept:
        table[kept["slots"]] = kept["values"]
    return table


def learn(moves: int, exam: Exam, rng: np.random.Generator) -> tuple[Values, list[tuple[float, float]]]:
    """Play against itself with random moves mixed in; return the table and its regret by millions of moves.

    A position's value to the player who has moved is minus the best value of the opponent's moves, 1 if there is none.
    """
    table, games = np.zeros(1 << SLOTS, np.float32), VectorGames(GAMES, SIZE)
    curve, next_exam, rows = [], 0, np.arange(GAMES)
    q, where = values(table, games.observations)
    for played in range(0, moves, GAMES):
        if played >= next_exam:
            curve.append((played / 1e6, exam.regret(values(table, exam.observations)[0].argmax(axis=1))))
            next_exam = 1.25 * played + 20_000
        masks = games.mask()
        explores = (rng.random(GAMES) < EXPLORES) | (games.plies < 2)
        noise = rng.random(masks.shape, np.float32)  # breaks ties
        cells = np.where(explores, best(noise, masks), (q + 1e-3 * noise).argmax(axis=1))
        done, learnt = games.step(cells), where[rows, cells]
        q, where = values(table, games.observations)
        table[learnt] += RATE * (np.where(done, 1, -q.max(axis=1)) - table[learnt])
    curve.append((moves / 1e6, exam.regret(values(table, exam.observations)[0].argmax(axis=1))))
    return table, curve


def main() -> None:
    """Learn, save the table, draw the curve, and play."""
    parser = argparse.ArgumentParser(description="Learn a table of values on 5x5, draw its regret, and let it play.")
    parser.add_argument("--moves", type=int, default=6_000_000)
    parser.add_argument("--pairs", type=int, default=100, help="Openings against each opponent, both sides.")
    asked = parser.parse_args()
    rng = np.random.default_rng(1)
    exam = Exam(rng, SIZE, first_ply=4)
    others = {"random": exam.of_random_moves()}
    others |= {spec: exam.regret(agent_policy(spec)(exam.observations)) for spec in ("greedy", "ID:improved@depth=3")}
    table, curve = learn(asked.moves, exam, rng)
    known = np.flatnonzero(table)
    np.savez_compressed(FILE, allow_pickle=False, slots=known, values=table[known])
    draw("the table", curve, others, FILE.with_suffix(".svg"))
    print(f"{len(known):,} values; wins thrown away in {len(exam.masks)} positions:")
    for name, regret in {"before learning": curve[0][1], "the table": curve[-1][1], **others}.items():
        print(f"{name:>20} {100 * regret:5.1f} %")
    played = tournament(
        "policy:tabular:play", baseline="greedy", opponents=OPPONENTS, board=SIZE, pairs=asked.pairs, out="tabular"
    )
    print(played.to_frame().to_string())


if __name__ == "__main__":
    main()
