"""The public Python API: its names and its frames."""

import inspect
import math
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest
from invented_runs import Invented, gauntlet, random_wins

import knights_isolation
from knights_isolation import experiments, isolation, reports
from knights_isolation.experiments.roster import AgentLike
from knights_isolation.experiments.verdicts import frames

ROOT = Path(__file__).parent.parent
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
    code = "import reports.replay.replay_page, isolation.search, reports, isolation\n"
    code += "print(callable(reports.replay_page), callable(isolation.search))"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["True", "True"]


@pytest.mark.parametrize(
    ("package", "imported"),
    [("heuristics", "experiments"), ("isolation", "reports"), ("numpy", "knights_isolation")],
)
def test_a_file_that_hides_a_package_is_named(package: str, imported: str, tmp_path: Path) -> None:
    (tmp_path / f"{package}.py").write_text("def score(game, player): return 1.0\n")
    (tmp_path / "script.py").write_text(f"import sys; sys.path.append({str(ROOT)!r})\nimport {imported}\n")
    result = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, check=False)
    what = "library numpy, which the toolkit needs" if package == "numpy" else f"toolkit's package {package}"
    assert f"{package}.py hides the {what}: rename it" in result.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("function", "columns"),
    [("verdict_frame", frames.VERDICTS), ("standings_frame", frames.STANDINGS), ("ratings_frame", frames.RATINGS)],
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
