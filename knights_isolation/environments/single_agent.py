"""One game as environments play it, and the Gymnasium environment: one learning agent against any opponent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, TypedDict, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from knights_isolation.experiments.plan import AgentLike, parse_agent, parse_limit, spec_of
from knights_isolation.isolation import Board
from knights_isolation.isolation.games.learning import PerfectPlay
from knights_isolation.isolation.rules.drawing import to_text
from knights_isolation.isolation.rules.game import parse_size
from knights_isolation.isolation.search.agents import check_board_size, forfeit_from
from knights_isolation.isolation.search.solver import solver_limits

DEFAULT_LIMIT = "nodes=1000000"
"""Of exact search: on 7x7 half a millisecond a move on average, and some 20 for the most difficult; the same on every
machine."""
RENDER_MODES = ["ansi", "rgb_array"]
RenderMode: TypeAlias = Literal["ansi", "rgb_array"] | None


class GameInfo(TypedDict, total=False):
    """What a player is told of perfect play; each is None where the limit left it unknown, and absent without a limit.

    Attributes:
        value: 1.0 if the player wins with perfect play, -1.0 if it loses.
        winning_moves: moves of the side to move that win, ascending.
        regret: of the player's last move: 1.0 if it threw a win away, 0.0 if not.
        illegal: True if the player's last action was illegal, else absent.
        forfeit: why the opponent lost by a failure.
    """

    value: float | None
    winning_moves: tuple[int, ...] | None
    regret: float | None
    illegal: bool
    forfeit: str


class Observation(TypedDict):
    """What an agent observes.

    Attributes:
        observation: bool[4, rows, columns]: blank cells, own knight, the other knight, own legal moves.
        action_mask: int8[cells], 1 for each legal move; all 0 while the other player is to move.
    """

    observation: NDArray[np.bool_]
    action_mask: NDArray[np.int8]


class EnvironmentGame:
    """The game of an environment, with what exact search knows of it.

    Attributes:
        size: rows and columns.
        observations, actions: spaces of `Observation`, and of actions, which are cells.
        board: the current position.
    """

    def __init__(self, size: str, exact: str | None, render_mode: RenderMode, *, is_placed: bool) -> None:
        """Check and keep the arguments of an environment.

        Args:
            exact: limit of the exact search after each move, nodes=N or ms=N; None for no exact search.
            is_placed: whether knights are placed at random, so that player 1 has a move.

        Raises:
            ValueError: an argument is invalid, or no knight can move on such a board once both are placed.
        """
        check_choice("render_mode", render_mode, (*RENDER_MODES, None))
        self.size = parse_size(size)
        if is_placed and (min(self.size) < 2 or max(self.size) < 3):
            raise ValueError(f"on a board of {size} no knight can move once both are placed: choose 2x3 or larger")
        if not (exact is None or isinstance(exact, str)):
            raise ValueError(f"exact must be None or a limit such as 'nodes=1000', not {exact!r}")
        self._is_placed = is_placed
        self._limit = parse_limit(exact) if exact is not None else None
        solver_limits(self._limit)
        mask = spaces.Box(0, 1, (self.size.cells,), np.int8)
        self.observations = spaces.Dict({"observation": spaces.Box(0, 1, (4, *self.size), bool), "action_mask": mask})
        self.actions = spaces.Discrete(self.size.cells)
        self.begin()

    def begin(self, random: np.random.Generator | None = None) -> None:
        """Begin a game anew; without `random` no knight is placed, and no exact search made.

        Random placements are drawn again until player 1 has a move.
        """
        self.board = Board.from_moves([], self.size)
        while random and self._is_placed and (None in self.board.locations or self.is_over):
            cells = random.choice(self.size.cells, 2, replace=False)
            self.board = Board.from_moves(cells.tolist(), self.size)
        self._perfect = PerfectPlay(self.board, self._limit) if random and self._limit else None
        self._regrets: list[float | None] = [None, None]

    @property
    def is_over(self) -> bool:
        """Whether the side to move has no move, and has lost."""
        return not self.board.legal_cells()

    def play(self, cell: int) -> None:
        """Play a legal move."""
        mover = self.board.active_index
        self.board = self.board.successor(cell)
        if self._perfect:
            self._perfect.follow(cell, self.board)
            self._regrets[mover] = self._perfect.regret

    def observe(self, player: int) -> Observation:
        """Return what a player, 0 or 1, sees."""
        planes = self.board.observation()
        if player != self.board.active_index:
            planes = planes[[0, 2, 1, 3]]
            planes[3] = False
        return {"observation": planes, "action_mask": planes[3].ravel().astype(np.int8)}

    def info(self, player: int) -> GameInfo:
        """Return what a player, 0 or 1, is told besides: nothing without exact search."""
        if self._perfect is None:
            return {}
        now = self._perfect.now
        # A float, as Gymnasium's vector environments put None into arrays of floats, but not into those of integers.
        sign = 1.0 if player == self.board.active_index else -1.0
        value = None if now.value is None else sign * now.value
        return {"value": value, "winning_moves": now.winning_moves, "regret": self._regrets[player]}

    def render(self, mode: str | None) -> str | NDArray[np.uint8] | None:
        """Return the position as text ("ansi"), as an array of pixels ("rgb_array"), or None."""
        if mode == "ansi":
            return to_text(self.board)
        if mode == "rgb_array":
            from knights_isolation.reports.pages.board_images import to_image

            return np.asarray(to_image(self.board))
        return None


def check_choice(argument: str, value: object, choices: Sequence[str | None]) -> None:
    """Raise ValueError unless an argument is one of a few words."""
    if not (value is None or isinstance(value, str)) or value not in choices:
        raise ValueError(f"{argument} must be one of {', '.join(map(repr, choices))}, not {value!r}")


def action_cell(action: object) -> int:
    """Return the cell that an action names, which may be none of the board's.

    Raises:
        ValueError: the action is not a whole number, or not a single one.
    """
    numbers = np.asarray(action)
    if numbers.size != 1 or not np.issubdtype(numbers.dtype, np.integer):
        raise ValueError(f"an action must be the number of a cell, a whole number, not {action!r}")
    return int(numbers.item())


class IsolationEnv(gymnasium.Env[Observation, np.int64]):
    """Knight's Isolation against an opponent. Actions are cells; a win gives 1, a loss -1, all other moves 0.

    `reset` places both knights at random and draws who moves first. An illegal action loses the game. The `info` has
    the keys of `GameInfo`.
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": 2}  # noqa: RUF012 -- Gymnasium's attribute

    def __init__(
        self,
        opponent: AgentLike = "random",
        size: str = "7x7",
        *,
        render_mode: RenderMode = None,
        exact: str | None = DEFAULT_LIMIT,
    ) -> None:
        """Make the environment; `reset` begins a game.

        Args:
            opponent: an agent as elsewhere: a spec, the name of a heuristic, or a function of (game, player).
            size: ROWSxCOLUMNS, 2x3 or larger.
            exact: limit of the exact search after each move, nodes=N or ms=N; None for no exact search.

        Raises:
            ValueError: an argument is invalid, or the opponent does not play on this board.
        """
        self._game, self._is_playing = EnvironmentGame(size, exact, render_mode, is_placed=True), False
        self.render_mode = render_mode
        self.observation_space = cast("spaces.Space[Observation]", self._game.observations)
        self.action_space = self._game.actions
        agent = parse_agent(spec_of(opponent))
        check_board_size([agent], self._game.size)
        self._opponent = agent.open()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a game, in which the opponent may already have moved.

        Raises:
            RuntimeError: the opponent failed at its first move.
        """
        super().reset(seed=seed)
        self._forfeit, self._is_playing = "", False
        while True:
            self._game.begin(self.np_random)
            self._side = int(self.np_random.integers(2))
            self._opponent.new_game()
            if self._side == 1 and not self._game.is_over:
                self._reply()
            if self._forfeit:
                raise RuntimeError(f"the opponent failed at its first move: {self._forfeit}")
            if not self._game.is_over:
                self._is_playing = True
                return self._game.observe(self._side), self._info()

    def step(self, action: int | np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play a cell, and the opponent's reply.

        Raises:
            ValueError: the action is not a whole number.
            RuntimeError: there is no game: it was not reset, or is over.
        """
        if not self._is_playing:
            raise RuntimeError("there is no game: call reset()")
        cell = action_cell(action)
        if cell not in self._game.board.legal_cells():
            self._is_playing = False
            return self._game.observe(self._side), -1.0, True, False, {**self._info(), "illegal": True}
        self._game.play(cell)
        reward = 1.0 if self._game.is_over else 0.0
        if not reward:
            self._reply()
            reward = 1.0 if self._forfeit else -1.0 if self._game.is_over else 0.0
        self._is_playing = reward == 0.0
        return self._game.observe(self._side), reward, not self._is_playing, False, self._info()

    def render(self) -> str | NDArray[np.uint8] | None:
        """Return the position as text or as an array of pixels, as `render_mode` says."""
        return self._game.render(self.render_mode)

    def close(self) -> None:
        """Release the opponent's resources, such as a process, and end the game."""
        self._is_playing = False
        self._opponent.close()

    def _reply(self) -> None:
        """Play the opponent's move, or note why it loses."""
        try:
            cell = self._opponent.choose(self._game.board, int(self.np_random.integers(2**63))).move
        except Exception as error:
            self._forfeit = forfeit_from(error).detail
            return
        if cell in self._game.board.legal_cells():
            self._game.play(cell)
        else:
            self._forfeit = f"played cell {cell}"

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {**self._game.info(self._side)}
        if self._forfeit:
            info["forfeit"] = self._forfeit
        return info
