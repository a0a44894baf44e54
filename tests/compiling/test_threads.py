"""The engine in many threads at once: everybody gets what they get alone."""

from __future__ import annotations

import gc
import inspect
import json
import os
import subprocess
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
from board_server import request, serving

from knights_isolation import heuristics
from knights_isolation.experiments.plan import parse_agent
from knights_isolation.experiments.positions import opposing
from knights_isolation.isolation import Board, Limit, perft, search, solve
from knights_isolation.isolation.checks.search_cost import random_openings
from knights_isolation.isolation.compiling import FUNCTIONS_REMEMBERED, specialise
from knights_isolation.isolation.compiling.compile_heuristic import compile_heuristic, sample_positions
from knights_isolation.isolation.compiling.source_rewriter import rewrite
from knights_isolation.isolation.games.match import play_games
from knights_isolation.isolation.loading.load_user_code import load_module
from knights_isolation.isolation.native import workspaces
from knights_isolation.isolation.search import SearchResult
from knights_isolation.isolation.search.agents import compile_or_reason
from knights_isolation.isolation.search.solver import solve_length
from knights_isolation.isolation.usercode.function_source import file_tree
from knights_isolation.isolation.usercode.parsing import parse
from knights_isolation.reports.board.board_processes import ServerLimits
from knights_isolation.reports.board.resources import Resources

THREADS = 8
OPENINGS = random_openings(4, 4)


@pytest.fixture
def hurried() -> Iterator[None]:
    """Threads of Python take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def tidied() -> Iterator[None]:
    """Memory is tidied up all the time, which lets another thread run wherever something is allocated."""

    def run_python(phase: str, info: dict[str, int]) -> None:
        sum(range(10))

    before = gc.get_threshold()
    gc.callbacks.append(run_python)
    gc.set_threshold(20, 50, 10**6)
    yield
    gc.set_threshold(*before)
    gc.callbacks.remove(run_python)


def at_once(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """What calls return, each made in a thread of its own, all starting together."""
    start = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        start.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def assert_alike_at_once(calls: Sequence[Callable[[], Any]]) -> None:
    """Every call gives in every thread what it gives alone; each thread makes all of them, beginning with another."""
    alone = [call() for call in calls]

    def make_all(first: int) -> dict[int, Any]:
        order = [(first + index) % len(calls) for index in range(len(calls))]
        return {index: calls[index]() for index in order}

    for result in at_once([partial(make_all, thread) for thread in range(THREADS)]):
        assert [result[index] for index in range(len(calls))] == alone


def found_by(opening: Sequence[int], heuristic: Any, limit: Limit, method: Any = "alphabeta", **options: Any) -> Any:
    """A search's result but for its time, which nobody can repeat."""
    return timeless(search(Board.from_moves(opening), heuristic, limit, method, **options))


def timeless(result: SearchResult) -> SearchResult:
    return replace(result, seconds=0.0)


# Searching, solving, playing


def test_compiled_searches() -> None:
    improved, center = heuristics.get("improved"), heuristics.get("center")
    kinds = [
        (improved, Limit(nodes=300_000), "alphabeta"),
        (improved, Limit(nodes=200_000), "minimax"),
        (improved, Limit(nodes=10_000), "mcts"),
        (improved, Limit(nodes=50_000), "bestfirst"),
        (center, Limit(nodes=300_000), "alphabeta"),
        (improved, Limit(depth=7), "alphabeta"),
    ]
    assert_alike_at_once([partial(found_by, opening, *kind, seed=5) for kind in kinds for opening in OPENINGS])


def names_an_exception(game: Any, player: Any) -> float:
    """Does not compile."""
    try:
        return float(len(game.get_legal_moves(player)) - len(game.get_legal_moves(game.get_opponent(player))))
    except ValueError as error:
        return float(str(error))


@pytest.mark.filterwarnings("ignore:names_an_exception runs interpreted")
@pytest.mark.usefixtures("hurried")
def test_interpreted_searches_beside_compiled_ones() -> None:
    improved = heuristics.get("improved")
    calls = [partial(found_by, OPENINGS[0], names_an_exception, Limit(depth=3))]
    calls += [partial(found_by, OPENINGS[1], improved, Limit(nodes=300), "alphabeta", interpreted=True)]
    calls += [partial(found_by, OPENINGS[2], None, Limit(nodes=50), "mcts", interpreted=True, seed=3)]
    calls += [partial(found_by, opening, improved, Limit(nodes=100_000)) for opening in OPENINGS]
    assert_alike_at_once(calls)


