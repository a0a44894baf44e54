"""Entries of a league (`league.json`): submissions, copies that are played, code hashes, checks."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from filecmp import cmp
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from knights_isolation.isolation.loading.load_user_code import content_hash
from knights_isolation.isolation.processes.sandbox import UNRESTRICTED_READS, landlock_version

from ..plan.agent_facts import read_facts
from ..record.checked_lines import read_json, write_json
from ..record.run_directory import LEAGUE, SUBMITTED, is_run, load_run, move_files
from ..roster import complete, parse_spec
from ..roster.agent_kinds import KINDS
from .submission_checks import Check, check_all, code_hash_without_layout
from .submissions import Skipped, Submission, find_submissions, free_name, is_not_theirs

Counting = Callable[[str], AbstractContextManager[Callable[[int, int], None]]]
"""Shows how many items are done: called with what is done to them, it yields what takes the items done and all."""
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


@dataclass(frozen=True)
class Entry:
    """A submission, the hash of its code, and the findings of its check before any game.

    `code` is the hash of its code without comments, docstrings and layout; empty in runs of older versions.
    `changed_from` is the name of the player that its folder was before it changed; empty if it did not.
    """

    player: Submission
    content: str
    check: Check
    code: str = ""
    changed_from: str = ""


@dataclass(frozen=True)
class LeagueEntries:
    """Submissions of a class: those that can play, and all other files among them, each with the reason.

    `goes_on_in` is the run that adds late submissions, as a path relative to this one's folder; empty if there is none.
    `caveat` says what the machine did not keep the players from; empty if there is nothing.
    """

    entries: tuple[Entry, ...]
    skipped: tuple[Skipped, ...]
    goes_on_in: str = ""
    caveat: str = ""

    def entry(self, name: str) -> Entry | None:
        """Return a player's entry; None for a player that was not submitted, such as Random."""
        return next((entry for entry in self.entries if entry.player.name == name), None)

    @property
    def refused(self) -> tuple[Skipped, ...]:
        """The submissions that do not play."""
        return tuple(skipped for skipped in self.skipped if skipped.is_submission)

    @property
    def identical(self) -> tuple[tuple[str, ...], ...]:
        """Groups of players whose code is identical apart from comments, docstrings and layout."""
        groups: dict[str, list[str]] = {}
        for entry in self.entries:
            groups.setdefault(entry.code or entry.player.name, []).append(entry.player.name)
        return tuple(tuple(names) for names in groups.values() if len(names) > 1)

    @property
    def renamed(self) -> tuple[str, ...]:
        """A sentence for each player whose name differs from its folder's, for example since that has changed."""
        return tuple(
            f"The folder {entry.player.folder!r} has changed since {entry.changed_from} played: what it holds now "
            f"plays as {entry.player.name}, and the games of {entry.changed_from} stay."
            if entry.changed_from
            else f"The player of the folder {entry.player.folder!r} is called {entry.player.name}."
            for entry in self.entries
            if entry.player.is_renamed
        )

    def without(self, unfit: Sequence[Skipped]) -> LeagueEntries:
        """Return the class with these players moved to those that do not play."""
        names = {skipped.name for skipped in unfit}
        entries = tuple(entry for entry in self.entries if entry.player.name not in names)
        skipped = sorted((*self.skipped, *unfit), key=lambda submission: submission.name)
        return replace(self, entries=entries, skipped=tuple(skipped))


_BOOK = TypeAdapter(LeagueEntries)


@dataclass(frozen=True)
class Played:
    """Players of a league's run: the entries of those that were submitted, and the files of all, by name.

    A file is the copy that the run plays; in runs of older versions it is the submission itself. It is None for players
    that were not submitted.
    """

    entries: tuple[Entry, ...] = ()
    files: Mapping[str, Path | None] = field(default_factory=dict)
    caveat: str = ""

    def submitted(self) -> dict[str, Path | None]:
        """Return the names of all players, each with the file that was submitted."""
        return {**self.files, **{entry.player.name: entry.player.file for entry in self.entries}}

    def versions(self, player: Submission) -> list[Entry]:
        """Return the entries of a submission's folder, from before it changed as well."""
        return [
            entry
            for entry in self.entries
            if entry.player.file == player.file or (entry.player.folder or entry.player.name) == player.folder
        ]

    def has(self, player: Submission, entry: Entry) -> bool:
        """Return whether a submission is that of an entry, unchanged."""
        file = self.files[entry.player.name]
        return file is not None and player.player == entry.player.player and is_unchanged(player, file)


