"""Engines that are processes: they play whole games, and whatever they do, runs go on and nothing is left behind."""

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hostile_engines import BABBLES, CHATTERS, DIES, FLOODS, HANGS, LIES, at, engine

from knights_isolation.experiments.plan.config import load_config, to_toml
from knights_isolation.experiments.plan.tournament_plan import make_plan
from knights_isolation.experiments.play.runner import play_tournament
from knights_isolation.experiments.record.log import read_games
from knights_isolation.isolation import Board, Limit, play
from knights_isolation.isolation.engines import engine_agent as engines
from knights_isolation.isolation.engines.engine_agent import EngineAgent, Timeouts
from knights_isolation.isolation.engines.protocol import Program
from knights_isolation.isolation.processes.child import Idle
from knights_isolation.isolation.search.agents import RandomAgent
from tests.processes.test_engine_protocol import is_alive, on_linux, until_gone

ROOT = Path(__file__).parents[2]
IMPATIENT = Timeouts(start=0.7, ready=0.7, move=0.7, silence=0.7)
STATES = ("ugi", "uginewgame", "position", "go")


@pytest.fixture(autouse=True)
def kept(monkeypatch):
    """A place of its own for engines that are kept; they end with the test."""
    idle = Idle()
    monkeypatch.setattr(engines, "_idle", idle)
    yield idle
    for _, session in idle._waiting:
        session.end()


def agent_of(path, **options):
    return EngineAgent("Mine", Program((str(path),)), Limit(nodes=10), **options)


def test_an_engine_plays_whole_games_in_one_process(tmp_path, kept):
    agent = agent_of(
        engine(tmp_path / "mine", at("uginewgame", "print('hello', file=sys.stderr)")), errors=str(tmp_path)
    )
    games = [play(agent, RandomAgent(), size="4x5", seed=seed) for seed in range(3)]
    games.append(play(RandomAgent(), agent, [3, 16], "9x11", seed=7))
    assert {game.reason for game in games} == {"no_moves"}
    own = slice(0, None, 2)
    assert set(games[0].depth[own]) == {2}
    assert set(games[0].nodes[own]) == {7}
    assert set(games[0].score[own]) == {1.5}
    assert len(kept._waiting) == 1
    kept._waiting[0][1].end()
    (errors,) = tmp_path.glob("Mine-*.txt")
    assert errors.read_text() == "hello\n" * 4
    (searches,) = tmp_path.glob("Mine-*.jsonl")
    first = json.loads(searches.read_text().splitlines()[0])
    assert first == {
        **{"game_id": 0, "ply": 1, "fen": "5/5/5/5[Nn] w - - 0 1"},
        **{"score": 1.5, "depth": 2, "nodes": 7, "pv": [0]},
    }
    assert len(searches.read_text().splitlines()) == sum(sum(depth == 2 for depth in game.depth) for game in games)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize(
    ("does", "reasons"),
    [
        (DIES, {"crash"}),
        (HANGS, {"hang"}),
        (FLOODS, {"nonsense"}),
        (CHATTERS, {"hang"}),
    ],
    ids=("dies", "hangs", "floods", "chatters"),
)
def test_an_engine_that_fails_in_any_state_loses_and_is_gone(tmp_path, kept, state, does, reasons):
    path = engine(tmp_path / "mine", at(state, does))
    game = play(agent_of(path, waits=Timeouts() if does in (DIES, FLOODS) else IMPATIENT), RandomAgent(), size="4x5")
    assert (game.winner, {game.reason}) == (2, reasons)
    assert "at last: " in game.detail
    assert not kept._waiting
    if does is DIES:
        assert game.detail.startswith("ended with exit code 3")


@pytest.mark.parametrize(("does", "reason"), [(LIES, "illegal_move"), (BABBLES, "nonsense")])
def test_an_engine_that_answers_wrongly_loses_and_plays_the_next_game(tmp_path, kept, does, reason):
    agent = agent_of(engine(tmp_path / "mine", at("go", does)))
    reasons = [play(agent, RandomAgent(), size="4x5", seed=seed).reason for seed in range(2)]
    assert reasons == [reason, reason]
    assert len(kept._waiting) == 1


