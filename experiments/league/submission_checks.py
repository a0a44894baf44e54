"""Check submissions, each in a sandboxed process."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from experiments.league.submissions import Submission
from isolation.checks.agent_checks import CheckResult
from isolation.processes.file_agent import IMPORT_SECONDS
from isolation.processes.player_process import PlayerProcess
from isolation.processes.sandbox import enter_sandbox
from isolation.processes.subprocess_child import claim_stdio
from isolation.processes.transport import LineTooLong, Transport, TransportClosed, TransportTimeout
from isolation.usercode.user_exceptions import LONGEST_LINE, format_exception, to_one_line

CHECK_SECONDS = 40.0
"""What all checks of a submission may take together, once it has been imported."""
_START = "import sys; sys.path[:] = sys.argv[1:]; from experiments.league.submission_checks import serve; serve()"
_FINDINGS = TypeAdapter(list[CheckResult])


@dataclass(frozen=True)
class Check:
    """What was seen of a submission: why it cannot play, empty if it can, and what was found."""

    why_not: str
    findings: tuple[CheckResult, ...] = ()

    @property
    def failures(self) -> tuple[CheckResult, ...]:
        """What is not well."""
        return tuple(finding for finding in self.findings if not finding.ok and not finding.is_note)


def check_all(
    players: Sequence[Submission], jobs: int, show: Callable[[int, int], None] = lambda done, total: None
) -> dict[str, Check]:
    """The checks of some submissions by name, `jobs` at a time."""
    checks: dict[str, Check] = {}
    threads = ThreadPoolExecutor(jobs)
    try:
        for player, check in zip(players, threads.map(check_one, players), strict=True):
            checks[player.name] = check
            show(len(checks), len(players))
    finally:  # Ctrl-C does not wait for checks that are under way: they end with this process
        threads.shutdown(wait=False, cancel_futures=True)
    return checks


def check_one(player: Submission) -> Check:
    """Whether a submission can be imported in time, and what the checks of a player say of it."""
    process = PlayerProcess(_START)
    try:
        order = {"file": str(player.file), "player": player.player}
        process.send(json.dumps(order).encode(), IMPORT_SECONDS)
        try:
            refusal = json.loads(process.receive(IMPORT_SECONDS))
        except TransportTimeout:
            return Check(f"importing it takes longer than {IMPORT_SECONDS:g} s")
        except TransportClosed:
            return Check("importing it ends the process")
        if refusal:
            return Check(to_one_line(refusal, LONGEST_LINE))
        return Check("", tuple(_findings(process)))
    except (TransportClosed, LineTooLong, ValueError):
        return Check("it tampered with its own result")
    finally:
        process.end()


def _findings(process: Transport) -> Iterator[CheckResult]:
    """What the checks have found, however they ended."""
    try:
        yield from map(_cleaned, _FINDINGS.validate_json(process.receive(CHECK_SECONDS)))
    except TransportTimeout:
        yield CheckResult("checks", False, f"took longer than {CHECK_SECONDS:g} s in total")
    except TransportClosed:
        yield CheckResult("checks", False, "ended their process")
    except (LineTooLong, ValidationError):
        yield CheckResult("checks", False, "returned an invalid result")


def _cleaned(finding: CheckResult) -> CheckResult:
    return CheckResult(to_one_line(finding.check), finding.ok, to_one_line(finding.seen, LONGEST_LINE), finding.is_note)


def serve() -> None:
    """Check the one submission that is asked for; runs in a process of its own."""
    lines, answers = claim_stdio()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    order = json.loads(lines.readline())
    say = _speaker(answers)
    enter_sandbox(str(Path(order["file"]).parent))
    from isolation.checks.agent_checks import check_player
    from isolation.loading.load_user_code import load_player

    try:
        player = load_player(order["file"], order["player"]).value
    except BaseException as error:
        say(
            format_exception(error, LONGEST_LINE)
            .removeprefix("LoadError: ")
            .replace(f"{Path(order['file']).parent}/", "")
        )
        return
    say("")
    say([asdict(finding) for finding in check_player(player)])


def _speaker(answers: Any) -> Callable[[object], None]:
    """What sends an answer, as a line of JSON."""
    dumps = json.dumps

    def say(answer: object) -> None:
        answers.write(dumps(answer).encode() + b"\n")
        answers.flush()

    return say
