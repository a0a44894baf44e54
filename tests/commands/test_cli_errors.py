"""Whatever is asked wrongly, of whatever command: one line that says what was wrong, and the right exit code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from every_command import NAMED

from cli import main

ROOT = Path(__file__).parents[2]
ASKED_WRONGLY = [
    (["nope"], "No such command 'nope' (see isolation --help)"),
    (["--nope"], "No such option '--nope' (see isolation --help)"),
    (["new"], "Missing argument 'FILE' (see isolation new --help)"),
    (["new", "mine.txt"], "mine.txt is not a Python file: use a name such as mine.py"),
    (["new", "there.py"], "there.py already exists: choose another name, or remove it"),
    (["new", "nowhere/mine.py"], "nowhere/mine.py: No such file or directory"),
    (["try", "nowhere.py"], "no such file: nowhere.py"),
    (["match", "random", "greedy", "--limit", f"nodes={10**400}"], "nodes must be less than 4,611,686,018,427,387,904"),
    (["match", "random", "greedy", "--openings", "random:99999"], "random:99999 has more plies than any board"),
    (["match", "random", "greedy", "--sprt", "0,1e300"], "differences must be between -1,000 and 1,000"),
    (["screen", "nowhere.py"], "no such file: nowhere.py"),
    (["ci", "there.py", "--sprt", "5"], "--sprt: two Elo differences required, such as -20,0"),
    (["features", "linkz"], "no heuristic 'linkz'; did you mean links"),
    (["features", "--at", "ms=5"], "--at must be depth=N or nodes=N, not ms=5"),
    (["screen", "random", "--suite", "nowhere"], "nowhere"),
    (["suite", "nope"], "No such command 'nope'"),
    (["tried", "--diff", "1", "2"], "--diff: there is no try 1; isolation tried lists them"),
    (["fit", "nowhere.py"], "no such file: nowhere.py"),
    (["fit", "ID:there.py:score"], "score has no parameters: declare some as keyword-only arguments"),
    (["fit", "territory"], "territory is built in: name a function in your own file, such as mine.py:score"),
    (["fit", "ID:territory"], "territory is built in: name a function in your own file, such as mine.py:score"),
    (["show", "--fen", "7/7/n6/3N3/7/7/7 w", "--board", "9x11"], "a FEN contains its board: omit --board"),
    (["show", "--fen", ""], "FEN"),
    (["fit", "there.py"], "score has no parameters: declare some as keyword-only arguments"),
    (["tune", "random"], "random has no heuristic with parameters: name one, as in ID:my.py:score"),
    (["tune", "ID:improved", "--limit", "nodes=5"], "improved has no parameters: declare some"),
    (["sweep", "ID:improved"], "Missing option '--over'"),
    (
        ["sweep", "ID:improved", "--over", "reach=1"],
        "--over must look like option.NAME=0:1:0.1, option.NAME=0,1,2 or limit=nodes=300,1000, not",
    ),
    (["sweep", "ID:improved", "--over", "option.x=1"], "improved has no parameter 'x'"),
    (["sweep", "ID:improved", "--over", "limit=nodes=3,3"], "--over: 'nodes=3,3' contains a duplicate value"),
    (["sweep", "random", "--over", "limit=nodes=1,2"], "--over: random has no limit to sweep"),
    (["sweep", "MCTS", "--over", "limit=nodes=1,2", "--limit", "nodes=5"], "--over limit=... and --limit exclude each"),
    (["sweep", "MCTS", "--over", "limit=nodes=1,2", "--plot", "no/it.svg"], "no: no such directory"),
    (["tune", "ID:improved", "--opponent", "ID:*"], "--opponent: ID:* matches many agents; name one of them"),
    (
        ["tune", "ID:improved", "--table", "judge"],
        "--table: no table 'judge'; did you mean judged? choose one of parameters, judged",
    ),
    (["tune", "ID:there.py:score", "--patch", "no/it"], "--patch: no: no such directory"),
    (["fit", "there.py", "--table", "judged"], "no table 'judged'; choose one of parameters, profiles, screen"),
    (["features", "--table", "all"], "--table: no table 'all'; choose one of alone, chosen"),
    (["fit", "there.py", "--at", "ms=5"], "--at must be depth=N or nodes=N, not ms=5"),
    (
        ["screen", "ID:there.py:score@option.x=1"],
        "score has no parameter 'x'; it has none: a parameter is a keyword-only",
    ),
    (["cluster", "start", "--nope"], "No such option '--nope'"),
    (["cluster", "join"], "Missing argument"),
    (["analyse", "there.py", "--limit", "nodes=0"], "nodes"),
    (["analyse", "there.py", "--quick", "--pairs", "5"], "--quick plays no gauntlet: leave out --opponent, --pairs"),
    (["analyse", "nothing.py"], "nothing.py has no heuristic, a function of (game, player), and no player"),
    (["help", "nothing"], "there is no task or command 'nothing'"),
    (["try", "there.py:scor"], "there.py has no 'scor'; did you mean score?"),
    (["try", "there.py:hypot"], "there.py:hypot must be a function of (game, player), not hypot of math"),
    (["try", "there.py:"], "no such file: there.py:"),
    (["try", "there"], "no such file: there; did you mean there.py?"),
    (["try", "broken.py"], "broken.py failed to import: line 2: SyntaxError: invalid syntax"),
    (["eval", "--moves", "a1,a1"], "illegal move at ply 2 on 7x7: a1 is already visited"),
    (["eval", "--moves", "7,g6,8"], "illegal move at ply 3 on 7x7: cell 8 is not a knight's move from cell 7"),
    (["eval", "--moves", "h9"], "h9 is not on the 7x7 board (cells a0 to g6)"),
    (["eval", "--file", "empty"], "empty is a directory: name a file in it, such as empty/FILE.py"),
    (["heuristics", "--file", "nowhere.py"], "no such file: nowhere.py"),
    (["heuristics", "more"], "Got unexpected extra argument (more) (see isolation heuristics --help)"),
    (["test-agent", "there.py"], "there.py has no class with a method get_move"),
    (["test-agent", "."], ". is a directory: name a file in it, such as broken.py"),
    (["system", "perft", "--depth", "0"], "--depth: 0 is less than 1 (see isolation system perft --help)"),
    (["system", "perft", "--depth", "x"], "--depth: 'x' is not a whole number (see isolation system perft --help)"),
    (["system", "perft", "--board", "7"], "a board size must be ROWSxCOLUMNS, such as 7x7, not '7'"),
    (["system", "bench", "--fast"], "No such option '--fast'"),
    (["test-engine"], "Missing argument 'COMMAND...'"),
    (["test-engine", "./nobody"], "nobody is not a program"),
    (["test-engine", "--option", "Hash", "true"], "--option: 'Hash': expected NAME=VALUE, such as Hash=16"),
    (["engine", "--variants", "7"], "a board size must be ROWSxCOLUMNS, such as 7x7, not '7'"),
    (["engine", "--variants", "1x1"], "no variant of 1x1: two knights need two cells"),
    (["export", "empty", "--to", "pgn"], "empty: not a run directory"),
    (["export", "empty", "--to", "duckdb"], "--to duckdb needs --out FILE"),
    (["sql", "SELECT 1", "nowhere"], "nowhere: not a run directory"),
    (["export", "empty", "--to", "xml"], "--to: 'xml' is not one of 'pgn', 'csv', 'jsonl', 'duckdb'"),
    (["import", "nowhere.pgn", "--out", "new"], "nowhere.pgn: no such file"),
    (["engine", "nobody"], "no player 'nobody'"),
    (["engine", "random", "--board", "7"], "a board size must be ROWSxCOLUMNS, such as 7x7, not '7'"),
    (["match", "random", "engine:./nobody"], "Error: second agent (B): "),
    (["system", "cache", "more"], "ACTION: 'more' is not one of 'warm'"),
    (["system", "cache", "warm", "more"], "Got unexpected extra argument (more)"),
    (["tournament", "nowhere.toml"], "nowhere.toml: No such file or directory"),
    (["tournament", "there.py"], "there.py: not TOML"),
    (["tournament", "--contender", "ID:improvd"], "did you mean improved? (in ID:improvd)"),
    (["tournament", "--jobs", "-1"], "--jobs: -1 is less than 0"),
    (["tournament", "--resume", "nowhere"], "nowhere: not a run directory (no run.json)"),
    (["tournament", "--extend", "nowhere", "--contender", "greedy"], "nowhere: not a run directory (no run.json)"),
    (["tournament", "--extend", "a", "--resume", "b"], "--resume and --extend exclude each other: use one of them"),
    (["tournament", "there.py", "--extend", "a"], "--extend keeps the settings of a: omit there.py"),
    (["match", "random"], "agent B is missing: a match needs two"),
    (["match", "random", "greedy", "--equal-cost"], "equal_cost scales node limits, but Greedy has none"),
    (
        ["match", "random", "there.py"],
        "(B): there.py has no class with a method get_move or get_action; a heuristic is written ID:there.py",
    ),
    (["match", "nobody", "random"], "Error: first agent (A): no player 'nobody'"),
    (["match", "random", "nobody"], "Error: second agent (B): no player 'nobody'"),
    (["tournament", "--jobs", "1000000"], "jobs = 1000000: too many: "),
    (["match", "random", "there.py:score"], "; a heuristic is written ID:there.py:score"),
    (["league"], "Missing argument 'SUBMISSIONS'"),
    (["league", "nowhere"], "nowhere: no such directory"),
    (["league", "there.py"], "there.py is a file; name a folder of submissions"),
    (
        ["league", "empty", "--check-only", "--dry-run"],
        "--check-only and --dry-run exclude each other: use one of them",
    ),
    (["league", "empty", "--board", "7"], "--board: a board size must be ROWSxCOLUMNS, such as 7x7, not '7'"),
    (
        ["league", "empty", "--format", "classic"],
        "--format: 'classic' is not one of 'table', 'json', 'csv', 'markdown'",
    ),
    (["league", "empty", "--resume", "a", "--board", "7x7"], "--resume keeps the settings of a: omit --board"),
    (["league", "empty"], "empty has no folders: put each submission into a folder named after it"),
    (["league", "empty", "--limit", "nodes=5"], "--limit: players from files need a time limit, ms or cpu_ms, not"),
    (
        ["league", "empty", "--hard-cap", "0"],
        "--hard-cap must be above 0 seconds: a league stops players that do not answer",
    ),
    (["league", "empty", "--out", "there.py"], "there.py already exists and is not a run: choose another --out"),
    (["league", "empty", "--resume", "a", "--pairs", "3"], "--resume keeps the settings of a: omit --pairs"),
    (["league", "empty", "--resume", "empty"], "empty: not a run directory (no run.json)"),
    (["watch", "empty", "--no-open"], "empty: not a run directory"),
    (["runs", "nowhere", "--verify"], "nowhere: no such directory"),
    (["plot", "forest", "--out", "no/it.svg"], "--out: no: no such directory"),
    (["plot", "forest", "--out", "it.pdf"], "--out: it.pdf: unknown format '.pdf': use .svg or .png"),
    (["report", "--out", "empty"], "--out: empty is a directory: name a file"),
    (["report", "--out", "it.svg"], "--out: it.svg: unknown format '.svg': use .html or .htm"),
    (["analyse", "there.py", "--html", "no/it.html"], "--html: no: no such directory"),
    (["analyse", "there.py", "--markdown", "empty"], "--markdown: empty is a directory: name a file"),
    (["screen", "ID:open", "--html", "no/it.html"], "--html: no: no such directory"),
    (["perfect", "refute", "ID:open", "--html", "it.txt"], "--html: it.txt: unknown format '.txt'"),
    (["replay", "--moves", "d3", "--gif", "it.png"], "--gif: it.png: unknown format '.png': use .gif"),
    (["perfect", "solve", "--all", "--out", "there.py/it.parquet"], "--out: there.py: no such directory"),
    (["discover", "--out", "there.py"], "there.py: File exists"),
    (["tournament", "--out", "there.py/it"], "there.py: no such directory"),
    (["runs", "nowhere"], "nowhere: no such directory"),
    (["runs", "there.py"], "there.py: no such directory"),
    (["results"], "no run in runs/: name one, or play one with isolation tournament"),
    (["system", "completion", "csh"], "SHELL: 'csh' is not one of 'bash', 'zsh', 'fish'"),
    (["evaluate", "gone.py"], "no such file: "),
    (["research", "gone.py:score"], "no such file: "),
    (["discover", "--against", "nope"], "no player 'nope'"),
    (["perfect", "refute", "nope"], "no player 'nope'"),
    (["perfect", "dataset", "--positions", "10", "--agent", "nope"], "no player 'nope'"),
    (["results", "there.py"], "there.py: not a run directory (no run.json)"),
    (["results", "empty"], "empty: not a run directory (no run.json)"),
    (["ratings", "empty"], "empty: not a run directory"),
    (["sprt", "empty", "--alpha", "x"], "--alpha: 'x' is not a number"),
    (["diff", "empty"], "Missing argument 'RUN'"),
    (["diff", "empty", "empty"], "empty: not a run directory"),
    (["tournament", "--dry-run", "--limit", "nodes=0"], "nodes must be a positive whole number"),
    (["plan", "--effect", "0.1", "--elo", "20"], "--effect and --elo exclude each other"),
    (["tournament", "--pairs", "-3"], "--pairs: -3 is less than 1 (see isolation tournament --help)"),
    (["tournament", "--pairs", "0"], "--pairs: 0 is less than 1 (see isolation tournament --help)"),
    (["plan", "--elo", "inf"], "--elo must be a difference in Elo, such as 20, not inf"),
    (["published", "empty"], "empty: Is a directory"),
    (["plot", "empty", "pie"], "no plot 'pie'; choose one of forest,"),
    (["report", "empty"], "empty: not a run directory"),
    (["perfect", "solve", "--limit", "depth=3"], "use a limit of nodes or time, not depth=3"),
    (["perfect", "label", "empty", "--sample", "0"], "--sample: 0 is less than 1"),
    (["perfect", "accuracy", "empty"], "empty: not a run directory"),
    (["show", "--svg", "nowhere/a.svg"], "--svg: nowhere: no such directory"),
    (["eval", "--fen", "7/7"], "not a FEN: '7/7'; expected one like 7/7/7/3N3/7/n6/7 w - - 0 1"),
    (["perfect", "solve", "--moves", "d3", "--fen", "7/7 w"], "--moves and --fen exclude each other: use one of them"),
    (["perfect", "solve", "--all", "--moves", "d3"], "--moves: requires a position instead of --all"),
    (
        ["suite", "build", "--first-ply", "9", "--last-ply", "4"],
        "plies 9 to 4: a suite must start at ply 3 or later and end after that",
    ),
    (["show", "--fen", "7/7"], "not a FEN: '7/7'; expected one like 7/7/7/3N3/7/n6/7 w - - 0 1"),
    (["show", "--png", "empty/nowhere/a.png"], "--png: empty/nowhere: no such directory"),
    (["replay"], "no game named"),
    (["replay", "--moves", "a1,a1"], "illegal move at ply 2 on 7x7: a1 is already visited"),
    (["games", "empty", "--show", "best"], "--show: 'best' is not one of 'all', 'longest',"),
    (["board", "--agent", "chess", "--no-open"], "no player 'chess'"),
    (["lab", "--runs", "nowhere", "--no-browser"], "nowhere: no such directory"),
    (["play", "--from", "nowhere"], "nowhere: No such file or directory"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a heuristic that can be used, one that cannot, and an empty folder."""
    (tmp_path / "there.py").write_text("from math import hypot\n\ndef score(game, player):\n    return 1.0\n")
    (tmp_path / "broken.py").write_text("x = 1\ndef f(:\n")
    (tmp_path / "nothing.py").write_text("LIMIT = 3\n")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("arguments", "message"), ASKED_WRONGLY, ids=lambda value: " ".join(value)[:60])
