"""Limits of compiled loops and recursion, since nothing outside can end compiled code.

A heuristic's call counts what its loops and recursive functions do, in its own stack frame: so threads do not meet, and
where LLVM inlines the functions, the count is a register. Beyond the limits compiled code gives up, and whoever asked
asks Python, whose functions can be interrupted.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.cpython.setobj import SetInstance
from numba.extending import intrinsic

from knights_isolation.isolation.native.runtime.checked_arithmetic import give_up_if

MOST_ROUNDS = 10_000_000
"""Rounds of loops, and calls of recursive functions, in one evaluation: Python would need a second and more."""
_DEEPEST = 1 << 20
"""Bytes of stack that recursion may take: some thousand calls of usual functions, as in Python."""
_WHOLE = ir.IntType(64)
_ROUNDS = types.CPointer(types.int64)


@intrinsic  # type: ignore[untyped-decorator]
def rounds_left(typingctx: Any) -> Any:
    """Where the rounds are counted that are left to a call and to all that it calls."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = cgutils.alloca_once(builder, _WHOLE)
        # Machine code of nothing: LLVM would unroll, without end, nested loops of which it knows how often they run.
        most = builder.asm(ir.FunctionType(_WHOLE, [_WHOLE]), "", "=r,0", [_WHOLE(MOST_ROUNDS)], side_effect=False)
        builder.store(most, place)
        return place

    return _ROUNDS(), codegen


@intrinsic  # type: ignore[untyped-decorator]
def count_round(typingctx: Any, left: Any) -> Any:
    """Count a round of a loop; give up if none is left."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _count(context, builder, args[0])
        return context.get_dummy_value()

    return types.none(_ROUNDS), codegen


@intrinsic  # type: ignore[untyped-decorator]
def count_call(typingctx: Any, left: Any) -> Any:
    """Count a call of a recursive function; give up if none is left, or if the stack may be too small for more."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _count(context, builder, args[0])
        here = builder.ptrtoint(cgutils.alloca_once(builder, ir.IntType(8)), _WHOLE)
        depth = builder.sub(builder.ptrtoint(args[0], _WHOLE), here)
        give_up_if(context, builder, builder.icmp_signed(">", depth, _WHOLE(_DEEPEST)))
        return context.get_dummy_value()

    return types.none(_ROUNDS), codegen


def _count(context: Any, builder: Any, place: Any) -> None:
    left = builder.sub(builder.load(place), _WHOLE(1))
    builder.store(left, place)
    give_up_if(context, builder, builder.icmp_signed("<", left, _WHOLE(0)))


_grow = SetInstance.upsize


def _grow_in_time(self: Any, nitems: Any) -> None:
    """Keep a set's table such that it has unused entries, at which alone numba's look-ups end.

    Numba counts the elements only, and not the entries of deleted ones: those of a set that shrinks and grows again
    could fill the table.
    """
    _grow(self, nitems)
    builder, payload = self._builder, self.payload
    size = builder.add(payload.mask, payload.mask.type(1))
    is_full = builder.icmp_unsigned(">=", builder.mul(payload.fill, size.type(4)), builder.mul(size, size.type(3)))
    with cgutils.if_unlikely(builder, is_full):
        self._resize(payload, size, "cannot grow set")


SetInstance.upsize = _grow_in_time
