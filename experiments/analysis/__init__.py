"""Analysis of a file: its heuristics and players, checked, screened and played against the baseline."""
