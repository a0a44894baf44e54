"""Agents: random, greedy and search players, and the protocol that all agents follow.

An agent is plain data: what plays, how, and under which limit. `Agent.open` gives what chooses its moves, for a game or
for many; for compiled agents `Agent.compiled` also gives the native player that plays whole batches of games.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache, partial
from hashlib import sha256
from inspect import getsource, isroutine, unwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from isolation.compiling import FUNCTIONS_REMEMBERED
from isolation.compiling.determinism import nondeterminism_reason
from isolation.editions.classic_board import Board
from isolation.editions.third.conversion import unsupported_size_reason
from isolation.editions.third.state_heuristics import StateHeuristic
from isolation.rules.geometry import MOST_COMPILED_CELLS
from isolation.rules.limits import Limit
from isolation.rules.outcome import Reason
from isolation.rules.parameters import base_function, parameter_values
from isolation.sample_players import open_move_score
from isolation.search import TREES, Method, SearchOptions, SearchResult, check_search, is_compilable, search_in_python
from isolation.search.interpreted import greedy_interpreted, random_interpreted
from isolation.usercode.parsing import reading
from isolation.usercode.user_exceptions import LONGEST, LONGEST_LINE, format_exception, origin, to_one_line

if TYPE_CHECKING:
    from isolation.search.compiled import CompiledPlayer

Heuristic = Callable[[Any, Any], float]
LATE_MS = 20.0
"""A search player stops by itself within a millisecond of a time limit; the operating system may add to that."""
PLACING_NODES = 1000
"""The most positions a search player looks at to place its knight while a person waits."""


class ForfeitError(Exception):
    """A player has lost the game by what it did: the reason, a detail for people, and a traceback if one is known."""

    def __init__(self, reason: Reason, detail: str, traceback: str = "") -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail
        self.traceback = traceback


class Player(Protocol):
    """What chooses an agent's moves: opened once, told of every game it begins, asked for moves, closed once.

    One thread uses it, one game at a time.
    """

    def new_game(self) -> None:
        """Begin a game, and forget the last one.

        Raises:
            ForfeitError: it cannot begin.
            BaseException: whatever the player's code raises; it loses the game by error.
        """

    def choose(self, board: Board, seed: int) -> SearchResult:
        """A legal move for the player to move; the seed is this move's own.

        Raises:
            ForfeitError: the move is illegal or late.
            BaseException: whatever the player's code raises; it loses by error.
        """

    def close(self) -> None:
        """Give back all it holds, such as a process of its own; nobody asks it any more."""


class Agent(Protocol):
    """A player's description."""

    @property
    def name(self) -> str:
        """How reports call it."""

    @property
    def is_deterministic(self) -> bool:
        """Whether it plays the same move in the same position again, on every machine."""

    @property
    def why_unrepeatable(self) -> str:
        """Why it may play otherwise another time, though seed and limit are the same; empty if it does not."""

    @property
    def is_user_code(self) -> bool:
        """Whether it runs code that does not ship with the toolkit, and so might hang."""

    @property
    def is_compilable(self) -> bool:
        """Whether it plays whole games in compiled code, if its heuristic compiles."""

    @property
    def has_depth(self) -> bool:
        """Whether it searches all lines to a depth, which it then can be limited by."""

    @property
    def heuristic(self) -> Heuristic | None:
        """What it evaluates positions by, if that is a function; agents that share one share compiled code."""

    def settings(self) -> dict[str, Any]:
        """All that influences its play, ready for JSON; heuristics by name and content."""

    def compiled(self, size: tuple[int, int]) -> CompiledPlayer | None:
        """Its native player for boards of (rows, columns), compiled or loaded now; None if there is none."""

    def why_interpreted(self, size: tuple[int, int]) -> str:
        """Why it searches in Python on boards of (rows, columns); empty if it does not, or never searches."""

    def why_unfit(self, size: tuple[int, int]) -> str:
        """Why it cannot play on boards of (rows, columns); empty if it can."""

    def placing(self) -> Agent:
        """Who places its knight while a person waits: itself, or itself under a limit that keeps nobody waiting."""

    def searching(self, nodes: int) -> SearchAgent | None:
        """Itself under a limit of so many nodes at most, as its cost is measured; None if it does not count nodes."""

    @property
    def has_own_process(self) -> bool:
        """Whether its players live in processes of their own, and end by themselves what hangs there."""

    def capped(self, seconds: float) -> Agent:
        """Itself, given up after so many seconds without a move, if its players see to that themselves."""

    def keeping_errors(self, folder: Path) -> Agent:
        """Itself, what goes wrong in its processes being kept in a folder, if it has any."""

    def open(self) -> Player:
        """What chooses its moves in a game, or in one game after another; see `opened_player`."""


