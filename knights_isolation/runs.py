"""Play runs, and read them: each function is the command of its name."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack, cast

from knights_isolation import heuristics
from knights_isolation.experiments.roster import AgentLike, spec_of
from knights_isolation.result import Result, drawn
from knights_isolation.tried import note_look, note_run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from knights_isolation.experiments.inference.contenders.sample_size import FixedPlan
    from knights_isolation.experiments.plan.config import Config
    from knights_isolation.experiments.statistics.run_results import RunResults


RunLike: TypeAlias = "str | Path | RunResults | Result[RunResults]"
"""A run: its directory, its name below `runs/`, what was read of it, or the result of a function that played it."""


def agent_spec(agent: AgentLike) -> str:
    """Return the spec of an agent; `improved`, the name of a heuristic, stands for `ID:improved`."""
    is_heuristic = isinstance(agent, str) and agent in heuristics.names()
    return f"ID:{agent}" if is_heuristic else spec_of(agent)


class Settings(TypedDict, total=False):
    """Settings of a tournament; docs/reference/tournaments.md explains them. Those left out have the defaults there.

    `opponents` are agents. `out` is the run's directory, by default one below `runs/` named by a hash of the question.
    """

    opponents: Sequence[AgentLike]
    pairs: int | Literal["all"]
    openings: str
    limit: str
    control: bool
    equal_cost: bool
    sprt: tuple[float, float] | tuple[float, float, float]
    elo_model: Literal["logistic", "normalized"]
    board: str
    seed: int
    hard_cap: float
    jobs: int
    cluster: str
    out: str | Path


def tournament(
    *contenders: AgentLike,
    file: str | Path | None = None,
    format: Literal["gauntlet", "round-robin", "head-to-head", "best-of"] | None = None,
    baseline: AgentLike | None = None,
    **settings: Unpack[Settings],
) -> Result[RunResults]:
    """Play a tournament and return its verdicts and standings.

    The same call finds the same run again: it resumes after Ctrl-C, or repeats the answer.

    Args:
        contenders: agents, each a spec, the name of a heuristic, or a function of (game, player).
        file: a TOML file whose keys the other arguments replace.
        settings: opponents, pairs, openings, limit, control, equal_cost, sprt, elo_model, board, seed, hard_cap, jobs,
            cluster, out; see docs/reference/tournaments.md.

    Raises:
        ValueError: an argument is invalid; one line says what is expected.
        KeyboardInterrupt: it was interrupted before its first game.
    """
    keys: dict[str, Any] = {**settings, "format": format}
    keys["contenders"] = tuple(map(agent_spec, contenders)) or None
    keys["baseline"] = agent_spec(baseline) if baseline else None
    keys["opponents"] = tuple(map(agent_spec, settings.get("opponents", ()))) or None
    return compare(play_kept_run(_kept_config(file, keys)))


def match(agent: AgentLike, other: AgentLike, **settings: Unpack[Settings]) -> Result[RunResults]:
    """Play two agents head to head from random four-ply openings, each played twice with sides swapped.

    The same call resumes after Ctrl-C, or repeats the answer; see `tournament` for the settings.

    Raises:
        ValueError: an argument is invalid.
    """
    chosen: Settings = {"openings": "random:4", **settings}
    return tournament(agent, baseline=other, format="head-to-head", **chosen)


def compare(
    *what: AgentLike | RunLike,
    baseline: AgentLike | None = None,
    worth: float = 2.0,
    mixed: bool = False,
    **settings: Unpack[Settings],
) -> Result[RunResults]:
    """Compare contenders with a baseline: difference, interval and significance.

    Of runs, their contenders are compared. Of agents, a tournament is played first: each of them and the baseline
    (`improved`) against the seven classic opponents; see `tournament` for the settings.

    Args:
        what: runs, or agents.
        worth: smallest difference that matters, in percentage points.
        mixed: pool runs even if limits, boards or openings differ.

    Raises:
        ValueError: an argument is invalid.
    """
    agents = [part for part in what if not is_run_like(part)]
    if agents:
        return tournament(*cast("list[AgentLike]", what), baseline=baseline, **settings)
    if settings:
        raise ValueError(f"{next(iter(settings))} does not apply to runs, which have been played")
    from knights_isolation.reports.tables.compare import compare_sections
    from knights_isolation.reports.tables.headlines import compare_headline

    findings = read_runs(cast("list[RunLike]", what), cast("str | None", baseline), mixed)
    headline = compare_headline(findings, worth / 100).section
    sections = (headline, *compare_sections(findings, worth / 100))
    note_look(findings)
    return Result(findings, sections, partial(_draw, "forest", findings))


def summary(*runs: RunLike, baseline: str | None = None, mixed: bool = False) -> Result[RunResults]:
    """Summarise runs: standings, opponents, sides, forfeits, game lengths, search.

    Raises:
        ValueError: there is no such run, or runs cannot be pooled.
    """
    from knights_isolation.reports.tables.headlines import summary_headline
    from knights_isolation.reports.tables.summary import summarize

    findings = read_runs(runs, baseline, mixed)
    return Result(
        findings, (summary_headline(findings).section, *summarize(findings)), partial(_draw, "heatmap", findings)
    )


def ratings(
    *runs: RunLike, baseline: str | None = None, mixed: bool = False, zero: str | None = None
) -> Result[RunResults]:
    """Rate all agents on one scale (Bradley-Terry, in Elo), with the probability that each is above each.

    Args:
        zero: agent with rating 0; the baseline by default.

    Raises:
        ValueError: there is no such run or agent, or runs cannot be pooled.
    """
    from knights_isolation.reports.tables.ratings import rating_sections

    findings = read_runs(runs, baseline, mixed)
    return Result(findings, rating_sections(findings, zero), partial(_draw, "ladder", findings))


def sprt(
    *runs: RunLike,
    baseline: str | None = None,
    mixed: bool = False,
    elo0: float | None = None,
    elo1: float | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    elo_model: Literal["logistic", "normalized"] | None = None,
) -> Result[RunResults]:
    """Test contenders sequentially against the baseline: Elo head to head, percentage points in a gauntlet.

    Values left out are those that the run was played with.

    Raises:
        ValueError: there is no such run, or the bounds are invalid.
    """
    from knights_isolation.reports.tables.sprt import sprt_sections

    findings = read_runs(runs, baseline, mixed)
    sections = sprt_sections(findings, elo0, elo1, alpha, beta, elo_model)
    return Result(findings, sections, partial(_draw, "running", findings))


def diff(before: RunLike, after: RunLike) -> Result[tuple[RunResults, RunResults]]:
    """Compare two runs: design, agents, shared games, results and verdicts.

    Raises:
        ValueError: there is no such run.
    """
    from knights_isolation.reports.tables.run_diff import change_sections

    both = read_runs([before]), read_runs([after])
    return Result(both, change_sections(*both))


def plan(
    *,
    effect: float | None = None,
    elo: float | None = None,
    worth: float = 2.0,
    power: float = 0.8,
    alpha: float = 0.05,
    pilot: RunLike | None = None,
) -> Result[list[tuple[str, FixedPlan]]]:
    """Estimate the games and the time needed to detect a difference; the value has each plan by its name.

    Args:
        effect: difference of win rates in percentage points; `worth` if neither it nor `elo` is given.
        elo: difference head to head, in Elo.
        pilot: run to take variance and speed from.

    Raises:
        ValueError: an argument is out of range.
    """
    from knights_isolation.experiments.verdicts.pilot_run import plan_contenders
    from knights_isolation.reports.charts.study_charts import plan_chart
    from knights_isolation.reports.studies.sample_size import plan_sections, typical_plans, wanted_effect

    share = (worth if effect is None and elo is None else effect or 0.0) / 100
    findings = read_runs([pilot]) if pilot else None
    sections = plan_sections(None if elo is not None and effect is None else share, elo, power, alpha, findings)
    wanted = wanted_effect(share or None, elo)
    plans = typical_plans(wanted, power, alpha)
    if findings:
        plans = [(each.contender, each.plan) for each in plan_contenders(findings, wanted, power, alpha)]
    return Result(plans, sections, partial(drawn, plan_chart(plans)))


def report(*runs: RunLike, out: str | Path | None = None, baseline: str | None = None, mixed: bool = False) -> Path:
    """Write a report of runs, one self-contained page, and return its path; RUN/report.html by default.

    Raises:
        ValueError: there is no such run or directory.
    """
    from knights_isolation.reports.pages.report_page import write_report

    findings = read_runs(runs, baseline, mixed)
    written = write_report(findings, Path(out or findings.sources[0].info.path / "report.html"))
    note_look(findings)
    return written


def plot(
    kind: str, *runs: RunLike, baseline: str | None = None, mixed: bool = False, agent: str | None = None
) -> Figure:
    """Draw a plot of runs, a matplotlib figure: forest, heatmap, ladder, limits, running and others.

    Args:
        kind: see docs/how-to/write-up-results.md; "limits" treats the runs separately, the others pool them.
        agent: show only this agent, in a kind that can.

    Raises:
        ValueError: there is no such kind, run or agent, the runs cannot be pooled, or they have nothing that the plot
            could show.
    """
    from knights_isolation.reports.plots import figure_of

    return figure_of(kind, run_paths(runs), baseline, mixed, agent)


# What the functions share


def is_run_like(what: object) -> bool:
    """Return whether something names a run: results, a path, or a text that is a run's directory or name."""
    from knights_isolation.experiments.record.run_directory import is_run, run_called
    from knights_isolation.experiments.statistics.run_results import RunResults

    if isinstance(what, str):
        return is_run(run_called(what))
    return isinstance(what, Path | RunResults | Result)


