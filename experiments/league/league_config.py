"""Tournament of a league, and what late submissions add to it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from experiments.league.entries import Entry, LeagueEntries
from experiments.plan.config import CLASSIC_OPPONENTS, Config, load_config
from experiments.play.run_extension import extended_config
from experiments.record import run_directory
from experiments.roster import complete, parse_limit, parse_spec
from isolation.editions.edition import THIRD

LeagueFormat = Literal["round-robin", "classic"]
USUAL: dict[str, Any] = {"pairs": 10, "limit": "cpu_ms=150", "hard_cap": 2.0}
"""What a league is played by unless it is told otherwise. The time of a move is the player's own processor time, which
other programs on the machine do not take away."""
USUAL_BOARD = "7x7"
"""Unless somebody wrote for the third edition, whose players know their board by heart; all others play on any."""


def league_keys(given: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a league's configuration beside its players, as given or as usual, before anybody is looked at.

    Raises:
        ValueError: a value makes no sense, or there is something else in the place where the run is to go.
    """
    keys = {**USUAL, **{key: value for key, value in given.items() if value is not None}}
    if parse_limit(keys["limit"]).is_reproducible:
        raise ValueError(f"--limit: players from files need a time limit, ms or cpu_ms, not {keys['limit']}")
    if not keys["hard_cap"] > 0:
        raise ValueError("--hard-cap must be above 0 seconds: a league stops players that do not answer")
    run_directory.new_directory(load_config(None, keys))
    return keys


def league_config(book: LeagueEntries, format_: LeagueFormat, keys: Mapping[str, Any]) -> Config:
    """The tournament of a class: everybody meets everybody; as `classic`, also the seven opponents of old.

    Raises:
        ValueError: fewer than two would play.
    """
    players = [entry.player for entry in book.entries]
    others = _classic_beside({player.name for player in players}) if format_ == "classic" else []
    if not players or len(players) + len(others) < 2:
        raise ValueError(f"a league needs two players; only {len(players)} of the submissions can play")
    board = THIRD.usual_size if any(player.edition == THIRD.name for player in players) else USUAL_BOARD
    contenders = (*(player.spec for player in players), *others)
    return load_config(None, {**keys, "format": "round-robin", "board": board, "contenders": contenders})


def _classic_beside(names: set[str]) -> list[str]:
    """The classic seven as specs, with names that none of the players has."""
    usual = [(spec, complete(parse_spec(spec)).name) for spec in CLASSIC_OPPONENTS]
    return [f"Classic_{name}={spec}" if name in names else spec for spec, name in usual]


def newcomers(run: Path, book: LeagueEntries) -> list[Entry]:
    """The entries of a class that a run does not have yet."""
    known = run_directory.load_run(run).agents
    return [entry for entry in book.entries if entry.player.name not in known]


def extension_of(run: Path, book: LeagueEntries, keys: Mapping[str, Any]) -> Config:
    """The tournament of a finished run with those who came late; `keys` are `jobs` and `out`.

    Raises:
        ValueError: see `extended_config`.
    """
    late = tuple(entry.player.spec for entry in newcomers(run, book))
    return extended_config(run, {**keys, "contenders": late})


def folder_beside(run: Path) -> Path:
    """A folder beside a run, by its name and a number."""
    number = 2
    while (path := run.with_name(f"{run.name}-{number}")).exists():
        number += 1
    return path
