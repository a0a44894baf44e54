"""A class of submissions: what is found without running any, who is blamed for what, and what everybody is shown."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from click.testing import CliRunner
from submissions import HONEST, league, submit

from cli import main
from knights_isolation.experiments.league import entries
from knights_isolation.experiments.league.entries import Check, Entry, LeagueEntries, check_one, newest_of, read_book
from knights_isolation.experiments.league.league_run import USUAL, PlayerForfeits, league_config, read_results
from knights_isolation.experiments.league.submissions import Submission, find_submissions
from knights_isolation.experiments.plan import complete, parse_agent, parse_spec, run_keeping
from knights_isolation.experiments.plan.user_files import player_in
from knights_isolation.experiments.record import log, log_parts
from knights_isolation.isolation.games.match import GameRecord, play
from knights_isolation.isolation.processes import subprocess_player
from knights_isolation.isolation.processes.child import (
    MOST_WAITS,
    Child,
    NoAnswer,
    Setup,
    SupervisedProgram,
    Termination,
)
from knights_isolation.isolation.processes.sandbox import landlock_version
from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.game import Limit
from knights_isolation.isolation.search.solver import solve
from knights_isolation.reports.league import (
    INDEX,
    games_of,
    leading,
    page_of,
    player_page,
    ranking_section,
)

ROOT = Path(__file__).parents[2]
HOSTILE = """
import builtins, ctypes, os, random, sys, time
class CustomPlayer:
    def get_move(self, game, time_left):
        {act}
        return min(game.get_legal_moves(), default=(-1, -1))
"""
RAISING = """
    def helper(self):
        return 1 / 0
