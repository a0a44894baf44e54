"""Better parameters for heuristics: fitted to proven results, tuned by games, swept over."""
