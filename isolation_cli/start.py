"""Entry point of the command line: the toolkit's packages must be its own before anything is imported from them."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("isolation", "heuristics", "experiments", "reports", "knights_isolation")


def run() -> None:
    """Run the program; exit with code 2 and one line if the user's files hide a package of the toolkit."""
    for name in PACKAGES:
        if file := hiding_file(name):
            sys.exit(_refusal(file, name))
    from isolation_cli import main

    main.run()


def hiding_file(package: str) -> Path | None:
    """Return the file that is imported in place of a package of the toolkit, such as a `reports.py` on PYTHONPATH."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        return None
    file = Path(spec.origin).resolve()
    return None if file.parents[1] == Path(__file__).resolve().parents[1] else file


def _refusal(file: Path, package: str) -> int:
    hides = file.parent if file.name == "__init__.py" else file
    print(f"Error: {hides} hides the toolkit's package {package}: rename it, or remove its folder from PYTHONPATH",
          file=sys.stderr)  # fmt: skip
    return 2
