"""Load `path.py:name` from user files, each file in a namespace of its own.

A file imports its siblings by their plain names, and so do the siblings, when the file is loaded as well as later
inside functions. Files whose siblings have the same names can be loaded into one process. `sys.path` is not changed:
the code gets its own built-in ``__import__``, which turns the plain name of a sibling into the module
``knights_isolation.user_<digest>.<name>``, and `isolation` into the toolkit's package. The digest covers the path and
the sources, so that an edited file is reloaded, and the same file has the same module name in every process.

All functions raise LoadError if a file does not exist; those that load it, also if it fails to import or lacks a name.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import inspect
import os
import re
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, partial
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import FileFinder, ModuleSpec
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from knights_isolation.lazy_package import BARE, TOOLKIT

from ..rules.classic_board import enable_board_extensions
from ..rules.edition import (
    added_method,
    added_to_board,
    find_extended_board,
    is_of_third_edition,
    namespace_of,
    sample_players_for,
)
from ..rules.third_edition import StateHeuristic, as_heuristic
from ..suggestions import file_meant, write_real_stderr
from ..usercode.imports import install
from ..usercode.inputs import Inputs, changed_input, digest_of_inputs, recorded_inputs
from ..usercode.output_capture import WantsToEnd, capture_output, prevent_exit
from ..usercode.parsing import SilentLoader, parse, syntax_warnings
from ..usercode.timeouts import wall_timeout
from ..usercode.user_exceptions import detect_ctrl_c, format_exception, name_of, to_one_line
from .integrity import ChangedError, unchanged

LONGEST_IMPORT = 60.0
"""Timeout of importing a file, in seconds."""
SLOW_IMPORT = 10.0
"""Seconds after which the checks report that they wait for an import."""
_loading = threading.RLock()


class LoadError(ValueError):
    """A user's file cannot be used; the message is one line with the reason."""


@dataclass(frozen=True)
class Loaded:
    """A function or class from a user's file, with the file's absolute path, its name there, and `content_hash`."""

    value: Any
    path: Path
    name: str
    content_hash: str


def is_name(text: str) -> bool:
    """Return whether a text can name a value of a file: an identifier, or class and method (``CustomPlayer.score``)."""
    return text.count(".") < 2 and all(part.isidentifier() for part in text.split("."))


def load_heuristic(path: str | Path, name: str) -> Loaded:
    """Load an evaluation function from a user's file, called as ``f(game, player)``; see `is_heuristic`.

    Heuristics of the third edition, functions of (state, player_id) and methods of (self, state), are adapted.

    Raises:
        LoadError: the value is not a heuristic.
    """
    loaded = load(path, name)
    if is_third_edition_player(loaded.value):
        uses = f"it plays as {path}:{name}, its evaluation as ID:{path}:{name}.score"
        raise LoadError(f"{path}:{name} is a player of the third edition, not a heuristic; {uses}")
    if isinstance(loaded.value, StateHeuristic):
        return loaded
    if "." in name:
        raise LoadError(f"{path}:{name} must be a method (self, state) of a third-edition player's class")
    if not is_heuristic(loaded.value):
        raise LoadError(f"{path}:{name} must be a function of (game, player), not {_describe(loaded.value)}")
    return loaded


def is_heuristic(value: Any) -> bool:
    """Return whether a value of a user's file can be called as ``f(game, player)`` and is not merely imported.

    Functions may be decorated, cached or partial, and objects may have a ``__call__``. Classes do not count, nor do
    functions imported from Python or from an installed package, such as ``math.hypot``. Functions imported from this
    toolkit do.
    """
    return not isinstance(value, type | ModuleType) and _accepts(value, 2) and not _is_borrowed(value)


