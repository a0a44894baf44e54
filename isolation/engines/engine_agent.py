"""External engines as agents: the dialogue with their processes, which are kept from game to game."""

from __future__ import annotations

import json
import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import inf, isfinite
from pathlib import Path
from typing import Any, NoReturn

from ..files.folders import temporary_folder
from ..processes.child import Idle, NoAnswer, SupervisedProgram, Termination
from ..processes.subprocess_player import file_name
from ..rules.classic_board import Board
from ..rules.game import AT_LAST, Limit, Reason
from ..search import SearchResult
from ..search.agents import ForfeitError, OwnProcessAgent
from ..usercode.user_exceptions import to_one_line
from .protocol import (
    PROTOCOLS,
    UCI,
    UGI,
    Info,
    Program,
    Protocol,
    add_info,
    go_line,
    looks_like_move,
    parse_pv,
    read_move,
    variant_of,
    variants_text,
)

LATE_MS = 50.0
"""Tolerance of time limits, for transmission through two pipes and for scheduling delays."""
LONGEST_LINE = 1 << 20
UNREAD = "unable to open file"
"""Fairy-Stockfish's message for an unreadable file of variants, compared case-insensitively."""
_SHOWN_SAID = 4
"""Number of sent lines in a report: the position, `isready`, `go` and `stop`."""
_SHOWN_HEARD = 3
_SHOWN = 45
_NO_MOVE = ("(none)", "0000", "resign")
"""Answers by which engines say that they have no move, or give up."""
_LAST_WORDS = 1.0


@dataclass(frozen=True)
class Timeouts:
    """Timeouts of an engine's answers, in seconds.

    Attributes:
        start: from the engine's start to the end of its answer to the greeting.
        ready: for `readyok`, and for a move after `stop`.
        move: for a move without a time limit.
        silence: for any line during a search.
        cap: for a whole move, whatever its limit, and for `readyok`; after the start, `readyok` has at least `start`.
    """

    start: float = 10.0
    ready: float = 60.0
    move: float = 600.0
    silence: float = 60.0
    cap: float = inf


WAITS = Timeouts()


Start = Callable[[Program, str], SupervisedProgram]
_Line = tuple[int, str]
"""The number of a line of the dialogue, and its text as reported."""


def start_engine(program: Program, errors: str) -> SupervisedProgram:
    """Start an engine with its standard error written to a file.

    Raises:
        OSError: the directory does not exist.
        ValueError: the program does not exist.
    """
    if errors:
        Path(errors).parent.mkdir(exist_ok=True)
    return SupervisedProgram(program.find(), program.directory or None, errors or os.devnull, LONGEST_LINE)


