"""The command line: each command reads options, calls one function and prints.

What a command needs is imported when it runs, so that `--help` answers at once.
"""

from __future__ import annotations

import os
import random
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from experiments.play.runner import Outcome
    from experiments.runs import RunSummary
    from experiments.verdicts.findings import Findings
    from isolation.board import Board
    from isolation.limits import Limit
    from reports.sections import Section
    from reports.tables import Format

FORMATS = ("table", "json", "csv", "markdown")


class BadInput(click.ClickException):
    """The user's input was wrong; the message is one line."""

    exit_code = 2


@contextmanager
def one_line_errors() -> Iterator[None]:
    """What a user can cause ends in one line: exit code 2 for what was asked wrongly, 1 for what went wrong.

    Raises:
        click.ClickException: with that line.
    """
    try:
        yield
    except click.UsageError as error:
        if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):  # newer versions of click only
            raise
        told = _plain_usage(error.format_message())
        hint = f" (see {error.ctx.command_path} --help)" if error.ctx else ""
        raise BadInput(f"{told}{hint}") from error
    except ValueError as error:
        raise BadInput(_in_one_line(str(error))) from error
    except OSError as error:
        text = f"{error.filename or ''}: {error.strerror or error}".removeprefix(": ")
        if isinstance(error, FileNotFoundError | FileExistsError | IsADirectoryError | NotADirectoryError):
            raise BadInput(text) from error
        raise click.ClickException(text) from error


def _plain_usage(message: str) -> str:
    """What click says of an argument, in words for people who have never heard of types and ranges."""
    message = re.sub(r"^Invalid value for '\[?(.+?)\]?': ", r"\1: ", message.removesuffix("."))
    message = re.sub(r"is not a valid integer( range)?$", "is not a whole number", message)
    message = re.sub(r"is not a valid float( range)?$", "is not a number", message)
    return re.sub(r"is not in the range x>=(\S+)$", r"is less than \1", message)


def _in_one_line(message: str) -> str:
    """A message whose further lines show the text it is about, with the wrong part underlined, as one line."""
    first, *rest = message.splitlines() or [""]
    shown = " ".join(line.strip() for line in rest if line.strip(" ^"))
    return first if shown in first else f"{first} (in {shown})"


class Commands(click.Group):
    """Commands in the order they are written, whose user errors end in one line."""

    def list_commands(self, context: click.Context) -> list[str]:
        """The commands in the order of the file."""
        return list(self.commands)

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        """Read what stands before the command."""
        with one_line_errors():
            return super().make_context(*arguments, **options)

    def invoke(self, context: click.Context) -> Any:
        """Run a command; a ValueError is the user's, and says what was wrong and what would be right."""
        with one_line_errors():
            try:
                return super().invoke(context)
            except BrokenPipeError:
                # The reader has gone, as in `isolation heuristics | head`: nothing is left to say.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                context.exit(0)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="knights-isolation")
def main() -> None:
    """Experiment with heuristics in knight's Isolation."""
    warnings.showwarning = lambda message, *rest, **more: click.echo(f"Note: {message}", err=True)


format_option = click.option(
    "--format", "output", type=click.Choice(FORMATS), default="table", show_default=True, help="How to print tables."
)
board_option = click.option("--board", "size", default="7x7", show_default=True, help="Board size, ROWSxCOLUMNS.")
moves_option = click.option(
    "--moves", default="", help="Moves so far, as in d3,a2 or as cells 24,14 (row * columns + column)."
)


def position(size: str, moves: str) -> Board:
    """The position after some moves, as given on the command line."""
    from isolation.notation import position_after

    return position_after(moves, size)


def print_rows(rows: Sequence[dict[str, Any]], output: Format, title: str = "") -> None:
    """Print rows as a table or in another format."""
    from reports.tables import render_rows

    click.echo(render_rows(rows, output, title))


# --- heuristics ---------------------------------------------------------------------------------------------------


@main.command("new")
@click.argument("file", type=click.Path(path_type=Path))
def new_heuristic(file: Path) -> None:
    """Write a commented template of a heuristic."""
    from experiments.template import TEMPLATE

    if file.suffix != ".py":
        raise ValueError(f"a heuristic lives in a Python file, such as {file.with_suffix('.py')}, not in {file}")
    write_new(file, TEMPLATE)
    click.echo(f"Wrote {file}. Try it out with: isolation try {file}")


