"""Compare a third-edition player's fixed-depth search with minimax, where that is fair.

Its edition prescribed no searches: names, arguments, answers and the meaning of `depth` are each student's own. What a
search does is seen from its calls of `score`.
"""

from __future__ import annotations

import ast
import inspect
import math
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from ..editions.classic_board import Board
from ..editions.third.conversion import required_parameters, state_of
from ..editions.third.sample_players import minimax_value
from ..editions.third.state import Action, Isolation
from ..players.agents import is_lost
from ..usercode.output_capture import prevent_exit
from ..usercode.parsing import parse
from ..usercode.timeouts import UserCodeTimeout, cpu_timeout
from ..usercode.user_exceptions import safe_repr
from .check_result import LONGEST_MOVE, explain, new_player, wrong_move

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
            raise NotComparable(f"score also needs {_listed(names)}")
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
            raise NotComparable(f"at depths {_listed(depths)} it does not look as many plies ahead, nor one more")
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
        if any(map(self._is_of_the_mover, scores.values)):
            return "score values positions for the side to move"
        for caller in scores.callers:
            if self._is_changed_by(caller, scores):
                return f"{caller.co_name} makes other values of those of score"
        return ""

    def _is_of_the_mover(self, scored: tuple[Isolation, float]) -> bool:
        state, value = scored
        return bool(value and self._reference.score(state._replace(ply_count=state.ply_count + 1)) == -value)

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


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, Action) and math.isfinite(value)


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
    if _is_finite(answer) or isinstance(answer, float):
        raise NotComparable(f"it returns {answer:g}, a value and not an action")
    raise NotComparable(f"it returns {safe_repr(answer)}, not an action")


def _depth_name(method: Callable[..., Any]) -> str:
    names = list(inspect.signature(method).parameters)
    required = required_parameters(method)
    depth = next((name for name in names if "depth" in name.lower()), required[1] if len(required) == 2 else "")
    if not depth or depth == names[0]:
        raise NotComparable("it does not take a state and a depth")
    if more := [name for name in required[1:] if name != depth]:
        raise NotComparable(f"it also needs {_listed(more)}")
    return depth


def _listed(parts: Sequence[object]) -> str:
    """List parts in words.

    >>> _listed(["alpha", "beta", "side"])
    'alpha, beta and side'
    """
    *others, last = map(str, parts)
    return f"{', '.join(others)} and {last}" if others else last
