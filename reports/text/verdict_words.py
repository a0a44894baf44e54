"""Words for comparisons with a baseline: games, solved positions, quick tests."""

from __future__ import annotations

from typing import Literal

from knights_isolation.experiments.inference.contenders.baseline_comparison import Verdict

Word = Verdict | Literal["same moves"]
"""Results of a comparison; in solved positions also that both make the same moves."""


def verdict_of(estimate: float, is_significant: bool) -> Word:
    """Return the verdict on a difference, positive if the contender is ahead.

    >>> verdict_of(-0.02, True), verdict_of(0.02, False)
    ('worse', 'no significant difference')
    """
    if not is_significant or not estimate:
        return "no significant difference"
    return "better" if estimate > 0 else "worse"


def verdict_clause(word: Word, is_quick: bool = False) -> str:
    """Format a verdict as a clause; a quick test only suggests one.

    >>> verdict_clause("better"), verdict_clause("better", is_quick=True), verdict_clause("no significant difference")
    ('better', 'looks better (quick test)', 'no significant difference yet')
    """
    if word == "no significant difference":
        return f"{word} yet"
    return f"looks {word} (quick test)" if is_quick and word in ("better", "worse") else word


def verdict_sentence(contender: str, baseline: str, word: Word, difference: str) -> str:
    """Format a verdict as a sentence; `difference` is the estimate with its interval and unit.

    >>> verdict_sentence("Mine", "Base", "no significant difference", "+0.3 (−1.0 to +1.6) points")
    'Mine shows no significant difference from Base yet: +0.3 (−1.0 to +1.6) points.'
    """
    if word == "no significant difference":
        return f"{contender} shows {word} from {baseline} yet: {difference}."
    if word in ("better", "worse"):
        return f"{contender} is {word} than {baseline}: {difference}."
    return f"{contender} and {baseline}: {word}."
