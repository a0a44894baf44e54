"""Tables and findings on a terminal of 80 columns: nothing is wrapped or cut unsaid, and the answer comes first."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from invented_runs import Invented, gauntlet, random_wins

from cli import main
from knights_isolation.reports.text.cell_values import Share
from knights_isolation.reports.text.rendering import render_rows, shortened, shown_column

ROOT = Path(__file__).parents[2]
LONG = ("ID_Offensive_Proximity_Net_Mobility_Early", "ID_Offensive_Proximity_Net_Mobility_Later", "ID_Short")


def said(*words: object) -> str:
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A gauntlet of contenders with long names, one of which wins everything; and a control."""
    rates = dict.fromkeys(LONG, 0.5) | {"Base": 0.5, "Base_control": 0.5}
    luck = random_wins(rates)
    best = LONG[0]
    made = gauntlet(
        30, lambda agent, other, opening: 2 if agent == best else luck(agent, other, opening), contenders=LONG
    )
    made.agent("Base_control", "control")
    for opening in range(100, 130):
        for opponent in ("Opp_A", "Opp_B"):
            made.pair("Base_control", opponent, opening, 1)
    return made.write(tmp_path / "run")


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knights_isolation.reports.text.rendering.is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "60")


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize(
    "words",
    [
        *(["results"], ["results", "--full"], ["ratings"], ["ratings", "--full"]),
        *(["sprt"], ["games", "--limit", "3"], ["games", "--show", "upsets", "--limit", "3"]),
        ["replay", "5"],
    ],
    ids=" ".join,
)
def test_no_line_is_longer_than_the_terminal(run: Path, words: list[str]) -> None:
    command, *options = words
    assert max(map(len, said(command, run, *options).splitlines())) <= 80


@pytest.mark.exhaustive
@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize(
    "words",
    [
        *(["tournament", "--dry-run"], ["plan"], ["published"], ["heuristics"], ["eval", "--moves", "d3,a2"]),
        *(["perfect", "solve", "--moves", "d3,a2", "--length"], ["screen", "ID:null", "--sample", "40"]),
        ["system", "perft", "--depth", "3"],
    ],
    ids=" ".join,
)
def test_no_line_is_longer_than_the_terminal_either_where_no_run_is_read(words: list[str]) -> None:
    assert max(map(len, said(*words).splitlines())) <= 80


@pytest.mark.usefixtures("narrow")
def test_why_games_were_forfeited_is_told_however_long_the_names_are(tmp_path: Path) -> None:
    made = Invented().agent(LONG[0], "contender").agent(LONG[1], "baseline").pair(*LONG[:2], 0, 1)
    made.rows[1] |= {"reason": "error", "detail": "ZeroDivisionError: division by zero " + "again " * 20}
    output = said("games", made.write(tmp_path / "run"), "--show", "forfeits")
    assert f"Game 1: ZeroDivisionError: division by zero{' again' * 20}" in " ".join(output.split())
    assert max(map(len, output.splitlines())) <= 80


@pytest.mark.usefixtures("narrow")
def test_whether_a_heuristic_compiles_is_the_last_that_goes(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from random import random\n"
        "def count(game, player, *, reach=0.5, blocking=1.0, centre=0.25, corner=0.125):\n"
        f'    """{"Count moves, and again. " * 4}"""\n'
        "    return len(game.get_legal_moves(player))\n"
        "def a_rather_long_name_of_a_heuristic(game, player):\n"
        "    return random()\n"
    )
    lines = said("heuristics", "--file", tmp_path / "mine.py").splitlines()
    assert lines[0].split() == ["name", "compiles", "meaning", "parameters"]
    assert [line.split()[1] for line in lines if line.startswith(("count", "a_rather"))][:2] == ["yes", "no"]
    assert "a_rather_long_name_of_a_heuristic does not compile: " in "\n".join(lines)
    assert max(map(len, lines)) <= 80


