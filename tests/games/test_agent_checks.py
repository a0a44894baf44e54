"""Checks of players: what they play, how long they take, and whether their searches are right, told in plain words."""

import re
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from click.testing import CliRunner

from cli import main
from knights_isolation.isolation import solve
from knights_isolation.isolation.checks import agent_checks
from knights_isolation.isolation.checks.agent_checks import check_player
from knights_isolation.isolation.rules.third_sample_players import BasePlayer
from knights_isolation.isolation.sample_players import CustomPlayer, IsolationPlayer, MinimaxPlayer

INFINITY = float("inf")


class Prompt:
    """A player that moves at once."""

    def get_move(self, game, time_left):
        return game.get_legal_moves()[0]


def seen_of(factory, check):
    (finding,) = (finding for finding in check_player(factory) if finding.check == check)
    return finding


@pytest.mark.parametrize(("player", "method"), [(MinimaxPlayer, "minimax"), (CustomPlayer, "alphabeta")])
def test_right_searches_agree_with_the_reference_in_480_comparisons(player, method):
    class Quick(player):
        get_move = Prompt.get_move

    finding = seen_of(Quick, f"fixed-depth {method}")
    assert finding.ok
    assert "in 480 comparisons" in finding.seen


def open_moves(game, player):
    """A score that does not know the end of the game."""
    return len(game.get_legal_moves(player))


class Pruning(IsolationPlayer):
    """Alpha-beta with one thing wrong, which `wrong` names."""

    get_move = Prompt.get_move
    wrong = ""

    def alphabeta(self, game, depth, alpha=-INFINITY, beta=INFINITY):
        if self.wrong == "gives up":
            return -1, -1
        if self.wrong == "a score without ends":
            self.score = open_moves
        best, best_move = -INFINITY, (-1, -1) if self.wrong == "no move where all lose" else game.get_legal_moves()[0]
        for move in game.get_legal_moves():
            value = self._value(game.forecast_move(move), depth - 1, alpha, beta, False)
            if value > best or (value == best and self.wrong == "the last of equal scores"):
                best, best_move = value, move
            alpha = max(alpha, best) + (1 if self.wrong == "a window too narrow" else 0)
        return best_move

    def _value(self, game, depth, alpha, beta, maximizing):
        moves = game.get_legal_moves()
        if depth == 0 or not moves:
            return self.score(game, self)
        best = -INFINITY if maximizing else INFINITY
        for move in moves:
            value = self._value(game.forecast_move(move), depth - 1, alpha, beta, not maximizing)
            best = max(best, value) if maximizing else min(best, value)
            if best <= alpha if self.wrong == "cuts on one side only" or not maximizing else best >= beta:
                return best
            if maximizing:
                alpha = max(alpha, best)
            else:
                beta = min(beta, best)
        return best


def test_alpha_beta_that_prunes_rightly_passes():
    assert seen_of(Pruning, "fixed-depth alphabeta").ok


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("a window too narrow", "is worth"),
        ("cuts on one side only", "is worth"),
        (
            "the last of equal scores",
            r"\(., .\) is worth .*: takes the last of equal scores, which after a cut is only a bound$",
        ),
        (
            "a score without ends",
            r"\(., .\) wins at once; your score gives a finished game -?\d+: test `is_winner`$",
        ),
        ("gives up", r"plays \(-1, -1\), as if it had no move, at depth 1 of .* are legal$"),
    ],
)
def test_wrong_alpha_beta_shows(wrong, message):
    finding = seen_of(type("Wrong", (Pruning,), {"wrong": wrong}), "fixed-depth alphabeta")
    assert not finding.ok
    assert not finding.is_note
    assert re.search(message, finding.seen)


class Resigning(Prompt):
    """Answers None where every move loses."""

    def get_move(self, game, time_left):
        winning = solve(game.copy()).moves
        return divmod(winning[0], game.width) if winning else None


@pytest.mark.slow
def test_no_move_where_every_move_loses_is_a_remark_and_no_failure():
    moves, remark, *_ = (each for each in check_player(Resigning) if each.check in ("moves", "resigning"))
    legal = int(re.fullmatch(r"legal on (\d+) positions", moves.seen)[1])
    told = f"names no move on {20 - legal} positions where every move loses: a resignation, which changes no result"
    assert moves.ok
    assert 0 < legal < 20
    assert (remark.ok, remark.is_note) == (False, True)
    assert told in remark.seen
    finding = seen_of(type("Right", (Pruning,), {"wrong": "no move where all lose"}), "fixed-depth alphabeta")
    assert finding.ok
    assert "8 times it names no move where every move loses: a resignation, which changes no result" in finding.seen