def test_a_late_engine_loses_by_its_time(tmp_path):
    path = engine(tmp_path / "mine", at("go", "import time; time.sleep(0.3)"))
    game = play(replace(agent_of(path), limit=Limit(ms=20)), RandomAgent(), size="4x5")
    assert game.reason == "timeout"
    assert "ms of 20 ms" in game.detail


def test_standard_error_is_kept_up_to_its_limit_and_never_in_the_way(tmp_path, kept):
    path = engine(tmp_path / "mine", at("uginewgame", "sys.stderr.write('x' * 3_000_000)"))
    game = play(agent_of(path, errors=str(tmp_path)), RandomAgent(), size="4x5")
    assert game.reason == "no_moves"
    kept._waiting[0][1].end()
    (errors,) = tmp_path.glob("Mine-*.txt")
    assert 0 < errors.stat().st_size <= 1_000_000


def test_a_program_that_is_none_crashes_and_says_why(tmp_path):
    (tmp_path / "mine").write_text("#!/no/such/interpreter\n")
    (tmp_path / "mine").chmod(0o755)
    game = play(agent_of(tmp_path / "mine"), RandomAgent(), size="4x5")
    assert game.reason == "crash"
    assert game.detail.startswith("could not be started: No such file or directory")


STARTS_ONE = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open("pids", "w").write(f"{os.getpid()} {child.pid}")
"""


@on_linux
def test_an_engine_and_all_it_has_started_end_when_we_are_killed(tmp_path):
    does = f"import os; exec({STARTS_ONE!r}); print('info depth 1', flush=True); time.sleep(600)"
    path = engine(tmp_path / "mine", at("go", does))
    code = (
        "from knights_isolation.isolation import play, Limit\n"
        "from knights_isolation.isolation.search.agents import RandomAgent\n"
        "from knights_isolation.isolation.engines.engine_agent import EngineAgent\n"
        "from knights_isolation.isolation.engines.protocol import Program\n"
        f"play(EngineAgent('Mine', Program(({str(path)!r},)), Limit(nodes=1)), RandomAgent())"
    )
    ours = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)})
    while not (tmp_path / "pids").exists() or len((tmp_path / "pids").read_text().split()) < 2:
        assert ours.poll() is None
        time.sleep(0.02)
    pids = [int(word) for word in (tmp_path / "pids").read_text().split()]
    assert all(map(is_alive, pids))
    ours.send_signal(signal.SIGKILL)
    ours.wait()
    assert all(until_gone(pid) for pid in pids if is_alive(pid))


# Tournaments

DIES_AT_TIMES = "import os, random; os.kill(os.getpid(), 9) if random.random() < 0.05 else None"


CONTENDERS = ["engine:fragile@nodes=5", "engine:mine@nodes=5", "random"]


def config_of(tmp_path, out, **options):
    keys = {
        "board": "5x5",
        "format": "round-robin",
        "contenders": CONTENDERS,
        "pairs": 12,
        "jobs": 2,
        "out": str(out),
        "engines": [
            {"name": name, "command": [f"./{name}"], "directory": str(tmp_path)} for name in ("fragile", "mine")
        ],
    }
    return load_config(None, {**keys, **options})


@pytest.mark.slow
def test_a_tournament_goes_on_though_engines_are_killed_and_is_resumed(tmp_path):
    engine(tmp_path / "fragile", at("go", DIES_AT_TIMES))
    engine(tmp_path / "mine", "print('here', file=sys.stderr)")
    run = tmp_path / "run"
    command = [sys.executable, "-c", f"from knights_isolation.experiments.play.runner import play_tournament as p\n"
               f"from tests.processes.test_engine_processes import config_of\nfrom pathlib import Path\n"
               f"p(config_of(Path({str(tmp_path)!r}), {str(run)!r}))"]  # fmt: skip
    folders = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    first = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": folders})
    while not list(run.glob("games/games-*")) and first.poll() is None:
        time.sleep(0.02)
    first.kill()
    first.wait()
    assert len(read_games(run)) > 0
    outcome = play_tournament(config_of(tmp_path, run), resume=True)
    games = read_games(run)
    assert outcome.finished
    assert games["game_id"].tolist() == list(range(72))
    assert set(games["reason"]) == {"no_moves", "crash"}
    lost = games[games["reason"] == "crash"]
    losers = lost["agent_1"].astype(str).where(lost["winner"] == 2, lost["agent_2"].astype(str))
    assert set(losers) == {"fragile_5nodes"}
    assert lost["detail"].str.startswith("was ended by SIGKILL; at last: ").all()
    assert any("here" in errors.read_text() for errors in run.glob("engines/mine_5nodes-*.txt"))


@pytest.mark.slow
def test_a_run_from_the_empty_board_goes_on_with_an_engine_that_ends_at_once(tmp_path):
    engine(tmp_path / "fragile", DIES)
    config = config_of(tmp_path, tmp_path / "run", pairs=2, jobs=1, openings="random:0", contenders=CONTENDERS[::2])
    assert play_tournament(config).finished
    games = read_games(tmp_path / "run")
    assert games["plies"].tolist() == [0, 1]
    assert games["winner"].tolist() == [2, 1]
    assert set(games["reason"]) == {"crash"}


def test_what_an_engine_says_of_a_move_names_its_game_and_ply_also_of_the_move_that_loses(tmp_path):
    engine(tmp_path / "fragile", f"if words[0] == 'go' and '*' in fen: say('info depth 4 nodes 9'); {LIES}")
    config = config_of(tmp_path, tmp_path / "run", pairs=2, jobs=1, contenders=CONTENDERS[::2])
    play_tournament(config)
    (file,) = (tmp_path / "run").glob("engines/fragile_5nodes-*.jsonl")
    notes = [json.loads(line) for line in file.read_text().splitlines()]
    for game in read_games(tmp_path / "run").itertuples():
        own = [note for note in notes if note["game_id"] == game.game_id]
        start = 0 if game.agent_1 == "fragile_5nodes" else 1
        assert [note["ply"] for note in own] == list(range(3 + start, game.plies + 2, 2))
        for note in own:
            assert note["fen"] == Board.from_moves(game.moves[: note["ply"] - 1], "5x5").fen
        assert [note["pv"][0] for note in own[:-1]] == [game.moves[note["ply"] - 1] for note in own[:-1]]
        assert (own[-1]["lost"], own[-1]["depth"], own[-1]["nodes"]) == ("illegal_move", 4, 9)


def test_what_an_engine_says_does_not_fill_the_disk(tmp_path, kept, monkeypatch):
    monkeypatch.setattr(engines, "MOST_NOTES", 200)
    play(agent_of(engine(tmp_path / "mine"), errors=str(tmp_path)), RandomAgent(), size="4x5")
    (searches,) = tmp_path.glob("Mine-*.jsonl")
    assert len(searches.read_text().splitlines()) == 2


@pytest.mark.slow
def test_another_program_in_its_place_does_not_go_on_with_a_run(tmp_path):
    for name in ("fragile", "mine"):
        engine(tmp_path / name)
    config = config_of(tmp_path, tmp_path / "run", pairs=1, jobs=1)
    play_tournament(config)
    engine(tmp_path / "mine", "0")
    with pytest.raises(ValueError, match="the code of mine_5nodes has changed since the run began"):
        play_tournament(config, resume=True)


def test_a_hard_cap_ends_a_move_that_has_signs_of_life(tmp_path, kept):
    agent = agent_of(engine(tmp_path / "mine", at("go", CHATTERS)))
    game = play(agent, RandomAgent(), size="4x5", hard_cap=0.5)
    assert game.reason == "hang"
    assert not kept._waiting


def test_engines_of_a_run_are_found_from_any_directory(tmp_path, monkeypatch):
    engine(tmp_path / "mine")
    monkeypatch.chdir(tmp_path)
    keys = {"board": "5x5", "format": "round-robin", "contenders": ["engine:mine", "random"]}
    plan = make_plan(load_config(None, {**keys, "engines": [{"name": "mine", "command": ["./mine"]}]}))
    monkeypatch.chdir("/")
    again = make_plan(load_config(None, tomllib.loads(to_toml(plan.config))))
    assert again.entrants[0].settings == plan.entrants[0].settings
