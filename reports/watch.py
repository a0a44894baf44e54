"""Live terminal display of a run, and its final table."""

from __future__ import annotations

import math
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from knights_isolation.experiments.plan.config import Config
from knights_isolation.experiments.plan.tournament_plan import Plan
from knights_isolation.experiments.play.interim_results import live_standings, live_tests
from knights_isolation.experiments.play.pools.interrupts import Stopped, keeping
from knights_isolation.experiments.play.pools.pool import Machine
from knights_isolation.experiments.play.runner import RunOutcome, RunProgress, Show, play_tournament
from knights_isolation.experiments.record.schema import baseline_of
from knights_isolation.experiments.statistics.sprt import SprtPath
from knights_isolation.experiments.studies.noted_tries import note_run
from knights_isolation.isolation.rules.game import Cost
from knights_isolation.isolation.suggestions import COMMAND, advice, command

from .text.cell_values import Share, WordedCell, pluralise, speed_words
from .text.rendering import Section, is_terminal, render_rows, render_sections, shortened, terminal_width, wrapped

_SHOWN = 12
_SHARE_OF_TIME = 0.02
_UNSTEADY = 5.0
"""Seconds of playing before the remaining time is shown."""
_LOOK_BACK = 600.0
"""Window in seconds for estimating a count's remaining time: a single item may take a minute."""
_BAR = 60
LINE_SECONDS = 10.0
"""Seconds between two lines of progress without a terminal."""
_CELL_SECONDS = 0.25
"""Seconds between two lines in a notebook."""
_LONGEST_NAME = 36
_AROUND = 5
"""Lines besides the standings: the summary, the bar, the heading, the hidden rows, the cursor."""
_FEWEST = 4
_SHOWING = ("tournament", "match")
"""Commands whose progress is their output; that of others goes to standard error if it is no terminal."""


def opponent_rows(plan: Plan, points: NDArray[np.int8]) -> list[dict[str, Any]]:
    """Return the classic table, one row per agent, best first: win rate, and games won of games by opponent.

    Games head to head with the baseline have a column, but do not count for win rates.
    """
    pairs_won = np.where(points < 0, 0, points).sum(axis=(0, 2))
    played = (points >= 0).sum(axis=(0, 2))
    entrants, matches = plan.entrants, plan.schedule.matches
    won = [(m.first, m.second, int(w), int(n)) for m, w, n in zip(matches, pairs_won, played, strict=True)]
    if plan.config.format == "round-robin":
        won += [(second, first, n - w, n) for first, second, w, n in won]
    direct = {match.second for match in matches if plan.is_direct(match)}
    rows, counted = sorted({row for row, *_ in won}), sorted({column for _, column, *_ in won} - direct)
    cells = {(row, column): (w, n) for row, column, w, n in won}
    worded = {where: WordedCell(f"{w}/{n}", w, {}) for where, (w, n) in cells.items()}
    unmet = WordedCell("–", None, {})
    games = {row: [cells[row, column] for column in counted if (row, column) in cells] for row in rows}
    sums = {row: np.array(met or [(0, 0)]).sum(axis=0).tolist() for row, met in games.items()}
    rates = {row: Share(w / n if n else math.nan) for row, (w, n) in sums.items()}
    return [
        {
            "agent": entrants[row].agent.name,
            "win rate": rates[row],
            **{entrants[column].agent.name: worded.get((row, column), unmet) for column in [*counted, *direct]},
        }
        for row in sorted(rows, key=lambda row: -np.nan_to_num(rates[row]))
    ]


def _table(first: str, *numbers: str, title: str | None = None, no_wrap: bool = False) -> Table:
    """Return a table without rows whose columns after the first hold numbers."""
    table = Table(box=None, header_style="bold", pad_edge=False, title=title, title_justify="left")
    table.add_column(first, no_wrap=no_wrap)
    for number in numbers:
        table.add_column(number, justify="right", no_wrap=no_wrap)
    return table


def cost_table(plan: Plan, costs: Mapping[str, Cost]) -> Table:
    """Return the measurements of `equal_cost`: relative cost per node, its spread, and nodes per move."""
    table = _table("Agent", "ns a node", "cost", "spread", "nodes a move", title="Equal cost")
    for entrant in plan.entrants:
        name, limit = entrant.agent.name, entrant.spec.limit
        if name in costs and limit:
            cost, nodes = costs[name], "" if limit.nodes is None else f"{limit.nodes:,}"
            spread = f"{100 * cost.spread:.1f} %"
            table.add_row(name, f"{cost.nanoseconds:.3g}", f"{cost.times:.2f} ×", spread, nodes)
    return table