def read_runs(runs: Sequence[RunLike], baseline: str | None = None, mixed: bool = False) -> RunResults:
    """Read runs for analysis; the latest one if none is named.

    Raises:
        ValueError: there is no such run, or runs cannot be pooled.
    """
    from knights_isolation.experiments.statistics.run_results import RunResults, load_findings

    read = runs[0].value if len(runs) == 1 and isinstance(runs[0], Result) else runs[0] if len(runs) == 1 else None
    if isinstance(read, RunResults) and baseline is None:
        return read
    return load_findings(run_paths(runs), baseline, mixed)


def run_paths(runs: Sequence[RunLike]) -> list[Path]:
    """Return the directories of runs; that of the latest one if none is named.

    Raises:
        ValueError: none is named, and there is none; or something else is named, such as a function.
    """
    from knights_isolation.experiments.record.run_directory import latest_run, run_called
    from knights_isolation.experiments.statistics.run_results import RunResults

    paths: list[Path] = []
    for run in runs:
        read = run.value if isinstance(run, Result) else run
        if callable(read):
            raise ValueError(
                f"{getattr(read, '__name__', read)} is a function, not a run: play it first, with compare() or match()"
            )
        if isinstance(read, RunResults):
            paths += [source.info.path for source in read.sources]
        elif isinstance(read, str | Path):
            paths.append(run_called(read))
        else:
            raise ValueError(
                f"a run is needed: its directory, or a result of compare() or match(), not {type(read).__name__}"
            )
    return paths or [latest_run()[0]]


