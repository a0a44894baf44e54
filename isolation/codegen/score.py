"""From a heuristic to LLVM's intermediate code of its score."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from ..compiling import object_code
from ..native.layout import SCORE
from ..rules.parameters import parameters_of
from .calls import call
from .conversions import convert
from .flow import MOST_ROUNDS, Flow, Operations
from .memory import ALLOCATE, BLOCK_WORDS, define_allocate
from .numbers import to_float
from .statements import run_body
from .values import FLOAT, INT, POINTER, Game, Number, Player, Static, UnsupportedError, Value, whole

_OPERATIONS = Operations(convert, call, run_body)


def score_module(function: Callable[[Any, Any], float], rows: int, columns: int) -> ir.Module:
    """The LLVM module whose function `SCORE` computes what a heuristic gives, on a board of this size.

    It takes where to put the value, where to put an exception (which it does not use), a position, a player and the
    parameters, and returns 0, `FAILED` or `GIVEN_UP`.

    Raises:
        UnsupportedError: the heuristic cannot be compiled; `line` of the flow says where.
    """
    flow = Flow(rows, columns, _OPERATIONS)
    game_kinds = [flow.mask, INT, INT, INT] + ([flow.mask] if rows * (columns + 2) <= flow.mask.width else [])
    kinds = [FLOAT.as_pointer(), POINTER.as_pointer(), *game_kinds, INT, FLOAT.as_pointer()]
    flow.function = ir.Function(flow.module, ir.FunctionType(ir.IntType(32), kinds), SCORE)
    flow.build = ir.IRBuilder(flow.function.append_basic_block("entry"))
    entry = flow.build.block
    result, _, blank, cell_0, cell_1, turn, *_, player, parameters = flow.function.args
    flow.fuel = flow.build.alloca(INT, name="fuel")
    flow.build.store(whole(MOST_ROUNDS), flow.fuel)
    flow.memory = flow.build.alloca(INT, BLOCK_WORDS + 1, name="memory")
    flow.build.store(whole(1), flow.memory)
    start = flow.function.append_basic_block("start")
    flow.build.branch(start)
    flow.at(start)
    flow.state = {}
    given: list[Value] = [Game(blank, cell_0, cell_1, turn), Player(player)]
    value = call(flow, Static(function), given, _parameter_values(flow, function, parameters), "heuristic")
    if not flow.is_dead:
        flow.build.store(to_float(flow, value), result)
        flow.build.ret(ir.Constant(ir.IntType(32), 0))
    alive = set(map(id, flow.function.blocks))
    for block, doubt in flow.doubts:
        if id(block) in alive:
            raise UnsupportedError(doubt)
    _finish(flow, entry)
    return flow.module


def _parameter_values(flow: Flow, function: Any, address: Any) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for index, parameter in enumerate(parameters_of(function)):
        loaded = flow.build.load(flow.build.gep(address, [whole(index)]))
        whole_number = Number("int", flow.build.fptosi(loaded, INT)) if parameter.is_whole else None
        values[parameter.name] = whole_number or Number("float", loaded)
    if values and not hasattr(function, "__code__"):
        raise UnsupportedError("parameters of a composite")
    return values


def _finish(flow: Flow, entry: Any) -> None:
    """Define the memory if it is used; drop its block if not."""
    if ALLOCATE in flow.module.globals:
        define_allocate(flow)
    else:
        entry.instructions = [
            instruction
            for instruction in entry.instructions
            if flow.memory not in (instruction, *getattr(instruction, "operands", ()))
        ]


def score_bitcode(function: Callable[[Any, Any], float], rows: int, columns: int) -> bytes:
    """What `score_module` gives, optimised, as bitcode.

    Raises:
        UnsupportedError: the heuristic cannot be compiled.
    """
    module = llvm.parse_assembly(str(score_module(function, rows, columns)))
    module.triple = llvm.get_process_triple()
    object_code.optimise(module)
    for defined in module.functions:
        if not defined.is_declaration and defined.name != SCORE:
            defined.linkage = "internal"
    code: bytes = module.as_bitcode()
    return code
