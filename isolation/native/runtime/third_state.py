"""The third edition's states in compiled code.

`StateType` wraps a position; what is asked of it is answered in the numbers of `isolation.rules.third_edition`.
Liberties and actions (`StepsType`) are sets that never allocate: they have `len`, truth, `in`, iteration and indexing,
in the edition's order.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import RefType, impl_ret_untracked, iternext_impl, lower_builtin
from numba.extending import intrinsic, make_attribute_wrapper, overload_attribute, overload_method

from ...rules.third_edition import SIZE, STRIDE, Action, to_state_cell
from .. import bitboards
from ..bitboards import bitboard_for, constant_table, look_up
from ..decorators import always, for_all_types, operation, struct
from ..position import INFINITY, MaskType, PositionType, after, closed, location_of, moves_from, placed
from .checked_arithmetic import give_up

_STEPS = tuple(int(action) for action in Action)
_FURTHEST = max(_STEPS)
_NUMBERS = range(-_FURTHEST, SIZE + _FURTHEST)
"""All numbers a knight's move from which a cell could lie: players may ask for the liberties of any."""
_FIRST = _NUMBERS.start


class StateType(types.Type):
    """The numba type of a state: a position of a board of `rows` x `columns` cells."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows = rows
        self.columns = columns
        self.position = PositionType(rows, columns)
        super().__init__(name=f"State{rows}x{columns}")


class StepsType(MaskType):
    """The numba type of some of the eight knight's moves from a cell, seen as numbers counted from a base."""

    dtype = types.int64

    def __init__(self, rows: int, columns: int) -> None:
        self.rows = rows
        self.columns = columns
        self.bitboard = bitboard_for(rows * columns)
        name = f"Steps{rows}x{columns}"
        super().__init__(name, _StepsIteratorType(name))


class _StepsIteratorType(types.SimpleIteratorType):  # type: ignore[misc]
    def __init__(self, name: str) -> None:
        super().__init__(f"{name}Iterator", types.int64)


struct(StateType, lambda state: [("position", state.position)])
struct(StepsType, lambda steps: [("mask", steps.bitboard), ("cell", types.int64), ("base", types.int64)])
struct(_StepsIteratorType, lambda _: [("remaining", types.EphemeralPointer(types.int64)), ("base", types.int64)])
make_attribute_wrapper(StateType, "position", "_position")
for _member in ("mask", "cell", "base"):
    make_attribute_wrapper(StepsType, _member, f"_{_member}")


@intrinsic
def as_state(typingctx: Any, game: Any) -> Any:
    """The state of a position."""
    state = StateType(game.rows, game.columns)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = cgutils.create_struct_proxy(state)(context, builder)
        value.position = args[0]
        return value._getvalue()

    return state(game), codegen


@intrinsic
def _steps(typingctx: Any, state: Any, mask: Any, cell: Any, base: Any) -> Any:
    """The knight's moves from one of the edition's cells to the cells of a bitboard, counted from a base."""
    steps = StepsType(state.rows, state.columns)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = cgutils.create_struct_proxy(steps)(context, builder)
        value.mask, value.cell, value.base = args[1:]
        return value._getvalue()

    return steps(state, mask, types.int64, types.int64), codegen


def _looked_up(what: str, is_mask: bool, values_of: Callable[[int, int], Sequence[int]]) -> Any:
    """A function of (board, place): what a table made for the board's (rows, columns) holds at that place."""

    @intrinsic
    def look_up_typed(typingctx: Any, board: Any, index: Any) -> Any:
        rows, columns = board.rows, board.columns
        result = bitboard_for(rows * columns) if is_mask else types.int64

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            name = f"isolation_third_{what}_{rows}x{columns}"
            width = result.width if is_mask else 64
            return look_up(builder, constant_table(builder, name, width, tuple(values_of(rows, columns))), args[1])

        return result(board, types.int64), codegen

    return look_up_typed


