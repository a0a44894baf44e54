"""What playing a run answers: its verdicts and standings, meanwhile live on a page if asked for, or its plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from knights_isolation.experiments.noting import note_run
from knights_isolation.experiments.plan.config import example_toml
from knights_isolation.experiments.play.pools.interrupts import keeping, until_interrupted
from knights_isolation.experiments.play.run_request import RunRequest
from knights_isolation.experiments.play.runner import RunOutcome
from knights_isolation.experiments.record.run_directory import new_directory, resume_advice
from knights_isolation.experiments.statistics.run_results import load_findings
from knights_isolation.isolation.files.atomic_write import write_new
from knights_isolation.isolation.suggestions import command as shown_command

from ..answers import Result
from ..studies.headlines import run_answer
from ..studies.planning import dry_run
from ..watch.run_progress import end_message, judging, outcome_text

Play = Callable[..., RunOutcome]


def write_example() -> Result[Any]:
    """Write a commented tournament.toml."""
    write_new(Path("tournament.toml"), example_toml())
    return Result(None, (), text="Wrote tournament.toml. Play it with: isolation tournament tournament.toml")


def play_request(request: RunRequest, play: Play, command: str) -> Result[Any]:
    """Play a run by `play`, and return its verdicts and standings; on the command line also how it went.

    `command` is the one that runs, for the log of tries; empty in Python.

    Raises:
        Stopped: it was interrupted; in Python only before its first game.
    """
    if request.dry_run:
        return dry_run(*request.plan())
    if request.watch:
        return _watched(request, play, command)
    with keeping(f"{request.resume} is unchanged" if request.resume else ""):
        outcome = request.play(play)
    if command and outcome.logged and not outcome.finished:
        print(outcome_text(outcome))
    goes_on = shown_command("results", outcome.path) if outcome.finished else resume_advice(outcome.path)
    with judging(outcome, command, goes_on):
        if outcome.finished and outcome.played:
            kind = "match" if outcome.plan.config.format == "head-to-head" else "tournament"
            note_run(command or kind, outcome.path)
        if not outcome.logged:
            return Result(None, (), text=end_message(outcome))
        answer = run_answer(load_findings([outcome.path]))
        return replace(answer, text=f"{outcome_text(outcome, answer.sections[0])}\n{end_message(outcome)}")


def _watched(request: RunRequest, play: Play, command: str) -> Result[Any]:
    """Play a request while serving the page of the run, and keep serving it until Ctrl-C."""
    from ..board.resources import Resources
    from .server import page_of_run, serve_in_background

    path = request.resume or new_directory(request.config())
    shelf = Resources((path,))
    with serve_in_background(shelf, page_of_run(path), lambda address: print(f"Live page: {address}")) as stay:
        keys = request.keys if request.resume else {**request.keys, "out": str(path)}
        answer = play_request(replace(request, keys=keys, watch=False), play, command)
        print(f"{answer.text}\nPress Ctrl-C to close the page.")
        with until_interrupted():
            stay()
    return replace(answer, text=" ")
