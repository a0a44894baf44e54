"""Fits that end without having found what they looked for."""

from __future__ import annotations


class ConvergenceError(ValueError):
    """A fit did not settle: the message says which, and after how many steps."""
