"""Status of a run, read from its log alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from knights_isolation.experiments.record.run_directory import is_run
from knights_isolation.experiments.statistics.run_results import RunResults, load_findings
from knights_isolation.experiments.verdicts.sprt_tests import live_rate

from ..charts.chart import Axis
from ..charts.running_estimates import race
from ..text.cell_values import Range, Share
from ..text.wording import caveats, forfeit_sentences

LATEST = 12
"""Number of games shown, the latest first."""


def run_state(run: Path) -> dict[str, Any]:
    """Return games played and planned, standings, forfeits and the latest games, as JSON values.

    Raises:
        ValueError: the path is not a run, or it is damaged.
    """
    if not is_run(run):  # the page may be served before the run starts
        return blank_state(run)
    findings = load_findings([run])
    return {
        "run": run.name,
        "played": findings.played,
        "total": findings.planned,
        "state": findings.state,
        "caveat": " ".join(caveats(findings)),
        "standings": standings(findings),
        "race": race_state(findings),
        "forfeits": forfeit_sentences(findings),
        "games": latest_games(findings),
    }


def blank_state(run: Path) -> dict[str, Any]:
    """Return the state of a run that has not started."""
    return {
        "run": run.name,
        "played": 0,
        "total": 0,
        "state": "running",
        "caveat": "",
        "standings": [],
        "race": None,
        "forfeits": [],
        "games": [],
    }


def standings(findings: RunResults) -> list[dict[str, Any]]:
    """Return the standings of measured agents, best first, with anytime-valid 95 % intervals."""
    rows = []
    for name in findings.measured:
        found = live_rate(findings, name)
        low, high = found.last
        rate = Share(found.values.mean()) if found.values.size else None
        rows.append(
            {
                "name": name,
                "role": ", ".join(findings.agents[name].roles),
                "openings": found.values.size,
                "rate": rate,
                "shown": "–" if rate is None else rate.text,
                "interval": Range(Share(low), Share(high)).text,
                "low": float(low),
                "high": float(high),
            }
        )
    return sorted(rows, key=lambda row: -1.0 if row["rate"] is None else -row["rate"])


def race_state(findings: RunResults) -> dict[str, Any] | None:
    """Return the race as JSON values: positions in per cent of its axes, and words; None before it has begun."""
    found = race(findings)
    if found is None:
        return None
    axis, zero = found.chart.axis, found.chart.zero or 0.0
    rows = [
        {
            "name": row.name,
            "role": row.role,
            "text": row.text,
            "units": units,
            "at": [axis.percent(value) for value in (row.low, row.value, row.high)],
            "course": [[_share(found.height, value) for value in line] for line in (course.low, course.y, course.high)],
        }
        for row, course, units in zip(found.chart.rows, found.courses, found.units, strict=True)
    ]
    ticks = [[axis.percent(value), text] for value, text in axis.ticks]
    return {
        "rows": rows,
        "ticks": ticks,
        "zero": axis.percent(zero),
        "level": _share(found.height, zero),
        "label": axis.label,
        "unit": found.unit,
        "is_judged": findings.baseline is not None,
    }


def _share(axis: Axis, value: float) -> float:
    """Return the position of a value in per cent of an axis, at an edge if it is outside."""
    return min(max(axis.percent(value), 0.0), 100.0)


def latest_games(findings: RunResults) -> list[dict[str, Any]]:
    """Return the games most recently added to the log, the latest first."""
    columns = ["own_id", "agent_1", "agent_2", "winner", "reason", "plies"]
    latest = findings.games[columns].tail(LATEST).iloc[::-1].astype(object)
    return [dict(zip(("id", *columns[1:]), row, strict=True)) for row in latest.itertuples(index=False)]


def line_of(state: dict[str, Any]) -> str:
    """Summarise a run's progress in a few words.

    >>> line_of({"played": 50, "total": 200, "state": "stopped"})
    '50 of 200 games, 25.0 %, stopped'
    """
    share = Share(state["played"] / state["total"]).text if state["total"] else "not started"
    ended = "" if state["state"] == "running" else f", {state['state']}"
    return f"{state['played']:,} of {state['total']:,} games, {share}{ended}"
