"""What is done when workers die, without a process: who is blamed, and runs in a pool that dies by a script."""

from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scripted_pool import Script, ScriptedPool

from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.plan.tournament_plan import make_plan
from knights_isolation.experiments.play.finished_games import FinishedGames
from knights_isolation.experiments.play.pools.game_worker import PlayedBatch
from knights_isolation.experiments.play.pools.pool import Finished, HerePool, Suspect
from knights_isolation.experiments.play.pools.recovery import FORFEITED, KILLED, _Run, guilty
from knights_isolation.experiments.play.runner import RunOutcome, play_tournament
from knights_isolation.experiments.record import log
from knights_isolation.isolation.games.match import batch_of, rows_of_plies
from knights_isolation.isolation.rules.game import Reason

KEYS: dict[str, Any] = {
    "format": "head-to-head", "contenders": ["greedy"], "baseline": "MM:null@depth=1", "pairs": 20, "jobs": 2,
}  # fmt: skip
DIED = "its process died 3 times in this game"
WHEN = "of the two kills it when it meets Random"
TIMING = ["time_us", "started_at"]

# Blame


@pytest.mark.parametrize("mover", [1, 2])
def test_a_user_s_code_pays_for_a_death_whoever_was_to_move(mover: int) -> None:
    assert [guilty(mover, [user], [])[0] for user in (1, 2)] == [1, 2]


@pytest.mark.parametrize("mover", [1, 2])
def test_of_two_users_the_one_pays_who_also_kills_by_itself(mover: int) -> None:
    for killer in (1, 2):
        player, detail = guilty(mover, [1, 2], [killer])
        assert player == killer
        assert detail.endswith("and also when it met Random, but not when the other did")
    assert guilty(mover, [1, 2], []) == (mover, f"{DIED}, and it was to move; neither {WHEN}")
    assert guilty(mover, [1, 2], [1, 2]) == (mover, f"{DIED}, and it was to move; either {WHEN}")


def test_where_no_code_is_a_user_s_the_mover_pays() -> None:
    assert guilty(2, [], []) == (2, DIED)


def test_three_games_in_a_row_are_given_up_after_and_a_finished_one_starts_anew() -> None:
    players = [[7, 8], [8, 7], [8, 9]]
    schedule = SimpleNamespace(players=lambda ids: np.array(players)[ids])
    feed: Any = SimpleNamespace(schedule=schedule, learn=lambda *_: None)
    plies = rows_of_plies([0, 1], [])
    lost = FinishedGames(np.array([0]), batch_of([(2, Reason.ERROR, KILLED, plies)]), np.zeros(1, np.int64))
    won = replace(lost, games=batch_of([(2, Reason.NO_MOVES, "", plies)]))
    run = _Run(HerePool(), feed, lambda games: None, (), Counter())
    for games in (lost, lost, won, lost, lost):
        run.take(played(games))
    assert run.forfeiting(0) is None
    run.take(played(lost))
    run.take(played(replace(won, ids=np.array([1]))))  # who is given up stays so
    assert [run.forfeiting(game) for game in range(3)] == [1, 2, None]


def played(games: FinishedGames) -> Finished:
    return Finished(1, PlayedBatch(games, np.array([], np.int64), np.array([])))


# Runs


def play(out: Path, script: Script, **keys: Any) -> RunOutcome:
    config = load_config(None, {**KEYS, **keys, "out": str(out)})
    return play_tournament(config, pools=lambda jobs: ScriptedPool(script))


def games(run: Path) -> pd.DataFrame:
    return log.read_games(run).drop(columns=TIMING)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    run = tmp_path_factory.mktemp("runs") / "undisturbed"
    assert play(run, Script()).finished
    return games(run)


