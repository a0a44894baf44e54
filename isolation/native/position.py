"""Numba type of a position: an immutable value with the reading API of `Board`.

`PositionType` is a numba type. The board's size belongs to the type, so that widths, masks and move tables are
constants of the compiled code; a position itself is the set of blank cells, two locations and the side to move, all
in registers. Both players must have been placed. Players are the numbers 0 and 1.

The sets of cells that the reading API returns (`CellsType`) are bitboards too: they have `len`, truth, `==`, `in`,
iteration, indexing, `&`, `|`, `-`, and never allocate. Moves iterate in ascending row-major order, which is the
classic order of knight moves; blank cells iterate column by column, as the classic engines list them.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import RefType, impl_ret_untracked, iternext_impl, lower_builtin
from numba.extending import intrinsic, make_attribute_wrapper, overload, overload_attribute, overload_method

from ..rules.geometry import column_masks, knight_masks
from . import bitboards
from .bitboards import bitboard_for, constant_table, has_room, less_padded, look_up, pad, reach
from .decorators import always, by_type, for_all_types, of_board, of_position, operation, struct

INFINITY = float("inf")
MOVE = types.UniTuple(types.int64, 2)


class PositionType(types.Type):
    """The numba type of a position on a board of `rows` x `columns` cells, both players placed."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows = rows
        self.columns = columns
        self.bitboard = bitboard_for(rows * columns)
        super().__init__(name=f"Position{rows}x{columns}")


class MaskType(types.SimpleIterableType):  # type: ignore[misc]
    """The numba type of a set that has an element for each one in its bitboard `mask`."""


class CellsType(MaskType):
    """The numba type of a set of cells of one board; `by_column` says in which order it iterates."""

    dtype = MOVE

    def __init__(self, rows: int, columns: int, by_column: bool) -> None:
        self.rows = rows
        self.columns = columns
        self.by_column = by_column
        self.bitboard = bitboard_for(rows * columns)
        name = f"{'Blank' if by_column else 'Moves'}{rows}x{columns}"
        super().__init__(name, _CellsIteratorType(self, name))


class _CellsIteratorType(types.SimpleIteratorType):  # type: ignore[misc]
    def __init__(self, cells: CellsType, name: str) -> None:
        self.cells = cells
        super().__init__(f"{name}Iterator", MOVE)


def _members_of_position(position: PositionType) -> list[tuple[str, Any]]:
    members = [("blank", position.bitboard), *((part, types.int64) for part in ("cell_0", "cell_1", "turn"))]
    return [*members, ("padded", position.bitboard)] if has_room(position) else members


def _members_of_iterator(iterator: _CellsIteratorType) -> list[tuple[str, Any]]:
    bitboard = iterator.cells.bitboard
    remaining, column = types.EphemeralPointer(bitboard), types.EphemeralPointer(types.int64)
    return [("whole", bitboard), ("remaining", remaining), ("column", column)]


struct(PositionType, _members_of_position)
struct(CellsType, lambda cells: [("mask", cells.bitboard)])
struct(_CellsIteratorType, _members_of_iterator)
for _member in ("blank", "cell_0", "cell_1", "turn"):
    make_attribute_wrapper(PositionType, _member, f"_{_member}")
make_attribute_wrapper(CellsType, "mask", "_mask")


def _to_move(builder: Any, cell: Any, columns: int) -> tuple[Any, Any]:
    by = ir.Constant(cell.type, columns)
    return builder.udiv(cell, by), builder.urem(cell, by)


def _knight_moves(builder: Any, board: Any, cell: Any) -> Any:
    masks = knight_masks(board.rows, board.columns)
    name = f"isolation_knight_{board.rows}x{board.columns}"
    return look_up(builder, constant_table(builder, name, board.bitboard.width, masks), cell)


