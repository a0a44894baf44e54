"""Evaluation functions: `heuristics.names()`, `heuristics.get("improved")`, `heuristics.Composite(phases)`."""

from knights_isolation.heuristics.composite import Composite, Weight
from knights_isolation.heuristics.features import FEATURES
from knights_isolation.heuristics.registry import canonical_name, get, meaning, names
from knights_isolation.lazy_package import CatalogueOfHeuristics, lazy_package

__all__ = ["FEATURES", "Composite", "Weight", "canonical_name", "get", "meaning", "names"]

lazy_package(__name__, CatalogueOfHeuristics)
