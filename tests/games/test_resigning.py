"""Players that name no move: a resignation where every move loses, else a failure."""

import numpy as np
import pytest
from invented_runs import Invented
from played_games import NAMES, random_record, write_games

from knights_isolation.experiments.game_files import exported, import_pgn
from knights_isolation.experiments.league.league_run import read_results
from knights_isolation.experiments.queries import find_games
from knights_isolation.experiments.record.log import read_games
from knights_isolation.experiments.statistics.run_results import forfeits_of, load_findings
from knights_isolation.isolation import Board, Limit, play, solve
from knights_isolation.isolation.rules.third_sample_players import BasePlayer
from knights_isolation.isolation.search.agents import RandomAgent, is_lost
from knights_isolation.isolation.search.classic_agent import ClassicAgent
from knights_isolation.reports.replay import describe_end, replay_of_row
from knights_isolation.reports.tables.summary import forfeits_section
from knights_isolation.reports.text.wording import forfeit_sentences

WON, LOST = [24, 14], [24, 17]
"""Openings of which the side to move wins, and loses."""


def answering(answer):
    """A second-edition player that always gives this answer."""
    return ClassicAgent(
        "it", type("Answering", (), {"get_move": lambda self, game, time_left: answer}), (), Limit(ms=9e3)
    )


class PutsNothing(BasePlayer):
    """A third-edition player that puts None for an action."""

    def get_action(self, state):
        self.queue.put(None)


def test_the_openings_are_what_the_solver_says():
    assert [solve(Board.from_moves(moves)).winner for moves in (WON, LOST)] == [1, 2]
    assert [is_lost(Board.from_moves(moves)) for moves in (WON, LOST)] == [False, True]


@pytest.mark.parametrize("answer", [None, (-1, -1), (np.int64(-1), -1.0)])
@pytest.mark.parametrize(("opening", "reason"), [(WON, "illegal_move"), (LOST, "resigned")])
def test_no_move_is_a_resignation_only_where_every_move_loses(answer, opening, reason):
    game = play(answering(answer), RandomAgent(), opening)
    assert (game.winner, game.reason, game.moves) == (2, reason, tuple(opening))


@pytest.mark.parametrize("answer", [(-1, 0), [-1, -1], "(-1, -1)", (0, 0)])
def test_any_other_answer_is_illegal_in_a_lost_position_too(answer):
    assert play(answering(answer), RandomAgent(), LOST).reason == "illegal_move"


@pytest.mark.parametrize(("opening", "reason"), [(WON, "illegal_move"), (LOST, "resigned")])
def test_a_third_edition_player_resigns_by_an_action_of_none(opening, reason):
    game = play(ClassicAgent("it", PutsNothing, (), Limit(ms=9e3)), RandomAgent(), opening)
    assert (game.winner, game.reason) == (2, reason)


def test_where_the_solver_proves_nothing_no_move_is_illegal():
    assert play(answering(None), RandomAgent(), [0, 5], "9x11").reason == "illegal_move"
    assert play(answering(None), RandomAgent(), [0, 5], "12x12").reason == "illegal_move"


REASONS = ("no_moves", "resigned", "error", "no_moves")


def test_a_resigned_game_counts_as_lost_on_the_board(tmp_path):
    run = Invented().agent("A", "contender").agent("Base", "baseline")
    for opening, reasons in enumerate((REASONS[:2], REASONS[2:])):
        run.game("A", "Base", opening, False, reason=reasons[0]).game("Base", "A", opening, True, reason=reasons[1])
        run.pairs += 1
    findings = load_findings([run.write(tmp_path / "run")])
    assert [(group.reason, group.games) for group in forfeits_of(findings)] == [("error", 1)]
    assert forfeit_sentences(findings)[0].startswith("1 of 4 games (25.0 %) were forfeits")
    assert "1 game was resigned, which is no forfeit." in forfeits_section(findings).notes
    results = read_results(tmp_path / "run")
    assert results.resigned["game_id"].tolist() == [1]
    assert [forfeit.games for forfeit in results.forfeits] == [(2,)]


def test_a_resigned_game_is_found_told_and_exported_as_one(tmp_path):
    games = [random_record(seed, reason=reason) for seed, reason in enumerate(REASONS)]
    write_games(tmp_path / "run", games)
    assert find_games(tmp_path / "run", "forfeits")["game_id"].tolist() == [2]
    assert describe_end(replay_of_row("", vars(games[1]))).endswith(f"{NAMES[2 - games[1].winner]} resigned.")
    (tmp_path / "games.pgn").write_text("".join(exported(tmp_path / "run", "pgn")))
    import_pgn(tmp_path / "games.pgn", tmp_path / "again")
    assert read_games(tmp_path / "again", ["reason"])["reason"].tolist() == [*REASONS]