@main.command("try")
@click.argument("reference", metavar="FILE[:FUNCTION]")
def try_out(reference: str) -> None:
    """Say of a heuristic whether it compiles, what it costs, whether it is sound, and how it does at first sight."""
    from experiments.trial import try_heuristic
    from isolation.loading import doubts, load_heuristic
    from reports.trial import describe_trial

    path, name = split_file(reference, find_heuristic)
    trial = try_heuristic(load_heuristic(path, name).value)
    click.echo(describe_trial(f"{path}:{name}", trial, doubts(path)))
    if not all(finding.ok for finding in trial.findings):
        sys.exit(1)


@main.command("eval")
@board_option
@moves_option
@click.option("--file", "references", multiple=True, metavar="FILE[:FUNCTION]", help="A heuristic of your own.")
@format_option
def evaluate(size: str, moves: str, references: tuple[str, ...], output: Format) -> None:
    """Show what every heuristic says of a position, to both players."""
    import heuristics
    from isolation.loading import load_heuristic
    from isolation.render import to_text

    board = position(size, moves)
    functions: dict[str, Callable[[Any, Any], float]] = {name: heuristics.get(name) for name in heuristics.names()}
    for reference in references:
        path, name = split_file(reference, find_heuristic)
        functions[f"{Path(path).name}:{name}"] = load_heuristic(path, name).value
    if output == "table":
        click.echo(to_text(board) + "\n")
    print_rows([evaluation(name, function, board) for name, function in functions.items()], output)


def evaluation(name: str, function: Callable[[Any, Any], float], board: Board) -> dict[str, Any]:
    """One heuristic's values of a position; what it raises stands in a value's place."""
    row: dict[str, Any] = {"heuristic": name}
    for player in board.players:
        try:
            row[f"player {player}"] = float(function(board.copy(), player))
        except Exception as error:
            row[f"player {player}"] = f"{type(error).__name__}: {error}"
    return row


@main.command("heuristics")
@click.option("--file", "file", type=click.Path(path_type=Path), help="List the functions of this file instead.")
@format_option
def list_heuristics(file: Path | None, output: Format) -> None:
    """List the heuristics: name, meaning, and whether they compile or why not."""
    from experiments.catalogue import file_catalogue, registry_catalogue

    listings = file_catalogue(file) if file else registry_catalogue()
    print_rows([{"name": one.name, "meaning": one.meaning, "compiles": one.compiles} for one in listings], output)


@main.command("test-agent")
@click.argument("reference", metavar="FILE[:CLASS]")
def test_agent(reference: str) -> None:
    """Check a classic player: signature, legal moves, time limit, fixed-depth search."""
    from isolation.checkup import check_player
    from isolation.loading import load_player

    path, name = split_file(reference, find_player)
    findings = check_player(load_player(path, name).value)
    click.echo(f"{path}:{name}")
    for finding in findings:
        click.echo(f"  {'ok  ' if finding.ok else 'FAIL'}  {finding.check}: {finding.seen}")
    if not all(finding.ok for finding in findings):
        sys.exit(1)


def split_file(reference: str, find: Callable[[str], str]) -> tuple[str, str]:
    """The file and the name in it; without a name, the one that `find` finds."""
    path, colon, name = reference.rpartition(":")
    return (path, name) if colon and name and path.endswith(".py") else (reference, find(reference))


def find_heuristic(path: str) -> str:
    """The name of a file's heuristic."""
    from experiments.catalogue import only_heuristic

    return only_heuristic(path)


def find_player(path: str) -> str:
    """The name of a file's player class."""
    from experiments.catalogue import only_player

    return only_player(path)


# --- the engine ---------------------------------------------------------------------------------------------------


@main.command("perft")
@board_option
@click.option("--depth", type=click.IntRange(min=1), default=5, show_default=True, help="Count up to so many plies.")
@moves_option
@format_option
def count_moves(size: str, depth: int, moves: str, output: Format) -> None:
    """Count the move sequences of 1, 2, … plies."""
    from isolation import perft

    counts = perft(position(size, moves), depth)
    print_rows([{"depth": d, "sequences": count} for d, count in enumerate(counts, start=1)], output)


@main.command("bench")
@format_option
def bench(output: Format) -> None:
    """Measure the speed of searches, games and start-up on this machine, as ratios to a comparator in the same run."""
    from experiments.bench import measure

    print_rows(measure(), output)


@main.command("cache")
@click.option("--clear", is_flag=True, help="Delete all compiled code.")
def compiled_code(clear: bool) -> None:
    """Say where compiled code is kept and how large it is."""
    from isolation.compiling import library

    click.echo(f"{library.folder()}: {len(library.files())} files, {library.size() / 1e6:.1f} MB")
    if clear:
        library.clear()
        click.echo("Cleared.")


