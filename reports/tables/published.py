"""Tables of re-analysed published results."""

from __future__ import annotations

from knights_isolation.experiments.published.published_claims import AgentResult, Claim, PublishedAnalysis

from ..text.cell_values import Points, PValue, Share, estimate_of
from ..text.sections import Section
from ..text.wording import claim_words, repetition_words

_ANSWER = ("difference", "p", "stands")


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
                    "p_alike": PValue(repetition.test.p_value),
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
            "games": claim.contender_games,
            "published": claim.published,
            "difference": estimate_of(claim.test.difference, Points),
            "p": PValue(claim.test.p_value),
            "adjusted_p": PValue(claim.adjusted_p),
            "stands": None if claim.published == "equal" else claim.stands,
        }
        for claim in claims
    )


def _results(result: AgentResult) -> list[dict[str, object]]:
    shares = [("all", result.rate), *result.opponents]
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
