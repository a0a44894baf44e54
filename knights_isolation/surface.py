"""What commands say while they work, and how they end early: to people at a terminal, or to callers in Python."""

from __future__ import annotations

import atexit
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knights_isolation.experiments.play.pools.interrupts import Stopped as Stopped
from knights_isolation.experiments.play.pools.interrupts import keeping as keeping
from knights_isolation.isolation.usercode.output_capture import WantsToEnd, capture_output, discard_output, prevent_exit
from knights_isolation.isolation.usercode.process_lifetime import write_real_stderr
from knights_isolation.isolation.usercode.user_exceptions import Failed as Failed

if TYPE_CHECKING:
    from knights_isolation.experiments.plan.config import Config
    from knights_isolation.experiments.play.runner import RunOutcome

COMMAND: ContextVar[str] = ContextVar("command", default="")
"""The command that runs on the command line; empty in Python."""
TYPED: ContextVar[str] = ContextVar("typed", default="")
"""The command line that runs, as it was typed; empty in Python."""


def tell(line: str) -> None:
    """Say how far a command is, on the command line's standard error; nothing in Python, and no empty line.

    It is seen even while output of user code is captured.
    """
    if line and TYPED.get() and not write_real_stderr(line):
        print(line, file=sys.stderr, flush=True)


@contextmanager
def called_as(name: str = "") -> Iterator[None]:
    """Call functions of commands as the command `name` of the command line, or by default as in Python."""
    token = COMMAND.set(name)
    try:
        yield
    finally:
        COMMAND.reset(token)


nested = called_as


@contextmanager
def captured(code: str) -> Iterator[None]:
    """Capture what user code prints while a command calls it, and report its amount; in Python nothing is captured.

    `code` is the name of the code in the report. What the code prints when this process ends is discarded.

    Raises:
        Failed: the code tried to end the process.
    """
    if not COMMAND.get() or not code:
        yield
        return
    try:
        with capture_output() as printed, prevent_exit():
            yield
    except WantsToEnd as error:
        raise Failed(f"{code}: the code {error}") from error
    finally:
        atexit.register(discard_output)  # called before what the code has registered so far
    if sentence := printed.sentence(code):
        tell(f"Note: {sentence}")


@contextmanager
def counting(what: str, kept: str = "", path: Path | None = None) -> Iterator[Callable[[int, int], None]]:
    """Show on stderr how many items are done, and on Ctrl-C what was kept, as `keeping` does if `kept` is not empty."""
    from knights_isolation.reports.watch.run_progress import counting as count

    with keeping(kept, path) if kept else nullcontext(), count(what) as show:
        yield show


def play(
    config: Config, *, resume: bool = False, retry_forfeits: bool = False, extends: Path | None = None
) -> RunOutcome:
    """Play a run with progress: on the command line live on a terminal or lines, in Python also in notebooks.

    In Python its notes are warnings; the command line prints those that the outcome still has.
    """
    from knights_isolation.reports.text.rendering import is_terminal
    from knights_isolation.reports.watch.run_progress import play_in_view, play_shown

    options: dict[str, Any] = {"resume": resume, "retry_forfeits": retry_forfeits, "extends": extends}
    if COMMAND.get():
        is_shown = COMMAND.get() in _SHOWING or is_terminal()
        return play_shown(config, into_stderr=not is_shown, **options)
    outcome = play_in_view(config, **options)
    for note in outcome.notes if outcome.played else ():
        warnings.warn(note, stacklevel=6)
    return outcome


def play_kept_run(config: Config, *, resume: bool, command: str = "") -> RunOutcome:
    """Play or resume a run of a command's own, and note its verdicts in the log of tries, in Python as `command`.

    Raises:
        Stopped: it was interrupted; the same command resumes it.
    """
    from knights_isolation.experiments.noting import note_run
    from knights_isolation.reports.watch.run_progress import what_is_kept

    outcome = play(config, resume=resume)
    kept = what_is_kept(outcome)
    if not outcome.finished:
        raise Stopped(kept)
    with keeping(kept):
        if outcome.played:
            note_run(COMMAND.get() or command or config.format, outcome.path)
    return outcome


_SHOWING = ("tournament", "match")
"""Commands whose progress is their output; that of others goes to standard error if it is no terminal."""
