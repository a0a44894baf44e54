"""What has been played of a tuning or a sweep, as lines of JSON: the question first, then a batch a line.

The file is the only state. A run goes on where its file ends; a last line that a crash has cut short is left out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.learn.tuning_games import Pairs


@dataclass(frozen=True)
class BatchResult:
    """What became of a batch: games won by the first agent of each opening's two, as digits, and games lost by anything
    but having no move."""

    key: int
    won: str
    forfeits: int

    @classmethod
    def of(cls, pairs: Pairs) -> BatchResult:
        """The tally of a batch."""
        return cls(pairs.key, "".join(map(str, pairs.wins.tolist())), pairs.forfeits)

    @property
    def each(self) -> NDArray[np.int64]:
        """int64[n], games won of each opening's two."""
        return np.array(list(map(int, self.won)), np.int64)

    @property
    def openings(self) -> int:
        """How many were played."""
        return len(self.won)

    @property
    def wins(self) -> int:
        """Games won in all."""
        return int(self.each.sum())

    @property
    def squares(self) -> float:
        """The sum over openings of the squared deviation of their wins from the mean."""
        return float(((self.each - self.each.mean()) ** 2).sum())


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

    def add(self, pairs: Pairs) -> None:
        """Keep what became of a batch."""
        tally = BatchResult.of(pairs)
        self.tallies[tally.key] = tally
        self._append(asdict(tally))

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
            first, *rest = (json.loads(line) for line in whole.splitlines())
            first = dict(**first)
            tallies = [BatchResult(**line) for line in rest]
        except (ValueError, TypeError):
            raise ValueError(f"{path} is no record of a tuning or a sweep: choose another name with --out") from None
        differing = [
            key for key in {**question, **first} if first.get(key) != json.loads(json.dumps(question)).get(key)
        ]
        if differing:
            raise ValueError(
                f"{path} holds the games of another question, which differs in {', '.join(sorted(differing))}: "
                "choose another name with --out, or remove it"
            )
        self.tallies = {tally.key: tally for tally in tallies}
        if whole != text:
            path.write_text(whole, encoding="utf-8")