@pytest.mark.usefixtures("narrow")
def test_the_finding_comes_first_then_a_line_a_contender_then_where_the_rest_is(run: Path) -> None:
    lines = said("results", run).splitlines()
    assert " ".join(lines[:2]).startswith(
        "1 of 3 won more against the same opponents than Base: ID_Offensive_Proximity_Net_Mobility_Early; none won "
    )
    rows = [line for line in lines[3:] if line.startswith(("ID_", "Base_control"))]
    assert len(rows) == 4
    assert "better" in next(line for line in rows if "y_Early" in line)
    assert " ".join(lines[-3:]).endswith(
        "More with --table: verdicts, effects, theory, standings, opponents, sides, forfeits, lengths, search; "
        "with --full all of them."
    )
    assert len(lines) <= 24


def test_a_pipe_gets_whole_names_and_every_column(run: Path) -> None:
    output = said("results", run, "--table", "verdicts")
    assert all(name in output for name in LONG)
    assert "heterogeneity p" in output
    assert "Columns hidden" not in output


@pytest.mark.usefixtures("narrow")
def test_what_has_no_room_is_named(run: Path) -> None:
    text = " ".join(said("results", run, "--table", "verdicts").split())
    assert re.search(
        r"Columns hidden \(narrow terminal\): .*win rate, adjusted p, .*heterogeneity p; use a wider", text
    )


def test_what_is_the_same_in_every_row_is_a_sentence() -> None:
    rows = [{"agent": name, "games": 1400, "share": Share(index / 10)} for index, name in enumerate("ABC")]
    text = render_rows(rows, "table")
    assert text.splitlines()[0].split() == ["agent", "share"]
    assert text.splitlines()[-1] == "Constant columns: games: 1,400."
    assert "games" in render_rows(rows[:2], "table").splitlines()[0]
    assert render_rows(rows, "csv").splitlines()[0] == "agent,games,share"


@given(st.lists(st.text("abcdefg_", min_size=1, max_size=40), min_size=1, max_size=8), st.integers(3, 40))
def test_shortened_names_stay_different_and_are_no_longer_than_they_need_be(names: list[str], width: int) -> None:
    short = shortened(names, width)
    assert len(set(short)) == len(set(names))
    assert all(item == name for item, name in zip(short, names, strict=True) if len(name) <= width)
    assert all(len(item) <= max(width, len(name)) for item, name in zip(short, names, strict=True))


def test_numbers_of_a_column_have_as_many_decimals() -> None:
    assert shown_column([8.694, 10.13, None, float("nan")]) == ["8.69", "10.13", "–", "–"]
    assert shown_column([1.0, -4.0]) == ["1", "−4"]
    assert shown_column([float("inf"), 0.5]) == ["inf", "0.5000"]
    assert shown_column([1e-9, 2.0]) == ["1e-09", "2"]


def test_one_order_of_agents_everywhere(run: Path) -> None:
    printed = [
        [line.split()[0] for line in said(*words).splitlines() if line.startswith(("ID_", "Base"))]
        for words in (["results", run], ["results", run, "--table", "standings"], ["results", run, "--table", "search"])
    ]
    contenders, everybody, search = printed
    assert everybody == search
    assert [name for name in everybody if name != "Base"] == contenders


def dear_run(wall_times: tuple[int, int] = (50_000, 50_000), is_measured: bool = True) -> Invented:
    """A contender that wins all its games against the baseline, and whose nodes cost three times as much.

    `wall_times` are the microseconds that moves of the baseline and of the contender took, as the log has them.
    """
    made = Invented().agent("Dear", "contender").agent("Base", "baseline")
    if is_measured:
        made.costing(Base=1.0, Dear=3.0)
    base, dear = wall_times
    for opening in range(30):
        for first, second, times in (("Base", "Dear", [base, dear]), ("Dear", "Base", [dear, base])):
            plies = {"nodes": [0, 0] + [1000] * 4, "time_us": [0, 0] + times * 2}
            made.game(first, second, opening, first == "Dear", **plies)
        made.pairs += 1
    return made


def test_a_run_that_has_not_measured_costs_says_so_and_guesses_none(tmp_path: Path) -> None:
    output = said("results", dear_run(is_measured=False).write(tmp_path / "run"))
    assert "Cost: not measured" in output
    assert "CPU time per node compared with" not in output
    assert "×" not in output


