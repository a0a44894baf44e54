"""Parse and write PGN.

A game starts from its FEN (usually after both placements), from its variant's start position (Joust: 8x8, knights on
d4 and e5), or from an empty board. Other board sizes, and placements as moves (`N@d4`), are extensions of this toolkit;
the rest is standard PGN (S. J. Edwards 1994).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..engines.protocol import read_move, start_of, variant_of, write_san
from ..rules.classic_board import Board
from ..rules.game import Size

UNDECIDED = "*"
RESULTS = {"1-0": 1, "0-1": 2, UNDECIDED: 0, "1/2-1/2": 0}
PLACED = 2
"""Number of plies before the start of a game written by this toolkit."""
_WIDTH = 100
_TOKEN = re.compile(
    r"""\[\s*(?P<tag>\w+)\s+"(?P<value>(?:[^"\\\n]|\\.)*)"\s*\]|\{(?P<comment>[^}]*)\}|;[^\n]*|^%[^\n]*"""
    r"""|(?P<result>1-0|0-1|1/2-1/2|\*)(?=\s|$)|(?P<open>\()|(?P<close>\))|\$\d+|\d+\.+|(?P<move>[^\s(){}\[\];]+)"""
    r"""|(?P<stray>[^\s])""",
    re.MULTILINE,
)


@dataclass(frozen=True)
class PgnGame:
    """A game of a collection: the number of its first line, its tags by name, and its plies.

    Those include placements. There is a comment for each, possibly empty. The winner is 1 or 2; 0 if unknown.
    """

    line: int
    tags: Mapping[str, str]
    size: Size
    cells: tuple[int, ...]
    comments: tuple[str, ...]
    winner: int

    @property
    def opening(self) -> tuple[int, ...]:
        """The plies not chosen by the players: as the tag says, or all if the game has no result, or its placements."""
        said = self.tags.get("OpeningPlies", "")
        if said.isascii() and said.isdecimal() and len(said) < 5:
            return self.cells[: int(said)]
        return self.cells[:PLACED] if self.winner else self.cells


def read_pgn(path: Path) -> list[PgnGame]:
    """Read the games of a file in UTF-8 or in Latin-1, the original encoding of PGN.

    Raises:
        ValueError: the file cannot be read, or a game is invalid; the message gives file, line and move.
    """
    try:
        text = _text_of(path)
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file") from None
    except OSError as error:
        raise ValueError(f"{path}: cannot read games: {error.strerror or error}") from None
    begin = "".join(text.split(maxsplit=1)[:1])
    if begin.count(",") > 1 and not begin.startswith(("[", "{", ";", "%")):
        raise ValueError(f"{path} looks like a table, not PGN: export it with --to pgn")
    games = parse_pgn(text, str(path))
    if not games:
        raise ValueError(f"{path}: no games in this file")
    return games


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        return path.read_text(encoding="latin-1")


def parse_pgn(text: str, source: str) -> list[PgnGame]:
    """Parse the games in a text. Raises ValueError, with source, line and move, if one is invalid."""
    games = []
    for draft in _split(text, source):
        try:
            start, winner = _start(draft.tags), _winner(draft)
        except ValueError as error:
            raise ValueError(f"{source}:{draft.line}: {error}") from None
        games.append(_game(draft, start, winner, source))
    return games


def write_pgn(
    tags: Mapping[str, str], size: Size, cells: tuple[int, ...], comments: tuple[str, ...], winner: int
) -> str:
    """Format a game so that `read_pgn` can read it; `tags` come first, `comments` has one entry per ply."""
    start = Board.from_moves(cells[:PLACED], size)
    result = "1-0" if winner == 1 else "0-1" if winner == 2 else UNDECIDED
    every = {**tags, "Result": result, "Variant": variant_of(start), "Board": str(size), "SetUp": "1", "FEN": start.fen}
    head = "".join(f'[{name} "{_escaped(value)}"]\n' for name, value in every.items())
    board, words = start.copy(), []
    for ply, cell in enumerate(cells[PLACED:], start=PLACED):
        turn = ply // 2
        words.append(f"{turn}." if ply % 2 == 0 else "")
        words.append(write_san(board, cell))
        words.append(f"{{{comments[ply]}}}" if comments[ply] else "")
        board.play_cell(cell)
    return f"{head}\n{_wrapped([*filter(None, words), result])}\n"


