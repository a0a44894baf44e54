"""The lab's server: the list of runs, pages of runs, leagues and heuristics, and what a trial may do."""

import asyncio
import json
import re
from functools import partial

import pytest
from board_server import request, serving
from invented_runs import gauntlet, random_wins

from knights_isolation.experiments.exact.board_solving import shipped_pairs, summarise
from knights_isolation.experiments.record.run_directory import is_played_now
from knights_isolation.experiments.statistics.run_results import load_findings
from knights_isolation.isolation import Board, solve
from knights_isolation.isolation.compiling import code_cache
from knights_isolation.isolation.processes.child import Setup
from knights_isolation.isolation.rules.game import Size
from knights_isolation.isolation.usercode.inputs import state_of
from knights_isolation.reports.board.board_processes import Processes, answer
from knights_isolation.reports.board.resources import Resources
from knights_isolation.reports.lab.heuristic_pages import keep_trial, own_heuristics, read_trial
from knights_isolation.reports.lab.lab_answers import (
    PuzzleAnswer,
    PuzzleQuestion,
    finding,
    judge_move,
    pools,
    puzzle,
    rated,
    trial,
)
from knights_isolation.reports.lab.run_lines import RunLine, RunLines, signature, thumbnail
from knights_isolation.reports.lab.server import title_of
from knights_isolation.reports.pages.templates import page_template
from knights_isolation.reports.tables.ratings import rating_sections

WRITES = """def score(game, player):
    try:
        open({path!r}, "w").close()
    except PermissionError:
        return 1.0
    return 2.0
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Lines are kept in a folder of the test's own."""
    for module in ("run_lines", "heuristic_pages"):
        monkeypatch.setattr(f"knights_isolation.reports.lab.{module}.folder", lambda: tmp_path)


def found(lines, resources):
    """Read the finding of each run that waits for it; gives how many that were."""
    waiting = lines.waiting()
    for run, seen in waiting.items():
        content = json.loads(answer(partial(finding, run=run.name), resources).body)
        lines.found(run, seen, content["finding"], content["bars"])
    return len(waiting)


def test_a_trial_is_kept_until_the_file_of_its_heuristic_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "mine.py"
    file.write_text("WEIGHT = 2\n\ndef score(game, player):\n    return float(WEIGHT)\n")
    (before,) = own_heuristics(tmp_path)
    assert read_trial(before) is None
    (tmp_path / "data.txt").write_text("1")
    inputs = {"file data.txt": state_of("file", "data.txt", tmp_path)}
    keep_trial(before, json.dumps({"cost": "1 ×", "inputs": inputs}))
    assert read_trial(before) == {"cost": "1 ×"}
    (tmp_path / "data.txt").write_text("2")
    assert read_trial(before) is None
    keep_trial(before, '{"cost": "1 ×"}')
    assert read_trial(before) == {"cost": "1 ×"}
    file.write_text(file.read_text().replace("2", "3"))
    (after,) = own_heuristics(tmp_path)
    assert after.source == before.source
    assert read_trial(after) is None


def test_a_run_that_had_no_games_yet_does_not_keep_that_as_its_finding(tmp_path):
    run = gauntlet(0, planned=8).write(tmp_path / "runs" / "run")
    resources, lines = Resources(home=tmp_path / "runs"), RunLines()
    assert lines.line("run", run).finding == "No games yet"
    gauntlet(4, planned=8).write(tmp_path / "other")
    (tmp_path / "other" / "games").replace(run / "games")
    assert lines.line("run", run).finding is None
    assert found(lines, resources) == 1
    assert lines.line("run", run).finding


def test_a_heuristic_s_verdicts_of_all_runs_are_listed(tmp_path):
    gauntlet(40, random_wins({"Base": 0.4, "Good": 0.9})).write(tmp_path / "runs" / "first")
    resources, lines = Resources(home=tmp_path / "runs"), RunLines()
    assert lines.of_heuristic("open", resources) == []
    assert found(lines, resources) == 1
    (one,) = lines.of_heuristic("open", resources)
    assert (one.run, one.agent, one.verdict) == ("first", "Good", "better")
    assert lines.of_heuristic("nothing", resources) == []


