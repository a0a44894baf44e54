"""What commands say while they work, and how they end early: to people at a terminal, or to callers in Python."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from knights_isolation.experiments.play.pools.interrupts import Stopped as Stopped
from knights_isolation.experiments.play.pools.interrupts import keeping as keeping
from knights_isolation.isolation.usercode.output_capture import COMMAND as COMMAND
from knights_isolation.isolation.usercode.output_capture import TYPED as TYPED
from knights_isolation.isolation.usercode.output_capture import called_as as called_as
from knights_isolation.isolation.usercode.output_capture import captured as captured
from knights_isolation.isolation.usercode.output_capture import tell as tell
from knights_isolation.isolation.usercode.user_exceptions import Failed as Failed

if TYPE_CHECKING:
    from knights_isolation.experiments.play.runner import RunOutcome

nested = called_as


def counting(*what: Any) -> AbstractContextManager[Any]:
    """Show progress; see `run_progress.counting`, which is loaded when it is needed."""
    from knights_isolation.reports.watch import run_progress

    return run_progress.counting(*what)


def play(*what: Any, **options: Any) -> RunOutcome:
    """Play a run; see `run_progress.play`, which is loaded when it is needed."""
    from knights_isolation.reports.watch import run_progress

    return run_progress.play(*what, **options)


def play_kept_run(*what: Any, **options: Any) -> RunOutcome:
    """Play a run of a command's own; see `run_progress.play_kept_run`, which is loaded when it is needed."""
    from knights_isolation.reports.watch import run_progress

    return run_progress.play_kept_run(*what, **options)
