"""Page of a player's games, to step through."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from knights_isolation.experiments.league.league_results import ClassGame, Results
from knights_isolation.reports.league.page_paths import page_of
from knights_isolation.reports.pages.templates import page_template, policy_of
from knights_isolation.reports.replay.replay import Replay, describe_end
from knights_isolation.reports.replay.replay_page import bundle, embedded

SCRIPTS = ("game.js", "board.js", "games.js")


def games_page(agent: str, results: Results) -> str:
    """Return the page with the moves of all games of a player."""
    script = bundle(SCRIPTS)
    mistakes: dict[int, list[int]] = {}
    for blunder in results.blunders:
        mistakes.setdefault(blunder.game.id, []).append(blunder.ply)
    games = [_as_json(game, agent, mistakes.get(game.id, [])) for game in results.of(agent)]
    return page_template("games.html").render(
        title=f"Games of {agent}",
        agent=agent,
        back=page_of(agent),
        script=Markup(script),
        script_hash=policy_of(script),
        games=Markup(embedded(games)),
    )


def _as_json(game: ClassGame, agent: str, mistakes: list[int]) -> dict[str, Any]:
    """Return a game in the page's format; `label` is its name in the list."""
    side = game.agents.index(agent) + 1
    replay = Replay("", game.size, game.moves, game.agents, game.opening, 3 - game.loser, game.reason, game.detail)
    return {
        "id": game.id,
        "size": game.size,
        "agents": list(game.agents),
        "opening": game.opening,
        "moves": list(game.moves),
        "mistakes": mistakes,
        "end": describe_end(replay),
        "label": f"{game.id}: {'lost to' if game.loser == side else 'beat'} {game.agents[2 - side]}"
        + (f", {game.reason.replace('_', ' ')}" if game.is_forfeit else ""),
    }
