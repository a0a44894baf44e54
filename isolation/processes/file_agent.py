"""Players from files, loaded and run in child processes only."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from ..editions.edition import THIRD
from ..editions.third.conversion import unsupported_size_reason
from ..loading.load_user_code import content_hash, load_player
from ..players.agents import ForfeitError, OwnProcessAgent
from ..players.classic_agent import ClassicAgent
from ..rules.limits import Limit
from ..rules.outcome import Reason
from .agent_pickling import recipe
from .child import Setup
from .child_process import START_SECONDS, ChildProcess
from .subprocess_player import SubprocessPlayer, judge_given, open_for_questions, patience
from .transport import Transport

IMPORT_SECONDS = 10.0
"""Timeout of importing a file in a restricted process, including the start of the process."""
USUAL_CAP = 10.0
"""Default hard cap of a move in a restricted process, in seconds."""


@dataclass(frozen=True)
class FileAgent(OwnProcessAgent):
    """A player in a file that is never loaded in this process.

    Attributes:
        file: absolute path of the file.
        player: name of the player's class or factory function in the file.
        content: hash of its code.
        limit: wall or CPU time per move.
        edition: edition of its class; empty if unknown.
        is_restricted: whether its process may only read files and compute; see `sandbox.enter_sandbox`.
        hard_cap: seconds after which a move or the start of a game counts as a hang; None for the default.
        data: hash of what its file read when it was imported; empty if nothing, or if that is unknown.
        errors: folder for tracebacks; empty to discard them.
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
    data: str = ""
    is_deterministic: bool = field(default=False, init=False)
    is_user_code: bool = field(default=True, init=False)

    def why_unfit(self, size: tuple[int, int]) -> str:
        """Return that the board is too large for third-edition states, if the player is of that edition; else ""."""
        return unsupported_size_reason(*size) if self.edition == THIRD.name else ""

    def settings(self) -> dict[str, Any]:
        """Return the origin of the player's code, and its limit."""
        kind, player = "apart" if self.is_restricted else "classic", f"{Path(self.file).name}:{self.player}"
        data = {"data": self.data} if self.data else {}
        return {"kind": kind, "player": player, "limit": {self.limit.unit: self.limit.value}, **data}

    def capped(self, seconds: float) -> FileAgent:
        """Return the same player with a timeout of `seconds` per move."""
        return replace(self, hard_cap=seconds)

    def open(self, start: Callable[[], Transport] | None = None) -> SubprocessPlayer:
        """Return a player; its process is started for the first game."""
        make = recipe(_open_file, self.file, self.player, self.content, self.name, self.limit)
        usual = USUAL_CAP if self.is_restricted else patience(self)
        return SubprocessPlayer(
            self.name,
            sandboxed(make, self.file) if self.is_restricted else Setup(make, folder=str(Path(self.file).parent)),
            usual if self.hard_cap is None else self.hard_cap,
            judge_given(self.limit, overruns=self.edition in ("", THIRD.name)),
            start or partial(ChildProcess, is_sandboxed=self.is_restricted),
            IMPORT_SECONDS if self.is_restricted else START_SECONDS,
            refused=lambda why: ForfeitError(Reason.ERROR, f"cannot be loaded: {why}"),
            note=self._note,
        )

    def _note(self, loss: ForfeitError) -> None:
        """Write the traceback of an error to the folder of errors."""
        if not (loss.traceback and self.errors):
            return
        folder = Path(self.errors)
        with suppress(OSError):
            folder.mkdir(exist_ok=True)
            with (folder / f"{file_name(self.name)}.jsonl").open("a", encoding="utf-8") as file:
                file.write(f"{json.dumps({'detail': loss.detail, 'traceback': loss.traceback})}\n")


def sandboxed(make: bytes, file: str | Path) -> Setup:
    """Return the setup of a sandboxed process for a user's file: it may read that file's folder, and compiled code."""
    # Here, since it imports LLVM, which players do without.
    from ..compiling.code_cache import engine_folders

    return Setup(make, "sandboxed", str(Path(file).parent), readable=tuple(map(str, engine_folders())))


def _open_file(path: str, name: str, content: str, agent: str, limit: Limit) -> Callable[..., object]:
    """Open the player in its process, from code with the hash `content`."""
    was_same = content_hash(path) == content
    factory = load_player(path, name).value if was_same else None
    if factory is None or content_hash(path) != content:  # checked again, since it may change while being loaded
        raise ValueError(f"{path} has changed since the run began")
    return open_for_questions(ClassicAgent(agent, factory, (), limit))


def file_name(agent: str) -> str:
    """Convert an agent's name to a file name.

    >>> file_name("my agent/2")
    'my_agent_2'
    """
    return re.sub(r"[^\w.+-]", "_", agent)
