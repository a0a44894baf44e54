"""`isolation analyse`: a verdict on each heuristic and player of a file."""

import json
import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from click.testing import CliRunner
from documented_commands import few_positions
from scripted_pool import here

from cli import main
from knights_isolation.experiments.analysis.analyse_file import TrialConditions, analyse, play_gauntlet
from knights_isolation.experiments.analysis.quick_trial import read_file
from knights_isolation.experiments.play.runner import play_tournament
from knights_isolation.experiments.record.log import count_games
from knights_isolation.isolation.checks.agent_checks import check_values
from knights_isolation.isolation.rules.game import Cost, Limit
from knights_isolation.reports.analysis.analysis_page import cost_table
from knights_isolation.reports.pages.templates import kept_pages

SOURCE = """
from sample_players import improved_score

def custom_score(game, player):
    return float(len(game.get_legal_moves(player)))

def custom_score_2(game, player):
    return float(str(len(game.get_legal_moves(player))))

def custom_score_3(game, player):
    return 1.0 / (game.move_count - 12)

def distance(one, other):
    return (one[0] - other[0]) ** 2

class CustomPlayer:
    def get_move(self, game, time_left):
        return game.get_legal_moves()[0]

class Broken:
    def get_move(self, game, time_left):
        return None
"""
FAST = ("--limit", "nodes=20", "--pairs", "2", "--jobs", "1")


@pytest.fixture(scope="module")
def analysed(tmp_path_factory: pytest.TempPathFactory, two_rounds: None) -> tuple[Path, str]:
    """A folder with an analysis of a file that has a bit of everything, and what was printed."""
    folder = tmp_path_factory.mktemp("analysis")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr("knights_isolation.experiments.play.runner.play_tournament", partial(play_tournament, pools=here))
        patch.setattr("knights_isolation.experiments.analysis.quick_trial.PAIRS", 20)
        patch.setattr("knights_isolation.experiments.analysis.quick_trial.read_suite", few_positions)
        patch.setattr("knights_isolation.experiments.analysis.analyse_file.PYTHON_PAIRS", 1)
        patch.setattr("knights_isolation.experiments.analysis.analyse_file.PLAYER_PAIRS", 1)
        (folder / "game_agent.py").write_text(SOURCE)
        result = CliRunner().invoke(
            main, ["analyse", "game_agent.py", *FAST, "--html", "page.html", "--markdown", "page.md"]
        )
        assert result.exit_code == 1  # a function fails
        assert "Next:" in result.stdout, result.stderr
        return folder, result.stdout


@pytest.mark.exhaustive
def test_an_analysis_has_a_sentence_for_each_function_and_player(analysed: tuple[Path, str]) -> None:
    lines = " ".join(analysed[1].split())
    assert re.search(
        r"custom_score (won (more|less) against the same 7 opponents than ID_Improved|shows no significant difference "
        r"from ID_Improved against the same 7 opponents): all searching 20 nodes a move, it won "
        r"\d+\.\d % of its games, ID_Improved \d+\.\d %, a "
        r"difference of [+−]?\d+\.\d points \(95 % (simultaneous )?interval ",
        lines,
    )
    assert re.search(
        r"Head to head (it beats ID_Improved|it loses to ID_Improved|no significant difference), \d+\.\d % ", lines
    )
    assert "At equal cost, with the same processor time for all, " in lines
    assert "custom_score_2 does not compile" in lines
    assert "custom_score_3 fails, and would lose games by that: raises ZeroDivisionError" in lines
    assert "CustomPlayer passes its checks; won" in lines
    assert "Broken fails: moves: returns None" in lines
    assert "Skipped: distance returns no number for (game, player)." in lines
    assert "improved_score" not in lines


