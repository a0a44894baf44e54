"""Check submissions, each in a sandboxed process; what their source shows without being run, as duplicates."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from pydantic import TypeAdapter

from knights_isolation.isolation.checks.agent_checks import checks_of_file
from knights_isolation.isolation.checks.check_result import CheckResult
from knights_isolation.isolation.loading.load_user_code import sources
from knights_isolation.isolation.processes.child import SetupError, recipe
from knights_isolation.isolation.processes.child_process import (
    ChildProcess,
    TransportClosed,
    TransportTimeout,
    exchange,
)
from knights_isolation.isolation.processes.subprocess_player import IMPORT_SECONDS, sandboxed
from knights_isolation.isolation.usercode.parsing import parse
from knights_isolation.isolation.usercode.user_exceptions import LONGEST_LINE, to_one_line

from .submissions import Submission, is_template

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
                node.body = _without_docstring(node.body)
        return ast.dump(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return sha256(content).hexdigest()


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return body[1:]
    return body


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
    process = ChildProcess(is_sandboxed=True)
    make = recipe(checks_of_file, str(player.file), player.player)
    try:
        refusal = exchange(process, sandboxed(make, player.file), IMPORT_SECONDS)
        if isinstance(refusal, SetupError):
            return Check(to_one_line(refusal.why, LONGEST_LINE))
        return Check("", (*_findings(process), *source_remarks(player.file)))
    except TransportTimeout:
        return Check(f"importing it takes longer than {IMPORT_SECONDS:g} s")
    except TransportClosed:
        return Check("importing it ends the process")
    except Exception:
        return Check("it tampered with its own result")
    finally:
        process.end()


def _findings(process: ChildProcess) -> Iterator[CheckResult]:
    try:
        yield from map(_cleaned, _FINDINGS.validate_python(exchange(process, (), CHECK_SECONDS)))
    except TransportTimeout:
        yield CheckResult("checks", False, f"took longer than {CHECK_SECONDS:g} s in total")
    except TransportClosed:
        yield CheckResult("checks", False, "ended their process")
    except Exception:
        yield CheckResult("checks", False, "returned an invalid result")


def _cleaned(finding: CheckResult) -> CheckResult:
    return CheckResult(to_one_line(finding.check), finding.ok, to_one_line(finding.seen, LONGEST_LINE), finding.is_note)
