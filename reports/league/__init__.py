"""A class for people: the ranking, a page for all, a page for each."""
