"""Studies of heuristics: select features, fit, tune, sweep, screen and evaluate; and the tries that are noted."""
