"""The command line as a user meets it: output, one-line errors, exit codes."""

import csv
import io
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli import main
from knights_isolation import heuristics
from knights_isolation.experiments.exact.board_solving import shipped_pairs
from knights_isolation.isolation.rules.game import Size

CLASSIC = Path(__file__).parents[1] / "data" / "classic"

PLAYER = """
class CustomPlayer:
    def __init__(self, search_depth=3):
        self.score = lambda game, player: float(len(game.get_legal_moves(player)))

    def get_move(self, game, time_left):
        return {move}

    def minimax(self, game, depth):
        def value(game, depth):
            moves = game.get_legal_moves()
            if depth == 0 or not moves:
                return game.utility(self) or self.score(game, self)
            best = max if game.active_player == self else min
            return best(value(game.forecast_move(move), depth - 1) for move in moves)

        return {choice}(game.get_legal_moves(), key=lambda move: value(game.forecast_move(move), depth - 1))
"""


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_perft_counts_as_other_tools_read_them():
    result = run("system", "perft", "--depth", 4, "--format", "csv")
    assert [row["sequences"] for row in csv.DictReader(io.StringIO(result.output))] == ["49", "2352", "11280", "52672"]
    result = run("system", "perft", "--moves", "24,14", "--depth", 2, "--format", "json")
    assert json.loads(result.output) == [{"depth": 1, "sequences": 8}, {"depth": 2, "sequences": 30}]