class Session:
    """A dialogue with a running engine, for use by one thread. It must not be used after `end`.

    Attributes:
        is_over: whether the engine has been ended.
        is_due: whether the engine owes a move.
        info: search information of the last move.
    """

    def __init__(self, program: Program, errors: str, waits: Timeouts, start: Start) -> None:
        """Start an engine, greet it and set its options; its standard error goes to the file `errors`, if there is one.

        Raises:
            ForfeitError: the engine cannot be started, does not answer, or lacks an option.
        """
        deadline = time.monotonic() + waits.start
        self._program, self._waits = program, waits
        self.is_over = self.is_due = False
        self.info = Info()
        self._options: list[str] = []
        self._said: deque[_Line] = deque(maxlen=_SHOWN_SAID)
        self._heard: deque[_Line] = deque(maxlen=_SHOWN_HEARD)
        self._line_count, self._until, self._variant = 0, inf, ""
        self._sizes: set[tuple[int, int]] = set()
        try:
            self._lines = start(program, errors)
        except (OSError, ValueError) as error:
            raise ForfeitError(Reason.CRASH, f"could not be started: {to_one_line(error)}") from None
        try:
            self._protocol = self._agreed_upon(deadline)
            self._until = time.monotonic() + max(waits.cap, waits.start)
            for name, value in program.options:
                self._set_option(name, value)
            self._await_ready()
        except BaseException:
            self.end()
            raise

    def new_game(self) -> None:
        """Announce a new game; raise ForfeitError if the engine has ended, or is not ready in time."""
        self._until = time.monotonic() + self._waits.cap
        self._say(self._protocol.new_game)
        self._await_ready()

    def choose(self, board: Board, limit: Limit) -> SearchResult:
        """Return the engine's move; raise ForfeitError if it gives none, or an illegal or late one."""
        self.info = Info()
        self._until = time.monotonic() + self._waits.cap
        if self._protocol is UCI:
            self._agree_on_variant(board)
        self._say(f"position fen {board.fen}")
        self._await_ready()
        started = time.perf_counter()
        self.is_due = True
        self._say(go_line(limit))
        answer = self._await_move(limit)
        self.is_due = False
        seconds = time.perf_counter() - started
        if limit.ms is not None and seconds * 1e3 > limit.ms + LATE_MS:
            raise self._loss(Reason.TIMEOUT, f"took {seconds * 1e3:.0f} ms of {limit.ms:g} ms")
        cell, info = self._read_answer(board, answer), self.info
        line = parse_pv(board, info.pv)
        pv = line if line[:1] == (cell,) else (cell,)
        return SearchResult(cell, info.score, info.depth, info.nodes, seconds, pv, exact=False)

    def end(self) -> None:
        """End the engine and its process group."""
        if not self.is_over:
            self.is_over = True
            self._lines.end()

    def _agreed_upon(self, deadline: float) -> Protocol:
        """Greet the engine and return its protocol. Unless the program names one, UGI is tried first."""
        protocol = PROTOCOLS[self._program.protocol or "uci"]
        if not self._program.protocol:
            self._say(UGI.name)
            self._say("isready")
            if self._await(deadline, UGI.greeted, "readyok").startswith(UGI.greeted):
                self._await(deadline, "readyok")
                return UGI
        self._say(protocol.name)
        self._await(deadline, protocol.greeted)
        return protocol

    def _set_option(self, name: str, value: str) -> None:
        if name.lower() not in (known.lower() for known in self._options):
            there = ", ".join(self._options) or "none"
            raise self._loss(Reason.ERROR, f"has no option {name}; it has {there}"[:200])
        self._say(f"setoption name {name} value {value}" if value else f"setoption name {name}")

    def _agree_on_variant(self, board: Board) -> None:
        """Set the variant for the next positions, unless the engine's options set it."""
        given = {name.lower() for name, _ in self._program.options}
        variant, size = variant_of(board), (board.height, board.width)
        if "uci_variant" in given or variant == self._variant:
            return
        if variant != "joust" and size not in self._sizes and "variantpath" not in given:
            self._set_option("VariantPath", str(write_variants(size)))
            self._sizes.add(size)
        self._set_option("UCI_Variant", variant)
        self._variant = variant

    def _await_ready(self) -> None:
        self._say("isready")
        self._await(self._by(self._waits.ready), "readyok")

    def _await_move(self, limit: Limit) -> str:
        """Return the line with the engine's move; search information received meanwhile is kept."""
        if limit.ms is None:
            line = self._hear_until(self._by(self._waits.move), "bestmove", silence=self._waits.silence)
        else:
            deadline = self._by((limit.ms + LATE_MS) / 1e3)
            line = self._hear_until(deadline, "bestmove")
            if not line and deadline < self._until:
                self._say("stop")
                line = self._hear_until(self._by(self._waits.ready), "bestmove")
        return line or self._fail(Reason.HANG, "no move in time")

    def _read_answer(self, board: Board, answer: str) -> int:
        word = (answer.split()[1:] or [""])[0]
        if not looks_like_move(word):
            what = f"answered {to_one_line(word, _SHOWN)!r} for a move"
            raise self._loss(Reason.NONSENSE, what, gives_up=word in _NO_MOVE)
        try:
            return read_move(board, word)
        except ValueError as error:
            raise self._loss(Reason.ILLEGAL_MOVE, to_one_line(error, 200)) from None

    def _say(self, line: str) -> None:
        self._remember(self._said, f"> {to_one_line(line, _SHOWN)}")
        try:
            self._lines.send(line.encode(), self._by(self._waits.ready) - time.monotonic())
        except NoAnswer as error:
            self._fail_unanswered(error, "it does not read its input in time")

    def _remember(self, kept: deque[_Line], line: str) -> None:
        self._line_count += 1
        kept.append((self._line_count, line))

    def _by(self, seconds: float) -> float:
        """Return the deadline of a wait of `seconds`, limited by that of the whole move."""
        return min(time.monotonic() + seconds, self._until)

    def _await(self, deadline: float, *wanted: str) -> str:
        return self._hear_until(deadline, *wanted) or self._fail(Reason.HANG, f"no {' or '.join(wanted)} in time")

    def _hear_until(self, deadline: float, *wanted: str, silence: float = inf) -> str:
        """Return the first line that begins with a wanted word, and learn from the lines before; empty if it is late.

        An engine that sends nothing for `silence` seconds is ended.
        """
        while (left := deadline - time.monotonic()) > 0:
            try:
                line = self._lines.receive(min(silence, left)).decode(errors="replace").strip()
            except NoAnswer as error:
                if error.why is Termination.TIMED_OUT and time.monotonic() >= deadline:
                    break
                self._fail_unanswered(error, "no line while it searched in time")
            self._remember(self._heard, f"< {to_one_line(line, _SHOWN)}")
            if line.partition(" ")[0] in wanted:
                return line
            self._learn(line)
        return ""

    def _learn(self, line: str) -> None:
        """Note search information while a move is due, and the engine's options at other times."""
        words = line.split()
        if self.is_due:
            self.info = add_info(self.info, line) if words[:1] == ["info"] else self.info
        elif UNREAD in line.lower():
            self._fail(Reason.ERROR, f"cannot read its file of variants: {to_one_line(line, 150)}")
        elif words[:2] == ["option", "name"] and "type" in words:
            self._options.append(" ".join(words[2 : words.index("type")]))

    def _fail_unanswered(self, error: NoAnswer, late: str) -> NoReturn:
        if error.why is Termination.DIED:
            self._fail(Reason.CRASH, to_one_line(self._lines.ending(_LAST_WORDS) or "closed its output"))
        if error.why is Termination.NONSENSE:
            self._fail(Reason.NONSENSE, f"sent a line of more than {LONGEST_LINE:,} bytes")
        self._fail(Reason.HANG, late)

    def _fail(self, reason: Reason, what: str) -> NoReturn:
        loss = self._loss(reason, what)
        self.end()
        raise loss from None

    def _loss(self, reason: Reason, what: str, *, gives_up: bool = False) -> ForfeitError:
        """Return a loss with the last lines of the dialogue: > for lines sent, < for answers."""
        dialogue, before = [], 0
        answers = (answer for answer in self._heard if answer > self._said[0])
        for number, line in sorted([*self._said, *answers]):
            dialogue += ["…"] if before and number > before + 1 else []
            dialogue.append(line)
            before = number
        return ForfeitError(reason, f"{what}{AT_LAST}{' | '.join(dialogue)}", gives_up=gives_up)


