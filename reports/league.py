"""Tables and pages of a league: the class, its players and their games; they load nothing from the network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from knights_isolation.experiments.league.entries import Check, LeagueEntries
from knights_isolation.experiments.league.league_run import League, Results, judge_league
from knights_isolation.experiments.league.submissions import check_folder
from knights_isolation.experiments.play.pools.interrupts import keeping
from knights_isolation.experiments.play.runner import RunOutcome
from knights_isolation.isolation.files.atomic_write import write_text
from knights_isolation.isolation.processes.subprocess_player import file_name
from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.drawing import Annotations, to_svg
from knights_isolation.isolation.rules.game import Size, parse_size
from knights_isolation.isolation.rules.geometry import cell_name
from knights_isolation.isolation.sample_players import NO_MOVE
from knights_isolation.isolation.suggestions import advice, command, tell
from knights_isolation.isolation.usercode.user_exceptions import to_one_line

from .answers import Result, RunLike, drawn, run_path
from .charts.chart import Cell, Grid, strength
from .charts.grids import UNRANKED
from .charts.interval_charts import ladder
from .pages.templates import data_url, page_with_script
from .replay import Replay, bundle, describe_end, embedded
from .studies.planning import dry_run as planned
from .tables.ratings import highest, rating_notes, rating_rows
from .tables.run_notes import of_runs
from .text.cell_values import Elo, Estimate, Share, pluralise
from .text.rendering import Section, render_sections, terminal_width, wrapped
from .text.wording import caveats, forfeit_notes, state_words
from .watch import counting, judging, play

if TYPE_CHECKING:
    from pandas import DataFrame

_SURE = 0.975
_FEW = 4
FEWEST = 5
"""Minimum number of openings for intervals: with fewer, most of them are open."""


def league_answer(
    submissions: Path,
    settings: Mapping[str, Any],
    resume: RunLike | None,
    *,
    jobs: int,
    out: str | Path | None,
    check_only: bool,
    dry_run: bool,
) -> Result[Any]:
    """Play a league, or resume it, write its pages, and return the ranking; or what its checks or its plan say.

    A league has those of the `settings` that are not None: `schedule`, and keys of the configuration.

    Raises:
        ValueError: there is no such folder or run, or something is invalid or excludes another.
        Stopped: the league was interrupted, in Python before its first game, or its evaluation was.
    """
    check_folder(submissions)
    given = {key: value for key, value in settings.items() if value is not None}
    if check_only and dry_run:
        raise ValueError("--check-only and --dry-run exclude each other: use one of them")
    if resume and given:
        option = next(iter(given))
        omit = advice(f"--{option.replace('_', '-')}", option)
        raise ValueError(f"{advice('--resume', 'resume')} keeps the settings of {resume}: omit {omit}")
    try:
        parse_size(given.get("board", "7x7"))
    except ValueError as error:
        raise ValueError(f"board: {error}") from None
    named = run_path(resume) if resume else None
    league = League(submissions, named, given, jobs, str(out) if out else None, counting)
    if check_only:
        book, board = league.entries()
        tell(board.sentence)
        return Result(book, check_sections(book), passes=not book.refused)
    with keeping(f"{named} is unchanged" if named else ""):
        if dry_run:
            return planned(*league.plan())
        book, outcome = league.play(play)
    goes_on = command("league", submissions, "--resume", outcome.path)
    with judging(outcome, goes_on, f"resume='{outcome.path}' plays the others"):
        return _ranking_answer(book, judge_league(outcome.path, jobs, counting), outcome)


def _ranking_answer(book: LeagueEntries, results: Results, outcome: RunOutcome) -> Result[Results]:
    pages = write_pages(outcome.path, book, results)
    ranking, *others = league_sections(book, results)
    notes = [wrapped(f"Note: {note}", terminal_width()) for note in outcome.plan.notes]
    text = "\n".join([*notes, render_sections((ranking, *others), "table")])
    games = f"{outcome.logged:,} of {outcome.total:,} games, logged in {outcome.path}"
    verdict = leading(results)
    remark = f"\n{games}\nPages: {pages}\n{wrapped(verdict, terminal_width())}"
    ranking = replace(ranking, notes=(*ranking.notes, f"Pages: {pages}"))
    sections = (ranking, *others, Section("verdict", "Verdict", ({"verdict": verdict},)))
    figure = partial(drawn, ladder(results.ratings), "Nobody has a rating.")
    return Result(results, sections, figure, text=text, remark=remark)


def league_sections(book: LeagueEntries, results: Results) -> tuple[Section, ...]:
    """Return the final report of a league: the ranking, then all problems."""
    identical, *found = _problems(book, results)
    problems = (identical, _forfeits_section(results), *found, _skipped_section(book))
    return (ranking_section(results, book.caveat), *(section for section in problems if section.rows))


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
    sections = (*_problems(book), Section("others", "Not submissions", others))
    return (listed, *(section for section in sections if section.rows))


def _remark(check: Check) -> str:
    passed = f"{pluralise(len(check.failures), 'check')} failed" if check.failures else "all checks passed"
    return f"{passed}, {pluralise(len(check.remarks), 'remark')}" if check.remarks else passed


def ranking_section(results: Results, caveat: str = "") -> Section:
    """Return all players by rating, with intervals if there are enough openings; unranked ones are last."""
    is_sure = has_intervals(results)
    rated = list(rating_rows(results.ratings, "player", is_sure))
    unranked = [(agent, *results.won(agent)) for agent, rank in results.ranks.items() if rank is None]
    rows = rated + [
        {"rank": None, "player": agent, "rating": None, "games": games, "wins": wins, "share": Share(wins / games)}
        for agent, wins, games in unranked
    ]
    rows = [row | {"forfeits": results.forfeited(row["player"]).total()} for row in rows]
    notes = [*rating_notes(results.findings, results.ratings, is_sure)]
    if rated and not is_sure:
        played = pluralise(results.ratings.openings, "opening")
        notes.append(f"Too few openings for intervals: {played}, at least {FEWEST} needed.")
    notes += [caveat] if caveat else []
    return of_runs(results.findings, [Section("ranking", "Ranking", tuple(rows), tuple(notes))])[0]


def _problems(book: LeagueEntries, results: Results | None = None) -> tuple[Section, Section, Section]:
    """Return submissions with identical code, after a league with their ranks; failed checks; what is worth a look."""
    rows: list[dict[str, Any]] = []
    for first, *others in book.identical:
        for other in others:
            row = {"player": first, "identical_to": other}
            ranks = results.ranks if results else {}
            rows.append(row | ({"rank": ranks.get(first), "rank_of_the_other": ranks.get(other)} if results else {}))
    notes = ("Same code but for comments, docstrings and layout; the code does not say who wrote it.",) * bool(rows)
    failed, noted = (
        tuple(
            {"player": entry.player.name, "check": finding.check, "seen": finding.seen}
            for entry in book.entries
            for finding in (entry.check.remarks if is_note else entry.check.failures)
        )
        for is_note in (False, True)
    )
    return (
        Section("identical", "Identical submissions", tuple(rows), notes),
        Section("checks", "Failed checks", failed),
        Section("remarks", "Remarks", noted),
    )


def has_intervals(results: Results) -> bool:
    """Return whether ratings have intervals, so that differences may be called significant."""
    return results.ratings.openings >= FEWEST


def _forfeits_section(results: Results) -> Section:
    rows: dict[tuple[str, str], dict[str, object]] = {}
    for forfeit in results.forfeits:
        games = results.forfeited(forfeit.agent)[forfeit.reason]
        row = {"player": forfeit.agent, "reason": forfeit.reason, "games": games, "most often": forfeit.detail}
        rows.setdefault((forfeit.agent, forfeit.reason), row)
    return Section("forfeits", "Forfeits", tuple(rows.values()))


def _skipped_section(book: LeagueEntries) -> Section:
    rows = tuple({"name": submission.name, "why": submission.why} for submission in book.skipped)
    return Section("skipped", "Not in the league", rows)


def headline(book: LeagueEntries, results: Results) -> list[str]:
    """Summarise the class in a few sentences: leader, forfeits, missing players."""
    sentences = [*caveats(results.findings), leading(results)]
    if results.forfeits:
        games = pluralise(sum(len(forfeit.games) for forfeit in results.forfeits), "game")
        losers = pluralise(len({forfeit.agent for forfeit in results.forfeits}), "player")
        sentences.append(f"{games} of {len(results.games):,} were forfeited, by {losers}.")
    sentences += forfeit_notes(False, len(results.resigned)) + book.renamed
    if book.refused:
        sentences.append(f"Not in the league: {', '.join(submission.name for submission in book.refused)}.")
    return sentences


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


def games_page(agent: str, results: Results) -> str:
    """Return the page with the moves of all games of a player."""
    mistakes = results.blunders.groupby("game_id")["ply"].agg(list).to_dict()
    games = [_as_json(game, results.info.size, mistakes) for game in _rows(results.of(agent))]
    return page_with_script(
        "games.html",
        bundle(SCRIPTS),
        title=f"Games of {agent}",
        agent=agent,
        back=page_of(agent),
        games=Markup(embedded(games)),
    )


def _rows(frame: DataFrame) -> Iterable[Any]:
    """Return the rows of a frame, with its columns as attributes."""
    return frame.itertuples(index=False)


def _as_json(game: Any, size: Size, mistakes: Mapping[Any, list[int]]) -> dict[str, Any]:
    agents, moves, opening = (game.agent_1, game.agent_2), tuple(game.moves.tolist()), len(game.opening)
    replay = Replay("", size, moves, agents, opening, game.winner, game.reason, game.detail)
    forfeit = f", {game.reason.replace('_', ' ')}" if game.is_forfeit else ""
    return {
        "id": game.game_id,
        "size": str(size),
        "agents": list(agents),
        "opening": opening,
        "moves": list(moves),
        "mistakes": mistakes.get(game.game_id, []),
        "end": describe_end(replay),
        "label": f"{game.game_id}: {'beat' if game.has_won else 'lost to'} {game.opponent}{forfeit}",
    }


_MOST_GAMES_NAMED = 8


def player_page(agent: str, book: LeagueEntries, results: Results) -> str:
    """Return the page of a player: rank, forfeits, worst mistakes, and all of its games."""
    wins, games = results.won(agent)
    entry, played, rank = book.entry(agent), results.of(agent), results.ranks[agent]
    rows = ranking_section(results).rows if rank else ()
    return page_with_script(
        "submission.html",
        title=agent,
        index=INDEX,
        games_page=games_of(agent),
        rank=rank,
        players=len(results.ratings.ratings),
        has_moved=agent not in results.never_moved,
        rating=next((row["rating"].text for row in rows if row["player"] == agent), ""),
        won=f"{wins} of {games}, {Share(wins / games).text}",
        forfeited=results.forfeited(agent).total(),
        resigned=int((results.resigned["lost_by"] == agent).sum()),
        entry=entry,
        folder=to_one_line(entry.player.folder) if entry and entry.player.is_renamed else "",
        forfeits=[forfeit for forfeit in results.forfeits if forfeit.agent == agent],
        most_games_named=_MOST_GAMES_NAMED,
        out_of_time=f"played {NO_MOVE}",
        blunders=_blunders(agent, results),
        why_unlabelled=results.why_unlabelled,
        compared=int(played["game_id"].isin(results.labelled).sum()),
        opponents=_opponents(played, results),
        links={other: page_of(other) for other in results.ranks},
        games=_games(played),
        game_links={number: f"{games_of(agent)}#{number}" for number in played["game_id"]},
    )


def _blunders(agent: str, results: Results) -> list[dict[str, Any]]:
    """Return a picture and a sentence of each of a player's worst mistakes."""
    size, shown = results.info.size, []
    for mistake in _rows(results.worst_of(agent).merge(results.of(agent), on="game_id", sort=False)):
        moves = mistake.moves.tolist()
        before, played = Board.from_moves(moves[: mistake.ply - 1], size), moves[mistake.ply - 1]
        own = before.locations[before.active_index]
        svg = to_svg(before, marks=Annotations(arrows=((own, played),) if own is not None else (), numbers=False))
        text = (
            f"Game {mistake.game_id}, ply {mistake.ply}, against {mistake.opponent}: "
            f"{cell_name(played, size.columns)} gave the win away; {mistake.winning} of "
            f"{f'its {mistake.legal} legal moves' if mistake.legal > 1 else 'its only move'} kept it."
        )
        shown.append({"url": data_url("image/svg+xml", svg), "text": text, "game": mistake.game_id})
    return shown


