"""Screening: one move in each telling position, what it is worth, and whether a difference is luck."""

import csv
import io
import itertools
import re
import shlex
from concurrent.futures import CancelledError
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from scripted_pool import Script, ScriptedPool

from benchmarks.make_gauntlet_agreements import agreement_with
from cli import main
from knights_isolation import heuristics
from knights_isolation.experiments.analysis.quick_trial import try_heuristic
from knights_isolation.experiments.plan import parse_agent
from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.play.runner import play_tournament
from knights_isolation.experiments.studies.screening import (
    ask,
    collect_answers,
    screen,
    where_it_errs,
    worst_mistakes,
)
from knights_isolation.experiments.suite import read_suite
from knights_isolation.experiments.suite.build_suite import PositionSource, Recipe, build_suite
from knights_isolation.experiments.suite.suite_file import known_agreements
from knights_isolation.isolation import Board, solve
from knights_isolation.isolation.games.batches import NO_ANSWER, Positions, batches, choose_moves
from knights_isolation.isolation.rules.drawing import to_text
from knights_isolation.isolation.rules.game import Limit, Reason, Size
from knights_isolation.isolation.search.agents import SearchAgent
from knights_isolation.isolation.search.classic_agent import ClassicAgent
from knights_isolation.reports.analysis.file_answers import describe_trial
from knights_isolation.reports.studies.screening import mistake_texts, mistakes_section

RECIPE = Recipe(
    Size(5, 5), 4, 14, openings=12,
    sources=(PositionSource("mine", ("random", "greedy", "ID:improved@nodes=50"), (0.0, 0.3)),),
    field=("greedy", "AB:open@depth=1", "ID:improved@nodes=20"),
)  # fmt: skip


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("suites") / "small.parquet"
    build_suite(RECIPE, path)
    return path


@pytest.fixture(scope="module")
def suite(path):
    return read_suite(path)


def asked(spec, suite, **options):
    return ask(parse_agent(spec), suite.positions, **options)


