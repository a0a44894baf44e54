"""Lower the game APIs: the classic one's private names and moves on copies, the third edition's states."""

from __future__ import annotations

import ast
import copy
import operator
from difflib import get_close_matches
from typing import Any

from ...rules.classic_board import Board
from ...rules.third_edition import DebugState, Isolation
from ..compile_errors import refuse
from ..source.rewrite import Rewrite, at, call, name, support, target
from .constants import LARGEST
from .element_types import pairs, with_values

_PRIVATE_ATTRIBUTES = {"_active_player": "active_player", "__active_player__": "active_player"}
_PRIVATE_ATTRIBUTES |= {"_inactive_player": "inactive_player", "__inactive_player__": "inactive_player"}
_CONSTANTS: dict[str, int | None] = {"_player_1": 0, "__player_1__": 0, "_player_2": 1, "__player_2__": 1}
_CONSTANTS |= {"BLANK": 0, "NOT_MOVED": None}
_SIDES = {old: "facing" if old.strip("_") == "active_player" else "awaiting" for old in _PRIVATE_ATTRIBUTES}
"""Who is to move, as old code sets it."""
_STATES = {"_board_state": "flat_state", "__board_state__": "visited_rows"}
_MOVES_FROM = ("__get_moves__", "_Board__get_moves")
_OF_CELLS = ("move_is_legal", "forecast_move")
_READABLE = {"active_player", "inactive_player", "height", "width", "move_count", "get_opponent", "get_player_location"}
_READABLE |= {"get_legal_moves", "get_blank_spaces", "move_is_legal", "is_loser", "is_winner", "utility", "reach"}
_READABLE |= {"copy", "forecast_move", "links", "territory", "distances"}