def less_cell(builder: Any, board: Any, mask: Any, cell: Any) -> Any:
    """A bitboard without a cell. A load is cheaper than a shift of 128 bits, but not than one of 64."""
    width = board.bitboard.width
    if width == 64:
        return builder.and_(mask, builder.not_(bitboards.single(builder, cell, width)))
    whole = (1 << width) - 1
    others = tuple(whole ^ 1 << cell for cell in range(board.rows * board.columns))
    name = f"isolation_others_{board.rows}x{board.columns}"
    return builder.and_(mask, look_up(builder, constant_table(builder, name, width, others), cell))


def on_less_cells(context: Any, builder: Any, position: Any, value: Any, cell: Any) -> Any:
    """A position of which only the blank cells are known: those of another, less one."""
    child = cgutils.create_struct_proxy(position)(context, builder)
    child.blank = less_cell(builder, position, value.blank, cell)
    if has_room(position):
        child.padded = less_padded(builder, position, value.padded, cell)
    return child


# --- making and stepping ------------------------------------------------------------------------------------------


@intrinsic(prefer_literal=True)
def make_position(
    typingctx: Any, rows: Any, columns: Any, low: Any, high: Any, cell_0: Any, cell_1: Any, turn: Any
) -> Any:
    """A position from the low and high 64 bits of its blank cells; rows and columns must be constants."""
    if not (isinstance(rows, types.IntegerLiteral) and isinstance(columns, types.IntegerLiteral)):
        return None
    position = PositionType(rows.literal_value, columns.literal_value)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _, _, low, high, cell_0, cell_1, turn = args
        value = cgutils.create_struct_proxy(position)(context, builder)
        width = position.bitboard.width
        if width > 64:
            wide = ir.IntType(width)
            upper = builder.shl(builder.zext(high, wide), ir.Constant(wide, 64))
            value.blank = builder.or_(builder.zext(low, wide), upper)
        else:
            value.blank = low
        if has_room(position):
            value.padded = pad(builder, position, value.blank)
        value.cell_0, value.cell_1, value.turn = cell_0, cell_1, turn
        return value._getvalue()

    words = (types.uint64, types.uint64)
    return position(rows, columns, *words, types.int64, types.int64, types.int64), codegen


@of_position(lambda position, cell: position.bitboard(position, types.int64))
def moves_from(context: Any, builder: Any, position: Any, value: Any, cell: Any) -> Any:
    """The bitboard of blank cells a knight's move away from a cell."""
    return builder.and_(_knight_moves(builder, position, cell), value.blank)


@of_position(lambda position, cell: position(position, types.int64))
def after(context: Any, builder: Any, position: Any, value: Any, cell: Any) -> Any:
    """The position after the side to move has gone to a blank cell."""
    first = builder.icmp_signed("==", value.turn, ir.Constant(ir.IntType(64), 0))
    child = on_less_cells(context, builder, position, value, cell)
    child.cell_0 = builder.select(first, cell, value.cell_0)
    child.cell_1 = builder.select(first, value.cell_1, cell)
    child.turn = builder.sub(ir.Constant(ir.IntType(64), 1), value.turn)
    return child


@of_position(lambda position, turn: position(position, types.int64))
def turned(context: Any, builder: Any, position: Any, value: Any, turn: Any) -> Any:
    """The position with the other things as they are, and that player to move."""
    value.turn = turn
    return value


@of_position(lambda position, cell_0, cell_1, turn: position(position, types.int64, types.int64, types.int64))
def placed(context: Any, builder: Any, position: Any, value: Any, cell_0: Any, cell_1: Any, turn: Any) -> Any:
    """The position with the same blank cells, both players elsewhere and that player to move."""
    value.cell_0, value.cell_1, value.turn = cell_0, cell_1, turn
    return value


@of_position(lambda position, cell: position(position, types.int64))
def closed(context: Any, builder: Any, position: Any, value: Any, cell: Any) -> Any:
    """The position with one blank cell less, all else as it is."""
    less = on_less_cells(context, builder, position, value, cell)
    less.cell_0, less.cell_1, less.turn = value.cell_0, value.cell_1, value.turn
    return less


