"""Compare the lines of each room with what `docs/contributing/room-sizes.toml` allows: `make sizes`.

Comments and blank lines do not count. It prints the table, and fails if a room has more than it may.
"""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("isolation", "heuristics", "experiments", "reports", "knights_isolation")
ALLOWED = ROOT / "docs" / "contributing" / "room-sizes.toml"


def lines_of(module: Path) -> int:
    """Return how many lines of a module are neither blank nor comments."""
    lines = map(str.strip, module.read_text(encoding="utf-8").splitlines())
    return sum(bool(line) and not line.startswith("#") for line in lines)


def modules_of(room: str) -> list[Path]:
    """Return the modules of a room: all below a folder; of a package that contains rooms, those beside them."""
    folder = ROOT / room
    return sorted(folder.rglob("*.py") if "/" in room else folder.glob("*.py"))


def sizes() -> dict[str, tuple[int, int, int]]:
    """Return the modules, the lines and the allowed lines of each room; those without a limit may have none."""
    allowed = tomllib.loads(ALLOWED.read_text(encoding="utf-8"))
    inner = (path.parent for package in PACKAGES for path in (ROOT / package).glob("*/__init__.py"))
    rooms = [*PACKAGES, *(str(room.relative_to(ROOT)) for room in inner if not room.is_symlink())]
    found = {}
    for room in sorted(rooms):
        modules = modules_of(room)
        found[room] = len(modules), sum(map(lines_of, modules)), allowed.get(room, 0)
    return found


def main() -> None:
    """Print the table; exit with 1 if a room is too large."""
    table = sizes()
    print(f"{'room':36}{'modules':>8}{'lines':>8}{'allowed':>9}")
    for room, (modules, lines, allowed) in table.items():
        print(f"{room:36}{modules:8}{lines:8,}{allowed:9,}{'  too large' * (lines > allowed)}")
    modules, lines, allowed = map(sum, zip(*table.values(), strict=True))
    print(f"{'all':36}{modules:8}{lines:8,}{allowed:9,}")
    if any(lines > allowed for _, lines, allowed in table.values()):
        sys.exit(
            f"A room has more lines than {ALLOWED.relative_to(ROOT)} allows: shorten it, or raise its number and "
            "say in CHANGELOG.md what went instead."
        )


if __name__ == "__main__":
    main()
