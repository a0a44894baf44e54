"""Tables of a league: ranking, forfeits, checks, excluded submissions."""

from __future__ import annotations

from experiments.league.entries import LeagueEntries
from experiments.league.league_results import Results, forfeited
from reports.tables.ratings import highest, rating_notes, rating_rows
from reports.text.cell_values import pluralise
from reports.text.sections import Section

FEWEST = 5
"""Openings of which intervals are made: of fewer, most have no end."""


def league_sections(book: LeagueEntries, results: Results) -> tuple[Section, ...]:
    """What is said at the end of a league: the ranking, then what went wrong, as far as anything did."""
    sections = (ranking_section(results), forfeits_section(results), checks_section(book), skipped_section(book))
    return tuple(section for section in sections if section.rows or section.key == "ranking")


def ranking_section(results: Results) -> Section:
    """Everybody by rating, with intervals, if there are openings enough to make them of."""
    is_sure = has_intervals(results)
    rows = tuple(
        row | {"forfeits": sum(forfeited(results, row["player"]).values())}
        for row in rating_rows(results.ratings, "player", is_sure)
    )
    notes = rating_notes(results.findings, results.ratings, is_sure)
    return Section("ranking", "Ranking", rows, notes if is_sure else (*notes, _too_few(results)))


def has_intervals(results: Results) -> bool:
    """Whether ratings are shown with intervals, and may be said to differ beyond what luck explains."""
    return results.ratings.openings >= FEWEST


def _too_few(results: Results) -> str:
    played = pluralise(results.ratings.openings, "opening")
    return f"Too few openings for intervals: {played}, at least {FEWEST} needed."


def forfeits_section(results: Results) -> Section:
    """Who lost how many games by anything but having no move left, by reason, with the commonest detail of each."""
    rows: dict[tuple[str, str], dict[str, object]] = {}
    for forfeit in results.forfeits:
        games = sum(
            len(other.games)
            for other in results.forfeits
            if (other.agent, other.reason) == (forfeit.agent, forfeit.reason)
        )
        row = {"player": forfeit.agent, "reason": forfeit.reason, "games": games, "most often": forfeit.detail}
        rows.setdefault((forfeit.agent, forfeit.reason), row)
    return Section("forfeits", "Forfeits", tuple(rows.values()))


def checks_section(book: LeagueEntries) -> Section:
    """What the checks found wrong with those who play all the same."""
    rows = tuple(
        {"player": entry.player.name, "check": finding.check, "seen": finding.seen}
        for entry in book.entries
        for finding in entry.check.failures
    )
    return Section("checks", "Failed checks", rows)


def skipped_section(book: LeagueEntries) -> Section:
    """What does not play, and why."""
    rows = tuple({"name": submission.name, "why": submission.why} for submission in book.skipped)
    return Section("skipped", "Not in the league", rows)


def headline(book: LeagueEntries, results: Results) -> list[str]:
    """The class in a few sentences: who leads, who forfeited, who is not there."""
    rated = results.ratings.ratings
    if not rated:
        return ["No complete pairs of games to judge yet."]
    sentences = [leading(results)]
    losers = {forfeit.agent for forfeit in results.forfeits}
    if losers:
        games = sum(len(forfeit.games) for forfeit in results.forfeits)
        sentences.append(
            f"{pluralise(games, 'game')} of {len(results.games):,} were forfeited, "
            f"by {pluralise(len(losers), 'player')}."
        )
    sentences += renamed(book)
    if book.skipped:
        sentences.append(f"Not in the league: {', '.join(submission.name for submission in book.skipped)}.")
    return sentences


def renamed(book: LeagueEntries) -> list[str]:
    """Who is called otherwise than its folder, a sentence each."""
    players = [entry.player for entry in book.entries]
    return [
        f"The player of the folder {player.folder!r} is called {player.name}."
        for player in players
        if player.is_renamed
    ]


def leading(results: Results) -> str:
    """Who leads, and who is indistinguishable from that: those whom it is above with a chance of less than 97.5 %."""
    if not has_intervals(results):
        played = pluralise(results.ratings.openings, "opening")
        are = "is" if results.ratings.openings == 1 else "are"
        return f"{highest(results.ratings)} rated highest; {played} {are} too few to test whether that is chance."
    first, *others = results.ratings.ratings
    doubtful = [
        other.agent for other, above in zip(others, results.ratings.superiority[0][1:], strict=True) if above < _SURE
    ]
    if not doubtful:
        return f"{first.agent} is rated highest, significantly above everyone else."
    few = ", ".join(doubtful[:_FEW]) + (f" and {len(doubtful) - _FEW} more" if len(doubtful) > _FEW else "")
    return f"{highest(results.ratings)} rated highest, not significantly above {few}."


_SURE = 0.975
_FEW = 4
