"""One map over many: results in any order, calls taken as workers become free, and what is left of an earlier map."""

from collections.abc import Iterator

import pytest

from knights_isolation.experiments.play.parallel_map import map_over, parallel_mapper
from knights_isolation.experiments.play.pools.loky_pool import LokyPool
from knights_isolation.experiments.play.pools.pool import HerePool, Pool

COUNT = 20


def double(number: int) -> int:
    return 2 * number


def refuse(number: int) -> int:
    if number == 2:
        raise LookupError(f"no {number}")
    return number


@pytest.fixture(params=[HerePool, LokyPool])
def pool(request: pytest.FixtureRequest) -> Iterator[Pool]:
    with request.param(2) as made:
        yield made


def test_every_call_is_answered_once_by_a_pool_without_a_task(pool: Pool) -> None:
    assert sorted(map_over(pool, double, ((number,) for number in range(COUNT)))) == list(range(0, 2 * COUNT, 2))
    assert list(map_over(pool, double, [])) == []
    assert not pool.is_busy


def test_calls_are_taken_as_workers_become_free(pool: Pool) -> None:
    taken: list[int] = []

    def calls() -> Iterator[tuple[int]]:
        for number in range(COUNT):
            taken.append(number)
            yield (number,)

    for answered, _ in enumerate(map_over(pool, double, calls()), 1):
        assert len(taken) <= answered + pool.calls_at_once
    assert len(taken) == COUNT


def test_an_exception_of_a_call_is_raised_and_the_next_map_gets_its_own_results(pool: Pool) -> None:
    with pytest.raises(LookupError, match="no 2"):
        list(map_over(pool, refuse, ((number,) for number in range(COUNT))))
    assert sorted(map_over(pool, double, [(7,), (8,)])) == [14, 16]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_mapper_is_used_again_after_a_map_that_was_left(jobs: int) -> None:
    with parallel_mapper(jobs, None) as spread:
        left = spread(double, ((number,) for number in range(COUNT)))
        next(left)
        left.close()  # type: ignore[attr-defined]
        assert sorted(spread(double, [(5,), (6,)])) == [10, 12]
