"""Workspace of a call: node counts, clock, principal variation, random bits, growable arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from knights_isolation.isolation.native import layout as on_desk
from knights_isolation.isolation.native.decorators import inner, instructions
from knights_isolation.isolation.native.layout import LINE, MAX_PLY
from knights_isolation.isolation.rules import seeds
from knights_isolation.isolation.rules.seeds import STEP

# The clock is looked at often enough that no two looks lie more than about a fifth of a millisecond apart.
RARELY = 200_000
OFTEN = 50_000
LONGEST_STRIDE = 8192

mix = inner(seeds.splitmix64)


@intrinsic
def nanoseconds(typingctx: Any, clock: Any) -> Any:
    """The reading of a POSIX clock in nanoseconds."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        int32, int64 = ir.IntType(32), ir.IntType(64)
        timespec = cgutils.alloca_once(builder, ir.ArrayType(int64, 2))
        function_type = ir.FunctionType(int32, [int32, timespec.type])
        function = cgutils.get_or_insert_function(builder.module, function_type, "clock_gettime")
        builder.call(function, [builder.trunc(args[0], int32), timespec])
        seconds, fraction = (builder.load(cgutils.gep(builder, timespec, 0, i)) for i in (0, 1))
        return builder.add(builder.mul(seconds, ir.Constant(int64, 1_000_000_000)), fraction)

    return types.int64(types.int64), codegen


def pointer_to(kind: Any) -> Any:
    """A function of compiled code: the numbers of a kind at an address."""

    pointer = types.CPointer(kind)

    def at(context: Any, builder: Any, address: Any) -> Any:
        return builder.inttoptr(address, context.get_value_type(pointer))

    return instructions(lambda address: pointer(types.int64), at)


uint8s_at = pointer_to(types.uint8)
int8s_at = pointer_to(types.int8)
int16s_at = pointer_to(types.int16)
int32s_at = pointer_to(types.int32)
int64s_at = pointer_to(types.int64)
uint64s_at = pointer_to(types.uint64)
float64s_at = pointer_to(types.float64)


