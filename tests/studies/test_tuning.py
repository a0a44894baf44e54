"""Parameters tuned by games, and swept over."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from annotated_types import Interval
from click.testing import CliRunner
from scipy.special import expit
from scripted_pool import here

from cli import main
from knights_isolation.experiments.plan import named, parse_agent, parse_spec
from knights_isolation.experiments.plan.config import Config
from knights_isolation.experiments.plan.openings import orbit_ids, split_of
from knights_isolation.experiments.play.cluster import dispatcher
from knights_isolation.experiments.play.pools.pool import HerePool
from knights_isolation.experiments.play.runner import Play, RunOutcome, play_tournament
from knights_isolation.experiments.record.log import read_games
from knights_isolation.experiments.record.run_directory import list_runs
from knights_isolation.experiments.statistics.contender_verdicts import judge as judge_run
from knights_isolation.experiments.statistics.proportions import Interval as Estimate
from knights_isolation.experiments.statistics.run_results import load_findings
from knights_isolation.experiments.studies import batches as batches_room
from knights_isolation.experiments.studies import samplers
from knights_isolation.experiments.studies import tuning as tuning_room
from knights_isolation.experiments.studies.batches import Batch, BatchResult, play_batch, pool_of
from knights_isolation.experiments.studies.parameter_space import with_values
from knights_isolation.experiments.studies.parameter_sweep import Sweep, SweepAxis, parse_axis, sweep
from knights_isolation.experiments.studies.samplers import (
    Contests,
    SpsaPlan,
    directions,
    ends,
    features,
    fit_response,
    importance,
    moved,
    plan_of,
)
from knights_isolation.experiments.studies.tuning import (
    Judgement,
    TuningProgress,
    TuningTask,
    judge,
    subject_of,
    tune,
)
from knights_isolation.isolation import Limit
from knights_isolation.isolation.games.match import play_games
from knights_isolation.isolation.rules.game import Size
from knights_isolation.reports.charts.chart import Grid, Plot
from knights_isolation.reports.charts.line_plots import response_chart
from knights_isolation.reports.studies.tuning import judged_sentence, path_table, sweep_section

FILE = """
from typing import Annotated
from annotated_types import Interval

def score(game, player, *, own: Annotated[float, Interval(ge=-1, le=2)] = 0.0, idle=1.0):
    moves, theirs = game.get_legal_moves(player), game.get_legal_moves(game.get_opponent(player))
    return own * len(moves) - 0.5 * len(theirs) + 0.0 * idle
