"""The PettingZoo environment: both players are learning agents, who move in turn.

For example::

    from knights_isolation.environments import isolation_v0

    env = isolation_v0.env("7x7", render_mode="ansi")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, Literal, ParamSpec, TypeAlias, TypedDict

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from knights_isolation.experiments.plan import parse_limit
from knights_isolation.isolation import Board
from knights_isolation.isolation.games.learning import PerfectPlay
from knights_isolation.isolation.rules.drawing import to_text
from knights_isolation.isolation.rules.game import parse_size
from knights_isolation.isolation.search.solver import solver_limits

Arguments = ParamSpec("Arguments")

PLAYERS = ("player_1", "player_2")
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


class raw_env(AECEnv[str, Observation, int]):  # noqa: N801 -- PettingZoo's name
    """Knight's Isolation as an agent environment cycle. Actions are cells; the winner gets 1, the loser -1.

    The dictionary `infos` has a `GameInfo` of each player.

    Attributes:
        board: the current position.
        random: draws random placements and the replacements of illegal actions.
    """

    def __init__(
        self,
        size: str = "7x7",
        *,
        render_mode: RenderMode = None,
        exact: str | None = DEFAULT_LIMIT,
        placements: Literal["played", "random"] = "played",
        illegal: Literal["lose", "replace"] = "lose",
        max_cycles: int | None = None,
    ) -> None:
        """Make the environment; `reset` begins a game.

        Args:
            size: ROWSxCOLUMNS; for random placements 2x3 or larger.
            exact: limit of the exact search after each move, nodes=N or ms=N; None for no exact search.
            placements: whether the players place their knights themselves, or are placed at random, so that player 1
                has a move.
            illegal: an illegal action loses the game, or is replaced by a random legal one.
            max_cycles: truncate games after so many moves of each player, at least 1.

        Raises:
            ValueError: an argument is invalid.
        """
        super().__init__()
        check_choice("render_mode", render_mode, (*RENDER_MODES, None))
        check_choice("placements", placements, ("played", "random"))
        check_choice("illegal", illegal, ("lose", "replace"))
        self.size = parse_size(size)
        if placements == "random" and (min(self.size) < 2 or max(self.size) < 3):
            raise ValueError(f"on a board of {size} no knight can move once both are placed: choose 2x3 or larger")
        if not (exact is None or isinstance(exact, str)):
            raise ValueError(f"exact must be None or a limit such as 'nodes=1000', not {exact!r}")
        is_whole = isinstance(max_cycles, int) and not isinstance(max_cycles, bool)
        if max_cycles is not None and (not is_whole or max_cycles < 1):
            raise ValueError(f"max_cycles must be None or a whole number, at least 1, not {max_cycles!r}")
        self._limit = parse_limit(exact) if exact is not None else None
        solver_limits(self._limit)
        self.metadata = {"render_modes": RENDER_MODES, "name": "isolation_v0", "render_fps": 2}
        self.render_mode = render_mode
        self.possible_agents = list(PLAYERS)
        self.agents: list[str] = []
        self._is_placed, self._loses, self._max_cycles = placements == "random", illegal == "lose", max_cycles
        mask = spaces.Box(0, 1, (self.size.cells,), np.int8)
        seen = spaces.Dict({"observation": spaces.Box(0, 1, (4, *self.size), bool), "action_mask": mask})
        self.observation_spaces = {player: deepcopy(seen) for player in PLAYERS}
        self.action_spaces = {player: spaces.Discrete(self.size.cells) for player in PLAYERS}
        self.random = np.random.default_rng()
        self.board = Board.from_moves([], self.size)

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of a player's observations."""
        return self.observation_spaces[_checked(agent)]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the space of actions: the cells of the board."""
        return self.action_spaces[_checked(agent)]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game. The seed decides random placements and the replacements of illegal actions.

        Random placements are drawn again until player 1 has a move.
        """
        if seed is not None:
            self.random, _ = seeding.np_random(seed)
        self.agents = list(PLAYERS)
        self.board = Board.from_moves([], self.size)
        while self._is_placed and (None in self.board.locations or not self.board.legal_cells()):
            cells = self.random.choice(self.size.cells, 2, replace=False)
            self.board = Board.from_moves(cells.tolist(), self.size)
        self._perfect = PerfectPlay(self.board, self._limit) if self._limit else None
        self._regrets: dict[str, float | None] = dict.fromkeys(PLAYERS)
        self._moves = 0
        self.rewards = dict.fromkeys(PLAYERS, 0.0)
        self._cumulative_rewards = dict.fromkeys(PLAYERS, 0.0)
        self.terminations = dict.fromkeys(PLAYERS, False)
        self.truncations = dict.fromkeys(PLAYERS, False)
        self._is_illegal = dict.fromkeys(PLAYERS, False)
        self.agent_selection = PLAYERS[0]
        self._note()

    def observe(self, agent: str) -> Observation:
        """Return what a player sees; its action mask is empty while the other is to move."""
        planes = self.board.observation()
        if PLAYERS.index(_checked(agent)) != self.board.active_index:
            planes = planes[[0, 2, 1, 3]]
            planes[3] = False
        return {"observation": planes, "action_mask": planes[3].ravel().astype(np.int8)}

    def step(self, action: int | np.int64 | None) -> None:
        """Play a cell for the player to move; None for a player whose game is over.

        Raises:
            ValueError: the action is not a whole number, or not None where the game is over.
            RuntimeError: there is no game: it was not reset, or is over for both players.
        """
        if not self.agents:
            raise RuntimeError("there is no game: call reset()")
        mover = self.agent_selection
        if self.terminations[mover] or self.truncations[mover]:
            self._was_dead_step(action)
            return
        cell = action_cell(action)
        self._cumulative_rewards[mover] = 0.0
        self.rewards = dict.fromkeys(self.agents, 0.0)
        waiter = PLAYERS[1 - PLAYERS.index(mover)]
        legal = self.board.legal_cells()
        self._is_illegal[mover] = cell not in legal
        if cell in legal or not self._loses:
            self._play(cell if cell in legal else int(self.random.choice(legal)))
            winner = None if self.board.legal_cells() else mover
        else:
            winner = waiter
        if winner:
            self.rewards = {player: 1.0 if player == winner else -1.0 for player in PLAYERS}
            self.terminations = dict.fromkeys(PLAYERS, True)
        elif self._max_cycles is not None and self._moves >= len(PLAYERS) * self._max_cycles:
            self.truncations = dict.fromkeys(PLAYERS, True)
        self.agent_selection = waiter
        self._note()
        self._accumulate_rewards()

    def render(self) -> str | NDArray[np.uint8] | None:
        """Return the position as text or as an array of pixels, as `render_mode` says."""
        if self.render_mode == "rgb_array":
            from knights_isolation.reports.pages.board_images import to_image

            return np.asarray(to_image(self.board))
        return to_text(self.board) if self.render_mode == "ansi" else None

    def close(self) -> None:
        """End the game; there are no resources."""
        self.agents = []

    def _play(self, cell: int) -> None:
        self._moves += 1
        self.board = self.board.successor(cell)
        if self._perfect:
            self._perfect.follow(cell, self.board)
            self._regrets[self.agent_selection] = self._perfect.regret

    def _note(self) -> None:
        self.infos: dict[str, GameInfo] = {player: self._info(player) for player in PLAYERS}

    def _info(self, player: str) -> GameInfo:
        info: GameInfo = {}
        if self._perfect:
            now = self._perfect.now
            # a float, as Gymnasium's vector environments put None into arrays of floats, not into those of integers
            sign = 1.0 if PLAYERS.index(player) == self.board.active_index else -1.0
            value = None if now.value is None else sign * now.value
            info = {"value": value, "winning_moves": now.winning_moves, "regret": self._regrets[player]}
        if self._is_illegal[player]:
            info["illegal"] = True
        return info


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


def _checked(agent: str) -> str:
    check_choice("agent", agent, PLAYERS)
    return agent


def _in_order(make: Callable[Arguments, raw_env]) -> Callable[Arguments, AECEnv[str, Observation, int]]:
    def env(*arguments: Arguments.args, **keywords: Arguments.kwargs) -> AECEnv[str, Observation, int]:
        """Return the environment, which raises a clear error where it is used out of order; see `raw_env`."""
        return wrappers.OrderEnforcingWrapper(make(*arguments, **keywords))

    return env


env = _in_order(raw_env)
