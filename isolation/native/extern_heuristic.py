"""The heuristic as kernels call it: an external function, linked later."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from .decorators import inner, instructions, of_board
from .layout import RANK, SCORE, WORTH

PARAMETERS = types.CPointer(types.float64)
"""What the parameters of a heuristic are to compiled code: numbers one after another."""


def _call(context: Any, builder: Any, symbol: str, result: Any, position: Any, args: Any, *attributes: str) -> Any:
    """Call a function of a position, a player and parameters, whose exceptions go on."""
    convention = context.call_conv
    taken = (position, types.int64, PARAMETERS)
    function = cgutils.get_or_insert_function(builder.module, convention.get_function_type(result, taken), symbol)
    given = [*args[:2], builder.inttoptr(args[2], context.get_value_type(PARAMETERS))]
    status, value = convention.call_function(builder, function, result, taken, given, attributes)
    with cgutils.if_unlikely(builder, status.is_error):
        convention.return_status_propagate(builder, status)
    return value


def _score(context: Any, builder: Any, position: Any, *given: Any) -> Any:
    return _call(context, builder, SCORE, types.float64, position, given)


def _rank(context: Any, builder: Any, position: Any, state: Any, address: Any, *attributes: str) -> Any:
    first = ir.Constant(ir.IntType(64), 0)
    return _call(context, builder, RANK, types.int64, position, (state, first, address), *attributes)


def _rank_apart(context: Any, builder: Any, position: Any, state: Any, address: Any) -> Any:
    return _rank(context, builder, position, state, address, "noinline")


def _worth(context: Any, builder: Any, rank: Any) -> Any:
    kind = ir.FunctionType(ir.DoubleType(), [ir.IntType(64)])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, WORTH), [rank])


_linked_score = of_board(lambda position, player, address: types.float64(position, types.int64, types.int64))(_score)
_linked_rank = of_board(lambda position, address: types.int64(position, types.int64))(_rank)
_linked_rank_apart = of_board(lambda position, address: types.int64(position, types.int64))(_rank_apart)
_linked_worth = instructions(lambda rank: types.float64(types.int64), _worth)


@inner
def score(game: Any, player: Any, parameters: int) -> Any:
    """The worth of a position to a player under the parameters at an address; the heuristic's exceptions go on."""
    return _linked_score(game, player, parameters)


@inner
def rank(game: Any, parameters: int) -> Any:
    """The rank of the worth of a position that is not finished to player 0, which searches compare."""
    return _linked_rank(game, parameters)


@inner
def rank_apart(game: Any, parameters: int) -> Any:
    """`rank`, where it is called so rarely that LLVM need not put the heuristic's code there."""
    return _linked_rank_apart(game, parameters)


@inner
def worth_of(rank: int) -> Any:
    """The value that a rank stands for, infinite for won and lost."""
    return _linked_worth(rank)
