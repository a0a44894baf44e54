"""A best-of: contenders drop out of a running tournament, whenever one looks, and its log says who is left."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scripted_pool import here

from knights_isolation.experiments.plan import run_keeping
from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.plan.schedule import pair_points
from knights_isolation.experiments.plan.tournament_plan import make_plan
from knights_isolation.experiments.play.interim_results import stop_rule
from knights_isolation.experiments.play.run_extension import extended_config
from knights_isolation.experiments.play.runner import RunOutcome, play_tournament
from knights_isolation.experiments.record import log, log_parts, run_directory
from knights_isolation.experiments.statistics.anytime import read_contest
from knights_isolation.experiments.statistics.run_results import load_findings
from knights_isolation.reports.pages.report_page import report_page
from knights_isolation.reports.studies.headlines import compare_headline
from knights_isolation.reports.tables.compare import compare_sections
from knights_isolation.reports.tables.sequential import identical_sentences
from knights_isolation.reports.tables.summary import summarize
from knights_isolation.reports.text.rendering import render_sections

KEYS: dict[str, Any] = {
    "format": "best-of", "board": "5x5", "limit": "nodes=200", "pairs": 150, "jobs": 1,
    "contenders": ["ID:open@depth=1", "random", "ID:territory", "ID:improved"],
    "opponents": ["greedy", "AB:open@depth=2"],
}  # fmt: skip


def play(out: Path, **keys: Any) -> RunOutcome:
    return play_tournament(load_config(None, {**KEYS, **keys, "out": str(out)}), pools=here)


def games(run: Path) -> pd.DataFrame:
    return log.read_games(run).drop(columns=["time_us", "started_at"])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("best-of") / "run"
    assert play(path).finished
    return path


def test_who_is_shown_to_be_worse_plays_no_further(run: Path) -> None:
    played = games(run)
    by_name = {
        name: int(((played.agent_1 == name) | (played.agent_2 == name)).sum()) for name in ("Random", "ID_Territory")
    }
    assert by_name["Random"] < by_name["ID_Territory"]
    assert len(played) < run_directory.load_run(run).games


@pytest.mark.exhaustive
def test_the_log_is_the_same_whoever_plays_it_and_after_an_interruption(run: Path, tmp_path: Path) -> None:
    config = load_config(None, {**KEYS, "out": str(tmp_path / "again")})
    run_keeping.create(tmp_path / "again", make_plan(config), config)
    (part,) = log.live_files(log.games_folder(run))
    some = log.read_part(part)
    log_parts.append(log.games_folder(tmp_path / "again"), some.take(np.arange(0, len(some), 3)))
    assert play_tournament(config.model_copy(update={"jobs": 2}), resume=True).finished
    pd.testing.assert_frame_equal(games(tmp_path / "again"), games(run), check_categorical=False)


def test_what_is_read_from_the_log_is_what_the_stop_rule_found(run: Path) -> None:
    contest = read_contest(load_findings([run]))
    assert contest is not None
    plan = make_plan(load_config(run / run_directory.CONFIG))
    points = np.full((plan.schedule.rounds, len(plan.schedule.matches), 2), -1, np.int8)
    frame = log.read_games(run, ["game_id", "winner"])
    points.reshape(-1)[frame.game_id] = (frame.winner - 1) == frame.game_id % 2
    rule = stop_rule(plan)
    assert rule is not None
    stopped = {plan.schedule.agents[plan.schedule.matches[match].first] for match in rule(pair_points(points))}
    out = {contestant.contender for contestant in contest.contestants if contestant.out_after}
    assert "Random" in out
    assert out == stopped or len(contest.left) == 1
    assert [contestant.out_after == 0 for contestant in contest.contestants] == sorted(
        (contestant.out_after == 0 for contestant in contest.contestants), reverse=True
    )


def test_it_ends_when_a_single_contender_is_left(tmp_path: Path) -> None:
    assert play(tmp_path / "run", contenders=["random", "ID:territory"], pairs=400).finished
    contest = read_contest(load_findings([tmp_path / "run"]))
    assert contest is not None
    assert [contender.contender for contender in contest.left] == ["ID_Territory"]
    assert contest.contestants[0].openings < 200
    assert not contest.exhausted


@pytest.mark.slow
def test_compare_report_and_summary_say_who_is_left(run: Path, tmp_path: Path) -> None:
    findings = load_findings([run])
    rows = json.loads(render_sections(compare_sections(findings), "json"))["best_of"]
    state = {row["contender"]: row["state"] for row in rows}
    assert rows[0]["state"] == "leads"
    contest = read_contest(findings)
    assert contest is not None
    (random,) = (contestant for contestant in contest.contestants if contestant.contender == "Random")
    assert 0 < random.out_after < random.openings
    assert state["Random"] == f"out after {random.out_after}, {random.openings} played"
    (note,) = (note for note in compare_sections(findings)[0].notes if note.startswith(("Best: ", "Left of 4: ")))
    assert rows[0]["contender"] in note
    assert "Random" not in note
    assert note.split(";")[0].split(".")[0] in report_page(findings)
    headline = compare_headline(findings)
    assert headline.more[0] == "best_of"
    assert headline.sections[0].title.endswith(note)
    text = render_sections(summarize(findings), "table")
    assert "`isolation results` accounts for the stopping" in " ".join(text.split())


def test_a_best_of_that_has_just_begun_is_read(tmp_path: Path) -> None:
    config = load_config(None, {**KEYS, "out": str(tmp_path / "run")})
    run_keeping.create(tmp_path / "run", make_plan(config), config)
    (section, *_) = compare_sections(load_findings([tmp_path / "run"]))
    assert "No opening has been completed against all opponents yet." in section.notes


def test_with_a_baseline_named_it_is_compared_like_a_gauntlet(run: Path) -> None:
    sections = compare_sections(load_findings([run], baseline="ID_Improved"))
    assert sections[0].key == "verdicts"


def test_two_best_ofs_are_not_read_as_one(run: Path, tmp_path: Path) -> None:
    assert play(tmp_path / "other", seed=2, pairs=8).finished
    with pytest.raises(
        ValueError,
        match="is a best-of, whose eliminations depend on all contenders, and cannot be pooled: analyse it alone",
    ):
        compare_sections(load_findings([run, tmp_path / "other"]))


def test_contenders_that_played_the_same_games_are_said_to_be_identical(tmp_path: Path) -> None:
    keys = ["ID:open", "one=ID:improved@depth=1", "other=ID:mobility_filled_half@depth=1"]
    findings = load_findings([play(tmp_path / "twins", contenders=keys, pairs=4).path])
    contest = read_contest(findings)
    assert contest is not None
    (sentence,) = identical_sentences(findings, contest)
    assert sentence.removesuffix(" are identical: they played the same games, move by move.") in (
        "one and other", "other and one",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"contenders": ["greedy"], "opponents": ["random"]},
            "contenders: a best-of needs at least two to choose from",
        ),
        ({"contenders": ["greedy", "random"]}, "contenders: Greedy is also an opponent"),
        ({"baseline": "ID:improved"}, "baseline does not apply to a best-of; remove it, or use format = "),
        ({"sprt": [0, 2]}, "sprt needs a baseline to test against: a best-of has none"),
        ({"opponents": []}, "opponents is empty: a best-of needs at least one"),
    ],
)
def test_what_is_no_contest_is_refused(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_plan(load_config(None, {**KEYS, **keys}))


def test_a_best_of_has_a_thousand_openings_and_the_classic_opponents_unless_told_otherwise() -> None:
    config = load_config(None, {"format": "best-of"})
    assert (config.pairs, config.baseline, config.control, len(config.opponents)) == (1000, None, False, 7)
    assert load_config(None, {"format": "best-of", "openings": "placements"}).pairs == "all"


def test_a_best_of_is_not_extended(run: Path) -> None:
    with pytest.raises(
        ValueError,
        match="is a best-of, whose eliminations depend on all contenders, and cannot be extended: play a new run",
    ):
        extended_config(run, {"contenders": ("ID:null",)})
