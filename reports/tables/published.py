"""Published win and loss tables, analysed anew: what stands, and what luck alone explains."""

from __future__ import annotations

from experiments.published.published_claims import AgentResult, Claim, PublishedAnalysis
from reports.text.cell_values import Points, PValue, Share, estimate_of
from reports.text.sections import Section
from reports.text.wording import claim_words, repetition_words


def published_sections(analysis: PublishedAnalysis) -> tuple[Section, ...]:
    """The claims, the same with all runs of an agent together, the repeated baselines, and every result."""
    sections = [
        Section("claims", "Claims, table by table", _claims(analysis.claims), analysis.notes),
        Section("pooled", "All runs of an agent together", _claims(analysis.pooled)),
        Section(
            "repetitions",
            "The same baseline measured again: differences that are luck",
            tuple(
                {
                    "source": one.source,
                    "agent": one.agent,
                    "runs": len(one.runs),
                    "lowest": Share(min(run.rate.estimate for run in one.runs)),
                    "highest": Share(max(run.rate.estimate for run in one.runs)),
                    "p_alike": PValue(one.test.p_value),
                }
                for one in analysis.repetitions
            ),
            tuple(repetition_words(one) for one in analysis.repetitions),
        ),
        Section("results", "Results", tuple(row for one in analysis.results for row in _results(one))),
        Section("words", "In words", (), tuple(claim_words(one) for one in (*analysis.claims, *analysis.pooled))),
    ]
    return tuple(section for section in sections if section.rows or section.notes)


def _claims(claims: tuple[Claim, ...]) -> tuple[dict[str, object], ...]:
    return tuple(
        {
            "source": one.source,
            "tables": ", ".join(one.tables),
            "agent": one.agent,
            "baseline": one.baseline,
            "games": one.contender_games,
            "published": one.published,
            "difference": estimate_of(one.test.difference, Points),
            "p": PValue(one.test.p_value),
            "adjusted_p": PValue(one.adjusted_p),
            "stands": None if one.published == "equal" else one.stands,
        }
        for one in claims
    )


def _results(one: AgentResult) -> list[dict[str, object]]:
    shares = [("all", one.rate), *one.opponents]
    return [
        {
            "source": one.source,
            "table": one.table,
            "agent": one.agent,
            "opponent": opponent,
            "wins": share.wins,
            "losses": share.games - share.wins,
            "win_rate": estimate_of(share),
        }
        for opponent, share in shares
    ]
