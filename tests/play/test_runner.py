"""Running tournaments: the same log however it came about, and everything that may go wrong on the way."""

import contextlib
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scripted_pool import here

from knights_isolation.experiments.bench import COMMAND
from knights_isolation.experiments.plan import run_keeping
from knights_isolation.experiments.plan.config import Config, load_config
from knights_isolation.experiments.plan.run_keeping import locked
from knights_isolation.experiments.plan.tournament_plan import Plan, make_plan
from knights_isolation.experiments.play.runner import RunOutcome, RunProgress, play_tournament
from knights_isolation.experiments.record import log, log_parts, run_directory
from knights_isolation.experiments.record.checked_json import read_json, write_json
from knights_isolation.experiments.statistics.run_results import load_findings
from knights_isolation.experiments.statistics.sprt import own_tests

TIMING = ["time_us", "started_at"]
SMALL: dict[str, Any] = {"contenders": ["greedy", "R=random"], "baseline": "MM:null@depth=1", "opponents": ["random"]}

SOON = 10.0
"""Seconds a command may take to end: it takes less than two, but many things may run at once where tests run."""


def config_of(out: Path, **keys: Any) -> Config:
    return load_config(None, {**SMALL, "pairs": 40, "jobs": 1, **keys, "out": str(out)})


def play(out: Path, **keys: Any) -> RunOutcome:
    return play_tournament(config_of(out, **keys))


def play_here(out: Path, **options: Any) -> RunOutcome:
    return play_tournament(config_of(out), pools=here, **options)


def games(run: Path) -> pd.DataFrame:
    """The whole log but for what differs from run to run."""
    return log.read_games(run).drop(columns=TIMING)


def assert_same_games(first: Path, second: Path) -> None:
    pd.testing.assert_frame_equal(games(first), games(second), check_categorical=False)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "undisturbed"
    assert play(run, jobs=1).finished
    return run


def test_every_scheduled_game_is_in_the_log_once(undisturbed: Path) -> None:
    frame = games(undisturbed)
    assert len(frame) == (4 + 2) * 40 * 2
    assert frame.game_id.is_unique
    assert set(frame.groupby("pair_id").size()) == {2}
    assert set(frame.reason) == {"no_moves"}
    assert len(list(log.games_folder(undisturbed).iterdir())) == 1
    assert run_directory.is_finished(undisturbed)


def test_a_run_logs_how_it_begins_and_ends(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "knights_isolation.experiments.play")
    path = play_here(tmp_path / "run").path
    assert caplog.messages[0] == f"{path}: 0 of 480 games are in the log; 1 jobs"
    assert re.fullmatch(rf"{path}: finished after \d+\.\d s with 480 of 480 games", caplog.messages[1])


def test_parallel_play_gives_the_same_log(undisturbed: Path, tmp_path: Path) -> None:
    play(tmp_path / "run", jobs=2)
    assert_same_games(tmp_path / "run", undisturbed)


def test_the_saved_configuration_gives_the_same_log(undisturbed: Path, tmp_path: Path) -> None:
    again = load_config(undisturbed / run_directory.CONFIG, {"out": str(tmp_path / "again")})
    play_tournament(again, pools=here)
    assert_same_games(tmp_path / "again", undisturbed)


def test_what_is_reported_as_logged_is_in_the_log(tmp_path: Path) -> None:
    counts = []

    def show(progress: RunProgress) -> None:
        counts.append((progress.logged, log.count_games(tmp_path / "run")))

    outcome = play_here(tmp_path / "run", show=show)
    assert all(reported == logged for reported, logged in counts)
    assert outcome.logged == outcome.total == 480


def test_the_facts_of_a_run(undisturbed: Path) -> None:
    info = run_directory.load_run(undisturbed)
    assert info.games == 480
    assert info.agents["MM_Null_depth1_control"].roles == ["control"]
    assert json.loads(info.agents["Greedy"].settings)["kind"] == "greedy"
    (summary,) = [run for run in run_directory.list_runs(undisturbed.parent) if run.info.path == undisturbed]
    assert (summary.played, summary.finished) == (480, True)


