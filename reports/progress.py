"""What a running tournament shows: games, games a second, time left, standings; and the table it ends with."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from experiments.config import Config
from experiments.design import Plan
from experiments.play.pool import Machine
from experiments.play.runner import Outcome, Progress, Show, play_tournament
from experiments.verdicts.live import live_standings
from isolation.shell import command
from reports.cells import counted
from reports.tables import terminal_width

_SHOWN = 12
_SHARE_OF_TIME = 0.02


def opponent_table(plan: Plan, points: NDArray[np.int8]) -> Table:
    """The familiar table: a line an agent, a column an opponent, games won of games played, and the win rate."""
    pairs_won = np.where(points < 0, 0, points).sum(axis=(0, 2))
    played = (points >= 0).sum(axis=(0, 2))
    entrants, matches = plan.entrants, plan.schedule.matches
    if plan.config.format == "round-robin":
        won = [(m.first, m.second, w, n) for m, w, n in zip(matches, pairs_won, played, strict=True)]
        won += [(second, first, n - w, n) for first, second, w, n in won]
    else:
        won = [(m.first, m.second, w, n) for m, w, n in zip(matches, pairs_won, played, strict=True)]
    rows, columns = sorted({row for row, *_ in won}), sorted({column for _, column, *_ in won})
    cells = {(row, column): (int(w), int(n)) for row, column, w, n in won}
    table = Table("Agent", box=None, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(entrants[column].agent.name, justify="right")
    table.add_column("Win rate", justify="right")
    totals = {row: np.sum([cells[row, column] for column in columns if (row, column) in cells], axis=0) for row in rows}
    for row in sorted(rows, key=lambda row: -totals[row][0] / max(1, totals[row][1])):
        w, n = totals[row]
        texts = (f"{cells[row, c][0]}/{cells[row, c][1]}" if (row, c) in cells else "–" for c in columns)
        table.add_row(entrants[row].agent.name, *texts, f"{100 * w / n:.1f} %" if n else "–")
    return table


def cost_table(plan: Plan, costs: Mapping[str, float]) -> Table:
    """What `equal_cost` found: speeds, what a node costs in units of the baseline's, and the nodes a move for it."""
    baseline = next(entrant for entrant in plan.entrants if "baseline" in entrant.roles).agent.name
    table = Table("Agent", box=None, header_style="bold", pad_edge=False, title="Equal cost", title_justify="left")
    for title in ("nodes/s", "cost of a node", "nodes a move"):
        table.add_column(title, justify="right")
    for entrant in plan.entrants:
        name, limit = entrant.agent.name, entrant.spec.limit
        if name in costs and limit:
            table.add_row(name, f"{costs[name]:,.0f}", f"{costs[baseline] / costs[name]:.2f}", f"{limit.nodes:,}")
    return table


def play_shown(
    config: Config, *, resume: bool = False, retry_forfeits: bool = False, extends: Path | None = None
) -> Outcome:
    """Play a tournament as `play_tournament` does, shown live on the terminal."""
    with display(Console(width=terminal_width())) as show:
        return play_tournament(config, resume=resume, retry_forfeits=retry_forfeits, extends=extends, show=show)


def print_outcome(outcome: Outcome) -> None:
    """Print the table of a run, if there is anything in it, and what should be known of the run."""
    console = Console(width=terminal_width())
    if outcome.logged:
        console.print(opponent_table(outcome.plan, outcome.points))
    for note in outcome.notes:
        console.print(f"Note: {note}", highlight=False, markup=False)


def what_next(outcome: Outcome) -> str:
    """How far a run came, where it lies, and the command to go on with."""
    games = f"{outcome.logged:,} of {outcome.total:,} games"
    if not outcome.finished:
        return f"Interrupted with {games} played. Go on with: {command('tournament', '--resume', outcome.path)}"
    played = f"{games} in {outcome.seconds:.0f} s, logged in {outcome.path}"
    return f"{played}\nNext: {command('compare', outcome.path)}"


@contextmanager
def display(console: Console) -> Iterator[Show]:
    """Show a run live on a terminal; elsewhere, a line every ten seconds."""
    if not console.is_terminal:
        yield _lines(console)
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield _Screen(live).show