@of_position(lambda position, player: types.int64(position, types.int64))
def location_of(context: Any, builder: Any, position: Any, value: Any, player: Any) -> Any:
    """The cell a player stands on."""
    first = builder.icmp_signed("==", player, ir.Constant(ir.IntType(64), 0))
    return builder.select(first, value.cell_0, value.cell_1)


@of_board(lambda board, cell: types.int64(board, types.int64))
def _on_board(context: Any, builder: Any, board: Any, _: Any, cell: Any) -> Any:
    """A cell number, of which LLVM is told that it is one of the board's."""
    is_inside = builder.icmp_unsigned("<", cell, ir.Constant(cell.type, board.rows * board.columns))
    kind = ir.FunctionType(ir.VoidType(), [ir.IntType(1)])
    builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.assume"), [is_inside])
    return cell


@of_board(lambda board, cell: MOVE(board, types.int64))
def to_move(context: Any, builder: Any, board: Any, _: Any, cell: Any) -> Any:
    """A cell number as (row, column)."""
    return context.make_tuple(builder, MOVE, _to_move(builder, cell, board.columns))


@intrinsic(prefer_literal=True)
def as_cells(typingctx: Any, board: Any, mask: Any, by_column: Any) -> Any:
    """A bitboard as the set of cells of the board that a position or another set belongs to."""
    cells = CellsType(board.rows, board.columns, bool(by_column.literal_value))

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = cgutils.create_struct_proxy(cells)(context, builder)
        value.mask = args[1]
        return value._getvalue()

    return cells(board, mask, by_column), codegen


def _sideways(builder: Any, board: Any, mask: Any, step: int) -> Any:
    """A bitboard moved `step` columns to the right, or to the left if negative; what leaves the board is gone."""
    whole = ir.IntType(board.bitboard.width)
    stays = sum(column_masks(board.rows, board.columns)[max(0, -step) : board.columns - max(0, step)])
    kept = builder.and_(mask, ir.Constant(whole, stays))
    move = builder.shl if step > 0 else builder.lshr
    return move(kept, ir.Constant(whole, abs(step))) if stays else kept


@of_board(lambda board, mask: mask(board, mask))
def neighbours(context: Any, builder: Any, board: Any, _: Any, mask: Any) -> Any:
    """The bitboard of all cells a knight's move away from any cell of a bitboard.

    Bits below the last row of the board may be set, too: what comes out is meant to be cut down to blank cells.
    """
    return reach(builder, board, mask, board.columns)


@of_position(lambda position: types.UniTuple(position.bitboard, 8)(position))
def each_step(context: Any, builder: Any, position: Any, value: Any) -> Any:
    """Return, for each of the eight knight's moves, the targets of a blank cell and of cells off the board."""
    columns, width = position.columns, position.bitboard.width
    whole = ir.IntType(width)
    reached = []
    for across, down in ((1, 2 * columns), (-1, 2 * columns), (2, columns), (-2, columns)):
        moved = _sideways(builder, position, value.blank, across)
        for shift in (builder.shl, builder.lshr):
            reached.append(shift(moved, ir.Constant(whole, down)) if down < width else ir.Constant(whole, 0))
    return context.make_tuple(builder, types.UniTuple(position.bitboard, 8), reached)


@of_board(lambda board, mask: types.int64(board, mask))
def _links(context: Any, builder: Any, board: Any, _: Any, mask: Any) -> Any:
    """How many pairs of cells of a bitboard are a knight's move apart: each is seen from its upper cell."""
    columns, width = board.columns, board.bitboard.width
    whole = ir.IntType(width)
    count = ir.Constant(ir.IntType(64), 0)
    for across, down in ((1, 2 * columns), (2, columns)):
        for step in (across, -across) if down < width else ():
            below = builder.shl(_sideways(builder, board, mask, step), ir.Constant(whole, down))
            count = builder.add(count, bitboards.count_bits(builder, builder.and_(below, mask)))
    return count