# --- tournaments --------------------------------------------------------------------------------------------------


def run_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options that tournaments and matches share; each replaces a key of the configuration."""
    options = [
        click.option("--pairs", help="Openings a match, each played with sides swapped; or 'all'."),
        click.option("--openings", help="random:PLIES, placements or file:PATH, with ,same or ,other behind it."),
        click.option("--limit", help="Limit of agents that name none: nodes=N, depth=N, ms=N or cpu_ms=N."),
        click.option("--board", help="Board size, ROWSxCOLUMNS."),
        click.option("--seed", type=int, help="Seed of the openings and of every game."),
        click.option("--jobs", type=click.IntRange(min=0), help="Processes; 0 is one a core."),
        click.option("--hard-cap", type=float, help="Seconds after which a move of a user's agent is a hang."),
        click.option("--sprt", metavar="ELO0,ELO1", help="Stop as soon as this sequential test decides."),
        click.option("--out", help="Directory of the run."),
        click.option("--resume", metavar="RUN", help="Play what is missing of an interrupted run."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@main.command("tournament")
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--contender", "contenders", multiple=True, metavar="SPEC", help="A contender; may be repeated.")
@click.option("--opponent", "opponents", multiple=True, metavar="SPEC", help="An opponent; may be repeated.")
@click.option("--baseline", metavar="SPEC", help="What contenders are compared with.")
@click.option("--equal-cost", is_flag=True, default=None, help="Scale node limits so that moves cost the same time.")
@click.option("--init", is_flag=True, help="Write a commented tournament.toml and stop.")
@run_options
def tournament(file: Path | None, init: bool, resume: str | None, **options: Any) -> None:
    """Play a tournament: the classic evaluation, or that of a TOML FILE.

    Every game is logged; agents are named like ID:improved@nodes=2000 or path/to/my.py:score.
    """
    if init:
        from experiments.config import example_toml

        write_new(Path("tournament.toml"), example_toml())
        click.echo("Wrote tournament.toml. Play it with: isolation tournament tournament.toml")
        return
    play_run(file, options, resume)


@main.command("match")
@click.argument("agent_1", metavar="A")
@click.argument("agent_2", metavar="B")
@run_options
def match(agent_1: str, agent_2: str, resume: str | None, **options: Any) -> None:
    """Play agents A and B head to head, from random openings of four plies."""
    setup = {"format": "head-to-head", "contenders": (agent_1,), "baseline": agent_2, "openings": "random:4"}
    play_run(None, {**setup, **{key: value for key, value in options.items() if value is not None}}, resume)


@main.command("runs")
@click.argument("home", required=False, type=click.Path(path_type=Path))
@format_option
def list_runs(home: Path | None, output: Format) -> None:
    """List the runs below a directory, runs/ by default: when, what, how many games, finished or not."""
    from experiments import runs

    if home and not home.is_dir():
        raise ValueError(f"{home}: no such directory")
    found = runs.list_runs(home or runs.HOME)
    if not found and output == "table":
        click.echo(f"There are no runs in {home or runs.HOME}/.")
        return
    print_rows([run_row(summary) for summary in found], output)


def run_row(summary: RunSummary) -> dict[str, Any]:
    """A line of the list of runs."""
    info = summary.info
    return {
        "run": str(info.path),
        "started": info.created_at[:19].replace("T", " "),
        "format": info.requested["format"],
        "board": info.requested["board"],
        "agents": len(info.agents),
        "games": summary.played,
        "of": info.games,
        "finished": summary.finished,
    }


def play_run(file: Path | None, options: dict[str, Any], resume: str | None) -> None:
    """Play a tournament or a match, show it live, and say where the log lies and what to do next."""
    from experiments.play.interrupts import heard_once

    with heard_once():
        is_finished = play_and_tell(file, run_keys(options), resume)
    if not is_finished:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Nothing is left to do but to end.
        sys.exit(1)


def play_and_tell(file: Path | None, keys: dict[str, Any], resume: str | None) -> bool:
    """Play a tournament, then print what came of it; whether it has been played to its end."""
    try:
        outcome = play_shown(file, keys, resume)
    except KeyboardInterrupt:
        click.echo("Interrupted before there was a game to play; nothing was written.")
        return False
    print_outcome(outcome)
    games = f"{outcome.logged:,} of {outcome.total:,} games"
    if outcome.finished:
        click.echo(f"{games} in {outcome.seconds:.0f} s, logged in {outcome.path}")
        click.echo(f"Next: isolation compare {outcome.path}")
    else:
        click.echo(f"Interrupted with {games} played. Go on with: isolation tournament --resume {outcome.path}")
    return outcome.finished


def play_shown(file: Path | None, keys: dict[str, Any], resume: str | None) -> Outcome:
    """Play a tournament, shown live."""
    from rich.console import Console

    from experiments.config import load_config
    from experiments.play.runner import play_tournament
    from experiments.runs import load_run, requested_config
    from reports.progress import display
    from reports.tables import terminal_width

    if resume and file is None:
        config = requested_config(load_run(resume), keys.pop("jobs", 0), keys)
    else:
        config = load_config(file, keys | ({"out": resume} if resume else {}))
    with display(Console(width=terminal_width())) as show:
        return play_tournament(config, resume=resume is not None, show=show)


def print_outcome(outcome: Outcome) -> None:
    """Print the table of a run, if there is anything in it, and what should be known of the run."""
    from rich.console import Console

    from reports.progress import opponent_table
    from reports.tables import terminal_width

    console = Console(width=terminal_width())
    if outcome.logged:
        console.print(opponent_table(outcome.plan, outcome.points))
    for note in outcome.notes:
        console.print(f"Note: {note}", highlight=False, markup=False)


def run_keys(options: dict[str, Any]) -> dict[str, Any]:
    """Options as the configuration has them; lists of them that are empty were not given."""
    keys = {key: value for key, value in options.items() if value not in (None, ())}
    if "pairs" in keys and keys["pairs"] != "all":
        keys["pairs"] = whole_number("--pairs", keys["pairs"], "or 'all'")
    if "sprt" in keys:
        keys["sprt"] = tuple(number("--sprt", word) for word in keys["sprt"].split(","))
    return keys


def whole_number(option: str, text: str, alternative: str = "") -> int:
    """A whole number given as text."""
    if not text.isdecimal():
        raise ValueError(f"{option} is a whole number {alternative}".rstrip() + f", not {text!r}")
    return int(text)


def number(option: str, text: str) -> float:
    """A number given as text."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{option} is made of numbers, and {text!r} is none") from None