def play(
    config: Config, *, resume: bool = False, retry_forfeits: bool = False, extends: Path | None = None
) -> RunOutcome:
    """Play a run with progress: on the command line live on a terminal or lines, in Python also in notebooks.

    The outcome has only notes not printed yet; in Python they are warnings.
    """
    printed: set[str] = set()
    with _view(printed) as show:
        outcome = play_tournament(config, resume=resume, retry_forfeits=retry_forfeits, extends=extends, show=show)
    outcome = replace(outcome, notes=tuple(note for note in outcome.notes if note not in printed))
    for note in outcome.notes if outcome.played and not COMMAND.get() else ():
        warnings.warn(note, stacklevel=6)
    return outcome


@contextmanager
def _view(printed: set[str]) -> Iterator[Show]:
    command = COMMAND.get()
    if not command and (line := cell_line()):
        is_steady = _steadiness()
        yield lambda progress: line(_summary(progress, is_steady(progress), ()), progress.phase == "playing")
    elif command or is_terminal():
        into_stderr = command not in ("", *_SHOWING) and not is_terminal()
        with display(Console(width=terminal_width(), stderr=into_stderr), printed) as show:
            yield show
    else:
        yield lambda progress: None


def play_kept_run(config: Config, *, resume: bool, command: str = "") -> RunOutcome:
    """Play or resume a run of a command's own, and note its verdicts in the log of tries, in Python as `command`.

    Raises:
        Stopped: it was interrupted; the same command resumes it.
    """
    outcome = play(config, resume=resume)
    kept = what_is_kept(outcome)
    if not outcome.finished:
        raise Stopped(kept)
    with keeping(kept):
        if outcome.played:
            note_run(COMMAND.get() or command or config.format, outcome.path)
    return outcome


