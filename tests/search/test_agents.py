"""The life of players: opened for a batch, told of each game, closed once, however the games end."""

import random
import re
import signal
import time
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from knights_isolation import heuristics
from knights_isolation.experiments.plan import parse_agent
from knights_isolation.isolation import Board, Limit, play
from knights_isolation.isolation.games.batches import Positions, choose_moves
from knights_isolation.isolation.games.human import Seat, play_human
from knights_isolation.isolation.games.match import play_games
from knights_isolation.isolation.rules.board import Outcome
from knights_isolation.isolation.rules.game import REASON_WORDS, Reason, Size
from knights_isolation.isolation.search import SearchResult
from knights_isolation.isolation.search.agents import (
    PLACING_NODES,
    AgentDefaults,
    ForfeitError,
    GreedyAgent,
    RandomAgent,
    SearchAgent,
    choose_once,
    forfeit_from,
    opened_player,
)
from knights_isolation.isolation.search.classic_agent import ClassicAgent
from knights_isolation.isolation.search.perfect_agent import PerfectAgent

OPENINGS = [(24, 14), (0, 1), (8, 30)]


@dataclass
class Counting(AgentDefaults):
    """An agent whose players play the lowest cell, note what is asked of them, and fail as `failures` tells."""

    name: str = "Counting"
    is_deterministic: bool = True
    is_user_code: bool = False
    is_compilable: bool = False
    heuristic: None = None
    failures: dict = field(default_factory=dict)
    asked: list = field(default_factory=list)

    def settings(self):
        return {"kind": "counting"}

    def compiled(self, size):
        return None

    def note(self, what):
        self.asked.append(what)
        if what in self.failures:
            raise self.failures[what]

    def open(self):
        self.note("open")
        return CountingPlayer(self)

    def times(self, what):
        return self.asked.count(what)


@dataclass
class Pressing(Counting):
    """An agent during whose first move somebody presses Ctrl-C."""

    def note(self, what):
        super().note(what)
        if what == "choose":
            signal.raise_signal(signal.SIGINT)


@dataclass
class CountingPlayer:
    agent: Counting

    def new_game(self):
        self.agent.note("new game")

    def choose(self, board, seed):
        self.agent.note("choose")
        cell = board.legal_cells()[0]
        return SearchResult(cell, 0.0, 1, 1, 0.001, (cell,), False)

    def close(self):
        self.agent.note("close")


@dataclass
class Straying(Counting):
    """An agent whose players answer with the `cell` that they are given, whatever it is."""

    cell: object = None

    def open(self):
        return StrayingPlayer(self)


class StrayingPlayer(CountingPlayer):
    def choose(self, board, seed):
        return replace(super().choose(board, seed), move=self.agent.cell)


def games_against(agent, opponent=None):
    return play_games(agent, opponent or GreedyAgent(), OPENINGS, range(3))


def test_a_player_is_opened_once_a_batch_told_of_every_game_and_closed_last():
    agent = Counting()
    games_against(agent)
    assert (agent.times("open"), agent.times("new game"), agent.times("close")) == (1, 3, 1)
    assert (agent.asked[0], agent.asked[-1]) == ("open", "close")
    assert agent.asked[1:3] == ["new game", "choose"]


def test_both_sides_of_a_game_between_two_of_a_kind_are_opened_and_closed():
    first, second = Counting("one"), Counting("other")
    games_against(first, second)
    for agent in (first, second):
        assert (agent.times("open"), agent.times("new game"), agent.times("close")) == (1, 3, 1)