class Incomparable:
    """An object that fails whatever it is asked."""

    def fail(self, *of):
        raise KeyError("asked")

    __eq__ = __hash__ = __len__ = __iter__ = __bool__ = __repr__ = __float__ = __int__ = __index__ = fail
    __class__ = property(fail)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda: np.array([2, 1]), "array([2, 1])"),
        (lambda: "c2", "'c2'"),
        (lambda: [2, 1], "[2, 1]"),
        (lambda: (2, "1"), "(2, '1')"),
        (lambda: (2, 1, 0), "(2, 1, 0)"),
        (lambda: Incomparable(), "(unprintable KeyError)"),
        (lambda: (Incomparable(), Incomparable()), "(unprintable KeyError)"),
    ],
)
def test_an_answer_that_is_no_pair_of_numbers_is_named_as_such(answer, said):
    class Answering(Prompt):
        def score(self, game, player):
            return 0.0

        def get_move(self, game, time_left):
            return answer()

        def minimax(self, game, depth):
            return answer()

    findings = {finding.check: finding for finding in check_player(Answering)}
    for check in ("moves", "fixed-depth minimax"):
        assert findings[check].seen.startswith(f"returned {said}, not a pair of numbers (test_agent_checks.py, line ")


def test_numpys_numbers_are_numbers():
    class Numpy(Pruning):
        def get_move(self, game, time_left):
            return tuple(np.array(game.get_legal_moves()[0]))

        def alphabeta(self, game, depth):
            return np.float64(1), tuple(np.array(super().alphabeta(game, depth), float))

    assert all(finding.ok for finding in check_player(Numpy))


def test_an_answer_whose_repr_never_ends_does_not_stop_the_checks(monkeypatch):
    class Endless:
        def __repr__(self):
            while True:
                pass

    monkeypatch.setattr(agent_checks, "LONGEST_MOVE", 0.05)
    player = type("Odd", (Prompt,), {"get_move": lambda self, game, time_left: Endless()})
    assert seen_of(player, "moves").seen.startswith("returned (unprintable UserCodeTimeout), not a pair of numbers")


def _unwritten(self, game, depth):
    raise NotImplementedError


@pytest.mark.parametrize(
    ("minimax", "message"),
    [
        (lambda self, game, depth: None, "returns None (is the method still to be written?) at depth 1"),
        (lambda self, game, depth: [], "returned [], not a pair of numbers (test_agent_checks.py, line "),
        (lambda self, game, depth: (0.0, None), "returns None (is the method still to be written?) at depth 1"),
        (_unwritten, "raises NotImplementedError (still to be written) at depth 1"),
    ],
)
def test_methods_that_answer_no_move_are_told(minimax, message):
    player = type("Unfilled", (Prompt,), {"minimax": minimax, "score": lambda self, game, player: 0.0})
    finding = seen_of(player, "fixed-depth minimax")
    assert not finding.ok
    assert finding.seen.startswith(message)


def test_a_template_is_named_on_the_command_line(tmp_path):
    (tmp_path / "game_agent.py").write_text(
        "class CustomPlayer:\n    def get_move(self, game, legal_moves, time_left):\n        pass\n"
    )
    result = CliRunner().invoke(main, ["test-agent", str(tmp_path / "game_agent.py")])
    assert result.exit_code == 1
    assert "FAIL  moves: returns None (is the method still to be written?) at Board" in result.output


def test_a_score_that_raises_only_in_the_reference_is_told():
    class Player(Prompt):
        def score(self, game, player):
            raise ZeroDivisionError("no blanks")

        def minimax(self, game, depth):
            return game.get_legal_moves()[0]

    assert "raises ZeroDivisionError: no blanks" in seen_of(Player, "fixed-depth minimax").seen


def test_a_search_by_a_score_left_to_chance_is_told_and_no_failure():
    class Player(Prompt, MinimaxPlayer):
        def __init__(self):
            super().__init__(score_fn=chancy)

    finding = seen_of(Player, "fixed-depth minimax")
    assert (finding.ok, finding.is_note) == (False, True)
    assert "random" in finding.seen


def chancy(game, player):
    import random

    return random.random()


def busy_for(milliseconds, *times):
    """A player of the first edition that computes for so long in those of its class's moves, counted from 0."""

    class Busy:
        asked = -1

        def get_move(self, game, legal_moves, time_left):
            Busy.asked += 1
            started = time.process_time()
            while Busy.asked in times and time.process_time() - started < milliseconds / 1e3:
                pass
            return legal_moves[0]

    return Busy


