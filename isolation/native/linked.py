"""The heuristic as compiled kernels call it: a function that is linked in later."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from isolation.native.layout import SCORE


@intrinsic  # type: ignore[untyped-decorator]
def linked_score(typingctx: Any, position: Any, player: Any) -> Any:
    """The worth of a position to a player; an exception of the heuristic goes on to the caller."""
    signature = types.float64(position, types.int64)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        convention = context.call_conv
        kind = convention.get_function_type(signature.return_type, signature.args)
        function = cgutils.get_or_insert_function(builder.module, kind, SCORE)
        status, value = convention.call_function(builder, function, signature.return_type, signature.args, args)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return value

    return signature, codegen
