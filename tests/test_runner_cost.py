"""Equal cost: node limits scaled by speed, once, and recorded as plain numbers."""

from pathlib import Path

import pytest

from experiments import runs
from experiments.config import load_config
from experiments.cost import at_equal_cost
from experiments.design import make_plan
from experiments.runner import play_tournament
from isolation.agents import Agent

SPEEDS = {"ID_Improved": 100.0, "ID_Open": 150.0, "ID_Territory": 40.0, "Few": 0.001}


def speed_of(agent: Agent, size: str) -> float:
    return SPEEDS[agent.name]


def test_contenders_get_the_nodes_that_cost_what_the_baseline_s_cost() -> None:
    config = load_config(None, {"contenders": ["ID:open", "ID:territory", "Few=ID:center@nodes=5"], "equal_cost": True})
    plan, speeds = at_equal_cost(make_plan(config), speed_of)
    limits = {entry.agent.name: entry.spec.limit for entry in plan.entries if entry.spec.limit}
    nodes = {name: limit.nodes for name, limit in limits.items()}
    assert nodes["ID_Open"] == 15_000
    assert nodes["ID_Territory"] == 4_000
    assert nodes["Few"] == 1
    assert nodes["ID_Improved"] == nodes["ID_Improved_control"] == 10_000
    assert speeds == SPEEDS


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
