"""Parameter sweeps: every combination of values against one opponent on shared openings."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from experiments.inference.cluster_intervals import Interval
from experiments.learn.journal import Journal
from experiments.learn.tuning_games import playing, pool_of, prepare
from experiments.roster import Spec, complete, make_agent, parse_limit, settings_text
from experiments.roster.spec import parse_number
from isolation.rules.limits import Limit
from isolation.rules.parameters import parameters_of

MOST_POINTS = 10_000
_PARAMETER = "option."


@dataclass(frozen=True)
class Axis:
    """What is varied: `limit`, or a parameter by its name; and its values, limits or numbers, in their order."""

    name: str
    values: tuple[Limit | float, ...]


@dataclass(frozen=True)
class Point:
    """An agent of the sweep: its values by axis, and the share of games that it won, by opening up to symmetry."""

    values: tuple[Limit | float, ...]
    rate: Interval
    openings: int
    forfeits: int


def parse_axis(text: str) -> Axis:
    """Read `option.NAME=FIRST:LAST:STEP`, `option.NAME=A,B,C` or `limit=nodes=300,1000,3000`.

    >>> parse_axis("option.reach=0:1:0.5").values
    (0.0, 0.5, 1.0)
    >>> parse_axis("limit=nodes=300,1000").values
    (Limit(nodes=300), Limit(nodes=1000))

    Raises:
        ValueError: it is none of these.
    """
    name, equals, values = text.partition("=")
    if name == "limit" and equals:
        unit, _, numbers = values.partition("=")
        limits = tuple(parse_limit(f"{unit}={number}") for number in numbers.split(","))
        if len(set(limits)) != len(limits):
            raise ValueError(f"--over: {values!r} contains a duplicate value")
        return Axis("limit", limits)
    if not equals or not name.startswith(_PARAMETER) or name == _PARAMETER:
        raise ValueError(
            f"--over must look like option.NAME=0:1:0.1, option.NAME=0,1,2 or limit=nodes=300,1000, not {text!r}"
        )
    try:
        written = [parse_number(word) for word in values.split(":" if ":" in values else ",")]
        if ":" in values and len(written) != 3:
            raise ValueError
    except ValueError:
        raise ValueError(f"--over: {values!r} is neither FIRST:LAST:STEP nor comma-separated numbers") from None
    axis_values = _range(values, *written) if ":" in values else tuple(written)
    if len(set(axis_values)) != len(axis_values):
        raise ValueError(f"--over: {values!r} contains a duplicate value")
    return Axis(name.removeprefix(_PARAMETER), axis_values)


def sweep(
    spec: Spec,
    axes: Sequence[Axis],
    opponent: Spec | None,
    limit: Limit | None,
    *,
    size: str,
    plies: int,
    pairs: int,
    seed: int = 1,
    out: Path | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    show: Callable[[int, int], None] = lambda done, total: None,
) -> list[Point]:
    """Play every combination of the axes' values against the opponent.

    The opponent has the limit that is swept, unless it names one itself; without an opponent it is the agent as it is.
    The openings are those that learning uses, so that others stay for judging.

    Raises:
        ValueError: there are too many combinations, an axis is named twice, or a value cannot be.
    """
    _check(axes)
    _check_choices(spec, limit, axes)
    combinations = list(itertools.product(*(axis.values for axis in axes)))
    meetings = [_meeting(spec, opponent, limit, axes, values) for values in combinations]
    agents = prepare(list(dict.fromkeys(str(point) for meeting in meetings for point in meeting)), size)
    pool = pool_of(size, plies, pairs, seed, "fit")
    question = {
        "what": "sweep",
        "agents": [
            settings_text(meetings[0][0], agents[0]),
            *(str(point) for meeting in meetings for point in meeting),
        ],
        "size": size,
        "openings": [plies, len(pool), seed],
    }
    journal = Journal(out, question)
    with playing(size, jobs, cluster) as play:
        results = journal.meet_on_all([(str(first), str(second)) for first, second in meetings], pool, play, show)
    return [
        Point(values, pool.rate(result.each), len(pool), result.forfeits)
        for values, result in zip(combinations, results, strict=True)
    ]


def _range(text: str, first: float, last: float, step: float) -> tuple[float, ...]:
    if not np.isfinite([first, last, step]).all():
        raise ValueError(f"--over: {text!r} is infinite; FIRST, LAST and STEP must be finite")
    if not step > 0:
        raise ValueError(f"--over: {text!r} has the step {step:g}; it must be above 0")
    if last < first:
        raise ValueError(f"--over: {text!r} is decreasing; write {last:g}:{first:g}:{step:g}")
    steps = (last - first) / step
    if steps >= MOST_POINTS:
        raise ValueError(f"--over: {text!r} has {steps + 1:,.0f} values; the maximum is {MOST_POINTS:,}")
    count = int(np.floor(steps + 1e-9)) + 1
    return tuple(float(f"{first + number * step:.12g}") for number in range(count))


def _check(axes: Sequence[Axis]) -> None:
    names = [axis.name for axis in axes]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"--over: {name} occurs twice")
    points = int(np.prod([len(axis.values) for axis in axes]))
    if points > MOST_POINTS:
        raise ValueError(f"--over: {points:,} combinations are too many; the maximum is {MOST_POINTS:,}")


def _check_choices(spec: Spec, limit: Limit | None, axes: Sequence[Axis]) -> None:
    heuristic = make_agent(complete(spec, limit)).heuristic
    known = {parameter.name: parameter for parameter in parameters_of(heuristic)} if heuristic else {}
    for axis in axes:
        parameter = known.get(axis.name)
        if parameter and parameter.choices and not set(axis.values) <= set(parameter.choices):
            listed = ",".join(map(str, parameter.choices))
            raise ValueError(
                f"--over: {parameter.name} is categorical ({parameter.allowed}): list values, "
                f"as in {_PARAMETER}{parameter.name}={listed}"
            )


def _meeting(
    spec: Spec, opponent: Spec | None, limit: Limit | None, axes: Sequence[Axis], values: Sequence[Limit | float]
) -> tuple[Spec, Spec]:
    """The agent under some values, and whom it meets, both completed."""
    own = next((value for value in values if isinstance(value, Limit)), None)
    numbers = {axis.name: value for axis, value in zip(axes, values, strict=True) if not isinstance(value, Limit)}
    limited = replace(spec, limit=own or spec.limit)
    varied = replace(limited, parameters=tuple(sorted((dict(spec.parameters) | numbers).items())))
    whom = opponent or limited
    return complete(varied, limit), complete(whom, own or limit)
