# ruff: noqa: F401, F403 -- generated modules read what is imported here

"""Runtime library that generated modules import.

Each function works on what a heuristic may hold: tuples, lists, arrays, and the sets of cells of a position, which
stay sets of cells as long as nothing else is asked of them.
"""

from __future__ import annotations

import builtins

from knights_isolation.isolation.boards.net import Net
from knights_isolation.isolation.native import floods
from knights_isolation.isolation.native.runtime.cell_sums import CellTerm, weighed, weighed_onto
from knights_isolation.isolation.native.runtime.checked_arithmetic import (
    count_call,
    count_round,
    give_up,
    jit,
    jit_with_numpy,
    rounds_left,
)
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
from knights_isolation.isolation.native.runtime.values.arrays import *
from knights_isolation.isolation.native.runtime.values.conversions import *
from knights_isolation.isolation.native.runtime.values.dictionaries import *
from knights_isolation.isolation.native.runtime.values.distances import *
from knights_isolation.isolation.native.runtime.values.lists_and_sets import *
from knights_isolation.isolation.native.runtime.values.private_state import *
from knights_isolation.isolation.native.runtime.wide_numbers import wide, wide_number

math, np, net = mathematics, numbers, Net.of_text


def term(function):
    """Return a function of the game and a cell as what `weighed` takes."""
    return CellTerm(jit(function))
