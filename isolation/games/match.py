"""Play one game or a batch of games between agents from given openings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from math import inf, nan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..loading.load_user_code import origin_of
from ..rules.classic_board import Board
from ..rules.game import REASON_WORDS, USUAL_SIZE, Reason, Size, SizeLike, size_of
from ..rules.parameters import base_function
from ..rules.seeds import move_seed
from ..rules.third_edition import or_as_the_third_edition
from ..search import SearchResult
from ..search.agents import (
    Agent,
    AgentPicklingError,
    ForfeitError,
    Player,
    check_board_size,
    move_or_forfeit,
    opened_player,
)
from ..usercode.user_exceptions import IsCtrlC, detect_ctrl_c

if TYPE_CHECKING:
    from ..native.workspaces import MoveCache
    from ..search.compiled import CompiledPlayer


@dataclass(frozen=True)
class GameBatch:
    """n finished games as columns: winner (1 or 2), number of a `Reason`, and detail, mostly empty.

    The plies of all games are concatenated: game i has offsets[i] to offsets[i + 1]. Their columns are those of
    `GameRecord`.
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

    @property
    def is_forfeit(self) -> NDArray[np.bool_]:
        """Whether the loser failed, for each game; see `Reason.is_forfeit`."""
        return np.array([reason.is_forfeit for reason in Reason])[self.reason]

    def taken(self, indices: NDArray[np.int64]) -> GameBatch:
        """Return the games at these indices, in this order."""
        lengths = np.diff(self.offsets)[indices]
        offsets = np.append(0, lengths.cumsum())
        plies = np.arange(offsets[-1]) + np.repeat(self.offsets[indices] - offsets[:-1], lengths)
        columns = {name: getattr(self, name)[indices] for name in _BY_GAME}
        columns |= {name: getattr(self, name)[plies] for name in BY_PLY}
        return GameBatch(**columns, detail=[self.detail[index] for index in indices.tolist()], offsets=offsets)


_BY_GAME = ("winner", "reason")
BY_PLY = {
    "moves": np.int16, "score": np.float64, "depth": np.int16, "nodes": np.int64, "time_us": np.int64, "exact": np.bool_
}  # fmt: skip
"""The columns of plies, with their types."""


def concatenate(parts: Sequence[GameBatch]) -> GameBatch:
    """Concatenate one or more batches."""
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in (*_BY_GAME, *BY_PLY)}
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    details = [text for part in parts for text in part.detail]
    return GameBatch(**columns, offsets=np.append(0, lengths.cumsum()), detail=details)


