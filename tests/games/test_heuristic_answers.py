"""Heuristics that fail in a rare position: how often, where in which file, and at which position, whoever asks."""

import json
import re
import shlex
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from cli import main
from knights_isolation import heuristics
from knights_isolation.experiments.analysis import quick_trial
from knights_isolation.experiments.studies.screening import collect_answers, failing_position, failing_positions
from knights_isolation.experiments.suite import read_suite
from knights_isolation.isolation.checks.search_cost import random_openings
from knights_isolation.isolation.games.batches import BatchMoves, Positions, choose_moves
from knights_isolation.isolation.games.match import play_games
from knights_isolation.isolation.loading.load_user_code import load_heuristic
from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.game import Cost, Limit, Reason
from knights_isolation.isolation.search.agents import SearchAgent
from knights_isolation.isolation.usercode.user_exceptions import origin, return_lines

RARELY = """
def helper(own):
    {helper}

def score(game, player):
    own = len(game.get_legal_moves(player))
    opponent = len(game.get_legal_moves(game.get_opponent(player)))
    {python}
    if game.move_count >= 27 and own == 2:
        {fail}
    return float(own - opponent)
"""
FAILURES = {
    "exception": (
        "return 1.0 / (own - own)",
        "return helper(own)",
        "ZeroDivisionError: float division by zero",
        "line 3",
    ),
    "NaN": ("return 0.0", "return float('nan')", "NotANumber: the heuristic returned NaN", "lines 10, 11"),
    "None": ("return 0.0", "return None", "NotANumber: the heuristic returned None", "lines 10, 11"),
    "text": ("return 0.0", "return '3'", "NotANumber: the heuristic returned '3'", "lines 10, 11"),
    "list": (
        "return 0.0",
        "return [1.0] * 99",
        "NotANumber: the heuristic returned a value of type list",
        "lines 10, 11",
    ),
    "recursion": (
        "return helper(own + 1)",
        "return helper(own)",
        "RecursionError: maximum recursion depth exceeded",
        "line 3",
    ),
}
INTERPRETED = 'eval("1")'
COMPILING = ("exception", "NaN", "None")


def write(folder: Path, kind: str, python: str = "") -> tuple[Path, str]:
    """A file whose `score` fails in this way, and what is to be said of it; with `python` it does not compile."""
    helper, fail, output, lines = FAILURES[kind]
    path = folder / "rare.py"
    path.write_text(RARELY.format(helper=helper, fail=fail, python=python or "pass"))
    return path, f"{output} (rare.py, {lines})"


def agent(path: Path) -> SearchAgent:
    return SearchAgent("it", "alphabeta", load_heuristic(path, "score").value, "it", Limit(nodes=300))


CASES = [(kind, "") for kind in FAILURES] + [(kind, INTERPRETED) for kind in COMPILING]


@pytest.mark.parametrize(("kind", "python"), CASES)
def test_a_game_lost_by_a_failure_says_what_was_raised_or_returned_in_which_line(
    kind: str, python: str, tmp_path: Path
) -> None:
    path, output = write(tmp_path, kind, python)
    mine = agent(path)
    assert (mine.compiled((7, 7)) is not None) == (kind in COMPILING and not python)
    improved = SearchAgent("ID:improved", "alphabeta", heuristics.get("improved"), "improved", Limit(nodes=300))
    openings = random_openings(12, 20, seed=2)
    games = play_games(mine, improved, openings, range(len(openings)))
    lost = games.reason == Reason.ERROR
    assert lost.any()
    assert {games.detail[index] for index in np.flatnonzero(lost)} == {output}
    failed = int(np.flatnonzero(lost)[0])
    position = Positions.of([games.moves[games.offsets[failed] : games.offsets[failed + 1]].tolist()], "7x7")
    assert choose_moves(mine, position, np.zeros(1, np.uint64)).detail == output


