"""Sentences of an analysis: a verdict on each function and player, and next steps."""

from __future__ import annotations

import math
import re

from knights_isolation.experiments.analysis.analyse_file import Analysis, PlayerResult
from knights_isolation.experiments.analysis.gauntlets import TrialConditions
from knights_isolation.experiments.analysis.quick_trial import Trial
from knights_isolation.experiments.inference.contenders.baseline_comparison import Comparison
from knights_isolation.experiments.inference.contenders.head_to_head import HeadToHead
from knights_isolation.experiments.inference.contenders.sample_size import pairs_to_decide
from knights_isolation.isolation.checks.search_cost import Cost
from knights_isolation.isolation.rules.parameters import ParameterError, parameters_of
from knights_isolation.isolation.suggestions import command

from ..text.cell_values import Points, Range, Ratio, Share, pluralise
from ..text.wording import duel_words
from .quick_trial import skipped_sentence, suspicions

# the position of a failed check, which a command shows instead
_POSITION = re.compile(r" at Board\.from_moves\(.*?\)( for player \w+)?")
_AMOUNTS = {"better": "more", "worse": "less"}
DEAR = 1.2
"""Cost ratio to the baseline from which on a function is called slow."""


def verdict_lines(analysis: Analysis) -> list[tuple[str, str]]:
    """Return the name and the verdict of each function and player, then the rest of the file and why it is skipped."""
    lines = [(name, _sentence_of(analysis, name)) for name in analysis.ranked]
    lines += [(player.name, _player_sentence(player)) for player in analysis.players]
    title, _, skipped = skipped_sentence(analysis.contents.skipped).partition(" ")
    return [*lines, (title, skipped)] if skipped else lines


def _sentence_of(analysis: Analysis, name: str) -> str:
    trial = analysis.trials[name]
    if not trial.is_sound:
        first = next(finding for finding in trial.findings if not finding.ok and not finding.is_note)
        return f"fails, and would lose games by that: {_POSITION.sub('', first.seen)}."
    if trial.problem is not None:
        return _interpreted_sentence(analysis, name, trial)
    nodes, cost = analysis.comparison(name, "nodes"), analysis.comparison(name, "cost")
    if nodes is None and cost is None:
        return "was not played."
    sentences = ["has not played all games at equal nodes."]
    if nodes is not None:
        sentences = [f"{_verdict(nodes)}: {_rate_words(nodes, _at_limit(analysis))}."]
        duel = analysis.head_to_head(name, "nodes")
        if duel and not duel.is_empty:
            differs = "; the two verdicts differ" if duel.verdict != nodes.verdict else ""
            sentences.append(f"Head to head {duel_words(duel)}{differs}.")
    if cost is not None:
        sentences += _cost_sentences(nodes, cost, analysis.cost(name), analysis.head_to_head(name, "cost"))
    return " ".join([*sentences, *(f"Suspect: {seen}." for seen in suspicions(trial))])


def _verdict(comparison: Comparison) -> str:
    opponents = f"against the same {pluralise(len(comparison.opponents), 'opponent')}"
    if comparison.verdict in ("better", "worse"):
        return f"won {_AMOUNTS[comparison.verdict]} {opponents} than {comparison.baseline}"
    return f"shows no significant difference from {comparison.baseline} {opponents}"


def _at_limit(analysis: Analysis) -> str:
    unit, _, value = analysis.question.limit.partition("=")
    if unit == "nodes":
        return f"all searching {int(value):,} nodes a move"
    return f"at {analysis.question.limit}"


def _rate_words(comparison: Comparison, design: str) -> str:
    luck = ", which may be luck" if comparison.verdict == "no significant difference" else ""
    return (
        f"{design}, it won {Share(comparison.contender_rate).text} of its games, "
        f"{comparison.baseline} {Share(comparison.baseline_rate).text}, a difference of "
        f"{Points(comparison.estimate).text} points ({interval_name(comparison)} interval {_ends(comparison)}){luck}"
    )


def _ends(comparison: Comparison) -> str:
    return Range(*map(Points, comparison.lead)).text


def interval_name(comparison: Comparison) -> str:
    """Return whether an interval holds individually or for all contenders together, in words."""
    return "95 % simultaneous" if comparison.family > 1 else "95 %"


