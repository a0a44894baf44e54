"""The board: cells, sets of cells, and what heuristics ask a game."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from ..rules.geometry import column_masks, knight_masks
from .flow import Flow
from .numbers import choice, to_int
from .values import (
    BOOL,
    INT,
    Bound,
    Cell,
    Cells,
    Choice,
    Game,
    Number,
    Optional,
    Player,
    Signal,
    Static,
    Tuple,
    UnsupportedError,
    Value,
    is_number,
    real,
    truth,
    whole,
)


def cell_count(flow: Flow) -> int:
    """How many cells the board has."""
    return flow.rows * flow.columns


def row_of(flow: Flow, cell: Cell) -> Value:
    """The row of a cell: one of as many numbers as there are cells, so that what depends on it becomes a table."""
    return choice(flow, cell.signal, [index // flow.columns for index in range(cell_count(flow))])


def column_of(flow: Flow, cell: Cell) -> Value:
    """The column of a cell."""
    return choice(flow, cell.signal, [index % flow.columns for index in range(cell_count(flow))])


def pair_of(flow: Flow, value: Value) -> tuple[Value, Value] | None:
    """The two items of what may be a cell; None if it has not two."""
    value = flow.content(value)
    if isinstance(value, Cell):
        return row_of(flow, value), column_of(flow, value)
    if isinstance(value, Static) and isinstance(value.value, tuple | list) and len(value.value) == 2:
        return Static(value.value[0]), Static(value.value[1])
    if isinstance(value, Choice) and all(isinstance(option, tuple) and len(option) == 2 for option in value.values):
        first, second = zip(*value.values, strict=True)
        return choice(flow, value.signal, list(first)), choice(flow, value.signal, list(second))
    items = getattr(value, "items", ())
    return (items[0], items[1]) if len(items) == 2 else None  # type: ignore[misc]


def cell_of_pair(flow: Flow, items: Sequence[Value]) -> Cell | None:
    """The cell whose row and column these are, if they are those of one cell."""
    if len(items) != 2 or not all(isinstance(item, Choice) for item in items):
        return None
    row, column = items
    if row.signal is not column.signal or len(row.options) != cell_count(flow):  # type: ignore[attr-defined]
        return None
    is_cell = (row_of(flow, Cell(row.signal)), column_of(flow, Cell(row.signal))) == (row, column)  # type: ignore[attr-defined]
    return Cell(row.signal) if is_cell else None  # type: ignore[attr-defined]


def cell_number(flow: Flow, value: Value) -> tuple[Signal, Signal]:
    """The number of a cell, and whether it is on the board; the number is 0 where it is not.

    Raises:
        UnsupportedError: the value is no pair of ints.
    """
    if isinstance(value, Optional):
        cell, is_inside = cell_number(flow, value.value)
        return cell, flow.build.and_(is_inside, flow.build.not_(value.signal))
    if isinstance(value, Cell):
        return value.signal, truth(True)
    pair = pair_of(flow, value)
    if pair is None:
        if isinstance(value, Static):
            return whole(0), truth(False)
        raise UnsupportedError("a cell that is not a pair of a row and a column")
    row, column = (to_int(flow, item) for item in pair)
    is_inside = truth(True)
    for given, count in ((row, flow.rows), (column, flow.columns)):
        if not 0 <= given.low <= given.high < count:
            is_inside = flow.build.and_(is_inside, flow.build.icmp_unsigned("<", given.signal, whole(count)))
    cell = flow.build.add(flow.build.mul(row.signal, whole(flow.columns)), column.signal)
    if isinstance(is_inside, ir.Constant):
        return cell, is_inside
    return flow.build.select(is_inside, cell, whole(0)), is_inside


def bit_of(flow: Flow, cell: Signal) -> Signal:
    """The bitboard of one cell."""
    return flow.build.shl(ir.Constant(flow.mask, 1), in_mask(flow, cell))


def in_mask(flow: Flow, signal: Signal) -> Signal:
    """A 64-bit number with the width of a bitboard."""
    return signal if flow.mask.width == INT.width else flow.build.zext(signal, flow.mask)


def out_of_mask(flow: Flow, signal: Signal) -> Signal:
    """A number with the width of a bitboard as one of 64 bits."""
    return signal if flow.mask.width == INT.width else flow.build.trunc(signal, INT)


def no_cells(flow: Flow) -> ir.Constant:
    """The empty bitboard."""
    return ir.Constant(flow.mask, 0)


def is_empty(flow: Flow, mask: Signal) -> Signal:
    """Whether a bitboard has no cell."""
    return flow.build.icmp_unsigned("==", mask, no_cells(flow))


def count_cells(flow: Flow, mask: Signal) -> Number:
    """How many cells a bitboard has."""
    return Number("int", out_of_mask(flow, flow.build.ctpop(mask)), 0, cell_count(flow))


def lowest(flow: Flow, mask: Signal) -> Signal:
    """The number of the first cell of a bitboard that has one."""
    return out_of_mask(flow, flow.build.cttz(mask, truth(True)))


def without_lowest(flow: Flow, mask: Signal) -> Signal:
    """A bitboard without its first cell."""
    return flow.build.and_(mask, flow.build.sub(mask, ir.Constant(flow.mask, 1)))


def has_cell(flow: Flow, cells: Cells, value: Value) -> Value:
    """Whether a cell is one of a set of cells."""
    cell, is_inside = cell_number(flow, value)
    if cells.outside is not None and not isinstance(is_inside, ir.Constant):
        flow.heap.leaves_board = True
        flow.give_up_if(flow.build.and_(cells.outside, flow.build.not_(is_inside)))
    shifted = flow.build.lshr(cells.signal, in_mask(flow, cell))
    return Number("bool", flow.build.and_(flow.build.trunc(shifted, BOOL), is_inside), 0, 1)


def on_board(flow: Flow, cells: Cells) -> Cells:
    """A set of cells of which it is certain that it holds nothing else."""
    if cells.outside is None:
        return cells
    flow.heap.leaves_board = True
    flow.give_up_if(cells.outside)
    return Cells(cells.signal, cells.order)


def cells_of(flow: Flow, value: Value) -> Cells | None:
    """A value as a set of cells, if it is one or holds known cells alone; None if not."""
    value = flow.content(value)
    if isinstance(value, Cells):
        return value
    items = getattr(value, "items", None)
    if isinstance(value, Static) and isinstance(value.value, list | tuple | set | frozenset):
        items = tuple(map(Static, value.value))
    if items is None or not all(_is_cell(item) for item in items):
        return None
    mask: Signal = no_cells(flow)
    for item in items:
        cell, is_inside = cell_number(flow, item)
        flow.give_up_if(
            flow.build.not_(is_inside) if not isinstance(is_inside, ir.Constant) else truth(not is_inside.constant)
        )
        mask = flow.build.or_(mask, bit_of(flow, cell))
    return Cells(mask, "set")


def _is_cell(value: Value) -> bool:
    if isinstance(value, Static):
        return isinstance(value.value, tuple) and len(value.value) == 2 and all(map(is_number, value.value))
    return isinstance(value, Cell | Optional) or (isinstance(value, Tuple) and len(value.items) == 2)


# --- moves


def knight_moves(flow: Flow, cell: Signal) -> Signal:
    """The bitboard of the cells a knight's move away from a cell, blank or not."""
    name = f"isolation_knight_{flow.rows}x{flow.columns}"
    if name not in flow.module.globals:
        masks = list(knight_masks(flow.rows, flow.columns))
        table = ir.GlobalVariable(flow.module, ir.ArrayType(flow.mask, len(masks)), name)
        table.initializer = ir.Constant(table.value_type, masks)
        table.global_constant, table.linkage = True, "linkonce_odr"
    address = flow.build.gep(flow.module.globals[name], [whole(0), cell], inbounds=True)
    return flow.build.load(address)