def test_a_heuristic_is_rated_over_all_runs_of_one_board_and_limit(tmp_path):
    for name, rate in (("first", 0.9), ("second", 0.2)):
        run = gauntlet(60, random_wins({"Base": 0.5, name: rate}), contenders=(name,))
        run.agents["Base"]["spec"] = "Base=ID:improved@nodes=1000"
        run.agents[name]["spec"] = f"{name}=ID:mine.py:{name}@nodes=1000"
        run.write(tmp_path / "runs" / name)
    resources, lines = Resources(home=tmp_path / "runs"), RunLines()
    (pool,) = pools(lines.line(name, run) for name, run in resources.named_runs().items())
    assert (pool.board, pool.limit, sorted(pool.runs)) == ("7x7", "nodes=1000", ["first", "second"])
    question = partial(rated, runs=pool.runs, limit=pool.limit)
    ratings = json.loads(answer(question, resources).body)["ratings"]
    first, second, zero = (ratings[name] for name in ("mine.py:first", "mine.py:second", "improved"))
    assert (zero["runs"], zero["elo"], first["runs"], first["games"]) == (2, "0", 1, 240)
    assert (first["elo"][0], second["elo"][0]) == ("+", "−")


def test_a_gallery_s_ratings_are_those_of_ratings_and_no_control_is_taken_for_the_baseline(tmp_path):
    run = gauntlet(40, random_wins({"Base": 0.5, "Good": 0.7}))
    run.agent("Base_control", "control", heuristic="Base")
    for opening in range(40, 80):
        for opponent in ("Opp_A", "Opp_B"):
            run.pair("Base_control", opponent, opening, 2)
    for name, target in {"Base": "improved", "Base_control": "improved", "Good": "territory"}.items():
        run.agents[name]["spec"] = f"{name}=ID:{target}@nodes=1000"
    path = run.write(tmp_path / "runs" / "run")
    question = partial(rated, runs=["run"], limit="nodes=1000")
    ratings = json.loads(answer(question, Resources(home=tmp_path / "runs")).body)["ratings"]
    findings = load_findings([path])
    listed = {row["agent"]: row["rating"].text for row in rating_sections(findings)[0].rows}
    assert ratings["territory"]["elo"] == listed["Good"]
    assert ratings["improved"]["elo"] == listed[findings.baseline] == "0"


def test_a_run_is_read_again_only_when_its_log_has_changed(tmp_path):
    run = gauntlet(12, lambda agent, *_: 2 if agent == "Good" else 1, planned=400).write(tmp_path / "runs" / "first")
    resources = Resources(home=tmp_path / "runs")
    lines = RunLines()
    line = lines.line("first", run)
    assert (line.question, line.finding, line.played, line.planned) == (
        "Does Good win more than Base on 7x7?", None, 96, 400,
    )  # fmt: skip
    assert found(lines, resources) == 1
    line = lines.line("first", run)
    assert line.finding == (
        "Stopped at 96 of 400 games: No significant difference between Good and Base against the same opponents"
    )
    assert [(bar[3], bar[0] > 0) for bar in line.bars] == [("no significant difference", False)]
    again = RunLines()  # as another start of the lab does
    assert again.line("first", run).finding == line.finding
    assert found(again, resources) == 0
    part = next((run / "games").glob("*.parquet"))
    part.write_bytes(part.read_bytes() + b"")
    assert again.line("first", run).seen == signature(run) != line.seen
    assert found(again, resources) == 1


def test_the_state_of_a_run_is_that_of_the_process_that_plays_it(tmp_path):
    run = gauntlet(1, planned=99).write(tmp_path / "run")
    lines = RunLines()
    assert lines.line("run", run).state == "stopped"
    (run / "lock").write_text("1")
    assert is_played_now(run)
    assert lines.line("run", run).state == "running"
    (run / "finished.json").write_text("{}")
    assert lines.line("run", run).state == "finished"
    (run / "run.json").write_text("{")
    line = lines.line("run", run)
    assert (line.state, "run.json: cannot be read" in line.question) == ("damaged", True)


def test_runs_of_one_name_have_addresses_of_their_own(tmp_path):
    paths = [gauntlet(1).write(tmp_path / folder / "run") for folder in ("a", "b")]
    named = Resources(tuple(paths)).named_runs()
    assert set(named) == {"run", "run~2"}
    assert set(named.values()) == set(paths)


