"""External engines: how they are started, and UGI and UCI messages, which are formatted and parsed.

UGI is the Universal Game Interface (kz04px/ugi). UCI is used in the dialect of Fairy-Stockfish, which calls the game
`joust` and reads placements, and boards other than 8x8, from a file of variants.

In Joust notation ranks count from 1 at the bottom, and moves may name the cell left behind, which is closed. A jump is
`d4c2` in most programs and `d4c2,c2d4` in Fairy-Stockfish; a placement is `N@d4`. The rank is the number of rows minus
the row of this toolkit's notation: on 7x7, `d3` here is `d4` in Joust notation, and `a2` is `a5`.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import file_digest
from itertools import pairwise
from math import copysign, inf
from pathlib import Path
from typing import Literal

from ..rules.classic_board import Board
from ..rules.game import Limit, parse_size
from ..rules.geometry import column_name, parse_square, square_name
from ..usercode.user_exceptions import to_one_line

Convention = Literal["plain", "joust"]
_WHOLE = re.compile(r"[+-]?\d{1,15}", re.ASCII)
_SQUARE = r"[a-z]+[1-9]\d*"
_MOVE = re.compile(rf"(?:N@({_SQUARE})|(N?)({_SQUARE})??({_SQUARE}))(?:,(\w*))?[+#!?]*", re.ASCII | re.IGNORECASE)


def write_move(board: Board, cell: int, convention: Convention = "plain") -> str:
    """Format a move of the player to move.

    >>> board = Board.from_moves([24, 14])
    >>> write_move(board, 37), write_move(board, 37, "joust"), write_move(Board(1, 2), 24)
    ('d4c2', 'd4c2,c2d4', 'N@d4')
    """
    target = square_name(cell, board.height, board.width)
    origin = board.locations[board.active_index]
    if origin is None:
        return f"N@{target}"
    source = square_name(origin, board.height, board.width)
    return f"{source}{target},{target}{source}" if convention == "joust" else f"{source}{target}"


def write_san(board: Board, cell: int) -> str:
    """Format a move of the player to move as in game collections: `Nc2,d4` moves to c2 and closes d4.

    >>> write_san(Board.from_moves([24, 14]), 37), write_san(Board(1, 2), 24)
    ('Nc2,d4', 'N@d4')
    """
    target = square_name(cell, board.height, board.width)
    origin = board.locations[board.active_index]
    return f"N@{target}" if origin is None else f"N{target},{square_name(origin, board.height, board.width)}"


def looks_like_move(text: str) -> bool:
    """Return whether a text has the form of a move, legal or not.

    >>> [looks_like_move(text) for text in ("d4c2", "N@a1", "c9", "(none)", "0000", "")]
    [True, True, True, False, False, False]
    """
    return _MOVE.fullmatch(text) is not None


def read_move(board: Board, text: str) -> int:
    """Return the target cell of a move, given in any of these forms or as the square alone.

    If the move names a closed cell, that is checked, too.

    >>> board = Board.from_moves([24, 14])
    >>> {read_move(board, text) for text in ("d4c2", "d4c2,c2d4", "Nc2,d4", "c2")}
    {37}

    Raises:
        ValueError: not a move, or an illegal one.
    """
    match = _MOVE.fullmatch(text.strip())
    if not match:
        example = write_move(board, next(iter(board.legal_cells()), 0))
        raise ValueError(f"{text[:40]!r} is not a move; expected one like {example}")
    placed, knight, source, target, closed = match.groups()
    cell = parse_square(placed or target, board.height, board.width)
    origin = board.locations[board.active_index]
    left = "" if origin is None else square_name(origin, board.height, board.width)
    closing = f"{target.lower() if source and not knight else ''}{left}"
    wrong = ""
    if placed and left:
        wrong = f"is a placement, but the knight is already on {left}"
    elif source and (not left or parse_square(source, board.height, board.width) != origin):
        wrong = f"leaves {source}, but the knight {f'stands on {left}' if left else 'is not placed yet'}"
    elif closed is not None and not left:
        wrong = "closes a cell; a placement closes only its own"
    elif closed is not None and closed.lower() != closing:
        wrong = f"closes {closed.lower() or 'nothing'}; a move closes what it leaves, here ,{closing}"
    elif cell not in board.legal_cells():
        wrong = f"is not legal in {board.fen}"
    if wrong:
        raise ValueError(f"{text[:40]} {wrong}")
    return cell


JOUST = "8/8/8/4n3/3N4/8/8/8 w - - 0 1"
"""Start position of Fairy-Stockfish's variant `joust`."""
DEEPEST = 1_000
"""Upper bound of a depth reported by an engine; no game is longer."""
_SHOWN = 40
OVERHEAD_MS = 10.0
"""Part of a time limit reserved for transmitting the answer."""
_MOVES_TO_GO = 20
"""Number of moves that share the remaining time if `movestogo` is not given; 7x7 games have no more."""


