"""Numbers that a rule rests on: each of these tests fails where one of them is another."""

import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from invented_runs import Invented
from scipy.stats import norm, t

from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.plan.run_keeping import finish
from knights_isolation.experiments.plan.tournament_plan import make_plan
from knights_isolation.experiments.play import game_recorder
from knights_isolation.experiments.play.finished_games import forfeited_game
from knights_isolation.experiments.play.game_recorder import GameRecorder
from knights_isolation.experiments.record import log
from knights_isolation.experiments.record.run_directory import games_at_end, missing_sentence
from knights_isolation.experiments.statistics.proportions import elo_from_score, score_from_elo
from knights_isolation.experiments.statistics.ratings import student_tail
from knights_isolation.experiments.statistics.run_results import load_findings
from knights_isolation.experiments.statistics.step_down import holm
from knights_isolation.experiments.studies.samplers import SpsaPlan, moved, plan_of, width
from knights_isolation.isolation.games.batches import BatchMoves
from knights_isolation.reports.text import verdict_details, wording
from knights_isolation.reports.text.cell_values import Chance, Resampled, pluralise
from knights_isolation.reports.text.verdict_details import verdict_of


@pytest.mark.parametrize("openings", [2, 3, 5, 20, 180])
def test_resamples_of_few_openings_leave_out_less_by_students_t_and_by_their_smaller_spread(openings: int) -> None:
    quantile = t.ppf(0.975, openings - 1) * math.sqrt(openings / (openings - 1))
    assert student_tail(openings) == pytest.approx(norm.cdf(-quantile))
    assert student_tail(1) == 0.0


@pytest.mark.parametrize(("first", "second"), [(1, 2), (5, 50), (1, 100)])
def test_steps_of_spsa_shrink_by_its_usual_exponents(first: int, second: int) -> None:
    plan, point = SpsaPlan(rounds=100, directions=1, openings=4, seed=1), np.array([0.5])
    early, late = (float(moved(plan, point, np.ones((1, 1)), np.ones(1), item)[0] - 0.5) for item in (first, second))
    perturbation = (second / first) ** -0.101
    assert width(second) / width(first) == pytest.approx(perturbation)
    gain = ((10 + second) / (10 + first)) ** -0.602
    assert late / early == pytest.approx(perturbation * gain)


def test_a_plan_of_spsa_has_a_hundred_rounds_or_fewer_of_eight_openings() -> None:
    assert (plan_of(100_000, 1).rounds, plan_of(1280, 1).rounds, plan_of(1280, 1).openings) == (100, 10, 8)
    assert plan_of(100_000, 1).games == pytest.approx(100_000, rel=0.01)


