"""Equal cost: node limits scaled by speed, once, and recorded as plain numbers."""

from pathlib import Path

import pytest

from experiments import runs
from experiments.config import load_config
from experiments.design import make_plan
from experiments.play.cost import at_equal_cost
from experiments.play.runner import Progress, play_tournament
from isolation.agents import Agent

SPEEDS = {"ID_Improved": 100.0, "ID_Open": 150.0, "ID_Territory": 40.0, "Few": 0.001}


def speed_of(agent: Agent, size: str) -> float:
    return SPEEDS[agent.name]


def test_contenders_get_the_nodes_that_cost_what_the_baseline_s_cost() -> None:
    config = load_config(None, {"contenders": ["ID:open", "ID:territory", "Few=ID:center@nodes=5"], "equal_cost": True})
    plan, speeds = at_equal_cost(make_plan(config), speed_of)
    limits = {entrant.agent.name: entrant.spec.limit for entrant in plan.entrants if entrant.spec.limit}
    nodes = {name: limit.nodes for name, limit in limits.items()}
    assert nodes["ID_Open"] == 15_000
    assert nodes["ID_Territory"] == 4_000
    assert nodes["Few"] == 1
    assert nodes["ID_Improved"] == nodes["ID_Improved_control"] == 10_000
    assert speeds == SPEEDS


def test_a_contender_with_hardly_any_nodes_is_named() -> None:
    config = load_config(None, {"contenders": ["ID:open", "Few=ID:center@nodes=5"], "equal_cost": True})
    plan, _ = at_equal_cost(make_plan(config), speed_of)
    (note,) = [note for note in plan.notes if "at equal cost" in note]
    assert note.startswith("Few gets no more than 1 nodes a move at equal cost")


def test_a_contender_whose_code_fails_is_named() -> None:
    def failing(agent: Agent, size: str) -> float:
        raise ZeroDivisionError("division by zero")

    plan = make_plan(load_config(None, {"contenders": ["ID:open"], "equal_cost": True}))
    with pytest.raises(ValueError, match="equal_cost cannot measure ID_Improved: ZeroDivisionError: division by zero"):
        at_equal_cost(plan, failing)


def test_speeds_are_measured_in_a_worker_and_shown_before_play(tmp_path: Path) -> None:
    keys = {
        "format": "head-to-head", "contenders": ["ID:territory@nodes=2000"], "baseline": "ID:improved@nodes=2000",
        "pairs": 2, "jobs": 1, "equal_cost": True, "out": str(tmp_path / "run"),
    }  # fmt: skip
    shown: list[Progress] = []
    outcome = play_tournament(load_config(None, keys), show=shown.append)
    assert outcome.finished
    phases = list(dict.fromkeys(progress.phase for progress in shown))
    assert phases[:4] == ["preparing", "measuring", "measured", "playing"]
    (measured,) = [progress for progress in shown if progress.phase == "measured"]
    assert measured.costs == runs.load_run(tmp_path / "run").costs
    speeds = [measured.costs[name] for name in ("ID_Improved_2000nodes", "ID_Territory_2000nodes")]
    assert speeds[0] > speeds[1] > 0
    (limit,) = [entrant.spec.limit for entrant in outcome.plan.entrants if "contender" in entrant.roles]
    assert limit
    assert limit.nodes == round(2000 * speeds[1] / speeds[0])


def test_a_failing_contender_ends_in_one_line_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "my.py"
    path.write_text("def score(game, player):\n    return 1 / (len(game.get_blank_spaces()) - 40)\n")
    keys = {
        "format": "head-to-head", "contenders": [f"X=ID:{path}:score"], "baseline": "ID:improved",
        "pairs": 2, "jobs": 1, "equal_cost": True, "out": str(tmp_path / "run"),
    }  # fmt: skip
    with pytest.raises(ValueError, match="equal_cost cannot measure X: ZeroDivisionError"):
        play_tournament(load_config(None, keys))
    assert not (tmp_path / "run").exists()


def test_the_numbers_are_fixed_in_the_saved_configuration_and_kept_when_resuming(tmp_path: Path) -> None:
    keys = {
        "format": "head-to-head", "contenders": ["ID:open@nodes=50"], "baseline": "ID:improved@nodes=20",
        "pairs": 2, "jobs": 1, "equal_cost": True, "out": str(tmp_path / "run"),
    }  # fmt: skip

    def first(agent: Agent, size: str) -> float:
        return 3.0 if "Open" in agent.name else 1.0

    def never(agent: Agent, size: str) -> float:
        raise AssertionError("measured again")

    play_tournament(load_config(None, keys), measure=first)
    saved = load_config(tmp_path / "run" / runs.CONFIG)
    assert saved.contenders == ("ID_Open_50nodes=ID:open@nodes=150",)
    assert not saved.equal_cost
    assert runs.load_run(tmp_path / "run").costs == {"ID_Improved_20nodes": 1.0, "ID_Open_50nodes": 3.0}
    assert play_tournament(load_config(None, keys), resume=True, measure=never).finished


@pytest.mark.parametrize("contender", ["ID:open@ms=5", "AB:open", "random"])
def test_only_node_limits_can_be_scaled(contender: str) -> None:
    plan = make_plan(load_config(None, {"contenders": [contender], "equal_cost": True}))
    with pytest.raises(ValueError, match=r"equal_cost scales node limits, and .* has none"):
        at_equal_cost(plan, speed_of)


def test_a_round_robin_has_nothing_to_measure_against() -> None:
    plan = make_plan(load_config(None, {"format": "round-robin", "contenders": ["ID:open", "ID:center"]}))
    with pytest.raises(ValueError, match="needs a baseline"):
        at_equal_cost(plan, speed_of)