def load_player(path: str | Path, name: str) -> Loaded:
    """Load a classic player's class or factory function, which creates a new player when called without arguments.

    A class of the third edition, which has ``get_action(state)``, takes its ``player_id``.

    Raises:
        LoadError: the value requires other arguments, or the class has no ``get_move`` of ``(game, time_left)`` or
            ``(game, legal_moves, time_left)``.
    """
    loaded = load(path, name)
    player, why = loaded.value, ""
    if is_third_edition_player(player):
        get_action = player.get_action
        if not (_accepts(get_action, 2) or _accepts(get_action, 3)):
            why = f" needs a method get_action(self, state), not {_describe(get_action)}"
        elif not _accepts(player, 1):
            why = f", a player of the third edition, is made with a player_id alone, not as {_describe(player)}"
    elif not _accepts(player, 0):
        hint = f"; a heuristic is written ID:{Path(path).name}:{name}" if is_heuristic(player) else ""
        why = f" must be a player class without required arguments, not {_describe(player)}{hint}"
    elif isinstance(player, type):
        get_move = getattr(player, "get_move", None)
        if not (_accepts(get_move, 3) or _accepts(get_move, 4)):
            methods = "get_move(self, game, time_left) or get_move(self, game, legal_moves, time_left)"
            why = f" needs a method {methods}, not {_describe(get_move)}"
    if why:
        raise LoadError(f"{path}:{name}{why}")
    return loaded


def is_player(value: type) -> bool:
    """Return whether a class has the move method of any edition's players."""
    return hasattr(value, "get_move") or hasattr(value, "get_action")


def is_third_edition_player(value: Any) -> bool:
    """Return whether a value is a class of players of the third edition."""
    return isinstance(value, type) and hasattr(value, "get_action") and not hasattr(value, "get_move")


def load(path: str | Path, name: str) -> Loaded:
    """Load any value from a user's file; if it lacks the name, the error suggests similar ones."""
    module = load_module(path)
    owner, _, method = name.rpartition(".")
    value = _attribute(_attribute(module, owner, path) if owner else module, method, path)
    loaded = Loaded(_as_heuristic(module, owner, value, f"{path}:{name}"), _resolve(path), name, content_hash(path))
    is_of_python = str(getattr(loaded.value, "__module__", "")).partition(".")[0] in sys.stdlib_module_names
    if callable(loaded.value) and not is_of_python:  # what a file imports from there comes from there, whoever asks
        _origins[id(loaded.value)] = loaded
    return loaded


def _attribute(home: Any, name: str, path: str | Path) -> Any:
    if not hasattr(home, name):
        public = [known for known in vars(home) if not known.startswith("_")]
        near = get_close_matches(name, public, n=3, cutoff=0.7)
        where = f"{path}" if isinstance(home, ModuleType) else f"{path}:{home.__name__}"
        raise LoadError(f"{where} has no {name!r}" + (f"; did you mean {' or '.join(near)}?" if near else ""))
    return getattr(home, name)


def _as_heuristic(module: ModuleType, owner: str, value: Any, reference: str) -> Any:
    """Adapt a heuristic of the third edition to (game, player), once per heuristic; return other values unchanged."""
    kind = getattr(module, owner) if owner else None
    file = Path(str(module.__file__))
    is_third = is_third_edition_player(kind) if owner else is_of_third_edition(file.read_bytes())
    if not inspect.isfunction(value) or not is_third:
        return value
    known = module.__dict__.setdefault("__state_scores__", {})
    if (owner, value) not in known:
        try:
            known[owner, value] = as_heuristic(value, kind) or value
        except Exception as error:
            raise LoadError(f"{reference}: making a {owner} {_explain(error, file)}") from error
    return known[owner, value]


def origin_of(value: Any) -> Loaded | None:
    """Return the origin of a function, class or callable object if it was loaded from a user's file, else None."""
    loaded = _origins.get(id(value))
    return loaded if loaded is not None and loaded.value is value else None


_origins: dict[int, Loaded] = {}


