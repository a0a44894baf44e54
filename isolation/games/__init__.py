"""Matches, games in the terminal, games as text, and many positions or games at a time in arrays."""