@dataclass(frozen=True)
class Protocol:
    """A protocol: its name, which is also its greeting, its new-game command, its move notation, and clocks in `go`."""

    name: Literal["ugi", "uci"]
    new_game: str
    moves: Convention
    clocks: tuple[str, str, str, str]

    @property
    def greeted(self) -> str:
        """The end of an engine's answer to the greeting."""
        return f"{self.name}ok"


UGI = Protocol("ugi", "uginewgame", "plain", ("p1time", "p2time", "p1inc", "p2inc"))
UCI = Protocol("uci", "ucinewgame", "joust", ("wtime", "btime", "winc", "binc"))
_CLOCKS = dict(zip(UGI.clocks, UCI.clocks, strict=True))
PROTOCOLS = {protocol.name: protocol for protocol in (UGI, UCI)}


@dataclass(frozen=True)
class Info:
    """Search information reported by an engine; anything not reported is 0, NaN or empty.

    Attributes:
        depth, nodes: as the engine counts them.
        score: for the mover, in units of 100 centipawns; infinite if the engine sees the end of the game.
        pv: the expected line, in the engine's notation.
    """

    depth: int = 0
    nodes: int = 0
    score: float = float("nan")
    pv: tuple[str, ...] = ()


def go_line(limit: Limit) -> str:
    """Return the command that starts a search limited by depth, nodes or wall time.

    >>> go_line(Limit(nodes=100)), go_line(Limit(ms=50))
    ('go nodes 100', 'go movetime 50')
    """
    word = {"depth": "depth", "nodes": "nodes", "ms": "movetime"}[limit.unit]
    return f"go {word} {max(1, int(limit.value)) if limit.unit == 'ms' else getattr(limit, limit.unit)}"


@dataclass(frozen=True)
class GoRequest:
    """The search requested by `go`; it ends when any of its limits is reached.

    Attributes:
        limits: of depth, nodes and time, in this order, as far as given; without any, the agent's own applies.
        is_infinite: answer only after `stop`.
        notes: what is done differently from the request.
    """

    limits: tuple[Limit, ...] = ()
    is_infinite: bool = False
    notes: tuple[str, ...] = ()


def read_go(words: list[str], active_index: int) -> GoRequest:
    """Parse the arguments of `go` for the side to move; invalid numbers are ignored with a note.

    >>> read_go(["nodes", "500", "movetime", "100"], 0).limits
    (Limit(nodes=500), Limit(ms=90.0))
    >>> read_go(["p1time", "2000", "p2time", "9"], 0).limits
    (Limit(ms=90.0),)
    """
    said = {_CLOCKS.get(name, name): index for index, name in enumerate(words)}
    notes: list[str] = []
    if "infinite" in said:
        return GoRequest(is_infinite=True)

    def number(name: str, least: float = -inf) -> int | None:
        if name not in said:
            return None
        text = words[said[name] + 1] if said[name] + 1 < len(words) else ""
        if not re.fullmatch(r"-?\d{1,15}", text, re.ASCII):
            notes.append(f"go {name} expects a whole number, not {to_one_line(repr(text), _SHOWN)}; ignored")
            return None
        if int(text) < least:
            notes.append(f"go {name} {int(text)} is treated as go {name} {least}")
        return int(max(int(text), least))

    depth, nodes = number("depth", 1), number("nodes", 1)
    times: list[float | None] = [number("movetime")]
    left, increment = number("wb"[active_index] + "time"), number("wb"[active_index] + "inc") or 0
    moves = max(1, number("movestogo") or _MOVES_TO_GO)
    if left is not None:
        times.append(min(left / moves + increment, left))
    ms = min((max(1.0, time / 2, time - OVERHEAD_MS) for time in times if time is not None), default=None)
    given = {"depth": depth, "nodes": nodes, "ms": ms}
    limits = tuple(Limit(**{unit: value}) for unit, value in given.items() if value is not None)  # type: ignore[arg-type]
    return GoRequest(limits, notes=tuple(notes))


def add_info(known: Info, line: str) -> Info:
    """Update `Info` by an `info` line. Bounds, lines other than the best, and unreadable values are ignored.

    >>> add_info(Info(), "info depth 3 score cp -150 nodes 42 pv d4c2 a5b3")
    Info(depth=3, nodes=42, score=-1.5, pv=('d4c2', 'a5b3'))
    """
    words = line.split()
    if "string" in words[:2]:
        return known
    head = words[: words.index("pv")] if "pv" in words else words
    said = dict(pairwise(head))
    if said.get("multipv", "1") != "1":
        return known
    is_bound = "lowerbound" in head or "upperbound" in head
    return Info(
        depth=min(_count(said.get("depth", ""), known.depth), DEEPEST),
        nodes=_count(said.get("nodes", ""), known.nodes),
        score=known.score if is_bound else _score(head, known.score),
        pv=known.pv if is_bound or "pv" not in words else tuple(words[len(head) + 1 :]),
    )


