"""Verdicts on runs: comparisons with the baseline, sequential tests, ratings, frames."""
