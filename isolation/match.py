"""Games between two agents: one, or a batch, from given openings."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isolation.agents import Agent, Forfeit, Player, as_loss, ask_once, closing
from isolation.board import Board
from isolation.engines.crossing import CannotCross
from isolation.faults import IsCtrlC, heeding_ctrl_c
from isolation.geometry import parse_size
from isolation.outcome import REASON_WORDS, Reason
from isolation.search.result import SearchResult
from isolation.seeds import move_seed

if TYPE_CHECKING:
    from isolation.search.compiled import CompiledPlayer


@dataclass(frozen=True)
class GameRecord:
    """One game, for people and tests.

    Attributes:
        size: of the board, ROWSxCOLUMNS.
        opening: the cells played before the agents took over.
        agent_1, agent_2: the agents' names; agent 1 places first.
        winner: 1 or 2.
        reason: the word of a `Reason`, what the loser did.
        detail: more about an unusual end.
        moves: the cells of all plies, the opening's included.
        score, depth, nodes, time_us, exact: of every ply as its mover saw it, aligned with `moves`; on opening plies
            NaN, zeros and False.
    """

    size: str
    opening: tuple[int, ...]
    agent_1: str
    agent_2: str
    winner: int
    reason: str
    detail: str
    moves: tuple[int, ...]
    score: tuple[float, ...]
    depth: tuple[int, ...]
    nodes: tuple[int, ...]
    time_us: tuple[int, ...]
    exact: tuple[bool, ...]

    @property
    def plies(self) -> int:
        """Plies played, the opening's included."""
        return len(self.moves)


@dataclass(frozen=True)
class Games:
    """A batch of n finished games as columns; the plies of all games lie one after another, split by `offsets`.

    Attributes:
        winner: int8[n], 1 or 2.
        reason: int8[n], the numbers of `Reason`.
        detail: n texts, mostly empty.
        offsets: int64[n + 1]; game i has the plies offsets[i] to offsets[i + 1].
        moves, score, depth, nodes, time_us, exact: one entry a ply, see `GameRecord`.
    """

    winner: NDArray[np.int8]
    reason: NDArray[np.int8]
    detail: list[str]
    offsets: NDArray[np.int64]
    moves: NDArray[np.int16]
    score: NDArray[np.float64]
    depth: NDArray[np.int16]
    nodes: NDArray[np.int64]
    time_us: NDArray[np.int64]
    exact: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.winner)


def play(
    agent_1: Agent,
    agent_2: Agent,
    opening: Sequence[int] = (),
    size: str = "7x7",
    *,
    seed: int = 0,
    hard_cap: float | None = None,
) -> GameRecord:
    """Play one game; safe in threads as far as `play_games` is, see there."""
    games = play_games(agent_1, agent_2, [opening], [seed], size, hard_cap)
    plies = (tuple(getattr(games, name).tolist()) for name in _PLY_COLUMNS)
    return GameRecord(
        size, tuple(opening), agent_1.name, agent_2.name, int(games.winner[0]), REASON_WORDS[games.reason[0]],
        games.detail[0], *plies,
    )  # fmt: skip


def play_games(
    agent_1: Agent,
    agent_2: Agent,
    openings: Sequence[Sequence[int]],
    seeds: Sequence[int],
    size: str = "7x7",
    hard_cap: float | None = None,
    *,
    marker: NDArray[np.int64] | None = None,
    interpreted: bool = False,
) -> Games:
    """Play one game from every opening, agent 1 placing first.

    Two compiled agents play the whole batch in compiled code; the records are the same as those of the interpreted
    loop, times aside.

    Safe in threads: batches may be played at once, each as if alone but for times. It does not hold for classic
    players, which draw from generators of the whole process (see `ClassicAgent`), nor for users' code that keeps a
    memory of its own.

    Args:
        openings: legal sequences of cells; compiled play needs both placements in each.
        seeds: one unsigned 64-bit number a game.
        hard_cap: seconds after which a move counts as a hang. Agents that might hang then live in a child process.
        marker: int64[3], kept at the index of the game being played, the index (0, 1) of its mover, and its ply.
        interpreted: play in the interpreted loop even if both agents are compiled.

    Raises:
        ValueError: an illegal opening, or an agent that cannot be sent to the process that a hard cap needs.
    """
    rows, columns = parse_size(size)
    boards = [Board.from_moves(opening, size) for opening in openings]
    marker = np.zeros(3, np.int64) if marker is None else marker
    players = [None if interpreted else agent.compiled((rows, columns)) for agent in (agent_1, agent_2)]
    guarded = hard_cap is not None and any(might_hang(agent) for agent in (agent_1, agent_2))
    if all(players) and not guarded and all(len(opening) >= 2 for opening in openings):
        games = _play_compiled(players, openings, seeds, (rows, columns), marker)  # type: ignore[arg-type]
        return _with_details(games, (agent_1, agent_2), seeds, size)
    return _play_interpreted((agent_1, agent_2), boards, seeds, hard_cap, marker)


def load_compiled_games(size: tuple[int, int]) -> None:
    """Compile or load what plays games of compiled agents on boards of (rows, columns), before there is one to play."""
    from isolation.compiling.specialise import NativeFunction
    from isolation.search.compiled import CompiledPlayer, Settings

    nobody = CompiledPlayer(NativeFunction(0, lambda: 0.0), Settings())
    _play_compiled((nobody, nobody), [], [], size, np.zeros(3, np.int64))


def might_hang(agent: Agent) -> bool:
    """Whether an agent could fail to answer: it runs code that does not ship with the toolkit."""
    return agent.is_user_code


