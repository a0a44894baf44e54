"""Datasets for learning: positions of self-play with the exact value of every move, as Parquet with a data card.

Games are played by one agent with random moves mixed in, thousands at a time. Positions that are equal up to symmetry
are kept once. The split follows from the orbit of the opening alone, and agrees with that of the suites: their openings
for screening are those of `test`.

Each batch of games is kept in the folder `parts` until all are there, so that an interrupted call is resumed by calling
it again.
"""

from __future__ import annotations

import json
import shutil
from bisect import bisect
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knights_isolation import heuristics
from knights_isolation.isolation.files.atomic_write import make_folder, write_text
from knights_isolation.isolation.games.batches import EvaluationBatch, choose_moves, evaluate_all, solve_moves
from knights_isolation.isolation.games.learning import VectorGames
from knights_isolation.isolation.rules.game import USUAL_SIZE, Limit, Reason, Size
from knights_isolation.isolation.rules.seeds import mixed

from ..plan import parse_agent
from ..plan.openings import distinct_positions, orbit_ids, split_of
from ..plan.run_keeping import locked
from ..play.parallel_map import parallel_mapper
from ..record.checked_parquet import read_parquet, save_table
from ..record.columns import Table, concatenate, numbers, table_of, take, where
from ..record.schema import DATASET, Column, feature_column, schema_of

CARD = Path(__file__).parent / "templates" / "data_card.md.jinja"
SPLITS = ("train", "validation", "test")
_CATEGORIES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M")
SHARE = 0.3
"""Share of positions that are taken, so that a game gives few that resemble each other."""
_SOLVABLE = 41
"""Blank cells up to which every position is solved in milliseconds."""


@dataclass(frozen=True)
class DatasetRecipe:
    """Parameters of a dataset, which determine its positions.

    Attributes:
        positions: number of positions wanted.
        agent: spec of the player of both sides.
        random_moves: share of moves drawn at random.
        first_ply: least number of moves played before a position; None for where all are solved quickly.
        features: names of shipped heuristics and features, whose values for the side to move are added as columns.
        limit: nodes for each position; those it leaves undecided are left out.
        seed: seed of the games and of the choice of positions.
    """

    positions: int
    size: Size = USUAL_SIZE
    agent: str = "ID:improved@depth=2"
    random_moves: float = 0.2
    first_ply: int | None = None
    features: tuple[str, ...] = ()
    limit: int = 20_000_000
    seed: int = 1

    @property
    def columns(self) -> list[Column]:
        """Columns of the files."""
        return [*DATASET, *map(feature_column, self.features)]

    @property
    def plies(self) -> int:
        """The least number of moves before a position."""
        return max(2, self.size.cells - _SOLVABLE) if self.first_ply is None else self.first_ply


def data_card(recipe: DatasetRecipe, counts: dict[str, int]) -> str:
    """Return the data card, as the Hugging Face hub and `datasets` read it."""
    from jinja2 import Template

    total = sum(counts.values())
    category = _CATEGORIES[bisect((1e3, 1e4, 1e5, 1e6), total)]
    card = Template(CARD.read_text(encoding="utf-8"), trim_blocks=True, keep_trailing_newline=True)
    values = {"version": version("knights-isolation"), "share": SHARE, "settings": settings_text(recipe)}
    return str(card.render(recipe=recipe, counts=counts, total=total, category=category, **values))


def settings_text(recipe: DatasetRecipe) -> str:
    """Return the settings as JSON, by the names of the command's options."""
    return json.dumps(
        {
            "positions": recipe.positions, "board": str(recipe.size), "agent": recipe.agent,
            "random": recipe.random_moves,
            "first_ply": recipe.plies + 1, "features": list(recipe.features), "limit": recipe.limit,
            "seed": recipe.seed,
        }
    )  # fmt: skip


