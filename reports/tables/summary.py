"""Further tables of `results`: standings, opponents, sides, forfeits, lengths, search."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from knights_isolation.experiments.record.log import codes_in
from knights_isolation.experiments.record.run_directory import missing_sentence, resume_advice
from knights_isolation.experiments.roster import Spec, make_agent
from knights_isolation.experiments.statistics.agent_results import (
    forfeits_of,
    measure_effort,
    node_costs,
    relative_costs,
)
from knights_isolation.experiments.statistics.game_pairs import Matchup, matchups, record_of, share_seen, splits
from knights_isolation.experiments.statistics.proportions import PairCounts, of_pool, pair_interval
from knights_isolation.experiments.statistics.run_results import RunResults
from knights_isolation.experiments.statistics.sequential_tests import live_rate, own_tests
from knights_isolation.isolation.rules.limits import STEADY, Cost
from knights_isolation.isolation.rules.outcome import Reason

from ..text.cell_values import (
    Estimate,
    Mean,
    Milliseconds,
    Range,
    Ratio,
    Share,
    estimate_of,
    join_names,
    pluralise,
)
from ..text.rendering import Section
from ..text.wording import caveats, forfeit_notes, forfeit_sentences, stopped_sentences

if TYPE_CHECKING:
    from knights_isolation.experiments.exact.accuracy import Accuracy

TABLES = ("standings", "opponents", "sides", "forfeits", "lengths", "search")


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


def interval_note(findings: RunResults) -> str:
    """Describe what the intervals of win rates refer to, or that there are none, and which games do not count."""
    apart = findings.all_pairs is not findings.pairs
    direct = " Games of contenders with the baseline itself are not in them: see the table opponents." if apart else ""
    if findings.is_census:
        return f"Every opening of this kind on this board was played: the win rates are exact for them.{direct}"
    return f"Win rates with individual 95 % intervals for openings of this kind on this board.{direct}"


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
    resigned = int((codes_in((Reason.RESIGNED.word,), findings.table["reason"]) == 0).sum())
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


def of_runs(findings: RunResults, sections: Iterable[Section]) -> tuple[Section, ...]:
    """Return sections about runs with the state of the runs, and with what every output about them begins with."""
    state, caveat = findings.state, " ".join(caveats(findings))
    return tuple(replace(section, state=state, caveat=caveat) for section in sections)


def run_notes(findings: RunResults) -> tuple[str, ...]:
    """Return the notes that apply to everything reported about these runs."""
    notes = equal_cost_sentences(findings)
    notes += [sentence for source in findings.sources if (sentence := missing_sentence(source.info.path))]
    notes += forfeit_sentences(findings)
    games, planned = findings.played + findings.repeated, findings.planned
    if findings.is_census:
        notes.append("Census: deterministic agents play every opening of this kind from both sides.")
    if games == planned or findings.stopped_early:
        notes += stopped_sentences(own_tests(findings))
    if not games and planned:
        again = join_names([resume_advice(source.info.path) for source in findings.sources])
        notes.append(f"No games are logged yet. If no process is playing this run, resume it with: {again}")
    if findings.repeated:
        notes.append(f"{findings.repeated:,} games are in several runs and are counted once.")
    if unfinished := findings.pairs.unfinished:
        notes.append(f"{pluralise(unfinished, 'unfinished pair')} (one game missing) excluded from paired analyses.")
    return tuple(notes)


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


def cost_cell(costs: Mapping[str, Cost], name: str) -> Estimate:
    """Return CPU time per node relative to the baseline's, with its interval; NaN if it was not measured."""
    cost = costs.get(name)
    return times_cell(cost) if cost else Estimate(*[Ratio(math.nan)] * 3)


def times_cell(cost: Cost) -> Estimate:
    """Return a cost ratio with its interval."""
    return Estimate(Ratio(cost.times), Ratio(cost.low), Ratio(cost.high))


def cost_sentence(costs: Mapping[str, Cost], names: Sequence[str], when: str = "when the run began") -> str:
    """Explain cost, and name the agents whose cost is unreliable or unknown; empty without agents."""
    if not names:
        return ""
    if not any(name in costs for name in names):
        return "Cost: not measured; only agents that search by nodes are measured, when a run begins."
    unsteady = [name for name in names if name in costs and not costs[name].is_steady]
    unknown = any(name not in costs for name in names)
    return (
        f"Cost: CPU time per node relative to the baseline, measured in alternation {when}, with 95 % intervals"
        f"{'; –: not measured' if unknown else ''}."
        f"{f' Unreliable, with a spread above {100 * STEADY:.0f} %: {join_names(unsteady)}.' if unsteady else ''}"
    )


def cost_words(cost: Cost | str, reference: str) -> str:
    """Format a cost, such as 8.24 ns, 2.26 × (2.24 to 2.29) that of improved; or why it is unknown."""
    if isinstance(cost, str):
        return f"not measured: {cost}"
    amount = cost.nanoseconds if cost.nanoseconds < 1000 else cost.nanoseconds / 1000
    unit = "ns" if cost.nanoseconds < 1000 else "µs"
    unsteady = "" if cost.is_steady else f", unreliable with a spread of {100 * cost.spread:.0f} %"
    return f"{amount:.3g} {unit} of CPU time, {times_cell(cost).text} that of {reference}{unsteady}"


