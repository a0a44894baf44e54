"""Page of a league: ranking, crosstable, forfeits, excluded submissions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from knights_isolation.experiments.league.entries import LeagueEntries
from knights_isolation.experiments.league.league_results import Results, forfeited
from knights_isolation.isolation.shell import command
from knights_isolation.reports.charts.chart import Cell, Grid, strength
from knights_isolation.reports.charts.coloured_tables import UNRANKED
from knights_isolation.reports.charts.interval_rows import ladder
from knights_isolation.reports.league.league_tables import (
    checks_section,
    has_intervals,
    headline,
    identical_section,
    ranking_section,
    remarks_section,
    skipped_section,
)
from knights_isolation.reports.league.page_paths import page_of
from knights_isolation.reports.pages.templates import page_template, script_of
from knights_isolation.reports.text.sections import Section
from knights_isolation.reports.text.wording import forfeit_notes


def class_page(run: Path, book: LeagueEntries, results: Results) -> str:
    """Return the page of the class: ranking with intervals, forfeits, excluded submissions, and crosstable."""
    script, digest = script_of("report.js")
    return page_template("league.html").render(
        title=f"League: {run.name}",
        facts=_facts(results),
        headline=headline(book, results),
        ladder=ladder(results.ratings) if has_intervals(results) else None,
        ranking=ranking_section(results, book.caveat),
        links={agent: page_of(agent) for agent in results.ranks},
        identical=identical_section(book, results),
        forfeits=_reasons(results),
        checks=checks_section(book),
        remarks=remarks_section(book),
        skipped=skipped_section(book),
        meetings=_meetings(results),
        command=command("league", "SUBMISSIONS", "--resume", run),
        script=script,
        script_hash=digest,
    )


def _facts(results: Results) -> list[tuple[str, str]]:
    info = results.findings.sources[0].info
    requested = info.requested
    players, ranked = len(results.ranks), len(results.ranks) - len(results.never_moved)
    played, counted = len(results.games), results.findings.played
    games = f"{counted:,} counted of {played:,}" if counted < played else f"{played:,}"
    return [
        ("Players", str(players) if ranked == players else f"{ranked} ranked of {players}"),
        ("Games", games if played == info.games else f"{games}, {info.games:,} planned"),
        ("Board", requested["board"]),
        ("Limit per move", requested["limit"]),
        ("Hard cap", f"{requested['hard_cap']:g} s" if requested["hard_cap"] else "none"),
        ("Played", info.created_at[:10]),
    ]


def _reasons(results: Results) -> Section:
    """Return forfeits by player, one column per reason."""
    reasons = list(Counter(forfeit.reason for forfeit in results.forfeits))
    rows = []
    for agent in results.ranks:
        counts = forfeited(results, agent)
        if counts:
            row: dict[str, Any] = {"player": agent, **{reason: counts.get(reason, 0) for reason in reasons}}
            rows.append({**row, "all": sum(counts.values())})
    return Section("forfeits", "Forfeits by reason", tuple(rows), forfeit_notes(not rows, 0))


def _meetings(results: Results) -> Grid:
    """Return games won by player and opponent, both in the order of the ranking."""
    ranks = {agent: str(rank or UNRANKED) for agent, rank in results.ranks.items()}
    won: Counter[tuple[str, str]] = Counter()
    met: Counter[tuple[str, str]] = Counter()
    for game in results.games:
        winner, loser = game.agents[2 - game.loser], game.agents[game.loser - 1]
        won[winner, loser] += 1
        met[winner, loser] += 1
        met[loser, winner] += 1
    rows = [(name, tuple(_met(won[name, other], met[name, other], name, other) for other in ranks)) for name in ranks]
    return Grid("Games won", tuple(ranks), tuple(rows), "rank, player", ranks=tuple(ranks.values()))


def _met(won: int, met: int, name: str, other: str) -> Cell:
    if not met:
        return Cell("–", 0)
    return Cell(str(won), strength(2 * won / met - 1, 1), f"{name} won {won} of {met} against {other}")