def moves_from(flow: Flow, game: Game, cell: Signal) -> Signal:
    """The bitboard of the blank cells a knight's move away from a cell."""
    return flow.build.and_(knight_moves(flow, cell), game.blank)


def location_of(flow: Flow, game: Game, player: Signal) -> Signal:
    """The cell a player stands on."""
    is_first = flow.build.icmp_signed("==", player, whole(0))
    return flow.build.select(is_first, game.cell_0, game.cell_1)


def player_signal(flow: Flow, value: Value) -> Signal:
    """The number of a player.

    Raises:
        UnsupportedError: the value is no player.
    """
    if isinstance(value, Optional):
        flow.fail_if(value.signal, KeyError)
        value = value.value
    if not isinstance(value, Player):
        raise UnsupportedError("a player is asked for, and something else is given")
    return value.signal


def other_player(flow: Flow, player: Signal) -> Signal:
    """The number of the other player."""
    return flow.build.sub(whole(1), player)


def _is_stuck(flow: Flow, game: Game) -> Signal:
    return is_empty(flow, moves_from(flow, game, location_of(flow, game, game.turn)))


def _utility(flow: Flow, game: Game, player: Value) -> Value:
    is_mover = flow.build.icmp_signed("==", player_signal(flow, player), game.turn)
    worth = flow.build.select(is_mover, real(float("-inf")), real(float("inf")))
    return Number("float", flow.build.select(_is_stuck(flow, game), worth, real(0)))


