"""A commit's heuristics are compared with those of another commit, in a real repository."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from action_runner import run_action
from click.testing import CliRunner, Result
from documented_commands import one_cost
from scripted_pool import Script, ScriptedPool, costing

from cli import main
from knights_isolation.experiments import play_tournament
from knights_isolation.experiments.analysis import commit_check
from knights_isolation.experiments.plan.config import Config
from knights_isolation.experiments.play.runner import RunOutcome
from knights_isolation.experiments.record.run_directory import TRIES_SETTING
from knights_isolation.experiments.record.tries import read_tries
from knights_isolation.experiments.suite import read_suite

ROOT = Path(__file__).parents[2]
SCORE = """
def score(game, player):
    return float(len(game.get_legal_moves(player)){})
"""
WORSE, BROKEN = SCORE.format(" * -1"), SCORE.format(" / 0")
SMALL = ("--limit", "nodes=30", "--jobs", "1")


def play_here(config: Config, **options: Any) -> RunOutcome:
    """Play a run as the command does, without processes."""
    with costing(one_cost):
        return play_tournament(config, **options, pools=lambda jobs: ScriptedPool(Script()))


def git(folder: Path, *words: str) -> str:
    settings = ("-c", "user.name=a", "-c", "user.email=a@b")
    return subprocess.run(["git", *settings, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def commit(folder: Path, source: str) -> str:
    """Commit a source of `mine.py`, and return the commit's hash."""
    (folder / "mine.py").write_text(source)
    git(folder, "add", "mine.py")
    git(folder, "commit", "--quiet", "--message", "a commit")
    return git(folder, "rev-parse", "HEAD").strip()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(TRIES_SETTING)
    monkeypatch.setattr(commit_check, "read_suite", lambda *asked: read_suite(*asked).sample(500, 1))
    monkeypatch.setattr("knights_isolation.reports.watch.play_tournament", play_here)
    monkeypatch.chdir(tmp_path)
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    commit(tmp_path, SCORE.format(""))
    return tmp_path


def ci(*words: str) -> Result:
    return CliRunner().invoke(main, ["ci", "mine.py", *words, *SMALL], catch_exceptions=False)


def verdicts(done: Result) -> dict[str, str]:
    return {row["heuristic"]: row["verdict"] for row in json.loads(done.stdout)["ci"]}


def test_unchanged_code_passes_without_a_game(repository: Path) -> None:
    (repository / "mine.py").write_text("# now with a comment\n" + SCORE.format(""))
    done = ci("--format", "json")
    assert (verdicts(done), done.exit_code, read_tries()) == ({"score": "unchanged"}, 0, [])


def test_a_weaker_version_fails_and_the_summary_says_so(repository: Path) -> None:
    commit(repository, WORSE)
    done = ci("--base", "HEAD~1", "--summary", "summary.md")
    assert done.exit_code == 1
    assert "score failed" in done.stdout
    text = (repository / "summary.md").read_text()
    assert text.startswith("## 1 heuristic compared with HEAD~1 (")
    assert "| score | failed | accepted: −20 Elo (H0) |" in text
    again = ci("--base", "HEAD~1", "--format", "json")
    assert (verdicts(again), again.exit_code) == ({"score": "failed"}, 1)
    (games,) = [each for each in read_tries() if each.judged_on.startswith("openings")]
    assert games.difference[2] < 0
    assert games.cost is not None


@pytest.mark.exhaustive
def test_the_error_rate_falls_from_commit_to_commit(repository: Path) -> None:
    for sign in ("* 2", "* 3", "* 2"):
        (repository / "mine.py").write_text(SCORE.format(sign))
        ci("--pairs", "3")
    runs = [json.loads(path.read_text())["requested"]["sprt"] for path in (repository / "runs").glob("ci-*/run.json")]
    rates = sorted(rate for *_, rate in runs)
    assert len(rates) == 2
    assert rates[0] < rates[1] < 0.05


def test_failing_and_new_heuristics_are_told_apart(repository: Path) -> None:
    (repository / "mine.py").write_text(BROKEN + SCORE.replace("score", "second").format(""))
    done = ci("--format", "json")
    assert (verdicts(done), done.exit_code) == ({"score": "failed", "second": "new"}, 1)
    assert "ZeroDivisionError" in done.stdout


def test_what_is_no_commit_ends_in_a_line(repository: Path) -> None:
    done = ci("--base", "nowhere")
    assert done.exit_code == 2
    assert f"{repository} has no commit called nowhere" in done.stderr


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("source", "code"), [(WORSE, 1), pytest.param(SCORE.format("") + "# as it was", 0, marks=pytest.mark.exhaustive)]
)
def test_the_action_fails_exactly_when_a_heuristic_got_weaker(repository: Path, source: str, code: int) -> None:
    before, checkout, tools = git(repository, "rev-parse", "HEAD").strip(), repository / "checkout", repository / "bin"
    after = commit(repository, source)
    # as actions/checkout leaves it: the newest commit alone
    git(repository, "clone", "--quiet", "--depth=1", f"file://{repository}", "checkout")
    assert git(checkout, "rev-parse", "HEAD").strip() == after
    tools.mkdir()
    isolation = f'{sys.executable} {ROOT}/cli.py "$@"'
    for name, does in {"pip": f'echo "$@" >> {tools}/installed', "isolation": isolation}.items():
        (tools / name).write_text(f"#!/bin/sh\n{does}\n")
        (tools / name).chmod(0o755)
    summary = repository / "summary.md"
    done = run_action(
        ROOT / "action.yml",
        {"files": "mine.py", "options": " ".join(SMALL)},
        {
            "github.event.pull_request.base.sha || github.event.before": before,
            "github.action_path": str(ROOT),
        },
        checkout,
        {"PATH": f"{tools}:/usr/bin:/bin", "GITHUB_STEP_SUMMARY": str(summary), "HOME": str(repository)},
    )  # fmt: skip
    assert (tools / "installed").read_text() == f"install --quiet {ROOT}\n"
    assert done[-1].returncode == code, done[-1].stderr
    assert summary.read_text().startswith(f"## 1 heuristic compared with {before[:7]}: ")
