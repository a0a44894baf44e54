"""Measure accuracy in games against a fixed field of opponents.

Every player meets the same opponents from the same random openings, on both sides. Its decisions in the middle of the
games (plies 15 to 29 of 7x7), where most wins are thrown away, are labelled until enough of them were eligible; see
`experiments.exact.accuracy`. `docs/explanation/perfect-play.md` reports how well this accuracy predicts the players'
results.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from knights_isolation.heuristics import names
from knights_isolation.isolation.compiling.specialise import native_function
from knights_isolation.isolation.games.match import GameBatch, play_games
from knights_isolation.isolation.rules.game import REASON_WORDS, USUAL_SIZE, Size
from knights_isolation.isolation.search.agents import Agent, SearchAgent

from ..plan import AgentLike, named, parse_agent, parse_spec, reference_of
from ..plan.openings import OpeningSet, orbit_ids, random_openings
from ..play.cluster.cluster_access import UserFile, chosen, files_of, placed_specs
from ..play.parallel_map import parallel_map
from .accuracy import decisions_frame, is_eligible
from .labelling import DEFAULT_LIMIT, label_moves, label_table

FIELD = (
    *("Field_Null=AB:null@depth=3", "Field_Open=AB:open@depth=3"),
    *("Field_Improved=AB:improved@depth=5", "Field_Territory=AB:territory@depth=3"),
)
"""The opponents, from weak to strong."""
OPENING_PLIES = 6

_CHUNK = 8
_MOST_FAILURES = 0.5
_MOST_OPENINGS = 20_000


def judged_plies(size: Size) -> tuple[int, int]:
    """Return the first and the last ply of the middle game, counted from 0: 14 to 28 on 7x7."""
    return max(OPENING_PLIES, round(size.cells * 14 / 49)), round(size.cells * 28 / 49)


def shortages(decisions: pd.DataFrame, positions: int) -> list[str]:
    """Return a message for each player whose openings ran out before `positions` of its moves were eligible."""
    eligible = decisions[is_eligible(decisions)]["agent"].value_counts()
    counts = {str(agent): int(eligible.get(agent, 0)) for agent in decisions["agent"].unique()}
    return [
        f"{agent}: found only {count:,} of {positions:,} positions; the board has no more openings."
        for agent, count in counts.items()
        if count < positions
    ]


def described(size: Size) -> str:
    """Describe the decisions of `play_and_label` in one sentence."""
    first, last = judged_plies(size)
    field = ", ".join(spec.partition("=")[2] for spec in FIELD)
    return (
        f"Moves at plies {first + 1} to {last + 1} of games on {size} against {field}, from openings of "
        f"{OPENING_PLIES} random plies, both sides."
    )


def parse_depths(depths: str | Sequence[int]) -> list[int]:
    """Return depths of search, which may be given as text: 1,3,5; ValueError if one is no positive whole number."""
    words = depths.split(",") if isinstance(depths, str) else depths
    for word in words:
        if not str(word).strip().isdecimal() or not int(word):
            raise ValueError(f"depths: a positive whole number or several, as in 1,3,5, not {word!r}")
    return [int(word) for word in words]


def fresh_decisions(
    heuristics: str | Sequence[AgentLike], depths: Sequence[int], positions: int, size: Size, **options: Any
) -> tuple[pd.DataFrame, list[str]]:
    """Return the decisions of heuristics in fresh games, and what is to be known of them; see `play_and_label`.

    `heuristics` may be names in one text, or `*` for all of the registry.
    """
    notes = list[str]()
    words = [word.strip() for word in heuristics.split(",")] if isinstance(heuristics, str) else heuristics
    references = names() if heuristics == "*" else [reference_of(word) for word in words]
    frame = play_and_label(references, depths, positions, size=size, note=notes.append, **options)
    return frame, [*notes, described(size), *shortages(frame, positions)]


def play_and_label(
    heuristics: Sequence[str],
    depths: Sequence[int],
    positions: int,
    *,
    size: Size = USUAL_SIZE,
    seed: int = 1,
    jobs: int = 1,
    cluster: str | None = None,
    show: Callable[[int, int], None] = lambda done, players: None,
    note: Callable[[str], None] = warnings.warn,
) -> pd.DataFrame:
    """Return the decisions of alpha-beta with each heuristic at each depth, in the format of `accuracy.run_decisions`.

    Duplicate heuristics or depths count once. Each player goes through the same openings, in the same order, until
    `positions` of its decisions were eligible or the openings are exhausted. A player that fails in more than half of
    its games, for example by an exception, is left out.

    Args:
        heuristics: names of the registry, or FILE.py:FUNCTION.
        jobs, cluster: see `parallel_map.parallel_mapper`.
        show: called with the number of finished players and of all players.
        note: called with a message for each player that lost games by failing.

    Raises:
        ValueError: a heuristic cannot be loaded, a number is below 1, the board has no such openings or is over before
            the plies where accuracy is measured, or all players were left out.
    """
    if not heuristics or not depths or positions < 1:
        raise ValueError("at least one heuristic, one depth and one position required")
    players = [(heuristic, depth) for heuristic in dict.fromkeys(heuristics) for depth in dict.fromkeys(depths)]
    agents = [*(_make_player(*player) for player in players), *map(parse_agent, FIELD)]
    openings = random_openings(size, OPENING_PLIES, _MOST_OPENINGS, seed)
    first, last = judged_plies(size)
    if last < first:
        raise ValueError(f"games on {size} end soon after openings of {OPENING_PLIES} plies: use a larger board")
    show(0, len(players))
    # Compile here once, so that the workers find the code in the cache.
    native_function("solve", None, *size)
    for agent in agents:
        agent.compiled(size)
    judged: dict[tuple[str, int], _Judged] = {}
    files = files_of(_spec_of(*player) for player in players) if chosen(cluster, jobs) else ()
    calls = ((player, files, openings, positions) for player in players)
    for player, result in parallel_map(_label_player, calls, jobs, cluster):
        judged[player] = result
        show(len(judged), len(players))
    notes = [text for _, text in map(judged.__getitem__, players) if text]
    frames = [decisions for decisions, _ in map(judged.__getitem__, players) if decisions is not None]
    if not frames:
        raise ValueError(" ".join(["no agent can be evaluated:", *notes]))
    for sentence in notes:
        note(sentence)
    return pd.concat(frames, ignore_index=True)


def _spec_of(heuristic: str, depth: int) -> str:
    return str(named(parse_spec(f"AB:{heuristic}@depth={depth}")))


def _make_player(heuristic: str, depth: int, files: Sequence[UserFile] = ()) -> SearchAgent:
    (spec,) = placed_specs([_spec_of(heuristic, depth)], files)
    agent = parse_agent(spec)
    assert isinstance(agent, SearchAgent)
    return replace(agent, name=f"{heuristic} at depth {depth}")


_Judged = tuple[pd.DataFrame | None, str]
"""A player's decisions, None if it failed too often to be judged, and a message if it lost games by failing."""


