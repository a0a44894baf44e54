"""Nets in compiled code: the hidden units are one vector, held in registers.

No search carries an accumulator along: `Net.rows` has the sum over the blank cells of a group for every set of them, so
that a position takes as many additions as there are groups, and two for the places.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numpy.typing import NDArray

from ...rules.net import GROUP, Net
from .. import bitboards
from ..decorators import by_type, opaque
from ..position import PositionType
from .checked_arithmetic import REFUSED

_FRACTION, _WHOLE, _INDEX, _BYTE = ir.DoubleType(), ir.IntType(64), ir.IntType(32), ir.IntType(8)
_ALIGNED = 64
"""Bytes to whose multiples rows are aligned: those of eight float64s, the fewest that a row has."""


class _NetType(types.Opaque):  # type: ignore[misc]
    """The numba type of one net. There is nothing to it but which net it is."""

    def __init__(self, net: Net) -> None:
        self.net = net
        super().__init__(f"Net({_digest(net)})")


opaque(_NetType, Net, _NetType)


def _digest(net: Net) -> str:
    return hashlib.sha256(net.text.encode()).hexdigest()[:16]


@by_type
def value_of_net(game, player, net):
    """Return the value of a position to a player by a net."""
    if not isinstance(game, PositionType) or not isinstance(net, _NetType):
        raise TypingError(f"{REFUSED}it calls a net with something else than (game, player)")
    cells = game.rows * game.columns
    if cells != net.net.cells:
        raise TypingError(f"{REFUSED}its net is for boards of {net.net.cells} cells, not {cells}")
    output = _output_of(net.net)

    def value_of_net(game, player, net):
        value = output(game)
        return value if player == game._turn else -value

    return value_of_net


def _output_of(net: Net) -> Any:
    """A function of compiled code: a net's value of a position to the side to move."""

    @intrinsic
    def output(typingctx: Any, position: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            value = cgutils.create_struct_proxy(position)(context, builder, value=args[0])
            hidden = _constant(net.bias)
            for index in _rows(builder, net, value):
                hidden = builder.fadd(hidden, _row(builder, net, index))
            nothing = ir.Constant(hidden.type, None)
            rectified = builder.select(builder.fcmp_ordered(">", hidden, nothing), hidden, nothing)
            total = _halved(builder, builder.fmul(rectified, _constant(net.output)))
            return builder.fadd(total, ir.Constant(_FRACTION, net.output_bias))

        return types.float64(position), codegen

    return output


def _rows(builder: Any, net: Net, position: Any) -> Iterator[Any]:
    """The numbers of the rows of `Net.rows` that are added up in a position, in their order."""
    is_first = builder.icmp_signed("==", position.turn, ir.Constant(_WHOLE, 0))
    cells = position.cell_0, position.cell_1
    for first, mover in ((net.own, is_first), (net.own + net.cells, builder.not_(is_first))):
        yield builder.add(builder.select(mover, *cells), ir.Constant(_WHOLE, first))
    for group in range(-(-net.cells // GROUP)):
        bits = builder.lshr(position.blank, ir.Constant(position.blank.type, group * GROUP))
        chosen = builder.and_(bitboards.narrow(builder, bits), ir.Constant(_WHOLE, (1 << GROUP) - 1))
        yield builder.add(chosen, ir.Constant(_WHOLE, group << GROUP))


def _row(builder: Any, net: Net, index: Any) -> Any:
    """A row of `Net.rows` as a vector."""
    start = builder.mul(index, ir.Constant(_WHOLE, net.units * net.rows.itemsize))
    place = builder.gep(_table(builder.module, net), [ir.Constant(_WHOLE, 0), start], inbounds=True)
    return builder.load(builder.bitcast(place, _vector(net.units).as_pointer()), align=_ALIGNED)


def _table(module: Any, net: Net) -> Any:
    """The bytes of `Net.rows`, a constant of the module under construction."""
    name = f"isolation_net_{_digest(net)}"
    if name not in module.globals:
        kind = ir.ArrayType(_BYTE, net.rows.nbytes)
        table = ir.GlobalVariable(module, kind, name)
        table.initializer = ir.Constant(kind, bytearray(net.rows.tobytes()))
        table.global_constant, table.linkage, table.align = True, "linkonce_odr", _ALIGNED
    return module.globals[name]


def _halved(builder: Any, vector: Any) -> Any:
    """The sum of a vector's elements: the second half is added to the first until one is left."""
    while (count := vector.type.count) > 1:
        halves = (
            ir.Constant(_vector(count // 2, _INDEX), [*range(half, half + count // 2)]) for half in (0, count // 2)
        )
        vector = builder.fadd(*(builder.shuffle_vector(vector, vector, half) for half in halves))
    return builder.extract_element(vector, ir.Constant(_INDEX, 0))


def _vector(count: int, kind: Any = _FRACTION) -> Any:
    return ir.VectorType(kind, count)


def _constant(numbers: NDArray[np.float64]) -> Any:
    return ir.Constant(_vector(len(numbers)), numbers.tolist())
