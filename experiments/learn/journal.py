"""Journal of a tuning: JSON lines, the settings first, then one line per batch.

The file is the only state. A tuning resumes where its file ends; an incomplete last line is discarded.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from experiments.learn.tuning_games import Batch, BatchResult, PlayBatches


class Journal:
    """Played batches of one tuning; a single process writes."""

    def __init__(self, path: Path | None, question: Mapping[str, Any]) -> None:
        """Create the file, or read it; without a path nothing is kept.

        Raises:
            ValueError: the file has other settings, or is not a journal.
        """
        self.tallies: dict[int, BatchResult] = {}
        self._path = path
        if path is None:
            return
        if path.exists():
            self._read(path, dict(question))
        else:
            self._append(dict(question))

    def meet(self, batches: Sequence[Batch], play: PlayBatches) -> list[BatchResult]:
        """Return the results of batches in order; missing ones are played, and kept as they finish."""
        missing = [batch for batch in batches if batch.key not in self.tallies]
        for result in play(missing) if missing else ():
            self.tallies[result.key] = result
            self._append(asdict(result))
        return [self.tallies[batch.key] for batch in batches]

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
