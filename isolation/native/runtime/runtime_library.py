"""Runtime library that generated modules import.

Each function works on what a heuristic may hold: tuples, lists, arrays, and the sets of cells of a position, which
stay sets of cells as long as nothing else is asked of them.
"""

from __future__ import annotations

import builtins

from knights_isolation.isolation.boards.net import Net
from knights_isolation.isolation.native import floods  # noqa: F401 -- floods defines methods of positions
from knights_isolation.isolation.native.runtime import optional_tuples  # noqa: F401 -- defines parts of tuples that may be None
from knights_isolation.isolation.native.runtime.cell_sums import CellTerm, weighed, weighed_onto
from knights_isolation.isolation.native.runtime.checked_arithmetic import give_up, jit, jit_with_numpy
from knights_isolation.isolation.native.runtime.endings import count_call, count_round, rounds_left
from knights_isolation.isolation.native.runtime.math_functions import (
    _abs,
    _int,
    _round,
    _round_of_either,
    _round_of_numpy,
    distance,
    mathematics,
    power,
    power_of_either_sign,
    squared,
    squared_difference,
    whole_power,
)
from knights_isolation.isolation.native.runtime.nets import value_of_net
from knights_isolation.isolation.native.runtime.numpy_functions import numbers
from knights_isolation.isolation.native.runtime.third_state import as_state, count_open, is_open, state_of, with_closed
from knights_isolation.isolation.native.runtime.values.arrays import *  # noqa: F403
from knights_isolation.isolation.native.runtime.values.compensated_sums import *  # noqa: F403
from knights_isolation.isolation.native.runtime.values.conversions import *  # noqa: F403
from knights_isolation.isolation.native.runtime.values.dictionaries import *  # noqa: F403
from knights_isolation.isolation.native.runtime.values.distances import *  # noqa: F403
from knights_isolation.isolation.native.runtime.values.equality import *  # noqa: F403
from knights_isolation.isolation.native.runtime.values.lists_and_sets import *  # noqa: F403
from knights_isolation.isolation.native.runtime.values.private_state import *  # noqa: F403
from knights_isolation.isolation.native.runtime.values.set_operations import *  # noqa: F403
from knights_isolation.isolation.native.runtime.wide_numbers import wide, wide_number

__all__ = [
    "_abs",
    "_int",
    "_round",
    "_round_of_either",
    "_round_of_numpy",
    "as_state",
    "builtins",
    "count_call",
    "count_open",
    "count_round",
    "distance",
    "give_up",
    "is_open",
    "jit",
    "jit_with_numpy",
    "math",
    "net",
    "np",
    "power",
    "power_of_either_sign",
    "rounds_left",
    "squared",
    "squared_difference",
    "state_of",
    "term",
    "value_of_net",
    "weighed",
    "weighed_onto",
    "whole_power",
    "wide",
    "wide_number",
    "with_closed",
]

math, np, net = mathematics, numbers, Net.of_text


def term(function):
    """Return a function of the game and a cell as what `weighed` takes."""
    return CellTerm(jit(function))
