"""Results in words: verdicts, decisions, controls, published claims.

Results contain facts only; tables, pages and examples all use this module for their words.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import shorten

from knights_isolation.experiments.statistics.contender_verdicts import Verdicts
from knights_isolation.experiments.statistics.game_pairs import standing
from knights_isolation.experiments.statistics.paired_differences import Comparison, HeadToHead
from knights_isolation.experiments.statistics.proportions import WORTH
from knights_isolation.experiments.statistics.run_results import ForfeitGroup, RunResults, forfeits_of
from knights_isolation.isolation.suggestions import advice

from .cell_values import Points, PValue, Share, estimate_of, join_names, pluralise

# shares of games: above it, forfeits affect results as much as typical differences; from it on, they decide them
_MANY_FORFEITS, _MOSTLY_FORFEITS = 0.05, 0.5
_DISTRUST = 0.001  # p-value of a control below which something is wrong: it occurs in one of 1,000 correct runs
_EVERYTHING = 0.75  # share of the range of differences above which an interval carries no information
_LONGEST_DETAIL = 200
_FIRST = 6
SAME_OPPONENTS = " against the same opponents"
# what a contender did: over shared opponents how much it won, head to head a verb
_VERBS = {"better": ("more", "beat"), "worse": ("less", "lose")}


def verdict_words(comparison: Comparison | HeadToHead, worth: float = WORTH) -> str:
    """Format a verdict as one short phrase; for contenders without one, see also `excluded_sentence`.

    `worth` is a difference worth having: if the interval is within ± `worth`, there is no such difference.
    """
    if comparison.verdict == "equal":
        return "equal on all openings"
    if comparison.verdict != "no significant difference":
        return f"{comparison.verdict} on all openings" if comparison.is_census else comparison.verdict
    if comparison.is_empty:
        return "no significant difference: no complete pairs in common"
    least, most = comparison.lead
    if is_too_little(comparison):
        return "too little data"
    if isinstance(comparison, Comparison) and comparison.plays_alike:
        return alike_words(comparison)
    return f"no difference of {points_of(worth)}" if max(most, -least) < worth else "no significant difference"


def alike_words(comparison: Comparison) -> str:
    """Return how many games had equal results; those that depend on chance do not count."""
    games = 2 * sum(effect.openings for effect in comparison.effects if not effect.is_chance)
    of_chance = sum(effect.is_chance for effect in comparison.effects)
    among = f" against {pluralise(len(comparison.effects) - of_chance, 'opponent')}" if of_chance else ""
    return f"equal results in all {games:,} games of {pluralise(comparison.openings, 'opening')}{among}"


def is_too_little(comparison: Comparison | HeadToHead) -> bool:
    """Return whether the interval carries no information."""
    least, most = comparison.lead
    return most - least >= _EVERYTHING * (1 if isinstance(comparison, HeadToHead) else 2)


def short_verdict(comparison: Comparison | HeadToHead, worth: float = WORTH) -> str:
    """Format a verdict in two or three words: the part of a longer one before the colon."""
    return verdict_words(comparison, worth).partition(":")[0].removesuffix(" on all openings")


def state_words(findings: RunResults) -> str:
    """Return the state of an unfinished or extended run as the beginning of whatever is said of it, or ""."""
    if not findings.is_interim:
        return ""
    if findings.is_extended:
        return "Extended: "
    games = f"{findings.played + findings.repeated:,} of {findings.planned:,} games"
    return f"{'Stopped at' if findings.state == 'stopped' else 'After'} {games}: "


def _state_caveat(findings: RunResults) -> str:
    games, planned = findings.played + findings.repeated, findings.planned
    if findings.is_extended and games >= planned:
        before = join_names([f"{openings:,}" for openings in findings.looks])
        return (
            f"Extended: the run was finished with {before} openings before, so verdicts and their intervals are those "
            "that are valid at any time."
        )
    if games >= planned:
        return ""
    if findings.stopped_early:
        by_rule = "results" if "best-of" in findings.formats else "sprt"
        return (
            f"Stopped early, after {games:,} of at most {planned:,} games. Intervals and p-values for a fixed "
            f"number of games are overconfident here; `isolation {by_rule}` accounts for the stopping."
        )
    begin = {"running": "Still running: ", "stopped": "Stopped: ", "finished": ""}[findings.state]
    logged = f"{begin}{games:,} of {planned:,} planned games are in the log."
    if not findings.is_interim:
        return logged
    return (
        f"{logged} Verdicts and their intervals are those that are valid at any time; other intervals and p-values are "
        "meant for a single look at the end: with eight looks, 20 % of runs show a significant difference by chance."
    )


def finding_sentence(findings: RunResults, verdicts: Verdicts) -> str:
    """Summarise a run in one sentence.

    Who won more than the baseline against the same opponents, who less, who beats it head to head, and the control's
    result. Of an unfinished run it begins with its state.
    """
    known = [claim for claim in verdicts.judged if not claim.is_empty]
    if not known:
        return "No complete pairs to compare yet."
    parts = [
        clause
        for kind in (Comparison, HeadToHead)
        for clause in _clauses([claim for claim in known if isinstance(claim, kind)], verdicts.baseline)
    ]
    parts += filter(None, [direct_clause(verdicts)])
    if verdicts.disagreeing:
        parts.append(f"the two verdicts differ{_listed(verdicts.disagreeing) if len(verdicts.direct) > 1 else ''}")
    for check in verdicts.checks:
        why = ", too much for chance: do not trust this run" if is_odd(check) else " (chance)"
        parts.append(f"check: the baseline against itself differs by {Points(check.estimate).text} points{why}")
    return f"{state_words(findings)}{'; '.join(parts)}."


def direct_clause(verdicts: Verdicts) -> str:
    """Return who of a gauntlet's contenders beats the baseline head to head, as a clause; empty without such games."""
    duels = [duel for duel in verdicts.direct if not duel.is_empty]
    if not duels:
        return ""
    if len(duels) == 1:
        return f"head to head {duel_words(duels[0])}"
    first, *others = _clauses(duels, "it")
    return f"head to head {', '.join([first.replace('None', 'none', 1), *others])}"


