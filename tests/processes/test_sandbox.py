"""Nobody harms another's game: user code plays in processes of its own, and what runs here is checked."""

import builtins
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from sampling import sampled

from knights_isolation.experiments.plan import parse_agent
from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.plan.tournament_plan import make_plan
from knights_isolation.experiments.play.pools.game_worker import GameWorker, task_of
from knights_isolation.isolation import Board, play
from knights_isolation.isolation.games.match import GameBatch, play_many
from knights_isolation.isolation.loading.integrity import ChangedError, unchanged
from knights_isolation.isolation.loading.load_user_code import LoadError, load_heuristic
from knights_isolation.isolation.processes.child import Child, Failure, Setup, decode_answer, encode
from knights_isolation.isolation.processes.subprocess_player import SLACK_MS, FileAgent, Spent, judge
from knights_isolation.isolation.rules.game import Limit, Reason, Size
from knights_isolation.isolation.search import SearchResult
from knights_isolation.isolation.search.agents import Agent, ForfeitError
from knights_isolation.isolation.search.classic_agent import Given

HONEST = """
class Honest:
    def get_move(self, game, time_left):
        moves = game.get_legal_moves()
        return max(moves, key=lambda move: len(game.forecast_move(move).get_legal_moves(self)), default=(-1, -1))

def words(game, player):
    return float(len(str(game.get_legal_moves(player))))
"""
HOSTILE = """
import builtins, ctypes, isolation, numpy, os, random, signal, sys, time
{at_import}
class Hostile:
    def get_move(self, game, time_left):
        moves = game.get_legal_moves()
        {in_move}
        return min(moves, default=(-1, -1))
"""
PATCHED_BOARD = "isolation.Board.get_legal_moves = lambda board, player=None: []"
AT_IMPORT = {
    "the board": PATCHED_BOARD,
    "NumPy and random": "numpy.random.seed = random.seed = random.random = lambda *a: 0.5",
    "builtins": "builtins.max = builtins.min = lambda *a, **k: (9, 9)",
    "no stack": "sys.setrecursionlimit(60)",
}
UNLOADABLE = ("builtins",)
"""What a file does to itself that its own process cannot make anything of."""
IN_MOVE = {
    "stops its parent": ("os.kill(os.getppid(), signal.SIGSTOP)", "error", "may not signal other processes"),
    "stops its worker": ("os.kill({worker}, signal.SIGSTOP)", "error", "may not signal other processes"),
    "interrupts its group": ("os.killpg(os.getpgrp(), signal.SIGINT)", "error", "may not signal other processes"),
    "interrupts ours": ("os.killpg({group}, signal.SIGINT)", "error", "may not signal other processes"),
    "stops its keeper past Python": ("ctypes.CDLL(None).kill(os.getppid(), 19)", "no_moves", ""),
    "leaves": ("os._exit(0)", "error", "its process died"),
    "bombs": ("while True: os.fork() or time.sleep(60)", "error", "may not start more than 100 processes"),
    "patches": (PATCHED_BOARD, "illegal_move", "played (-1, -1)"),
    "deletes builtins": ("vars(builtins).clear()", "error", ""),
    "plays off the board": ("return (99, 99)", "illegal_move", "played (99, 99)"),
    "plays nothing": ("return None", "illegal_move", "played None"),
}


def file_agents(folder: Path, source: str, *names: str) -> list[Agent]:
    """The agents of a file: `Honest` is a player, `words` a heuristic."""
    path = folder / f"{names[0].lower()}.py"
    path.write_text(source)
    return [
        parse_agent(f"{name}={path}:{name}@ms=9999" if name[0].isupper() else f"{name}=AB:{path}:{name}@depth=1")
        for name in names
    ]


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Agent]]:
    agents = file_agents(tmp_path_factory.mktemp("honest"), HONEST, "Honest", "words")
    assert agents[1].compiled((5, 5)) is None
    return [*agents, parse_agent("greedy")]


def games_of(agents: list[Agent], hard_cap: float | None) -> tuple[list[tuple[int, int]], GameBatch]:
    """The pairings of a round-robin, and a game of each; those of the last agent stand before all others."""
    pairings = sorted(((i, j) for i in range(len(agents)) for j in range(i)), reverse=True)
    seeds = [100 * i + j for i, j in pairings]
    return pairings, play_many(agents, np.array(pairings), [(7, 17)] * len(pairings), seeds, Size(5, 5), hard_cap)


def essence(games: GameBatch, row: int) -> tuple[object, ...]:
    moves = games.moves[games.offsets[row] : games.offsets[row + 1]].tolist()
    return int(games.winner[row]), int(games.reason[row]), games.detail[row], moves