# --- the reading API of a game ------------------------------------------------------------------------------------


@overload_attribute(PositionType, "width")
def _width(game):
    columns = game.columns
    return lambda game: columns


@overload_attribute(PositionType, "height")
def _height(game):
    rows = game.rows
    return lambda game: rows


@overload_attribute(PositionType, "move_count")
def _move_count(game):
    cells = game.rows * game.columns
    return lambda game: cells - bitboards.popcount(game._blank)


@overload_method(PositionType, "get_legal_moves")
def _get_legal_moves(game, player=None):
    if player is None or isinstance(player, (types.NoneType, types.Omitted)):
        return lambda game, player=None: as_cells(game, moves_from(game, location_of(game, game._turn)), False)
    return lambda game, player=None: as_cells(game, moves_from(game, location_of(game, player)), False)


@overload_method(PositionType, "reach")
def _reach(game, cells):
    if isinstance(cells, CellsType):
        return lambda game, cells: as_cells(game, bitboards.common(neighbours(game, cells._mask), game._blank), False)

    def reach(game, cells):
        reached = bitboards.difference(game._blank, game._blank)
        for row, column in cells:
            reached = bitboards.union(reached, moves_from(game, row * game.width + column))
        return as_cells(game, reached, False)

    return reach


@overload_method(PositionType, "links")
def _count_links(game, cells):
    if isinstance(cells, CellsType):
        return lambda game, cells: _links(game, cells._mask)

    def links(game, cells):
        seen = bitboards.difference(game._blank, game._blank)
        for row, column in cells:
            seen = bitboards.with_cell(seen, row * game.width + column)
        return _links(game, seen)

    return links


@for_all_types
def _two_of(numbers):
    """Return the two numbers of a list or array as a tuple."""
    if len(numbers) != 2:
        raise ValueError("a cell has a row and a column")
    return numbers[0], numbers[1]


@overload_method(PositionType, "move_is_legal")
def _move_is_legal(game, move):
    if isinstance(move, (types.List, types.Array)):

        def is_legal(game, move):
            row, column = _two_of(move)
            return (row, column) in as_cells(game, game._blank, True)

        return is_legal
    return lambda game, move: move in as_cells(game, game._blank, True)


@overload_method(PositionType, "utility")
@always
def _utility(game, player):
    if bitboards.is_empty(moves_from(game, location_of(game, game._turn))):
        return -INFINITY if player == game._turn else INFINITY
    return 0.0


@overload_method(PositionType, "forecast_move")
def _forecast_move(game, move):
    columns = game.columns
    return lambda game, move: after(game, move[0] * columns + move[1])


_ATTRIBUTES = {"active_player": lambda game: game._turn, "inactive_player": lambda game: 1 - game._turn}
_METHODS = {
    "copy": lambda game: game,
    "get_blank_spaces": lambda game: as_cells(game, game._blank, True),
    "get_opponent": lambda game, player: 1 - player,
    "get_player_location": lambda game, player: to_move(game, _on_board(game, location_of(game, player))),
    "is_loser": lambda game, player: (
        player == game._turn and bitboards.is_empty(moves_from(game, location_of(game, player)))
    ),
    "is_winner": lambda game, player: (
        player != game._turn and bitboards.is_empty(moves_from(game, location_of(game, 1 - player)))
    ),
}
for _name, _read in _ATTRIBUTES.items():
    overload_attribute(PositionType, _name)(always(_read))
for _name, _called in _METHODS.items():
    overload_method(PositionType, _name)(always(_called))


# --- sets, of cells and of others ---------------------------------------------------------------------------------


def _is_mask(items: Any) -> bool:
    return isinstance(items, MaskType)


operation(len, _is_mask)(lambda items: bitboards.popcount(items._mask))
operation(operator.truth, _is_mask)(lambda items: not bitboards.is_empty(items._mask))
operation(operator.not_, _is_mask)(lambda items: bitboards.is_empty(items._mask))


