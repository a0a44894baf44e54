"""From a heuristic to LLVM's intermediate code of its score."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from ..native.layout import SCORE
from ..rules.parameters import filled, owners
from ..usercode.compile_error import CompileError
from ..usercode.user_exceptions import format_exception
from . import memory, object_code
from .calls import call
from .conversions import convert
from .flow import MOST_ROUNDS, Flow, Operations
from .memory import ALLOCATE, define_functions, point, read, write
from .numbers import to_float
from .statements import run_body
from .values import (
    FLOAT,
    INT,
    LEAST,
    MOST,
    POINTER,
    Game,
    Heap,
    Player,
    Slot,
    Static,
    UnsupportedError,
    Value,
    whole,
)

_OPERATIONS = Operations(convert, call, run_body, read, write, point)
_MOST_PASSES = 12


def score_module(
    function: Callable[[Any, Any], float], rows: int, columns: int, keeps_order: bool = False
) -> ir.Module:
    """The LLVM module whose function `SCORE` computes what a heuristic gives, on a board of this size.

    It takes where to put the value, where to put an exception (which it does not use), a position, a player and the
    parameters, and returns 0, `FAILED` or `GIVEN_UP`. With `keeps_order`, no set is a bitboard.

    Raises:
        UnsupportedError: the heuristic cannot be compiled, and the line where.
    """
    return _module(function, rows, columns, keeps_order)[0]


def _module(function: Any, rows: int, columns: int, keeps_order: bool) -> tuple[ir.Module, bool]:
    """The module, and whether sets of cells may be asked to hold what is none."""
    heap = Heap(keeps_order=keeps_order)
    for _ in range(_MOST_PASSES):
        growths = heap.growths
        flow = Flow(rows, columns, _OPERATIONS, heap)
        try:
            _emit(flow, function)
        except UnsupportedError as error:
            if heap.growths == growths:
                raise UnsupportedError(error.reason, error.line or flow.line, error.is_unrepeatable) from None
        if heap.growths == growths:
            return flow.module, heap.leaves_board
    raise UnsupportedError("the kinds of what its containers hold do not settle")


def _emit(flow: Flow, function: Callable[[Any, Any], float]) -> None:
    """Emit the code of a heuristic for what is known of its objects."""
    growths = flow.heap.growths
    is_padded = flow.rows * (flow.columns + 2) <= flow.mask.width
    game_kinds = [flow.mask, INT, INT, INT, *([flow.mask] if is_padded else [])]
    kinds = [FLOAT.as_pointer(), POINTER.as_pointer(), *game_kinds, INT, FLOAT.as_pointer()]
    flow.function = ir.Function(flow.module, ir.FunctionType(ir.IntType(32), kinds), SCORE)
    flow.build = ir.IRBuilder(flow.function.append_basic_block("entry"))
    result, _, blank, cell_0, cell_1, turn, *padded, player, parameters = flow.function.args
    flow.fuel = flow.build.alloca(INT, name="fuel")
    flow.build.store(whole(MOST_ROUNDS), flow.fuel)
    memory.start(flow)
    start = flow.function.append_basic_block("start")
    flow.build.branch(start)
    flow.at(start)
    flow.state = {}
    flow.parameters = parameters
    given: list[Value] = [Game(blank, cell_0, cell_1, turn, padded[0] if padded else None), Player(player)]
    value = call(flow, Static(_with_slots(function)), given, {}, "heuristic")
    if flow.is_dead and not flow.heap.growths > growths:
        raise UnsupportedError("it raises an exception wherever it is called")
    if not flow.is_dead:
        flow.build.store(to_float(flow, value), result)
        flow.build.ret(ir.Constant(ir.IntType(32), 0))
    _finish(flow)


def _with_slots(heuristic: Any) -> Any:
    """The heuristic with a slot for each of its parameters."""
    given: dict[int, dict[str, Slot]] = {}
    index = 0
    for part, own in owners(heuristic):
        slots = given.setdefault(id(part), {})
        for name, parameter in own.items():
            low, high = (int(end) if abs(end) < MOST else None for end in (parameter.least, parameter.most))
            ends = LEAST if low is None else low, MOST if high is None else high
            slots[name] = Slot(parameter.default, index, parameter.is_whole, *ends)
            index += 1
    return filled(heuristic, given)


def _finish(flow: Flow) -> None:
    """Define what the code calls, and give back its memory wherever it ends."""
    if ALLOCATE in flow.module.globals:
        release = define_functions(flow)
        for block in flow.function.blocks:
            if isinstance(block.terminator, ir.Ret):
                flow.build.position_before(block.terminator)
                flow.build.call(release, [flow.memory])


def score_texts(function: Callable[[Any, Any], float], rows: int, columns: int) -> Iterator[str]:
    """Yield the text of `score_module`, the same in every process; then another for where that is not enough.

    The second has no bitboards for sets, which may then hold what is no cell of the board.

    Raises:
        CompileError: the heuristic cannot be compiled.
    """
    try:
        module, leaves_board = _module(function, rows, columns, False)
        yield str(module)
        if leaves_board:
            yield str(_module(function, rows, columns, True)[0])
    except RecursionError:
        raise UnsupportedError("it is nested too deeply to be compiled") from None
    except CompileError:
        raise
    except Exception as error:  # whatever people write, the heuristic runs
        raise UnsupportedError(f"it cannot be compiled ({format_exception(error)})") from error


def bitcode(text: str) -> bytes:
    """The text of a module as bitcode, optimised, in which nothing but `SCORE` can be seen from outside."""
    module = llvm.parse_assembly(text)
    module.triple = llvm.get_process_triple()
    object_code.optimise(module)
    for defined in module.functions:
        if not defined.is_declaration and defined.name != SCORE:
            defined.linkage = "internal"
    code: bytes = module.as_bitcode()
    return code
