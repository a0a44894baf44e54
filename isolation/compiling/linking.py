"""Link kernels, compiled once per board size, with heuristics compiled by themselves.

Numba spends most of its time on what all heuristics share. So a kernel is compiled with a heuristic that is missing,
and kept as LLVM's intermediate code; the heuristic is compiled by itself; LLVM puts one into the other, optimises them
as a whole, so that the heuristic is inlined into the search, and emits an object file, which any later process loads
without numba.
"""

from __future__ import annotations

from ctypes import addressof
from functools import cache
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from ..native.layout import RANK, SCORE, WORTH
from ..native.runtime.numpy_loops import LOOP, numpy_loop
from . import code_cache, object_code
from .integer_ranks import use_integer_ranks
from .source.compile_error import CompileError

_ENTRY = "isolation_entry"
_UNRESOLVED = ".numba.unresolved$"
"""What numba calls the place of a function's address that is filled in when the code is loaded."""
_ADDRESSES = "numba.dynamic.globals"
"""What numba calls addresses of this process that stand in code: arrays of more than a million bytes."""
_TABLES = "isolation_"
"""How names of constant tables begin."""
_SMALL = 400
"""Up to how many instructions, optimised by itself, a heuristic stands in the search and is not called."""
_addresses: dict[str, int] = {}


def kernel_code(name: str, text: str, arguments: int) -> bytes:
    """The intermediate code of a kernel whose heuristic is missing: its module's `entry`, callable from C.

    Args:
        name: of the kernel, unique to its text.
        text: the kernel's module.
        arguments: how many whole numbers `entry` takes: two unsigned, the rest signed; 64 bits each.
    """
    path = code_cache.folder() / code_cache.fingerprint("kernels") / f"{name}.py"

    def compiled() -> bytes:
        from numba import types

        entry = code_cache.load(path, text).entry
        module, symbol = _compiled(entry, [types.uint64] * 2 + [types.int64] * (arguments - 2))
        module.link_in(_way_in(symbol, arguments))
        return _bitcode(module, _ENTRY)

    return code_cache.load_or_make_locked(path, text, compiled)


def score_code(score: Any, rows: int, columns: int) -> bytes:
    """The intermediate code of a heuristic for a board size: its module's `link`."""

    def compiled() -> bytes:
        from numba import types

        from ..native.extern_heuristic import PARAMETERS
        from ..native.position import PositionType

        module, symbol = _compiled(score.load().linked, [PositionType(rows, columns), types.int64, PARAMETERS])
        module.get_function(symbol).name = SCORE
        return _bitcode(module, SCORE)

    return code_cache.load_or_make(score.folder / f"score_{rows}x{columns}.bc", compiled)


def link(kernel: bytes, score: bytes | None, symbol: str) -> bytes:
    """The machine code of a kernel with a heuristic in it, as an object file that offers the kernel as `symbol`.

    Before it stands a line with the functions and variables of others that it uses.
    """
    module = llvm.parse_bitcode(kernel)
    if score is not None:
        alone = llvm.parse_bitcode(score)
        size = sum(len(list(block.instructions)) for function in alone.functions for block in function.blocks)
        compares = any(function.name in (RANK, WORTH) for function in module.functions)
        module.link_in(_written_in(use_integer_ranks(alone) if compares else alone, size <= _SMALL))
    module.get_function(_ENTRY).name = symbol
    object_code.optimise(_internal(module, symbol))
    named = [*module.functions, *module.global_variables]
    elsewhere = [item.name for item in named if item.is_declaration and not item.name.startswith("llvm.")]
    return f"{' '.join(elsewhere)}\n".encode() + object_code.object_code(module)


def _written_in(score: Any, is_small: bool) -> Any:
    """The heuristic's module, such that LLVM puts it wherever it is called if it is small.

    By its own rule it would call what has more than some fifty instructions.
    """
    for function in score.functions:
        if is_small and not function.is_declaration:
            function.add_function_attribute("alwaysinline")
    return score


