"""Plans: configuration, openings, schedules, and time estimates."""
