"""Agents whose games supply a suite's positions, and the field that measures trouble.

Agents that are tested by a suite should not have chosen its positions. So these come from agents of many kinds and
strengths that sometimes play random moves; the source of each position is stored with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.games.batch_moves import NO_ANSWER, Positions, choose_moves
from knights_isolation.isolation.players.agents import Agent
from knights_isolation.isolation.rules.geometry import cells_of, full_mask, knight_masks, parse_size
from knights_isolation.isolation.rules.seeds import splitmix64

from ..roster import parse_agent


@dataclass(frozen=True)
class PositionSource:
    """Agents that play each other.

    Attributes:
        name: its name in the suite.
        specs: agents; each player of a game is a random one of them.
        errors: chances of a random move at each ply; one of them is drawn for each player of each game.
    """

    name: str
    specs: tuple[str, ...]
    errors: tuple[float, ...] = (0.0,)


_HEURISTICS = (
    "open", "improved", "center", "net_advantage", "horizon", "edge_distance", "late_own", "territory",
    "two_step_mobility",
)  # fmt: skip

SOURCES = (
    PositionSource(
        "shipped", tuple(f"ID:{name}@nodes={nodes}" for name in _HEURISTICS for nodes in (100, 1000, 10_000))
    ),
    PositionSource(
        "classic",
        ("random", "greedy", "MM:null", "MM:open", "MM:improved", "AB:null", "AB:open", "AB:improved"),
    ),
    PositionSource("mcts", ("MCTS@nodes=50", "MCTS@nodes=200", "MCTS@nodes=1000", "MCTS:improved@nodes=500")),
    PositionSource("mixture", ("ID:improved@nodes=300", "ID:territory@nodes=300", "random"), (0.1, 0.3, 0.6)),
    PositionSource("perfect", ("perfect@nodes=200000",), (0.05, 0.2)),
)
"""Sources of a suite's positions."""

FIELD = (
    "greedy",
    "AB:null@depth=3",
    "AB:open@depth=3",
    "AB:open@depth=5",
    "AB:improved@depth=3",
    "AB:improved@depth=5",
    "ID:improved@nodes=100",
    "ID:improved@nodes=1000",
    "ID:improved@nodes=10000",
    "ID:center@nodes=1000",
    "ID:two_step_mobility@nodes=300",
    "ID:territory@nodes=100",
    "ID:territory@nodes=1000",
    "MCTS@nodes=100",
    "MCTS@nodes=1000",
)
"""The reference field: agents that are asked for a reply to each move of a lost position."""


def sources_of(specs: Sequence[str]) -> tuple[PositionSource, ...]:
    """Return the default sources, or these agents, which also play some random moves."""
    return (PositionSource("own", tuple(specs), (0.0, 0.1, 0.3)),) if specs else SOURCES


def field_of(specs: Sequence[str]) -> tuple[str, ...]:
    """Return the default reference field, or these agents."""
    return tuple(specs) or FIELD


def play_source(source: PositionSource, openings: Sequence[tuple[int, ...]], size: str, seed: int) -> list[list[int]]:
    """Play a game from each opening and return its cells; a failing agent ends its game."""
    generator = np.random.default_rng(seed)
    agents = [parse_agent(spec) for spec in source.specs]
    who = generator.integers(len(agents), size=(len(openings), 2))
    errors = generator.choice(source.errors, size=(len(openings), 2))
    games = [list(opening) for opening in openings]
    going = np.arange(len(games))
    for ply in range(len(openings[0]), np.prod(parse_size(size)) + 1):
        going = np.array([game for game in going if _legal(games[game], size)], np.int64)
        if not len(going):
            break
        positions = Positions.of([games[game] for game in going], size)
        side = ply % 2
        slips = generator.random(len(going)) < errors[going, side]
        draws = generator.random(len(going))
        seeds = generator.integers(1 << 63, size=len(going)).astype(np.uint64)
        cells = _chosen(agents, np.where(slips, -1, who[going, side]), positions, seeds)
        for index, game in enumerate(going):
            if slips[index]:
                legal = _legal(games[game], size)
                games[game].append(legal[int(draws[index] * len(legal))])
            elif cells[index] != NO_ANSWER:
                games[game].append(int(cells[index]))
        going = going[slips | (cells != NO_ANSWER)]
    return games


def field_answers(specs: Sequence[str], positions: Positions, seed: int) -> NDArray[np.int16]:
    """Return the move of each member of a field in each position: [members, positions]."""
    answers = np.full((len(specs), len(positions)), NO_ANSWER, np.int16)
    for row, spec in zip(answers, specs, strict=True):
        seeds = np.array([splitmix64(seed ^ splitmix64(index + 1)) for index in range(len(positions))], np.uint64)
        row[:] = choose_moves(parse_agent(spec), positions, seeds).cells
    return answers


def _chosen(
    agents: Sequence[Agent], who: NDArray[np.int64], positions: Positions, seeds: NDArray[np.uint64]
) -> NDArray[np.int16]:
    """Return the move in each position by the agent with the index given for it; -1 if there is none."""
    cells = np.full(len(who), NO_ANSWER, np.int16)
    for index in np.unique(who[who >= 0]):
        rows = np.flatnonzero(who == index)
        cells[rows] = choose_moves(agents[index], positions.take(rows), seeds[rows]).cells
    return cells


def _legal(moves: Sequence[int], size: str) -> list[int]:
    rows, columns = parse_size(size)
    blank = full_mask(rows, columns)
    for cell in moves:
        blank &= ~(1 << cell)
    return list(cells_of(knight_masks(rows, columns)[moves[-2]] & blank))