class _Screen:
    """Draws again when there is something new, but spends no more than a fiftieth of the time on it."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._next = 0.0
        self._phase = ""

    def show(self, progress: Progress) -> None:
        now = time.monotonic()
        if progress.phase == "measured":
            self._live.console.print(cost_table(progress.plan, progress.costs))
        if now < self._next and progress.phase == "playing" == self._phase:
            return
        self._phase = progress.phase
        self._live.update(_screen(progress), refresh=True)
        spent = time.monotonic() - now
        self._next = now + max(0.5, spent / _SHARE_OF_TIME)


def _lines(console: Console) -> Show:
    following = 0.0
    told: set[str] = set()

    def show(progress: Progress) -> None:
        nonlocal following
        for note in progress.notes:
            if note not in told:
                told.add(note)
                console.print(f"Note: {note}", highlight=False, soft_wrap=True)
        if progress.phase == "measured":
            console.print(cost_table(progress.plan, progress.costs))
        elif time.monotonic() >= following:
            following = time.monotonic() + 10
            console.print(_summary(progress), highlight=False)

    return show


def _screen(progress: Progress) -> RenderableType:
    bar = ProgressBar(total=max(1, progress.total), completed=progress.logged, width=60)
    notes = [Text(f"Note: {note}", style="yellow") for note in progress.notes]
    parts: list[RenderableType] = [*notes, Text(_summary(progress)), bar]
    if progress.machines:
        parts.append(machine_table(progress.machines))
    if progress.phase == "playing":
        parts.append(_standings_table(progress))
    return Group(*parts)


def machine_table(machines: Sequence[Machine]) -> Table:
    """The machines of a cluster, the fastest first: cores, games a second, batches they are at."""
    table = Table("Machine", box=None, header_style="bold", pad_edge=False)
    for title in ("cores", "games/s", "batches out"):
        table.add_column(title, justify="right")
    ranked = sorted(machines, key=lambda machine: (-machine.rate, machine.name))
    for machine in ranked[:_SHOWN]:
        table.add_row(machine.name, str(machine.cores), f"{machine.rate:,.1f}", str(machine.out))
    if len(ranked) > _SHOWN:
        rest = ranked[_SHOWN:]
        cores, rate, out = sum(m.cores for m in rest), sum(m.rate for m in rest), sum(m.out for m in rest)
        table.add_row(f"and {len(rest)} more", str(cores), f"{rate:,.1f}", str(out))
    return table


def _summary(progress: Progress) -> str:
    games = f"{progress.logged:,} of {progress.total:,} games"
    if progress.phase in ("preparing", "measuring"):
        return f"{games} · {progress.phase} {progress.detail}"
    if progress.phase == "merging":
        return f"{games} · putting the log in order"
    left = f"{timedelta(seconds=round(progress.seconds_left))} left" if progress.rate else "starting"
    return f"{games} · {progress.rate:,.0f} games/s · {left}{_on_machines(progress.machines)}"


def _on_machines(machines: Sequence[Machine] | None) -> str:
    if machines is None:
        return ""
    if not machines:
        return " · no machine plays"
    return f" · {counted(len(machines), 'machine')}, {counted(sum(machine.cores for machine in machines), 'core')}"


def _standings_table(progress: Progress) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("Agent")
    for title in ("openings", "win rate", "95 % at any time"):
        table.add_column(title, justify="right")
    best = live_standings(progress.plan, progress.points)
    for standing in best[:_SHOWN]:
        interval = f"{100 * standing.low:.1f} – {100 * standing.high:.1f}"
        rate = f"{100 * standing.rate:.1f} %" if standing.openings else "–"
        table.add_row(standing.name, str(standing.openings), rate, interval)
    if len(best) > _SHOWN:
        table.add_row(f"and {len(best) - _SHOWN} more", "", "", "")
    return table


@contextmanager
def counting(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show on the terminal how many of a number of things are done, and how long the rest will take."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    if not console.is_interactive:
        # Nobody watches, and a bar would leave empty lines.
        yield lambda done, total: None
        return
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