def _is_over_for(flow: Flow, game: Game, player: Value, is_loser: bool) -> Value:
    is_mover = flow.build.icmp_signed("==", player_signal(flow, player), game.turn)
    is_meant = is_mover if is_loser else flow.build.not_(is_mover)
    return Number("bool", flow.build.and_(_is_stuck(flow, game), is_meant), 0, 1)


def _legal_moves(flow: Flow, game: Game, player: Value | None = None) -> Value:
    is_default = player is None or (isinstance(player, Static) and player.value is None)
    mover = game.turn if is_default else player_signal(flow, player)  # type: ignore[arg-type]
    return Cells(moves_from(flow, game, location_of(flow, game, mover)), "row", most=8)


def _forecast(flow: Flow, game: Game, move: Value) -> Value:
    cell, is_inside = cell_number(flow, move)
    if not isinstance(is_inside, ir.Constant):
        flow.give_up_if(flow.build.not_(is_inside))
    build = flow.build
    is_first = build.icmp_signed("==", game.turn, whole(0))
    return Game(
        build.and_(game.blank, build.not_(bit_of(flow, cell))),
        build.select(is_first, cell, game.cell_0),
        build.select(is_first, game.cell_1, cell),
        other_player(flow, game.turn),
        game.padded
        and build.and_(game.padded, build.not_(_looked_up(flow, "bit", [[cell] for cell in _cells(flow)], cell))),
    )


def _location(flow: Flow, game: Game, player: Value) -> Value:
    cell = location_of(flow, game, player_signal(flow, player))
    name = "llvm.assume"
    kind = ir.FunctionType(ir.VoidType(), [BOOL])
    assume = flow.module.globals.get(name) or ir.Function(flow.module, kind, name)
    flow.build.call(assume, [flow.build.icmp_unsigned("<", cell, whole(cell_count(flow)))])
    return Cell(cell)


def _reach(flow: Flow, game: Game, cells: Value) -> Value:
    content = flow.content(cells)
    items = getattr(content, "items", None)
    if items is not None and len(items) <= 2:
        mask: Signal = no_cells(flow)
        for item in items:
            cell, is_inside = cell_number(flow, item)
            if not isinstance(is_inside, ir.Constant):
                flow.give_up_if(flow.build.not_(is_inside))
            mask = flow.build.or_(mask, moves_from(flow, game, cell))
        return Cells(mask, "row")
    known = cells_of(flow, cells)
    known = known and on_board(flow, known)
    if known is None:
        raise UnsupportedError("reach of what is no set of cells")
    return Cells(flow.build.and_(_neighbours(flow, known.signal), game.blank), "row")