@pytest.fixture
def few_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have `isolation try` look at early test positions only, and play a few short games whatever the machine does."""
    early = [Board.from_moves(cells) for cells in ([24, 0], [24, 1], [3, 40])]
    monkeypatch.setattr(
        "knights_isolation.isolation.compiling.compile_heuristic.sample_positions", lambda size, count: early
    )
    small = read_suite("7x7", "screen").sample(60, 1)
    monkeypatch.setattr(quick_trial, "read_suite", lambda name, split: small)
    for name, value in {"OPENING_PLIES": 22, "PYTHON_POSITIONS": 60}.items():
        monkeypatch.setattr(quick_trial, name, value)
    monkeypatch.setattr("knights_isolation.experiments.analysis.analyse_file.QUICK_LIMIT", Limit(nodes=200))
    monkeypatch.setattr(quick_trial, "_cost", lambda heuristic, settings, interpreted: Cost(100.0, 1.0, 1.0, 1.0))
    monkeypatch.setattr(quick_trial, "try_heuristic", partial(quick_trial.try_heuristic, pairs=6, python_pairs=6))


@pytest.mark.parametrize(("kind", "python"), CASES)
@pytest.mark.usefixtures("few_games")
def test_try_says_how_often_a_heuristic_fails_and_where_and_ends_with_1(kind: str, python: str, tmp_path: Path) -> None:
    path, output = write(tmp_path, kind, python)
    result = CliRunner().invoke(main, ["try", str(path)])
    assert result.exit_code == 1
    assert "OK: values: returned a number in all of 3 test positions, for both players." in result.output
    problem = re.search(
        r"Problem: play: fails in (\d+) of 12 games and (\d+) of 60 solved positions, first by (.*)\.\n *(.*)\n",
        result.output,
    )
    assert problem
    lost, failed, why, show = problem.groups()
    assert 0 < int(lost) <= 12
    assert 0 < int(failed) < 60
    assert why == output
    assert fails_at(show, path)
    command = re.search(r"isolation eval --fen .*", result.output)
    assert command
    if kind in ("exception", "recursion"):
        assert fails_when_asked(command[0], output)
    assert CliRunner().invoke(main, shlex.split(command[0])[1:]).exit_code == (0 if kind == "text" else 1)


def fails_at(show: str, path: Path) -> bool:
    """Whether a command shows a position, and the file's heuristic fails there for one of the players."""
    words = shlex.split(show)
    assert words[:3] == ["isolation", "show", "--fen"]
    assert CliRunner().invoke(main, words[1:]).exit_code == 0
    board = Board.from_fen(words[3])
    return any(not is_number(load_heuristic(path, "score").value, board, player) for player in board.players)


def is_number(heuristic: Any, board: Board, player: Any) -> bool:
    try:
        value = heuristic(board, player)
    except Exception:
        return False
    return isinstance(value, float) and value == value


@pytest.mark.usefixtures("quick_trials")
def test_try_says_in_how_many_test_positions_a_heuristic_fails_and_shows_the_first(tmp_path: Path) -> None:
    path = tmp_path / "late.py"
    path.write_text("def score(game, player):\n    if game.move_count > 20:\n        return None\n    return 1.0\n")
    result = CliRunner().invoke(main, ["try", str(path)])
    assert result.exit_code == 1
    seen = r"Problem: values: returns None \(missing return\?\) instead of a number \(late.py, lines 3, 4\) "
    seen += r"at (Board\.from_moves\(.*\)) for "
    results = re.search(
        rf"{seen}player 1; it fails in (\d+) of 300 test positions\.\n *(isolation show .*)\n", result.output
    )
    assert results
    assert 10 < int(results[2]) < 300
    assert Board.from_fen(shlex.split(results[3])[3]).move_count == eval(results[1]).move_count > 20


def test_screen_calls_failures_what_they_are_and_shows_the_first(tmp_path: Path) -> None:
    path, output = write(tmp_path, "exception")
    words = ["screen", f"ID:{path}:score", "--sample", "300", "--limit", "nodes=300", "--jobs", "1"]
    result = CliRunner().invoke(main, [*words, "--format", "json"])
    results = re.search(
        rf"failed (\d+) times, by error: {re.escape(output)}; first at: (isolation eval[^\"]*)", result.output
    )
    assert results
    assert "no legal move in time" not in result.output
    assert 0 < int(results[1]) < 300
    assert fails_when_asked(results[2], output)


def test_the_position_named_is_where_a_heuristic_fails_and_not_the_root_of_the_search(tmp_path: Path) -> None:
    path = tmp_path / "late.py"
    path.write_text("def score(game, player):\n    return [1.0] [min(1, game.move_count // 22)]\n")
    root = Board.from_moves(random_openings(1, 20, seed=2)[0])
    board = failing_position(agent(path), root)
    assert board is not None
    assert (root.move_count, board.move_count) == (20, 22)
    improved = SearchAgent("ID:improved", "alphabeta", heuristics.get("improved"), "improved", Limit(nodes=300))
    assert failing_position(improved, root) is None


def test_no_position_is_named_of_parameters_that_the_command_offered_would_not_have(tmp_path: Path) -> None:
    path = tmp_path / "late.py"
    path.write_text("def score(game, player, *, last=99.0):\n    return [1.0][1 if game.move_count > last else 0]\n")
    positions = Positions.of(random_openings(2, 20, seed=2), "7x7")
    asked = collect_answers([f"ID:{path}:score@option.last=21"], positions, limit=Limit(nodes=300))
    assert asked[0].answers.first_failure == 0
    assert failing_positions(asked, positions) == {}


@pytest.mark.parametrize("kind", ["NaN", "None"])
def test_eval_of_a_file_ends_with_1_where_it_gives_no_number(kind: str, tmp_path: Path) -> None:
    path, _ = write(tmp_path, kind)
    path.write_text(path.read_text().replace(">= 27 and own == 2", ">= 2"))
    failed = CliRunner().invoke(main, ["eval", "--moves", "d3,a2", "--file", str(path)])
    assert failed.exit_code == 1
    assert failed.stderr.startswith("Error: rare.py:score: ")
    assert failed.stderr.count("\n") == 1
    assert CliRunner().invoke(main, ["eval", "--moves", "d3", "--file", str(path)]).exit_code == 0


