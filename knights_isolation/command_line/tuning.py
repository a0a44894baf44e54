"""Commands that improve heuristics: `features`, `fit`, `tune`, `sweep`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from knights_isolation.command_line.cli_errors import Interrupted, interruptible, same_again
from knights_isolation.command_line.completion import complete_file, complete_spec
from knights_isolation.command_line.options import (
    PICTURE,
    OutputPath,
    board_option,
    cluster_option,
    equal_cost_option,
    format_option,
    jobs_option,
    table_option,
)
from knights_isolation.command_line.output import capture_user_output, check_tables, print_sections
from knights_isolation.command_line.tournaments import play_kept_run
from knights_isolation.isolation.shell import command
from knights_isolation.isolation.usercode.process_lifetime import continue_in_child
from knights_isolation.reports.text.rendering import Format

if TYPE_CHECKING:
    from knights_isolation.experiments.learn.parameter_space import Space

out_option = click.option(
    "--out",
    type=OutputPath(makes_folders=True),
    help="Keep the games to learn from in this file; the same command resumes.",
)


@click.command("fit")
@click.argument("reference", metavar="FILE[:FUNCTION]", shell_complete=complete_file)
@click.option("--at", default="depth=1", show_default=True, metavar="LIMIT",
              help="Limit of the search run before evaluation: depth=N or nodes=N.")  # fmt: skip
@click.option(
    "--suite", "name", default="7x7", show_default=True, metavar="NAME|FILE", help="A shipped suite, or a file."
)
@click.option(
    "--parameter", "wanted", multiple=True, metavar="PARAMETER", help="Fit only this parameter; may be repeated."
)
@click.option("--limit", default="nodes=1000", show_default=True, help="Limit of the final screening.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Random seed for additional starts."
)
@click.option("--patch", type=OutputPath(), help="Write the new defaults as a patch to this file.")
@table_option
@format_option
def fit_heuristic(
    reference: str, at: str, name: str, wanted: tuple[str, ...], limit: str, seed: int, patch: Path | None,
    only: str | None, output: Format,
) -> None:  # fmt: skip
    """Fit a heuristic's parameters to proven results; screen it before and after on held-out positions.

    The fit uses the openings of the suite's split fit: of two moves in a position, the one that keeps the win should
    get the higher value. The result is evaluated on the split screen.
    """
    continue_in_child(reference)
    from knights_isolation import fit
    from knights_isolation.experiments.learn.parameter_space import space_of
    from knights_isolation.experiments.plan.catalogue import heuristic_named
    from knights_isolation.isolation.loading.load_user_code import load_heuristic
    from knights_isolation.learning import reproducible_limit

    check_tables(only, ("parameters", "profiles", "screen"))
    reproducible_limit(at)
    with capture_user_output(reference):
        path, function = heuristic_named(reference)
        heuristic = load_heuristic(path, function).value
        space = space_of(heuristic, wanted)
        if patch:
            check_patch(path, function, space.names)
        tell_of_choices(space, wanted)
        result = fit(f"{path}:{function}", at=at, suite=name, parameters=wanted, limit=limit, seed=seed)
    values, is_better = result.value.values, result.value.is_better
    print_sections(result.sections, output, only)
    if output == "table" and only is None:
        if is_better:
            say_how_to_go_on(f"ID:{path}:{function}", values)
        else:
            click.echo(f"\n{_KEEP}")
    if patch:
        write_patch(patch, path, function, values, is_better)


_KEEP = "No significant improvement on held-out positions: keep the old values."


def say_how_to_go_on(spec: str, values: Mapping[str, float], limit: Sequence[str] = ()) -> None:
    """Print the agent with its new parameters, and how to evaluate it in games."""
    from knights_isolation.experiments.learn.parameter_space import options_text

    new = f"{spec}{',' if '@' in spec else '@'}{options_text(dict(values))}"
    click.echo(f"\nThe new agent: {new}\nNext: {command('match', new, spec, *limit)}")


def tell_of_choices(space: Space, wanted: Sequence[str]) -> None:
    """Report the categorical parameters that keep their defaults, unless parameters were named explicitly."""
    for choice in () if wanted else space.choices:
        click.echo(
            f"Note: {choice.name} is categorical ({choice.allowed}) and keeps its default {choice.default}; "
            f"to tune it, use isolation tune --sampler optuna.",
            err=True,
        )


def check_patch(path: str, function: str, names: Sequence[str]) -> None:
    """Check, before anything is computed, that the defaults to be patched exist in a user's file.

    Raises:
        ValueError: the heuristic is not from a file, or has no defaults of these names there.
    """
    from knights_isolation.experiments.learn.defaults_patch import patch_of_defaults

    if not path.endswith(".py"):
        raise ValueError("--patch needs a heuristic from your own file, FILE.py:FUNCTION")
    patch_of_defaults(Path(path), function, dict.fromkeys(names, 0.0))


def write_patch(patch: Path, path: str, function: str, values: Mapping[str, float], is_better: bool) -> None:
    """Write new defaults as a patch, and how to apply it, if they were found better; otherwise print why not.

    Raises:
        ValueError: the file cannot be written.
    """
    from knights_isolation.experiments.learn.defaults_patch import patch_of_defaults
    from knights_isolation.isolation.files.atomic_write import write_text

    if not is_better:
        why = "the new values are not significantly better" if values else "no value changed"
        click.echo(f"Did not write {patch}: {why}.", err=True)
        return
    try:
        write_text(patch, patch_of_defaults(Path(path), function, values))
    except OSError as error:
        raise ValueError(f"--patch: {patch} cannot be written: {error.strerror}") from None
    click.echo(f"Wrote {patch}; {path} is unchanged. To apply the new defaults: patch {path} {patch}", err=True)


@click.command("tune")
@click.argument("spec", metavar="SPEC", shell_complete=complete_spec)
@click.option("--opponent", metavar="SPEC", help="Opponent; by default the agent itself with other values.")
@click.option("--limit", default="nodes=1000", show_default=True, help="Default limit for agents without one.")
@click.option("--games", type=click.IntRange(min=160), default=20_000, show_default=True,
              help="Approximate number of games; spsa adds a tenth for finals, optuna uses a quarter for "
              "finals.")  # fmt: skip
@click.option("--pairs", type=click.IntRange(min=10), default=1000, show_default=True,
              help="Held-out openings, each played twice, to evaluate the result.")  # fmt: skip
@click.option("--parameter", "wanted", multiple=True, metavar="NAME", help="Tune only this parameter; may be repeated.")
@click.option("--sampler", type=click.Choice(["spsa", "optuna"]), default="spsa", show_default=True,
              help="Search algorithm; optuna also handles categorical parameters.")  # fmt: skip
@equal_cost_option
@board_option
@click.option("--plies", type=click.IntRange(min=2), default=4, show_default=True, help="Plies of the random openings.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Random seed of openings and values."
)
@jobs_option
@cluster_option
@out_option
@click.option("--patch", type=OutputPath(), help="Write the new defaults as a patch to this file.")
@table_option
@format_option
def tune_agent(
    spec: str, opponent: str | None, limit: str, games: int, pairs: int, wanted: tuple[str, ...], sampler: str,
    equal_cost: bool | None, size: str, plies: int, seed: int, jobs: int, cluster: str | None, out: Path | None,
    patch: Path | None, only: str | None, output: Format,
) -> None:  # fmt: skip
    """Tune the parameters of an agent's heuristic by playing games; evaluate the result on held-out openings.

    SPSA plays both ends of random directions on shared openings. A quadratic fitted to all games gives the best values,
    their intervals, and a test for each parameter. Optuna suggests values that play against the present ones; the best
    of them play finals.
    """
    continue_in_child(spec)
    from knights_isolation import tune
    from knights_isolation.experiments.learn.optuna_tuning import check_optuna
    from knights_isolation.experiments.learn.spsa_tuning import tunable
    from knights_isolation.experiments.learn.tuning_games import opponent_of, subject_of
    from knights_isolation.experiments.roster import parse_limit

    if sampler == "optuna":
        check_optuna()
    check_tables(only, ("parameters", "judged"))
    agent = subject_of(spec, parse_limit(limit))
    if opponent:
        opponent_of(opponent)
    path, _, function = agent.target.rpartition(":")
    with capture_user_output(spec):
        space = tunable(agent, wanted, with_choices=sampler == "optuna")
    if patch:
        check_patch(path, function, space.names)
    tell_of_choices(space, wanted)
    with interruptible("what was played" if out else "", out), capture_user_output(spec):
        result = tune(
            spec, opponent=opponent, limit=limit, games=games, pairs=pairs, parameters=wanted, sampler=sampler,  # type: ignore[arg-type]
            equal_cost=bool(equal_cost), board=size, plies=plies, seed=seed, jobs=jobs, cluster=cluster, out=out,
            play=play_kept_run,
        )  # fmt: skip
    values, is_better = result.value.values, result.value.is_better
    if values or only != "judged":
        print_sections(result.sections, output, only)
    if not values:
        click.echo("\nNo significant improvement in these games: keep the defaults.",
                   err=output != "table" or only is not None)  # fmt: skip
    elif output == "table" and only is None and is_better:
        say_how_to_go_on(spec, values, ("--limit", limit))
    if patch:
        write_patch(patch, path, function, values, is_better)


@click.command("sweep")
@click.argument("spec", metavar="SPEC", shell_complete=complete_spec)
@click.option("--over", multiple=True, required=True, metavar="WHAT=VALUES",
              help="option.NAME=0:1:0.1, option.NAME=0,1,2 or limit=nodes=300,1000; may be repeated.")  # fmt: skip
@click.option("--opponent", metavar="SPEC", help="Opponent; by default the agent unchanged.")
@click.option("--limit", default="nodes=1000", show_default=True, help="Default limit for agents without one.")
@click.option(
    "--pairs", type=click.IntRange(min=2), default=300, show_default=True, help="Openings, each played twice."
)
@equal_cost_option
@board_option
@click.option("--plies", type=click.IntRange(min=2), default=4, show_default=True, help="Plies of the random openings.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Random seed of the openings.")
@jobs_option
@cluster_option
@click.option("--out", type=OutputPath(makes_folders=True),
              help="Directory of the run, or of one run for each limit; by default in runs/.")  # fmt: skip
@click.option("--plot", type=PICTURE, help="Write curves or a heatmap as .svg or .png.")
@format_option
def sweep_agent(
    spec: str, over: tuple[str, ...], opponent: str | None, limit: str, pairs: int, equal_cost: bool | None, size: str,
    plies: int, seed: int, jobs: int, cluster: str | None, out: Path | None, plot: Path | None, output: Format,
) -> None:  # fmt: skip
    """Play every combination of parameter values against one opponent on shared openings."""
    continue_in_child(spec)
    from knights_isolation import sweep
    from knights_isolation.experiments.learn.parameter_sweep import parse_axis

    given = click.get_current_context().get_parameter_source("limit") == click.core.ParameterSource.COMMANDLINE
    if given and any(parse_axis(text).name == "limit" for text in over):
        raise ValueError("--over limit=... and --limit exclude each other: use one of them")
    with interruptible("what was played" if out else "", out), capture_user_output(spec):
        result = sweep(
            spec, *over, opponent=opponent, limit=limit, pairs=pairs, equal_cost=bool(equal_cost), board=size,
            plies=plies, seed=seed, jobs=jobs, cluster=cluster, out=out, play=play_kept_run,
        )  # fmt: skip
    print_sections(result.sections, output)
    if plot:
        from knights_isolation.reports.plots.style import save

        click.echo(f"Wrote {save(result.plot(), plot)}", err=True)


@click.command("features")
@click.argument("names", nargs=-1, metavar="[FEATURE...]")
@click.option("--at", default="depth=1", show_default=True, metavar="LIMIT",
              help="Limit of the search run before evaluation: depth=N or nodes=N.")  # fmt: skip
@click.option("--guide", default="territory", show_default=True, help="Heuristic of this search.")
@click.option(
    "--suite", "name", default="7x7", show_default=True, metavar="NAME|FILE", help="A shipped suite, or a file."
)
@click.option("--most", type=click.IntRange(min=1), default=5, show_default=True, help="Select at most this many.")
@table_option
@format_option
def rank_features(
    names: tuple[str, ...], at: str, guide: str, name: str, most: int, only: str | None, output: Format
) -> None:
    """Rank features by gain and cost, and select a subset greedily.

    A FEATURE is one of those in docs/reference/features.md, any shipped heuristic, or a function of yours as
    FILE:FUNCTION; all shipped features by default. Weights are fitted and features selected on a suite's split fit; the
    ranking of moves is evaluated on its split screen.
    """
    if files := [reference for reference in names if ".py" in reference]:
        continue_in_child(", ".join(files))
    from knights_isolation import features

    check_tables(only, ("alone", "chosen"))
    with capture_user_output(", ".join(files)):
        result = features(*names, at=at, guide=guide, suite=name, most=most)
    print_sections(result.sections, output, only)
    if result.value.is_interrupted:
        raise Interrupted("the features chosen before are shown", same_again())


COMMANDS = (rank_features, fit_heuristic, tune_agent, sweep_agent)