def load_module(path: str | Path) -> ModuleType:
    """Load a user's file as a module; return the same one until it, a sibling that it imports, or data it read changes.

    Threads load one after another, so that none sees an incomplete module. Output of the file is hidden, and a warning
    gives the number of lines. Errors give the exception and its line.
    """
    file, space, name = _resolve(path), namespace(path), _module_name(path)
    note = f"Note: {path} is still being imported; timeout in {LONGEST_IMPORT - SLOW_IMPORT:g} s"
    with _loading:
        module = sys.modules.get(name)
        if module is not None and changed_input(_read.get(name, {}), file.parent):
            _close_space(space)
            module = None
        if module is None:
            _open_space(space, file.parent)
            loader = _UserLoader(name, str(file))
            spec = spec_from_file_location(name, file, loader=loader)
            assert spec is not None
            module = sys.modules[name] = module_from_spec(spec)
            with detect_ctrl_c() as is_ctrl_c:
                try:
                    with (
                        capture_output() as printed,
                        unchanged(),
                        wall_timeout(LONGEST_IMPORT, (SLOW_IMPORT, partial(write_real_stderr, note))),
                        prevent_exit(),
                        chdir(os.curdir),  # other paths depend on the folder, which loading a file may change
                        recorded_inputs(file.parent, space) as _read[name],
                    ):
                        loader.exec_module(module)
                except BaseException as error:
                    _close_space(space)
                    if is_ctrl_c(error):
                        raise
                    raise LoadError(f"{path} failed to import: {_explain(error, file)}") from error
            if said := printed.sentence(f"{path}, while it was loaded,"):
                warnings.warn(said, stacklevel=2)
        return sys.modules.setdefault(name, module)


_read: dict[str, Inputs] = {}
"""What modules read while they were imported, by their names."""


def inputs_of(path: str | Path) -> Inputs:
    """Return the files and folders that a file read when it was imported here, without its siblings."""
    own = {f"file {source}" for source in sources(path)}
    read = _read.get(_module_name(path), {})
    return {name: state for name, state in read.items() if name not in own}


def data_hash(path: str | Path) -> str:
    """Return a hash of the files and folders that a file read when it was imported here; empty if there were none."""
    return digest_of_inputs(inputs_of(path))


def _module_name(path: str | Path) -> str:
    return f"{namespace(path)}.{re.sub(r'[^0-9A-Za-z_]', '_', _resolve(path).stem)}"


def namespace(path: str | Path) -> str:
    """Return the name of the package that a file's module, and those of its siblings, are in."""
    file = _resolve(path)
    return f"knights_isolation.user_{_digest([str(file).encode(), content_hash(file).encode()])[:12]}"


def content_hash(path: str | Path) -> str:
    """Return the SHA-256, in hex, of all `sources` of a file, whether its import statements are run or not."""
    return _digest([part for source, content in sorted(sources(path).items()) for part in (source.encode(), content)])


def sources(path: str | Path) -> dict[str, bytes]:
    """Return the contents of a file and of all siblings that its import statements name, by relative path.

    If a player of the third edition loads a `data.pickle`, that is included.
    """
    file = _resolve(path)
    # Paths are relative to the file's folder, so that a moved or renamed folder is the same code.
    return {str(source.relative_to(file.parent)): content for source, content in _sources(file).items()}


def load_warnings(path: str | Path) -> list[str]:
    """Return Python's warnings for a file and the siblings it imports, such as `is` with a number.

    Loading itself prints no warnings, since workers load a file many times.
    """
    file = _resolve(path)
    return [
        _located(source, line, file, text)
        for source, content in _sources(file).items()
        if source.suffix == ".py"
        for line, text in syntax_warnings(content)
    ]


def _sources(file: Path) -> dict[Path, bytes]:
    """Return the contents of a file and of all siblings that its import statements name."""
    reached = {file: file.read_bytes()}
    waiting = [file]
    while waiting:
        source = waiting.pop()
        for sibling in _imported_siblings(source, reached[source], file.parent):
            if sibling not in reached:
                reached[sibling] = sibling.read_bytes()
                waiting.append(sibling)
    return reached


