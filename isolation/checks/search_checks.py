"""Compare players' fixed-depth searches with a reference, and find the errors that explain a worse move.

The third edition prescribed no searches: names, arguments, answers and the meaning of `depth` are each student's own.
What such a search does is seen from its calls of `score`, and it is compared where that is fair.
"""

from __future__ import annotations

import ast
import inspect
import math
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from types import CodeType
from typing import Any

from ..compiling.source_rewriter import nondeterminism_reason
from ..rules.classic_board import Board
from ..rules.edition import THIRD, Edition, names_no_move, read_move
from ..rules.game import Limit
from ..rules.geometry import cell_of, move_of
from ..rules.parameters import choices_text
from ..rules.third_edition import Action, Isolation, required_parameters, state_of
from ..rules.third_sample_players import minimax_value
from ..search import search
from ..search.agents import is_lost
from ..search.interpreted import value_of_move
from ..usercode.output_capture import prevent_exit
from ..usercode.parsing import parse
from ..usercode.timeouts import UserCodeTimeout, cpu_timeout
from ..usercode.user_exceptions import safe_repr
from .answers import LONGEST_CHECK, LONGEST_MOVE, RESIGNED, CheckResult, explain, new_player, wrong_move
from .search_cost import random_openings

COMPARED_AT = (4, 10, 16, 22, 28)
"""Numbers of plies after which searches are compared. Small ones show errors of searches that never see the end."""
DEPTHS = (1, 2, 3)
SEARCHES = ("minimax", "alphabeta")
STATE_SEARCHES = ("minimax", "alphabeta", "alpha_beta", "alphabeta_search", "alpha_beta_search")
"""Usual names of third-edition players' fixed-depth searches."""


def compare_searches(player: Any, factory: Callable[[], Any], edition: Edition) -> list[CheckResult]:
    """Compare a player's fixed-depth searches with the reference, from the opening to the end of the game.

    Each comparison has a new player; `player` tells what searches there are. A search that cannot be compared fairly
    passes, with the reason.
    """
    if not callable(getattr(player, "score", None)):
        return []
    names = STATE_SEARCHES if edition is THIRD else SEARCHES
    return [_compare(factory, name, edition) for name in names if callable(getattr(player, name, None))]


def _compare(factory: Callable[[], Any], method: str, edition: Edition) -> CheckResult:
    check = f"fixed-depth {method}"
    compared, started, manner, ended = 0, time.process_time(), "", f"at depths {DEPTHS[0]} to {DEPTHS[-1]}, "
    searches: MoveSearch | StateSearch = MoveSearch(factory, method)
    try:
        if edition is THIRD:
            searches = StateSearch(factory, method, DEPTHS, next(_boards(edition)))
            manner = searches.manner
        for board, depth in product(_boards(edition), DEPTHS):
            if time.process_time() - started > LONGEST_CHECK:
                manner, ended = f" (limited to {LONGEST_CHECK:g} s){manner}", ""
                break
            if wrong := searches.wrong(board, depth):
                chance = nondeterminism_reason(new_player(factory).score)
                seen = f"{wrong}; but the score is not deterministic: {chance}" if chance else wrong
                return CheckResult(check, False, seen, is_note=bool(chance))
            compared += 1
    except NotComparable as reason:
        return CheckResult(check, not reason.is_note, str(reason), is_note=reason.is_note)
    except Exception as error:
        return CheckResult(check, False, explain(error))
    if searches.resigned:
        manner += f"; {searches.resigned} times it names no move {RESIGNED}"
    return CheckResult(check, True, f"as good as the reference {ended}in {compared} comparisons{manner}")


def _boards(edition: Edition) -> Iterator[Board]:
    size = edition.usual_size
    for plies in [2 * plies for plies in COMPARED_AT] if edition is THIRD else COMPARED_AT:
        for cells in random_openings(32, plies, size, plies):
            yield Board.from_moves(cells, size)