def fails_when_asked(command: str, output: str) -> bool:
    """Whether a command of `isolation eval` ends with 1 and says in one line what fails and in which line."""
    result = CliRunner().invoke(main, shlex.split(command)[1:])
    return result.exit_code == 1 and result.stderr == f"Error: rare.py:score: {output}\n"


def test_what_python_warns_of_is_said_once_with_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "large.py"
    path.write_text(
        "import numpy as np\n\n\ndef score(game, player):\n    large = np.float64(1e300) * game.move_count\n"
        "    return min(large * large, 5.0)\n"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        result = CliRunner().invoke(main, ["eval", "--moves", "d3,a2", "--file", str(path)])
    assert result.stderr == "Note: overflow encountered in scalar multiply (large.py, line 6)\n"


@pytest.mark.slow
def test_match_and_summary_name_the_file_and_line_of_the_first_failure(tmp_path: Path) -> None:
    path, output = write(tmp_path, "NaN")
    words = [
        "match",
        f"ID:{path}:score",
        "ID:improved",
        "--pairs",
        "12",
        "--openings",
        "random:22",
        "--limit",
        "nodes=100",
    ]
    played = CliRunner().invoke(main, [*words, "--jobs", "1", "--out", "run"])
    assert re.search(rf"lost \d+ of 24 games by error: {re.escape(output)}", " ".join(played.output.split()))
    for command in ("results",):
        text = " ".join(CliRunner().invoke(main, [command, "run"]).output.split())
        assert f"by error ({output})" in text


def test_an_error_is_told_before_a_late_answer_that_came_first(tmp_path: Path) -> None:
    path, output = write(tmp_path, "exception", INTERPRETED)
    mine = agent(path)

    class Late(SearchAgent):
        def choose(self, board: Board, seed: int) -> Any:
            from knights_isolation.isolation.search.agents import ForfeitError

            if board.move_count == 2:
                raise ForfeitError(Reason.TIMEOUT, "took long")
            return super().choose(board, seed)

    late = Late("it", "alphabeta", mine.heuristic, "it", mine.limit)
    openings = [random_openings(1, 2)[0], *random_openings(30, 27, seed=3)]
    answers = choose_moves(late, Positions.of(openings, "7x7"), np.zeros(31, np.uint64))
    assert answers.failure[0] == Reason.TIMEOUT
    assert answers.failure[answers.first_failure] == Reason.ERROR
    assert answers.detail == output


def test_the_origin_of_an_exception_is_the_users_last_line_and_nobody_elses(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(
        "import json\nimport numpy as np\n\n\ndef parse(game, player):\n    return json.loads('{')\n\n\n"
        "def linear(game, player):\n    return np.linalg.inv(np.zeros((2, 2)))\n"
    )
    for name, line in (("parse", 6), ("linear", 10)):
        with pytest.raises(Exception, match=r".") as raised:
            load_heuristic(path, name).value(None, 1)
        assert origin(raised.value) == f"own.py, line {line}"
    with pytest.raises(ValueError, match=r".") as ours:
        Board.from_fen("nonsense")
    assert origin(ours.value) == f"test_heuristic_answers.py, line {ours.traceback[0].lineno + 1}"
    assert origin(ValueError("never raised")) == ""


def test_a_value_comes_from_the_lines_that_return_from_the_users_function() -> None:
    def one_way() -> str:
        text = "no number"
        return text

    def two_ways(text: str) -> str | None:
        if text:
            return None
        return text

    first, second = one_way.__code__.co_firstlineno, two_ways.__code__.co_firstlineno
    assert return_lines(one_way) == f"test_heuristic_answers.py, line {first + 2}"
    assert return_lines(two_ways) == f"test_heuristic_answers.py, lines {second + 2}, {second + 3}"
    assert return_lines(len) == return_lines(json.loads) == ""


@pytest.mark.exhaustive
@pytest.mark.usefixtures("quick_trials")
def test_try_says_so_if_a_heuristic_fails_while_its_cost_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "knights_isolation.isolation.compiling.compile_heuristic.sample_positions",
        lambda size, count: [Board.from_moves([24, 0])],
    )
    Path("soon.py").write_text(
        "def score(game, player):\n    if game.move_count >= 9:\n        return float('nan')\n    return 1.0\n"
    )
    result = CliRunner().invoke(main, ["try", "soon.py"])
    assert result.exit_code == 1
    text = "Problem: cost: fails during the cost measurement: NotANumber: the heuristic returned NaN ("
    assert f"{text}soon.py, lines 3, 4)." in result.output


def test_the_first_failure_is_the_first_error_else_the_first_of_any_kind():
    def first(*reasons: int) -> int | None:
        columns = np.zeros(len(reasons), np.int64)
        return BatchMoves(columns.astype(np.int16), np.array(reasons, np.int8), "", columns, columns).first_failure

    assert first(0, Reason.TIMEOUT, Reason.ERROR, Reason.ERROR) == 2
    assert first(0, Reason.TIMEOUT, Reason.TIMEOUT) == 1
    assert first(0, 0) is None
