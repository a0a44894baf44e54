"""Integer ranks that searches compare in place of values of a heuristic."""

import ctypes
import itertools
import math

import llvmlite.binding as llvm
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from knights_isolation import heuristics
from knights_isolation.isolation.codegen import object_code
from knights_isolation.isolation.compiling.compile_heuristic import compile_heuristic
from knights_isolation.isolation.compiling.linking import score_code, use_integer_ranks
from knights_isolation.isolation.native.layout import NOT_A_NUMBER, RANK, SCORE, WON, WORTH

LARGEST = math.nextafter(math.inf, 0)
INT64 = st.integers(-(1 << 63), (1 << 63) - 1)
_numbers = itertools.count()


class Ranked:
    """What becomes of a heuristic whose value, a float64, LLVM's instructions make of the blank cells, any int64."""

    def __init__(self, *instructions: str) -> None:
        text = "\n".join(instructions)
        header = f"define i32 @{SCORE}(ptr %to, ptr, i64 %blank, i64, i64, i64, i64, ptr)"
        module = use_integer_ranks(
            llvm.parse_assembly(f"{header} {{\n{text}\nstore double %value, ptr %to\nret i32 0\n}}")
        )
        number, int64 = next(_numbers), ctypes.c_int64
        symbols = {name: f"{name}_{number}" for name in (RANK, WORTH)}
        for name, symbol in symbols.items():
            module.get_function(name).name = symbol
        rank, worth = (object_code.load(object_code.object_code(module), symbol) for symbol in symbols.values())
        kinds = [ctypes.POINTER(int64), ctypes.c_void_p, *[int64] * 5, ctypes.c_void_p]
        self._rank = ctypes.CFUNCTYPE(ctypes.c_int32, *kinds)(rank)
        self._worth = ctypes.CFUNCTYPE(ctypes.c_double, int64)(worth)

    def rank(self, blank: int) -> int:
        value = ctypes.c_int64()
        self._rank(ctypes.byref(value), None, blank, 0, 0, 0, 0, None)
        return value.value

    def worth(self, rank: int) -> float:
        return self._worth(rank)


@pytest.fixture(scope="module")
def floats() -> Ranked:
    return Ranked("%value = bitcast i64 %blank to double")


@pytest.fixture(scope="module")
def counts() -> Ranked:
    return Ranked("%value = sitofp i64 %blank to double")


def bits(value: float) -> int:
    return ctypes.c_int64.from_buffer(ctypes.c_double(value)).value


def compared(a: float, b: float) -> int:
    return (a > b) - (a < b)


@given(a=st.floats(allow_nan=False), b=st.floats(allow_nan=False))
@example(0.0, -0.0)
@example(math.inf, LARGEST)
def test_ranks_of_float64s_are_in_their_order_and_stand_for_them(floats, a, b):
    finite = [max(-LARGEST, min(LARGEST, value)) for value in (a, b)]
    first, second = (floats.rank(bits(value)) for value in (a, b))
    assert compared(first, second) == compared(*finite)
    assert floats.rank(bits(-a)) == -first
    assert floats.worth(first) == finite[0]
    assert -WON < first < WON


@given(a=INT64, b=INT64)
@example((1 << 53) + 1, 1 << 53)
@example((1 << 63) - 1, (1 << 63) - 1025)
@example(-(1 << 63), 1 - (1 << 63))
@example((1 << 63) - 1, -(1 << 63))
def test_ranks_of_counts_are_in_the_order_of_the_float64s_that_they_become(counts, a, b):
    first, second = counts.rank(a), counts.rank(b)
    assert compared(first, second) == compared(float(a), float(b))
    assert counts.worth(first) == float(a)
    assert -WON < first < WON


@given(count=st.integers(-(1 << 53), 1 << 53))
def test_the_rank_of_a_count_is_the_count(counts, count):
    assert counts.rank(count) == count
    assert counts.rank(-count) == -count