class MoveSearch:
    """A player's search of (game, depth).

    Attributes:
        resigned: how often it named no move where every move loses.
    """

    def __init__(self, factory: Callable[[], Any], method: str) -> None:
        self._factory, self._method, self.resigned = factory, method, 0

    def wrong(self, board: Board, depth: int) -> str:
        """Describe what is wrong with the answer at a position and depth; empty if it is as good as the reference's."""
        player = new_player(self._factory)
        player.time_left = lambda: math.inf
        board = board.copy()
        board.players = (player, "opponent")
        where = f"at depth {depth} of {board!r}"
        method = getattr(player, self._method)
        try:
            with cpu_timeout(LONGEST_MOVE), prevent_exit():
                answer = _move_in(method(board.copy(), depth))
                move = read_move(answer)
                illegal = "" if move in board.get_legal_moves() else wrong_move(answer, method)
        except Exception as error:
            return f"{explain(error)} {where}"
        with cpu_timeout(LONGEST_MOVE), prevent_exit():
            best = search(board, player.score, Limit(depth=depth), interpreted=True)
            if illegal and names_no_move(answer) and (best.score == -math.inf or is_lost(board)):
                self.resigned += 1
                return ""
            if illegal or move is None:
                return f"{illegal} {where}, where {board.get_legal_moves()} are legal"
            cell = cell_of(move, board.width)
            worth = value_of_move(board, player.score, cell, depth)
        if worth == best.score:
            return ""
        better = move_of(best.move, board.width)
        seen = f"plays {move}, worth {worth:g}, {where}; {better} is worth {best.score:g}"
        with suppress(Exception), cpu_timeout(LONGEST_MOVE), prevent_exit():
            seen += why_worse(player.score, board, depth, cell, best.move)
        return seen


def _move_in(answer: Any) -> Any:
    """Return the move of an answer: a move, or a pair of a value and a move."""
    if issubclass(type(answer), tuple) and tuple.__len__(answer) == 2:
        second = tuple.__getitem__(answer, 1)
        return second if second is None or issubclass(type(second), tuple) else answer
    return answer


Score = Callable[[Any, Any], float]
_Leaf = Callable[[Board], float]
"""The value of a position at the end of a line, for the side to move."""


def why_worse(score: Score, board: Board, depth: int, played: int, best: int) -> str:
    """Return the error that makes a search play `played` instead of `best`, as the end of a sentence; "" if unknown.

    Each known error is built into a search of its own. It is named if that search plays the same move.
    """
    me = board.active_player

    def by_score(leaf: Board) -> float:
        value = score(leaf, me)
        return value if leaf.active_player is me else -value

    def by_rules(leaf: Board) -> float:
        return by_score(leaf) if leaf.legal_cells() else -math.inf

    values = {cell: -_value(board.successor(cell), depth - 1, -math.inf, math.inf, by_score) for cell in (played, best)}
    if values[played] >= values[best] and (said := _misjudged_end(score, board, depth, (best, played))):
        return said
    roots = product((by_rules, by_score), (False, True))
    if any(_last_of_equals(board, depth, leaf, is_hard=is_hard) == played for leaf, is_hard in roots):
        return ": takes the last of equal scores, which after a cut is only a bound"
    return ""


def _value(board: Board, depth: int, alpha: float, beta: float, leaf: _Leaf) -> float:
    """Return the value of a position for the side to move, by fail-soft alpha-beta."""
    if depth == 0 or not board.legal_cells():
        return leaf(board)
    best = -math.inf
    for cell in board.legal_cells():
        best = max(best, -_value(board.successor(cell), depth - 1, -beta, -max(alpha, best), leaf))
        if best >= beta:
            break
    return best


def _last_of_equals(board: Board, depth: int, leaf: _Leaf, *, is_hard: bool) -> int:
    """Return the move of a root that compares by >=, above a search that fails hard or soft."""
    best, move = -math.inf, -1
    for cell in board.legal_cells():
        value = -_value(board.successor(cell), depth - 1, -math.inf, -best, leaf)
        value = max(value, best) if is_hard else value
        if value >= best:
            best, move = value, cell
    return move


