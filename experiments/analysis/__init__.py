"""Analysis of a file: check and screen its heuristics and players, and play them against the baseline."""
