"""Agents: random, greedy and search players, policies, and the protocol that all agents follow.

An agent is plain data: the description of a player and its limit. `Agent.open` returns a `Player`, which chooses moves
in one game or many. For compiled agents, `Agent.compiled` returns a compiled player, which plays whole batches of
games.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache
from hashlib import sha256
from importlib import import_module
from inspect import getsource, isroutine, unwrap
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from ..compiling import FUNCTIONS_REMEMBERED
from ..loading.load_user_code import data_hash, origin_of
from ..rules.classic_board import Board
from ..rules.game import MOST_COMPILED_CELLS, Limit, Reason
from ..rules.parameters import base_function, parameter_values, unpartial
from ..rules.third_edition import StateHeuristic, unsupported_size_reason
from ..sample_players import open_move_score
from ..usercode.parsing import reading
from ..usercode.user_exceptions import LONGEST, LONGEST_LINE, format_exception, origin, to_one_line
from . import (
    TREES,
    Heuristic,
    Method,
    SearchOptions,
    SearchResult,
    check_search,
    is_compilable,
)
from .interpreted import greedy_interpreted, random_interpreted, search_in_python

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..compiling.compile_heuristic import CompiledHeuristic
    from ..compiling.specialise import Template
    from .compiled import CompiledPlayer

LATE_MS = 20.0
"""Tolerance of time limits: searches stop within a millisecond, but the operating system may delay that."""
RESIGNING_NODES = 20_000_000
"""Node limit of the proof that a position is lost: about a third of a second, enough for most of 7x7."""
PLACING_NODES = 1000
"""Node limit of a search player's placements while a person waits."""


@dataclass(eq=False, repr=False)
class ForfeitError(Exception):
    """A player has lost the game by a failure: the reason, a detail for the user, and a traceback if available.

    `gives_up` is set if it named no move, which is a resignation where every move loses; see `forfeit_from`.
    """

    reason: Reason
    detail: str
    traceback: str = ""
    gives_up: bool = field(default=False, kw_only=True)


