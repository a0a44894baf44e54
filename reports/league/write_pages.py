"""Write all pages of a league; they load nothing from the network."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from knights_isolation.experiments.league.entries import LeagueEntries
from knights_isolation.experiments.league.league_results import Results
from knights_isolation.isolation.files.atomic_write import write_text
from knights_isolation.reports.league.class_page import class_page
from knights_isolation.reports.league.games_page import games_page
from knights_isolation.reports.league.page_paths import FOLDER, INDEX, games_of, page_of
from knights_isolation.reports.league.player_page import player_page


def write_pages(run: Path, book: LeagueEntries, results: Results) -> Path:
    """Write all pages of a class into a folder of its run, each atomically; return the path of the class's own.

    Raises:
        OSError: they cannot be written.
    """
    folder = run / FOLDER
    folder.mkdir(exist_ok=True)
    for name, make in pages(run, book, results).items():
        write_text(folder / name, make())
    return folder / INDEX


def pages(run: Path, book: LeagueEntries, results: Results) -> dict[str, Callable[[], str]]:
    """Return what makes each page of a class, by the page's file name; the class's own is the last."""
    made: dict[str, Callable[[], str]] = {}
    for agent in results.ranks:
        made[page_of(agent)] = partial(player_page, agent, book, results)
        made[games_of(agent)] = partial(games_page, agent, results)
    return {**made, INDEX: partial(class_page, run, book, results)}
