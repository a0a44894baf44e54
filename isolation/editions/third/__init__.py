"""Compatibility with the third edition: its states, players and game loop."""
