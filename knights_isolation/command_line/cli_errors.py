"""Errors of the command line: one line and an exit code."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

from knights_isolation.experiments.play.pools.interrupts import arrived
from knights_isolation.isolation.suggestions import command, file_meant
from knights_isolation.isolation.usercode.user_exceptions import CompilerFault
from knights_isolation.reports.text.rendering import wrapped

from ..surface import Failed, Stopped

WORDS = f"{__name__}.words"
"""Key under which the outermost context stores the words of the command line."""
_BEGINNING = "Error: "
"""Prefix of click's messages."""


class BadInput(click.ClickException):
    """Invalid user input; the message is one line."""

    exit_code = 2


class Interrupted(click.ClickException):
    """Ctrl-C or SIGTERM has ended a command."""

    def __init__(self, kept: str, goes_on: str) -> None:
        """Make the message: what was kept, if anything, and the command to resume."""
        if kept:
            super().__init__(f"Interrupted: {kept}. Continue with: {goes_on}")
        else:
            super().__init__(f"Interrupted: nothing was saved. Restart with: {goes_on}")

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message without the prefix of errors."""
        click.echo(self.message, file=file, err=True)


def same_again() -> str:
    """Return the command as it was typed."""
    return command(*click.get_current_context().find_root().meta.get(WORDS, ()))


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Report errors that users can cause in one line; exit code 2 for invalid requests, 1 for failures.

    Raises:
        click.ClickException: with that line, wrapped to the terminal's width.
    """
    try:
        with _errors_reported():
            yield
    except click.ClickException as error:
        if not sys.stderr.isatty() or isinstance(error, click.UsageError | Interrupted):
            raise
        width = shutil.get_terminal_size().columns
        kind = BadInput if error.exit_code == BadInput.exit_code else click.ClickException
        raise kind(wrapped(f"{_BEGINNING}{error.message}", width).removeprefix(_BEGINNING)) from error


@contextmanager
def _errors_reported() -> Iterator[None]:
    try:
        yield
    except click.UsageError as error:
        if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):  # newer versions of click only
            raise
        message = _plain_usage(error.format_message())
        hint = f" (see {error.ctx.command_path} --help)" if error.ctx else ""
        raise BadInput(f"{message}{hint}") from error
    except KeyboardInterrupt as stop:
        arrived()
        kept, goes_on = (stop.kept, stop.goes_on) if isinstance(stop, Stopped) else ("", "")
        raise Interrupted(kept, goes_on or same_again()) from None
    except (CompilerFault, Failed) as error:
        raise click.ClickException(str(error)) from error
    except ValueError as error:
        raise BadInput(_in_one_line(str(error))) from error
    except OSError as error:
        text = f"{error.filename or ''}: {error.strerror or error}".removeprefix(": ")
        if isinstance(error, FileNotFoundError | FileExistsError | IsADirectoryError | NotADirectoryError):
            meant = file_meant(error.filename) if isinstance(error, FileNotFoundError) and error.filename else ""
            raise BadInput(f"{text}{meant}") from error
        raise click.ClickException(text) from error


def _plain_usage(message: str) -> str:
    """Rewrite click's message about an argument in one line, without its way of saying where it is."""
    message = re.sub(r"\s*\n\s*", " ", message.strip().removesuffix("."))
    return re.sub(r"^Invalid value for '\[?(.+?)\]?'(?: \(env var: .+?\))?: ", r"\1: ", message)


def _in_one_line(message: str) -> str:
    """Join a message whose further lines show a text with the wrong part underlined into one line."""
    first, *further_lines = message.splitlines() or [""]
    details = " ".join(line.strip() for line in further_lines if line.strip(" ^"))
    return first if details in first else f"{first} (in {details})"
