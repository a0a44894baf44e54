"""Where the report leads: example games behind its numbers, and what to do next, as commands with their price."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from knights_isolation.experiments.record.run_directory import END, is_finished
from knights_isolation.experiments.record.schema import RunInfo
from knights_isolation.experiments.statistics.contender_verdicts import Verdicts
from knights_isolation.experiments.statistics.move_statistics import (
    FEWEST,
    ExampleGame,
    Key,
    OpeningLead,
    Placement,
    games_by_opponent,
    games_by_placement,
)
from knights_isolation.experiments.statistics.paired_differences import Comparison
from knights_isolation.experiments.statistics.planning import pairs_to_decide
from knights_isolation.experiments.statistics.run_results import RunResults
from knights_isolation.isolation.rules.game import Cost
from knights_isolation.isolation.rules.geometry import cell_name, format_moves
from knights_isolation.isolation.suggestions import command

from ..text.cell_values import Points, Ratio, pluralise

_DEAR = 1.2  # cost per node relative to the baseline from which on a lead at equal cost is worth asking for


@dataclass(frozen=True)
class NextStep:
    """A step: its title, why, the command, what it costs, and for further openings the contender and their number."""

    title: str
    why: str
    command: str
    price: str = ""
    contender: str = ""
    pairs: int = 0


def next_steps(findings: RunResults, verdicts: Verdicts | None, costs: Mapping[str, Cost]) -> list[NextStep]:
    """Return the most useful steps after a single finished run; none for several runs or without contenders."""
    if len(findings.sources) != 1 or verdicts is None or not verdicts.claims:
        return []
    info = findings.sources[0].info
    if not is_finished(info.path):
        return []
    ranked = sorted(verdicts.claims, key=lambda claim: -claim.difference.estimate)
    steps = [_cost_step(info, claim, costs) for claim in ranked if claim.verdict == "better"][:1]
    return [step for step in (*steps, _decision_step(info, ranked), _games_step(info, ranked)) if step]


def _cost_step(info: RunInfo, best: Comparison, costs: Mapping[str, Cost]) -> NextStep | None:
    cost = costs.get(best.contender)
    if cost is None or cost.times < _DEAR or info.requested.get("equal_cost"):
        return None
    words = ("tournament", info.path / "config.toml", "--equal-cost", "--out", f"{info.path}-equal-cost")
    return NextStep(
        "Compare at equal cost",
        f"A node of {best.contender} costs {Ratio(cost.times).text} as much. Does its lead hold in equal time?",
        command(*words),
        _price(info, info.games),
    )


def _decision_step(info: RunInfo, ranked: list[Comparison]) -> NextStep | None:
    requested = info.requested
    if requested["format"] != "gauntlet" or requested.get("equal_cost") or requested.get("sprt"):
        return None
    open_claims = [
        (pairs, claim)
        for claim in ranked
        if claim.verdict == "no significant difference" and not claim.plays_alike
        if (pairs := pairs_to_decide(claim)) > claim.openings and pairs <= (info.population or pairs)
    ]
    if not open_claims:
        return None
    pairs, claim = min(open_claims, key=lambda pair: pair[0])
    # both sides: contender and baseline against every opponent, and against each other
    games = 2 * (pairs - claim.openings) * (2 * len(claim.opponents) + info.meets_baseline)
    return NextStep(
        f"Decide about {claim.contender}",
        f"{Points(claim.estimate).text} points after {claim.openings:,} openings: as large a difference would probably "
        f"be significant after {pairs:,}.",
        command("tournament", "--extend", info.path, "--pairs", pairs, "--contender", claim.contender),
        _price(info, games),
        claim.contender,
        pairs,
    )


def _games_step(info: RunInfo, ranked: list[Comparison]) -> NextStep:
    best = ranked[0].contender
    return NextStep(
        f"See where {best} loses",
        "The games that it lost, the shortest first.",
        command("games", info.path, "--show", "shortest", "--where", f'lost_by == "{best}"'),
    )


def _price(info: RunInfo, games: int) -> str:
    played, taken = pluralise(games, "game"), seconds_of(info)
    if taken is None:
        return played
    seconds = max(1.0, taken * games / max(1, info.games))
    return f"{played}, {seconds:.0f} s" if seconds < 120 else f"{played}, {seconds / 60:.0f} min"


def seconds_of(info: RunInfo) -> float | None:
    """Return the time from the start of a run to its end; None if it has not ended."""
    try:
        finished = json.loads((info.path / END).read_text(encoding="utf-8"))["finished_at"]
        return (datetime.fromisoformat(finished) - datetime.fromisoformat(info.created_at)).total_seconds()
    except (OSError, ValueError, KeyError, TypeError):
        return None


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
    by_opening = {lead.cell: lead.game for lead in openings if lead.game}
    described = [(game, _lead_words(findings, game, agent)) for (agent, _), game in by_opponent.items()]
    described += [(game, _placement_words(game, is_first)) for (_, is_first), game in by_placement.items()]
    described += [(game, _lead_words(findings, game, contender)) for game in by_opening.values()]
    games: dict[str, dict[str, Any]] = {}
    for game, words in described:
        games.setdefault(_anchor(game), _linked(findings, game, words))
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
        "size": str(game.size),
        "moves": format_moves(game.moves, game.size.columns),
        "command": command("replay", findings.sources[game.run].info.path, game.game_id),
    }


def _lead_words(findings: RunResults, game: ExampleGame, agent: str) -> str:
    has_won = game.agents[game.winner - 1] == agent
    (opponent,) = {*game.agents} - {agent}
    sentence = f"{agent} {'beats' if has_won else 'loses to'} {opponent}"
    if game.instead is None:
        return sentence
    return f"{sentence}, while {findings.baseline} {'lost' if has_won else 'won'} (game {game.instead})"


def _placement_words(game: ExampleGame, is_first: bool) -> str:
    cell_text = cell_name(game.moves[0 if is_first else 1], game.size.columns)
    order = "first" if is_first else "second"
    return f"The two best agents in a game with the {order} placement on {cell_text} or a symmetric cell"
