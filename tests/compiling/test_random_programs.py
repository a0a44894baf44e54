"""Programs drawn at random do compiled what they do in Python."""

import pytest
from compiled_alone import problem
from programs import program

from knights_isolation.isolation.usercode.compile_error import CompileError


def check(seeds):
    refused = 0
    for seed in seeds:
        source, function = program(seed)
        try:
            found = problem(function, count=25)
        except CompileError:
            refused += 1
            continue
        assert found is None or not found.is_difference, f"{found}\n{source}"
    assert refused < 0.2 * len(seeds)


def test_sixty_programs_do_what_they_do_in_python():
    check(range(60))


@pytest.mark.slow
def test_three_hundred_programs_do():
    check(range(60, 360))


@pytest.mark.exhaustive
def test_five_thousand_programs_do():
    check(range(360, 5360))
