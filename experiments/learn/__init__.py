"""Better parameters for heuristics: fit to proven results, tune by games, sweep."""
