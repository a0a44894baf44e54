"""Find submissions by static inspection, in folders and archives (unpacked within limits); no code is run."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import stat
import tarfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from io import BytesIO
from itertools import chain, count
from pathlib import Path
from secrets import token_hex
from typing import IO
from zipfile import ZipFile

from knights_isolation.isolation.compiling import code_cache
from knights_isolation.isolation.files.atomic_write import write_text
from knights_isolation.isolation.usercode.user_exceptions import to_one_line

from ..plan.user_files import LARGEST_SOURCE, player_in

LARGEST_ARCHIVE = 20_000_000
"""Maximum size of an archive in bytes."""
LARGEST_CONTENT = 100_000_000
"""Maximum total size of its files in bytes; opening books of the third edition have tens of millions."""
MOST_MEMBERS = 2_000
"""Maximum number of files and folders in an archive."""
DEEPEST_MEMBER = 10
"""Maximum folder depth in an archive."""

_SUFFIX = re.compile(r"\.(zip|tar|tar\.gz|tgz)$", re.IGNORECASE)
_FOREIGN = re.compile(r"\.(7z|rar|gz|bz2|xz|tbz2?|txz|zst|lz|cab|arj)$", re.IGNORECASE)
_ASK = "ask for another archive"
_TRY_BY_HAND = f"unpack it by hand, or {_ASK}"
_MARK = "archive.sha256"

_Member = tuple[str, int, Callable[[], IO[bytes] | None]]
"""A file in an archive: its path, its size, and the function that opens it."""


class ArchiveError(ValueError):
    """An archive cannot be unpacked; the message contains the reason and the remedy."""


def stem_of(name: str) -> str:
    """Return an archive's name without its suffix; empty if it is no supported archive.

    >>> stem_of("ada.tar.gz"), stem_of("ben.ZIP"), stem_of("cleo.rar"), stem_of("dan")
    ('ada', 'ben', '', '')
    """
    return _SUFFIX.sub("", name) if _SUFFIX.search(name) else ""


def is_foreign(name: str) -> bool:
    """Return whether a file has the name of an unsupported kind of archive."""
    return bool(_FOREIGN.search(name)) and not stem_of(name)


def unpack(archive: Path) -> Path:
    """Unpack an archive into a folder in the cache and return that folder, the same for the same archive path.

    Nothing is written outside that folder. An archive is refused, by an ArchiveError, if it is damaged, exceeds the
    limits or contains a link, a device, or a path that is absolute or leads upwards, which is stricter than the filter
    "data" of `tarfile`.
    """
    data = _content(archive)
    home = code_cache.folder() / "submissions" / sha256(str(archive.absolute()).encode()).hexdigest()[:16]
    digest = sha256(data).hexdigest()
    files, mark = home / "files", home / _MARK
    with suppress(OSError):
        if files.is_dir() and mark.read_text(encoding="utf-8") == digest:
            return files
    fresh = home / f"new-{token_hex(4)}"
    try:
        fresh.mkdir(parents=True)
        _extract(_zip_members(data) if archive.name.lower().endswith(".zip") else _tar_members(data), fresh)
        mark.unlink(missing_ok=True)
        shutil.rmtree(files, ignore_errors=True)
        fresh.rename(files)
        write_text(mark, digest)
    except ArchiveError:
        raise
    except Exception as error:  # readers raise various exceptions on damaged or forged archives
        why = to_one_line(error.strerror if isinstance(error, OSError) and error.strerror else error)
        raise ArchiveError(f"cannot be unpacked ({why or type(error).__name__}): {_TRY_BY_HAND}") from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return files


def _content(archive: Path) -> bytes:
    """Return the contents of an archive; a compressed tar is decompressed, so that reading it takes bounded memory."""
    try:
        if archive.stat().st_size > LARGEST_ARCHIVE:
            raise ArchiveError(f"is larger than {LARGEST_ARCHIVE:,} bytes: {_ASK}")
        if not archive.name.lower().endswith("gz"):
            return archive.read_bytes()
        with gzip.open(archive) as stream:
            data = stream.read(LARGEST_CONTENT + 1)
    except (OSError, EOFError, ValueError) as error:
        if isinstance(error, ArchiveError):
            raise
        raise ArchiveError(f"cannot be read ({to_one_line(error)}): {_TRY_BY_HAND}") from None
    if len(data) > LARGEST_CONTENT:
        raise ArchiveError(f"holds more than {LARGEST_CONTENT:,} bytes: {_ASK}")
    return data


def _extract(members: Iterator[_Member], folder: Path) -> None:
    total = 0
    for number, (name, size, opened) in enumerate(members, start=1):
        path = folder.joinpath(*_parts(name))
        total += size
        if number > MOST_MEMBERS:
            raise ArchiveError(f"holds more than {MOST_MEMBERS:,} files and folders: {_ASK}")
        if total > LARGEST_CONTENT:
            raise ArchiveError(f"holds more than {LARGEST_CONTENT:,} bytes: {_ASK}")
        if not name.endswith("/"):
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file, opened() or BytesIO() as content:
                file.write(content.read(size))  # not more than announced, whatever its data expands to


def _parts(name: str) -> tuple[str, ...]:
    plain = name.replace("\\", "/")
    parts = tuple(part for part in plain.split("/") if part not in ("", "."))
    if plain.startswith("/") or re.match(r"[A-Za-z]:", plain) or ".." in parts:
        raise ArchiveError(f"holds the path {to_one_line(name)}, which leads out of it: {_ASK}")
    if len(parts) > DEEPEST_MEMBER:
        raise ArchiveError(f"holds folders more than {DEEPEST_MEMBER} deep: {_ASK}")
    return parts


def _zip_members(data: bytes) -> Iterator[_Member]:
    with ZipFile(BytesIO(data)) as archive:
        for info in archive.infolist():
            if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise _special(info.filename)
            if info.flag_bits & 1:
                raise ArchiveError(f"is encrypted: {_TRY_BY_HAND}")
            yield info.filename, info.file_size, partial(archive.open, info)


def _tar_members(data: bytes) -> Iterator[_Member]:
    with tarfile.open(fileobj=BytesIO(data), mode="r:") as archive:
        for member in archive:
            if not (member.isreg() or member.isdir()):
                raise _special(member.name)
            yield member.name + "/" * member.isdir(), member.size, partial(archive.extractfile, member)


def _special(name: str) -> ArchiveError:
    return ArchiveError(f"holds {to_one_line(name)}, a link or a device: {_ASK}")


def check_folder(path: Path) -> None:
    """Raise a ValueError if a path is not a folder of submissions; explain what to do with archives."""
    if path.is_dir():
        return
    if path.exists():
        is_archive = stem_of(path.name) or is_foreign(path.name)
        raise ValueError(
            f"{path} is {'an archive: unpack it' if is_archive else 'a file'}; name a folder of submissions"
        )
    archive = next((other for other in sorted(path.parent.glob("*")) if stem_of(other.name) == path.name), None)
    raise ValueError(f"{path}: no such directory" + (f"; there is {archive}: unpack it" if archive else ""))


USUAL_FILES = ("game_agent.py", "my_custom_player.py")
"""Names of the students' file in each edition."""
TEMPLATE_FILES = (
    *("agent_test.py", "competition_agent.py", "initdatapickle.py", "isolation.py", "run_match.py"),
    *("sample_players.py", "setup.py", "conftest.py"),
)
"""Files of the courses' templates and of tests, whose players are not submissions; see also `is_template`."""
DEEPEST = 3
"""Maximum folder depth that is searched."""
MOST_FILES = 200
"""Maximum number of files of a submission that are searched."""

