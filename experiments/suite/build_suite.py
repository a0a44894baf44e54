"""Build suites: positions from games of many sources, with exact results.

Symmetric openings, an orbit, are one unit of work. Each contributes equally many positions of every source and every
stage of the game, so that the suite is balanced by ply and by the theoretical winner of the opening. The positions of a
unit depend on the seed and the orbit alone. The file is written every few seconds, so that an interrupted build is
resumed by calling it again.

Agents that are tested by a suite should not have chosen its positions. So these come from agents of many kinds and
strengths that sometimes play random moves; the source of each position is stored with it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.compiling.specialise import native_function
from knights_isolation.isolation.files.atomic_write import written_often
from knights_isolation.isolation.games.batches import NO_ANSWER, Positions, choose_moves
from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.game import Limit, Size
from knights_isolation.isolation.rules.geometry import cells_of, full_mask, knight_masks
from knights_isolation.isolation.rules.seeds import splitmix64
from knights_isolation.isolation.search.agents import Agent
from knights_isolation.isolation.search.solver import SearchBudget, check_position, move_results, value

from ..plan import AgentLike, parse_agent, spec_of
from ..plan.openings import distinct_positions, orbit_ids, padded, placement_openings, split_of
from ..play.parallel_map import parallel_map
from ..record.columns import Table, concatenate, table_of_rows, take
from .suite_file import MOST_MEMBERS, SCHEMA, how_made, read_table, write_table


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
    *("greedy", "AB:null@depth=3", "AB:open@depth=3", "AB:open@depth=5", "AB:improved@depth=3", "AB:improved@depth=5"),
    *("ID:improved@nodes=100", "ID:improved@nodes=1000", "ID:improved@nodes=10000", "ID:center@nodes=1000"),
    *("ID:two_step_mobility@nodes=300", "ID:territory@nodes=100", "ID:territory@nodes=1000"),
    *("MCTS@nodes=100", "MCTS@nodes=1000"),
)
"""The reference field: agents that are asked for a reply to each move of a lost position."""


def play_source(source: PositionSource, openings: Sequence[tuple[int, ...]], size: Size, seed: int) -> list[list[int]]:
    """Play a game from each opening and return its cells; a failing agent ends its game."""
    generator = np.random.default_rng(seed)
    agents = [parse_agent(spec) for spec in source.specs]
    who = generator.integers(len(agents), size=(len(openings), 2))
    errors = generator.choice(source.errors, size=(len(openings), 2))
    games = [list(opening) for opening in openings]
    going = np.arange(len(games))
    for ply in range(len(openings[0]), size.cells + 1):
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


def _legal(moves: Sequence[int], size: Size) -> list[int]:
    blank = full_mask(*size)
    for cell in moves:
        blank &= ~(1 << cell)
    return list(cells_of(knight_masks(*size)[moves[-2]] & blank))


Show = Callable[[int, int], None]
GAMES = 8
"""Games of each source from each orbit of openings."""
BAND = 2
"""Plies per stage of the game; each stage yields at most one position of each kind per source and orbit."""
TRIES = 6
"""Number of candidate positions per position wanted."""
_WRITE_EVERY = 10.0


@dataclass(frozen=True)
class Recipe:
    """Parameters of a suite, which determine its positions.

    Attributes:
        size: board.
        first_ply, last_ply: range of positions, by the number of plies played before them.
        seed: seed of games and choices.
        openings: maximum number of random orbits of openings; None for all.
        limit: nodes for each move's result; positions that it leaves undecided are left out.
        sources: agents that play the games.
        field: specs of the reference field.
    """

    size: Size
    first_ply: int
    last_ply: int
    seed: int = 1
    openings: int | None = None
    limit: int = 20_000_000
    sources: tuple[PositionSource, ...] = SOURCES
    field: tuple[str, ...] = FIELD


def recipe_of(
    size: Size, first_ply: int | None, last_ply: int | None, agents: Sequence[AgentLike], **settings: Any
) -> Recipe:
    """Return a recipe whose plies count from 1; `agents` are its field, and play, with some random moves.

    By default these are the informative plies, after 10 to 31 on 7x7: hardly any earlier position has a wrong move.
    """
    first, last = (max(2, round(size.cells * played / 49)) for played in (10, 31))
    plies = first_ply - 1 if first_ply else first, last_ply - 1 if last_ply else last
    field = tuple(map(spec_of, agents))
    sources = (PositionSource("own", field, (0.0, 0.1, 0.3)),) if field else SOURCES
    return Recipe(size, *plies, sources=sources, field=field or FIELD, **settings)


def build_suite(
    recipe: Recipe, path: Path, *, jobs: int = 1, cluster: str | None = None, show: Show = lambda done, orbits: None
) -> Table:
    """Build the suite of a recipe, or the missing part of it in the file, and return it as a table.

    Args:
        jobs, cluster: see `parallel_map.parallel_mapper`.
        show: called with the number of finished orbits, and of all.

    Raises:
        ValueError: the recipe is invalid, or the file contains something else or was made with another recipe.
    """
    check_recipe(recipe)
    orbits = _orbits(recipe)
    table, finished = _resumed(recipe, path)
    missing = {orbit: openings for orbit, openings in orbits.items() if orbit not in finished}
    for agent in {spec for source in recipe.sources for spec in source.specs} | set(recipe.field):
        parse_agent(agent).compiled(recipe.size)
    native_function("solve", None, *recipe.size)

    def write() -> None:
        nonlocal table
        if missing:
            table = _write(recipe, path, table, finished)

    show(len(finished), len(orbits))
    with written_often(write, _WRITE_EVERY) as look:
        calls = ((recipe, orbit, openings) for orbit, openings in missing.items())
        for orbit, part in parallel_map(_positions_of, calls, jobs, cluster):
            table = concatenate([table, part], SCHEMA)
            finished.add(orbit)
            show(len(finished), len(orbits))
            look()
    return table


def check_recipe(recipe: Recipe) -> None:
    """Raise ValueError for plies out of range, too large a field, or a board that the solver does not support."""
    check_position(Board.from_moves([], recipe.size))
    if not 2 <= recipe.first_ply <= recipe.last_ply:
        raise ValueError(
            f"plies {recipe.first_ply + 1} to {recipe.last_ply + 1}: a suite must start at ply 3 or later and end "
            f"after that"
        )
    if not 0 < len(recipe.field) <= MOST_MEMBERS:
        raise ValueError(f"a reference field must have 1 to {MOST_MEMBERS} members, not {len(recipe.field)}")
    SearchBudget(Limit(nodes=recipe.limit))


def _orbits(recipe: Recipe) -> dict[int, list[tuple[int, ...]]]:
    openings = placement_openings(recipe.size)
    ids = orbit_ids(openings.cells, recipe.size)
    chosen = np.unique(ids)[: recipe.openings]
    return {int(orbit): [openings[row] for row in np.flatnonzero(ids == orbit).tolist()] for orbit in chosen}


def _resumed(recipe: Recipe, path: Path) -> tuple[Table, set[int]]:
    if not path.exists():
        return SCHEMA.empty_table(), set()
    table = read_table(path)
    size, made = how_made(table)
    finished = set(made.pop("finished", ()))
    if (size, made) != (recipe.size, _as_made(recipe)):
        raise ValueError(f"{path} was made with other settings: delete it, or choose another file with --out")
    return table.replace_schema_metadata(None), finished


def _as_made(recipe: Recipe) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps({**asdict(recipe), "size": str(recipe.size)}))
    return made


def _write(recipe: Recipe, path: Path, table: Table, finished: Iterable[int]) -> Table:
    table = table.sort_by("orbit")  # so that no two orbits share a position
    table = take(table, distinct_positions(table["moves"].to_pylist(), recipe.size))
    write_table(path, table, recipe.size, {**_as_made(recipe), "finished": sorted(finished)})
    return table


def _positions_of(recipe: Recipe, orbit: int, openings: list[tuple[int, ...]]) -> tuple[int, Table]:
    generator = np.random.default_rng([recipe.seed, orbit])
    solved, seen = list[_Found](), set[int]()
    for source in recipe.sources:
        starts = [openings[i] for i in generator.integers(len(openings), size=GAMES)]
        games = play_source(source, starts, recipe.size, int(generator.integers(1 << 63)))
        solved += _chosen_positions(recipe, source.name, games, generator, seen)
    won, lost = ([found for found in solved if any(found.keeps) == is_won] for is_won in (True, False))
    seed = int(generator.integers(1 << 63))
    winning = [{cell for cell, keeps in zip(found.legal, found.keeps, strict=True) if keeps} for found in won]
    kept_by = _members_right(recipe, [found.moves for found in won], winning, seed)
    rows = [found.row([0] * len(found.legal), kept) for found, kept in zip(won, kept_by, strict=True)]
    after = [(*found.moves, cell) for found in lost for cell in found.legal]
    right = [set(cells) for found in lost for cells in found.answers]
    errs = (~kept & (1 << len(recipe.field)) - 1 for kept in _members_right(recipe, after, right, seed))
    for found in lost:
        err = list(islice(errs, len(found.legal)))
        rows += [found.row(err, 0)] if len(set(err)) > 1 else []
    is_won = value(Board.from_moves(openings[0], recipe.size), SearchBudget(Limit(nodes=recipe.limit)))
    winner = 0 if is_won is None else 1 if is_won else 2
    split = str(split_of(np.array([orbit], np.uint64))[0])
    extra = {"orbit": orbit, "opening_winner": winner, "split": split}
    return orbit, table_of_rows([{**row, **extra} for row in rows], SCHEMA)


@dataclass(frozen=True)
class _Found:
    """A position with the exact result of every move; if it is lost, also of every reply to every move."""

    moves: tuple[int, ...]
    legal: tuple[int, ...]
    keeps: tuple[bool, ...]
    answers: tuple[tuple[int, ...], ...]
    """For each move of a lost position, the replies that keep the opponent's win."""
    source: str

    def row(self, errs: Sequence[int], kept_by: int) -> dict[str, Any]:
        return {
            "moves": self.moves, "legal": self.legal, "keeps": [int(keeps) for keeps in self.keeps], "errs": errs,
            "kept_by": kept_by, "source": self.source,
        }  # fmt: skip


