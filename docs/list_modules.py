"""Write docs/contributing/modules.md: every room and module with the first line of its docstring."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "contributing" / "modules.md"
PACKAGES = ("isolation", "heuristics", "experiments", "reports", "knights_isolation")
HEAD = """# Modules

Every room and module with the first line of its docstring, for whoever looks for the place of something. `make
reference` writes this page; how the rooms fit together is in [Architecture](architecture.md).
"""


def first_line(path: Path) -> str:
    """Return the first paragraph of a module's docstring, as one line."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(docstring.partition("\n\n")[0].split())


def room_lines(room: Path) -> Iterator[str]:
    """Yield the heading of a room and a line for each of its modules, then those of the rooms inside it."""
    name, summary = room.relative_to(ROOT), room / "__init__.py"
    yield f"\n**[`{name}/`](../../{name}/__init__.py)**: {first_line(summary)}\n"
    for path in sorted(room.glob("*.py")):
        if path.name != "__init__.py":
            yield f"- [`{path.name}`](../../{path.relative_to(ROOT)}): {first_line(path)}"
    for inner in sorted(path.parent for path in room.glob("*/__init__.py") if not path.parent.is_symlink()):
        yield from room_lines(inner)


def module_list() -> str:
    """Return the page."""
    lines = [HEAD]
    lines += [f"- [`{path.name}`](../../{path.name}): {first_line(path)}" for path in sorted(ROOT.glob("*.py"))]
    for package in PACKAGES:
        lines += [f"\n## {package}", *room_lines(ROOT / package)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(module_list(), encoding="utf-8")