def _resolve(path: str | Path) -> Path:
    file = expand_path(path).resolve()
    if file.is_dir():
        source = next((file_in_folder.name for file_in_folder in sorted(file.glob("*.py"))), "FILE.py")
        raise LoadError(f"{path} is a directory: name a file in it, such as {Path(path) / source}")
    if not file.is_file():
        raise LoadError(f"no such file: {path}{file_meant(path)}")
    return file


def _digest(parts: Sequence[bytes]) -> str:
    sizes = b",".join(b"%d" % len(part) for part in parts)
    return hashlib.sha256(b":".join([sizes, *parts])).hexdigest()


def _accepts(function: Any, arguments: int) -> bool:
    if not callable(function):
        return False
    try:
        with suppress(ValueError):  # a built-in without a signature
            inspect.signature(function).bind(*[None] * arguments)
    except TypeError:
        return False
    return True


def _is_borrowed(value: Any) -> bool:
    """Return whether a function is imported unchanged from Python or from an installed package."""
    home = getattr(value, "__module__", None) or ""
    if home.startswith(("knights_isolation.user_", f"{TOOLKIT}.heuristics.", f"{TOOLKIT}.isolation.sample_players")):
        return False
    return getattr(sys.modules.get(home), getattr(value, "__name__", ""), None) is value


def _describe(value: Any) -> str:
    if not callable(value):
        kind = type(value).__name__
        return "nothing" if value is None else f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
    name = getattr(value, "__name__", type(value).__name__)
    if _is_borrowed(value):
        return f"{name} of {value.__module__}"
    if isinstance(value, type):
        name = f"the class {name}"
    try:
        return f"{name}{inspect.signature(value)}"
    except (TypeError, ValueError):
        return str(name)


