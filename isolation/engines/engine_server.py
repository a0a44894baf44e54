"""Run one of our agents as a UGI or UCI engine.

A search runs in its own thread, so that `isready`, `stop` and `quit` are answered meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from math import isfinite

from ..boards.joust_notation import read_move
from ..editions.classic_board import Board
from ..players.agents import Agent, Player
from ..processes.child import claim_stdio
from ..rules.geometry import format_size, parse_size
from ..rules.limits import Limit
from ..rules.seeds import move_seed
from ..search.result import SearchResult
from .engine_search import NO_MOVE, RunningSearch, plan_search
from .protocol import PROTOCOLS, UCI, UGI, Protocol, read_go, start_of

_SIZES = ("5x5", "6x6", "7x7", "8x8", "9x9", "9x11")
_VARIANTS = ("joust", *(f"{kind}{size}" for kind in ("joust", "placing") for size in _SIZES))
"""Variants listed for the user to choose from; variants of all other sizes are accepted, too."""
_NO_POSITION = "no position: the last one was invalid"


def serve(agent: Agent, lines: Iterable[str], say: Callable[[str], None], size: str = "7x7") -> None:
    """Answer lines until `quit` or the end of the input.

    Args:
        agent: the agent that plays; a limit given with `go` replaces its own if the agent supports it.
        say: sends a line; called from several threads, one at a time.
        size: board size of UGI's `startpos`.
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


def serve_stdio(agent: Agent, size: str) -> None:
    """Serve on standard input and output, where nothing else can write any more.

    Raises:
        ValueError: there are no boards of this size.
    """
    parse_size(size)
    lines, answers = claim_stdio()

    def say(line: str) -> None:
        answers.write(f"{line}\n".encode())
        answers.flush()

    with suppress(BrokenPipeError):
        serve(agent, (line.decode(errors="replace") for line in lines), say, size)


class _Server:
    def __init__(self, agent: Agent, say: Callable[[str], None], size: str) -> None:
        self._agent = agent
        self._lock = threading.Lock()
        self._write = say
        self._size = size
        self._protocol = UGI
        self._variant = "joust"
        self._board: Board | None = Board.from_moves([], size)
        self._players: dict[Limit | None, Player] = {}
        self._compiling: dict[str, threading.Thread] = {}
        self._thinking: RunningSearch | None = None

    def hear(self, words: list[str]) -> None:
        """Execute a command; errors are reported as info lines."""
        first, *arguments = words
        try:
            if first in ("stop", "setoption", "uginewgame", "ucinewgame", "position", "go"):
                self._stop()
            if first in PROTOCOLS:
                self._greet(PROTOCOLS[first])
            elif first == "isready":
                if self._thinking is None or not self._thinking.is_alive:
                    self._compile()
                self._say("readyok")
            elif first == "query" and arguments:
                self._say(f"response {self._queried(arguments[0])}")
            elif first == "setoption":
                self._set_option(arguments)
            elif first == "position":
                self._board = None  # if the new position is invalid, the previous one must not be searched
                self._board = self._position(arguments)
            elif first == "go":
                self._go(arguments)
            elif first in ("uginewgame", "ucinewgame"):
                self._forget()
                self._board = self._start()
            elif first != "stop":
                self._say(f"info string unknown command: {first[:40]}")
        except ValueError as error:
            self._say(f"info string error: {' '.join(str(error).split())[:300]}")

    def close(self) -> None:
        """End the running search, if any, and close the players."""
        self._stop()
        self._forget()

    def _greet(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self._say(f"id name {self._agent.name}\nid author Knight's Isolation")
        if protocol is UCI:
            known = " ".join(f"var {variant}" for variant in _VARIANTS)
            self._say(f"option name UCI_Variant type combo default joust {known}")
            self._say("option name VariantPath type string default <empty>")
        else:
            self._say(f"option name Board type string default {self._size}")
        self._board = self._start()
        self._say(protocol.greeted)

    def _compile(self) -> None:
        if self._board is None:
            return
        compiling = self._compiled_beside(self._board)
        if compiling is not None:
            compiling.join()
        self._agent.compiled((self._board.height, self._board.width))

    def _set_option(self, words: list[str]) -> None:
        name, _, value = " ".join(words).removeprefix("name ").partition(" value ")
        if name.lower() == "board":
            self._size = format_size(*parse_size(value))
            self._board = self._start()
        elif name.lower() == "uci_variant":
            start_of(value)
            self._variant = value
            self._board = self._start()
        elif name.lower() != "variantpath":  # the variants' names carry all information of the files
            raise ValueError(f"no option {name[:40]}")

    def _start(self) -> Board:
        return start_of(self._variant) if self._protocol is UCI else Board.from_moves([], self._size)

    def _position(self, words: list[str]) -> Board:
        there = words.index("moves") if "moves" in words else len(words)
        if words[:1] == ["startpos"]:
            board = self._start()
        elif words[:1] == ["fen"]:
            board = Board.from_fen(" ".join(words[1:there]))
        else:
            raise ValueError("position expects startpos or fen")
        for text in words[there + 1 :]:
            board.play_cell(read_move(board, text))
        return board

    def _queried(self, what: str) -> str:
        if self._board is None:
            raise ValueError(_NO_POSITION)
        outcome = self._board.outcome()
        if what == "p1turn":
            return str(self._board.active_index == 0).lower()
        if what == "gameover":
            return str(outcome is not None).lower()
        if what == "result":
            return f"p{outcome.winner}win" if outcome else "none"
        raise ValueError(f"query expects p1turn, gameover or result, not {what[:40]}")

    def _go(self, words: list[str]) -> None:
        if self._board is None:
            self._say(f"info string error: {_NO_POSITION}\nbestmove {NO_MOVE}")
            return
        board = self._board.copy()
        search = read_go(words, board.active_index)
        plan = plan_search(self._agent, search, board)
        for note in plan.notes:
            self._say(f"info string {note}")
        compiling = self._compiled_beside(board) if isfinite(plan.patience) else None
        self._thinking = RunningSearch(
            plan, board, self._protocol, self._ask, self._say, is_infinite=search.is_infinite, compiling=compiling
        )

    def _compiled_beside(self, board: Board) -> threading.Thread | None:
        """Return the thread that compiles for boards of this size, started if necessary; None if it has finished."""
        if board.size not in self._compiling:

            def compile_now() -> None:
                with suppress(Exception):  # the search raises it again, and reports it
                    self._agent.compiled((board.height, board.width))

            self._compiling[board.size] = threading.Thread(target=compile_now, daemon=True)
            self._compiling[board.size].start()
        compiling = self._compiling[board.size]
        return compiling if compiling.is_alive() else None

    def _ask(self, agent: Agent, board: Board) -> SearchResult:
        if None in board.locations:
            agent = agent.placing()
        limit = getattr(agent, "limit", None)
        player = self._players.get(limit)
        if player is None:
            player = self._players[limit] = agent.open()
            player.new_game()
        # `find` does not judge lateness: the graphical interface has its own clock.
        choose = getattr(player, "find", player.choose)
        result: SearchResult = choose(board, move_seed(0, board.move_count))
        if result.move not in board.legal_cells():
            raise ValueError(f"the agent chose the illegal cell {result.move}")
        return result

    def _stop(self) -> None:
        thinking, self._thinking = self._thinking, None
        if thinking is None:
            return
        thinking.end()
        if thinking.is_alive:
            self._players.clear()

    def _forget(self) -> None:
        for player in self._players.values():
            player.close()
        self._players.clear()

    def _say(self, text: str) -> None:
        with self._lock:
            for line in text.splitlines():
                self._write(line)
