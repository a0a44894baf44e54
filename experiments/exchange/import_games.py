"""Import PGN games as a run."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from knights_isolation.isolation.editions.classic_board import Board
from knights_isolation.isolation.games.game_batch import GameBatch
from knights_isolation.isolation.games.pgn import PgnGame, read_pgn
from knights_isolation.isolation.rules.outcome import REASON_WORDS, Reason

from ..plan.agent_facts import IMPORTED
from ..plan.config import load_config
from ..plan.openings import opening_ids, padded
from ..plan.schedule import Match, Schedule
from ..record import log, run_directory
from ..record.finished_games import FinishedGames

_COMMENT = re.compile(r"(?:([+-]?(?:\d+(?:\.\d+)?|inf))/(\d{1,4}))?\s*(?:(\d+(?:\.\d+)?)s)?.*")
_TERMINATIONS = {"time forfeit": Reason.TIMEOUT, "rules infraction": Reason.ILLEGAL_MOVE}
"""Reasons by their names in other programs."""
_OTHERWISE = "the result contradicts its last position"


@dataclass(frozen=True)
class Imported:
    """Result of an import: the number of games in the run, and notes about the skipped ones."""

    games: int
    notes: tuple[str, ...]


def import_pgn(file: Path, run: Path) -> Imported:
    """Import the games of a file as a run: a round-robin of all players in it.

    Two games of the same players from the same opening with sides swapped form a pair. If there are several, the first
    games on either side form one pair, the second ones another, and so on. Games without a result are skipped, and so
    are games that duplicate, move for move, another of the same players on the same sides.

    Raises:
        ValueError: the file cannot be read, its games are of several boards or of one player, none has a result, or the
            run's path already exists.
    """
    if run_directory.is_run(run):
        raise ValueError(f"{run} already holds a run: choose another --out")
    games = read_pgn(file)
    sizes = sorted({game.size for game in games})
    if len(sizes) > 1:
        raise ValueError(f"{file}: games on several boards ({' and '.join(sizes)}); a run has one board")
    decided = [game for game in games if game.winner]
    if not decided:
        raise ValueError(f"{file}: none of its games has a result")
    different: dict[tuple[tuple[str, str], tuple[int, ...]], PgnGame] = {}
    for game in decided:
        different.setdefault((_players(game, file), game.cells), game)
    schedule, chosen = _scheduled([*different.values()], file)
    settings = [json.dumps({"kind": IMPORTED, "player": name}, sort_keys=True) for name in schedule.agents]
    ids = np.array(sorted(chosen), np.int64)
    kept = [chosen[game_id] for game_id in ids.tolist()]
    played = FinishedGames(ids, _columns(kept), np.full(len(ids), int(time.time() * 1e6)))
    doubtful = played.games.detail.count(_OTHERWISE)
    notes = _notes(len(games) - len(decided), len(decided) - len(kept), doubtful)
    _write(run, schedule, settings, played, notes)
    return Imported(len(kept), notes)


def _notes(undecided: int, repeated: int, doubtful: int) -> tuple[str, ...]:
    left_out = ((undecided, "no result"), (repeated, "duplicates of other games"))
    why = (f"games skipped: {count:,}; {reason}" for count, reason in left_out if count)
    warning = f"games whose result contradicts their last position: {doubtful:,}; the result of the file counts"
    return ("imported: the settings of the players are unknown", *why, *([warning] if doubtful else []))


def _scheduled(games: Sequence[PgnGame], file: Path) -> tuple[Schedule, dict[int, PgnGame]]:
    size = games[0].size
    names = tuple(dict.fromkeys(name for game in games for name in _players(game, file)))
    keys = opening_ids(padded([game.opening for game in games]), size).tolist()
    matches: dict[tuple[str, str], dict[tuple[int, int], tuple[int, ...]]] = {}
    seen: Counter[tuple[tuple[str, str], int]] = Counter()
    slots = []
    for game, key in zip(games, keys, strict=True):
        sides, pair = _players(game, file), _match_of(game, names, file)
        slot = key, seen[sides, key]
        seen[sides, key] += 1
        slots.append((pair, slot, int(sides != pair)))
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


def _match_of(game: PgnGame, names: Sequence[str], file: Path) -> tuple[str, str]:
    first, second = sorted(_players(game, file), key=names.index)
    return first, second


def _columns(games: Sequence[PgnGame]) -> GameBatch:
    ends = [end_of(game) for game in games]
    plies = [ply_of(comment) for game in games for comment in game.comments]
    score, depth, time_us = zip(*plies, strict=True) if plies else ((), (), ())
    count = len(plies)
    return GameBatch(
        winner=np.array([game.winner for game in games], np.int8),
        reason=np.array([int(reason) for reason, _ in ends], np.int8),
        detail=[detail for _, detail in ends],
        offsets=np.append(0, np.cumsum([len(game.cells) for game in games])).astype(np.int64),
        moves=np.array([cell for game in games for cell in game.cells], np.int16),
        score=np.array(score, np.float64),
        depth=np.array(depth, np.int16),
        nodes=np.zeros(count, np.int64),
        time_us=np.array(time_us, np.int64),
        exact=np.zeros(count, bool),
    )


def end_of(game: PgnGame) -> tuple[Reason, str]:
    """Return why a game ended: according to its last position if possible, else to its headers."""
    outcome = Board.from_moves(game.cells, game.size).outcome()
    if outcome is not None:
        return Reason.NO_MOVES, "" if outcome.winner == game.winner else _OTHERWISE
    said, detail = game.tags.get("Termination", ""), game.tags.get("Detail", "")
    if said in REASON_WORDS and said != Reason.NO_MOVES.word:
        return Reason(REASON_WORDS.index(said)), detail
    return _TERMINATIONS.get(said, Reason.ERROR), f"ended before its end: {said or 'reason unknown'}"


def ply_of(comment: str) -> tuple[float, int, int]:
    """Parse score, depth and microseconds from a comment; NaN and zeros if missing."""
    match = _COMMENT.fullmatch(comment)
    score, depth, seconds = match.groups() if match else (None, None, None)
    microseconds = min(float(seconds or 0), 1e6) * 1e6
    return float(score or "nan"), int(depth or 0), round(microseconds)


def _write(
    run: Path, schedule: Schedule, settings: Sequence[str], played: FinishedGames, notes: tuple[str, ...]
) -> None:
    keys = {"board": schedule.size, "format": "round-robin", "contenders": list(schedule.agents), "out": str(run)}
    config = load_config(None, keys)
    agents = {
        name: {"spec": f"{name} (imported)", "roles": ["contender"], "settings": text, "deterministic": False}
        for name, text in zip(schedule.agents, settings, strict=True)
    }
    info = run_directory.RunInfo(
        path=run_directory.new_directory(config),
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        requested=run_directory.identity(config),
        agents=agents,
        games=len(schedule),
        openings=len(np.unique(schedule.opening_ids)),
        population=0,
        is_census=False,
        notes=list(notes),
        fingerprint=schedule.fingerprint,
        versions=log.versions(),
        seeds_by=schedule.seeds_by,
    )
    with run_directory.lock_directory(info.path):
        run_directory.write_info(info)
        log.append(log.games_folder(info.path), log.games_table(schedule, settings, played))
        run_directory.finish(info.path, len(played.ids), 0, reproducible=False)