def assert_undisturbed(run: Path, undisturbed: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(games(run), undisturbed, check_categorical=False)


def a_few_times(times: int, suspects: Callable[[list[int]], list[Suspect]]) -> Callable[[list[int]], Any]:
    """Deaths with these suspects, so many times, and none after."""
    left = [suspects] * times
    return lambda ids: left.pop()(ids) if left else None


def nobody(ids: list[int]) -> list[Suspect]:
    return []


def test_a_run_is_played_in_whatever_pool_is_given(undisturbed: pd.DataFrame, tmp_path: Path) -> None:
    script = Script()
    assert play(tmp_path / "run", script).logged == len(undisturbed) == 40
    assert (len(script.assigned), script.alone, script.closed) == (1, [], 1)


@pytest.mark.parametrize("broken", range(1, 8))
def test_a_pool_that_breaks_between_any_two_things_that_are_sent_changes_no_game(
    broken: int, undisturbed: pd.DataFrame, tmp_path: Path
) -> None:
    script = Script(broken=broken)
    assert play(tmp_path / "run", script).finished
    assert script.sent > broken
    assert_undisturbed(tmp_path / "run", undisturbed)


def test_a_death_without_suspects_changes_no_game(undisturbed: pd.DataFrame, tmp_path: Path) -> None:
    script = Script(kills=a_few_times(2, nobody))
    assert play(tmp_path / "run", script).finished
    assert script.alone == []
    assert_undisturbed(tmp_path / "run", undisturbed)


def test_deaths_without_suspects_may_go_on_as_long_as_games_are_played_between_them(
    undisturbed: pd.DataFrame, tmp_path: Path
) -> None:
    turns = count(1)
    script = Script(kills=lambda ids: [] if next(turns) % 3 else None)
    assert play(tmp_path / "run", script).finished
    assert next(turns) > 6
    assert_undisturbed(tmp_path / "run", undisturbed)


def test_deaths_without_suspects_are_counted_anew_after_one_with_a_suspect(
    undisturbed: pd.DataFrame, tmp_path: Path
) -> None:
    deaths = [nobody, nobody, first_of(1), nobody, nobody]
    script = Script(kills=lambda ids: deaths.pop()(ids) if deaths else None)
    assert play(tmp_path / "run", script).finished
    assert deaths == []
    assert_undisturbed(tmp_path / "run", undisturbed)


def test_workers_that_never_play_end_the_run_and_what_was_logged_stays(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="worker processes die before playing a game"):
        play(tmp_path / "run", Script(kills=nobody))
    assert log.count_games(tmp_path / "run") == 0


def test_a_game_that_killed_once_is_played_alone_interpreted_and_no_other_is(
    undisturbed: pd.DataFrame, tmp_path: Path
) -> None:
    script = Script(kills=a_few_times(1, lambda ids: [Suspect(ids[1], 1)]))
    assert play(tmp_path / "run", script).finished
    assert script.alone == [(1, True)]
    assert script.closed == 1
    assert_undisturbed(tmp_path / "run", undisturbed)


def test_a_game_that_kills_again_and_again_is_lost_by_its_mover_and_the_innocent_suspect_is_played(
    undisturbed: pd.DataFrame, tmp_path: Path
) -> None:
    def kills_alone(ids: list[int]) -> list[Suspect] | None:
        return [Suspect(6, 1)] if ids == [6] else None

    script = Script(kills=a_few_times(1, lambda ids: [Suspect(1, 2), Suspect(6, 2)]), kills_alone=kills_alone)
    assert play(tmp_path / "run", script).reasons == {"no_moves": 39, "error": 1}
    assert script.alone == [(1, True), (6, True), (6, True)]
    frame = games(tmp_path / "run")
    lost = frame.loc[6]
    assert (lost.winner, lost.reason, lost.detail) == (2, "error", "its process died 3 times in this game")
    pd.testing.assert_frame_equal(frame.drop(6), undisturbed.drop(6), check_categorical=False)


def test_a_death_alone_is_laid_on_the_game_even_if_nobody_is_suspect(tmp_path: Path) -> None:
    script = Script(kills=a_few_times(1, lambda ids: [Suspect(3, 2)]), kills_alone=nobody)
    play(tmp_path / "run", script)
    lost = games(tmp_path / "run").loc[3]
    assert (lost.winner, lost.reason) == (1, "error")


def test_of_those_on_the_move_at_deaths_of_a_game_the_last_known_is_blamed(tmp_path: Path) -> None:
    found = [[], [Suspect(3, 1)]]
    script = Script(kills=a_few_times(1, lambda ids: [Suspect(3, 2)]), kills_alone=lambda ids: found.pop())
    play(tmp_path / "run", script)
    assert (script.alone, found) == ([(3, True)] * 2, [])
    lost = games(tmp_path / "run").loc[3]
    assert (lost.winner, lost.detail) == (2, DIED)


# Preparing and measuring


@pytest.mark.slow
def test_deaths_while_preparing_are_laid_on_the_code_that_kills_alone(tmp_path: Path) -> None:
    source = tmp_path / "my.py"
    source.write_text("def score(game, player):\n    return 1.0\n")
    keys = {"contenders": [f"X=AB:{source}:score@depth=1", "greedy"]}
    plan = make_plan(load_config(None, {**KEYS, **keys}))
    guilty = [entrant.agent.name for entrant in plan.entrants].index("X")
    outcome = play(tmp_path / "run", Script(kills_calls=lambda arguments: arguments == ((guilty,),)), **keys)
    assert outcome.finished
    (note,) = [note for note in outcome.notes if "interpreted" in note]
    assert note.startswith("X runs interpreted")
    assert note.endswith("its process died during compilation and checks")


@pytest.mark.usefixtures("costs_measured")
def test_a_death_while_measuring_at_equal_cost_is_reported_and_writes_nothing(tmp_path: Path) -> None:
    keys = {"contenders": ["ID:open"], "baseline": "ID:improved", "equal_cost": True}
    script = Script(kills_calls=lambda arguments: "ID_Open" in str(arguments))
    with pytest.raises(ValueError, match=r"equal_cost cannot measure .*: the process measuring the agents died"):
        play(tmp_path / "run", script, **keys)
    assert not (tmp_path / "run").exists()


# A pool that outlives runs


def test_a_pool_may_outlive_runs_and_gets_a_new_task_for_each(undisturbed: pd.DataFrame, tmp_path: Path) -> None:
    script = Script()
    pool = ScriptedPool(script)
    for name, keys in (("other", {"contenders": ["random"], "pairs": 3}), ("run", {})):
        config = load_config(None, {**KEYS, **keys, "out": str(tmp_path / name)})
        assert play_tournament(config, pools=lambda jobs: nullcontext(pool)).finished
    assert (len(script.assigned), script.closed) == (2, 0)
    assert_undisturbed(tmp_path / "run", undisturbed)


USER = "class CustomPlayer:\n    def get_move(self, game, time_left):\n        return game.get_legal_moves()[0]\n"


def of_users(folder: Path, *names: str) -> list[str]:
    for name in names:
        (folder / f"{name}.py").write_text(USER)
    return [f"{name}={folder}/{name}.py:CustomPlayer" for name in names]


def first_of(mover: int) -> Callable[[list[int]], list[Suspect]]:
    return lambda ids: [Suspect(ids[0], mover)]


def test_the_user_s_player_loses_a_game_that_kills_in_the_other_s_turn(tmp_path: Path) -> None:
    (user,) = of_users(tmp_path, "User")
    script = Script(kills=a_few_times(1, first_of(2)), kills_alone=a_few_times(2, first_of(2)))
    assert play(tmp_path / "run", script, contenders=[user]).finished
    lost = log.read_games(tmp_path / "run").query("reason == 'error'")
    assert lost["detail"].tolist() == [DIED]
    assert [(row.agent_1, row.agent_2)[2 - row.winner] for row in lost.itertuples()] == ["User"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("killer", [1, 2])
def test_of_two_users_players_each_meets_one_of_ours(killer: int, tmp_path: Path) -> None:
    first, second = of_users(tmp_path, "One", "Other")
    script = Script(
        kills=a_few_times(1, first_of(1)),
        kills_alone=a_few_times(2, first_of(1)),
        kills_calls=lambda arguments: len(arguments) == 2 and arguments[1] == killer,
    )
    assert play(tmp_path / "run", script, contenders=[first], baseline=second).finished
    lost = log.read_games(tmp_path / "run").query("reason == 'error'")
    assert lost["winner"].tolist() == [3 - killer]
    assert "also when it met Random" in lost["detail"].item()


def test_who_kills_in_three_games_in_a_row_forfeits_the_rest_until_that_is_taken_back(tmp_path: Path) -> None:
    (user,) = of_users(tmp_path, "User")
    always = Script(kills=first_of(1), kills_alone=first_of(1))
    assert play(tmp_path / "run", always, contenders=[user]).finished
    details = log.read_games(tmp_path / "run")["detail"].value_counts().to_dict()
    assert details == {DIED: 3, FORFEITED: 37}
    assert len(always.alone) == 3 * 2

    config = load_config(None, {**KEYS, "contenders": [user], "out": str(tmp_path / "run")})

    def resume(retry: bool) -> RunOutcome:
        return play_tournament(config, resume=True, retry_forfeits=retry, pools=lambda jobs: ScriptedPool(Script()))

    assert resume(retry=False).reasons == {"error": 40}
    assert resume(retry=True).finished
    again = log.read_games(tmp_path / "run")
    assert (len(again), DIED in set(again["detail"]), FORFEITED in set(again["detail"])) == (40, False, False)


@pytest.mark.slow
def test_a_player_that_never_answers_loses_by_hang_and_forfeits_the_rest_after_three_games(tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text("def score(game, player):\n    while True:\n        pass\n")
    ended = Script(kills=lambda ids: [Suspect(ids[0], 1)])
    keys = {"contenders": [f"User=AB:{tmp_path}/user.py:score@depth=1"], "pairs": 3, "hard_cap": 0.2}
    assert play(tmp_path / "run", ended, **keys).reasons == {"hang": 3, "error": 3}
    details = log.read_games(tmp_path / "run")["detail"].value_counts().to_dict()
    assert details == {"its process died: it was ended, no answer within 0.2 s": 3, FORFEITED: 3}
    assert [interpreted for _, interpreted in ended.alone] == [True] * 3


@pytest.mark.parametrize(
    ("keys", "message"),
    [({}, "is stopped after 60 s"), ({"hard_cap": 60}, ""), ({"hard_cap": 0}, "--hard-cap SECONDS stops")],
)
def test_where_no_game_ends_for_long_a_hint_names_the_hard_cap(
    keys: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knights_isolation.experiments.play.runner.LONGEST_SILENCE", -1.0)
    asked = {"pairs": 2, "contenders": of_users(tmp_path, "User"), "out": str(tmp_path / "run")}
    config = load_config(None, {**KEYS, **keys, **asked})
    seen: list[str] = []
    play_tournament(
        config, show=lambda progress: seen.extend(progress.notes), pools=lambda jobs: ScriptedPool(Script())
    )
    assert any("no game finished" in note and message in note for note in seen) is bool(message)