class AgentPicklingError(ValueError):
    """An agent cannot be recreated in another process; the message is one line with its name and the reason."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name} cannot play in its own process, which a hard cap needs: {why}")


class Player(Protocol):
    """Chooses an agent's moves. It is opened once, gets `new_game` before each game, and is closed once.

    It is used by one thread, for one game at a time.
    """

    def new_game(self) -> None:
        """Begin a game, and forget the last one.

        Raises:
            ForfeitError: the player cannot begin.
            BaseException: any exception of the player's code; the player loses the game by error.
        """

    def choose(self, board: Board, seed: int) -> SearchResult:
        """Return a legal move for the player to move; `seed` is unique to this move.

        Raises:
            ForfeitError: the move is illegal or late.
            BaseException: any exception of the player's code; the player loses the game by error.
        """

    def close(self) -> None:
        """Release all resources, such as a process. The player is not used afterwards."""


class AgentDefaults(Protocol):
    """What agents may leave as it is for most: they never fall back to a search in Python, and place as they play."""

    is_compilable: bool = True
    """Whether it plays whole games in compiled code if its heuristic compiles."""
    has_own_process: bool = False
    """Whether its players run in their own processes, which can be ended at any time, and end them if they hang."""

    @property
    def is_deterministic(self) -> bool:
        """Whether it plays the same move in the same position every time, on every machine."""
        limit = getattr(self, "limit", None)
        return (limit is None or limit.is_reproducible) and not self.why_unrepeatable

    @property
    def has_depth(self) -> bool:
        """Whether it searches all lines to a depth, so that it supports a depth limit; False by default."""
        return False

    @property
    def why_unrepeatable(self) -> str:
        """The reason why its moves may differ between runs with the same seed and limit; "" if they do not.

        By default, what part of its heuristic depends on randomness, time or stored state.
        """
        heuristic = getattr(self, "heuristic", None)
        if heuristic is None:
            return ""
        from ..compiling.source_rewriter import nondeterminism_reason

        return nondeterminism_reason(heuristic)

    def compiled(self, size: tuple[int, int]) -> CompiledPlayer | None:
        """Return its compiled player for boards of (rows, columns), compiled or loaded now; None if there is none."""
        return None

    def why_interpreted(self, size: tuple[int, int]) -> str:
        """Return why it searches in Python on boards of (rows, columns), or "" if it does not, or never searches."""
        return ""

    def why_unfit(self, size: tuple[int, int]) -> str:
        """Return why it cannot play on boards of (rows, columns), or "" if it can."""
        return ""

    def placing(self) -> Self:
        """Return the agent for placements while a person waits: itself, or itself under a quick limit."""
        return self

    def searching(self, nodes: int) -> SearchAgent | None:
        """Return itself limited to at most `nodes` nodes, for measuring its cost; None if it does not count nodes."""
        return None

    def capped(self, seconds: float) -> Self:
        """Return itself with a timeout of `seconds` per move, if its players enforce timeouts."""
        return self

    def keeping_errors(self, folder: Path) -> Self:
        """Return itself with errors of its processes written to a folder, if it has processes."""
        return self


class Agent(AgentDefaults, Protocol):
    """Description of a player."""

    @property
    def name(self) -> str:
        """Its name in reports."""

    @property
    def is_user_code(self) -> bool:
        """Whether it runs code that does not ship with the toolkit, and so may hang."""

    @property
    def heuristic(self) -> Heuristic | None:
        """Its evaluation function, if any; agents that share one share compiled code."""

    def settings(self) -> dict[str, Any]:
        """Return everything that influences its play, ready for JSON; heuristics by name and content."""

    def open(self) -> Player:
        """Return a player for one game or a series of games; see `opened_player`."""


@contextmanager
def opened_player(player: Player) -> Iterator[Player]:
    """Yield a player and close it at the end; exceptions in closing are ignored."""
    try:
        yield player
    finally:
        with suppress(Exception):
            player.close()


def choose_once(agent: Agent, board: Board, seed: int) -> SearchResult:
    """Return the move of an agent that has not seen the game before; see `Player.choose`."""
    with opened_player(agent.open()) as player:
        player.new_game()
        return player.choose(board, seed)


def check_board_size(agents: Iterable[Agent], size: tuple[int, int]) -> None:
    """Raise ValueError, with name and reason, if an agent cannot play on boards of (rows, columns)."""
    for agent in agents:
        if why := agent.why_unfit(size):
            raise ValueError(f"{agent.name}: {why}")


def forfeit_from(error: BaseException, board: Board | None = None) -> ForfeitError:
    """Convert an exception raised by a player to its forfeit; other exceptions lose by error, with file and line.

    With the position, a player that named no move has resigned if every move is proven to lose.
    """
    if type(error) is ForfeitError:  # what user code raises may lie about its class
        has_resigned = error.gives_up and board is not None and is_lost(board)
        return ForfeitError(Reason.RESIGNED if has_resigned else error.reason, to_one_line(error.detail, LONGEST_LINE))
    location = origin(error)
    tail = f" ({location})" if location else ""
    return ForfeitError(Reason.ERROR, f"{format_exception(error, LONGEST - len(tail))}{tail}")


def move_or_forfeit(
    choose: Callable[[], SearchResult], board: Board, is_raised: Callable[[BaseException], bool], resigns: bool = True
) -> SearchResult | ForfeitError:
    """Return the move that a player chooses, or why it loses by what it does instead.

    Args:
        is_raised: returns whether an exception is not the player's, and is raised.
        resigns: whether it may resign; see `forfeit_from`.
    """
    try:
        result = choose()
    except BaseException as error:
        if is_raised(error):
            raise
        return forfeit_from(error, board if resigns else None)
    if result.move not in board.legal_cells():
        return ForfeitError(Reason.ILLEGAL_MOVE, f"played cell {result.move}")
    return result


def is_lost(board: Board) -> bool:
    """Return whether every move is proven to lose, within `RESIGNING_NODES`."""
    from .solver import SearchBudget, value

    if board.width * board.height > MOST_COMPILED_CELLS:
        return False
    return value(board, SearchBudget(Limit(nodes=RESIGNING_NODES))) is False


class UncompiledAgent(AgentDefaults):
    """An agent without compiled code and of unknown evaluation: a player object, or an external process."""

    heuristic = None
    is_compilable = False


class OwnProcessAgent(UncompiledAgent):
    """An agent whose players run in processes of their own; what these report of errors goes to the folder `errors`."""

    errors: str
    has_own_process = True

    def keeping_errors(self, folder: Path) -> Self:
        """Return itself with errors written to a folder, which is created if its parent exists."""
        return replace(self, errors=str(folder)) if folder.parent.is_dir() else self  # type: ignore[type-var]


class StatelessAgent(AgentDefaults):
    """An agent that is its own player, because it keeps no state between moves."""

    def open(self) -> Self:
        return self

    def new_game(self) -> None:
        """Do nothing: there is no state."""

    def close(self) -> None:
        """Do nothing: there are no resources."""


@dataclass(frozen=True)
class RandomAgent(StatelessAgent):
    """Plays a random legal move."""

    name: str = "Random"
    is_deterministic: bool = field(default=False, init=False)
    is_user_code: bool = field(default=False, init=False)
    heuristic = None

    def settings(self) -> dict[str, Any]:
        return {"kind": "random"}

    def compiled(self, size: tuple[int, int]) -> CompiledPlayer | None:
        return _compiled("random", None, size)

    def choose(self, board: Board, seed: int) -> SearchResult:
        return random_interpreted(board, seed)


@dataclass(frozen=True)
class GreedyAgent(StatelessAgent):
    """Plays the best move one ply ahead, the highest cell among equals; by default the one with the most moves next."""

    name: str = "Greedy"
    heuristic: Heuristic = open_move_score
    heuristic_name: str = "open"
    is_user_code: bool = False

    def settings(self) -> dict[str, Any]:
        return {"kind": "greedy", **_settings_of(self.heuristic_name, self.heuristic)}

    def compiled(self, size: tuple[int, int]) -> CompiledPlayer | None:
        return _compiled("greedy", self.heuristic, size)

    def choose(self, board: Board, seed: int) -> SearchResult:
        return _choose(self, board, seed, lambda: greedy_interpreted(board, self.heuristic))


@dataclass(frozen=True)
class SearchAgent(StatelessAgent):
    """A heuristic with a search method and a limit.

    `contradicts_itself` is set if the heuristic was observed to give two answers to the same question.
    """

    name: str
    method: Method
    heuristic: Heuristic | None
    heuristic_name: str
    limit: Limit
    options: SearchOptions = SearchOptions()
    is_user_code: bool = False
    contradicts_itself: bool = False

    def __post_init__(self) -> None:
        check_search(self.heuristic, self.limit, self.method, {})

    @property
    def is_deterministic(self) -> bool:
        """Whether it involves no clock and no random choices, and its heuristic is deterministic."""
        has_playouts = self.method == "mcts" and self.heuristic is None
        return super().is_deterministic and not self.options.random_ties and not has_playouts

    @property
    def why_unrepeatable(self) -> str:
        """The part of its heuristic that depends on randomness, time or stored state, or an observed contradiction."""
        observed = "it gave two different answers for the same position" if self.contradicts_itself else ""
        return observed or super().why_unrepeatable

    def settings(self) -> dict[str, Any]:
        options = [name for name, is_on in asdict(self.options).items() if is_on]
        heuristic = _settings_of(self.heuristic_name, self.heuristic) if self.heuristic else {}
        limit = {self.limit.unit: getattr(self.limit, self.limit.unit)}
        return {"kind": "search", "method": self.method, **heuristic, "limit": limit, "options": options}

    def compiled(self, size: tuple[int, int]) -> CompiledPlayer | None:
        return _compiled(self.method, self.heuristic, size, self.options, self.limit)

    def why_interpreted(self, size: tuple[int, int]) -> str:
        """Return why it is not compiled (the heuristic's error, or the board's size), or "" if it is."""
        compiled = compile_or_reason(self.heuristic, size)
        return " ".join(compiled.split()) if isinstance(compiled, str) else ""

    def why_unfit(self, size: tuple[int, int]) -> str:
        """Return that the board is too large for third-edition states, if its heuristic evaluates those; else ""."""
        return unsupported_size_reason(*size) if isinstance(base_function(self.heuristic), StateHeuristic) else ""

    @property
    def has_depth(self) -> bool:
        return self.method not in TREES

    def placing(self) -> SearchAgent:
        """Return itself with a limit of a thousand nodes.

        Before both knights are placed there are dozens of moves, and each position is evaluated in Python, so that an
        ordinary limit would take minutes.
        """
        return self.searching(PLACING_NODES)

    def searching(self, nodes: int) -> SearchAgent:
        return replace(self, limit=Limit(nodes=min(self.limit.nodes or nodes, nodes)))

    def choose(self, board: Board, seed: int) -> SearchResult:
        return in_time(self.find(board, seed), self.limit)

    def find(self, board: Board, seed: int) -> SearchResult:
        """Return the move found by its search, even if it is late."""
        return _choose(self, board, seed, lambda: self.find_in_python(board, seed))

    def find_in_python(self, board: Board, seed: int) -> SearchResult:
        """Return the move found by a search in Python, even if it is late."""
        return search_in_python(board, self.heuristic, self.limit, self.method, self.options, seed)


@dataclass(frozen=True)
class PolicyAgent(UncompiledAgent, StatelessAgent):
    """A policy of a learning agent: a function of many observations at once, imported by name where it plays.

    Its `module`, whose source has the hash `content`, is looked for in `folder` first. Before each move the generators
    of `random` and NumPy are seeded with the move's seed.
    """

    name: str
    module: str
    function: str
    folder: str
    content: str
    is_deterministic: bool = field(default=False, init=False)
    is_user_code: bool = field(default=True, init=False)

    def settings(self) -> dict[str, Any]:
        """Return its name and a hash of its module, but not of the weights that it reads."""
        return {"kind": "policy", "policy": f"{self.module}:{self.function}", "content_hash": self.content}

    @cached_property
    def policy(self) -> Callable[[NDArray[np.bool_], NDArray[np.bool_]], NDArray[np.int64]]:
        """The function itself, imported on first use.

        From bool[n, 4, rows, columns] as in `Board.observation` and bool[n, cells], the legal moves, to cells, int[n].
        """
        if self.folder not in sys.path:
            sys.path.insert(0, self.folder)
        return getattr(import_module(self.module), self.function)  # type: ignore[no-any-return]

    def choose(self, board: Board, seed: int) -> SearchResult:
        """Return the policy's move. Raises ForfeitError if it is illegal, or the answer is not one cell."""
        import numpy as np

        observation, mask = board.observation()[None], board.mask()[None]
        random.seed(seed)
        np.random.seed(seed % 2**32)
        started = time.perf_counter()
        answer = np.asarray(self.policy(observation, mask))
        seconds = time.perf_counter() - started
        if answer.shape != (1,) or answer.dtype.kind not in "iu":
            raise ForfeitError(
                Reason.ERROR, f"a policy returns int[n] for n positions, not {answer.dtype}{list(answer.shape)}"
            )
        cell = int(answer[0])
        if cell not in board.legal_cells():
            raise ForfeitError(Reason.ILLEGAL_MOVE, f"played cell {cell}")
        return SearchResult(cell, nan, 0, 0, seconds, (cell,), False)


