"""Methods that students added to `Board` in files beside their players."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from ..usercode.user_exceptions import format_exception
from .edition_detection import added_to_board


def namespace_of(module: str) -> str:
    """Return the namespace of a module made from a user's file or from one of its siblings: its first two names.

    >>> namespace_of("knights_isolation.user_1f.game_agent")
    'knights_isolation.user_1f'
    """
    return ".".join(module.split(".")[:2])


def added_method(module: str, name: str) -> Any:
    """Return a method of the `Board` beside a user's file that no edition's board has, or None if there is none.

    Args:
        module: name of a module made from the file, or from one of its siblings.
        name: name of the method.

    Raises:
        AttributeError: the method exists, but its file cannot be loaded.
    """
    space = namespace_of(module)
    if not module.startswith("knights_isolation.user_") or space not in sys.modules:
        return None
    folder = Path(sys.modules[space].__path__[0])
    board_file = find_extended_board(folder)
    if board_file is None or name not in added_to_board(board_file.read_bytes()):
        return None
    parts = [part for part in board_file.relative_to(folder).with_suffix("").parts if part != "__init__"]
    try:
        return vars(import_module(".".join([space, *parts])).Board).get(name)
    except Exception as error:
        raise AttributeError(
            f"the board method {name} is defined in {board_file}, which {format_exception(error)}"
        ) from error


def find_extended_board(folder: Path) -> Path | None:
    """Return the file in a folder, at one of the classic engines' paths, whose `Board` has added methods; or None."""
    candidates = (folder / "isolation" / "isolation.py", folder / "isolation" / "__init__.py", folder / "isolation.py")
    return next((file for file in candidates if file.is_file() and added_to_board(file.read_bytes())), None)