def test_what_is_asked_wrongly_is_answered_in_one_line_with_exit_code_2(
    folder: Path, arguments: list[str], message: str
) -> None:
    before = sorted(folder.rglob("*"))
    result = CliRunner().invoke(main, arguments, prog_name="isolation")
    (line,) = result.output.splitlines()
    assert line.startswith("Error: ")
    assert message in line
    assert result.exit_code == 2
    assert sorted(folder.rglob("*")) == before


def test_every_command_has_been_asked_wrongly() -> None:
    assert NAMED.keys() <= {arguments[0] for arguments, _ in ASKED_WRONGLY}


@pytest.mark.slow
@pytest.mark.usefixtures("quick_trials")
@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("return 1.0", 0),
        ("return float(str(3))", 0),
        ("return 1.0 if game.move_count > 5 else None", 1),
        ("return float(game.get_player_location(player)[0])", 0),
        ("return len(game.get_legal_moves(player)) > 3", 0),
    ],
)
def test_a_trial_fails_if_it_finds_a_problem_and_not_for_being_slow(folder: Path, source: str, code: int) -> None:
    Path("mine.py").write_text(f"def score(game, player):\n    {source}\n")
    result = CliRunner().invoke(main, ["try", "mine.py"])
    assert result.exit_code == code
    assert ("Problem" in result.output) == bool(code)


