"""Journal of a tuning: its settings, then a line per batch. It is the only state; a tuning resumes where it ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from experiments.learn.tuning_games import Batch, BatchResult, PlayBatches
from experiments.record.checked_lines import append_lines, open_journal


class Journal:
    """Played batches of one tuning; a single process writes."""

    def __init__(self, path: Path | None, question: Mapping[str, Any]) -> None:
        """Create the file, or read it; without a path nothing is kept.

        Raises:
            ValueError: the file has other settings, is damaged, or is not a journal.
        """
        self._path = path
        played = open_journal(path, question, lambda line: BatchResult(**line)) if path else []
        self.tallies = {result.key: result for result in played}

    def meet(self, batches: Sequence[Batch], play: PlayBatches) -> list[BatchResult]:
        """Return the results of batches in order; missing ones are played, and kept as they finish."""
        missing = [batch for batch in batches if batch.key not in self.tallies]
        for result in play(missing) if missing else ():
            self.tallies[result.key] = result
            if self._path:
                append_lines(self._path, [asdict(result)])
        return [self.tallies[batch.key] for batch in batches]
