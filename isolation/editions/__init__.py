"""Compatibility with the classic course engines: private state, players, game loop."""
