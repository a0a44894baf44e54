"""Matches, games in the terminal, games as text, what perfect play says of them, and thousands at a time in arrays."""
