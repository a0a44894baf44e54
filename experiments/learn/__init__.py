"""Better heuristics: select features, fit parameters to proven results, tune them by games, sweep."""
