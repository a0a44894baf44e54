"""Lists of heuristics: names, meanings, parameters, and whether they compile."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from knights_isolation import heuristics
from knights_isolation.isolation.rules.parameters import ParameterError, no_parameters, parameters_of, unpartial

Heuristic = Callable[[Any, Any], float]


@dataclass(frozen=True)
class CatalogueEntry:
    """A heuristic's name, its description in one line, its parameters, and whether it compiles or why not."""

    name: str
    meaning: str
    parameters: str
    compiles: str


def registry_catalogue() -> list[CatalogueEntry]:
    """List all functions of the registry, which all compile, as a test makes sure."""
    return [entry_of(name, heuristics.meaning(name), heuristics.get(name), "yes") for name in heuristics.names()]


def entry_of(name: str, meaning: str, function: Heuristic, compiles: str) -> CatalogueEntry:
    """Return the entry of a function, with its parameters and what else has a default, in words."""
    try:
        parameters = ", ".join(map(str, parameters_of(function)))
    except ParameterError as error:
        parameters = str(error)
    others = [f"{name} is not a parameter: its default is {what}" for name, what in no_parameters(function).items()]
    return CatalogueEntry(name, meaning, "; ".join(filter(None, [parameters, *others])), compiles)


def interpreted_sentences(listings: Sequence[CatalogueEntry]) -> list[str]:
    """Return a sentence for each reason why heuristics do not compile, or run interpreted."""
    names: dict[str, list[str]] = {}
    for listing in listings:
        names.setdefault(listing.compiles, []).append(listing.name)
    sentences = []
    for compiles, alike in names.items():
        answer, _, reason = compiles.partition(": ")
        does, runs = ("do", "run") if alike[1:] else ("does", "runs")
        verb = f"{does} not compile" if answer == "no" else f"{runs} interpreted"
        sentences += [f"{', '.join(alike)} {verb}: {reason}"] if reason else []
    return sentences


def first_line(function: object) -> str:
    """Return the first line of a docstring; for a partial function, that of its function."""
    return (inspect.getdoc(unpartial(function)) or "").partition("\n")[0]
