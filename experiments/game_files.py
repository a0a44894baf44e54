"""Games as files: export of runs as PGN, CSV or JSON lines, import of PGN, and single games, saved, logged and played.

Functions that read a run raise ValueError if a file of it is damaged (`log`), or a game is not its own (`check_log`).
"""

from __future__ import annotations

import csv
import io
import json
import math
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np

from knights_isolation.isolation.files.atomic_write import make_folder, write_new
from knights_isolation.isolation.games.human import HUMAN, Seat, play_human
from knights_isolation.isolation.games.match import GameRecord, PlayedGame, batch_of
from knights_isolation.isolation.games.pgn import PgnGame, read_pgn, write_pgn
from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.game import REASON_WORDS, Reason, Size, parse_size
from knights_isolation.isolation.search.agents import Agent
from knights_isolation.isolation.suggestions import command, file_meant

from .agent_like import AgentLike
from .plan import parse_agent, run_keeping
from .plan.config import load_config
from .plan.openings import colour_roles, opening_ids, orbit_ids, padded
from .plan.schedule import Match, Schedule
from .play.finished_games import FinishedGames, games_table
from .queries import connect_runs
from .record import log, log_parts
from .record.checked_json import read_json, write_json
from .record.columns import Table, table_of_rows
from .record.log import COLOURS, PER_PLY, SCHEMA, games_folder
from .record.log_validation import check_log
from .record.run_directory import check_run, is_run
from .record.schema import IMPORTED, AgentEntry, RunInfo

Kind = Literal["pgn", "csv", "jsonl"]
_LISTS = ("opening", *PER_PLY)
_COMMENT = re.compile(r"(?:([+-]?(?:\d+(?:\.\d+)?|inf))/(\d{1,4}))?\s*(?:(\d+(?:\.\d+)?)s)?.*")
_TERMINATIONS = {"time forfeit": Reason.TIMEOUT, "rules infraction": Reason.ILLEGAL_MOVE}
"""Reasons by their names in other programs."""
_OTHERWISE = "the result contradicts its last position"


def export_run(run: Path, kind: Kind | Literal["duckdb"], file: Path | None) -> Iterator[str]:
    """Write the games of a run into a new file, or, without one, return them as pieces of text; see `exported`.

    Raises:
        ValueError: the file exists, or a database has none.
    """
    if kind == "duckdb":
        if file is None:
            raise ValueError("--to duckdb needs --out FILE")
        connect_runs([run], file).close()
        return iter(())
    pieces = exported(run, kind)
    if file is None:
        return pieces
    first = next(pieces, "")  # errors in the pieces occur before the file is created
    write_new(file, chain([first], pieces))
    return iter(())


def exported(run: str | Path, kind: Kind) -> Iterator[str]:
    """Yield the games of a run as pieces of text, in log order, one part of the log at a time."""
    path = Path(run)
    check_log(check_run(path))
    if kind == "csv":
        yield csv_head()
    for file in log.live_files(games_folder(path)):
        for row in log.read_part(file).sort_by("game_id").to_pylist():
            yield export_row(row, kind, path.resolve().name)


def csv_head() -> str:
    """Return the header line of CSV."""
    return _csv_line(SCHEMA.names)


def export_row(row: Mapping[str, Any], kind: Kind, event: str) -> str:
    """Format a row of the log in one of the formats; as CSV one line without the header."""
    if kind == "pgn":
        return _as_pgn(row, event)
    if kind == "csv":
        return _csv_line([_as_cell(name, row[name]) for name in SCHEMA.names])
    return json.dumps({name: _plain(row[name]) for name in SCHEMA.names}, ensure_ascii=False) + "\n"


