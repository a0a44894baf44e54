"""Example games for the numbers of a report, and where a contender wins: by the first cell of the opening."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from knights_isolation.isolation.rules.geometry import canonical_opening, format_size

from ..inference.argument_checks import Ints
from ..record.log import map_parts
from ..statistics.first_placements import FEWEST, Placement, commonest_size, first_cells
from ..statistics.run_results import RunResults

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class ExampleGame:
    """An example game, its run by index in `RunResults.sources`, its board as ROWSxCOLUMNS.

    The agent that placed first comes first in `agents`; `winner` is 1 or 2. `instead` is the baseline's game in the
    same run, from the same opening, on the same side and against the same opponent, with the opposite result; None if
    there is none.
    """

    run: int
    game_id: int
    size: str
    agents: tuple[str, str]
    winner: int
    moves: tuple[int, ...]
    instead: int | None


@dataclass(frozen=True, eq=False)
class Played:
    """Games as arrays: first and second agent, opening, winner, number of plies.

    Agents are indices in `names`, openings are integers from 0.
    """

    names: tuple[str, ...]
    sides: tuple[Ints, Ints]
    opening: Ints
    winner: Ints
    plies: Ints

    def of(self, agent: str) -> tuple[Ints, Ints, Ints]:
        """Return an agent's games, a number for each one's opening, opponent and side, and whether it was won."""
        code, (first, second) = self.names.index(agent), self.sides
        games = np.flatnonzero((first == code) | (second == code))
        is_first = first[games] == code
        opponent = np.where(is_first, second[games], first[games])
        keys = (self.opening[games] * len(self.names) + opponent) * 2 + is_first
        return games, keys, (self.winner[games] == np.where(is_first, 1, 2)).astype(np.int64)


def games_by_opponent(
    findings: RunResults, leads: Mapping[tuple[str, str], float]
) -> dict[tuple[str, str], ExampleGame]:
    """Return, by agent and opponent, the shortest game that the agent won (lost, if its lead is negative).

    If possible, it is a game with the opposite result for the baseline in the agent's place.
    """
    played = load_games(findings)
    chosen: dict[tuple[str, str], tuple[int, int | None]] = {}
    for (agent, opponent), lead in leads.items():
        own = _results(played, agent, opponent, lead >= 0)
        indices = np.array([game for _, game in own], np.int64)
        if indices.size:
            others = dict(_results(played, findings.baseline, opponent, lead < 0))
            twins = np.array([others.get(key, -1) for key, _ in own])
            best = np.lexsort((indices, played.plies[indices], twins < 0))[0]
            chosen[agent, opponent] = int(indices[best]), int(twins[best]) if twins[best] >= 0 else None
    return example_games(findings, chosen)


def games_by_placement(findings: RunResults, placements: Iterable[Placement]) -> dict[tuple[int, bool], ExampleGame]:
    """Return, by first cell and whether it was placed first, a game of the two best players of that placement."""
    size = commonest_size(findings)
    if size is None:
        return {}
    rank = {name: index for index, name in enumerate(findings.ranked)}
    played = load_games(findings)
    of_names = np.array([rank.get(name, len(rank)) for name in played.names])
    ranks = of_names[played.sides[0]] + of_names[played.sides[1]]
    cells = first_cells(findings, size)
    order = np.lexsort((played.plies, ranks))
    chosen: dict[tuple[int, bool], tuple[int, int | None]] = {}
    for placement in placements:
        own = order[np.isin(cells[0 if placement.placed_first else 1][order], placement.cells)]
        if own.size:
            chosen[placement.cell, placement.placed_first] = int(own[0]), None
    return example_games(findings, chosen)


def load_games(findings: RunResults) -> Played:
    """Return the games of the frame as arrays."""
    games = findings.games
    names = tuple(games["agent_1"].cat.categories)
    return Played(
        names,
        (np.asarray(games["agent_1"].cat.codes, np.int64), np.asarray(games["agent_2"].cat.codes, np.int64)),
        np.unique(games["opening_id"].to_numpy(), return_inverse=True)[1],
        games["winner"].to_numpy(),
        games["plies"].to_numpy(),
    )


def _results(played: Played, agent: str | None, opponent: str, is_won: bool) -> list[tuple[int, int]]:
    """Return the games that an agent won, or lost, against an opponent, with numbers of opening and side."""
    if agent is None or agent not in played.names:
        return []
    games, keys, won = played.of(agent)
    kept = (keys // 2 % len(played.names) == played.names.index(opponent)) & (won == is_won)
    return list(zip(keys[kept].tolist(), games[kept].tolist(), strict=True))


def example_games(findings: RunResults, chosen: Mapping[Key, tuple[int, int | None]]) -> dict[Key, ExampleGame]:
    """Return the games at these indices of the frame, each with the one of opposite result, if there is one."""
    own_ids, runs = (findings.games[column].to_numpy() for column in ("own_id", "run"))
    moves = _moves(findings, [index for index, _ in chosen.values()])
    examples = {}
    for key, (index, twin) in chosen.items():
        row = findings.games.iloc[index]
        examples[key] = ExampleGame(
            run=int(row["run"]),
            game_id=int(row["own_id"]),
            size=format_size(*divmod(int(row["size"]), 1000)),
            agents=(str(row["agent_1"]), str(row["agent_2"])),
            winner=int(row["winner"]),
            moves=moves[index],
            instead=None if twin is None or runs[twin] != row["run"] else int(own_ids[twin]),
        )
    return examples


def _moves(findings: RunResults, indices: list[int]) -> dict[int, tuple[int, ...]]:
    rows = findings.games.iloc[indices]
    moves_by_game: dict[tuple[int, int], tuple[int, ...]] = {}
    for number, source in enumerate(findings.sources):
        wanted = pa.array(rows.loc[rows["run"] == number, "own_id"].to_numpy(), pa.int64())
        for table in map_parts(source.info.path, ["game_id", "moves"], partial(_these, wanted)):
            for own, moves in zip(table["game_id"].to_pylist(), table["moves"].to_pylist(), strict=True):
                moves_by_game[number, own] = tuple(moves)
    runs, ids = rows["run"].tolist(), rows["own_id"].tolist()
    return {index: moves_by_game[run, own] for index, run, own in zip(indices, runs, ids, strict=True)}


def _these(wanted: pa.Array, _: Path, table: pa.Table) -> pa.Table:
    return table.filter(pc.is_in(table["game_id"], value_set=wanted))


@dataclass(frozen=True)
class OpeningLead:
    """A contender's difference to the baseline where player 1 began on a cell, or on one of its images, `cells`.

    `lead` is the difference of the shares of games won, from the same openings, sides and opponents. `game` is the
    shortest game of the contender that ended otherwise than the baseline's, in the direction of the lead.
    """

    cell: int
    cells: tuple[int, ...]
    lead: float
    openings: int
    game: ExampleGame | None


def leads_by_opening(findings: RunResults, contender: str) -> tuple[OpeningLead, ...]:
    """Return the leads of a contender, symmetric cells merged; without those of fewer than `FEWEST` openings."""
    size = commonest_size(findings)
    if size is None or findings.baseline is None:
        return ()
    played = load_games(findings)
    if not {contender, findings.baseline} <= set(played.names):
        return ()
    own, own_keys, own_won = played.of(contender)
    twin, twin_keys, twin_won = played.of(findings.baseline)
    _, of_own, of_twin = np.intersect1d(own_keys, twin_keys, return_indices=True)
    own, twin = own[of_own], twin[of_twin]
    canonical = np.array([canonical_opening([cell], *size)[0] for cell in range(size[0] * size[1])])
    first = first_cells(findings, size)[0]
    at = np.where(first[own] >= 0, canonical[first[own]], -1)
    gain = own_won[of_own] - twin_won[of_twin]
    leads, chosen = [], {}
    for cell in np.unique(canonical).tolist():
        here = at == cell
        openings = int(np.unique(played.opening[own[here]]).size)
        if openings < FEWEST:
            continue
        lead = float(gain[here].mean())
        turned = np.flatnonzero(here & (gain == (1 if lead >= 0 else -1)))
        if turned.size:
            best = turned[np.lexsort((own[turned], played.plies[own[turned]]))[0]]
            chosen[cell] = int(own[best]), int(twin[best])
        leads.append((cell, tuple(np.flatnonzero(canonical == cell).tolist()), lead, openings))
    games = example_games(findings, chosen)
    return tuple(OpeningLead(*facts, games.get(facts[0])) for facts in leads)
