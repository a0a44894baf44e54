"""Run one of our agents as a UGI or UCI engine.

A search runs in its own thread, so that `isready`, `stop` and `quit` are answered meanwhile.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from math import copysign, inf, isfinite, isinf, isnan

from ..native import workspaces
from ..processes.child import claim_stdio
from ..rules.classic_board import Board
from ..rules.game import USUAL_SIZE, Limit, Size, parse_size
from ..rules.seeds import move_seed
from ..search import SearchResult, is_compilable
from ..search.agents import Agent, Player, forfeit_from
from .protocol import PROTOCOLS, UCI, UGI, GoRequest, Protocol, read_go, read_move, start_of, write_move

_SIZES = ("5x5", "6x6", "7x7", "8x8", "9x9", "9x11")
_VARIANTS = ("joust", *(f"{kind}{size}" for kind in ("joust", "placing") for size in _SIZES))
"""Variants listed for the user to choose from; variants of all other sizes are accepted, too."""
_NO_POSITION = "no position: the last one was invalid"
NO_MOVE = "(none)"
HALT_SECONDS = 1.0
"""Timeout of a stopped search that has found no move yet; after it the first legal move is the answer."""
INFO_SECONDS = 1.0
"""Longest interval between info lines, in seconds."""
PROVEN = 1_000_000_000
"""Score in centipawns of a proven result whose distance in plies is unknown; all others are smaller."""
_MOST = PROVEN - 1
_OFTEN = 0.005
_GRACE = 0.05
"""Seconds to wait for an answered search to end, so that it does not compete with the next one."""
_WITHOUT_END = Limit(nodes=2**61)

Ask = Callable[[Agent, Board], SearchResult]
"""Asks an agent for a move."""


def serve(agent: Agent, lines: Iterable[str], say: Callable[[str], None], size: Size = USUAL_SIZE) -> None:
    """Answer lines until `quit` or the end of the input; `say` is called from several threads, one at a time.

    A limit given with `go` replaces the agent's own if the agent supports it. UGI's `startpos` has the board size.
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


def serve_stdio(agent: Agent, size: Size) -> None:
    """Serve on standard input and output, where nothing else can write any more."""
    lines, answers = claim_stdio()

    def say(line: str) -> None:
        answers.write(f"{line}\n".encode())
        answers.flush()

    with suppress(BrokenPipeError):
        serve(agent, (line.decode(errors="replace") for line in lines), say, size)


class _Server:
    def __init__(self, agent: Agent, say: Callable[[str], None], size: Size) -> None:
        self._agent, self._write, self._size = agent, say, size
        self._protocol, self._variant = UGI, "joust"
        self._lock = threading.Lock()
        self._board: Board | None = self._start()
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
        if compiling := self._compiled_beside(self._board):
            compiling.join()
        self._agent.compiled((self._board.height, self._board.width))

    def _set_option(self, words: list[str]) -> None:
        name, _, value = " ".join(words).removeprefix("name ").partition(" value ")
        if name.lower() == "variantpath":  # the variants' names carry all information of the files
            return
        if name.lower() == "board":
            self._size = parse_size(value)
        elif name.lower() == "uci_variant":
            start_of(value)
            self._variant = value
        else:
            raise ValueError(f"no option {name[:40]}")
        self._board = self._start()

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
        self._thinking = RunningSearch(plan, board, self._protocol, self._ask, self._say, compiling)

    def _compiled_beside(self, board: Board) -> threading.Thread | None:
        """Return the thread that compiles for boards of this size, started if necessary; None if it has finished."""
        if board.size not in self._compiling:

            def compile_now() -> None:
                with suppress(Exception):  # the search raises it again, and reports it
                    self._agent.compiled((board.height, board.width))

            self._compiling[board.size] = threading.Thread(target=compile_now, daemon=True)
            self._compiling[board.size].start()
        return self._compiling[board.size] if self._compiling[board.size].is_alive() else None

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
        if thinking:
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