def run_path(run: RunLike | None) -> Path:
    """Return the directory of one run; that of the latest one if none is named.

    Raises:
        ValueError: none is named and there is none, or several were pooled.
    """
    paths = run_paths([] if run is None else [run])
    if len(paths) > 1:
        raise ValueError(f"one run is needed, not {len(paths)}")
    return paths[0]


def play_kept_run(config: Config) -> Path:
    """Play or resume the run of a configuration with a progress bar, and return its directory.

    Warnings are the notes of the run, and what was kept after Ctrl-C.

    Raises:
        KeyboardInterrupt: it was interrupted before its first game.
    """
    from knights_isolation.experiments.record.run_directory import is_run
    from knights_isolation.reports.watch.run_progress import play_in_view, what_is_kept

    outcome = play_in_view(config, resume=is_run(Path(str(config.out))))
    if not outcome.logged:
        raise KeyboardInterrupt
    notes = [*outcome.notes] if outcome.played else []
    if not outcome.finished:
        notes.append(f"interrupted: {what_is_kept(outcome)}; the same call resumes")
    for note in notes:
        warnings.warn(note, stacklevel=4)
    if outcome.finished and outcome.played:
        note_run("match" if config.format == "head-to-head" else "tournament", outcome.path)
    return outcome.path


def _kept_config(file: str | Path | None, keys: Mapping[str, Any]) -> Config:
    """Return the configuration of a run whose directory is named by its question and by its agents' code."""
    from knights_isolation.experiments.plan.config import load_config
    from knights_isolation.experiments.plan.tournament_plan import make_entrants
    from knights_isolation.experiments.record.run_directory import identity, kept_config

    out = keys.get("out")
    config = load_config(file, {**keys, "out": str(out) if out else None})
    if config.out:
        return config
    question = {key: value for key, value in identity(config).items() if value is not None}
    facts = [entrant.settings for entrant in make_entrants(config)[0]]
    where = {key: getattr(config, key) for key in ("jobs", "cluster")}
    return kept_config(config.format, question, facts, None, where)


def _draw(kind: str, findings: RunResults) -> Figure:
    from knights_isolation.reports.plots import draw_kind

    return draw_kind(kind, findings)