def in_time(result: SearchResult, limit: Limit) -> SearchResult:
    """Return a search result, or raise ForfeitError if it took longer than the wall time of a move."""
    if limit.ms is not None and result.seconds * 1e3 > limit.ms + LATE_MS:
        raise ForfeitError(Reason.TIMEOUT, f"took {result.seconds * 1e3:.0f} ms of {limit.ms:g} ms")
    return result


def _choose(agent: Agent, board: Board, seed: int, interpreted: Callable[[], SearchResult]) -> SearchResult:
    player = agent.compiled((board.height, board.width)) if is_compilable(board) else None
    if player is None:
        return interpreted()
    from .compiled import run_with_fallback

    return run_with_fallback(player, board, seed, interpreted)


def _compiled(
    template: Template,
    heuristic: Heuristic | None,
    size: tuple[int, int],
    options: SearchOptions | None = None,
    limit: Limit | None = None,
) -> CompiledPlayer | None:
    compiled = compile_or_reason(heuristic, size)
    if isinstance(compiled, str):
        return None
    from .compiled import compiled_search

    milliseconds = limit and (limit.ms or limit.cpu_ms)
    late_ms = milliseconds + LATE_MS if milliseconds else None
    return compiled_search(compiled, template, options or SearchOptions(), limit, size, late_ms)


