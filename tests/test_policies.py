"""Policies as agents, and agents as policies."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from knights_isolation import agent_policy, best_moves
from knights_isolation.experiments.plan import SpecError, parse_agent
from knights_isolation.isolation import Board
from knights_isolation.isolation.games.learning import VectorGames
from knights_isolation.isolation.games.match import play
from knights_isolation.isolation.rules.game import Reason

SOURCE = """
import random

def lowest(observations, masks):
    assert observations.shape[1:] == (4, 7, 7) and masks.shape[1:] == (49,)
    return masks.argmax(axis=1)

def drawn(observations, masks):
    return [random.choice(mask.nonzero()[0]) for mask in masks]

def corner(observations, masks):
    return masks.argmax(axis=1) * 0

def one_number(observations, masks):
    return 3
"""


EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.exhaustive
def test_the_tabular_example_learns_and_plays_its_gauntlet(tmp_path):
    for name in ("baseline.py", "tabular.py"):
        shutil.copy(EXAMPLES / name, tmp_path)
    words = [sys.executable, "tabular.py", "--moves", "300000", "--pairs", "3"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    regret = dict(re.findall(r"^ +(\S.*?) +([\d.]+) %$", done.stdout, re.MULTILINE))
    assert float(regret["the table"]) < float(regret["before learning"]) - 5
    assert "tabular.play" in done.stdout.splitlines()[-1] + done.stdout.splitlines()[-2]
    assert (tmp_path / "tabular.svg").read_text().startswith("<?xml")


@pytest.fixture
def agent(tmp_path, monkeypatch):
    (tmp_path / "some_policies.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return lambda name: parse_agent(f"policy:some_policies:{name}")


def test_a_policy_plays_whole_games_by_its_rule(agent):
    lowest = agent("lowest")
    record = play(lowest, lowest, (24, 9))
    board = Board.from_moves([24, 9])
    for cell in record.moves[2:]:
        assert cell == min(board.legal_cells())
        board = board.successor(cell)
    assert board.outcome().winner == record.winner


def test_random_policies_draw_from_the_seed_of_the_move(agent):
    drawn, board = agent("drawn"), Board.from_moves([24, 9])
    moves = [drawn.choose(board, seed).move for seed in range(12)]
    assert moves == [drawn.choose(board, seed).move for seed in range(12)]
    assert len(set(moves)) > 1


@pytest.mark.parametrize(
    ("name", "reason", "detail"),
    [
        ("corner", Reason.ILLEGAL_MOVE, "played cell 0"),
        ("one_number", Reason.ERROR, r"returns int\[n\] for n positions, not int64\[\]"),
        ("absent", Reason.ERROR, "has no attribute 'absent'"),
    ],
)
def test_a_policy_that_fails_loses_and_the_reason_is_kept(agent, name, reason, detail):
    record = play(agent(name), parse_agent("random"), (24, 9))
    assert (record.winner, record.reason) == (2, reason.word)
    assert re.search(detail, record.detail)


def test_what_is_no_policy_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SpecError, match="no module not_there in"):
        parse_agent("policy:not_there:play")
    with pytest.raises(SpecError, match="a module and a function in it"):
        parse_agent("policy:train.py")
    with pytest.raises(SpecError, match="a policy has no limit"):
        parse_agent("policy:train:play@nodes=5")


def test_the_settings_change_with_the_module(agent):
    before = agent("lowest").settings()
    Path("some_policies.py").write_text(SOURCE + "\n# more\nCONSTANT = 1\n")
    assert agent("lowest").settings()["content_hash"] != before["content_hash"]


@pytest.mark.exhaustive
def test_an_agent_as_a_policy_plays_its_moves_placements_included():
    rng, games = np.random.default_rng(1), VectorGames(40)
    policy = agent_policy("ID:improved@depth=2")
    for step in range(9):
        masks = games.mask()
        cells = policy(games.observations[:3], masks[:3]) if step < 2 else policy(games.observations)
        if step >= 2:
            assert (cells == best_moves("ID:improved@depth=2", games.states())).all()
        assert masks[np.arange(len(cells)), cells].all()
        games.step((rng.random(masks.shape) * masks).argmax(axis=1))
