"""The functions of `knights_isolation`: they answer like the commands of their names."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from invented_runs import gauntlet
from matplotlib.figure import Figure
from matplotlib.text import Text
from played_games import random_record, write_games

import knights_isolation as ki
from cli import main
from knights_isolation.experiments.studies.evaluation import Evaluation, Lead
from knights_isolation.isolation import Board
from knights_isolation.registry import COMMANDS, function_name


def moves(game: Any, player: Any) -> float:
    """An evaluation of one's own, of the test's."""
    return 2.0 * len(game.get_legal_moves(player)) - len(game.get_legal_moves(game.get_opponent(player)))


def moves_of_two(game: Any, player: Any, *, own: float = 1.0) -> float:
    """An evaluation with a parameter."""
    return own * len(game.get_legal_moves(player)) - len(game.get_legal_moves(game.get_opponent(player)))


def written_in(figure: Figure) -> set[str]:
    """The texts of a figure."""
    figure.canvas.draw()
    return {text.get_text().strip("\u200b") for text in figure.findobj(Text)}  # type: ignore[attr-defined]


def printed(*words: str) -> dict[str, Any]:
    """What a command prints as JSON."""
    result = CliRunner().invoke(main, [*words, "--format", "json"])
    assert result.exit_code == 0, result.output
    tables: dict[str, Any] = json.loads(result.stdout)
    return tables


def test_every_command_has_its_function() -> None:
    functions = {*map(function_name, COMMANDS)}
    assert functions <= {*ki.__all__}
    assert all(callable(getattr(ki, name)) for name in functions)


def test_a_run_is_compared_as_by_the_command(tmp_path: Path) -> None:
    run = gauntlet(12).write(tmp_path / "run")
    result = ki.compare(run)
    verdicts = printed("results", str(run))["verdicts"]
    frame = result.to_frame("verdicts")
    assert frame["contender"].tolist() == [row["contender"] for row in verdicts]
    assert frame["difference"].tolist() == pytest.approx([row["difference"] for row in verdicts])
    assert frame["difference"].dtype == float
    assert isinstance(result.plot(), Figure)
    for read in (ki.results(run), ki.compare(result.value), ki.results(result)):
        assert read.value.sources[0].info.path == run
    with pytest.raises(ValueError, match=r"a run is needed: .*, not list"):
        ki.results(ki.plan())
    with pytest.raises(ValueError, match="no table is called 'verdict'; did you mean verdicts"):
        result.to_frame("verdict")
    with pytest.raises(ValueError, match="pairs does not apply to runs"):
        ki.compare(run, pairs=3)


def test_a_function_where_a_run_is_needed_is_refused_in_a_line() -> None:
    for verb in (ki.sprt, ki.results, ki.ratings):
        with pytest.raises(ValueError, match=r"moves is a function, not a run: play it first"):
            verb(moves)


def test_a_card_has_the_finding_its_table_and_no_markup_of_names(tmp_path: Path) -> None:
    run = gauntlet(12).write(tmp_path / "run")
    result = ki.compare(run)
    card = result._repr_html_()
    assert result.sections[0].title in card
    assert card.count("<tr>") == 1 + len(result.sections[0].rows)
    assert str(result).startswith(result.sections[0].title)


def test_messages_name_functions_in_python_and_commands_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = gauntlet(4).write(tmp_path / "run")
    assert "isolation plan … --pilot RUN" in ki.plan().sections[0].notes[0]
    monkeypatch.setattr("knights_isolation.isolation.suggestions.COMMAND_LINE", "the command line")
    assert "ki.plan(pilot=RUN)" in ki.plan().sections[0].notes[0]
    with pytest.raises(ValueError, match=rf"list them with ki\.games\('{run}'\)"):
        ki.replay(run)
    with pytest.raises(ValueError, match=rf"compute them with ki\.label\('{run}'\)"):
        ki.accuracy(run)


def test_an_evaluation_has_a_card_and_a_row() -> None:
    lead = Lead(1.5, -0.5, 3.5, 400)
    answer = Evaluation(2.0, 1.0, 3.0, 1.25, "games", True, "", None, "better than <b>", 7768, games=lead)
    card = answer._repr_html_()
    assert "Passed every stage up to games, a node costs 1.25 × the baseline's" in card
    assert "<td>games</td><td>+1.5 (−0.5 to +3.5) points</td><td>400</td>" in card
    assert "better than &lt;b&gt;" in card
    assert answer.to_frame().loc[0, ["score", "games_low", "stage"]].tolist() == [2.0, -0.5, "games"]


def test_plans_diffs_and_exports_are_those_of_the_commands(tmp_path: Path) -> None:
    run = gauntlet(4).write(tmp_path / "run")
    assert ki.plan(effect=3).to_frame()["needed"].tolist() == [
        row["needed"] for row in printed("plan", "--effect", "3")["plan"]
    ]
    assert set(ki.diff(run, run).tables) == set(printed("diff", str(run), str(run))) - {"notes"}
    assert (
        ki.export(run, "csv", "games.csv").read_text()
        == CliRunner().invoke(main, ["export", str(run), "--to", "csv"]).output
    )
    with pytest.raises(ValueError, match=r"games\.csv already exists"):
        ki.export(run, "csv", "games.csv")


def test_plans_solutions_and_published_results_are_drawn() -> None:
    assert written_in(ki.plan(effect=3).plot()) >= {"half of the pairs split", "nine in ten split"}
    board = Board.from_moves([12, 1, 3, 8], size="5x5")
    assert written_in(ki.solve(board).plot()) >= {"player 1", "loses"}
    shown = written_in(ki.published().plot())
    assert {"edge_distance_dynamic, table7", "+4.0"} <= shown
    assert "+4.0  better" not in shown


@pytest.mark.exhaustive
def test_fits_tuning_and_features_are_drawn() -> None:
    assert written_in(ki.fit(moves_of_two).plot()) >= {"own", "worse by"}
    tuned = ki.tune(moves_of_two, opponent="open", board="5x5", games=200, pairs=20, limit="nodes=20", jobs=1)
    assert written_in(tuned.plot()) >= {"own, round by round"}
    assert written_in(ki.features("mobility", "centre", most=2).plot()) >= {"centre alone", "mobility alone"}


def test_games_are_found_replayed_and_drawn_as_by_the_commands(tmp_path: Path) -> None:
    run = gauntlet(4).write(tmp_path / "runs" / "first")
    found = ki.games(run, where="plies > 0", kind="longest", limit=3)
    assert found.to_frame()["game_id"].tolist() == [
        row["game_id"]
        for row in printed("games", str(run), "--where", "plies > 0", "--show", "longest", "--limit", "3")
    ]
    game = ki.replay(run, 0)
    assert game.to_frame()["move"].tolist() == [row["move"] for row in printed("replay", str(run), "0")]
    assert game._repr_html_().startswith("<iframe srcdoc=")
    assert "<script" not in game._repr_html_()
    assert ki.replay([24, 14, 9, 1]).value.moves == (24, 14, 9, 1)
    with pytest.raises(ValueError, match="illegal move at ply 4"):
        ki.replay([24, 14, 9, 9])
    assert isinstance(ki.plot("forest", run), Figure)
    assert ki.runs(tmp_path / "runs").to_frame()["games"].tolist() == [
        row["games"] for row in printed("runs", str(tmp_path / "runs"))
    ]
    assert list(ki.published().to_frame("claims")["agent"]) == [
        row["agent"] for row in printed("published", "--table", "claims")["claims"]
    ]


def test_a_run_is_labelled_and_its_moves_judged_as_by_the_command(tmp_path: Path) -> None:
    run = tmp_path / "run"
    write_games(run, [random_record(seed) for seed in range(6)])
    assert ki.label(run, sample=3, first_ply=6, jobs=1) == 3
    result = ki.accuracy(run, by_ply=True)
    assert result.to_frame()["agent"].tolist() == [
        row["agent"] for row in printed("perfect", "accuracy", str(run))["accuracy"]
    ]
    assert "by_ply" in result.tables
    assert isinstance(result.plot(), Figure)
    with pytest.raises(ValueError, match="name a labelled run or heuristics"):
        ki.accuracy(run, heuristics=["open"])


@pytest.mark.exhaustive
def test_a_function_is_screened_and_played_and_the_same_call_repeats_the_answer() -> None:
    screened = ki.screen(moves, baseline="open", sample=50, limit="nodes=20", jobs=1)
    assert screened.to_frame()["contender"].tolist()[-1] == "ID_Open"
    assert written_in(screened.plot()) >= {"ID_moves"}
    assert list(screened.value.mistakes) == ["ID_moves"]

    def played() -> list[Path]:
        result = ki.match(moves, "open", board="5x5", pairs=3, limit="nodes=20", jobs=1)
        assert result.value.played == 6
        return sorted(result.value.sources[0].info.path.glob("games/*"))

    assert played() == played()
    assert len(list(Path("runs").iterdir())) == 1


@pytest.mark.exhaustive
@pytest.mark.usefixtures("costs_measured")
def test_a_function_is_analysed_at_equal_nodes_and_at_equal_cost() -> None:
    result = ki.analyse(moves, opponents=["random"], limit="nodes=20", board="5x5", pairs=3, jobs=1)
    assert result.tables == ("verdicts", "costs", "opponents")
    assert result.to_frame()["function"].tolist() == ["moves"]
    assert set(result.value.trials) == {"moves"}


def test_a_former_name_leads_to_that_of_today_and_says_so(tmp_path: Path) -> None:
    run = gauntlet(4).write(tmp_path / "run")
    with pytest.warns(DeprecationWarning, match=r"ki\.summary is now ki\.results"):
        summary = ki.summary  # type: ignore[attr-defined]
    assert summary(run).tables == ki.results(run).tables
