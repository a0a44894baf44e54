"""Heuristics and players of user files: find and choose them, say whether they compile, evaluate positions with them.

All functions that load a file raise LoadError if it cannot be loaded; those that choose, also if there is nothing to
choose or the choice is open.
"""

from __future__ import annotations

import ast
import inspect
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from knights_isolation import heuristics
from knights_isolation.isolation.loading.load_user_code import (
    LoadError,
    content_hash,
    expand_path,
    inputs_of,
    is_heuristic,
    is_player,
    is_third_edition_player,
    load,
    load_heuristic,
    load_module,
    load_player,
)
from knights_isolation.isolation.processes.child import START_SECONDS, Child, NoAnswer, Setup, recipe
from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.edition import FIRST, SECOND, THIRD, edition_of, is_of_third_edition
from knights_isolation.isolation.rules.third_edition import Action, StateHeuristic
from knights_isolation.isolation.usercode.inputs import Inputs, changed_input
from knights_isolation.isolation.usercode.output_capture import WantsToEnd, prevent_exit
from knights_isolation.isolation.usercode.parsing import parse
from knights_isolation.isolation.usercode.timeouts import (
    UserCodeTimeout,
    cpu_timeout,
    run_with_watchdog,
    wall_timeout,
)

from .catalogue import CatalogueEntry, Heuristic, entry_of, first_line

USUAL_PLAYERS = ("CustomPlayer", "AlphaBetaPlayer")
"""Classes that the editions' own tournaments play, most likely first."""
LARGEST_SOURCE = 1_000_000
"""Maximum size in bytes; hand-written files are smaller."""
LONGEST_CALL = 10.0
"""Time limit in seconds for a heuristic's value of one position."""
_LONGEST_TRY = 2.0
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

    The edition is first, second or third, or empty if a class has its methods from another file. Raises ValueError
    with the file's problem if it cannot be read.
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
        parameters = methods["get_move"].args
        asked = [parameter.arg for parameter in parameters.args]
        is_first = len(asked) - len(parameters.defaults) == 4 or "legal_moves" in asked
        return FIRST.name if is_first else SECOND.name
    bases = [base.id if isinstance(base, ast.Name) else getattr(base, "attr", "") for base in node.bases]
    known = (classes[base] for base in bases if base in classes and base not in seen)
    inherited = (_edition(base, classes, (*seen, node.name)) for base in known)
    if (edition := next((each for each in inherited if each is not None), None)) is not None:
        return edition
    if any(base in _BASES_OF_THIRD for base in bases):
        return THIRD.name
    is_from_elsewhere = any(base and base != "object" and base not in classes for base in bases)
    return "" if node.name in USUAL_PLAYERS and is_from_elsewhere else None