def equal_cost_sentences(findings: RunResults) -> list[str]:
    """Return the most important facts about runs at equal cost: each agent's nodes per move, and their basis."""
    if not any(source.info.requested.get("equal_cost") for source in findings.sources):
        return []
    costs = relative_costs(findings) or node_costs(findings)
    limited = [
        (name, f"{facts.limit[1]:,.0f} nodes")
        for name, facts in findings.agents.items()
        if facts.limit and facts.limit[0] == "nodes" and {"baseline", "contender"} & set(facts.roles)
    ]
    if not costs:
        nodes = ", ".join(f"{name} {nodes}" for name, nodes in limited)
        return [f"At equal cost by wall time (as older versions measured it, possibly inaccurate): {nodes} per move."]
    nodes = "; ".join(f"{name} {nodes}{_times(costs.get(name), name == findings.baseline)}" for name, nodes in limited)
    return [f"At equal cost by CPU time per node, measured when the run began: {nodes} per move."]


def scaled_sentence(scaled: Spec, cost: Cost, opponent: Spec) -> str:
    """Return the limit at which an agent takes the time of its opponent, and what its nodes cost."""
    agent, other = (f"{make_agent(spec).name} {spec.limit}" for spec in (scaled, opponent))
    return f"At equal cost by CPU time per node, measured now: {other}; {agent}{_times(cost, False)}."


def _times(cost: Cost | None, is_baseline: bool) -> str:
    if cost is None or is_baseline:
        return ""
    return f" (a node costs {Ratio(cost.times).text}, spread {100 * cost.spread:.1f} %)"


_ACCURACY_NOTES = (
    "Eligible: moves in winning positions where a mistake was possible. Kept: the share of them that kept the win; "
    "chance: the share that random moves would keep.",
    "Converted: the share of games won among those in which the player had a winning position there.",
    "Individual 95 % intervals over openings, clustered by symmetry.",
)

_THEORY_NOTES = (
    "Won openings: games from openings that the agent wins with perfect play; converted: the share it won.",
    "Lost openings: games from openings that its opponent wins with perfect play; saved: the share it won "
    "nevertheless.",
)


def accuracy_sections(
    overall: Sequence[Accuracy], by_ply: Sequence[Accuracy] = (), more_notes: Sequence[str] = ()
) -> tuple[Section, ...]:
    """Return tables of accuracy, the best player first; the second one is by bands of plies."""
    ranked = sorted(
        overall, key=lambda accuracy: (-accuracy.kept.estimate if accuracy.eligible else 1.0, accuracy.agent)
    )
    notes = [*more_notes, *_ACCURACY_NOTES]
    if unknown := sum(accuracy.unknown for accuracy in overall):
        notes.append(f"{unknown:,} positions were skipped: the limit of the labels was too low to solve them.")
    with_depth = any(accuracy.depth for accuracy in ranked)
    rows = []
    for accuracy in ranked:
        depth = {"depth": accuracy.depth} if with_depth else {}
        rows.append({"agent": accuracy.agent, "heuristic": accuracy.heuristic or None, **depth, **_facts(accuracy)})
    sections = [Section("accuracy", "Accuracy", tuple(rows), tuple(notes))]
    if by_ply:
        rank_of = {accuracy.agent: rank for rank, accuracy in enumerate(ranked)}
        ordered = sorted(by_ply, key=lambda accuracy: (rank_of[accuracy.agent], accuracy.first))
        by_band = tuple(
            {"agent": accuracy.agent, "plies": f"{accuracy.first + 1}–{accuracy.last + 1}", **_facts(accuracy)}
            for accuracy in ordered
        )
        sections.append(Section("by_ply", "Accuracy by ply", by_band, ("Ply 1 is the first placement.",)))
    return tuple(sections)


def theory_section(findings: RunResults) -> Section | None:
    """Return results split by the theoretical winner of the opening; None if no opening's winner is known."""
    from knights_isolation.experiments.exact.accuracy import opening_winners, split_by_theory

    winners: dict[int, int] = {}
    for source in findings.sources:
        winners |= opening_winners(source.info.path)
    if not winners:
        return None
    split_of = {split.agent: split for split in split_by_theory(findings.counted_games, winners, findings.measured)}
    splits = [split_of[name] for name in findings.in_order(split_of)]
    seen = {name: share_seen(record_of(findings.pairs, name), findings.pool_among(name)) for name in split_of}
    has_unknown = any(split.unknown for split in splits)
    rows = tuple(
        {
            "agent": split.agent,
            "won_openings": split.won,
            "converted": estimate_of(of_pool(split.converted, seen[split.agent])),
            "lost_openings": split.lost,
            "saved": estimate_of(of_pool(split.saved, seen[split.agent])),
            **({"unknown": split.unknown} if has_unknown else {}),
        }
        for split in splits
    )
    notes = _THEORY_NOTES if findings.is_census else (*_THEORY_NOTES, "Individual 95 % intervals.")
    return Section("theory", "Results by theoretical winner of the opening", rows, notes)


def _facts(accuracy: Accuracy) -> dict[str, Any]:
    return {
        "games": accuracy.games,
        "moves": accuracy.decisions,
        "eligible": accuracy.eligible,
        "kept": estimate_of(accuracy.kept),
        "chance": Share(accuracy.chance),
        "mistakes_a_game": estimate_of(accuracy.mistakes, Mean),
        "won_positions": accuracy.won_games,
        "converted": estimate_of(accuracy.conversion),
    }