def some_positions(count=30):
    suite = read_suite("7x7", "screen")
    return suite.take(np.arange(0, len(suite), len(suite) // count)[:count]).positions


def seeds(positions):
    return np.arange(len(positions), dtype=np.uint64) * np.uint64(2**58 + 3)


@pytest.mark.parametrize("spec", ["random", "greedy", "ID:improved@nodes=200,ties", "MCTS@nodes=20"])
def test_an_agent_moves_as_it_does_in_a_game(spec):
    agent, positions = parse_agent(spec), some_positions()
    answers = choose_moves(agent, positions, seeds(positions))
    boards = (Board.from_moves(positions[i], positions.size) for i in range(len(positions)))
    results = [agent.choose(board, int(seed)) for board, seed in zip(boards, seeds(positions), strict=True)]
    assert answers.cells.tolist() == [result.move for result in results]
    assert answers.nodes.tolist() == [result.nodes for result in results]
    assert not answers.failure.any()


@pytest.mark.parametrize("spec", ["ID:improved@nodes=200,ties", "ID:INTERPRETED@nodes=200"])
def test_asking_ends_once_nobody_wants_the_answers(spec, tmp_path):
    (tmp_path / "mine.py").write_text("def score(game, player):\n    return float(str(game.move_count / 7))\n")
    agent = parse_agent(spec.replace("INTERPRETED", f"{tmp_path}/mine.py:score"))
    assert (agent.compiled((7, 7)) is None) == ("INTERPRETED" in spec)
    positions, no_longer = some_positions(), iter([False, True])
    with pytest.raises(CancelledError):
        choose_moves(agent, positions, seeds(positions), lambda: next(no_longer))
    assert next(no_longer, None) is None


@pytest.mark.parametrize("batches", [[1] * 7, [2, 3, 2]])
def test_answers_do_not_depend_on_how_many_are_given_by_a_call(batches, monkeypatch):
    positions, agent = some_positions(7), parse_agent("MCTS@nodes=200")
    whole = choose_moves(agent, positions, seeds(positions))
    firsts = [sum(batches[:index]) for index in range(len(batches))]
    monkeypatch.setattr(
        "knights_isolation.isolation.games.batches.batches", lambda count, _: zip(firsts, batches, strict=True)
    )
    parted = choose_moves(agent, positions, seeds(positions))
    for column in ("cells", "failure", "nodes"):
        assert getattr(parted, column).tolist() == getattr(whole, column).tolist()


@pytest.mark.parametrize(
    ("seconds", "calls"), [(1e-7, [4, 128, 68]), (0.02, [4, *[12] * 16, 4]), (10.0, [4, *[1] * 196])]
)
def test_a_call_answers_about_a_quarter_of_a_second_of_positions(seconds, calls, monkeypatch):
    answered = []
    clock = SimpleNamespace(perf_counter=lambda: seconds * sum(answered))
    monkeypatch.setattr("knights_isolation.isolation.games.batches.time", clock)
    for first, count in batches(200, lambda: False):
        assert first == sum(answered)
        answered.append(count)
    assert answered == calls


def test_boards_of_more_than_a_word_are_asked_alike():
    moves = [(0, 98, 13, 75), (40, 50, 63, 29), (90, 7, 69, 30)]
    agent, positions = parse_agent("random"), Positions.of(moves, "9x11")
    boards = [Board.from_moves(move, "9x11") for move in moves]
    for start in range(20):
        results = [agent.choose(board, start + index).move for index, board in enumerate(boards)]
        assert choose_moves(agent, positions, np.arange(start, start + 3, dtype=np.uint64)).cells.tolist() == results


def test_code_that_fails_loses_its_positions_and_says_why():
    def score(game, player):
        if game.move_count > 20:
            raise RuntimeError("too late for me")
        return 0.0

    positions = some_positions()
    agent = SearchAgent("broken", "alphabeta", score, "broken", Limit(depth=1))
    answers = choose_moves(agent, positions, seeds(positions))
    fails = positions.plies >= 20
    assert 0 < fails.sum() < len(positions)
    assert ((answers.failure == Reason.ERROR) == fails).all()
    assert ((answers.cells == NO_ANSWER) == fails).all()
    assert "too late for me" in answers.detail


def test_classic_players_are_asked_as_in_a_game_of_their_own():
    class Player:
        def __init__(self):
            self.asked = 0

        def get_move(self, game, time_left):
            self.asked += 1
            assert self.asked == 1
            return max(game.get_legal_moves())

    positions = some_positions(5)
    agent = ClassicAgent("classic", Player, (), Limit(ms=1000))
    expected = [max(Board.from_moves(positions[i], "7x7").legal_cells()) for i in range(5)]
    assert choose_moves(agent, positions, seeds(positions)).cells.tolist() == expected


def test_the_perfect_player_keeps_every_win_and_a_random_one_its_share(suite):
    perfect = asked("perfect", suite)
    random = asked("random", suite, repeats=50)
    screening = screen(suite, perfect, [random])
    assert screening.baseline.kept.estimate == 1
    ((score, against),) = screening.contenders
    shares = np.add.reduceat(suite.keeps, suite.starts[:-1]) / np.diff(suite.starts)
    assert score.kept.estimate == pytest.approx(shares[suite.is_telling].mean(), abs=0.02)
    assert score.trouble == pytest.approx(0, abs=0.02)
    assert against.kept.estimate == pytest.approx(score.kept.estimate - 1)
    assert against.adjusted < 0.001


def test_kept_and_trouble_are_counted_by_hand(suite):
    greedy = asked("greedy", suite)
    kept, trouble = [], []
    for index in range(len(suite)):
        rows = slice(suite.starts[index], suite.starts[index + 1])
        board = Board.from_moves(suite.positions[index], suite.size)
        cell = parse_agent("greedy").choose(board, 0).move
        if suite.is_telling[index]:
            kept.append(cell in solve(board).moves)
        else:
            errs = [bin(bits).count("1") / 3 for bits in suite.errs[rows].tolist()]
            trouble.append(errs[suite.legal[rows].tolist().index(cell)] - np.mean(errs))
    score = screen(suite, greedy, [greedy]).baseline
    assert score.kept.estimate == pytest.approx(np.mean(kept))
    assert score.trouble == pytest.approx(np.mean(trouble))
    assert score.both == pytest.approx((sum(kept) + sum(trouble)) / len(suite))


def test_who_plays_alike_differs_nowhere(suite):
    first, second = asked("ID:mobility_filled@nodes=100", suite), asked("ID:improved@nodes=100", suite)
    ((_, against),) = screen(suite, second, [first]).contenders
    assert against.differs == 0
    assert against.p_value == 1
    assert (against.both.low, against.both.high) == (0, 0)


def test_agents_are_asked_alike_in_threads_processes_and_alone(suite):
    specs = ("ID:improved@nodes=50", "random", "perfect@nodes=1000")
    alone = collect_answers(specs, suite.positions, repeats=2)
    together = collect_answers(specs, suite.positions, repeats=2, jobs=2)
    assert [first.repeats for first in alone] == [1, 2, 1]
    for first, second in zip(alone, together, strict=True):
        assert (first.name, first.spec) == (second.name, second.spec)
        assert first.answers.cells.tolist() == second.answers.cells.tolist()
    assert alone[1].answers.cells.tolist() == asked("random", suite, repeats=2).answers.cells.tolist()


def test_mistakes_throw_wins_away_that_the_field_keeps(suite):
    null, base = asked("ID:null@nodes=10", suite), asked("ID:improved@nodes=100", suite)
    mistakes = worst_mistakes(suite, null, base)
    assert len(mistakes) == 5
    assert [mistake.field for mistake in mistakes] == sorted((mistake.field for mistake in mistakes), reverse=True)
    for item in mistakes:
        board = Board.from_moves(item.moves, suite.size)
        assert item.winning == solve(board).moves
        assert item.played not in item.winning


def test_a_mistake_is_named_by_its_ply_and_can_be_shown(suite):
    null, base = asked("ID:null@nodes=10", suite), asked("ID:improved@nodes=100", suite)
    mistakes = worst_mistakes(suite, null, base)
    assert [row["ply"] for row in mistakes_section("Null", mistakes, Size(5, 5)).rows] == [
        len(mistake.moves) + 1 for mistake in mistakes
    ]
    lines = mistake_texts(mistakes, Size(5, 5)).splitlines()
    words = [shlex.split(line)[1:] for line in lines if line.startswith("isolation ")]
    assert max(map(len, lines)) <= 80
    for item, asking in zip(mistakes, words, strict=True):
        result = CliRunner().invoke(main, asking).output
        assert to_text(Board.from_moves(item.moves, "5x5")) in result


def test_plies_are_counted_from_1_where_a_suite_is_asked_for(tmp_path):
    path = tmp_path / "late.parquet"
    words = ["--board", "5x5", "--openings", "2", "--jobs", "1", "--first-ply", "7", "--last-ply", "9"]
    words += ["--field", "greedy", "--field", "ID:improved@nodes=20"]
    assert CliRunner().invoke(main, ["suite", "build", *words, "--out", str(path)]).exit_code == 0
    built = read_suite(path)
    assert set(built.positions.plies.tolist()) <= {6, 7, 8}
    null, base = asked("ID:null@nodes=10", built), asked("ID:improved@nodes=100", built)
    assert where_it_errs(built, null, base)[0].name.startswith("plies 7–")


def test_where_wins_are_kept_adds_up(suite):
    null, base = asked("ID:null@nodes=10", suite), asked("ID:improved@nodes=100", suite)
    parts = where_it_errs(suite, null, base)
    kept = screen(suite, base, [null]).contenders[0][0].kept.estimate
    for chosen in ([part for part in parts if "plies" in part.name], [part for part in parts if "player" in part.name]):
        counts = [choice.positions for choice in chosen]
        assert sum(counts) == suite.is_telling.sum()
        assert np.average([choice.contender for choice in chosen], weights=counts) == pytest.approx(kept)


def test_a_trial_screens_what_is_sound():
    trial = try_heuristic(heuristics.get("null"), pairs=20)
    ((own, against),) = trial.screening.contenders
    assert own.kept.estimate < trial.screening.baseline.kept.estimate
    assert against.p_value <= 0.05
    text = describe_trial("null.py:score", trial).splitlines()[-1]
    assert "solved positions at 1000 nodes: worse, −" in text

    assert try_heuristic(lambda game, player: float("nan"), pairs=2).screening is None


def test_a_trial_plays_as_many_games_whatever_the_load(monkeypatch):
    passed = itertools.count()
    monkeypatch.setattr("time.perf_counter", lambda: 1000.0 * next(passed))
    assert try_heuristic(heuristics.get("null"), pairs=20).interval.pairs.n == 20


def test_a_trial_says_what_a_node_costs_compiled_and_interpreted():
    trial = try_heuristic(heuristics.get("null"), pairs=2)
    text = describe_trial("null.py:score", trial)
    assert trial.cost.times < 1
    assert "Cost per node compiled: " in text
    assert "Cost per node interpreted: " in text
    assert trial.python_cost.nanoseconds > 10 * trial.cost.nanoseconds


@pytest.mark.slow
def test_equals_are_called_different_as_often_as_the_level_says():
    suite = read_suite("7x7", "screen").sample(2000, 1)
    agent = parse_agent("random")
    result = [
        screen(suite, ask(agent, suite.positions, 1, 2 * seed), [ask(agent, suite.positions, 1, 2 * seed + 1)])
        for seed in range(200)
    ]
    against = [test.contenders[0][1] for test in result]
    wrong = np.mean([test.p_value <= 0.05 for test in against])
    covered = np.mean([test.both.low <= 0 <= test.both.high for test in against])
    assert 0.005 < wrong < 0.1
    assert covered > 0.9


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_the_command_says_who_is_better_and_shows_five_mistakes(path, tmp_path):
    page = tmp_path / "page.html"
    result = run("screen", "ID:null@nodes=20", "--suite", path, "--split", "all", "--jobs", 1, "--html", page)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("ID_Null_20nodes is worse than ID_Improved: −")
    assert result.stdout.count(" to move.") == 5
    assert "player 2 to move" in result.stdout
    assert page.read_text(encoding="utf-8").count("data:image/svg+xml") == 5


def test_who_mostly_fails_is_said_to_first_and_shown_no_mistakes_without_a_move(path, tmp_path):
    file = tmp_path / "broken.py"
    file.write_text("def score(game, player):\n    raise RuntimeError('no such thing')\n")
    result = run("screen", f"ID:{file}:score", "--suite", path, "--split", "all", "--sample", 6, "--jobs", 1)
    assert result.exit_code == 0, result.output
    assert re.match(r"ID_\S*broken\.score failed 6 of 6 times: .*no such thing", result.stdout)
    assert re.search(r"Cost: not measured because ID_\S*broken\.score failed\.", " ".join(result.stdout.split()))
    assert "broken.score never lost a winning position by a move." in result.stdout
    assert " to move." not in result.stdout


def test_mistakes_are_moves_also_of_who_sometimes_makes_none(suite):
    null, base = asked("ID:null@nodes=10", suite), asked("ID:improved@nodes=100", suite)
    cells = null.answers.cells.copy()
    worst = worst_mistakes(suite, null, base, len(suite))
    rows = [row for row in range(len(suite)) if suite.positions[row] == worst[0].moves]
    cells[rows] = NO_ANSWER
    failing = replace(null, answers=replace(null.answers, cells=cells))
    assert worst_mistakes(suite, failing, base, len(suite)) == [
        mistake for mistake in worst if mistake.moves != worst[0].moves
    ]


def test_several_contenders_are_ranked_and_adjusted_for_being_several(path):
    common = ("--suite", path, "--split", "all", "--jobs", 1, "--format", "csv", "--table", "screen")
    result = run("screen", "random", "greedy", "ID:territory@nodes=500", *common)
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["contender"] for row in rows] == ["ID_Territory_500nodes", "Greedy", "Random", "ID_Improved"]
    assert rows[-1]["verdict"] == "the baseline"
    alone = run("screen", "greedy", *common)
    (row,) = (row for row in csv.DictReader(io.StringIO(alone.stdout)) if row["contender"] == "Greedy")
    assert float(row["adjusted_p"]) <= float(rows[1]["adjusted_p"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ID:open", "--suite", "9x9"), "no suite 9x9"),
        (("ID:improved",), "is the baseline itself"),
        (("ID:opne",), "open"),
        (("ID:open", "--limit", "nodes=few"), "nodes must be a positive whole number"),
        (("ID:open", "--table", "none", "--sample", "9"), "no table is called 'none'"),
    ],
)
def test_what_cannot_be_screened_is_refused_in_a_line(arguments, message):
    result = run("screen", *arguments)
    assert result.exit_code in (1, 2)
    assert message in result.output
    assert "Traceback" not in result.output


def test_a_suite_is_built_by_a_command_and_screened_by_the_next(tmp_path):
    file = tmp_path / "suite_5x5.parquet"
    field = ("--field", "greedy", "--field", "random")
    result = run("suite", "build", "--board", "5x5", *field, "--openings", 3, "--jobs", 1, "--out", file)
    assert result.exit_code == 0, result.output
    assert "Next: isolation screen 'ID:*' --suite" in result.output
    assert read_suite(file).field == ("greedy", "random")
    assert run("screen", "random", "--suite", file, "--split", "all", "--jobs", 1).exit_code == 0


def test_the_order_of_a_suite_is_compared_with_that_of_a_gauntlet(suite, tmp_path):
    keys = {"board": "5x5", "contenders": ["ID:null", "ID:territory", "ID:open"], "opponents": ["greedy"], "pairs": 60}
    options = {"limit": "nodes=100", "openings": "random:4", "jobs": 1, "out": str(tmp_path / "run")}
    config = load_config(None, {**keys, **options})
    play_tournament(config, pools=lambda jobs: ScriptedPool(Script()))
    agreement = agreement_with(tmp_path / "run", suite)
    assert (agreement.size, agreement.limit, agreement.agents, agreement.pairs) == ("5x5", "nodes=100", 4, 60)
    assert agreement.kept > 0.5
    with pytest.raises(ValueError, match="cannot be compared with a suite of 7x7"):
        agreement_with(tmp_path / "run", read_suite("7x7"))


def test_what_is_known_of_gauntlets_ships_for_7x7():
    agreements = known_agreements("7x7")
    assert [agreement.limit for agreement in agreements] == ["nodes=100", "nodes=1000", "nodes=10000"]
    assert all(0.8 < agreement.both <= 1 for agreement in agreements)
    assert known_agreements("5x6") == []
