"""Faults of the compiler itself, which are no verdict on the heuristic."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from platform import python_version

from knights_isolation.isolation.compiling.numba_errors import line_reached
from knights_isolation.isolation.compiling.source.compile_error import CompileError
from knights_isolation.isolation.usercode.user_exceptions import CompilerFault, format_exception


@contextmanager
def blaming_us(unless: Callable[[Exception], bool] = lambda error: False) -> Iterator[None]:
    """Raise whatever is raised here as a `CompilerFault`, unless it says something of a heuristic or of the machine."""
    try:
        yield
    except (CompilerFault, MemoryError, OSError):
        raise
    except Exception as error:
        if unless(error):
            raise
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{'/'.join(Path(frame.filename).parts[-3:])}:{frame.lineno}"
        versions = ", ".join(f"{name} {version(name)}" for name in ("numba", "llvmlite"))
        raise CompilerFault(
            f"the compiler fails (a bug in this toolkit; please report): {format_exception(error)} at {where}, "
            f"Python {python_version()}, {versions}"
        ) from error


def refuses_heuristic(error: Exception) -> bool:
    """Whether an exception of the compiler's is about the heuristic.

    Numba's own errors are, and our refusals; so is whatever numba's code raises while it translates one of its lines.
    """
    is_refusal = _is_numbas(error) or isinstance(error, CompileError | RecursionError)
    return is_refusal or line_reached(error) is not None


def _is_numbas(error: Exception) -> bool:
    errors = sys.modules.get("numba.core.errors")
    return errors is not None and isinstance(error, errors.NumbaError) and not isinstance(error, errors.InternalError)