@pytest.mark.parametrize(
    ("player", "ok", "is_note", "message"),
    [
        (busy_for(170, 0, 1), True, False, "limit 200 ms"),
        (busy_for(210, 3), False, True, "no other exceeded it"),
        (busy_for(210, 3, 5), False, False, "2 exceeded it"),
    ],
)
def test_one_slow_move_among_many_is_a_note_by_the_limit_of_the_edition(player, ok, is_note, message):
    finding = seen_of(player, "time")
    assert (finding.ok, finding.is_note) == (ok, is_note)
    assert message in finding.seen


@pytest.mark.slow
def test_time_that_others_take_is_not_the_players():
    class Sleeper(Prompt):
        def get_move(self, game, time_left):
            time.sleep(0.16)
            assert time_left() > 140
            return super().get_move(game, time_left)

    finding = seen_of(Sleeper, "time")
    assert finding.ok
    assert "20 exceeded the limit in wall time, which matters only for limits in ms" in finding.seen


# The third edition


class Searching(BasePlayer):
    """Minimax of the third edition with one thing wrong, which `wrong` names."""

    wrong = ""

    def get_action(self, state):
        self.queue.put(state.actions()[-1])

    def score(self, state):
        return len(state.liberties(state.locs[self.player_id])) - len(state.liberties(state.locs[1 - self.player_id]))

    def alpha_beta(self, state, depth):
        if self.wrong == "unwritten":
            return None
        if self.wrong == "a value":
            return 1.5
        values = {action: self.value(state.result(action), depth - 1) for action in state.actions()}
        if self.wrong == "no action where all lose" and set(values.values()) == {-INFINITY}:
            return None
        return max(values, key=values.get)

    def value(self, state, depth):
        if state.terminal_test():
            return 0.0 if self.wrong == "the end" else state.utility(self.player_id)
        if depth <= 0:
            return self.score(state)
        values = [self.value(state.result(action), depth - 1) for action in state.actions()]
        is_own = state.player() == self.player_id
        return min(values) if is_own and self.wrong == "the wrong side" else max(values) if is_own else min(values)


def third(what):
    return type("Wrong", (Searching,), {"wrong": what})


@pytest.mark.parametrize(
    ("wrong", "ok", "message"),
    [
        ("", True, "in 480 comparisons"),
        ("the end", False, "is worth inf"),
        ("the wrong side", False, "is worth"),
        ("no action where all lose", True, " times it names no move where every move loses: a resignation"),
        ("unwritten", False, "not compared, because it returns None (is the method still to be written?)"),
        ("a value", True, "not compared, because it returns 1.5, a value and not an action"),
    ],
)
def test_searches_of_states_are_compared_as_well(wrong, ok, message):
    finding = seen_of(third(wrong), "fixed-depth alpha_beta")
    assert finding.ok == ok
    assert message in finding.seen


class Placing(BasePlayer):
    """Knows no placements."""

    def get_action(self, state):
        if state.ply_count > 1:
            self.queue.put(state.actions()[0])


@pytest.mark.parametrize(
    ("player", "message"),
    [
        (Placing, 'puts no action on its queue within 150 ms of CPU time at Board.from_moves([], size="9x11")'),
        (type("Bad", (BasePlayer,), {"get_action": lambda self, state: self.queue.put(11)}), "plays action 11 at"),
        (BasePlayer, "raises NotImplementedError (still to be written)"),
    ],
)
def test_moves_of_the_third_edition_are_asked_for_from_the_empty_board_on(player, message):
    finding = seen_of(player, "moves")
    assert not finding.ok
    assert message in finding.seen


@pytest.mark.exhaustive
def test_players_of_the_third_edition_are_named_so_and_know_both_sides():
    sides = set()

    class Sided(Searching):
        def __init__(self, player_id):
            super().__init__(player_id)
            sides.add(player_id)

    assert seen_of(Sided, "signature").seen == "get_action of the third edition"
    assert seen_of(Sided, "moves").seen == "legal on 22 positions"
    assert sides == {0, 1}
    time_finding = seen_of(Sided, "time")
    assert (time_finding.ok, time_finding.seen) == (True, "not checked; the last action on the queue counts")


def deeper(self, state, depth):
    """Pass the depth on at the root."""
    return max(state.actions(), key=lambda action: self.value(state.result(action), depth))