def three_is_too_few(game: Any, player: Any) -> float:
    return 1.0 / (len(game.get_legal_moves(player)) - 3)


def test_values_and_failures_of_compiled_heuristics() -> None:
    compiled = compile_heuristic(three_is_too_few)

    def value(board: Board) -> float | None:
        try:
            return compiled.evaluate(board, 0)
        except ArithmeticError:
            return None

    boards = list(sample_positions((7, 7), 400))
    assert None in [value(board) for board in boards]
    assert_alike_at_once([partial(value, board) for board in boards])


def test_exact_values() -> None:
    boards = [Board.from_moves(opening) for opening in random_openings(5, 12, seed=2)]
    calls: list[Callable[[], Any]] = [partial(solve, board, limit) for board in boards for limit in (None, _SHORT)]
    calls += [partial(solve_length, Board.from_moves(opening)) for opening in random_openings(3, 20, seed=2)]
    calls += [partial(perft, board, 6) for board in boards]
    assert_alike_at_once(calls)


_SHORT = Limit(nodes=2_000)


@pytest.mark.parametrize("interpreted", [False, True])
def test_games(interpreted: bool) -> None:
    names = (
        ("ID:improved@nodes=20", "random", "greedy") if interpreted else ("ID:improved@nodes=5000", "random", "greedy")
    )
    agents = [parse_agent(name) for name in names]
    openings = OPENINGS[:1] if interpreted else OPENINGS

    def games(first: Any, second: Any) -> Any:
        played = play_games(first, second, openings, range(len(openings)), interpreted=interpreted)
        columns = (played.winner, played.reason, played.offsets, played.moves, played.depth, played.nodes)
        return [column.tolist() for column in columns]

    calls: list[Callable[[], Any]] = [partial(games, agent, other) for agent in agents for other in agents]
    calls += [partial(found_by, opening, heuristics.get("improved"), Limit(nodes=100_000)) for opening in OPENINGS]
    assert_alike_at_once(calls)


# Desks


def test_no_desk_is_lent_twice_at_a_time() -> None:
    with workspaces.borrow_workspace() as outer:
        with workspaces.borrow_workspace() as inner:
            assert inner is not outer
        with workspaces.borrow_workspace() as again:
            assert again is inner  # and no memory is spent on another

    def both() -> tuple[int, int]:
        with workspaces.borrow_workspace() as first, workspaces.borrow_workspace() as second:
            everybody.wait()
            return first.address, second.address

    everybody = threading.Barrier(THREADS)
    addresses = [address for pair in at_once([both] * THREADS) for address in pair]
    assert len(set(addresses)) == 2 * THREADS


def test_a_desk_that_may_still_be_written_on_is_not_lent_again() -> None:
    with pytest.raises(KeyboardInterrupt), workspaces.borrow_workspace() as interrupted:
        raise KeyboardInterrupt
    with workspaces.borrow_workspace() as desk:
        assert desk.address != interrupted.address


# First use

FIRST_USE = """
import json, sys, threading
from concurrent.futures import ThreadPoolExecutor

start = threading.Barrier(8)

def first_use(number):
    start.wait()
    from knights_isolation.isolation import Board, Limit, perft, play, search, solve
    from knights_isolation.isolation.loading.load_user_code import load_heuristic
    from knights_isolation import heuristics
    from knights_isolation.experiments.plan import parse_agent

    board = Board.from_moves([24, 14])
    user = load_heuristic(sys.argv[1], "score").value
    tasks = [
        lambda: search(board, heuristics.get("improved"), Limit(nodes=50_000)).pv,
        lambda: search(board, user, Limit(nodes=50_000)).pv,
        lambda: perft(board, 5),
        lambda: solve(Board.from_moves([24, 14, 9, 1, 4, 10, 17, 5])).moves,
        lambda: play(parse_agent("greedy"), parse_agent("greedy"), [24, 14]).moves,
    ]
    found = {}
    for place in range(number, number + len(tasks)):
        found[place % len(tasks)] = tasks[place % len(tasks)]()
    return [found[place] for place in range(len(tasks))]

with ThreadPoolExecutor(8) as pool:
    print(json.dumps(list(pool.map(first_use, [number // 2 for number in range(8)]))))
"""

SLOW_TO_LOAD = """
for _ in range(200_000):
    pass

def score(game, player):
    return float(3 * len(game.get_legal_moves(player)) - game.get_player_location(player)[0])
"""


