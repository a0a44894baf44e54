"""Further tables of `results`: standings, opponents, sides, forfeits, lengths, search."""

from __future__ import annotations

import math
from typing import Any

from knights_isolation.experiments.record.columns import codes
from knights_isolation.experiments.statistics.game_pairs import Matchup, matchups, splits
from knights_isolation.experiments.statistics.move_statistics import measure_effort
from knights_isolation.experiments.statistics.proportions import PairCounts, pair_interval
from knights_isolation.experiments.statistics.run_results import RunResults, forfeits_of, node_costs
from knights_isolation.experiments.statistics.sprt import live_rate
from knights_isolation.isolation.rules.game import Reason

from ..text.cell_values import (
    Milliseconds,
    Range,
    Share,
    estimate_of,
)
from ..text.rendering import Section
from ..text.wording import forfeit_notes
from .run_notes import interval_note, of_runs, run_notes


def summarize(findings: RunResults) -> tuple[Section, ...]:
    """Return all tables of a summary."""
    return of_runs(findings, summary_sections(findings).values())


def summary_sections(findings: RunResults) -> dict[str, Section]:
    """Return the tables of a summary by their keys, without the state of the runs."""
    makers = (standings_section, _opponents, _sides, forfeits_section, _lengths, _search)
    return {section.key: section for section in (make(findings) for make in makers)}


def standings_section(findings: RunResults) -> Section:
    """Return every agent's wins, pairs and win rate, best first."""

    def live(agent: str) -> dict[str, Range]:
        return {"at_any_time": Range(*map(Share, live_rate(findings, agent).last))} if findings.is_interim else {}

    rows = tuple(
        {
            "agent": standing.agent,
            "role": ", ".join(findings.agents[standing.agent].roles),
            "games": standing.games,
            "wins": standing.wins,
            "losses": standing.games - standing.wins,
            "win_rate": estimate_of(standing.rate),
            **live(standing.agent),
            **pair_cells(standing.pairs),
            "unfinished": standing.unfinished,
            "openings": standing.openings,
        }
        for standing in findings.standings
    )
    return Section("standings", "Standings", rows, (*run_notes(findings), interval_note(findings)))


def _opponents(findings: RunResults) -> Section:
    """Return the results of each measured agent against each opponent."""
    rows = []
    for agent in findings.in_order(findings.measured):
        pairs = findings.pairs if agent == findings.baseline else findings.all_pairs
        met = {matchup.opponent: matchup for matchup in matchups(pairs, agent)}
        rows += [_opponent_row(findings, met[opponent]) for opponent in findings.in_order(met)]
    note = "Individual 95 % intervals for openings of this kind on this board"
    if findings.is_census:
        note = interval_note(findings).partition(".")[0]
    elif any(findings.pool_of([row["agent"], row["opponent"]]) for row in rows):
        note += f" ({findings.population:,}); a census is exact if neither player is random"
    return Section("opponents", "By opponent", tuple(rows), (f"{note}.",) if rows else ())


def _sides(findings: RunResults) -> Section:
    """Return the results of each measured agent by side and by the colours of the opening's placements."""
    rows = [
        {
            "agent": split.agent,
            "places": "first" if split.placed_first else "second",
            "colours": "same" if split.same_colour else "other",
            "games": split.games,
            "wins": split.wins,
            "win_rate": estimate_of(split.rate),
        }
        for agent in findings.in_order(findings.measured)
        for split in splits(findings.pairs, agent, pool=findings.pool_among(agent))
        if split.games
    ]
    notes = (interval_note(findings),) if rows else ()
    return Section("sides", "By side and colour role of the opening", tuple(rows), notes)


def forfeits_section(findings: RunResults) -> Section:
    """Return the games lost by forfeit."""
    rows = tuple(
        {
            "agent": forfeit.agent,
            "reason": forfeit.reason,
            "games": forfeit.games,
            "first_in": f"{forfeit.run} {forfeit.game_id}",
            "detail": forfeit.detail,
        }
        for forfeit in forfeits_of(findings)
    )
    resigned = int((codes(findings.table, "reason", (Reason.RESIGNED.word,)) == 0).sum())
    shows = ("`isolation replay RUN GAME_ID` shows a game.",) if rows else ()
    return Section("forfeits", "Forfeits", rows, (*forfeit_notes(not rows, resigned), *shows))


def _lengths(findings: RunResults) -> Section:
    """Return the lengths of games in plies, including openings."""
    import pandas as pd

    games, facts = findings.games, list[Any](["count", "mean", "min", "median", "max"])
    by_side = [games[[side, "plies"]].rename(columns={side: "agent"}) for side in ("agent_1", "agent_2")]
    described = pd.concat(by_side, ignore_index=True).groupby("agent", observed=True)["plies"].agg(facts)
    rows = [{"agent": "all games", **_length_cells(games["plies"].agg(facts))}]
    rows += [{"agent": name, **_length_cells(described.loc[name])} for name in findings.in_order(described.index)]
    return Section("lengths", "Game length in plies", tuple(rows) if len(games) else ())


def _search(findings: RunResults) -> Section:
    """Return depth, nodes and time of the agents' own moves."""
    costs, efforts = node_costs(findings), measure_effort(findings)
    rows = [
        {
            "agent": name,
            "moves": efforts[name].moves,
            "mean_depth": efforts[name].mean_depth,
            "mean_nodes": efforts[name].mean_nodes,
            "ms_a_move": Milliseconds(efforts[name].milliseconds_a_move),
            "ns_a_node": costs[name].nanoseconds if name in costs else math.nan,
        }
        for name in findings.in_order(findings.agents)
        if efforts[name].moves
    ]
    note = (
        "Means over the agents' own moves; ms per move is wall time. ns per node is CPU time, measured when the run "
        "began; unknown for players that do not search by nodes and for runs without the measurement."
    )
    return Section("search", "Search", tuple(rows), (note,))


def pair_cells(pairs: PairCounts) -> dict[str, int]:
    """Return the numbers of pairs both won, split and both lost, as cells."""
    return {"both_won": pairs.won, "split": pairs.split, "both_lost": pairs.lost}


def _opponent_row(findings: RunResults, matchup: Matchup) -> dict[str, Any]:
    pool = findings.pool_of([matchup.agent, matchup.opponent])
    of_pool = pool and matchup.pairs.n <= pool
    return {
        "agent": matchup.agent,
        "opponent": matchup.opponent,
        "wins": matchup.wins,
        "losses": matchup.games - matchup.wins,
        "win_rate": estimate_of(pair_interval(matchup.pairs, pool=pool) if of_pool else matchup.rate),
        **pair_cells(matchup.pairs),
    }


def _length_cells(described: Any) -> dict[str, Any]:
    return {
        "games": int(described["count"]),
        "mean": float(described["mean"]),
        "shortest": described["min"],
        "median": float(described["median"]),
        "longest": described["max"],
    }