"""
FORGED = """class Forged:
            def __reduce__(self):
                return (os.mkdir, ("made_by_an_answer",))
        import base64, pickle
        for pipe in range(3, 20):
            try:
                os.write(pipe, base64.b64encode(pickle.dumps(Forged())) + b"\\n")
            except OSError:
                pass"""
"""Writes to every descriptor, as an answer, a pickle that makes a folder where it is read."""
BLAMED = {
    "endless": ("while True: pass", "hang", "no answer within 2 s"),
    "sys_exit": ("sys.exit(3)", "error", "SystemExit: 3 (game_agent.py, line 5)"),
    "os_exit": ("os._exit(0)", "error", "its process died"),
    "parent": ("os.kill(os.getppid(), 9)", "error", "may not signal other processes"),
    "parent_past_python": (
        "ctypes.CDLL(None).kill(os.getppid(), 9); time.sleep(0.5); os._exit(0)", "error",
        "may not call",
    ),
    "signals_unheard": (
        "import signal; signal.pidfd_send_signal(os.pidfd_open(os.getppid()), 9)", "error",
        "may not signal other processes",
    ),
    "slows_others": ("os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)", "error", "may not change who computes when"),
    "holds_others": ("os.sched_setaffinity(os.getppid(), {0})", "error", "may not change who computes when"),
    "pipes": ("os.mkfifo('pipe')", "error", "may not change files"),
    "pipes_by_sets": (
        "{one.__name__: one for one in os.supports_dir_fd}['mkfifo']('pipe')", "error", "KeyError: 'mkfifo'",
    ),
    "devices": ("import posix; posix.mknod('node')", "error", "may not change files"),
    "history": ("import readline; readline.write_history_file(__file__)", "error", "may not import readline"),
    "fresh": (
        "import importlib.machinery as m, types; found = m.BuiltinImporter\n"
        "        found.create_module(found.find_spec('posix')).mkfifo('pipe')",
        "error", "may not make modules anew",
    ),
    "shares": ("import multiprocessing.shared_memory as s; s.SharedMemory(create=True, size=9)", "error",
               "may not change files"),
    "semaphores": ("import _multiprocessing; _multiprocessing.SemLock(0, 1, 1, '/k', False)", "error",
                   "may not change files"),
    "shares_anew": ("del sys.modules['_posixshmem']; import _posixshmem", "error", "may not import _posixshmem"),
    "key_log": ("import ssl; ssl.create_default_context().keylog_filename = 'keys'", "error", "may not write files"),
    "memory": ("kept = bytearray(3 << 30)", "error", "MemoryError"),
    "forks": ("while True: os.fork()", "error", "may not start a process"),
    "shell": ("os.system('true')", "error", "may not start a process"),
    "writes": ("open(__file__, 'a')", "error", "may not write files"),
    "deletes": ("os.remove(__file__)", "error", "may not change files"),
    "links": ("os.link(__file__, 'copy.py')", "error", "may not change files"),
    "closes": ("os.closerange(0, 256)", "error", "its process died"),
    "forges": (FORGED, "error", "its process answered with nonsense"),
    "stops_clocks": (
        "started = time.thread_time(); is_stopped = time.process_time() == 0.0\n"
        "        while is_stopped and time.thread_time() - started < 0.4: pass\n"
        "        time.process_time = time.perf_counter = lambda: 0.0",
        "timeout", "of 100 ms, seen from outside",
    ),
}  # fmt: skip
HARMLESS = {
    "prints": "print('x' * 10**6); os.write(1, b'y' * 10**6); os.write(2, b'z' * 10**6)",
    "moves_away": "os.chdir('/')",
    "replaces_random": "random.random = random.choice = random.seed = lambda *a, **k: 0.0",
    "limits_nothing": "sys.setrecursionlimit(10**9)",
}


def game_of(path: Path) -> GameRecord:
    """A game of a player, who begins, against the random one."""
    agent = parse_agent(f"apart:{path}:CustomPlayer", Limit(cpu_ms=100))
    return play(agent, parse_agent("random"), (24, 14), seed=5, hard_cap=2.0)


# Found without running anything


def test_players_of_all_editions_are_told_from_their_sources(tmp_path: Path) -> None:
    body = "\n        return 1\n"
    sources = {
        "first": f"class CustomPlayer:\n    def get_move(self, game, legal_moves, time_left):{body}",
        "second": "class IsolationPlayer: pass\n"
        f"class MinimaxPlayer(IsolationPlayer):\n    def get_move(self, game, time_left):{body}"
        f"class AlphaBetaPlayer(IsolationPlayer):\n    def get_move(self, game, time_left):{body}",
        "third": "from sample_players import DataPlayer\n"
        f"class Deep(DataPlayer):\n    def get_action(self, state):{body}CustomPlayer = Deep\n",
        "inherits": "class Base:\n    def get_move(self, game, time_left): pass\nclass Mine(Base): pass\ndel Base\n",
    }
    sources_by_name = {name: player_in(submit(tmp_path, name, source)) for name, source in sources.items()}
    assert sources_by_name["first"] == ("CustomPlayer", "first")
    assert sources_by_name["second"] == ("AlphaBetaPlayer", "second")
    assert sources_by_name["third"] == ("CustomPlayer", "third")
    assert sources_by_name["inherits"] == "has several players (Base, Mine), none of them CustomPlayer"


@pytest.mark.parametrize("names", [("MinimaxPlayer", "AlphaBetaPlayer"), ("AlphaBetaPlayer", "CustomPlayer")])
def test_of_several_players_checks_take_the_one_that_plays_in_the_league(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    source = "".join(
        f"class {name}:\n    def get_move(self, game, time_left): return min(game.get_legal_moves())\n"
        for name in names
    )
    path = submit(tmp_path, "dan", source)
    assert player_in(path) == (names[1], "second")
    result = CliRunner().invoke(main, ["test-agent", str(path)], catch_exceptions=False).output
    assert result.splitlines()[0] == f"{path}:{names[1]}"


def test_what_lies_among_the_submissions_and_does_not_play_is_named_with_the_reason(tmp_path: Path) -> None:
    marker = tmp_path / "executed"
    player = HONEST.format(prefers="0")
    submit(tmp_path, "alice", f"open({str(marker)!r}, 'w')\n{player}")
    submit(tmp_path, "bob smith", player, "project/isolation-master/my_custom_player.py")
    submit(tmp_path, "bob_smith", player)
    submit(tmp_path, "broken", "def f(:\n")
    submit(tmp_path, "deep", "(" * 100_000)
    submit(tmp_path, "engine", player, "isolation/isolation.py")
    submit(tmp_path, "huge", "#" * 1_000_001)
    submit(tmp_path, "two", player.replace("Custom", "One") + player.replace("Custom", "Other"))
    (tmp_path / "none").mkdir()
    (tmp_path / "loose.py").write_text(player)
    submissions = find_submissions(tmp_path)
    assert [player.name for player in submissions.players] == ["alice", "bob_smith", "bob_smith-2"]
    assert submissions.players[1].file == tmp_path / "bob smith/project/isolation-master/my_custom_player.py"
    whys = {skipped_file.name: skipped_file.why for skipped_file in submissions.skipped}
    assert whys.keys() == {"broken", "deep", "engine", "huge", "two", "none", "loose.py"}
    assert whys["broken"] == "game_agent.py is not Python: line 1: invalid syntax"
    assert whys["huge"] == "game_agent.py is larger than 1,000,000 bytes"
    assert whys["two"].endswith("has several players (OnePlayer, OtherPlayer), none of them CustomPlayer")
    assert whys["none"] == whys["engine"] == "has no Python file of its own"
    assert whys["loose.py"] == "is not in its own folder: move it into one named after its author"
    assert not marker.exists()


def test_a_name_is_its_folders_for_good_and_newcomers_have_another(tmp_path: Path) -> None:
    player = HONEST.format(prefers="0")
    known: dict[str, Path | None] = {"e_v": submit(tmp_path, "e:v", player), "Random": None}
    for name in ("e v", "e_v", "Random", "ada"):
        submit(tmp_path, name, player)
    submissions = find_submissions(tmp_path, known).players
    assert {submission.folder: submission.name for submission in submissions} == {
        "Random": "Random-2", "ada": "ada", "e v": "e_v-2", "e:v": "e_v", "e_v": "e_v-3",
    }  # fmt: skip


def test_links_and_what_is_no_file_play_nobody_elses_player(tmp_path: Path) -> None:
    player = HONEST.format(prefers="0")
    ann = submit(tmp_path / "class", "ann", player)
    home = ann.parent.parent
    submit(tmp_path, "elsewhere", player)
    for name in ("dir", "fifo", "out", "gone", "up", "null", "deep"):
        (home / name).mkdir()
    (home / "loop").symlink_to(".")
    (home / "same").symlink_to("ann")
    (home / "nowhere").symlink_to("nothing")
    (home / "dir/game_agent.py").mkdir()
    os.mkfifo(home / "fifo/game_agent.py")
    (home / "out/game_agent.py").symlink_to("../ann/game_agent.py")
    (home / "gone/game_agent.py").symlink_to("nothing.py")
    (home / "up/more").symlink_to("../../elsewhere")
    (home / "null/game_agent.py").write_bytes(b"x = 1\0")
    (home / "deep/game_agent.py").write_text("x = " + "-" * 50_000 + "1")
    submissions = find_submissions(home)
    assert [player.name for player in submissions.players] == ["ann"]
    leads_out = "is reached by a link out of its folder"
    assert {skipped_file.name: skipped_file.why for skipped_file in submissions.skipped} == {
        "loop": "is a link to a file outside the submission",
        "same": "is a link to a file outside the submission",
        "nowhere": "is a broken link",
        "dir": "game_agent.py is a directory",
        "fifo": "game_agent.py is not a regular file",
        "out": f"game_agent.py {leads_out}",
        "gone": "game_agent.py is a broken link",
        "up": f"more/game_agent.py {leads_out}",
        "null": "game_agent.py is not Python: source code string cannot contain null bytes",
        "deep": "game_agent.py is nested too deeply to be read",
    }


def test_a_folder_whose_name_is_not_utf_8_is_left_out_by_name(tmp_path: Path) -> None:
    submit(tmp_path, "ann", HONEST.format(prefers="0"))
    try:
        os.mkdir(os.fsencode(tmp_path) + b"/caf\xe9")
    except OSError:
        pytest.skip("this file system has no such names")
    submissions = find_submissions(tmp_path)
    assert [player.name for player in submissions.players] == ["ann"]
    (skipped,) = submissions.skipped
    assert (skipped.name, skipped.why) == ("caf\\udce9", "its name is not UTF-8: rename it")


def test_planning_a_league_loads_no_file(tmp_path: Path) -> None:
    marker = tmp_path / "executed"
    path = submit(tmp_path, "alice", f"open({str(marker)!r}, 'w')\n" + HONEST.format(prefers="0"))
    agent = parse_agent(f"apart:{path}:CustomPlayer@cpu_ms=50")
    assert agent.settings() == {"kind": "apart", "player": "game_agent.py:CustomPlayer", "limit": {"cpu_ms": 50.0}}
    assert agent.compiled((7, 7)) is None
    assert not marker.exists()


# Who is blamed, and what harm is done


@pytest.mark.slow
@pytest.mark.parametrize("name", BLAMED)
def test_a_hostile_player_loses_by_what_it_did(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    act, reason, detail = BLAMED[name]
    path = submit(tmp_path, name, HOSTILE.format(act=act))
    before = path.read_text()
    game = game_of(path)
    assert (game.winner, game.reason) == (2, reason)
    assert detail in game.detail
    assert path.read_text() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


NATIVE = "ctypes.CFUNCTYPE(*[ctypes.c_int] * 3)(\
(llvm.load_library_permanently('libc.so.6'), llvm.address_of_symbol('{}'))[1])"
"""A function of the system with two numbers, past Python's hooks."""