# Resuming


def test_resuming_plays_exactly_what_is_missing(undisturbed: Path, tmp_path: Path) -> None:
    run = shutil.copytree(undisturbed, tmp_path / "run")
    _forget(run, lambda ids: ids % 3 != 1)
    assert not run_directory.is_finished(run)
    outcome = play_here(run, resume=True)
    assert outcome.finished
    assert_same_games(run, undisturbed)


def _forget(run: Path, keep: Callable[[np.ndarray], np.ndarray]) -> None:
    """Turn a finished run into one with games missing."""
    table = log.read_table(run, log.SCHEMA.names)
    folder = log.games_folder(run)
    for path in [*folder.iterdir(), run / run_directory.END]:
        path.unlink()
    log_parts.append(folder, table.filter(keep(table["game_id"].to_numpy())))


@pytest.mark.parametrize(
    "keys",
    [
        {"pairs": 1},
        {"format": "round-robin", "contenders": ["random", "greedy"], "baseline": None, "opponents": None, "pairs": 1},
        {"format": "head-to-head", "opponents": None, "openings": "random:4", "sprt": [0, 50], "pairs": 2},
    ],
)
def test_a_run_can_be_resumed_from_its_directory_alone(tmp_path: Path, keys: dict[str, Any]) -> None:
    keys = {key: value for key, value in {**SMALL, **keys}.items() if value is not None}
    plan = make_plan(load_config(None, keys))
    run_keeping.create(tmp_path, plan, load_config(None, keys))
    outcome = play_tournament(
        run_keeping.requested_config(run_directory.load_run(tmp_path), jobs=1), resume=True, pools=here
    )
    assert outcome.finished
    assert outcome.logged == len(plan.schedule)


def test_a_run_begun_before_there_was_a_choice_of_elo_is_resumed(tmp_path: Path) -> None:
    keys = {**SMALL, "format": "head-to-head", "openings": "random:4", "sprt": [0, 50], "pairs": 2}
    config = load_config(None, {key: value for key, value in keys.items() if key != "opponents"})
    run_keeping.create(tmp_path, make_plan(config), config)
    facts = read_json(tmp_path / "run.json")
    del facts["requested"]["elo_model"]
    write_json(tmp_path / "run.json", facts)
    assert play_tournament(
        run_keeping.requested_config(run_directory.load_run(tmp_path), jobs=1), resume=True, pools=here
    ).finished
    assert {test.path.sprt.model for test in own_tests(load_findings([tmp_path]))} == {"logistic"}


def test_resuming_a_finished_run_plays_nothing(undisturbed: Path) -> None:
    (before,) = log.games_folder(undisturbed).iterdir()
    written = before.stat().st_mtime_ns
    assert play_tournament(config_of(undisturbed), resume=True).finished
    assert before.stat().st_mtime_ns == written


