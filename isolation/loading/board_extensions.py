"""Methods that students added to `Board` in files beside their players."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from isolation.loading.edition_detection import added_to_board
from isolation.usercode.user_exceptions import format_exception


def namespace_of(module: str) -> str:
    """The namespace of a module made from a user's file or from one of its siblings, which is its first two names.

    >>> namespace_of("isolation.user_1f.game_agent")
    'isolation.user_1f'
    """
    return ".".join(module.split(".")[:2])


def added_method(module: str, name: str) -> Any:
    """What the `Board` that lies beside a user's file has under a name that no edition's board has; None if nothing.

    Args:
        module: the name of a module made from the file, or from one of its siblings.
        name: of a method.

    Raises:
        AttributeError: there is such a method, in a file that cannot be loaded.
    """
    space = namespace_of(module)
    if not module.startswith("isolation.user_") or space not in sys.modules:
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
    """The file beside users' files whose `Board` has methods of its own, where the classic engines had theirs."""
    candidates = (folder / "isolation" / "isolation.py", folder / "isolation" / "__init__.py", folder / "isolation.py")
    return next((file for file in candidates if file.is_file() and added_to_board(file.read_bytes())), None)