@pytest.mark.exhaustive
def test_first_use_with_nothing_compiled_yet(tmp_path: Path) -> None:
    user = tmp_path / "user.py"
    user.write_text(SLOW_TO_LOAD)
    environment = {**os.environ, "ISOLATION_CACHE": str(tmp_path / "cache")}
    code = [sys.executable, "-c", FIRST_USE, str(user)]
    done = subprocess.run(code, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    answers = json.loads(done.stdout)
    assert answers == [answers[0]] * THREADS
    board = Board.from_moves([24, 14])
    assert answers[0][0] == list(search(board, heuristics.get("improved"), Limit(nodes=50_000)).pv)
    assert answers[0][2] == perft(board, 5)
    assert answers[0][3] == list(solve(Board.from_moves([24, 14, 9, 1, 4, 10, 17, 5])).moves)


@pytest.mark.usefixtures("hurried")
def test_nobody_sees_a_users_file_half_loaded(tmp_path: Path) -> None:
    path = tmp_path / "slow.py"
    path.write_text(SLOW_TO_LOAD)
    functions = at_once([lambda: load_module(path).score] * THREADS)
    assert set(functions) == {functions[0]}


@pytest.mark.usefixtures("hurried")
def test_lines_of_files_are_looked_up_by_one_thread_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    looking, find = threading.Lock(), inspect.findsource

    def findsource(function: Any) -> Any:
        assert looking.acquire(blocking=False)
        try:
            return find(function)
        finally:
            looking.release()

    monkeypatch.setattr(inspect, "findsource", findsource)
    trees = at_once([lambda: [file_tree(three_is_too_few) for _ in range(50)]] * THREADS)
    assert len({id(tree) for result in trees for tree in result}) == 1


@pytest.mark.usefixtures("hurried", "tidied")
def test_reading_sources_leaves_the_filters_of_warnings_as_they_were() -> None:
    def read() -> None:
        for _ in range(200):
            parse("x = 1")

    before = list(warnings.filters)
    at_once([read] * THREADS)
    assert warnings.filters == before


@pytest.mark.usefixtures("hurried", "tidied")
def test_heuristics_are_rewritten_at_once() -> None:
    sources = at_once([lambda: rewrite(three_is_too_few).source] * THREADS)
    assert sources == [rewrite(three_is_too_few).source] * THREADS


# What is remembered


def test_compiled_code_outlives_the_caches_that_knew_it() -> None:
    opening, heuristic, limit = OPENINGS[0], heuristics.get("improved"), Limit(nodes=100_000)
    agent = parse_agent("ID:improved@nodes=100000")
    player = agent.compiled((7, 7))
    assert player is not None
    before = found_by(opening, heuristic, limit)
    specialise.native_function.cache_clear()
    gc.collect()
    again = agent.compiled((7, 7))
    assert again is not None
    assert again.function.address == player.function.address
    assert found_by(opening, heuristic, limit) == before


@pytest.mark.exhaustive
@pytest.mark.parametrize("remember", [lambda function: compile_or_reason(function, (7, 7)), opposing])
def test_a_long_life_does_not_hold_every_function_it_has_met(remember: Callable[[Any], Any]) -> None:
    def make() -> FunctionType:
        return eval("lambda game, player: 0.0")  # of which no source is at hand: it does not compile

    first = make()
    forgotten = weakref.ref(first)
    remember(first)
    del first
    gc.collect()
    assert forgotten() is not None
    for _ in range(FUNCTIONS_REMEMBERED):
        remember(make())
    gc.collect()
    assert forgotten() is None


# The analysis board


@pytest.mark.exhaustive
def test_the_board_answers_many_questions_at_a_time() -> None:
    position = {"size": "7x7", "moves": [24, 14]}
    late = {"size": "7x7", "moves": list(random_openings(1, 12, seed=2)[0])}
    questions = [
        ("move", {"position": position, "agent": "ID:improved@nodes=300000"}),
        ("move", {"position": late, "agent": "ID:center@nodes=300000"}),
        ("values", {"position": position, "heuristics": ["improved", "center"], "depth": 6}),
        ("graph", {"position": late, "heuristic": "improved", "depth": 5}),
        ("solve", {"position": late}),
    ]

    with serving(Resources(), ServerLimits(short=60.0)) as port:

        def ask(address: str, question: dict[str, Any]) -> Any:
            status, _, text = request(port, f"/api/{address}", json.dumps(question).encode())
            assert status == 200, text
            answer = json.loads(text)
            for item in (answer, *answer.get("values", {}).values()):
                for time in ("ms", "compiling", "preparing"):
                    item.pop(time, None)
            return answer

        assert_alike_at_once([partial(ask, *question) for question in questions])