def _clauses(results: Sequence[Comparison | HeadToHead], baseline: str) -> list[str]:
    if not results:
        return []
    is_duel = isinstance(results[0], HeadToHead)
    surely = "" if all(result.is_census for result in results) else "significantly "
    same, whom = ("", f" {baseline}") if is_duel else (SAME_OPPONENTS, f"{SAME_OPPONENTS} than {baseline}")
    if len(results) == 1:
        name, kind = results[0].contender, results[0].verdict
        if kind == "no significant difference":
            return [f"No significant difference between {name} and {baseline}{same}"]
        if kind == "equal":
            equally = f"and {baseline} are equal on all openings" if is_duel else f"won as much{same} as {baseline}"
            return [f"{name} {equally}"]
        return [f"{name} {_did(kind, 1, surely, is_duel)}{' to' * (is_duel and kind == 'worse')}{whom}"]
    better, worse, equal = (_named(results, kind) for kind in ("better", "worse", "equal"))
    did = [
        _did(kind, len(names), "" if names else surely, is_duel)
        for kind, names in (("better", better), ("worse", worse))
    ]
    parts = [f"{len(better) or 'None'} of {len(results)} {did[0]}{whom}{_listed(better)}"]
    parts.append(f"{len(worse) or 'none'} {did[1]}{_listed(worse)}")
    return parts + ([f"equal on all openings{_listed(equal)}"] if equal else [])


def _did(kind: str, number: int, surely: str, is_duel: bool) -> str:
    amount, verb = _VERBS[kind]
    return f"{surely}{verb}{'s' * (number < 2)}" if is_duel else f"won {surely}{amount}"


def _named(comparisons: Sequence[Comparison | HeadToHead], kind: str) -> list[str]:
    # those of the largest lead first
    ranked = sorted(comparisons, key=lambda comparison: -sum(comparison.lead))
    return [comparison.contender for comparison in ranked if comparison.verdict == kind]


def _listed(names: Sequence[str]) -> str:
    if not names:
        return ""
    overflow = f" and {len(names) - _FIRST} more" if len(names) > _FIRST else ""
    return f": {', '.join(names[:_FIRST])}{overflow}"


def evidence_sentences(claims: Sequence[Comparison | HeadToHead]) -> list[str]:
    """Say which earlier looks at the contenders, and how many other tries, p-values and verdicts allow for."""
    known = {claim.contender: claim.evidence for claim in claims if claim.evidence}
    looks = [
        f"{name} after {join_names([f'{openings:,}' for openings in evidence.looks])} openings"
        for name, evidence in known.items()
        if len(evidence.looks) > 1
    ]
    sentences = [f"Looked at more than once, which p-values and verdicts allow for: {'; '.join(looks)}."] * bool(looks)
    sentences += pooling_sentences(claims)
    if others := max((evidence.others for evidence in known.values()), default=0):
        sentences.append(
            f"Adjusted for {pluralise(others, 'further test')} of this project with the same baseline, board, openings "
            f"and limit as well: {advice('isolation tried', 'ki.tried()')}."
        )
    return sentences


