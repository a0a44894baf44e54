"""Journal of a tuning: JSON lines, the question first, then one line per batch.

The file is the only state. A run goes on where its file ends; a last line that a crash has cut short is left out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from experiments.learn.tuning_games import Batch, BatchResult, OpeningPool, Play

BATCH = 50
"""How many openings of a meeting are played at a time."""
Show = Callable[[int, int], None]
"""Called with the batches played, and those in all."""


class Journal:
    """The batches of one question that have been played; one process writes."""

    def __init__(self, path: Path | None, question: Mapping[str, Any]) -> None:
        """Begin a file, or read what it has; without a path nothing is kept.

        Raises:
            ValueError: the file is of another question, or is none of ours.
        """
        self.tallies: dict[int, BatchResult] = {}
        self._path = path
        if path is None:
            return
        if path.exists():
            self._read(path, dict(question))
        else:
            self._append(dict(question))

    def meet(self, batches: Sequence[Batch], play: Play, show: Show = lambda done, total: None) -> list[BatchResult]:
        """What became of batches, in their order; those that are missing are played, and kept as they come."""
        missing = [batch for batch in batches if batch.key not in self.tallies]
        before = len(batches) - len(missing)
        show(before, len(batches))
        for done, result in enumerate(play(missing) if missing else (), start=before + 1):
            self.tallies[result.key] = result
            self._append(asdict(result))
            show(done, len(batches))
        return [self.tallies[batch.key] for batch in batches]

    def meet_on_all(
        self, meetings: Sequence[tuple[str, str]], pool: OpeningPool, play: Play, show: Show
    ) -> list[BatchResult]:
        """What becomes of meetings of two agents on all openings of a pool; one result a meeting."""
        starts = range(0, len(pool), BATCH)
        batches = [
            pool.batch(index * len(starts) + number, *meeting, start, min(BATCH, len(pool) - start))
            for index, meeting in enumerate(meetings)
            for number, start in enumerate(starts)
        ]
        results = self.meet(batches, play, show)
        by_meeting = [results[start : start + len(starts)] for start in range(0, len(results), len(starts))]
        return [
            BatchResult(index, "".join(part.won for part in parts), sum(part.forfeits for part in parts))
            for index, parts in enumerate(by_meeting)
        ]

    def _append(self, line: Mapping[str, Any]) -> None:
        if self._path is None:
            return
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, sort_keys=True) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _read(self, path: Path, question: dict[str, Any]) -> None:
        text = path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        try:
            first, *batch_lines = (json.loads(line) for line in whole.splitlines())
            first = dict(**first)
            tallies = [BatchResult(**line) for line in batch_lines]
        except (ValueError, TypeError):
            raise ValueError(f"{path} is not a record of a tuning: choose another name with --out") from None
        differing = [
            key for key in {**question, **first} if first.get(key) != json.loads(json.dumps(question)).get(key)
        ]
        if differing:
            raise ValueError(
                f"{path} contains games with different settings ({', '.join(sorted(differing))}): choose another name "
                f"with --out, or remove it"
            )
        self.tallies = {tally.key: tally for tally in tallies}
        if whole != text:
            path.write_text(whole, encoding="utf-8")
