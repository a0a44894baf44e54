"""Decorators for functions that only compiled code calls.

Numba makes ways into a function from Python and from C unless told not to. Nobody takes them here, and without them a
heuristic compiles in three quarters of the time.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from functools import partial, wraps
from types import ModuleType
from typing import Any

from numba import njit, types
from numba.core import cgutils
from numba.core.imputils import lower_constant
from numba.extending import intrinsic, models, overload, register_model, typeof_impl

# Values that a cast makes wrong are found by the comparison with Python, which says so in words for users.
warnings.filterwarnings("ignore", message="unsafe cast from")

inner = partial(njit, no_cpython_wrapper=True, no_cfunc_wrapper=True)
inlined = partial(njit, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)
"""`inner`, for what LLVM is to put into whatever calls it."""
written_in = partial(njit, no_cpython_wrapper=True, no_cfunc_wrapper=True, inline="always")
"""`inner`, for what numba is to write into whatever calls it, so that `again` calls that."""


def by_type(typed: Any, prefer_literal: bool = False) -> Any:
    """Let compiled code call a function by what `typed` returns for the types of its arguments."""
    return overload(typed, prefer_literal=prefer_literal)(typed)


def always(written: Any) -> Any:
    """What numba asks for the code for types, where that is the same for all."""

    @wraps(written)  # numba looks for the same signature
    def typed(*_: Any, **__: Any) -> Any:
        return written

    return typed


def for_all_types(written: Any) -> Any:
    """Let compiled code call a function that is written the same for all types."""
    return by_type(always(written))


def operation(symbol: Any, is_meant: Callable[..., bool]) -> Any:
    """Define an operator or a function of Python's for arguments of some types."""

    def defined(written: Any) -> Any:
        @wraps(written)
        def typed(*kinds: Any) -> Any:
            return written if is_meant(*kinds) else None

        return overload(symbol)(typed)

    return defined


def offered(module: ModuleType, typed: Any, name: str = "") -> Any:
    """Give what generated modules take for a module of a library a function `by_type`."""
    typed.__name__ = typed.__qualname__ = name or typed.__name__
    setattr(module, typed.__name__, typed)
    return by_type(typed)


def instructions(typed: Any, written: Any) -> Any:
    """A function of compiled code, of which `written` writes LLVM's instructions, given context, builder and arguments.

    `typed` gives its signature for the types of the arguments, which numba takes by the names they have there.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return written(context, builder, *args)

    return _intrinsic(typed, codegen, written.__name__)


def _intrinsic(typed: Any, codegen: Any, name: str) -> Any:
    def defined(typingctx: Any, *kinds: Any) -> Any:
        return typed(*kinds), codegen

    context = inspect.Parameter("typingctx", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    defined.__signature__ = inspect.Signature([context, *inspect.signature(typed).parameters.values()])  # type: ignore[attr-defined]
    defined.__name__ = name
    return intrinsic(defined)


def of_float64s(written: Any, count: int) -> Any:
    """`instructions` of a float64 that is made of one, two or three."""
    float64 = types.float64
    by_count = (lambda x: float64(float64), lambda x, y: float64(float64, float64))
    return instructions((*by_count, lambda x, y, z: float64(float64, float64, float64))[count - 1], written)


def of_board(typed: Any) -> Any:
    """`instructions` of a function that is also given the type of the first argument, which has a size."""

    def decorated(written: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return written(context, builder, signature.args[0], *args)

        return _intrinsic(typed, codegen, written.__name__)

    return decorated


def of_position(typed: Any) -> Any:
    """`of_board`, of a function that is given the parts of a position, and may return such."""

    def decorated(written: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            position = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=args[0])
            made = written(context, builder, signature.args[0], position, *args[1:])
            return made._getvalue() if hasattr(made, "_getvalue") else made

        return _intrinsic(typed, codegen, written.__name__)

    return decorated


def struct(kind: Any, members: Any) -> None:
    """Let compiled code hold values of a type of numba's by the members that are given for it."""

    class Model(models.StructModel):  # type: ignore[misc]
        def __init__(self, manager: Any, held: Any) -> None:
            super().__init__(manager, held, members(held))

    register_model(kind)(Model)


def opaque(kind: Any, held: type, typed: Any) -> None:
    """Let compiled code know objects of a class by a type of numba's alone, which `typed` gives for each."""
    register_model(kind)(models.OpaqueModel)
    typeof_impl.register(held)(lambda value, context: typed(value))
    lower_constant(kind)(lambda context, builder, kind, value: context.get_dummy_value())
