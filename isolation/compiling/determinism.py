"""Detect nondeterministic code in a heuristic."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ..rules.parameters import base_function
from . import FUNCTIONS_REMEMBERED
from .source.dependence import unrepeatable_code
from .source_rewriter import CompileError, rewrite


def nondeterminism_reason(heuristic: Any) -> str:
    """Why a heuristic may say something else of the same position later; empty if nothing in its code says so.

    What compiles cannot: it knows neither chance nor time, and keeps nothing between calls. Of other code, the
    functions it reaches are looked through; what they call in other packages is taken to be repeatable.
    """
    heuristic = base_function(heuristic)
    try:
        return _why_unrepeatable(heuristic)
    except TypeError:  # no hash, as objects of most dataclasses
        return _find(heuristic)


@lru_cache(maxsize=FUNCTIONS_REMEMBERED)
def _why_unrepeatable(heuristic: Any) -> str:
    return _find(heuristic)


def _find(heuristic: Any) -> str:
    try:
        rewrite(heuristic)
    except CompileError as error:
        return error.reason if error.is_unrepeatable else unrepeatable_code(heuristic)
    return ""
