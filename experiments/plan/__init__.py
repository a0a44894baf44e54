"""Plans: configuration, openings, schedules, time estimates and directories of runs; lists of heuristics."""
