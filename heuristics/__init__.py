"""Evaluation functions: `heuristics.names()`, `heuristics.get("improved")`, `heuristics.Composite(phases)`."""

from heuristics.composite import Composite, Weight
from heuristics.features import FEATURES
from heuristics.registry import canonical_name, get, meaning, names

__all__ = ["FEATURES", "Composite", "Weight", "canonical_name", "get", "meaning", "names"]