def _misjudged_end(score: Score, board: Board, depth: int, cells: tuple[int, ...]) -> str:
    """Describe the first end of the game after one of these moves to which the score does not give its infinity."""
    me = board.active_player
    for cell in cells:
        lines: list[tuple[tuple[int, ...], Board]] = [((cell,), board.successor(cell))]
        for line, after in lines:  # which grows meanwhile: breadth first
            if moves := after.legal_cells():
                lines += [((*line, move), after.successor(move)) for move in moves if len(line) < depth]
                continue
            is_won, value = after.active_player is not me, score(after, me)
            if value != (math.inf if is_won else -math.inf):
                played = ", ".join(str(move_of(each, board.width)) for each in line)
                what = f"{played} {'wins' if is_won else 'loses'}{' at once' if len(line) == 1 else ''}"
                test = "is_winner" if is_won else "is_loser"
                return f": {what}; your score gives a finished game {value:g}: test `{test}`"
    return ""


_EXTRA_PLIES = (0, 1)
"""Plies that searches look ahead beyond `depth`: 1 if the root passes `depth` on to its children undiminished."""


class NotComparable(Exception):
    """A comparison with the reference would not be fair; the message says why. A note asks for the user's attention."""

    def __init__(self, why: str, *, is_note: bool = False) -> None:
        super().__init__(f"not compared, because {why}")
        self.is_note = is_note


@dataclass
class _Scores:
    """The calls of `score` during a search: states and values, the callers, and whether all were of a state alone."""

    score: Callable[..., Any]
    values: list[tuple[Isolation, Any]] = field(default_factory=list)
    callers: set[CodeType] = field(default_factory=set)
    are_of_states: bool = True

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        value = self.score(*arguments, **named)
        self.callers.add(sys._getframe(1).f_code)
        given = [*arguments, *named.values()]
        if len(given) == 1 and isinstance(given[0], Isolation):
            self.values.append((given[0], value))
        else:
            self.are_of_states = False
        return value

    def plies(self, root: Isolation) -> set[int]:
        """Return how many plies beyond the root the states are."""
        return {state.ply_count - root.ply_count for state, _ in self.values}