def _as_pgn(row: Mapping[str, Any], event: str) -> str:
    tags = {
        "Event": event,
        "Site": "?",
        "Date": row["started_at"].strftime("%Y.%m.%d"),
        "Round": f"{row['pair_id'] + 1}.{row['game_id'] % 2 + 1}",
        "White": row["agent_1"],
        "Black": row["agent_2"],
        "GameId": str(row["game_id"]),
        "OpeningPlies": str(len(row["opening"])),
        "PlyCount": str(row["plies"]),
        "Termination": row["reason"],
        **({"Detail": row["detail"]} if row["detail"] else {}),
    }
    # score, depth and seconds of a move as match runners write them: +1.50/6 0.012s
    comments = [
        f"{'' if math.isnan(score) else f'{score:+.2f}/{depth} '}{time_us / 1e6:.3f}s"
        for score, depth, time_us in zip(row["score"], row["depth"], row["time_us"], strict=True)
    ]
    comments[: len(row["opening"])] = [""] * len(row["opening"])
    size = Size(row["rows"], row["columns"])
    return write_pgn(tags, size, tuple(row["moves"]), tuple(comments), row["winner"]) + "\n"


def _as_cell(name: str, value: Any) -> str:
    if name in _LISTS:
        return " ".join(str(int(element)) if isinstance(element, bool) else str(element) for element in value)
    return value.isoformat() if name == "started_at" else str(value)


