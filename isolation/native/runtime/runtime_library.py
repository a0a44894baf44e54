# ruff: noqa: F401, F403 -- generated modules read what is imported here

"""Runtime library that generated modules import.

Each function works on what a heuristic may hold: tuples, lists, arrays, and the sets of cells of a position, which
stay sets of cells as long as nothing else is asked of them.
"""

from __future__ import annotations

import builtins

from ...rules.net import Net
from .. import floods
from ..position import awaiting, facing, flat_state, visited_rows
from .arrays import *
from .cell_sums import CellTerm, weighed, weighed_onto
from .checked_arithmetic import count_call, count_round, give_up, jit, jit_with_numpy, rounds_left
from .conversions import *
from .lists_and_sets import *
from .math_functions import *
from .math_functions import _abs, _int, _round, _round_of_either, _round_of_numpy, mathematics
from .nets import value_of_net
from .numpy_functions import numbers
from .third_state import as_state, count_open, is_open, state_of, with_closed
from .wide_numbers import wide, wide_number

math, np, net = mathematics, numbers, Net.of_text


def term(function):
    """Return a function of the game and a cell as what `weighed` takes."""
    return CellTerm(jit(function))