_NOT_UTF8 = "its name is not UTF-8: rename it"
_LEADS_NOWHERE = "is a broken link"
_NO_PLAYER = "has no class with a method get_move or get_action"
_NOT_THEIRS = ("isolation", "tests", "test", "venv", "env", "site-packages", "node_modules")


@dataclass(frozen=True)
class Submission:
    """A player that was found.

    Attributes:
        name: agent name, made from its folder's name.
        file: the absolute path of its file.
        player: the class in it.
        edition: first, second or third; empty if its source does not show it.
        folder: original name of its folder.
    """

    name: str
    file: Path
    player: str
    edition: str
    folder: str = ""

    @property
    def is_renamed(self) -> bool:
        """Return whether its name differs from its folder's."""
        return self.folder not in ("", self.name)

    @property
    def spec(self) -> str:
        """Spec of the agent: in a sandboxed process, and under the limit of the tournament."""
        return f"{self.name}=apart:{self.file}:{self.player}"


@dataclass(frozen=True)
class Skipped:
    """An entry among the submissions that does not play, and the reason; `is_submission`: it was meant to be one."""

    name: str
    why: str
    is_submission: bool = True


@dataclass(frozen=True)
class SubmissionFolder:
    """Contents of a folder of submissions, by name."""

    players: tuple[Submission, ...]
    skipped: tuple[Skipped, ...]


