"""The settings of a dataset, its columns, and the data card that describes it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import version

import pyarrow as pa

from knights_isolation.isolation.rules.geometry import parse_size

SPLITS = ("train", "validation", "test")
COLUMNS = {
    "moves": (
        pa.list_(pa.int16()),
        "the cells played so far, both placements first; the side to move follows from their number",
    ),
    "legal": (pa.list_(pa.int16()), "the cells the side to move may go to, ascending"),
    "values": (pa.list_(pa.int8()), "for each of them, 1 if it wins with perfect play, -1 if it loses"),
    "value": (pa.int8(), "the label: 1 if the side to move wins with perfect play, -1 if it loses"),
    "ply": (pa.int16(), "the number of moves played so far"),
    "orbit": (pa.uint64(), "of the opening, the first two moves, up to symmetry"),
}  # fmt: skip
SHARE = 0.3
"""Share of positions that are taken, so that a game gives few that resemble each other."""
_SOLVABLE = 41
"""Blank cells up to which every position is solved in milliseconds."""


@dataclass(frozen=True)
class DatasetRecipe:
    """Parameters of a dataset, which determine its positions.

    Attributes:
        positions: number of positions wanted.
        size: board.
        agent: spec of the player of both sides.
        random_moves: share of moves drawn at random.
        first_ply: least number of moves played before a position; None for where all are solved quickly.
        features: names of shipped heuristics and features, whose values for the side to move are added as columns.
        limit: nodes for each position; those it leaves undecided are left out.
        seed: seed of the games and of the choice of positions.
    """

    positions: int
    size: str = "7x7"
    agent: str = "ID:improved@depth=2"
    random_moves: float = 0.2
    first_ply: int | None = None
    features: tuple[str, ...] = ()
    limit: int = 20_000_000
    seed: int = 1

    @property
    def plies(self) -> int:
        """The least number of moves before a position."""
        rows, columns = parse_size(self.size)
        return max(2, rows * columns - _SOLVABLE) if self.first_ply is None else self.first_ply


def data_card(recipe: DatasetRecipe, counts: dict[str, int]) -> str:
    """Return the data card, as the Hugging Face hub and `datasets` read it."""
    total = sum(counts.values())
    files = "\n".join(f"      - split: {split}\n        path: data/{split}.parquet" for split in SPLITS)
    meanings = {name: text for name, (_, text) in COLUMNS.items()}
    meanings |= {name: f"value of the heuristic `{name}` for the side to move" for name in recipe.features}
    rows = "\n".join(f"| `{name}` | {text} |" for name, text in meanings.items())
    sizes = "\n".join(f"| {split} | {count:,} |" for split, count in counts.items())
    return f"""---
license: mit
pretty_name: Knight's Isolation {recipe.size}, positions with exact values
size_categories:
  - {_category(total)}
configs:
  - config_name: default
    data_files:
{files}
---

# Knight's Isolation {recipe.size}: positions with exact values

{total:,} different positions of self-play on {recipe.size}. Each was solved to the end of the game: `value` is who
wins with perfect play, `values` is the same after every legal move. Cells are numbered by rows from 0.

| column | meaning |
|---|---|
{rows}

| split | positions |
|---|---|
{sizes}

Splits share no opening up to symmetry, and no position up to symmetry is in the data twice. The openings of `test` are
those that `isolation screen` uses.

Made with knights-isolation {version("knights-isolation")}. Both sides are `{recipe.agent}`, with
{100 * recipe.random_moves:g} % random moves and random placements; {100 * SHARE:g} % of the positions after
{recipe.plies} or more moves are taken. Left out are those that {recipe.limit:,} nodes left undecided. The same settings
give the same positions: `{settings_text(recipe)}`.

```python
from datasets import load_dataset

positions = load_dataset("PATH OF THIS FOLDER", split="train")
```
"""


def settings_text(recipe: DatasetRecipe) -> str:
    """Return the settings as JSON, by the names of the command's options."""
    return json.dumps(
        {
            "positions": recipe.positions, "board": recipe.size, "agent": recipe.agent, "random": recipe.random_moves,
            "first_ply": recipe.plies + 1, "features": list(recipe.features), "limit": recipe.limit,
            "seed": recipe.seed,
        }
    )  # fmt: skip


def _category(count: int) -> str:
    for most, name in ((1e3, "n<1K"), (1e4, "1K<n<10K"), (1e5, "10K<n<100K"), (1e6, "100K<n<1M")):
        if count < most:
            return name
    return "1M<n<10M"