@pytest.mark.exhaustive
def test_an_analysis_shows_each_opponent_the_costs_two_mistakes_and_what_to_do_next(analysed: tuple[Path, str]) -> None:
    text = analysed[1]
    for opponent in ("Random", "MM_Null", "MM_Open", "MM_Improved", "AB_Null", "AB_Open", "AB_Improved", "mean"):
        assert f"\n{opponent} " in text
    assert re.search(r"\nwin rate against +ID_Improved +custom_score\n", text)
    assert re.search(r"function +difference +p +at equal cost +p at equal cost\n", text)
    assert "nodes in 150 ms of Python" in text
    assert text.count("loses;") == 2
    assert "- Repair custom_score_3; this shows the failure: isolation eval --fen" in text
    assert "- Rewrite line 8 of custom_score_2 so that it compiles" in text


@pytest.mark.exhaustive
def test_the_page_of_an_analysis_is_kept_for_the_lab(analysed: tuple[Path, str]) -> None:
    folder, _ = analysed
    (kept,) = kept_pages({run.name: run for run in (folder / "runs").iterdir()})
    assert kept.title == "Analysis of game_agent.py"
    page, own = (re.sub("<style>.*</style>", "", path.read_text(), flags=re.DOTALL)
                 for path in (folder / "page.html", folder / "runs" / kept.run / "analysis.html"))  # fmt: skip
    assert page == own


@pytest.mark.exhaustive
def test_the_page_and_the_markdown_of_an_analysis_say_the_same(analysed: tuple[Path, str]) -> None:
    folder, text = analysed
    page, markdown = (folder / name for name in ("page.html", "page.md"))
    sentence = next(line for line in markdown.read_text().splitlines() if line.startswith("**custom_score** "))
    words = sentence.removeprefix("**custom_score** ")
    assert words in page.read_text()
    assert words in " ".join(text.split())
    assert "![" in markdown.read_text()
    assert (folder / "page.svg").read_text().startswith("<?xml")
    assert "<script" not in page.read_text()


@pytest.mark.exhaustive
def test_an_analysis_goes_on_where_it_was_stopped_and_is_not_played_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("def score(game, player):\n    return float(len(game.get_legal_moves(player)))\n")
    question = TrialConditions(opponents=("random",), limit=Limit(nodes=20), pairs=30)
    contents, played = read_file("mine.py"), []

    def play(config: Any, *, resume: bool) -> Any:
        played.append(resume)
        return play_tournament(config, resume=resume, pools=here)

    whole = play_gauntlet(contents, ["score"], "nodes", question, 1, play)
    path = whole.sources[0].info.path
    last = max((path / "games").glob("*.parquet"))
    last.unlink()
    (path / "finished.json").unlink()
    assert count_games(path) < whole.played
    again = play_gauntlet(contents, ["score"], "nodes", question, 1, play)
    assert again.table.equals(whole.table)
    assert play_gauntlet(contents, ["score"], "nodes", question, 1, play).played == whole.played
    assert played == [False, True]
    (tmp_path / "mine.py").write_text("def score(game, player):\n    return 1.0\n")
    other = play_gauntlet(read_file("mine.py"), ["score"], "nodes", question, 1, play)
    assert other.sources[0].info.path != path


@pytest.mark.exhaustive
@pytest.mark.usefixtures("quick_trials")
def test_try_takes_all_functions_of_a_file_a_line_each(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def one(game, player):\n    return 1.0\n\ndef two(game, player):\n    return None\n")
    result = CliRunner().invoke(main, ["try", str(file), "--limit", "nodes=30"])
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[2:4]] == ["one", "two"]
    assert "fails" in lines[3]
    assert "two: values: returns None" in " ".join(result.stdout.split())
    assert "games against ID:improved at 30 nodes a move" in result.stdout
    rows = json.loads(CliRunner().invoke(main, ["try", str(file), "--limit", "nodes=30", "--format", "json"]).stdout)
    assert [(row["function"], row["compiles"]) for row in rows] == [("one", "yes"), ("two", "no")]
    quick = CliRunner().invoke(main, ["analyse", str(file), "--quick", "--limit", "nodes=30"])
    assert quick.exit_code == 1
    assert quick.stdout.splitlines()[0] == lines[0]  # costs are measured anew


