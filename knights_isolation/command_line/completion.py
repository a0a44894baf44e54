"""Shell completion of commands, options, heuristics, runs and specs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

import click
from click.shell_completion import CompletionItem


def complete_run(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete runs below runs/, the latest first, and other paths, since runs may be anywhere, without duplicates."""
    from knights_isolation.experiments.record.run_directory import FACTS, HOME

    runs = sorted((facts.parent for facts in HOME.glob(f"*/{FACTS}")), reverse=True)
    completions = _beginning(begun, map(str, runs))
    return (
        completions
        if completions and Path(begun).parent == HOME
        else [*completions, CompletionItem(begun, type="file")]
    )


def complete_plot(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete runs, and after them kinds of plots."""
    from knights_isolation.reports.plots import KINDS

    return [*_beginning(begun, KINDS), *complete_run(context, parameter, begun)]


def complete_file(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete Python files here, and folders."""
    completions = _beginning(begun, _files())
    return completions or [CompletionItem(begun, type="file")]


def complete_heuristics(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete names of heuristics; the last one of a comma-separated list."""
    done = begun[: begun.rfind(",") + 1]
    return _beginning(begun, (f"{done}{name}" for name in chain(_heuristics(), _files())))


def complete_spec(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete the next part of an agent's spec: the player, its heuristic, or an option.

    >>> [item.value for item in complete_spec(None, None, "ID:improved@no")]
    ['ID:improved@nodes=']
    """
    from knights_isolation.experiments.roster.agent_kinds import KINDS, METHODS, SWITCHES
    from knights_isolation.experiments.roster.spec import UNITS

    if "@" in begun:
        done = begun[: max(begun.rfind("@"), begun.rfind(",")) + 1]
        return _beginning(begun, (f"{done}{option}" for option in (*(f"{unit}=" for unit in UNITS), *SWITCHES)))
    name = re.match(r"[^=:/]*=|", begun)
    done = name[0] if name else ""
    method, colon, _ = begun.removeprefix(done).partition(":")
    if colon:
        known = chain(_heuristics(), _files()) if method in METHODS else ()
        return _beginning(begun, (f"{done}{method}:{target}" for target in known))
    words = dict.fromkeys(word for kind in KINDS.values() for word in kind.words)
    starts = (f"{word}:" if word in METHODS else word for word in words)
    return _beginning(begun, (f"{done}{start}" for start in chain(starts, ("MCTS",), _files())))


def _heuristics() -> list[str]:
    from knights_isolation import heuristics

    return heuristics.names()


def _files() -> Sequence[str]:
    return sorted(path.name for path in Path().glob("*.py"))


def _beginning(begun: str, candidates: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(candidate) for candidate in candidates if candidate.startswith(begun)]


COMPLETIONS = {
    "agent": complete_spec, "file": complete_file, "heuristic": complete_heuristics, "plot": complete_plot,
    "run": complete_run,
}  # fmt: skip
"""What completes the values of a parameter."""
