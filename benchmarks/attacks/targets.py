"""Fuzzing targets: each function parses bytes by one grammar, and raises if a guarantee does not hold.

The guarantee: any input is either valid, and parsed to an equal value after formatting it, or refused by a ValueError.
`SEEDS` has valid inputs for each target as a start.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

from knights_isolation.experiments.plan import parse_limit, parse_spec
from knights_isolation.experiments.plan.config import load_config, parse_openings, to_toml
from knights_isolation.experiments.plan.openings import file_openings
from knights_isolation.experiments.plan.spec_parser import complete, make_agent
from knights_isolation.experiments.record.checked_json import read_json
from knights_isolation.isolation.games.match import play_games
from knights_isolation.isolation.processes.child import Child, Failure, NoAnswer, Setup, Termination, encode
from knights_isolation.isolation.processes.subprocess_player import FileAgent, SubprocessPlayer
from knights_isolation.isolation.rules.classic_board import position_of
from knights_isolation.isolation.rules.game import Limit, Reason, parse_size
from knights_isolation.isolation.rules.geometry import format_moves
from knights_isolation.isolation.search import SearchResult
from knights_isolation.isolation.search.agents import RandomAgent
from knights_isolation.isolation.search.classic_agent import Given
from knights_isolation.reports.board.board_api import refusal
from knights_isolation.reports.board.resources import (
    GraphQuestion,
    MoveQuestion,
    SolveQuestion,
    ValuesQuestion,
    boards_of,
    parse,
)

Target = Callable[[bytes], None]
SIZE = "5x5"


def specs(data: bytes) -> None:
    """Agent specs: parse, format, parse again to an equal value."""
    spec = parse_spec(_text(data))
    again = parse_spec(str(spec))
    assert replace(again, text="", start=0, end=0) == replace(spec, text="", start=0, end=0), (spec, again)
    if ".py" not in spec.target and spec.target != "*":
        assert make_agent(complete(spec)).name


def limits(data: bytes) -> None:
    """Limits."""
    limit = parse_limit(_text(data))
    assert 0 < limit.value < 2**62


def sizes(data: bytes) -> None:
    """Board sizes: parse, format, parse."""
    size = parse_size(_text(data))
    assert parse_size(str(size)) == size


def openings(data: bytes) -> None:
    """Opening specs."""
    assert parse_openings(_text(data)).plies < 10_000


def opening_files(data: bytes) -> None:
    """Files of openings."""
    assert len(file_openings(_file(data), parse_size(SIZE)))


def configurations(data: bytes) -> None:
    """Tournaments in TOML: parse, format, parse."""
    config = load_config(_file(data))
    written = _file(to_toml(config).encode())
    assert load_config(written) == config


def moves(data: bytes) -> None:
    """Moves as people write them: play, format, play."""
    board = position_of(SIZE, _text(data))
    assert position_of(SIZE, format_moves(board.history, board.width)) == board


def questions(data: bytes) -> None:
    """Questions of a page to the board."""
    asked = parse((ValuesQuestion, GraphQuestion, MoveQuestion, SolveQuestion)[len(data) % 4], data)
    assert boards_of(asked.position)


def headers(data: bytes) -> None:
    """Request headers: only the board's own page may ask."""
    words = _text(data).split("\n")
    names = ("host", "origin", "sec-fetch-site", "sec-fetch-mode", "content-type")
    given = dict(zip(names, words[2:], strict=False))
    if not refusal(words[0], (*words, "", "")[1], given, 8000):
        assert given.get("host") in ("127.0.0.1:8000", "localhost:8000")


def sealed_files(data: bytes) -> None:
    """Sealed JSON."""
    assert isinstance(read_json(_file(data)), dict)


def answers(data: bytes) -> None:
    """Messages of a player in a process of its own: it plays, or loses, and the game ends."""
    # In Python, since numba cannot compile functions instrumented for coverage.
    games = play_games(_Scripted(data), RandomAgent(), [[0, 1]], [7], parse_size(SIZE), interpreted=True)
    assert len(games) == 1
    assert games.winner[0] in (1, 2)
    assert games.reason[0] in set(Reason)