@lower_builtin(bool, MaskType)
def _bool(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    value = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=args[0])
    return builder.icmp_unsigned("!=", value.mask, ir.Constant(value.mask.type, 0))


# --- sets of cells ------------------------------------------------------------------------------------------------


def _are_cells(*values: Any) -> bool:
    return all(isinstance(value, CellsType) for value in values)


@overload(operator.contains)
def _contains(cells, move):
    if not _are_cells(cells):
        return None
    if not isinstance(move, types.BaseTuple) or len(move) != 2:
        return lambda cells, move: False
    rows, columns = cells.rows, cells.columns

    def contains(cells, move):
        row, column = int(move[0]), int(move[1])
        inside = 0 <= row < rows and 0 <= column < columns and row == move[0] and column == move[1]
        return inside and bitboards.contains(cells._mask, row * columns + column)

    return contains


@overload(operator.getitem)
def _getitem(cells, index):
    if not _are_cells(cells) or not isinstance(index, types.Integer):
        return None

    def getitem(cells, index):
        wanted = index if index >= 0 else index + len(cells)
        if wanted < 0 or wanted >= len(cells):
            raise IndexError("list index out of range")
        remaining = cells._mask
        for _ in range(wanted):
            remaining = bitboards.drop_lowest(remaining)
        return to_move(cells, bitboards.lowest(remaining))

    def getitem_by_column(cells, index):
        wanted = index if index >= 0 else index + len(cells)
        if wanted < 0 or wanted >= len(cells):
            raise IndexError("list index out of range")
        cell_at = (0, 0)
        for position, cell in enumerate(cells):
            if position == wanted:
                cell_at = cell
                break
        return cell_at

    return getitem_by_column if cells.by_column else getitem


operation(operator.eq, _are_cells)(lambda a, b: len(a - b) == 0 and len(b - a) == 0)
operation(operator.ne, _are_cells)(lambda a, b: len(a - b) > 0 or len(b - a) > 0)


def _set_operation(symbols: tuple[Any, ...], method: str, combine: Any) -> None:
    """Define an operator (and its in-place form) and the set method of the same meaning; the left order is kept."""

    def operation(a, b):
        if not _are_cells(a, b):
            return None
        by_column = a.by_column
        return lambda a, b: as_cells(a, combine(a._mask, b._mask), by_column)

    for symbol in symbols:
        overload(symbol)(operation)
    overload_method(CellsType, method)(operation)


_set_operation((operator.and_, operator.iand), "intersection", bitboards.common)
_set_operation((operator.or_, operator.ior), "union", bitboards.union)
_set_operation((operator.sub, operator.isub), "difference", bitboards.difference)


