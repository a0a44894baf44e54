"""Verdicts by games allow for every look at a question, and for all questions of their family."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from invented_runs import Invented

from benchmarks import seasons
from knights_isolation.experiments.plan.run_keeping import write_info
from knights_isolation.experiments.record.run_directory import HOME, TRIES, TRIES_SETTING, load_run
from knights_isolation.experiments.record.tries import read_tries
from knights_isolation.experiments.statistics.alpha_spending import (
    Look,
    evidence_p_value,
    nominal_level,
    pooled,
    repeated_p_value,
)
from knights_isolation.experiments.statistics.contender_verdicts import judge, judge_together
from knights_isolation.experiments.statistics.paired_differences import Comparison, HeadToHead
from knights_isolation.experiments.statistics.run_results import load_findings
from knights_isolation.experiments.studies.noted_tries import note_run
from knights_isolation.reports.pages.report_page import headline
from knights_isolation.reports.studies.headlines import compare_headline
from knights_isolation.reports.tables.compare import compare_sections
from knights_isolation.reports.text.wording import p_words, pooling_sentences


@pytest.fixture(autouse=True)
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(TRIES_SETTING)
    monkeypatch.chdir(tmp_path)


def play(name: str, contender: str, openings: range, lead: float, seed: int = 1) -> Path:
    """A run in which a contender wins a share `lead` of the pairs more often than the baseline; random, if it is 0."""
    generator = np.random.default_rng(seed)
    run = Invented(config={"pairs": len(openings), "board": "7x7", "limit": "nodes=100", "baseline": "ID:improved"})
    run.agent("Base", "baseline").agent(contender, "contender").agent("Other", "opponent")
    for opening in openings:
        run.pair("Base", "Other", opening, int(generator.integers(3)))
        run.pair(contender, "Other", opening, int(generator.integers(3)) if generator.random() >= lead else 2)
    return run.write(HOME / name)


def finish(name: str, contender: str, openings: range, lead: float, seed: int = 1) -> Comparison:
    path = play(name, contender, openings, lead, seed)
    note_run("tournament", path)
    return verdict(path)


def verdict(*runs: Path) -> Comparison:
    (comparison,) = judge(load_findings(runs)).comparisons
    return comparison


def looks_of(comparison: Comparison) -> tuple[int, ...]:
    assert comparison.evidence
    return comparison.evidence.looks


@pytest.mark.parametrize(
    "times",
    [[1], [1, 2, 3, 4], [number / 9 for number in range(1, 10)], [0.5, 1, 1.5, 2, 2.5, 3], [1, 1.1, 1.3], [0.2, 5, 20]],
)
def test_tests_at_several_looks_err_together_as_often_as_one_may(times: list[float]) -> None:
    generator, steps = np.random.default_rng(1), np.diff([0, *times])
    z = np.cumsum(generator.normal(size=(20_000, len(times))) * np.sqrt(steps), axis=1) / np.sqrt(times)
    rejected = np.zeros(20_000, bool)
    for number in range(len(times)):
        level = nominal_level(times[: number + 1], 0.05)
        if level > 1e-12:
            assert repeated_p_value(times[: number + 1], level) == pytest.approx(0.05, rel=0.02)
        rejected |= np.abs(z[:, number]) >= -_quantile(level / 2)
    assert 0.041 < rejected.mean() < 0.051


def _quantile(share: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(share))


def test_a_first_look_at_all_planned_openings_costs_a_tenth_of_the_error() -> None:
    assert repeated_p_value([1.0], 0.045) == pytest.approx(0.05)
    assert repeated_p_value([0.5], 0.045) > 0.3
    assert repeated_p_value([1.0, 1.5], 0.045) > 0.2
    assert repeated_p_value([1.0], 0.0) == 0
    with pytest.raises(ValueError, match="ascend"):
        repeated_p_value([1.0, 1.0], 0.5)


def test_a_verdict_stands_after_a_further_look_that_would_bear_it_alone() -> None:
    clear, still, gone = Look(100, 2.5), Look(200, 2.0), Look(200, 0.5)
    assert evidence_p_value((clear, still), 100) == pytest.approx(max(clear.p_value / 0.9, still.p_value))
    assert evidence_p_value((clear, gone), 100) == gone.p_value
    assert evidence_p_value((clear, Look(200, -2.5)), 100) > 0.05
    assert pooled(Look(100, 1.0), 100, 1.0) == Look(200, pytest.approx(np.sqrt(2)))


def test_new_openings_of_the_same_code_are_pooled_with_its_earlier_ones() -> None:
    """Twenty seeds are twenty looks at one question, and a seed that is luckier than the others is no verdict."""
    first = finish("first", "Same", range(60), 0.0, seed=2)
    lucky = finish("lucky", "Same", range(60, 120), 0.2, seed=14)
    assert (looks_of(first), looks_of(lucky)) == ((60,), (60, 120))
    assert lucky.p_value < 0.04
    assert lucky.verdict == "no significant difference"
    assert lucky.jointly.low <= 0 < lucky.difference.low
    assert [each.looked for each in read_tries()] == [60, 120]


def test_a_verdict_that_rests_on_openings_of_other_runs_is_said_to_wherever_it_is_printed() -> None:
    first, second = range(60), range(60, 100)
    finish("first", "Same", first, 0.2, seed=2)
    assert not pooling_sentences([verdict(HOME / "first")])
    judged = finish("second", "Same", second, 0.2, seed=3)
    assert judged.evidence
    said = (
        f"The verdict on Same pools 100 openings, 60 of them in other runs of this project "
        f"(pooled {p_words(judged.evidence.p_value)}); what is shown is of the 40 here."
    )
    findings = load_findings([HOME / "second"])
    assert said in compare_headline(findings).sections[0].notes
    assert any(said in section.notes for section in compare_sections(findings))
    assert said in headline(findings, judge(findings))
    clear = finish("third", "Same", range(100, 140), 0.9, seed=4)
    assert clear.verdict == "better"
    found = load_findings([HOME / "third"])
    assert headline(found, judge(found))[0].endswith(" ".join(pooling_sentences([clear])))
    assert len(pooling_sentences([clear])) == 1
    together = judge(load_findings([HOME / "first", HOME / "second", HOME / "third"])).comparisons
    assert not pooling_sentences(together)


def test_openings_that_were_seen_before_count_once() -> None:
    finish("first", "Same", range(60), 0.0)
    again = finish("again", "Same", range(60), 0.5, seed=5)
    half = finish("half", "Same", range(30, 90), 0.5, seed=5)
    assert looks_of(again) == (60,)
    assert again.verdict == "no significant difference"
    assert looks_of(half) == (60, 90)


def test_a_later_try_withdraws_a_verdict_that_does_not_stand_among_all() -> None:
    found = finish("found", "Found", range(60), 0.3, seed=14)
    assert found.verdict == "better"
    for number in range(12):
        finish(f"null {number}", f"Null {number}", range(60), 0.0, seed=20 + number)
    now = verdict(HOME / "found")
    assert now.evidence
    assert now.evidence.others == 12
    assert now.adjusted_p == pytest.approx(13 * found.adjusted_p)
    assert now.adjusted_p > 0.05
    assert now.verdict == "no significant difference"
    assert now.jointly.low <= 0


def test_an_extended_run_has_been_looked_at_before_even_if_nothing_was_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TRIES_SETTING, "off")
    alone, extended = (play(name, "Same", range(90), 0.2, seed=2) for name in ("alone", "extended"))
    write_info(replace(load_run(extended), looks=[60]))
    findings = load_findings([extended])
    assert findings.is_interim
    assert not load_findings([alone]).is_interim
    once, twice = verdict(alone), verdict(extended)
    assert once.verdict == "better"
    assert looks_of(twice) == (60, 90)
    assert twice.verdict == "no significant difference"


def test_runs_of_one_report_are_one_family() -> None:
    paths = [play("nodes", "Same", range(60), 0.25, seed=3), play("more", "Other code", range(60), 0.0, seed=4)]
    (alone,) = judge(load_findings(paths[:1])).comparisons
    first, second = (verdicts.comparisons[0] for verdicts in judge_together([load_findings([path]) for path in paths]))
    assert first.family == second.family == 2
    assert first.adjusted_p == pytest.approx(min(2 * alone.adjusted_p, 1))
    assert first.jointly.low < alone.jointly.low


@pytest.mark.parametrize("lead", [0.0, 0.15, 0.6])
def test_a_first_look_is_judged_as_one_of_which_the_log_of_tries_knows_nothing(lead: float) -> None:
    generator = np.random.default_rng(5)
    run = Invented(config={"pairs": 80, "board": "7x7", "limit": "nodes=100", "baseline": "ID:improved"})
    run.agent("Base", "baseline").agent("Control", "control").agent("Other", "opponent").agent("More", "opponent")
    contenders = ("Better", "Same", "Third")
    for name in contenders:
        run.agent(name, "contender")
    for opening in range(80):
        for name in ("Base", "Control", *contenders):
            ahead = lead if name == "Better" else 0.0
            for opponent in ("Other", "More"):
                run.pair(name, opponent, opening, 2 if generator.random() < ahead else int(generator.integers(3)))
        for name in contenders:
            run.pair(name, "Base", opening, int(generator.integers(3)))
    findings = load_findings([run.write(HOME / "several")])
    alone = judge(findings).results
    (HOME / TRIES).touch()
    assert judge(findings).results == alone
    assert {type(result) for result in alone} == {Comparison, HeadToHead}
    assert any(result.evidence for result in alone)


@pytest.mark.exhaustive
def test_seasons_without_any_difference_hardly_ever_end_with_a_verdict() -> None:
    """Of 100 seasons 5 may; by the p-value of each run alone, which was the procedure before, nearly all do."""
    generator = np.random.default_rng(1)
    by_account, alone = np.mean([seasons.false_verdicts(generator, seasons.WAYS) for _ in range(100)], axis=0)
    assert by_account <= 0.11
    assert alone > 0.9


@pytest.mark.slow
@pytest.mark.parametrize(("earlier", "size", "most"), [(0, 1.0, 1.0), (5, 1.0, 1.0), (5, 1.4, 1.4)])
def test_a_contender_three_points_better_is_found_with_few_openings_more(
    earlier: int, size: float, most: float
) -> None:
    """Planned as a single test is, and extended; or planned larger, with nine looks within the plan."""
    generator, planned = np.random.default_rng(2), int(size * seasons.FIXED)
    steps = [planned + planned * number // 4 for number in range(seasons.LOOKS)]
    if size > 1:
        steps = seasons.steps_of("within the plan", planned)
    prices = [seasons.price(generator, earlier, planned, steps) for _ in range(150)]
    assert np.median(prices) <= most