"""
Curve = Annotated[float, Interval(ge=0, le=1)]


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(FILE)
    return "ID:mine.py:score"


play_here: Play = partial(play_tournament, pools=here)


def question(spec: str, plan: SpsaPlan | None = None, opponent: str = "", **options: Any) -> TuningTask:
    limit = Limit(nodes=40)
    other = subject_of(opponent, limit) if opponent else None
    given = {"wanted": (), "size": Size(5, 5), "plies": 4, "openings": 300, **options}
    return TuningTask(subject_of(spec, limit), other, plan=plan or SpsaPlan(8, 4, 10, 1), **given)


def swept_over(
    spec: str, *over: str, nodes: int = 30, out: Path | None = None, pairs: int = 10, play: Play = play_here
) -> Sweep:
    """A sweep on 5x5 from four plies."""
    axes = [parse_axis(text) for text in over]
    options: dict[str, Any] = {"size": "5x5", "plies": 4, "pairs": pairs, "out": out}
    return sweep(named(parse_spec(spec)), axes, None, Limit(nodes=nodes), play=play, **options)


def strength(points: np.ndarray) -> np.ndarray:
    """Highest at (0.8, 0.35), and whatever the third is."""
    return -6 * (points[:, 0] - 0.8) ** 2 - 3 * (points[:, 1] - 0.35) ** 2


def invented(count: int, games: int, seed: int, against_itself: bool = True) -> Contests:
    generator = np.random.default_rng(seed)
    upper, lower = generator.random((2, count, 3))
    chances = expit(strength(upper) - (strength(lower) if against_itself else -1.0))
    wins = generator.binomial(games, chances).astype(float)
    return Contests(
        upper, lower if against_itself else None, wins, np.full(count, float(games)), games * chances * (1 - chances)
    )


def test_spsa_climbs_to_the_top_and_luck_alone_does_not_carry_it_far() -> None:
    plan, generator = plan_of(40_000, 3), np.random.default_rng(1)
    for has_top in (True, False):
        point = np.array([0.3, 0.7, 0.5])
        for round_ in range(1, plan.rounds + 1):
            signs = directions(plan, round_, 3)
            upper, lower = ends(point, signs, round_)
            chances = expit(strength(upper) - strength(lower)) if has_top else np.full(len(signs), 0.5)
            leads = 2.0 * generator.binomial(2 * plan.openings, chances) - 2 * plan.openings
            point = moved(plan, point, signs, leads, round_)
        away = np.abs(point - (np.array([0.8, 0.35, 0.5]) if has_top else np.array([0.3, 0.7, 0.5])))
        assert (away[:2] < 0.25).all() if has_top else (away < 0.4).all()


def test_plans_have_the_games_that_were_asked_for() -> None:
    for games in (160, 1000, 20_000, 100_000):
        assert plan_of(games, 1).games == pytest.approx(games, rel=0.25)
    assert not (directions(plan_of(1000, 1), 1, 5) == directions(plan_of(1000, 1), 2, 5)).all()


@pytest.mark.parametrize("against_itself", [True, False])
def test_the_quadratic_finds_the_top(against_itself: bool) -> None:
    start = np.array([0.3, 0.7, 0.5])
    response = fit_response(invented(600, 40, 1, against_itself), start, np.array([0.0, 0.0, 0.5]))
    np.testing.assert_allclose(response.best[:2], [0.8, 0.35], atol=0.1)
    assert response.low[2] == response.best[2] == response.high[2] == 0.5
    assert (response.low[:2] <= [0.8, 0.35]).all()
    assert (response.high[:2] >= [0.8, 0.35]).all()
    assert (response.low <= response.best).all()
    assert (response.best <= response.high).all()


@pytest.mark.parametrize("against_itself", [True, False])
def test_finals_promise_what_is_there_whatever_the_quadratic_thinks(
    spec: str, monkeypatch: pytest.MonkeyPatch, against_itself: bool
) -> None:
    """Strength rises steeply up to the start and hardly beyond: a quadratic promises 62 %, or a gain of 11 points."""

    def worth(text: str) -> float:
        return 2 * min(dict(parse_spec(text).parameters).get("own", 0.0), 0.3) if "mine.py" in text else 0.0

    def draw(batch: Batch) -> BatchResult:
        chance = expit(worth(batch.first) - worth(batch.second))
        wins = np.random.default_rng([batch.key, seed]).binomial(2, chance, len(batch.numbers))
        return BatchResult.of(batch.key, wins, 0)

    @contextmanager
    def invented_games(*_: Any, **where: Any) -> Iterator[Any]:
        yield lambda batches: map(draw, batches)

    monkeypatch.setattr(tuning_room, "playing", invented_games)
    monkeypatch.setattr(tuning_room, "prepare", lambda specs, size: [parse_agent(text) for text in specs])
    monkeypatch.setattr(samplers, "DRAWS", 2)
    promised = []
    for seed in range(6):
        asked = question(spec, SpsaPlan(10, 8, 20, seed), "" if against_itself else "ID:improved", wanted=("own",))
        tuning = tune(asked)
        assert tuning.values["own"] > 0.25
        promised.append(tuning.promised.estimate)
    truth = expit(0.6) if against_itself else expit(0.6) - 0.5
    assert np.mean(promised) == pytest.approx(truth, abs=0.03)


def test_what_moves_nothing_is_seldom_called_important_though_the_path_follows_luck() -> None:
    result = []
    for seed in range(200):
        plan, generator, point = SpsaPlan(20, 8, 8, seed), np.random.default_rng(seed), np.array([0.1, 0.5])
        uppers, lowers, shares = [], [], []
        for round_ in range(1, 21):
            signs = directions(plan, round_, 2)
            upper, lower = ends(point, signs, round_)
            chances = expit(30 * (np.tanh(4 * upper[:, 0]) - np.tanh(4 * lower[:, 0])))  # no quadratic
            leads = 2.0 * generator.binomial(16, chances) - 16
            point = moved(plan, point, signs, leads, round_)
            uppers.append(upper), lowers.append(lower), shares.append(leads / 16)
        result.append(importance(np.vstack(uppers), np.vstack(lowers), np.concatenate(shares)))
    p_values = np.array(result)
    assert np.mean(p_values[:, 1] < 0.05) < 0.09
    assert 0.3 < np.mean(p_values[:, 1] < 0.5) < 0.6  # two p-values for one: on the safe side
    assert np.mean(p_values[:, 0] < 0.05) > 0.9


@pytest.mark.exhaustive
def test_of_eight_parameters_that_change_nothing_one_moves_in_one_run_of_twenty() -> None:
    rng = np.random.default_rng(1)
    smallest = []
    for seed in range(400):
        plan = SpsaPlan(20, 8, 8, seed)
        rounds = [ends(np.full(8, 0.5), directions(plan, round_, 8), round_) for round_ in range(1, 21)]
        uppers, lowers = (np.vstack(points) for points in zip(*rounds, strict=True))
        smallest.append(importance(uppers, lowers, (2.0 * rng.binomial(16, 0.5, len(uppers)) - 16) / 16).min())
    assert 0.01 < np.mean(np.array(smallest) <= 0.05) < 0.08


def test_the_terms_of_a_quadratic() -> None:
    np.testing.assert_allclose(features(np.array([[2.0, 3.0, 5.0]]))[0], [2, 3, 5, 4, 9, 25, 6, 10, 15])
    assert features(np.ones((1, 9))).shape == (1, 18)


@pytest.mark.exhaustive
def test_openings_to_learn_from_and_to_judge_by_share_no_orbit(spec: str) -> None:
    learning = pool_of(Size(5, 5), 4, 300, 1).openings.cells
    run = judge(question(spec, openings=300), {"own": 1.0}, 300, play=play_here).run
    orbits = set(read_games(run, ["orbit"])["orbit"])
    assert len(orbits) > 200
    assert not orbits & set(orbit_ids(learning, Size(5, 5)).tolist())
    assert len(learning) == 300


def test_a_batch_is_games_from_both_sides(spec: str) -> None:
    pool = pool_of(Size(5, 5), 4, 20, 1)
    own, other = (str(subject_of(f"{spec}@nodes=40,option.own={value}", None)) for value in (1, -1))
    pairs = play_batch(pool.batch(3, own, other, 15, 10), Size(5, 5))
    agents = parse_agent(own), parse_agent(other)
    openings = [pool.openings[number % 20] for number in range(15, 25)]
    wins = (play_games(*agents, openings, range(10), Size(5, 5)).winner == 1).astype(int)
    wins += play_games(*agents[::-1], openings, range(10), Size(5, 5)).winner == 2
    assert pairs.each.tolist() == wins.tolist()
    assert pairs.key == 3
    assert set(wins.tolist()) == {0, 1, 2}


def test_games_lost_by_errors_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "bad.py"
    file.write_text("def score(game, player, *, weight=1.0):\n    return 1 / (weight - 1.0)\n")
    agent = f"A=ID:{file}:score@nodes=20"
    pool = pool_of(Size(5, 5), 4, 5, 1)
    assert (
        play_batch(
            Batch(0, agent, "random", pool.batch(0, "", "", 0, 5).openings, tuple(range(5))), Size(5, 5)
        ).forfeits
        == 10
    )


@pytest.mark.exhaustive
def test_tuning_finds_what_matters_and_held_out_openings_agree(spec: str) -> None:
    asked = question(spec, SpsaPlan(20, 8, 20, 1))
    tuning = tune(asked)
    own, idle = tuning.parameters
    assert own.matters
    assert own.after > 0.3
    assert not idle.matters
    assert idle.after == idle.before == 1.0
    assert tuning.values.keys() == {"own"}
    assert tuning.promised.estimate > 0.5
    assert tuning.games == 20 * 8 * 20 * 2 + 2 * 300  # the finals have as many openings as there are
    judged = judge(asked, tuning.values, 300, play=play_here)
    assert judged.rate.low > 0.5
    assert judged.p_value < 0.01
    assert judged_sentence(judged) == "On held-out openings the new values are better than the old ones head to head."


@pytest.mark.exhaustive
def test_an_opponent_is_met_by_both(spec: str) -> None:
    asked = question(spec, SpsaPlan(6, 4, 10, 1), opponent="ID:improved")
    tuning = tune(asked)
    assert tuning.games == 2 * (6 * 4 * 10 + 24) * 2
    judged = judge(asked, {"own": 1.0}, 200, play=play_here)
    assert judged.after is not None
    assert judged.before is not None
    assert judged.gain is not None
    assert judged.after.estimate > judged.before.estimate
    assert judged.gain.low < judged.after.estimate - judged.before.estimate < judged.gain.high
    assert judged.gain_p_value < 0.01
    (run,) = list_runs()
    assert (run.info.path, run.played, run.finished) == (judged.run, 3 * 2 * 200, True)
    (verdict,) = judge_run(load_findings([judged.run])).claims
    assert (verdict.contender, verdict.baseline) == ("ID_mine.score_tuned", "ID_mine.score")
    assert (verdict.contender_rate, verdict.baseline_rate) == (judged.after.estimate, judged.before.estimate)


def test_an_opponent_that_is_the_agent_itself_is_refused(spec: str) -> None:
    with pytest.raises(ValueError, match=r"--opponent: ID_mine\.score is the agent itself"):
        tune(question(spec, opponent=spec))


@pytest.mark.slow
def test_judging_that_was_cut_short_goes_on(spec: str) -> None:
    first = judge(question(spec), {"own": 1.0}, 20, play=play_here)
    next((first.run / "games").iterdir()).unlink()
    assert judge(question(spec), {"own": 1.0}, 20, play=play_here) == first


@pytest.mark.slow
def test_a_run_that_was_cut_short_goes_on_to_the_same_end(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, cut = Path("whole.jsonl"), Path("cut.jsonl")
    first = tune(question(spec), whole)
    lines = whole.read_text().splitlines(keepends=True)
    cut.write_text("".join(lines[:14]) + lines[14][:20])
    played = []

    def again(batch: Batch, *options: Any) -> Any:
        played.append(batch)
        return play_batch(batch, *options)

    monkeypatch.setattr(batches_room, "play_batch", again)
    second = tune(question(spec), cut)
    assert len(played) == len(lines) - 14
    assert second.parameters == first.parameters
    np.testing.assert_array_equal(second.path, first.path)
    assert sorted(cut.read_text().splitlines()) == sorted(whole.read_text().splitlines())


@pytest.mark.slow
def test_two_processes_find_what_one_does(spec: str) -> None:
    first, second = (tune(question(spec, SpsaPlan(2, 4, 4, 1)), jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(first.path, second.path)


@pytest.mark.slow
def test_a_cluster_is_connected_to_once_and_only_if_there_is_something_to_play(
    spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    connections = []

    @contextmanager
    def connection(address: str) -> Iterator[HerePool]:
        connections.append(address)
        yield HerePool()

    monkeypatch.setattr(dispatcher, "connected", connection)
    plan = SpsaPlan(3, 2, 4, 1)
    for _ in range(2):
        there = tune(question(spec, plan), Path("it.jsonl"), cluster="tcp://there:8786")
    np.testing.assert_array_equal(there.path, tune(question(spec, plan)).path)
    assert connections == ["tcp://there:8786"]


@pytest.mark.slow
def test_games_of_another_question_are_not_mixed_in(spec: str) -> None:
    tune(question(spec, SpsaPlan(1, 2, 2, 1)), Path("it.jsonl"))
    for other in (question(spec, SpsaPlan(1, 2, 3, 1)), question(spec, SpsaPlan(1, 2, 2, 1), wanted=("own",))):
        with pytest.raises(ValueError, match=r"it\.jsonl has other settings "):
            tune(other, Path("it.jsonl"))
    Path("mine.py").write_text(FILE.replace("0.5", "0.25"))
    with pytest.raises(ValueError, match=r"settings \(agents"):
        tune(question(spec, SpsaPlan(1, 2, 2, 1)), Path("it.jsonl"))


@pytest.mark.parametrize("text", ["nonsense", "nonsense\n", '{"what": "tuning"}\n{"key": 1}\n', "[1]\n"])
def test_what_is_no_record_is_left_alone(spec: str, tmp_path: Path, text: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"notes\.txt(, line 1: damaged| has other settings)"):
        tune(question(spec), path)
    assert path.read_text() == text


def test_the_path_is_shown_round_by_round() -> None:
    table = path_table(TuningProgress(2, 5, ("own",), np.array([[0.0], [0.5], [1.0]])))
    assert [list(column.cells) for column in table.columns] == [["own"], ["0"], ["1"], ["▁▄█"]]


def test_without_a_difference_the_old_values_stay() -> None:
    even = Judgement(Path("run"), 10, Estimate(0.52, 0.4, 0.6, 0.95), 0.6)
    assert judged_sentence(even).endswith(
        "no significant difference from the old values head to head yet; keep the old ones."
    )
    worse = Judgement(Path("run"), 10, Estimate(0.3, 0.2, 0.4, 0.95), 0.001)
    assert judged_sentence(worse).endswith("are worse than the old ones head to head: keep the old ones.")


def test_axes_are_read() -> None:
    assert parse_axis("option.reach=0:1:0.1").values == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    assert parse_axis("option.a.b=3,1") == SweepAxis("a.b", (3.0, 1.0))
    assert parse_axis("limit=depth=2,3") == SweepAxis("limit", (Limit(depth=2), Limit(depth=3)))


@pytest.mark.parametrize(
    "text",
    ["reach=0:1:0.1", "option.reach", "option.=1", "option.reach=0:1", "option.reach=1:0:1", "option.reach=0:1:0",
     "option.reach=0,x", "option.reach=1_0", "option.reach=1,1", "limit=5", "limit=nodes=0", "option.reach=0:1e9:1"],
)  # fmt: skip
def test_axes_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"--over|positive|written|limit"):
        parse_axis(text)


@pytest.mark.parametrize(
    ("values", "wrong"),
    [
        ("1:0:0.1", "is decreasing; write 0:1:0.1"),
        ("0:1:0", "has the step 0; it must be above 0"),
        ("0:1:-0.5", "has the step -0.5; it must be above 0"),
        ("0:20000:1", "has 20,001 values; the maximum is 10,000"),
        ("0:inf:1", "is infinite; FIRST, LAST and STEP must be finite"),
        ("0:1", "is neither FIRST:LAST:STEP nor comma-separated numbers"),
    ],
)
def test_what_is_wrong_with_a_range_is_said(values: str, wrong: str) -> None:
    with pytest.raises(ValueError, match=f"^--over: '{values}' {wrong}$"):
        parse_axis(f"option.reach={values}")


def test_a_sweep_plays_every_combination_on_the_same_openings(spec: str) -> None:
    swept = swept_over(spec, "option.own=-1,0,1", "limit=nodes=20,40", out=Path("kept"), pairs=60)
    shares = swept.rates
    assert list(shares) == [(own, Limit(nodes=nodes)) for own in (-1.0, 0.0, 1.0) for nodes in (20, 40)]
    for nodes in (Limit(nodes=20), Limit(nodes=40)):
        assert shares[0.0, nodes] == Estimate(0.5, 0.5, 0.5, 0.95)  # the agent as it is would meet itself
    assert shares[-1.0, Limit(nodes=40)].estimate < 0.5 < shares[1.0, Limit(nodes=40)].estimate
    summaries = list_runs(Path("kept"))
    assert sorted(summary.info.path for summary in summaries) == [Path("kept/nodes=20"), Path("kept/nodes=40")]
    assert [(summary.played, summary.finished) for summary in summaries] == [(2 * 60 * 2, True)] * 2
    openings = [run.games.groupby("agent_1")["orbit"].agg(frozenset) for run in swept.runs]
    assert len({orbits for run in openings for orbits in run}) == 1
    (orbits,) = set(openings[0])
    assert set(split_of(np.array(list(orbits), np.uint64))) == {"fit"}


def test_a_sweep_says_which_parameters_changed_no_game(spec: str) -> None:
    swept = swept_over(spec, "option.own=1,2", "option.idle=0,1,2")
    assert swept.without_effect == ("idle",)
    assert "idle changed no game" in " ".join(sweep_section(swept, "itself").notes)


def test_a_sweep_that_was_cut_short_goes_on_and_another_one_goes_elsewhere(spec: str) -> None:
    begun = []

    def play(config: Config, *, resume: bool) -> RunOutcome:
        begun.append(resume)
        return play_here(config, resume=resume)

    whole = swept_over(spec, "option.own=0,1", play=play)
    (run,) = whole.runs
    path = run.sources[0].info.path
    assert path.parent == Path("runs")
    next((path / "games").iterdir()).unlink()
    assert swept_over(spec, "option.own=0,1", play=play).rates == whole.rates
    assert begun == [False, True]
    Path("mine.py").write_text(FILE.replace("0.5 *", "0.25 *"))
    assert swept_over(spec, "option.own=0,1").runs[0].sources[0].info.path != path


def test_a_sweep_does_not_go_on_in_the_place_of_another(spec: str) -> None:
    swept_over(spec, "option.own=0,1", out=Path("kept"))
    with pytest.raises(ValueError, match="kept is a run with contenders = "):
        swept_over(spec, "option.own=0,2", out=Path("kept"))


def test_where_only_limits_are_swept_the_agent_as_it_is_has_its_own(spec: str) -> None:
    low, own, high = swept_over(spec + "@option.own=1", "limit=nodes=1,40,400", nodes=40, pairs=60).rates.values()
    assert low.estimate < own.estimate == 0.5 < high.estimate


def test_a_sweep_without_a_game_is_refused(spec: str) -> None:
    with pytest.raises(ValueError, match="nothing to play: with all these values the agent is its own opponent"):
        swept_over(spec, "option.own=0")


def test_too_many_combinations_and_axes_named_twice_are_refused(spec: str) -> None:
    axis = parse_axis("option.own=0:1:0.001")
    for axes, message in (
        ([axis, axis], "own occurs twice"),
        ([axis, SweepAxis("idle", axis.values)], "1,002,001 comb"),
    ):
        with pytest.raises(ValueError, match=message):
            sweep(subject_of(spec, None), axes, None, None, size="5x5", plies=4, pairs=5)


def test_sweeps_are_drawn_as_curves_or_as_a_map() -> None:
    few, many = SweepAxis("a", (0.0, 1.0, 2.0)), SweepAxis("b", tuple(map(float, range(20))))
    limits = SweepAxis("limit", (Limit(nodes=10), Limit(nodes=100)))

    def points(axes: list[SweepAxis]) -> Sweep:
        import itertools

        values = itertools.product(*(a.values for a in axes))
        return Sweep(axes, dict.fromkeys(values, Estimate(0.5, 0.4, 0.6, 0.95)), ())

    curves = response_chart(points([few, limits]), "it")
    assert isinstance(curves, Plot)
    (panel,) = curves.panels
    assert [(line.name, line.x) for line in panel.series] == [
        ("limit nodes=10", (0.0, 1.0, 2.0)),
        ("limit nodes=100", (0.0, 1.0, 2.0)),
    ]
    table = response_chart(points([few, many]), "it")
    assert isinstance(table, Grid)
    assert (len(table.columns), len(table.rows)) == (3, len(many.values))


def test_values_are_added_to_a_spec() -> None:
    text = str(with_values(subject_of("ID:improved@nodes=5", None), {"own": 0.5}))
    assert text == "ID_Improved_5nodes=ID:improved@nodes=5,option.own=0.5"


def run(*words: str) -> str:
    result = CliRunner().invoke(main, [*words, "--jobs", "1"])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.exhaustive
def test_the_commands_tune_judge_patch_and_sweep(spec: str) -> None:
    small = ("--board", "5x5", "--limit", "nodes=40")
    completed = run(
        "tune", spec, *small, "--games", "6000", "--pairs", "100", "--out", "it.jsonl", "--patch", "it.patch"
    )
    assert "No evidence in these games for changing idle." in completed
    assert "the new values are better than the old ones head to head" in completed
    assert f"The new agent: {spec}@option.own=" in completed
    assert "-def score(game, player, *, own: Annotated" in Path("it.patch").read_text()
    assert Path("mine.py").read_text() == FILE
    completed = run("sweep", spec, *small, "--over", "option.own=0,1", "--pairs", "20", "--plot", "it.svg")
    assert "Won against ID_mine.score" in completed
    assert Path("it.svg").exists()


def test_a_patch_that_could_not_be_written_is_refused_before_any_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(FILE.replace("def score", "def other") + "score = other\n")
    result = CliRunner().invoke(main, ["tune", "ID:mine.py:score", "--patch", "it.patch", "--out", "it.jsonl"])
    assert result.exit_code != 0
    assert "mine.py has no `def score` with a default for own" in result.output
    assert not Path("it.jsonl").exists()


def test_where_nothing_matters_the_command_says_so(spec: str) -> None:
    completed = run("tune", spec, "--board", "5x5", "--limit", "nodes=20", "--games", "640", "--parameter", "idle")
    assert "No significant improvement in these games: keep the defaults." in completed