@pytest.mark.skipif(not landlock_version(), reason="the system has no Landlock")
def test_native_code_of_a_player_changes_no_file_either(tmp_path: Path) -> None:
    native = f"{NATIVE.format('creat').replace('c_int] * 3', 'c_int, ctypes.c_char_p, ctypes.c_int]')}(b'made', 0o600)"
    path = submit(
        tmp_path, "native", HOSTILE.format(act="import llvmlite.binding as llvm; " + f"assert {native} == -1")
    )
    assert game_of(path).reason == "no_moves"
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@pytest.mark.skipif(landlock_version() < 6, reason="the system's Landlock does not hold signals")
def test_native_code_of_a_player_signals_nobody_either(tmp_path: Path) -> None:
    native = NATIVE.format("kill")
    act = f"assert ({native}(os.getppid(), 0), {native}(os.getpid(), 0)) == (-1, 0)"
    game = game_of(submit(tmp_path, "native", HOSTILE.format(act="import llvmlite.binding as llvm; " + act)))
    assert (game.reason, game.detail) == ("no_moves", "")


def test_code_that_is_not_what_it_was_does_not_play(tmp_path: Path) -> None:
    path = submit(tmp_path, "changed", "import helps\n" + HONEST.format(prefers="0"))
    helper = submit(tmp_path, "changed", "", "helps.py")
    agent = parse_agent(f"apart:{path}:CustomPlayer", Limit(cpu_ms=100))
    helper.write_text("# changed\n")
    game = play(agent, parse_agent("random"), (24, 14), hard_cap=2.0)
    assert (game.winner, game.reason) == (2, "error")
    assert game.detail == "cannot be loaded: game_agent.py has changed since the run began"