class LowerClassicApi(Rewrite):
    """Private names become public ones, and `g.apply_move(m)` becomes `g = g.forecast_move(m)`."""

    def visit_Expr(self, node: ast.Expr) -> Any:
        value = node.value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "apply_move":
            board = value.func.value
            if not isinstance(board, ast.Name) or board.id not in self.copies:
                refuse("it makes a move on the game itself, not on a copy", node)
            value.func.attr = "forecast_move"
            return at(node, ast.Assign([target(board.id)], self.visit(value)))
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        targets = node.targets[0].elts if isinstance(node.targets[0], ast.Tuple) else node.targets
        if len(node.targets) != 1 or not any(self._side(target) for target in targets):
            return self.generic_visit(node)
        value = self.visit(node.value)
        if len(targets) == 1:
            return at(node, self._turned(targets[0], value))
        held = [self.context.fresh("set") for _ in targets]
        self.scope.names.update(held)
        first = ast.Assign([ast.Tuple([target(name) for name in held], ast.Store())], value)
        return [
            at(node, first),
            *(at(node, self._turned(*pair)) for pair in zip(targets, map(name, held), strict=True)),
        ]

    def _side(self, target: ast.expr) -> str:
        """The function that sets what an expression names, if that is who is to move in a game."""
        if not isinstance(target, ast.Attribute) or self.kind(target.value) != "game":
            return ""
        own = isinstance(target.value, ast.Name) and target.value.id in self.scope.names
        return _SIDES.get(target.attr, "") if own else ""

    def _turned(self, attribute: ast.expr, value: ast.expr) -> ast.Assign:
        side = self._side(attribute)
        if not side:
            return ast.Assign([attribute], value)
        assert isinstance(attribute, ast.Attribute)
        assert isinstance(attribute.value, ast.Name)
        game = attribute.value.id
        return ast.Assign([target(game)], support(side, name(game), value))

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        base: ast.expr = node
        while isinstance(base, ast.Subscript):
            base = base.value
        is_state = isinstance(base, ast.Attribute) and base.attr in _STATES and self.kind(base.value) == "game"
        if is_state and not isinstance(node.ctx, ast.Load):
            refuse(f"it changes {ast.unparse(base)}", node)
        if (game := self._game_of(node.value, ("__last_player_move__",))) is not None:
            return at(node, _asked(self.visit(game), "get_player_location", self.visit(node.slice)))
        return self.generic_visit(node)

    def _prepare(self, node: ast.FunctionDef) -> None:
        self.copies = {
            target.id
            for statement in ast.walk(node)
            if isinstance(statement, ast.Assign) and self.kind(statement.value) == "game"
            for target in statement.targets
            if isinstance(target, ast.Name) and not isinstance(statement.value, ast.Name)
        }

    def visit_Call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Attribute) and node.func.attr in _MOVES_FROM and len(node.args) == 1:
            cells = ast.Tuple([self.visit(_as_cell(node.args[0]))], ast.Load())
            return at(node, _asked(self.visit(node.func.value), "reach", cells))
        if self._game_of(node.func, _OF_CELLS) is not None:
            node.args = [_as_cell(argument) for argument in node.args]
        copying = self.value_of(node.func, ast.AST)
        if len(node.args) == 1 and (copying is copy.copy or copying is copy.deepcopy):
            if self.kind(node.args[0]) == "game":
                return at(node, call(ast.Attribute(self.visit(node.args[0]), "copy", ast.Load())))
            copied = "copied_deeply" if copying is copy.deepcopy else "copied"
            return at(node, support(copied, self.visit(node.args[0])))
        return self.generic_visit(node)

    def _game_of(self, node: ast.expr, names: tuple[str, ...]) -> ast.expr | None:
        is_one = isinstance(node, ast.Attribute) and node.attr in names and self.kind(node.value) == "game"
        return node.value if is_one and isinstance(node, ast.Attribute) else None

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        kind = self.kind(node.value)
        if kind == "player":
            refuse(f"it reads {ast.unparse(node)}, but in compiled code a player is a number", node)
        if kind == "game":
            if isinstance(node.ctx, ast.Store):
                refuse(f"it changes {ast.unparse(node)}", node)
            if node.attr in _CONSTANTS:
                return at(node, ast.Constant(_CONSTANTS[node.attr]))
            if node.attr in _STATES:
                return at(node, support(_STATES[node.attr], self.visit(node.value)))
            node.attr = _PRIVATE_ATTRIBUTES.get(node.attr, node.attr)
            if node.attr not in _READABLE:
                near = [] if hasattr(Board, node.attr) else get_close_matches(node.attr, _READABLE, n=1, cutoff=0.75)
                meant = f": did you mean {near[0]}?" if near else ""
                if node.attr in ("to_string", "hash", "print_board"):
                    meant = ": ask for cells, by game.get_blank_spaces() and game.get_player_location(player)"
                refuse(f"it uses {ast.unparse(node)}, which games in compiled code do not support{meant}", node)
        return self.generic_visit(node)


def _asked(game: ast.expr, method: str, *arguments: ast.expr) -> ast.Call:
    return call(ast.Attribute(game, method, ast.Load()), *arguments)


def _as_cell(node: ast.expr) -> ast.expr:
    return at(node, ast.Tuple(node.elts, ast.Load())) if isinstance(node, ast.List) else node


_FOLDED = {ast.LShift: operator.lshift, ast.Sub: operator.sub, ast.BitOr: operator.or_}
_BITS = 256
"""What is shifted further has more bits than compiled code has."""
_FIELDS = ("board", "ply_count", "locs")