def find_submissions(folder: str | Path, known: Mapping[str, Path | None] | None = None) -> SubmissionFolder:
    """Find the players in the subfolders and archives of a folder, one each, and everything else in it.

    Archives are unpacked into the cache. If a folder contains a file from `known`, it gets that file's name; no other
    folder gets a known name.

    Raises:
        ValueError: there is no such folder, its name is not UTF-8, or it contains no possible submission.
    """
    home = Path(folder)
    if not _is_utf8(home):
        raise ValueError(f"{to_one_line(home)}: {_NOT_UTF8}")
    try:
        entries = sorted(home.iterdir())
    except OSError as error:
        raise ValueError(f"{home}: {error.strerror}") from None
    if not any((entry.is_dir() or stem_of(entry.name)) and not _is_hidden(entry.name) for entry in entries):
        raise ValueError(f"{home} has no folders: put each submission into a folder named after it")
    players: dict[str, Submission] = {}
    known = known or {}
    skipped = []
    for entry in entries:
        read = _read(entry, [other.name for other in entries])
        if isinstance(read, Skipped):
            skipped.append(read)
        else:
            home, submission = read[0].resolve(), read[1]
            own = (name for name, file in known.items() if file and file.resolve().is_relative_to(home))
            name = next(own, None) or free_name(submission.name, {*players, *known})
            players[name] = replace(submission, name=name)
    return SubmissionFolder(tuple(players.values()), tuple(skipped))


def _read(entry: Path, names: Collection[str]) -> tuple[Path, Submission] | Skipped:
    """Read one entry of the folder: return its folder and its player, or the reason why it does not play."""
    # `names` are the names of all entries.
    name = to_one_line(entry.name)
    if _is_hidden(entry.name):
        return Skipped(name, "is hidden", is_submission=False)
    if not _is_utf8(entry):
        return Skipped(name, _NOT_UTF8)
    if entry.is_symlink():
        return Skipped(name, "is a link to a file outside the submission" if entry.exists() else _LEADS_NOWHERE)
    if not entry.is_dir():
        return _read_file(entry, names)
    submission = _submission(entry, entry.name)
    archive = next((other for other in names if stem_of(other) == entry.name), None)
    if isinstance(submission, Skipped) and archive and not _own_sources(entry):
        return Skipped(name, f"{submission.why}, but {to_one_line(archive)} lies beside it: unpack it there")
    return submission


def _read_file(entry: Path, names: Collection[str]) -> tuple[Path, Submission] | Skipped:
    name, stem = to_one_line(entry.name), stem_of(entry.name)
    if not entry.is_file():
        return Skipped(name, "is neither a folder nor a file", is_submission=False)
    if stem and entry.with_name(stem).is_dir():
        return Skipped(name, f"is not opened, since the folder {to_one_line(stem)} lies beside it", is_submission=False)
    if stem:
        first = next(other for other in names if stem_of(other) == stem)
        if first != entry.name:
            return Skipped(name, f"is another archive of that name beside {to_one_line(first)}: remove one of them")
        try:
            return _submission(unpack(entry), stem, name)
        except ArchiveError as error:
            return Skipped(name, str(error))
    if is_foreign(entry.name):
        return Skipped(name, "is an archive of a kind that is not opened: unpack it into a folder")
    if entry.suffix == ".py":
        return Skipped(name, "is not in its own folder: move it into one named after its author")
    return Skipped(name, "is not a folder", is_submission=False)


def _submission(folder: Path, called: str, shown: str = "") -> tuple[Path, Submission] | Skipped:
    """Return the player of a folder named `called`, with the folder of its files, or the reason why there is none."""
    # If a folder contains only an archive, the archive is used. `shown` is the name in messages.
    try:
        archives = [file for file in sorted(folder.iterdir()) if stem_of(file.name) or is_foreign(file.name)]
        chosen = _chosen(folder)
        if isinstance(chosen, str) and archives and not _own_sources(folder):
            folder = _unpacked(archives, folder)
            chosen = _chosen(folder)
    except ArchiveError as error:
        chosen = str(error)
    except OSError as error:
        chosen = f"cannot be read: {error.strerror}"
    name = re.sub(r"[^\w.+-]", "_", called)
    if isinstance(chosen, str):
        return Skipped(shown or name, chosen)
    file, player, edition = chosen
    return folder, Submission(name, file.absolute(), player, edition, called)


