"""Object code: optimise LLVM modules, emit objects, and load them without numba."""

from __future__ import annotations

from functools import cache
from typing import Any

import llvmlite.binding as llvm

_FAST = 3


@cache
def processor() -> tuple[str, str, str]:
    """Return what machine code depends on beside its source: system, processor and its features."""
    try:
        features = llvm.get_host_cpu_features().flatten()
    except RuntimeError:  # where LLVM cannot tell
        features = ""
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), features


@cache
def _target_machine() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    system, name, features = processor()
    return llvm.Target.from_triple(system).create_target_machine(
        cpu=name,
        features=features,
        opt=_FAST,
        reloc="static" if system.startswith("x86_64") else "default",
        codemodel="jitdefault",
        jit=True,
    )


@cache
def _engine() -> Any:
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine())


def optimise(module: Any) -> None:
    """Optimise a module as numba does: first what brings uses of memory together, then everything."""
    for level in (0, _FAST):
        tuning = llvm.create_pipeline_tuning_options(speed_level=level)
        tuning.loop_vectorization = level == _FAST
        tuning.slp_vectorization = False
        builder = llvm.create_pass_builder(_target_machine(), tuning)
        passes = builder.getModulePassManager()
        if level == 0:
            passes.add_loop_rotate_pass()
            passes.add_instruction_combine_pass()
            passes.add_jump_threading_pass()
        passes.add_refprune_pass()
        passes.run(module, builder)


def object_code(module: Any) -> bytes:
    """The object file of a module."""
    code: bytes = _target_machine().emit_object(module)
    return code


def is_known(symbol: str) -> bool:
    """Whether a function that machine code calls is there to be called."""
    _engine()  # whose making shows LLVM the functions of this process
    return bool(llvm.address_of_symbol(symbol))


def load(code: bytes, symbol: str) -> int:
    """Load an object file for good; the address of a function in it."""
    _engine().add_object_file(llvm.ObjectFileRef.from_data(code))
    _engine().finalize_object()
    address: int = _engine().get_function_address(symbol)
    return address
