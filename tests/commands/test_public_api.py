"""The public Python API: its names and its frames."""

import ast
import inspect
import math
import os
import re
import subprocess
import sys
import textwrap
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest
from invented_runs import Invented, gauntlet, random_wins

import knights_isolation
from knights_isolation import experiments, isolation, reports
from knights_isolation.experiments.plan import AgentLike
from knights_isolation.experiments.statistics import frames

ROOT = Path(__file__).parents[2]
FRAMES = (ROOT / "docs" / "reference" / "frames.md").read_text(encoding="utf-8")
PACKAGES = pytest.mark.parametrize("package", [isolation, experiments, reports], ids=lambda package: package.__name__)


@PACKAGES
def test_every_public_name_is_listed_and_is_there(package: ModuleType) -> None:
    assert set(package.__all__) <= set(dir(package))
    assert all(hasattr(package, name) for name in package.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = package.nothing


@pytest.mark.parametrize(
    "package", [isolation, experiments, reports, knights_isolation], ids=lambda each: each.__name__
)
def test_no_public_signature_has_any_type(package: ModuleType) -> None:
    public = {name: getattr(package, name) for name in package.__all__}
    written = {name: inspect.get_annotations(each) for name, each in public.items() if callable(each)}
    for name, each in list(public.items()):
        methods = vars(each).items() if inspect.isclass(each) else []
        written |= {f"{name}.{key}": inspect.get_annotations(f) for key, f in methods if inspect.isfunction(f)}
    # Board.play's winner, a player object of the caller, is the exception.
    loose = {name for name, types in written.items() if re.search(r"\bAny\b", str(types)) and "._" not in name}
    assert loose <= {"Board.play"}
    assert "Any" not in str(AgentLike)


@PACKAGES
def test_the_version_is_that_of_what_is_installed(package: ModuleType) -> None:
    assert package.__version__ == version("knights-isolation")


def test_a_name_stays_what_it_is_when_the_module_called_like_it_is_imported() -> None:
    code = "from knights_isolation import reports, isolation\n"
    code += "import knights_isolation.reports.replay, knights_isolation.isolation.search\n"
    code += "print(callable(reports.replay_page), callable(isolation.search))"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["True", "True"]


def test_a_file_that_hides_a_library_is_named(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("def score(game, player): return 1.0\n")
    (tmp_path / "script.py").write_text("import knights_isolation as ki\nki.tournament\n")
    result = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, check=False)
    assert "numpy.py hides the library numpy, which the toolkit needs: rename it" in result.stderr.splitlines()[-1]


COURSE = {
    "isolation/__init__.py": "from .isolation import Board",
    "isolation/isolation.py": "class Board:\n    whose = 'theirs'",
    "heuristics.py": "NAME = 'mine'",
    "experiments.py": "NAME = 'mine'",
    "reports.py": "NAME = 'mine'",
    "game_agent.py": """
        import pickle
        from isolation import Isolation
        from sample_players import BasePlayer
        import reports
        from isolation.rules.game import Limit
        class CustomPlayer(BasePlayer):
            def get_action(self, state):
                assert reports.NAME == "mine"
                self.queue.put(pickle.loads(pickle.dumps(state)).actions()[0])
    """,
    "script.py": """
        import sys
        import knights_isolation as ki
        print({name.partition(".")[2] for name in sys.modules if name.startswith("knights_isolation.")})
        import experiments, heuristics, isolation, reports
        print(isolation.Board.whose, heuristics.NAME, experiments.NAME, reports.NAME)
        def score(game, player):
            return 2.0 * len(game.get_legal_moves(player))
        if __name__ == "__main__":
            from knights_isolation.isolation import Board
            print(Board.from_moves([24, 14]).move_count, ki.heuristics.names()[0])
            run = ki.tournament(
                format="head-to-head", contenders=[score], baseline="game_agent.py:CustomPlayer@ms=1000",
                limit="nodes=20", board="3x4", pairs=1, jobs=1, out="run",
            )
            from knights_isolation.experiments.record.log import read_games
            print(set(read_games("run")["reason"]))
    """,
}  # fmt: skip
"""A course's repository, with a script that uses the toolkit."""


def test_a_script_imports_its_own_packages_and_ours(tmp_path: Path) -> None:
    for name, text in COURSE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(textwrap.dedent(text))
    environment = {**os.environ, "ISOLATION_CACHE": str(tmp_path / "cache")}  # generated code is written anew
    command = [sys.executable, "script.py"]
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    light, own, ours, reasons = ended.stdout.splitlines()
    assert ast.literal_eval(light) == {"lazy_package"}
    assert own == "theirs mine mine mine"
    assert ours == "2 null"
    assert reasons == "{'no_moves'}"


def test_a_folder_of_the_checkout_is_the_same_package_by_its_bare_name() -> None:
    code = (
        "import sys, heuristics, heuristics.scores as mobility, isolation.rules.game, reports, experiments\n"
        "from isolation import Board\n"
        "from knights_isolation import heuristics as h, isolation as i, reports as r, experiments as e\n"
        "import knights_isolation.heuristics.scores as m\n"
        "print(isolation is i, reports is r, experiments is e, mobility is m, Board is i.Board, heuristics is h)\n"
        "names = {module.__name__ for module in sys.modules.values()}\n"
        "print({name for name in names if name.partition('.')[0] in ('isolation', 'heuristics')})"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines() == ["True True True True True True", "set()"]


@pytest.mark.parametrize(
    ("function", "columns"),
    [
        ("verdict_frame", frames.VERDICTS),
        ("standings_frame", frames.STANDINGS),
        ("ratings_frame", frames.RATINGS),
    ],
)
def test_the_columns_of_frames_are_documented_in_their_order(function: str, columns: tuple[str, ...]) -> None:
    table = FRAMES.partition(f"`{function}`, a row")[2].split("\n\n")[1]
    named = [name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert named == list(columns)


@pytest.fixture
def findings(tmp_path: Path) -> object:
    run = gauntlet(60, random_wins({"Base": 0.3, "Good": 0.9, "Same": 0.3}), contenders=("Good", "Same"))
    return experiments.load_findings([run.write(tmp_path / "run")])


@pytest.mark.parametrize("function", ["verdict_frame", "standings_frame", "ratings_frame"])
def test_of_a_run_that_says_something_no_column_is_left_empty(findings, function: str) -> None:
    frame = getattr(experiments, function)(findings)
    assert len(frame) >= 2
    assert not frame.isna().any(axis=None)


def test_verdicts_as_a_frame_are_those_of_the_report(findings) -> None:
    verdicts = experiments.judge(findings)
    frame = experiments.verdict_frame(findings).set_index("contender")
    assert list(frame.index) == [comparison.contender for comparison in verdicts.comparisons]
    for item in verdicts.comparisons:
        row = frame.loc[item.contender]
        assert (row["estimate"], row["low"], row["high"]) == (
            *(item.difference.estimate, item.difference.low),
            item.difference.high,
        )
        assert (row["p_value"], row["adjusted_p"], row["verdict"]) == (item.p_value, item.adjusted_p, item.verdict)
        assert (row["observations"], row["measure"]) == (item.openings, "difference")
    assert frame.loc["Good", "verdict"] == "better"
    assert frame["estimate"].dtype == float
    assert frame["is_control"].dtype == bool


def test_a_duel_is_a_score_over_pairs(tmp_path: Path) -> None:
    run = Invented(config={"format": "head-to-head", "contenders": ["random"], "baseline": "greedy"})
    run.agent("A", "contender").agent("B", "baseline")
    for opening in range(10):
        run.pair("A", "B", opening, 2 if opening < 4 else 1)
    (row,) = experiments.verdict_frame(experiments.load_findings([run.write(tmp_path / "run")])).to_dict("records")
    assert (row["contender"], row["baseline"], row["measure"], row["observations"]) == ("A", "B", "score", 10)
    assert row["low"] < 0.7 < row["high"]
    assert row["estimate"] == pytest.approx(0.7)


def test_standings_and_ratings_are_numbers_the_best_first(findings) -> None:
    table = experiments.standings_frame(findings)
    assert table["agent"].iloc[0] == "Good"
    assert (table["win_rate"].diff().dropna() <= 0).all()
    complete = table["both_won"] + table["split"] + table["both_lost"]
    assert ((2 * table["both_won"] + table["split"]) / (2 * complete)).tolist() == pytest.approx(table["win_rate"])
    ratings = experiments.ratings_frame(findings).set_index("agent")
    assert ratings.index[0] == "Good"
    assert ratings.loc["Base", "rating"] == 0
    assert list(ratings.index[ratings["is_zero"]]) == ["Base"]
    assert experiments.ratings_frame(findings, zero="Good").set_index("agent").loc["Base", "rating"] == pytest.approx(
        -ratings.loc["Good", "rating"]
    )


def test_frames_of_a_run_without_games_have_their_columns(tmp_path: Path) -> None:
    empty = experiments.load_findings([gauntlet(0, planned=10).write(tmp_path / "run")])
    for frame, columns in (
        (experiments.verdict_frame(empty), frames.VERDICTS),
        (experiments.standings_frame(empty), frames.STANDINGS),
        (experiments.ratings_frame(empty), frames.RATINGS),
    ):
        assert isinstance(frame, pd.DataFrame)
        assert list(frame.columns) == list(columns)
        assert len(frame) == 0 or math.isnan(frame["estimate"].iloc[0])