def _chosen_positions(
    recipe: Recipe, source: str, games: Sequence[Sequence[int]], generator: np.random.Generator, seen: set[int]
) -> Iterator[_Found]:
    """Yield one telling and one troubled position for every stage of these games, if there are any."""
    for first in range(recipe.first_ply, recipe.last_ply + 1, BAND):
        plies = range(first, min(first + BAND, recipe.last_ply + 1))
        candidates = [tuple(game[:ply]) for game in games for ply in plies if len(game) > ply]
        if not candidates:
            continue
        ids = orbit_ids(padded(candidates), recipe.size).tolist()
        wanted = {True, False}
        for row in generator.permutation(len(candidates))[: TRIES * len(wanted)]:
            if ids[row] in seen:
                continue
            seen.add(ids[row])
            solved = _solved(candidates[row], source, recipe)
            if solved is not None and any(solved.keeps) in wanted:
                yield solved
                wanted.remove(any(solved.keeps))
            if not wanted:
                break


def _solved(moves: tuple[int, ...], source: str, recipe: Recipe) -> _Found | None:
    """Solve the moves of a position; None if all results are equal, or if the limit leaves one unknown."""
    # A lost position is also left out if no reply to any of its moves is wrong.
    board = Board.from_moves(moves, recipe.size)
    keeps = _move_results(board, recipe)
    if keeps is None or len(keeps) < 2 or all(keeps.values()):
        return None
    answers: list[tuple[int, ...]] = []
    if not any(keeps.values()):
        could_err = False
        for cell in keeps:
            after = _move_results(board.successor(cell), recipe)
            if after is None:
                return None
            answers.append(tuple(reply for reply, wins in after.items() if wins))
            could_err |= not all(after.values())
        if not could_err:
            return None
    return _Found(moves, tuple(keeps), tuple(keeps.values()), tuple(answers), source)


def _move_results(board: Board, recipe: Recipe) -> dict[int, bool] | None:
    """For each legal cell, ascending, return whether the mover wins after it; None if the limit leaves one unknown."""
    meter = SearchBudget(Limit(nodes=recipe.limit))
    results = {move.cell: move.keeps for move in move_results(board, meter)}
    if None in results.values():
        return None
    return {cell: bool(results[cell]) for cell in sorted(results)}


def _members_right(recipe: Recipe, games: Sequence[tuple[int, ...]], right: Sequence[set[int]], seed: int) -> list[int]:
    """Return for each position which members of the field choose one of its right moves, one bit each."""
    if not games:
        return []
    answers = field_answers(recipe.field, Positions.of(games, recipe.size), seed)
    flags = np.array([[cell in cells for cell, cells in zip(row, right, strict=True)] for row in answers.tolist()])
    bits: list[int] = (flags.T @ (1 << np.arange(len(flags)))).tolist()
    return bits