@pytest.mark.exhaustive
def test_a_root_that_passes_its_depth_on_looks_one_ply_further():
    finding = seen_of(type("Deeper", (Searching,), {"alpha_beta": deeper}), "fixed-depth alpha_beta")
    assert finding.ok
    assert "; it looks one ply further than its depth says" in finding.seen
    wrong = seen_of(type("Wrong", (Searching,), {"alpha_beta": deeper, "wrong": "the end"}), "fixed-depth alpha_beta")
    assert not wrong.ok
    assert "is worth inf" in wrong.seen


def plain(self, state, depth):
    return Searching.alpha_beta(self, state, depth)


def evaluating(self, state, depth):
    """Search with another evaluation, which is made of score."""
    values = {action: self.evaluate(state.result(action)) for action in state.actions()}
    return max(values, key=values.get) if depth == 1 else plain(self, state, depth)


def prepared(self, state, depth):
    """Search with what `get_action` has put in the context."""
    return plain(self, state, depth) if self.context["turns"] else None


def for_the_mover(self, state):
    """Evaluate for the side to move, as negamax does."""
    sign = 1 if state.player() == self.player_id else -1
    return sign * Searching.score(self, state)


@pytest.mark.parametrize(
    ("methods", "reason"),
    [
        ({"alpha_beta": lambda self, state, depth, alpha, beta, maximizing_player: 0.0},
         "it also needs alpha, beta and maximizing_player"),
        ({"alpha_beta": lambda self, state: 0.0}, "it does not take a state and a depth"),
        ({"score": lambda self, state, depth: 0.0}, "score also needs depth"),
        ({"alpha_beta": lambda self, state, depth: state.actions()[0]}, "it does not call score"),
        ({"alpha_beta": lambda self, state, depth: plain(self, state, 3)}, "at depths 1, 2 and 3 it does not look"),
        ({"alpha_beta": prepared}, "it raises TypeError: 'NoneType' object is not subscriptable"),
        ({"alpha_beta": evaluating, "evaluate": lambda self, state: self.score(state) - state.locs[0] % 13},
         "makes other values of those of score"),
        ({"score": for_the_mover, "wrong": "the wrong side"}, "score values positions for the side to move"),
    ],
)  # fmt: skip
def test_searches_of_other_manners_are_not_compared(methods, reason):
    finding = seen_of(type("Other", (Searching,), methods), "fixed-depth alpha_beta")
    assert finding.ok, finding.seen
    assert finding.seen.startswith("not compared, because ")
    assert reason in finding.seen


def test_each_comparison_and_move_has_a_new_player():
    class Once(Prompt, MinimaxPlayer):
        is_used = False

        def get_move(self, game, time_left):
            assert not self.is_used
            self.is_used = True
            return game.get_legal_moves()[0]

        def minimax(self, game, depth):
            assert not self.is_used
            self.is_used = True
            return super().minimax(game, depth)

    assert seen_of(Once, "moves").ok
    assert "in 480 comparisons" in seen_of(Once, "fixed-depth minimax").seen


@pytest.mark.parametrize(("kept_waiting", "ok"), [(True, True), (False, False)])
def test_a_move_is_not_ended_while_the_machine_does_not_run_it(monkeypatch, kept_waiting, ok):
    class Waiting:
        waited = False

        def get_move(self, game, time_left):
            if not Waiting.waited:
                Waiting.waited = True
                threading.Event().wait(0.2)  # by the clock, as if others had the processor
            return game.get_legal_moves()[0]

    monkeypatch.setattr("knights_isolation.isolation.checks.agent_checks.LONGEST_MOVE", 0.1)
    queued = "knights_isolation.isolation.usercode.timeouts._queued"
    monkeypatch.setattr(queued, lambda: None if kept_waiting else 0.0)
    finding = seen_of(Waiting, "moves")
    assert finding.ok == ok, finding.seen
    assert ok or "takes longer than 0.1 s" in finding.seen


def test_what_a_player_does_at_exit_leaves_nothing_on_the_terminal(tmp_path):
    (tmp_path / "my_custom_player.py").write_text(AT_EXIT)
    command = [
        sys.executable,
        "-m",
        "knights_isolation.command_line",
        "test-agent",
        str(tmp_path / "my_custom_player.py"),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert (tmp_path / "left").exists()
    assert "ok    moves" in ended.stdout
    assert "goodbye" not in ended.stdout
    assert ended.stderr == ""


AT_EXIT = """
import atexit
from pathlib import Path
from sample_players import BasePlayer

def save():
    print("goodbye")
    (Path(__file__).parent / "left").touch()
    raise OSError("no such book")

atexit.register(save)

class CustomPlayer(BasePlayer):
    def get_action(self, state):
        self.queue.put(state.actions()[0])
"""
