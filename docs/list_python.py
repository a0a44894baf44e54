"""Write docs/reference/python.md: every public name with its signature and docstring."""

import inspect
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

PAGE = ROOT / "docs" / "reference" / "python.md"
PACKAGES = ("knights_isolation", "isolation", "heuristics", "experiments", "reports")
HEAD = """# Python API

For notebooks, scripts and other programs. Here is every public name of the five packages, with its signature and
meaning; `make reference` writes this page from the docstrings. Names are loaded on first use, so importing a package is
quick. Invalid arguments raise `ValueError` with the line that the command would have printed. What the columns of
frames mean is in [Frames](frames.md); [An experiment in Python](../tutorials/python.md) shows the names at work.

Python searches the script's folder first. A `heuristics.py` of yours beside it would replace the toolkit's package:
`import experiments` then raises an error with the file to rename. Files named in specs may have any name.

What the library does is logged by Python's `logging`: runs that begin and end, their notes and workers that die at
level INFO under `experiments.play`, compiled heuristics at level DEBUG under `isolation.compiling`. Nothing is printed
unless logging is configured, for example by `logging.basicConfig(level=logging.INFO)`.
"""
COMMANDS = """## Functions of the commands

What a command does, a function of its name does in Python; most return a [`Result`](#knights_isolationresult) with
tables, a plot and a card. Commands without one serve pages or engines, talk to a terminal, or belong to the shell."""
LONGEST_DEFAULT = 24
FUNCTIONS = {
    "bench": "experiments.bench.measure",
    "ci": "experiments.analysis.commit_check.check_file",
    "eval": "knights_isolation.evaluate_positions",
    "import": "knights_isolation.import_games",
    "perft": "isolation.perft",
    "show": "isolation.Board",
    "test-agent": "isolation.checks.agent_checks.check_player",
    "test-engine": "isolation.checks.engine_checks.check_engine",
    "try": "experiments.analysis.analyse_file.try_functions",
}
"""Functions of commands that are not called like them in `knights_isolation`."""
SHELL_ONLY = {
    "board", "cache", "completion", "engine", "help", "lab", "new", "play", "scheduler", "watch", "worker",
}  # fmt: skip
"""Commands without a function: they serve, talk to a terminal, or are about the shell."""


def parameter_text(parameter: inspect.Parameter) -> str:
    """A parameter with its default; long defaults, and functions, are left out."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    default = "" if parameter.default is inspect.Parameter.empty else repr(parameter.default)
    if len(default) > LONGEST_DEFAULT or default.startswith("<"):
        default = "…"
    return f"{stars}{parameter.name}" + (f"={default}" if default else "")


def signature_text(thing: Any) -> str:
    """A signature without annotations, or nothing where there is none."""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return ""
    shown, is_keyword_only = [], False
    for one in parameters:
        if one.name == "self":
            continue
        if one.kind is inspect.Parameter.KEYWORD_ONLY and not is_keyword_only:
            shown += [] if any(text.startswith("*") for text in shown) else ["*"]
            is_keyword_only = True
        shown.append(parameter_text(one))
    return f"({', '.join(shown)})"


def docstring_lines(text: str) -> Iterator[str]:
    """Yield a docstring as Markdown: examples as code, the entries of `Args:` and the like as lists."""
    for paragraph in text.split("\n\n"):
        head, _, body = paragraph.partition("\n")
        if paragraph.startswith(">>>"):
            yield f"```python\n{paragraph}\n```"
        elif re.fullmatch(r"(Args|Attributes|Raises|Returns|Yields):", head):
            entries = re.sub(r"\n {8,}", " ", body)
            items = [re.sub(r"^(\*{0,2}\w+):", r"`\1`:", line.strip()) for line in entries.splitlines()]
            yield f"{head}\n\n" + "\n".join(f"- {item}" for item in items)
        else:
            yield " ".join(paragraph.split())


def methods_of(thing: type) -> Iterator[str]:
    """Yield a line for each public method and property of a class, its base classes' included."""
    for name, member in inspect.getmembers(thing):
        is_ours = callable(member) or isinstance(member, property)
        line = (inspect.getdoc(member) or "").partition("\n")[0]
        if not name.startswith("_") and is_ours and line and not name.startswith("model_"):
            yield f"- `{name}{signature_text(member) if callable(member) else ''}`: {line}"


def entry(package: ModuleType, name: str) -> Iterator[str]:
    """Yield the paragraphs about a public name."""
    thing = getattr(package, name)
    if isinstance(thing, dict):
        names = ", ".join(f"`{key}`" for key in thing)
        yield f"### {package.__name__}.{name}\n\nA dictionary from names to functions: {names}."
        return
    is_value = not (inspect.isclass(thing) or inspect.isroutine(thing))
    yield f"### {package.__name__}.{name}" + ("" if is_value else f"\n\n`{name}{signature_text(thing)}`")
    yield from docstring_lines(inspect.getdoc(thing) or "")
    if inspect.isclass(thing) and name == "Board":
        yield "\n".join(methods_of(thing))


def command_names() -> list[str]:
    """The commands, and those of groups in two words."""
    from isolation_cli.main import main

    return [
        f"{name} {part}".strip()
        for name, command in sorted(main.commands.items())
        for part in getattr(command, "commands", [""])
    ]


def function_of(command: str) -> str | None:
    """The function of a command, if it has one: by default that of its name in `knights_isolation`."""
    own = re.sub(r"\W", "_", command)
    default = f"knights_isolation.{own}" if own in import_module("knights_isolation").__all__ else None
    return FUNCTIONS.get(command, default)


def commands_table() -> str:
    """A table with the function of each command that has one."""
    rows = [f"| `{name}` | `{function}` |" for name in command_names() if (function := function_of(name))]
    return "\n".join(["| command | function |", "|---|---|", *rows])


def public_names() -> str:
    """Return the page."""
    parts = [HEAD.strip(), COMMANDS, commands_table()]
    for package in map(import_module, PACKAGES):
        parts.append(f"## {package.__name__}")
        parts += [part for name in package.__all__ for part in entry(package, name)]
    return "\n\n".join(part for part in parts if part) + "\n"


if __name__ == "__main__":
    PAGE.write_text(public_names(), encoding="utf-8")
