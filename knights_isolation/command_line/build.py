"""The commands of the registry as commands of click: options from signatures, output from results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
from click.core import ParameterSource

from knights_isolation.isolation.usercode.process_lifetime import continue_in_child, write_real_stderr
from knights_isolation.registry import function_of
from knights_isolation.reports.text.rendering import FORMATS

from ..inputs import position_of
from ..parameters import Command, Parameter, View, command_of
from ..surface import on_command_line
from .cli_errors import same_again
from .completion import COMPLETIONS
from .output import check_views, show

VIEWS: dict[View, click.Option] = {
    "plot": click.Option(["--plot", "view_plot"], metavar="FILE", help="Draw it into this file, .svg or .png."),
    "html": click.Option(["--html", "view_html"], metavar="FILE", help="Write it as a page into this file."),
    "json": click.Option(["--json", "view_format"], flag_value="json", help="The same as --format json."),
    "full": click.Option(["--full", "view_full"], is_flag=True, help="Print all tables with all notes."),
    "tables": click.Option(["--table", "view_table"], metavar="NAME", help="Print only this table."),
}
_FORMAT = click.Option(
    ["--format", "view_format"], type=click.Choice(FORMATS), default="table", show_default=True,
    help="How to print tables.",
)  # fmt: skip


class Value(click.ParamType):  # type: ignore[type-arg] # generic in newer versions of click
    """A value that is checked as in Python."""

    def __init__(self, parameter: Parameter) -> None:
        self.parameter = parameter
        is_path = parameter.about.suffixes or parameter.about.is_folder
        self.name = {int: "integer", float: "float"}.get(parameter.kind, "path" if is_path else "text")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a value as the function takes it, or fail with the sentence that Python users get."""
        try:
            return self.parameter.checked(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str | None:
        """Return the listed values."""
        choices = self.parameter.choices
        return f"[{'|'.join(choices)}]" if choices and self.parameter.kind is str else None


def build(name: str) -> click.Command:
    """Return a command of the registry for the command line."""
    command = command_of(function_of(name))
    parameters: list[click.Parameter] = []
    for parameter in command.parameters:
        if parameter.about.place != "python":
            parameters += _position_options() if parameter.about.is_position else [_click_parameter(parameter)]
            parameters += [
                click.Option([flag, f"hidden_{parameter.name}"], is_flag=True, hidden=True)
                for flag in parameter.about.hidden
            ]
    parameters += [VIEWS[view] for view in VIEWS if view in command.views]
    parameters += [_FORMAT] if {"tables", "rows"} & {*command.views} else []
    is_raw = any(parameter.about.is_raw for parameter in command.parameters)
    return click.Command(
        name.split()[-1],
        params=parameters,
        callback=lambda **given: _run(name, command, given),
        help=command.help,
        epilog="\b\nExamples:\n" + "\n".join(f"  {line}" for line in command.examples) if command.examples else None,
        context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False} if is_raw else {},
    )


def _position_options() -> list[click.Parameter]:
    """Return the options that describe a position."""
    return [
        click.Option(["--board", "at_size"], default="7x7", show_default=True, help="Board size, ROWSxCOLUMNS."),
        click.Option(
            ["--moves", "at_moves"], default="",
            help="Moves so far, as in d3,a2 or as cells 24,14 (row * columns + column).",
        ),
        click.Option(["--fen", "at_fen"], metavar="FEN", help="Position as a quoted FEN, instead of --moves."),
    ]  # fmt: skip


def _click_parameter(parameter: Parameter) -> click.Parameter:
    about = parameter.about
    complete = COMPLETIONS.get(about.complete)
    if parameter.is_argument:
        metavar = about.metavar or parameter.name.upper()
        shown = f"{metavar}..." * parameter.is_many or metavar
        return click.Argument(
            [parameter.name], nargs=-1 if parameter.is_many else 1, type=Value(parameter),
            metavar=shown if parameter.is_required else f"[{shown}]", required=parameter.is_required,
            shell_complete=complete,
        )  # fmt: skip
    flags = about.flags or (_word(parameter),)
    keywords: dict[str, Any] = {"help": about.help}
    if parameter.kind is bool:
        return click.Option([*flags, parameter.name], is_flag=True, default=None, **keywords)
    if parameter.is_many:
        keywords |= {"multiple": True, "help": f"{about.help.rstrip('.')}; may be repeated."}
    if parameter.default or (parameter.default is not None and parameter.kind in (int, float)):
        keywords |= {"default": parameter.default, "show_default": True}
    if about.flag_value:
        keywords |= {"is_flag": False, "flag_value": about.flag_value}
    if about.variable:
        keywords |= {"envvar": about.variable, "show_envvar": True}
    return click.Option(
        [*flags, parameter.name], type=Value(parameter), metavar=about.metavar or None, required=parameter.is_required,
        shell_complete=complete, nargs=about.count, **keywords,
    )  # fmt: skip


def _option_name(parameter: Parameter) -> str:
    """Return the name of an option: of one that may be repeated, the singular."""
    name = parameter.name.strip("_").replace("_", "-")
    return name.removesuffix("s") if parameter.is_many else name


def _run(name: str, command: Command, given: dict[str, Any]) -> None:
    """Call the function of a command with what was given, and show its result."""
    context = click.get_current_context()
    views = {key: value for key, value in given.items() if key.startswith("view_")}
    values = {key.removeprefix("hidden_"): given[key] for key in given.keys() - views.keys() if _is_given(context, key)}
    check_views(views, command.tables)
    at = {key: values.pop(f"at_{key}", "" if key == "moves" else None) for key in ("size", "moves", "fen")}
    values |= {each.name: position_of(**at) for each in command.parameters if each.about.is_position}
    if code := _code_of(command, values):
        continue_in_child(code)
    with on_command_line(name, _say, same_again()), _errors_by_option(command):
        show(command.function(*_positional(command, values), **values), views)


def _positional(command: Command, values: dict[str, Any]) -> list[Any]:
    """Take the arguments out of `values` that a call passes by position: those before any number of others."""
    stars = [value for each in command.parameters if each.passing == "star" for value in values.pop(each.name, ())]
    ahead = [each.name for each in command.parameters if each.passing == "position" and each.name in values]
    return [*map(values.pop, ahead), *stars] if stars else []


@contextmanager
def _errors_by_option(command: Command) -> Iterator[None]:
    """Have errors about a parameter name the option or argument of the command line.

    Raises:
        ValueError: with the new name.
    """
    try:
        yield
    except ValueError as error:
        name, colon, message = str(error).partition(": ")
        words = {parameter.name: _word(parameter) for parameter in command.parameters}
        if not colon or name not in words:
            raise
        raise ValueError(f"{words[name]}: {message}") from error


def _word(parameter: Parameter) -> str:
    if parameter.is_argument:
        return parameter.about.metavar or parameter.name.upper()
    return (parameter.about.flags or (f"--{_option_name(parameter)}",))[0]


def _is_given(context: click.Context, name: str) -> bool:
    return (
        context.get_parameter_source(name) not in (ParameterSource.DEFAULT, None) and context.params[name] is not None
    )


def _code_of(command: Command, values: dict[str, Any]) -> str:
    """Return the user code that a command names, as in messages; empty if it names none."""
    named = [values.get(parameter.name, ()) for parameter in command.parameters if parameter.about.is_code]
    texts = [text for each in named for text in ([each] if isinstance(each, str) else each)]
    return ", ".join(str(text) for text in texts if ".py" in str(text))


def _say(line: str) -> None:
    """Print a line on standard error, even while output of user code is captured."""
    if not write_real_stderr(line):
        click.echo(line, err=True)