@pytest.mark.parametrize(
    "words", [["results"], ["results", "--table", "head_to_head"], ["results", "--table", "standings"]]
)
def test_the_clock_on_the_wall_has_no_part_in_what_is_said_of_costs(tmp_path: Path, words: list[str]) -> None:
    outputs = [
        said(words[0], dear_run(times).write(tmp_path / str(index) / "run"), *words[1:])
        for index, times in enumerate([(50_000, 50_000), (90_000, 10_000)])
    ]
    assert outputs[0] == outputs[1]


def test_a_cost_stands_with_its_interval_and_its_clock_and_one_that_is_unsteady_is_named(tmp_path: Path) -> None:
    made = dear_run()
    text = " ".join(said("results", made.write(tmp_path / "run")).split())
    assert "3.00 × (2.94 to 3.06)" in text
    assert "Cost: CPU time per node relative to the baseline, measured in alternation" in text
    assert "Unreliable" not in text
    made.costs["Dear"] |= {"low": 2.5, "high": 3.5}
    text = " ".join(said("results", made.write(tmp_path / "unsteady")).split())
    assert "Unreliable, with a spread above 10 %: Dear." in text


@pytest.mark.parametrize("words", [["results"]])
def test_a_run_at_equal_cost_says_so_first_with_the_nodes_of_each(tmp_path: Path, words: list[str]) -> None:
    made = dear_run().agent("Dear", "contender", limit={"nodes": 333})
    made.config["equal_cost"] = True
    text = " ".join(said(*words, made.write(tmp_path / "run")).split())
    assert text.startswith(
        "At equal cost by CPU time per node, measured when the run began: Dear 333 nodes "
        "(a node costs 3.00 ×, spread 4.0 %); Base 1,000 nodes per move."
    )
    made.costs.clear()
    text = " ".join(said(*words, made.write(tmp_path / "old")).split())
    assert text.startswith(
        "At equal cost by wall time (as older versions measured it, possibly inaccurate): Dear 333 nodes"
    )


def test_a_better_heuristic_is_told_its_price(tmp_path: Path) -> None:
    made = dear_run()
    output = said("results", made.write(tmp_path / "run"))
    assert "CPU time per node compared with Base: Dear 3.00 ×. Equal node limits ignore this cost;" in output
    made.config["equal_cost"] = True
    assert "CPU time per node compared with" not in said("results", made.write(tmp_path / "equal"))


def test_what_equal_cost_says_is_told_where_a_run_beside_knows_it(tmp_path: Path) -> None:
    run = dear_run().write(tmp_path / "dear")
    equal = dear_run().agent("Dear", "contender", limit={"nodes": 333})
    equal.config["equal_cost"] = True
    for row in equal.rows:
        row["winner"] = 1
    other = dear_run()
    other.config |= {"equal_cost": True, "board": "5x5"}
    other.write(tmp_path / "another-question")
    assert "isolation tournament --equal-cost accounts for it." in " ".join(said("results", run).split())
    equal.write(tmp_path / "equal")
    text = " ".join(said("results", run).split())
    assert f"at equal cost, {tmp_path / 'equal'} found: Dear 50.0 %, no significant difference." in text
    assert "--equal-cost" not in text


@pytest.mark.slow
@pytest.mark.parametrize("size", [(24, 80), (50, 200)])
def test_a_terminal_s_own_size_is_kept_to(run: Path, size: tuple[int, int]) -> None:
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    start = [sys.executable, "-P", "-c", "from cli import main; main(prog_name='isolation')", "results", str(run)]
    with subprocess.Popen(start, env=environment, stdin=child, stdout=child, stderr=child) as process:
        os.close(child)
        printed = b""
        while True:
            try:
                part = os.read(parent, 4096)
            except OSError:  # the terminal has gone with the process
                break
            if not part:
                break
            printed += part
    os.close(parent)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", printed.decode()).splitlines()
    assert process.returncode == 0
    assert max(map(len, lines)) <= size[1]
    assert len(lines) <= size[0]
    assert (LONG[0] in printed.decode()) == (size[1] == 200) or size[1] == 80
