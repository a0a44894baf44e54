"""Discovery: programs print what the interpreter computes, campaigns repeat and resume, noise teaches nothing."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import knights_isolation as ki
from knights_isolation.command_line.main import main
from knights_isolation.experiments.discovery import finals
from knights_isolation.experiments.discovery import programs as discovery_programs
from knights_isolation.experiments.discovery.campaign import (
    Campaign,
    Growth,
    SearchTask,
    _fit,
    ranking_of,
    run_campaign,
)
from knights_isolation.experiments.discovery.finals import Strength, best_by_minutes
from knights_isolation.experiments.discovery.programs import (
    Found,
    Program,
    Shape,
    Term,
    compiled_interpreter,
    estimated_cost,
    from_json,
    parameters_of_program,
    parts_of,
    random_shape,
    reweighted,
    tidy,
    to_json,
    to_python,
    with_room,
)
from knights_isolation.experiments.statistics.proportions import Interval
from knights_isolation.experiments.suite.suite_file import Split, Suite, read_suite
from knights_isolation.isolation.compiling.compile_heuristic import sample_positions
from knights_isolation.isolation.loading.load_user_code import load_heuristic
from knights_isolation.isolation.rules.game import Size
from knights_isolation.reports.studies.discovery import Discovery, Verdict, strength_chart, write_discovery_page


def programs(count: int) -> list[Program]:
    """Return random programs of one to six terms, each varied."""
    generator = np.random.default_rng(1)
    made: list[Program] = []
    for index in range(count):
        program = tidy([Term(random_shape(generator), 0.5, -0.3) for _ in range(1 + index % 5)])
        rest, shape = with_room(generator, program, made[-1] if made else program)
        made.append(reweighted(generator, tidy([*rest, Term(shape, 1.0, 0.7)])))
    return made


@pytest.mark.exhaustive
def test_printed_python_is_what_the_interpreter_computes(tmp_path: Path) -> None:
    """Weights have three digits, and no value is over a thousand: a billionth is rounding."""
    boards = [board for board in sample_positions((7, 7), 30) if None not in board.locations]
    for index, program in enumerate(programs(12)):
        file = tmp_path / f"printed_{index}.py"
        file.write_text(to_python(program, "Printed."))
        score = load_heuristic(file, "score").value
        interpreted = replace(compiled_interpreter((7, 7)), parameters=parameters_of_program(program))
        for board in boards:
            for number, player in enumerate(board.players):
                assert interpreted.evaluate(board, number) == pytest.approx(score(board, player), rel=1e-9, abs=1e-9)


def test_programs_survive_the_journal_and_cost_more_with_more_terms() -> None:
    for program in programs(12):
        assert from_json(to_json(program)) == program
        assert estimated_cost(program[:1]) <= estimated_cost(program)


def test_training_and_validation_share_no_orbit_and_nothing_with_the_split_screen() -> None:
    train, stages, validation = parts_of(Size(6, 6))
    assert not set(train.orbit.tolist()) & set(validation.orbit.tolist())
    assert sorted(row for stage in stages for row in stage.orbit.tolist()) == sorted(train.orbit.tolist())
    assert {*train.split.tolist(), *validation.split.tolist()} == {"fit"}
    assert len(train) > len(validation) > 0


def test_weights_are_fitted_to_which_move_keeps_the_win() -> None:
    """The third column is noise; a wrong sign or scale of a column would show."""
    generator = np.random.default_rng(1)
    columns = generator.normal(size=(3, 4000)) * [[1.0], [10.0], [1.0]]
    is_preferred = generator.random(4000) < 1 / (1 + np.exp(-2 * columns[0] + 0.1 * columns[1]))
    columns *= np.where(is_preferred, 1, -1)
    loss, weights = _fit(columns, np.full(4000, 1 / 4000))
    assert weights == pytest.approx([2.0, -0.1, 0.0], abs=0.2)
    assert weights[1] == pytest.approx(-0.1, abs=0.02)
    assert loss < _fit(columns[1:], np.full(4000, 1 / 4000))[0] < np.log(2)


@contextmanager
def exchanged_labels() -> Iterator[None]:
    """Exchange at random which moves keep the win within each position: a control, where nothing can be learned."""

    def exchanged(name: str, split: Split) -> Suite:
        suite = read_suite(name, split).telling
        order = np.lexsort((np.random.default_rng(1).random(len(suite.keeps)), suite.position_of))
        return replace(suite, keeps=suite.keeps[order])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(discovery_programs, "read_suite", exchanged)
        for cached in (parts_of, ranking_of):
            cached.cache_clear()
        yield
    for cached in (parts_of, ranking_of):
        cached.cache_clear()


@pytest.mark.exhaustive
def test_a_new_term_is_fitted_beside_the_others_and_helps_only_where_moves_say_something() -> None:
    moves, links = Shape(), Shape("links", 4, over=4)
    ranking = ranking_of(Size(6, 6))
    with exchanged_labels():
        shuffled = ranking_of(Size(6, 6))
    rest = (Term(moves, 0.5, 0.25),)
    program, expected = ranking.fitted([links], rest)
    assert [term.shape for term in program] == [moves, links]
    assert program[0].weight == pytest.approx(2 * program[0].waiting, rel=0.01)
    assert program[1].weight > 0 < program[1].waiting  # links among near cells are good for whoever has them
    assert expected < ranking.fitted([moves])[1] < shuffled.fitted([moves])[1]
    nothing = Shape("count", 0, "without", 6)  # moves that are not within two jumps: there are none
    assert ranking.fitted([nothing]) == ((), float("inf"))


def test_discovery_can_be_removed_with_its_report() -> None:
    root = Path(__file__).parents[2]
    importing = re.compile(r"^\s*(from|import)\s+\S*experiments\.discovery|^\s*from \.+discovery", re.MULTILINE)
    found = {
        path.relative_to(root).as_posix()
        for room in ("experiments", "reports", "knights_isolation/commands")
        for path in (root / room).rglob("*.py")
        if path.parent != root / "experiments" / "discovery" and importing.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"reports/studies/discovery.py"}


def test_impossible_requests_end_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_text("not a journal\n")
    for words, why in (
        (["--board", "5x5"], "no solved positions ship for 5x5: choose one of 6x6"),
        (["--against", "ID:learned@nodes=5"], "leave out its limit"),
        (["--against", "Random"], "must be a search by a heuristic"),
        (["--out", str(tmp_path)], "journal.jsonl, line 1: damaged or edited by hand"),
    ):
        result = CliRunner().invoke(main, ["discover", *words])
        assert result.exit_code == 2
        assert why in " ".join(result.output.split())


def test_a_dearer_node_is_worth_what_doubling_them_gains() -> None:
    assert finals.Headroom(1000, 0.6, 0.55).nodes_for_a_point == pytest.approx(2**0.2 - 1)
    assert finals.Headroom(1000, 0.6, 0.49).nodes_for_a_point == float("inf")


def test_a_cost_that_is_hardly_known_counts_against_a_finalist_by_what_it_may_be_worth() -> None:
    found = Found(programs(1)[0], 20.0, 0.9, 0.9, 40)
    steady, wild = (finals.Finalist(found, Path("a.py"), 1.0, spread, 0.5) for spread in (0.02, 0.22))
    assert steady.surely_won - wild.surely_won == pytest.approx(0.01)


@pytest.mark.parametrize(("p_value", "estimate", "words"), [(0.04, 0.1, "better"), (0.04, -0.1, "worse")])
def test_a_verdict_follows_its_adjusted_p_value(p_value: float, estimate: float, words: str) -> None:
    difference = Interval(estimate, estimate - 0.05, estimate + 0.05, 0.95)
    assert Verdict("games", "ID:improved", 300, 100, difference, p_value).words == words
    assert Verdict("games", "ID:improved", 300, 100, difference, 0.06).words == "no difference"


def best_of(campaign: Campaign) -> list[Program]:
    return [found.program for found in campaign.archive.all]


@pytest.mark.exhaustive
def test_the_same_seed_finds_the_same_interrupted_or_not_and_by_any_number_of_processes(tmp_path: Path) -> None:
    question = SearchTask(Size(6, 6), seed=3)
    whole = run_campaign(question, tmp_path / "whole.jsonl", 10, jobs=2, rounds=3)
    journal = tmp_path / "parts.jsonl"
    run_campaign(question, journal, 10, rounds=1)
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:4]) + lines[4][:20])  # killed in the midst of its first round
    shown: list[int] = []
    resumed = run_campaign(question, journal, 10, rounds=3, show=lambda campaign: shown.append(len(campaign.growth)))
    run_campaign(question, journal, 10, rounds=3, show=lambda campaign: shown.append(0))
    assert shown == [1, 2, 3]  # and nothing of a search that is only read again
    assert best_of(resumed) == best_of(whole)
    assert [each.best for each in resumed.growth] == [each.best for each in whole.growth]
    first, last = whole.growth[0].best, whole.growth[-1].best
    assert 2 * last.train + last.validation > 2 * first.train + first.validation


def test_the_page_of_a_search_shows_what_it_has_found_before_there_is_a_verdict(tmp_path: Path) -> None:
    best = [Found(programs(1)[0], 9.0, *shares, 40) for shares in ((0.8, 0.7), (0.85, 0.815))]
    campaign = Campaign(growth=[Growth(1, 30.0, 320, best[0]), Growth(2, 60.0, 640, best[1])])
    for number, program in enumerate(programs(6)):
        campaign.archive.add(Found(program, 9.0 + 4 * number, 0.8 + number / 100, 0.7 + number / 100, 40))
    page = write_discovery_page(Discovery(campaign), tmp_path, Size(6, 6)).read_text()
    assert "The search goes on." in page
    assert "640 candidates in 1.0 processor minutes" in page
    assert "In validation 70.0 % of wins kept became 81.5 %" in page
    assert "6 programs of all costs; the best costs 29 ns a node" in page
    assert page.count('<svg class="plot"') == 2
    assert "The champion" not in page


def test_strength_is_measured_by_what_was_found_in_some_times() -> None:
    """After 0.4, 0.9, 3 and 6 minutes; that of 0.9 minutes is the last of the first minute."""
    campaign = Campaign()
    for number, minutes in enumerate((0.4, 0.6, 0.9, 3.0, 6.0)):
        share = 0.8 + number / 100
        found = Found(programs(1)[0], 20.0, share, share, 40)
        campaign.growth.append(Growth(number + 1, 60 * minutes, 40 * number, found))
    best = best_by_minutes(campaign)
    assert {minutes: round(found.train, 2) for minutes, found in best.items()} == {
        0.4: 0.8,
        0.9: 0.82,
        3: 0.83,
        6: 0.84,
    }
    strengths = [Strength(minutes, found, "ID:learned", 1.5, (0.4, 0.3)) for minutes, found in best.items()]
    plot = strength_chart(strengths)
    assert plot is not None
    assert [line.name for line in plot.panels[0].series] == ["ID:learned, 300 nodes", "ID:learned, 1,000 nodes"]
    assert plot.panels[0].series[1].x == (0.4, 0.9, 3, 6)
    assert strength_chart(strengths[:1]) is None


@pytest.mark.exhaustive
def test_nothing_is_learned_from_labels_that_were_shuffled(tmp_path: Path) -> None:
    with exchanged_labels():
        shuffled = run_campaign(SearchTask(Size(6, 6)), tmp_path / "shuffled.jsonl", 10, rounds=3)
        validation = parts_of(Size(6, 6)).validation
    share = validation.keeps.mean()
    best = max(shuffled.archive.all, key=lambda found: found.train)
    error = (share * (1 - share) / len(validation)) ** 0.5
    assert abs(best.validation - best.train) > 0
    assert best.validation < share + 6 * error + 0.02


@pytest.mark.exhaustive
@pytest.mark.usefixtures("costs_measured")
def test_what_is_found_beats_improved_on_held_out_openings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finals, "FINALISTS", 4)
    monkeypatch.setattr(finals, "CHOOSING_PAIRS", 200)
    monkeypatch.setattr(finals, "CEILING_PAIRS", 50)
    result = ki.discover(minutes=0.1, board="6x6", against="ID:improved", out=tmp_path, pairs=1500, jobs=1)
    games = [verdict for verdict in result.value.verdicts if verdict.judged_on == "games"]
    assert any(verdict.words == "better" for verdict in games)
    champion = result.value.finalists[0].file.read_text()
    assert "Games against ID:improved at 1,000 nodes, equal cost: +" in champion
    assert "Ceiling: BF:learned@nodes=10000 wins" in champion
    assert result.value.headroom.ceiling > 0.6
    assert result.sections[0].title.endswith("nodes.")
    assert {strength.opponent for strength in result.value.strengths} == {"ID:improved", "ID:territory"}
    page = (tmp_path / "analysis.html").read_text()
    assert "Strength over processor time" in page
    assert result.sections[0].title in page
    assert "def score(game, player):" in page