@contextmanager
def opened_player(player: Player) -> Iterator[Player]:
    """An open player, closed in the end whatever happens; what goes wrong in closing it is nobody's loss."""
    try:
        yield player
    finally:
        with suppress(Exception):
            player.close()


def choose_once(agent: Agent, board: Board, seed: int) -> SearchResult:
    """The move of an agent that has not seen the game before; see `Player.choose`."""
    with opened_player(agent.open()) as player:
        player.new_game()
        return player.choose(board, seed)


def check_board_size(agents: Iterable[Agent], size: tuple[int, int]) -> None:
    """Refuse agents that cannot play on boards of (rows, columns).

    Raises:
        ValueError: there is one: its name, and why.
    """
    for agent in agents:
        if why := agent.why_unfit(size):
            raise ValueError(f"{agent.name}: {why}")


def forfeit_from(error: BaseException) -> ForfeitError:
    """How a player has lost that raised an exception: as it says itself, or by error, with file and line."""
    if isinstance(error, ForfeitError):
        return ForfeitError(error.reason, to_one_line(error.detail, LONGEST_LINE))
    location = origin(error)
    tail = f" ({location})" if location else ""
    return ForfeitError(Reason.ERROR, f"{format_exception(error, LONGEST - len(tail))}{tail}")


class AgentDefaults:
    """What holds for most agents: they never fall back to a search in Python, and place as they play."""

    @property
    def is_compilable(self) -> bool:
        """Whether it plays whole games in compiled code, if its heuristic compiles."""
        return True

    @property
    def has_depth(self) -> bool:
        """No: it does not search all lines to a depth."""
        return False

    @property
    def why_unrepeatable(self) -> str:
        """Nothing: what it leaves to chance comes from its seed."""
        return ""

    def why_interpreted(self, size: tuple[int, int]) -> str:
        """Nothing: it does not search."""
        return ""

    def why_unfit(self, size: tuple[int, int]) -> str:
        """Nothing: it plays on all boards."""
        return ""

    def placing(self) -> Self:
        """Itself."""
        return self

    def searching(self, nodes: int) -> SearchAgent | None:
        """None: it does not count nodes."""
        return None

    @property
    def has_own_process(self) -> bool:
        """No: it plays where it is opened."""
        return False

    def capped(self, seconds: float) -> Self:
        """Itself: whoever opens it has to see that it answers."""
        return self

    def keeping_errors(self, folder: Path) -> Self:
        """Itself: it has no process of its own."""
        return self


class UncompiledAgent(AgentDefaults):
    """An agent of which nothing can be compiled: a player object, or a process of its own."""

    @property
    def heuristic(self) -> None:
        """None: what it evaluates by is its own affair."""

    @property
    def is_compilable(self) -> bool:
        """No."""
        return False

    def compiled(self, size: tuple[int, int]) -> CompiledPlayer | None:
        """None."""
        return None


class StatelessAgent(AgentDefaults):
    """An agent that is its own player, since it remembers nothing from one move to the next."""

    def open(self) -> Self:
        """Itself."""
        return self

    def new_game(self) -> None:
        """Do nothing: there is nothing to forget."""

    def close(self) -> None:
        """Do nothing: it holds nothing."""


