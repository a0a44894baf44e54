"""Reproducible randomness."""

import numpy as np
import pytest

from knights_isolation.isolation.rules.seeds import STEP, move_seed, random_bits, splitmix64

WORD = (1 << 64) - 1
NUMBERS = np.random.default_rng(5).integers(0, WORD, 500, dtype=np.uint64, endpoint=True)


def test_the_generator_is_splitmix64():
    # The first numbers of the reference implementation, for seed 0 and for 1234567.
    assert [splitmix64(STEP), splitmix64(2 * STEP), splitmix64(3 * STEP)] == [
        0xE220A8397B1DCDAF,
        0x6E789E6AA1B965F4,
        0x06C45D188009454F,
    ]
    assert splitmix64(1234567 + STEP) == 6457827717110365317


@pytest.mark.parametrize("state", [0, 1, WORD, WORD + 5, 1 << 63])
def test_numbers_beyond_64_bits_are_cut_off(state):
    assert splitmix64(state) == splitmix64(state & WORD) <= WORD


def test_arrays_are_mixed_as_ints_are():
    mixed = splitmix64(NUMBERS)
    assert mixed.dtype == np.uint64
    assert mixed.tolist() == [splitmix64(number) for number in NUMBERS.tolist()]


def test_compiled_code_mixes_as_python_does():
    from numba import njit

    from knights_isolation.isolation.native.kernels.workspace import mix as compiled_mix

    @njit
    def mix_all(numbers):
        return [compiled_mix(number) for number in numbers]

    assert [int(number) for number in mix_all(NUMBERS)] == splitmix64(NUMBERS).tolist()


def test_compiled_code_draws_as_python_does():
    from numba import njit

    from knights_isolation.isolation.native import workspaces
    from knights_isolation.isolation.native.kernels.workspace import int64s_at, next_random
    from knights_isolation.isolation.native.layout import RANDOM

    @njit
    def draw(address, count):
        desk = int64s_at(address)
        return [next_random(desk) for _ in range(count)]

    bits = random_bits(42)
    with workspaces.borrow_workspace() as desk:
        desk.numbers[RANDOM] = 42
        assert list(draw(desk.address, 20)) == [bits() for _ in range(20)]


def test_seeds_of_moves_differ_by_game_and_ply():
    seeds = {move_seed(game, ply) for game in (0, 1, WORD) for ply in range(50)}
    assert len(seeds) == 150
