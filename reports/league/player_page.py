"""Page of a player: rank, forfeits, worst mistakes, games."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from knights_isolation.experiments.league.entries import Entry, LeagueEntries
from knights_isolation.experiments.league.league_results import Blunder, PlayerForfeits, Results, forfeited, worst_of
from knights_isolation.isolation.boards.drawing import Annotations
from knights_isolation.isolation.boards.render import to_svg
from knights_isolation.isolation.editions.classic_board import Board
from knights_isolation.isolation.rules.notation import cell_name
from knights_isolation.isolation.sample_players import NO_MOVE
from knights_isolation.isolation.usercode.user_exceptions import to_one_line
from knights_isolation.reports.league.league_tables import ranking_section
from knights_isolation.reports.league.page_paths import INDEX, games_of, page_of
from knights_isolation.reports.pages.templates import data_url, page_template, script_of
from knights_isolation.reports.text.cell_values import Share, pluralise
from knights_isolation.reports.text.sections import Section

_MOST_GAMES_NAMED = 8
_OUT_OF_TIME = ", the answer of players that run out of time before choosing a move"


def player_page(agent: str, book: LeagueEntries, results: Results) -> str:
    """Return the page of a player: rank, forfeits, worst mistakes, and all of its games."""
    script, digest = script_of("report.js")
    wins, games = results.won(agent)
    entry = book.entry(agent)
    return page_template("submission.html").render(
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
        script=script,
        script_hash=digest,
    )


def _rank(agent: str, results: Results) -> list[tuple[str, str]]:
    rank = results.ranks[agent]
    if rank is None:
        return [("Rank", "none: it never made a legal move" if agent in results.never_moved else "none")]
    rating = next(row["rating"].text for row in ranking_section(results).rows if row["player"] == agent)
    return [("Rank", f"{rank} of {len(results.ratings.ratings)}"), ("Rating", rating)]


def _submitted(entry: Entry | None) -> list[tuple[str, str]]:
    if entry is None:
        return []
    player = entry.player
    edition = f", {player.edition} edition" if player.edition else ""
    folder = [("Folder", to_one_line(player.folder))] if player.is_renamed else []
    return [("Submitted", f"{player.file.name}:{player.player}{edition}"), *folder]


def _findings(entry: Entry | None) -> list[tuple[str, str, str]]:
    """Return each finding: its mark, the check, and the result."""
    if entry is None:
        return []
    words = {True: "ok", False: "FAIL"}
    return [
        ("note" if finding.is_note else words[finding.ok], finding.check, finding.seen)
        for finding in entry.check.findings
    ]


@dataclass(frozen=True)
class _ForfeitRow:
    """Games lost for the same reason, as a row of the page."""

    reason: str
    count: str
    detail: str
    games: tuple[int, ...]
    unlisted: int
    traceback: str


def _forfeit(forfeit: PlayerForfeits) -> _ForfeitRow:
    listed_games = forfeit.games[:_MOST_GAMES_NAMED]
    detail = forfeit.detail + (_OUT_OF_TIME if forfeit.detail == f"played {NO_MOVE}" else "")
    return _ForfeitRow(
        forfeit.reason,
        pluralise(len(forfeit.games), "game"),
        detail,
        listed_games,
        len(forfeit.games) - len(listed_games),
        forfeit.traceback,
    )


def _blunder(blunder: Blunder) -> dict[str, Any]:
    """Return a mistake for the page: the position before it, and the move as an arrow."""
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
