"""Our agents as an engine: UGI, and UCI as Fairy-Stockfish speaks it of Joust, in lines of text.

A search runs in a thread of its own, so that `isready`, `stop` and `quit` are answered while it lasts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from math import isinf, isnan

from isolation.agents import Agent, Player, as_loss
from isolation.algebraic import read_move, write_move
from isolation.board import Board
from isolation.engines.clocks import Search, read_go
from isolation.engines.protocol import JOUST, PROTOCOLS, UCI, UGI, Protocol
from isolation.geometry import format_size, parse_size
from isolation.limits import Limit
from isolation.native import desks
from isolation.search.result import SearchResult
from isolation.seeds import move_seed

NO_MOVE = "(none)"
HALT_SECONDS = 1.0
"""How long a search is waited for that has been told to stop; then the first legal move is the answer."""
_OFTEN = 0.005


@dataclass
class _Thinking:
    """A search under way. Whoever answers first, the search or who stops it, has answered."""

    board: Board
    agent: Agent
    search: Search
    thread: threading.Thread
    is_stopped: threading.Event = field(default_factory=threading.Event)
    answered: threading.Lock = field(default_factory=threading.Lock)
    halt: Callable[[], None] = lambda: None


def serve(agent: Agent, lines: Iterable[str], say: Callable[[str], None], size: str = "7x7") -> None:
    """Answer lines until `quit` or their end.

    Args:
        agent: who plays; `go` replaces its limit if it says one that the agent can be given.
        say: sends a line; it is called from two threads, one at a time.
        size: of the board that `startpos` of UGI means.
    """
    server = _Server(agent, say, size)
    try:
        for line in lines:
            words = line.split()
            if words[:1] == ["quit"]:
                break
            if words:
                server.hear(words)
    finally:
        server.close()


class _Server:
    def __init__(self, agent: Agent, say: Callable[[str], None], size: str) -> None:
        self._agent = agent
        self._lock = threading.Lock()
        self._write = say
        self._size = size
        self._spoken = UGI
        self._board = Board.from_moves([], size)
        self._players: dict[Limit | None, Player] = {}
        self._thinking: _Thinking | None = None

    def hear(self, words: list[str]) -> None:
        """Do what a line asks; what cannot be done is said in a line of information."""
        first, *rest = words
        try:
            if first in PROTOCOLS:
                self._greet(PROTOCOLS[first])
            elif first == "isready":
                self._get_ready()
            elif first == "stop":
                self._stop()
            elif first == "query" and rest:
                self._say(f"response {self._queried(rest[0])}")
            elif first in ("setoption", "uginewgame", "ucinewgame", "position", "go"):
                self._stop()
                self._change(first, rest)
            else:
                self._say(f"info string unknown command: {first[:40]}")
        except ValueError as error:
            self._say(f"info string error: {' '.join(str(error).split())[:300]}")

    def close(self) -> None:
        """End the search, if one is on, and the players."""
        self._stop()
        self._forget()

    def _change(self, first: str, rest: list[str]) -> None:
        if first == "setoption":
            self._set_option(rest)
        elif first == "position":
            self._board = self._position(rest)
        elif first == "go":
            self._go(read_go(rest, self._board.active_index))
        else:
            self._forget()
            self._board = self._start()

    def _greet(self, spoken: Protocol) -> None:
        self._spoken = spoken
        self._say(f"id name {self._agent.name}\nid author Knight's Isolation")
        if spoken is UCI:
            self._say("option name UCI_Variant type combo default joust var joust")
            self._say("option name VariantPath type string default <empty>")
        else:
            self._say(f"option name Board type string default {self._size}")
        self._board = self._start()
        self._say(spoken.greeted)

    def _get_ready(self) -> None:
        """Have what plays compiled, so that no move waits for it."""
        if self._thinking is None:
            self._agent.compiled((self._board.height, self._board.width))
        self._say("readyok")

    def _set_option(self, words: list[str]) -> None:
        name, _, value = " ".join(words).removeprefix("name ").partition(" value ")
        if name.lower() == "board":
            self._size = format_size(*parse_size(value))
            self._board = self._start()
        elif name.lower() not in ("uci_variant", "variantpath"):  # a FEN says all that these do
            raise ValueError(f"there is no option {name[:40]}")

    def _start(self) -> Board:
        return Board.from_fen(JOUST) if self._spoken is UCI else Board.from_moves([], self._size)

    def _position(self, words: list[str]) -> Board:
        there = words.index("moves") if "moves" in words else len(words)
        if words[:1] == ["startpos"]:
            board = self._start()
        elif words[:1] == ["fen"]:
            board = Board.from_fen(" ".join(words[1:there]))
        else:
            raise ValueError("position is followed by startpos or fen")
        for text in words[there + 1 :]:
            board.play_cell(read_move(board, text))
        return board

    def _queried(self, what: str) -> str:
        outcome = self._board.outcome()
        if what == "p1turn":
            return str(self._board.active_index == 0).lower()
        if what == "gameover":
            return str(outcome is not None).lower()
        if what == "result":
            return f"p{outcome.winner}win" if outcome else "none"
        raise ValueError(f"query is followed by p1turn, gameover or result, not by {what[:40]}")

    def _go(self, search: Search) -> None:
        agent, note = self._agent, search.note
        try:
            agent = limited(agent, search.limit)
        except ValueError as error:
            note = f"{error}; its own limit counts"
        if note:
            self._say(f"info string {note}")
        thread = threading.Thread(target=lambda: self._think(thinking), daemon=True)
        self._thinking = thinking = _Thinking(self._board.copy(), agent, search, thread)
        thread.start()

    def _think(self, thinking: _Thinking) -> None:
        info, move = "", NO_MOVE
        try:
            if not thinking.board.outcome():
                with desks.haltable() as thinking.halt:
                    result = self._find(thinking)
                info = told(result, thinking.board, self._spoken)
                move = write_move(thinking.board, result.move, self._spoken.moves)
        except BaseException as error:  # of whatever code the agent runs: an engine goes on
            info = f"info string error: {as_loss(error).detail}"
        if thinking.search.is_infinite:
            thinking.is_stopped.wait()
        self._answer(thinking, info, move)

    def _find(self, thinking: _Thinking) -> SearchResult:
        board, agent = thinking.board, thinking.agent
        if None in board.locations:
            agent = agent.placing()
        limit = getattr(agent, "limit", None)
        player = self._players.get(limit)
        if player is None:
            player = self._players[limit] = agent.open()
            player.new_game()
        # A search is late here only if the machine is slow, and whoever asks has a clock.
        choose = getattr(player, "find", player.choose)
        result: SearchResult = choose(board, move_seed(0, board.move_count))
        if result.move not in board.legal_cells():
            raise ValueError(f"the agent chose cell {result.move}, which is not legal")
        return result

    def _stop(self) -> None:
        """End the search and have its answer sent, if one is on."""
        thinking, self._thinking = self._thinking, None
        if thinking is None:
            return
        thinking.is_stopped.set()
        waited = 0.0
        while thinking.thread.is_alive() and waited < HALT_SECONDS:
            thinking.halt()
            thinking.thread.join(_OFTEN)
            waited += _OFTEN
        if thinking.thread.is_alive():
            self._players.clear()
            first = next(iter(thinking.board.legal_cells()))
            self._answer(thinking, "", write_move(thinking.board, first, self._spoken.moves))

    def _answer(self, thinking: _Thinking, info: str, move: str) -> None:
        if thinking.answered.acquire(blocking=False):
            self._say(f"{info}\nbestmove {move}".lstrip())

    def _forget(self) -> None:
        for player in self._players.values():
            player.close()
        self._players.clear()

    def _say(self, text: str) -> None:
        with self._lock:
            for line in text.splitlines():
                self._write(line)


def limited(agent: Agent, limit: Limit | None) -> Agent:
    """The agent under another limit, or as it is if it has none.

    Raises:
        ValueError: the agent cannot have that limit.
    """
    if limit is None or not hasattr(agent, "limit"):
        return agent
    return replace(agent, limit=limit)  # type: ignore[type-var]


def told(result: SearchResult, board: Board, spoken: Protocol) -> str:
    """What a search has found, as a line of information.

    A proven result is a mate in so many plies, in UCI in so many moves, as the search has seen at least.
    """
    after, moves = board.copy(), []
    for cell in result.pv:
        if cell not in after.legal_cells():
            break
        moves.append(write_move(after, cell, spoken.moves))
        after.play_cell(cell)
    score = ""
    if isinf(result.score):
        plies = max(1, result.depth)
        distance = plies if spoken is UGI else (plies + 1) // 2
        score = f" score mate {distance if result.score > 0 else -distance}"
    elif not isnan(result.score):
        score = f" score cp {round(100 * result.score)}"
    milliseconds = round(1e3 * result.seconds)
    return f"info depth {result.depth} nodes {result.nodes} time {milliseconds}{score} pv {' '.join(moves)}"
