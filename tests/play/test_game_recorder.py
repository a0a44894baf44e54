"""What is known of a run's games while it runs: the same whether it was just played or is found in the log."""

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.plan.tournament_plan import Plan, make_plan
from knights_isolation.experiments.play.finished_games import FinishedGames, forfeited_game, joined
from knights_isolation.experiments.play.game_recorder import GameRecorder, UnwritableLogError
from knights_isolation.experiments.play.pools.game_worker import GameWorker, task_of
from knights_isolation.experiments.record import log, log_parts
from knights_isolation.isolation.rules.game import Reason


@pytest.fixture(scope="module")
def plan() -> Plan:
    keys = {"format": "head-to-head", "contenders": ["greedy"], "baseline": "random", "pairs": 5}
    return make_plan(load_config(None, keys))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    log.games_folder(tmp_path).mkdir()
    return tmp_path


def played(plan: Plan, *ids: int) -> FinishedGames:
    return GameWorker(task_of(plan)).play_batch(np.array(ids)).played


def test_games_count_once_they_are_in_the_log(plan: Plan, run: Path) -> None:
    recorder = GameRecorder(run, plan)
    recorder.add(played(plan, 0, 1))
    recorder.add(played(plan, 5))
    assert np.count_nonzero(recorder.points >= 0) == 3
    assert recorder.logged == log.count_games(run) == 0
    recorder.write()
    recorder.write()
    assert recorder.logged == log.count_games(run) == 3


def test_a_recorder_that_is_opened_again_knows_what_the_first_knew(plan: Plan, run: Path) -> None:
    first = GameRecorder(run, plan)
    for part in (played(plan, 0, 1, 4), forfeited_game(plan.schedule, 3, 2, "why")):
        first.add(part)
        first.write()
    second = GameRecorder(run, plan)
    assert second.points.tolist() == first.points.tolist()
    assert (second.logged, second.reasons, second.forfeits) == (first.logged, first.reasons, first.forfeits)
    assert second.reasons == {"no_moves": 3, "error": 1}


def test_a_forfeit_is_laid_on_the_loser_on_either_side(plan: Plan, run: Path) -> None:
    recorder = GameRecorder(run, plan)
    greedy, random = (plan.schedule.agents.index(name) for name in ("Greedy", "Random"))
    for game_id, mover, detail in ((0, 1, "a"), (1, 2, "b"), (2, 2, "c")):  # in game 1 Greedy moves second
        recorder.add(forfeited_game(plan.schedule, game_id, mover, detail))
    recorder.write()
    assert recorder.forfeits == {(greedy, "error"): {"a": 1, "b": 1}, (random, "error"): {"c": 1}}
    first, second = recorder.forfeit_notes()
    assert first.startswith("Greedy lost 2 of 3 games by error, such as a (")
    assert second.startswith("Random lost 1 of 3 games by error: c (")


def test_of_a_long_dialogue_with_an_engine_a_note_keeps_the_end(plan: Plan, run: Path) -> None:
    recorder = GameRecorder(run, plan)
    text = " | ".join(["> ugi", "…", *(f"< option name O{number} type spin" for number in range(6)), "> go", "< what?"])
    recorder.add(forfeited_game(plan.schedule, 0, 1, f"has no option Stile; at last: {text}"))
    recorder.write()
    (note,) = recorder.forfeit_notes()
    assert "by error: has no option Stile; at last: … | < option name O4" in note
    assert " | > go | < what? (" in note


def test_games_ended_by_a_clock_are_counted(plan: Plan, run: Path) -> None:
    recorder = GameRecorder(run, plan)
    games = joined([forfeited_game(plan.schedule, game_id, 1, "") for game_id in range(5)])
    games.games.reason[:] = [Reason.TIMEOUT, Reason.HANG, Reason.ERROR, Reason.ILLEGAL_MOVE, Reason.HANG]
    recorder.add(games)
    recorder.write()
    assert recorder.ended_by_clock == 3


def test_games_that_come_back_a_second_time_are_discarded(plan: Plan, run: Path) -> None:
    recorder = GameRecorder(run, plan)
    recorder.add(played(plan, 0, 1))
    with pytest.raises(ChildProcessError, match="discarded; resume with isolation tournament --resume"):
        recorder.add(played(plan, 1, 2))
    recorder.write()
    assert log.read_games(run, ["game_id"])["game_id"].tolist() == [0, 1]
    assert np.count_nonzero(recorder.points >= 0) == 2


def with_copies(plan: Plan, run: Path, **changes: np.ndarray) -> list[Path]:
    """A log of four games in two parts, and a third part with copies of one game of each, these columns changed."""
    for ids in ((0, 1), (2, 3)):
        recorder = GameRecorder(run, plan)
        recorder.add(played(plan, *ids))
        recorder.write()
    copies = log.read_table(run, log.SCHEMA.names).filter(np.array([False, True, True, False]))
    for name, values in changes.items():
        copies = copies.set_column(
            log.SCHEMA.get_field_index(name), log.SCHEMA.field(name), [pa.array(values, log.SCHEMA.field(name).type)]
        )
    log_parts.append(log.games_folder(run), copies)
    return log.live_files(log.games_folder(run))


def test_duplicates_that_differ_in_their_times_alone_are_removed(plan: Plan, run: Path) -> None:
    before = with_copies(plan, run, started_at=np.zeros(2, "datetime64[us]"))
    kept = [path.read_bytes() for path in before[:2]]
    recorder = GameRecorder(run, plan)
    assert (recorder.logged, recorder.duplicates) == (4, 2)
    assert log.read_games(run, ["game_id"])["game_id"].tolist() == [0, 1, 2, 3]
    assert [path.read_bytes() for path in before[:2]] == kept
    assert GameRecorder(run, plan).duplicates == 0


def test_duplicates_that_differ_otherwise_are_refused_and_stay(plan: Plan, run: Path) -> None:
    before = with_copies(plan, run, plies=np.zeros(2, np.int16))
    text = f"{before[2]}: game 1 differs from the same game in {before[0]}; delete one"
    with pytest.raises(ValueError, match=re.escape(text)):
        GameRecorder(run, plan)
    assert log.count_games(run) == 6


def test_only_what_goes_wrong_with_the_log_is_called_that(
    plan: Plan, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    recorder = GameRecorder(run, plan)
    recorder.add(played(plan, 0))
    monkeypatch.setattr(log_parts, "append", full)
    with pytest.raises(UnwritableLogError, match="No space left"):
        recorder.write()