def collect_entries(
    folder: str | Path, jobs: int, played: Played | None, show: Callable[[int, int], None]
) -> LeagueEntries:
    """Find the submissions of a folder, and check those that have not `played` as they are.

    Who has played stays an entry. A folder that has changed since is another entry, under a name of its own.

    Raises:
        ValueError: there is no such folder, or it has no subfolder.
    """
    played = played or Played()
    submissions = find_submissions(folder, played.submitted())
    names = {*played.files, *(player.name for player in submissions.players)}
    fresh: dict[Submission, str] = {}
    for player in submissions.players:
        versions = played.versions(player)
        if not any(played.has(player, entry) for entry in versions):
            name = free_name(player.name, names) if player.name in played.files else player.name
            names.add(name)
            fresh[replace(player, name=name)] = versions[0].player.name if versions else ""
    checks = check_all(list(fresh), jobs, show)
    entries = [
        Entry(player, content_hash(player.file), checks[player.name], code_hash_without_layout(player.file), before)
        for player, before in fresh.items()
    ]
    unfit = [Skipped(entry.player.name, entry.check.why_not) for entry in entries if entry.check.why_not]
    caveat = played.caveat or ("" if landlock_version() else UNRESTRICTED_READS)
    everybody = sorted((*played.entries, *entries), key=lambda entry: entry.player.name)
    return LeagueEntries(tuple(everybody), submissions.skipped, caveat=caveat).without(unfit)


def played_in(run: Path) -> Played:
    """Return the players of a league's run.

    Raises:
        ValueError: there is no run there, or a file that it plays is missing.
    """
    info, book = load_run(run), read_book(run)
    files: dict[str, Path | None] = dict.fromkeys(info.agents)
    moved: dict[Path, Path] = {}
    for spec in map(parse_spec, info.requested["contenders"]):
        if KINDS[spec.kind].is_restricted:
            whole = complete(spec)
            file = Path(whole.path)
            copy = copy_in(run, whole.name, file)
            if not file.exists() and copy.exists():  # the run was moved
                moved[file] = file = copy
            files[whole.name] = file
            if gone := [path for path in (file, *file.parents) if not path.exists()]:
                raise ValueError(f"{gone[-1]}, the file of {whole.name} in {run}, is missing: restore it to resume")
    if moved:
        move_files(info, moved)
    entries = [entry for entry in book.entries if entry.player.name in files] if book else []
    return Played(tuple(entries), files, book.caveat if book else "")


def newest_of(run: Path) -> Path:
    """Return the latest run of a league, as `read_book` finds it; `run` itself if there were no late submissions."""
    passed = {run.resolve()}
    while (book := read_book(run)) and book.goes_on_in:
        following = Path(os.path.normpath(run / book.goes_on_in))
        if not is_run(following) or following.resolve() in passed:
            break
        passed.add(following.resolve())
        run = following
    return run


def write_book(run: Path, book: LeagueEntries) -> None:
    """Save a class's entries in its run.

    Raises:
        OSError: the file cannot be written.
    """
    write_json(run / LEAGUE, _BOOK.dump_python(book, mode="json"))


def read_book(run: Path) -> LeagueEntries | None:
    """Read the entries of a run's class; None for runs of versions that did not save them.

    Raises:
        ValueError: there is no run there, it is not a league's, or the file is damaged.
    """
    if not any(read_facts(entry["settings"]).is_restricted for entry in load_run(run).agents.values()):
        raise ValueError(f"{run} is not a league: none of its players is a submission")
    try:
        return _BOOK.validate_python(read_json(run / LEAGUE))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, ValidationError) as error:
        raise ValueError(f"{run / LEAGUE}: cannot be read: {str(error).partition(chr(10))[0]}") from None