def _explain(error: BaseException, file: Path) -> str:
    """Describe what the code of a file raises, with its line if that can be found: its class may be user code."""
    what, at = format_exception(error), list[tuple[Path, int | None]]()
    with suppress(BaseException):
        if isinstance(error, SyntaxError):
            what, at = f"{name_of(error)}: {to_one_line(error.msg)}", [(Path(error.filename or file), error.lineno)]
        else:
            if isinstance(error, ChangedError):
                what = str(error)
            if isinstance(error, WantsToEnd):
                what, error = f"it {error}", error if error.__cause__ is None else error.__cause__
            frames = [(Path(frame.filename), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
            ours = Path(__file__).parents[1]
            at = [frame for frame in frames if file.parent in frame[0].parents and ours not in frame[0].parents]
    return _located(*at[-1], file, what) if at and at[-1][1] is not None else what


def _located(source: Path, line: int | None, file: Path, text: str) -> str:
    where = f"line {to_one_line(line)}"
    return f"{where}: {text}" if source == file else f"{to_one_line(source.name)}, {where}: {text}"


# Namespaces


def _open_space(space: str, folder: Path) -> None:
    if not any(isinstance(finder, _UserFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _UserFinder())
        install()  # for `import_module`, and for pickles
    spec = ModuleSpec(space, loader=None, is_package=True)
    spec.submodule_search_locations = [str(folder)]
    sys.modules[space] = module_from_spec(spec)


def _close_space(space: str) -> None:
    for name in [name for name in list(sys.modules) if name == space or name.startswith(f"{space}.")]:
        del sys.modules[name]


class _UserFinder(MetaPathFinder):
    """Import finder for the siblings of users' files, and the modules of sibling packages."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith("knights_isolation.user_"):
            return None
        finders = (FileFinder(folder, (_UserLoader, [".py"])) for folder in path or [])
        return next((spec for finder in finders if (spec := finder.find_spec(fullname)) and spec.loader), None)


class _UserLoader(SilentLoader):
    """Import loader whose modules have an ``__import__`` for siblings and an ``open`` for the files in their folder."""

    def exec_module(self, module: ModuleType) -> None:
        space = namespace_of(module.__name__)
        if find_extended_board(Path(sys.modules[space].__path__[0])):
            enable_board_extensions(added_method)
        module.__dict__["__builtins__"] = {
            **vars(builtins),
            "__import__": _importer(space, sample_players_for(Path(self.path).read_bytes())),
            "open": _opener(Path(self.path).parent),
        }
        super().exec_module(module)

    def path_stats(self, path: str) -> Any:
        # Byte code is validated by time and size, which a quick edit may keep. User files are small enough without it.
        raise OSError("no byte code for users' files")


def _opener(folder: Path) -> Callable[..., Any]:
    """Return the ``open`` for a file's code; it reads files in the code's own folder first, as in a script."""

    def user_open(file: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        beside = folder / file if isinstance(file, str | Path) and mode in ("r", "rb", "rt") else None
        return open(beside if beside and beside.is_file() else file, mode, *arguments, **options)

    return user_open


def _importer(space: str, sample_players: str) -> Callable[..., ModuleType]:
    """Return the ``__import__`` of a file; `sample_players` is the module that it imports under that name."""
    folder = Path(sys.modules[space].__path__[0])
    is_sibling = cache(partial(_is_sibling, folder))  # cached, since functions may import at every node of a search

    def user_import(
        name: str,
        globals: dict[str, Any] | None = None,
        locals: dict[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        top = name.partition(".")[0]
        home = space if is_sibling(top) else TOOLKIT if top in BARE else ""
        if level == 0 and home:
            leaf = builtins.__import__(f"{home}.{name}", globals, locals, fromlist or ["__name__"], 0)
            if home == TOOLKIT:
                sys.modules.setdefault(name, leaf)  # where pickle looks for what it has imported
            return leaf if fromlist else sys.modules[f"{home}.{top}"]
        if level == 0 and name == "sample_players":
            return import_module(sample_players)
        return builtins.__import__(name, globals, locals, fromlist or (), level)

    return user_import


def _is_sibling(folder: Path, top: str) -> bool:
    """Return whether a top-level name refers to a module of the user's folder, as it would in a script run there."""
    if top == "isolation" or top in sys.builtin_module_names:
        return False
    return _source_of(folder, top) is not None or any((folder / top).glob("*.py"))


def _source_of(folder: Path, name: str) -> Path | None:
    candidates = (folder / name / "__init__.py", folder / f"{name}.py")
    return next((source for source in candidates if source.is_file()), None)


# Siblings imported by a source


def _imported_siblings(source: Path, content: bytes, folder: Path) -> Iterator[Path]:
    if source.suffix != ".py":
        return
    try:
        tree = parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # reported when the file is loaded
        return
    if (board := find_extended_board(folder)) and added_to_board(board.read_bytes()) & _attributes(tree):
        yield board
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _sources_along(folder, alias.name.split("."), folder)
        elif isinstance(node, ast.ImportFrom):
            start = source.parents[node.level - 1] if node.level else folder
            for alias in node.names:
                parts = [*(node.module.split(".") if node.module else []), alias.name]
                yield from _sources_along(start, parts, folder)
                if alias.name == "DataPlayer" and (data := source.with_name("data.pickle")).is_file():
                    yield data


def _attributes(tree: ast.AST) -> set[str]:
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def _sources_along(start: Path, parts: Sequence[str], folder: Path) -> Iterator[Path]:
    """Yield the sources of a, a.b, a.b.c that are in the user's folder."""
    if start == folder and not _is_sibling(folder, parts[0]):
        return
    for part in parts:
        source = _source_of(start, part) if start.is_relative_to(folder) else None
        if source is not None:
            yield source
        start = start / part


def expand_path(path: str | Path) -> Path:
    """Expand `~` to the user's home. `./~x` is a file of that name, and so is `~x` if there is no user x."""
    return Path(os.path.expanduser(path))  # pathlib drops the ./ and raises if there is no such user
