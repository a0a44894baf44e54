"""Evaluation functions: `heuristics.names()`, `heuristics.get("improved")`, `heuristics.Composite(phases)`."""

from knights_isolation.lazy_package import CatalogueOfHeuristics, lazy_package

lazy_package(__name__, CatalogueOfHeuristics)
