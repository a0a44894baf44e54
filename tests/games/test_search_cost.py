"""What a node costs: processor time, in turn, once for the same code."""

from collections.abc import Callable

import numpy as np
import pytest

from knights_isolation import heuristics
from knights_isolation.isolation.checks import search_cost
from knights_isolation.isolation.checks.search_cost import (
    FEWEST_ROUNDS,
    NODES,
    ROUNDS,
    Cost,
    compare_turns,
    measure_costs,
)
from knights_isolation.isolation.rules.game import Limit
from knights_isolation.isolation.search.agents import Agent, RandomAgent, SearchAgent

pytestmark = pytest.mark.usefixtures("costs_measured")


def searching(name: str, limit: Limit, called: str = "") -> SearchAgent:
    return SearchAgent(called or name, "alphabeta", heuristics.get(name), name, limit)


class Machine:
    """Turns of invented times: what slows the machine in a round slows everybody's turn in it."""

    def __init__(self, slowness: Callable[[int], float]) -> None:
        self.slowness = slowness
        self.taken = 0

    def turns(self, *costs: float) -> list[search_cost.Turn]:
        """A turn of 1,000 nodes of each cost; the first one counts rounds."""

        def turn(each: float, is_first: bool) -> tuple[int, int]:
            self.taken += is_first
            return 1000, int(1000 * each * self.slowness(self.taken))

        return [lambda each=each, index=index: turn(each, index == 0) for index, each in enumerate(costs)]


@pytest.mark.parametrize("slowness", [lambda number: 1, lambda number: 1 + number % 3, lambda number: number])
def test_what_slows_the_machine_from_round_to_round_leaves_costs_as_they_are(slowness):
    base, dear = compare_turns(Machine(slowness).turns(5.0, 11.0))
    assert (base.nanoseconds, base.times, base.spread) == (5.0, 1.0, 0.0)
    assert (dear.nanoseconds, dear.times, dear.spread) == (11.0, 2.2, 0.0)
    assert dear.is_steady


def disturbed(often: float) -> Machine:
    """A machine that slows single turns at random, by up to three times."""
    chance = np.random.default_rng(1)
    return Machine(lambda number: 1 + 2 * chance.random() * (chance.random() < often))


def test_single_slow_turns_move_a_cost_by_less_than_five_per_cent():
    ratios = [compare_turns(disturbed(0.2).turns(5.0, 11.0))[1].times for _ in range(10)]
    assert max(ratios) / min(ratios) < 1.05
    assert ratios[0] == pytest.approx(2.2, rel=0.05)


def test_what_does_not_agree_is_measured_again_and_called_unsteady():
    calm, wild = Machine(lambda number: 1), disturbed(0.9)
    assert compare_turns(calm.turns(5.0, 11.0))[1].is_steady
    assert calm.taken == ROUNDS
    assert not compare_turns(wild.turns(5.0, 11.0))[1].is_steady
    assert wild.taken == 2 * ROUNDS


def test_an_interval_holds_the_median_with_95_per_cent():
    chance = np.random.default_rng(2)
    covered = 0
    for _ in range(400):
        own = iter(chance.exponential(1, 2 * ROUNDS).tolist())
        turns = [lambda: (1, 1), lambda own=own: (1, next(own))]
        ratios = compare_turns(turns)[1]
        covered += ratios.low <= np.log(2) <= ratios.high
    assert 0.93 < covered / 400 < 0.99


def test_costs_over_another_reference_are_quotients_and_never_narrower():
    dear, mean = Cost(12.0, 3.0, 2.9, 3.1), Cost(8.0, 2.0, 1.9, 2.1)
    assert dear.over(mean) == Cost(12.0, 1.5, 2.9 / 2.1, 3.1 / 1.9)
    assert mean.over(mean) == Cost(8.0, 1.0, 1.0, 1.0)


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A processor's clock on which every turn takes five milliseconds, however long it takes."""
    reads = [0]

    def clock() -> int:
        reads[0] += 1
        return 5_000_000 * reads[0]

    monkeypatch.setattr("knights_isolation.isolation.checks.search_cost.time.thread_time_ns", clock)
    return reads


def test_costs_are_processor_time_over_nodes_and_nothing_else(ticking):
    first, second = measure_costs([searching("null", Limit(nodes=200)), searching("null", Limit(nodes=100))])
    assert second.times == pytest.approx(2, rel=0.1)
    assert first.spread == second.spread == 0


@pytest.mark.parametrize("size", ["5x6", (5, 6)])
def test_costs_are_measured_on_boards_given_as_text_or_as_rows_and_columns(ticking, size):
    (cost,) = measure_costs([searching("null", Limit(nodes=100))], size, most_rounds=2)
    assert cost.times == 1


def test_the_same_code_is_measured_once_and_costs_the_same(ticking):
    agents = [searching("open", Limit(nodes=100)), searching("open", Limit(nodes=100), "control")]
    base, control = measure_costs(agents)
    assert base == control == Cost(base.nanoseconds, 1.0, 1.0, 1.0)
    once = ticking[0]
    measure_costs(agents[:1])
    assert ticking[0] == 2 * once


def test_what_is_slow_takes_fewer_turns(ticking, monkeypatch):
    measure_costs([searching("null", Limit(nodes=20))])
    usual, ticking[0] = ticking[0], 0
    monkeypatch.setattr(search_cost, "_LONGEST", 5_000_000)
    measure_costs([searching("null", Limit(nodes=20))])
    assert (usual - ticking[0]) == 2 * (ROUNDS - FEWEST_ROUNDS)


def test_searches_are_measured_at_their_own_limit_but_never_for_long():
    limits = [Limit(nodes=50), Limit(nodes=10**7), Limit(depth=20), Limit(ms=150)]
    assert [searching("open", limit).searching(NODES).limit.nodes for limit in limits] == [50, NODES, NODES, NODES]


def dividing(game, player):
    return 1 / (len(game.get_blank_spaces()) - 40)


@pytest.mark.slow
def test_why_a_cost_is_not_known_is_said_and_the_next_agent_is_the_reference(ticking):
    failing: Agent = SearchAgent("it", "alphabeta", dividing, "dividing", Limit(nodes=1000))
    reasons = measure_costs([RandomAgent(), failing, searching("null", Limit(nodes=100))])
    assert reasons[0] == "it does not search by countable nodes"
    assert "ZeroDivisionError" in reasons[1]
    assert reasons[2].times == 1
    assert measure_costs([RandomAgent()])[0] == reasons[0]


def test_in_python_it_is_python_that_is_measured(ticking, monkeypatch):
    asked = []
    search = SearchAgent.find_in_python
    monkeypatch.setattr(SearchAgent, "find_in_python", lambda self, *given: asked.append(self) or search(self, *given))
    (compiled,) = measure_costs([searching("null", Limit(nodes=20))])
    assert not asked
    (python,) = measure_costs([searching("null", Limit(nodes=20))], interpreted=True)
    assert {agent.limit.nodes for agent in asked} == {20}
    assert python.nanoseconds > compiled.nanoseconds
