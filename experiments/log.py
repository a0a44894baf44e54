"""The log of a run as a pandas frame, for scripts."""

from .record.log import read_games

__all__ = ["read_games"]