def _unpacked(archives: list[Path], folder: Path) -> Path:
    # Raises ArchiveError if there are several, or it is refused.
    names = ", ".join(to_one_line(archive.name) for archive in archives)
    if len(archives) > 1:
        raise ArchiveError(f"has no Python file, but several archives ({names}): unpack the right one there")
    why = _why_unread(archives[0], folder)
    if why or is_foreign(archives[0].name):
        raise ArchiveError(f"has no Python file, but {names}{f', which {why}' if why else ''}: unpack it there")
    try:
        return unpack(archives[0])
    except ArchiveError as error:
        raise ArchiveError(f"{names} {error}") from None


def _chosen(folder: Path) -> tuple[Path, str, str] | str:
    """Return the file of a folder that plays, its player class and edition, or the reason why there is none."""
    # A file with one of the usual names is the submission, whatever it contains. Otherwise it is the only file with a
    # player, unless another file, which might be the submission, cannot be read. Template files are never chosen.
    everything, files = _sources(folder), _own_sources(folder)
    usual = _without_copies([file for file in files if file.name in USUAL_FILES], folder)
    players = {file: _why_unread(file, folder) or player_in(file) for file in usual or files}
    names = {file: to_one_line(file.relative_to(folder)) for file in everything}
    if len(usual) > 1:
        return f"has several files that may be the submission ({_listed(usual, names)}): remove or rename all but one"
    for file, player in players.items():
        if isinstance(player, str) and usual:
            return f"{names[file]} {player or f'{_NO_PLAYER}: define CustomPlayer there, or rename the file that does'}"
        if isinstance(player, str) and player:
            return f"{names[file]} {player}; if it is not the submission, call that {USUAL_FILES[0]}"
    found = [(file, *player) for file, player in players.items() if isinstance(player, tuple)]
    if len(found) > 1:
        listed = _listed([file for file, *_ in found], names)
        return f"has several files with a player ({listed}): rename the one that plays {USUAL_FILES[0]}"
    if found:
        return found[0]
    if everything and not files:
        listed = _listed(everything, names)
        return f"has only files of the course's template ({listed}): call the submission {USUAL_FILES[0]}"
    return _NO_PLAYER if everything else "has no Python file of its own"


def _listed(files: Collection[Path], names: Mapping[Path, str]) -> str:
    few = [names[file] for file in files][:_FEW]
    return ", ".join(few) + (f" and {len(files) - _FEW} more" if len(files) > _FEW else "")


_FEW = 4


def _without_copies(files: list[Path], folder: Path) -> list[Path]:
    """Return the files without duplicates (files of the same content as an earlier one)."""
    firsts: dict[object, Path] = {}
    for file in files:
        is_readable = not _why_unread(file, folder) and file.stat().st_size <= LARGEST_SOURCE
        firsts.setdefault(file.read_bytes() if is_readable else file, file)
    return list(firsts.values())


def _why_unread(file: Path, folder: Path) -> str:
    """Return why a file of a submission cannot be the one that plays, whatever it contains; empty if it can."""
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


def free_name(name: str, taken: Collection[str]) -> str:
    """Return the first of NAME, NAME-2, NAME-3, … that is not taken."""
    return next(free for free in chain([name], (f"{name}-{number}" for number in count(2))) if free not in taken)


def _sources(folder: Path) -> list[Path]:
    """Return the Python files of a submission: usual names first, then by increasing depth."""
    files = []
    for depth in range(1, DEEPEST + 2):
        files += [
            file
            for file in sorted(folder.glob("*/" * (depth - 1) + "*.py"))
            if not any(is_not_theirs(part) for part in file.relative_to(folder).parts)
        ]
    usual = [file for file in files if file.name in USUAL_FILES]
    return [*usual, *(file for file in files if file not in usual)][:MOST_FILES]


def _own_sources(folder: Path) -> list[Path]:
    return [file for file in _sources(folder) if not is_template(file.name)]


def is_not_theirs(part: str) -> bool:
    """Return whether a file or folder of this name belongs to the course, to an environment or to a tool."""
    return part in _NOT_THEIRS or _is_hidden(part)


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "__MACOSX", "__pycache__"))


def is_template(name: str) -> bool:
    """Return whether a file of this name is from a course template, or tests or plays a student's player.

    >>> is_template("sample_players.py"), is_template("test_game_agent.py"), is_template("game_agent.py")
    (True, True, False)
    """
    return name in TEMPLATE_FILES or bool(re.search(r"^(test_|tournament)|_tests?\.py$", name))
