"""The third edition of the classic engine: its states and its game loop.

A state is immutable, on 9 rows of 11 cells. A cell is ``y * 13 + x``: cell 0 is at the bottom right, x grows to the
left and y upwards. Bit `cell` of the board is set while the cell is open. Each row of eleven cells is followed by two
bits that are never set, so that no knight's move wraps around.

Each turn runs in a thread, and the last action on its queue counts. The original engine ran each turn in a new process
and ended it when the time was up, so that only `context` was kept from one turn to the next. Here a turn runs in its
own thread, on a copy of the player, and is stopped by an exception.
"""

from __future__ import annotations

import copy
import inspect
import logging
import threading
from collections import deque
from collections.abc import Callable
from enum import Enum, IntEnum
from functools import lru_cache, partial, wraps
from queue import Empty, Queue
from types import FunctionType
from typing import Any, NamedTuple, ParamSpec, TypeVar

from ..usercode.timeouts import raise_in_thread
from .board import Board, Memo
from .game import TimeLeft, start_clock
from .geometry import Locations, Move
from .parameters import arguments_of

WIDTH, HEIGHT = 11, 9
STRIDE = WIDTH + 2
SIZE = STRIDE * HEIGHT - 2
NORTH, SOUTH, WEST, EAST = STRIDE, -STRIDE, 1, -1
BLANK_BOARD = sum((1 << WIDTH) - 1 << STRIDE * y for y in range(HEIGHT))


class Action(IntEnum):
    """The eight moves of a knight as differences between cells, in the edition's order."""

    NNE = NORTH + NORTH + EAST
    ENE = EAST + NORTH + EAST
    ESE = EAST + SOUTH + EAST
    SSE = SOUTH + SOUTH + EAST
    SSW = SOUTH + SOUTH + WEST
    WSW = WEST + SOUTH + WEST
    WNW = WEST + NORTH + WEST
    NNW = NORTH + NORTH + WEST


ACTIONS = frozenset(Action)


def is_on_board(cell: int) -> bool:
    """Return whether a number is a cell of the board."""
    return cell >= 0 and bool(BLANK_BOARD >> cell & 1)


def _steps(cell: int) -> tuple[tuple[Action, int, int], ...]:
    targets = ((action, cell + action) for action in Action)
    return tuple((action, target, 1 << target) for action, target in targets if is_on_board(target))


_STEPS = Memo(_steps)
"""By cell, its steps to cells of the board, as (action, target, the target's bit)."""
_REACH = Memo[int | None, int](
    lambda cell: (BLANK_BOARD if cell is None else sum(bit for _, _, bit in _STEPS[cell])) & ~1
)
"""By cell, or None for all cells, the mask of its targets except cell 0."""


class Isolation(NamedTuple):
    """A position: the board, the plies played so far, and the cells of both players, None before their placement.

    Players are numbered 0 and 1; 0 places first. States are immutable tuples, and compare, hash and pickle as tuples.

    >>> state = Isolation().result(57).result(0)
    >>> state.actions()[:2], state.liberties(0)
    ([<Action.NNE: 25>, <Action.ENE: 11>], [15, 27])
    """

    board: int = BLANK_BOARD
    ply_count: int = 0
    locs: Locations = (None, None)

    def player(self) -> int:
        """Return the player to move."""
        return self.ply_count % 2

    def actions(self) -> list[Action] | list[int]:
        """Return the actions of the player to move: the open cells, ascending, for its placement; later `Action`s."""
        board, cell = self.board, self.locs[self.ply_count % 2]
        if cell is None:
            return _open_cells(board)
        return [action for action, _, bit in _STEPS[cell] if board & bit]

    def liberties(self, loc: int | None) -> list[int]:
        """Return the open cells a knight's move away from a cell; for None all open cells, ascending."""
        if loc is None:
            return _open_cells(self.board)
        board = self.board
        return [target for _, target, bit in _STEPS[loc] if board & bit]

    def result(self, action: int) -> Isolation:
        """Return the state after an action: a cell for a player's placement, later an `Action` or an equal number.

        Raises:
            AssertionError: not an action.
            RuntimeError: the cell is not open.
        """
        mover = self.ply_count % 2
        cell = self.locs[mover]
        assert cell is None or action in ACTIONS, f"{action} is no action of a knight"
        target = int(action) if cell is None else cell + action
        if target < 0 or not self.board >> target & 1:
            raise RuntimeError(f"cell {target} is not open")
        locs = (self.locs[0], target) if mover else (target, self.locs[1])
        return Isolation(self.board ^ 1 << target, self.ply_count + 1, locs)

    def terminal_test(self) -> bool:
        """Return whether either player has no liberties."""
        return not (self._has_liberties(0) and self._has_liberties(1))

    def utility(self, player_id: int) -> float:
        """Return positive infinity if the player has won, negative infinity if it has lost, 0 while the game goes on.

        The player to move has won if it has liberties and lost if it has none, whatever the other's liberties.
        """
        if not self.terminal_test():
            return 0
        mover = self.ply_count % 2
        return float("inf") if self._has_liberties(mover) == (player_id == mover) else float("-inf")

    def _has_liberties(self, player_id: int) -> bool:
        # The original tests whether any target cell is true, and cell 0 is not. Players depend on that.
        return bool(self.board & _REACH[self.locs[player_id]])