def load(code: bytes, symbol: str) -> int:
    """Load what `link` made, once a process; the address of the kernel's entry."""
    if symbol not in _addresses:
        elsewhere, _, objects = code.partition(b"\n")
        missing = [name for name in elsewhere.decode().split() if not object_code.is_known(name)]
        loops = [name for name in missing if name.startswith(LOOP)]
        for name in loops:
            llvm.add_symbol(name, addressof(numpy_loop(name.removeprefix(LOOP))))
        if len(missing) > len(loops):
            _offer_numbas_functions()
        _addresses[symbol] = object_code.load(objects, symbol)
    return _addresses[symbol]


@cache
def _offer_numbas_functions() -> None:
    """Lists, arrays and some of mathematics call functions of numba's, which are there once its target is.

    What dictionaries hash texts with is there once `hashing` is.
    """
    from numba.cpython import hashing  # noqa: F401

    from .llvm_ir import started

    started()


def _compiled(function: Any, kinds: list[Any]) -> tuple[Any, str]:
    """A module with a function, compiled by numba for arguments of these kinds, and its callees; its symbol."""
    from .llvm_ir import collect_ir, merge_ir

    with collect_ir():
        function.compile(tuple(kinds))
    compiled = function.overloads[tuple(kinds)]
    module = merge_ir(compiled.library)
    if any(global_variable.name.startswith(_ADDRESSES) for global_variable in module.global_variables):
        raise CompileError("its constants are too large to be compiled")
    _resolve(module, function.py_func.__globals__)
    return module, compiled.fndesc.llvm_func_name


def _resolve(module: Any, compiled: dict[str, Any]) -> None:
    """Link in functions that call themselves with arguments of other kinds than they were called with.

    `compiled` holds them by name. Numba finds their addresses when it loads code, which is not how ours is loaded.
    """
    from .llvm_ir import merge_ir

    overloads = [overload for known in compiled.values() for overload in getattr(known, "overloads", {}).values()]
    libraries = {overload.fndesc.llvm_func_name: overload.library for overload in overloads}
    while unresolved := [
        global_variable.name for global_variable in module.global_variables if _is_unresolved(global_variable)
    ]:
        for name in unresolved:
            symbol = name.removeprefix(_UNRESOLVED)
            if symbol not in libraries:
                raise CompileError("it calls itself in a way that cannot be compiled")
            module.link_in(merge_ir(libraries[symbol]))
            module.link_in(llvm.parse_assembly(f'@"{name}" = constant ptr @"{symbol}"\ndeclare void @"{symbol}"()\n'))


def _is_unresolved(variable: Any) -> bool:
    return bool(variable.is_declaration) and variable.name.startswith(_UNRESOLVED)


def _way_in(symbol: str, arguments: int) -> Any:
    """A module with a function that C can call in place of numba's; an exception ends the call with 0.0."""
    whole, double, pointer = ir.IntType(64), ir.DoubleType(), ir.IntType(8).as_pointer()
    module = ir.Module()
    kind = ir.FunctionType(ir.IntType(32), [double.as_pointer(), pointer.as_pointer(), *[whole] * arguments])
    inside = ir.Function(module, kind, symbol)
    entry = ir.Function(module, ir.FunctionType(double, [whole] * arguments), _ENTRY)
    builder = ir.IRBuilder(entry.append_basic_block())
    value, exception = builder.alloca(double), builder.alloca(pointer)
    builder.store(ir.Constant(double, 0.0), value)
    builder.store(ir.Constant(pointer, None), exception)
    builder.call(inside, [value, exception, *entry.args])
    builder.ret(builder.load(value))
    return llvm.parse_assembly(str(module))


def _bitcode(module: Any, symbol: str) -> bytes:
    object_code.optimise(_internal(module, symbol, keeps=_TABLES))
    code: bytes = module.as_bitcode()
    return code


def _internal(module: Any, symbol: str, keeps: str | None = None) -> Any:
    """The module with nothing to be seen from outside but one function, so that LLVM drops what it does not need.

    And but what is named like `keeps`: the tables of kernel and heuristic become one when they are linked, without
    which LLVM takes what both look up for two things.
    """
    for item in [*module.functions, *module.global_variables]:
        if not item.is_declaration and item.name != symbol and not (keeps and item.name.startswith(keeps)):
            item.linkage = "internal"
    return module
