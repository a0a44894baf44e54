"""Rewrites of loops: tables in place of sums, loops over functions written out."""
