"""The registry: the commands of each task, and the function that each of them is.

A command is a function marked by `knights_isolation.parameters.command`: its signature, annotations and docstring make
the options of the command line, the checks of its arguments, completion, help, the reference page, and a public name of
`knights_isolation`. To add one, write the function in a module of `commands/`, and add the command to `TASKS`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple, cast


class Task(NamedTuple):
    """What people want to do, and the commands for it.

    Attributes:
        places: modules of `knights_isolation.commands`, each with its commands, as in "games: watch, play".
    """

    title: str
    places: tuple[str, ...]

    @property
    def commands(self) -> dict[str, str]:
        """The module of each command."""
        parts = (place.partition(": ") for place in self.places)
        return {name: module for module, _, names in parts for name in names.split(", ")}


FIRST = ("analyse", "try", "results", "tournament", "match", "league", "play", "lab")
"""What people come for, in the order of help."""
TASKS = {
    "write": Task(
        "Write a heuristic", ("heuristics: new, try, analyse, eval, heuristics, test-agent", "tournaments: ci")
    ),
    "improve": Task(
        "Improve a heuristic",
        ("studies: screen, research, evaluate, discover, features, fit, tune, sweep, suite build",),
    ),
    "play": Task("Play", ("tournaments: tournament, match, league", "games: watch, play", "results: plan")),
    "results": Task(
        "Analyse results",
        ("results: results, ratings, sprt, diff, plot, report", "tournaments: runs, tried", "results: published"),
    ),
    "games": Task("Look at games", ("games: lab, games, replay, board, show, sql, export, import",)),
    "engines": Task("Players in any language", ("system: engine, test-engine",)),
    "perfect": Task(
        "Perfect play",
        ("perfect_play: perfect solve, perfect label, perfect accuracy, perfect refute, perfect dataset",),
    ),
    "cluster": Task("Several machines", ("system: cluster start, cluster join",)),
    "system": Task(
        "The engine and the shell", ("system: system perft, system bench, system cache, system completion",)
    ),
}
"""Commands by task."""
COMMANDS = {name: module for task in TASKS.values() for name, module in task.commands.items()}
"""The module of every command."""
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
    module = import_module(f"knights_isolation.commands.{COMMANDS[name]}")
    return cast("Callable[..., Any]", getattr(module, function_name(name)))


def homes() -> dict[str, tuple[str, bool]]:
    """Return the module of each command's function, and that it is public, as `LazyPackage` has it of other names."""
    return {function_name(name): (f"knights_isolation.commands.{module}", True) for name, module in COMMANDS.items()}