def parse_pv(board: Board, texts: Sequence[str]) -> tuple[int, ...]:
    """Convert a line of moves from a position to cells, up to the first illegal move."""
    after, cells = board.copy(), []
    for text in texts:
        try:
            cells.append(read_move(after, text))
        except ValueError:
            break
        after.play_cell(cells[-1])
    return tuple(cells)


def variant_of(board: Board) -> str:
    """Return Fairy-Stockfish's variant for a position: `joust`, or a variant of `variants_text`."""
    if None in board.locations:
        return f"placing{board.size}"
    return "joust" if board.size == "8x8" else f"joust{board.size}"


def variants_text(size: tuple[int, int]) -> str:
    """Return a file of variants for boards of (rows, columns) with at least two cells.

    While a knight is placed, no cell may be closed, but for drops Fairy-Stockfish would close an unrelated cell. So
    placement is a separate variant: a game of knights that never ends.
    """
    rows, columns = size
    board = f"maxRank = {rows}\nmaxFile = {column_name(columns - 1)}\n"
    placed, empty = f"joust{rows}x{columns}", f"placing{rows}x{columns}"
    return (
        f"[{placed}:joust]\n{board}startFen = {start_of(placed).fen}\n\n"
        f"[{empty}:joust]\n{board}startFen = {start_of(empty).fen}\n"
        "pieceDrops = true\nmustDrop = true\nwallingRule = none\n"
    )


def start_of(variant: str) -> Board:
    """Return the start position of a variant: `joust`, or a variant of `variants_text`.

    >>> start_of("joust7x7").fen, start_of("placing5x6").fen
    ('N6/7/7/7/7/7/6n w - - 0 1', '6/6/6/6/6[Nn] w - - 0 1')

    Raises:
        ValueError: unknown variant.
    """
    if variant == "joust":
        return Board.from_fen(JOUST)
    match = re.fullmatch(r"(joust|placing)(\d+x\d+)", variant, re.ASCII)
    if not match:
        raise ValueError(f"no variant {to_one_line(variant, _SHOWN)}; known are joust, and joust7x7 and placing7x7")
    size = parse_size(match[2])
    if size.cells < 2:
        raise ValueError(f"no variant of {match[2]}: two knights need two cells")
    return Board.from_moves([0, size.cells - 1] if match[1] == "joust" else [], size)


def _score(words: list[str], otherwise: float) -> float:
    for unit, text in pairwise(words):
        if unit in ("cp", "mate") and _WHOLE.fullmatch(text):
            return int(text) / 100 if unit == "cp" else copysign(inf, 1 if int(text) > 0 else -1)
    return otherwise


def _count(text: str, otherwise: int) -> int:
    return int(text) if _WHOLE.fullmatch(text) and int(text) >= 0 else otherwise


Language = Literal["", "ugi", "uci"]
"""A protocol; empty to detect it."""


@dataclass(frozen=True)
class Program:
    """An engine as plain data.

    Attributes:
        command: the program and its arguments.
        protocol: the protocol it uses.
        options: names and values set before its first game.
        directory: its working directory; empty for that of this process.
    """

    command: tuple[str, ...]
    protocol: Language = ""
    options: tuple[tuple[str, str], ...] = ()
    directory: str = ""

    def find(self) -> tuple[str, ...]:
        """Return the command with the path of its program.

        Raises:
            ValueError: the directory or program does not exist, or the program is not executable; in one line.
        """
        if self.directory and not Path(self.directory).is_dir():
            raise ValueError(f"no such directory: {self.directory}")
        first, *arguments = self.command
        path = os.path.join(self.directory, first) if os.path.dirname(first) else first
        executable = shutil.which(path)
        if executable is None:
            raise ValueError(f"{path} {_why_not(path)}")
        return (str(Path(executable).absolute()), *arguments)

    def facts(self) -> dict[str, object]:
        """Return everything that influences its play, ready for JSON: files by name and content, not by path.

        Raises:
            ValueError: the program does not exist.
        """
        words = []
        for word, path in zip(self.command, self.find(), strict=True):
            file = Path(self.directory, path)
            words.append(f"{file.name} {_content(file)}" if file.is_file() else word)
        options = [f"{name}={value}" for name, value in self.options]
        return {"command": words, "protocol": self.protocol, "options": options}


def read_option(text: str) -> tuple[str, str]:
    """Parse an option, NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not (name.strip() and equals):
        raise ValueError(f"option: {text!r}: expected NAME=VALUE, such as Hash=16")
    return name.strip(), value


def _why_not(path: str) -> str:
    if not Path(path).is_file():
        return "is not a program"
    if os.path.dirname(path):
        return "is not executable: use chmod +x"
    return f"is not a program; did you mean ./{path}?"


def _content(path: Path) -> str:
    seen = path.stat()
    return _hash(str(path), seen.st_size, seen.st_mtime_ns)


@lru_cache(maxsize=64)
def _hash(path: str, size: int, changed: int) -> str:
    with open(path, "rb") as file:
        return file_digest(file, "sha256").hexdigest()[:16]