TARGETS: dict[str, Target] = {
    target.__name__: target
    for target in (specs, limits, sizes, openings, opening_files, configurations, moves, questions, headers,
                   sealed_files, answers)
}  # fmt: skip
SEEDS: dict[str, list[bytes]] = {
    "specs": [b"ID:improved@nodes=2000,order,ties", b"A b=MM:open@depth=3", b"ID:my.py:score@ms=1.5",
              b"a/b.py:P@cpu_ms=3", b"MCTS@nodes=10", b"perfect", b"ID:*"],
    "limits": [b"depth=3", b"nodes=10_000", b"ms=1e2", b"cpu_ms=0.5"],
    "sizes": [b"7x7", b" 9 X 11 ", "3×4".encode()],
    "openings": [b"random:4,same", b"placements,other", b"file:a,b"],
    "opening_files": [b"0,24\n\n7 17 # one\n", b"0 24 11 13\n"],
    "configurations": [b'board = "7x7"\npairs = "all"\nopenings = "placements"\ncontenders = ["ID:*"]\n',
                       b'format = "head-to-head"\nsprt = [0, 20]\nhard_cap = 1.5\nseed = 3\njobs = 1\n'],
    "moves": [b"a0,c1", b"d3 a2", b"0,24 11"],
    "questions": [b'{"position": {"size": "5x5", "moves": [0, 24]}, "heuristics": ["open"], "depth": 2}',
                  b'{"position": {"size": "5x5", "visited": [3], "knights": [1, null], "turn": 2}, "agent": "random"}'],
    "headers": [b"GET\n/\n127.0.0.1:8000\nhttp://127.0.0.1:8000\nsame-origin\nnavigate\napplication/json"],
    "sealed_files": [b'{"sealed": true, "games": 3, "checksum": "00000000"}', b'{"games": 3}'],
    "answers": [bytes([0, 3, 1, 7, 2, 9]), bytes(range(20))],
}  # fmt: skip


def refused(target: Target, data: bytes) -> bool:
    """Return whether an input is refused properly, by an error message.

    Raises:
        Exception: a guarantee does not hold.
    """
    try:
        target(data)
    except ValueError:
        return True
    return False


def _text(data: bytes) -> str:
    return data.decode(errors="replace")


def _file(data: bytes) -> Path:
    path = Path(tempfile.gettempdir(), f"isolation-fuzzed-{id(TARGETS)}")
    path.write_bytes(data)
    return path


class _Scripted(RandomAgent):
    """An agent whose process answers with given bytes."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        object.__setattr__(self, "data", data)

    def compiled(self, size: tuple[int, int]) -> None:
        """Return None: it is never compiled."""

    def open(self) -> Any:
        """Return a player in a simulated process."""
        order = Setup(os.urandom(8))  # unique, so that no process of an earlier game is reused
        file = FileAgent(self.name, "/it.py", "It", "", Limit(ms=1000), "second")
        agent = file if self.data[:1] < b"\x80" else self  # type: ignore[attr-defined]
        return SubprocessPlayer(agent, order, 1.0, start=lambda order: _Answers(order, self.data))  # type: ignore[attr-defined]


class _Answers(Child):
    """A simulated process that answers with given bytes: valid answers, whole or truncated, and invalid ones."""

    def __init__(self, setup: Setup, data: bytes) -> None:
        self.setup, self.is_over, self._asking = setup, False, threading.RLock()
        self._bytes = cycle(data or b"\0")
        self._asked = 0

    def send(self, line: bytes, seconds: float) -> None:
        """Discard the message."""

    def receive(self, seconds: float) -> bytes:
        """Return the next answer; the first two are those of a process that has started."""
        self._asked += 1
        if self._asked <= 2:
            return encode(None)
        chosen, options = next(self._bytes), next(self._bytes)
        odd: tuple[Any, ...] = (options, -options, None, "a1", float("nan"), 10**30, [], (1, 2), True, b"x", 1e308, {})
        value = odd[options % len(odd)]
        if chosen % 8 == 0:
            raise NoAnswer(Termination.DIED)
        if chosen % 8 == 1:
            return encode(value)[: options % 30]
        if chosen % 8 == 2:
            return encode(Failure(value, value))  # type: ignore[arg-type]
        if chosen % 8 == 3:
            return encode(value)
        kind, fields = (SearchResult, [options % 25, 0.5, 3, 10, 0.1, (), False])
        if chosen % 16 > 8:
            kind, fields = (Given, [options % 25, "a1", 0.1, 0.1, False])
        if chosen % 8 == 4:
            fields[chosen // 16 % len(fields)] = value
        return encode(kind(*fields))

    def used(self) -> float:
        """Return 0: there is no process."""
        return 0.0

    def ending(self, seconds: float) -> str:
        """Return that nothing is known: there is no process."""
        return ""

    def end(self) -> None:
        """Note the end: there is no process."""
        self.is_over = True
