"""Pages of a league: the class, its players and their games; they load nothing from the network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from markupsafe import Markup

from knights_isolation.experiments.league.entries import Entry, LeagueEntries
from knights_isolation.experiments.league.league_results import (
    Blunder,
    ClassGame,
    PlayerForfeits,
    Results,
    forfeited,
    worst_of,
)
from knights_isolation.isolation.boards.drawing import Annotations, to_svg
from knights_isolation.isolation.editions.classic_board import Board
from knights_isolation.isolation.files.atomic_write import write_text
from knights_isolation.isolation.rules.notation import cell_name
from knights_isolation.isolation.sample_players import NO_MOVE
from knights_isolation.isolation.suggestions import command
from knights_isolation.isolation.usercode.user_exceptions import to_one_line

from ..charts.chart import Cell, Grid, strength
from ..charts.coloured_tables import UNRANKED
from ..charts.interval_rows import ladder
from ..pages.templates import data_url, page_with_script
from ..replay.replay import Replay, describe_end
from ..replay.replay_page import bundle, embedded
from ..text.cell_values import Share, pluralise
from ..text.sections import Section
from ..text.wording import forfeit_notes
from . import league_tables
from .page_paths import FOLDER, INDEX, SCRIPTS, games_of, page_of


def games_page(agent: str, results: Results) -> str:
    """Return the page with the moves of all games of a player."""
    mistakes: dict[int, list[int]] = {}
    for blunder in results.blunders:
        mistakes.setdefault(blunder.game.id, []).append(blunder.ply)
    games = [_as_json(game, agent, mistakes.get(game.id, [])) for game in results.of(agent)]
    return page_with_script(
        "games.html",
        bundle(SCRIPTS),
        title=f"Games of {agent}",
        agent=agent,
        back=page_of(agent),
        games=Markup(embedded(games)),
    )


def _as_json(game: ClassGame, agent: str, mistakes: list[int]) -> dict[str, Any]:
    side = game.agents.index(agent) + 1
    replay = Replay("", game.size, game.moves, game.agents, game.opening, 3 - game.loser, game.reason, game.detail)
    return {
        "id": game.id,
        "size": game.size,
        "agents": list(game.agents),
        "opening": game.opening,
        "moves": list(game.moves),
        "mistakes": mistakes,
        "end": describe_end(replay),
        "label": f"{game.id}: {'lost to' if game.loser == side else 'beat'} {game.agents[2 - side]}"
        + (f", {game.reason.replace('_', ' ')}" if game.is_forfeit else ""),
    }


_MOST_GAMES_NAMED = 8
_OUT_OF_TIME = ", the answer of players that run out of time before choosing a move"


def player_page(agent: str, book: LeagueEntries, results: Results) -> str:
    """Return the page of a player: rank, forfeits, worst mistakes, and all of its games."""
    wins, games = results.won(agent)
    entry = book.entry(agent)
    return page_with_script(
        "submission.html",
        title=agent,
        index=INDEX,
        games_page=games_of(agent),
        facts=[
            *_rank(agent, results),
            ("Games won", f"{wins} of {games}, {Share(wins / games).text}"),
            ("Forfeits", str(sum(forfeited(results, agent).values()))),
            ("Resigned", str(sum(game.agents[game.loser - 1] == agent for game in results.resigned))),
            *_submitted(entry),
        ],
        findings=_findings(entry),
        forfeits=[_forfeit(forfeit) for forfeit in results.forfeits if forfeit.agent == agent],
        blunders=[_blunder(blunder) for blunder in worst_of(results, agent)],
        no_blunders=_no_blunders(agent, results),
        opponents=_opponents(agent, results),
        links={other: page_of(other) for other in results.ranks},
        games=_games(agent, results),
        game_links={game.id: f"{games_of(agent)}#{game.id}" for game in results.of(agent)},
    )


def _rank(agent: str, results: Results) -> list[tuple[str, str]]:
    rank = results.ranks[agent]
    if rank is None:
        return [("Rank", "none: it never made a legal move" if agent in results.never_moved else "none")]
    rating = next(row["rating"].text for row in league_tables.ranking_section(results).rows if row["player"] == agent)
    return [("Rank", f"{rank} of {len(results.ratings.ratings)}"), ("Rating", rating)]


def _submitted(entry: Entry | None) -> list[tuple[str, str]]:
    if entry is None:
        return []
    player = entry.player
    edition = f", {player.edition} edition" if player.edition else ""
    folder = [("Folder", to_one_line(player.folder))] if player.is_renamed else []
    return [("Submitted", f"{player.file.name}:{player.player}{edition}"), *folder]


def _findings(entry: Entry | None) -> list[tuple[str, str, str]]:
    if entry is None:
        return []
    words = {True: "ok", False: "FAIL"}
    return [
        ("note" if finding.is_note else words[finding.ok], finding.check, finding.seen)
        for finding in entry.check.findings
    ]


def _forfeit(forfeit: PlayerForfeits) -> dict[str, Any]:
    listed = forfeit.games[:_MOST_GAMES_NAMED]
    return {
        "reason": forfeit.reason,
        "count": pluralise(len(forfeit.games), "game"),
        "detail": forfeit.detail + (_OUT_OF_TIME if forfeit.detail == f"played {NO_MOVE}" else ""),
        "games": listed,
        "unlisted": len(forfeit.games) - len(listed),
        "traceback": forfeit.traceback,
    }


def _blunder(blunder: Blunder) -> dict[str, Any]:
    before = Board.from_moves(blunder.game.moves[: blunder.ply - 1], blunder.game.size)
    played = blunder.game.moves[blunder.ply - 1]
    own = before.locations[before.active_index]
    svg = to_svg(before, marks=Annotations(arrows=((own, played),) if own is not None else (), numbers=False))
    opponent = blunder.game.agents[blunder.ply % 2]
    moves = f"its {blunder.legal} legal moves" if blunder.legal > 1 else "its only move"
    text = (
        f"Game {blunder.game.id}, ply {blunder.ply}, against {opponent}: "
        f"{cell_name(played, before.width)} gave the win away; {blunder.winning} of {moves} kept it."
    )
    return {"url": data_url("image/svg+xml", svg), "text": text, "game": blunder.game.id}


def _no_blunders(agent: str, results: Results) -> str:
    if results.why_unlabelled:
        return f"Its moves were not compared with perfect play: {results.why_unlabelled}."
    games = sum(game.id in results.labelled for game in results.of(agent))
    if not games:
        return "None of its games were compared with perfect play: forfeited games are excluded."
    return f"No mistakes in the {pluralise(games, 'game')} compared with perfect play."


def _opponents(agent: str, results: Results) -> Section:
    rows = []
    for other, rank in results.ranks.items():
        games = [game for game in results.of(agent) if other in game.agents]
        if games:
            won = sum(game.agents[2 - game.loser] == agent for game in games)
            rows.append({"opponent": other, "rank": rank, "games": len(games), "won": won, "lost": len(games) - won})
    return Section("opponents", "Results by opponent", tuple(rows))


def _games(agent: str, results: Results) -> Section:
    rows = []
    for game in results.of(agent):
        side = game.agents.index(agent) + 1
        rows.append(
            {
                "game": game.id,
                "opponent": game.agents[2 - side],
                "placed": "first" if side == 1 else "second",
                "result": "lost" if game.loser == side else "won",
                "ended_by": game.reason.replace("_", " "),
                "plies": len(game.moves),
            }
        )
    return Section("games", "Games", tuple(rows))


def _class_page(run: Path, book: LeagueEntries, results: Results) -> str:
    return page_with_script(
        "league.html",
        title=f"League: {run.name}",
        facts=_facts(results),
        headline=league_tables.headline(book, results),
        ladder=ladder(results.ratings) if league_tables.has_intervals(results) else None,
        ranking=league_tables.ranking_section(results, book.caveat),
        links={agent: page_of(agent) for agent in results.ranks},
        identical=league_tables.identical_section(book, results),
        forfeits=_reasons(results),
        checks=league_tables.checks_section(book),
        remarks=league_tables.remarks_section(book),
        skipped=league_tables.skipped_section(book),
        meetings=_meetings(results),
        command=command("league", "SUBMISSIONS", "--resume", run),
    )


def _facts(results: Results) -> list[tuple[str, str]]:
    info = results.findings.sources[0].info
    requested = info.requested
    players, ranked = len(results.ranks), len(results.ranks) - len(results.never_moved)
    played, counted = len(results.games), results.findings.played
    games = f"{counted:,} counted of {played:,}" if counted < played else f"{played:,}"
    return [
        ("Players", str(players) if ranked == players else f"{ranked} ranked of {players}"),
        ("Games", games if played == info.games else f"{games}, {info.games:,} planned"),
        ("Board", requested["board"]),
        ("Limit per move", requested["limit"]),
        ("Hard cap", f"{requested['hard_cap']:g} s" if requested["hard_cap"] else "none"),
        ("Played", info.created_at[:10]),
    ]


def _reasons(results: Results) -> Section:
    reasons = list(Counter(forfeit.reason for forfeit in results.forfeits))
    rows = []
    for agent in results.ranks:
        counts = forfeited(results, agent)
        if counts:
            row: dict[str, Any] = {"player": agent, **{reason: counts.get(reason, 0) for reason in reasons}}
            rows.append({**row, "all": sum(counts.values())})
    return Section("forfeits", "Forfeits by reason", tuple(rows), forfeit_notes(not rows, 0))


def _meetings(results: Results) -> Grid:
    ranks = {agent: str(rank or UNRANKED) for agent, rank in results.ranks.items()}
    won: Counter[tuple[str, str]] = Counter()
    met: Counter[tuple[str, str]] = Counter()
    for game in results.games:
        winner, loser = game.agents[2 - game.loser], game.agents[game.loser - 1]
        won[winner, loser] += 1
        met[winner, loser] += 1
        met[loser, winner] += 1
    rows = [(name, tuple(_met(won[name, other], met[name, other], name, other) for other in ranks)) for name in ranks]
    return Grid("Games won", tuple(ranks), tuple(rows), "rank, player", ranks=tuple(ranks.values()))


def _met(won: int, met: int, name: str, other: str) -> Cell:
    if not met:
        return Cell("–", 0)
    return Cell(str(won), strength(2 * won / met - 1, 1), f"{name} won {won} of {met} against {other}")


def write_pages(run: Path, book: LeagueEntries, results: Results) -> Path:
    """Write all pages of a class into a folder of its run, each atomically; return the path of the class's own.

    Raises:
        OSError: they cannot be written.
    """
    folder = run / FOLDER
    folder.mkdir(exist_ok=True)
    for name, make in pages(run, book, results).items():
        write_text(folder / name, make())
    return folder / INDEX


def pages(run: Path, book: LeagueEntries, results: Results) -> dict[str, Callable[[], str]]:
    """Return what makes each page of a class, by the page's file name; the class's own is the last."""
    made: dict[str, Callable[[], str]] = {}
    for agent in results.ranks:
        made[page_of(agent)] = partial(player_page, agent, book, results)
        made[games_of(agent)] = partial(games_page, agent, results)
    return {**made, INDEX: partial(_class_page, run, book, results)}
