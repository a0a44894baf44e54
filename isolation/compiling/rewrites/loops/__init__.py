"""Rewrites of loops: fused fills, tables in place of sums, inlining."""