def _neighbours(flow: Flow, mask: Signal, stride: int | None = None) -> Signal:
    """The cells a knight's move away from any of a bitboard whose rows begin `stride` bits apart, and cells off it."""
    build, columns = flow.build, column_masks(flow.rows, flow.columns)
    is_padded, stride = stride is not None, stride or flow.columns
    # The moves to one side lie twice as far from those to the other, if nothing that matters is shifted out then.
    is_wide = is_padded or flow.rows * flow.columns + 2 <= flow.mask.width
    near: Signal = no_cells(flow)
    for across, rows in ((1, 2), (2, 1)):
        if across >= flow.columns or rows >= flow.rows:
            continue
        left = right = mask
        if not is_padded:
            left = build.and_(mask, ir.Constant(flow.mask, sum(columns[across:])))
            right = build.and_(mask, ir.Constant(flow.mask, sum(columns[:-across])))
        back, down = 0 if is_wide else across, rows * stride
        left = build.lshr(left, ir.Constant(flow.mask, back))
        both = build.or_(left, build.shl(right, ir.Constant(flow.mask, 2 * across - back)))
        near = build.or_(near, build.shl(both, ir.Constant(flow.mask, down - across + back)))
        near = build.or_(near, build.lshr(both, ir.Constant(flow.mask, down + across - back)))
    return near


# --- padded bitboards, for floods


def _cells(flow: Flow) -> range:
    return range(cell_count(flow))


def _stride(flow: Flow, game: Game) -> int:
    """How many bits the rows of a padded bitboard begin apart; where there is no room, it is as any other."""
    return flow.columns + (2 if game.padded is not None else 0)


def _placed(flow: Flow, game: Game, cells: Sequence[int]) -> int:
    moves = (divmod(cell, flow.columns) for cell in cells)
    return sum(1 << row * _stride(flow, game) + column for row, column in moves)


def padded_blank(flow: Flow, game: Game) -> Cells:
    """The blank cells."""
    return Cells(game.blank if game.padded is None else game.padded, "padded")


def padded_light(flow: Flow, game: Game) -> Cells:
    """The cells of the first cell's colour."""
    light = [cell for cell in _cells(flow) if sum(divmod(cell, flow.columns)) % 2 == 0]
    return Cells(ir.Constant(flow.mask, _placed(flow, game, light)), "padded")


def padded_moves(flow: Flow, game: Game, player: Value) -> Cells:
    """The cells that a player can move to."""
    cell = location_of(flow, game, player_signal(flow, player))
    if game.padded is None:
        return Cells(moves_from(flow, game, cell), "padded")
    members = [_bits_of(mask) for mask in knight_masks(flow.rows, flow.columns)]
    return Cells(flow.build.and_(_looked_up(flow, "knight", members, cell), game.padded), "padded")


def padded_near(flow: Flow, game: Game, cells: Cells) -> Cells:
    """The cells a knight's move away from any of some, and others off the board."""
    return Cells(_neighbours(flow, cells.signal, None if game.padded is None else _stride(flow, game)), "padded")


def _bits_of(mask: int) -> list[int]:
    return [bit for bit in range(mask.bit_length()) if mask >> bit & 1]


