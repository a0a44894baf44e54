"""Players from files, loaded and run in child processes only."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from isolation.editions.edition import THIRD
from isolation.editions.third.conversion import unsupported_size_reason
from isolation.loading.load_user_code import content_hash, load_player
from isolation.players.agents import ForfeitError, UncompiledAgent
from isolation.players.classic_agent import ClassicAgent
from isolation.processes.agent_pickling import recipe
from isolation.processes.child import Setup
from isolation.processes.child_process import START_SECONDS, ChildProcess
from isolation.processes.subprocess_player import SubprocessPlayer, judge_given, open_for_questions, patience
from isolation.processes.transport import Transport
from isolation.rules.limits import Limit
from isolation.rules.outcome import Reason

IMPORT_SECONDS = 10.0
"""What a file may take to be imported in a restricted process, the process's own start included."""
USUAL_CAP = 10.0
"""Seconds for a move in a restricted process where no hard cap was asked for."""


@dataclass(frozen=True)
class FileAgent(UncompiledAgent):
    """A player of a file that is nothing but data here.

    Attributes:
        file: the file's absolute path.
        player: the name of its class in it, or of a function that makes one.
        content: the hash of its code.
        limit: wall or processor time a move.
        edition: that of its class; empty where nobody knows.
        is_restricted: whether its process may only read files and compute; see `sandbox.enter_sandbox`.
        hard_cap: seconds after which a move, or the beginning of a game, counts as a hang; None for the usual.
        errors: the folder that tracebacks are kept in; empty for nowhere.
    """

    name: str
    file: str
    player: str
    content: str
    limit: Limit
    edition: str = ""
    is_restricted: bool = False
    hard_cap: float | None = None
    errors: str = ""
    is_deterministic: bool = field(default=False, init=False)
    is_user_code: bool = field(default=True, init=False)

    def why_unfit(self, size: tuple[int, int]) -> str:
        """Players of the third edition know boards of up to 9x11."""
        return unsupported_size_reason(*size) if self.edition == THIRD.name else ""

    def settings(self) -> dict[str, Any]:
        """Where the player's code comes from, and its limit."""
        kind, player = "apart" if self.is_restricted else "classic", f"{Path(self.file).name}:{self.player}"
        return {"kind": kind, "player": player, "limit": {self.limit.unit: self.limit.value}}

    @property
    def has_own_process(self) -> bool:
        """Yes: whatever it plays in can be ended."""
        return True

    def keeping_errors(self, folder: Path) -> FileAgent:
        """The same player, its tracebacks going to a file in a folder, which is made in one that exists."""
        return replace(self, errors=str(folder)) if folder.parent.is_dir() else self

    def capped(self, seconds: float) -> FileAgent:
        """The same player, given up after so many seconds without a move."""
        return replace(self, hard_cap=seconds)

    def open(self, start: Callable[[], Transport] = ChildProcess) -> SubprocessPlayer:
        """What asks the player's process for moves; it is started for the first game."""
        make = recipe(_open_file, self.file, self.player, self.content, self.name, self.limit)
        usual = USUAL_CAP if self.is_restricted else patience(self)
        return SubprocessPlayer(
            self.name,
            Setup(make, "sandboxed" if self.is_restricted else "contained", str(Path(self.file).parent)),
            usual if self.hard_cap is None else self.hard_cap,
            judge_given(self.limit, overruns=self.edition in ("", THIRD.name)),
            start,
            IMPORT_SECONDS if self.is_restricted else START_SECONDS,
            refused=lambda why: ForfeitError(Reason.ERROR, f"cannot be loaded: {why}"),
            note=self._note,
        )

    def _note(self, loss: ForfeitError) -> None:
        """Keep the traceback of an error."""
        if not (loss.traceback and self.errors):
            return
        folder = Path(self.errors)
        with suppress(OSError):
            folder.mkdir(exist_ok=True)
            with (folder / f"{file_name(self.name)}.jsonl").open("a", encoding="utf-8") as file:
                file.write(f"{json.dumps({'detail': loss.detail, 'traceback': loss.traceback})}\n")


def _open_file(path: str, name: str, content: str, agent: str, limit: Limit) -> Callable[..., object]:
    """Open the player in the process that it plays in, of code that has the hash `content`.

    Raises:
        ValueError: the file, or one that it imports, is not what it was, or cannot be loaded.
    """
    was_same = content_hash(path) == content
    factory = load_player(path, name).value if was_same else None
    if factory is None or content_hash(path) != content:  # read again, as it may change while it is being loaded
        raise ValueError(f"{path} has changed since the run began")
    return open_for_questions(ClassicAgent(agent, factory, (), limit))


def file_name(agent: str) -> str:
    """An agent's name as that of a file.

    >>> file_name("my agent/2")
    'my_agent_2'
    """
    return re.sub(r"[^\w.+-]", "_", agent)
