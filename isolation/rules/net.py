"""Small nets as heuristics: their values, down to the order of every sum.

Compiled code adds up the same rows in the same order; see `isolation.native.runtime.nets`.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

GROUP = 7
"""Number of cells whose weights are added up in advance, for every set of blank cells among them."""
MOST_UNITS = 64
_FEWEST_UNITS = 8
"""To which fewer are filled up."""


class Net:
    """A heuristic with learned weights: a net with one hidden layer of ReLUs and one output.

    Its inputs are zeros and ones, one for each cell (row-major), three times over: the blank cells, the cell of the
    side to move, the cell of the waiting side. A side that has not been placed has no cell. The output is the value for
    the side to move, and its negative the value for the other.

    Floats are added in this order. To a hidden unit's bias: the weight of the cell of the side to move, that of the
    other's cell, then, for each seven cells (row-major), the sum of the weights of those that are blank, which starts
    from 0. The units times their output weights, filled up with zeros to a power of two, are halved until one number
    remains: the second half is added to the first. The output's bias comes last.

    Attributes:
        cells: number of cells of the boards it is for.
        units: number of hidden units, filled up to a power of two.
        rows: float64[n, units]: for each group the sums of all sets of its cells, in the order of the sets as binary
            numbers; then the weights of the side to move's cells, from row `own` on; then those of the other's.
        bias, output: float64[units].
        output_bias: a float.
        text: all weights, the same for the same weights.
    """

    def __init__(
        self, hidden_weights: ArrayLike, hidden_bias: ArrayLike, output_weights: ArrayLike, output_bias: float = 0.0
    ) -> None:
        """Make a net of copies of its weights: [3 * cells, units], with at most `MOST_UNITS` units, and twice [units].

        Raises:
            ValueError: the shapes do not match, or a weight is not a finite number.
        """
        weights, bias, output = (np.array(part, np.float64) for part in (hidden_weights, hidden_bias, output_weights))
        if weights.ndim != 2 or not weights.size or len(weights) % 3 or weights.shape[1] > MOST_UNITS:
            raise ValueError(f"hidden_weights must be [3 * cells, 1 to {MOST_UNITS} units], not {[*weights.shape]}")
        units = weights.shape[1]
        if bias.shape != (units,) or output.shape != (units,):
            given = f"{[*bias.shape]} and {[*output.shape]}"
            raise ValueError(f"hidden_bias and output_weights must be [{units}], not {given}")
        self.output_bias = float(output_bias)
        numbers = np.concatenate([*weights, bias, output, [self.output_bias]])
        if not np.isfinite(numbers).all():
            raise ValueError("all weights must be finite numbers")
        self.text = f"{units} {numbers.tobytes().hex()}"
        self.cells = len(weights) // 3
        self.units = max(_FEWEST_UNITS, 1 << (units - 1).bit_length())
        filling = (0, self.units - units)
        self.bias, self.output = np.pad(bias, filling), np.pad(output, filling)
        weights = np.pad(weights, ((0, 0), filling))
        groups = [_sums(weights[first : min(first + GROUP, self.cells)]) for first in range(0, self.cells, GROUP)]
        self.own = sum(map(len, groups))
        self.rows = np.concatenate([*groups, weights[self.cells :]])

    @classmethod
    def of_text(cls, text: str) -> Self:
        """Return the net with this `text`."""
        units, _, numbers = text.partition(" ")
        width = int(units)
        weights, bias, output, last = np.split(np.frombuffer(bytes.fromhex(numbers)), [-2 * width - 1, -width - 1, -1])
        return cls(weights.reshape(-1, width), bias, output, last[0])

    def __call__(self, game: Any, player: Any) -> float:
        """Return the value of a position to a player. Raises ValueError if the board has another number of cells."""
        if game.width * game.height != self.cells:
            raise ValueError(f"this net is for boards of {self.cells} cells, not {game.width * game.height}")
        hidden = self.bias
        for first, mover in ((self.own, game.active_player), (self.own + self.cells, game.inactive_player)):
            place = game.get_player_location(mover)
            if place is not None:
                hidden = hidden + self.rows[first + place[0] * game.width + place[1]]
        blank = sum(1 << row * game.width + column for row, column in game.get_blank_spaces())
        for group in range(-(-self.cells // GROUP)):
            chosen = blank >> group * GROUP & (1 << GROUP) - 1
            hidden = hidden + self.rows[(group << GROUP) + chosen]
        total = np.where(hidden > 0, hidden, 0.0) * self.output
        while len(total) > 1:
            total = total[: len(total) // 2] + total[len(total) // 2 :]
        value = float(total[0]) + self.output_bias
        return value if player == game.active_player else -value


def _sums(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums of all sets of rows, float64[2 ** n, units]: that of a set at its binary number."""
    sums = np.zeros((1, rows.shape[1]))
    for row in rows:
        sums = np.concatenate([sums, sums + row])
    return sums
