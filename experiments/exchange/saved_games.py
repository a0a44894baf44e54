"""Single games as JSON: save, load, and append to a log."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from knights_isolation.isolation.editions.classic_board import Board
from knights_isolation.isolation.files.atomic_write import make_folder
from knights_isolation.isolation.games.human import HUMAN
from knights_isolation.isolation.games.match import GameRecord
from knights_isolation.isolation.players.agents import Agent
from knights_isolation.isolation.rules.geometry import parse_size
from knights_isolation.isolation.suggestions import file_meant

from ..plan.openings import colour_roles, opening_ids, orbit_ids
from ..record.checked_lines import read_json, write_json
from ..record.log import COLOURS, PER_PLY, SCHEMA, append, count_games, games_folder, read_games
from ..record.run_directory import is_run, locked


def save_game(path: str | Path, game: GameRecord) -> None:
    """Write a game, finished or not, as JSON; the file is written atomically, or OSError is raised."""
    write_json(Path(path), facts_of(game))


def facts_of(game: GameRecord) -> dict[str, Any]:
    """Return the contents of a saved game's file as JSON values."""
    return {**asdict(game), "score": [_plain(score) for score in game.score]}


def load_game(path: str | Path) -> GameRecord:
    """Read a game that `save_game` has written.

    Raises:
        ValueError: the file cannot be read, or holds no legal game.
    """
    try:
        facts = read_json(Path(path))
        columns = {name: tuple(facts[name]) for name in ("opening", *PER_PLY)}
        scores = tuple(float("nan") if score is None else float(score) for score in columns["score"])
        game = GameRecord(**{**facts, **columns, "score": scores})
        Board.from_moves(game.moves, game.size)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}{file_meant(path)}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not a saved game: {type(error).__name__}: {error}") from None
    return game


def append_game(run: str | Path, game: GameRecord, agents: tuple[Agent | None, Agent | None], seed: int = 0) -> int:
    """Append a finished game to a log of such games, which is created if necessary, and return its id there.

    `agents` are the players; None is a person. Each game is a pair of its own: it has no game with the sides swapped.

    Raises:
        ValueError: the game is not finished, or the directory is a tournament's run, whose games are scheduled.
        OSError: the log cannot be written.
    """
    if game.winner not in (1, 2):
        raise ValueError("only finished games can be logged")
    folder = Path(run)
    if is_run(folder):
        raise ValueError(f"{folder} is a tournament run, which accepts only scheduled games; choose another directory")
    make_folder(games_folder(folder))
    with locked(folder):
        game_id = int(read_games(folder, ["game_id"])["game_id"].max()) + 1 if count_games(folder) else 0
        settings = [agent.settings() if agent else {"kind": HUMAN.lower()} for agent in agents]
        texts = [json.dumps(facts, sort_keys=True) for facts in settings]
        append(games_folder(folder), row_of(game, game_id, texts, seed))
    return game_id


def row_of(game: GameRecord, game_id: int, settings: Sequence[str], seed: int) -> pa.Table:
    """Return the log row of a single game; `settings` are those of its players."""
    rows, columns = parse_size(game.size)
    opening = np.array([game.opening], np.int16).reshape(1, -1)
    placed = np.array([game.moves[:2]], np.int16).reshape(1, -1)
    values: dict[str, Any] = {
        **{name: getattr(game, name) for name in ("agent_1", "agent_2", "winner", "reason", "detail", "plies")},
        **{name: list(getattr(game, name)) for name in ("opening", *PER_PLY)},
        "game_id": game_id,
        "pair_id": game_id,
        "rows": rows,
        "columns": columns,
        "settings_1": settings[0],
        "settings_2": settings[1],
        "opening_id": int(opening_ids(opening, game.size)[0]),
        "orbit": int(orbit_ids(opening, game.size)[0]),
        "colours": COLOURS[colour_roles(placed, game.size)[0]],
        "population": 0,
        "seed": seed,
        "started_at": int((time.time() - sum(game.time_us) / 1e6) * 1e6),
    }
    columns_of_one = [pa.array([values[field.name]], field.type) for field in SCHEMA]
    return pa.table(columns_of_one, schema=SCHEMA)


def _plain(score: float) -> float | str | None:
    """Convert a score to JSON; `float` reads it back."""
    return None if math.isnan(score) else score if math.isfinite(score) else str(score)