@dataclass(frozen=True)
class SearchPlan:
    """How an agent executes a `go` command.

    Attributes:
        agent: the agent with the limit that it enforces itself.
        depth: depth to reach by iterative deepening; None to search once.
        seconds: timeout of the search, if the agent does not enforce the time itself.
        patience: seconds, including the search, within which compilation must finish; infinite if `go` has no time
            limit or nothing needs compiling.
        notes: parts of `go` that are not followed, and what is done instead.
        is_infinite: answer only after `stop`.
    """

    agent: Agent
    depth: int | None
    seconds: float
    patience: float
    notes: tuple[str, ...]
    is_infinite: bool


def plan_search(agent: Agent, search: GoRequest, board: Board) -> SearchPlan:
    """Plan a search. The agent's limit is the first of depth, nodes and time that it supports."""
    within = min((limit.ms / 1e3 for limit in search.limits if limit.ms is not None), default=inf)
    patience = within if is_compilable(board) else inf
    if not hasattr(agent, "limit"):
        return SearchPlan(agent, None, inf, patience if agent.heuristic else inf, search.notes, search.is_infinite)
    wanted = search.limits
    if search.is_infinite:
        wanted = (Limit(depth=board.width * board.height),) if agent.has_depth else (_WITHOUT_END,)
    able, refused = [], []
    for limit in wanted:
        try:
            able.append(replace(agent, limit=limit))  # type: ignore[type-var]
        except ValueError as error:
            refused.append(str(error))
    chosen = able[0] if able else agent
    instead = "the other arguments of go apply" if able else "its own limit counts"
    depth = chosen.limit.depth if agent.has_depth else None
    if depth is not None and len(able) > 1 and able[1].limit.nodes is not None:
        chosen = able[1]
    seconds = inf if chosen.limit.ms is not None else within
    notes = (*search.notes, *(f"{why}; {instead}" for why in refused))
    return SearchPlan(chosen, depth, seconds, patience, notes, search.is_infinite)


