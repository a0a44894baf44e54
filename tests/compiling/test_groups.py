"""The sets of `codegen/groups.py`, run by Python, are gone through in the order of Python's own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knights_isolation.isolation.codegen import groups


@pytest.fixture(autouse=True, scope="module")
def intrinsics():
    kept = groups.hash_of, groups.zeros
    groups.hash_of, groups.zeros = hash, lambda count: [0] * count
    yield
    groups.hash_of, groups.zeros = kept


def items(group):
    return [group.names[place - 1] for place in group.slots if place > 0]


class Iterable(groups.Group):
    def __iter__(self):
        return iter(items(self))


groups.Group.__iter__ = Iterable.__iter__  # compiled code goes through it by itself

CELLS = st.tuples(st.integers(-2, 12), st.integers(-2, 12))
STEPS = st.lists(st.tuples(st.sampled_from(["add", "discard", "pop", "clear"]), CELLS), max_size=120)


def made(steps):
    group, real = groups.Group(), set()
    for name, cell in steps:
        if name == "pop":
            if real:
                assert group.pop() == real.pop()
        elif name == "clear":
            if len(real) > 60:
                group.clear()
                real.clear()
        else:
            getattr(group, name)(cell)
            getattr(real, name)(cell)
    return group, real


@given(STEPS)
def test_a_set_has_pythons_order_after_any_changes(steps):
    group, real = made(steps)
    assert items(group) == list(real)


@given(STEPS, STEPS)
def test_operations_on_two_sets_have_it(first, second):
    (one, real), (two, other) = made(first), made(second)
    for name in ("__or__", "__and__", "__sub__", "__xor__", "union", "intersection", "difference"):
        assert items(getattr(one, name)(two)) == list(getattr(real, name)(other)), name
    for name in ("__ior__", "__isub__", "__iand__"):
        (changed, truth), _ = made(first), None
        assert items(getattr(changed, name)(two)) == list(getattr(truth, name)(other)), name


@given(STEPS, st.lists(st.integers(-5, 70)))
def test_numbers_have_it_as_well(steps, numbers):
    group, real = groups.Group(), set(numbers)
    group.update(numbers)
    assert items(group) == list(real)
