"""Evaluation functions: `heuristics.names()`, `heuristics.get("improved")`, `heuristics.Composite(phases)`."""

from heuristics.composite import Composite
from heuristics.features import FEATURES
from heuristics.registry import canonical_name, get, meaning, names

__all__ = ["FEATURES", "Composite", "canonical_name", "get", "meaning", "names"]