@pytest.mark.parametrize(
    ("keys", "message"),
    [({"pairs": 41}, "is a run with pairs = 40, not 41"), ({"seed": 2}, "is a run with seed = 1, not 2")],
)
def test_another_configuration_is_refused(undisturbed: Path, keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        play_tournament(config_of(undisturbed, **keys), resume=True)


def test_the_key_that_was_given_is_the_one_that_is_blamed(tmp_path: Path) -> None:
    keys = {"format": "head-to-head", "contenders": ["greedy"], "baseline": "random", "opponents": None, "pairs": 2}
    play_tournament(config_of(tmp_path, **keys), pools=here)
    info = run_directory.load_run(tmp_path)
    with pytest.raises(ValueError, match=f"already holds a run: resume with isolation match --resume {tmp_path}"):
        play_tournament(config_of(tmp_path, **keys), pools=here)
    with pytest.raises(ValueError, match="is a run with pairs = 2, not 5: choose another --out"):
        play_tournament(run_keeping.requested_config(info, jobs=1, changes={"pairs": 5}), resume=True)
    assert play_tournament(
        run_keeping.requested_config(info, jobs=1, changes={"pairs": 2}), resume=True, pools=here
    ).finished


def test_a_second_run_in_the_same_place_is_refused(undisturbed: Path) -> None:
    with pytest.raises(
        ValueError, match=f"already holds a run: resume with isolation tournament --resume {undisturbed}"
    ):
        play(undisturbed)


def test_changed_user_code_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "my.py"
    path.write_text("def score(game, player):\n    return 1.0\n")
    duel = {"format": "head-to-head", "baseline": "random", "opponents": None}
    keys = {**duel, "contenders": [f"X=AB:{path}:score@depth=1"], "pairs": 1}
    play_tournament(config_of(tmp_path / "run", **keys), pools=here)
    path.write_text("def score(game, player):\n    return 2.0\n")
    with pytest.raises(ValueError, match="the code of X has changed since the run began"):
        play_tournament(config_of(tmp_path / "run", **keys), resume=True)


def test_a_run_that_another_process_writes_is_refused(undisturbed: Path) -> None:
    with locked(undisturbed), pytest.raises(ValueError, match=f"process {os.getpid()} is writing to this run"):
        play_tournament(config_of(undisturbed), resume=True)


def test_nothing_is_written_for_bad_input(tmp_path: Path) -> None:
    for keys in ({"contenders": ["ID:nothing"]}, {"board": "1x2"}, {"contenders": ["X=greedy", "X=random"]}):
        with pytest.raises(ValueError, match=r".+"):
            play(tmp_path / "run", **keys)
    assert not any(tmp_path.iterdir())


def test_places_where_no_run_can_go(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("mine")
    for out, message in (("file", "already exists"), ("full", "already exists"), ("file/run", "no such directory")):
        with pytest.raises(ValueError, match=message):
            play(tmp_path / out)
    with pytest.raises(ValueError, match="not a run directory"):
        play_tournament(config_of(tmp_path / "none"), resume=True)


def test_a_full_disk_ends_the_run_and_keeps_what_was_logged(
    tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    appended = []

    def append(folder: Path, table: Any) -> None:
        if appended:
            raise OSError(28, "No space left on device")
        appended.append(table.num_rows)
        real(folder, table)

    real = log_parts.append
    with monkeypatch.context() as patch:
        patch.setattr(log_parts, "append", append)
        patch.setattr("knights_isolation.experiments.play.game_recorder._SHORTEST", 0.0)
        patch.setattr("knights_isolation.experiments.play.pools.batch_feed.LONGEST_BATCH", 0.0)
        with pytest.raises(
            OSError,
            match=r"No space left on device; [\d,]+ games are safe; resume with isolation tournament --resume",
        ):
            play_here(run)
    assert len(games(run)) == appended[0] < 480
    play_here(run, resume=True)
    assert_same_games(run, undisturbed)


def test_a_run_whose_folder_is_moved_while_it_is_played_says_so_and_goes_on_there(
    tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def move(progress: RunProgress) -> None:
        if progress.logged and (tmp_path / "run").exists():
            (tmp_path / "run").rename(tmp_path / "moved")

    with monkeypatch.context() as patch:
        patch.setattr("knights_isolation.experiments.play.game_recorder._SHORTEST", 0.0)
        patch.setattr("knights_isolation.experiments.play.pools.batch_feed.LONGEST_BATCH", 0.0)
        with pytest.raises(OSError, match="run was moved or deleted during the run; the logged games moved"):
            play_here(tmp_path / "run", show=move)
    play_here(tmp_path / "moved", resume=True)
    assert_same_games(tmp_path / "moved", undisturbed)


def test_a_run_that_is_put_at_the_path_of_one_that_is_played_is_left_as_it_is(
    tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, other = tmp_path / "run", shutil.copytree(undisturbed, tmp_path / "other")
    (other / run_directory.END).unlink()
    before = contents(other)

    def replace(progress: RunProgress) -> None:
        if progress.logged and other.exists():
            run.rename(tmp_path / "moved")
            other.rename(run)

    with monkeypatch.context() as patch:
        patch.setattr("knights_isolation.experiments.play.game_recorder._SHORTEST", 0.0)
        patch.setattr("knights_isolation.experiments.play.pools.batch_feed.LONGEST_BATCH", 0.0)
        with pytest.raises(OSError, match="what is there now was left unchanged; the logged games moved with it"):
            play_here(run, show=replace)
    assert contents(run) == before
    play_here(tmp_path / "moved", resume=True)
    assert_same_games(tmp_path / "moved", undisturbed)


def contents(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# Early stops


def odd_matches_stop(plan: Plan) -> Callable[[np.ndarray], list[int]]:
    return lambda pairs: [match for match in range(pairs.shape[1]) if match % 2 and len(pairs) >= 16]


def test_a_stop_rule_ends_matches_at_the_same_game_however_many_jobs(tmp_path: Path) -> None:
    for jobs in (1, 2):
        outcome = play_tournament(config_of(tmp_path / str(jobs), jobs=jobs, pairs=80), stop=odd_matches_stop)
        assert outcome.finished
        assert outcome.logged == outcome.total == 2 * (3 * 80 + 3 * 24)
    assert_same_games(tmp_path / "1", tmp_path / "2")


def test_a_stopped_run_is_resumed_to_the_same_end(tmp_path: Path) -> None:
    play_tournament(config_of(tmp_path / "whole", pairs=80), pools=here, stop=odd_matches_stop)
    shutil.copytree(tmp_path / "whole", tmp_path / "resumed")
    _forget(tmp_path / "resumed", lambda ids: ids % 5 != 2)
    play_tournament(config_of(tmp_path / "resumed", pairs=80), pools=here, resume=True, stop=odd_matches_stop)
    assert_same_games(tmp_path / "whole", tmp_path / "resumed")


def test_sprt_stops_a_clear_duel_early(tmp_path: Path) -> None:
    keys = {"format": "head-to-head", "contenders": ["greedy"], "baseline": "random", "opponents": None}
    outcome = play_tournament(config_of(tmp_path / "run", **keys, pairs=1000, sprt=[0, 100]), pools=here)
    assert outcome.finished
    assert outcome.total < 1000
    assert len(games(tmp_path / "run")) == outcome.total


# Agents that do harm

LOUD = """
import os, sys, random
class Loud:
    def get_move(self, game, time_left):
        print("boo"); sys.stderr.write("boo\\n"); os.system("echo boo")
        return random.choice(game.get_legal_moves())
"""

DEADLY = """
import os
class Deadly:
    def get_move(self, game, time_left):
        moves = game.get_legal_moves()
        if game.get_player_location(game.active_player) == (3, 3):
            os.kill(os.getpid(), 9)
        return (3, 3) if (3, 3) in moves else moves[0]
"""


def user_agents(folder: Path, source: str) -> str:
    path = folder / "agent.py"
    path.write_text(source)
    name = source.split("class ")[1].split(":")[0]
    return f"{name}={path}:{name}@ms=5000"


@pytest.mark.slow
def test_agents_that_print_do_not_reach_the_terminal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    play(tmp_path / "run", contenders=[user_agents(tmp_path, LOUD)], pairs=1)
    assert "boo" not in "".join(capfd.readouterr())


def test_a_game_that_kills_its_worker_is_lost_by_its_mover_and_the_run_goes_on(tmp_path: Path) -> None:
    book = tmp_path / "book.txt"
    book.write_text("24,14\n")
    deadly = user_agents(tmp_path, DEADLY)
    outcome = play(
        tmp_path / "run", format="head-to-head", contenders=[deadly], baseline="greedy", opponents=None,
        openings=f"file:{book}", pairs="all",
    )  # fmt: skip
    assert outcome.finished
    frame = games(tmp_path / "run")
    assert frame.reason.tolist() == ["error", "no_moves"]
    lost = frame.iloc[0]
    assert (lost.agent_1, lost.winner, lost.plies) == ("Deadly", 2, 2)
    assert lost.detail == "its process died"


SLOW = """
class Slow:
    def get_move(self, game, time_left):
        if game.move_count > 8:
            while True:
                pass
        return game.get_legal_moves()[0]
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize(("cap", "reason"), [(None, "timeout"), (0.3, "hang")])
def test_a_run_in_which_a_clock_ended_games_says_so_once(tmp_path: Path, cap: float | None, reason: str) -> None:
    source = SLOW if cap else SLOW.replace("while True", "while time_left() > -5")
    agent = user_agents(tmp_path, source).replace("5000", "10" if cap is None else "5000")
    outcome = play(
        tmp_path / "run", format="head-to-head", contenders=[agent], baseline="greedy", opponents=None, pairs=1,
        hard_cap=cap,
    )  # fmt: skip
    assert outcome.finished
    assert outcome.reasons == {reason: 2}
    assert outcome.notes[:-1] == ("not exactly reproducible: Slow thinks by the clock",)
    assert outcome.notes[-1].startswith(f"Slow lost 2 of 2 games by {reason}")
    end = json.loads((tmp_path / "run" / run_directory.END).read_text())
    assert (end["ended_by_clock"], end["reproducible"]) == (2, False)


HANGING = """
def score(game, player):
    str(player)  # so that nobody tries to compile it, and waits for it there
    while len(game.get_blank_spaces()) < 44:
        pass
    return 1.0
"""


@pytest.mark.exhaustive
def test_a_hang_of_a_player_without_a_clock_is_not_reproducible(tmp_path: Path) -> None:
    path = tmp_path / "my.py"
    path.write_text(HANGING)
    outcome = play(
        tmp_path / "run", format="head-to-head", contenders=[f"X=ID:{path}:score@depth=1"], baseline="greedy",
        opponents=None, pairs=1, hard_cap=0.3,
    )  # fmt: skip
    assert outcome.reasons == {"hang": 2}
    assert "not reproducible: 2 games ended by a time limit, which depends on the machine" in outcome.notes


FAILING = """
def {name}(game, player):
    if len(game.get_blank_spaces()) < {cells}:
        return {value}
    return 1.0
"""


@pytest.mark.exhaustive
def test_forfeits_are_told_by_agent_and_reason_most_games_first(tmp_path: Path) -> None:
    path = tmp_path / "my.py"
    path.write_text(
        FAILING.format(name="zero", cells=44, value="1 / (len(game.get_blank_spaces()) * 0)")
        + FAILING.format(name="nan", cells=30, value="float('inf') - float('inf')")
    )
    agents = [f"Nan=ID:{path}:nan@depth=1", f"Zero=ID:{path}:zero@depth=1"]
    keys = {"contenders": agents, "opponents": ["MM:null@depth=1"], "baseline": "greedy", "control": False, "pairs": 6}
    outcome = play_tournament(config_of(tmp_path / "run", **keys), pools=here)
    assert outcome.finished
    first, second = (note for note in outcome.notes if " lost " in note)
    tail = f" (see isolation results {tmp_path / 'run'})"
    assert first == f"Zero lost 24 of 24 games by error: ZeroDivisionError: division by zero (my.py, line 4){tail}"
    assert second.startswith("Nan lost ")
    assert second.endswith(f" of 24 games by error: NotANumber: the heuristic returned NaN (my.py, lines 9, 10){tail}")
    assert play_tournament(config_of(tmp_path / "run", **keys), resume=True, pools=here).notes[-2:] == (first, second)


@pytest.mark.exhaustive
@pytest.mark.parametrize("jobs", [1, 2])
def test_what_does_not_compile_is_played_all_the_same_and_named_in_order(tmp_path: Path, jobs: int) -> None:
    path = tmp_path / "my.py"
    path.write_text("SEEN = []\n\ndef score(game, player):\n    SEEN.append(1)\n    return float(len(SEEN))\n")
    agents = [f"{name}=AB:{path}:score@depth={depth}" for depth, name in enumerate(("X", "Y", "Z"), start=1)]
    outcome = play(
        tmp_path / "run", format="head-to-head", contenders=agents, baseline="random", opponents=None, pairs=1,
        jobs=jobs,
    )  # fmt: skip
    assert outcome.finished
    notes = [note for note in outcome.notes if " interpreted: " in note]
    assert [note.split(" run interpreted")[0] for note in notes] == ["X, Y, Z"]


DEEP = """
import sys

sys.setrecursionlimit(10**7)


def down(steps):
    return 0.0 if steps == 0 else down(steps - 1) + 1.0


def score(game, player):
    return down(1_000_000) if game.move_count < 4 else 0.0
"""


@pytest.mark.slow
def test_code_that_recurses_too_deep_for_compiled_code_runs_interpreted(tmp_path: Path) -> None:
    path = tmp_path / "my.py"
    path.write_text(DEEP)
    agents = [f"Deep=AB:{path}:score@depth=1", "Null=AB:null@depth=2"]
    outcome = play(
        tmp_path / "run", format="head-to-head", contenders=agents, baseline="random", opponents=None, pairs=1
    )
    assert outcome.finished
    (note,) = [note for note in outcome.notes if "runs interpreted" in note]
    assert note.startswith("Deep runs interpreted")
    assert "compiled, it raises an exception where Python gives 1000000.0" in note
    assert set(outcome.reasons) == {"no_moves"}


@pytest.mark.exhaustive
def test_the_classic_evaluation_runs_compiled_from_end_to_end(tmp_path: Path) -> None:
    outcome = play_tournament(load_config(None, {"pairs": 2, "jobs": 2, "out": str(tmp_path / "run")}))
    assert outcome.finished
    # 21 contenders and the baseline meet 7 opponents on 2 openings; the control meets them on 7 openings of its own;
    # and each contender meets the baseline itself
    assert outcome.logged == 22 * 7 * 2 * 2 + 7 * 7 * 2 + 21 * 2 * 2
    assert not [note for note in outcome.notes if "interpreted" in note]
    assert all(entrant.agent.compiled((7, 7)) for entrant in outcome.plan.entrants)
    assert set(outcome.reasons) == {"no_moves"}


# Processes that are killed

SCRIPT = """
import sys
from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.play.runner import play_tournament
import json
keys = json.loads(sys.argv[1])
outcome = play_tournament(
    load_config(None, keys["config"]), resume=keys["resume"], show=lambda progress: print(progress.logged, flush=True)
)
print("finished" if outcome.finished else "interrupted", outcome.logged, flush=True)
"""


def start(run: Path, resume: bool, **keys: Any) -> subprocess.Popen[str]:
    config = {key: value for key, value in {**SMALL, "jobs": 2, **keys, "out": str(run)}.items() if value is not None}
    arguments = json.dumps({"config": config, "resume": resume})
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_games(process: subprocess.Popen[str], count: int) -> int:
    """Wait until so many games are reported as logged; returns how many are."""
    assert process.stdout
    for line in process.stdout:
        if line.strip().isdigit() and int(line) >= count:
            return int(line)
    raise AssertionError(f"ended too soon: {process.communicate()}")


def children(process: subprocess.Popen[str]) -> list[int]:
    completed = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=False).stdout
    return [int(pid) for pid in completed.split()]


def disturb(run: Path, times: int, seed: int, **keys: Any) -> None:
    """Kill a worker and then the parent, or the parent at once, at random moments of one attempt after another."""
    moment = random.Random(seed)
    logged = 0
    for attempt in range(times):
        process = start(run, resume=attempt > 0, **keys)
        logged = wait_for_games(process, logged + 1)
        time.sleep(moment.uniform(0, 0.5))
        if attempt % 2 == 0:
            with contextlib.suppress(ProcessLookupError, IndexError):
                os.kill(moment.choice(children(process)), signal.SIGKILL)
            time.sleep(moment.uniform(0, 1))
        process.kill()
        process.communicate()
        assert log.count_games(run) >= logged
        logged = log.count_games(run)


LONG: dict[str, Any] = {"opponents": ["random", "ID:open@nodes=20000"], "pairs": 150}
LONGER: dict[str, Any] = {"opponents": ["random", "ID:open@nodes=100000"], "pairs": 120, "control": False}


@pytest.fixture(scope="module")
def long_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("long") / "undisturbed"
    assert play(run, jobs=2, **LONG).finished
    return run


@pytest.mark.slow
def test_killed_three_times_in_a_row_a_run_ends_with_the_same_games(tmp_path: Path) -> None:
    play(tmp_path / "undisturbed", **LONGER)
    disturb(tmp_path / "run", 3, seed=2, **LONGER)
    play_tournament(config_of(tmp_path / "run", **LONGER), resume=True)
    assert_same_games(tmp_path / "run", tmp_path / "undisturbed")


@pytest.mark.slow
def test_ctrl_c_ends_it_soon_keeps_the_games_and_leaves_no_process(tmp_path: Path, long_run: Path) -> None:
    run = tmp_path / "run"
    process = start(run, resume=False, **LONG)
    logged = wait_for_games(process, 1)
    workers = children(process)
    began = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers as well
    output, errors = process.communicate(timeout=30)
    assert time.monotonic() - began < SOON
    assert output.splitlines()[-1].startswith("interrupted")
    assert errors == ""
    assert log.count_games(run) >= logged
    assert all_end(workers)
    play_tournament(config_of(run, **LONG), resume=True)
    assert_same_games(run, long_run)


def all_end(pids: list[int]) -> bool:
    """Whether these processes end within 20 seconds."""
    for _ in range(200):
        states = subprocess.run(
            ["ps", "-o", "stat=", "-p", ",".join(map(str, pids))], capture_output=True, text=True, check=False
        )
        if all(state.startswith("Z") for state in states.stdout.split()):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.slow
def test_orphaned_workers_end_by_themselves(tmp_path: Path) -> None:
    process = start(tmp_path / "run", resume=False, **LONG)
    wait_for_games(process, 1)
    workers = children(process)
    process.kill()
    process.communicate()
    assert workers
    assert all_end(workers)


@pytest.mark.exhaustive
def test_orphaned_solvers_end_by_themselves(tmp_path: Path) -> None:
    out = tmp_path / "solved.parquet"
    command = [*COMMAND, "perfect", "solve", "--all", "--board", "9x9", "--jobs", "2", "--out", str(out)]
    process = subprocess.Popen([*command, "--limit", "nodes=2000000"], stderr=subprocess.DEVNULL)
    while not out.exists() and process.poll() is None:
        time.sleep(0.1)
    workers = children(process)
    process.kill()
    process.wait()
    assert workers
    assert all_end(workers)


# Ctrl-C at the command line, before there are games

SOURCE = "def score(game, player):\n    return len(game.get_legal_moves(player)) * {weight}\n"


def start_command(run: Path, *arguments: str, cache: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *arguments, "--out", str(run)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "ISOLATION_CACHE": str(cache)},
        start_new_session=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize("equal_cost", [False, True])
@pytest.mark.parametrize("moment", [pytest.param("workers start", marks=pytest.mark.exhaustive), "agents are compiled"])
def test_ctrl_c_while_preparing_ends_with_one_line(tmp_path: Path, moment: str, equal_cost: bool) -> None:
    run = tmp_path / "run"
    agents = [word for name in ("territory", "two_step_mobility") for word in ("--contender", f"ID:{name}")]
    options = [*agents, *(["--equal-cost"] if equal_cost else [])]
    process = start_command(run, "tournament", *options, cache=tmp_path / "cache")
    while not (children(process) if moment == "workers start" else [*tmp_path.glob("cache/*/*.py")]):
        assert process.poll() is None
        time.sleep(0.01)
    workers = children(process)
    began = time.monotonic()
    for _ in range(3):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.02)
    output, errors = process.communicate(timeout=30)
    assert time.monotonic() - began < SOON
    assert process.returncode == 1
    assert not [line for line in output.splitlines() if "· preparing" not in line]
    if equal_cost:
        again = shlex.join(["isolation", "tournament", *options, "--out", str(run)])
        assert errors == f"Interrupted: nothing was saved. Restart with: {again}\n"
        assert not run.exists()
    else:
        goes_on = f"Continue with: isolation tournament --resume {run}"
        assert errors == f"Interrupted: 0 of 10,800 games are in {run}. {goes_on}\n"
        assert run_directory.is_run(run)
        assert log.count_games(run) == 0
    assert all_end(workers)