# Pickled states, such as the keys of opening books, refer to their classes by this module's name.
Isolation.__module__ = Action.__module__ = "isolation.isolation"


class DebugState(Isolation):
    """A state that can be printed."""

    __slots__ = ()
    __module__ = "isolation.isolation"
    player_symbols = ("1", "2")

    @staticmethod
    def from_state(state: Isolation) -> DebugState:
        """Return the same state as a `DebugState`."""
        return DebugState(state.board, state.ply_count, state.locs)

    @classmethod
    def ind2xy(cls, ind: int) -> tuple[int, int]:
        """Return the (x, y) of a cell, counted from the bottom right.

        >>> DebugState.ind2xy(57)
        (5, 4)
        """
        return ind % STRIDE, ind // STRIDE

    @property
    def bitboard_string(self) -> str:
        """Return the board in binary digits without leading zeros, the highest open cell first."""
        return f"{self.board:b}"

    def __str__(self) -> str:
        """Return the board as lines, top row first: the players, and an X for every other cell that is not open.

        A line break comes first and last, as in the edition.
        """
        border = f"+{' - +' * WIDTH}"
        signs = {cell: " " if self.board >> cell & 1 else "X" for cell in _CELLS}
        signs |= {cell: sign for cell, sign in zip(self.locs, self.player_symbols, strict=False) if cell is not None}
        rows = ([signs[y * STRIDE + x] for x in reversed(range(WIDTH))] for y in reversed(range(HEIGHT)))
        return "\n".join(["", border, *(line for row in rows for line in (f"| {' | '.join(row)} |", border)), ""])


def _open_cells(board: int) -> list[int]:
    return [cell for cell in _CELLS if board >> cell & 1]


_CELLS = tuple(filter(is_on_board, range(SIZE)))


def unsupported_size_reason(rows: int, columns: int) -> str:
    """Return why a state cannot hold a board of this size, or "" if it can."""
    if rows <= HEIGHT and columns <= WIDTH:
        return ""
    return f"players of the third edition support boards of up to {HEIGHT}x{WIDTH}, not {rows}x{columns}"


def state_of(board: Board) -> Isolation:
    """Convert a position to a state. Raises ValueError if the board is too large."""
    rows, columns = board.height, board.width
    cells, row_mask, blank = _cells(rows, columns), (1 << columns) - 1, 0
    # A state numbers cells from the other end.
    backwards = int(f"{board.blank:0{rows * columns}b}"[::-1], 2)
    for y in range(rows):
        blank |= (backwards >> y * columns & row_mask) << cells[(rows - y) * columns - 1]
    first, second = (None if cell is None else cells[cell] for cell in board.locations)
    # The number of plies determines the side to move, even if old code has set it.
    plies = board.move_count + (board.move_count % 2 ^ board.active_index)
    return Isolation(blank, plies, (first, second))


