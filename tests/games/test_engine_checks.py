"""The check of engines: ours pass in both protocols, and whatever is wrong with one is found and named."""

import queue
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner
from hostile_engines import at, engine

from cli import main
from knights_isolation.isolation.checks import engine_checks
from knights_isolation.isolation.checks.engine_checks import EngineCheckResult, check_engine
from knights_isolation.isolation.engines.engine_server import serve
from knights_isolation.isolation.engines.protocol import Program
from knights_isolation.isolation.processes.child import NoAnswer, Termination
from knights_isolation.isolation.search.agents import GreedyAgent


class Here:
    """Our engine in a thread of this process, its lines changed on their way out."""

    def __init__(self, change):
        self.lines, self.said = queue.SimpleQueue(), queue.SimpleQueue()
        self.change = change
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        serve(GreedyAgent(), iter(self.lines.get, None), self.say)
        self.said.put(None)

    def say(self, line):
        for changed in self.change(line).splitlines():
            self.said.put(changed)

    def send(self, line, seconds):
        self.lines.put(line.decode())

    def receive(self, seconds):
        try:
            line = self.said.get(timeout=seconds)
        except queue.Empty:
            raise NoAnswer(Termination.TIMED_OUT) from None
        if line is None:
            raise NoAnswer(Termination.DIED)
        return line.encode()

    def ending(self, seconds):
        return "ended with exit code 0"

    def end(self):
        self.lines.put("quit")
        self.thread.join(60)


def findings_of(protocol="", change=lambda line: line):
    return list(check_engine(Program(("here",), protocol), lambda program, errors: Here(change)))


@pytest.mark.parametrize("protocol", ["ugi", "uci"])
def test_our_engine_passes_every_step(protocol):
    findings = findings_of(protocol)
    assert [finding for finding in findings if not finding.passed and finding.step != "reports its search"] == []
    assert len(findings) > 40


def test_the_protocol_is_found_out():
    assert any(finding.step == "says result" for finding in findings_of())


def named(line, start, other):
    return other if line.startswith(start) else line


@pytest.mark.parametrize(
    ("change", "failing", "seen"),
    [
        (lambda line: named(line, "bestmove", "bestmove a1a1"), "moves by depth 1", "legal are d4c6 d4e6"),
        (lambda line: named(line, "bestmove", "bestmove"), "moves by nodes 1", "'' is not a move"),
        (lambda line: named(line, "id name", "id nom x"), "completes the UGI handshake", "no line id name"),
        (lambda line: named(line, "info", "info depth 2"), "reports its search", "no nodes, pv, score in its info"),
        (lambda line: named(line, "response t", "response maybe"), "says gameover", "not response true"),
        (lambda line: named(line, "readyok", "ready"), "is ready", "nothing more within 0.2 s"),
    ],
)
def test_what_is_wrong_is_found_and_named(monkeypatch, change, failing, seen):
    if failing == "is ready":
        monkeypatch.setattr(engine_checks, "SECONDS", 0.2)
    findings = check_engine(Program(("here",), "ugi"), lambda program, errors: Here(change))
    match = next(finding for finding in findings if finding.step == failing)
    findings.close()
    assert not match.passed
    assert seen in match.seen


