"""Checks of engines, for `test-engine`: named steps, each with what was sent, expected and received."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import isnan
from pathlib import Path

from ..engines.engine_agent import LATE_MS, UNREAD, Start, start_engine, write_variants
from ..engines.protocol import PROTOCOLS, UCI, UGI, Info, Program, Protocol, add_info, read_move, variant_of, write_move
from ..files.folders import temporary_folder
from ..processes.child import NoAnswer, SupervisedProgram, Termination
from ..rules.classic_board import Board
from ..rules.game import Size
from ..usercode.user_exceptions import to_one_line

SECONDS = 10.0
"""Timeout for answers without a time limit."""
OTHERS_SECONDS = 2.0
"""Timeout for answers that are not needed to play games."""
QUIET = 0.3
"""Seconds for which an infinite search must not answer before `stop`."""
FLOOD_SECONDS = 1.0
"""Seconds after a timeout in which lines that have arrived are still read; an engine may send them without end."""
NOT_TRIED = "not tried: it does not restart"
MOVETIME = 200
_SHOWN = 200
_LAST_LINES = 3
_SIZES = (Size(7, 7), Size(5, 6), Size(9, 11))

Check = Callable[[list[str]], str]
"""Describes what is wrong with the lines received; empty if nothing is."""


@dataclass(frozen=True)
class EngineCheck:
    """A requirement on engines, tested by one dialogue.

    Attributes:
        script: lines to send; the answer to each that has one is awaited.
        expected: the expected answer, as shown to the user.
        check: checks the lines received in answer to the last line.
        seconds: timeout of each answer, if not `SECONDS`.
        quiet: seconds before the last line in which no move may arrive.
        is_needed: whether games depend on it; the rest of the protocol matters only to other programs.
    """

    name: str
    script: tuple[str, ...]
    expected: str
    check: Check = lambda received: ""
    seconds: float | None = None
    quiet: float = 0.0
    is_needed: bool = True

    def result(self, seen: str, *, passed: bool = False, sent: str = "") -> EngineCheckResult:
        """Return the result of the check."""
        return EngineCheckResult(self.name, passed, sent, self.expected, seen, self.is_needed)


@dataclass(frozen=True)
class EngineCheckResult:
    """Result of a step, and whether games depend on it."""

    step: str
    passed: bool
    sent: str
    expected: str
    seen: str
    is_needed: bool = True


def check_engine(program: Program, start: Start = start_engine) -> Generator[EngineCheckResult, None, None]:
    """Take an engine through all steps. An engine that ends or stops answering is restarted for the next step.

    Raises:
        ValueError: the engine cannot be started.
    """
    protocol = PROTOCOLS[program.protocol] if program.protocol else _protocol_of(program, start)
    opening = [_greeting(protocol), *_setting_up(protocol, program)]
    errors = temporary_folder("engine-errors").path / "errors.txt"
    lines: SupervisedProgram | None = None
    try:
        for number, step in enumerate(steps := [*opening, *_steps(protocol)]):
            if lines is None:
                errors.unlink(missing_ok=True)
                lines = start(program, str(errors))
                if not all(_take(step, lines).passed for step in opening[:number]):
                    yield from (step.result(NOT_TRIED) for step in steps[number:])
                    return
            result = _take(step, lines, errors)
            yield result
            if not result.passed or _answer_to(step.script[-1]) == "":
                lines.end()
                lines = None
    finally:
        if lines is not None:
            lines.end()


def _protocol_of(program: Program, start: Start) -> Protocol:
    """Detect an engine's protocol: UGI unless it only knows UCI."""
    for protocol in (UGI, UCI):
        lines = start(program, "")
        greeting = _take(_greeting(protocol), lines)
        lines.end()
        if greeting.passed:
            return protocol
    return UGI


