"""Output capture: user code can neither end our process silently nor print in our place."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli import main
from knights_isolation.experiments.analysis.quick_trial import try_heuristic
from knights_isolation.experiments.play.parallel_map import parallel_map
from knights_isolation.isolation.checks.agent_checks import check_player, check_values
from knights_isolation.isolation.loading.load_user_code import LoadError, load_module
from knights_isolation.isolation.usercode.output_capture import WantsToEnd, capture_output, prevent_exit

LOUD = """
def score(game, player):
    print("hello")
    return float(len(str(3)))

class Player:
    def get_move(self, game, time_left):
        print("thinking")
        return next(iter(game.get_legal_moves()))
"""


@pytest.mark.parametrize(
    ("end", "message"),
    [
        (lambda: sys.exit(3), "raises SystemExit: 3"),
        (lambda: os._exit(0), r"calls os\._exit\(0\)"),
        (lambda: os.closerange(0, 1024), r"calls os\.closerange\(0, 1024\)"),
        (lambda: sys.modules.clear(), r"empties sys\.modules"),
        (lambda: (_ for _ in ()).throw(GeneratorExit), "raises GeneratorExit"),
    ],
)
def test_what_would_end_the_process_is_an_exception(end: object, message: str) -> None:
    before = os._exit, os.closerange, dict(sys.modules)
    with pytest.raises(WantsToEnd, match=message), prevent_exit():
        end()  # type: ignore[operator]
    assert (os._exit, os.closerange, dict(sys.modules)) == before


def test_exceptions_and_ctrl_c_pass() -> None:
    for error in (ValueError, KeyboardInterrupt):
        with pytest.raises(error), prevent_exit():
            raise error


def test_what_is_printed_is_counted_and_the_first_line_kept() -> None:
    with capture_output() as printed:
        print("one", "two")
        print("three", file=sys.stderr)
        sys.stdout.buffer.write(b"four")
    assert (printed.lines, printed.first) == (3, "one two")
    assert printed.sentence("it") == "it printed 3 lines, hidden here; the first is 'one two'"


def test_inside_another_the_outer_one_counts() -> None:
    with capture_output() as outer:
        with capture_output() as inner:
            print("x")
        print("y")
    assert (outer.lines, inner.lines) == (2, 0)


@pytest.mark.parametrize(
    "line",
    [
        "import os; os._exit(0)",
        "import sys; sys.exit()",
        "raise GeneratorExit",
        "import os; os.closerange(0, 1024)",
        "import sys; [sys.modules.pop(name) for name in [*sys.modules] if name != 'sys']",
    ],
)
def test_a_file_that_ends_the_process_when_loaded_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "end.py").write_text(line)
    with pytest.raises(LoadError, match=r"end\.py failed to import: .*it (calls|raises|empties)"):
        load_module(tmp_path / "end.py")


def test_a_file_that_prints_when_loaded_is_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "loud.py").write_text("print('hello')")
    with pytest.warns(UserWarning, match="printed a line, hidden here; the first is 'hello'"):
        load_module(tmp_path / "loud.py")
    assert capsys.readouterr().out == ""


def test_checks_say_which_code_calls_for_the_end() -> None:
    class Player:
        def get_move(self, game: object, time_left: object) -> object:
            sys.exit()

    assert "raises SystemExit" in check_player(Player)[1].seen
    finding = check_values(lambda game, player: os._exit(0))[0]
    assert not finding.ok
    assert finding.seen.startswith("calls os._exit(0) at ")


def test_eval_gives_a_heuristic_up_that_does_not_return(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knights_isolation.experiments.plan.user_files.LONGEST_CALL", 0.05)
    over = tmp_path / "over"  # the thread that a command leaves behind would keep this process busy
    endless = f"from pathlib import Path\ndef score(game, player):\n    while not Path({str(over)!r}).exists(): pass\n"
    (tmp_path / "endless.py").write_text(endless)
    result = CliRunner().invoke(main, ["eval", "--file", f"{tmp_path / 'endless.py'}", "--format", "csv"])
    over.touch()
    assert "endless.py:score,takes longer than 0.05 s,takes longer than 0.05 s" in result.stdout


def test_a_slow_heuristic_is_tried_in_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knights_isolation.isolation.checks.agent_checks.LONGEST_CHECK", 0.0)
    monkeypatch.setattr("knights_isolation.experiments.analysis.quick_trial.SLOW", 0.0)
    trial = try_heuristic(lambda game, player: float(len(json.dumps(game.get_legal_moves(player)))))
    assert trial.interval is None
    assert trial.findings[0].seen.startswith("returned a number in all of 0 test positions (limited to 0 s)")


@pytest.mark.parametrize("command", [["eval"], ["heuristics"]])
def test_json_stays_json_whatever_a_heuristic_prints(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "loud.py").write_text(LOUD)
    result = CliRunner().invoke(main, [*command, "--file", f"{tmp_path / 'loud.py'}", "--format", "json"])
    assert json.loads(result.stdout)


def test_what_a_player_prints_is_told_beside_the_findings(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(LOUD)
    result = CliRunner().invoke(main, ["test-agent", f"{tmp_path / 'loud.py'}"])
    assert "thinking" not in result.stdout
    assert "loud.py printed 20 lines" in result.stderr


def shout(word: str) -> str:
    print(word)
    return word.upper()


def test_calls_made_side_by_side_are_told_of_together(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.warns(UserWarning, match="the code printed 2 lines"):
        assert sorted(parallel_map(shout, [("a",), ("b",)], 1, None)) == ["A", "B"]
    assert capsys.readouterr().out == ""


def test_what_is_written_past_python_is_counted_too(capfd: pytest.CaptureFixture[str]) -> None:
    with capture_output() as printed:
        os.write(1, b"past Python\n")
        os.write(2, b"and errors")
        subprocess.run(["echo", "a program"], check=True)
    print("afterwards", flush=True)
    assert (printed.lines, printed.first) == (2, "past Python")
    assert capfd.readouterr().out == "afterwards\n"


def test_warnings_from_among_what_is_kept_are_said_afterwards() -> None:
    with pytest.warns(UserWarning, match="ours"), capture_output() as printed:
        warnings.warn("ours", stacklevel=1)
    assert printed.lines == 0


DEADLY = """
import ctypes, os
def by_signal(game, player):
    os.kill(os.getpid(), 9)
