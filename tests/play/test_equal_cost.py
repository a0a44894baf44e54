"""Equal cost: node limits scaled by speed, once, and recorded as plain numbers."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from scripted_pool import costing

from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.plan.tournament_plan import make_plan
from knights_isolation.experiments.play.equal_cost import at_equal_cost
from knights_isolation.experiments.play.pools.game_worker import GameWorker, task_of
from knights_isolation.experiments.play.pools.recovery import Costs
from knights_isolation.experiments.play.runner import RunProgress, play_tournament
from knights_isolation.experiments.record import run_directory
from knights_isolation.isolation.rules.game import Cost

pytestmark = pytest.mark.usefixtures("costs_measured")

TIMES = {"ID_Improved": 1.0, "ID_Open": 2 / 3, "ID_Territory": 2.5, "Few": 100_000.0}


def cost(times: float) -> Cost:
    return Cost(10 * times, times, times, times)


def measure(names: Sequence[str]) -> Costs:
    return {name: cost(TIMES[name]) if name in TIMES else "it does not search" for name in names}


def test_contenders_get_the_nodes_that_cost_what_the_baseline_s_cost() -> None:
    config = load_config(None, {"contenders": ["ID:open", "ID:territory", "Few=ID:center@nodes=5"], "equal_cost": True})
    plan, costs = at_equal_cost(make_plan(config), measure)
    limits = {entrant.agent.name: entrant.spec.limit for entrant in plan.entrants if entrant.spec.limit}
    nodes = {name: limit.nodes for name, limit in limits.items()}
    assert nodes["ID_Open"] == 15_000
    assert nodes["ID_Territory"] == 4_000
    assert nodes["Few"] == 1
    assert nodes["ID_Improved"] == nodes["ID_Improved_control"] == 10_000
    assert costs == {name: cost(times) for name, times in TIMES.items()}


def test_in_a_best_of_all_contenders_take_the_time_of_the_first() -> None:
    keys = {"format": "best-of", "contenders": ["ID:open@nodes=900", "ID:territory@nodes=900"], "equal_cost": True}
    over_first = dict.fromkeys(["ID_Territory_900nodes"], cost(3.0))
    plan, _ = at_equal_cost(
        make_plan(load_config(None, keys)), lambda names: dict.fromkeys(names, cost(1.0)) | over_first
    )
    limits = [entrant.spec.limit for entrant in plan.entrants if "contender" in entrant.roles]
    assert [limit.nodes for limit in limits if limit] == [900, 300]


def test_a_contender_with_hardly_any_nodes_is_named() -> None:
    config = load_config(None, {"contenders": ["ID:open", "Few=ID:center@nodes=5"], "equal_cost": True})
    plan, _ = at_equal_cost(make_plan(config), measure)
    (note,) = [note for note in plan.notes if "at equal cost" in note]
    assert note.startswith("Few gets only 1 nodes per move at equal cost")


def test_a_contender_whose_code_fails_is_named() -> None:
    def failing(names: Sequence[str]) -> Costs:
        return dict.fromkeys(names, "ZeroDivisionError: division by zero")

    plan = make_plan(load_config(None, {"contenders": ["ID:open"], "equal_cost": True}))
    with pytest.raises(ValueError, match="equal_cost cannot measure ID_Improved: ZeroDivisionError: division by zero"):
        at_equal_cost(plan, failing)


def test_costs_are_measured_in_a_worker_and_shown_before_play(tmp_path: Path) -> None:
    keys = {
        "format": "head-to-head", "contenders": ["ID:territory@nodes=2000"], "baseline": "ID:improved@nodes=2000",
        "pairs": 2, "jobs": 1, "equal_cost": True, "out": str(tmp_path / "run"),
    }  # fmt: skip
    printed: list[RunProgress] = []
    outcome = play_tournament(load_config(None, keys), show=printed.append)
    assert outcome.finished
    phases = list(dict.fromkeys(progress.phase for progress in printed))
    assert phases[:4] == ["preparing", "measuring", "measured", "playing"]
    (measured,) = [progress for progress in printed if progress.phase == "measured"]
    assert measured.costs == run_directory.load_run(tmp_path / "run").processor_costs
    baseline, contender = (measured.costs[name] for name in ("ID_Improved_2000nodes", "ID_Territory_2000nodes"))
    assert (baseline.times, baseline.spread) == (1, 0)
    assert contender.times > 1
    (limit,) = [entrant.spec.limit for entrant in outcome.plan.entrants if "contender" in entrant.roles]
    assert limit
    assert limit.nodes == round(2000 / contender.times)


@pytest.mark.exhaustive
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

    def first(names: Sequence[str]) -> Costs:
        return {name: cost(1 / 3 if "Open" in name else 1.0) for name in names}

    def never(names: Sequence[str]) -> Costs:
        raise AssertionError("measured again")

    with costing(first):
        play_tournament(load_config(None, keys))
    saved = load_config(tmp_path / "run" / run_directory.CONFIG)
    assert saved.contenders == ("ID_Open_50nodes=ID:open@nodes=150",)
    assert not saved.equal_cost
    known = run_directory.load_run(tmp_path / "run").processor_costs
    assert {name: known[name].times for name in ("ID_Improved_20nodes", "ID_Open_50nodes")} == {
        "ID_Improved_20nodes": 1.0, "ID_Open_50nodes": 1 / 3,
    }  # fmt: skip
    with costing(never):
        assert play_tournament(load_config(None, keys), resume=True).finished


@pytest.mark.parametrize("contender", ["ID:open@ms=5", "AB:open", "random"])
def test_only_node_limits_can_be_scaled(contender: str) -> None:
    plan = make_plan(load_config(None, {"contenders": [contender], "equal_cost": True}))
    with pytest.raises(ValueError, match=r"equal_cost scales node limits, but .* has none"):
        at_equal_cost(plan, measure)


def test_a_round_robin_has_nothing_to_measure_against() -> None:
    plan = make_plan(load_config(None, {"format": "round-robin", "contenders": ["ID:open", "ID:center"]}))
    with pytest.raises(ValueError, match="needs a baseline"):
        at_equal_cost(plan, measure)


def test_a_run_measures_costs_once_over_its_baseline_and_keeps_them_when_resumed(tmp_path: Path) -> None:
    keys = {
        "contenders": ["ID:open@nodes=50"], "baseline": "ID:improved@nodes=20", "opponents": ["random"],
        "pairs": 2, "jobs": 1, "out": str(tmp_path / "run"),
    }  # fmt: skip
    asked: list[Sequence[str]] = []

    def measure_once(names: Sequence[str]) -> Costs:
        asked.append(names)
        return {name: "it does not search" if name == "Random" else cost(1.0) for name in names}

    with costing(measure_once):
        play_tournament(load_config(None, keys))
    (names,) = asked
    assert names[0] == "ID_Improved_20nodes"
    assert set(names) == set(run_directory.load_run(tmp_path / "run").agents)
    assert set(run_directory.load_run(tmp_path / "run").processor_costs) == set(names) - {"Random"}
    with costing(measure_once):
        assert play_tournament(load_config(None, keys), resume=True).finished
    assert len(asked) == 1


def test_the_control_costs_what_the_baseline_costs(tmp_path: Path) -> None:
    keys = {
        "contenders": ["ID:open@nodes=50"], "baseline": "ID:improved@nodes=50", "opponents": ["random"],
        "pairs": 2, "jobs": 1, "out": str(tmp_path / "run"),
    }  # fmt: skip
    play_tournament(load_config(None, keys))
    costs = run_directory.load_run(tmp_path / "run").processor_costs
    assert costs["ID_Improved_50nodes_control"] == costs["ID_Improved_50nodes"]
    assert costs["ID_Improved_50nodes"].times == 1
    assert costs["ID_Open_50nodes"].low <= costs["ID_Open_50nodes"].times <= costs["ID_Open_50nodes"].high
    assert "Random" not in costs


def test_user_code_that_does_not_compile_stays_out_of_the_process_that_measures(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    path = tmp_path / "my.py"
    path.write_text(f"def score(game, player):\n    open({str(ran)!r}, 'a').close()\n    return 1.0\n")
    plan = make_plan(load_config(None, {"contenders": [f"X=ID:{path}:score@nodes=20"], "baseline": "ID:null@nodes=20"}))
    worker = GameWorker(task_of(plan))
    ran.unlink(missing_ok=True)
    costs = worker.measure_costs(["ID_Null_20nodes", "X"])
    assert costs["X"] == "user code that does not compile"
    assert not ran.exists()
    assert costs["ID_Null_20nodes"].times == 1
