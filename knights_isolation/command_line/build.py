"""The commands of the registry as commands of click: options from signatures, output from results."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from knights_isolation.experiments.play.pools.interrupts import Stopped
from knights_isolation.isolation.suggestions import TYPED, called_as, did_you_mean
from knights_isolation.reports.answers import Result
from knights_isolation.reports.text.rendering import (
    FORMATS,
    Format,
    render_rows,
    render_sections,
    terminal_width,
    wrapped,
)

from ..inputs import MOVES, SIZE
from ..parameters import About, Command, check, command_of
from ..registry import function_of

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_file = partial(About, metavar="FILE")
_VIEWS = (
    _file(name="view_plot", flags=("--plot",), suffixes=(".svg", ".png"), help="Draw it into this file, .svg or .png."),
    _file(name="view_html", flags=("--html",), suffixes=(".html", ".htm"), help="Write it as a page into this file."),
    About(name="view_json", flags=("--json",), kind=bool, help="The same as --format json."),
    About(name="view_full", flags=("--full",), kind=bool, help="Print all tables with all notes."),
    About(name="view_tables", flags=("--table",), metavar="NAME", help="Print only this table."),
    About(name="view_rows", flags=("--format",), choices=FORMATS, default="table", help="How to print tables."),
)
"""The options for the ways of showing a result, each named after one."""
_POSITION = (
    replace(SIZE, name="at_size", flags=("--board",), default="7x7"),
    replace(MOVES, name="at_moves", flags=("--moves",)),
    About(name="at_fen", flags=("--fen",), metavar="FEN", help="Position as a quoted FEN, instead of --moves."),
)
"""The options that describe a position."""


def build(name: str) -> click.Command:
    """Return a command of the registry for the command line."""
    command = command_of(function_of(name))
    views = {f"view_{view}" for view in command.views} | {"view_rows" for view in command.views if view == "tables"}
    taken = [each for each in command.parameters if each.place != "python"]
    taken = [part for each in taken for part in (_POSITION if each.is_position else [each])]
    taken += [each for each in _VIEWS if each.name in views]
    is_raw = any(each.is_raw for each in taken)
    return click.Command(
        name.split()[-1],
        params=[part for each in taken for part in _click_parameters(each)],
        callback=lambda **given: _run(name, command, taken, given),
        help=command.help,
        epilog="\b\nExamples:\n" + "\n".join(f"  {line}" for line in command.examples) if command.examples else None,
        context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False} if is_raw else {},
    )


def _click_parameters(about: About) -> list[click.Parameter]:
    """Return the argument, or the option and its former names, which are hidden."""
    types = {int: "INTEGER", float: "FLOAT", str: "PATH" if about.suffixes or about.is_folder else "TEXT"}
    listed = f"[{'|'.join(about.choices)}]" if about.choices and about.kind is str else ""
    metavar = about.metavar or listed or types.get(about.kind)
    settings: dict[str, Any] = {
        "type": click.UNPROCESSED,
        "required": about.is_needed,
        "shell_complete": lambda context, parameter, begun: _completed(about, begun),
    }
    if about.place == "argument":
        shown = f"{metavar}..." if about.is_many else metavar
        metavar = shown if about.is_needed else f"[{shown}]"
        return [click.Argument([about.name], nargs=-1 if about.is_many else 1, metavar=metavar, **settings)]
    settings |= {"help": about.help, "metavar": metavar, "nargs": about.count}
    if about.kind is bool:
        settings = {"help": about.help, "is_flag": True, "default": None}
    elif about.default or (about.default is not None and about.kind in (int, float)):
        settings |= {"default": about.default, "show_default": True}
    if about.is_many:
        settings |= {"multiple": True, "help": f"{about.help.rstrip('.')}; may be repeated."}
    if about.flag_value:
        settings |= {"is_flag": False, "flag_value": about.flag_value}
    if about.variable:
        settings |= {"envvar": about.variable, "show_envvar": True}
    former = [click.Option([flag, f"hidden_{about.name}"], is_flag=True, hidden=True) for flag in about.hidden]
    return [click.Option([*about.flags, about.name], **settings), *former]


def _completed(about: About, begun: str) -> list[CompletionItem]:
    from .completion import complete

    return complete(about, begun)


def _run(name: str, command: Command, taken: Sequence[About], given: dict[str, Any]) -> None:
    """Call the function of a command with what was given, and show its result."""
    context = click.get_current_context()
    unset = (ParameterSource.DEFAULT, None)
    values = {
        key.removeprefix("hidden_"): value
        for key, value in given.items()
        if value is not None and context.get_parameter_source(key) not in unset
    }
    try:
        check(taken, values, attrgetter("word"))
    except ValueError as error:
        raise click.UsageError(str(error), context) from error
    views = {key.removeprefix("view_"): values.pop(key) for key in [*values] if key.startswith("view_")}
    only = views.get("tables")
    if only and command.tables and only not in command.tables:
        meant = did_you_mean(only, command.tables)
        raise ValueError(f"--table: no table {only!r}; {meant}choose one of {', '.join(command.tables)}")
    at = {key.removeprefix("at_"): values.pop(key) for key in [*values] if key.startswith("at_")}
    if positions := [each.name for each in command.parameters if each.is_position]:
        from knights_isolation.isolation.rules.classic_board import position_of

        values |= {name: position_of(**at) for name in positions}
    named = [values.get(each.name, ()) for each in command.parameters if each.is_code]
    texts = [str(text) for each in named for text in ([each] if isinstance(each, str) else each)]
    if code := ", ".join(text for text in texts if ".py" in text):
        from knights_isolation.isolation.usercode.process_lifetime import continue_in_child

        continue_in_child(code)
    bound = inspect.BoundArguments(inspect.signature(command.function), values)
    settings = {key: values[key] for key in values.keys() - bound.signature.parameters.keys()}
    try:
        with called_as(name):
            _show(command.function(*bound.args, **bound.kwargs, **settings), views, "tables" in command.views)
    except ValueError as error:
        parameter, colon, message = str(error).partition(": ")
        words = {each.name: each.word for each in command.parameters if colon}
        if parameter not in words:
            raise
        raise ValueError(f"{words[parameter]}: {message}") from error


def _show(result: Any, views: dict[str, Any], has_tables: bool) -> None:
    """Print what a command has found, and write the files that were asked for; exit with 1 if its checks fail."""
    if isinstance(result, str | Path) and result != "":
        click.echo(f"Wrote {result}" if isinstance(result, Path) else result)
    if not isinstance(result, Result):
        return
    output: Format = "json" if "json" in views else views.get("rows", "table")
    is_plain = output == "table" and "tables" not in views
    if is_plain:
        _show_first(result, "full" in views, has_tables)
    elif not has_tables and len(result.sections) == 1:
        click.echo(render_rows(result.sections[0].rows, output))
    else:
        sections = result.sections[1 if result.more else 0 :]
        click.echo(render_sections(sections, output, views.get("tables")))
        if output == "csv" and sections[0].caveat:
            click.echo(sections[0].caveat, err=True)
        if output == "csv" and len(sections) > 1 and "tables" not in views:
            more = f"--table {'|'.join(other.key for other in sections[1:])}" if has_tables else "--format json"
            click.echo(f"CSV is one table, {sections[0].key}. Others: {more}.", err=True)
    if result.remark:
        click.echo(result.remark, err=not is_plain)
    if result.closing and is_plain:
        click.echo(result.closing)
    for written in (*result.written, *_written(result, views)):
        click.echo(f"Wrote {written}", err=True)
    if result.stopped:
        raise Stopped(result.stopped)
    if not result.passes:
        sys.exit(1)


def _show_first(result: Result[Any], is_full: bool, has_tables: bool) -> None:
    """Print a result for people who asked for no table in particular."""
    if result.step and sys.stdin.isatty() and sys.stdout.isatty():
        result.step()
    elif result.text:
        click.echo(result.text)
    elif result.more and not is_full:
        click.echo(render_sections(result.sections[:1], "table"))
        click.echo(wrapped(f"More with --table: {', '.join(result.more)}; with --full all of them.", terminal_width()))
    elif has_tables or len(result.sections) > 1:
        click.echo(render_sections(result.sections[1 if result.more else 0 :], "table"))
    else:
        for section in result.sections:
            click.echo(render_rows(section.rows, "table", keep=section.keep))


def _written(result: Result[Any], views: dict[str, Any]) -> Iterator[Path]:
    """Write the plot and the page that were asked for."""
    if "plot" in views:
        from knights_isolation.reports.plots.draw_chart import save

        yield save(result.plot(), Path(views["plot"]))
    if "html" in views:
        from knights_isolation.isolation.files.atomic_write import write_text

        if result.page is None:
            raise ValueError("--html: there is no page of this")
        write_text(Path(views["html"]), result.page(TYPED.get()))
        yield Path(views["html"])