def write_new(path: Path, text: str) -> None:
    """Write a file that must not exist yet."""
    try:
        with path.open("x", encoding="utf-8") as new:
            new.write(text)
    except FileExistsError:
        raise ValueError(f"{path} exists already: choose another name, or remove it first") from None


# --- findings -----------------------------------------------------------------------------------------------------


def findings_options(command: Callable[..., None]) -> Callable[..., None]:
    """The arguments and options of every command that reads runs and prints tables."""
    options = [
        click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path)),
        click.option("--baseline", metavar="AGENT", help="Compare with this agent instead of the run's own baseline."),
        click.option("--mixed", is_flag=True, help="Pool runs even if limits, boards or openings differ."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


table_option = click.option("--table", "only", metavar="NAME", help="Print only this one of the tables.")


def read_findings(runs: Sequence[Path], baseline: str | None = None, mixed: bool = False) -> Findings:
    """Runs read for analysis."""
    from experiments.verdicts.findings import load_findings

    return load_findings(runs, baseline, mixed)


def print_sections(sections: Sequence[Section], output: Format, only: str | None = None) -> None:
    """Print tables with their notes."""
    from reports.sections import render_sections

    click.echo(render_sections(sections, output, only))


@main.command("summary")
@findings_options
@table_option
@format_option
def summary(runs: tuple[Path, ...], baseline: str | None, mixed: bool, only: str | None, output: Format) -> None:
    """Summarise runs: standings, opponents, sides, forfeits, game lengths, search."""
    from reports.summary import summarize

    print_sections(summarize(read_findings(runs, baseline, mixed)), output, only)


@main.command("compare")
@findings_options
@table_option
@format_option
def compare(runs: tuple[Path, ...], baseline: str | None, mixed: bool, only: str | None, output: Format) -> None:
    """Say of every contender whether it is better than the baseline, by how much, and how sure that is."""
    from reports.compare import compare_sections

    print_sections(compare_sections(read_findings(runs, baseline, mixed)), output, only)


@main.command("ratings")
@findings_options
@click.option("--zero", metavar="AGENT", help="Whose rating is 0; the baseline by default.")
@table_option
@format_option
def ratings(
    runs: tuple[Path, ...], baseline: str | None, mixed: bool, zero: str | None, only: str | None, output: Format
) -> None:
    """Rate all agents on one scale (Bradley-Terry, in Elo), and say how likely each is above each."""
    from reports.ratings import rating_sections

    print_sections(rating_sections(read_findings(runs, baseline, mixed), zero), output, only)


@main.command("sprt")
@findings_options
@click.option("--elo0", "low", type=float, help="H0: no stronger than this. In a gauntlet: percentage points.")
@click.option("--elo1", "high", type=float, help="H1: stronger by this. In a gauntlet: percentage points.")
@click.option("--alpha", type=click.FloatRange(0, 0.5, True, True), default=0.05, show_default=True)
@click.option("--beta", type=click.FloatRange(0, 0.5, True, True), default=0.05, show_default=True)
@table_option
@format_option
def sprt(
    runs: tuple[Path, ...], baseline: str | None, mixed: bool, low: float | None, high: float | None, alpha: float,
    beta: float, only: str | None, output: Format,
) -> None:  # fmt: skip
    """Test contenders sequentially against the baseline: Elo head to head, percentage points in a gauntlet."""
    from reports.sprt import sprt_sections

    print_sections(sprt_sections(read_findings(runs, baseline, mixed), low, high, alpha, beta), output, only)


@main.command("plan")
@click.option("--effect", type=float, help="Difference of win rates to be found, as 0.03.")
@click.option("--elo", type=float, help="Difference to be found head to head, in Elo, instead.")
@click.option("--power", type=click.FloatRange(0.5, 1, True, True), default=0.8, show_default=True)
@click.option("--alpha", type=click.FloatRange(0, 1, True, True), default=0.05, show_default=True)
@click.option("--pilot", type=click.Path(path_type=Path), help="A run whose variance and speed to go by.")
@format_option
def plan(
    effect: float | None, elo: float | None, power: float, alpha: float, pilot: Path | None, output: Format
) -> None:  # fmt: skip
    """Say how many pairs, and how long, finding a difference takes."""
    from reports.plan import plan_sections

    print_sections(plan_sections(effect, elo, power, alpha, read_findings([pilot]) if pilot else None), output)


@main.command("published")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--baseline", metavar="AGENT", help="The baseline's name there; ID_Improved by default.")
@table_option
@format_option
def published(file: Path | None, baseline: str | None, only: str | None, output: Format) -> None:
    """Analyse published results anew: CSV, or the classic scripts' output. Without FILE, those that ship with this."""
    from reports.published import analyse_file, published_sections

    print_sections(published_sections(analyse_file(file, baseline)), output, only)


@main.command("plot")
@click.argument("arguments", metavar="RUN... KIND", nargs=-1, required=True)
@click.option("--out", type=click.Path(path_type=Path), help="The file, .svg or .png; KIND.svg by default.")
@click.option("--baseline", metavar="AGENT", help="Compare with this agent instead of the run's own baseline.")
@click.option("--mixed", is_flag=True, help="Pool runs even if limits, boards or openings differ.")
@click.option("--agent", metavar="AGENT", help="For kinds that show one agent: running, placements, visits.")
def plot(arguments: tuple[str, ...], out: Path | None, baseline: str | None, mixed: bool, agent: str | None) -> None:
    """Draw a plot: forest, heatmap, ladder, limits, running, lengths, depth, nodes, placements, visits, calibration."""
    from reports.plots import draw_plot

    *runs, kind = arguments
    written = draw_plot(kind, runs, out or Path(f"{kind}.svg"), baseline, mixed, agent)
    click.echo(f"Wrote {written}")


@main.command("report")
@findings_options
@click.option("--out", type=click.Path(path_type=Path), help="The file; RUN/report.html by default.")
def report(runs: tuple[Path, ...], baseline: str | None, mixed: bool, out: Path | None) -> None:
    """Write the report of runs: one page that needs nothing else, every table in it also as CSV."""
    from reports.page import write_report

    click.echo(f"Wrote {write_report(read_findings(runs, baseline, mixed), out or runs[0] / 'report.html')}")


# --- perfect play -------------------------------------------------------------------------------------------------


@main.command("solve")
@board_option
@moves_option
@click.option("--length", "with_length", is_flag=True, help="Also how long it takes if the winner hurries.")
@click.option("--limit", help="Give up after nodes=N, ms=N or cpu_ms=N (with --all: for each pair).")
@click.option("--all", "everything", is_flag=True, help="Solve every pair of placements, to Parquet; can be resumed.")
@click.option("--jobs", type=click.IntRange(min=0), default=0, help="With --all: processes; 0 is one a core.")
@click.option("--out", type=click.Path(path_type=Path), help="With --all: the file; solved_BOARD.parquet by default.")
@click.option("--plot", "plot_path", type=click.Path(path_type=Path), help="With --all: draw who wins, .svg or .png.")
@format_option
def solve_position(
    size: str, moves: str, with_length: bool, limit: str | None, everything: bool, jobs: int, out: Path | None,
    plot_path: Path | None, output: Format,
) -> None:  # fmt: skip
    """Say who wins with perfect play, by which moves, and along which line."""
    from experiments.roster import parse_limit
    from reports.solutions import solution_rows

    bound = parse_limit(limit) if limit else None
    if everything:
        refuse("a position, not with --all", "moves", "with_length")
        solve_board(size, bound, jobs, out or Path(f"solved_{size}.parquet"), plot_path, output)
    else:
        refuse("--all", "jobs", "out", "plot_path")
        print_rows(solution_rows(position(size, moves), bound, with_length), output)


def solve_board(size: str, limit: Limit | None, jobs: int, path: Path, plot_path: Path | None, output: Format) -> None:
    """Solve every pair of placements of a board, and say what they come to."""
    from experiments.solving import solve_all, summarise
    from reports.plots.accuracy import draw_refutations
    from reports.plots.style import check_plot
    from reports.progress import counting
    from reports.solutions import board_sections

    if plot_path:
        check_plot(plot_path)
    with kept_if_interrupted(f"what was solved is in {path}"), counting("placement pairs") as show:
        winners = solve_all(size, path, jobs=jobs or os.cpu_count() or 1, limit=limit, show=show)
    summary = summarise(winners, size)
    print_sections(board_sections(summary, str(path)), output)
    if plot_path:
        save_plot(draw_refutations(summary), plot_path)


@main.command("label")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--sample", type=click.IntRange(min=1), help="Only so many games, drawn at random.")
@click.option("--first-ply", type=click.IntRange(min=0), default=0, help="Leave out the plies before this one.")
@click.option("--limit", help="Give a position up after nodes=N, ms=N or cpu_ms=N.")
@click.option("--jobs", type=click.IntRange(min=0), default=0, help="Processes; 0 is one a core.")
def label(run: Path, sample: int | None, first_ply: int, limit: str | None, jobs: int) -> None:
    """Add exact values to the positions of a run: every move is then known to keep or throw away the win."""
    from experiments.labels import DEFAULT_LIMIT, label_run
    from experiments.roster import parse_limit
    from reports.progress import counting

    bound = parse_limit(limit) if limit else DEFAULT_LIMIT
    with kept_if_interrupted(f"what was labelled is in {run}"), counting("games") as show:
        games = label_run(
            run, sample=sample, first_ply=first_ply, limit=bound, jobs=jobs or os.cpu_count() or 1, show=show
        )
    click.echo(f"{games:,} games labelled. Next: isolation accuracy {run}")


@main.command("accuracy")
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.option("--heuristics", metavar="NAMES", help="Judge these instead, as in improved,mine.py:score; '*' is all.")
@click.option("--depths", default="3", show_default=True, help="With --heuristics: depths of search, as in 1,3,5.")
@click.option("--positions", type=click.IntRange(min=1), default=500, show_default=True,
              help="With --heuristics: how many telling positions each of them is judged in.")  # fmt: skip
@board_option
@click.option("--jobs", type=click.IntRange(min=0), default=0, help="With --heuristics: processes; 0 is one a core.")
@click.option("--by-ply", is_flag=True, help="Also in bands of seven plies.")
@click.option("--plot-by-ply", type=click.Path(path_type=Path), help="Draw accuracy by ply, .svg or .png.")
@click.option("--plot-by-depth", type=click.Path(path_type=Path), help="Draw accuracy by depth, .svg or .png.")
@table_option
@format_option
def accuracy(
    run: Path | None, heuristics: str | None, depths: str, positions: int, size: str, jobs: int, by_ply: bool,
    plot_by_ply: Path | None, plot_by_depth: Path | None, only: str | None, output: Format,
) -> None:  # fmt: skip
    """Say how often agents kept a win that they could have thrown away.

    Judges the moves of a labelled RUN; or, without a run, heuristics in fresh games against a fixed field.
    """
    from experiments.accuracy import BAND, accuracies, run_decisions
    from experiments.log import count_games
    from reports.accuracy import accuracy_sections
    from reports.plots.style import check_plot

    if (run is None) == (heuristics is None):
        raise ValueError("accuracy takes either a labelled RUN or --heuristics NAMES")
    for path in filter(None, (plot_by_ply, plot_by_depth)):
        check_plot(path)
    if run is None:
        decisions, notes = judged(str(heuristics), depths, positions, size, jobs)
    else:
        refuse("--heuristics", "depths", "positions", "size", "jobs")
        decisions = run_decisions(run)
        notes = [f"{decisions['game_id'].nunique():,} of {count_games(run):,} games are labelled."]
    bands = accuracies(decisions, BAND) if by_ply else ()
    print_sections(accuracy_sections(accuracies(decisions), bands, notes), output, only)
    if plot_by_ply:
        from reports.plots.accuracy import draw_accuracy_by_ply

        save_plot(draw_accuracy_by_ply(decisions), plot_by_ply)
    if plot_by_depth:
        from reports.plots.accuracy import draw_accuracy_by_depth

        save_plot(draw_accuracy_by_depth(decisions), plot_by_depth)


def judged(names: str, depths: str, positions: int, size: str, jobs: int) -> tuple[DataFrame, list[str]]:
    """The decisions of heuristics in fresh games, and how they came about."""
    import heuristics
    from experiments.sparring import described, play_and_judge, shortages
    from reports.progress import counting

    chosen = heuristics.names() if names == "*" else [name.strip() for name in names.split(",")]
    searched = [whole_number("--depths", word.strip(), "or several, as in 1,3,5") for word in depths.split(",")]
    with counting("players") as show:
        frame = play_and_judge(chosen, searched, positions, size=size, jobs=jobs or os.cpu_count() or 1, show=show)
    return frame, [described(size), *shortages(frame, positions)]


def refuse(companion: str, *names: str) -> None:
    """Refuse options that were given without what they go with."""
    context = click.get_current_context()
    for parameter in context.command.params:
        is_given = context.get_parameter_source(str(parameter.name)) is click.core.ParameterSource.COMMANDLINE
        if parameter.name in names and is_given:
            raise ValueError(f"{parameter.opts[0]} goes with {companion}")


@contextmanager
def kept_if_interrupted(what: str) -> Iterator[None]:
    """End on Ctrl-C with a line that says what is kept."""
    try:
        yield
    except KeyboardInterrupt:
        raise click.ClickException(f"interrupted; {what}, and the same command goes on from there") from None


def save_plot(figure: Figure, path: Path) -> None:
    """Write a plot and say where."""
    from reports.plots.style import save

    save(figure, path)
    click.echo(f"Wrote {path}", err=True)


# --- see and play -------------------------------------------------------------------------------------------------


ascii_option = click.option("--ascii", "ascii_only", is_flag=True, help="Draw boards in plain ASCII.")


def speaks_ascii_only() -> bool:
    """Whether the terminal cannot show the pieces."""
    try:
        "♘♞░·┼".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return True
    return False


@main.command("show")
@board_option
@moves_option
@ascii_option
@click.option("--svg", type=click.Path(path_type=Path), help="Write the position as SVG.")
@click.option("--png", type=click.Path(path_type=Path), help="Write the position as PNG.")
def show_position(size: str, moves: str, ascii_only: bool, svg: Path | None, png: Path | None) -> None:
    """Show a position, as text or as a picture."""
    from isolation.render import to_svg, to_text

    board = position(size, moves)
    if svg:
        svg.write_text(to_svg(board), encoding="utf-8")
    if png:
        from reports.pictures import write_png

        write_png(png, board)
    for written in filter(None, (svg, png)):
        click.echo(f"Wrote {written}")
    if not (svg or png):
        click.echo(to_text(board, ascii_only or speaks_ascii_only()))


@main.command("replay")
@click.argument("source", metavar="[RUN GAME_ID | FILE]", nargs=-1)
@board_option
@moves_option
@ascii_option
@click.option("--gif", type=click.Path(path_type=Path), help="Write the game as an animated GIF.")
@click.option("--pace", type=click.FloatRange(0.05, 60), default=1.0, show_default=True, help="GIF: seconds a ply.")
@click.option("--html", type=click.Path(path_type=Path), help="Write the game as one self-contained page.")
@format_option
def replay_game(
    source: tuple[str, ...], size: str, moves: str, ascii_only: bool, gif: Path | None, pace: float, html: Path | None,
    output: Format,
) -> None:  # fmt: skip
    """Step through a game of a run, a saved game, or --moves; or write it as a GIF or a page."""
    from reports.replay import describe_end, describe_ply, ply_rows
    from reports.replay_source import find_replay

    replay = find_replay(source, size, moves)
    if gif:
        from reports.pictures import write_gif

        captions = [describe_ply(replay, ply) for ply in range(len(replay.moves) + 1)]
        write_gif(gif, replay.moves, replay.size, captions, pace)
    if html:
        from reports.replay_page import replay_page

        html.write_text(replay_page(replay), encoding="utf-8")
    for written in filter(None, (gif, html)):
        click.echo(f"Wrote {written}")
    if gif or html:
        return
    if output == "table" and sys.stdin.isatty() and sys.stdout.isatty():
        from reports.replay_terminal import step_through

        step_through(replay, click.getchar, show_screen, ascii_only or speaks_ascii_only())
        return
    print_rows(ply_rows(replay), output, replay.title)
    if output == "table":
        click.echo(describe_end(replay))


def show_screen(text: str) -> None:
    """Show a text on a screen of its own."""
    click.clear()
    click.echo(text)


@main.command("games")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--where", default="", help="A condition, as in \"won_by == 'Random' and plies > 30\".")
@click.option(
    "--show", "kind", type=click.Choice(["all", "longest", "shortest", "upsets", "forfeits"]), default="all",
    show_default=True, help="Which games, the most remarkable first.",
)  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="At most so many games.")
@format_option
def list_games(run: Path, where: str, kind: Any, limit: int, output: Format) -> None:
    """Find games of a run to look at; `isolation replay RUN GAME_ID` shows one."""
    from experiments.find_games import found_rows

    rows, total = found_rows(run, kind, where, limit)
    print_rows(rows, output)
    if output == "table":
        click.echo(f"{len(rows):,} of {total:,} games." if total else "No game is like that.")


