"""How the games of a run went on from a position: the board's explorer."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from experiments.exchange.opening_explorer import PLIES, PlayedGames, explore, read_played
from experiments.record.log import games_folder, live_files
from reports.board.request_models import ExploreQuestion, board_of
from reports.board.resources import Resources, run_of

_RUNS_REMEMBERED = 2


def explored(question: ExploreQuestion, shelf: Resources) -> dict[str, Any]:
    """For each legal move, those alike by symmetry as one, how many games of the run went on with it, and were won.

    The log is read at the first question about it, and again when it has grown.

    Raises:
        ValueError: there is no such run, a file of it is damaged, or the position is illegal.
    """
    run, board = run_of(shelf, question.run), board_of(question.position)
    written = tuple(file.name for file in live_files(games_folder(run)))
    found = explore(_played(run, board.size, written), board)
    return {
        "games": found.games,
        "drawn": found.drawn,
        "plies": PLIES,
        "moves": [{"cells": list(reply.cells), "games": reply.games, "won": reply.won} for reply in found.replies],
    }


@lru_cache(maxsize=_RUNS_REMEMBERED)
def _played(run: Path, size: str, written: tuple[str, ...]) -> PlayedGames:
    return read_played(run, size)
