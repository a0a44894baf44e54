"""Processes that play: lines of text to and from them by a deadline, and what is said in those lines."""