@dataclass
class _Draft:
    """A tokenised game: its moves with their lines, and `comments` by the number of moves before them."""

    line: int
    tags: dict[str, str] = field(default_factory=dict)
    moves: list[tuple[str, int]] = field(default_factory=list)
    comments: dict[int, str] = field(default_factory=dict)
    result: str = UNDECIDED


def _split(text: str, source: str) -> Iterator[_Draft]:
    """Split a text into games without parsing their moves; variations are skipped."""
    ends = [match.start() for match in re.finditer("\n", text)]
    draft, depth = None, 0
    for token in _TOKEN.finditer(text):
        line = bisect_left(ends, token.start()) + 1
        if token["stray"] or (token["close"] and not depth):
            raise ValueError(f"{source}:{line}: unexpected {token[0]!r}")
        if token["open"] or token["close"]:
            depth += 1 if token["open"] else -1
        if depth or token.lastgroup in (None, "open", "close"):
            continue
        if draft and draft.moves and token["tag"]:
            yield draft
            draft = None
        draft = draft or _Draft(line)
        if token["tag"]:
            draft.tags[token["tag"]] = re.sub(r"\\(.)", r"\1", token["value"])
        elif token["comment"] is not None:
            draft.comments[len(draft.moves)] = " ".join(token["comment"].split())
        elif token["move"]:
            draft.moves.append((token["move"], line))
        else:
            draft.result = token["result"]
            yield draft
            draft = None
    if draft and (draft.tags or draft.moves):
        yield draft


def _game(draft: _Draft, start: Board, winner: int, source: str) -> PgnGame:
    board = start.copy()
    for ply, (text, line) in enumerate(draft.moves, start.active_index):
        try:
            board.play_cell(read_move(board, text))
        except ValueError as error:
            where = f"{source}:{line}: move {ply // 2 + 1} of {'Black' if ply % 2 else 'White'}"
            hint = f"; without FEN and Variant the game starts on an empty board of {start.size}"
            raise ValueError(f"{where}: {error}{'' if {'FEN', 'Variant'} & {*draft.tags} else hint}") from None
    said = [""] * start.move_count + [draft.comments.get(ply, "") for ply in range(1, len(draft.moves) + 1)]
    return PgnGame(draft.line, draft.tags, Size(board.height, board.width), board.history, tuple(said), winner)


def _start(tags: Mapping[str, str]) -> Board:
    """Return a game's start position: that of its FEN, else an empty board of its size, else that of its variant."""
    size, fen = tags.get("Board", ""), tags.get("FEN")
    if fen is None and (size or "Variant" not in tags):
        return Board.from_moves([], size or "7x7")
    if fen is None:
        return start_of(tags["Variant"].lower())
    board = Board.from_fen(fen)
    if size and board.size != size:
        raise ValueError(f"the game is on {size}, but its FEN on {board.size}")
    if board.history == () and board.move_count:
        if board.move_count == PLACED and None not in board.locations:
            raise ValueError(f"its FEN {fen} has player 2 to move at the start; player 1 moves first")
        raise ValueError(f"its FEN {fen} has blocked cells without the moves that blocked them")
    return board


def _winner(draft: _Draft) -> int:
    """Return the winner by the result after the moves, or by the tag if that is undecided."""
    tag = draft.tags.get("Result", UNDECIDED)
    results = {result for result in (draft.result, tag) if result != UNDECIDED and result in RESULTS}
    if len(results) > 1:
        raise ValueError(f"Result tag {tag} contradicts the result after the moves, {draft.result}")
    return RESULTS[results.pop()] if results else 0


def _escaped(value: str) -> str:
    return " ".join(value.split()).replace("\\", "\\\\").replace('"', '\\"')


def _wrapped(words: list[str]) -> str:
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + 1 + len(word) > _WIDTH:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return "\n".join(lines)