@main.command("board")
@click.argument("run_paths", metavar="[RUN]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--agent", "agents", multiple=True, metavar="SPEC", help="Offer this agent; it may come from a file.")
@click.option("--file", "references", multiple=True, metavar="FILE[:FUNCTION]", help="Offer a heuristic of your own.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port to serve on; any free one by default.")
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
def analysis_board(
    run_paths: tuple[Path, ...], agents: tuple[str, ...], references: tuple[str, ...], port: int, no_open: bool
) -> None:
    """Serve the analysis board to this machine's browser. Without a RUN, it offers those under runs/."""
    from experiments.roster import parse_agent
    from experiments.runs import list_runs
    from isolation.loading import load_heuristic
    from reports.board.server import Shelf, serve

    own = {}
    for reference in references:
        path, name = split_file(reference, find_heuristic)
        own[f"{Path(path).name}:{name}"] = load_heuristic(path, name).value
    found = run_paths or tuple(run.info.path for run in list_runs())
    offered = {agent.name: agent for agent in map(parse_agent, agents)}
    with suppress(KeyboardInterrupt):
        serve(
            Shelf(tuple(found), own, offered),
            port,
            lambda address: click.echo(f"The board is at {address} (Ctrl-C ends it)."),
            open_browser=not no_open,
        )


