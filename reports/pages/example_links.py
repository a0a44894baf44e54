"""Links from the numbers of the report to example games."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from knights_isolation.experiments.statistics.first_placements import FEWEST, Placement
from knights_isolation.experiments.statistics.run_results import RunResults
from knights_isolation.experiments.verdicts.example_games import ExampleGame, Key, games_by_opponent, games_by_placement
from knights_isolation.experiments.verdicts.opening_leads import OpeningLead
from knights_isolation.isolation.rules.geometry import parse_size
from knights_isolation.isolation.rules.notation import cell_name, format_moves
from knights_isolation.isolation.suggestions import command


@dataclass(frozen=True)
class Links:
    """Link targets by agent and opponent, by first cell and whether it was placed first, and by a lead's first cell.

    `games` are the example games: anchors, descriptions and moves for the page.
    """

    by_opponent: Mapping[tuple[str, str], str]
    by_placement: Mapping[tuple[int, bool], str]
    by_opening: Mapping[int, str]
    games: tuple[dict[str, Any], ...]


def links_to_games(
    findings: RunResults,
    leads: Mapping[tuple[str, str], float],
    placements: Iterable[Placement],
    contender: str,
    openings: Iterable[OpeningLead],
) -> Links:
    """Choose an example game for each lead and each first placement on the map; each game is listed once."""
    by_opponent = games_by_opponent(findings, leads)
    by_placement = games_by_placement(findings, [placement for placement in placements if placement.openings >= FEWEST])
    games: dict[str, dict[str, Any]] = {}
    for (agent, opponent), game in by_opponent.items():
        games.setdefault(_anchor(game), _linked(findings, game, _lead_words(findings, game, agent, opponent)))
    for (cell, is_first), game in by_placement.items():
        games.setdefault(_anchor(game), _linked(findings, game, _placement_words(game, cell, is_first)))
    by_opening = {lead.cell: lead.game for lead in openings if lead.game}
    for game in by_opening.values():
        opponent = next(name for name in game.agents if name != contender)
        games.setdefault(_anchor(game), _linked(findings, game, _lead_words(findings, game, contender, opponent)))
    return Links(_places(by_opponent), _places(by_placement), _places(by_opening), tuple(games.values()))


def _places(games: Mapping[Key, ExampleGame]) -> dict[Key, str]:
    return {key: f"#{_anchor(game)}" for key, game in games.items()}


def _anchor(game: ExampleGame) -> str:
    return f"game-{game.run}-{game.game_id}"


def _linked(findings: RunResults, game: ExampleGame, tells: str) -> dict[str, Any]:
    return {
        "anchor": _anchor(game),
        "tells": tells,
        "agents": game.agents,
        "winner": game.winner,
        "plies": len(game.moves),
        "size": game.size,
        "moves": format_moves(game.moves, parse_size(game.size)[1]),
        "command": command("replay", findings.sources[game.run].info.path, game.game_id),
    }


def _lead_words(findings: RunResults, game: ExampleGame, agent: str, opponent: str) -> str:
    has_won = game.agents[game.winner - 1] == agent
    sentence = f"{agent} {'beats' if has_won else 'loses to'} {opponent}"
    if game.instead is None:
        return sentence
    return f"{sentence}, while {findings.baseline} {'lost' if has_won else 'won'} (game {game.instead})"


def _placement_words(game: ExampleGame, cell: int, is_first: bool) -> str:
    cell_text = cell_name(game.moves[0 if is_first else 1], parse_size(game.size)[1])
    order = "first" if is_first else "second"
    return f"The two best agents in a game with the {order} placement on {cell_text} or a symmetric cell"
