"""Copies of submissions in a league's run: it plays these, so that a changed folder changes no game."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from filecmp import cmp
from pathlib import Path

from knights_isolation.isolation.loading.load_user_code import content_hash

from ..record.run_directory import SUBMITTED
from .submissions import Submission, is_not_theirs

_PART_OF_THEIRS = ("isolation", "tests", "test")


def keep(players: Sequence[Submission], run: Path) -> dict[Path, Path]:
    """Copy all that submissions may read into the folder of a run, and return the file of each copy by its original.

    Raises:
        ValueError: one cannot be copied, or the submissions are in the folder that the copies belong into.
    """
    copies = {player.file: copy_in(run, player.name, player.file) for player in players}
    for file, copied in copies.items():
        folder, copy = file.parent, copied.parent
        if folder.resolve().is_relative_to(copy.parent.resolve()):
            raise ValueError(f"{folder} is where the league keeps its copies: choose another --out")
        shutil.rmtree(copy, ignore_errors=True)  # left by a process that was killed
        try:
            shutil.copytree(folder, copy, symlinks=True, ignore=_ignored)
        except (OSError, shutil.Error) as error:
            first = error.args[0][0][2] if isinstance(error, shutil.Error) else error.strerror
            raise ValueError(f"{folder} cannot be copied into {copy.parent}: {first}") from None
    return copies


def copy_in(run: Path, name: str, file: Path) -> Path:
    """Return the file of a submission's copy in a run."""
    return run.absolute() / SUBMITTED / name / file.name


def _ignored(folder: str, names: list[str]) -> list[str]:
    """Return what no player reads: hidden files, environments, and what is neither file, folder nor link."""
    paths = {name: Path(folder, name) for name in names}
    return [
        name
        for name, path in paths.items()
        if (is_not_theirs(name) and name not in _PART_OF_THEIRS)
        or not (path.is_symlink() or path.is_file() or path.is_dir())
    ]


def is_unchanged(player: Submission, played: Path) -> bool:
    """Return whether a submission is what a league played from the file `played`; files added since do not count."""
    folder, copy = player.file.parent, played.parent
    if not played.is_file() or content_hash(player.file) != content_hash(played):
        return False
    files = [path for path in copy.rglob("*") if path.is_file() and not path.is_symlink()]
    there = [folder / path.relative_to(copy) for path in files]
    return all(path.is_file() and cmp(file, path, shallow=False) for file, path in zip(files, there, strict=True))