@pytest.fixture(scope="module")
def usual(honest: list[Agent]) -> dict[tuple[int, int], tuple[object, ...]]:
    """The games of the honest by themselves."""
    pairings, games = games_of(honest, None)
    result = {pair: essence(games, row) for row, pair in enumerate(pairings)}
    assert all(reason == Reason.NO_MOVES for _, reason, _, _ in result.values())
    return result


@pytest.mark.slow
@pytest.mark.parametrize("hard_cap", [None, pytest.param(20.0, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("what", AT_IMPORT)
def test_honest_interpreted_players_play_the_same_games_beside_a_file_that_patches_at_import(
    what: str, hard_cap: float | None, honest: list[Agent], usual: dict[tuple[int, int], object], tmp_path: Path
) -> None:
    if hard_cap and what != "the board":
        pytest.skip("a cap asks for the same processes")
    source = HOSTILE.format(at_import=AT_IMPORT[what], in_move="")
    hostile: list[Agent] = []
    if what in UNLOADABLE:
        with pytest.raises(ValueError, match=r"hostile\.py"):
            file_agents(tmp_path, source, "Hostile")
    else:
        hostile = file_agents(tmp_path, source, "Hostile")
    pairings, games = games_of([*honest, *hostile], hard_cap)
    result = {pair: essence(games, row) for row, pair in enumerate(pairings)}
    assert {pair: result[pair] for pair in usual} == usual


@pytest.mark.parametrize("what", sampled([(what,) for what in IN_MOVE], slow=1, fast=3))
def test_who_does_harm_in_a_move_harms_itself_alone_and_the_reason_agrees_with_the_detail(
    what: str, honest: list[Agent], usual: dict[tuple[int, int], object], tmp_path: Path
) -> None:
    act, reason, detail = IN_MOVE[what]
    act = act.format(worker=os.getpid(), group=os.getpgrp())
    (hostile,) = file_agents(tmp_path, HOSTILE.format(at_import="", in_move=act), "Hostile")
    pairings, games = games_of([honest[0], hostile, honest[2]], None)
    for row, (first, second) in enumerate(pairings):
        winner, number, message, _ = essence(games, row)
        if 1 in (first, second) and reason != "no_moves":
            # Whoever names no move where every move loses has resigned.
            reasons = {reason, "resigned"} if what in ("patches", "plays nothing") else {reason}
            assert winner == (1 if second == 1 else 2)
            assert Reason(number).word in reasons  # type: ignore[arg-type]
            assert detail in str(message)
        else:
            assert Reason(number) is Reason.NO_MOVES  # type: ignore[arg-type]
    assert essence(games, pairings.index((2, 0))) == essence_of(usual, honest)
    assert psutil.STATUS_STOPPED not in [child.status() for child in psutil.Process().children()]


def essence_of(usual: dict[tuple[int, int], object], honest: list[Agent]) -> object:
    """The usual game of the first and the last of the honest."""
    return usual[len(honest) - 1, 0]


def test_a_group_whose_leader_has_gone_is_not_signalled(tmp_path: Path) -> None:
    asked = ["sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $$ $!"]
    done = subprocess.run(asked, stdout=subprocess.PIPE, text=True, start_new_session=True, check=True)
    group, member = map(int, done.stdout.split())
    try:
        source = HOSTILE.format(at_import="", in_move=f"os.killpg({group}, signal.SIGTERM)")
        (hostile,) = file_agents(tmp_path, source, "Hostile")
        record = play(hostile, parse_agent("greedy"), (7, 17), "5x5")
        assert (record.reason, record.winner) == ("error", 2)
        assert "may not signal other processes" in record.detail
        assert psutil.Process(member).status() != psutil.STATUS_ZOMBIE
    finally:
        os.kill(member, signal.SIGKILL)


def test_a_player_that_patches_the_board_for_itself_may(tmp_path: Path) -> None:
    source = HONEST + "import isolation\nisolation.Board.mine = lambda board: board.get_legal_moves()\n"
    (agent,) = file_agents(tmp_path, source.replace("game.get_legal_moves()", "game.mine()"), "Honest")
    assert play(agent, parse_agent("greedy"), (7, 17), "5x5").reason == "no_moves"
    assert not hasattr(Board, "mine")


def test_to_name_a_player_does_not_load_its_file_here_and_a_loud_one_is_told_of(tmp_path: Path) -> None:
    import json

    json.__dict__.pop("loaded", None)
    with pytest.warns(UserWarning, match="printed a line, hidden here; the first is 'hello'"):
        file_agents(tmp_path, f"import json\njson.loaded = True\nprint('hello')\n{HONEST}", "Honest")
    assert not hasattr(json, "loaded")


# What runs here: files of heuristics


@pytest.mark.parametrize(
    ("act", "changed"),
    [
        (PATCHED_BOARD, "isolation.rules.classic_board.Board.get_legal_moves"),
        (
            "isolation.Board.copy.__code__ = (lambda board: board).__code__",
            "isolation.rules.board.Board.copy",
        ),
        (
            "isolation.Board.__setattr__ = lambda *a: None",
            "isolation.rules.classic_board.Board.__setattr__",
        ),
        ("del isolation.Board.__mro__[1].undo", "isolation.rules.board.Board.undo"),
        (
            "from isolation.search import agents\nagents.LATE_MS = -1e9",
            "isolation.search.agents.LATE_MS",
        ),
        (
            "import isolation.games.match\nisolation.games.match.len = lambda x: 0",
            "isolation.games.match.len",
        ),
        ("import builtins\nbuiltins.sorted = None", "builtins.sorted"),
        ("import numpy\nnumpy.sum = None", "numpy.sum"),
        ("import random\nrandom.random = lambda: 0.0", "random.random"),
        ("import time\ntime.perf_counter = lambda: 0.0", "time.perf_counter"),
        ("import sys\nsys.setrecursionlimit(300)", "the recursion limit"),
    ],
)
def test_a_heuristics_file_that_changes_others_is_blamed_by_name_and_nothing_stays_changed(
    act: str, changed: str, tmp_path: Path
) -> None:
    path = tmp_path / "patches.py"
    path.write_text(f"import isolation\n{act}\ndef score(game, player):\n    return 1.0\n")
    recursion = sys.getrecursionlimit()
    with pytest.raises(
        LoadError, match=rf"patches\.py failed to import: it changes {changed}, which does not belong to"
    ):
        load_heuristic(path, "score")
    with unchanged():
        board = Board.from_moves([24, 14])
        assert len(board.get_legal_moves()) == 8
        assert board.copy() is not board
        assert board.undo() == 14
    assert (sorted([2, 1]), int(np.sum([2, 1])), sys.getrecursionlimit()) == ([1, 2], 3, recursion)


def test_what_files_add_for_themselves_is_theirs(tmp_path: Path) -> None:
    path = tmp_path / "adds.py"
    path.write_text(
        "import builtins, sys, numpy\nnumpy.float = float\nbuiltins.profile = lambda f: f\n"
        "sys.setrecursionlimit(sys.getrecursionlimit() + 10)\ndef score(game, player):\n    return 1.0\n"
    )
    recursion = sys.getrecursionlimit()
    try:
        assert load_heuristic(path, "score").value(None, None) == 1.0
    finally:
        sys.setrecursionlimit(recursion)
        del np.float, builtins.profile  # type: ignore[attr-defined]


def test_several_changes_are_counted_and_an_exception_passes_after_all_is_put_back() -> None:
    before = np.mean
    with pytest.raises(ChangedError, match=r"it changes numpy\.\w+ and 1 more"), unchanged():
        np.mean = np.std = None  # type: ignore[assignment]
    with pytest.raises(KeyError), unchanged():
        del vars(np)["mean"], vars(np)["nothing"]
    assert np.mean is before


def test_a_recursion_limit_that_leaves_others_room_is_anybodys_to_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    before = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(3000)
        with unchanged():
            sys.setrecursionlimit(2000)
    finally:
        sys.setrecursionlimit(before)


def test_what_is_changed_while_games_are_played_is_blamed_on_the_file_that_is_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "late.py").write_text("def score(game, player):\n    return 1.0\n")
    keys = {"format": "head-to-head", "contenders": [f"Late=AB:{tmp_path}/late.py:score@depth=1"], "pairs": 1}
    worker = GameWorker(task_of(make_plan(load_config(None, {**keys, "baseline": "greedy"}))))

    def play_and_patch(*arguments: object, **named: object) -> GameBatch:
        monkeypatch.setattr(Board, "play", None)  # as a thread would that the file has started
        return play_many(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr("knights_isolation.experiments.play.pools.game_worker.play_many", play_and_patch)
    with pytest.raises(
        ValueError,
        match=r"^Late: its file may not play here: it changes isolation\.rules\.classic_board\.Board\.play",
    ):
        worker.play_batch(np.array([0]))
    assert callable(Board.play)


@pytest.mark.skipif(sys.platform != "linux", reason="looks at another process as Linux does")
def test_processor_time_is_read_to_the_nanosecond_from_outside() -> None:
    process = Child(Setup(b""), program="x = sum(range(10**5))\nprint(flush=True)\nwhile True: pass")
    try:
        process.receive(30)
        first = process.used()
        while (second := process.used()) == first:
            pass
        assert 0 < first < second < first + 0.5
    finally:
        process.end()


# The parent judges


MS, CPU = Limit(ms=100), Limit(cpu_ms=100)


def given(seconds: float, cell: int | None = 3) -> Given:
    return Given(cell, "" if cell else "(9, 9)", seconds, seconds)


def under(limit: Limit, edition: str = "second") -> FileAgent:
    return FileAgent("It", "/it.py", "It", "", limit, edition)


def spent(wall: float, processor: float, *, is_first: bool = False) -> Spent:
    return Spent(wall, processor, is_first)


@pytest.mark.parametrize(
    ("limit", "answer", "took", "detail"),
    [
        (MS, given(0.15), spent(0.2, 0.2), "took 150.0 ms of 100 ms, 50.0 ms too long"),
        (MS, given(9.0), spent(0.12, 0.12), "took 120.0 ms of 100 ms"),  # no later than by our clock
        (CPU, given(9.0), spent(9.0, 0.12), "took 120.0 ms of 100 ms"),
        (MS, given(0.0), spent(0.2, 0.2), "used 200 ms of processor time of 100 ms, seen from outside"),
        (MS, given(-9.0), spent(0.2, 0.2), "used 200 ms of processor time"),
        (CPU, given(0.15), spent(9.0, 0.2), "took 150.0 ms of 100 ms"),
        (CPU, given(0.0), spent(9.0, 0.2), "used 200 ms of processor time"),
        (MS, Given(None, "", 0.1, 0.1, True), spent(0.1, 0.1), "put no action on its queue within 100 ms"),
        (MS, given(0.15, None), spent(0.2, 0.2), "took 150.0 ms"),  # late first, then illegal
    ],
)
def test_who_is_late_by_our_clocks_loses_by_timeout(limit: Limit, answer: Given, took: Spent, detail: str) -> None:
    with pytest.raises(ForfeitError, match=detail) as loss:
        judge(under(limit), answer, took, is_timed=True)
    assert loss.value.reason is Reason.TIMEOUT


@pytest.mark.parametrize(
    ("limit", "took"),
    [
        (MS, spent(9.0, 0.1)),  # the way there and back on a busy machine, or a machine asleep
        (MS, spent(0.1 + SLACK_MS / 2e3, 0.1 + SLACK_MS / 2e3)),
        (MS, spent(0.09, 0.3)),  # in several threads
        (CPU, spent(9.0, 0.1 + SLACK_MS / 2e3)),
        (MS, spent(9.0, 9.0, is_first=True)),  # with which the player object is made
    ],
)
def test_what_a_player_did_not_compute_is_not_charged(limit: Limit, took: Spent) -> None:
    result = judge(under(limit), given(0.09), took, is_timed=True)
    assert (result.move, result.seconds) == (3, 0.09)
    assert judge(under(limit, "third"), given(5.0), spent(9.0, 9.0), is_timed=True).seconds == 5.0
    assert judge(under(limit), given(5.0), spent(9.0, 9.0), is_timed=False).seconds == 5.0


def test_what_is_no_move_is_illegal_and_what_is_no_answer_is_nothing() -> None:
    with pytest.raises(ForfeitError, match=r"\(9, 9\)") as loss:
        judge(under(MS), given(0.01, None), spent(0.02, 0.02), is_timed=True)
    assert loss.value.reason is Reason.ILLEGAL_MOVE
    a_result = SearchResult(3, 0.0, 1, 1, 0.1, (3,), False)
    for answer in (None, a_result):
        with pytest.raises(TypeError):
            judge(under(MS), answer, spent(0.1, 0.1), is_timed=True)


PARTS = {
    Given(3, "", 0.1, 0.1): {
        "cell": (True, -1, 1 << 15, 10**30, 1.0, "a"),
        "text": (None, b""),
        "seconds": (None, "1", float("nan"), -float("inf")),
        "computed": (True, float("inf")),
        "is_missing": (0, None),
        "gives_up": (1, ""),
    },
    SearchResult(3, 0.0, 1, 1, 0.1, (3,), False): {
        "move": (True, None, -1, 1 << 15, 1.0),
        "score": (None, 0, "0"),
        "depth": (True, -1, 1 << 15),
        "nodes": (1.0, -1, 1 << 62),
        "seconds": (None, True, float("nan"), 1e9, 10**400),
        "pv": (None, 3, "3", {3: 3}, (None,), (3.0,)),
        "exact": (0, None),
    },
    Failure("it", ""): {"detail": (None, 1, b""), "traceback": (None, ["line"])},
}
FORGED = [
    (answer, name, value) for answer, parts in PARTS.items() for name, values in parts.items() for value in values
]


@pytest.mark.parametrize(("answer", "name", "value"), FORGED)
def test_an_answer_has_parts_of_the_right_types(answer: Given | SearchResult | Failure, name: str, value: Any) -> None:
    assert decode_answer(encode(answer)) == answer
    with pytest.raises(TypeError):
        decode_answer(encode(replace(answer, **{name: value})))