@lru_cache(maxsize=64)
def write_variants(*sizes: tuple[int, int]) -> Path:
    """Return a file of variants for boards of some sizes; it is removed at the end of this process."""
    path = temporary_folder("variants").path / "variants.ini"
    path.write_text("\n".join(map(variants_text, sizes)), encoding="utf-8")
    return path


MOST_NOTES = 20_000_000
"""Largest file of search information per process, in bytes; enough for some hundred thousand moves."""


@dataclass(frozen=True)
class EngineAgent(OwnProcessAgent):
    """An engine under a limit.

    An engine may hang, but needs no guard: it runs in its own process, and its session has a timeout for every answer.

    Attributes:
        errors: the folder for standard error (a file per process) and for the engine's search information (a line of
            JSON per move, up to `MOST_NOTES` bytes); empty to discard both.
        waits: timeouts.
    """

    name: str
    program: Program
    limit: Limit
    errors: str = ""
    waits: Timeouts = WAITS
    is_deterministic: bool = field(default=False, init=False)
    is_user_code: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        if self.limit.cpu_ms is not None:
            raise ValueError(f"an engine needs a limit of depth, nodes or ms, not {self.limit}")

    @property
    def why_unrepeatable(self) -> str:
        """The reason why moves are not reproducible: the engine's behaviour is unknown."""
        return "engines may be nondeterministic"

    def settings(self) -> dict[str, Any]:
        """Return its command (files by name and content), protocol, options and limit."""
        limit = {self.limit.unit: getattr(self.limit, self.limit.unit)}
        return {"kind": "engine", **self.program.facts(), "limit": limit}

    def capped(self, seconds: float) -> EngineAgent:
        """Return the same engine with a timeout of `seconds` for each move and for becoming ready."""
        return replace(self, waits=replace(self.waits, move=seconds, cap=seconds))

    def open(self, start: Start = start_engine) -> EnginePlayer:
        """Return a player; the engine is started for its first game."""
        return EnginePlayer(self, start)


