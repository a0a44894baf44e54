# ruff: noqa: N802 -- visit_Call and the like are named by ast
"""Lower the third edition's states: the board read as a number, and states made of others."""

from __future__ import annotations

import ast
import operator
from typing import Any

from knights_isolation.isolation.compiling.rewrites.element_types import pairs, with_values
from knights_isolation.isolation.compiling.source.compile_error import refuse
from knights_isolation.isolation.compiling.source.rewrite import Rewrite, at, call, support
from knights_isolation.isolation.compiling.source.wide_integers import LARGEST
from knights_isolation.isolation.editions.third.state import DebugState, Isolation

_FOLDED = {ast.LShift: operator.lshift, ast.Sub: operator.sub, ast.BitOr: operator.or_}
_BITS = 256
"""What is shifted further has more bits than compiled code has."""
_FIELDS = ("board", "ply_count", "locs")


class LowerStates(Rewrite):
    """`state.board >> cell & 1` asks for a cell, `Isolation(state.board, plies, locs)` turns a state about."""

    def apply(self, node: ast.FunctionDef) -> None:
        """Rewrite the body of a definition in place."""
        self.changed = self.changed_names(node) if self.context.is_of_states else set()
        self.of_bits = {
            inner.target.value.id
            for inner in ast.walk(node)
            if isinstance(inner, ast.AugAssign) and isinstance(inner.op, ast.BitOr | ast.BitAnd | ast.BitXor)
            if isinstance(inner.target, ast.Subscript) and isinstance(inner.target.value, ast.Name)
        }
        super().apply(node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Make lists of liberties that change lists, and numbers wide in lists of what is joined bit by bit."""
        return self.generic_visit(with_values(node, [self._as_used(place, value) for place, value in pairs(node)]))

    def _as_used(self, place: ast.expr, value: ast.expr) -> ast.expr:
        match place, value:
            case ast.Name(called), ast.Call(ast.Attribute(_, "liberties" | "actions")) if called in self.changed:
                return at(value, call(self.context.builtin("list"), value))
            case ast.Name(called), ast.List(elements) if called in self.of_bits and self.context.is_of_states:
                value.elts = [support("wide", each) if _is_whole(each) else each for each in elements]
        return value

    def visit_Call(self, node: ast.Call) -> Any:
        """Rewrite the making of states, and the counting of open cells."""
        known = self.known(node.func)
        made = known.value if known is not None else None
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
        """Rewrite looking for a cell in the board of a state, a number with more bits than compiled code has."""
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
