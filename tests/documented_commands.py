"""The command lines that pages show, made small: run in a folder that has what they speak of, without processes."""

import json
import re
import shlex
import subprocess
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hostile_engines import engine
from played_games import random_record
from scripted_pool import Script, ScriptedPool, costing

from knights_isolation import heuristics
from knights_isolation.experiments import bench, play_tournament
from knights_isolation.experiments.analysis import quick_trial
from knights_isolation.experiments.game_files import save_game
from knights_isolation.experiments.league import entries, league_run
from knights_isolation.experiments.league.entries import Check
from knights_isolation.experiments.plan.config import Config
from knights_isolation.experiments.play import parallel_map
from knights_isolation.experiments.play.cluster import daemons
from knights_isolation.experiments.play.runner import RunOutcome
from knights_isolation.experiments.record.tries import code_of, source_path
from knights_isolation.experiments.studies import screening
from knights_isolation.experiments.suite import Suite, build_suite, read_suite
from knights_isolation.isolation.engines import engine_server
from knights_isolation.isolation.rules.game import Cost
from knights_isolation.reports import watch
from knights_isolation.reports.lab import server

STANDING_FOR = {
    **{"FILE.toml": "my.toml", "FILE.svg": "file.svg", "FILE.html": "file.html", "FILE": "my_heuristic.py"},
    **{"KIND": "ladder", "NAMES": "improved", "GAME_ID": "1", "128": "1", "A": "random", "B": "greedy", "N": "9"},
    **{"RUN": "runs/first", "RUN…": "runs/first", "SPEC…": "random", "runs/…": "runs/first", "AGENT": "ID_Improved"},
    **{"SPEC": "MM:null", "2000": "2", "1,3,5": "1", "6x6": "3x4", "7x7": "4x3", "ms=150": "ms=1"},
    **{"suite_6x7.parquet": "7x7", "6x7": "3x4", "ADDRESS": "lab:8786", "COMMAND…": "./my_player"},
    **{"cpu_ms=300": "cpu_ms=30", "elsewhere/runs": "runs", "100000": "50", "5000": "50"},
}
"""What a word of a page becomes: something that there is in the folder, or a smaller number."""
FILES = {"published": "results.csv", "replay": "game.json", "screen": "page.html"}
"""The FILE of commands that do not read Python."""
FEW = ("improved", "open")
"""The heuristics of the registry, as far as `*` is concerned."""
FEW_FEATURES = ("links", "mobility")
"""The features, where none is named."""
MORE = {
    "perfect accuracy --heuristics": ("--positions", "2", "--jobs", "1"),
    "perfect solve --all": ("--jobs", "1"),
    "perfect label": ("--jobs", "1"),
    "screen": ("--jobs", "1", "--sample", "40"),
    "evaluate": ("--budget", "compile", "--jobs", "1"),
    "discover": ("--minutes", "0.01", "--pairs", "10", "--jobs", "1"),
    "perfect refute": ("--openings", "2", "--jobs", "1"),
    "research": ("--games", "160", "--pairs", "10", "--jobs", "1"),
    "fit": ("--limit", "nodes=20"),
    "tune": ("--jobs", "1", "--board", "5x5", "--limit", "nodes=20", "--games", "160", "--pairs", "10"),
    "sweep": ("--jobs", "1", "--board", "5x5", "--pairs", "2"),
    "features": ("--most", "1", "--at", "depth=1"),
    "suite build": ("--jobs", "1", "--openings", "1"),
    "perfect dataset": ("--jobs", "1", "--random", "1"),
}
"""What keeps a command small that has no word for it."""

HEURISTIC = """
from knights_isolation.heuristics import Composite, Weight

def score(game, player, *, reach=0.5):
    moves = game.get_legal_moves(player)
    return float(len(moves)) + reach * len(game.reach(moves))

def custom_score(game, player):
    return score(game, player)

mesh = Composite(phases=((1.0, ((Weight("moves", 1.0, low=0, high=2), custom_score),)),))
"""
POLICY = """
def play(observations, masks):
    return masks.argmax(axis=1)
"""
PLAYER = """
class CustomPlayer:
    def get_move(self, game, time_left):
        return next(iter(game.get_legal_moves()), (-1, -1))
"""
STATE_PLAYER = """
from sample_players import DataPlayer

class CustomPlayer(DataPlayer):
    def get_action(self, state):
        self.queue.put(state.actions()[0])

    def score(self, state):
        return len(state.liberties(state.locs[self.player_id]))
"""

TRY = {
    **{"command": "screen", "agent": "ID:score", "baseline": "ID_Improved", "spec": "ID:mine.py:score", "code": "1"},
    **{
        "source": code_of(HEURISTIC),
        "judged_on": "7x7",
        "n": 9,
        "difference": [1.0, 0.5, 1.5],
        "p_value": 0.5,
        "cost": None,
    },
    "when": "2026-01-01T00:00:00+00:00",
}


def words_of(line: str) -> list[str]:
    """The words of a command line behind `isolation`, without what a page says about it; what is optional is left in.

    >>> words_of("isolation plot RUN… KIND [--out FILE.svg]      a picture")
    ['plot', 'runs/first', 'ladder', '--out', 'file.svg']
    """
    command = re.split(r" {2,}| > [\w.]+$", line)[0].removeprefix("isolation ")
    files = {"FILE": FILES.get(command.partition(" ")[0], STANDING_FOR["FILE"])}
    bare = [word.strip("[]") for word in shlex.split(command)]
    words = [(STANDING_FOR | files).get(word, word) for word in bare]
    return words + [word for start, options in MORE.items() if " ".join(words).startswith(start) for word in options]