def test_a_function_that_a_file_only_imports_is_analysed_if_it_has_no_other(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("from sample_players import improved_score\n")
    assert list(read_file(str(file)).functions) == ["improved_score"]
    file.write_text("from sample_players import improved_score\n\ndef mine(game, player):\n    return 1.0\n")
    assert list(read_file(str(file)).functions) == ["mine"]
    assert read_file(f"{file}:improved_score").players == ()


OTHERS = """
from near import other_score

def mine(game, player):
    return 1.0

alias = mine

def custom_score(game):
    return 1.0

def distance(one, other):
    return one[5]

class SearchTimeout(Exception):
    pass

class Odd:
    def get_move(self, game):
        return None
"""


def test_every_function_and_class_of_a_file_is_used_or_skipped_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "near.py").write_text("def other_score(game, player):\n    return 1.0\n")
    (tmp_path / "mine.py").write_text(f"{OTHERS}\nclass Player:\n    get_move = lambda self, game, time_left: None\n")
    contents = read_file(str(tmp_path / "mine.py"))
    assert (list(contents.functions), contents.players) == (["mine", "alias"], ("Player",))
    assert contents.skipped == {
        "other_score": "is imported from near.py",
        "custom_score": "takes (game), not (game, player)",
        "distance": "returns no number for (game, player)",
        "SearchTimeout": "is a class without get_move or get_action",
        "Odd": "needs a method get_move(self, game, time_left) or get_move(self, game, legal_moves, time_left), "
        "not get_move(self, game)",
    }
    assert read_file(f"{tmp_path / 'mine.py'}:mine").skipped == {}


