"""Entries of a league (`league.json`): submissions, their checks in sandboxed processes, copies that are played.

What the source of a submission shows, such as duplicates, is found without running it.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from filecmp import cmp
from hashlib import sha256
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from knights_isolation.isolation.checks.agent_checks import checks_of_file
from knights_isolation.isolation.checks.answers import CheckResult
from knights_isolation.isolation.loading.load_user_code import content_hash, sources
from knights_isolation.isolation.processes.child import Child, NoAnswer, recipe
from knights_isolation.isolation.processes.sandbox import UNRESTRICTED_READS, landlock_version
from knights_isolation.isolation.processes.subprocess_player import IMPORT_SECONDS, sandboxed
from knights_isolation.isolation.usercode.parsing import parse
from knights_isolation.isolation.usercode.user_exceptions import LONGEST_LINE, to_one_line

from ..plan import complete, parse_spec
from ..plan.agent_kinds import KINDS
from ..plan.run_keeping import move_files
from ..record.checked_json import read_json, write_json
from ..record.run_directory import LEAGUE, SUBMITTED, is_run, load_run
from .submissions import Skipped, Submission, find_submissions, free_name, is_not_theirs, is_template

_FUNCTIONS = ("exec", "eval", "compile", "__import__")
_MODULES = (
    "_ctypes", "cffi", "ctypes", "gc", "glob", "importlib", "inspect", "linecache", "mmap", "multiprocessing", "pty",
    "runpy", "shutil", "signal", "socket", "subprocess", "zipimport",
)  # fmt: skip
_HARMLESS_OF_OS = ("cpu_count", "devnull", "environ", "fspath", "getcwd", "getenv", "linesep", "name", "path", "sep")
_OUTSIDE = re.compile(r"(~|/[\w.-]+)/\S*|\.\.(/\S*)?|\S*/\.\.(/\S*)?")
_LONGEST_PATH = 200


def source_remarks(file: Path) -> tuple[CheckResult, ...]:
    """Return a remark for each way to run other code, to reach the system, or to read outside its folder, with lines.

    The files beside a submission that it imports are included. The source is only read: nothing of it is run, and code
    that hides what it does is not recognised.
    """
    places: dict[str, list[str]] = {}
    for name, content in sorted(sources(file).items()):
        for what, line in _uses(content) if name.endswith(".py") else ():
            places.setdefault(what, []).append(f"line {line}" if name == file.name else f"{name} line {line}")
    return tuple(
        CheckResult("source", False, f"{what} ({', '.join(dict.fromkeys(where))})", is_note=True)
        for what, where in places.items()
    )


def _uses(content: bytes) -> Iterator[tuple[str, int]]:
    """Yield what is remarkable in a source, with its line, in the order of lines."""
    try:
        nodes = [node for node in ast.walk(parse(content)) if isinstance(node, ast.expr | ast.stmt)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # reported when the file is loaded
        return
    for node in sorted(nodes, key=lambda node: node.lineno):
        for what in _remarkable(node):
            yield what, node.lineno


def _remarkable(node: ast.expr | ast.stmt) -> Iterator[str]:
    match node:
        case ast.Name(id=name) if name in _FUNCTIONS:
            yield f"uses {name}"
        case ast.Attribute(value=ast.Name(id="os"), attr=name) if name not in _HARMLESS_OF_OS:
            yield f"uses os.{name}"
        case ast.Import(names=names):
            yield from (f"imports {name.name}" for name in names if name.name.partition(".")[0] in _MODULES)
        case ast.ImportFrom(module=str(module), names=names, level=0):
            if module.partition(".")[0] in _MODULES:
                yield f"imports {module}"
            if module == "os":
                yield from (f"uses os.{name.name}" for name in names if name.name not in _HARMLESS_OF_OS)
        case ast.Constant(value=str(text)) if len(text) < _LONGEST_PATH and _OUTSIDE.fullmatch(text):
            yield f"names a path outside its folder, {to_one_line(text)}"


def code_hash_without_layout(file: Path) -> str:
    """Return a hash that is equal for submissions whose code differs only in comments, docstrings and layout.

    Local modules that it imports are included, except those of the course's templates.
    """
    parts = [
        f"{'' if name == file.name else name}\n{_normalised(name, content)}"
        for name, content in sorted(sources(file).items())
        if name == file.name or not is_template(Path(name).name)
    ]
    return sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()


def _normalised(name: str, content: bytes) -> str:
    if not name.endswith(".py"):
        return sha256(content).hexdigest()
    try:
        tree = parse(content)
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                node.body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
        return ast.dump(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return sha256(content).hexdigest()


CHECK_SECONDS = 40.0
"""Time limit of all checks of a submission together, once it has been imported."""
_FINDINGS = TypeAdapter(list[CheckResult])


@dataclass(frozen=True)
class Check:
    """Check of a submission: the reason why it cannot play (empty if it can), and the findings."""

    why_not: str
    findings: tuple[CheckResult, ...] = ()

    @property
    def failures(self) -> tuple[CheckResult, ...]:
        """Findings that are failures."""
        return tuple(finding for finding in self.findings if not finding.ok and not finding.is_note)

    @property
    def remarks(self) -> tuple[CheckResult, ...]:
        """Findings to look at that are no failures."""
        return tuple(finding for finding in self.findings if not finding.ok and finding.is_note)


def check_all(players: Sequence[Submission], jobs: int, show: Callable[[int, int], None]) -> dict[str, Check]:
    """Return the checks of submissions by name; `jobs` run at a time."""
    checks: dict[str, Check] = {}
    threads = ThreadPoolExecutor(jobs)
    try:
        for player, check in zip(players, threads.map(check_one, players), strict=True):
            checks[player.name] = check
            show(len(checks), len(players))
    finally:  # after Ctrl-C, running checks are not awaited: they end with this process
        threads.shutdown(wait=False, cancel_futures=True)
    return checks


def check_one(player: Submission) -> Check:
    """Return whether a submission can be imported in time, and the findings of the player checks."""
    child = Child(sandboxed(recipe(checks_of_file, str(player.file), player.player), player.file))
    try:
        child.start(IMPORT_SECONDS)
        return Check("", (*_findings(child), *source_remarks(player.file)))
    except NoAnswer as error:
        late = f"importing it takes longer than {IMPORT_SECONDS:g} s"
        return Check(error.described(late, "importing it ends the process", "it tampered with its own result"))
    finally:
        child.end()


def _findings(child: Child) -> Iterator[CheckResult]:
    try:
        for finding in _FINDINGS.validate_python(child.ask((), CHECK_SECONDS)):
            check, seen = to_one_line(finding.check), to_one_line(finding.seen, LONGEST_LINE)
            yield CheckResult(check, finding.ok, seen, finding.is_note)
    except NoAnswer as error:
        late, nonsense = f"took longer than {CHECK_SECONDS:g} s in total", "returned an invalid result"
        yield CheckResult("checks", False, error.described(late, "ended their process", nonsense))
    except Exception:
        yield CheckResult("checks", False, "returned an invalid result")


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
    known = {**played.files, **{entry.player.name: entry.player.file for entry in played.entries}}
    submissions = find_submissions(folder, known)
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
    """Return the players of a league's run; ValueError if there is no run there, or a file that it plays is missing."""
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
    """Save a class's entries in its run; OSError if the file cannot be written."""
    write_json(run / LEAGUE, _BOOK.dump_python(book, mode="json"))


def read_book(run: Path) -> LeagueEntries | None:
    """Read the entries of a run's class; None for runs of versions that did not save them.

    Raises:
        ValueError: there is no run there, it is not a league's, or the file is damaged.
    """
    if not any(entry.restricted for entry in load_run(run).agents.values()):
        raise ValueError(f"{run} is not a league: none of its players is a submission")
    try:
        return _BOOK.validate_python(read_json(run / LEAGUE))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, ValidationError) as error:
        raise ValueError(f"{run / LEAGUE}: cannot be read: {str(error).partition(chr(10))[0]}") from None