@dataclass(frozen=True)
class GameRecord:
    """A finished game as a Python object.

    Attributes:
        size: board size, ROWSxCOLUMNS.
        opening: the cells played before the agents took over.
        agent_1, agent_2: the agents' names; agent 1 places first.
        winner: 1 or 2.
        reason, detail: a `Reason.word`, and details of an unusual end.
        moves: the cells of all plies, including the opening.
        score, depth, nodes, time_us, exact: the mover's search results for every ply; for opening plies NaN, zeros and
            False.
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
        """Number of plies played, including the opening."""
        return len(self.moves)


@or_as_the_third_edition
def play(
    agent_1: Agent,
    agent_2: Agent,
    opening: Sequence[int] = (),
    size: SizeLike = USUAL_SIZE,
    *,
    seed: int = 0,
    hard_cap: float | None = None,
) -> GameRecord:
    """Play one game. For use in threads see `play_many`.

    Called with a single tuple, as in scripts of the third edition, it is `isolation.rules.third_edition.play`.
    """
    size = size_of(size)
    games = play_games(agent_1, agent_2, [opening], [seed], size, hard_cap)
    plies = (tuple(getattr(games, name).tolist()) for name in BY_PLY)
    return GameRecord(
        str(size), tuple(opening), agent_1.name, agent_2.name, int(games.winner[0]), REASON_WORDS[games.reason[0]],
        games.detail[0], *plies,
    )  # fmt: skip


def play_games(
    agent_1: Agent,
    agent_2: Agent,
    openings: Sequence[Sequence[int]],
    seeds: Sequence[int],
    size: Size = USUAL_SIZE,
    hard_cap: float | None = None,
    *,
    marker: NDArray[np.int64] | None = None,
    interpreted: bool = False,
) -> GameBatch:
    """Play one game from every opening, agent 1 placing first.

    See `play_many`, which plays a batch of any pairings.

    Args:
        openings: legal sequences of cells; compiled play requires both placements in each.
        seeds: one unsigned 64-bit number per game.
        hard_cap: seconds after which a move counts as a hang; all user code then runs in child processes. Without it,
            only user code from files that does not compile does, and a move counts as a hang after a minute.
        marker: int64[4], continuously set to the index of the current game, the index (0, 1) of its mover, its ply, and
            whether compiled code is playing it, which cannot be interrupted from here.
        interpreted: play in the interpreted loop even if both agents are compiled.

    Raises:
        ValueError: an illegal opening, or an agent that cannot be pickled for the process that a hard cap requires.
    """
    sides = np.tile(np.array([0, 1], np.int64), (len(openings), 1))
    agents = (agent_1, agent_2)
    return play_many(agents, sides, openings, seeds, size, hard_cap, marker=marker, interpreted=interpreted)


def play_many(
    agents: Sequence[Agent],
    sides: NDArray[np.integer[Any]],
    openings: Sequence[Sequence[int]],
    seeds: Sequence[int],
    size: Size = USUAL_SIZE,
    hard_cap: float | None = None,
    *,
    marks: NDArray[np.int64] | None = None,
    marker: NDArray[np.int64] | None = None,
    memory: MoveCache | None = None,
    interpreted: bool = False,
) -> GameBatch:
    """Play one game from every opening, each between two of several agents; the games are returned in this order.

    All games between compiled agents are played in one call of compiled code. Their records equal those of the
    interpreted loop except for times. The other games are played afterwards, grouped by agents and sides.

    Thread-safe if each concurrent call has its own `memory`; results do not depend on other threads, except for times.
    This does not apply to classic players, which use process-wide random generators (see `ClassicAgent`), nor to user
    code that keeps state of its own.

    Args:
        sides: int[n, 2], indices in `agents` of the players who place first and second.
        marks: int64[n], the number by which `marker` identifies each game; by default its index.
        memory: cache of deterministic compiled agents' answers. A cached answer keeps the time of its search.
        openings, seeds, hard_cap, marker, interpreted: see `play_games`.

    Raises:
        ValueError: an illegal opening, or an agent that does not support this board size, or that cannot be pickled for
            the process that a hard cap requires.
    """
    check_board_size(agents, size)
    for opening in dict.fromkeys(map(tuple, openings)):
        Board.from_moves(opening, size)
    games = _Games(
        agents, np.asarray(sides, np.int64), openings, seeds, np.arange(len(openings)) if marks is None else marks,
        size, np.zeros(4, np.int64) if marker is None else marker,
    )  # fmt: skip
    native: list[CompiledPlayer | None] = [None] * len(agents)
    for index in [] if interpreted else np.unique(games.sides).tolist():
        if not (_is_capped(hard_cap) and agents[index].is_user_code):
            native[index] = agents[index].compiled(size)
    in_code = np.array([len(opening) >= 2 for opening in openings], bool)
    in_code &= np.array([player is not None for player in native])[games.sides].all(axis=1)
    rows, parts = np.flatnonzero(in_code), []
    if len(rows):
        parts.append((rows, _play_compiled(games.at(rows), native, memory)))
    return _in_order([*parts, *_interpreted_parts(games, np.flatnonzero(~in_code), hard_cap)])


def load_compiled_games(size: Size) -> None:
    """Compile or load the compiled game loop for boards of (rows, columns) in advance."""
    from ..compiling.specialise import native_function

    native_function("games", None, *size)


@dataclass(frozen=True)
class _Games:
    """n games to play: the arguments of `play_many` that define them."""

    agents: Sequence[Agent]
    sides: NDArray[np.int64]
    openings: Sequence[Sequence[int]]
    seeds: Sequence[int]
    marks: NDArray[np.int64]
    size: Size
    marker: NDArray[np.int64]

    def at(self, rows: NDArray[np.int64]) -> _Games:
        openings, seeds = [self.openings[i] for i in rows.tolist()], [self.seeds[i] for i in rows.tolist()]
        return replace(self, sides=self.sides[rows], openings=openings, seeds=seeds, marks=self.marks[rows])


_Part = tuple[NDArray[np.int64], GameBatch]
"""Finished games, with the indices of their places among all."""


def _in_order(parts: Sequence[_Part]) -> GameBatch:
    if not parts:
        return batch_of([])
    rows = np.concatenate([rows for rows, _ in parts])
    games = concatenate([games for _, games in parts])
    return games if (np.diff(rows) == 1).all() else games.taken(np.argsort(rows))


def _play_compiled(given: _Games, native: Sequence[CompiledPlayer | None], memory: MoveCache | None) -> GameBatch:
    from ..compiling.specialise import native_function
    from ..native import workspaces
    from ..search.compiled import NOBODY, as_row, identity

    openings, count, marker = given.openings, len(given.openings), given.marker
    winner, reason, ends = np.empty(count, np.int8), np.empty(count, np.int8), np.empty(count, np.int64)
    plies: tuple[Any, ...] = tuple(np.empty(count * given.size.cells, kind) for kind in BY_PLY.values())
    players = [NOBODY if player is None else as_row(player) for player in native]
    for index in np.unique(given.sides).tolist():
        player = native[index]
        if memory is not None and player is not None and given.agents[index].is_deterministic:
            players[index][-1] = memory.number_of(identity(player))
    columns = (
        np.array([cell for opening in openings for cell in opening], np.int64),
        np.concatenate(([0], np.cumsum([len(opening) for opening in openings]))).astype(np.int64),
        np.array(given.seeds, np.uint64),
        np.array(players, np.int64),
        np.ascontiguousarray(given.sides),
        np.ascontiguousarray(given.marks),
    )
    *first, players_at, sides_at, marks_at = map(workspaces.address_of, columns)
    remembered = 0 if memory is None else workspaces.address_of(memory.table)
    marker[3:] = 1
    with workspaces.borrow_workspace() as desk:
        native_function("games", None, *given.size).call(
            *first, count, players_at, sides_at, remembered, desk.address, marks_at,
            *map(workspaces.address_of, (marker, winner, reason, ends, *plies)),
        )  # fmt: skip
    marker[3:] = 0
    offsets = np.concatenate(([0], ends)).astype(np.int64)
    games = GameBatch(winner, reason, [""] * count, offsets, *(column[: offsets[-1]].copy() for column in plies))
    return _with_details(games, given)


def _with_details(games: GameBatch, given: _Games) -> GameBatch:
    """Add the details of errors and late moves, which compiled code cannot report."""
    # If Python raises no error, a number was too large for compiled code; the game is then replayed in Python.
    unplayed = []
    for index in np.flatnonzero(games.reason).tolist():
        moves = games.moves[games.offsets[index] : games.offsets[index + 1]].tolist()
        if games.reason[index] == Reason.TIMEOUT:
            games.detail[index] = f"late at ply {len(moves) + 1}"
            continue
        board = Board.from_moves(moves, given.size)
        loser = given.agents[given.sides[index, board.active_index]]
        ask = partial(_ask_again, loser, board, move_seed(given.seeds[index], len(moves)))
        with detect_ctrl_c() as is_ctrl_c:
            again = move_or_forfeit(ask, board, is_ctrl_c, resigns=False)
        if isinstance(again, ForfeitError):
            games.reason[index], games.detail[index] = again.reason, again.detail
        else:
            unplayed.append(index)
    if not unplayed:
        return games
    rows = np.array(unplayed)
    others = np.delete(np.arange(len(games)), rows)
    return _in_order([(others, games.taken(others)), *_interpreted_parts(given, rows, None)])


def _ask_again(agent: Agent, board: Board, seed: int) -> SearchResult:
    """Repeat in Python the search in which an agent failed; code from files runs in a child process."""
    from ..processes.subprocess_player import patience, subprocess_player

    size, is_apart = (board.height, board.width), _is_from_file(agent)
    with opened_player(subprocess_player(agent, size, patience(agent)) if is_apart else agent.open()) as player:
        player.new_game()
        return player.choose(board, seed)


def _interpreted_parts(given: _Games, rows: NDArray[np.int64], hard_cap: float | None) -> Iterator[_Part]:
    """Play some of the games in Python, those of the same agents and sides with the same players."""
    for sides in np.unique(given.sides[rows], axis=0):
        part = rows[(given.sides[rows] == sides).all(axis=1)]
        yield part, _play_interpreted(given.at(part), hard_cap)


def _play_interpreted(given: _Games, hard_cap: float | None) -> GameBatch:
    from ..engines.engine_agent import EnginePlayer

    agents = [given.agents[index] for index in given.sides[0]]
    with ExitStack() as stack:
        players = [stack.enter_context(opened_player(_open(agent, given.size, hard_cap))) for agent in agents]
        is_ctrl_c = stack.enter_context(detect_ctrl_c())
        played = []
        engines = [player for player in players if isinstance(player, EnginePlayer)]
        for opening, seed, mark in zip(given.openings, given.seeds, given.marks.tolist(), strict=True):
            for engine in engines:
                engine.game = mark
            board = Board.from_moves(opening, given.size)
            played.append(_play_one(players, board, seed, given.marker, mark, is_ctrl_c))
        return batch_of(played)


def _open(agent: Agent, size: tuple[int, int], hard_cap: float | None) -> Player:
    """Open an agent's player. Interpreted user code gets its own process if it has a cap or comes from a file."""
    from ..processes.subprocess_player import patience, subprocess_player

    if agent.has_own_process:
        return agent.open() if hard_cap is None else agent.capped(hard_cap).open()
    if agent.is_user_code and (_is_capped(hard_cap) or (_is_from_file(agent) and agent.compiled(size) is None)):
        return subprocess_player(agent, size, patience(agent) if hard_cap is None else hard_cap)
    return agent.open()


