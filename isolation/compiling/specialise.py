"""From the search templates to compiled players: one module for every heuristic, method, board size and options.

Numba finds a function in its disk cache only if the function belongs to a module of its own on disk, and calls through
pointers would keep LLVM from inlining a heuristic. So the templates of `isolation.native.kernels` are copied into a
generated module next to the heuristic's, with the board's size and the options as constants.
"""

from __future__ import annotations

import ast
import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

from isolation.board import Board
from isolation.compiling import FUNCTIONS_REMEMBERED, library
from isolation.syntax import parse

Template = Literal["minimax", "alphabeta", "mcts", "greedy", "random", "evaluate", "games", "answers", "perft", "solve"]

_KERNELS = Path(__file__).parents[1] / "native" / "kernels"
_PIECES: dict[str, tuple[str, ...]] = {
    "minimax": ("leaves", "minimax", "root", "entry"),
    "alphabeta": ("leaves", "alphabeta", "root", "entry"),
    "mcts": ("leaves", "mcts", "entry"),
    "greedy": ("leaves", "greedy", "entry"),
    "random": ("random", "entry"),
    "evaluate": ("evaluate",),
    "games": ("games",),
    "answers": ("answers",),
    "perft": ("perft",),
    "solve": ("solve",),
}
_COPIED = {f"isolation.native.kernels.{name}" for pieces in _PIECES.values() for name in ("open_names", *pieces)}
"""The modules whose names a copy defines itself."""
_WORD = (1 << 64) - 1
_NO_SCORE = """
@inner
def score(game, player):
    return 0.0
"""


@dataclass(frozen=True)
class ScoreModule:
    """The generated module of a heuristic: its folder in the library, and its text, which defines `score`."""

    folder: Path
    text: str

    def load(self) -> Any:
        """Import it."""
        return library.load(self.folder / "heuristic.py", self.text)


@dataclass(frozen=True)
class NativeFunction:
    """A compiled function: its address, for compiled callers, a ctypes function for Python, and its module.

    The address is good for as long as the process lives: modules of compiled code are never unloaded.
    """

    address: int
    call: Callable[..., float]
    module: Any


@lru_cache(maxsize=FUNCTIONS_REMEMBERED)
def native_function(
    template: Template,
    score: ScoreModule | None,
    rows: int,
    columns: int,
    ordered: bool = False,
    quiescent: bool = False,
) -> NativeFunction:
    """The C function of a template specialised on a heuristic, or on none; compiled or loaded on first use."""
    module = specialised(template, score, rows, columns, ordered, quiescent)
    call = ctypes.CFUNCTYPE(ctypes.c_double, *_c_types(module.entry))(module.entry.address)
    return NativeFunction(module.entry.address, call, module)


@lru_cache(maxsize=FUNCTIONS_REMEMBERED)
def specialised(
    template: Template,
    score: ScoreModule | None,
    rows: int,
    columns: int,
    ordered: bool = False,
    quiescent: bool = False,
) -> Any:
    """The module made from a template for a heuristic, or for none, and a board size."""
    name = f"{template}_{rows}x{columns}{'_ordered' if ordered else ''}{'_quiescent' if quiescent else ''}"
    folder = score.folder if score else library.folder() / library.fingerprint("no heuristic")
    imported = f"from {score.load().__name__} import score" if score else _NO_SCORE
    constants = {
        "ROWS": rows,
        "COLUMNS": columns,
        "ORDERED": ordered,
        "QUIESCENT": quiescent,
        "HAS_SCORE": score is not None,
    }
    header = [
        "from isolation.native.kernels.inner import inner",
        *(f"{key} = {value}" for key, value in constants.items()),
        imported,
    ]
    text = "\n".join((*header, *(_piece(name) for name in _PIECES[template])))
    return library.load(folder / f"{name}.py", text)


def _c_types(function: Any) -> list[Any]:
    from numba import types

    c_types = {types.uint64: ctypes.c_uint64, types.int64: ctypes.c_int64, types.float64: ctypes.c_double}
    return [c_types[kind] for kind in function._sig.args]


@cache
def _piece(name: str) -> str:
    return own_code((_KERNELS / f"{name}.py").read_text(encoding="utf-8"))


def own_code(template: str) -> str:
    """A template's code without its docstring and the imports of what a copy defines itself."""
    kept = [node for node in parse(template).body[1:] if not _is_replaced(node)]
    return ast.unparse(ast.Module(body=kept, type_ignores=[]))


def _is_replaced(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and (node.module == "__future__" or node.module in _COPIED)


def pack(board: Board) -> tuple[int, int, int, int, int]:
    """A position with both players placed, as compiled code takes it: blank cells in two words, cells, side to move."""
    cell_0, cell_1 = board.locations
    assert cell_0 is not None
    assert cell_1 is not None
    return board.blank & _WORD, board.blank >> 64, cell_0, cell_1, board.active_index
