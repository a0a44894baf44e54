"""Error rates and prices of the account of evidence: seasons of tries against one baseline.

    python -m benchmarks.seasons

First the share of seasons in which a false verdict is left at the end: twenty contenders that equal the baseline, each
looked at nine times, within its plan, extending it, or with new seeds, until there is a verdict. Then the openings that
a contender needs that is three points better, after earlier tries that equal the baseline, over those of a test with
one look that finds it with 80 %. Openings are invented with the variance of a default run; everything else is done by
the functions that judge runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from knights_isolation.experiments.record.tries import Try
from knights_isolation.experiments.statistics.account import adjusted_p_values
from knights_isolation.experiments.statistics.alpha_spending import Look, deviate, pooled
from knights_isolation.experiments.statistics.planning import openings_for_effect
from knights_isolation.experiments.statistics.proportions import mean_parts
from knights_isolation.experiments.statistics.step_down import flip

ALPHA = 0.05
VARIANCE = 0.0095
"""Of an opening's difference: median of the 21 contenders of a default run (`isolation tournament`, version 0.1)."""
OPPONENTS = 7
BETTER = 0.03
FIXED = openings_for_effect(BETTER, 0.8, ALPHA, VARIANCE).pairs
"""Openings of a test with one look that finds a difference of `BETTER` with 80 %."""
LOOKS, TRIES = 9, 20
WAYS = ("within the plan", "extended", "with new seeds")

Floats = NDArray[np.float64]


def leads(generator: np.random.Generator, openings: int, better: float) -> Floats:
    """Return the differences of openings: multiples of a game, with this mean and `VARIANCE`."""
    games = 2 * OPPONENTS
    deviation = math.sqrt(VARIANCE - 1 / (12 * games**2))  # rounding adds the rest
    return np.round(generator.normal(better, deviation, openings) * games) / games


def deviate_of(values: Floats) -> float:
    """Return the difference over openings in standard errors, by the test that judges runs."""
    parts = mean_parts(values, OPPONENTS)
    return deviate(flip(parts).p_value, parts.alone.estimate)


def look_at(name: str, planned: int, look: Look) -> Try:
    """Return what the log says of a look."""
    return Try(
        "tournament", name, "B", "", name, "", "", look.openings, (0.0, 0.0, 0.0), look.p_value, None, "", "family",
        name, planned, look.openings, look.z,
    )  # fmt: skip


def looks_of(
    generator: np.random.Generator, way: str, better: float, planned: int, steps: Sequence[int]
) -> list[tuple[Look, float]]:
    """Return the looks at a contender after these numbers of openings, each with the p-value of its run alone."""
    values, looks = leads(generator, steps[-1], better), []
    before = Look(0, 0.0)
    for start, end in zip([0, *steps], steps, strict=False):
        if way == "with new seeds":
            look = pooled(before, end - start, own := deviate_of(values[start:end]))
        else:
            look = Look(end, own := deviate_of(values[:end]))
        looks.append((look, Look(0, own).p_value))
        before = look
    return looks


def steps_of(way: str, planned: int) -> list[int]:
    """Return the openings after which a contender is looked at."""
    numbers = range(1, LOOKS + 1)
    if way == "within the plan":
        return [math.ceil(planned * number / LOOKS) for number in numbers]
    if way == "extended":
        return [planned * (number + 1) // 2 for number in numbers]
    return [planned * number for number in numbers]


def false_verdicts(generator: np.random.Generator, ways: Sequence[str], contenders: int = TRIES) -> tuple[bool, bool]:
    """Return whether a season without any difference ends with a verdict, by the account and by each run alone."""
    tries: list[Try] = []
    is_alone_false = False
    for number in range(contenders):
        way, name = ways[number % len(ways)], str(number)
        for look, alone in looks_of(generator, way, 0.0, FIXED, steps_of(way, FIXED)):
            tries.append(look_at(name, FIXED, look))
            is_alone_false |= alone <= ALPHA
            if adjusted_p_values(tries)["family", name] <= ALPHA:
                break
    return min(adjusted_p_values(tries).values()) <= ALPHA, is_alone_false


def price(generator: np.random.Generator, earlier: int, planned: int, steps: Sequence[int]) -> float:
    """Return the openings until the verdict on a better contender after others, over `FIXED`; inf without one."""
    tries = [look_at(str(number), FIXED, Look(FIXED, generator.normal())) for number in range(earlier)]
    for look, _ in looks_of(generator, "extended", BETTER, planned, steps):
        tries.append(look_at("better", planned, look))
        if adjusted_p_values(tries)["family", "better"] <= ALPHA:
            return look.openings / FIXED
    return math.inf


def main(seasons: int = 1000) -> None:
    """Print both tables."""
    print_errors(seasons)
    print_prices(seasons)


def print_errors(seasons: int) -> None:
    """Print in how many seasons a false verdict is left."""
    for ways, contenders, count in (
        (WAYS, TRIES, seasons),
        *(((way,), TRIES, seasons // 4) for way in WAYS),
        (WAYS[-1:], 1, seasons),
    ):
        generator = np.random.default_rng(1)
        found = np.mean([false_verdicts(generator, ways, contenders) for _ in range(count)], axis=0)
        print(
            f"{contenders} contenders, nine looks {', '.join(ways)}, {count:,} seasons: a false verdict is left in "
            f"{found[0]:.3f}, of each run alone in {found[1]:.2f}"
        )


def print_prices(seasons: int) -> None:
    """Print how many openings it takes to find a better contender."""
    print(f"{100 * BETTER:g} points better, one look with 80 % power: {FIXED} openings. Median of openings over these:")
    large = int(1.4 * FIXED)
    for name, planned, steps in (
        ("one look, extended by quarters", FIXED, [FIXED + FIXED * number // 4 for number in range(LOOKS)]),
        ("planned 1.4 times as large, nine looks within", large, steps_of("within the plan", large)),
    ):
        for earlier in (0, 1, 5, 19):
            generator = np.random.default_rng(2)
            prices = [price(generator, earlier, planned, steps) for _ in range(seasons)]
            print(f"{name}, after {earlier} tries: {np.median(prices):.2f}, found {np.isfinite(prices).mean():.2f}")


if __name__ == "__main__":
    main()
