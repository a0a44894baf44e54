"""Files of another commit of a git repository."""

from __future__ import annotations

import io
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from .atomic_write import make_folder


@dataclass(frozen=True)
class Revision:
    """A commit of a repository, under the name that the user has for it.

    Attributes:
        repository: its top folder.
        name: such as `main`.
        commit: its hash, shortened by git.
    """

    repository: Path
    name: str
    commit: str

    def unpack(self, home: Path) -> Path:
        """Return a folder below `home` with the files of the commit, laid out as in the repository; it is kept."""
        folder = home / self.commit
        if not folder.exists():
            make_folder(home)
            packed = _git(self.repository, "archive", "--format=tar", self.commit)
            with TemporaryDirectory(dir=home) as new, tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                archive.extractall(new, filter="data")
                Path(new).rename(folder)
                Path(new).mkdir()  # which is removed now
        return folder


def revision_named(name: str, file: Path) -> Revision:
    """Return the commit called `name` of the repository that a file is in.

    Raises:
        ValueError: the file is in no repository, it has no such commit, or git is missing.
    """
    repository = Path(_text(file.resolve().parent, "rev-parse", "--show-toplevel"))
    try:
        commit = _text(repository, "rev-parse", "--short", "--verify", "--end-of-options", f"{name}^{{commit}}")
    except ValueError:
        raise ValueError(f"{repository} has no commit called {name}: fetch it, or name another one") from None
    return Revision(repository, name, commit)


def _text(folder: Path, *words: str) -> str:
    return _git(folder, *words).decode().strip()


def _git(folder: Path, *words: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=False)
    except FileNotFoundError:
        raise ValueError("git is not installed, which compares commits") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise ValueError(f"{folder}: {said[-1] if said else f'git ended with code {done.returncode}'}")
    return done.stdout