def _opponents(played: DataFrame, results: Results) -> Section:
    met = played.groupby("opponent")["has_won"].agg(["count", "sum"])
    rows = tuple(
        {"opponent": other, "rank": rank, "games": games, "won": won, "lost": games - won}
        for other, rank in results.ranks.items()
        if other in met.index
        for games, won in [map(int, met.loc[other])]
    )
    return Section("opponents", "Results by opponent", rows)


def _games(played: DataFrame) -> Section:
    rows = [
        {
            "game": game.game_id,
            "opponent": game.opponent,
            "placed": "second" if game.agent_1 == game.opponent else "first",
            "result": "won" if game.has_won else "lost",
            "ended_by": game.reason.replace("_", " "),
            "plies": len(game.moves),
        }
        for game in _rows(played)
    ]
    return Section("games", "Games", tuple(rows))


def _class_page(run: Path, book: LeagueEntries, results: Results) -> str:
    problems: dict[str, Any] = {part.key: part for part in (*_problems(book, results), _skipped_section(book))}
    return page_with_script(
        "league.html",
        **problems,
        title=f"League: {run.name}",
        info=results.info,
        players=len(results.ranks),
        ranked=len(results.ranks) - len(results.never_moved),
        played=len(results.games),
        counted=results.findings.played,
        headline=headline(book, results),
        ladder=ladder(results.ratings) if has_intervals(results) else None,
        ranking=ranking_section(results, book.caveat),
        links={agent: page_of(agent) for agent in results.ranks},
        forfeits=_reasons(results),
        meetings=_meetings(results),
        command=command("league", "SUBMISSIONS", "--resume", run),
    )


