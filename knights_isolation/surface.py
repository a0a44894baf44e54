"""What commands say while they work, and how they end early: to people at a terminal, or to callers in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
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


@contextmanager
def counting(what: str, kept: str = "", path: Path | None = None) -> Iterator[Callable[[int, int], None]]:
    """Show on stderr how many items are done, and on Ctrl-C what was kept, as `keeping` does if `kept` is not empty."""
    from knights_isolation.reports.watch.run_progress import counting as count

    with keeping(kept, path) if kept else nullcontext(), count(what) as show:
        yield show


def play(*what: Any, **options: Any) -> RunOutcome:
    """Play a run; see `run_progress.play`, which is loaded when it is needed."""
    from knights_isolation.reports.watch import run_progress

    return run_progress.play(*what, **options)


def play_kept_run(*what: Any, **options: Any) -> RunOutcome:
    """Play a run of a command's own; see `run_progress.play_kept_run`, which is loaded when it is needed."""
    from knights_isolation.reports.watch import run_progress

    return run_progress.play_kept_run(*what, **options)
