"""The lab: one local server with the pages of runs, heuristics, the board and leagues."""