@pytest.mark.parametrize("what", ["new game", "choose"])
@pytest.mark.parametrize(
    ("failure", "reason", "detail"),
    [
        (ForfeitError(Reason.TIMEOUT, "took 9 ms of 5 ms"), Reason.TIMEOUT, "took 9 ms of 5 ms"),
        (KeyError("lost my way"), Reason.ERROR, "KeyError: 'lost my way'"),
        (SystemExit(3), Reason.ERROR, "SystemExit: 3"),
        (KeyboardInterrupt(), Reason.ERROR, "KeyboardInterrupt"),
    ],
)
def test_a_player_that_fails_loses_each_game_and_is_closed_once(what, failure, reason, detail):
    agent = Counting(failures={what: failure})
    games = games_against(agent)
    assert games.winner.tolist() == [2, 2, 2]
    assert games.reason.tolist() == [reason] * 3
    assert [output.partition(" (test_agents.py, line ")[0] for output in games.detail] == [detail] * 3
    assert (agent.times("open"), agent.times("new game"), agent.times("close")) == (1, 3, 1)


def test_an_interrupted_game_closes_both_players():
    first, second = Counting("one"), Pressing("other")
    with pytest.raises(KeyboardInterrupt):
        games_against(first, second)
    assert (first.times("close"), second.times("close")) == (1, 1)


@pytest.mark.parametrize("failure", [RuntimeError("stuck"), OSError("gone")])
def test_a_player_that_cannot_be_closed_loses_nothing_and_the_other_is_closed(failure):
    first, second = Counting("one", failures={"close": failure}), Counting("other", failures={"close": failure})
    games = games_against(first, second)
    assert games.reason.tolist() == [Reason.NO_MOVES] * 3
    assert (first.times("close"), second.times("close")) == (1, 1)


def test_if_the_second_player_cannot_be_opened_the_first_is_closed():
    first, second = Counting("one"), Counting("other", failures={"open": ValueError("no such engine")})
    with pytest.raises(ValueError, match="no such engine"):
        games_against(first, second)
    assert (first.times("close"), second.times("close")) == (1, 0)


@pytest.mark.parametrize("cell", [-1, 0, 49, 10**30, 1.5, None, "a1"])
def test_whatever_is_no_legal_cell_loses_as_an_illegal_move(cell):
    agent = Straying(cell=cell)
    record = play(agent, GreedyAgent(), opening=[0, 14])
    assert (record.winner, record.reason, record.detail) == (2, "illegal_move", f"played cell {cell}")
    answers = choose_moves(agent, Positions.of([(0, 14)], "7x7"), np.zeros(1, np.uint64))
    assert (Reason(answers.failure[0]), answers.detail) == (Reason.ILLEGAL_MOVE, f"played cell {cell}")
    said = []
    seat = Seat(agent, GreedyAgent(), 2, lambda prompt: "quit", said.append, lambda *game: None)
    assert play_human(seat, Size(7, 7), [0, 14]).detail == f"played cell {cell}"


def test_a_classic_player_has_a_fresh_object_for_each_game():
    made = []

    class Player:
        def __init__(self):
            made.append(self)

        def get_move(self, game, time_left):
            return game.get_legal_moves()[0]

    agent = ClassicAgent("it", Player, (), Limit(ms=1000))
    games_against(agent)
    assert len(made) == len(set(map(id, made))) == 3
    assert not choose_once(agent, Board.from_moves([24, 14]), 0).exact


@pytest.mark.parametrize(
    ("waits", "limit", "message"),
    [
        (True, Limit(ms=5), r"took (\d+\.\d) ms of 5 ms, (\d+\.\d) ms too long; it computed for .* under cpu_ms=5"),
        (False, Limit(ms=5), r"took (\d+\.\d) ms of 5 ms, (\d+\.\d) ms too long$"),
        (False, Limit(cpu_ms=5), r"took (\d+\.\d) ms of 5 ms, (\d+\.\d) ms too long$"),
    ],
)
def test_a_late_player_is_told_how_late_it_was_and_whether_it_computed_all_the_time(waits, limit, message):
    class Late:
        def get_move(self, game, time_left):
            started = time.process_time()
            if waits:
                time.sleep(0.01)
            while not waits and time.process_time() - started < 0.006:
                pass
            return game.get_legal_moves()[0]

    with pytest.raises(ForfeitError) as caught:
        choose_once(ClassicAgent("it", Late, (), limit), Board.from_moves([24, 14]), 0)
    took, late = map(float, re.search(message, caught.value.detail).groups())
    assert took - late == pytest.approx(5, abs=0.11)


