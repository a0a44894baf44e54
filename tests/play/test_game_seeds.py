"""Chance falls alike for agents that play alike; runs from before go on by the rule they began with."""

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scripted_pool import here

from knights_isolation.experiments.plan import run_keeping
from knights_isolation.experiments.plan.config import Config, load_config
from knights_isolation.experiments.plan.tournament_plan import make_plan
from knights_isolation.experiments.play.runner import play_tournament
from knights_isolation.experiments.record import log, log_parts, run_directory
from knights_isolation.experiments.record.checked_json import read_json, write_json
from knights_isolation.experiments.statistics.run_results import load_findings
from knights_isolation.reports.tables.compare import compare_sections
from knights_isolation.reports.text.rendering import render_sections

TWIN = """def score(game, player):
    return float(len(game.get_legal_moves(player)) - len(game.get_legal_moves(game.get_opponent(player))))
"""
OLD_KEYS: dict[str, Any] = {"format": "head-to-head", "contenders": ["greedy"], "baseline": "random", "pairs": 4}
OLD_SEEDS = [
    *(8200304563539605539, 12066260368843623086, 11412738726055866547, 11293643042157827784),
    *(10835653598959487593, 6105286072793710442, 15833197885536159010, 4278014293381604319),
]


def results_of(run: Path, agent: str, opponent: str) -> list[tuple[Any, ...]]:
    """What happened in the agent's games against the opponent, in the order of the log."""
    games = log.read_games(run)
    as_first = games[(games.agent_1 == agent) & (games.agent_2 == opponent)].assign(side=1)
    as_second = games[(games.agent_2 == agent) & (games.agent_1 == opponent)].assign(side=2)
    both = pd.concat([as_first, as_second]).sort_values("game_id")
    return [(side, winner, *moves) for side, winner, moves in zip(both.side, both.winner, both.moves, strict=True)]


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two names of one heuristic, and of another, against opponents that leave something to chance and not."""
    folder = tmp_path_factory.mktemp("twins")
    (folder / "twin.py").write_text(TWIN)
    keys = {
        "board": "5x5", "contenders": [f"Twin=ID:{folder / 'twin.py'}:score", "ID:center"], "pairs": 12,
        "opponents": ["random", "MCTS@nodes=5", "AB:open@depth=2"], "limit": "nodes=60", "control": False,
    }  # fmt: skip
    assert play_tournament(load_config(None, {**keys, "jobs": 1, "out": str(folder / "run")}), pools=here).finished
    return folder / "run"


@pytest.mark.exhaustive
@pytest.mark.parametrize("opponent", ["Random", "MCTS_5nodes", "AB_Open_depth2"])
def test_two_names_of_one_heuristic_play_the_same_games_against_anybody(twins: Path, opponent: str) -> None:
    own = results_of(twins, "Twin", opponent)
    assert len(own) == 24
    assert own == results_of(twins, "ID_Improved", opponent)
    assert own != results_of(twins, "ID_Center", opponent)


@pytest.mark.exhaustive
def test_compare_says_that_two_names_of_one_heuristic_play_alike(twins: Path) -> None:
    verdicts = json.loads(render_sections(compare_sections(load_findings([twins])), "json"))["verdicts"]
    assert {row["contender"]: row["plays_alike"] for row in verdicts} == {"Twin": True, "ID_Center": False}


@pytest.fixture
def old_run(tmp_path: Path) -> Path:
    """A run that began before there was more than one rule of seeds, and of which some games are missing."""
    path = tmp_path / "old"
    config = old_config(path)
    run_keeping.create(path, make_plan(config, "agents"), config)
    assert play_tournament(config, resume=True, pools=here).finished
    write_json(
        path / run_directory.FACTS, {k: v for k, v in read_json(path / run_directory.FACTS).items() if k != "seeds_by"}
    )
    (part,) = log.live_files(log.games_folder(path))
    some = log.read_part(part).slice(0, 3)
    part.unlink()
    run_keeping.reopen(path)
    log_parts.append(log.games_folder(path), some)
    return path


def old_config(path: Path) -> Config:
    return load_config(None, {**OLD_KEYS, "jobs": 1, "out": str(path)})


@pytest.mark.slow
def test_a_run_from_before_is_read_and_gone_on_with_by_its_own_rule(old_run: Path) -> None:
    assert len(load_findings([old_run]).games) == 3
    assert play_tournament(old_config(old_run), resume=True, pools=here).finished
    assert log.read_games(old_run, ["seed"]).seed.tolist() == OLD_SEEDS
    assert len(load_findings([old_run]).games) == 8


@pytest.mark.slow
def test_games_by_another_rule_than_the_run_s_are_refused(old_run: Path, tmp_path: Path) -> None:
    assert play_tournament(old_config(tmp_path / "new"), pools=here).finished
    (part,) = log.live_files(log.games_folder(old_run))
    shutil.copy(next(log.games_folder(tmp_path / "new").glob("*.parquet")), part)
    with pytest.raises(ValueError, match=r"seed is not the scheduled one \(from another run\)"):
        play_tournament(old_config(old_run), resume=True, pools=here)
    with pytest.raises(ValueError, match="its seed is not one of the run's"):
        load_findings([old_run])
