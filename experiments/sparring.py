"""Accuracy without a tournament: heuristics at fixed depths play against a fixed field, and their moves are judged.

Every player meets the same opponents from the same random openings, on both sides, and its decisions in the middle of
the games, where most wins are thrown away (plies 14 to 28 of 7x7), are labelled until enough of them were eligible; see
`experiments.accuracy`. `docs/perfect-play.md` says how far accuracy so measured orders players as their results do.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pandas as pd

from experiments.accuracy import decisions_frame, is_eligible
from experiments.labels import DEFAULT_LIMIT, label_moves, label_table
from experiments.openings import OpeningSet, orbit_ids, random_openings
from experiments.play.cluster.addresses import chosen
from experiments.play.cluster.travel import UserFile, packed_file, placed
from experiments.play.spreading import spread
from experiments.roster import parse_agent, parse_spec
from isolation.agents import SearchAgent
from isolation.compiling.specialise import native_function
from isolation.geometry import parse_size
from isolation.match import play_games

if TYPE_CHECKING:
    from isolation.agents import Agent

FIELD = tuple(
    f"{name}=AB:{heuristic}@depth={depth}"
    for name, heuristic, depth in (
        ("Field_Null", "null", 3),
        ("Field_Open", "open", 3),
        ("Field_Improved", "improved", 5),
        ("Field_Territory", "territory", 3),
    )
)
"""The opponents, from weak to strong."""
OPENING_PLIES = 6

_CHUNK = 8
_MOST_OPENINGS = 20_000


def window(size: str) -> tuple[int, int]:
    """The first and the last ply of the middle of a game, where accuracy is measured: 14 to 28 on 7x7."""
    rows, columns = parse_size(size)
    return max(OPENING_PLIES, round(rows * columns * 14 / 49)), round(rows * columns * 28 / 49)


def shortages(decisions: pd.DataFrame, positions: int) -> list[str]:
    """Sentences about players for which the openings ran out before `positions` of their moves were eligible."""
    eligible = decisions[is_eligible(decisions)]["agent"].value_counts()
    found = {str(agent): int(eligible.get(agent, 0)) for agent in decisions["agent"].unique()}
    return [
        f"{agent}: only {count:,} of {positions:,} positions were found; the board has no more openings."
        for agent, count in found.items()
        if count < positions
    ]


def described(size: str) -> str:
    """In a sentence, what the decisions of `play_and_label` are."""
    first, last = window(size)
    names = ", ".join(spec.partition("=")[2] for spec in FIELD)
    return (
        f"Moves at plies {first} to {last} of games on {size} from openings of {OPENING_PLIES} random plies, "
        f"both sides, against {names}."
    )


def play_and_label(
    heuristics: Sequence[str],
    depths: Sequence[int],
    positions: int,
    *,
    size: str = "7x7",
    seed: int = 1,
    jobs: int = 1,
    cluster: str | None = None,
    show: Callable[[int, int], None] = lambda done, players: None,
) -> pd.DataFrame:
    """The decisions of alpha-beta with each heuristic at each depth, as `accuracy.run_decisions` has them.

    A heuristic or a depth that is given twice counts once.
    Each player goes through the same openings, in the same order, until `positions` of its decisions were eligible or
    the openings are exhausted.

    Args:
        heuristics: names of the registry, or FILE.py:FUNCTION.
        jobs: processes on this machine; 0 is one a core.
        cluster: the cluster to use instead, see `spread`.
        show: called with the number of players done with, and of all.

    Raises:
        ValueError: a heuristic cannot be loaded, a number is below 1, or the board has no such openings or is over
            before the plies where accuracy is measured.
    """
    if not heuristics or not depths or positions < 1:
        raise ValueError("at least one heuristic, one depth and one position are needed")
    players = [(heuristic, depth) for heuristic in dict.fromkeys(heuristics) for depth in dict.fromkeys(depths)]
    agents = [*(_make_player(*player) for player in players), *map(parse_agent, FIELD)]
    openings = random_openings(size, OPENING_PLIES, _MOST_OPENINGS, seed)
    first, last = window(size)
    if last < first:
        raise ValueError(f"games on {size} are over soon after openings of {OPENING_PLIES} plies: take a larger board")
    show(0, len(players))
    # Compiled here once, so that the workers find it in the cache.
    native_function("solve", None, *parse_size(size))
    for agent in agents:
        agent.compiled(parse_size(size))
    found: dict[tuple[str, int], pd.DataFrame] = {}
    files = {name: _file_of(name) if chosen(cluster, jobs) else None for name, _ in players}
    calls = ((player, files[player[0]], openings, positions) for player in players)
    for player, frame in spread(_label_player, calls, jobs, cluster):
        found[player] = frame
        show(len(found), len(players))
    return pd.concat([found[player] for player in players], ignore_index=True)


def _file_of(heuristic: str) -> UserFile | None:
    """The file a heuristic comes from, for another machine; None for one of the registry."""
    path = parse_spec(f"AB:{heuristic}").target.rpartition(":")[0]
    return packed_file(path) if path else None


def _make_player(heuristic: str, depth: int, file: UserFile | None = None) -> SearchAgent:
    name = parse_spec(f"AB:{heuristic}").target.rpartition(":")[2]
    source = f"{placed(file)}:{name}".removesuffix(":") if file else heuristic
    agent = parse_agent(f"AB:{source}@depth={depth}")
    assert isinstance(agent, SearchAgent)
    return replace(agent, name=f"{heuristic} at depth {depth}")


def _label_player(
    who: tuple[str, int], file: UserFile | None, openings: OpeningSet, positions: int
) -> tuple[tuple[str, int], pd.DataFrame]:
    """One player's decisions; a few games more than it takes, so that all the field is met alike."""
    player, field = _make_player(*who, file), [parse_agent(text) for text in FIELD]
    parts: list[pd.DataFrame] = []
    eligible = 0
    for start in range(0, len(openings), _CHUNK):
        for place, opponent in enumerate(field):
            rows = range(start + place, min(start + _CHUNK, len(openings)), len(field))
            for agents in ((player, opponent), (opponent, player)) if rows else ():
                parts.append(_label_games(player, agents, openings, rows))
                eligible += int(is_eligible(parts[-1]).sum())
        if eligible >= positions:
            break
    return who, pd.concat(parts, ignore_index=True)


def _label_games(player: Agent, agents: tuple[Agent, Agent], openings: OpeningSet, rows: range) -> pd.DataFrame:
    """What the player did in games from these openings; a game is numbered by its opening and the player's side."""
    first, last = window(openings.size)
    side = agents.index(player)
    games = play_games(*agents, [openings[row] for row in rows], list(rows), openings.size)
    played = [games.moves[start:end].tolist() for start, end in pairwise(games.offsets.tolist())]
    labels = [label_moves(moves[: last + 1], first, openings.size, DEFAULT_LIMIT) for moves in played]
    ids = [2 * row + side for row in rows]
    names = {f"agent_{place}": agent.name for place, agent in enumerate(agents, start=1)}
    settings = {f"settings_{place}": json.dumps(agent.settings()) for place, agent in enumerate(agents, start=1)}
    orbit = orbit_ids(openings.cells[rows], openings.size).astype("int64")
    frame = pd.DataFrame({"game_id": ids, "orbit": orbit, **names, **settings, "winner": games.winner})
    decisions = decisions_frame(frame, label_table(ids, labels))
    return decisions[decisions["agent"] == player.name]