@dataclass
class EnginePlayer:
    """The player of an engine.

    An engine that had to be ended is restarted. A closed player leaves its engine running for the next player.

    Attributes:
        game: id of the current game in the file of search information.
    """

    agent: EngineAgent
    start: Start = start_engine
    game: int = field(default=0, init=False)
    _session: Session | None = field(default=None, init=False)

    def new_game(self) -> None:
        """Announce a new game to the engine, and start it if necessary.

        Raises:
            Forfeit: the engine cannot be started, does not answer, or has ended.
        """
        self._session = self._session or _idle.take(self._order)
        if self._session is not None and not self._session.is_over:
            try:
                return self._session.new_game()
            except ForfeitError as loss:
                if loss.reason is not Reason.CRASH:
                    raise
        # No engine is running, or it ended between two games, which must not lose the next one.
        self._session = Session(self.agent.program, self._errors(), self.agent.waits, self.start)
        self._session.new_game()

    def choose(self, board: Board, seed: int) -> SearchResult:
        """Return the engine's move, see `Session.choose`; the seed is ignored."""
        session = self._session
        assert session is not None
        try:
            result = session.choose(board, self.agent.limit)
        except ForfeitError as loss:
            self._note(board, session.info, parse_pv(board, session.info.pv), loss.reason)
            raise
        self._note(board, session.info, result.pv)
        return result

    def close(self) -> None:
        """Leave the engine to the next player; end it if it still owes a move."""
        session, self._session = self._session, None
        if session is not None:
            if session.is_due:
                session.end()
            _idle.put(self._order, session)

    @property
    def _order(self) -> tuple[Program, str, Timeouts]:
        return self.agent.program, self.agent.errors, self.agent.waits

    def _errors(self) -> str:
        path = Path(self.agent.errors, f"{file_name(self.agent.name)}-{os.getpid()}.txt")
        return str(path) if self.agent.errors else ""

    def _note(self, board: Board, info: Info, line: Sequence[int], lost: Reason | None = None) -> None:
        """Append the search information of a ply to the file of notes; `line` is the expected line in cells."""
        if not self.agent.errors:
            return
        said: dict[str, Any] = {"game_id": self.game, "ply": board.move_count + 1, "fen": board.fen}
        said |= {"score": info.score if isfinite(info.score) else str(info.score), "depth": info.depth}
        said |= {"nodes": info.nodes, "pv": line, **({"lost": lost.word} if lost else {})}
        with suppress(OSError), Path(self._errors()).with_suffix(".jsonl").open("a", encoding="utf-8") as file:
            if file.tell() < MOST_NOTES:
                file.write(f"{json.dumps(said)}\n")


_idle: Idle[Session] = Idle()
