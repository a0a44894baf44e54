"""Tables of a league: ranking, forfeits, checks, excluded submissions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from knights_isolation.experiments.league.entries import LeagueEntries
from knights_isolation.experiments.league.league_results import Results, forfeited
from knights_isolation.experiments.league.submission_checks import Check
from knights_isolation.isolation.checks.check_result import CheckResult

from ..tables.ratings import highest, rating_notes, rating_rows
from ..tables.summary import of_runs
from ..text.cell_values import Elo, Estimate, Share, pluralise
from ..text.sections import Section
from ..text.wording import caveats, forfeit_notes, state_words

_SURE = 0.975
_FEW = 4
FEWEST = 5
"""Minimum number of openings for intervals: with fewer, most of them are open."""


def league_sections(book: LeagueEntries, results: Results) -> tuple[Section, ...]:
    """Return the final report of a league: the ranking, then all problems."""
    sections = (
        ranking_section(results, book.caveat),
        identical_section(book, results),
        _forfeits_section(results),
        checks_section(book),
        remarks_section(book),
        skipped_section(book),
    )
    return tuple(section for section in sections if section.rows or section.key == "ranking")


def check_sections(book: LeagueEntries) -> tuple[Section, ...]:
    """Return the report of a class that has only been checked: all submissions, then their problems."""
    rows = [
        {
            "submission": entry.player.name,
            "plays": True,
            "file": entry.player.file.name,
            "player": entry.player.player,
            "edition": entry.player.edition or None,
            "remark": _remark(entry.check),
        }
        for entry in book.entries
    ]
    unknown = {"file": None, "player": None, "edition": None}
    rows += [{"submission": refused.name, "plays": False, **unknown, "remark": refused.why} for refused in book.refused]
    title = f"{len(book.entries)} of {pluralise(len(rows), 'submission')} can play."
    caveats = (book.caveat,) if book.caveat else ()
    listed = Section("submissions", title, tuple(sorted(rows, key=lambda row: str(row["submission"]))), caveats)
    others = tuple({"name": entry.name, "why": entry.why} for entry in book.skipped if not entry.is_submission)
    problems = (identical_section(book), checks_section(book), remarks_section(book))
    sections = (*problems, Section("others", "Not submissions", others))
    return (listed, *(section for section in sections if section.rows))


def _remark(check: Check) -> str:
    passed = f"{pluralise(len(check.failures), 'check')} failed" if check.failures else "all checks passed"
    return f"{passed}, {pluralise(len(check.remarks), 'remark')}" if check.remarks else passed


def ranking_section(results: Results, caveat: str = "") -> Section:
    """Return all players by rating, with intervals if there are enough openings; unranked ones are last."""
    is_sure = has_intervals(results)
    rated = tuple(rating_rows(results.ratings, "player", is_sure))
    unranked = [agent for agent, rank in results.ranks.items() if rank is None]
    rows = [*rated, *(_unranked(agent, results) for agent in unranked)]
    rows = [row | {"forfeits": sum(forfeited(results, row["player"]).values())} for row in rows]
    notes = [*rating_notes(results.findings, results.ratings, is_sure)]
    notes += [_too_few(results)] if rated and not is_sure else []
    notes += [caveat] if caveat else []
    return of_runs(results.findings, [Section("ranking", "Ranking", tuple(rows), tuple(notes))])[0]


def _unranked(agent: str, results: Results) -> dict[str, object]:
    wins, games = results.won(agent)
    return {
        "rank": None, "player": agent, "rating": None, "games": games, "wins": wins, "share": Share(wins / games),
    }  # fmt: skip


def identical_section(book: LeagueEntries, results: Results | None = None) -> Section:
    """Return groups of submissions with identical code; after a league with their ranks."""
    rows = []
    for first, *others in book.identical:
        for other in others:
            ranks = (results.ranks.get(first), results.ranks.get(other)) if results else None
            names = {"player": first, "identical_to": other}
            rows.append(names | ({"rank": ranks[0], "rank_of_the_other": ranks[1]} if ranks else {}))
    notes = ("Same code but for comments, docstrings and layout; the code does not say who wrote it.",)
    return Section("identical", "Identical submissions", tuple(rows), notes if rows else ())


def has_intervals(results: Results) -> bool:
    """Return whether ratings have intervals, so that differences may be called significant."""
    return results.ratings.openings >= FEWEST


def _too_few(results: Results) -> str:
    played = pluralise(results.ratings.openings, "opening")
    return f"Too few openings for intervals: {played}, at least {FEWEST} needed."


def _forfeits_section(results: Results) -> Section:
    rows: dict[tuple[str, str], dict[str, object]] = {}
    for forfeit in results.forfeits:
        games = forfeited(results, forfeit.agent)[forfeit.reason]
        row = {"player": forfeit.agent, "reason": forfeit.reason, "games": games, "most often": forfeit.detail}
        rows.setdefault((forfeit.agent, forfeit.reason), row)
    return Section("forfeits", "Forfeits", tuple(rows.values()))


def checks_section(book: LeagueEntries) -> Section:
    """Return what the checks found wrong with players that play nevertheless."""
    return _findings("checks", "Failed checks", book, lambda check: check.failures)


def remarks_section(book: LeagueEntries) -> Section:
    """Return what the checks found worth a look."""
    return _findings("remarks", "Remarks", book, lambda check: check.remarks)


def _findings(key: str, title: str, book: LeagueEntries, of: Callable[[Check], Sequence[CheckResult]]) -> Section:
    rows = tuple(
        {"player": entry.player.name, "check": finding.check, "seen": finding.seen}
        for entry in book.entries
        for finding in of(entry.check)
    )
    return Section(key, title, rows)


def skipped_section(book: LeagueEntries) -> Section:
    """Return the excluded submissions with reasons."""
    rows = tuple({"name": submission.name, "why": submission.why} for submission in book.skipped)
    return Section("skipped", "Not in the league", rows)


def verdict_section(results: Results) -> Section:
    """Return the verdict as a table for programs, which do not read the sentences."""
    return Section("verdict", "Verdict", ({"verdict": leading(results)},))


def headline(book: LeagueEntries, results: Results) -> list[str]:
    """Summarise the class in a few sentences: leader, forfeits, missing players."""
    sentences = [*caveats(results.findings), leading(results)]
    losers = {forfeit.agent for forfeit in results.forfeits}
    if losers:
        games = sum(len(forfeit.games) for forfeit in results.forfeits)
        sentences.append(
            f"{pluralise(games, 'game')} of {len(results.games):,} were forfeited, "
            f"by {pluralise(len(losers), 'player')}."
        )
    sentences += forfeit_notes(False, len(results.resigned)) + tuple(renamed(book))
    if book.refused:
        sentences.append(f"Not in the league: {', '.join(submission.name for submission in book.refused)}.")
    return sentences


def renamed(book: LeagueEntries) -> list[str]:
    """Return a sentence for each player whose name differs from its folder's, for example since that has changed."""
    return [
        f"The folder {entry.player.folder!r} has changed since {entry.changed_from} played: what it holds now plays as "
        f"{entry.player.name}, and the games of {entry.changed_from} stay."
        if entry.changed_from
        else f"The player of the folder {entry.player.folder!r} is called {entry.player.name}."
        for entry in book.entries
        if entry.player.is_renamed
    ]


