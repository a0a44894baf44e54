"""Evaluation functions: `heuristics.names()`, `heuristics.get("improved")`, `heuristics.Composite(phases)`."""

from heuristics.composite import Composite
from heuristics.registry import canonical_name, get, meaning, names

__all__ = ["Composite", "canonical_name", "get", "meaning", "names"]
