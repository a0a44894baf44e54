"""Output of `--dry-run`: what would be played, and the estimated time."""

from __future__ import annotations

from collections import Counter

import joblib

from knights_isolation.experiments.plan.agent_facts import read_facts
from knights_isolation.experiments.plan.time_estimate import WITHIN, of_unknown_speed, seconds_to_play, whole_limits
from knights_isolation.experiments.plan.tournament_plan import Plan

from ..text.cell_values import join_names, pluralise
from ..text.sections import Section
from ..text.wording import two_digits


def dry_run_section(plan: Plan, played: int = 0) -> Section:
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
    return Section("dry_run", title, rows, (*notes, "Nothing was played or written."))


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