@pytest.mark.parametrize(
    ("started", "waited", "is_written"),
    [(1, 0.4, False), (1, 0.6, True), (10, 0.9, False), (10, 1.2, True), (60, 1.9, False), (60, 2.1, True),
     (5000, 9.9, False), (5000, 10.2, True)],
)  # fmt: skip
def test_the_log_is_written_every_half_second_to_two_and_less_often_in_long_runs(
    started: float, waited: float, is_written: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(game_recorder, "time", SimpleNamespace(monotonic=lambda: now[0]))
    keys = {"format": "head-to-head", "contenders": ["greedy"], "baseline": "random", "pairs": 5}
    plan = make_plan(load_config(None, keys))
    log.games_folder(tmp_path).mkdir()
    recorder = GameRecorder(tmp_path, plan)
    now[0] = started - waited
    recorder.write()
    recorder.add(forfeited_game(plan.schedule, 0, 1, "why"))
    now[0] = float(started)
    recorder.write_if_due()
    assert (recorder.logged == 1) == is_written


@pytest.mark.parametrize(
    ("chance", "printed"),
    [
        (0.0, "0"),
        (0.004, "< 1"),
        (0.005, "0"),
        (0.006, "1"),
        (0.994, "99"),
        (0.9949, "99"),
        (0.996, "> 99"),
        (1.0, "100"),
    ],
)
def test_a_chance_is_never_rounded_to_certainty(chance: float, printed: str) -> None:
    assert Chance(chance).text == printed


def test_what_was_counted_in_resamples_is_never_certain() -> None:
    assert [Resampled(value).text for value in (0.0, 0.5, 0.999, 1.0)] == ["< 1", "50", "> 99", "> 99"]


@pytest.mark.parametrize(
    ("forfeits", "effect"),
    [
        (2, ""),
        (3, "They count as losses, which puts A lower in the ranking. "),
        (19, "They count as losses, which puts A lower in the ranking. "),
        (20, "They count as losses: the ranking mostly reflects failures, not strength. "),
    ],
)
def test_forfeits_beyond_5_percent_are_warned_of_by_what_they_do(forfeits: int, effect: str, tmp_path: Path) -> None:
    run = Invented().agent("A", "contender").agent("Base", "baseline")
    for opening in range(20):
        reason = "hang" if opening < forfeits else "no_moves"
        run.game("A", "Base", opening, False, reason=reason).game("Base", "A", opening, True, reason="no_moves")
        run.pairs += 1
    sentences = wording.forfeit_sentences(load_findings([run.write(tmp_path / "run")]))
    assert sentences[0].startswith(f"{forfeits} of 40 games")
    assert sentences[1:] == [f"{effect}Fix these errors and rerun."] * bool(effect)


@pytest.mark.parametrize(("population", "is_enough"), [(149, False), (150, True), (151, True)])
def test_openings_played_and_missing_together_are_compared_with_those_on_the_board(
    population: int, is_enough: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        verdict_details.planning,
        "detectable_effect",
        lambda first, worth: SimpleNamespace(difference=0.1, still_needed=50),
    )
    claims = [SimpleNamespace(is_empty=False, is_census=False, openings=100)]
    text = " ".join(verdict_details.reach_sentences(claims, 0.02, population))  # type: ignore[arg-type]
    assert ("about 50 openings more than the 100 played" in text) == is_enough
    assert (f"more openings than the {population:,} of this kind on the board" in text) != is_enough


def test_one_game_too_few_in_the_log_of_a_finished_run_is_missing(tmp_path: Path) -> None:
    run = Invented().agent("A", "contender").agent("Base", "baseline")
    for opening in range(3):
        run.pair("A", "Base", opening, 1)
    path = run.write(tmp_path / "run")
    for games, sentence in ((6, ""), (5, ""), (7, "1 of the 7 games of ")):
        finish(path, games, 0, reproducible=True)
        assert games_at_end(path) == games
        assert missing_sentence(path).startswith(sentence)
        assert bool(missing_sentence(path)) == bool(sentence)


@pytest.mark.parametrize(
    ("reasons", "first"), [([], None), ([0, 0], None), ([0, 1, 4], 1), ([1, 3, 3], 1), ([3, 1], 0), ([0, 0, 6], 2)]
)
def test_the_first_failure_is_the_first_error_or_else_any(reasons: list[int], first: int | None) -> None:
    columns = np.zeros(len(reasons))
    moves = BatchMoves(columns.astype(np.int16), np.array(reasons, np.int8), "", columns, columns)
    assert moves.first_failure == first


@pytest.mark.parametrize(("score", "elo"), [(0.5, 0.0), (10 / 11, 400.0), (1 / 11, -400.0), (0.75, 190.848501887865)])
def test_elo_is_400_for_ten_to_one(score: float, elo: float) -> None:
    assert elo_from_score(score) == pytest.approx(elo)
    assert score_from_elo(elo) == pytest.approx(score)


def test_holm_multiplies_by_how_many_are_left_and_never_falls() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))
    assert holm([0.5, 0.9]) == pytest.approx((1.0, 1.0))


@pytest.mark.parametrize("estimate", [-0.1, 0.0, 0.1])
def test_a_verdict_needs_significance_and_a_sign(estimate: float) -> None:
    words = {-0.1: "worse", 0.0: "no significant difference", 0.1: "better"}
    assert verdict_of(estimate, True) == words[estimate]
    assert verdict_of(estimate, False) == "no significant difference"


def test_numbers_of_things_have_their_plural_but_one() -> None:
    assert [pluralise(number, "game") for number in (0, 1, 2, 1234)] == ["0 games", "1 game", "2 games", "1,234 games"]