def _aliases(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield aliases that a file assigns to its classes: `CustomPlayer = Deepening`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            yield from ((target.id, node.value.id) for target in node.targets if isinstance(target, ast.Name))


def heuristics_in(path: str | Path) -> dict[str, Heuristic]:
    """Return the functions of a file that `load_heuristic` accepts, by name, including helpers with two arguments.

    For a file of the third edition, these are functions of (state, player_id) and its players' ``CustomPlayer.score``.
    """
    module = load_module(path)
    names = [name for name, value in vars(module).items() if is_heuristic(value)]
    players = _third_edition_players(module)
    names += [f"{name}.score" for name, player in players if is_heuristic(getattr(player, "score", None))]
    loaded = {name: load_heuristic(path, name).value for name in names}
    is_third = is_of_third_edition(Path(str(module.__file__)).read_bytes())
    return {name: value for name, value in loaded.items() if isinstance(value, StateHeuristic) or not is_third}


def other_definitions(path: str | Path, used: Collection[str]) -> dict[str, str]:
    """Return the functions and classes that a file defines besides those `used`, each with why it is not.

    Other names of what is used, and functions that siblings define, are left out unless they could be heuristics.
    """
    module = load_module(path)
    known = [getattr(module, name) for name in used if hasattr(module, name)]
    reasons = {}
    for name, value in vars(module).items():
        is_code = inspect.isfunction(value) or inspect.isclass(value)
        if not is_code or name in used or any(value is each for each in known):
            continue
        home = str(value.__module__)
        if home == module.__name__:
            reasons[name] = _why_unused(path, name, value)
        elif home.startswith("knights_isolation.user_") and is_heuristic(value) and names_game_and_player(value):
            reasons[name] = f"is imported from {home.rpartition('.')[2]}.py"
    return reasons


def _why_unused(path: str | Path, name: str, value: Any) -> str:
    if inspect.isclass(value):
        if not is_player(value):
            return "is a class without get_move or get_action"
        try:
            load_player(path, name)
        except LoadError as error:
            return str(error).removeprefix(f"{path}:{name} ")
        return "is a player" if name[:1] != "_" else "is a private class"
    asked = "(state, player_id)" if is_of_third_edition(Path(inspect.getfile(value)).read_bytes()) else "(game, player)"
    if is_heuristic(value):
        return f"returns no number for {asked}"
    return f"takes {inspect.signature(value)}, not {asked}"


def evaluation_methods(path: str | Path) -> dict[str, Heuristic]:
    """Return the methods of a file's third-edition players that return a number for a state, by ``CLASS.METHOD``.

    They take a state, or a state and a player_id. Each is called once, in a position after both placements.
    """
    players = [(name, player) for name, player in _third_edition_players(load_module(path)) if name == player.__name__]
    names = [f"{name}.{method}" for name, player in players for method in vars(player) if not method.startswith("__")]
    loaded = {name: load(path, name).value for name in names}
    return {
        name: value for name, value in loaded.items() if isinstance(value, StateHeuristic) and _is_evaluation(value)
    }


def _third_edition_players(module: ModuleType) -> list[tuple[str, Any]]:
    classes = [(name, value) for name, value in vars(module).items() if is_third_edition_player(value)]
    return [(name, value) for name, value in classes if value.__module__ == module.__name__]


def _is_evaluation(method: StateHeuristic) -> bool:
    board = Board.from_moves([24, 74], THIRD.usual_size)
    try:
        with cpu_timeout(_LONGEST_TRY), prevent_exit():
            value = method(board, board.active_player)
    except Exception:
        return False
    return isinstance(value, int | float) and not isinstance(value, Action | bool)


def only_heuristic(path: str | Path) -> str:
    """Return the name of a file's heuristic: `score`, `custom_score`, `CustomPlayer.score`, or its only one.

    If there are helpers with two arguments as well, the parameter names decide.
    """
    found = heuristics_in(path)
    for name in ("score", "custom_score", "CustomPlayer.score"):
        if name in found:
            return name
    likely = [name for name, value in found.items() if names_game_and_player(value)] or list(found)
    if len(likely) == 1:
        return likely[0]
    if likely:
        raise LoadError(f"{path} has several functions of (game, player); name one, such as {path}:{likely[0]}")
    takes = [f"{name} {why}" for name, why in other_definitions(path, ()).items() if why.startswith("takes ")]
    raise LoadError(f"{path} has no function of (game, player){_player_hint(path)}{'; '.join(['', *takes])}")


def _player_hint(path: str | Path) -> str:
    try:
        name = only_player(path)
    except LoadError:
        return ""
    edition = edition_of(getattr(load_module(path), name)).name
    hint = f"; its player, of the {edition} edition, plays as {path}:{name}"
    if edition != THIRD.name:
        return hint
    if methods := [f"ID:{path}:{method}" for method in evaluation_methods(path)]:
        return f"{hint}, its evaluation as {' or '.join(methods)}"
    return f"{hint}; a method score(self, state) would play as ID:{path}:{name}.score"


def only_player(path: str | Path) -> str:
    """Return the name of a file's player class.

    It is the only one with a `get_move` or `get_action`; otherwise the first match in `USUAL_PLAYERS`, as for files
    that are not run.
    """
    module = load_module(path)
    classes = [(name, value) for name, value in vars(module).items() if inspect.isclass(value) and is_player(value)]
    players = [name for name, value in classes if value.__module__ == module.__name__]
    if len(players) == 1:
        return players[0]
    if usual := next((name for name in USUAL_PLAYERS if name in players), None):
        return usual
    if players:
        raise LoadError(f"{path} has several players ({', '.join(players)}); name one, as in {path}:{players[0]}")
    hint = f"; a heuristic is written ID:{path}" if heuristics_in(path) else ""
    raise LoadError(f"{path} has no class with a method get_move or get_action{hint}")


class PlayerFacts(NamedTuple):
    """Facts about a player in a file.

    Attributes:
        name: its name there.
        edition: its edition.
        usual_limit: that edition's milliseconds per move.
        inputs: what the file read when it was imported.
        printed: messages about the file's output.
    """

    name: str
    edition: str
    usual_limit: float
    inputs: Inputs
    printed: tuple[str, ...]


_FACTS = TypeAdapter(PlayerFacts)


def player_facts(path: str | Path, name: str) -> PlayerFacts:
    """Return the facts about a file's player, by default about its only one. The file is not loaded in this process.

    Functions that make players count as the second edition.

    Raises:
        LoadError: the file cannot be loaded, or has no such player.
    """
    facts = _player_facts(str(path), name, content_hash(path))
    if changed_input(facts.inputs, expand_path(path).resolve().parent):
        _player_facts.cache_clear()
        return _player_facts(str(path), name, content_hash(path))
    return facts


@lru_cache(maxsize=1000)
def _player_facts(path: str, name: str, content: str) -> PlayerFacts:
    child = Child(Setup(recipe(_ask_file, path, name)))
    try:
        facts = _FACTS.validate_python(child.start(), strict=True)
    except ValidationError:
        raise LoadError(f"{path} tampered with its own result") from None
    except NoAnswer as error:
        late = f"takes longer than {START_SECONDS:g} s"
        why = error.described(late, "ends its process", "tampered with its own result").removeprefix("LoadError: ")
        raise LoadError(why if path in why else f"{path} {why}") from None
    finally:
        child.end()
    for said in facts.printed:
        warnings.warn(said, stacklevel=2)
    return facts


def _ask_file(path: str, name: str) -> tuple[str, str, float, Inputs, tuple[str, ...]]:
    """Return the fields of `PlayerFacts`; for a process of its own."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        name = name or only_player(path)
        edition = edition_of(load_player(path, name).value)
    printed = tuple(str(warning.message) for warning in said)
    return name, edition.name, float(edition.usual_limit), inputs_of(path), printed


def names_game_and_player(function: Callable[..., Any]) -> bool:
    """Return whether the names of a function's parameters are those of a game and one of its players."""
    try:
        names = list(inspect.signature(function).parameters)
    except ValueError:  # a built-in without a signature
        return False
    return len(names) >= 2 and names[0] in ("game", "board", "state", "g") and names[1] in ("player", "p", "me", "self")


def file_catalogue(
    path: str | Path, show: Callable[[int, int], None] = lambda done, total: None
) -> list[CatalogueEntry]:
    """List everything that `FILE:NAME` can name as a heuristic in a user's file, without unrelated helpers.

    Of third-edition players all methods are listed that return a number for a state.

    `show` is called with the number listed so far, starting at 0: each function is compiled, which may take seconds.
    """
    functions = likely_heuristics(path) | evaluation_methods(path)
    entries: list[CatalogueEntry] = []
    show(0, len(functions))
    for name, function in functions.items():
        entries.append(entry_of(name, first_line(function), function, compiles(function)))
        show(len(entries), len(functions))
    return entries


def likely_heuristics(path: str | Path) -> dict[str, Heuristic]:
    """Return the functions of a file that are heuristics according to their parameter names or return values."""
    return {
        name: function
        for name, function in heuristics_in(path).items()
        if names_game_and_player(function) or _returns_numbers(function)
    }


def _returns_numbers(function: Heuristic) -> bool:
    for moves in ([24, 14], [24, 14, 9, 29, 22, 16]):
        board = Board.from_moves(moves)
        try:
            with wall_timeout(LONGEST_CALL):
                _value(function, board, board.active_player)
            return True
        except Exception:
            continue
    return False


def user_heuristics(references: Sequence[str]) -> dict[str, Heuristic]:
    """Return the heuristics of ``FILE:FUNCTION`` or of files, by names made of the file's and the function's name."""
    named = map(named_in_file, references)
    return {f"{Path(path).name}:{name}": load_heuristic(path, name).value for path, name in named}


def evaluate(functions: Mapping[str, Heuristic], board: Board) -> list[dict[str, Any]]:
    """Return one row per heuristic: its values of a position for both players, or the exception in a value's place."""
    rows = []
    for name, function in functions.items():
        values = {f"player {player}": _value_or_failure(function, board, player) for player in board.players}
        rows.append({"heuristic": name, **values})
    return rows


def _value_or_failure(function: Heuristic, board: Board, player: Any) -> float | str:
    from knights_isolation.isolation.search.agents import forfeit_from

    try:
        return run_with_watchdog(partial(_value, function, board, player), lambda: "asked", LONGEST_CALL)
    except (UserCodeTimeout, WantsToEnd) as error:
        return str(error)
    except Exception as error:
        return forfeit_from(error).detail


def _value(function: Heuristic, board: Board, player: Any) -> float:
    with prevent_exit():
        return float(function(board.copy(), player)) + 0.0  # turns −0.0 into 0.0


def failures(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a clause for each row of `evaluate` with a failure: the name, and the first value that is no number."""
    sentences = []
    for row in rows:
        name, *values = row.values()
        sentences += [f"{name}: {value}" for value in values if isinstance(value, str) or value != value][:1]
    return sentences


def split_reference(reference: str) -> tuple[str, str]:
    """Return the file and the name in ``FILE.py:NAME``, with or without ``ID:``; the name is empty for a file alone.

    >>> split_reference("ID:mine.py:score"), split_reference("mine.py")
    (('mine.py', 'score'), ('mine.py', ''))
    """
    reference = reference.removeprefix("ID:")
    path, _, name = reference.rpartition(":")
    return (path, name) if name and path.endswith(".py") else (reference, "")


def named_in_file(reference: str, find: Callable[[str], str] = only_heuristic) -> tuple[str, str]:
    """Split ``FILE:NAME`` into file and name; for a file alone, `find` supplies the name: its only heuristic's."""
    reference = reference.removeprefix("ID:")
    if reference in heuristics.names() and not Path(reference).exists():
        raise ValueError(f"{reference} is built in: name a function in your own file, such as mine.py:score")
    path, name = split_reference(reference)
    return path, name or find(path)


def compiles(function: Heuristic) -> str:
    """Return whether a heuristic compiles, and if not why, or where compiled code differs from Python."""
    from knights_isolation.isolation.compiling.compile_heuristic import CompileError, compile_heuristic

    try:
        compile_heuristic(function)
    except CompileError as error:
        line = f" (line {error.line})" if error.line else ""
        return f"{'differs' if error.is_difference else 'no'}: {error.reason}{line}"
    return "yes"