@pytest.mark.slow
def test_players_that_do_no_harm_play_as_if_they_did_nothing(tmp_path: Path) -> None:
    usual = game_of(submit(tmp_path, "usual", HOSTILE.format(act="pass")))
    assert usual.reason == "no_moves"
    for name, act in HARMLESS.items():
        game = game_of(submit(tmp_path, name, HOSTILE.format(act=act)))
        assert (game.moves, game.reason, game.winner) == (usual.moves, "no_moves", usual.winner), name


@pytest.mark.slow
def test_players_of_all_editions_play_apart_and_against_each_other(tmp_path: Path) -> None:
    first = "class CustomPlayer:\n    def get_move(self, game, legal_moves, time_left): return legal_moves[0]\n"
    third = (
        "from sample_players import DataPlayer\nclass CustomPlayer(DataPlayer):\n"
        "    def get_action(self, state):\n        self.queue.put(min(state.actions()))\n"
    )
    second = HONEST.format(prefers="0")
    agents = [
        parse_agent(f"apart:{submit(tmp_path, name, source)}:CustomPlayer", Limit(cpu_ms=100))
        for name, source in (("first", first), ("second", second), ("third", third))
    ]
    for item, other in ((0, 2), (2, 1)):
        game = play(agents[item], agents[other], (24, 50), "9x11", hard_cap=5.0)
        assert game.reason == "no_moves", game.detail
        assert len(game.moves) > 8


