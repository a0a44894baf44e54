import math
import re
from contextlib import suppress
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_games import games, small_sizes

from knights_isolation.experiments.game_files import append_game, load_game, save_game
from knights_isolation.isolation import Board
from knights_isolation.isolation.games import human
from knights_isolation.isolation.games.human import HUMAN, Answer, Seat, play_human, read_answer, why_illegal
from knights_isolation.isolation.rules.game import Limit, Reason, Size
from knights_isolation.isolation.rules.geometry import cell_name
from knights_isolation.isolation.sample_players import open_move_score
from knights_isolation.isolation.search import SearchResult
from knights_isolation.isolation.search.agents import (
    PLACING_NODES,
    ForfeitError,
    GreedyAgent,
    RandomAgent,
    SearchAgent,
    StatelessAgent,
)
from knights_isolation.reports.replay import describe_end, replay_of_row

SIZE = Size(3, 4)


@dataclass
class Session:
    """A person who types these lines; `shown` is what it sees."""

    lines: list
    shown: list = field(default_factory=list)
    saved: dict = field(default_factory=dict)

    def ask(self, prompt):
        self.shown.append(prompt)
        if not self.lines:
            raise EOFError
        return self.lines.pop(0)

    def play(self, opponent, size=SIZE, moves=(), side=1):
        seat = Seat(opponent, Lowest("Adviser"), side, self.ask, self.shown.append, self.saved.__setitem__, True)
        return play_human(seat, size, moves)

    @property
    def text(self):
        return "\n".join(self.shown)


@dataclass(frozen=True)
class Lowest(StatelessAgent):
    """An agent that plays the lowest legal cell."""

    name: str = "Lowest"

    def settings(self):
        return {"kind": "lowest"}

    def choose(self, board, seed):
        return SearchResult(board.legal_cells()[0], 1.5, 2, 10, 0.001, (board.legal_cells()[0],), False)


@dataclass(frozen=True)
class Failing(Lowest):
    """An agent that does what it should not."""

    failure: object = None

    def choose(self, board, seed):
        if isinstance(self.failure, Exception):
            raise self.failure
        return SearchResult(self.failure, 0.0, 1, 1, 0.0, (), False)


# What can be typed


@given(games(sizes=small_sizes), st.data())
def test_every_legal_move_can_be_typed_as_name_pair_and_number(board, data):
    legal = board.legal_cells()
    if legal:
        cell = data.draw(st.sampled_from(legal))
        row, column = divmod(cell, board.width)
        for text in (cell_name(cell, board.width), f"{row},{column}", f" ({row}, {column}) "):
            assert read_answer(text, board) == Answer("move", cell)
        if len(legal) <= 8:
            assert read_answer(str(legal.index(cell) + 1), board) == Answer("move", cell)


@given(st.text(max_size=12), games(sizes=small_sizes))
def test_whatever_is_typed_no_illegal_move_comes_of_it_and_no_other_error(text, board):
    with suppress(ValueError):
        answer = read_answer(text, board)
        assert answer.command != "move" or answer.cell in board.legal_cells()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "empty input; a move looks like d3"),
        ("   ", "empty input; a move looks like d3"),
        ("zz", "'zz' is not a cell: expected a column and a row like d3, or row,column like 3,3"),
        ("d9", "d9 is not on the 7x7 board (cells a0 to g6)"),
        ("a0", "a0 is not a knight's move from d3; from there you reach c1"),
        ("a2", "a2 is occupied by a knight"),
        ("e1", "e1 was already visited"),
        ("0", "no move 0: the listed moves are numbered 1 to 7"),
        ("8", "no move 8: the listed moves are numbered 1 to 7"),
        ("save", "save needs a file name, such as save game.json"),
        ("undo it", "undo takes no arguments"),
    ],
)
def test_what_cannot_be_played_is_refused_with_the_reason(text, complaint):
    board = Board.from_moves([11, 1, 24, 14])
    with pytest.raises(ValueError, match=re.escape(complaint)):
        read_answer(text, board)


def test_before_the_placement_there_is_no_list_to_take_a_number_from():
    with pytest.raises(ValueError, match="no numbered moves are listed"):
        read_answer("3", Board(1, 2))


@given(games(sizes=small_sizes))
def test_there_is_a_reason_for_every_cell_that_is_not_legal(board):
    if board.legal_cells():
        for cell in set(range(board.width * board.height)) - set(board.legal_cells()):
            assert cell_name(cell, board.width) in why_illegal(board, cell)


# Playing