PARTS = "parts"
"""Folder of the batches of an unfinished dataset, in its own."""
_GAMES = 256
_FIRST_WAVE = 16
_LEAST_NEW = 0.02
"""Share of new positions in a wave below which the board is taken to have no more: small boards have few."""


def write_dataset(
    recipe: DatasetRecipe, folder: Path, *, jobs: int = 0, show: Callable[[int, int], None] = lambda done, wanted: None
) -> dict[str, int]:
    """Make a dataset, or what is missing of it, and write it with its data card; return how many positions are in each
    split.

    Args:
        jobs: processes; 0: one per core.
        show: called with the number of positions found, and of those wanted.

    Raises:
        ValueError: the recipe is invalid, its agent fails, or the folder holds something else.
    """
    check_recipe(recipe)
    parts = folder / PARTS
    _begin(recipe, folder)
    with locked(parts):
        table = _positions(recipe, parts, jobs, show)
        # half of the orbits for tests, as in suites, and of the others a fifth for validation
        orbits = numbers(table, "orbit")
        learned = np.where(mixed(mixed(orbits)) % np.uint64(5) == 0, "validation", "train")
        splits = np.where(split_of(orbits) == "screen", "test", learned)
        make_folder(folder / "data")
        counts = {}
        for split in SPLITS:
            part = where(table, splits == split)
            save_table(folder / "data" / f"{split}.parquet", part)
            counts[split] = len(part)
        write_text(folder / "README.md", data_card(recipe, counts))
        shutil.rmtree(parts)
    return counts


def _begin(recipe: DatasetRecipe, folder: Path) -> None:
    """Make the folder of the parts, unless the same recipe has begun it already, with the same code of the agent."""
    made = folder / PARTS / "recipe.json"
    settings = json.dumps([settings_text(recipe), parse_agent(recipe.agent).settings()])
    if made.exists():
        if made.read_text(encoding="utf-8") != settings:
            raise ValueError(
                f"{folder} was begun with other settings, or with another version of its agent: choose another folder "
                "with --out, or delete it"
            )
        return
    if any(path.is_file() for path in folder.rglob("*")):
        raise ValueError(f"{folder} is not empty: choose another folder with --out, or delete it")
    make_folder(folder / PARTS)
    write_text(made, settings)


def check_recipe(recipe: DatasetRecipe) -> None:
    """Check that a dataset can be made, and compile what it needs.

    Raises:
        ValueError: no positions, a ply or share out of range, an unknown feature or one named twice, or an invalid
            agent.
    """
    if recipe.positions < 1:
        raise ValueError(f"at least one position is needed, not {recipe.positions}")
    if recipe.plies < 2:
        raise ValueError(f"positions begin after both placements: at ply 3, not {recipe.plies + 1}")
    if not 0 <= recipe.random_moves <= 1:
        raise ValueError(f"the share of random moves must be from 0 to 1, not {recipe.random_moves}")
    if recipe.plies >= recipe.size.cells:
        raise ValueError(f"a game on {recipe.size} has no position after {recipe.plies} plies")
    for name in recipe.features:
        heuristics.get(name)
        if recipe.features.count(name) > 1:
            raise ValueError(f"the feature {name} is named twice")
    parse_agent(recipe.agent).compiled(recipe.size)
    VectorGames(1, recipe.size, observations=False)