def _label_player(
    who: tuple[str, int], files: Sequence[UserFile], openings: OpeningSet, positions: int
) -> tuple[tuple[str, int], _Judged]:
    return who, _judge(_make_player(*who, files), openings, positions)


def _judge(player: Agent, openings: OpeningSet, positions: int) -> _Judged:
    """Play and label games, a few more than necessary, so that all opponents are met equally often."""
    field = [parse_agent(text) for text in FIELD]
    parts: list[pd.DataFrame] = []
    failures: list[tuple[str, str]] = []
    played = eligible = 0
    for start in range(0, len(openings), _CHUNK):
        for index, opponent in enumerate(field):
            rows = range(start + index, min(start + _CHUNK, len(openings)), len(field))
            for agents in ((player, opponent), (opponent, player)) if rows else ():
                starts = [openings[row] for row in rows]
                games = play_games(*agents, starts, list(rows), openings.size)
                lost = np.flatnonzero(games.is_forfeit & (games.winner != 1 + agents.index(player))).tolist()
                failures += [(REASON_WORDS[games.reason[i]].replace("_", " "), games.detail[i]) for i in lost]
                played += len(games)
                parts.append(_label_games(player, agents, openings, rows, games))
                eligible += int(is_eligible(parts[-1]).sum())
        is_left_out = len(failures) > _MOST_FAILURES * played
        if eligible >= positions or is_left_out:
            break
    note = _told_failures(player.name, failures, played, is_left_out) if failures else ""
    return None if is_left_out else pd.concat(parts, ignore_index=True), note


def _told_failures(name: str, failures: list[tuple[str, str]], played: int, is_left_out: bool) -> str:
    reasons = " and ".join(dict.fromkeys(reason for reason, _ in failures))
    detail = next((f" (such as {detail})" for _, detail in failures if detail), "")
    counts = f"{len(failures):,} of {played:,} games by {reasons}{detail}"
    if is_left_out:
        return f"{name} was excluded: it lost {counts}."
    return (
        f"{name} lost {counts}: kept and mistakes are based on the moves it played; converted counts these games as "
        f"lost."
    )


def _label_games(
    player: Agent, agents: tuple[Agent, Agent], openings: OpeningSet, rows: range, games: GameBatch
) -> pd.DataFrame:
    """Return the player's decisions in games from these openings; ids combine opening and side."""
    first, last = judged_plies(openings.size)
    played = [games.moves[start:end].tolist() for start, end in pairwise(games.offsets.tolist())]
    labels = [label_moves(moves[: last + 1], first, openings.size, DEFAULT_LIMIT) for moves in played]
    ids = [2 * row + agents.index(player) for row in rows]
    frame = pd.DataFrame({"game_id": ids, "orbit": orbit_ids(openings.cells[rows], openings.size).astype("int64")})
    for number, agent in enumerate(agents, start=1):
        frame[f"agent_{number}"], frame[f"settings_{number}"] = agent.name, json.dumps(agent.settings())
    decisions = decisions_frame(frame.assign(winner=games.winner), label_table(ids, labels))
    return decisions[decisions["agent"] == player.name]
