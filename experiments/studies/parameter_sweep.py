"""Parameter sweeps: every combination of values against one opponent on shared openings."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from knights_isolation.isolation.rules.game import Limit
from knights_isolation.isolation.rules.parameters import parameters_of

from ..plan import DEFAULT_LIMIT, Spec, complete, make_agent, parse_limit, settings_text
from ..plan.agent_kinds import parse_number
from ..plan.config import Config
from ..plan.run_keeping import kept_config
from ..play.runner import Play, play_kept, play_tournament
from ..statistics.frames import games_by_agent
from ..statistics.proportions import Interval
from ..statistics.run_results import RunResults, load_findings
from .parameter_space import with_values

MOST_POINTS = 10_000
_PARAMETER = "option."
_EVEN = Interval(0.5, 0.5, 0.5, 0.95)
Values = tuple[Limit | float, ...]
"""A value of each axis."""


@dataclass(frozen=True)
class SweepAxis:
    """A swept quantity, `limit` or a parameter's name, and its values in order."""

    name: str
    values: tuple[Limit | float, ...]


@dataclass(frozen=True)
class Sweep:
    """Results of a sweep, and of its runs: the shares of games won with every combination of the axes' values.

    An agent that is its own opponent does not play, and wins one half. `without_effect` are parameters whose values,
    all others the same, changed no move of any game.
    """

    axes: Sequence[SweepAxis]
    rates: Mapping[Values, Interval]
    runs: Sequence[RunResults]
    without_effect: tuple[str, ...] = ()


def parse_axis(text: str) -> SweepAxis:
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
        axis = SweepAxis("limit", tuple(parse_limit(f"{unit}={number}") for number in numbers.split(",")))
    elif not equals or not name.startswith(_PARAMETER) or name == _PARAMETER:
        raise ValueError(
            f"--over must look like option.NAME=0:1:0.1, option.NAME=0,1,2 or limit=nodes=300,1000, not {text!r}"
        )
    else:
        try:
            written = [parse_number(word) for word in values.split(":" if ":" in values else ",")]
            if ":" in values and len(written) != 3:
                raise ValueError
        except ValueError:
            raise ValueError(f"--over: {values!r} is neither FIRST:LAST:STEP nor comma-separated numbers") from None
        axis = SweepAxis(name.removeprefix(_PARAMETER), _range(values, *written) if ":" in values else tuple(written))
    if len(set(axis.values)) != len(axis.values):
        raise ValueError(f"--over: {values!r} contains a duplicate value")
    return axis


def sweep(
    spec: Spec,
    axes: Sequence[SweepAxis],
    opponent: Spec | None,
    limit: Limit | None,
    *,
    size: str,
    plies: int,
    pairs: int,
    seed: int = 1,
    equal_cost: bool = False,
    out: Path | None = None,
    play: Play = play_tournament,
    **where: Any,
) -> Sweep:
    """Play every combination of the axes' values against the opponent: one run for each limit that the opponent has.

    The opponent has the limit that is swept, unless it names one itself; without an opponent it is the agent as it is.
    The openings are of the half that learning uses, so that others stay for judging.

    Args:
        equal_cost: scale node limits so that all take the time of the opponent.
        where: `jobs` and `cluster` of the runs.
        out: directory of the run, or of several; the default is one below `runs/` that the same call finds again.

    Raises:
        ValueError: there are too many combinations, an axis is named twice, or a value cannot be.
        KeyboardInterrupt: it was interrupted; calling this again with the same arguments resumes it.
    """
    _check_axes(axes, spec, limit)
    points: dict[Spec, dict[Values, Spec]] = {}
    for values in _combinations(axes):
        varied, whom = _meeting(spec, opponent, limit, axes, values)
        points.setdefault(whom, {})[values] = varied
    keys = {
        "format": "head-to-head", "board": size, "openings": f"random:{plies},fit", "pairs": pairs, "seed": seed,
        "limit": str(limit or DEFAULT_LIMIT), **({"equal_cost": True} if equal_cost else {}),
    }  # fmt: skip
    runs = [
        _run(whom, by_values, keys, where, out / str(whom.limit) if out and len(points) > 1 else out)
        for whom, by_values in points.items()
    ]
    results = [load_findings([play_kept(config, play)]) for config, _ in runs]
    rates: dict[Values, Interval] = {}
    played: dict[Values, bytes] = {}
    for (_, names), result in zip(runs, results, strict=True):
        by_name, games = {standing.agent: standing.rate for standing in result.standings}, games_by_agent(result)
        for values, name in names.items():
            rates[values] = by_name[name] if name else _EVEN
            if name:
                played[values] = games[name]
    without_effect = tuple(axis.name for index, axis in enumerate(axes) if _changes_no_game(index, played))
    return Sweep(axes, {values: rates[values] for values in _combinations(axes)}, results, without_effect)


def _changes_no_game(index: int, played: Mapping[Values, bytes]) -> bool:
    """Return whether points that differ in one axis alone, of which there are some, played the same games."""
    groups: dict[Values, list[bytes]] = {}
    for values, games in played.items():
        groups.setdefault(values[:index] + values[index + 1 :], []).append(games)
    several = [games for games in groups.values() if len(games) > 1]
    return bool(several) and all(len(set(games)) == 1 for games in several)


def _combinations(axes: Sequence[SweepAxis]) -> Iterable[Values]:
    return itertools.product(*(axis.values for axis in axes))


def _run(
    whom: Spec, points: Mapping[Values, Spec], keys: Mapping[str, Any], where: Mapping[str, Any], out: Path | None
) -> tuple[Config, dict[Values, str]]:
    """Return a run to be played, and the names of its contenders by their values; empty for its own opponent."""
    own, *settings = (settings_text(spec, make_agent(spec)) for spec in (whom, *points.values()))
    named = {
        values: "" if text == own else spec.name for (values, spec), text in zip(points.items(), settings, strict=True)
    }
    contenders = tuple(str(spec) for values, spec in points.items() if named[values])
    if not contenders:
        raise ValueError(f"nothing to play: with all these values the agent is its own opponent, {whom.name}")
    question = {**keys, "baseline": str(whom), "contenders": contenders}
    return kept_config("sweep", question, [own, *settings], out, where), named


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


def _check_axes(axes: Sequence[SweepAxis], spec: Spec, limit: Limit | None) -> None:
    for name, times in Counter(axis.name for axis in axes).items():
        if times > 1:
            raise ValueError(f"--over: {name} occurs twice")
    count = math.prod(len(axis.values) for axis in axes)
    if count > MOST_POINTS:
        raise ValueError(f"--over: {count:,} combinations are too many; the maximum is {MOST_POINTS:,}")
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
    spec: Spec, opponent: Spec | None, limit: Limit | None, axes: Sequence[SweepAxis], values: Values
) -> tuple[Spec, Spec]:
    """The agent under some values, and whom it meets, both completed."""
    # Where only limits are swept, the agent as it is has its own limit, or at each point it would meet itself.
    own = next((value for value in values if isinstance(value, Limit)), None)
    numbers = {axis.name: value for axis, value in zip(axes, values, strict=True) if not isinstance(value, Limit)}
    limited = replace(spec, limit=own or spec.limit)
    varied = replace(with_values(limited, numbers), name="")
    if opponent is None:
        return complete(varied, limit), complete(limited if numbers else spec, limit)
    return complete(varied, limit), complete(opponent, own or limit)