def test_a_disk_that_cannot_be_written_is_no_fault_of_the_question(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device", "a.svg")

    monkeypatch.setattr(Path, "write_text", full)
    result = CliRunner().invoke(main, ["show", "--svg", "a.svg"])
    assert result.output == "Error: a.svg: No space left on device\n"
    assert result.exit_code == 1


def test_no_command_at_all_shows_what_there_is() -> None:
    assert "tournament" in CliRunner().invoke(main, []).output


def test_a_run_is_listed_by_its_own_name_as_well(folder: Path) -> None:
    CliRunner().invoke(main, ["match", "random", "greedy", "--pairs", "1", "--jobs", "1", "--out", "runs/one"])
    listed = [CliRunner().invoke(main, ["runs", path]).output for path in ("runs", "runs/one")]
    assert listed[0] == listed[1]
    assert "runs/one" in listed[0]


def test_the_board_ends_without_a_word_when_it_is_told_to(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def until_ended(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("knights_isolation.reports.lab.server.LabServer", until_ended)
    result = CliRunner().invoke(main, ["board", "--no-open"])
    assert (result.exit_code, result.output) == (0, "")


def test_what_is_written_is_told(folder: Path) -> None:
    result = CliRunner().invoke(main, ["show", "--svg", "a.svg", "--png", "a.png"])
    assert result.output == "Wrote a.svg\nWrote a.png\n"
    result = CliRunner().invoke(main, ["replay", "--moves", "d3,a2", "--html", "a.html"])
    assert result.output == "Wrote a.html\n"


@pytest.mark.parametrize("name", ["click.py", "numpy/__init__.py"])
def test_a_file_that_hides_a_library_is_named(tmp_path, name):
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    command = [sys.executable, "-P", "-c", "from knights_isolation.command_line import run; run()", "--version"]
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    hides, package = tmp_path / name.removesuffix("/__init__.py"), name.removesuffix(".py").partition("/")[0]
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"Error: {hides} hides the library {package}")
    assert "rename it, or remove its folder from PYTHONPATH" in ended.stderr
    assert ended.stderr.count("\n") == 1