class StateSearch:
    """A player's search of (state, depth).

    Attributes:
        manner: the meaning of `depth`, for a message, unless it is the usual one.
        resigned: how often it named no action where every one loses.
    """

    def __init__(self, factory: Callable[[], Any], method: str, depths: Sequence[int], first: Board) -> None:
        """Try the search in a first position, where the game is far from its end.

        Raises:
            NotComparable: its arguments, its answers or its depth cannot be compared.
        """
        self._factory, self._method, self.resigned = factory, method, 0
        self._reference = new_player(factory)
        self._depth = _depth_name(getattr(self._reference, method))
        if names := required_parameters(self._reference.score)[1:]:
            raise NotComparable(f"score also needs {choices_text(names, 'and')}")
        self._extra = self._extra_plies(state_of(first), depths)
        further = "; it looks one ply further than its depth says, since its root passes depth on"
        self.manner = further if self._extra else ""

    def wrong(self, board: Board, depth: int) -> str:
        """Describe what is wrong with the answer at a position and depth; empty if it is as good as the reference's.

        Raises:
            NotComparable: the difference may have another reason than an error.
        """
        state = state_of(board)
        if state.terminal_test():
            return ""
        where = f"at depth {depth} of {state!r}"
        try:
            answer, scores = self._ask(state, depth)
        except (AttributeError, TypeError, UserCodeTimeout) as error:
            raise NotComparable(f"it {explain(error)} {where}, called outside of get_action") from error
        except Exception as error:
            return f"{explain(error)} {where}"
        actions = state.actions()
        worth = self._worths(state, depth + self._extra)
        if _names_no_action(answer) and (max(worth.values()) == -math.inf or is_lost(board)):
            self.resigned += 1
            return ""
        if (action := _action_of(answer, where)) not in actions:
            return f"plays {action!r} {where}, where {[int(action) for action in actions]} are the actions"
        best = max(actions, key=worth.__getitem__)
        if worth[action] == worth[best]:
            return ""
        if why := self._unfair(state, scores):
            raise NotComparable(why)
        return f"plays {int(action)}, worth {worth[action]:g}, {where}; {int(best)} is worth {worth[best]:g}"

    def _extra_plies(self, state: Isolation, depths: Sequence[int]) -> int:
        found = set()
        for depth in depths:
            where = f"at depth {depth} of {state!r}"
            try:
                answer, scores = self._ask(state, depth)
            except NotImplementedError:
                raise
            except Exception as error:
                raise NotComparable(f"it {explain(error)} {where}, called outside of get_action") from error
            _action_of(answer, where)
            if not scores.values:
                raise NotComparable("it does not call score" + ("" if scores.are_of_states else " with a state alone"))
            found.add(max(scores.plies(state), default=-1) - depth)
        if len(found) > 1 or not found < {*_EXTRA_PLIES}:
            raise NotComparable(
                f"at depths {choices_text(depths, 'and')} it does not look as many plies ahead, nor one more"
            )
        return found.pop()

    def _ask(self, state: Isolation, depth: int) -> tuple[Any, _Scores]:
        player = new_player(self._factory)
        player.time_left = lambda: math.inf
        player.score = scores = _Scores(player.score)
        with cpu_timeout(LONGEST_MOVE), prevent_exit():
            return getattr(player, self._method)(state, **{self._depth: depth}), scores

    def _worths(self, state: Isolation, plies: int) -> dict[int, float]:
        try:
            with cpu_timeout(LONGEST_MOVE), prevent_exit():
                return {
                    action: minimax_value(self._reference, state.result(action), plies - 1)
                    for action in state.actions()
                }
        except Exception as error:
            raise NotComparable(f"score {explain(error)}, called outside of get_action") from error

    def _unfair(self, state: Isolation, scores: _Scores) -> str:
        """Return a reason why a correct search may differ from the reference in a position; "" if none is known."""
        if not scores.are_of_states:
            return "it calls score with other arguments than a state"
        if any(scored.terminal_test() for scored, _ in scores.values):
            return "it evaluates finished games by score"
        if len(scores.plies(state)) > 1:
            return "it evaluates positions at different depths"
        if any(self._reference.score(scored) != value for scored, value in scores.values):
            return "score returns other values in the search than outside of it"
        turned = ((state._replace(ply_count=state.ply_count + 1), value) for state, value in scores.values if value)
        if any(self._reference.score(state) == -value for state, value in turned):
            return "score values positions for the side to move"
        changing = (caller.co_name for caller in scores.callers if self._is_changed_by(caller, scores))
        return next((f"{name} makes other values of those of score" for name in changing), "")

    def _is_changed_by(self, caller: CodeType, scores: _Scores) -> bool:
        """Return whether a function that calls `score` returns something else."""
        method = getattr(self._reference, caller.co_name, None)
        if method is None or getattr(method, "__code__", None) is not caller or len(required_parameters(method)) != 1:
            return _adds_to_score(caller)
        return any(method(scored) != value for scored, value in scores.values)


def _adds_to_score(caller: CodeType) -> bool:
    """Return whether a function's source calculates with what `score` returns, other than by a factor."""
    try:
        tree = parse(textwrap.dedent(inspect.getsource(caller)))
    except (OSError, SyntaxError):
        return False
    sums = [node for node in ast.walk(tree) if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Mult)]
    return any(isinstance(part, ast.Attribute) and part.attr == "score" for node in sums for part in ast.walk(node))


def _names_no_action(answer: Any) -> bool:
    return any(part is None for part in (answer if isinstance(answer, tuple) and len(answer) == 2 else (answer,)))


def _action_of(answer: Any, where: str) -> Any:
    """Return the action of an answer: an action, or a pair of a value and an action."""
    parts = answer if isinstance(answer, tuple) and len(answer) == 2 else (answer,)
    actions = [part for part in parts if isinstance(part, Action)]
    if len(actions) == 1:
        return actions[0]
    if _names_no_action(answer):
        raise NotComparable(f"it {wrong_move(None, None)} {where}", is_note=True)
    if isinstance(answer, int | float):
        raise NotComparable(f"it returns {answer:g}, a value and not an action")
    raise NotComparable(f"it returns {safe_repr(answer)}, not an action")


def _depth_name(method: Callable[..., Any]) -> str:
    names = list(inspect.signature(method).parameters)
    required = required_parameters(method)
    depth = next((name for name in names if "depth" in name.lower()), required[1] if len(required) == 2 else "")
    if not depth or depth == names[0]:
        raise NotComparable("it does not take a state and a depth")
    if more := [name for name in required[1:] if name != depth]:
        raise NotComparable(f"it also needs {choices_text(more, 'and')}")
    return depth
