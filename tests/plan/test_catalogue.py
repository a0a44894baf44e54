"""What a file offers as heuristics: what is listed is what FILE:NAME accepts."""

import threading
from contextlib import suppress
from pathlib import Path

import pytest

from knights_isolation.experiments.plan import parse_agent, user_files
from knights_isolation.experiments.plan.user_files import (
    evaluate,
    file_catalogue,
    heuristics_in,
    only_heuristic,
    user_heuristics,
)
from knights_isolation.isolation import Board, play
from knights_isolation.isolation.loading.load_user_code import LoadError, load_heuristic, load_module
from knights_isolation.isolation.search.agents import RandomAgent

FILE = '''
from dataclasses import dataclass
from functools import lru_cache, partial, wraps
from itertools import product
from math import hypot

import heuristics
from sample_players import improved_score


def twice(function):
    def inner(*args, **kwargs):
        return 2 * function(*args, **kwargs)
    return inner


def noted(function):
    @wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)
    return inner


def plain(game, player):
    """Count moves."""
    return float(len(game.get_legal_moves(player)))


def weighted(game, player, weight=1.0):
    """Weigh moves."""
    return weight * len(game.get_legal_moves(player))


@twice
def decorated(game, player):
    return 1.0


@noted
def wrapped(game, player):
    """Keep a name."""
    return 1.0


@lru_cache(maxsize=None)
def cached(game, player):
    return 1.0


heavy = partial(weighted, weight=3.0)
shipped = heuristics.get("territory")
short = lambda game, player: 0.0


@dataclass
class Scorer:
    """Score by a weight."""

    weight: float

    def __call__(self, game, player):
        return self.weight * len(game.get_legal_moves(player))


scorer = Scorer(2.0)


def distance(a, b):
    return abs(a[0] - b[0])


def of_one(game):
    return 0.0


NUMBER = 3
'''
LISTED = ["improved_score", "plain", "weighted", "decorated", "wrapped", "cached", "heavy", "shipped", "short"]
LISTED += ["scorer", "distance"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    return path


def accepts(path: Path, name: str) -> bool:
    try:
        load_heuristic(path, name)
    except LoadError:
        return False
    return True


def test_what_is_listed_is_what_is_accepted(file):
    assert list(heuristics_in(file)) == LISTED
    assert [name for name in vars(load_module(file)) if accepts(file, name)] == LISTED


@pytest.mark.parametrize("name", [name for name in LISTED if name != "distance"])
def test_what_is_listed_can_play(file, name):
    agent = parse_agent(f"ID:{file}:{name}@nodes=20")
    assert agent.settings()["method"] == "alphabeta"
    assert play(agent, RandomAgent(), [24, 14], seed=1).reason == "no_moves"


def test_each_is_listed_with_its_meaning_and_whether_it_compiles_or_why_not(file):
    listings = {listing.name: listing for listing in file_catalogue(file)}
    assert {name for name, listing in listings.items() if listing.compiles == "yes"} == {
        "improved_score", "plain", "weighted", "decorated", "wrapped", "cached", "heavy", "shipped", "short",
    }  # fmt: skip
    assert listings["scorer"].compiles == "no: the heuristic is an object of the class Scorer, not a plain function"
    assert "distance" not in listings  # of two cells, as no position is
    message = {name: listings[name].meaning for name in ("plain", "heavy", "wrapped", "scorer", "cached")}
    assert message == {
        "plain": "Count moves.", "heavy": "Weigh moves.", "wrapped": "Keep a name.", "scorer": "Score by a weight.",
        "cached": "",
    }  # fmt: skip


def test_functions_of_a_game_are_listed_whatever_their_parameters_are_called_and_helpers_are_not(tmp_path):
    (tmp_path / "mine.py").write_text(
        "def odd_names(a, b):\n    return float(len(a.get_legal_moves(b)))\n"
        "def broken(game, player):\n    return game.no_such_thing()\n"
        "def steps(cell, step):\n    return cell[0] + step\n"
    )
    printed = []
    listings = file_catalogue(tmp_path / "mine.py", lambda done, total: printed.append((done, total)))
    assert [listing.name for listing in listings] == ["odd_names", "broken"]
    assert printed == [(0, 2), (1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("def mine(game, player): return 0.0", "mine"),
        ("def mine(game, player): return 0.0\ndef distance(a, b): return 0", "mine"),
        ("def mine(own, other): return 0.0", "mine"),
        ("def one(game, player): return 0.0\ndef score(game, player): return 0.0", "score"),
        ("import functools\ndef g(w, x, y): return 0.0\nmine = functools.partial(g, 1)", "mine"),
    ],
)
def test_the_heuristic_of_a_file_needs_no_name_where_it_is_clear(tmp_path, source, result):
    path = tmp_path / "mine.py"
    path.write_text(source)
    assert only_heuristic(path) == result


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def one(game, player): pass\ndef two(game, player): pass", "several functions of (game, player); name one"),
        ("def one(game): pass", "no function of (game, player)"),
    ],
)
def test_where_it_is_not_clear_that_is_said(tmp_path, source, message):
    path = tmp_path / "mine.py"
    path.write_text(source)
    with pytest.raises(LoadError) as error:
        only_heuristic(path)
    assert message in str(error.value)


def test_a_heuristic_that_never_returns_and_hears_nothing_is_given_up(monkeypatch):
    monkeypatch.setattr(user_files, "LONGEST_CALL", 0.2)
    released = threading.Event()

    def deaf(game, player):
        while not released.is_set():
            with suppress(BaseException):
                released.wait()
        return 0.0

    try:
        (row,) = evaluate({"deaf": deaf}, Board.from_moves([24, 14]))
    finally:
        released.set()
    assert set(row.values()) == {"deaf", "takes longer than 0.2 s"}


def test_several_functions_of_one_file_evaluate_a_position_side_by_side(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def one(game, player):\n    return 1.0\n\ndef two(game, player):\n    return -0.0\n")
    rows = evaluate(user_heuristics([f"{file}:one", f"{file}:two"]), Board.from_moves([24, 14]))
    message = [(row["heuristic"], str(row["player 1"])) for row in rows]
    assert message == [("mine.py:one", "1.0"), ("mine.py:two", "0.0")]
