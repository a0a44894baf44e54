"""Check submissions, each in a sandboxed process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pydantic import TypeAdapter

from knights_isolation.isolation.checks.agent_checks import checks_of_file
from knights_isolation.isolation.checks.check_result import CheckResult
from knights_isolation.isolation.processes.agent_pickling import recipe
from knights_isolation.isolation.processes.child import SetupError
from knights_isolation.isolation.processes.child_process import ChildProcess, exchange
from knights_isolation.isolation.processes.file_agent import IMPORT_SECONDS, sandboxed
from knights_isolation.isolation.processes.transport import TransportClosed, TransportTimeout
from knights_isolation.isolation.usercode.user_exceptions import LONGEST_LINE, to_one_line

from .submissions import Submission
from .submitted_source import source_remarks

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
