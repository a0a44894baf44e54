"""The log of a run as a pandas frame, for scripts."""

from knights_isolation.experiments.record.log import read_games

__all__ = ["read_games"]