def _plain(value: Any) -> Any:
    """Convert a value to JSON: NaN becomes null, infinite scores become words, which `float` reads back."""
    if isinstance(value, list | tuple):
        return [_plain(element) for element in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value.isoformat() if hasattr(value, "isoformat") else value


def _csv_line(values: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue()


def import_pgn(file: Path, run: Path) -> tuple[int, tuple[str, ...]]:
    """Import the games of a file as a run, a round-robin of all players in it; return how many, and notes on others.

    Two games of the same players from the same opening with sides swapped form a pair. If there are several, the first
    games on either side form one pair, the second ones another, and so on. Games without a result are skipped, and so
    are games that duplicate, move for move, another of the same players on the same sides.

    Raises:
        ValueError: the file cannot be read, its games are of several boards or of one player, none has a result, or the
            run's path already exists.
    """
    if is_run(run):
        raise ValueError(f"{run} already holds a run: choose another --out")
    games = read_pgn(file)
    sizes = sorted({str(game.size) for game in games})
    if len(sizes) > 1:
        raise ValueError(f"{file}: games on several boards ({' and '.join(sizes)}); a run has one board")
    decided = [game for game in games if game.winner]
    if not decided:
        raise ValueError(f"{file}: none of its games has a result")
    different: dict[tuple[tuple[str, str], tuple[int, ...]], PgnGame] = {}
    for game in decided:
        different.setdefault((_players(game, file), game.cells), game)
    schedule, chosen = _scheduled([*different.values()], file)
    ids = np.array(sorted(chosen), np.int64)
    kept = [chosen[game_id] for game_id in ids.tolist()]
    played = FinishedGames(ids, batch_of(list(map(_played, kept))), np.full(len(ids), int(time.time() * 1e6)))
    counts = {
        "games skipped: {:,}; no result": len(games) - len(decided),
        "games skipped: {:,}; duplicates of other games": len(decided) - len(kept),
        "games whose result contradicts their last position: {:,}; the result of the file counts": (
            played.games.detail.count(_OTHERWISE)
        ),
    }
    notes = tuple(note.format(count) for note, count in counts.items() if count)
    notes = ("imported: the settings of the players are unknown", *notes)
    _write(run, schedule, played, notes)
    return len(kept), notes


def _scheduled(games: Sequence[PgnGame], file: Path) -> tuple[Schedule, dict[int, PgnGame]]:
    size = games[0].size
    sides = [_players(game, file) for game in games]
    names = tuple(dict.fromkeys(chain.from_iterable(sides)))
    keys = opening_ids(padded([game.opening for game in games]), size).tolist()
    matches: dict[tuple[str, ...], dict[tuple[int, int], tuple[int, ...]]] = {}
    seen: Counter[tuple[tuple[str, str], int]] = Counter()
    slots = []
    for game, key, players in zip(games, keys, sides, strict=True):
        pair, slot = tuple(sorted(players, key=names.index)), (key, seen[players, key])
        seen[players, key] += 1
        slots.append((pair, slot, int(players != pair)))
        matches.setdefault(pair, {}).setdefault(slot, game.opening)
    planned, cells = [], list[tuple[int, ...]]()
    for (first, second), openings in matches.items():
        planned.append(Match(names.index(first), names.index(second), len(cells), len(openings), 0))
        cells += openings.values()
    schedule = Schedule(size, 1, names, tuple(planned), padded(cells))
    match_index = {pair: index for index, pair in enumerate(matches)}
    rounds = {pair: {slot: index for index, slot in enumerate(openings)} for pair, openings in matches.items()}
    ids = [(rounds[pair][slot] * len(matches) + match_index[pair]) * 2 + side for pair, slot, side in slots]
    return schedule, dict(zip(ids, games, strict=True))


def _players(game: PgnGame, file: Path) -> tuple[str, str]:
    white, black = (game.tags.get(name, "").strip() for name in ("White", "Black"))
    if not white or not black or white == black:
        raise ValueError(f"{file}:{game.line}: a game needs two different players, White and Black")
    return white, black


def _played(game: PgnGame) -> PlayedGame:
    record = record_of(game)
    plies = zip(record.moves, record.score, record.depth, record.nodes, record.time_us, record.exact, strict=True)
    return record.winner, Reason(REASON_WORDS.index(record.reason)), record.detail, list(plies)


def record_of(game: PgnGame) -> GameRecord:
    """Return a game of a collection, with the search results in its comments.

    One without a result has neither opening nor reason. Missing scores are NaN, what else is missing is 0.
    """
    score, depth, time_us = zip(*map(_ply_of, game.comments), strict=True) if game.comments else ((), (), ())
    white, black = (game.tags.get(name, f"Player {side}") for side, name in enumerate(("White", "Black"), 1))
    opening, reason, detail = (game.opening, *_end_of(game)) if game.winner else ((), "", "")
    nodes, exact = (0,) * len(game.cells), (False,) * len(game.cells)
    return GameRecord(
        str(game.size), opening, white, black, game.winner, reason, detail,
        game.cells, score, depth, nodes, time_us, exact,
    )  # fmt: skip


def _end_of(game: PgnGame) -> tuple[str, str]:
    """Return why a game ended, and details: according to its last position if possible, else to its headers."""
    outcome = Board.from_moves(game.cells, game.size).outcome()
    if outcome is not None:
        return Reason.NO_MOVES.word, "" if outcome.winner == game.winner else _OTHERWISE
    said, detail = game.tags.get("Termination", ""), game.tags.get("Detail", "")
    if said in REASON_WORDS and said != Reason.NO_MOVES.word:
        return said, detail
    return _TERMINATIONS.get(said, Reason.ERROR).word, f"ended before its end: {said or 'reason unknown'}"


def _ply_of(comment: str) -> tuple[float, int, int]:
    """Parse score, depth and microseconds from a comment; NaN and zeros if missing."""
    match = _COMMENT.fullmatch(comment)
    score, depth, seconds = match.groups() if match else (None, None, None)
    microseconds = min(float(seconds or 0), 1e6) * 1e6
    return float(score or "nan"), int(depth or 0), round(microseconds)


def _write(run: Path, schedule: Schedule, played: FinishedGames, notes: tuple[str, ...]) -> None:
    keys = {"board": str(schedule.size), "format": "round-robin", "contenders": list(schedule.agents), "out": str(run)}
    config = load_config(None, keys)
    settings = [json.dumps({"kind": IMPORTED, "player": name}, sort_keys=True) for name in schedule.agents]
    facts = {"deterministic": False, "unknown": True, "restricted": False, "imported": True}
    agents = {
        name: AgentEntry(f"{name} (imported)", ["contender"], text, **facts)
        for name, text in zip(schedule.agents, settings, strict=True)
    }
    info = RunInfo(
        path=run_keeping.new_directory(config),
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        requested=run_keeping.identity(config),
        agents=agents,
        games=len(schedule),
        openings=len(np.unique(schedule.opening_ids)),
        population=0,
        is_census=False,
        notes=list(notes),
        fingerprint=schedule.fingerprint,
        versions=log_parts.versions(),
        seeds_by=schedule.seeds_by,
    )
    with run_keeping.lock_directory(info.path):
        run_keeping.write_info(info)
        log_parts.append(games_folder(info.path), games_table(schedule, settings, played))
        run_keeping.finish(info.path, len(played.ids), 0, reproducible=False)


def save_game(path: str | Path, game: GameRecord) -> None:
    """Write a game, finished or not, as JSON; the file is written atomically, or OSError is raised."""
    write_json(Path(path), facts_of(game))


def facts_of(game: GameRecord) -> dict[str, Any]:
    """Return the contents of a saved game's file as JSON values."""
    return {name: _plain(value) for name, value in asdict(game).items()}


def load_game(path: str | Path) -> GameRecord:
    """Read a game that `save_game` has written; ValueError if the file cannot be read, or holds no legal game."""
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
    with run_keeping.locked(folder):
        game_id = int(log.read_games(folder, ["game_id"])["game_id"].max()) + 1 if log.count_games(folder) else 0
        settings = [agent.settings() if agent else {"kind": HUMAN.lower()} for agent in agents]
        texts = [json.dumps(each, sort_keys=True) for each in settings]
        log_parts.append(games_folder(folder), row_of(game, game_id, texts, seed))
    return game_id


def row_of(game: GameRecord, game_id: int, settings: Sequence[str], seed: int) -> Table:
    """Return the log row of a single game; `settings` are those of its players."""
    size = parse_size(game.size)
    opening = np.array([game.opening], np.int16).reshape(1, -1)
    placed = np.array([game.moves[:2]], np.int16).reshape(1, -1)
    values: dict[str, Any] = {
        **{name: getattr(game, name) for name in ("agent_1", "agent_2", "winner", "reason", "detail", "plies")},
        **{name: list(getattr(game, name)) for name in ("opening", *PER_PLY)},
        "game_id": game_id,
        "pair_id": game_id,
        "rows": size.rows,
        "columns": size.columns,
        "settings_1": settings[0],
        "settings_2": settings[1],
        "opening_id": int(opening_ids(opening, size)[0]),
        "orbit": int(orbit_ids(opening, size)[0]),
        "colours": COLOURS[colour_roles(placed, size)[0]],
        "population": 0,
        "seed": seed,
        "started_at": int((time.time() - sum(game.time_us) / 1e6) * 1e6),
    }
    return table_of_rows([values], SCHEMA)


def play_in_terminal(
    opponent: AgentLike, side: str, size: str, saved: str | Path | None, run: str | Path | None, ascii_only: bool
) -> str:
    """Play as `side`, first or second, against an agent, from the beginning or on from a `saved` game.

    A finished game is added to the log `run`, if there is one, and the answer says how to replay it.
    """
    agent, strongest, seed = parse_agent(opponent), parse_agent("ID:territory@nodes=200000"), random.getrandbits(63)
    begun = load_game(saved) if saved else None
    seat = Seat(agent, strongest, 1 if side == "first" else 2, input, print, save_game, ascii_only, seed)
    played = play_human(seat, begun.size if begun else size, begun.moves if begun else ())
    if not (played and run):
        return ""
    game_id = append_game(run, played, (None, agent) if side == "first" else (agent, None), seed)
    return f"Added to {run}: {command('replay', run, game_id)}"
