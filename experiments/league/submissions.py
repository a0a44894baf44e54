"""Which players lie in the folders of a class, told from their sources alone: nothing of them is run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from isolation.syntax import parse

USUAL_FILES = ("game_agent.py", "my_custom_player.py")
"""What the editions call the file that students write."""
USUAL_PLAYERS = ("CustomPlayer", "AlphaBetaPlayer")
"""The classes that the editions' own tournaments play, the likeliest first."""
FIRST, SECOND, THIRD = "first", "second", "third"
LARGEST_SOURCE = 1_000_000
"""Bytes; nobody writes so much by hand."""
DEEPEST = 3
"""Folders within folders that are looked through."""
MOST_FILES = 200
"""Files of a submission that are looked into."""

_NOT_THEIRS = ("isolation", "tests", "test", "venv", "env", "site-packages", "node_modules", "__pycache__")
_BASES_OF_THIRD = ("BasePlayer", "DataPlayer")


@dataclass(frozen=True)
class Submission:
    """A player that was found.

    Attributes:
        name: of its folder, as agents are named.
        file: the absolute path of its file.
        player: the class in it.
        edition: first, second or third; empty where its source does not tell.
    """

    name: str
    file: Path
    player: str
    edition: str

    @property
    def spec(self) -> str:
        """It as an agent: in a confined process, and under the limit of the tournament."""
        return f"{self.name}=apart:{self.file}:{self.player}"


@dataclass(frozen=True)
class Skipped:
    """What lies among the submissions and does not play, and why."""

    name: str
    why: str


@dataclass(frozen=True)
class Found:
    """What a folder of submissions holds, by name."""

    players: tuple[Submission, ...]
    skipped: tuple[Skipped, ...]


def find_submissions(folder: str | Path) -> Found:
    """The players in the sub-folders of a folder, one each, and what there is beside them.

    Raises:
        ValueError: there is no such folder, or it has no sub-folder.
    """
    home = Path(folder)
    try:
        entries = sorted(entry for entry in home.iterdir() if not entry.name.startswith((".", "__")))
    except OSError as error:
        raise ValueError(f"{home}: {error.strerror}") from None
    if not any(entry.is_dir() for entry in entries):
        raise ValueError(f"{home} has no folders: each submission lies in one of its own, named after it")
    players: dict[str, Submission] = {}
    skipped = []
    for entry in entries:
        if entry.is_dir():
            found = _submission(entry)
            if isinstance(found, Submission):
                found = _renamed(found, players)
                players[found.name] = found
            else:
                skipped.append(found)
        elif entry.suffix == ".py":
            skipped.append(Skipped(entry.name, "lies in no folder of its own"))
    return Found(tuple(players.values()), tuple(skipped))


def _submission(folder: Path) -> Submission | Skipped:
    """The player of a folder, or why there is none."""
    name = re.sub(r"[^\w.+-]", "_", folder.name)
    refusals = []
    for file in _sources(folder):
        found = player_in(file)
        if isinstance(found, tuple):
            return Submission(name, file.absolute(), *found)
        if found:
            refusals.append(f"{file.relative_to(folder)} {found}")
    nothing = "has no file with a class that has a get_move or a get_action"
    return Skipped(name, refusals[0] if refusals else nothing)


def _renamed(found: Submission, others: dict[str, Submission]) -> Submission:
    """The submission under a name that is nobody else's."""
    names = (found.name if number == 1 else f"{found.name}-{number}" for number in range(1, len(others) + 2))
    free = next(name for name in names if name not in others)
    return Submission(free, found.file, found.player, found.edition)


def _sources(folder: Path) -> Iterator[Path]:
    """Python files of a submission: those the editions name first, then the least deep."""
    files = []
    for depth in range(1, DEEPEST + 2):
        files += [
            file
            for file in sorted(folder.glob("*/" * (depth - 1) + "*.py"))
            if file.is_file() and not any(_is_not_theirs(part) for part in file.relative_to(folder).parts[:-1])
        ]
    usual = [file for file in files if file.name in USUAL_FILES]
    yield from [*usual, *(file for file in files if file not in usual)][:MOST_FILES]


def _is_not_theirs(part: str) -> bool:
    return part in _NOT_THEIRS or part.startswith(".")


def player_in(file: Path) -> tuple[str, str] | str:
    """The player of a source: its class and its edition; or why it cannot be told, empty where there is none."""
    try:
        if file.stat().st_size > LARGEST_SOURCE:
            return f"is larger than {LARGEST_SOURCE:,} bytes"
        tree = parse(file.read_bytes())
    except SyntaxError as error:
        return f"is not Python: line {error.lineno}: {error.msg}"
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        return f"cannot be read: {error}"
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    found = {name: edition for name, node in classes.items() if (edition := _edition(node, classes)) is not None}
    for alias, name in _aliases(tree):
        if name in found:
            found[alias] = found[name]
    chosen = next((name for name in USUAL_PLAYERS if name in found), None)
    if chosen is None and len(found) > 1:
        return f"has several players ({', '.join(found)}) and none of them is called {USUAL_PLAYERS[0]}"
    chosen = chosen or next(iter(found), None)
    return (chosen, found[chosen]) if chosen else ""


def _edition(node: ast.ClassDef, classes: dict[str, ast.ClassDef], seen: tuple[str, ...] = ()) -> str | None:
    """The edition of a player's class, empty if its bases from elsewhere decide; None if it is no player."""
    methods = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
    if "get_action" in methods:
        return THIRD
    if "get_move" in methods:
        asked = [argument.arg for argument in methods["get_move"].args.args]
        return FIRST if len(asked) - len(methods["get_move"].args.defaults) == 4 or "legal_moves" in asked else SECOND
    bases = [base.id if isinstance(base, ast.Name) else getattr(base, "attr", "") for base in node.bases]
    for base in bases:
        if base in classes and base not in seen:
            inherited = _edition(classes[base], classes, (*seen, node.name))
            if inherited is not None:
                return inherited
    if any(base in _BASES_OF_THIRD for base in bases):
        return THIRD
    is_from_elsewhere = any(base and base != "object" and base not in classes for base in bases)
    return "" if node.name in USUAL_PLAYERS and is_from_elsewhere else None


def _aliases(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Names that a file gives its classes besides: `CustomPlayer = Deepening`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            yield from ((target.id, node.value.id) for target in node.targets if isinstance(target, ast.Name))