def _looked_up(flow: Flow, what: str, members: Sequence[Sequence[int]], cell: Signal) -> Signal:
    """The padded bitboard of the cells that belong to a cell."""
    name = f"isolation_padded_{what}_{flow.rows}x{flow.columns}"
    if name not in flow.module.globals:
        masks = [
            sum(1 << c // flow.columns * (flow.columns + 2) + c % flow.columns for c in cells) for cells in members
        ]
        table = ir.GlobalVariable(flow.module, ir.ArrayType(flow.mask, len(masks)), name)
        table.initializer = ir.Constant(table.value_type, masks)
        table.global_constant, table.linkage = True, "linkonce_odr"
    address = flow.build.gep(flow.module.globals[name], [whole(0), cell], inbounds=True)
    return flow.build.load(address)


def _links(flow: Flow, game: Game, cells: Value) -> Value:
    known = cells_of(flow, cells)
    known = known and on_board(flow, known)
    if known is None:
        raise UnsupportedError("links of what is no set of cells")
    count: Signal = whole(0)
    for across, down in ((1, 2 * flow.columns), (2, flow.columns)):
        for step in (across, -across) if down < flow.mask.width and across < flow.columns else ():
            below = flow.build.shl(_sideways(flow, known.signal, step), ir.Constant(flow.mask, down))
            pairs = flow.build.ctpop(flow.build.and_(below, known.signal))
            count = flow.build.add(count, out_of_mask(flow, pairs))
    return Number("int", count, 0, 4 * cell_count(flow))


def _sideways(flow: Flow, mask: Signal, step: int) -> Signal:
    """A bitboard moved `step` columns to the right; what leaves the board is gone."""
    stays = sum(column_masks(flow.rows, flow.columns)[max(0, -step) : flow.columns - max(0, step)])
    kept = flow.build.and_(mask, ir.Constant(flow.mask, stays))
    move = flow.build.shl if step > 0 else flow.build.lshr
    return move(kept, ir.Constant(flow.mask, abs(step)))


_METHODS: dict[str, Callable[..., Value]] = {
    "get_legal_moves": _legal_moves,
    "get_blank_spaces": lambda flow, game: Cells(game.blank, "column"),
    "get_opponent": lambda flow, game, player: Player(other_player(flow, player_signal(flow, player))),
    "get_player_location": _location,
    "move_is_legal": lambda flow, game, move: has_cell(flow, Cells(game.blank, "set"), move),
    "forecast_move": _forecast,
    "copy": lambda flow, game: game,
    "utility": _utility,
    "is_loser": lambda flow, game, player: _is_over_for(flow, game, player, True),
    "is_winner": lambda flow, game, player: _is_over_for(flow, game, player, False),
    "reach": _reach,
    "links": _links,
}
"""What heuristics call, by name: functions of the flow, the game and the arguments."""
_PARAMETERS = ("player", "move", "cells")
_ATTRIBUTES: dict[str, Callable[[Flow, Game], Value]] = {
    "width": lambda flow, game: Static(flow.columns),
    "height": lambda flow, game: Static(flow.rows),
    "active_player": lambda flow, game: Player(game.turn),
    "inactive_player": lambda flow, game: Player(other_player(flow, game.turn)),
    "move_count": lambda flow, game: _move_count(flow, game),
}


def _move_count(flow: Flow, game: Game) -> Value:
    blank = count_cells(flow, game.blank)
    cells = cell_count(flow)
    return Number("int", flow.build.sub(whole(cells), blank.signal, flags=("nsw",)), 0, cells)


def attribute_of_game(flow: Flow, game: Game, name: str) -> Value:
    """An attribute of a game, or a method of it.

    Raises:
        UnsupportedError: compiled code knows no such attribute.
    """
    if name in _ATTRIBUTES:
        return _ATTRIBUTES[name](flow, game)
    if name in _METHODS or name in LIBRARY_METHODS:
        return Bound(game, name)
    raise UnsupportedError(f"game.{name} is not part of what is compiled")


LIBRARY_METHODS = ("territory", "distances")
"""Methods of a game that `library.py` has in Python."""


def call_of_game(flow: Flow, game: Game, name: str, arguments: list[Value], keywords: dict[str, Value]) -> Value:
    """What a method of a game gives."""
    given = [*arguments, *(keywords[parameter] for parameter in _PARAMETERS if parameter in keywords)]
    if len(given) != len(arguments) + len(keywords):
        raise UnsupportedError(f"game.{name} has no such arguments")
    return _METHODS[name](flow, game, *given)