def test_a_file_without_a_heuristic_says_what_its_functions_take(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def custom_score(game):\n    return 1.0\n")
    for command in (["try"], ["screen"], ["analyse"]):
        result = CliRunner().invoke(main, [*command, str(tmp_path / "mine.py")])
        assert result.exit_code == 2
        assert "; custom_score takes (game), not (game, player)" in result.output


@pytest.mark.slow
@pytest.mark.usefixtures("quick_trials")
def test_try_names_what_it_skips_and_what_is_suspect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("def custom_score(game):\n    return 1.0\n\ndef other(game, player):\n    return 1.0\n")
    result = CliRunner().invoke(main, ["try", "mine.py", "--limit", "nodes=30"])
    assert result.stdout.splitlines()[-1] == "Skipped: custom_score takes (game), not (game, player)."
    assert "Note: suspect: constant: returns 1 in all of 289 unfinished positions." in result.stdout


def _lead(game: Any, player: Any) -> int:
    return len(game.get_legal_moves(player)) - len(game.get_legal_moves(game.get_opponent(player)))


@pytest.mark.parametrize(
    ("score", "suspected"),
    [
        (_lead, ""),
        (lambda game, player: -len(game.get_legal_moves(game.get_opponent(player))), ""),
        (lambda game, player: -_lead(game, player), "signs reversed? "),
        (lambda game, player: 7, "constant: returns 7 in all of 289 unfinished positions"),
        (
            lambda game, player: game.players.index(player),
            "takes no notice of the position: returns 0 for player 1 ",
        ),
    ],
)
def test_values_that_are_constant_blind_or_reversed_are_suspect(score: Any, suspected: str) -> None:
    seen = [finding for finding in check_values(score) if finding.check == "suspect"]
    assert [finding.is_note for finding in seen] == [True] * bool(suspected)
    assert all(finding.seen.startswith(suspected) for finding in seen)


@pytest.mark.slow
@pytest.mark.usefixtures("quick_trials")
def test_try_adds_all_functions_to_the_log_of_tries_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    added: list[list[str]] = []
    monkeypatch.setenv("ISOLATION_TRIES", "on")
    monkeypatch.setattr(
        "knights_isolation.experiments.studies.noted_tries.add_tries",
        lambda tries: added.append([t.agent for t in tries]),
    )
    values = ("1", "-len(game.get_legal_moves(player))", "len(repr(game.get_legal_moves()))")
    code = "".join(f"def score_{n}(game, player):\n    return {value}\n" for n, value in enumerate(values))
    (tmp_path / "mine.py").write_text(code)
    CliRunner().invoke(main, ["try", str(tmp_path / "mine.py"), "--limit", "nodes=30"])
    assert [len(agents) for agents in added] == [3]


def test_an_analysis_on_a_board_that_is_too_large_is_refused_before_it_begins() -> None:
    with pytest.raises(ValueError, match="board 100x100: too large: runs are played on boards of up to 128 cells"):
        TrialConditions(size="100x100")


@pytest.mark.slow
def test_a_function_of_dear_nodes_is_named_with_its_time_and_plays_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    costs = {"far": Cost(500.0, 100.0, 99.0, 101.0), "near": Cost(5.0, 1.0, 0.9, 1.1)}
    monkeypatch.setattr(
        "knights_isolation.experiments.analysis.quick_trial.measure_costs",
        lambda agents, *of, **options: [costs.get(agent.heuristic.__name__) for agent in agents],
    )
    monkeypatch.setattr("knights_isolation.experiments.analysis.quick_trial.PAIRS", 2)
    monkeypatch.setattr("knights_isolation.experiments.analysis.quick_trial.read_suite", few_positions)
    code = "def far(game, player):\n    return game.reach(game.reach(game.get_legal_moves(player))) and 1.0 or 0.0\n"
    (tmp_path / "mine.py").write_text(f"{code}\ndef near(game, player):\n    return float(game.move_count)\n")
    said: list[str] = []
    played: list[str] = []

    def play(config: Any, *, resume: bool) -> Any:
        played.append(str(config.out).rpartition("-")[2] + ":" + ",".join(config.contenders).partition("=")[0])
        if len(played) == 2:
            raise KeyboardInterrupt
        return play_tournament(config, resume=resume, pools=here)

    stages = analyse(read_file("mine.py"), TrialConditions(limit=Limit(depth=1), pairs=2), play, 1, said.append)
    first = next(stages)
    assert played == ["nodes:near"]
    assert (first.comparison("near", "nodes") is None, first.comparison("far", "nodes") is None) == (False, True)
    assert said.index("far is slow and plays last") < said.index("playing at depth=1")
    assert said[-1] == "playing at depth=1"
    with pytest.raises(KeyboardInterrupt):
        next(stages)
    assert (said[-1], played[1:]) == ("playing far at depth=1", ["nodes:far"])


@pytest.mark.slow
def test_screen_takes_the_files_and_functions_that_try_takes(tmp_path: Path) -> None:
    code = "def score(game, player):\n    return 1.0\n\ndef other(game, player):\n    return -1.0 * game.move_count\n"
    (tmp_path / "mine.py").write_text(code)
    for asked, names in (
        ("mine.py", ["other", "score"]),
        ("mine.py:other", ["other"]),
        ("mine.py:other@depth=1", ["other"]),
    ):
        command = ["screen", str(tmp_path / asked), "--sample", "20", "--limit", "nodes=50", "--format", "json"]
        result = CliRunner().invoke(main, [*command, "--table", "screen"])
        assert result.exit_code == 0, result.output
        assert [name for name in ("other", "score") if f"mine.{name}" in result.stdout] == names


def test_costs_that_could_not_be_measured_leave_cells_empty() -> None:
    trials = {"score": SimpleNamespace(python_cost="it fails in each position")}
    analysis = SimpleNamespace(trials=trials, ranked=["score"], cost=lambda name: trials[name].python_cost)
    baseline, row = cost_table(cast("Any", analysis)).rows
    assert baseline["nodes in 150 ms of Python"] is None
    assert [row[key] for key in row if key != "function"] == [None, None, None]
