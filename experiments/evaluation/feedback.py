"""What an evaluation says in words, for people and for programs that write programs."""

from __future__ import annotations

from collections.abc import Sequence

from knights_isolation.experiments.evaluation.evaluation import Lead, signed_points
from knights_isolation.experiments.suite.screening import Mistake
from knights_isolation.isolation.boards.board import Board
from knights_isolation.isolation.rules.geometry import parse_size
from knights_isolation.isolation.rules.notation import format_moves


def describe_lead(lead: Lead, baseline: str, cost: float) -> str:
    """Return a lead in solved positions as a sentence."""
    return (
        f"{lead} of wins kept compared with {baseline} at equal cost, in {lead.n:,} won positions; a "
        f"node costs {cost:.2f} times as much."
    )


def describe_games(lead: Lead, decision: str | None, baseline: str) -> str:
    """Return the result of a sequential test, and the lead of `decide_by_games`, as a sentence."""
    if decision == "H1":
        games = f"in {lead.n:,} games after it: {lead}. "
        return f"better than {baseline} by a sequential test at equal cost; {games}"
    verdict = "not better by 20 Elo than" if decision else "undecided against"
    return f"{verdict} {baseline} in {lead.n:,} games at equal cost: {lead}. "


def describe_champions(lead: Lead, count: int) -> str:
    """Return the result of games against champions as a sentence."""
    champions = f"the last {count} champions" if count > 1 else "the last champion"
    return f"{lead} in {lead.n:,} games at equal cost against {champions}. "


def describe_held_out(number: int, level: float, passed: bool) -> str:
    """Return whether a candidate passed on held-out positions, as a sentence from which nothing can be learned."""
    verdict = "significantly better" if passed else "not significantly better"
    return f"{verdict} on held-out positions, question {number:,} to them, at level {level:.2g}. "


def describe_lead_there(lead: Lead, fitted: float) -> str:
    """Return a lead on held-out positions, and how much of the one on those of `fit` was overfitting."""
    return f"{lead} on {lead.n:,} held-out positions, {signed_points(fitted - lead.estimate)} overfitting. "


def describe_mistakes(mistakes: Sequence[Mistake], size: str) -> str:
    """Return mistakes as sentences with the FEN of their positions."""
    columns = parse_size(size)[1]
    return "".join(
        f" At {Board.from_moves(mistake.moves, size).fen} it plays {format_moves([mistake.played], columns)}; "
        f"{format_moves(mistake.winning, columns)} {'keeps' if len(mistake.winning) == 1 else 'keep'} the win."
        for mistake in mistakes
    )
