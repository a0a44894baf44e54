"""One scale for all agents of a pool, and how likely each is above each."""

from __future__ import annotations

from experiments.inference.ratings import Ratings
from experiments.verdicts.findings import Findings
from experiments.verdicts.ratings import rate
from reports.cells import Elo, Estimate, Resampled, Share, counted
from reports.sections import Section
from reports.summary import run_notes

TABLES = ("ratings", "superiority")


def rating_sections(findings: Findings, zero: str | None = None) -> tuple[Section, ...]:
    """The ratings, best first, and the matrix of likelihoods of superiority."""
    ratings = rate(findings, zero)
    rows = [
        {
            "rank": rank,
            "agent": one.agent,
            "rating": Estimate(Elo(one.elo), Elo(one.low), Elo(one.high)),
            "games": one.games,
            "wins": one.wins,
            "share": Share(one.wins / one.games),
        }
        for rank, one in enumerate(ratings.ratings, start=1)
    ]
    names = [one.agent for one in ratings.ratings]
    matrix = [
        {"rank": rank, "agent": name}
        | {str(other): None if rank == other else Resampled(p) for other, p in enumerate(row, start=1)}
        for rank, (name, row) in enumerate(zip(names, ratings.superiority, strict=True), start=1)
    ]
    return (
        Section("ratings", "Ratings", tuple(rows), rating_notes(findings, ratings)),
        Section(
            "superiority",
            "Likelihood in per cent that the agent of the row is stronger than that of the column's rank",
            tuple(matrix),
            panels=True,
        ),
    )


def rating_notes(findings: Findings, ratings: Ratings) -> tuple[str, ...]:
    """What the ratings refer to."""
    notes = list(run_notes(findings))
    if not ratings.ratings:
        return (*notes, "No complete pairs to rate yet.")
    zero = f"{ratings.zero} is 0" if ratings.zero else "the mean of the pool is 0"
    limits = sorted({source.info.requested["limit"] for source in findings.sources})
    boards = sorted({source.info.requested["board"] for source in findings.sources})
    notes.append(
        f"Elo by Bradley and Terry's model; {zero}. They hold for this pool of {len(ratings.ratings)} agents on "
        f"{', '.join(boards)} at {', '.join(limits)}, not for any other. {100 * ratings.confidence:.0f} % intervals by "
        f"resampling {counted(ratings.openings, 'opening')} {ratings.draws} times (seed {ratings.seed})."
    )
    if ratings.half_game_added:
        notes.append(
            f"{', '.join(ratings.half_game_added)}: won or lost everything, or never met the others, so that no finite "
            "rating fits; half a game won and half a game lost were added, and nothing bounds the rating on that side."
        )
    return tuple(notes)
