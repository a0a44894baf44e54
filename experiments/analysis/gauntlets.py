"""Runs of an analysis: gauntlets at equal nodes and at equal cost, and a short one for interpreted code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from knights_isolation.isolation.rules.geometry import parse_size

from ..plan.config import load_config, playable_size
from ..play.runner import Play, play_kept
from ..record.run_directory import HOME, digest_of, games_at_end
from ..roster import parse_limit
from ..statistics.run_results import RunResults, load_findings
from .file_contents import FileContents

RunKind = Literal["nodes", "cost", "python", "players", "dear-nodes", "dear-cost"]
"""Kinds of gauntlets."""
DEAR_RUN = "dear-"
"""Prefix of the gauntlets of functions whose nodes cost very much, which are played last."""

MOST_PAIRS = 500
_PAIRS = 1600
"""Pairs against each opponent, divided among all functions: about a minute of games."""
LARGE_BOARD = 4
"""Factor by which a game takes longer on boards of more than 64 cells."""
PYTHON_LIMIT, PYTHON_PAIRS = "nodes=100", 10
"""Limit and pairs for functions that do not compile, which are much slower."""
PLAYER_LIMIT, PLAYER_PAIRS = "cpu_ms=50", 2
"""Limit and pairs for players, which use all the time they are given."""


@dataclass(frozen=True)
class TrialConditions:
    """Test conditions for the functions and players of a file, on a board ROWSxCOLUMNS.

    The `baseline` is the agent to beat; None for ID_Improved. The `opponents` are those of all contenders; empty for
    the seven classic opponents. The `limit` is per move. `pairs` are openings against each opponent, each played with
    sides swapped; None for as many as a minute allows. The `seed` is of openings and games.
    """

    baseline: str | None = None
    opponents: tuple[str, ...] = ()
    limit: str = "nodes=10000"
    size: str = "7x7"
    pairs: int | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        try:
            playable_size(self.size)
        except ValueError as error:
            raise ValueError(f"board {self.size}: {error}") from None

    @property
    def is_of_nodes(self) -> bool:
        """Return whether the limit counts nodes, so that searches can also be compared at equal cost."""
        return parse_limit(self.limit).unit == "nodes"


def play_gauntlet(
    contents: FileContents,
    names: Sequence[str],
    kind: RunKind,
    question: TrialConditions,
    jobs: int,
    play: Play,
    among: int = 0,
) -> RunResults:
    """Play a gauntlet of these functions or players and return its results. Finished games are not played again.

    `among` is the number of functions that the time of an analysis is divided among; by default that of `names`.

    Raises:
        KeyboardInterrupt: the run was interrupted.
    """
    config = load_config(None, _keys(contents, names, kind, question, jobs, among or len(names)))
    path = Path(str(config.out))
    return load_findings([play_kept(config, play) if games_at_end(path) is None else path])


def _keys(
    contents: FileContents, names: Sequence[str], kind: RunKind, question: TrialConditions, jobs: int, among: int
) -> dict[str, Any]:
    pairs, limit = size_of_run(among, kind, question)
    form = "{name}={path}:{name}" if kind == "players" else "{name}=ID:{path}:{name}"
    limits = f"@{PLAYER_LIMIT}" if kind == "players" and question.is_of_nodes else ""
    keys: dict[str, Any] = {
        "contenders": tuple(form.format(name=name, path=contents.path) + limits for name in names),
        "control": kind.removeprefix(DEAR_RUN) in ("nodes", "cost"),
        "board": question.size,
        "pairs": question.pairs or pairs,
        "limit": limit,
        "equal_cost": kind.removeprefix(DEAR_RUN) == "cost",
        "seed": question.seed,
    }
    keys |= {"baseline": question.baseline} if question.baseline else {}
    keys |= {"opponents": question.opponents} if question.opponents else {}
    name = f"{Path(contents.path).stem}-{digest_of([contents.content_hash, keys])}-{kind}"
    return {**keys, "jobs": jobs, "out": str(HOME / name)}


def size_of_run(functions: int, kind: RunKind, question: TrialConditions) -> tuple[int, str]:
    """Return the number of pairs against each opponent and the limit per move."""
    if kind == "players":
        return PLAYER_PAIRS, question.limit
    if kind == "python":
        return PYTHON_PAIRS, PYTHON_LIMIT if question.is_of_nodes else question.limit
    if not question.is_of_nodes:
        return PYTHON_PAIRS, question.limit
    pairs = min(MOST_PAIRS, _PAIRS // (functions + 1))
    rows, columns = parse_size(question.size)
    return max(1, pairs // (LARGE_BOARD if rows * columns > 64 else 1)), question.limit