@dataclass(frozen=True)
class RandomAgent(StatelessAgent):
    """Any legal move, each as likely."""

    name: str = "Random"
    is_deterministic: bool = field(default=False, init=False)
    is_user_code: bool = field(default=False, init=False)

    @property
    def heuristic(self) -> None:
        """None: it evaluates nothing."""

    def settings(self) -> dict[str, Any]:
        """Nothing but what it is."""
        return {"kind": "random"}

    def compiled(self, size: tuple[int, int]) -> CompiledPlayer | None:
        """The native random player."""
        if size[0] * size[1] > MOST_COMPILED_CELLS:
            return None
        from isolation.search.compiled import compiled_player

        return compiled_player("random", None, size)

    def choose(self, board: Board, seed: int) -> SearchResult:
        """Any legal move, each as likely."""
        return random_interpreted(board, seed)


@dataclass(frozen=True)
class GreedyAgent(StatelessAgent):
    """The move that looks best one ply ahead, the highest cell among equals; by default with the most replies left."""

    name: str = "Greedy"
    heuristic: Heuristic = open_move_score
    heuristic_name: str = "open"
    is_user_code: bool = False

    @property
    def is_deterministic(self) -> bool:
        """Whether its heuristic says the same of a position every time."""
        return not self.why_unrepeatable

    @property
    def why_unrepeatable(self) -> str:
        """What in its heuristic is left to chance, time or memory."""
        return nondeterminism_reason(self.heuristic)

    def settings(self) -> dict[str, Any]:
        """The heuristic's name, content and parameters."""
        return {"kind": "greedy", **_settings_of(self.heuristic_name, self.heuristic)}

    def compiled(self, size: tuple[int, int]) -> CompiledPlayer | None:
        """The native greedy player, if its heuristic compiles."""
        heuristic = try_to_compile(self.heuristic, size)
        if heuristic is None:
            return None
        from isolation.search.compiled import compiled_player

        return compiled_player("greedy", heuristic, size)

    def choose(self, board: Board, seed: int) -> SearchResult:
        """The best move one ply ahead."""
        return _choose(self, board, seed, lambda: greedy_interpreted(board, self.heuristic))


