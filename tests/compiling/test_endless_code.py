"""Whatever runs a user's function ends: compiled code gives up, and Python is interrupted."""

import inspect
import threading
import time
from importlib import import_module
from itertools import product

import pytest

from knights_isolation import heuristics
from knights_isolation.isolation import Board, Limit, search
from knights_isolation.isolation.compiling.compile_heuristic import compile_heuristic
from knights_isolation.isolation.compiling.source_rewriter import rewrite
from knights_isolation.isolation.games.match import play_games
from knights_isolation.isolation.loading.load_user_code import load_heuristic
from knights_isolation.isolation.processes import subprocess_player
from knights_isolation.isolation.rules.game import Reason
from knights_isolation.isolation.search.agents import SearchAgent
from knights_isolation.isolation.usercode.timeouts import UserCodeTimeout

interpreted = import_module(
    "knights_isolation.isolation.search.interpreted"
)  # `isolation.search` is the function, to those who import it
RARE = [20, 3, 11, 18, 24, 9, 33, 0, 48]
"""Moves to the only position, among all that are sampled, where the functions below would go on for ever."""
KNIGHT = [(a, b) for a, b in product((-2, -1, 1, 2), repeat=2) if abs(a) != abs(b)]


def is_rare(game, player):
    is_there = game.get_player_location(player) == (6, 6) and game.get_player_location(game.get_opponent(player)) == (
        0,
        0,
    )
    return is_there and len(game.get_blank_spaces()) == 40 and not game.move_is_legal((3, 3))


def loops(game, player):
    n = 20
    while n > 0:
        n -= 0 if is_rare(game, player) else 1
    return float(len(game.get_legal_moves(player)))


def grows_a_list(game, player):
    queue = [1, 2]
    for x in queue:
        if is_rare(game, player) or len(queue) < 20:
            queue.append(x + 1 if x < 9 else 0)
    return float(len(queue))


def push(queue, x):
    queue.append(x)


def grows_a_list_elsewhere(game, player):
    queue = [1, 2]
    for x in queue:
        if is_rare(game, player) or len(queue) < 20:
            push(queue, x)
    return float(len(queue))


def deeper(n, is_endless):
    if n <= 0:
        return 0
    return 1 + deeper(n if is_endless else n - 1, is_endless) % 7


def goes_deeper(game, player):
    return float(deeper(20, is_rare(game, player)))


def wider(n, is_endless):
    if n <= 0:
        return 0
    return wider(n - 1, is_endless) + (wider(n - 1, is_endless) if is_endless else 1)


def branches(game, player):
    return float(wider(60, is_rare(game, player)))


def catches(game, player):
    n = 20
    while n > 0:
        try:
            m = 20
            while m > 0:
                m -= 0 if is_rare(game, player) else 1
            n -= 1
        except Exception:
            n -= 0
    return float(len(game.get_legal_moves(player)))


def flood(game, player):
    seen, queue = {game.get_player_location(player)}, {game.get_player_location(player)}
    while queue:
        r, c = queue.pop()
        new = set(filter(game.move_is_legal, [(r + a, c + b) for a, b in KNIGHT])) - seen
        seen |= new
        queue |= new
    return float(len(seen))


ENDLESS = [loops, grows_a_list, grows_a_list_elsewhere, goes_deeper, branches, catches]


@pytest.mark.parametrize("function", ENDLESS, ids=lambda function: function.__name__)
def test_compiled_code_gives_up_where_it_would_go_on_for_ever_and_nowhere_else(function):
    compiled = compile_heuristic(function)
    board = Board.from_moves(RARE)
    assert compiled.value_of(board, 0) is None
    assert compiled.value_of(board, 1) == function(board, board.players[1])


def test_a_set_that_shrinks_and_grows_again_is_looked_up_to_an_end():
    stuck = [48, 42, 33, 37, 46, 28, 41, 43, 26, 38, 13, 47, 4, 34, 19, 39, 6, 44, 11, 35, 16, 22, 1, 31, 10, 40, 23]
    board = Board.from_moves(stuck)
    assert compile_heuristic(flood).evaluate(board, 1) == flood(board, board.players[1])


def sorts(game, player):
    return float(sorted(game.get_legal_moves(player))[0][0]) if game.get_legal_moves(player) else 0.0


def fills_another_list(game, player):
    cells, value = game.get_legal_moves(player), 0
    for cell in cells:
        following = []
        following.append(cell)
        value += len(following)
    return float(value)


def test_what_ends_by_itself_is_not_counted():
    functions = [*map(heuristics.get, heuristics.names()), sorts, fills_another_list]
    assert [f for f in functions if "rounds_left" in rewrite(f, size=(7, 7)).source] == []


def test_the_hash_of_a_heuristic_does_not_depend_on_what_is_counted():
    written = rewrite(loops)
    assert "count_round" in written.source
    assert "count_round" not in written.code


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(interpreted, "LONGEST_EVALUATION", 0.2)


@pytest.mark.parametrize("is_thread", [False, True], ids=["main thread", "other thread"])
@pytest.mark.parametrize("function", [loops, catches], ids=lambda function: function.__name__)
def test_a_search_in_python_ends_with_the_function_and_the_position_at_which_it_does_not_return(
    function, is_thread, impatient
):
    raised = []

    def ask():
        try:
            search(Board.from_moves(RARE[:-1]), function, Limit(depth=1))
        except UserCodeTimeout as error:
            raised.append(str(error))

    if is_thread:
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    else:
        ask()
    assert raised == [f"{function.__name__} at {Board.from_moves(RARE)!r} for player 1 takes longer than 0.2 s"]


@pytest.mark.parametrize("method", ["minimax", "bestfirst", "mcts"])
def test_every_method_of_search_ends(method, impatient):
    limit = Limit(depth=1) if method == "minimax" else Limit(nodes=40)
    with pytest.raises(UserCodeTimeout, match="loops at Board"):
        search(Board.from_moves(RARE[:-1]), loops, limit, method, interpreted=True)


def test_a_search_that_is_slow_as_a_whole_is_not_interrupted(impatient):
    def takes_a_while(game, player):
        until = time.perf_counter() + 0.01
        while time.perf_counter() < until:
            pass
        return 0.0

    assert search(Board.from_moves([24, 14]), takes_a_while, Limit(nodes=60), interpreted=True).nodes == 60


def test_a_game_against_a_function_that_never_returns_is_lost_by_a_hang(monkeypatch, tmp_path):
    path = tmp_path / "endless.py"
    path.write_text(inspect.getsource(is_rare) + "\n\n" + inspect.getsource(loops))
    monkeypatch.setattr(subprocess_player, "HANGS_AFTER", 5.0)
    user = SearchAgent(
        "user", "alphabeta", load_heuristic(path, "loops").value, "loops", Limit(depth=1), is_user_code=True
    )
    other = SearchAgent("other", "alphabeta", heuristics.get("improved"), "improved", Limit(depth=1))
    games = play_games(user, other, [RARE[:-1]], [1])
    assert (games.winner[0], games.reason[0]) == (2, Reason.HANG)
    assert "no answer within 5 s" in games.detail[0]
