"""Replays of games in the terminal and in the browser."""
