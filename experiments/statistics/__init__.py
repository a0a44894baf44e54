"""Descriptive statistics of runs: effort, cost, forfeits, placements, moves."""
