"""Tables of `plan` (pairs, openings and minutes needed) and of `--dry-run`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

import joblib

from knights_isolation.experiments.plan.tournament_plan import (
    WITHIN,
    Plan,
    of_unknown_speed,
    seconds_to_play,
    whole_limits,
)
from knights_isolation.experiments.record.schema import read_facts
from knights_isolation.experiments.statistics import planning
from knights_isolation.experiments.statistics.planning import ContenderPlan, games_a_second, plan_contenders
from knights_isolation.experiments.statistics.proportions import score_from_elo
from knights_isolation.experiments.statistics.run_results import RunResults
from knights_isolation.experiments.statistics.sprt import Sprt
from knights_isolation.isolation.suggestions import advice

from ..answers import Result, drawn
from ..charts.line_plots import plan_chart
from ..text.cell_values import Minutes, Points, join_names, pluralise
from ..text.rendering import Section, render_sections
from ..text.verdict_details import two_digits

GAMES_A_SECOND = 500.0
"""Approximate speed of two cores in games at 10,000 nodes per move."""


def plan_answer(
    effect: float | None = None,
    elo: float | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    pilot: RunResults | None = None,
) -> Result[list[tuple[str, planning.FixedPlan]]]:
    """Return pairs and time needed to detect an `effect` (share of games won, head to head from one half) or `elo`.

    With a `pilot`, variance and speed are the pilot's: a head-to-head is planned in pairs, a gauntlet in openings.

    Raises:
        ValueError: not exactly one of `effect` and `elo` is given, or the pilot has too little data.
    """
    if (effect is None) == (elo is None):
        raise ValueError("--effect and --elo exclude each other: use one of them")
    if effect is not None and not 0 < abs(effect) < 0.5:
        raise ValueError(
            f"the effect must be a difference of win rates between 0 and 0.5, such as 0.03, not {effect:g}"
        )
    if elo is not None and not math.isfinite(elo):
        raise ValueError(f"--elo must be a difference in Elo, such as 20, not {elo:g}")
    wanted = abs(score_from_elo(elo) - 0.5 if effect is None and elo is not None else effect or 0.0)
    if not wanted:
        raise ValueError("--elo must not be 0: no number of games detects a zero difference")
    if pilot is None:
        plans = _typical_plans(wanted, power, alpha)
        section = _without_pilot(plans, elo)
    else:
        planned = plan_contenders(pilot, wanted, power, alpha)
        plans = [(each.contender, each.plan) for each in planned]
        section = _after_pilot(pilot, planned, elo)
    return Result(plans, (section,), partial(drawn, plan_chart(plans)))


def _typical_plans(effect: float, power: float, alpha: float) -> list[tuple[str, planning.FixedPlan]]:
    """Return plans head to head without a pilot, named by what they assume."""
    plans = []
    for name, variance in (("half of the pairs split", planning.TYPICAL_VARIANCE), ("nine in ten split", 0.025)):
        plan = planning.pairs_for_effect(effect, power, alpha, variance)
        plans.append((name if plan.variance == variance else "no pair lost", plan))
    return plans


def _without_pilot(plans: Sequence[tuple[str, planning.FixedPlan]], elo: float | None) -> Section:
    rows = [_row(name, elo, plan, 2 * plan.pairs, GAMES_A_SECOND) for name, plan in plans]
    pilot = advice("isolation plan … --pilot RUN", "ki.plan(pilot=RUN)")
    notes = [
        f"Head to head, two-sided. For estimates that fit your agents, use a pilot run: {pilot}. "
        f"Time at {GAMES_A_SECOND:g} games per second, typical of two cores at 10,000 nodes per move."
    ]
    return Section("plan", "Pairs needed", tuple(rows), tuple(notes))


def _after_pilot(pilot: RunResults, plans: Sequence[ContenderPlan], elo: float | None) -> Section:
    if elo is not None and not all(plan.is_duel for plan in plans):
        raise ValueError(
            "--elo applies to head-to-head matches; plan a gauntlet with --effect, a difference of win rates"
        )
    speed = games_a_second(pilot, GAMES_A_SECOND)
    rate = f"{speed:,.0f}" if speed >= 10 else f"{speed:.2g}"
    rows = [
        {**_row(plan.contender, elo, plan.plan, plan.games, speed), "pilot": plan.played, "more": plan.still_needed}
        for plan in plans
    ]
    is_duel = any(plan.is_duel for plan in plans)
    unit = "pairs" if is_duel else "openings, each played by contender and baseline against every opponent"
    notes = [
        f"Counted in {unit}. Time for the games still to be played, at {rate} games per second (wall time of the "
        f"pilot)."
    ]
    if len(plans) > 1:
        notes.append(f"Alpha is divided among {len(plans)} contenders, because their verdicts hold simultaneously.")
    return Section("plan", "Games needed", tuple(rows), tuple(notes))


def _row(name: str, elo: float | None, plan: planning.FixedPlan, games: int, speed: float) -> dict[str, Any]:
    row: dict[str, Any] = {
        "for": name,
        "effect": Points(plan.effect),
        "needed": plan.pairs,
        "games": games,
        "minutes": Minutes(games / speed / 60),
        "power": plan.power,
        "alpha": plan.alpha,
        "variance": plan.variance,
    }
    if elo is not None:
        test = planning.sprt_plan(Sprt(0.0, abs(elo)), abs(elo), plan.variance)
        row["expected_in_sprt"] = math.ceil(test.expected_pairs)
    return row


def dry_run(plan: Plan, played: int) -> Result[Any]:
    """Return agents, games and openings of a plan; `played` is the number of games played already."""
    schedule, config = plan.schedule, plan.config
    games: Counter[int] = Counter()
    for match in schedule.matches:
        games.update({match.first: 2 * match.pairs, match.second: 2 * match.pairs})
    rows = tuple(
        {
            "agent": entrant.agent.name,
            "role": ", ".join(entrant.roles),
            "games": games[index],
            "limit": read_facts(entrant.settings).limit_text or None,
            "spec": str(entrant.spec),
        }
        for index, entrant in enumerate(plan.entrants)
    )
    missing = len(schedule) - played
    known = f"{missing:,} games would be played" + (f" in addition to {played:,} already played" if played else "")
    title = (
        f"{config.format.capitalize()} on {schedule.size}: {known}, in {pluralise(len(schedule.matches), 'match')} of "
        f"{pluralise(schedule.rounds, 'opening')} ({config.openings}), each with sides swapped."
    )
    notes = [_time(plan, missing), *plan.notes]
    if config.equal_cost and not played:
        notes.append(
            "Equal cost: the run measures costs when it starts and then replaces the contenders' limits shown here."
        )
    section = Section("dry_run", title, rows, (*notes, "Nothing was played or written."))
    return Result(plan, (section,), text=render_sections([section], "table"))


def _time(plan: Plan, games: int) -> str:
    seconds, engines = seconds_to_play(plan, games), join_names(of_unknown_speed(plan))
    beside = f" The time of {engines} is unknown and not included." if engines else ""
    if plan.config.cluster:
        return f"That is {_bounds(plan, seconds)} on one core of the cluster.{beside}"
    cores = plan.config.jobs or joblib.cpu_count()
    less = ", less if a test stops early" if plan.config.sprt or plan.config.format == "best-of" else ""
    unknown = " User code that does not compile is slower, by how much is unknown before it has been tried."
    agents = [entrant.agent for entrant in plan.entrants]
    yours = unknown if any(agent.is_user_code and agent.is_compilable for agent in agents) else ""
    time = f"{_bounds(plan, seconds / cores)} on {pluralise(cores, 'core')}{less}"
    return f"Estimated time: {time}, without compilation.{yours}{beside}"


def _bounds(plan: Plan, seconds: float) -> str:
    # only the upper end if classic players may answer at once
    whole = join_names(whole_limits(plan))
    return f"at most {duration(seconds * WITHIN)} (if {whole})" if whole else between(seconds)


def between(seconds: float) -> str:
    """Return the range of a forecast time in words.

    >>> between(0.3), between(0.7), between(40), between(600)
    ('about a second', 'about a second', '16 seconds to 1.7 minutes', '4 to 25 minutes')
    """
    low, high = duration(seconds / WITHIN), duration(seconds * WITHIN)
    if low == high:
        return f"about {low}"
    number, _, unit = low.partition(" ")
    return f"{number} to {high}" if high.endswith(unit) else f"{low} to {high}"


def duration(seconds: float) -> str:
    """Format an approximate time.

    >>> duration(0.3), duration(43), duration(437), duration(9000)
    ('a second', '43 seconds', '7.3 minutes', '2.5 hours')
    """
    if seconds < 2:
        return "a second"
    if seconds < 100:
        return f"{two_digits(seconds)} seconds"
    return f"{seconds / 60:.2g} minutes" if seconds < 6000 else f"{seconds / 3600:,.2g} hours"