def _numbers_of(rows: int, columns: int) -> list[int]:
    return [to_state_cell(*divmod(cell, columns), rows, columns) for cell in range(rows * columns)]


def _targets_of(rows: int, columns: int) -> list[int]:
    """Return, for each number and step, the mask of the cell it leads to; 0 where it leaves the board."""
    masks = {number: 1 << cell for cell, number in enumerate(_numbers_of(rows, columns))}
    return [masks.get(number + step, 0) for number in _NUMBERS for step in _STEPS]


def _reach_of(rows: int, columns: int) -> list[int]:
    """Return, for each number, the mask of the cells that its steps lead to."""
    targets = _targets_of(rows, columns)
    return [sum(targets[start : start + len(_STEPS)]) for start in range(0, len(targets), len(_STEPS))]


def _masks_of(rows: int, columns: int) -> list[int]:
    """Return, for each number, the mask of its cell on a board; 0 where it has none."""
    masks = {number: 1 << cell for cell, number in enumerate(_numbers_of(rows, columns))}
    return [masks.get(number, 0) for number in range(SIZE)]


_mask = _looked_up("mask", True, _masks_of)
_number = _looked_up("number", False, _numbers_of)
_target = _looked_up("target", True, _targets_of)
_reach = _looked_up("reach", True, _reach_of)


# --- the reading API of a state -----------------------------------------------------------------------------------


@overload_attribute(StateType, "locs")
@always
def _locs(state):
    first, second = location_of(state._position, 0), location_of(state._position, 1)
    return _number(state, first), _number(state, second)


@overload_attribute(StateType, "ply_count")
@always
def _ply_count(state):
    return state._position.move_count + (state._position.move_count % 2 ^ state._position._turn)


@overload_method(StateType, "liberties")
def _liberties(state, loc):
    first, beyond, last = _FIRST, _NUMBERS.stop, state.rows * state.columns - 1

    def open_cells(state, loc):
        blank = state._position._blank
        return [_number(state, cell) for cell in range(last, -1, -1) if bitboards.contains(blank, cell)]

    def liberties(state, loc):
        blank = state._position._blank
        if not first <= loc < beyond:
            return _steps(state, bitboards.difference(blank, blank), first, 0)
        return _steps(state, bitboards.common(blank, _reach(state, loc - first)), loc, loc)

    return open_cells if isinstance(loc, types.NoneType) else liberties


@overload_method(StateType, "actions")
@always
def _actions(state):
    position = state._position
    cell = location_of(position, position._turn)
    return _steps(state, moves_from(position, cell), _number(state, cell), 0)


@overload_method(StateType, "result")
@always
def _result(state, action):
    position = state._position
    number = _number(state, location_of(position, position._turn))
    for direction in range(8):
        if _STEPS[direction] == action:
            target = bitboards.common(position._blank, _target(state, 8 * (number - _FIRST) + direction))
            if not bitboards.is_empty(target):
                return as_state(after(position, bitboards.lowest(target)))
    raise ValueError("no action of the player to move")


@overload_method(StateType, "_has_liberties")
def _has_liberties(state, player_id):
    """Cell 0, the last one of the largest board, is no liberty."""
    last = state.rows * state.columns - 1
    has_cell_0 = to_state_cell(state.rows - 1, state.columns - 1, state.rows, state.columns) == 0

    def has_liberties(state, player_id):
        mask = moves_from(state._position, location_of(state._position, player_id))
        return bitboards.popcount(mask) > (1 if has_cell_0 and bitboards.contains(mask, last) else 0)

    return has_liberties


@overload_method(StateType, "utility")
@always
def _utility(state, player_id):
    if not state.terminal_test():
        return 0.0
    mover = state.player()
    return INFINITY if state._has_liberties(mover) == (player_id == mover) else -INFINITY


