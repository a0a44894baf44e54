"""Speed of the engine, as ratios to a comparator in the same run if there is one.

Run with `make bench`, which prints nodes or games a second and the ratios below the times.
"""

import pytest

from knights_isolation import heuristics
from knights_isolation.isolation import Board, Limit, perft, search
from knights_isolation.isolation.checks.search_cost import measure_costs, random_openings
from knights_isolation.isolation.games.match import play_games
from knights_isolation.isolation.rules.game import Size
from knights_isolation.isolation.search.agents import SearchAgent

OPENINGS = random_openings(60, 2)
DEPTH = 11


def with_popcounts(game, player):
    """`improved` without the terminal checks of the classic engines: compiled from minimal source."""
    return len(game.get_legal_moves(player)) - len(game.get_legal_moves(game.get_opponent(player)))


def classic_improved(game, player):
    """`improved` as it is written in thousands of files."""
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    own_moves = len(game.get_legal_moves(player))
    opp_moves = len(game.get_legal_moves(game.get_opponent(player)))
    return float(own_moves - opp_moves)


def net_advantage_with_lists(game, player):
    """`net_advantage` as users write it, with a list comprehension."""
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    own = game.get_legal_moves(player)
    opp = game.get_legal_moves(game.get_opponent(player))
    if game.active_player == player:
        return float(len(own) - len(opp))
    return float(len([move for move in own if move not in opp]) - len(opp))


def searches(benchmark, heuristic, openings, depth, size="7x7"):
    boards = [Board.from_moves(opening, size) for opening in openings]
    search(boards[0], heuristic, Limit(depth=1))
    nodes = sum(benchmark(lambda: [search(board, heuristic, Limit(depth=depth)).nodes for board in boards]))
    return nodes / benchmark.stats.stats.min


@pytest.mark.parametrize(
    "name", ["improved", "net_advantage", "edge_distance_dynamic", "territory", "horizon", "phased"]
)
def test_alpha_beta_with_a_heuristic_of_the_registry(benchmark, name):
    speed = searches(benchmark, heuristics.get(name), OPENINGS, DEPTH)
    benchmark.extra_info["M nodes/s"] = speed / 1e6


@pytest.mark.parametrize(
    "name",
    [
        "edge_distance",
        "edge_distance_weighted",
        "edge_distance_dynamic",
        "territory",
        "phased",
        "horizon",
        "two_step_mobility",
    ],
)
def test_cost_of_a_node_over_improved(benchmark, name):
    agents = [
        SearchAgent(f"ID:{item}", "alphabeta", heuristics.get(item), item, Limit(nodes=10_000))
        for item in ("improved", name)
    ]
    _, cost = benchmark.pedantic(measure_costs, (agents,), rounds=1)
    benchmark.extra_info |= {"ns a node": cost.nanoseconds, "over improved": cost.times, "spread": cost.spread}


def test_a_call_from_python(benchmark):
    board, improved = Board.from_moves(OPENINGS[0]), heuristics.get("improved")
    search(board, improved, Limit(depth=1))
    benchmark(search, board, improved, Limit(depth=1))
    benchmark.extra_info["µs a call"] = benchmark.stats.stats.min * 1e6


@pytest.mark.parametrize("heuristic", [classic_improved, net_advantage_with_lists])
def test_alpha_beta_with_a_users_function_against_the_least_source(benchmark, heuristic):
    agents = [
        SearchAgent(item.__name__, "alphabeta", item, item.__name__, Limit(nodes=10_000))
        for item in (with_popcounts, heuristic)
    ]
    _, cost = benchmark.pedantic(measure_costs, (agents,), rounds=1)
    benchmark.extra_info |= {"M nodes/s": 1e3 / cost.nanoseconds, "ratio": 1 / cost.times}


def test_9x11_against_7x7(benchmark):
    agent = SearchAgent("AB", "alphabeta", heuristics.get("improved"), "improved", Limit(nodes=10_000))
    (small,) = measure_costs([agent], Size(7, 7))
    (large,) = benchmark.pedantic(measure_costs, ([agent], "9x11"), rounds=1)
    benchmark.extra_info |= {"ns a node": large.nanoseconds, "speed over 7x7": small.nanoseconds / large.nanoseconds}


def test_compiled_against_interpreted_search(benchmark):
    agent = SearchAgent("AB", "alphabeta", heuristics.get("improved"), "improved", Limit(nodes=10_000))
    (slow,) = measure_costs([agent], interpreted=True)
    (fast,) = benchmark.pedantic(measure_costs, ([agent],), rounds=1)
    benchmark.extra_info |= {"M nodes/s": 1e3 / fast.nanoseconds, "ratio": slow.nanoseconds / fast.nanoseconds}


def test_whole_games_between_fixed_depth_players(benchmark):
    agent = SearchAgent("AB", "alphabeta", heuristics.get("improved"), "improved", Limit(depth=5))
    openings = random_openings(2000, 2)
    play_games(agent, agent, openings[:1], [0])
    benchmark(play_games, agent, agent, openings, range(2000))
    benchmark.extra_info["games/s"] = 2000 / benchmark.stats.stats.min


def test_perft(benchmark):
    board = Board.from_moves([24, 14])
    counts = benchmark(perft, board, 11)
    benchmark.extra_info["M moves/s"] = sum(counts) / benchmark.stats.stats.min / 1e6
