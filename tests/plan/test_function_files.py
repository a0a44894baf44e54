"""Functions as agents: written to files, played in workers, resumed from the copy that a run keeps."""

import importlib
import re
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from knights_isolation import heuristics
from knights_isolation.experiments import load_config, parse_agent, play_tournament, read_games
from knights_isolation.experiments.plan import reference_of, spec_of
from knights_isolation.isolation import Board
from knights_isolation.isolation.compiling import code_cache
from knights_isolation.isolation.loading.load_user_code import load_heuristic

SCALE = {"own": 2.0, "weights": (1, 2)}
SQUARES = np.array([0.0, 1.0, 4.0])
OPEN_FILE = sys.stdout


def own_moves(game: Any, player: Any) -> float:
    """Helper of the others."""
    return SCALE["own"] * len(game.get_legal_moves(player))


def score(game: Any, player: Any, *, reach: float = 0.5) -> float:
    """Moves, weighted."""
    return own_moves(game, player) - reach * own_moves(game, game.get_opponent(player)) + SQUARES[1]


def weighted(weight: float) -> Callable[[Any, Any], float]:
    """A closure over a number."""

    def inner(game: Any, player: Any) -> float:
        return weight * own_moves(game, player)

    return inner


def prints(game: Any, player: Any) -> float:
    """Uses what no file can hold."""
    OPEN_FILE.write("")
    return 0.0


def value(reference: str, board: Board) -> float:
    """What the function of a written file says of a position."""
    path, _, name = reference.removeprefix("ID:").rpartition(":")
    return float(load_heuristic(path, name).value(board, board.active_player))


@pytest.mark.parametrize(
    "function",
    [
        score,
        weighted(3),
        partial(score, reach=1.25),
        *[lambda game, player, cells=cells: float(cells * len(game.get_legal_moves(player))) for cells in (1, 2)],
        heuristics.Composite(phases=((0.5, ((2.0, score),)), (1.0, ((1.0, heuristics.get("open")),)))),
    ],
)
def test_the_written_function_gives_the_values_of_the_original(function: Callable[[Any, Any], float]) -> None:
    board = Board.from_moves([24, 14, 9, 1])
    assert value(spec_of(function), board) == function(board, board.active_player)


def test_names_tell_closures_apart_and_equal_code_is_one_file() -> None:
    assert [parse_agent(weighted(weight)).name for weight in (2, 2.5)] == ["ID_inner_weight2", "ID_inner_weight2.5"]
    assert parse_agent(partial(score, reach=1.0)).name == "ID_score_reach1"
    assert reference_of(weighted(2)) == reference_of(weighted(2)) != reference_of(weighted(3))
    assert reference_of(heuristics.get("open")) == "open"
    assert parse_agent(spec_of(score, "AB", limit="depth=3", name="Mine")).name == "Mine"


def test_what_cannot_be_written_is_refused_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"OPEN_FILE is or uses a .*, which cannot be written to a file: save it"):
        spec_of(prints)
    exec("def typed(game, player): return 0.0", made := {})
    with pytest.raises(ValueError, match="source of typed is not available"):
        spec_of(made["typed"])
    (tmp_path / "edited_later.py").write_text("def f(game, player):\n    return 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    function = importlib.import_module("edited_later").f
    (tmp_path / "edited_later.py").write_text("def f(game, player):\n    return 2.0 + 1\n")
    with pytest.raises(ValueError, match="source of f has changed since it was defined"):
        spec_of(function)


@pytest.mark.exhaustive
def test_a_run_of_functions_is_resumed_from_the_copy_that_it_keeps() -> None:
    config = load_config(
        None,
        {
            "contenders": [weighted(2), weighted(-1)],
            "baseline": "ID:open",
            "opponents": ["random"],
            "limit": "nodes=20",
            "board": "5x5",
            "pairs": 3,
            "jobs": 1,
            "out": "runs/cells",
        },
    )
    assert play_tournament(config).finished
    played = read_games("runs/cells")
    assert {"ID_inner_weight2", "ID_inner_weight-1"} < set(played["agent_1"])
    for part in Path("runs/cells/games").iterdir():
        part.unlink()
    Path("runs/cells/finished.json").unlink()
    shutil.rmtree(code_cache.folder() / "functions")
    assert play_tournament(config, resume=True).finished
    assert read_games("runs/cells")["moves"].map(tuple).tolist() == played["moves"].map(tuple).tolist()
    assert re.search(r"weight \* own_moves", next(Path("runs/cells/functions").rglob("*weight2.py")).read_text())