def test_won_and_lost_are_worth_infinity(floats, counts):
    for kind in (floats, counts):
        assert (kind.worth(WON), kind.worth(-WON)) == (math.inf, -math.inf)


def test_what_is_no_number_has_no_rank(floats):
    assert floats.rank(bits(math.nan)) == floats.rank(bits(-math.nan)) == NOT_A_NUMBER


COUNT = "%count = sitofp i64 %blank to double"
IS_ZERO = "%is_zero = icmp eq i64 %blank, 0"
WHOLE = {
    "a constant": (lambda blank: 5, ["%value = fadd double 2.0, 3.0"]),
    "a choice": (
        lambda blank: 7 if blank == 0 else blank,
        [IS_ZERO, COUNT, "%value = select i1 %is_zero, double 7.0, double %count"],
    ),
    "a negative": (lambda blank: -blank, [COUNT, "%value = fneg double %count"]),
    "a small count": (
        lambda blank: blank,
        ["%small = trunc i64 %blank to i16", "%value = sitofp i16 %small to double"],
    ),
    "a yes or no": (lambda blank: int(blank == 0), [IS_ZERO, "%value = uitofp i1 %is_zero to double"]),
    "one of two ways": (
        lambda blank: -blank if blank == 0 else blank,
        [
            *(IS_ZERO, "br i1 %is_zero, label %one, label %two"),
            *("one:", COUNT, "%first = fneg double %count", 'call void asm sideeffect "", ""()', "br label %end"),
            *("two:", "%second = sitofp i64 %blank to double", "br label %end"),
            *("end:", "%value = phi double [ %first, %one ], [ %second, %two ]"),
        ],
    ),
}
FLOATS = {
    "halves": (lambda blank: blank / 2, [COUNT, "%value = fmul double %count, 0.5"]),
    "a choice of a half": (
        lambda blank: 0.5 if blank == 0 else blank,
        [IS_ZERO, COUNT, "%value = select i1 %is_zero, double 0.5, double %count"],
    ),
    "a constant beyond all counts": (lambda blank: 1e20, ["%value = fadd double 1.0e20, 0.0"]),
    "a count without a sign": (lambda blank: blank % (1 << 64), ["%value = uitofp i64 %blank to double"]),
}
BLANKS = (0, 1, 3, -4, 101)


@pytest.mark.parametrize(("value", "instructions"), WHOLE.values(), ids=WHOLE)
def test_whole_numbers_are_their_own_ranks(value, instructions):
    made = Ranked(*instructions)
    assert [made.rank(blank) for blank in BLANKS] == [value(blank) for blank in BLANKS]


def test_the_negative_of_the_least_count_is_the_largest():
    made = Ranked(*WHOLE["a negative"][1])
    assert made.rank(-(1 << 63)) >= made.rank(1 - (1 << 63)) > made.rank(-5)


@pytest.mark.parametrize(("value", "instructions"), FLOATS.values(), ids=FLOATS)
def test_what_may_be_no_whole_number_is_ranked_as_a_float64(floats, value, instructions):
    made, values = Ranked(*instructions), [float(value(blank)) for blank in BLANKS]
    assert [made.rank(blank) for blank in BLANKS] == [floats.rank(bits(value)) for value in values]
    assert [made.worth(made.rank(blank)) for blank in BLANKS] == values


def pasted(game, player):
    own, second = (len(game.get_legal_moves(first)) for first in (player, game.get_opponent(player)))
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    return float(own - 2 * second)


@pytest.mark.parametrize(
    ("heuristic", "is_whole"), [(heuristics.get("improved"), True), (pasted, True), (heuristics.get("center"), False)]
)
def test_a_heuristic_that_is_infinite_at_finished_games_alone_is_searched_in_whole_numbers(heuristic, is_whole):
    module = use_integer_ranks(llvm.parse_bitcode(score_code(compile_heuristic(heuristic).score, 7, 7)))
    assert ("sitofp" in str(module.get_function(WORTH))) == is_whole
