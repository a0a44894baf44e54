"""The registry: every command, the function that it is, and its place among the tasks.

A command is a function marked by `knights_isolation.parameters.command`: its signature, annotations and docstring make
the options of the command line, the checks of its arguments, completion, help, and the reference page. To add one,
write the function and add a line to `TASKS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Task:
    """What people want to do, and the functions of its commands, as MODULE:NAME in `knights_isolation.commands`."""

    title: str
    commands: Mapping[str, str]


FIRST = ("analyse", "try", "results", "tournament", "match", "league", "play", "lab")
"""What people come for, in the order of help."""
TASKS = {
    "write": Task(
        "Write a heuristic",
        {
            "new": "heuristics:new",
            "try": "heuristics:try_",
            "analyse": "heuristics:analyse",
            "eval": "heuristics:evaluate_position",
            "heuristics": "heuristics:list_heuristics",
            "test-agent": "heuristics:check_agent",
            "ci": "commits:ci",
        },
    ),
    "improve": Task(
        "Improve a heuristic",
        {
            "screen": "suites:screen",
            "research": "research:research",
            "evaluate": "evaluation:evaluate_all",
            "discover": "discovery:discover",
            "features": "tuning:features",
            "fit": "tuning:fit",
            "tune": "tuning:tune",
            "sweep": "tuning:sweep",
            "suite build": "suites:suite_build",
        },
    ),
    "play": Task(
        "Play",
        {
            "tournament": "tournaments:tournament",
            "match": "tournaments:match",
            "league": "league:league",
            "watch": "games:watch",
            "play": "games:play",
            "plan": "results:plan",
        },
    ),
    "results": Task(
        "Analyse results",
        {
            "results": "results:results",
            "ratings": "results:ratings",
            "sprt": "results:sprt",
            "diff": "results:diff",
            "plot": "results:plot",
            "report": "results:report",
            "runs": "run_lists:runs",
            "tried": "run_lists:tried",
            "published": "results:published",
        },
    ),
    "games": Task(
        "Look at games",
        {
            "lab": "games:lab",
            "games": "games:games",
            "replay": "games:replay",
            "board": "games:board",
            "show": "games:show",
            "sql": "games:sql",
            "export": "games:export",
            "import": "games:import_games",
        },
    ),
    "engines": Task("Players in any language", {"engine": "engines:engine", "test-engine": "engines:check_engine"}),
    "perfect": Task(
        "Perfect play",
        {
            "perfect solve": "perfect_play:solve",
            "perfect label": "perfect_play:label",
            "perfect accuracy": "perfect_play:accuracy",
            "perfect refute": "perfect_play:refute",
            "perfect dataset": "perfect_play:dataset",
        },
    ),
    "cluster": Task(
        "Several machines", {"cluster start": "system:cluster_start", "cluster join": "system:cluster_join"}
    ),
    "system": Task(
        "The engine and the shell",
        {
            "system perft": "system:perft",
            "system bench": "system:bench",
            "system cache": "system:cache",
            "system completion": "system:completion",
        },
    ),
}
"""Commands by task."""
COMMANDS = {name: place for task in TASKS.values() for name, place in task.commands.items()}
"""The place of every command."""
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
NAMES = {
    "reports.answers": ("Result",),
    "experiments.suite.screen_agents": ("Screened",),
    "commands.evaluation": ("Evaluation", "evaluate"),
    "commands.research": ("Research",),
    "commands.tournaments": ("Settings", "compare"),
    "reports.studies.discovery": ("Discovery",),
    "reports.studies.tuning": ("Fitted", "Tuned"),
    "experiments.positions": (
        *("agent_policy", "best_moves", "evaluate_positions"),
        *("exact", "move_values", "solve_moves"),
    ),
    "isolation.games.batch_evaluation": ("SolvedMoves",),
    "isolation.games.vector_games": ("VectorGames",),
}
"""Modules of public names that are no commands."""


def function_of(name: str) -> Callable[..., Any]:
    """Return the function of a command."""
    module, _, function = COMMANDS[name].partition(":")
    found: Callable[..., Any] = getattr(import_module(f"knights_isolation.commands.{module}"), function)
    return found


def homes() -> dict[str, str]:
    """Return the module of each public name of `knights_isolation`; of the packages in it, that itself."""
    places = (place.partition(":") for place in COMMANDS.values())
    functions = {name: f"knights_isolation.commands.{module}" for module, _, name in places}
    others = {name: f"knights_isolation.{module}" for module, names in NAMES.items() for name in names}
    return (
        functions | others | dict.fromkeys(("isolation", "heuristics", "experiments", "reports"), "knights_isolation")
    )