def compile_or_reason(heuristic: Heuristic | None, size: tuple[int, int]) -> CompiledHeuristic | str | None:
    """Return a compiled heuristic (None for none), or in words why a search with it does not run compiled."""
    if size[0] * size[1] > MOST_COMPILED_CELLS:
        return f"compiled search supports up to {MOST_COMPILED_CELLS} cells"
    # Objects that are not hashable are not functions.
    is_known = isinstance(heuristic, Hashable)
    return _compile(heuristic, size) if is_known else _compile.__wrapped__(heuristic, size)


@lru_cache(maxsize=FUNCTIONS_REMEMBERED)
def _compile(heuristic: Heuristic | None, size: tuple[int, int]) -> CompiledHeuristic | str | None:
    from ..compiling.compile_heuristic import CompileError, compile_heuristic

    try:
        return heuristic and compile_heuristic(heuristic, size)
    except CompileError as error:
        return str(error)


def _settings_of(name: str, heuristic: Heuristic) -> dict[str, Any]:
    """Return a heuristic's part of an agent's settings; parameters are included only if there are any."""
    parameters = parameter_values(heuristic)
    return {"heuristic": name, "code": code_hash(heuristic), **({"parameters": parameters} if parameters else {})}


def code_hash(heuristic: Heuristic) -> str:
    """Return a short hash of a heuristic's code, including helpers and constants, but not the values of its parameters.

    For objects and code that does not compile, it covers the class or function itself, and the data that its file read
    when it was imported.
    """
    from ..compiling.source_rewriter import CompileError, rewrite

    heuristic = base_function(heuristic)
    try:
        code = rewrite(heuristic).code
    except CompileError:
        loaded = origin_of(heuristic)
        code = _own_source(heuristic) + (data_hash(loaded.path) if loaded else "")
    return sha256(code.encode()).hexdigest()[:16]


def _own_source(heuristic: Heuristic) -> str:
    heuristic = unwrap(unpartial(heuristic))
    try:
        with reading:
            return getsource(heuristic if isroutine(heuristic) else type(heuristic))
    except (OSError, TypeError):
        return repr(type(heuristic))
