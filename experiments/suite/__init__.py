"""Suites of solved positions: build and read them.

A *telling* position is won for the side to move, and some legal move loses. A *troubled* position is lost for any move,
but the moves differ in how often a reference field throws the win away afterwards. Keeping wins is one half of
strength; the other half is to make winning hard for an opponent.
"""

from .suite_file import Suite, read_suite, shipped_suites

__all__ = ["Suite", "read_suite", "shipped_suites"]
