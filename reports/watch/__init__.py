"""The progress of a run in the terminal."""