def from_state_cell(cell: int, rows: int, columns: int) -> Move:
    """Convert a state's cell to (row, column) on a board of this size; the result may be off the board."""
    x, y = cell % STRIDE, cell // STRIDE
    return rows - 1 - (y - (HEIGHT - rows) // 2), columns - 1 - (x - (WIDTH - columns) // 2)


def to_state_cell(row: int, column: int, rows: int, columns: int) -> int:
    """Convert (row, column) on a board of this size to a state's cell.

    >>> to_state_cell(0, 0, 9, 11), to_state_cell(8, 10, 9, 11), to_state_cell(3, 3, 7, 7)
    (114, 0, 57)
    """
    x, y = columns - 1 - column + (WIDTH - columns) // 2, rows - 1 - row + (HEIGHT - rows) // 2
    return y * STRIDE + x


@lru_cache(maxsize=64)
def _cells(rows: int, columns: int) -> tuple[int, ...]:
    if why := unsupported_size_reason(rows, columns):
        raise ValueError(why)
    return tuple(to_state_cell(row, column, rows, columns) for row in range(rows) for column in range(columns))


class StateHeuristic:
    """A heuristic of (game, player) that calls a heuristic of states.

    `of_players` are, for player 0 and player 1, the functions of a state, and of parameters by name, that return the
    state's value for that player.
    """

    def __init__(self, function: FunctionType, of_players: tuple[Callable[..., Any], ...]) -> None:
        self.of_players = of_players
        self.__wrapped__ = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__

    def __call__(self, game: Any, player: Any, **parameters: float) -> Any:
        """Return the position's value for one of its players; `parameters` are passed to the function."""
        return self.of_players[game._index_of(player)](state_of(game), **parameters)


def as_heuristic(value: Any, owner: type | None) -> StateHeuristic | None:
    """Adapt a function of (state, player_id), or, given its owner, a method of (self, state); return None for others.

    Such a method may also take the player_id. For a method, an instance of the owner is created for each player, which
    may raise any exception.
    """
    names = required_parameters(value) if inspect.isfunction(value) else []
    if owner is not None and (len(names) == 2 or names[2:] == ["player_id"]):
        methods = [getattr(owner(player_id=seat), value.__name__) for seat in (0, 1)]
        if names[2:]:
            methods = [partial(method, player_id=seat) for seat, method in enumerate(methods)]
        return StateHeuristic(value, tuple(methods))
    if owner is None and len(names) == 2 and names[0] == "state" and "depth" not in names[1]:
        return StateHeuristic(value, tuple(partial(value, **{names[1]: seat}) for seat in (0, 1)))
    return None


def required_parameters(function: Callable[..., Any]) -> list[str]:
    """Return the names of the parameters that a function or method requires; empty if it has no signature."""
    given = (each for each in arguments_of(function) if each.default is each.empty)
    return [each.name for each in given if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]


_TICK, _LONGEST_WAIT = 0.02, 60.0


class StopSearch(Exception):
    """Raised in a player that puts an action after its time is up."""


class _TimeIsUp(SystemExit):
    """Raised in a player that continues after its time is up; handlers of `Exception` do not catch it."""


class TimedQueue(Queue[tuple[Any, Any]]):
    """A queue for a player's actions, open while `time_left()` milliseconds remain; it keeps only the last one.

    `put` and `get` never wait, and hold no lock, which a player that is stopped might keep.
    """

    def __init__(self, player: Any, time_left: TimeLeft) -> None:
        super().__init__(maxsize=1)
        self.agent = player
        self._time_left = time_left

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        """Replace the action on the queue, with the player's current context. Raises StopSearch if the time is up."""
        if self._time_left() < 0:
            raise StopSearch
        self.queue = deque([(getattr(self.agent, "context", None), item)])

    def get(self, block: bool = True, timeout: float | None = None) -> tuple[Any, Any]:
        """Return the context and the action put last, and remove them. Raises `queue.Empty` if there are none."""
        items: deque[tuple[Any, Any]] = self.queue
        self.queue = deque()
        if not items:
            raise Empty
        return items[0]


def take_turn(player: Any, state: Isolation, time_left: TimeLeft) -> Any:
    """Return the last action that a player puts before its time is up, and set its `context` to that at the time.

    Exceptions raised after a put are ignored, as they were when turns ran in processes.

    Raises:
        queue.Empty: the player has put no action.
        BaseException: any exception that the player raises before it has put one.
    """
    turn = _copy_for_a_turn(player)
    turn.queue = queue = TimedQueue(turn, time_left)
    takes_match = len(required_parameters(player.get_action)) == 2  # of June 2018: the match's number as well
    arguments = (state, 0) if takes_match else (state,)
    error = _run(lambda: turn.get_action(*arguments), time_left)
    if error is not None and not queue.queue:
        raise error
    player.context, action = queue.get()
    return action


def _copy_for_a_turn(player: Any) -> Any:
    """Return a copy of a player with copies of its lists, dictionaries and sets."""
    # Its `data` is shared, since opening books are large and players only read them.
    turn = copy.copy(player)
    for name, value in getattr(player, "__dict__", {}).items():
        if type(value) in (list, dict, set) and name != "data":
            setattr(turn, name, value.copy())
    return turn


def _run(work: Callable[[], object], time_left: TimeLeft) -> BaseException | None:
    """Call `work` in a thread that is stopped when the time is up; return the exception it raised, if any."""
    run = _StoppableCall(work)
    run.start()
    try:
        while run.is_alive() and (left := time_left()) >= 0:
            run.join(min(max(left / 1e3, 1e-3), _LONGEST_WAIT))
    finally:
        while run.is_alive():
            run.stop()
            run.join(_TICK)
    return run.error


class _StoppableCall(threading.Thread):
    """A call that can be stopped from outside while it runs Python code."""

    def __init__(self, work: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self.error: BaseException | None = None
        self._work = work
        self._leaving = threading.Lock()
        self._has_left = False

    def run(self) -> None:
        try:
            self._work()
        except (StopSearch, _TimeIsUp):
            pass
        except BaseException as error:
            self.error = error
        while not self._has_left:
            # An exception sent late must not reach Python's code that ends the thread.
            try:
                with self._leaving:
                    self._has_left = True
                    raise_in_thread(threading.get_ident(), None)
            except _TimeIsUp:
                pass

    def stop(self) -> None:
        """Raise an exception in the call. The call may catch it and continue, so repeat this until it ends."""
        with self._leaving:
            if not self._has_left and self.ident is not None:
                raise_in_thread(self.ident, _TimeIsUp)


P = ParamSpec("P")
T = TypeVar("T")
logger = logging.getLogger("isolation")
ERR_INFO = "Error: {}\nInitial state: {}\nFirst agent: {}\nSecond agent: {}\nState: {}\nActions: {}"


class Status(Enum):
    """Status of a game."""

    NORMAL = 0
    EXCEPTION = 1
    TIMEOUT = 2
    INVALID_MOVE = 3
    GAME_OVER = 4


class Agent(NamedTuple):
    """A player class, instantiated with ``player_id``, and its name in reports."""

    agent_class: Any
    name: str


def play(match: tuple[Any, ...]) -> tuple[Agent, list[int], Any]:
    """Play the rest of a game. A player that raises, or puts no valid action in time, loses.

    A match is (agents, state, time_limit, match_id): two `Agent`s, the first of which moves at even plies; the state;
    the milliseconds per turn; and any value. A fifth value is the `debug` of `fork_get_action`. Returns the winner, the
    actions, and the `match_id`.
    """
    agents, initial, time_limit, match_id, *debug = match
    players = [agent.agent_class(player_id=player_id) for player_id, agent in enumerate(agents)]
    state, status = initial, Status.NORMAL
    history: list[int] = []
    while status is Status.NORMAL:
        if state.terminal_test():
            status = Status.GAME_OVER
            break
        try:
            action = fork_get_action(state, players[state.player()], time_limit, *debug)
            status = Status.NORMAL if action in state.actions() else Status.INVALID_MOVE
        except Empty:
            status = Status.TIMEOUT
        except Exception as error:
            logger.error(ERR_INFO.format(error, initial, *agents, state, history))
            status = Status.EXCEPTION
        if status is Status.NORMAL:
            state = state.result(action)
            history.append(action)
    mover = state.player()
    has_won = status is Status.GAME_OVER and state.utility(mover) > 0
    winner = agents[mover if has_won else 1 - mover]
    logger.info("%s: %s wins after %d plies", status, winner, len(history))
    return winner, history, match_id


def or_as_the_third_edition(ours: Callable[P, T]) -> Callable[P, T]:
    """Make a function of two or more agents also play a match of this edition if called with a single tuple."""

    @wraps(ours)
    def play_either(*arguments: P.args, **options: P.kwargs) -> T:
        if len(arguments) == 1 and not options and isinstance(arguments[0], tuple):
            return play(arguments[0])  # type: ignore[return-value]
        return ours(*arguments, **options)

    return play_either


def fork_get_action(game_state: Isolation, active_player: Any, time_limit: float, debug: bool = False) -> Any:
    """Return the last action that a player puts within a limit in milliseconds, and keep its `context`.

    In spite of the name nothing is forked: see `take_turn`. With `debug` there is no limit.

    Raises:
        queue.Empty: the player has put no action.
        BaseException: any exception that the player raises before it has put one.
    """
    return take_turn(active_player, game_state, start_clock(float("inf") if debug else time_limit))
