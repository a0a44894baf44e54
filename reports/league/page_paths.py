"""File names of a league's pages, and the scripts of those with games."""

from __future__ import annotations

from knights_isolation.isolation.processes.file_agent import file_name

FOLDER = "league"
INDEX = "index.html"
SCRIPTS = ("game.js", "board.js", "games.js")


def page_of(agent: str) -> str:
    """Return the file name of a player's page."""
    return f"player-{file_name(agent)}.html"


def games_of(agent: str) -> str:
    """Return the file name of the page with a player's games."""
    return f"games-{file_name(agent)}.html"
