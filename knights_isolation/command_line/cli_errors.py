"""Errors of the command line: one line and an exit code."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

from knights_isolation.experiments.play.pools.interrupts import Stopped, arrived
from knights_isolation.isolation.suggestions import TYPED, CompilerFault, Failed, file_meant
from knights_isolation.reports.text.rendering import wrapped


class OneLine(click.ClickException):
    """A command has failed, which is said in one line, wrapped to the width of a terminal."""

    def format_message(self) -> str:
        """Return the message as it stands behind "Error: "."""
        if not sys.stderr.isatty():
            return self.message
        return wrapped(f"Error: {self.message}", shutil.get_terminal_size().columns).removeprefix("Error: ")


class BadInput(OneLine):
    """Invalid user input."""

    exit_code = 2


class Interrupted(click.ClickException):
    """Ctrl-C or SIGTERM has ended a command; the message says what was kept, and the command to resume."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message without the prefix of errors."""
        click.echo(self.message, file=file, err=True)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Report errors that users can cause in one line.

    Raises:
        click.ClickException: with that line.
    """
    try:
        yield
    except getattr(click.exceptions, "NoArgsIsHelpError", ()):  # of newer versions of click: it shows the help
        raise
    except click.UsageError as error:
        hint = f" (see {error.ctx.command_path} --help)" if error.ctx else ""
        raise BadInput(f"{_plain_usage(error.format_message())}{hint}") from error
    except KeyboardInterrupt as stop:
        arrived()
        kept, goes_on = (stop.kept, stop.goes_on or TYPED.get()) if isinstance(stop, Stopped) else ("", TYPED.get())
        advice = f"{kept}. Continue with" if kept else "nothing was saved. Restart with"
        raise Interrupted(f"Interrupted: {advice}: {goes_on}") from None
    except (CompilerFault, Failed) as error:
        raise OneLine(str(error)) from error
    except ValueError as error:
        raise BadInput(_in_one_line(str(error))) from error
    except OSError as error:
        text = f"{error.filename or ''}: {error.strerror or error}".removeprefix(": ")
        is_wrong = isinstance(error, FileNotFoundError | FileExistsError | IsADirectoryError | NotADirectoryError)
        meant = file_meant(error.filename) if isinstance(error, FileNotFoundError) and error.filename else ""
        raise (BadInput if is_wrong else OneLine)(f"{text}{meant}") from error


def _plain_usage(message: str) -> str:
    """Rewrite click's message about a value in one line, without its way of saying where it is."""
    message = re.sub(r"\s*\n\s*", " ", message.strip().removesuffix("."))
    return re.sub(r"^Invalid value for '\[?(.+?)\]?': ", r"\1: ", message)


def _in_one_line(message: str) -> str:
    """Join a message whose further lines show a text with the wrong part underlined into one line."""
    first, *further_lines = message.splitlines() or [""]
    details = " ".join(line.strip() for line in further_lines if line.strip(" ^"))
    return first if details in first else f"{first} (in {details})"
