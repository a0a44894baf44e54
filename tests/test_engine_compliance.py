"""The check of engines: ours pass in both protocols, and whatever is wrong with one is found and named."""

import queue
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner
from hostile_engines import engine

from cli import main
from isolation.agents import GreedyAgent
from isolation.engines import compliance
from isolation.engines.compliance import check_engine
from isolation.engines.program import Program
from isolation.engines.serving import serve
from isolation.engines.transport import Ended, Silence


class Here:
    """Our engine in a thread of this process, its lines changed on their way out."""

    def __init__(self, change):
        self.lines, self.said = queue.SimpleQueue(), queue.SimpleQueue()
        self.change = change
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        serve(GreedyAgent(), iter(self.lines.get, None), lambda line: self.said.put(self.change(line)))
        self.said.put(None)

    def send(self, line, seconds):
        self.lines.put(line.decode())

    def receive(self, seconds):
        try:
            line = self.said.get(timeout=seconds)
        except queue.Empty:
            raise Silence from None
        if line is None:
            raise Ended
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
    assert [finding for finding in findings if not finding.passed and finding.step != "tells of its search"] == []
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
        (lambda line: named(line, "id name", "id nom x"), "answers to its greeting", "no line id name"),
        (lambda line: named(line, "info", "info depth 2"), "tells of its search", "no nodes, pv, score in its info"),
        (lambda line: named(line, "response t", "response maybe"), "says gameover", "not response true"),
        (lambda line: named(line, "readyok", "ready"), "is ready", "nothing more within 0.2 s"),
    ],
)
def test_what_is_wrong_is_found_and_named(monkeypatch, change, failing, seen):
    if failing == "is ready":
        monkeypatch.setattr(compliance, "SECONDS", 0.2)
    findings = check_engine(Program(("here",), "ugi"), lambda program, errors: Here(change))
    found = next(finding for finding in findings if finding.step == failing)
    findings.close()
    assert not found.passed
    assert seen in found.seen


def test_the_command_says_what_failed_and_ends_with_code_1(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(compliance, "SECONDS", 1.0)
    result = CliRunner().invoke(main, ["test-engine", "--protocol", "ugi", str(engine(tmp_path / "mine"))])
    assert result.exit_code == 1
    lines = result.output.splitlines()
    failed = [line.removeprefix("FAILED  ") for line in lines if line.startswith("FAILED")]
    assert "moves on 5x6, ply 3" in [line.removeprefix("ok      ") for line in lines]
    assert failed == [
        *("replays moves", "searches until it is stopped, and is ready meanwhile"),
        *("says p1turn", "says gameover", "says result"),
    ]
    assert any(line.startswith("        sent      position startpos moves N@d4 N@a5 d4c6") for line in lines)


def test_a_program_beside_us_is_found(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(engine(tmp_path / "mine").parent)
    assert Program(("./mine",)).find() == (str(tmp_path / "mine"),)
    with pytest.raises(ValueError, match=r"mine is no program; did you mean \./mine\?"):
        Program(("mine",)).find()


def test_the_command_takes_arguments_of_the_engine_and_refuses_what_is_none():
    result = CliRunner().invoke(main, ["test-engine", sys.executable, "-c", "print('x' * 80)"])
    assert result.exit_code == 1
    assert "it ended with exit code 0" in result.output
    missing = CliRunner().invoke(main, ["test-engine", "./no_such"])
    assert (missing.output, missing.exit_code) == ("Error: ./no_such is no program\n", 2)