def pooling_sentences(claims: Sequence[Comparison | HeadToHead]) -> list[str]:
    """Say which verdicts rest on openings of other runs as well, of which the differences shown say nothing."""
    return [
        f"The verdict on {claim.contender} pools {pluralise(claim.evidence.looks[-1], 'opening')}, "
        f"{elsewhere:,} of them in other runs of this project (pooled {p_words(claim.evidence.p_value)}); what is "
        f"shown is of the {claim.openings:,} here."
        for claim in claims
        if claim.evidence and (elsewhere := claim.evidence.looks[-1] - claim.openings) > 0
    ]


def pooled_sentence(findings: RunResults) -> str:
    """Name the controls whose games count as the baseline's, with its win rate including them; empty if none."""
    controls, baseline = findings.pooled_controls, findings.baseline
    if not controls or baseline not in findings.pooled_pairs.agents:
        return ""
    rate = standing(findings.pooled_pairs, baseline).rate.estimate
    return f"the games of {', '.join(controls)} count for {baseline}, which won {Share(rate).text} including them"


def caveats(findings: RunResults) -> list[str]:
    """Return what every output about runs begins with: what follows from their state, and whose games are left out."""
    unranked = (
        f"Without a rank, having never made a legal move: {', '.join(sorted(findings.unranked))}. Their "
        f"{pluralise(findings.left_out, 'game')} count for nobody."
    )
    return [*filter(None, [_state_caveat(findings), unranked if findings.unranked else ""])]


def forfeit_sentences(findings: RunResults) -> list[str]:
    """Report the forfeits by agent, and their effect on the results."""
    games, groups = findings.played, forfeits_of(findings)
    total = sum(group.games for group in groups)
    if not total:
        return []
    by_agent: dict[str, list[ForfeitGroup]] = {}
    for group in groups:
        by_agent.setdefault(group.agent, []).append(group)
    clauses = [
        f"{name} lost {pluralise(sum(group.games for group in lost), 'game')} "
        f"by {' and '.join(map(_reason_words, lost))}"
        for name, lost in sorted(by_agent.items(), key=lambda item: -sum(group.games for group in item[1]))
    ]
    sentences = [
        f"{total:,} of {pluralise(games, 'game')} ({Share(total / games).text}) were forfeits: {'; '.join(clauses)}."
    ]
    if total > _MANY_FORFEITS * games:
        effect = f", which puts {join_names(sorted(by_agent))} lower in the ranking"
        if total >= _MOSTLY_FORFEITS * games:
            effect = ": the ranking mostly reflects failures, not strength"
        sentences.append(f"They count as losses{effect}. Fix these errors and rerun.")
    return sentences


def forfeit_notes(are_none: bool, resigned: int) -> tuple[str, ...]:
    """Return the notes of a table of forfeits: that there are none, and how many games were resigned."""
    notes = ("None: no game was lost by a failure.",) if are_none else ()
    if not resigned:
        return notes
    were = "game was" if resigned == 1 else "games were"
    return (*notes, f"{resigned:,} {were} resigned, which is no forfeit.")


def _reason_words(forfeit: ForfeitGroup) -> str:
    # with the detail of the first game in the log, such as the file and line of an error
    detail = f" ({shorten(forfeit.detail, _LONGEST_DETAIL)})" if forfeit.detail else ""
    return f"{forfeit.reason}{detail}"


def p_words(value: float) -> str:
    """Format a p-value for a sentence.

    >>> p_words(0.04), p_words(0.0001)
    ('p = 0.040', 'p < 0.001')
    """
    text = PValue(value).text
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def points_of(value: float) -> str:
    """Format the size of a difference in percentage points."""
    return f"{max(100 * value, 0.0):.1f}"


def is_odd(control: Comparison) -> bool:
    """Return whether chance does not explain how much a control differs from itself."""
    return control.p_value <= _DISTRUST


def duel_words(duel: HeadToHead) -> str:
    """Return whether a contender beats the baseline, with the share of games that it won, as a clause."""
    word = {"better": "it beats", "worse": "it loses to", "equal": "it is equal to"}.get(duel.verdict, "")
    found = f"{word} {duel.baseline}" if word else "no significant difference"
    return f"{found}, {estimate_of(duel.jointly).text}"