def test_the_command_says_what_failed_and_ends_with_code_1(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(engine_checks, "SECONDS", 1.0)
    result = CliRunner().invoke(main, ["test-engine", "--protocol", "ugi", str(engine(tmp_path / "mine"))])
    assert result.exit_code == 1
    lines = result.output.splitlines()
    failed = [line.removeprefix("FAILED  ") for line in lines if line.startswith("FAILED")]
    assert "moves on 5x6, ply 3" in [line.removeprefix("ok      ") for line in lines]
    assert lines[0] == "ok      completes the UGI handshake"
    assert failed == ["searches until stopped, and answers isready meanwhile"]
    lacking = [line.removeprefix("lacking ") for line in lines if line.startswith("lacking")]
    assert lacking == ["replays moves", "says p1turn", "says gameover", "says result"]
    assert any(line.startswith("        sent      position startpos moves N@d4 N@a5 d4c6") for line in lines)


def test_an_engine_that_lacks_only_what_is_not_needed_to_play_here_is_sound(monkeypatch):
    findings = [
        EngineCheckResult("is ready", True, "", "", ""),
        EngineCheckResult("says result", False, "query result", "", "", False),
    ]
    name = "knights_isolation.reports.studies.engine_checks.check_engine"
    monkeypatch.setattr(name, lambda program: iter(findings))
    result = CliRunner().invoke(main, ["test-engine", sys.executable])
    assert result.exit_code == 0
    assert result.output.endswith(
        "1 of 2 steps passed.\nIt can play here; the failed steps matter only to other programs.\n"
    )


def test_whoever_knows_no_queries_is_not_waited_for(monkeypatch):
    step = step_of("says result", monkeypatch, lambda line: "" if line.startswith("response") else line)
    assert (step.passed, step.is_needed) == (False, False)
    assert step.seen == "readyok; not response p1win"


def test_a_program_beside_us_is_found(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(engine(tmp_path / "mine").parent)
    assert Program(("./mine",)).find() == (str(tmp_path / "mine"),)
    with pytest.raises(ValueError, match=r"mine is not a program; did you mean \./mine\?"):
        Program(("mine",)).find()


def test_the_command_takes_arguments_of_the_engine_and_refuses_what_is_none():
    result = CliRunner().invoke(main, ["test-engine", sys.executable, "-c", "print('x' * 80)"])
    assert result.exit_code == 1
    assert "it ended with exit code 0" in result.output
    missing = CliRunner().invoke(main, ["test-engine", "./no_such"])
    assert (missing.output, missing.exit_code) == ("Error: ./no_such is not a program\n", 2)


def step_of(name, monkeypatch, *changes, protocol="ugi", start=None):
    """What comes of a step when our engine's lines are changed on their way out."""
    monkeypatch.setattr(engine_checks, "SECONDS", 2.0)
    findings = check_engine(Program(("here",), protocol), start or (lambda program, errors: Here(*changes)))
    match = next(finding for finding in findings if finding.step == name)
    findings.close()
    return match


def test_a_second_move_is_found_in_its_own_step(monkeypatch):
    step = step_of(
        "moves by depth 1", monkeypatch, lambda line: f"{line}\nbestmove a1b3" if "bestmove" in line else line
    )
    assert not step.passed
    assert "a second one: bestmove a1b3" in step.seen


class Flooding:
    """An engine that sends lines without end, whatever it is sent."""

    def send(self, line, seconds): ...

    def receive(self, seconds):
        return b"y"

    def ending(self, seconds):
        return ""

    def end(self): ...


def test_an_engine_that_sends_lines_without_end_fails_by_its_timeout(monkeypatch):
    monkeypatch.setattr(engine_checks, "SECONDS", 0.02)
    monkeypatch.setattr(engine_checks, "FLOOD_SECONDS", 0.02)
    steps = list(check_engine(Program(("here",)), lambda program, errors: Flooding()))
    assert not any(step.passed for step in steps)
    assert steps[0].seen == "y; nothing more within 0.02 s"


class Hasty(Here):
    """Our engine, which does not wait for stop."""

    def send(self, line, seconds):
        super().send(line, seconds)
        if line == b"go infinite":
            threading.Timer(0.02, self.lines.put, ["stop"]).start()


def test_an_endless_search_must_not_answer_unasked(monkeypatch):
    name = "searches until stopped, and answers isready meanwhile"
    step = step_of(name, monkeypatch, start=lambda program, errors: Hasty(lambda line: line))
    assert not step.passed
    assert "an unrequested move" in step.seen


def test_a_clock_with_increments_is_what_stands_on_it_now():
    step = next(
        step for step in engine_checks._steps(engine_checks.UGI) if step.name == "moves by the clock with increments"
    )
    assert step.seconds == 0.55


def test_what_an_engine_writes_to_standard_error_is_shown_when_it_ends(tmp_path: Path):
    path = engine(
        tmp_path / "mine", at("uginewgame", "print('one\\ntwo: no such weights', file=sys.stderr); sys.exit(2)")
    )
    findings = check_engine(Program((str(path),), "ugi"))
    match = next(finding for finding in findings if not finding.passed)
    findings.close()
    assert match.step == "starts a game"
    assert match.seen.endswith("it ended with exit code 2; last line on standard error: one | two: no such weights")


def test_steps_that_were_not_tried_are_counted_too(tmp_path: Path):
    path = engine(tmp_path / "mine", "sys.exit(3)")
    result = CliRunner().invoke(main, ["test-engine", "--protocol", "ugi", str(path)])
    assert result.exit_code == 1
    steps = len(findings_of("ugi"))
    assert result.output.splitlines()[-1] == f"0 of {steps} steps passed."
    assert "untried is ready" in result.output.splitlines()


def test_options_are_told_and_whoever_cannot_read_a_file_says_so(tmp_path: Path):
    says = "[say('Unable to open file ' + words[4])] if words[2] == 'VariantPath' else None"
    greets = "say('id name x'), say('uciok')"
    path = engine(tmp_path / "mine", f"{at('uci', greets)}\n    {at('setoption', says)}")
    command = ["test-engine", "--protocol", "uci", "--option", "VariantPath=/no=where", "--option", "Hash=3", str(path)]
    findings = check_engine(Program((str(path),), "uci", (("VariantPath", "/no=where"), ("Hash", "3"))))
    match = next(finding for finding in findings if not finding.passed)
    findings.close()
    assert match.step == "accepts its own options"
    assert "setoption name VariantPath value /no=where | setoption name Hash value 3" in match.sent
    assert "it wrote 'Unable to open file /no=where'" in match.seen
    result = CliRunner().invoke(main, command)
    assert "it wrote 'Unable to open file /no=where'" in result.output