def cell_line() -> Callable[[str, bool], None] | None:
    """Return a function that shows a line below the notebook cell that runs, replacing its last; None elsewhere.

    Its second argument says whether the line may be skipped, as it is if the last one was shown just now.
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if not hasattr(shell, "kernel"):
        return None
    shown = sys.modules["IPython.display"].display({"text/plain": ""}, raw=True, display_id=True)
    is_due = _every(_CELL_SECONDS)

    def show(text: str, may_skip: bool) -> None:
        if is_due(may_skip):
            shown.update({"text/plain": text}, raw=True)

    return show


def _every(seconds: float, after: float = 0.0) -> Callable[[bool], bool]:
    """Return whether to show something: what must not be skipped, else at most every so many seconds."""
    following = time.monotonic() + after

    def is_due(may_skip: bool) -> bool:
        nonlocal following
        if may_skip and time.monotonic() < following:
            return False
        following = time.monotonic() + seconds
        return True

    return is_due


def outcome_text(outcome: RunOutcome, verdict: Section | None = None) -> str:
    """Return the win rates of a run, its notes, and for a finished run the verdict."""
    parts = []
    if outcome.logged and not (outcome.finished and outcome.plan.config.format == "head-to-head"):
        elsewhere = advice(
            command("results", outcome.path, "--table", "opponents"),
            f"ki.results({str(outcome.path)!r}).to_frame('opponents')",
        )
        parts.append(render_rows(opponent_rows(outcome.plan, outcome.points), "table", elsewhere=elsewhere))
    parts += [wrapped(f"Note: {note}", terminal_width()) for note in outcome.notes]
    if outcome.finished and verdict:
        parts.append(f"\n{render_sections([verdict], 'table')}\n")
    return "\n".join(parts)


def end_message(outcome: RunOutcome) -> str:
    """Return the number of games of a finished run, its path, and commands for more information."""
    games = f"{outcome.logged:,} of {outcome.total:,} games"
    if not outcome.played:
        state = f"{outcome.path} has {games}; there was nothing to play."
    elif outcome.played < outcome.logged:
        state = f"Played {outcome.played:,} games in {outcome.seconds:.0f} s; {outcome.path} has {games}."
    else:
        state = f"{games} in {outcome.seconds:.0f} s, logged in {outcome.path}."
    more = advice(command("results", outcome.path, "--full"), f"ki.results({str(outcome.path)!r})")
    return f"{state} More: {more}"


def what_is_kept(outcome: RunOutcome) -> str:
    """Return how far a run came, and its path."""
    if outcome.logged == outcome.total:
        unrecorded = "" if outcome.finished else "; only the end of the run is not recorded yet"
        return f"all {outcome.total:,} games are in {outcome.path}{unrecorded}"
    return f"{outcome.logged:,} of {outcome.total:,} games are in {outcome.path}"


@contextmanager
def judging(outcome: RunOutcome, goes_on: str, again: str = "the same call resumes") -> Iterator[None]:
    """Judge the games of a run; Ctrl-C meanwhile keeps them, and `goes_on` is the command that judges or resumes.

    The games of an interrupted run are judged only in Python, with a warning that says how to play the others.

    Raises:
        Stopped: the run was interrupted and is not judged, or the judgement was.
    """
    kept = what_is_kept(outcome)
    if not outcome.finished and COMMAND.get():
        raise Stopped(kept, goes_on)
    if not outcome.finished and not outcome.logged:
        raise Stopped
    if not outcome.finished:
        warnings.warn(f"interrupted: {kept}; {again}", stacklevel=6)
    with keeping(kept, goes_on=goes_on):
        yield


@contextmanager
def display(console: Console, printed: set[str] | None = None) -> Iterator[Show]:
    """Show a run live on a terminal; elsewhere print a line every ten seconds, and notes.

    Printed notes are added to `printed`.
    """
    if not console.is_terminal:
        yield _lines(console, set() if printed is None else printed)
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield _screens(live)


def _screens(live: Live) -> Show:
    """Redraw the screen when something changed, using at most a fiftieth of the time."""
    is_steady, following, shown = _steadiness(), 0.0, ""

    def show(progress: RunProgress) -> None:
        nonlocal following, shown
        started = time.monotonic()
        if progress.phase == "measured":
            live.console.print(cost_table(progress.plan, progress.costs))
        steady = is_steady(progress)
        if started < following and progress.phase == "playing" == shown:
            return
        shown = progress.phase
        live.update(screen(progress, steady, live.console.height), refresh=True)
        spent = time.monotonic() - started
        following = started + spent + max(0.5, spent / _SHARE_OF_TIME)

    return show


def _steadiness() -> Callable[[RunProgress], bool]:
    """Return whether the remaining time can be estimated: not in the first seconds, when it fluctuates."""
    started: list[float] = []

    def is_steady(progress: RunProgress) -> bool:
        if progress.phase == "playing" and progress.rate and not started:
            started.append(time.monotonic())
        return bool(started) and time.monotonic() - started[0] >= _UNSTEADY

    return is_steady


_COUNTS_ON = re.compile(r"(?<= lost )[\d,]+ of [\d,]+(?= games)")
"""Parts of a note that change from game to game; notes that differ only there are printed once, and at the end."""


def _lines(console: Console, printed: set[str]) -> Show:
    is_steady, is_due = _steadiness(), _every(LINE_SECONDS)

    def show(progress: RunProgress) -> None:
        steady = is_steady(progress)
        for note in progress.notes:
            essence = _COUNTS_ON.sub("", note)
            if essence not in printed:
                printed.update((essence, note))
                console.print(f"Note: {note}", highlight=False, soft_wrap=True)
        if progress.phase == "measured":
            console.print(cost_table(progress.plan, progress.costs))
        elif is_due(True):
            console.print(_summary(progress, steady, live_tests(progress.plan, progress.points)), highlight=False)

    return show


def screen(progress: RunProgress, is_steady: bool, height: int) -> RenderableType:
    """Return the whole display of a running tournament on `height` lines: notes, progress, machines, standings."""
    tests = live_tests(progress.plan, progress.points)
    bar = Table.grid()
    done, total = float(progress.logged), float(max(1, progress.total))
    if len(tests) == 1:  # the log-likelihood ratio between its bounds, H0 on the left
        (test,) = tests
        done, total = test.ratio - test.sprt.lower_bound, test.sprt.upper_bound - test.sprt.lower_bound
    bar.add_row(ProgressBar(total=total, completed=min(max(done, 0), total), width=_BAR))
    notes = [Text(f"Note: {note}", style="yellow") for note in progress.notes]
    parts: list[RenderableType] = [*notes, Text(_summary(progress, is_steady, tests)), bar]
    if progress.machines:
        parts.append(machine_table(progress.machines))
    if progress.phase == "playing":
        machines = min(len(progress.machines or ()), _SHOWN) + 2 if progress.machines else 0
        room = height - 2 * len(notes) - machines - _AROUND
        parts.append(standings_table(progress, max(room, _FEWEST)))
    return Group(*parts)


def machine_table(machines: Sequence[Machine]) -> Table:
    """Return the machines of a cluster, fastest first: cores, games per second, unfinished batches."""
    table = _table("Machine", "cores", "games/s", "batches out")
    ranked = sorted(machines, key=lambda machine: (-machine.rate, machine.name))
    rows = [(machine.name, [machine]) for machine in ranked[:_SHOWN]]
    if hidden := ranked[_SHOWN:]:
        rows.append((f"and {len(hidden)} more", hidden))
    for name, group in rows:
        cores, rate, out = (sum(getattr(machine, what) for machine in group) for what in ("cores", "rate", "out"))
        table.add_row(name, str(cores), f"{rate:,.1f}", str(out))
    return table


def _summary(progress: RunProgress, is_steady: bool, tests: Sequence[SprtPath]) -> str:
    games = f"{progress.logged:,} of {progress.total:,} games"
    if progress.phase in ("preparing", "measuring"):
        return f"{games} · {progress.phase} {progress.detail}"
    if progress.phase == "merging":
        return f"{games} · merging the log"
    if not progress.rate:
        return f"{games} · starting{_on_machines(progress.machines)}"
    if tests:
        games = f"{progress.logged:,} games (at most {progress.total:,})"
    left = f" · {timedelta(seconds=round(progress.seconds_left))} left" if is_steady and not tests else ""
    return f"{games} · {speed_words(progress.rate)}{left}{_test_words(tests)}{_on_machines(progress.machines)}"


def _test_words(tests: Sequence[SprtPath]) -> str:
    """Describe the state of a sequential test; for several, the number of decided ones."""
    if not tests:
        return ""
    if len(tests) > 1:
        return f" · {sum(test.decision is not None for test in tests)} of {len(tests)} decided"
    values = (tests[0].ratio, tests[0].sprt.lower_bound, tests[0].sprt.upper_bound)
    ratio, lower, upper = (f"{value:+.2f}".replace("-", "−") for value in values)
    return f" · log-likelihood ratio {ratio} (H0 at {lower}, H1 at {upper})"


def _on_machines(machines: Sequence[Machine] | None) -> str:
    if machines is None:
        return ""
    if not machines:
        return " · no machine connected"
    return f" · {pluralise(len(machines), 'machine')}, {pluralise(sum(machine.cores for machine in machines), 'core')}"


def standings_table(progress: RunProgress, lines: int) -> Table:
    """Return the leaders and the baseline on `lines` lines, with the number of hidden agents."""
    standings = live_standings(progress.plan, progress.points)
    baseline = baseline_of({entrant.agent.name: entrant.roles for entrant in progress.plan.entrants})
    visible = standings if len(standings) <= lines else standings[: lines - 1]
    if baseline and baseline not in [standing.name for standing in visible]:
        visible = [*visible[:-1], *(standing for standing in standings if standing.name == baseline)]
    names = shortened([standing.name for standing in visible], _LONGEST_NAME)
    table = _table("Agent", "openings", "win rate", "95 % at any time", no_wrap=True)
    for standing, name in zip(visible, names, strict=True):
        interval = f"{100 * standing.low:.1f} – {100 * standing.high:.1f}"
        rate = f"{100 * standing.rate:.1f} %" if standing.openings else "–"
        style = "bold" if standing.name == baseline else ""
        table.add_row(name, str(standing.openings), rate, interval, style=style)
    if left_out := len(standings) - len(visible):
        table.add_row(f"and {left_out} more", "", "", "")
    return table


def counting(what: str) -> AbstractContextManager[Callable[[int, int], None]]:
    """Show on stderr how many items are done: on a terminal by a bar, else by a line every ten seconds.

    The terminal is the one at the time of the call, so the bar stays visible while output of user code is captured.
    """
    if line := cell_line():
        return nullcontext(lambda done, total: line(f"{what}: {done:,} of {total:,}", done < total))
    try:
        descriptor = os.dup(sys.stderr.fileno())
    except OSError:  # a stream without a descriptor
        return nullcontext(lambda done, total: None)
    shown = _bar if Console(stderr=True).is_interactive else _counted_lines
    return shown(what, open(descriptor, "w", encoding=sys.stderr.encoding, errors="replace"))


@contextmanager
def _counted_lines(what: str, file: IO[str]) -> Iterator[Callable[[int, int], None]]:
    """Print a line every ten seconds, the first after ten, since a bar would fill a file with empty lines."""
    is_due = _every(LINE_SECONDS, after=LINE_SECONDS)

    def show(done: int, total: int) -> None:
        if is_due(True):
            print(f"{what}: {done:,} of {total:,}", file=file, flush=True)

    with file:
        yield show


@contextmanager
def _bar(what: str, terminal: IO[str]) -> Iterator[Callable[[int, int], None]]:
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Bar(
        *columns, console=Console(file=terminal), speed_estimate_period=_LOOK_BACK, transient=True,
        redirect_stdout=False, redirect_stderr=False,
    )  # fmt: skip
    with terminal, bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
