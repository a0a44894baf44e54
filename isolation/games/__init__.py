"""Matches, finished games and their text, and batches of moves and values."""
