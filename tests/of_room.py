"""Print the test files of a room: those that import from it but from no package above; if fewer than three, from any.

    python tests/of_room.py isolation/search

Which packages lie above which is in `pyproject.toml`, under `[tool.importlinter]`: a test of the command line belongs
to `command_line`, whatever else it imports.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent
TOOLKIT = "knights_isolation."
_ENOUGH = 3
"""Number of test files below which those of packages above count as well."""


def heights() -> dict[str, int]:
    """Return how high each package lies: a higher one may import from a lower one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    return {name.strip(): -level for level, layer in enumerate(layers) for name in re.split("[|:]", layer)}


def imported(file: Path) -> Iterator[str]:
    """Yield the toolkit's modules that a test imports, and the names that it imports from them, without the one name.

    What the toolkit itself offers, as `tournament`, counts as a command.
    """
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom):
            module = "knights_isolation.command_line.main" if node.module == "cli" else node.module
            names = [f"{module}.{name}" for name in names]
        yield from (name.removeprefix(TOOLKIT) for name in names if name.startswith(TOOLKIT))


def files_of(room: str) -> list[Path]:
    """Return the test files of a room or package."""
    levels = heights()
    highest = {}
    for file in sorted(TESTS.glob("test_*.py")):
        names = list(imported(file))
        if any(f"{name}.".startswith(f"{room}.") for name in names):
            highest[file] = max(levels.get(name.partition(".")[0], levels["commands"]) for name in names)
    own = [file for file, level in highest.items() if level <= levels[room.partition(".")[0]]]
    return own if len(own) >= _ENOUGH else list(highest)


if __name__ == "__main__":
    (asked,) = sys.argv[1:]
    room = asked.strip("/").removeprefix("knights_isolation/")
    if not (ROOT / "knights_isolation" / room / "__init__.py").is_file():
        sys.exit(f"{asked}: no such room; make sizes lists them")
    print(*(file.relative_to(ROOT) for file in files_of(room.replace("/", "."))))
