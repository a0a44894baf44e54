"""Commands that improve heuristics: `features`, `fit`, `tune`, `sweep`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commands.cli_errors import interruptible
from commands.completion import complete_file, complete_spec
from commands.options import board_option, cluster_option, format_option, jobs_option, table_option
from commands.output import capture_user_output, check_tables, print_sections
from commands.perfect_play import save_plot
from commands.tournaments import play_kept_run
from isolation.shell import command
from isolation.usercode.process_lifetime import continue_in_child
from reports.text.rendering import Format

if TYPE_CHECKING:
    from experiments.learn.parameter_space import Space

out_option = click.option(
    "--out",
    type=click.Path(path_type=Path),
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
@click.option("--patch", type=click.Path(path_type=Path), help="Write the new defaults as a patch to this file.")
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
    from experiments.learn.pairwise_fit import fit, screened
    from experiments.learn.parameter_space import space_of
    from experiments.plan.catalogue import heuristic_named
    from experiments.roster import parse_limit
    from experiments.suite import read_suite
    from isolation.loading.load_user_code import load_heuristic
    from reports.studies.screening import screening_sections, verdict
    from reports.studies.tuning import fit_sections

    check_tables(only, ("parameters", "profiles", "screen"))
    at_limit, screen_limit = parse_limit(at), parse_limit(limit)
    if not at_limit.is_reproducible:
        raise ValueError(f"--at must be depth=N or nodes=N, not {at}")
    with capture_user_output(reference):
        path, function = heuristic_named(reference)
        heuristic = load_heuristic(path, function).value
        if patch:
            check_place(patch, path)
        space = space_of(heuristic, wanted)
        if patch:
            check_defaults(path, function, space.names)
        tell_of_choices(space, wanted)
        held_out = read_suite(name, "screen")
        fit_result = fit(heuristic, read_suite(name, "fit"), held_out, at_limit, wanted, seed)
        screening = screened(heuristic, fit_result.values, held_out, screen_limit)
    sections = [*fit_sections(fit_result), *screening_sections(screening)[:1]]
    print_sections(sections, output, only)
    if output == "table" and only is None:
        (_, against), *_ = screening.contenders
        if verdict(against) == "better":
            say_how_to_go_on(f"ID:{path}:{function}", fit_result.values)
        else:
            click.echo(f"\n{_KEEP}")
    if patch:
        write_patch(patch, path, function, fit_result.values, verdict(screening.contenders[0][1]) == "better")


_KEEP = "No significant improvement on held-out positions: keep the old values."


def say_how_to_go_on(spec: str, values: Mapping[str, float], limit: Sequence[str] = ()) -> None:
    """Print the agent with its new parameters, and how to evaluate it in games."""
    from experiments.learn.parameter_space import options_text

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


def check_place(patch: Path, path: str) -> None:
    """Check, before anything is computed, that a patch applies to a user's file and can be written.

    Raises:
        ValueError: the heuristic is not from a file, or there is no folder for the patch.
    """
    if not path.endswith(".py"):
        raise ValueError("--patch needs a heuristic from your own file, FILE.py:FUNCTION")
    if patch.is_dir():
        raise ValueError(f"--patch: {patch} is a directory; name a file")
    if not patch.parent.is_dir():
        raise ValueError(f"--patch: {patch.parent}: no such directory")


def check_defaults(path: str, function: str, names: Sequence[str]) -> None:
    """Check, before anything is computed, that the defaults to be patched exist in the file.

    Raises:
        ValueError: the function has no defaults of these names there.
    """
    from experiments.learn.defaults_patch import patch_of_defaults

    patch_of_defaults(Path(path), function, dict.fromkeys(names, 0.0))


def write_patch(patch: Path, path: str, function: str, values: Mapping[str, float], is_better: bool) -> None:
    """Write new defaults as a patch, and how to apply it, if they were found better; otherwise print why not.

    Raises:
        ValueError: the file cannot be written.
    """
    from experiments.learn.defaults_patch import patch_of_defaults
    from isolation.files.atomic_write import write_text

    if not is_better:
        why = "the new values are not significantly better" if values else "no value changed"
        click.echo(f"Did not write {patch}: {why}.", err=True)
        return
    try:
        write_text(patch, patch_of_defaults(Path(path), function, values))
    except OSError as error:
        raise ValueError(f"--patch: {patch} cannot be written: {error.strerror}") from None
    click.echo(f"Wrote {patch}; {path} is unchanged. To apply the new defaults: patch {path} {patch}", err=True)


def sampler_named(name: str) -> tuple[Callable[[int, int], Any], Callable[..., Any]]:
    """Return the function that plans a tuning from games and a seed, and the one that runs it.

    Raises:
        ValueError: the sampler is not installed.
    """
    if name == "optuna":
        from experiments.learn.optuna_tuning import check_optuna, sample, sampling_plan

        check_optuna()
        return sampling_plan, sample
    from experiments.learn.spsa import plan_of
    from experiments.learn.spsa_tuning import tune

    return plan_of, tune


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
@board_option
@click.option("--plies", type=click.IntRange(min=2), default=4, show_default=True, help="Plies of the random openings.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Random seed of openings and values."
)
@jobs_option
@cluster_option
@out_option
@click.option("--patch", type=click.Path(path_type=Path), help="Write the new defaults as a patch to this file.")
@table_option
@format_option
def tune_agent(
    spec: str, opponent: str | None, limit: str, games: int, pairs: int, wanted: tuple[str, ...], sampler: str,
    size: str, plies: int, seed: int, jobs: int, cluster: str | None, out: Path | None, patch: Path | None,
    only: str | None, output: Format,
) -> None:  # fmt: skip
    """Tune the parameters of an agent's heuristic by playing games; evaluate the result on held-out openings.

    SPSA plays both ends of random directions on shared openings. A quadratic fitted to all games gives the best values,
    their intervals, and a test for each parameter. Optuna suggests values that play against the present ones; the best
    of them play finals.
    """
    continue_in_child(spec)
    from experiments.learn.held_out import judge
    from experiments.learn.spsa_tuning import OPENINGS, Question, tunable
    from experiments.learn.tuning_games import opponent_of, subject_of
    from experiments.roster import complete, parse_limit
    from reports.studies.tuning import judged_section, told_lead, tuning_sections, watching

    plan_of, tune = sampler_named(sampler)
    check_tables(only, ("parameters", "judged"))
    chosen = parse_limit(limit)
    agent = subject_of(spec, chosen)
    other = complete(opponent_of(opponent), chosen) if opponent else None
    path, _, function = agent.target.rpartition(":")
    if patch:
        check_place(patch, path)
    with capture_user_output(spec):
        space = tunable(agent, wanted, with_choices=sampler == "optuna")
    if patch:
        check_defaults(path, function, space.names)
    tell_of_choices(space, wanted)
    games_of_one = games // 2 if other else games
    question = Question(agent, other, wanted, size, plies, OPENINGS, plan_of(games_of_one, seed))
    with interruptible("what was played" if out else "", out):
        with capture_user_output(spec), watching() as show:
            tuning = tune(question, out, jobs=jobs, cluster=cluster, show=show)
        sections = list(tuning_sections(tuning))
        if tuning.values:
            judgement = judge(question, tuning.values, pairs, jobs=jobs, cluster=cluster, play=play_kept_run)
            sections.append(judged_section(tuning, judgement))
    if tuning.values or only != "judged":
        print_sections(sections, output, only)
    if not tuning.values:
        click.echo("\nNo significant improvement in these games: keep the defaults.",
                   err=output != "table" or only is not None)  # fmt: skip
    elif output == "table" and only is None and told_lead(judgement) > 0:
        say_how_to_go_on(spec, tuning.values, ("--limit", limit))
    if patch:
        write_patch(patch, path, function, tuning.values, bool(tuning.values) and told_lead(judgement) > 0)


@click.command("sweep")
@click.argument("spec", metavar="SPEC", shell_complete=complete_spec)
@click.option("--over", multiple=True, required=True, metavar="WHAT=VALUES",
              help="option.NAME=0:1:0.1, option.NAME=0,1,2 or limit=nodes=300,1000; may be repeated.")  # fmt: skip
@click.option("--opponent", metavar="SPEC", help="Opponent; by default the agent unchanged.")
@click.option("--limit", default="nodes=1000", show_default=True, help="Default limit for agents without one.")
@click.option(
    "--pairs", type=click.IntRange(min=2), default=300, show_default=True, help="Openings, each played twice."
)
@board_option
@click.option("--plies", type=click.IntRange(min=2), default=4, show_default=True, help="Plies of the random openings.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Random seed of the openings.")
@jobs_option
@cluster_option
@click.option("--out", type=click.Path(path_type=Path),
              help="Directory of the run, or of one run for each limit; by default in runs/.")  # fmt: skip
@click.option("--plot", type=click.Path(path_type=Path), help="Write curves or a heatmap as .svg or .png.")
@format_option
def sweep_agent(
    spec: str, over: tuple[str, ...], opponent: str | None, limit: str, pairs: int, size: str, plies: int, seed: int,
    jobs: int, cluster: str | None, out: Path | None, plot: Path | None, output: Format,
) -> None:  # fmt: skip
    """Play every combination of parameter values against one opponent on shared openings."""
    continue_in_child(spec)
    from experiments.learn.parameter_sweep import parse_axis, plan_sweep, play_sweep
    from experiments.learn.tuning_games import limited_of, opponent_of, subject_of
    from experiments.roster import named, parse_limit, parse_spec
    from reports.studies.tuning import sweep_section

    if plot:
        from reports.plots.style import check_plot

        check_plot(plot)
    axes = [parse_axis(text) for text in over]
    default = parse_limit(limit)
    agent = (limited_of if all(axis.name == "limit" for axis in axes) else subject_of)(spec, default)
    bare = named(parse_spec(spec))
    other = opponent_of(opponent) if opponent else None
    with interruptible("what was played" if out else "", out), capture_user_output(spec):
        runs = plan_sweep(
            bare, axes, other, default, size=size, plies=plies, pairs=pairs, seed=seed, out=out, jobs=jobs,
            cluster=cluster,
        )  # fmt: skip
    with interruptible("what was played", Path(str(runs[0].config.out))):
        sweep = play_sweep(axes, runs, play_kept_run)
    print_sections([sweep_section(sweep, opponent or agent.name)], output)
    if plot:
        from reports.charts.line_plots import response_chart

        save_plot(response_chart(sweep, opponent or agent.name), plot)


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
    from experiments.learn.feature_selection import feature_name, select_features
    from experiments.roster import parse_limit
    from experiments.suite import read_suite
    from heuristics import FEATURES, canonical_name
    from reports.studies.feature_selection import feature_sections
    from reports.watch.run_progress import counting

    check_tables(only, ("alone", "chosen"))
    limit = parse_limit(at)
    if not limit.is_reproducible:
        raise ValueError(f"--at must be depth=N or nodes=N, not {at}")
    leader = canonical_name(guide)
    with capture_user_output(", ".join(files)), counting("features") as show:
        chosen = list(dict.fromkeys(map(feature_name, names))) or list(FEATURES)
        selection = select_features(
            read_suite(name, "fit"), read_suite(name, "screen"), chosen, limit, leader, most, show
        )  # fmt: skip
    print_sections(list(feature_sections(selection)), output, only)


COMMANDS = (rank_features, fit_heuristic, tune_agent, sweep_agent)
