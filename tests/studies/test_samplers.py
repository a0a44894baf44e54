"""Parameters tuned by games where they span no space of numbers."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.special import expit

from cli import main
from knights_isolation.experiments.plan import make_agent, parse_spec
from knights_isolation.experiments.statistics.proportions import Interval as Estimate
from knights_isolation.experiments.studies import tuning
from knights_isolation.experiments.studies.batches import Batch, BatchResult, OpeningPool, pool_of
from knights_isolation.experiments.studies.parameter_space import space_of
from knights_isolation.experiments.studies.samplers import SpsaPlan, Study, _shrunk, optuna_finals, sampling_plan
from knights_isolation.experiments.studies.tuning import Tuning, TuningTask, subject_of, tune
from knights_isolation.isolation.rules.game import Size
from knights_isolation.isolation.rules.parameters import ParameterError

FILE = """
from typing import Annotated, Literal
from annotated_types import Interval

def score(
    game, player, *,
    jumps: Literal[1, 2, 3, 5] = 1, weight: Annotated[float, Interval(ge=0, le=1)] = 0.9, count: int = 2,
):
    own = game.get_legal_moves(player)
    for _ in range(jumps - 1):
        own = own | game.reach(own)
    return weight * len(own) + count
"""
WORTH = {1: 0.0, 2: -0.5, 3: 0.8, 5: 0.2}


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(FILE)
    return "ID:mine.py:score@nodes=40"


def question(spec: str, plan: SpsaPlan, opponent: str = "", wanted: Sequence[str] = ()) -> TuningTask:
    return TuningTask(
        subject_of(spec, None),
        subject_of(opponent, None) if opponent else None,
        tuple(wanted),
        Size(5, 5),
        4,
        400,
        plan,
        "optuna",
    )


def strength(text: str) -> float:
    """Best with three jumps and a small weight; whatever the count is."""
    if "mine.py" not in text:
        return 0.0
    values = {"jumps": 1.0, "weight": 0.9} | dict(parse_spec(text).parameters)
    return WORTH[int(values["jumps"])] - float(values["weight"] - 0.3) ** 2


def invented(batch: Batch) -> BatchResult:
    chance = expit(strength(batch.first) - strength(batch.second))
    return BatchResult.of(batch.key, np.random.default_rng(batch.key).binomial(2, chance, len(batch.numbers)), 0)


@pytest.fixture
def without_games(monkeypatch: pytest.MonkeyPatch) -> list[Batch]:
    """Games are drawn at random by the strength of the values, and nothing is compiled."""
    played: list[Batch] = []

    @contextmanager
    def playing(*_: Any, **where: Any) -> Iterator[Callable[[Sequence[Batch]], Iterator[BatchResult]]]:
        yield lambda batches: (invented(batch) for batch in batches if played.append(batch) is None)

    monkeypatch.setattr(tuning, "playing", playing)
    monkeypatch.setattr(tuning, "prepare", lambda specs, size: [make_agent(parse_spec(text)) for text in specs])
    return played


def test_a_plan_leaves_a_quarter_of_the_games_to_the_finals() -> None:
    for games in (1000, 20_000, 100_000):
        assert sampling_plan(games, 1).games == pytest.approx(0.75 * games, rel=0.1)
    assert sampling_plan(160, 1).rounds == 1


def test_choices_are_looked_through_only_where_they_can_be(spec: str) -> None:
    heuristic = make_agent(parse_spec(spec)).heuristic
    assert heuristic is not None
    assert space_of(heuristic).names == ("weight", "count")
    assert space_of(heuristic, with_choices=True).names == ("jumps", "weight", "count")
    with pytest.raises(
        ParameterError,
        match="jumps is categorical and cannot be fitted: use isolation tune --sampler optuna or isolation sweep",
    ):
        space_of(heuristic, ("jumps", "weight"))


@pytest.mark.parametrize("opponent", ["", "ID:improved@nodes=40"])
def test_what_is_best_is_found(spec: str, without_games: list[Batch], opponent: str) -> None:
    pytest.importorskip("optuna")
    seen: list[Any] = []
    sampling = tune(question(spec, SpsaPlan(8, 8, 20, 1), opponent), show=seen.append)
    jumps, weight, _ = sampling.parameters
    assert (jumps.before, jumps.after, jumps.range_text) == (1, 3, "1, 2, 3 or 5")
    assert weight.after < 0.8
    assert sampling.values.keys() >= {"jumps", "weight"}
    assert sampling.promised.low > (0 if opponent else 0.5)
    assert sampling.games == sum(2 * len(batch.numbers) for batch in without_games)
    assert [accuracy.done for accuracy in seen] == list(range(9))
    assert {dict(parse_spec(batch.first).parameters).get("count", 2) for batch in without_games} == {0, 1, 2, 3, 4}
    assert {without_game.second.split("=")[0] for without_game in without_games} == {
        "ID_Improved_40nodes" if opponent else "ID_mine.score_40nodes"
    }


def test_the_values_as_they_are_stay_if_they_are_best_and_do_not_meet_themselves(
    spec: str, without_games: list[Batch], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("optuna")
    monkeypatch.setitem(WORTH, 1, 3.0)
    sampling = tune(question(spec, SpsaPlan(4, 4, 20, 1), wanted=("jumps",)))
    assert sampling.values == {}
    finals = [dict(parse_spec(batch.first).parameters) for batch in without_games[-3:]]
    assert sorted(final["jumps"] for final in finals) == [2, 3, 5]
    assert len(without_games) == 4 * 4 + 3


def test_a_vector_that_played_little_is_not_preferred_for_its_luck() -> None:
    tried = {(0.1,): (5, 8), (0.2,): (62, 100), (0.3,): (10, 100)}
    assert _shrunk(tried, (0.1,)) < _shrunk(tried, (0.2,)) < 0.62


def test_the_same_seed_asks_for_the_same_whatever_was_played_before(spec: str, without_games: list[Batch]) -> None:
    pytest.importorskip("optuna")
    asked = question(spec, SpsaPlan(4, 4, 5, 3))
    whole, cut = Path("whole.jsonl"), Path("cut.jsonl")
    first = tune(asked, whole)
    once = len(without_games)
    lines = whole.read_text().splitlines(keepends=True)
    cut.write_text("".join(lines[:8]) + lines[8][:20])
    assert tune(asked, cut) == first
    assert len(without_games) == 2 * once - 7
    assert sorted(cut.read_text().splitlines()) == sorted(whole.read_text().splitlines())
    assert tune(question(spec, SpsaPlan(4, 4, 5, 4))) != first
    with pytest.raises(ValueError, match=r"whole\.jsonl has other settings \(plan"):
        tune(question(spec, SpsaPlan(4, 4, 5, 4)), whole)


@pytest.mark.parametrize(("options", "message"), [((), True), (("--parameter", "weight"), False)])
def test_spsa_says_which_choices_it_leaves_as_they_are(
    spec: str, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], message: bool
) -> None:
    monkeypatch.setattr(
        "knights_isolation.reports.studies.tuning.tune",
        lambda *_, **__: Tuning((), Estimate(0.5, 0.4, 0.6, 0.95), 0, 0, np.zeros((1, 0))),
    )
    result = CliRunner().invoke(main, ["tune", spec, "--patch", "it.patch", *options])
    assert result.exit_code == 0, result.output
    note = "Note: jumps is categorical (1, 2, 3 or 5) and keeps its default 1; to tune it, use isolation tune --sampler"
    assert (note in result.output) == message
    assert "Did not write it.patch: no value changed." in result.output
    assert not Path("it.patch").exists()


@pytest.mark.parametrize("values", ["2:5:1", "2:5:0.5", "1,4"])
def test_a_sweep_over_a_choice_names_its_values(spec: str, values: str) -> None:
    result = CliRunner().invoke(main, ["sweep", spec, "--over", f"option.jumps={values}"])
    assert result.exit_code != 0
    assert "--over: jumps is categorical (1, 2, 3 or 5): list values, as in option.jumps=1,2,3,5\n" in result.output


def finals(spec: str, pool: OpeningPool, weights: Sequence[float], seed: int) -> Tuning:
    """Finals of vectors that differ in their weight, with luck of their own."""
    asked = question(spec, SpsaPlan(4, 8, 60, seed), wanted=("weight",))
    heuristic = make_agent(asked.spec).heuristic
    assert heuristic is not None

    def play(batch: Batch) -> BatchResult:
        chance = expit(strength(batch.first) - strength(batch.second))
        wins = np.random.default_rng([seed, batch.key]).binomial(2, chance, len(batch.numbers))
        return BatchResult.of(batch.key, wins, 0)

    study = Study(asked.spec, None, space_of(heuristic, ("weight",)), pool, asked.plan)
    search = optuna_finals(study, {(weight,): (1, 2) for weight in weights})
    _, batches = next(search)
    with pytest.raises(StopIteration) as end:
        search.send([play(batch) for batch in batches])
    return Tuning(*end.value.value[:2], 0, 0, np.zeros((1, 1)))


def test_finals_promise_no_more_than_is_there(spec: str) -> None:
    """Eight vectors as good as the start: the best of them looks better by luck, and that is not promised."""
    pytest.importorskip("optuna")
    pool = pool_of(Size(5, 5), 4, 400, 1)
    result = [finals(spec, pool, np.linspace(0.899, 0.901, 8).tolist(), seed) for seed in range(30)]
    promised = np.array([test.promised.estimate for test in result])
    assert abs(promised.mean() - 0.5) < 3 * promised.std() / np.sqrt(len(promised))
    assert all(not test.values for test in result if test.promised.estimate <= 0.5)
    better = finals(spec, pool, [0.9, 0.3, 0.0], 1)
    assert better.values in ({"weight": 0.3}, {"weight": 0.0})


def test_a_search_that_tried_the_values_as_they_are_alone_ends_with_them(spec: str) -> None:
    asked, pool = question(spec, SpsaPlan(1, 8, 4, 1), wanted=("weight",)), pool_of(Size(5, 5), 4, 20, 1)
    heuristic = make_agent(asked.spec).heuristic
    assert heuristic is not None
    study = Study(asked.spec, None, space_of(heuristic, ("weight",)), pool, asked.plan)
    search = optuna_finals(study, {(0.9,): (5, 10)})
    point, batches = next(search)
    assert (point.tolist(), batches) == ([0.9], [])
    with pytest.raises(StopIteration) as end:
        search.send([])
    (parameter,), promised, vectors = end.value.value
    assert (parameter.before, parameter.after, promised.estimate, vectors) == (0.9, 0.9, 0.5, 1)


def test_without_optuna_one_line_says_what_to_install(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    result = CliRunner().invoke(main, ["tune", spec, "--sampler", "optuna"])
    assert result.exit_code == 2
    assert result.output.endswith("--sampler optuna needs Optuna: pip install 'knights-isolation[tuning]'\n")


@pytest.mark.exhaustive
def test_the_command_tells_what_was_sampled(spec: str, without_games: list[Batch]) -> None:
    pytest.importorskip("optuna")
    result = CliRunner().invoke(
        main, ["tune", spec, "--sampler", "optuna", "--board", "5x5", "--games", "640", "--pairs", "10", "--jobs", "1"]
    )
    assert result.exit_code == 0, result.output
    assert "jumps      1, 2, 3 or 5" in result.output
    assert "Promised: a cross-validated estimate" in result.output
