"""Tables about trials, screenings, plans, solutions, fits and tuning."""