def _take(step: EngineCheck, lines: SupervisedProgram, errors: Path | None = None) -> EngineCheckResult:
    """Send the lines of a step and judge the answers; `errors` is the file of the engine's standard error."""
    received: list[str] = []
    until, seconds = None, step.seconds or SECONDS
    try:
        for line in step.script:
            until = _answer_to(line)
            if until == "bestmove":
                _expect_quiet(lines, step.quiet)
            received.clear()
            lines.send(line.encode(), seconds)
            if until is not None:
                _receive_until(lines, until, seconds, received)
            if until == "bestmove":
                _expect_no_more(lines)
        wrong = step.check(received)
    except _UnaskedError as error:
        wrong = str(error)
    except NoAnswer as error:
        died = "" if until == "" else f"it {lines.ending(1.0) or 'closed its output'}{_last_errors(errors)}"
        wrong = error.described(f"nothing more within {seconds:g} s", died, "a line that is too long")
    last = to_one_line(received[-1] if received else "no line", _SHOWN)
    sent = to_one_line(" | ".join(step.script), _SHOWN)
    return step.result(f"{last}; {wrong}" if wrong else last, passed=not wrong, sent=sent)


def _answer_to(line: str) -> str | None:
    """Return the first word of the line that ends the answer to a command; empty for the end of the output."""
    moves = {"go": "bestmove", "stop": "bestmove"}
    answers = {"ugi": "ugiok", "uci": "uciok", "isready": "readyok", **moves, "quit": ""}
    return None if line == "go infinite" else answers.get(line.split()[0])


def _receive_until(lines: SupervisedProgram, until: str, seconds: float, received: list[str]) -> None:
    """Append lines to `received` until one begins with `until`; those that are there at the end of the time, too."""
    deadline = time.monotonic() + seconds
    while not (until and received and received[-1].split()[:1] == [until]):
        left = deadline - time.monotonic()
        if left < -FLOOD_SECONDS:
            raise NoAnswer(Termination.TIMED_OUT)
        received.append(lines.receive(max(0.0, left)).decode(errors="replace").strip())
        if received[-1].split()[:1] == ["bestmove"] and until != "bestmove":
            raise _UnaskedError("an unrequested move")


def _expect_quiet(lines: SupervisedProgram, seconds: float) -> None:
    try:
        _receive_until(lines, "", seconds, [])
    except NoAnswer as error:
        if error.why is not Termination.TIMED_OUT:
            raise


def _expect_no_more(lines: SupervisedProgram) -> None:
    """Check that no second move follows: the answer to `isready` must be `readyok`."""
    received: list[str] = []
    lines.send(b"isready", SECONDS)
    try:
        _receive_until(lines, "readyok", SECONDS, received)
    except _UnaskedError:
        raise _UnaskedError(f"a second one: {to_one_line(received[-1], _SHOWN)}") from None


class _UnaskedError(Exception):
    """An unrequested move has arrived; the message is shown to the user."""


def _last_errors(errors: Path | None) -> str:
    try:
        text = errors.read_text(encoding="utf-8", errors="replace") if errors else ""
    except OSError:
        return ""
    last = " | ".join(text.split("\n")[-_LAST_LINES - 1 :]).strip(" |")
    return f"; last line on standard error: {to_one_line(last, 2 * _SHOWN)}" if last else ""


def _greeting(protocol: Protocol) -> EngineCheck:
    name = f"completes the {protocol.name.upper()} handshake"
    return EngineCheck(name, (protocol.name,), f"{protocol.greeted} within 10 s", _is_named)


def _setting_up(protocol: Protocol, program: Program) -> Iterator[EngineCheck]:
    """Yield the steps repeated at every start of an engine: its options and, in UCI, the file of variants."""
    given = {name.lower() for name, _ in program.options}
    expected = "readyok, and no error about opening a file"
    if program.options:
        options = (f"setoption name {name} value {value}" for name, value in program.options)
        yield EngineCheck("accepts its own options", (*options, "isready"), expected, _is_read)
    if protocol is UCI:
        path = () if "variantpath" in given else (f"setoption name VariantPath value {write_variants(*_SIZES)}",)
        script = (*path, "setoption name UCI_Variant value joust7x7", "isready")
        yield EngineCheck("accepts variants", script, expected, _is_read)


def _is_read(received: list[str]) -> str:
    return next((f"it wrote {to_one_line(line, _SHOWN)!r}" for line in received if UNREAD in line.lower()), "")


def _is_named(received: list[str]) -> str:
    return "" if any(line.startswith("id name ") for line in received) else "no line id name …"


def _steps(protocol: Protocol) -> Iterator[EngineCheck]:
    yield EngineCheck("is ready", ("isready",), "readyok")
    yield EngineCheck("ignores unknown commands", ("xyzzy 1 2", "isready"), "readyok")
    yield EngineCheck("starts a game", (protocol.new_game, "isready"), "readyok")
    yield from _moving(protocol)
    yield from _timing(protocol)
    if protocol is UGI:
        yield from _querying()
    yield EngineCheck("quits", ("quit",), "the end of its output", seconds=5.0)


