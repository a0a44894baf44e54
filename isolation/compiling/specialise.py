"""Instantiate the search templates for a heuristic, method, board size and options.

A call through a pointer would keep LLVM from inlining a heuristic, and numba takes constants from the module that a
function stands in. So the templates of `isolation.native.kernels` are copied into a generated module, with the board's
size and the options as constants, and the heuristic is linked into what becomes of it.
"""

from __future__ import annotations

import ast
import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

from ..rules.classic_board import Board
from ..rules.game import MOST_COMPILED_CELLS
from ..usercode.parsing import parse
from . import FUNCTIONS_REMEMBERED, code_cache
from .compile_errors import blaming_us, refuses_heuristic
from .linking import kernel_code, link, load, score_code

Template = Literal[
    "minimax", "alphabeta", "bestfirst", "mcts", "greedy", "random", "evaluate", "values", "lines", "games", "answers",
    "pack", "perft", "solve", "solve_many", "step",
]  # fmt: skip

_KERNELS = Path(__file__).parents[1] / "native" / "kernels"
_TEMPLATES: dict[Template, tuple[str, str, int]] = {
    "minimax": ("players alphabeta", "", 12),
    "alphabeta": ("players alphabeta", "", 12),
    "bestfirst": ("players best_first", "", 12),
    "mcts": ("players mcts", "", 12),
    "greedy": ("players", "think = move_greedily", 12),
    "random": ("players", "think = move_at_random", 12),
    "evaluate": ("players", "entry = evaluate", 8),
    "lines": ("players alphabeta", "entry = search_many", 12),
    "games": ("batches", "entry = play_games", 19),
    "answers": ("batches", "entry = choose_moves", 12),
    "values": ("batches", "entry = evaluate_many", 10),
    "pack": ("batches", "entry = pack_positions", 7),
    "step": ("batches", "entry = step_games", 2),
    "perft": ("solve", "entry = perft", 7),
    "solve": ("solve", "entry = solve", 9),
    "solve_many": ("solve", "entry = solve_many", 12),
}
"""Of every template: the modules that are copied, what is named below them, and how many numbers `entry` takes."""
_COPIED = {
    f"knights_isolation.isolation.native.kernels.{name}"
    for modules, _, _ in _TEMPLATES.values()
    for name in ("placeholders", *modules.split())
} | {"__future__"}
"""The modules whose names a copy defines itself, and what it has no use for."""
_WORD = (1 << 64) - 1


@dataclass(frozen=True)
class ScoreModule:
    """The generated module of a heuristic.

    Attributes:
        folder: where it lies in the library.
        text: Python, which defines `link`; of a module for one size, LLVM's intermediate code.
        size: the rows and columns of the boards that it is for; None if it is for all.
    """

    folder: Path
    text: str
    size: tuple[int, int] | None = None

    def load(self) -> Any:
        """Import it."""
        return code_cache.load(self.folder / "heuristic.py", self.text)


@dataclass(frozen=True)
class NativeFunction:
    """A compiled function: its address, for compiled callers, and a ctypes function for Python.

    The address is good for as long as the process lives: compiled code is never unloaded.
    """

    address: int
    call: Callable[..., float]


@lru_cache(maxsize=FUNCTIONS_REMEMBERED)
def native_function(
    template: Template,
    score: ScoreModule | None,
    rows: int,
    columns: int,
    ordered: bool = False,
    quiescent: bool = False,
) -> NativeFunction:
    """The C function of a template specialised on a heuristic, or on none; compiled or loaded on first use.

    Raises:
        ValueError: the board has more than `MOST_COMPILED_CELLS` cells.
        CompilerFault: the compiler fails, whatever the heuristic.
        Exception: the heuristic is refused: see `refuses_heuristic`.
    """
    if rows * columns > MOST_COMPILED_CELLS:
        raise ValueError(f"compiled code supports boards of up to {MOST_COMPILED_CELLS} cells, not {rows * columns}")
    name = f"{template}_{rows}x{columns}{'_ordered' if ordered else ''}{'_quiescent' if quiescent else ''}"
    folder = score.folder if score else code_cache.folder() / code_cache.fingerprint("no heuristic")
    modules, named, arguments = _TEMPLATES[template]
    symbol = f"isolation_{folder.name}_{name}"

    def compiled() -> bytes:
        constants = {"ROWS": rows, "COLUMNS": columns, "ORDERED": ordered, "QUIESCENT": quiescent}
        constants |= {"PRUNES": template != "minimax", "HAS_SCORE": score is not None}
        with blaming_us():
            parts = [*(f"{key} = {value}" for key, value in constants.items()), *map(_copied, modules.split()), named]
            kernel = kernel_code(f"{name}{'' if score else '_alone'}", "\n".join(parts), arguments)
        with blaming_us(unless=refuses_heuristic):
            code = score_code(score, rows, columns) if score else None
        with blaming_us():
            return link(kernel, code, symbol)

    with code_cache.build_lock():
        address = load(code_cache.load_or_make(folder / f"{name}.o", compiled), symbol)
    kinds = [ctypes.c_uint64] * 2 + [ctypes.c_int64] * (arguments - 2)
    return NativeFunction(address, ctypes.CFUNCTYPE(ctypes.c_double, *kinds)(address))


@cache
def _copied(name: str) -> str:
    return own_code((_KERNELS / f"{name}.py").read_text(encoding="utf-8"))


def own_code(template: str) -> str:
    """A template's code without its docstring and the imports of what a copy defines itself."""
    body = parse(template).body[1:]
    kept = [node for node in body if not (isinstance(node, ast.ImportFrom) and node.module in _COPIED)]
    return ast.unparse(ast.Module(body=kept, type_ignores=[]))


def pack(board: Board) -> tuple[int, int, int, int, int]:
    """A position with both players placed, as compiled code takes it: blank cells in two words, cells, side to move."""
    cell_0, cell_1 = board.locations
    assert cell_0 is not None
    assert cell_1 is not None
    return board.blank & _WORD, board.blank >> 64, cell_0, cell_1, board.active_index