def leading(results: Results) -> str:
    """Name the leader, its lead, and the players over which its superiority has a likelihood of less than 97.5 %.

    Of an unfinished league it begins with its state, and calls nothing significant.
    """
    return state_words(results.findings) + _leading(results)


def _leading(results: Results) -> str:
    first, *others = results.ratings.ratings or (None,)
    if first is None:
        moved = [agent for agent in results.ranks if agent not in results.never_moved]
        if len(moved) > 1:
            return "No complete pairs of games to judge yet."
        return f"{f'Only {moved[0]}' if moved else 'No player'} made legal moves, so there is no ranking."
    lead = f"{highest(results.ratings)} rated highest of {pluralise(len(others) + 1, 'player')}"
    if not has_intervals(results):
        played = pluralise(results.ratings.openings, "opening")
        are = "is" if results.ratings.openings == 1 else "are"
        return f"{lead}: {Elo(first.elo).text} Elo; {played} {are} too few to test whether that is chance."
    interval = Estimate(Elo(first.elo), Elo(first.low), Elo(first.high)).text
    if results.findings.is_interim:
        return f"{lead}: {interval} Elo."
    below = zip(others, results.ratings.ranks[1:], results.ratings.superiority[0][1:], strict=True)
    doubtful = [other.agent for other, rank, above in below if rank > 1 and above < _SURE]
    if not doubtful:
        return f"{lead}: {interval} Elo, significantly above everyone else."
    few = ", ".join(doubtful[:_FEW]) + (f" and {len(doubtful) - _FEW} more" if len(doubtful) > _FEW else "")
    return f"{lead}: {interval} Elo, not significantly above {few}."
