"""What is shown: standings that can be looked at any time, the familiar table, and nothing that breaks a pipe."""

import io
import pty
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

from cli import main
from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.plan.schedule import points_table
from knights_isolation.experiments.plan.tournament_plan import Plan, make_plan
from knights_isolation.experiments.play.interim_results import live_standings
from knights_isolation.experiments.play.runner import RunProgress
from knights_isolation.isolation.rules.game import Cost
from knights_isolation.isolation.usercode.output_capture import capture_output
from knights_isolation.reports.text.rendering import render_rows
from knights_isolation.reports.watch import counting, display, opponent_rows, screen


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(load_config(None, {"contenders": ["MM:open"], "opponents": ["random", "greedy"], "pairs": 20}))


def results(plan: Plan, wins: dict[str, int]) -> np.ndarray:
    """A table of results in which agents win both games of a pair, one, or none."""
    points = points_table(plan.schedule)
    for number, match in enumerate(plan.schedule.matches):
        points[:, number] = np.array([[0, 0], [1, 0], [1, 1]])[wins[plan.schedule.agents[match.first]]]
    return points


def test_standings_are_best_first_and_leave_out_mere_opponents(plan: Plan) -> None:
    points = results(plan, {"MM_Open": 2, "ID_Improved": 1, "ID_Improved_control": 0})
    standings = live_standings(plan, points)
    assert [standing.name for standing in standings] == ["MM_Open", "ID_Improved", "ID_Improved_control"]
    assert [standing.rate for standing in standings] == [1.0, 0.5, 0.0]
    assert all(standing.low <= standing.rate <= standing.high and standing.openings == 20 for standing in standings)


def test_only_openings_played_against_everybody_count(plan: Plan) -> None:
    points = results(plan, {"MM_Open": 2, "ID_Improved": 1, "ID_Improved_control": 0})
    points[5:, 0] = -1
    assert sorted(standing.openings for standing in live_standings(plan, points)) == [5, 20, 20]
    assert all(standing.openings == 0 for standing in live_standings(plan, points_table(plan.schedule)))


def opponent_table(plan: Plan, points: np.ndarray) -> list[str]:
    return render_rows(opponent_rows(plan, points), "table").splitlines()


def drawn(renderable: object, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    console.print(renderable)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]


def test_the_familiar_table(plan: Plan) -> None:
    points = results(plan, {"MM_Open": 2, "ID_Improved": 1, "ID_Improved_control": 0})
    lines = opponent_table(plan, points)
    assert lines[0].split() == ["agent", "win", "rate", "Random", "Greedy", "ID_Improved"]
    assert lines[2].split() == ["MM_Open", "100.0", "%", "40/40", "40/40", "40/40"]
    assert lines[3].split() == ["ID_Improved", "50.0", "%", "20/40", "20/40", "–"]
    assert opponent_table(plan, points_table(plan.schedule))


def test_the_table_of_a_round_robin_has_everybody_on_both_sides() -> None:
    robin = make_plan(
        load_config(None, {"format": "round-robin", "contenders": ["random", "greedy", "MM:open"], "pairs": 3})
    )
    points = points_table(robin.schedule)
    points[:] = 1
    lines = opponent_table(robin, points)
    assert lines[2].split() == ["Random", "100.0", "%", "–", "6/6", "6/6"]
    assert lines[4].split() == ["MM_Open", "0.0", "%", "0/6", "0/6", "–"]


@pytest.mark.parametrize("terminal", [True, False])
def test_every_phase_is_shown_on_a_terminal_and_in_a_pipe(plan: Plan, terminal: bool) -> None:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=100)
    points = results(plan, {"MM_Open": 2, "ID_Improved": 1, "ID_Improved_control": 0})
    with display(console) as show:
        for phase, rate in (("preparing", 0.0), ("playing", 0.0), ("playing", 12.5), ("merging", 12.5)):
            left = 60 / rate if rate else float("inf")
            show(RunProgress(plan, phase, "MM_Open", 100, 240, rate, left, points))  # type: ignore[arg-type]
    output = console.file.getvalue()  # type: ignore[attr-defined]
    assert "100 of 240 games" in output
    assert ("\x1b[" in output) == terminal


def progress_of(plan: Plan, points: np.ndarray) -> RunProgress:
    return RunProgress(plan, "playing", "", 100, 240, 12.5, 11.2, points, ("it hangs",))


@pytest.mark.parametrize("width", [80, 200])
def test_the_head_of_the_standings_stands_above_their_columns_and_below_the_bar(plan: Plan, width: int) -> None:
    points = results(plan, {"MM_Open": 2, "ID_Improved": 1, "ID_Improved_control": 0})
    note, summary, bar, head, *rows = drawn(screen(progress_of(plan, points), True, 24), width)
    assert (note, summary) == ("Note: it hangs", "100 of 240 games · 12 games/s · 0:00:11 left")
    assert set(bar) <= set("━╸╺ ")
    assert head.split() == ["Agent", "openings", "win", "rate", "95", "%", "at", "any", "time"]
    assert [row.split()[0] for row in rows] == ["MM_Open", "ID_Improved", "ID_Improved_control"]
    assert len({row.index("%") for row in rows} | {head.index("rate") + 3}) == 1
    assert max(map(len, rows)) == len(head) <= 80