class LowerStates(Rewrite):
    """`state.board >> cell & 1` asks for a cell, `Isolation(state.board, plies, locs)` turns a state about."""

    def _prepare(self, node: ast.FunctionDef) -> None:
        self.changed = self.changed_names(node) if self.context.is_of_states else set()
        self.of_bits = {
            inner.target.value.id
            for inner in ast.walk(node)
            if isinstance(inner, ast.AugAssign) and isinstance(inner.op, ast.BitOr | ast.BitAnd | ast.BitXor)
            if isinstance(inner.target, ast.Subscript) and isinstance(inner.target.value, ast.Name)
        }

    def visit_Assign(self, node: ast.Assign) -> Any:
        return self.generic_visit(with_values(node, [self._as_used(place, value) for place, value in pairs(node)]))

    def _as_used(self, place: ast.expr, value: ast.expr) -> ast.expr:
        match place, value:
            case ast.Name(called), ast.Call(ast.Attribute(_, "liberties" | "actions")) if called in self.changed:
                return at(value, call(self.context.builtin("list"), value))
            case ast.Name(called), ast.List(elements) if called in self.of_bits and self.context.is_of_states:
                value.elts = [support("wide", each) if _is_whole(each) else each for each in elements]
        return value

    def visit_Call(self, node: ast.Call) -> Any:
        made = self.value_of(node.func, ast.AST)
        if made == DebugState.from_state and len(node.args) == 1:
            return self.visit(node.args[0])
        if made is Isolation or made is DebugState:
            return self._state(node, dict(zip(_FIELDS, node.args, strict=False)), None)
        match node.func:
            case ast.Attribute(origin, "_replace") if {keyword.arg for keyword in node.keywords} <= set(_FIELDS):
                return self._state(node, {}, origin)
        if state := _state_counted(node):
            return at(node, support("count_open", self.visit(state)))
        return self.generic_visit(node)

    def _state(self, node: ast.Call, given: dict[str, ast.expr], origin: ast.expr | None) -> ast.expr:
        """The state of which these are the fields; `origin` has those that are not given."""
        given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        if origin is None and given.keys() != set(_FIELDS):
            refuse("it makes an empty state, which compiled code does not support: make it of another's board", node)
        state, shut = _origin(given["board"]) if "board" in given else (origin, None)
        if state is None:
            refuse("it makes a state of a board of its own: write state.board, or state.board & ~(1 << cell)", node)
        known = origin if origin is not None else state
        plies, places = (given.get(field, ast.Attribute(known, field, ast.Load())) for field in _FIELDS[1:])
        written = self.visit(state)
        if shut is not None:
            written = support("with_closed", written, self.visit(shut))
        return at(node, support("state_of", written, self.visit(plies), self.visit(places)))

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        if isinstance(node.op, ast.BitAnd) and (looked := _cell_looked_for(node)):
            state, cell = looked
            return at(node, support("is_open", self.visit(state), self.visit(cell)))
        self.generic_visit(node)
        match node:
            case ast.BinOp(ast.Constant(int(value)), op, ast.Constant(int(other))) if type(op) in _FOLDED:
                if isinstance(op, ast.LShift) and not 0 <= other < _BITS:
                    return node
                folded = _FOLDED[type(op)](value, other)
                return at(node, ast.Constant(folded)) if max(abs(value), abs(folded)) >= LARGEST else node
            case ast.BinOp(ast.Constant(int()), ast.LShift()) if self.context.is_of_states or self.context.attempt:
                node.left = at(node, support("wide", node.left))
        return node


def _is_whole(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def _origin(node: ast.expr) -> tuple[ast.expr | None, ast.expr | None]:
    """The state whose board an expression is, and the cell that it closes on it."""
    match node:
        case ast.Attribute(state, "board"):
            return state, None
        case ast.BinOp(ast.Attribute(state, "board"), ast.BitAnd(), ast.UnaryOp(ast.Invert(), mask)):
            return state, _cell_of(mask)
    return None, None


def _cell_of(mask: ast.expr) -> ast.expr:
    match mask:
        case ast.BinOp(ast.Constant(1), ast.LShift(), cell):
            return cell
    refuse("it closes cells of a board otherwise than by ~(1 << cell), which compiled code does not support", mask)


def _state_counted(node: ast.Call) -> ast.expr | None:
    """The state whose open cells are counted, ``bin(state.board).count("1")``."""
    match node:
        case ast.Call(
            ast.Attribute(ast.Call(ast.Name("bin"), [ast.Attribute(state, "board")]), "count"), [ast.Constant("1")]
        ):
            return state
    return None


def _cell_looked_for(node: ast.BinOp) -> tuple[ast.expr, ast.expr] | None:
    """The state and the cell of ``state.board & (1 << cell)`` and ``state.board >> cell & 1``."""
    match (node.left, node.right):
        case (ast.Attribute(state, "board"), ast.BinOp(ast.Constant(1), ast.LShift(), cell)):
            return state, cell
        case (ast.BinOp(ast.Constant(1), ast.LShift(), cell), ast.Attribute(state, "board")):
            return state, cell
        case (ast.BinOp(ast.Attribute(state, "board"), ast.RShift(), cell), ast.Constant(1)):
            return state, cell
    return None