@dataclass(frozen=True)
class SearchAgent(StatelessAgent):
    """A heuristic under a search method and a limit.

    `contradicts_itself` says that the heuristic was seen to give two answers to one question.
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
        """Whether neither a clock nor a random choice is involved, and its heuristic repeats itself."""
        has_playouts = self.method == "mcts" and self.heuristic is None
        is_fixed = self.limit.is_reproducible and not self.options.random_ties and not has_playouts
        return is_fixed and not self.why_unrepeatable

    @property
    def why_unrepeatable(self) -> str:
        """What in its heuristic is left to chance, time or memory, or that it was seen to contradict itself."""
        if self.contradicts_itself:
            return "it gave two different answers for the same position"
        return nondeterminism_reason(self.heuristic) if self.heuristic else ""

    def settings(self) -> dict[str, Any]:
        """Method, heuristic by name, content and parameters, limit and the options that are on."""
        options = [name for name, is_on in asdict(self.options).items() if is_on]
        heuristic = _settings_of(self.heuristic_name, self.heuristic) if self.heuristic else {}
        limit = {self.limit.unit: getattr(self.limit, self.limit.unit)}
        return {"kind": "search", "method": self.method, **heuristic, "limit": limit, "options": options}

    def compiled(self, size: tuple[int, int]) -> CompiledPlayer | None:
        """The native search player, if its heuristic compiles."""
        heuristic = try_to_compile(self.heuristic, size) if self.heuristic else None
        if (heuristic is None and self.heuristic is not None) or size[0] * size[1] > MOST_COMPILED_CELLS:
            return None
        from isolation.search.compiled import compiled_search

        return compiled_search(heuristic, self.method, self.options, self.limit, size, self._late_ms)

    def why_interpreted(self, size: tuple[int, int]) -> str:
        """Why the heuristic does not compile, or that the board is too large; empty if it is compiled."""
        if self.compiled(size) is not None:
            return ""
        if size[0] * size[1] > MOST_COMPILED_CELLS:
            return f"compiled search supports up to {MOST_COMPILED_CELLS} cells"
        from isolation.compiling.compile_heuristic import CompileError, compile_heuristic

        try:
            compile_heuristic(self.heuristic, size)  # type: ignore[arg-type]
        except CompileError as error:
            return " ".join(str(error).split())
        return "its options do not compile"

    def why_unfit(self, size: tuple[int, int]) -> str:
        """That the board is too large for the states of the third edition, if its heuristic is asked about those."""
        return unsupported_size_reason(*size) if isinstance(base_function(self.heuristic), StateHeuristic) else ""

    @property
    def has_depth(self) -> bool:
        """Whether it searches all lines to a depth, which it then can be limited by."""
        return self.method not in TREES

    def placing(self) -> SearchAgent:
        """Itself, looking at a thousand positions at most.

        Compiled search begins once both knights are placed. Before that there are dozens of moves and each position
        costs a hundred times as much, so that an ordinary limit would take minutes.
        """
        return self.searching(PLACING_NODES)

    def searching(self, nodes: int) -> SearchAgent:
        """Itself under a limit of so many nodes at most."""
        return replace(self, limit=Limit(nodes=min(self.limit.nodes or nodes, nodes)))

    @property
    def _late_ms(self) -> float | None:
        milliseconds = self.limit.ms or self.limit.cpu_ms
        return milliseconds + LATE_MS if milliseconds else None

    def choose(self, board: Board, seed: int) -> SearchResult:
        """The move its search finds, unless it is late."""
        return self.in_time(self.find(board, seed))

    def in_time(self, result: SearchResult) -> SearchResult:
        """The result of a search.

        Raises:
            ForfeitError: it took longer than the wall time of a move.
        """
        if self.limit.ms is not None and self._late_ms is not None and result.seconds * 1e3 > self._late_ms:
            raise ForfeitError(Reason.TIMEOUT, f"took {result.seconds * 1e3:.0f} ms of {self.limit.ms:g} ms")
        return result

    def find(self, board: Board, seed: int) -> SearchResult:
        """The move its search finds, however long it took."""
        return _choose(self, board, seed, lambda: self.find_in_python(board, seed))

    def find_in_python(self, board: Board, seed: int) -> SearchResult:
        """The same, searched in Python."""
        return search_in_python(board, self.heuristic, self.limit, self.method, self.options, seed)


def _choose(agent: Agent, board: Board, seed: int, interpreted: Callable[[], SearchResult]) -> SearchResult:
    player = agent.compiled((board.height, board.width)) if is_compilable(board) else None
    if player is None:
        return interpreted()
    from isolation.search.compiled import run_with_fallback

    return run_with_fallback(player, board, seed, interpreted)


def try_to_compile(heuristic: Heuristic, size: tuple[int, int]) -> Any:
    """The compiled heuristic, or None if the board is too large or the heuristic does not compile."""
    if size[0] * size[1] > MOST_COMPILED_CELLS:
        return None
    if not isinstance(heuristic, Hashable):  # an object, no function
        return None
    return _try_to_compile(heuristic, size)


@lru_cache(maxsize=FUNCTIONS_REMEMBERED)
def _try_to_compile(heuristic: Heuristic, size: tuple[int, int]) -> Any:
    from isolation.compiling.compile_heuristic import CompileError, compile_heuristic

    try:
        return compile_heuristic(heuristic, size)
    except CompileError:
        return None


def _settings_of(name: str, heuristic: Heuristic) -> dict[str, Any]:
    """What a heuristic adds to the settings of an agent; the parameters only if it has any."""
    parameters = parameter_values(heuristic)
    return {"heuristic": name, "code": code_hash(heuristic), **({"parameters": parameters} if parameters else {})}


def code_hash(heuristic: Heuristic) -> str:
    """A short hash of a heuristic's code, helpers and constants included, the values of its parameters not.

    Of objects and of what does not compile it covers the class or function itself; of a user's file the log has a hash
    of its own.
    """
    from isolation.compiling.source_rewriter import CompileError, rewrite

    heuristic = base_function(heuristic)
    try:
        code = rewrite(heuristic).code
    except CompileError:
        code = _own_source(heuristic)
    return sha256(code.encode()).hexdigest()[:16]


def _own_source(heuristic: Heuristic) -> str:
    while isinstance(heuristic, partial):
        heuristic = heuristic.func
    heuristic = unwrap(heuristic)
    try:
        with reading:
            return getsource(heuristic if isroutine(heuristic) else type(heuristic))
    except (OSError, TypeError):
        return repr(type(heuristic))
