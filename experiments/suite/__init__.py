"""Suites of solved positions: build, read, and screen agents with them.

A *telling* position is won for the side to move, and some legal move loses. A *troubled* one is lost, whatever is
played, and the moves differ in how often a reference field throws the win away after them. Keeping wins is one half of
strength, making it hard for an opponent who could win the other.
"""

from experiments.suite.suite_file import Suite, read_suite, shipped_suites

__all__ = ["Suite", "read_suite", "shipped_suites"]