_METHODS = {
    "player": lambda state: state._position._turn,
    "terminal_test": lambda state: not (state._has_liberties(0) and state._has_liberties(1)),
    "ind2xy": lambda state, ind: (ind % STRIDE, ind // STRIDE),
}
for _name, _called in _METHODS.items():
    overload_method(StateType, _name)(always(_called))


@for_all_types
def _cell_numbered(state, number):
    """Return the cell of a number; the heuristic is given to Python where there is none."""
    give_up(not 0 <= number < SIZE)
    mask = _mask(state, number)
    give_up(bitboards.is_empty(mask))
    return bitboards.lowest(mask)


@for_all_types
def state_of(state, ply_count, locs):
    """Return the state with the same board, after that many plies, and with the players on those cells."""
    first, second = locs
    cells = _cell_numbered(state, first), _cell_numbered(state, second)
    changed = as_state(placed(state._position, cells[0], cells[1], ply_count % 2))
    give_up(changed.ply_count != ply_count)  # positions count plies by their open cells
    return changed


@for_all_types
def with_closed(state, number):
    """Return the state with a cell, by its number, closed."""
    return as_state(closed(state._position, _cell_numbered(state, number)))


@for_all_types
def is_open(state, number):
    """Return 1 if a cell of a state, by its number, is open, else 0."""
    if not 0 <= number < SIZE:
        return 0
    return 0 if bitboards.is_empty(bitboards.common(state._position._blank, _mask(state, number))) else 1


@for_all_types
def count_open(state):
    """Return how many cells of a state are open."""
    return bitboards.popcount(state._position._blank)


# --- liberties and actions ----------------------------------------------------------------------------------------


def _is_numbered(steps, index):
    return isinstance(steps, StepsType) and isinstance(index, types.Integer)


def _is_sliced(steps, index):
    return isinstance(steps, StepsType) and isinstance(index, types.SliceType)


@operation(operator.contains, lambda steps, number: isinstance(steps, StepsType))
def _contains(steps, number):
    for step in steps:  # noqa: SIM110 -- compiled code knows no generators
        if step == number:
            return True
    return False


@operation(operator.getitem, _is_numbered)
def _getitem(steps, index):
    wanted = index if index >= 0 else index + len(steps)
    for position, step in enumerate(steps):
        if position == wanted:
            return step
    raise IndexError("list index out of range")


@operation(operator.getitem, _is_sliced)
def _getslice(steps, index):
    return [step for step in steps][index]  # noqa: C416 -- compiled code has no list(steps)


def _directions(steps):
    """Which of the eight knight's moves a set holds, in bits, in the edition's order."""
    directions = 0
    for direction in range(8):
        if not bitboards.is_empty(
            bitboards.common(steps._mask, _target(steps, 8 * (steps._cell - _FIRST) + direction))
        ):
            directions |= 1 << direction
    return directions


@lower_builtin("getiter", StepsType)
def _getiter(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    (steps,) = signature.args
    directions = context.compile_internal(builder, _directions, types.int64(steps), args)
    value = cgutils.create_struct_proxy(steps)(context, builder, value=args[0])
    iterator = context.make_helper(builder, signature.return_type)
    iterator.remaining = cgutils.alloca_once_value(builder, directions)
    iterator.base = value.base
    return impl_ret_untracked(context, builder, signature.return_type, iterator._getvalue())


@lower_builtin("iternext", _StepsIteratorType)
@iternext_impl(RefType.UNTRACKED)
def _iternext(context: Any, builder: Any, signature: Any, args: Any, result: Any) -> None:
    iterator = context.make_helper(builder, signature.args[0], value=args[0])
    remaining = builder.load(iterator.remaining)
    is_valid = builder.icmp_unsigned("!=", remaining, ir.Constant(remaining.type, 0))
    result.set_valid(is_valid)
    with builder.if_then(is_valid):
        table = constant_table(builder, "isolation_third_steps", 64, _STEPS)
        step = look_up(builder, table, bitboards.lowest_bit(builder, remaining))
        result.yield_(builder.add(iterator.base, step))
        builder.store(bitboards.without_lowest_bit(builder, remaining), iterator.remaining)
