"""Shell completion of heuristics, runs, files, specs and listed values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from click.shell_completion import CompletionItem

from ..parameters import About


def complete(about: About, begun: str) -> list[CompletionItem]:
    """Return what begins so among the values of a parameter."""
    if about.complete == "run":
        return _runs(begun)
    if about.complete == "plot":
        from knights_isolation.reports.plots import KINDS

        return [*_beginning(begun, KINDS), *_runs(begun)]
    if about.complete == "file":
        return _beginning(begun, _files()) or [CompletionItem(begun, type="file")]
    if about.complete == "heuristic":
        done = begun[: begun.rfind(",") + 1]  # of a comma-separated list
        return _beginning(begun, (f"{done}{name}" for name in chain(_heuristics(), _files())))
    return _beginning(begun, _specs(begun) if about.complete == "agent" else about.choices)


def _runs(begun: str) -> list[CompletionItem]:
    """Complete runs below runs/, the latest first, and other paths, since runs may be anywhere, without duplicates."""
    from knights_isolation.experiments.record.run_directory import FACTS, HOME

    runs = _beginning(begun, map(str, sorted((facts.parent for facts in HOME.glob(f"*/{FACTS}")), reverse=True)))
    return runs if runs and Path(begun).parent == HOME else [*runs, CompletionItem(begun, type="file")]


def _specs(begun: str) -> Iterable[str]:
    """Return how an agent's spec may go on: with the player, its heuristic, or an option.

    >>> "ID:improved@nodes=" in _specs("ID:improved@no")
    True
    """
    from knights_isolation.experiments.plan.agent_kinds import KINDS, METHODS, SWITCHES, UNITS

    if "@" in begun:
        done = begun[: max(begun.rfind("@"), begun.rfind(",")) + 1]
        return (f"{done}{option}" for option in (*(f"{unit}=" for unit in UNITS), *SWITCHES))
    name = re.match(r"[^=:/]*=|", begun)
    done = name[0] if name else ""
    method, colon, _ = begun.removeprefix(done).partition(":")
    if colon:
        return (f"{done}{method}:{target}" for target in chain(_heuristics(), _files()) if method in METHODS)
    words = dict.fromkeys(word for kind in KINDS.values() for word in kind.words)
    starts = (f"{word}:" if word in METHODS else word for word in words)
    return (f"{done}{start}" for start in chain(starts, ("MCTS",), _files()))


def _heuristics() -> list[str]:
    from knights_isolation import heuristics

    return heuristics.names()


def _files() -> list[str]:
    return sorted(path.name for path in Path().glob("*.py"))


def _beginning(begun: str, candidates: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(candidate) for candidate in candidates if candidate.startswith(begun)]