@intrinsic
def unlikely(typingctx: Any, condition: Any) -> Any:
    """A condition that LLVM may take to be false nearly always."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bit = ir.IntType(1)
        expect = builder.module.declare_intrinsic("llvm.expect", [bit], ir.FunctionType(bit, [bit, bit]))
        return builder.call(expect, [args[0], ir.Constant(bit, 0)])

    return types.boolean(types.boolean), codegen


@inner
def open_desk(desk: Any, node_limit: int, clock: int, budget: int) -> None:
    """Start counting; `clock` is -1 without a time limit, otherwise the clock that `budget` nanoseconds run on."""
    desk[on_desk.NODES] = 0
    desk[on_desk.NODE_LIMIT] = node_limit
    desk[on_desk.CHECKPOINT] = node_limit
    desk[on_desk.CLOCK] = clock
    desk[on_desk.STOPPED] = 0
    desk[on_desk.GIVEN_UP] = 0
    if clock >= 0:
        desk[on_desk.LAST_LOOK] = nanoseconds(clock)
        desk[on_desk.DEADLINE] = desk[on_desk.LAST_LOOK] + budget
        desk[on_desk.STRIDE] = 1
        desk[on_desk.CHECKPOINT] = 1


@inner
def must_stop(desk: Any) -> bool:
    """Asked when the checkpoint is reached: whether nodes or time are used up; sets the next checkpoint."""
    if desk[on_desk.NODES] >= desk[on_desk.NODE_LIMIT]:
        desk[on_desk.STOPPED] = 1
        return True
    if desk[on_desk.CLOCK] >= 0:
        now = nanoseconds(desk[on_desk.CLOCK])
        if now >= desk[on_desk.DEADLINE]:
            desk[on_desk.STOPPED] = 1
            return True
        took = now - desk[on_desk.LAST_LOOK]
        desk[on_desk.LAST_LOOK] = now
        if took > RARELY:
            desk[on_desk.STRIDE] = max(1, desk[on_desk.STRIDE] >> 1)
        elif took < OFTEN:
            desk[on_desk.STRIDE] = min(LONGEST_STRIDE, desk[on_desk.STRIDE] << 1)
        desk[on_desk.CHECKPOINT] = min(desk[on_desk.NODE_LIMIT], desk[on_desk.NODES] + desk[on_desk.STRIDE])
    return False


@inner
def count_node(desk: Any) -> bool:
    """Count one more node unless the limit forbids it."""
    if unlikely(desk[on_desk.NODES] >= desk[on_desk.CHECKPOINT]) and must_stop(desk):
        return False
    desk[on_desk.NODES] += 1
    return True


@inner
def has_time_for(desk: Any, duration: int) -> bool:
    """Whether so many nanoseconds are left before the deadline, if there is one."""
    return desk[on_desk.CLOCK] < 0 or nanoseconds(desk[on_desk.CLOCK]) + duration < desk[on_desk.DEADLINE]


@inner
def give_up(desk: Any) -> None:
    """Count no more nodes: the heuristic has failed, and nothing that the search finds will be used."""
    desk[on_desk.GIVEN_UP] = 1
    desk[on_desk.NODE_LIMIT] = 0
    desk[on_desk.CHECKPOINT] = 0


@inner
def begin_line(desk: Any, ply: int) -> None:
    """No best continuation is known yet at this ply."""
    desk[on_desk.LENGTH + ply] = 0


@inner
def extend_line(desk: Any, ply: int, cell: int) -> None:
    """The best continuation at this ply is `cell`, then the best one of the ply below."""
    below = desk[on_desk.LENGTH + ply + 1]
    row, next_row = LINE + ply * MAX_PLY, LINE + (ply + 1) * MAX_PLY
    desk[row] = cell
    for i in range(below):
        desk[row + 1 + i] = desk[next_row + i]
    desk[on_desk.LENGTH + ply] = below + 1


def extending(most: int) -> Any:
    """`extend_line` where the line of the ply below has at most `most` cells, of which all are copied.

    That takes no loop, whose end could not be foretold.
    """

    @inner
    def extend_short_line(desk: Any, ply: int, cell: int) -> None:
        row, next_row = LINE + ply * MAX_PLY, LINE + (ply + 1) * MAX_PLY
        desk[row] = cell
        for i in range(most):
            desk[row + 1 + i] = desk[next_row + i]
        desk[on_desk.LENGTH + ply] = desk[on_desk.LENGTH + ply + 1] + 1

    return extend_short_line


@inner
def end_line(desk: Any, ply: int, cell: int) -> None:
    """The best continuation at this ply is `cell`, and ends there."""
    desk[LINE + ply * MAX_PLY] = cell
    desk[on_desk.LENGTH + ply] = 1


@inner
def keep_line(desk: Any) -> None:
    """Put the root's best continuation by, where a search that is broken off does not overwrite it."""
    desk[on_desk.BEST_LENGTH] = desk[on_desk.LENGTH]
    for i in range(desk[on_desk.LENGTH]):
        desk[on_desk.BEST_LINE + i] = desk[LINE + i]


@inner
def next_random(desk: Any) -> int:
    """The next 63 random bits of the generator kept on the desk; see `isolation.rules.seeds.random_bits`."""
    state = types.uint64(desk[on_desk.RANDOM]) + types.uint64(STEP)
    desk[on_desk.RANDOM] = types.int64(state)
    return types.int64(mix(state) >> types.uint64(1))


@inner
def grown(column: Any) -> Any:
    """The same column with twice the room, in which nothing is written yet."""
    larger = np.empty(2 * len(column), column.dtype)
    for index in range(len(column)):
        larger[index] = column[index]
    return larger
