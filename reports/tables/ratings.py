"""Tables of ratings and probabilities of superiority."""

from __future__ import annotations

from typing import Any

from knights_isolation.experiments.statistics.ratings import Ratings, rate
from knights_isolation.experiments.statistics.run_results import RunResults

from ..text.cell_values import Chance, Elo, Estimate, Resampled, Share, join_names, pluralise
from ..text.rendering import Section
from .run_notes import of_runs, run_notes

_NUMBERED = "Agents with equal ratings share a rank; here they are numbered in order, so that each has its own column."


def rating_sections(
    findings: RunResults, zero: str | None = None, ratings: Ratings | None = None
) -> tuple[Section, ...]:
    """Return the ratings (computed if not given), best first, and the matrix of likelihoods of superiority."""
    ratings = ratings or rate(findings, zero)
    names = [rating.agent for rating in ratings.ratings]
    likelihood = Chance if ratings.is_exact else Resampled
    matrix = [
        {"rank": rank, "agent": name}
        | {str(other): None if rank == other else likelihood(p) for other, p in enumerate(row, start=1)}
        for rank, (name, row) in enumerate(zip(names, ratings.superiority, strict=True), start=1)
    ]
    sections = (
        Section("ratings", "Ratings", tuple(rating_rows(ratings)), rating_notes(findings, ratings)),
        Section(
            "superiority",
            "Likelihood of superiority in per cent: agent of the row over the agent with the column's rank",
            tuple(matrix),
            (_NUMBERED,) if len(set(ratings.ranks)) < len(names) else (),
            panels=True,
        ),
    )
    return of_runs(findings, sections)


def rating_rows(ratings: Ratings, called: str = "agent", is_sure: bool = True) -> list[dict[str, Any]]:
    """Return all agents by rating, with intervals if `is_sure`; `called` is the heading of their names."""
    return [
        {
            "rank": rank,
            called: rating.agent,
            "rating": Estimate(Elo(rating.elo), Elo(rating.low), Elo(rating.high)) if is_sure else Elo(rating.elo),
            "games": rating.games,
            "wins": rating.wins,
            "share": Share(rating.wins / rating.games),
        }
        for rank, rating in zip(ratings.ranks, ratings.ratings, strict=True)
    ]


def highest(ratings: Ratings) -> str:
    """Name the agents with the highest rating, with the verb: "ada is", or for a tie "ada and ben are"."""
    names = [rating.agent for rank, rating in zip(ratings.ranks, ratings.ratings, strict=True) if rank == 1]
    return f"{join_names(names)} {'is' if len(names) == 1 else 'are'}"


def rating_notes(findings: RunResults, ratings: Ratings, have_intervals: bool = True) -> tuple[str, ...]:
    """Describe what the ratings refer to, and their intervals if shown."""
    notes = list(run_notes(findings))
    if not ratings.ratings:
        return (*notes, "No complete pairs to rate yet.")
    zero = f"{ratings.zero} is 0" if ratings.zero else "the mean of the pool is 0"
    limits = sorted({source.info.requested["limit"] for source in findings.sources})
    boards = sorted({source.info.requested["board"] for source in findings.sources})
    notes.append(
        f"Elo by the Bradley–Terry model; {zero}. Valid for this pool of {len(ratings.ratings)} agents on "
        f"{', '.join(boards)} at {', '.join(limits)} only."
    )
    if have_intervals and ratings.is_exact:
        notes[-1] += f" All {ratings.openings:,} openings of this kind (up to symmetry) were played: exact for them."
    elif have_intervals:
        notes[-1] += (
            f" Individual 95 % intervals, by resampling "
            f"{pluralise(ratings.openings, 'opening')} {ratings.draws} times (seed {ratings.seed})."
        )
    if ratings.half_game_added:
        notes.append(
            f"{', '.join(ratings.half_game_added)}: won or lost every game against the rest, directly or through "
            f"others, so no finite rating exists; half a win and half a loss were added for each."
        )
    # these need not be the agents that were given half a game
    if ratings.open_ended and have_intervals and not ratings.is_exact:
        notes.append(
            f"{', '.join(ratings.open_ended)}: in too many resamples no chain of wins over {ratings.anchor} bounds "
            f"the rating from below, or no chain of losses to it from above; such ends are shown as ∞. More openings "
            f"help. The interval of {ratings.anchor}, where chains start, is always finite."
        )
    return tuple(notes)
