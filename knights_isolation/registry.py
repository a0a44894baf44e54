"""The registry: the commands of each task, and the function that each of them is.

A command is a function marked by `knights_isolation.parameters.command`: its signature, annotations and docstring make
the options of the command line, the checks of its arguments, completion, help, and the reference page. To add one,
write the function, add its public name to `knights_isolation/__init__.pyi`, and the command to `TASKS`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple, cast


class Task(NamedTuple):
    """What people want to do, and the commands for it."""

    title: str
    commands: tuple[str, ...]


FIRST = ("analyse", "try", "results", "tournament", "match", "league", "play", "lab")
"""What people come for, in the order of help."""
TASKS = {
    "write": Task("Write a heuristic", ("new", "try", "analyse", "eval", "heuristics", "test-agent", "ci")),
    "improve": Task(
        "Improve a heuristic",
        ("screen", "research", "evaluate", "discover", "features", "fit", "tune", "sweep", "suite build"),
    ),
    "play": Task("Play", ("tournament", "match", "league", "watch", "play", "plan")),
    "results": Task(
        "Analyse results", ("results", "ratings", "sprt", "diff", "plot", "report", "runs", "tried", "published")
    ),
    "games": Task("Look at games", ("lab", "games", "replay", "board", "show", "sql", "export", "import")),
    "engines": Task("Players in any language", ("engine", "test-engine")),
    "perfect": Task(
        "Perfect play", ("perfect solve", "perfect label", "perfect accuracy", "perfect refute", "perfect dataset")
    ),
    "cluster": Task("Several machines", ("cluster start", "cluster join")),
    "system": Task("The engine and the shell", ("system perft", "system bench", "system cache", "system completion")),
}
"""Commands by task."""
COMMANDS = tuple(name for task in TASKS.values() for name in task.commands)
GROUPS = {
    "suite": "Build suites of test positions.",
    **{key: f"{TASKS[key].title}." for key in ("perfect", "cluster", "system")},
}
"""The groups of commands with two words."""
OLD = {
    **{name.split()[1]: name for name in COMMANDS if name.startswith(("perfect ", "system "))},
    **{"scheduler": "cluster start", "worker": "cluster join", "summary": "results", "compare": "results"},
}
"""Former names of commands, which are answered for one version by those of today."""
READING = (
    *("results", "ratings", "sprt", "plan", "published", "plot", "report"),
    *("runs", "tried", "games", "replay", "lab", "board", "show", "sql", "export", "help"),
)
"""The commands that neither play nor search, and work on Windows as well."""
_FUNCTIONS = {
    **{"try": "try_", "eval": "evaluate_position", "evaluate": "evaluate_all", "heuristics": "list_heuristics"},
    **{"test-agent": "check_agent", "test-engine": "check_engine", "import": "import_games"},
}
"""Functions that are not called like their commands."""


def function_name(name: str) -> str:
    """Return the public name of a command's function: without the words `perfect` and `system`."""
    return _FUNCTIONS.get(name, name.removeprefix("perfect ").removeprefix("system ").replace(" ", "_"))


def function_of(name: str) -> Callable[..., Any]:
    """Return the function of a command."""
    return cast("Callable[..., Any]", getattr(import_module("knights_isolation"), function_name(name)))
