"""Parts of tuples that may be None, such as `move[0]` of a move that a search may not have found.

Numba has tuples that may be None, and fails when one of their parts is read.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer, signature

_READ = "static_getitem"


@infer
class _PartOfOptional(AbstractTemplate):
    """The type of a part, written by its number, of a tuple that may be None."""

    key = _READ

    def generic(self, args: Any, kws: Any) -> Any:
        """Return the signature that reads the part; None for anything else."""
        whole, place = args
        if not isinstance(whole, types.Optional) or not isinstance(whole.type, types.BaseTuple):
            return None
        read = self.context.resolve_static_getitem(whole.type, place)
        return None if read is None else signature(read.return_type, *args)


@lower_builtin(_READ, types.Optional, types.IntegerLiteral)
@lower_builtin(_READ, types.Optional, types.SliceLiteral)
def _read_part(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Read the part; None raises an exception, as in Python."""
    optional, place = sig.args
    whole = context.cast(builder, args[0], optional, optional.type)
    read = context.get_function(_READ, signature(sig.return_type, optional.type, place))
    return read(builder, (whole, args[1]))
