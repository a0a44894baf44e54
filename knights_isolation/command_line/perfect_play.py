"""Commands about perfect play: `solve`, `label`, `accuracy`, `dataset`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from knights_isolation.command_line.cli_errors import interruptible
from knights_isolation.command_line.completion import complete_heuristics, complete_run, complete_spec
from knights_isolation.command_line.options import (
    PAGE,
    PICTURE,
    OutputPath,
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
from knights_isolation.command_line.output import print_rows, print_sections
from knights_isolation.isolation.shell import command
from knights_isolation.reports.text.rendering import Format

if TYPE_CHECKING:
    from knights_isolation.isolation.rules.limits import Limit
    from knights_isolation.reports.charts.chart import Chart


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
    "--out", type=OutputPath(makes_folders=True), help="With --all: output file; solved_BOARD.parquet by default."
)
@click.option("--plot", "plot_path", type=PICTURE, help="With --all: draw the winners as .svg or .png.")
@format_option
def solve_position(
    size: str, moves: str, fen: str | None, with_length: bool, limit: str | None, everything: bool, jobs: int,
    cluster: str | None, out: Path | None, plot_path: Path | None, output: Format,
) -> None:  # fmt: skip
    """Solve a position: winner, winning moves and best line."""
    from knights_isolation.experiments.roster import parse_limit

    if everything:
        refuse("a position instead of --all", "moves", "fen", "with_length")
        solve_board(
            size,
            parse_limit(limit) if limit else None,
            (jobs, cluster),
            out or Path(f"solved_{size}.parquet"),
            plot_path,
            output,
        )
    else:
        refuse("--all", "jobs", "cluster", "out", "plot_path")
        from knights_isolation import solve

        result = solve(position_asked_for(moves, size, fen), limit=limit, length=with_length)
        print_rows(result.sections[0].rows, output)


def solve_board(
    size: str, limit: Limit | None, workers: tuple[int, str | None], path: Path, plot_path: Path | None, output: Format
) -> None:
    """Solve every pair of placements of a board, locally or on a cluster, and summarise the results."""
    from knights_isolation.experiments.exact.board_solving import solve_all, summarise
    from knights_isolation.reports.charts.board_maps import refutation_maps
    from knights_isolation.reports.studies.solutions import board_sections
    from knights_isolation.reports.watch.run_progress import counting

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
def label_games(
    run: Path | None, sample: int | None, first_ply: int, limit: str | None, jobs: int, cluster: str | None
) -> None:  # fmt: skip
    """Solve the positions of a run and store the results: which moves keep the win."""
    from knights_isolation import label
    from knights_isolation.experiments.exact.labels import FILE
    from knights_isolation.reports.text.cell_values import pluralise

    labelled = run_or_latest(run)
    with interruptible("what was labelled", labelled / FILE):
        games = label(labelled, sample=sample, first_ply=first_ply, limit=limit, jobs=jobs, cluster=cluster)
    click.echo(f"{pluralise(games, 'game')} labelled. Next: {command('accuracy', labelled)}")


@click.command("accuracy")
@click.argument("run", required=False, type=click.Path(path_type=Path), shell_complete=complete_run)
@click.option(
    "--heuristics",
    metavar="NAMES",
    shell_complete=complete_heuristics,
    help="Test these heuristics instead, as in improved,mine.py:score; all if '*'.",
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
@click.option("--plot-by-ply", type=PICTURE, help="Draw accuracy by ply, .svg or .png.")
@click.option("--plot-by-depth", type=PICTURE, help="Draw accuracy by depth, .svg or .png.")
@table_option
@format_option
def measure_accuracy(
    run: Path | None, heuristics: str | None, depths: str, positions: int, size: str, jobs: int,
    cluster: str | None, by_ply: bool, plot_by_ply: Path | None, plot_by_depth: Path | None, only: str | None,
    output: Format,
) -> None:  # fmt: skip
    """Measure how often agents kept a win when a mistake was possible.

    Judges the moves of a labelled RUN; or, without a run, heuristics in fresh games against a fixed field.
    """
    from knights_isolation import accuracy
    from knights_isolation.reports.charts.line_plots import accuracy_by_depth, accuracy_by_ply

    if run is not None and heuristics is not None:
        raise ValueError("name either a labelled RUN or --heuristics NAMES")
    wanted = ((plot_by_ply, accuracy_by_ply), (plot_by_depth, accuracy_by_depth))
    plots = [(path, chart_of) for path, chart_of in wanted if path]
    if heuristics is not None:
        names = "*" if heuristics == "*" else [name.strip() for name in heuristics.split(",")]
        searched = [whole_number("--depths", word.strip(), "or several, as in 1,3,5") for word in depths.split(",")]
        result = accuracy(
            heuristics=names, depths=searched, positions=positions, board=size, jobs=jobs, cluster=cluster,
            by_ply=by_ply,
        )  # fmt: skip
    else:
        refuse("--heuristics", "depths", "positions", "size", "jobs", "cluster")
        result = accuracy(run_or_latest(run), by_ply=by_ply)
    print_sections(result.sections, output, only)
    for path, chart_of in plots:
        save_plot(chart_of(result.value), path, "No agent with enough labelled moves.")


def refuse(companion: str, *names: str) -> None:
    """Raise an error for options that were given without the option they depend on."""
    context = click.get_current_context()
    for parameter in context.command.params:
        is_given = context.get_parameter_source(str(parameter.name)) is click.core.ParameterSource.COMMANDLINE
        if parameter.name in names and is_given:
            raise ValueError(f"{parameter.opts[0]} requires {companion}")


def save_plot(chart: Chart | None, path: Path, missing: str = "") -> None:
    """Draw a chart, or the reason why there is none, into a file, and print its path."""
    from knights_isolation.reports.plots.draw_chart import draw_chart
    from knights_isolation.reports.plots.style import save

    save(draw_chart(chart, missing), path)
    click.echo(f"Wrote {path}", err=True)


@click.command("dataset")
@click.option("--positions", type=click.IntRange(min=1), required=True, help="Number of positions.")
@board_option
@click.option("--agent", default="ID:improved@depth=2", show_default=True, metavar="SPEC",
              help="Player of both sides.", shell_complete=complete_spec)  # fmt: skip
@click.option("--random", "random_moves", type=click.FloatRange(0, 1), default=0.2, show_default=True,
              help="Share of random moves.")  # fmt: skip
@click.option("--first-ply", type=click.IntRange(min=3),
              help="First ply to include; by default where at most 41 cells are blank, 9 on 7x7.")  # fmt: skip
@click.option("--feature", "features", multiple=True, metavar="NAME", shell_complete=complete_heuristics,
              help="Add the value of a shipped heuristic or feature as a column.")  # fmt: skip
@click.option("--limit", "nodes", type=click.IntRange(min=1), default=20_000_000, show_default=True,
              help="Node limit per position; unsolved positions are left out.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Random seed.")
@jobs_option
@click.option("--out", type=OutputPath(makes_folders=True), help="Folder to write; dataset_BOARD by default.")
def make_dataset(
    positions: int, size: str, agent: str, random_moves: float, first_ply: int | None, features: tuple[str, ...],
    nodes: int, seed: int, jobs: int, out: Path | None,
) -> None:  # fmt: skip
    """Write positions of self-play with the exact value of every move, for learning programs.

    The folder has Parquet files for training, validation and tests, and a data card. What was found is kept: the same
    command resumes.
    """
    from knights_isolation import dataset
    from knights_isolation.experiments.exact.dataset import PARTS
    from knights_isolation.reports.text.cell_values import pluralise

    folder = out or Path(f"dataset_{size}")
    with interruptible("what was found", folder / PARTS):
        counts = dataset(
            positions, board=size, agent=agent, random_moves=random_moves, first_ply=first_ply, features=features,
            nodes=nodes, seed=seed, jobs=jobs, out=folder,
        ).value  # fmt: skip
    total = sum(counts.values())
    if total < positions:
        click.echo(f"These settings give only {total:,} different positions of the {positions:,} wanted.", err=True)
    parts = ", ".join(f"{split} {count:,}" for split, count in counts.items())
    click.echo(f"{pluralise(total, 'position')} in {folder} ({parts}), described in {folder / 'README.md'}")


@click.command("refute")
@click.argument("specs", metavar="SPEC...", nargs=-1, required=True, shell_complete=complete_spec)
@click.option("--board", "sizes", multiple=True, default=("5x5",), show_default=True,
              help="Board size, ROWSxCOLUMNS; may be repeated.")  # fmt: skip
@click.option("--limit", "limits", multiple=True, default=("nodes=1000",), show_default=True,
              help="Limit of agents without one; may be repeated.")  # fmt: skip
@click.option("--openings", type=click.IntRange(min=1), help="Draw so many openings at random; by default all.")
@click.option("--opponent", default="ID:improved", show_default=True, metavar="SPEC", shell_complete=complete_spec,
              help="Count the wins from the same openings against this agent.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Random seed of the openings.")
@click.option("--jobs", type=click.IntRange(min=0), default=0, help="Threads; 0: one per core.")
@click.option("--html", type=PAGE, help="Also write a page.")
@format_option
def refute_agents(
    specs: tuple[str, ...], sizes: tuple[str, ...], limits: tuple[str, ...], openings: int | None, opponent: str,
    seed: int, jobs: int, html: Path | None, output: Format,
) -> None:  # fmt: skip
    """Search lines that beat agents which leave nothing to chance, from openings that are won for them.

    Their moves are pinned, and every one is checked by the solver: for each opening there is a shortest line that beats
    the agent, or the proof that there is none. One agent's shortest refutation is shown.
    """
    from knights_isolation import refute
    from knights_isolation.isolation.files.atomic_write import write_text
    from knights_isolation.reports.studies.refutations import board_text, refutations_page, shortest_refutation

    with interruptible():
        result = refute(
            *specs, board=sizes, limits=limits, openings=openings, opponent=opponent, seed=seed, jobs=jobs
        )  # fmt: skip
    print_sections(result.sections, output)
    first = result.value[0]
    if output == "table" and len(result.sections) > 1 and (shortest := shortest_refutation(first.answers)):
        click.echo("\n" + board_text(shortest, first.size))
    if html:
        options = [word for limit in limits for word in ("--limit", limit)]
        options += [word for size in sizes for word in ("--board", size)]
        options += ["--openings", str(openings)] if openings else []
        write_text(html, refutations_page(result.value, result.sections, command("refute", *specs, *options)))
        click.echo(f"Wrote {html}", err=True)


COMMANDS = (solve_position, label_games, measure_accuracy, refute_agents, make_dataset)