def _moving(protocol: Protocol) -> Iterator[EngineCheck]:
    placed = Board.from_moves([24, 14])
    for limit in ("depth 1", "depth 3", "nodes 1", "nodes 500"):
        yield _move_step(f"moves by {limit}", placed, protocol, f"go {limit}")
    yield replace(_move_step("reports its search", placed, protocol, "go depth 2"), check=partial(_informs, placed))
    if protocol is UGI:
        script = ("position startpos moves N@d4 N@a5 d4c6", "isready", "go depth 1")
        check = partial(_is_legal, Board.from_moves([24, 14, 9]))
        yield EngineCheck("replays moves", script, "a legal move", check, OTHERS_SECONDS, is_needed=False)
    for plies in (0, 1):
        yield _move_step(f"places knight {plies + 1}", Board.from_moves([24, 14][:plies]), protocol, "go nodes 100")
    for size in _SIZES:
        for board in _game(size):
            yield _move_step(f"moves on {size}, ply {board.move_count + 1}", board, protocol, "go nodes 50")


def _timing(protocol: Protocol) -> Iterator[EngineCheck]:
    board = Board.from_moves([24, 14])
    first, second, first_increment, second_increment = protocol.clocks
    clocks, increments = f"go {first} {{0}} {second} {{0}}", f" {first_increment} 100 {second_increment} 100"
    for name, go, seconds in (
        (f"moves within {MOVETIME} ms", f"go movetime {MOVETIME}", (MOVETIME + LATE_MS) / 1e3),
        ("moves by the clock", clocks.format(2000), 2.0),
        ("moves by the clock with increments", clocks.format(500) + increments, (500 + LATE_MS) / 1e3),
    ):
        yield _move_step(name, board, protocol, go, seconds)
    yield EngineCheck(
        "searches until stopped, and answers isready meanwhile",
        (*_position(board, protocol), "go infinite", "isready", "stop"),
        "readyok, and no bestmove before stop",
        partial(_is_legal, board),
        quiet=QUIET,
    )


def _querying() -> Iterator[EngineCheck]:
    over = Board.from_fen("*N2/****/n3 b")
    for what, answer in (("p1turn", "false"), ("gameover", "true"), ("result", "p1win")):
        script = (f"position fen {over.fen}", f"query {what}", "isready")
        said = f"response {answer}"
        yield EngineCheck(f"says {what}", script, said, partial(_is_said, said), is_needed=False)


def _move_step(name: str, board: Board, protocol: Protocol, go: str, seconds: float | None = None) -> EngineCheck:
    script = (*_position(board, protocol), "isready", go)
    return EngineCheck(name, script, "a legal move", partial(_is_legal, board), seconds)


def _position(board: Board, protocol: Protocol) -> tuple[str, ...]:
    variant = (f"setoption name UCI_Variant value {variant_of(board)}",) if protocol is UCI else ()
    return (*variant, f"position fen {board.fen}")


def _game(size: Size) -> Iterator[Board]:
    """Yield some positions of a random game, always the same."""
    board, generator = Board.from_moves([0, 13], size), random.Random(1)
    while board.legal_cells():
        if board.move_count % 4 == 2:
            yield board.copy()
        board.play_cell(generator.choice(board.legal_cells()))


def _is_legal(board: Board, received: list[str]) -> str:
    word = (received[-1].split()[1:] or [""])[0]
    try:
        read_move(board, word)
    except ValueError as error:
        legal = " ".join(write_move(board, cell) for cell in board.legal_cells())
        return f"{error}; legal are {to_one_line(legal, 100)}"
    return ""


def _informs(board: Board, received: list[str]) -> str:
    info = Info()
    for line in received:
        info = add_info(info, line) if line.startswith("info ") else info
    told = {"depth": info.depth, "nodes": info.nodes, "pv": info.pv, "score": not isnan(info.score)}
    missing = [name for name, there in told.items() if not there]
    if missing:
        return f"no {', '.join(missing)} in its info"
    return _is_legal(board, received) or _is_legal(board, [f"bestmove {info.pv[0]}"])


def _is_said(said: str, received: list[str]) -> str:
    return "" if said in received else f"not {said}"
