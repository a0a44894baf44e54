"""Heuristics compiled by the compiler in front and nothing else."""

import ctypes
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from knights_isolation.isolation.codegen import object_code
from knights_isolation.isolation.codegen.score import bitcode, score_texts
from knights_isolation.isolation.compiling.comparison import Evaluation, Problem, difference, sample_positions
from knights_isolation.isolation.native.layout import SCORE
from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.parameters import parameters_of

_numbers = itertools.count()
Heuristic = Callable[[Any, Any], float]


def evaluations(function: Heuristic, rows: int, columns: int) -> Iterator[Evaluation]:
    """What the code made of a heuristic gives for a position and a player, None where it raises; for each attempt."""
    for text in score_texts(function, rows, columns):
        yield _evaluation(text, function, rows, columns)


def _evaluation(text: str, function: Heuristic, rows: int, columns: int) -> Evaluation:
    module = llvm.parse_bitcode(bitcode(text))
    symbol = f"score_{next(_numbers)}"
    module.get_function(SCORE).name = symbol
    width = 64 if rows * columns <= 64 else 128
    has_padding = rows * (columns + 2) <= width
    masks = 2 if has_padding else 1
    # A function that takes bitboards of any width by their addresses, as C has no way to pass wide ones.
    kind = f"i{width}"
    arguments = ", ".join([f"{kind} %b0", "i64 %a", "i64 %b", "i64 %turn", *[f"{kind} %b1"] * (masks - 1)])
    declared = ", ".join(["ptr", "ptr", kind, "i64", "i64", "i64", *[kind] * (masks - 1), "i64", "ptr"])
    loads = "\n".join(f"%b{n} = load {kind}, ptr %m{n}, align 8" for n in range(masks))
    given = ", ".join(f"ptr %m{n}" for n in range(masks))
    module.link_in(
        llvm.parse_assembly(
            f"declare i32 @{symbol}({declared})\n"
            f"define i32 @{symbol}_entry(ptr %value, {given}, i64 %a, i64 %b, i64 %turn, i64 %player, ptr %numbers) "
            "{\n"
            f"{loads}\n%status = call i32 @{symbol}(ptr %value, ptr null, {arguments}, i64 %player, ptr %numbers)\n"
            "ret i32 %status\n}"
        )
    )
    address = object_code.load(object_code.object_code(module), f"{symbol}_entry")
    pointer, whole = ctypes.c_void_p, ctypes.c_int64
    call = ctypes.CFUNCTYPE(ctypes.c_int32, pointer, *[pointer] * masks, *[whole] * 4, pointer)(address)
    numbers = np.array([parameter.default for parameter in parameters_of(function)], np.float64)

    def evaluate(board: Board, player: int) -> float | None:
        value = ctypes.c_double()
        padded = sum(1 << cell // columns * (columns + 2) + cell % columns for cell in _cells(board.blank))
        words = [(ctypes.c_uint64 * 2)(mask & (2**64 - 1), mask >> 64) for mask in (board.blank, padded)[:masks]]
        status = call(
            ctypes.addressof(value),
            *map(ctypes.addressof, words),
            *board.locations,
            board.active_index,
            player,
            numbers.ctypes.data,
        )
        return value.value if status == 0 else None

    return evaluate


def _cells(mask: int) -> list[int]:
    return [cell for cell in range(mask.bit_length()) if mask >> cell & 1]


def problem(function: Heuristic, size: tuple[int, int] = (7, 7), count: int = 100, seed: int = 1) -> Problem | None:
    """The first difference from Python, of the first attempt that has none if one has none."""
    found: Problem | None = None
    for evaluate in evaluations(function, *size):
        found = difference(function, evaluate, sample_positions(size, count, seed))
        if found is None:
            return None
    return found
