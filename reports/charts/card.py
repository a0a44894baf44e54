"""The card of a run: verdict, forest, and three games that show it."""

from __future__ import annotations

import math

from knights_isolation.experiments.statistics.run_results import RunResults
from knights_isolation.experiments.verdicts.contender_verdicts import judge
from knights_isolation.experiments.verdicts.example_games import ExampleGame, games_by_opponent

from ..text.cell_values import pluralise
from .chart import Card, Picture
from .coloured_tables import leads
from .interval_rows import forest

_PICTURES = 3


def card(findings: RunResults) -> Card | None:
    """Return the card of a run with a baseline: games of the best contender, where it leads most; None without data."""
    verdicts = judge(findings)
    rows = forest(findings, verdicts)
    if rows is None:
        return None
    claims = [claim for claim in verdicts.judged if not claim.is_empty]
    if not claims:
        return None
    best = max(claims, key=lambda claim: claim.estimate).contender
    of_pairs = {
        pair: cell.lead
        for pair, cell in leads(findings, verdicts).items()
        if pair[0] == best and not math.isnan(cell.lead)
    }
    most = dict(sorted(of_pairs.items(), key=lambda pair: -pair[1])[:_PICTURES])
    games = games_by_opponent(findings, most)
    pictures = tuple(_picture(findings, game, *pair) for pair, game in games.items())
    where = " and ".join(dict.fromkeys(source.info.requested["board"] for source in findings.sources))
    return Card(rows.title, rows, pictures, f"{pluralise(findings.played, 'game')} on {where}.")


def _picture(findings: RunResults, game: ExampleGame, agent: str, opponent: str) -> Picture:
    has_won = game.agents[game.winner - 1] == agent
    caption = f"{agent} {'beats' if has_won else 'loses to'}\n{opponent} in {len(game.moves)} plies"
    if game.instead is not None:
        caption += f",\nwhere {findings.baseline} {'lost' if has_won else 'won'}"
    return Picture(game.size, game.moves, caption)
