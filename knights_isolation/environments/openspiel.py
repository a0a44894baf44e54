"""The OpenSpiel game `knights_isolation`, with the parameters `rows` and `columns`.

For example::

    import pyspiel
    import knights_isolation.environments.openspiel

    game = pyspiel.load_game("knights_isolation(rows=7,columns=7)")
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from knights_isolation.isolation import Board
from knights_isolation.isolation.rules.game import check_size
from knights_isolation.isolation.rules.geometry import cell_name

try:
    pyspiel: Any = import_module("pyspiel")
except ModuleNotFoundError:
    raise ModuleNotFoundError("this needs OpenSpiel: pip install 'knights-isolation[openspiel]'") from None
_TYPE = pyspiel.GameType(
    short_name="knights_isolation",
    long_name="Knight's Isolation",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
    information=pyspiel.GameType.Information.PERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification={"rows": 7, "columns": 7},
)


class IsolationGame(pyspiel.Game):
    """Knight's Isolation from the empty board; actions are cells, and the winner gets 1, the loser -1."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        """Make the game.

        Raises:
            ValueError: a side is not a whole number, is below 1, or the board is too large.
        """
        given = params or {}
        self.rows, self.columns = check_size(given.get("rows", 7), given.get("columns", 7))
        cells = self.rows * self.columns
        info = pyspiel.GameInfo(
            num_distinct_actions=cells, max_chance_outcomes=0, num_players=2, min_utility=-1.0, max_utility=1.0,
            utility_sum=0.0, max_game_length=cells,
        )  # fmt: skip
        super().__init__(_TYPE, info, {"rows": self.rows, "columns": self.columns})

    def new_initial_state(self, state: Any = None) -> IsolationState:
        """Return the empty board."""
        return IsolationState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Any:
        """Return what observes states as the planes of `Board.observation`."""
        if iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall):
            return _PlanesObserver(self.rows, self.columns)
        observation: Any = import_module("open_spiel.python.observation")
        return observation.IIGObserverForPublicInfoGame(iig_obs_type, params)


class IsolationState(pyspiel.State):
    """A position; `board` is the toolkit's."""

    def __init__(self, game: IsolationGame) -> None:
        super().__init__(game)
        self.board = Board.from_moves([], (game.rows, game.columns))

    def current_player(self) -> int:
        """Return the player to move, or TERMINAL."""
        return int(pyspiel.PlayerId.TERMINAL) if self.is_terminal() else self.board.active_index

    def is_terminal(self) -> bool:
        """Return whether the side to move has no move."""
        return self.board.outcome() is not None

    def returns(self) -> list[float]:
        """Return 1 for the winner and -1 for the loser; zeros before the end."""
        outcome = self.board.outcome()
        return [0.0, 0.0] if outcome is None else [1.0, -1.0] if outcome.winner == 1 else [-1.0, 1.0]

    def _legal_actions(self, player: int) -> list[int]:
        return list(self.board.legal_cells())

    def _apply_action(self, action: int) -> None:
        if action not in self.board.legal_cells():
            raise ValueError(f"illegal action {action} at {self.board!r}: legal are {list(self.board.legal_cells())}")
        self.board = self.board.successor(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return cell_name(action, self.board.width)

    def __str__(self) -> str:
        return self.board.fen


class _PlanesObserver:
    """An observer as `open_spiel.python.observation` expects it."""

    def __init__(self, rows: int, columns: int) -> None:
        self.tensor = np.zeros(4 * rows * columns, np.float32)
        self.dict = {"observation": self.tensor.reshape(4, rows, columns)}

    def set_from(self, state: IsolationState, player: int) -> None:
        """Write the planes of a state."""
        self.dict["observation"][:] = state.board.observation()

    def string_from(self, state: IsolationState, player: int) -> str:
        """Return the state's FEN."""
        return state.board.fen


pyspiel.register_game(_TYPE, IsolationGame)
