"""Tournament of a league, and its extension by late submissions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from knights_isolation.isolation.editions.edition import THIRD
from knights_isolation.isolation.editions.third.conversion import unsupported_size_reason
from knights_isolation.isolation.rules.geometry import parse_size

from ..plan.config import CLASSIC_OPPONENTS, Config, load_config
from ..play.run_extension import extended_config
from ..record import run_directory
from ..roster import complete, parse_limit, parse_spec
from .entries import Entry, LeagueEntries, keep
from .submissions import Skipped

LeagueSchedule = Literal["round-robin", "classic"]
USUAL: dict[str, Any] = {"pairs": 10, "limit": "cpu_ms=150", "hard_cap": 2.0}
"""Default configuration of a league. The limit is CPU time, which other programs on the machine do not reduce."""
USUAL_BOARD = "7x7"
"""Board of a league, unless most submissions are for the third edition, whose players only know its board."""


class TooFewPlayersError(ValueError):
    """Fewer than two players of a class can play."""


@dataclass(frozen=True)
class ChosenBoard:
    """The board of a league, and a sentence that names it and the reason for it."""

    size: str
    sentence: str


def choose_board(book: LeagueEntries, asked_for: str | None = None) -> ChosenBoard:
    """Return the requested size, or the one most submissions were written for: 9x11 for the third edition, else 7x7."""
    total = len(book.entries)
    third = sum(entry.player.edition == THIRD.name for entry in book.entries)
    players = f"{third} of {total} players {'is' if third == 1 else 'are'} of the third edition"
    if asked_for is not None:
        return ChosenBoard(
            asked_for, f"Board: {asked_for}, as asked for; {players}, which was made for {THIRD.usual_size}."
        )
    if 2 * third > total:
        size = THIRD.usual_size
        return ChosenBoard(size, f"Board: {size}, since {players}, which was made for it; the others play on any.")
    if not third:
        return ChosenBoard(USUAL_BOARD, f"Board: {USUAL_BOARD}, the usual one; no player is of the third edition.")
    return ChosenBoard(
        USUAL_BOARD,
        f"Board: {USUAL_BOARD}, the usual one; {players}, which was made for {THIRD.usual_size}: they play in the "
        f"middle of their own board (--board {THIRD.usual_size} for all).",
    )


def fit_for(book: LeagueEntries, size: str) -> LeagueEntries:
    """Return the class with all who cannot play on a board of this size moved to those that do not play."""
    why = unsupported_size_reason(*parse_size(size))
    third = [entry.player.name for entry in book.entries if entry.player.edition == THIRD.name]
    return book.without([Skipped(name, why) for name in third]) if why else book


def league_keys(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration of a league without its players, from the given and the default values.

    Raises:
        ValueError: a value is invalid, or the run's path already contains something else.
    """
    keys = {**USUAL, **{key: value for key, value in given.items() if value is not None}}
    if parse_limit(keys["limit"]).is_reproducible:
        raise ValueError(f"--limit: players from files need a time limit, ms or cpu_ms, not {keys['limit']}")
    if not keys["hard_cap"] > 0:
        raise ValueError("--hard-cap must be above 0 seconds: a league stops players that do not answer")
    run_directory.new_directory(load_config(None, keys))
    return keys


def league_config(book: LeagueEntries, schedule: LeagueSchedule, keys: Mapping[str, Any]) -> Config:
    """Configure the tournament of a class as a round-robin; with `classic`, including the seven classic opponents.

    If `keys` has no board, `choose_board` chooses it.

    Raises:
        TooFewPlayersError: fewer than two would play.
    """
    players = [entry.player for entry in book.entries]
    others = _classic_beside({player.name for player in players}) if schedule == "classic" else []
    if not players or len(players) + len(others) < 2:
        raise TooFewPlayersError(f"a league needs two players; only {len(players)} of the submissions can play")
    board = choose_board(book, keys.get("board")).size
    contenders = (*(player.spec for player in players), *others)
    return load_config(None, {**keys, "format": "round-robin", "board": board, "contenders": contenders})


def _classic_beside(names: set[str]) -> list[str]:
    """Return the seven classic opponents as specs, with names that none of the players has."""
    usual = [(spec, complete(parse_spec(spec)).name) for spec in CLASSIC_OPPONENTS]
    return [f"Classic_{name}={spec}" if name in names else spec for spec, name in usual]


def newcomers(run: Path, book: LeagueEntries) -> list[Entry]:
    """Return the entries of a class that a run does not have yet."""
    known = run_directory.load_run(run).agents
    return [entry for entry in book.entries if entry.player.name not in known]


def playing_copies(config: Config, book: LeagueEntries, run: Path, played: Mapping[str, Path | None]) -> Config:
    """Copy all submissions into the folder of a run, and return its configuration with the copies in their place.

    `played` are the files from which those play that have played in a run before.
    """
    everybody = [entry.player for entry in book.entries]
    players = [replace(player, file=played.get(player.name) or player.file) for player in everybody]
    contenders = run_directory.with_files(config.contenders, keep(players, run))
    return config.model_copy(update={"contenders": tuple(contenders), "out": str(run)})


def extension_of(run: Path, book: LeagueEntries, keys: Mapping[str, Any]) -> Config:
    """Configure the extension of a finished run by late submissions; `keys` are `jobs` and `out`."""
    late = tuple(entry.player.spec for entry in newcomers(run, book))
    return extended_config(run, {**keys, "contenders": late})