def test_one_move_is_asked_of_a_player_that_is_opened_and_closed_for_it():
    agent = Counting()
    assert choose_once(agent, Board.from_moves([24, 14]), 0).move == 9
    assert agent.asked == ["open", "new game", "choose", "close"]
    failing = Counting(failures={"choose": RuntimeError()})
    with pytest.raises(RuntimeError):
        choose_once(failing, Board.from_moves([24, 14]), 0)
    assert failing.asked[-1] == "close"


def test_closing_lets_the_error_inside_through():
    agent = Counting(failures={"close": OSError()})
    with pytest.raises(KeyError), opened_player(agent.open()):
        raise KeyError
    assert agent.times("close") == 1


@pytest.mark.parametrize("lines", [["quit"], [], ["1", "quit"], ["hint", "resign"]])
def test_a_person_s_opponent_is_closed_when_the_game_is_over_or_left(lines):
    def ask(prompt):
        if not lines:
            raise EOFError
        return lines.pop(0)

    opponent, adviser = Counting("opponent"), Counting("adviser")
    seat = Seat(opponent, adviser, 1, ask, lambda text: None, lambda path, game: None)
    play_human(seat, Size(7, 7), [24, 14])
    assert (opponent.times("open"), opponent.times("close")) == (1, 1)
    assert adviser.times("open") == adviser.times("close")


# What agents say of themselves


SEARCH = SearchAgent("it", "alphabeta", heuristics.get("improved"), "improved", Limit(depth=30))
PERFECT = PerfectAgent("it", heuristics.get("territory"), "territory")
CLASSIC = ClassicAgent("it", object, (), Limit(ms=1000))


def test_only_a_search_is_cut_short_while_a_person_waits_for_its_placement():
    assert SEARCH.placing().limit == Limit(nodes=PLACING_NODES)
    assert replace(SEARCH, limit=Limit(nodes=10_000)).placing().limit == Limit(nodes=PLACING_NODES)
    assert replace(SEARCH, limit=Limit(nodes=10)).placing().limit == Limit(nodes=10)
    for agent in (RandomAgent(), GreedyAgent(), PERFECT, CLASSIC):
        assert agent.placing() is agent


def test_agents_know_whether_compiled_code_plays_their_games():
    assert all(agent.is_compilable for agent in (RandomAgent(), GreedyAgent(), SEARCH))
    assert not PERFECT.is_compilable
    assert not CLASSIC.is_compilable
    assert (RandomAgent().heuristic, CLASSIC.heuristic) == (None, None)


@pytest.mark.slow
def test_a_search_says_why_it_runs_interpreted_and_nobody_else_does():
    assert SEARCH.why_interpreted((7, 7)) == ""
    assert SEARCH.why_interpreted((12, 12)) == "compiled search supports up to 128 cells"

    def noisy(game, player):
        return random.random()

    refused = SearchAgent("it", "alphabeta", noisy, "noisy", Limit(depth=1)).why_interpreted((7, 7))
    assert "random" in refused
    assert "\n" not in refused
    for agent in (RandomAgent(), GreedyAgent("it", noisy, "noisy"), PERFECT, CLASSIC):
        assert agent.why_interpreted((12, 12)) == ""


# Reasons


def test_reasons_are_numbers_with_words():
    assert REASON_WORDS == ("no_moves", "timeout", "illegal_move", "error", "hang", "crash", "nonsense", "resigned")
    assert [int(reason) for reason in Reason] == list(range(8))
    record = play(parse_agent("random"), parse_agent("random"), [24, 14])
    assert record.reason == Reason.NO_MOVES.word
    assert Board.from_moves(record.moves).outcome() == Outcome(record.winner, "no_moves")


def test_an_exception_that_lies_about_its_class_loses_like_others():
    class Lying(Exception):
        __class__ = property(lambda self: 1 / 0)

    loss = forfeit_from(Lying("x"))
    assert (loss.reason, loss.detail) == (Reason.ERROR, "Lying: x")
