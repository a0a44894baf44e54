"""Plans: configuration, openings, schedules, and time estimates; facts about agents, and lists of heuristics."""
