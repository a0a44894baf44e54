"""Nets: what they are worth, and that compiled code gives the same number to the last bit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from random_games import games, positions, small_sizes

from cli import main
from knights_isolation.experiments import parse_agent
from knights_isolation.heuristics import Composite, get
from knights_isolation.isolation import Board, Limit, Net, play, search
from knights_isolation.isolation.compiling.compile_heuristic import CompileError, compile_heuristic
from knights_isolation.isolation.loading.load_user_code import load_heuristic
from knights_isolation.isolation.rules.game import parse_size
from knights_isolation.isolation.rules.net import MOST_UNITS


def weights(cells, units, seed=1):
    """Weights of very different size, so that a sum shows in which order it was made."""
    random = np.random.default_rng(seed)

    def drawn(*shape):
        return random.normal(size=shape) * 10.0 ** random.integers(-6, 7, size=shape)

    return drawn(3 * cells, units), drawn(units), drawn(units), float(drawn(1)[0])


def output(board, hidden_weights, hidden_bias, output_weights, output_bias):
    """A net's output by the product of its weights and inputs, in whatever order."""
    cells = board.height * board.width
    inputs = np.zeros(3 * cells)
    inputs[[row * board.width + column for row, column in board.get_blank_spaces()]] = 1
    for part, place in enumerate((board.locations[board.active_index], board.locations[1 - board.active_index]), 1):
        if place is not None:
            inputs[part * cells + place] = 1
    return np.maximum(inputs @ hidden_weights + hidden_bias, 0) @ output_weights + output_bias


@given(board=games(sizes=small_sizes), units=st.integers(1, MOST_UNITS))
def test_the_output_is_the_value_for_the_side_to_move_on_every_board_and_before_placement(board, units):
    random = np.random.default_rng(units)
    made_of = [random.normal(size=shape) for shape in ((3 * board.height * board.width, units), units, units)]
    net, expected = Net(*made_of, 0.5), output(board, *made_of, 0.5)
    assert net(board, board.active_player) == pytest.approx(expected, abs=1e-9, rel=1e-9)
    assert net(board, board.inactive_player) == -net(board, board.active_player)


def check_to_the_last_bit(net, board):
    compiled = compile_heuristic(net, (board.height, board.width))
    for index, player in enumerate(board.players):
        assert compiled.evaluate(board, index) == net(board, player)


NETS = [Net(*weights(49, units)) for units in (3, 16)]
NET = NETS[0]


@settings(max_examples=60)
@given(board=positions(), net=st.sampled_from(NETS))
def test_compiled_values_are_the_interpreted_ones_to_the_last_bit(board, net):
    check_to_the_last_bit(net, board)


OTHERS = {size: Net(*weights(np.prod(parse_size(size)), 33)) for size in ("9x11", "3x4", "8x8", "12x10")}


@pytest.mark.exhaustive
@settings(max_examples=60)
@given(board=positions(st.sampled_from([*OTHERS])))
def test_compiled_values_are_the_interpreted_ones_on_other_boards_too(board):
    check_to_the_last_bit(OTHERS[board.size], board)


def two_plies_on(game, player):
    best = 0.0
    for move in game.get_legal_moves():
        best = max(best, NET(game.forecast_move(move), player))
    return 0.5 * NET(game, player) + best


@pytest.mark.parametrize(
    "heuristic", [two_plies_on, Composite(phases=((0.5, ((0.5, NET),)), (1.0, ((2.0, NET), (1.0, get("improved"))))))]
)
def test_a_net_is_a_part_of_functions_and_composites(heuristic):
    board = Board.from_moves([24, 14, 9, 29, 18])
    compiled = compile_heuristic(heuristic)
    assert [compiled.evaluate(board, index) for index in (0, 1)] == [heuristic(board, player) for player in (1, 2)]


@pytest.mark.parametrize("cells", [[], [5], [5, 6]])
def test_nets_are_searched_before_both_players_are_placed(cells):
    board, net = Board.from_moves(cells, "4x4"), Net(*weights(16, 16))
    found = search(board, net, Limit(depth=2), interpreted=len(cells) == 2)
    values = {}
    for cell in board.legal_cells():
        child = board.successor(cell)
        values[cell] = min(net(child.successor(reply), board.active_player) for reply in child.legal_cells())
    assert found.score == max(values.values()) == values[found.move]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["minimax", "alphabeta", "bestfirst"])
def test_compiled_searches_find_what_searches_in_python_find(method):
    board = Board.from_moves([24, 14])
    found, expected = (search(board, NET, Limit(nodes=300), method, interpreted=slow) for slow in (False, True))
    assert (found.move, found.score, found.nodes) == (expected.move, expected.score, expected.nodes)
    assert found.pv == expected.pv


@pytest.mark.exhaustive
def test_a_file_with_a_net_plays_and_is_known_by_its_weights(tmp_path):
    parts = [part.tolist() for part in weights(49, 16)[:3]]
    file, other = tmp_path / "mine.py", tmp_path / "other.py"
    text = "from knights_isolation.isolation import Net\n\nscore = Net({}, {}, {})\n"
    file.write_text(text.format(*parts))
    parts[2][0] += 1.0
    other.write_text(text.format(*parts))
    listed = CliRunner().invoke(main, ["heuristics", "--file", str(file), "--format", "json"])
    assert '"compiles": "yes"' in listed.output
    first, again, second = (parse_agent(f"ID:{path}:score@nodes=50") for path in (file, file, other))
    hashes = [agent.settings()["code"] for agent in (first, again, second)]
    assert hashes[0] == hashes[1] != hashes[2]
    game = play(first, second, opening=[24, 14])
    assert game.reason == "no_moves"


def test_a_net_for_another_board_is_refused():
    board = Board.from_moves([5, 6], "4x4")
    with pytest.raises(CompileError, match="its net is for boards of 49 cells, not 16"):
        compile_heuristic(NET, (4, 4))
    with pytest.raises(ValueError, match="this net is for boards of 49 cells, not 16"):
        NET(board, board.active_player)


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ((np.zeros((147, 65)), np.zeros(65), np.zeros(65)), r"\[3 \* cells, 1 to 64 units\], not \[147, 65\]"),
        ((np.zeros((98, 4)), np.zeros(4), np.zeros(4)), r"not \[98, 4\]"),
        ((np.zeros((147, 4)), np.zeros(4), np.zeros(5)), r"must be \[4\], not \[4\] and \[5\]"),
        ((np.zeros((147, 4)), np.zeros(4), [0, 0, 0, np.nan]), "finite"),
    ],
)
def test_weights_that_make_no_net_are_refused(parts, reason):
    with pytest.raises(ValueError, match=reason):
        Net(*parts)


@pytest.mark.exhaustive
def test_the_example_trains_a_net_that_plays(tmp_path):
    script = Path(__file__).parents[2] / "examples" / "net.py"
    command = [sys.executable, str(script), "my_net.py", "--units", "4", "--rounds", "1", "--pairs", "2"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path).stdout
    assert "ID_my_net.score_1000nodes" in printed
    net = load_heuristic(tmp_path / "my_net.py", "score").value
    assert (type(net), net.cells) == (Net, 49)
