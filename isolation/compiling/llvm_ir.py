"""Collect the LLVM IR of a function and its callees.

Numba optimises each function with what it calls and makes machine code of it before it goes on to the next, over and
over again for what is called often, though nobody runs any of it. Here functions are put together once, at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import CPUCodeLibrary, JITCPUCodegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.np import linalg


class _Gathered(CPUCodeLibrary):  # type: ignore[misc]
    """The code of one function, as numba keeps it: neither linked with what it calls nor made to be run."""

    _shared_module: Any

    def finalize(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0

    def _get_module_for_linking(self) -> Any:
        """Return the module that numba requests when it compiles a caller to be run."""
        if self._shared_module is None:
            self._shared_module = _shared(merge_ir(self))
        return self._shared_module


class _Codegen(JITCPUCodegen):  # type: ignore[misc]
    _library_class = _Gathered

    def set_env(self, env_name: str, env: Any) -> None:
        """There is no machine code that could raise an exception in Python."""


@cache
def _codegen() -> _Codegen:
    return _Codegen("isolation")


@contextmanager
def collect_ir() -> Iterator[None]:
    """Collect the code that numba compiles in the context; it cannot be called from Python."""
    context = started()
    with global_compiler_lock:
        usual = context._internal_codegen
        context._internal_codegen = _codegen()
        try:
            yield
        finally:
            context._internal_codegen = usual


def started() -> Any:
    """Return the target that numba compiles for, with the functions of numba that compiled code calls.

    Numba would look whether scipy has its linear algebra, whose import takes a third of the time that this takes. It
    has, and numba looks again where a heuristic needs it.
    """
    with global_compiler_lock:
        look = linalg.ensure_blas
        linalg.ensure_blas = lambda: None
        try:
            import numba.np.arraymath  # noqa: F401
        finally:
            linalg.ensure_blas = look
        context = cpu_target.target_context
        rtsys.initialize(context)
        return context


def merge_ir(library: Any) -> Any:
    """A module with a library's code and that of every library it needs, once each, not yet optimised as a whole."""
    module = library._final_module.clone()
    for needed in _needed(library, set()):
        if isinstance(needed, _Gathered):
            module.link_in(_shared(needed._final_module.clone()))
        else:
            module.link_in(needed._get_module_for_linking(), preserve=True)
    return module


def _needed(library: Any, seen: set[Any]) -> list[Any]:
    """The libraries that one needs, callers before callees: of a shared module, LLVM links what was called so far."""
    needed: list[Any] = []
    for other in library._linking_libraries:
        if other not in seen:
            seen.add(other)
            needed = [other, *(_needed(other, seen) if isinstance(other, _Gathered) else []), *needed]
    return needed


def _shared(module: Any) -> Any:
    """The module with functions that others it is linked with may define as well."""
    for function in module.functions:
        if not function.is_declaration and function.linkage == llvm.Linkage.external:
            function.linkage = "linkonce_odr"
    return module
