"""Evaluation functions: `heuristics.names()`, `heuristics.get("improved")`, `heuristics.Composite(phases)`."""

from knights_isolation.lazy_package import CatalogueOfHeuristics, lazy_package

from .composite import Composite, Weight
from .features import FEATURES
from .registry import canonical_name, get, meaning, names

__all__ = ["FEATURES", "Composite", "Weight", "canonical_name", "get", "meaning", "names"]

lazy_package(__name__, CatalogueOfHeuristics)
