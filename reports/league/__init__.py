"""Pages of a league: the ranking, a page for all, a page for each player."""
