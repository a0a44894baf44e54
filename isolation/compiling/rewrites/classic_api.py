# ruff: noqa: N802 -- visit_Name and the like are named by ast
"""Lower the classic game API: private names, and moves made on copies."""

from __future__ import annotations

import ast
import copy
from difflib import get_close_matches
from typing import Any

from knights_isolation.isolation.compiling.source.compile_error import refuse
from knights_isolation.isolation.compiling.source.rewrite import Rewrite, at, call, name, support, target
from knights_isolation.isolation.editions.classic_board import Board

_PRIVATE_ATTRIBUTES = {
    "_active_player": "active_player",
    "__active_player__": "active_player",
    "_inactive_player": "inactive_player",
    "__inactive_player__": "inactive_player",
}
_CONSTANTS: dict[str, int | None] = {
    "_player_1": 0,
    "__player_1__": 0,
    "_player_2": 1,
    "__player_2__": 1,
    "BLANK": 0,
    "NOT_MOVED": None,
}
_SIDES = {
    "_active_player": "facing",
    "__active_player__": "facing",
    "_inactive_player": "awaiting",
    "__inactive_player__": "awaiting",
}
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
        """Rewrite a move made on a copy of the game."""
        value = node.value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "apply_move":
            board = value.func.value
            if not isinstance(board, ast.Name) or board.id not in self.copies:
                refuse("it makes a move on the game itself, not on a copy", node)
            value.func.attr = "forecast_move"
            return at(node, ast.Assign([target(board.id)], self.visit(value)))
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Rewrite the setting of who is to move, several at once included."""
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
        """Refuse changes to what the board keeps of its cells."""
        base: ast.expr = node
        while isinstance(base, ast.Subscript):
            base = base.value
        is_state = isinstance(base, ast.Attribute) and base.attr in _STATES and self.kind(base.value) == "game"
        if is_state and not isinstance(node.ctx, ast.Load):
            refuse(f"it changes {ast.unparse(base)}", node)
        if (game := self._game_of(node.value, ("__last_player_move__",))) is not None:
            return at(node, _asked(self.visit(game), "get_player_location", self.visit(node.slice)))
        return self.generic_visit(node)

    def apply(self, node: ast.FunctionDef) -> None:
        """Rewrite the body of a definition in place."""
        self.copies = {
            target.id
            for statement in ast.walk(node)
            if isinstance(statement, ast.Assign) and self.kind(statement.value) == "game"
            for target in statement.targets
            if isinstance(target, ast.Name) and not isinstance(statement.value, ast.Name)
        }
        super().apply(node)

    def visit_Call(self, node: ast.Call) -> Any:
        """Rewrite the classic's moves from a cell, and copies made with the copy module."""
        if isinstance(node.func, ast.Attribute) and node.func.attr in _MOVES_FROM and len(node.args) == 1:
            cells = ast.Tuple([self.visit(_as_cell(node.args[0]))], ast.Load())
            return at(node, _asked(self.visit(node.func.value), "reach", cells))
        if self._game_of(node.func, _OF_CELLS) is not None:
            node.args = [_as_cell(argument) for argument in node.args]
        callee = self.known(node.func)
        if callee is not None and len(node.args) == 1 and (callee.value is copy.copy or callee.value is copy.deepcopy):
            if self.kind(node.args[0]) == "game":
                return at(node, call(ast.Attribute(self.visit(node.args[0]), "copy", ast.Load())))
            copied = "copied_deeply" if callee.value is copy.deepcopy else "copied"
            return at(node, support(copied, self.visit(node.args[0])))
        return self.generic_visit(node)

    def _game_of(self, node: ast.expr, names: tuple[str, ...]) -> ast.expr | None:
        """The game of which an expression is one of these attributes."""
        is_one = isinstance(node, ast.Attribute) and node.attr in names and self.kind(node.value) == "game"
        return node.value if is_one and isinstance(node, ast.Attribute) else None

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        """Rewrite private names; refuse what a game or a player is not in compiled code."""
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
    """The call of a method of a game."""
    return call(ast.Attribute(game, method, ast.Load()), *arguments)


def _as_cell(node: ast.expr) -> ast.expr:
    """The cell that a list of a row and a column is to a game."""
    return at(node, ast.Tuple(node.elts, ast.Load())) if isinstance(node, ast.List) else node
