"""Runs the attacks, and prints the table of what was tried and what survived; exit code 1 if anything failed."""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

FAMILIES = ("writes", "kills", "players", "files", "grammars", "places", "arithmetic")
SHOWN = 20


def run(family: str, share: float) -> tuple[list[str], list[str]]:
    """Return the table rows of one family, and the lines about failures."""
    tried: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    message = []
    with tempfile.TemporaryDirectory(prefix="isolation-attacks-") as folder:
        for attack in importlib.import_module(f"benchmarks.attacks.{family}").attack(Path(folder), share):
            tried[attack.what] += attack.count
            if attack.failure:
                failed[attack.what] += 1
                message.append(f"{family}: {attack.what}: {attack.failure}")
    rows = [f"| {what} | {count:,} | {count - failed[what]:,} |" for what, count in tried.items()]
    return rows, message


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attacks", description=__doc__)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"of {', '.join(FAMILIES)}; all by default")
    parser.add_argument("--share", type=float, default=1.0, help="how much of each family is tried; all by default")
    asked = parser.parse_args()
    if unknown := set(asked.families) - set(FAMILIES):
        parser.error(f"no family is called {', '.join(unknown)}; there are {', '.join(FAMILIES)}")
    everything = []
    for family in asked.families or FAMILIES:
        began = time.monotonic()
        rows, message = run(family, asked.share)
        print(f"\n{family} ({time.monotonic() - began:.0f} s)\n\n| attack | tried | survived |\n|---|---|---|")
        print("\n".join(rows), flush=True)
        everything += message
    for line in everything[:SHOWN]:
        print(line, file=sys.stderr)
    print(f"\n{len(everything)} failed", file=sys.stderr)
    return 1 if everything else 0


if __name__ == "__main__":
    sys.exit(main())
