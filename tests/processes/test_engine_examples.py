"""The example engines: short, sound in every step of the check, and players of whole games."""

import shutil
import subprocess
from math import inf
from pathlib import Path

import pytest

from knights_isolation.isolation import Board, Limit, play
from knights_isolation.isolation.checks.engine_checks import check_engine
from knights_isolation.isolation.engines.engine_agent import EngineAgent
from knights_isolation.isolation.engines.protocol import Program
from knights_isolation.isolation.search.agents import RandomAgent, opened_player

EXAMPLES = Path(__file__).parents[2] / "examples" / "engines"


@pytest.fixture(scope="module")
def player_in_cpp(tmp_path_factory):
    if not shutil.which("g++"):
        pytest.skip("there is no compiler here")
    player = tmp_path_factory.mktemp("cpp") / "player"
    warnings = ["-Wall", "-Wextra", "-Werror"]
    source = str(EXAMPLES / "player.cpp")
    subprocess.run(["g++", "-O1", "-std=c++17", *warnings, "-pthread", "-o", str(player), source], check=True)
    return Program((str(player),))


@pytest.fixture(scope="module")
def player_in_javascript():
    if not shutil.which("node"):
        pytest.skip("node is not here")
    return Program(("node", str(EXAMPLES / "player.js")))


@pytest.mark.exhaustive
@pytest.mark.parametrize("which", ["player_in_cpp", "player_in_javascript"])
def test_an_example_is_sound_and_plays(which, request):
    program = request.getfixturevalue(which)
    assert [finding for finding in check_engine(program) if not finding.passed] == []
    agent = EngineAgent("Example", program, Limit(nodes=300))
    games = [play(agent, RandomAgent(), size="4x5", seed=seed) for seed in range(4)]
    assert {game.reason for game in games} == {"no_moves"}
    assert sum(game.winner == 1 for game in games) >= 3
    assert max(games[0].depth) > 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("which", ["player_in_cpp", "player_in_javascript"])
def test_an_example_plays_on_wide_boards_and_tells_of_won_and_lost_ends(which, request):
    agent = EngineAgent("Example", request.getfixturevalue(which), Limit(nodes=300))
    with opened_player(agent.open()) as player:
        player.new_game()
        assert player.choose(Board.from_moves([28, 119], "4x30"), 0).move in (56, 87, 89)
        assert player.choose(Board.from_fen("N*1/**1/n2 w"), 0).score == inf
        assert player.choose(Board.from_fen("N*2/**2/n1*1 b"), 0).score == -inf


@pytest.mark.parametrize("path", sorted(EXAMPLES.iterdir()), ids=lambda path: path.name)
def test_an_example_is_short(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) < 150
    assert max(map(len, lines)) <= 120
