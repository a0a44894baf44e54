"""The worker by itself, in this process: batches, what runs interpreted, and code that has changed."""

from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.plan.tournament_plan import Plan, make_plan
from knights_isolation.experiments.play.finished_games import FinishedGames, joined
from knights_isolation.experiments.play.pools.game_worker import COMPILED, GAME, MARKER, MOVER, GameWorker, task_of
from knights_isolation.isolation.games.match import GameBatch, play_games
from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.game import Reason
from knights_isolation.isolation.search import SearchResult
from knights_isolation.isolation.search.agents import SearchAgent


def plan_of(*contenders: str) -> Plan:
    keys: dict[str, Any] = {"format": "head-to-head", "contenders": contenders, "baseline": "random", "pairs": 4}
    return make_plan(load_config(None, keys))


def facts(played: FinishedGames) -> dict[int, tuple[int, str, list[int]]]:
    """Winner, reason's detail and moves by id."""
    games = played.games
    return {
        int(id_): (int(games.winner[i]), games.detail[i], games.moves[games.offsets[i] : games.offsets[i + 1]].tolist())
        for i, id_ in enumerate(played.ids)
    }


def test_a_batch_holds_every_game_as_it_is_played_by_itself() -> None:
    plan = plan_of("greedy", "MM:open@depth=2")
    ids = np.array([9, 2, 0, 1, 5])
    played = GameWorker(task_of(plan)).play_batch(ids).played
    assert played.ids.tolist() == ids.tolist()
    for id_, (winner, _, moves) in facts(played).items():
        flags = np.array([id_])
        agents = [plan.entrants[index].agent for index in plan.schedule.players(flags)[0]]
        games = play_games(*agents, plan.schedule.openings(flags), plan.schedule.seeds(flags).tolist())
        assert (winner, moves) == (games.winner[0], games.moves.tolist())


def test_batches_after_the_first_are_played_with_what_is_remembered_and_alike() -> None:
    plan = plan_of("Y=ID:open@nodes=60", "X=ID:improved@nodes=60", "MM:open@depth=2")
    ids = np.arange(24)
    worker = GameWorker(task_of(plan))
    once, twice = (worker.play_batch(ids).played for _ in range(2))
    assert facts(once) == facts(twice)
    assert once.games.time_us.sum() > 0
    searching = np.isfinite(once.games.score)
    assert once.games.time_us[searching].tolist() == twice.games.time_us[searching].tolist()


def test_interpreted_games_are_the_same() -> None:
    worker = GameWorker(task_of(plan_of("MM:open@depth=2")))
    compiled, interpreted = (worker.play_batch(np.arange(6), interpreted=flag).played for flag in (False, True))
    assert facts(compiled) == facts(interpreted)


def test_a_game_s_seconds_are_told_for_each_match_of_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = count()
    monkeypatch.setattr("time.monotonic", lambda: float(next(ticks)))
    batch = GameWorker(task_of(plan_of("greedy", "MM:open@depth=4"))).play_batch(np.array([0, 4, 2]))
    greedy, searching = batch.seconds.tolist()
    assert batch.matches.tolist() == [0, 1]
    assert 2 * greedy + searching == pytest.approx(1.0)
    assert searching > greedy > 0


def test_the_marker_says_after_the_batch_which_game_was_the_last_and_that_no_compiled_code_plays() -> None:
    marker = np.full(MARKER, 9)
    GameWorker(task_of(plan_of("MM:open@depth=1")), marker).play_batch(np.array([4, 2]))
    assert (marker[GAME], marker[COMPILED]) == (2, 0)


def test_the_marker_says_where_the_game_is_while_it_is_on(monkeypatch: pytest.MonkeyPatch) -> None:
    marker, seen, choose = np.zeros(MARKER, np.int64), set(), SearchAgent.choose
    worker = GameWorker(task_of(plan_of("greedy", "X=MM:open@depth=1")), marker)

    def watched(agent: SearchAgent, board: Board, seed: int) -> SearchResult:
        if agent.name == "X":
            seen.add((int(marker[GAME]), int(marker[MOVER])))
        return choose(agent, board, seed)

    monkeypatch.setattr(SearchAgent, "choose", watched)
    ids = np.array([0, 2, 3, 6, 7])  # of X: 2 and 6 as first, 3 and 7 as second mover
    worker.play_batch(ids, interpreted=True)
    assert seen == {(2, 0), (6, 0), (3, 1), (7, 1)}


def test_what_runs_interpreted_is_told_with_its_place_and_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "my.py"
    path.write_text("SEEN = []\n\ndef score(game, player):\n    SEEN.append(1)\n    return float(len(SEEN))\n")
    plan = plan_of("greedy", f"X=AB:{path}:score@depth=1", "AB:open@depth=1")
    names = [entrant.agent.name for entrant in plan.entrants]
    compiled = GameWorker(task_of(plan)).compile_agents(range(len(names)))
    assert [names[index] for index in compiled] == ["X"]
    assert "line 4" in compiled[names.index("X")]


def test_changed_code_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "my.py"
    path.write_text("def score(game, player):\n    return 1.0\n")
    task = task_of(plan_of(f"X=ID:{path}:score@depth=1"))
    path.write_text("def score(game, player):\n    return 2.0\n")
    with pytest.raises(ValueError, match="the code of X has changed since the run began"):
        GameWorker(task)


# Played games


def two_games(first_id: int, detail: list[str]) -> FinishedGames:
    lengths = [first_id % 3 + 1, 2]
    plies = sum(lengths)
    games = GameBatch(
        np.array([1, 2], np.int8), np.array([0, Reason.ERROR], np.int8), detail,
        np.append(0, np.cumsum(lengths)), np.arange(plies, dtype=np.int16) + 10 * first_id, np.full(plies, 0.5),
        *(np.ones(plies, kind) for kind in (np.int16, np.int64, np.int64, np.bool_)),
    )  # fmt: skip
    return FinishedGames(np.array([first_id, first_id + 1]), games, np.array([5, 6]) * first_id)


def test_joined_games_keep_their_plies_and_details() -> None:
    parts = [two_games(1, ["", "one"]), two_games(4, ["four", ""]), two_games(9, ["", ""])]
    whole = joined(parts)
    assert facts(whole) == {id_: fact for part in parts for id_, fact in facts(part).items()}
    assert whole.started_us.tolist() == [5, 6, 20, 24, 45, 54]
    assert whole.games.moves.dtype == np.int16
    assert len(whole.games.score) == whole.games.offsets[-1]
