"""Write all pages of a league; they load nothing from the network."""

from __future__ import annotations

from pathlib import Path

from experiments.league.entries import LeagueEntries
from experiments.league.league_results import Results
from isolation.files.atomic_write import write_text
from reports.league.class_page import class_page
from reports.league.games_page import games_page
from reports.league.page_paths import FOLDER, INDEX, games_of, page_of
from reports.league.player_page import player_page


def write_pages(run: Path, book: LeagueEntries, results: Results) -> Path:
    """Write all pages of a class into a folder of its run, each atomically; return the path of the class's own.

    Raises:
        OSError: they cannot be written.
    """
    folder = run / FOLDER
    folder.mkdir(exist_ok=True)
    for agent in results.ranks:
        write_text(folder / page_of(agent), player_page(agent, book, results))
        write_text(folder / games_of(agent), games_page(agent, results))
    write_text(folder / INDEX, class_page(run, book, results))
    return folder / INDEX