def test_players_of_the_third_edition_are_refused_on_boards_that_they_do_not_know(tmp_path: Path) -> None:
    body = "class CustomPlayer:\n    def get_action(self, state):\n        self.queue.put(state.actions()[0])\n"
    spec = f"apart:{submit(tmp_path, 'ada', body, 'my_custom_player.py')}:CustomPlayer"
    words = ["match", spec, "random", "--board", "10x11", "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(main, words, prog_name="isolation", catch_exceptions=False)
    assert (done.exit_code, done.output.count("\n")) == (2, 1)
    assert "players of the third edition support boards of up to 9x11, not 10x11" in done.output


def test_modules_named_like_ours_are_a_players_own_and_nobody_elses(tmp_path: Path) -> None:
    for name in ("numpy", "random", "isolation", "experiments", "heuristics", "psutil", "pickle"):
        submit(tmp_path, "named", "raise SystemExit('not ours')\n", f"{name}.py")
    path = submit(tmp_path, "named", HONEST.format(prefers="0"))
    assert game_of(path).reason == "no_moves"


@pytest.mark.exhaustive
def test_an_import_that_hangs_is_given_up_and_one_that_fails_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (subprocess_player, entries):
        monkeypatch.setattr(module, "IMPORT_SECONDS", 3.0)
    hanging = submit(tmp_path, "hanging", "import time\ntime.sleep(600)\n" + HONEST.format(prefers="0"))
    failing = submit(tmp_path, "failing", HONEST.format(prefers="0") + "import nowhere\n")
    game = game_of(hanging)
    assert (game.reason, game.detail) == (
        "hang",
        "its process died: it was ended, its process did not start within 3 s",
    )
    game = game_of(failing)
    assert game.reason == "error"
    assert game.detail.startswith("cannot be loaded: game_agent.py failed to import: line 5: ModuleNotFoundError")
    checks = [check_one(Submission(path.parent.name, path, "CustomPlayer", "")) for path in (hanging, failing)]
    assert checks[0].why_not == "importing it takes longer than 3 s"
    assert "game_agent.py failed to import: line 5: ModuleNotFoundError" in checks[1].why_not


def test_a_busy_machine_is_given_time_and_a_sleeper_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def silent(process: Child, seconds: float) -> bytes:
        asked.append(seconds)
        raise NoAnswer(Termination.TIMED_OUT)

    monkeypatch.setattr(SupervisedProgram, "receive", silent)
    process = Child(Setup(b""), program="import time; time.sleep(600)")
    monkeypatch.setattr(process, "_child", psutil.Process())
    try:
        for status, used, waits in (("sleeping", 0.0, 1), ("running", 0.0, MOST_WAITS), ("running", 1.1, 1)):
            monkeypatch.setattr(psutil.Process, "status", lambda first, status=status: status)
            monkeypatch.setattr(process, "used", iter([0.0, *[used] * MOST_WAITS]).__next__)
            asked.clear()
            with pytest.raises(NoAnswer, match="timed out"):
                process.receive(2.0)
            assert asked == [2.0] * waits
    finally:
        process.end()


def test_submissions_may_be_called_as_anybody(tmp_path: Path) -> None:
    names = ("Random", "index", "AB_Null")
    entries = tuple(
        Entry(Submission(name, tmp_path / name / "game_agent.py", "CustomPlayer", "second"), "", Check(""))
        for name in names
    )
    contenders = league_config(LeagueEntries(entries, ()), "classic", USUAL).contenders
    called = [complete(parse_spec(text)).name for text in contenders]
    assert len(set(called)) == len(called) == 10
    assert {"Classic_Random", "Classic_AB_Null", *names} <= set(called)
    pages = [name_of(agent) for agent in called for name_of in (page_of, games_of)]
    assert len({INDEX, *pages}) == 21


# A league


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of five, two of them hostile, whose league has been played into `run`; with what the command said."""
    home = tmp_path_factory.mktemp("league")
    submit(home / "class", "ada", HONEST.format(prefers="len(game.forecast_move(move).get_legal_moves(self))"))
    submit(home / "class", "ben", HONEST.format(prefers="move"))
    submit(home / "class", "dies", HOSTILE.format(act="os._exit(0)"))
    submit(home / "class", "raises", HOSTILE.format(act="self.helper()") + RAISING)
    submit(home / "class", "broken", "import nowhere\n" + HONEST.format(prefers="0"))
    done = league(home / "class", "--pairs", "2", "--limit", "cpu_ms=100", "--jobs", "1", "--out", home / "run")
    assert done.exit_code == 0, done.output
    (home / "said.txt").write_text(done.output)
    return home


def test_a_league_ends_with_a_ranking_forfeits_and_who_is_not_in_it(home: Path) -> None:
    text = (home / "said.txt").read_text()
    ranks = re.findall(r"^ +(\d|–) +(\w+) +([+−]\d+|0|–) +\d", text, re.MULTILINE)
    assert {name for _, name, _ in ranks[:2]} == {"ada", "ben"}
    assert ranks[0][0] == "1"
    assert ranks[2:] == [("–", "dies", "–"), ("–", "raises", "–")]
    assert re.search(r"^Without a rank, having never made a legal move: dies, raises\.", text, re.M)
    assert re.search(r"^raises +error +\d+ +ZeroDivisionError: division by zero \(game_agent.py, line 9\)$", text, re.M)
    assert re.search(r"^broken +game_agent.py failed to import: line 1: ModuleNotFoundError", text, re.MULTILINE)
    assert "24 of 24 games" in text
    forfeits = {row["player"]: row["forfeits"] for row in ranking_section(read_results(home / "run")).rows}
    assert forfeits["ada"] == forfeits["ben"] == 0
    assert min(forfeits["dies"], forfeits["raises"]) >= 8
    assert forfeits["dies"] + forfeits["raises"] == 20


def test_of_few_openings_ratings_have_no_intervals_and_nobody_leads_for_sure(home: Path) -> None:
    results = read_results(home / "run")
    section = ranking_section(results)
    assert "Too few openings for intervals: 2 openings, at least 5 needed." in section.notes
    assert not any("intervals by resampling" in note or "∞" in note for note in section.notes)
    assert re.fullmatch(r"(ada|ben|ada and ben) (is|are) rated highest of 2 players: .+ is chance\.", leading(results))
    assert "; 2 openings are too few to test whether that is chance." in leading(results)
    assert (home / "said.txt").read_text().splitlines()[-1] == leading(results)
    assert 'id="ladder"' not in (home / "run" / "league" / "index.html").read_text()
    enough = replace(results, ratings=replace(results.ratings, openings=5))
    ratings = [row["rating"] for row in ranking_section(enough).rows if row["rank"]]
    assert len(ratings) == 2
    assert all(rating.low <= rating.value for rating in ratings)
    assert "too few" not in leading(enough)


def test_a_player_that_kills_again_and_again_forfeits_the_rest(home: Path) -> None:
    lost = [forfeit for forfeit in read_results(home / "run").forfeits if forfeit.agent == "dies"]
    assert {item.detail for item in lost} == {
        "its process died",
        "its process died in 3 games in a row, so that this one was not played",
    }


def test_the_pages_lead_from_the_class_to_each_player_and_its_games(home: Path) -> None:
    pages = home / "run" / "league"
    index = (pages / "index.html").read_text()
    names = ("ada", "ben", "dies", "raises")
    assert {f"player-{name}.html" for name in names} <= set(re.findall(r'href="([\w.-]+)"', index))
    assert "broken" in index
    page = (pages / "player-raises.html").read_text()
    assert "Traceback (most recent call last):" in page
    assert "line 9, in helper" in page
    assert str(home) not in page
    (first, *_) = re.findall(r'href="games-raises.html#(\d+)"', page)
    games = re.search(r'id="games">(.*?)</script>', (pages / "games-raises.html").read_text(), re.DOTALL)
    assert games is not None
    printed = {game["id"]: game for game in json.loads(games[1])}
    assert len(printed) == 12
    assert "raises raised an error (ZeroDivisionError" in printed[int(first)]["end"]
    for name in names:
        text = (pages / f"player-{name}.html").read_text()
        assert "default-src 'none'" in text
        assert "http" not in re.sub(r"http-equiv|http://www.w3.org/\S+", "", text)


def test_a_player_that_answers_out_of_time_is_told_what_its_answer_means(home: Path) -> None:
    book = read_book(home / "run")
    assert book is not None
    lost = (PlayerForfeits("raises", "illegal_move", "played (-1, -1)", (3,), ""),
            PlayerForfeits("raises", "illegal_move", "played (3, 3)", (4,), ""))  # fmt: skip
    page = player_page("raises", book, replace(read_results(home / "run"), forfeits=lost))
    assert "played (-1, -1), the answer of players that run out of time before choosing a move" in page
    assert "<p>played (3, 3)</p>" in page


def test_worst_mistakes_are_told_where_positions_can_be_solved(home: Path) -> None:
    results = read_results(home / "run")
    worst = results.blunders.iloc[0]
    assert 0 < worst.winning < worst.legal
    moves = results.games.set_index("game_id").moves[worst.game_id].tolist()
    board = Board.from_moves(moves[: worst.ply - 1], "7x7")
    assert (solve(board).winner, solve(board.successor(moves[worst.ply - 1])).winner) in ((1, 2), (2, 1))
    assert "gave the win away" in (home / "run" / "league" / f"player-{worst.player}.html").read_text()


def test_a_league_that_lies_there_says_how_it_goes_on(home: Path) -> None:
    done = league(home / "class", "--out", home / "run")
    assert (done.exit_code, done.output.count("\n")) == (2, 1)
    assert (
        f"resume with isolation league {home / 'class'} --resume {home / 'run'}, or choose another --out" in done.output
    )


@pytest.mark.exhaustive
def test_who_comes_late_is_added_and_nothing_is_played_again(home: Path) -> None:
    submit(home / "class", "late", HONEST.format(prefers="-move[0]"))
    submit(home / "class", "broken", HONEST.format(prefers="move[1]"))
    shutil.copytree(home / "run", home / "early")
    done = league(home / "class", "--resume", home / "early", "--jobs", "1", "--out", home / "all")
    assert done.exit_code == 0, done.output
    assert (newest_of(home / "early"), newest_of(home / "run")) == (home / "all", home / "run")
    book = read_book(home / "all")
    assert book is not None
    assert [entry.player.name for entry in book.entries] == ["ada", "ben", "broken", "dies", "late", "raises"]
    columns = ["agent_1", "agent_2", "opening_id", "seed", "moves", "time_us", "started_at", "detail"]
    before, after = (
        {tuple(map(str, game.values())) for game in log.read_table(home / run, columns).to_pylist()}
        for run in ("run", "all")
    )
    assert (len(before), len(after)) == (24, 60)
    assert before < after


@pytest.mark.exhaustive
def test_an_interrupted_league_is_played_to_its_end(home: Path) -> None:
    run = home / "interrupted"
    shutil.copytree(home / "run", run)
    run_keeping.reopen(run)
    (run / "league.json").unlink()
    assert log_parts.remove_games(log.games_folder(run), "ZeroDivisionError") > 4
    (run / "league" / "index.html").unlink()
    (home / "nobody" / "new").mkdir(parents=True)
    done = league(home / "nobody", "--resume", run, "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert "24 of 24 games" in done.output
    assert (run / "league" / "index.html").exists()


def test_a_league_goes_on_with_nothing_but_what_it_was(home: Path) -> None:
    (home / "nobody" / "new").mkdir(parents=True, exist_ok=True)
    done = league(home / "nobody", "--resume", home / "run", "--out", home / "other")
    assert (done.exit_code, done.output.splitlines()[-1]) == (
        2,
        f"Error: --out: {home / 'run'} has no new submissions, so there is nothing to write to another directory",
    )
    files = [home / "run" / "submitted" / name / "game_agent.py" for name in ("ada", "ben")]
    before = [file.read_text() for file in files]
    for file, text in zip(files, before, strict=True):
        file.write_text(text + "# changed\n")
    done = league(home / "nobody", "--resume", home / "run")
    for file, text in zip(files, before, strict=True):
        file.write_text(text)
    assert done.exit_code == 2
    assert "the code of ada, ben has changed since the run began" in done.output


def test_a_copy_that_is_missing_is_named(home: Path) -> None:
    folder = home / "run" / "submitted" / "ben"
    away = folder.rename(home / "ben")
    done = league(home / "class", "--resume", home / "run")
    away.rename(folder)
    assert done.exit_code == 2
    assert done.output == f"Error: {folder}, the file of ben in {home / 'run'}, is missing: restore it to resume\n"


@pytest.mark.exhaustive
def test_a_newcomer_whose_name_is_taken_plays_under_another(home: Path) -> None:
    submit(home / "few", "d v", HONEST.format(prefers="move[1]"))
    submit(home / "few", "e:v", HONEST.format(prefers="move[0]"))
    options = ("--pairs", "1", "--limit", "cpu_ms=100", "--jobs", "1")
    first = league(home / "few", *options, "--out", home / "two")
    assert "Note: The player of the folder 'e:v' is called e_v.\n" in first.output
    submit(home / "few", "e v", HONEST.format(prefers="-move[1]"))
    done = league(home / "few", "--resume", home / "two", "--jobs", "1")
    assert done.exit_code == 0, done.output
    assert "6 of 6 games" in done.output
    book = read_book(home / "two-2")
    assert book is not None
    assert {entry.player.name: entry.player.folder for entry in book.entries} == {
        "d_v": "d v", "e_v": "e:v", "e_v-2": "e v",
    }  # fmt: skip
    pages = home / "two-2" / "league"
    assert "The player of the folder &#39;e v&#39; is called e_v-2." in (pages / "index.html").read_text()
    assert "<dt>Folder</dt><dd>e v</dd>" in (pages / "player-e_v-2.html").read_text()
    submit(home / "few", "fay", HONEST.format(prefers="-move[1]"))
    done = league(home / "few", "--resume", home / "two", "--jobs", "1")
    assert f"Note: {home / 'two'} continues in {home / 'two-2'}; resuming there\n" in done.output
    assert "6 games come from" in done.output
    assert f"12 of 12 games, logged in {home / 'two-3'}\n" in done.output


@pytest.mark.slow
def test_a_class_of_two_honest_and_eight_hostile_players_is_played_to_its_end(tmp_path: Path) -> None:
    hostile = ("endless", "os_exit", "parent_past_python", "memory", "forks", "closes", "stops_clocks")
    for name in hostile:
        submit(tmp_path / "class", name, HOSTILE.format(act=BLAMED[name][0]))
    submit(tmp_path / "class", "hangs", "while True: pass\n" + HONEST.format(prefers="0"))
    for number in range(2):
        submit(tmp_path / "class", f"honest_{number}", HONEST.format(prefers=f"move[0] * {number}, move"))
    words = ("--pairs", "1", "--limit", "cpu_ms=100", "--out", tmp_path / "run")
    command = [sys.executable, "-m", "knights_isolation.command_line", "league", tmp_path / "class", *words]
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    results = read_results(tmp_path / "run")
    assert len(results.games) == 9 * 8
    assert {forfeit.agent for forfeit in results.forfeits} == set(hostile)
    assert {(name, BLAMED[name][1]) for name in hostile} <= {
        (forfeit.agent, forfeit.reason) for forfeit in results.forfeits
    }
    book = read_book(tmp_path / "run")
    assert book is not None
    assert [(skipped_file.name, skipped_file.why) for skipped_file in book.skipped] == [
        ("hangs", "importing it takes longer than 10 s")
    ]


def test_nobody_rated_as_high_as_the_leader_is_said_to_be_below_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knights_isolation.reports.league.has_intervals", lambda results: True)
    rated = [SimpleNamespace(agent=name, elo=elo, low=elo - 90, high=elo + 90) for name, elo in RATED]
    ratings = SimpleNamespace(ratings=rated, ranks=(1, 1, 3, 4), superiority=[[0.5, 0.5, 0.9, 0.99]])
    sentence = leading(SimpleNamespace(ratings=ratings, findings=SimpleNamespace(is_interim=False)))  # type: ignore[arg-type]
    assert (
        sentence == "ada and ben are rated highest of 4 players: +50 (−40 to +140) Elo, not significantly above cleo."
    )


RATED = (("ada", 50.0), ("ben", 50.0), ("cleo", 10.0), ("dan", -110.0))