def _reasons(results: Results) -> Section:
    reasons = list(Counter(forfeit.reason for forfeit in results.forfeits))
    rows = []
    for agent in results.ranks:
        if counts := results.forfeited(agent):
            rows.append({"player": agent, **{reason: counts[reason] for reason in reasons}, "all": counts.total()})
    return Section("forfeits", "Forfeits by reason", tuple(rows), forfeit_notes(not rows, 0))


def _meetings(results: Results) -> Grid:
    ranks = {agent: str(rank or UNRANKED) for agent, rank in results.ranks.items()}
    won = Counter(zip(results.games["won_by"], results.games["lost_by"], strict=True))
    rows = [(name, tuple(_met(won[name, other], won[other, name], name, other) for other in ranks)) for name in ranks]
    return Grid("Games won", tuple(ranks), tuple(rows), "rank, player", ranks=tuple(ranks.values()))


def _met(won: int, lost: int, name: str, other: str) -> Cell:
    if not (met := won + lost):
        return Cell("–", 0)
    return Cell(str(won), strength((won - lost) / met, 1), f"{name} won {won} of {met} against {other}")


def write_pages(run: Path, book: LeagueEntries, results: Results) -> Path:
    """Write all pages of a class into a folder of its run, each atomically; return the path of the class's own."""
    folder = run / FOLDER
    folder.mkdir(exist_ok=True)
    for name, make in pages(run, book, results).items():
        write_text(folder / name, make())
    return folder / INDEX


def pages(run: Path, book: LeagueEntries, results: Results) -> dict[str, Callable[[], str]]:
    """Return what makes each page of a class, by the page's file name; the class's own is the last."""
    return {
        **{page_of(agent): partial(player_page, agent, book, results) for agent in results.ranks},
        **{games_of(agent): partial(games_page, agent, results) for agent in results.ranks},
        INDEX: partial(_class_page, run, book, results),
    }


FOLDER = "league"
INDEX = "index.html"
SCRIPTS = ("game.js", "board.js", "games.js")


def page_of(agent: str) -> str:
    """Return the file name of a player's page."""
    return f"player-{file_name(agent)}.html"


def games_of(agent: str) -> str:
    """Return the file name of the page with a player's games."""
    return f"games-{file_name(agent)}.html"
