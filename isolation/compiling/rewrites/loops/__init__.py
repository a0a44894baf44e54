"""Rewrites of loops: comprehensions as loops, unrolling, sums over cells as table lookups."""
