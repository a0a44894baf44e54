"""UGI and UCI messages: format commands, parse answers.

UGI is the Universal Game Interface (kz04px/ugi). UCI is spoken in the dialect of Fairy-Stockfish, which calls the game
`joust` and has the placements and boards other than 8x8 told by a file of variants.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import copysign, inf
from typing import Literal

from isolation.boards.joust_notation import Convention, read_move
from isolation.editions.classic_board import Board
from isolation.rules.geometry import parse_size
from isolation.rules.limits import Limit
from isolation.rules.notation import column_name
from isolation.usercode.user_exceptions import to_one_line

JOUST = "8/8/8/4n3/3N4/8/8/8 w - - 0 1"
"""Where a game of Fairy-Stockfish's begins."""
DEEPEST = 1_000
"""No game is longer, whatever an engine says of its depth."""
_SHOWN = 40


@dataclass(frozen=True)
class Protocol:
    """One of the languages: its greeting, the answer, how a game begins, and how moves are written."""

    name: Literal["ugi", "uci"]
    new_game: str
    moves: Convention

    @property
    def greeted(self) -> str:
        """The end of an engine's answer to the greeting, which is the name of the language."""
        return f"{self.name}ok"


UGI = Protocol("ugi", "uginewgame", "plain")
UCI = Protocol("uci", "ucinewgame", "joust")
PROTOCOLS = {protocol.name: protocol for protocol in (UGI, UCI)}


@dataclass(frozen=True)
class Info:
    """What an engine says of its search; what it has not said is 0, NaN or empty.

    Attributes:
        depth, nodes: as it counts them.
        score: to the mover, in units of a hundred of its centipawns; infinite where it sees the end of the game.
        pv: the line it expects, as it writes it.
    """

    depth: int = 0
    nodes: int = 0
    score: float = float("nan")
    pv: tuple[str, ...] = ()


def go_line(limit: Limit) -> str:
    """What starts a search under a depth, a number of nodes or a wall time.

    >>> go_line(Limit(nodes=100)), go_line(Limit(ms=50))
    ('go nodes 100', 'go movetime 50')
    """
    word = {"depth": "depth", "nodes": "nodes", "ms": "movetime"}[limit.unit]
    return f"go {word} {max(1, int(limit.value)) if limit.unit == 'ms' else getattr(limit, limit.unit)}"


def add_info(known: Info, line: str) -> Info:
    """What is known after another `info` line; bounds, all but the best line, and what cannot be read change nothing.

    >>> add_info(Info(), "info depth 3 score cp -150 nodes 42 pv d4c2 a5b3")
    Info(depth=3, nodes=42, score=-1.5, pv=('d4c2', 'a5b3'))
    """
    words = line.split()
    if "string" in words[:2]:
        return known
    head = words[: words.index("pv")] if "pv" in words else words
    said = {name: head[index + 1] for index, name in enumerate(head[:-1])}
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
    """The cells of a line of moves from a position on, as far as they are legal."""
    after, cells = board.copy(), []
    for text in texts:
        try:
            cells.append(read_move(after, text))
        except ValueError:
            break
        after.play_cell(cells[-1])
    return tuple(cells)


def variant_of(board: Board) -> str:
    """What Fairy-Stockfish is told that a position is a position of: `joust`, or a variant of `variants_text`."""
    if None in board.locations:
        return f"placing{board.size}"
    return "joust" if board.size == "8x8" else f"joust{board.size}"


def variants_text(size: tuple[int, int]) -> str:
    """A file of variants for boards of (rows, columns), of two and more cells.

    Where a knight is placed nothing is closed: for its drops Fairy-Stockfish would close a cell that has nothing to do
    with them. So it places its knight as in a game of knights that never ends.
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
    """Where a game of a variant begins: `joust`, or one of `variants_text`.

    >>> start_of("joust7x7").fen, start_of("placing5x6").fen
    ('N6/7/7/7/7/7/6n w - - 0 1', '6/6/6/6/6[Nn] w - - 0 1')

    Raises:
        ValueError: there is no such variant.
    """
    if variant == "joust":
        return Board.from_fen(JOUST)
    match = re.fullmatch(r"(joust|placing)(\d+x\d+)", variant, re.ASCII)
    if not match:
        raise ValueError(f"no variant {to_one_line(variant, _SHOWN)}; known are joust, and joust7x7 and placing7x7")
    rows, columns = parse_size(match[2])
    if rows * columns < 2:
        raise ValueError(f"no variant of {match[2]}: two knights need two cells")
    return Board.from_moves([0, rows * columns - 1] if match[1] == "joust" else [], match[2])


def _score(words: list[str], otherwise: float) -> float:
    for unit, text in pairwise(words):
        if unit in ("cp", "mate") and (number := _whole(text)) is not None:
            return number / 100 if unit == "cp" else copysign(inf, 1 if number > 0 else -1)
    return otherwise


def _whole(text: str) -> int | None:
    """A number that is not too long to be one of these."""
    return int(text) if re.fullmatch(r"[+-]?\d{1,15}", text, re.ASCII) else None


def _count(text: str, otherwise: int) -> int:
    number = _whole(text)
    return otherwise if number is None or number < 0 else number
