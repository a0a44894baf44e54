"""Find the player of a file and its edition from the source alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from knights_isolation.isolation.editions.edition import FIRST, SECOND, THIRD
from knights_isolation.isolation.usercode.parsing import parse

USUAL_PLAYERS = ("CustomPlayer", "AlphaBetaPlayer")
"""Classes that the editions' own tournaments play, most likely first."""
LARGEST_SOURCE = 1_000_000
"""Maximum size in bytes; hand-written files are smaller."""
_BASES_OF_THIRD = ("BasePlayer", "DataPlayer")


def player_in(file: Path) -> tuple[str, str] | str:
    """Return the class and edition of a source's player, or why it cannot be determined (empty if there is none)."""
    try:
        players = players_in(file)
    except ValueError as error:
        return str(error)
    chosen = next((name for name in USUAL_PLAYERS if name in players), None)
    if chosen is None and len(players) > 1:
        return f"has several players ({', '.join(players)}), none of them {USUAL_PLAYERS[0]}"
    chosen = chosen or next(iter(players), None)
    return (chosen, players[chosen]) if chosen else ""


def players_in(file: Path) -> dict[str, str]:
    """Return the player classes in a source, and their aliases, each with its edition.

    The edition is first, second or third, or empty if a class has its methods from another file.

    Raises:
        ValueError: the source cannot be read; the message contains the file's problem.
    """
    try:
        if file.stat().st_size > LARGEST_SOURCE:
            raise ValueError(f"is larger than {LARGEST_SOURCE:,} bytes")
        tree = parse(file.read_bytes())
    except SyntaxError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        raise ValueError(f"is not Python: {where}{error.msg}") from None
    except (RecursionError, MemoryError):
        raise ValueError("is nested too deeply to be read") from None
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    editions = {name: edition for name, node in classes.items() if (edition := _edition(node, classes)) is not None}
    return editions | {alias: editions[name] for alias, name in _aliases(tree) if name in editions}


def _edition(node: ast.ClassDef, classes: dict[str, ast.ClassDef], seen: tuple[str, ...] = ()) -> str | None:
    """Return the edition of a player class; empty if imported base classes decide; None if it is not a player."""
    methods = {method.name: method for method in node.body if isinstance(method, ast.FunctionDef)}
    if "get_action" in methods:
        return THIRD.name
    if "get_move" in methods:
        asked = [argument.arg for argument in methods["get_move"].args.args]
        return (
            FIRST.name
            if len(asked) - len(methods["get_move"].args.defaults) == 4 or "legal_moves" in asked
            else SECOND.name
        )
    bases = [base.id if isinstance(base, ast.Name) else getattr(base, "attr", "") for base in node.bases]
    for base in bases:
        if base in classes and base not in seen:
            inherited = _edition(classes[base], classes, (*seen, node.name))
            if inherited is not None:
                return inherited
    if any(base in _BASES_OF_THIRD for base in bases):
        return THIRD.name
    is_from_elsewhere = any(base and base != "object" and base not in classes for base in bases)
    return "" if node.name in USUAL_PLAYERS and is_from_elsewhere else None


def _aliases(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield aliases that a file assigns to its classes: `CustomPlayer = Deepening`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            yield from ((target.id, node.value.id) for target in node.targets if isinstance(target, ast.Name))