@lower_builtin("getiter", CellsType)
def _getiter(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    (cells,) = signature.args
    value = cgutils.create_struct_proxy(cells)(context, builder, value=args[0])
    iterator = context.make_helper(builder, signature.return_type)
    nothing = ir.Constant(value.mask.type, 0)
    iterator.whole = value.mask
    iterator.remaining = cgutils.alloca_once_value(builder, nothing if cells.by_column else value.mask)
    iterator.column = cgutils.alloca_once_value(builder, ir.Constant(ir.IntType(64), 0))
    return impl_ret_untracked(context, builder, signature.return_type, iterator._getvalue())


@lower_builtin("iternext", _CellsIteratorType)
@iternext_impl(RefType.UNTRACKED)
def _iternext(context: Any, builder: Any, signature: Any, args: Any, result: Any) -> None:
    (iterator_type,) = signature.args
    cells = iterator_type.cells
    iterator = context.make_helper(builder, iterator_type, value=args[0])
    if cells.by_column:
        _enter_next_column(builder, cells, iterator)
    remaining = builder.load(iterator.remaining)
    is_valid = builder.icmp_unsigned("!=", remaining, ir.Constant(remaining.type, 0))
    result.set_valid(is_valid)
    with builder.if_then(is_valid):
        move = _to_move(builder, bitboards.lowest_bit(builder, remaining), cells.columns)
        result.yield_(context.make_tuple(builder, MOVE, move))
        builder.store(bitboards.without_lowest_bit(builder, remaining), iterator.remaining)


def _enter_next_column(builder: Any, cells: CellsType, iterator: Any) -> None:
    """Go on to the next column that holds a cell of the set, once the present one is used up."""
    table = constant_table(
        builder,
        f"isolation_columns_{cells.rows}x{cells.columns}",
        cells.bitboard.width,
        column_masks(cells.rows, cells.columns),
    )
    check, step, done = (builder.append_basic_block(f"column.{name}") for name in ("check", "step", "done"))
    builder.branch(check)
    with builder.goto_block(check):
        remaining, column = builder.load(iterator.remaining), builder.load(iterator.column)
        used_up = builder.icmp_unsigned("==", remaining, ir.Constant(remaining.type, 0))
        is_inside = builder.icmp_signed("<", column, ir.Constant(column.type, cells.columns))
        builder.cbranch(builder.and_(used_up, is_inside), step, done)
    with builder.goto_block(step):
        column = builder.load(iterator.column)
        builder.store(builder.and_(iterator.whole, look_up(builder, table, column)), iterator.remaining)
        builder.store(builder.add(column, ir.Constant(column.type, 1)), iterator.column)
        builder.branch(check)
    builder.position_at_end(done)


@of_position(lambda position, cell: position(position, cell))
def handed_over(context: Any, builder: Any, position: Any, value: Any, cell: Any) -> Any:
    """The position after player 0, to move, has gone to a blank cell; its opponent is player 0 now, and to move."""
    child = on_less_cells(context, builder, position, value, cell)
    child.cell_0, child.cell_1 = value.cell_1, cell
    child.turn = ir.Constant(ir.IntType(64), 0)
    return child


@of_position(lambda position, side: position(position, types.int64))
def as_seen(context: Any, builder: Any, position: Any, value: Any, side: Any) -> Any:
    """A position whose player 0 is to move, with the players named so that it is player `side`, who is to move."""
    is_first = builder.icmp_signed("==", side, ir.Constant(side.type, 0))
    mover, other = value.cell_0, value.cell_1
    value.cell_0 = builder.select(is_first, mover, other)
    value.cell_1 = builder.select(is_first, other, mover)
    value.turn = side
    return value


# --- what old code reads and sets of a game's private state -------------------------------------------------------


@for_all_types
def facing(game, player):
    """Return the game with that player to move."""
    return turned(game, player)


@for_all_types
def awaiting(game, player):
    """Return the game with the opponent of that player to move."""
    return turned(game, 1 - player)


@by_type
def flat_state(game):
    """Return the second edition's `_board_state`: the cells column by column, who is to move, where both stand."""
    if not isinstance(game, PositionType):
        return None
    rows, columns = game.rows, game.columns

    def flat_state(game):
        state = [
            0 if bitboards.contains(game._blank, row * columns + column) else 1
            for column in range(columns)
            for row in range(rows)
        ]
        (row, column), (other_row, other_column) = game.get_player_location(0), game.get_player_location(1)
        return state + [game._turn, other_row + other_column * rows, row + column * rows]  # noqa: RUF005

    return flat_state


@by_type
def visited_rows(game):
    """Return the first edition's `__board_state__`, as far as it is known: 0 where a cell is open, else 3.

    Positions do not keep who visited a cell, 1 or 2: what tells them apart differs from Python, and is found out.
    """
    if not isinstance(game, PositionType):
        return None
    rows, columns = game.rows, game.columns
    return lambda game: [
        [0 if bitboards.contains(game._blank, row * columns + column) else 3 for column in range(columns)]
        for row in range(rows)
    ]
