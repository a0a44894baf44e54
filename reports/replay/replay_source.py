"""Where a game to replay comes from, as people name it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.exchange.saved_games import load_game
from isolation.games.transcript import board_after
from isolation.shell import command
from reports.replay.replay import Replay, replay_of_moves, replay_of_record, replay_of_run


def find_replay(source: Sequence[str], size: str, moves: str) -> Replay:
    """The game of a run and an id, of a saved file, or, without either, of a list of moves.

    Raises:
        ValueError: it is none of these, or there is no such game.
    """
    if source and moves:
        raise ValueError("a game comes from a run, from a file or from --moves, not from two of these")
    match list(source):
        case []:
            if not moves:
                raise ValueError("which game? isolation replay RUN GAME_ID, isolation replay FILE, or --moves d3,a2")
            return replay_of_moves(board_after(moves, size).history, size)
        case [file] if not Path(file).is_dir():
            return replay_of_record(Path(file).name, load_game(file))
        case [run]:
            raise ValueError(f"which game of {run}? {command('games', run)} lists them")
        case [run, number] if number.isascii() and number.isdecimal():
            return replay_of_run(run, int(number))
        case _:
            raise ValueError(f"a game is named by its run and its number, like runs/first 12, not {' '.join(source)!r}")