def _positions(recipe: DatasetRecipe, folder: Path, jobs: int, show: Callable[[int, int], None]) -> Table:
    """Play batches of games in waves until there are enough positions; their order does not depend on the processes."""
    # Every batch is kept in the folder; those that are there already are not played again.
    schema = schema_of(recipe.columns)
    table, batches, each = schema.empty_table(), 0, _GAMES * 4
    kept = {int(path.stem) for path in folder.glob("*.parquet")}
    with parallel_mapper(jobs, None) as spread:
        while len(table) < recipe.positions:
            needed = (recipe.positions - len(table)) // each + 1
            wave = range(batches, batches + min(needed, max(_FIRST_WAVE, batches)))
            path_of = {number: folder / f"{number}.parquet" for number in wave}
            parts = {number: read_parquet(path_of[number], schema) for number in kept.intersection(wave)}
            show(min(recipe.positions, len(table) + sum(map(len, parts.values()))), recipe.positions)
            for number, part in spread(_batch, ((recipe, number) for number in wave if number not in kept)):
                save_table(path_of[number], part)
                parts[number] = part
                show(min(recipe.positions, len(table) + sum(map(len, parts.values()))), recipe.positions)
            before, batches, given = len(table), wave.stop, sum(map(len, parts.values()))
            table = concatenate([table, *(parts[number] for number in wave)], schema)
            table = take(table, distinct_positions(table["moves"].to_pylist(), recipe.size))
            if len(table) - before <= _LEAST_NEW * given:
                break
            each = max(1, (len(table) - before) // len(wave))
    return table.slice(0, recipe.positions)


def _batch(recipe: DatasetRecipe, number: int) -> tuple[int, Table]:
    rng, agent = np.random.default_rng([recipe.seed, number]), parse_agent(recipe.agent)
    games = VectorGames(_GAMES, recipe.size, observations=False)
    history = np.zeros((_GAMES, recipe.size.cells), np.int16)
    playing, found = np.ones(_GAMES, bool), []
    while playing.any():
        masks, plies = games.mask(), games.plies
        taken = np.flatnonzero(playing & (plies >= recipe.plies) & (rng.random(_GAMES) < SHARE))
        if len(taken):
            found.append(_labelled(recipe, games, history, taken, masks))
        cells = (rng.random(masks.shape) * masks).argmax(axis=1)
        asked = np.flatnonzero((plies >= 2) & (rng.random(_GAMES) >= recipe.random_moves))
        if len(asked):
            seeds = rng.integers(2**63, size=len(asked)).astype(np.uint64)
            answers = choose_moves(agent, games.states(asked), seeds)
            if (answers.failure == Reason.ERROR).any():
                raise ValueError(f"{agent.name} fails: {answers.detail}")
            cells[asked] = np.where(answers.cells < 0, cells[asked], answers.cells)
        history[np.arange(_GAMES), plies] = cells
        playing &= ~games.step(cells)
    return number, concatenate(found, schema_of(recipe.columns))


def _labelled(
    recipe: DatasetRecipe, games: VectorGames, history: NDArray[np.int16], taken: NDArray[Any], masks: NDArray[np.bool_]
) -> Table:
    """Return the positions of some games as rows, without those that the limit leaves undecided."""
    from knights_isolation.isolation.compiling.compile_heuristic import compile_heuristic

    states = games.states(taken)
    solved = solve_moves(states, Limit(nodes=recipe.limit))
    known = np.flatnonzero(~solved.undecided.any(axis=1))
    chosen, winning = taken[known], solved.winning[known]
    keeps = np.unpackbits(winning.astype("<u8").view(np.uint8), axis=1, count=masks.shape[1], bitorder="little")
    legal = [np.flatnonzero(mask).astype(np.int16) for mask in masks[chosen]]
    moves = [history[game, : games.plies[game]] for game in chosen]
    columns: dict[str, Any] = {
        "moves": moves,
        "legal": legal,
        "values": [2 * row[cells].astype(np.int8) - 1 for row, cells in zip(keeps, legal, strict=True)],
        "value": solved.values[known].astype(np.int8),
        "ply": games.plies[chosen].astype(np.int16),
        "orbit": orbit_ids(history[chosen, :2], recipe.size),
    }
    for name in recipe.features:
        compiled, kept = compile_heuristic(heuristics.get(name), states.size), states.take(known)
        columns[name] = evaluate_all(compiled, EvaluationBatch.of(kept, kept.turns))
    return table_of(columns, schema_of(recipe.columns))