def test_a_picture_of_many_intervals_is_thinned_out_and_stays_within_its_edges():
    line = RunLine("run", "", "", bars=tuple((-60.0 + number, number, 70.0, "", "A") for number in range(100)))
    page = page_template("runs.html").render(frame={}, runs=[line], thumbnail=thumbnail, time_words=str, date=str)
    assert "from −50 to +50 points" in page
    marks = re.findall(r'd="M([\d.]+) [\d.]+H([\d.]+)"/><circle class="unsure" cx="([\d.]+)"', page)
    assert 20 <= len(marks) <= 24
    assert all(0 <= float(low) <= float(estimate) <= float(high) <= 132 for low, high, estimate in marks)
    assert not thumbnail([(float("nan"), 0, 1, "", "A")])[0]


def test_functions_of_files_are_listed_without_running_them(tmp_path):
    (tmp_path / "mine.py").write_text(
        'raise SystemExit\ndef score(game, player):\n    """Says nothing."""\n    return 0\n'
        "def helper(cells, size):\n    return 0\n"
    )
    (tmp_path / "broken.py").write_text("def score(game, player:\n")
    (own,) = own_heuristics(tmp_path)
    assert (own.reference, own.meaning) == ("mine.py:score", "Says nothing.")
    assert own.source.startswith("def score")
    assert own.source.endswith("return 0")


@pytest.mark.slow
def test_every_page_is_there_and_has_the_navigation(tmp_path):
    home = tmp_path / "runs"
    for name in ("first", "second"):
        run = gauntlet(3).write(home / name)
        (run / "finished.json").write_text("{}")
    (home / "second" / "analysis.html").write_text(
        '<html lang="en">\n<head><title>Analysis of &lt;mine&gt;.py</title>\n</head>\n<body>\nVerdict</body>'
    )
    (home / "discover").mkdir()
    (home / "discover" / "analysis.html").write_text(
        '<html lang="en">\n<head><title>Discovery</title>\n</head>\n<body>\nArchive</body>'
    )
    with serving(Resources(home=home)) as port:
        for path, part in (
            ("/", '<a href="/runs/discover/analysis">Discovery</a>'),
            ("/runs/discover/analysis", "/runs/discover/analysis/page"),
            ("/", "Does Good win more than Base"),
            ("/", '<a href="/runs/second/analysis">Analysis of &lt;mine&gt;.py</a>'),
            ("/runs/second/analysis", "/runs/second/analysis/page"),
            ("/runs/first", 'id="comparison"'),
            ("/runs/first/report", 'id="comparison"'),
            ("/board", 'id="board"'),
            ("/openings?board=5x5", "c2 leaves navy the fewest refutations, 4 of 24"),
            ("/diff?before=first&after=second", "are identical move by move"),
            ("/heuristics", "two_step_mobility"),
            ("/heuristics/phased", "territory"),
            ("/try?copy=improved", "def improved"),
        ):
            status, headers, text = request(port, path, cookie="theme=dark")
            assert (status, part in text, 'aria-label="Pages"' in text) == (200, True, True), path
            assert 'data-theme="dark"' in text
            assert "frame-ancestors 'none'" in headers["content-security-policy"]
            assert len(text) < 600_000
        for path, part in (("/runs/discover/analysis/page", "Archive"), ("/runs/second/analysis/page", "Verdict")):
            assert part in request(port, path, cookie="theme=dark")[2]
        for path in (
            "/runs/third",
            "/runs/first/analysis",
            "/class/first/..%2f..%2frun.json",
            "/class/first/run.json",
            "/heuristics/none",
        ):
            assert request(port, path)[0] == 404
        assert request(port, "/", cookie="theme=<b>")[2].count("data-theme") == 0