def test_a_game_is_played_to_its_end_and_recorded():
    # On 3x4 the lowest cells are a0, then b2 and so on; Human takes what is listed first.
    session = Session(["d2", *["1"] * 12])
    game = session.play(Lowest())
    board = Board.from_moves(game.moves, "3x4")
    assert board.outcome().winner == game.winner
    assert (game.agent_1, game.agent_2, game.reason) == (HUMAN, "Lowest", "no_moves")
    assert [math.isnan(score) for score in game.score] == [ply % 2 == 0 for ply in range(len(game.moves))]
    assert {len(column) for column in (game.moves, game.score, game.depth, game.nodes, game.time_us, game.exact)} == {
        len(game.moves)
    }
    assert ("You won." if game.winner == 1 else "Lowest won.") in session.text


def test_the_second_side_moves_second():
    session = Session(["d2"])
    assert session.play(Lowest(), side=2) is None
    assert "You play 2 against Lowest and move second" in session.text
    assert "Lowest places a0 (score 1.5, 2 plies deep)." in session.text


def test_wrong_input_is_explained_and_asked_for_again():
    session = Session(["x", "9,9", "d2"])
    session.play(Lowest())
    assert session.text.count("Not possible: ") == 2
    assert session.text.count("Your move: ") == 4


@pytest.mark.parametrize("lines", [[], ["d2"], ["quit"]])
def test_the_end_of_the_input_ends_the_game_politely(lines):
    session = Session(lines)
    assert session.play(Lowest()) is None
    assert "Goodbye." in session.shown[-1]


def test_ctrl_c_ends_the_game_politely():
    session = Session([])

    def interrupt(prompt):
        raise KeyboardInterrupt

    session.ask = interrupt
    assert session.play(Lowest()) is None


def test_undo_takes_back_ones_own_move_and_the_reply():
    session = Session(["undo", "d2", "b1", "undo", "undo", "c2", "resign"])
    game = session.play(Lowest(), size=Size(7, 7))
    assert "Not possible: you have not moved yet." in session.text
    assert [cell_name(cell, 7) for cell in game.moves] == ["c2", "a0"]
    assert len(game.score) == 2


def test_resigning_loses_the_game():
    game = Session(["d2", "resign"]).play(Lowest(), side=1)
    assert (game.winner, game.reason) == (2, "resigned")
    assert describe_end(replay_of_row("", vars(game))) == "Lowest has won: Human resigned."


def test_hint_help_and_moves_change_nothing():
    session = Session(["hint", "help", "moves", "d2", "hint", "resign"])
    game = session.play(Lowest())
    assert len(game.moves) == 2
    assert "Hint: Adviser would play a0" in session.text
    assert human.HELP in session.text


def test_the_game_so_far_is_saved_and_taken_up_again(tmp_path):
    session = Session(["d2", f"save {tmp_path / 'my game.json'}", "quit"])
    session.saved = type("Disk", (), {"__setitem__": lambda self, path, game: save_game(path, game)})()
    session.play(Lowest(), size=Size(7, 7))
    saved = load_game(tmp_path / "my game.json")
    assert (saved.winner, [cell_name(cell, 7) for cell in saved.moves]) == (0, ["d2", "a0"])
    again = Session(["resign"]).play(Lowest(), Size(7, 7), saved.moves)
    assert again.moves == again.opening == saved.moves


def test_a_file_that_cannot_be_written_does_not_end_the_game(tmp_path):
    session = Session(["d2", f"save {tmp_path}/missing/game.json", "resign"])
    session.saved = type("Disk", (), {"__setitem__": lambda self, path, game: save_game(path, game)})()
    assert session.play(Lowest()).reason == "resigned"
    assert "Not saved: No such file or directory." in session.text


@pytest.mark.parametrize(
    ("failure", "reason"),
    [(ForfeitError(Reason.TIMEOUT, "took 99 ms"), "timeout"), (RuntimeError("oops"), "error"), (11, "illegal_move")],
)
def test_an_opponent_that_fails_has_lost(failure, reason):
    session = Session(["d2"])
    game = session.play(Failing("Failing", failure))
    assert (game.winner, game.reason) == (1, reason)
    assert "You won." in session.text


def test_a_finished_game_goes_into_a_log(tmp_path):
    game = Session(["d2", "resign"]).play(Lowest())
    assert append_game(tmp_path / "log", game, (None, Lowest()), seed=7) == 0


def test_search_players_place_their_knights_quickly_and_others_as_ever():
    deep = SearchAgent("deep", "alphabeta", open_move_score, "open", Limit(depth=30))
    assert deep.placing().limit == Limit(nodes=PLACING_NODES)
    few = SearchAgent("few", "alphabeta", open_move_score, "open", Limit(nodes=5))
    assert few.placing() == few
    for agent in (RandomAgent(), GreedyAgent()):
        assert agent.placing() is agent


def test_a_search_player_of_any_depth_answers_on_the_empty_board():
    session = Session([])
    session.play(SearchAgent("deep", "alphabeta", open_move_score, "open", Limit(depth=30)), size=Size(7, 7), side=2)
    assert re.search(r"deep places [a-g][0-6] \(score", session.text)