@dataclass
class RunningSearch:
    """A running search in its own thread. The first answer counts, that of the search or that of `end`.

    Attributes:
        board: must not be changed any more.
        say: is called from several threads.
        compiling: a thread that still compiles the agent's code; it is waited for up to `plan.patience`, and after
            that, the first legal move is the answer.
    """

    plan: SearchPlan
    board: Board
    protocol: Protocol
    ask: Ask
    say: Callable[[str], None]
    compiling: threading.Thread | None

    def __post_init__(self) -> None:
        self._started = time.perf_counter()
        self._running = workspaces.Searches([])
        self._nodes, self._last = 0, ""
        self._best: SearchResult | None = None
        self._lock, self._is_stopped = threading.Lock(), threading.Event()
        self._is_answered = self._is_over = False
        self._thread = threading.Thread(target=self._think, daemon=True)
        self._thread.start()
        threading.Thread(target=self._watch, daemon=True).start()

    @property
    def is_alive(self) -> bool:
        """Whether the search still computes, or waits for `end`."""
        return self._thread.is_alive()

    def end(self) -> None:
        """Answer with the best move so far, or the first legal move if the search has none and does not stop."""
        self._is_stopped.set()
        if self._best is not None:
            self._answer(self._best)
        deadline = time.perf_counter() + (_GRACE if self._best else HALT_SECONDS)
        while self._thread.is_alive() and time.perf_counter() < deadline:
            self._running.halt()
            self._thread.join(_OFTEN)
        if self._thread.is_alive():
            self._answer(None)

    def _think(self) -> None:
        result, error_line = None, ""
        try:
            if not self.board.outcome():
                if self.compiling is not None and not self._wait_for(self.compiling):
                    self._answer(None)
                    return
                with workspaces.interruptible() as self._running:
                    self._best = result = self._find()
        except BaseException as error:  # raised by any code of the agent; the engine continues
            error_line = f"info string error: {forfeit_from(error).detail}"
        self._is_over = True
        if self.plan.is_infinite:
            self._is_stopped.wait()
        if result is not None:
            self._answer(result)
        else:
            self._close(error_line, NO_MOVE)

    def _wait_for(self, compiling: threading.Thread) -> bool:
        """Wait for compiled code; return whether it is ready in time. The search then uses the remaining time."""
        compiling.join(max(0.0, self._started + self.plan.patience - time.perf_counter()))
        if compiling.is_alive():
            self._inform(f"info string code for {self.board.size} is still being compiled: the first legal move")
            return False
        agent = self.plan.agent
        limit: Limit | None = getattr(agent, "limit", None)
        if limit is not None and limit.ms is not None:
            left = max(1.0, limit.ms - 1e3 * (time.perf_counter() - self._started))
            self.plan = replace(self.plan, agent=replace(agent, limit=Limit(ms=left)))  # type: ignore[type-var]
        return True

    def _find(self) -> SearchResult:
        plan, board = self.plan, self.board
        if plan.depth is None:
            return self.ask(plan.agent, board)
        if None in board.locations or plan.agent.limit.nodes is not None:  # type: ignore[attr-defined]
            result = self.ask(plan.agent, board)
            if None in board.locations or result.depth <= plan.depth or self._is_stopped.is_set():
                return result
        return self._deepen(plan.depth)

    def _deepen(self, deepest: int) -> SearchResult:
        """Deepen iteratively until a result is proven. In a lost position, play the last move not yet proven lost."""
        best = None
        for depth in range(1, deepest + 1):
            result = self.ask(replace(self.plan.agent, limit=Limit(depth=depth)), self.board)  # type: ignore[type-var]
            self._nodes += result.nodes
            result = replace(result, nodes=self._nodes, seconds=time.perf_counter() - self._started)
            if result.depth < depth:  # the search was stopped
                return replace(best, nodes=result.nodes, seconds=result.seconds) if best else result
            if best is not None and result.score == -inf:
                result = replace(result, move=best.move, pv=best.pv)
            self._best = best = result
            self._inform(self._told(best))
            if best.exact or self._is_stopped.is_set():
                break
        assert best is not None
        return best

    def _watch(self) -> None:
        """End the search when its time is over, and print info lines at intervals."""
        deadline = self._started + self.plan.seconds
        while not self._is_stopped.wait(max(0.0, min(INFO_SECONDS, deadline - time.perf_counter()))):
            if time.perf_counter() >= deadline:
                self.end()
            elif not self._is_over:
                milliseconds = round(1e3 * (time.perf_counter() - self._started))
                self._inform(f"info nodes {self._nodes + self._running.nodes()} time {milliseconds}")
        while self._thread.is_alive():  # a search that has just started may have missed the first halt
            self._running.halt()
            self._thread.join(_OFTEN)

    def _told(self, result: SearchResult) -> str:
        return format_info(result, self.board, self.protocol, counts_plies=self.plan.agent.has_depth)

    def _answer(self, result: SearchResult | None) -> None:
        move = result.move if result else next(iter(self.board.legal_cells()))
        self._close(self._told(result) if result else "", write_move(self.board, move, self.protocol.moves))

    def _inform(self, line: str) -> None:
        with self._lock:
            if not self._is_answered:
                self._last = line
                self.say(line)

    def _close(self, info: str, move: str) -> None:
        with self._lock:
            if not self._is_answered:
                self._is_answered = True
                self._is_stopped.set()
                self.say(f"{info}\nbestmove {move}" if info and info != self._last else f"bestmove {move}")


def format_info(result: SearchResult, board: Board, protocol: Protocol, *, counts_plies: bool) -> str:
    """Format a search result as an info line.

    A proven result is a mate in so many plies (UGI) or moves (UCI) if that number is known: if the move ends the game,
    or if the search `counts_plies`, so that its depth is the distance to the end. Otherwise the score is `PROVEN`.
    """
    after, moves = board.copy(), []
    for cell in result.pv:
        if cell not in after.legal_cells():
            break
        moves.append(write_move(after, cell, protocol.moves))
        after.play_cell(cell)
    centipawns = copysign(PROVEN, result.score) if isinf(result.score) else min(max(100 * result.score, -_MOST), _MOST)
    score = "" if isnan(result.score) else f" score cp {round(centipawns)}"
    plies = 1 if board.successor(result.move).outcome() else result.depth if counts_plies and result.exact else 0
    if isinf(result.score) and plies > 0:
        distance = plies if protocol is UGI else (plies + 1) // 2
        score = f" score mate {distance if result.score > 0 else -distance}"
    milliseconds = round(1e3 * result.seconds)
    return f"info depth {result.depth} nodes {result.nodes} time {milliseconds}{score} pv {' '.join(moves)}"
