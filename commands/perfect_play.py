"""Commands about perfect play: `solve`, `label`, `accuracy`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from commands.cli_errors import interruptible
from commands.completion import complete_heuristics, complete_run
from commands.options import (
    board_option,
    cluster_option,
    fen_option,
    format_option,
    jobs_option,
    moves_option,
    position_asked_for,
    run_or_latest,
    table_option,
    whole_number,
)
from commands.output import print_rows, print_sections
from isolation.shell import command
from reports.text.rendering import Format

if TYPE_CHECKING:
    from pandas import DataFrame

    from isolation.rules.limits import Limit
    from reports.charts.chart import Chart


@click.command("solve")
@board_option
@moves_option
@fen_option
@click.option("--length", "with_length", is_flag=True, help="Also report the game length with best play.")
@click.option("--limit", help="Give up after nodes=N, ms=N or cpu_ms=N (with --all: for each pair).")
@click.option(
    "--all", "everything", is_flag=True, help="Solve every pair of placements and write a Parquet file; can be resumed."
)
@click.option("--jobs", type=click.IntRange(min=0), default=0, help="With --all: worker processes; 0: one per core.")
@cluster_option
@click.option(
    "--out", type=click.Path(path_type=Path), help="With --all: output file; solved_BOARD.parquet by default."
)
@click.option(
    "--plot", "plot_path", type=click.Path(path_type=Path), help="With --all: draw the winners as .svg or .png."
)
@format_option
def solve_position(
    size: str, moves: str, fen: str | None, with_length: bool, limit: str | None, everything: bool, jobs: int,
    cluster: str | None, out: Path | None, plot_path: Path | None, output: Format,
) -> None:  # fmt: skip
    """Solve a position: winner, winning moves and best line."""
    from experiments.roster import parse_limit
    from reports.studies.solutions import solution_rows

    bound = parse_limit(limit) if limit else None
    if everything:
        refuse("a position instead of --all", "moves", "fen", "with_length")
        solve_board(size, bound, (jobs, cluster), out or Path(f"solved_{size}.parquet"), plot_path, output)
    else:
        refuse("--all", "jobs", "cluster", "out", "plot_path")
        print_rows(solution_rows(position_asked_for(moves, size, fen), bound, with_length), output)


def solve_board(
    size: str, limit: Limit | None, workers: tuple[int, str | None], path: Path, plot_path: Path | None, output: Format
) -> None:
    """Solve every pair of placements of a board, locally or on a cluster, and summarise the results."""
    from experiments.exact.board_solving import solve_all, summarise
    from reports.charts.board_maps import refutation_maps
    from reports.plots.style import check_plot
    from reports.studies.solutions import board_sections
    from reports.watch.run_progress import counting

    if plot_path:
        check_plot(plot_path)
    with interruptible("what was solved", path), counting("placement pairs") as show:
        jobs, cluster = workers
        winners = solve_all(size, path, jobs=jobs, cluster=cluster, limit=limit, show=show)
    summary = summarise(winners, size)
    print_sections(board_sections(summary, str(path)), output)
    if plot_path:
        save_plot(refutation_maps(summary), plot_path)


@click.command("label")
@click.argument("run", required=False, type=click.Path(path_type=Path), shell_complete=complete_run)
@click.option("--sample", type=click.IntRange(min=1), help="Use a random sample of this many games.")
@click.option("--first-ply", type=click.IntRange(min=1), default=1, help="Start at this ply.")
@click.option("--limit", help="Limit per position: nodes=N, ms=N or cpu_ms=N.")
@jobs_option
@cluster_option
def label(
    run: Path | None, sample: int | None, first_ply: int, limit: str | None, jobs: int, cluster: str | None
) -> None:  # fmt: skip
    """Solve the positions of a run and store the results: which moves keep the win."""
    from experiments.exact.labels import DEFAULT_LIMIT, FILE, label_run
    from experiments.roster import parse_limit
    from reports.text.cell_values import pluralise
    from reports.watch.run_progress import counting

    bound = parse_limit(limit) if limit else DEFAULT_LIMIT
    labelled = run_or_latest(run)
    with interruptible("what was labelled", labelled / FILE), counting("games") as show:
        games = label_run(
            labelled, sample=sample, first_ply=first_ply - 1, limit=bound, jobs=jobs, cluster=cluster, show=show
        )
    click.echo(f"{pluralise(games, 'game')} labelled. Next: {command('accuracy', labelled)}")


@click.command("accuracy")
@click.argument("run", required=False, type=click.Path(path_type=Path), shell_complete=complete_run)
@click.option(
    "--heuristics",
    metavar="NAMES",
    shell_complete=complete_heuristics,
    help="Test these heuristics instead, as in improved,mine.py:score; '*': all.",
)
@click.option("--depths", default="3", show_default=True, help="With --heuristics: search depths, as in 1,3,5.")
@click.option("--positions", type=click.IntRange(min=1), default=500, show_default=True,
              help="With --heuristics: number of test positions for each of them.")  # fmt: skip
@board_option
@click.option(
    "--jobs", type=click.IntRange(min=0), default=0, help="With --heuristics: worker processes; 0: one per core."
)
@cluster_option
@click.option("--by-ply", is_flag=True, help="Also by bands of seven plies.")
@click.option("--plot-by-ply", type=click.Path(path_type=Path), help="Draw accuracy by ply, .svg or .png.")
@click.option("--plot-by-depth", type=click.Path(path_type=Path), help="Draw accuracy by depth, .svg or .png.")
@table_option
@format_option
def accuracy(
    run: Path | None, heuristics: str | None, depths: str, positions: int, size: str, jobs: int,
    cluster: str | None, by_ply: bool, plot_by_ply: Path | None, plot_by_depth: Path | None, only: str | None,
    output: Format,
) -> None:  # fmt: skip
    """Measure how often agents kept a win when a mistake was possible.

    Judges the moves of a labelled RUN; or, without a run, heuristics in fresh games against a fixed field.
    """
    from experiments.exact.accuracy import BAND, accuracies, run_decisions
    from experiments.record.log import count_games
    from reports.charts.line_plots import accuracy_by_depth, accuracy_by_ply
    from reports.plots.style import check_plot
    from reports.tables.accuracy import accuracy_sections

    if run is not None and heuristics is not None:
        raise ValueError("name either a labelled RUN or --heuristics NAMES")
    wanted = ((plot_by_ply, accuracy_by_ply), (plot_by_depth, accuracy_by_depth))
    plots = [(path, chart_of) for path, chart_of in wanted if path]
    for path, _ in plots:
        check_plot(path)
    if heuristics is not None:
        decisions, notes = fresh_decisions(heuristics, depths, positions, size, jobs, cluster)
    else:
        refuse("--heuristics", "depths", "positions", "size", "jobs", "cluster")
        labelled = run_or_latest(run)
        decisions = run_decisions(labelled)
        notes = [f"{decisions['game_id'].nunique():,} of {count_games(labelled):,} games are labelled."]
    bands = accuracies(decisions, BAND) if by_ply else ()
    print_sections(accuracy_sections(accuracies(decisions), bands, notes), output, only)
    for path, chart_of in plots:
        save_plot(chart_of(decisions), path, "No agent with enough labelled moves.")


def fresh_decisions(
    names: str, depths: str, positions: int, size: str, jobs: int, cluster: str | None
) -> tuple[DataFrame, list[str]]:
    """Return the decisions of heuristics in games played for this, and sentences about their origin."""
    import heuristics
    from experiments.exact.accuracy_games import described, play_and_label, shortages
    from reports.watch.run_progress import counting

    chosen = heuristics.names() if names == "*" else [name.strip() for name in names.split(",")]
    searched = [whole_number("--depths", word.strip(), "or several, as in 1,3,5") for word in depths.split(",")]
    failures: list[str] = []
    with counting("players") as show:
        frame = play_and_label(
            chosen, searched, positions, size=size, jobs=jobs, cluster=cluster, show=show, note=failures.append
        )
    return frame, [*failures, described(size), *shortages(frame, positions)]


def refuse(companion: str, *names: str) -> None:
    """Raise an error for options that were given without the option they depend on."""
    context = click.get_current_context()
    for parameter in context.command.params:
        is_given = context.get_parameter_source(str(parameter.name)) is click.core.ParameterSource.COMMANDLINE
        if parameter.name in names and is_given:
            raise ValueError(f"{parameter.opts[0]} requires {companion}")


def save_plot(chart: Chart | None, path: Path, missing: str = "") -> None:
    """Draw a chart, or the reason why there is none, into a file, and print its path."""
    from reports.plots.draw_chart import draw_chart
    from reports.plots.style import save

    save(draw_chart(chart, missing), path)
    click.echo(f"Wrote {path}", err=True)


COMMANDS = (solve_position, label, accuracy)