def furnish(folder: Path) -> None:
    """Put what pages speak of into a folder."""
    for name in ("my_heuristic.py", "my_score.py", "mine.py", "my.py", "far.py"):
        (folder / name).write_text(HEURISTIC)
    for name in ("path/to/game_agent.py", "game_agent.py", "my_agent.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(PLAYER)
    (folder / "my_custom_player.py").write_text(STATE_PLAYER)
    (folder / "baseline.py").write_text(POLICY)
    engine(folder / "my_player")
    (folder / "my.toml").write_text('contenders = ["ID:open"]\nopponents = ["random"]\n')
    (folder / "results.csv").write_text("agent,opponent,wins,losses\nID_Improved,Random,18,2\nMine,Random,19,1\n")
    save_game(folder / "game.json", random_record(1))
    (folder / "games.pgn").write_text('[White "a"] [Black "b"] 1. Nd4 Na5 2. Nc6 1-0')
    (folder / "runs" / "tried").mkdir(parents=True)
    source_path(code_of(HEURISTIC), folder / "runs").write_text(HEURISTIC)
    (folder / "runs" / "tries.jsonl").write_text(f"{json.dumps(TRY)}\n" * 7)
    for name in ("ada", "ben"):
        (folder / "submissions" / name).mkdir(parents=True, exist_ok=True)
        (folder / "submissions" / name / "game_agent.py").write_text(PLAYER)
    for name in ("ca.pem", "lab1.pem", "lab1.key", "lab2.pem", "lab2.key"):
        (folder / name).touch()
    for words in (
        ["init", "--initial-branch=main"],
        ["add", "."],
        ["commit", "--message=all"],
        ["commit", "--allow-empty", "--message=more"],
    ):
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=folder, check=True, capture_output=True
        )


def play_small(config: Config, **options: Any) -> RunOutcome:
    """Play a tournament as the command does, a pair a match, here."""
    is_given = options.get("resume") or options.get("extends")
    small = config if is_given else config.model_copy(update={"pairs": 1, "jobs": 1})
    with costing(one_cost) if small.equal_cost else nullcontext():
        return play_tournament(small, **options, pools=lambda jobs: ScriptedPool(Script()))


def one_cost(names: Sequence[str]) -> dict[str, Cost | str]:
    """The same cost for all agents."""
    return dict.fromkeys(names, Cost(4.0, 1.0, 1.0, 1.0))


def few_positions(*asked: Any) -> Suite:
    """A suite, or a few hundred of its positions."""
    suite = read_suite(*asked)
    return suite.sample(300, 1) if len(suite) > 300 else suite


def keep_small(patch: pytest.MonkeyPatch) -> None:
    """Have commands do a little of what they do."""
    patch.setattr(heuristics, "names", lambda: list(FEW))
    patch.setattr(heuristics, "FEATURES", {name: heuristics.get(name) for name in FEW_FEATURES})
    patch.setattr(watch, "play_tournament", play_small)
    patch.setattr("knights_isolation.experiments.play.runner.play_tournament", play_small)
    for name in ("MOST_PAIRS", "PYTHON_PAIRS", "PLAYER_PAIRS"):
        patch.setattr(f"knights_isolation.experiments.analysis.analyse_file.{name}", 1)
    patch.setattr(quick_trial, "try_heuristic", partial(quick_trial.try_heuristic, pairs=20, python_pairs=1))
    patch.setattr(league_run, "CLASSIC_OPPONENTS", ("random",))
    patch.setattr(entries, "check_all", lambda players, jobs, show: {player.name: Check("") for player in players})
    patch.setattr("knights_isolation.reports.studies.tuning.read_suite", few_positions)
    patch.setattr(screening, "read_suite", few_positions)
    patch.setattr(quick_trial, "read_suite", few_positions)
    patch.setattr(build_suite, "SOURCES", (build_suite.PositionSource("mine", ("greedy", "random")),))
    patch.setattr(build_suite, "FIELD", ("greedy",))
    patch.setattr(build_suite, "GAMES", 2)
    patch.setattr("knights_isolation.experiments.discovery.campaign.CLIMBS", 2)
    patch.setattr("knights_isolation.experiments.discovery.campaign.CANDIDATES", 2)
    patch.setattr("knights_isolation.experiments.discovery.finals.CHOOSING_PAIRS", 10)
    patch.setattr(bench, "measure", lambda: [{"what": "nothing"}])
    patch.setattr(parallel_map, "chosen", lambda cluster, jobs: None)
    patch.setattr("knights_isolation.reports.studies.engine_checks.check_engine", lambda program: iter(()))
    patch.setattr(engine_server, "claim_stdio", lambda: (BytesIO(), BytesIO()))
    patch.setattr(daemons, "serve_scheduler", lambda *options: None)
    patch.setattr(daemons, "serve_worker", lambda *options: True)
    patch.setattr(
        "knights_isolation.reports.lab.server.serve_in_background",
        lambda resources, path, announce: nullcontext(lambda: None),
    )
    patch.setattr("webbrowser.open", lambda address: True)
    patch.setattr(server, "serve", lambda resources, port, name, *options: print(f"{name}: http://127.0.0.1/"))