def _is_capped(hard_cap: float | None) -> bool:
    return hard_cap is not None and hard_cap < inf


def _is_from_file(agent: Agent) -> bool:
    return origin_of(base_function(agent.heuristic)) is not None


PlayedGame = tuple[int, Reason, str, list[tuple[Any, ...]]]
"""Winner, reason and detail of a game, and the columns `BY_PLY` of each of its plies."""


def _play_one(
    players: Sequence[Player], board: Board, seed: int, marker: NDArray[np.int64], mark: int, is_ctrl_c: IsCtrlC
) -> PlayedGame:
    opening = board.history
    results: list[SearchResult] = []
    has_begun = [False, False]

    def choose() -> SearchResult:
        player = players[board.active_index]
        if not has_begun[board.active_index]:
            player.new_game()
            has_begun[board.active_index] = True
        return player.choose(board, move_seed(seed, board.move_count))

    def is_raised(error: BaseException) -> bool:
        return isinstance(error, AgentPicklingError) or is_ctrl_c(error)

    while True:
        turn = board.active_index
        marker[:3] = (mark, turn, board.move_count)
        has_moves = board.moves_mask(turn)
        given = move_or_forfeit(choose, board, is_raised) if has_moves else ForfeitError(Reason.NO_MOVES, "")
        if isinstance(given, ForfeitError):
            return 2 - turn, given.reason, given.detail, rows_of_plies(opening, results)
        results.append(given)
        board.play_cell(given.move)


def rows_of_plies(opening: Sequence[int], results: Sequence[SearchResult]) -> list[tuple[Any, ...]]:
    """Return the columns `BY_PLY` of each ply of a game, by which agents' results follow an opening."""
    before = [(cell, nan, 0, 0, 0, False) for cell in opening]
    return before + [(r.move, r.score, r.depth, r.nodes, int(r.seconds * 1e6), r.exact) for r in results]


def batch_of(games: Sequence[PlayedGame]) -> GameBatch:
    """Return games as columns."""
    winners, reasons, details, plies = zip(*games, strict=True) if games else ((), (), (), ())
    columns = list(zip(*chain(*plies), strict=True)) or [()] * len(BY_PLY)
    return GameBatch(
        np.array(winners, np.int8),
        np.array(reasons, np.int8),
        list(details),
        np.append(0, np.cumsum(list(map(len, plies)))).astype(np.int64),
        *(np.array(column, kind) for column, kind in zip(columns, BY_PLY.values(), strict=True)),
    )