def _play_compiled(
    players: Sequence[CompiledPlayer],
    openings: Sequence[Sequence[int]],
    seeds: Sequence[int],
    size: tuple[int, int],
    marker: NDArray[np.int64],
) -> Games:
    from isolation.compiling.specialise import native_function
    from isolation.native import desks
    from isolation.search.compiled import as_row

    count, cells = len(openings), size[0] * size[1]
    winner, reason, ends = np.empty(count, np.int8), np.empty(count, np.int8), np.empty(count, np.int64)
    plies: tuple[Any, ...] = tuple(np.empty(count * cells, kind) for kind in _PLY_TYPES)
    starts = np.concatenate(([0], np.cumsum([len(opening) for opening in openings]))).astype(np.int64)
    given = (
        np.array([cell for opening in openings for cell in opening], np.int64),
        starts,
        np.array(seeds, np.uint64),
    )
    rows = np.array([as_row(player) for player in players], np.int64)
    with desks.lent() as desk:
        native_function("games", None, *size).call(
            *map(desks.address_of, given), count, desks.address_of(rows), desk.address,
            *map(desks.address_of, (marker, winner, reason, ends, *plies)),
        )  # fmt: skip
    offsets = np.concatenate(([0], ends)).astype(np.int64)
    return Games(winner, reason, [""] * count, offsets, *(column[: offsets[-1]].copy() for column in plies))


def _with_details(games: Games, agents: tuple[Agent, Agent], seeds: Sequence[int], size: str) -> Games:
    """The games, those lost by an error or a late move with their details, which compiled code cannot tell."""
    for index in np.flatnonzero(games.reason).tolist():
        moves = games.moves[games.offsets[index] : games.offsets[index + 1]].tolist()
        if games.reason[index] == Reason.TIMEOUT:
            games.detail[index] = f"late at ply {len(moves) + 1}"
            continue
        board = Board.from_moves(moves, size)
        with heeding_ctrl_c() as is_ctrl_c:
            try:
                ask_once(agents[board.active_index], board, move_seed(seeds[index], len(moves)))
            except BaseException as error:
                if is_ctrl_c(error):
                    raise
                games.detail[index] = as_loss(error).detail
    return games


def _play_interpreted(
    agents: tuple[Agent, Agent],
    boards: list[Board],
    seeds: Sequence[int],
    hard_cap: float | None,
    marker: NDArray[np.int64],
) -> Games:
    if not boards:
        return _collect([])
    size = (boards[0].height, boards[0].width)
    with ExitStack() as stack:
        players = [stack.enter_context(closing(_open(agent, size, hard_cap))) for agent in agents]
        is_ctrl_c = stack.enter_context(heeding_ctrl_c())
        games = enumerate(zip(boards, seeds, strict=True))
        return _collect([_play_one(players, board, seed, marker, index, is_ctrl_c) for index, (board, seed) in games])


def _open(agent: Agent, size: tuple[int, int], hard_cap: float | None) -> Player:
    if hard_cap is None:
        return agent.open()
    from isolation.engines.agent import EngineAgent
    from isolation.engines.guard import guard

    if isinstance(agent, EngineAgent):
        return agent.capped(hard_cap).open()
    if not might_hang(agent):
        return agent.open()

    return guard(agent, size, hard_cap)


@dataclass(frozen=True)
class _Played:
    """A finished game: who won and why, the plies of the opening, all cells, and what the later plies rest on."""

    winner: int
    reason: Reason
    detail: str
    opening: int
    cells: tuple[int, ...]
    results: list[SearchResult]


def _play_one(
    players: Sequence[Player], board: Board, seed: int, marker: NDArray[np.int64], index: int, is_ctrl_c: IsCtrlC
) -> _Played:
    opening_plies = board.move_count
    results: list[SearchResult] = []
    has_begun = [False, False]
    while True:
        turn = board.active_index
        marker[:] = (index, turn, board.move_count)
        loss = None if board.moves_mask(turn) else Forfeit(Reason.NO_MOVES, "")
        if loss is None:
            try:
                if not has_begun[turn]:
                    players[turn].new_game()
                    has_begun[turn] = True
                result = players[turn].choose(board, move_seed(seed, board.move_count))
            except CannotCross:
                raise
            except BaseException as error:
                if is_ctrl_c(error):
                    raise
                loss = as_loss(error)
        if loss is None and not board.moves_mask(turn) >> result.move & 1:
            loss = Forfeit(Reason.ILLEGAL_MOVE, f"played cell {result.move}")
        if loss is not None:
            return _Played(2 - turn, loss.reason, loss.detail, opening_plies, board.history, results)
        results.append(result)
        board.play_cell(result.move)


_PLY_COLUMNS = ("moves", "score", "depth", "nodes", "time_us", "exact")
_PLY_TYPES = (np.int16, np.float64, np.int16, np.int64, np.int64, np.bool_)


def _collect(played: list[_Played]) -> Games:
    rows: list[tuple[Any, ...]] = []
    for game in played:
        rows += [(cell, float("nan"), 0, 0, 0, False) for cell in game.cells[: game.opening]]
        rows += [(r.move, r.score, r.depth, r.nodes, int(r.seconds * 1e6), r.exact) for r in game.results]
    columns = list(zip(*rows, strict=True)) or [()] * len(_PLY_TYPES)
    return Games(
        np.array([game.winner for game in played], np.int8),
        np.array([game.reason for game in played], np.int8),
        [game.detail for game in played],
        np.concatenate(([0], np.cumsum([len(game.cells) for game in played]))).astype(np.int64),
        *(np.array(column, kind) for column, kind in zip(columns, _PLY_TYPES, strict=True)),
    )
