"""Heuristics in the files of a folder, found without running them."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from knights_isolation.isolation.usercode.parsing import parse

MOST_FILES = 200
_LARGEST = 1 << 18
_GAMES = ("game", "state", "board")
_PLAYERS = ("player", "player_id")


@dataclass(frozen=True)
class OwnHeuristic:
    """A function in a file: FILE:FUNCTION, the first line of its docstring, and its source."""

    reference: str
    meaning: str
    source: str

    @property
    def function(self) -> str:
        """The function's name."""
        return self.reference.rpartition(":")[2]


def own_heuristics(folder: Path) -> list[OwnHeuristic]:
    """Return the functions of (game, player) in the Python files of a folder, in the order of files and lines."""
    found = []
    for path in sorted(folder.glob("*.py"))[:MOST_FILES]:
        found += heuristics_of(path)
    return found


def heuristics_of(path: Path) -> list[OwnHeuristic]:
    """Return the functions of (game, player) of a file; none if it is not Python or too large."""
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return []
        text = path.read_text(encoding="utf-8")
        functions = [node for node in parse(text).body if isinstance(node, ast.FunctionDef) and _is_heuristic(node)]
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return []
    return [
        OwnHeuristic(
            f"{path.name}:{function.name}",
            (ast.get_docstring(function) or "").partition("\n")[0],
            ast.get_source_segment(text, function) or "",
        )
        for function in functions
    ]


def _is_heuristic(function: ast.FunctionDef) -> bool:
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    return len(names) == 2 and names[0] in _GAMES and names[1] in _PLAYERS
