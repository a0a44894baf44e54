"""The answer of `published`: published results analysed anew, in tables, a chart and words."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path

from knights_isolation.experiments.published.claims import (
    AgentResult,
    Claim,
    PublishedAnalysis,
    Repetition,
    analyse_file,
)

from ..answers import Result, drawn
from ..charts.chart import RowChart
from ..charts.interval_charts import differences_chart
from ..text.cell_values import Points, PValue, Share, end_text, estimate_of
from ..text.rendering import Section
from ..text.wording import p_words

_ANSWER = ("difference", "p", "stands")


def published_answer(file: str | Path | None, baseline: str | None) -> Result[PublishedAnalysis]:
    """Analyse a file, or by default the tables that ship with the project; see `analyse_file`."""
    analysis = analyse_file(Path(file) if file else None, baseline)
    return Result(analysis, published_sections(analysis), partial(drawn, published_chart(analysis)))


def published_sections(analysis: PublishedAnalysis) -> tuple[Section, ...]:
    """Return the claims, the claims with all runs of an agent combined, the repeated baselines, and all results."""
    sections = [
        Section("claims", "Claims by table", _claims(analysis.claims), analysis.notes, keep=_ANSWER),
        Section("pooled", "All runs of an agent together", _claims(analysis.pooled), keep=_ANSWER),
        Section(
            "repetitions",
            "Repeated measurements of the same baseline: differences due to chance",
            tuple(
                {
                    "source": repetition.source,
                    "agent": repetition.agent,
                    "runs": len(repetition.runs),
                    "lowest": Share(min(run.rate.estimate for run in repetition.runs)),
                    "highest": Share(max(run.rate.estimate for run in repetition.runs)),
                    "p_alike": PValue(repetition.p_value),
                }
                for repetition in analysis.repetitions
            ),
            tuple(repetition_words(repetition) for repetition in analysis.repetitions),
        ),
        Section("results", "Results", tuple(row for result in analysis.results for row in _results(result))),
        Section("words", "Summary", (), tuple(claim_words(claim) for claim in (*analysis.claims, *analysis.pooled))),
    ]
    return tuple(section for section in sections if section.rows or section.notes)


def _claims(claims: tuple[Claim, ...]) -> tuple[dict[str, object], ...]:
    return tuple(
        {
            "agent": claim.agent,
            "source": claim.source,
            "tables": ", ".join(claim.tables),
            "baseline": claim.baseline,
            "games": claim.total.contender_games,
            "published": claim.published,
            "difference": estimate_of(claim.test.difference, Points),
            "p": PValue(claim.test.p_value),
            "adjusted_p": PValue(claim.adjusted_p),
            "stands": None if claim.published == "equal" else claim.stands,
        }
        for claim in claims
    )


def _results(result: AgentResult) -> list[dict[str, object]]:
    shares = [("all", result.rate), *result.opponents.items()]
    return [
        {
            "source": result.source,
            "table": result.table,
            "agent": result.agent,
            "opponent": opponent,
            "wins": share.wins,
            "losses": share.games - share.wins,
            "win_rate": estimate_of(share),
        }
        for opponent, share in shares
    ]


def claim_words(claim: Claim) -> str:
    """Describe a published claim, and whether it holds, in a sentence or two."""
    if not claim.opponents:
        return f"{claim.agent}: no opponent in common with {claim.baseline}, so no comparison is possible."
    difference, total = claim.test.difference, claim.total
    low, high = end_text(Points(difference.low)), end_text(Points(difference.high))
    shares = (
        f"{claim.agent} won {Share(total.contender_wins / total.contender_games).text} of {total.contender_games:,} "
        f"games, {claim.baseline} won {Share(total.baseline_wins / total.baseline_games).text} of "
        f"{total.baseline_games:,}: {Points(difference.estimate).text} points "
        f"({100 * difference.confidence:.0f} % interval {low} to {high}), "
        f"{p_words(claim.test.p_value)}, adjusted {p_words(claim.adjusted_p)}"
    )
    if claim.published == "equal":
        return f"{shares}. No difference was published."
    verdict = "holds" if claim.stands else "does not hold: chance alone could explain the difference"
    caveat = ""
    if claim.is_anonymous and len(claim.tables) > 1:
        caveat = f" This holds if {claim.agent} was the same function in all {len(claim.tables)} runs."
    return f"{shares}. The claim that it is {claim.published} {verdict}.{caveat}"


def repetition_words(repetition: Repetition) -> str:
    """Describe the results of measuring the same baseline several times, in a sentence or two."""
    rates = [run.rate.estimate for run in repetition.runs]
    odd = "" if repetition.is_luck else " That is more than chance explains: something else changed."
    return (
        f"{repetition.agent} was measured {len(repetition.runs)} times and won between {Share(min(rates)).text} and "
        f"{Share(max(rates)).text}: the same player differs from itself by {100 * repetition.largest_difference:.1f} "
        f"points; two runs of this length differ by up to {100 * repetition.expected_difference:.1f} points by chance "
        f"alone (test that all runs are equal: {p_words(repetition.p_value)}).{odd}"
    )


def published_chart(analysis: PublishedAnalysis) -> RowChart | None:
    """Return the published differences to the baselines, with their intervals; None without any."""
    counts = Counter(claim.agent for claim in analysis.claims)
    claims = (
        (
            f"{claim.agent}, {claim.tables[0]}" if counts[claim.agent] > 1 else claim.agent,
            claim.test.difference,
            claim.published if claim.stands else "",
        )
        for claim in analysis.claims
    )
    note = "95 % intervals, each by itself. In colour: significant, adjusted for all claims of a source."
    return differences_chart("Published differences to the baseline", claims, note)