@main.command("play")
@click.option("--against", default="ID:improved", show_default=True, metavar="SPEC", help="Whom to play.")
@click.option("--side", type=click.Choice(["first", "second"]), default="first", show_default=True, help="Your side.")
@board_option
@click.option("--from", "saved", type=click.Path(path_type=Path), help="Go on with a saved game.")
@click.option("--log", "log_path", type=click.Path(path_type=Path), help="Add the finished game to this log of games.")
@ascii_option
def play_agent(against: str, side: str, size: str, saved: Path | None, log_path: Path | None, ascii_only: bool) -> None:
    """Play against an agent in the terminal."""
    from experiments.roster import parse_agent
    from experiments.saved_games import append_game, load_game, save_game
    from isolation.human import Seat, play_human

    opponent, seed = parse_agent(against), random.getrandbits(63)
    number: Literal[1, 2] = 1 if side == "first" else 2
    game = load_game(saved) if saved else None
    seat = Seat(
        opponent, parse_agent("ID:territory@nodes=200000"), number, ask_line, click.echo, save_game,
        ascii_only or speaks_ascii_only(), seed,
    )  # fmt: skip
    played = play_human(seat, game.size if game else size, game.moves if game else ())
    if played and log_path:
        agents = (None, opponent) if number == 1 else (opponent, None)
        game_id = append_game(log_path, played, agents, seed)
        click.echo(f"Added to {log_path}: isolation replay {log_path} {game_id}")


def ask_line(prompt: str) -> str:
    """A line of input; EOFError at its end."""
    return input(prompt)


if __name__ == "__main__":
    main()