def by_fault(game, player):
    ctypes.string_at(0)
def by_exit(game, player):
    ctypes.CDLL(None)._exit(0)
class Player:
    def get_move(self, game, time_left):
        ctypes.string_at(0)
"""


@pytest.mark.parametrize(
    ("command", "name", "how"),
    [
        ("eval --file", ":by_signal", "by SIGKILL, or something else did, such as the system when memory runs out"),
        ("eval --file", ":by_exit", "with exit code 0"),
        ("test-agent", ":Player", "by SIGSEGV"),
        pytest.param("try", ":by_fault", "by SIGSEGV", marks=pytest.mark.slow),
        pytest.param("heuristics --file", "", "by SIGSEGV", marks=pytest.mark.slow),
    ],
)
def test_checkers_say_so_when_the_code_ends_their_process(tmp_path: Path, command: str, name: str, how: str) -> None:
    (tmp_path / "deadly.py").write_text(DEADLY + ("" if name else "ctypes.string_at(0)"))
    asked = [sys.executable, "-m", "knights_isolation.command_line", *command.split(), f"{tmp_path}/deadly.py{name}"]
    done = subprocess.run(asked, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert (done.returncode, done.stdout) == (1, "")
    error = done.stderr.splitlines(keepends=True)[-1]
    assert error.startswith(f"Error: {tmp_path}/deadly.py{name}: the code has ended its process")
    assert error.endswith(f"{how}\n")


def _end(_: int) -> None:
    os.kill(os.getpid(), 9)


def test_a_worker_that_dies_ends_the_calls_with_a_line() -> None:
    with pytest.raises(
        ChildProcessError, match=r"^a worker process has died by SIGKILL.*: it was ended by the code it ran"
    ):
        list(parallel_map(_end, [(1,), (2,)], 2, None))