def test_a_command_ends_when_its_work_is_done_though_a_player_s_threads_go_on(tmp_path):
    (tmp_path / "thinks_on.py").write_text(
        "import threading, time\n"
        "class CustomPlayer:\n"
        "    def get_move(self, game, time_left):\n"
        "        threading.Thread(target=time.sleep, args=(600,)).start()\n"
        "        return game.get_legal_moves()[0]\n"
    )
    program = "from cli import run; run()"
    command = [sys.executable, "-c", program, "test-agent", "thinks_on.py"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert "moves: legal on 20 positions" in ended.stdout


@pytest.mark.exhaustive
def test_a_command_ends_when_its_work_is_done_though_its_workers_would_wait_for_more(tmp_path):
    (tmp_path / "interpreted.py").write_text("def score(game, player):\n    str(player)\n    return 1.0\n")
    program = "from cli import run; run()"
    asked = ["screen", "ID:interpreted.py:score", "--sample", "2", "--limit", "nodes=5", "--jobs", "2"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", program, *asked]
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("ID_interpreted.score ")


@pytest.mark.slow
def test_every_heuristic_is_listed_and_compiles():
    rows = json.loads(run("heuristics", "--format", "json").output)
    assert [row["name"] for row in rows] == heuristics.names()
    assert {row["compiles"] for row in rows} == {"yes"}
    assert all(row["meaning"] for row in rows)


def test_a_file_without_heuristics_is_listed_as_such(tmp_path):
    (tmp_path / "plain.py").write_text("LIMIT = 3\n")
    result = run("heuristics", "--file", tmp_path / "plain.py")
    assert result.exit_code == 0
    assert result.output.startswith(f"{tmp_path}/plain.py has no heuristic: ")
    assert run("heuristics", "--file", tmp_path / "plain.py", "--format", "json").output == "[]\n"


def test_a_position_is_evaluated_by_every_heuristic_for_both_players():
    rows = json.loads(run("eval", "--moves", "24,14", "--format", "json").output)
    assert {"heuristic": "improved", "player 1": 4.0, "player 2": -4.0} in rows
    assert len(rows) == len(heuristics.names())


@pytest.mark.usefixtures("quick_trials")
def test_the_template_compiles_and_can_be_tried(tmp_path):
    file = tmp_path / "mine.py"
    assert run("new", file).exit_code == 0
    listed = json.loads(run("heuristics", "--file", file, "--format", "json").output)
    assert [(row["name"], row["compiles"]) for row in listed] == [("score", "yes")]
    result = run("try", file)
    assert "Compiles, and returns the same values as the Python function in up to 300 positions." in result.output
    assert "Against ID:improved" in result.output


def test_the_template_lists_what_games_have_beside_the_classic_methods(tmp_path):
    run("new", tmp_path / "mine.py")
    text = (tmp_path / "mine.py").read_text()
    assert "game.reach(cells) " in text
    assert "game.links(cells) " in text


@pytest.mark.usefixtures("quick_trials")
def test_a_heuristic_that_does_not_compile_is_tried_interpreted_and_told_why(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("import random\n\ndef score(game, player):\n    return random.random()\n")
    result = run("try", file)
    assert "Does not compile" in result.output
    assert "line 4" in result.output
    assert "Cost per node interpreted: " in result.output
    assert "Cost per node compiled" not in result.output


@pytest.mark.usefixtures("quick_trials")
def test_a_heuristic_that_raises_is_told_where(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def score(game, player):\n    return 1 / (len(game.get_legal_moves(player)) - 2)\n")
    assert "raises ZeroDivisionError" in run("try", file).output


@pytest.mark.parametrize(
    ("move", "choice", "complaint"),
    [
        ("game.get_legal_moves()[0]", "max", None),
        ("(0, 0)", "max", "plays (0, 0)"),
        ("game.get_legal_moves()[0]", "min", "is worth"),
        ("1 / 0", "max", "raises ZeroDivisionError"),
        ("[0 for _ in iter(int, 1)]", "max", "takes longer than 0.5 s"),
    ],
)
def test_a_players_faults_are_found(tmp_path, monkeypatch, move, choice, complaint):
    monkeypatch.setattr("knights_isolation.isolation.checks.agent_checks.LONGEST_MOVE", 0.5)
    file = tmp_path / "game_agent.py"
    file.write_text(PLAYER.format(move=move, choice=choice))
    result = run("test-agent", file)
    assert result.exit_code == (1 if complaint else 0), result.output
    assert (complaint or "as good as the reference") in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["system", "perft", "--moves", "24,x"], "x"),
        (["system", "perft", "--board", "7"], "7"),
        (["system", "perft", "--board", "0x7"], "at least 1 row and 1 column"),
        (["system", "perft", "--moves", "24,24"], "ply 2"),
        (["new", "mine.txt"], "mine.txt"),
        (["try", "nowhere.py"], "nowhere.py"),
        (["match", "ID:improvd", "random"], "did you mean improved"),
        (["tournament", "--pairs", "many"], "'many'"),
        (["tournament", "--limit", "nodes=0"], "nodes must be a positive whole number"),
        (["tournament", "--resume", "nowhere"], "nowhere"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_with_exit_code_2(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
    assert not list(tmp_path.iterdir())


def test_the_template_does_not_replace_a_file(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("precious")
    assert run("new", file).exit_code == 2
    assert file.read_text() == "precious"


def test_a_match_is_played_logged_and_listed(tmp_path):
    out = tmp_path / "run"
    result = run("match", "ID:territory@nodes=50", "greedy", "--pairs", 5, "--jobs", 1, "--out", out)
    assert result.exit_code == 0, result.output
    assert "10 of 10 games" in result.output
    (row,) = json.loads(run("runs", tmp_path, "--format", "json").output)
    assert (row["games"], row["of"], row["finished"]) == (10, 10, True)
    for name in ("tournament", "match"):
        assert "10 of 10 games; there was nothing to play" in run(name, "--resume", out).output


def test_the_cache_says_where_it_is_and_is_cleared(tmp_path, monkeypatch):
    from knights_isolation.isolation.compiling import code_cache

    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "heuristic.py").write_text("x = 1\n")
    monkeypatch.setattr(code_cache, "folder", lambda: tmp_path)
    assert f"{tmp_path}: 1 files" in run("system", "cache").output
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("knights_isolation.tournament", lambda pairs: Path("run").mkdir())
    monkeypatch.setattr("knights_isolation.screen", lambda agent, sample: Path("tries").write_text(agent))
    assert f"{tmp_path}: " in run("system", "cache", "warm").output
    assert not {"run", "tries"} & {path.name for path in tmp_path.iterdir()}
    run("system", "cache", "--clear")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [(), ("--clear",)])
def test_the_cache_is_shown_and_cleared_while_another_process_writes_into_it(arguments, tmp_path, monkeypatch):
    from knights_isolation.isolation.compiling import code_cache

    monkeypatch.setattr(code_cache, "folder", lambda: tmp_path)
    with ThreadPoolExecutor() as pool:
        paths = [tmp_path / f"{number % 7}" / "heuristic.py" for number in range(500)]
        writing = pool.submit(lambda: [code_cache.write(path, "x = 1\n") for path in paths])
        while not writing.done():
            assert run("system", "cache", *arguments).exit_code == 0


@pytest.mark.slow
def test_a_board_is_solved_with_a_map_of_refutations_and_a_plot(tmp_path):
    out, plot = tmp_path / "solved.parquet", tmp_path / "map.svg"
    words = ("perfect", "solve", "--all", "--board", "3x4", "--jobs", 1)
    result = run(*words, "--out", out, "--plot", plot, "--format", "json")
    tables = json.loads(result.stdout)
    winners = shipped_pairs(Size(3, 4))
    counts = [[row[name] for name in "abcd"] for row in tables["refutations"]]
    assert counts == (winners == 2).sum(axis=1).reshape(3, 4).tolist()
    assert {"fact": "placement pairs", "value": 12 * 11} in tables["board"]
    assert out.exists()
    assert "Winning replies" in plot.read_text()


def test_accuracy_is_measured_without_a_tournament(tmp_path):
    plots = [tmp_path / "ply.svg", tmp_path / "depth.svg"]
    words = ("perfect", "accuracy", "--heuristics", "null,territory", "--depths", "1,2", "--positions", 30)
    pictures = ("--plot-by-ply", plots[0], "--plot-by-depth", plots[1])
    result = run(*words, "--board", "5x5", "--jobs", 1, *pictures, "--format", "json")
    tables = json.loads(result.stdout)
    assert {(row["heuristic"], row["depth"]) for row in tables["accuracy"]} == {
        (name, depth) for name in ("null", "territory") for depth in (1, 2)
    }
    assert all(row["eligible"] >= 30 for row in tables["accuracy"])
    assert tables["accuracy"][0]["heuristic"] == "territory"
    assert all(plot.exists() for plot in plots)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "no run in runs/"),
        (("run", "--heuristics", "null"), "name a labelled RUN or --heuristics NAMES"),
        (("nowhere",), "nowhere"),
        (("nowhere", "--depths", "3"), "--depths: requires --heuristics"),
        (("--heuristics", "territoy"), "did you mean territory?"),
        (("--heuristics", "null", "--depths", "1,two"), "a positive whole number or several, as in 1,3,5, not 'two'"),
        (("--heuristics", "null", "--board", "2x2"), "no opening of 6 plies"),
        (
            ("--heuristics", "null", "--board", "12x12"),
            "Error: compiled code supports boards of up to 128 cells, not 144",
        ),
    ],
)
def test_accuracy_says_what_it_cannot_measure(arguments, complaint):
    result = run("perfect", "accuracy", *arguments)
    assert result.exit_code == 2
    assert complaint in result.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--out", "solved.parquet"), "--out: requires --all"),
        (("--jobs", 2), "--jobs: requires --all"),
        (("--all", "--moves", "d3"), "--moves: requires a position instead of --all"),
    ],
)
def test_solve_ignores_no_option(arguments, complaint):
    result = run("perfect", "solve", *arguments)
    assert result.exit_code == 2
    assert complaint in result.stderr