@pytest.mark.exhaustive
def test_a_trial_compiles_in_a_process_that_cannot_write_elsewhere(tmp_path):
    scratch, outside = (tmp_path / "compiled").resolve(), tmp_path / "outside"
    scratch.mkdir()
    code_cache.copy_engine(scratch)
    code = "def score(game, player):\n    return float(len(game.get_legal_moves(player)))\n"
    (tmp_path / "counts.py").write_text(code)
    (tmp_path / "writes.py").write_text(WRITES.format(path=str(outside)))
    (tmp_path / "inside.py").write_text(WRITES.format(path=f"{scratch}/../outside"))

    async def tried(name):
        imports = (
            "knights_isolation.experiments.analysis.quick_trial",
            "knights_isolation.reports.analysis.file_answers",
        )
        processes = Processes(Resources(), sandbox=Setup(b"", "sandboxed", str(tmp_path), imports, (str(scratch),)))
        try:
            return json.loads((await processes.answer(partial(trial, heuristic=f"{tmp_path}/{name}:score"), "")).body)
        finally:
            processes.close()

    assert asyncio.run(tried("counts.py"))["compiles"] == "yes"
    for name in ("writes.py", "inside.py"):
        assert asyncio.run(tried(name))["isSound"]
        assert not outside.exists()


ACTS = {
    "open({path!r}, 'w')": "may not write files",
    "import os; os.system('touch {path}')": "may not start a process",
    "import socket; socket.create_connection(('127.0.0.1', 1))": "may not use the network",
    "import os; os.kill(os.getppid(), 9)": "may not signal other processes",
    "while True: pass": "import took longer than",
    "import os; os.kill(os.getpid(), 9)": "ended the process",
}
"""What code does when it is imported, and what is said of it."""


@pytest.mark.exhaustive
def test_a_match_of_a_pasted_function_is_a_run_and_one_that_cannot_begin_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("knights_isolation.reports.lab.starting_runs.BEGIN_SECONDS", 20)
    code = "def score(game, player):\n    return float(len(game.get_legal_moves(player)))\n"
    outside = tmp_path / "outside"
    with serving(Resources(home=tmp_path / "runs")) as port:
        failing = json.dumps({"source": f"raise ValueError\n{code}", "pairs": 1}).encode()
        status, _, text = request(port, "/api/match", failing)
        assert (status, "failed to import" in text) == (400, True)
        assert list((tmp_path / "runs").iterdir()) == []
        for first, why in ACTS.items():
            acting = json.dumps({"source": f"{first.format(path=str(outside))}\n{code}", "pairs": 1}).encode()
            status, _, text = request(port, "/api/match", acting)
            assert (status, why in text) == (400, True), text
            assert list((tmp_path / "runs").iterdir()) == []
        assert not outside.exists()
        slow = code.replace("return", "vars()\n    return")
        status, _, text = request(port, "/api/match", json.dumps({"source": slow, "pairs": 1}).encode())
        assert (status, "does not compile" in text) == (400, True)
        status, _, text = request(port, "/api/match", json.dumps({"source": code, "pairs": 1}).encode())
        assert status == 200
        page = ""
        while 'id="comparison"' not in page:  # until the report takes the place of the live page
            status, _, page = request(port, json.loads(text)["address"])
            assert status == 200
        assert "Tried" in page


def test_puzzles_are_won_by_the_moves_that_the_solver_keeps_and_keep_their_solution(tmp_path):
    resources = Resources()
    for number in (0, 5, 10**8):
        asked = puzzle(PuzzleQuestion(number=number), resources)
        board = Board.from_moves(asked["moves"], asked["size"])
        kept = solve(board).moves
        assert (asked["keeping"], asked["legal"]) == (len(kept), len(board.legal_cells()))
        assert asked["keeping"] < asked["legal"]
        assert asked["number"] < asked["count"]
        for move in board.legal_cells():
            answer = judge_move(PuzzleAnswer(number=number, move=move), resources)
            assert answer == ({"keeps": True, "moves": list(kept)} if move in kept else {"keeps": False, "moves": []})
    with pytest.raises(ValueError, match="illegal move"):
        judge_move(PuzzleAnswer(number=0, move=asked["moves"][0]), resources)


def test_the_opening_of_a_board_is_told_by_its_solved_table():
    openings = summarise(shipped_pairs(Size(7, 7)), Size(7, 7))
    assert len(openings.refutations[24]) == 16
    assert title_of(openings) == "Every first placement loses; d3 leaves navy the fewest refutations, 16 of 48"
    assert (openings.rule_holds, openings.openings) == (2344, 2352)
    assert (
        title_of(summarise(shipped_pairs(Size(4, 7)), Size(4, 7)))
        == "Every first placement loses, each to 14 of 27 replies"
    )
    with pytest.raises(ValueError, match="no solved table for 9x11"):
        shipped_pairs(Size(9, 11))
