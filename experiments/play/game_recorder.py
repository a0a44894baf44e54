"""Record games: results in memory, log parts on disk."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.rules.game import AT_LAST, ON_THE_BOARD, REASON_WORDS, Reason
from knights_isolation.isolation.suggestions import advice, command

from ..plan import run_keeping
from ..plan.schedule import Ids, points_table, record_points
from ..plan.tournament_plan import Plan
from ..record import log, log_parts
from ..record.columns import numbers, texts
from ..record.run_directory import lock_file, resume_advice
from .finished_games import FinishedGames, check_scheduled, games_table, joined

BY_CLOCK = (Reason.TIMEOUT.word, Reason.HANG.word)
"""Reasons that depend on the machine's speed."""

_LONGEST_DETAIL = 120
_SHORTEST = 0.5
_LONGEST = 2.0
_SHARE = 0.002


class UnwritableLogError(OSError):
    """The log cannot be written, or its run was moved or deleted meanwhile: in one line, with how to resume."""


class GameRecorder:
    """Results of a run so far, including those already in its log.

    `points` has every result (see `schedule.points_table`). `logged` and `reasons` count the games that are safely in
    the log. `forfeits` has the details of games that were not decided on the board, by loser and reason. `duplicates`
    is the number of duplicate games that were found and removed. `path` is the directory of the run.
    """

    def __init__(self, run: Path, plan: Plan) -> None:
        self.plan = plan
        self.points = points_table(plan.schedule)
        self.reasons: Counter[str] = Counter()
        self.forfeits: dict[tuple[int, str], Counter[str]] = {}
        self.logged = 0
        self.duplicates = 0
        self.path = run
        self._lock = lock_file(run)
        self._folder = log.games_folder(run)
        self._waiting: list[FinishedGames] = []
        self._started = self._written = time.monotonic()
        with self._writing():
            log_parts.sweep(self._folder)
        self._recover()

    def add(self, played: FinishedGames) -> None:
        """Add finished games; `write` logs them.

        Raises:
            ChildProcessError: one of them was played before; none is added.
        """
        if (self.points.reshape(-1)[played.ids] >= 0).any():
            raise ChildProcessError(
                f"{self.path}: a worker sent duplicate games, which were discarded; "
                f"resume with {resume_advice(self.path)}"
            )
        record_points(self.points, played.ids, played.games.winner)
        self._waiting.append(played)

    def write_if_due(self) -> None:
        """Write the waiting games every half second to two seconds, in long runs less often, to limit the files."""
        now = time.monotonic()
        elapsed = now - self._started
        if now - self._written > max(min(_LONGEST, elapsed / 10), _SHORTEST, _SHARE * elapsed):
            self.write()

    def write(self) -> None:
        """Write the waiting games to the log; after an UnwritableLogError they are lost, and earlier ones are kept."""
        self._check_place()
        self._written = time.monotonic()
        if self._waiting:
            played, self._waiting = joined(self._waiting), []
            settings = [entrant.settings for entrant in self.plan.entrants]
            with self._writing():
                log_parts.append(self._folder, games_table(self.plan.schedule, settings, played))
            games = played.games
            self._count(played.ids, games.winner, np.array(REASON_WORDS)[games.reason], games.detail)

    @property
    def ended_by_clock(self) -> int:
        """Number of games that a time limit or the hard cap ended."""
        return sum(self.reasons[reason] for reason in BY_CLOCK)

    def forfeit_notes(self) -> list[str]:
        """Return notes about forfeits: who lost how many games of how many, and why; most games first."""
        forfeits = sorted(self.forfeits.items(), key=lambda item: -item[1].total())
        return [self._forfeit_note(*key, details) for key, details in forfeits]

    def losers_by(self, detail: str) -> set[int]:
        """Return the agents, by their indices in the plan, that lost logged games with this detail."""
        return {agent for (agent, _), details in self.forfeits.items() if detail in details}

    def close(self) -> None:
        """Merge the log's parts, and mark the run as finished."""
        unrepeatable = any(entrant.agent.why_unrepeatable for entrant in self.plan.entrants)
        reproducible = not (self.ended_by_clock or unrepeatable)
        with self._writing():
            log_parts.merge(self._folder)
            run_keeping.finish(self.path, self.logged, self.ended_by_clock, reproducible=reproducible)

    def _check_place(self) -> None:
        """Raise an error if the run has been moved or deleted: its path may belong to another run now."""
        if lock_file(self.path) != self._lock or not self.path.is_dir():
            left = "; what is there now was left unchanged" if self.path.exists() else ""
            raise UnwritableLogError(
                f"{self.path} was moved or deleted during the run{left}; the logged games moved with it: resume with "
                f"isolation tournament --resume and its new name"
            )

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Convert errors while writing the log, to distinguish them from errors elsewhere, such as in a worker."""
        self._check_place()
        try:
            yield
        except OSError as error:
            self._check_place()
            raise UnwritableLogError(
                f"{self.path}: cannot write the log: {error.strerror or error}; {log.count_games(self.path):,} games "
                f"are safe; resume with {resume_advice(self.path)}"
            ) from error

    def _forfeit_note(self, agent: int, reason: str, details: Counter[str]) -> str:
        detail = _shortened(details.most_common(1)[0][0])
        if detail:
            detail = f": {detail}" if len(details) == 1 else f", such as {detail}"
        matches = enumerate(self.plan.schedule.matches)
        own = [index for index, match in matches if agent in (match.first, match.second)]
        name, played = self.plan.schedule.agents[agent], np.count_nonzero(self.points[:, own] >= 0)
        results = advice(command("results", self.path), f"ki.results({str(self.path)!r})")
        return (
            f"{name} lost {details.total():,} of {played:,} games by {reason.replace('_', ' ')}{detail} (see {results})"
        )

    def _recover(self) -> None:
        check_scheduled(self.path, self.plan.schedule, [entrant.settings for entrant in self.plan.entrants])
        columns = ["game_id", "winner", "reason", "detail"]
        table = log.read_table(self.path, columns)
        if len(np.unique(numbers(table, "game_id"))) < len(table):
            with self._writing():
                run_keeping.reopen(self.path)
                self.duplicates = log_parts.remove_duplicates(self._folder)
            table = log.read_table(self.path, columns)
        ids = numbers(table, "game_id")
        winner, reasons = numbers(table, "winner"), texts(table, "reason")
        record_points(self.points, ids, winner)
        self._count(ids, winner, reasons, table["detail"])

    def _count(self, ids: Ids, winner: NDArray[np.int8], reasons: NDArray[np.str_], details: Sequence[Any]) -> None:
        self.logged += len(ids)
        for reason, count in zip(*np.unique(reasons, return_counts=True), strict=True):
            self.reasons[str(reason)] += int(count)
        forfeited = np.flatnonzero(~np.isin(reasons, ON_THE_BOARD))
        losers = self.plan.schedule.players(ids[forfeited])[np.arange(len(forfeited)), 2 - winner[forfeited]]
        for game, loser in zip(forfeited.tolist(), losers.tolist(), strict=True):
            self.forfeits.setdefault((loser, str(reasons[game])), Counter())[str(details[game])] += 1


def _shortened(detail: str) -> str:
    """Shorten a detail to its first words; if it ends with a dialogue with an engine, keep the end of that."""
    what, separator, dialogue = detail.partition(AT_LAST)
    if len(detail) <= _LONGEST_DETAIL or not separator:
        return shorten(detail, _LONGEST_DETAIL)
    text = shorten(what, _LONGEST_DETAIL // 2) + AT_LAST
    lines = dialogue.split(" | ")
    while len(lines) > 1 and len(text) + len(" | ".join(["…", *lines])) > _LONGEST_DETAIL:
        lines.pop(0)
    return text + " | ".join(["…", *lines] if lines[0] != "…" else lines)
