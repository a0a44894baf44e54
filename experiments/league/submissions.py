"""Find submissions by static inspection; nothing of them is run."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from experiments.roster.static_inspection import player_in
from isolation.usercode.user_exceptions import to_one_line

USUAL_FILES = ("game_agent.py", "my_custom_player.py")
"""What the editions call the file that students write."""
DEEPEST = 3
"""Folders within folders that are looked through."""
MOST_FILES = 200
"""Files of a submission that are looked into."""

_NOT_UTF8 = "its name is not UTF-8: rename it"
_LEADS_NOWHERE = "is a broken link"
_NOT_THEIRS = ("isolation", "tests", "test", "venv", "env", "site-packages", "node_modules", "__pycache__")


@dataclass(frozen=True)
class Submission:
    """A player that was found.

    Attributes:
        name: of its folder, as agents are named.
        file: the absolute path of its file.
        player: the class in it.
        edition: first, second or third; empty where its source does not tell.
        folder: what its folder is called, of which the name is made.
    """

    name: str
    file: Path
    player: str
    edition: str
    folder: str = ""

    @property
    def is_renamed(self) -> bool:
        """Whether it is called otherwise than its folder."""
        return self.folder not in ("", self.name)

    @property
    def spec(self) -> str:
        """It as an agent: in a confined process, and under the limit of the tournament."""
        return f"{self.name}=apart:{self.file}:{self.player}"


@dataclass(frozen=True)
class Skipped:
    """What lies among the submissions and does not play, and why."""

    name: str
    why: str


@dataclass(frozen=True)
class Found:
    """What a folder of submissions holds, by name."""

    players: tuple[Submission, ...]
    skipped: tuple[Skipped, ...]


def find_submissions(folder: str | Path, known: Mapping[str, Path | None] | None = None) -> Found:
    """The players in the sub-folders of a folder, one each, and what there is beside them.

    Those whose folder is `known`, as it holds the file of a name, have that name; nobody else has a known one.

    Raises:
        ValueError: there is no such folder, its name is not UTF-8, or it has no sub-folder.
    """
    home = Path(folder)
    if not _is_utf8(home):
        raise ValueError(f"{to_one_line(home)}: {_NOT_UTF8}")
    try:
        entries = sorted(entry for entry in home.iterdir() if not entry.name.startswith((".", "__")))
    except OSError as error:
        raise ValueError(f"{home}: {error.strerror}") from None
    if not any(entry.is_dir() for entry in entries):
        raise ValueError(f"{home} has no folders: put each submission into a folder named after it")
    players: dict[str, Submission] = {}
    known = known or {}
    skipped = []
    for entry in entries:
        if why := _why_passed_over(entry):
            skipped.append(Skipped(to_one_line(entry.name), why))
        elif entry.is_dir():
            submission = _submission(entry)
            if isinstance(submission, Submission):
                submission = _renamed(submission, _known_as(entry, known), {*players, *known})
                players[submission.name] = submission
            else:
                skipped.append(submission)
        elif entry.suffix == ".py":
            skipped.append(Skipped(entry.name, "is not in its own folder"))
    return Found(tuple(players.values()), tuple(skipped))


def _why_passed_over(entry: Path) -> str:
    """Why nothing is looked for in what lies among the submissions; empty if something is."""
    if not _is_utf8(entry):
        return _NOT_UTF8
    if not entry.is_symlink():
        return ""
    return "is a link to a file outside the submission" if entry.exists() else _LEADS_NOWHERE


def _submission(folder: Path) -> Submission | Skipped:
    """The player of a folder, or why there is none."""
    name = re.sub(r"[^\w.+-]", "_", folder.name)
    refusals = []
    for file in _sources(folder):
        player = _why_unread(file, folder) or player_in(file)
        if isinstance(player, tuple):
            return Submission(name, file.absolute(), *player, folder.name)
        if player:
            refusals.append(f"{to_one_line(file.relative_to(folder))} {player}")
    nothing = "has no class with a method get_move or get_action"
    return Skipped(name, refusals[0] if refusals else nothing)


def _why_unread(file: Path, folder: Path) -> str:
    """Why a file of a submission is none that plays, whatever it holds; empty if it may."""
    if not _is_utf8(file):
        return f"cannot play: {_NOT_UTF8}"
    if not Path(os.path.realpath(file)).is_relative_to(os.path.realpath(folder)):
        return "is reached by a link out of its folder"
    if file.is_symlink() and not file.exists():
        return _LEADS_NOWHERE
    if file.is_dir():
        return "is a directory"
    return "" if file.is_file() else "is not a regular file"


def _is_utf8(path: Path) -> bool:
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _known_as(folder: Path, known: Mapping[str, Path | None]) -> str | None:
    """The name of which the file lies in a folder."""
    home = folder.resolve()
    return next((name for name, file in known.items() if file and file.resolve().is_relative_to(home)), None)


def _renamed(submission: Submission, known_as: str | None, others: Collection[str]) -> Submission:
    """The submission under the name it is known as, or else one that is nobody else's."""
    if known_as:
        return replace(submission, name=known_as)
    names = (submission.name if number == 1 else f"{submission.name}-{number}" for number in range(1, len(others) + 2))
    free = next(name for name in names if name not in others)
    return replace(submission, name=free)


def _sources(folder: Path) -> Iterator[Path]:
    """Python files of a submission: those the editions name first, then the least deep."""
    files = []
    for depth in range(1, DEEPEST + 2):
        files += [
            file
            for file in sorted(folder.glob("*/" * (depth - 1) + "*.py"))
            if not any(_is_not_theirs(part) for part in file.relative_to(folder).parts[:-1])
        ]
    usual = [file for file in files if file.name in USUAL_FILES]
    yield from [*usual, *(file for file in files if file not in usual)][:MOST_FILES]


def _is_not_theirs(part: str) -> bool:
    return part in _NOT_THEIRS or part.startswith(".")
