"""Exact results: perft, the solver, and the tables of solved boards."""
