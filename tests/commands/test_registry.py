"""Commands follow from functions: options, checks, help, former names, alike in Python and on the command line."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from click.testing import CliRunner

import knights_isolation as ki
from cli import main
from knights_isolation import registry
from knights_isolation.commands import system
from knights_isolation.experiments.play.pools.interrupts import Stopped, keeping
from knights_isolation.parameters import About, command
from knights_isolation.reports.answers import Result
from knights_isolation.reports.plots import KINDS
from knights_isolation.reports.text.rendering import Section


@command("rows")
def cells(
    size: str,
    *others: Annotated[str, About(place="option", metavar="SIZE")],
    most: Annotated[int, About(low=1, high=9)] = 3,
    share: Annotated[float, About(low=0, high=1, is_open=True)] = 0.5,
    order: Literal["rows", "columns"] = "rows",
    is_short: Annotated[bool, About(flags=("--short",), hidden=("--brief",))] = False,
) -> Result[tuple[Any, ...]]:
    """Count the cells of a board. This is said in detail only.

    Args:
        most: list at most this many.

    Examples:
        isolation cells 7x7
    """
    value = (size, others, most, share, order, is_short)
    section = Section("cells", "Cells", ({"value": repr(value)},))
    return Result(value, (section,), closing="A picture.", remark="Where it is.")


@pytest.fixture
def with_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a command more."""
    monkeypatch.setattr(system, "cells", cells, raising=False)
    monkeypatch.setattr(registry, "COMMANDS", registry.COMMANDS | {"cells": "system"})


def said(*words: str) -> str:
    """What a command prints on both streams."""
    return CliRunner().invoke(main, words).output


@pytest.mark.usefixtures("with_cells")
def test_options_help_and_output_follow_from_a_function_and_its_line_in_the_registry() -> None:
    shown = said("cells", "--help")
    assert "Count the cells of a board." in shown
    assert "--most INTEGER" in shown
    assert "List at most this many.  [default: 3]" in shown
    assert "--order [rows|columns]" in shown
    assert "--other SIZE" in shown
    assert "isolation cells 7x7" in shown
    assert "--short" in shown
    assert "--brief" not in shown
    words = ("--other", "5x5", "--other", "6x6", "--most", "2", "--order", "columns", "--brief", "--format", "csv")
    assert "('7x7', ('5x5', '6x6'), 2, 0.5, 'columns', True)" in said("cells", "7x7", *words)
    assert "('7x7', (), 3, 0.5, 'rows', False)" in said("cells", "7x7", "--format", "csv")


@pytest.mark.usefixtures("with_cells")
@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("most", "0", "0 is not in the range 1<=x<=9"),
        ("most", "10", "10 is not in the range 1<=x<=9"),
        ("most", "x", "'x' is not a whole number"),
        ("most", "2.5", "'2.5' is not a whole number"),
        ("share", "0", "0.0 is not in the range 0<x<1"),
        ("share", "1", "1.0 is not in the range 0<x<1"),
        ("share", "nan", "nan is not in the range 0<x<1"),
        ("order", "both", "'both' is not one of 'rows', 'columns'"),
    ],
)
def test_a_mistake_gets_the_same_sentence_in_python_and_on_the_command_line(
    option: str, value: str, sentence: str
) -> None:
    with pytest.raises(ValueError, match=f"^{option}: ") as refused:
        cells("7x7", **{option: value})  # type: ignore[arg-type]
    assert str(refused.value) == f"{option}: {sentence}"
    assert said("cells", "7x7", f"--{option}", value) == f"Error: --{option}: {sentence} (see main cells --help)\n"


@pytest.mark.parametrize(("given", "taken"), [(4, 4), (4.0, 4), ("4", 4)])
def test_a_whole_number_is_taken_in_every_way_it_is_written(given: Any, taken: int) -> None:
    value = cells("7x7", most=given).value[2]
    assert value == taken
    assert type(value) is int


@pytest.mark.parametrize("given", [2.5, float("inf"), [2]])
def test_what_is_no_whole_number_is_refused_in_python_too(given: Any) -> None:
    with pytest.raises(ValueError, match="is not a whole number"):
        cells("7x7", most=given)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ki.plan(effect=60), ("plan", "--effect", "60")),
        (lambda: ki.match("random", "greedy", pairs=0), ("match", "random", "greedy", "--pairs", "0")),
        (lambda: ki.screen("random", jobs=-1), ("screen", "random", "--jobs", "-1")),
    ],
)
def test_commands_refuse_alike(call: Callable[[], Any], words: Sequence[str]) -> None:
    with pytest.raises(ValueError, match=": ") as refused:
        call()
    assert f"--{refused.value} (see " in said(*words)


FORMER = {
    **{name: f"perfect {name}" for name in ("solve", "label", "accuracy", "refute", "dataset")},
    **{name: f"system {name}" for name in ("perft", "bench", "cache", "completion")},
    **{"scheduler": "cluster start", "worker": "cluster join", "summary": "results", "compare": "results"},
}


@pytest.mark.parametrize(("former", "name"), FORMER.items())
def test_a_former_spelling_answers_as_the_one_of_today_and_names_it(former: str, name: str) -> None:
    note, _, shown = said(former, "--help").partition("\n")
    assert note == f"Note: isolation {former} is now isolation {name}."
    assert shown.partition("\n\n")[2] == said(*name.split(), "--help").partition("\n\n")[2]


def test_what_was_kept_is_said_only_if_it_is_there(tmp_path: Path) -> None:
    for path, kept in ((tmp_path / "gone", ""), (tmp_path, f"what was found is in {tmp_path}")):
        with pytest.raises(Stopped) as stopped, keeping("what was found", path):
            raise KeyboardInterrupt
        assert stopped.value.kept == kept


def test_help_of_plots_names_every_kind() -> None:
    assert all(kind in said("plot", "--help") for kind in KINDS)


def test_public_names_are_the_functions_of_commands_and_these() -> None:
    others = {"experiments", "heuristics", "isolation", "reports", "lazy_package", "compare", "evaluate", "Settings"}
    others |= {"Discovery", "Evaluation", "Fitted", "Research", "Result", "Screened", "SolvedMoves", "Tuned"}
    others |= {"VectorGames", "agent_policy", "best_moves", "evaluate_positions", "exact", "move_values", "solve_moves"}
    others |= {*map(registry.function_name, registry.COMMANDS)}
    assert others <= {*dir(ki)}
    assert all(hasattr(ki, name) for name in others)


def test_a_result_without_tables_is_shown_as_its_text(tmp_path: Path) -> None:
    result = ki.new(tmp_path / "mine.py")
    assert "Wrote" in str(result)
    assert "Wrote" in result._repr_html_()


def test_an_empty_baseline_is_the_default_one() -> None:
    asked = {"pairs": 2, "limit": "nodes=30", "dry_run": True}
    default = ki.tournament("ID:territory", **asked)
    assert str(ki.tournament("ID:territory", baseline="", **asked)) == str(default)


@pytest.mark.usefixtures("with_cells")
def test_beside_another_format_no_picture_stands_and_a_remark_is_on_stderr() -> None:
    shown = CliRunner().invoke(main, ["cells", "7x7"])
    assert shown.stdout.endswith("Where it is.\nA picture.\n")
    written = CliRunner().invoke(main, ["cells", "7x7", "--format", "json"])
    assert len(json.loads(written.stdout)) == 1
    assert written.stderr == "Where it is.\n"


def test_a_match_is_played_from_openings_of_four_random_plies() -> None:
    assert "(random:4)" in str(ki.match("random", "greedy", pairs=2, dry_run=True))