def _cost_sentences(
    nodes: Comparison | None, cost: Comparison, measured: Cost | str | None, duel: HeadToHead | None
) -> list[str]:
    times = measured.times if isinstance(measured, Cost) else math.nan
    price = [f"A node of it costs {Ratio(times).text} as much."] if times >= DEAR or times <= 1 / DEAR else []
    difference = f"{Points(cost.estimate).text} ({_ends(cost)})"
    if cost.verdict != "no significant difference":
        also = "also " if nodes and cost.verdict == nodes.verdict else ""
        left = f"it {also}won {_AMOUNTS.get(cost.verdict, 'as much')}"
    else:
        either = " either" if nodes and nodes.verdict == "no significant difference" else ""
        left = f"no significant difference{either}"
    at_cost = f"At equal cost, with the same processor time for all, {left}: {difference}"
    direct = f"; head to head {duel_words(duel)}" if duel and not duel.is_empty else ""
    return [*price, f"{at_cost}{direct}."]


def _interpreted_sentence(analysis: Analysis, name: str, trial: Trial) -> str:
    where = f", line {trial.line}" if trial.line else ""
    reason = f"does not compile ({trial.problem}{where})"
    comparison = analysis.comparison(name, "python")
    if comparison is None:
        return f"{reason}, and is too slow in Python to play here."
    games = pluralise(2 * comparison.openings * len(comparison.opponents), "game")
    return (
        f"{reason}, so it played {games} in Python and {_verdict(comparison)}: {_rate_words(comparison, 'in Python')}."
    )


def _player_sentence(player: PlayerResult) -> str:
    failed = [check for check in player.checks if not check.ok and not check.is_note]
    if failed:
        return f"fails: {failed[0].check}: {_POSITION.sub('', failed[0].seen)}."
    forfeits = f", {pluralise(player.forfeits, 'game')} by timeout or error" if player.forfeits else ""
    lost = player.games - player.won
    return f"passes its checks; won {player.won} of {player.games} short games and lost {lost}{forfeits}."


def next_steps(analysis: Analysis) -> list[str]:
    """Return the next steps, the most useful first: sentences and commands."""
    faulty_first = sorted(
        analysis.ranked, key=lambda name: (analysis.trials[name].is_sound, analysis.trials[name].problem is None)
    )
    steps = [step for name in faulty_first for step in _steps_for(analysis, name)]
    if "nodes" in analysis.runs:
        run = analysis.runs["nodes"].sources[0].info.path
        steps = [*steps[:3], f"See every game and number on a page: {command('report', run, '--open')}"]
    return steps


def _steps_for(analysis: Analysis, name: str) -> list[str]:
    trial, reference = analysis.trials[name], f"{analysis.contents.path}:{name}"
    if not trial.is_sound:
        failing = next(finding for finding in trial.findings if not finding.ok and not finding.is_note)
        see = command("eval", "--fen", failing.fen, "--file", reference) if failing.fen else command("try", reference)
        return [f"Repair {name}; this shows the failure: {see}"]
    if trial.problem is not None:
        where = f"line {trial.line} of " if trial.line else ""
        return [f"Rewrite {where}{name} so that it compiles: it then plays much faster."]
    nodes, cost = analysis.comparison(name, "nodes"), analysis.comparison(name, "cost")
    if nodes is None:
        return []
    if nodes.verdict == "better" and cost is not None and cost.verdict != "better":
        left = "it won less" if cost.verdict == "worse" else "there is no significant difference"
        return [f"Make {name} cheaper: at equal nodes it won more, at equal cost {left}."]
    if nodes.verdict == "better" and _has_parameters(analysis, name):
        tune = command("tune", f"ID:{reference}", *_limit_words(analysis))
        return [f"Tune the parameters of {name} by games: {tune}"]
    if nodes.verdict == "no significant difference" and (pairs := pairs_to_decide(nodes)):
        decide = command("analyse", reference, "--pairs", pairs, *_limit_words(analysis))
        return [f"Decide about {name} with {pairs:,} openings instead of {nodes.openings:,}: {decide}"]
    return []


def _limit_words(analysis: Analysis) -> tuple[str, ...]:
    # the default limit needs no option
    limit = analysis.question.limit
    return () if limit == TrialConditions().limit else ("--limit", limit)


def _has_parameters(analysis: Analysis, name: str) -> bool:
    try:
        return bool(parameters_of(analysis.contents.functions[name]))
    except ParameterError:
        return False
