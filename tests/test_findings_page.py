import importlib.util
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from invented_runs import Invented, gauntlet, random_wins
from played_games import write_run

from knights_isolation.experiments.published.claims import analyse_file
from knights_isolation.experiments.record.log import read_games
from knights_isolation.experiments.statistics.contender_verdicts import judge
from knights_isolation.experiments.statistics.run_results import load_findings
from knights_isolation.isolation import Board, solve


@pytest.fixture(scope="module")
def script():
    path = Path(__file__).parent.parent / "examples" / "findings.py"
    spec = importlib.util.spec_from_file_location("findings_example", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclasses look up their module
    spec.loader.exec_module(module)
    return module


def at_limit(script, path, nodes):
    run = gauntlet(
        40, random_wins({"ID_Improved": 0.4, "Base": 0.4, "ID_Territory": 0.9}), contenders=("ID_Territory",)
    )
    run.agent("ID_Territory", "contender", limit={"nodes": nodes})
    duel = Invented(config={"format": "head-to-head", "contenders": ["random"], "baseline": "greedy"}, population=30)
    duel.is_census = True
    duel.agent("ID_Territory", "contender").agent("Base", "baseline")
    for opening in range(30):
        duel.pair("ID_Territory", "Base", opening, 2 if opening < 20 else 1)
    result = [load_findings([item.write(path / f"{nodes}-{name}")]) for name, item in (("g", run), ("d", duel))]
    return script.AtLimit(nodes, *result, *(judge(item) for item in result))


def test_the_findings_say_at_each_limit_who_is_better_and_what_is_exact(script, tmp_path):
    results = [at_limit(script, tmp_path, nodes) for nodes in (300, 1000)]
    text = script.findings_text(results[0].gauntlet, results, results[0].gauntlet, analyse_file(None))
    assert "At equal cost, where a slow heuristic gets fewer nodes: better `territory` by +" in text
    assert "exact for these openings, without sampling error" in text
    assert "| `territory` | 83.3 % ▲ | 83.3 % ▲ |" in text
    assert "`edge_distance_dynamic`, table7 and table8" in text
    assert "2 of 11 published differences" in text


def test_whoever_is_better_at_equal_nodes_only_is_named_in_short(script, tmp_path):
    result = at_limit(script, tmp_path, 300)
    weaker = {"Base": 0.4, "ID_Improved": 0.4, "ID_Territory": 0.3}
    priced = gauntlet(40, random_wins(weaker), contenders=("ID_Territory",))
    text = script.findings_text(
        result.gauntlet, [result], load_findings([priced.write(tmp_path / "cost")]), analyse_file(None)
    )
    assert "Better at 300 nodes, but no longer at equal cost: `territory` by −" in text
    text = script.findings_text(result.gauntlet, [result], result.gauntlet, analyse_file(None))
    assert "no longer at equal cost" not in text


def test_every_published_agent_is_known_by_its_heuristic(script):
    published = {claim.agent for claim in analyse_file(None).claims}
    assert published == set(script.PUBLISHED_NAMES)


@pytest.mark.exhaustive
def test_the_page_about_perfect_play_is_made_by_its_script(tmp_path):
    script = Path(__file__).parent.parent / "examples" / "perfect_play.py"
    command = [sys.executable, str(script), "--quick", "--home", str(tmp_path), "--jobs", "1"]
    subprocess.run(command, check=True, capture_output=True)
    text = (tmp_path / "perfect-play.md").read_text(encoding="utf-8")
    assert "| 7x7 | player 2 | 2,352 | 49.3 % | 16 to 25 | 99.7 % | 8 | 0 |" in text
    assert "fewer than 60 cells and 8x8." in text
    assert "Player 1 wins by jumping to the mirror image" in text
    assert "| `territory` |" in text
    assert sorted(path.name for path in (tmp_path / "images").iterdir()) == [
        "accuracy-by-depth.svg",
        "accuracy-by-ply.svg",
        "refutations.svg",
    ]


@pytest.mark.exhaustive
def test_the_page_about_screening_is_made_by_its_script(tmp_path):
    script = Path(__file__).parent.parent / "examples" / "screening.py"
    command = [sys.executable, str(script), "--quick", "--home", str(tmp_path), "--jobs", "1"]
    subprocess.run(command, check=True, capture_output=True)
    text = (tmp_path / "screening.md").read_text(encoding="utf-8")
    assert "| 7x7 | 15,330 | 10,375 | 315 | 11–32 | 50.4 % | 49.3 % |" in text
    assert "| without perfect | 10,054 |" in text
    assert "| without MCTS | 12,676 |" in text


@pytest.mark.exhaustive
def test_the_page_about_the_best_heuristic_is_made_by_its_script(tmp_path):
    script = Path(__file__).parent.parent / "examples" / "learned.py"
    command = [sys.executable, str(script), "--quick", "--home", str(tmp_path), "--jobs", "1"]
    subprocess.run(command, check=True, capture_output=True)
    text = (tmp_path / "learned.md").read_text(encoding="utf-8")
    assert "| `links_a_cell` | links a cell, without moves | 50 |" in text
    assert "| 6x6 |" in text


@pytest.fixture
def joust(monkeypatch):
    examples = Path(__file__).parent.parent / "examples"
    monkeypatch.syspath_prepend(str(examples))
    spec = importlib.util.spec_from_file_location("joust_example", examples / "joust.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def test_the_page_about_joust_leaves_out_what_forfeits_have_spoilt(joust):
    cells = ("7x7", "ms 50", "`perfect`", "48", "one", "two", "three", "7", "22")
    text = joust.page_text([joust.Row(cells, 0.04), joust.Row(("8x8", *cells[1:]), 0.25)], [], [], joust.QUICK)
    assert f"| {' | '.join(cells)} |" in text
    assert "- 8x8, ms 50, `perfect` (25 %)" in text
    assert "in which more than 5 % of" in text
    assert "| 8x8 |" not in text
    assert "Left out" not in joust.page_text([joust.Row(cells, 0.04)], [], [], joust.QUICK)


def test_the_page_about_joust_has_the_duels_and_says_what_was_not_played(joust):
    cells = ("7x7", "nodes 100", "`perfect`", "48", "one", "two", "three", "7", "22")
    text = joust.page_text([joust.Row(cells, 0)], [], [("7x7", "a", "b")], joust.QUICK)
    assert "| 7x7 | a | b |" in text
    assert "nothing else is asked: 7x7, nodes 200.\n" in text
    played = [joust.Row(("7x7", "nodes 200", *cells[2:]), 0)]
    assert "Not played yet" not in joust.page_text(played, [], [], joust.QUICK)


def test_mistakes_are_counted_where_the_other_side_could_make_them(joust, monkeypatch, tmp_path):
    run = tmp_path / "run"
    write_run(run, 5)
    games = read_games(run)
    name = str(games["agent_1"].iloc[0])
    monkeypatch.setattr(joust, "FAIRY", name)
    monkeypatch.setattr(joust, "SPANS", ((1, 25), (26, 30)))
    result = SimpleNamespace(sources=[SimpleNamespace(info=SimpleNamespace(path=run))])
    chances = []
    made = 0
    for game in games.itertuples():
        for ply in range(2, game.plies):
            solution = solve(board := Board.from_moves(game.moves[:ply], "5x5"))
            if (game.agent_1, game.agent_2)[ply % 2] == name and solution.moves:
                chances.append(1 - len(solution.moves) / len(board.legal_cells()))
                made += game.moves[ply] not in solution.moves
    shares = (f"{100 * share:.1f} %" for share in (np.mean(chances), made / len(chances)))
    rows = joust._mistakes(result, "nodes=9", 1)
    assert made > 0
    assert rows == [("nodes 9", "1 to 25", str(len(chances)), *shares)]
    assert f"| {' | '.join(rows[0])} |" in joust.page_text([], rows, [], joust.QUICK)
    assert "mistakes made" not in joust.page_text([], [], [], joust.QUICK)


def test_the_script_about_joust_needs_the_engine(joust, tmp_path):
    result = CliRunner().invoke(joust.main, [str(tmp_path)])
    assert result.exit_code == 2
    assert "npm install fairy-stockfish-nnue.wasm in" in result.output
    assert list(tmp_path.iterdir()) == []
