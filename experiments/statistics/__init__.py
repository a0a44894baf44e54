"""Statistics of runs: methods, each with its source, and what they say of a run and its agents."""
