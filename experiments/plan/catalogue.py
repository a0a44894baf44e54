"""Lists of heuristics: names, meanings, parameters, whether they compile; and the template for a new one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from knights_isolation import heuristics
from knights_isolation.isolation.files.atomic_write import write_new
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


TEMPLATE = '''"""A heuristic for knight's Isolation."""


def score(game, player):
    """How good the position is for `player`: the larger, the better.

    `game` can be read, not changed:

        game.get_legal_moves(player)      the cells `player` could move to now, each (row, column)
        game.get_blank_spaces()           all open cells
        game.get_player_location(player)  (row, column), or None before the player is on the board
        game.get_opponent(player)         the other player
        game.active_player                the player to move
        game.width, game.height           columns and rows
        game.reach(cells)                 the blank cells a knight's move away from any of `cells`
        game.links(cells)                 how many pairs of `cells` are a knight's move apart
        game.forecast_move(move)          the position after a move of the player to move

    Sets of cells know len(), in, for, and the operators & (both), | (either) and - (without).
    A finished game need not be looked at: the search knows who has won.
    """
    own = game.get_legal_moves(player)
    opponent = game.get_legal_moves(game.get_opponent(player))

    # The baseline, `improved`, is len(own) - len(opponent). Here, a move that leads on to many others counts more.
    return float(len(own) - len(opponent)) + 0.5 * (len(game.reach(own)) - len(game.reach(opponent)))
'''


def write_template(path: Path) -> Path:
    """Write the template into a new Python file.

    Raises:
        ValueError: the file exists, or is no Python file.
    """
    if path.suffix != ".py":
        raise ValueError(f"{path} is not a Python file: use a name such as {path.with_suffix('.py')}")
    write_new(path, TEMPLATE)
    return path
