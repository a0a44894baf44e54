"""Load heuristics and players from files."""
