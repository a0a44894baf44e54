"""Entries of a league: submissions, code hashes, checks; `league.json`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from experiments.league.normalised_code import code_hash_without_layout
from experiments.league.submission_checks import Check, check_all
from experiments.league.submissions import Skipped, Submission, find_submissions
from experiments.plan.agent_facts import read_facts
from experiments.record.checked_json import read_json, write_json
from experiments.record.run_directory import is_run, load_run
from experiments.roster import complete, parse_spec
from experiments.roster.agent_kinds import KINDS
from isolation.loading.load_user_code import content_hash
from isolation.processes.sandbox import UNRESTRICTED_READS, landlock_version

FILE = "league.json"


@dataclass(frozen=True)
class Entry:
    """A submission, the hash of its code, and the findings of its check before any game.

    `code` is the hash of its code without comments, docstrings and layout; empty in runs of older versions.
    """

    player: Submission
    content: str
    check: Check
    code: str = ""


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

    def without(self, unfit: Sequence[Skipped]) -> LeagueEntries:
        """Return the class with these players moved to those that do not play."""
        names = {skipped.name for skipped in unfit}
        entries = tuple(entry for entry in self.entries if entry.player.name not in names)
        skipped = sorted((*self.skipped, *unfit), key=lambda submission: submission.name)
        return replace(self, entries=entries, skipped=tuple(skipped))


_BOOK = TypeAdapter(LeagueEntries)


def collect_entries(
    folder: str | Path,
    jobs: int,
    known: LeagueEntries | None = None,
    names: Mapping[str, Path | None] | None = None,
    show: Callable[[int, int], None] = lambda done, total: None,
) -> LeagueEntries:
    """Find the submissions of a folder and check those that are new or changed since `known`.

    For `names` see `names_in`.

    Raises:
        ValueError: there is no such folder, or it has no subfolder.
    """
    submissions = find_submissions(folder, names)
    before = {_code(entry.player, entry.content): entry.check for entry in (known.entries if known else ())}
    hashes = {player: content_hash(player.file) for player in submissions.players}
    fresh = [player for player in submissions.players if _code(player, hashes[player]) not in before]
    checks = check_all(fresh, jobs, show)
    entries = [
        Entry(
            player,
            hashes[player],
            checks.get(player.name) or before[_code(player, hashes[player])],
            code_hash_without_layout(player.file),
        )
        for player in submissions.players
    ]
    unfit = [Skipped(entry.player.name, entry.check.why_not) for entry in entries if entry.check.why_not]
    caveat = (known.caveat if known else "") or ("" if landlock_version() else UNRESTRICTED_READS)
    return LeagueEntries(tuple(entries), submissions.skipped, caveat=caveat).without(unfit)


def _code(player: Submission, content: str) -> tuple[Path, str, str]:
    return player.file, player.player, content


def names_in(run: Path) -> dict[str, Path | None]:
    """Return the names of all players in a league's run, each with its file (None if not submitted).

    Raises:
        ValueError: there is no run there, or a file of it is missing.
    """
    info = load_run(run)
    names: dict[str, Path | None] = dict.fromkeys(info.agents)
    for spec in map(parse_spec, info.requested["contenders"]):
        if KINDS[spec.kind].is_restricted:
            whole = complete(spec)
            names[whole.name] = file = Path(whole.target.rpartition(":")[0])
            if gone := [path for path in (file, *file.parents) if not path.exists()]:
                raise ValueError(f"{gone[-1]}, the file of {whole.name} in {run}, is missing: restore it to resume")
    return names


def newest_of(run: Path) -> Path:
    """Return the latest run of a league, including late submissions; `run` itself if nobody came late.

    Raises:
        ValueError: see `read_book`.
    """
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
    write_json(run / FILE, _BOOK.dump_python(book, mode="json"))


def read_book(run: Path) -> LeagueEntries | None:
    """Read the entries of a run's class; None for runs of versions that did not save them.

    Raises:
        ValueError: there is no run there, it is not a league's, or the file is damaged.
    """
    if not any(read_facts(entry["settings"]).is_restricted for entry in load_run(run).agents.values()):
        raise ValueError(f"{run} is not a league: none of its players is a submission")
    try:
        return _BOOK.validate_python(read_json(run / FILE))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, ValidationError) as error:
        raise ValueError(f"{run / FILE}: cannot be read: {str(error).partition(chr(10))[0]}") from None