def test_the_time_left_is_not_told_before_it_is_steady(plan: Plan) -> None:
    printed = drawn(screen(progress_of(plan, points_table(plan.schedule)), False, 24), 80)
    assert printed[1] == "100 of 240 games · 12 games/s"


def test_on_a_low_terminal_leaders_and_the_baseline_are_shown_and_the_others_counted() -> None:
    contenders = [f"{name}=MM:open@depth={depth}" for depth, name in enumerate("ABCDEF", start=1)]
    plan = make_plan(load_config(None, {"contenders": contenders, "opponents": ["random"], "pairs": 4}))
    points = results(plan, {**dict.fromkeys("ABCDEF", 2), "ID_Improved": 0, "ID_Improved_control": 1})
    lines = drawn(screen(progress_of(plan, points), True, 12), 80)
    assert [line.split()[0] for line in lines[4:]] == ["A", "B", "C", "ID_Improved", "and"]
    assert lines[-1] == "and 4 more"
    assert len(lines) < 12


def test_what_is_to_be_known_of_a_run_is_said_in_a_pipe_at_once_and_once(plan: Plan) -> None:
    console = Console(file=io.StringIO(), force_terminal=False, width=100)
    message: set[str] = set()
    with display(console, message) as show:
        for notes in ((), ("openings exhausted",), ("openings exhausted", "it hangs"), ("openings exhausted",)):
            show(RunProgress(plan, "playing", "", 1, 240, 1.0, 60.0, points_table(plan.schedule), notes))
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert [line for line in lines if line.startswith("Note:")] == ["Note: openings exhausted", "Note: it hangs"]
    assert message == {"openings exhausted", "it hangs"}


def test_games_that_go_on_being_lost_are_told_once_for_each_player_in_a_pipe(plan: Plan) -> None:
    console = Console(file=io.StringIO(), force_terminal=False, width=100)
    with display(console) as show:
        for games in (1, 2, 1_300):
            notes = [f"Player_{number} lost {games:,} of {9 * games:,} games by error" for number in (1, 2)]
            show(RunProgress(plan, "playing", "", 1, 240, 1.0, 60.0, points_table(plan.schedule), tuple(notes)))
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert [line for line in lines if line.startswith("Note:")] == [
        "Note: Player_1 lost 1 of 9 games by error",
        "Note: Player_2 lost 1 of 9 games by error",
    ]


@pytest.mark.parametrize("terminal", [True, False])
def test_limits_at_equal_cost_are_printed_and_stay(plan: Plan, terminal: bool) -> None:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=100)
    plan = make_plan(load_config(None, {"contenders": ["ID:open@nodes=15000"], "opponents": ["random"], "pairs": 2}))
    costs = {"ID_Improved": Cost(5, 1, 1, 1), "ID_Open_15000nodes": Cost(3, 0.67, 0.66, 0.68)}
    with display(console) as show:
        for phase in ("measuring", "measured"):
            blank = points_table(plan.schedule)
            show(RunProgress(plan, phase, "ID_Open", 0, 240, 0.0, float("inf"), blank, (), costs))  # type: ignore[arg-type]
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    (line,) = [line for line in lines if line.lstrip("\x1b[2KA1G\r").startswith("ID_Open_15000nodes")]
    assert line.split()[-3:] == ["3.0", "%", "15,000"]


def test_a_long_name_is_not_in_the_way() -> None:
    long = "N" * 40
    plan = make_plan(load_config(None, {"contenders": [f"{long}=MM:open"], "opponents": ["random"], "pairs": 2}))
    assert long in "".join(opponent_table(plan, points_table(plan.schedule)))


def test_a_path_to_go_on_with_is_quoted_for_a_shell() -> None:
    from pathlib import Path
    from types import SimpleNamespace

    from knights_isolation.reports.watch import end_message

    outcome = SimpleNamespace(logged=1, played=1, total=2, seconds=3.0, path=Path("my runs/$one"))
    assert end_message(outcome).endswith(" 'my runs/$one' --full")  # type: ignore[arg-type]


def test_what_is_counted_is_seen_while_what_code_prints_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    parent, child = pty.openpty()
    with open(child, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr("sys.stderr", terminal)
        monkeypatch.setenv("TERM", "xterm")
        bar = counting("heuristics")
        with capture_output() as printed, bar as show:
            show(1, 2)
            print("from somebody's code")
    seen = ""
    with suppress(OSError), open(parent, encoding="utf-8", errors="replace") as output:  # which ends so
        for line in output:
            seen += line
    assert "heuristics" in seen
    assert "1/2" in seen
    assert "somebody" not in seen
    assert printed.first == "from somebody's code"


def test_without_a_terminal_what_is_counted_goes_into_lines(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("knights_isolation.reports.watch.LINE_SECONDS", 0.0)
    with open(2, "w", closefd=False) as stderr:
        monkeypatch.setattr("sys.stderr", stderr)
        with counting("features") as show:
            show(1, 2)
    assert capfd.readouterr().err == "features: 1 of 2\n"


def test_a_note_that_was_printed_with_its_last_counts_is_not_printed_again_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.py").write_text(
        "class CustomPlayer:\n    def get_move(self, game, time_left):\n        raise RuntimeError\n"
    )
    result = CliRunner().invoke(main, ["match", "bad.py:CustomPlayer@ms=100", "random", "--pairs", "1", "--jobs", "1"])
    assert result.exit_code == 0
    assert result.output.count("Note: bad.CustomPlayer_100ms lost 2 of 2 games by error") == 1
