"""Tables of `features`, `fit`, `tune` and `sweep`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table

from knights_isolation import heuristics
from knights_isolation.experiments.plan import (
    AgentLike,
    make_agent,
    named,
    parse_limit,
    parse_spec,
    reference_of,
    spec_of,
)
from knights_isolation.experiments.plan.function_files import is_function_file
from knights_isolation.experiments.plan.user_files import named_in_file
from knights_isolation.experiments.play.equal_cost import specs_at_equal_cost
from knights_isolation.experiments.play.pools.interrupts import keeping
from knights_isolation.experiments.statistics.proportions import ALPHA, Interval
from knights_isolation.experiments.statistics.run_results import forfeits_of
from knights_isolation.experiments.studies import pairwise_fit
from knights_isolation.experiments.studies.feature_selection import Selection, feature_name, select_features
from knights_isolation.experiments.studies.noted_tries import note_screening, note_selection
from knights_isolation.experiments.studies.pairwise_fit import Fit, reproducible_limit
from knights_isolation.experiments.studies.parameter_space import (
    TunedParameter,
    check_parameters,
    options_text,
    write_patch,
)
from knights_isolation.experiments.studies.parameter_sweep import Sweep, parse_axis, sweep
from knights_isolation.experiments.studies.screening import Screening
from knights_isolation.experiments.studies.tuning import (
    Judgement,
    Tuning,
    TuningProgress,
    TuningTask,
    judge,
    opponent_of,
    subject_of,
    tune,
)
from knights_isolation.experiments.suite import read_suite
from knights_isolation.heuristics import canonical_name
from knights_isolation.isolation.loading.load_user_code import load_heuristic
from knights_isolation.isolation.rules.parameters import range_text
from knights_isolation.isolation.suggestions import advice, command, tell
from knights_isolation.isolation.usercode.output_capture import captured

from ..answers import Result, drawn
from ..charts.interval_charts import features_chart
from ..charts.line_plots import fit_chart, response_chart, tuning_chart, value_text
from ..tables.run_notes import equal_cost_sentences, times_words
from ..text.cell_values import Points, PValue, Share, estimate_of, join_names, pluralise
from ..text.rendering import Section
from ..text.verdict_details import Word, verdict_of
from ..watch import counting, play_kept_run
from .screening import verdict, verdict_section

Patch = str | Path | None
"""A file to write, if one is wanted."""


@dataclass(frozen=True)
class Fitted:
    """Fitted parameters, and the heuristic screened with the old and the new values on held-out positions."""

    fit: Fit
    screening: Screening

    @property
    def values(self) -> dict[str, float]:
        """The new values by name."""
        return self.fit.values

    @property
    def is_better(self) -> bool:
        """Whether the new values are significantly better on held-out positions."""
        return verdict(self.screening.contenders[0][1]) == "better"


@dataclass(frozen=True)
class Tuned:
    """Tuned parameters, and the new values judged on held-out openings; None if no value changed."""

    tuning: Tuning
    judgement: Judgement | None

    @property
    def values(self) -> dict[str, float]:
        """The new values of the parameters that matter, by name."""
        return self.tuning.values

    @property
    def is_better(self) -> bool:
        """Whether the new values are significantly better on held-out openings."""
        return self.judgement is not None and _word(self.judgement) == "better"


def features_result(names: Sequence[AgentLike], at: str, guide: str, suite: str | Path, most: int) -> Result[Selection]:
    """Select features among some of the registry or of users' files, all shipped by default, and note the choice."""
    limit, leader = reproducible_limit(at), canonical_name(guide)
    code = ", ".join(name for name in map(str, names) if ".py" in name)
    with captured(code), counting("features") as show:
        among = list(dict.fromkeys(feature_name(reference_of(name)) for name in names)) or list(heuristics.FEATURES)
        parts = read_suite(suite, "fit"), read_suite(suite, "screen")
        selection = select_features(*parts, among, limit, leader, most, show)
    note_selection(selection, str(suite))
    stopped = "the features chosen before are shown" if selection.is_interrupted else ""
    chart = partial(drawn, features_chart(selection))
    return Result(selection, feature_sections(selection), chart, stopped=stopped)


def fit_result(
    heuristic: AgentLike, at: str, limit: str, suite: str | Path, wanted: Sequence[str], seed: int, patch: Patch = None
) -> Result[Fitted]:
    """Fit a heuristic, screen it on held-out positions under a limit, note it, and write the patch."""
    at_limit, screen_limit = reproducible_limit(at), parse_limit(limit)
    with captured(str(heuristic)):
        path, name = named_in_file(reference_of(heuristic))
        function, target, held_out = load_heuristic(path, name).value, f"{path}:{name}", read_suite(suite, "screen")
        check_parameters(function, wanted, target, is_patched=bool(patch))
        fitted = pairwise_fit.fit(function, read_suite(suite, "fit"), held_out, at_limit, wanted, seed)
        found = Fitted(fitted, pairwise_fit.screened(function, fitted.values, held_out, screen_limit))
    if found.values:
        spec = f"ID:{target}@{limit},{options_text(found.values)}"
        note_screening("fit", [found.screening], [spec], "split screen", {})
    _write(patch, target, found)
    keep = "No significant improvement on held-out positions: keep the old values."
    advice = new_agent_text(f"ID:{target}", found.values) if found.is_better else keep
    sections = (*fit_sections(fitted), verdict_section(found.screening))
    return Result(found, sections, partial(drawn, fit_chart(fitted)), closing=f"\n{advice}")


def tune_result(
    agent: AgentLike, limit: str, task: TuningTask, pairs: int, out: Patch, patch: Patch, equal_cost: bool, **where: Any
) -> Result[Tuned]:
    """Tune an agent, judge the new values by so many `pairs` on held-out openings, and write the patch.

    `limit` is that of agents without one, as it was given; `where` are jobs and cluster.
    """
    spec, target, play = spec_of(agent), task.spec.target, partial(play_kept_run, command="tune")
    with captured(spec):
        heuristic, choices = make_agent(task.spec).heuristic, task.sampler == "optuna"
        assert heuristic is not None
        check_parameters(heuristic, task.wanted, target, is_patched=bool(patch), with_choices=choices)
    with keeping("what was played" if out else "", Path(out or "")):
        with captured(spec), watching() as show:
            task, costs = _at_equal_cost(task) if equal_cost else (task, ())
            tuning = tune(task, Path(out) if out else None, show=show, **where)
        tuned = Tuned(tuning, judge(task, tuning.values, pairs, play=play, **where) if tuning.values else None)
    _write(patch, target, tuned)
    advice, chart = new_agent_text(spec, tuning.values, "--limit", limit), tuning_chart(tuning)
    figure, closing = partial(drawn, chart) if chart else None, f"\n{advice}" if tuned.is_better else ""
    return Result(tuned, tuned_sections(tuned, costs), figure, closing=closing)


def _at_equal_cost(task: TuningTask) -> tuple[TuningTask, tuple[str, ...]]:
    """Return a task whose agent has the limit at which it takes the time of its opponent, and what its nodes cost."""
    if task.opponent is None:
        raise ValueError("equal cost needs an opponent: under other values the agent costs what it costs")
    (_, scaled), (_, cost) = specs_at_equal_cost([task.opponent, task.spec], task.size)
    agent, other = (f"{make_agent(spec).name} {spec.limit}" for spec in (scaled, task.opponent))
    words = f"At equal cost by CPU time per node, measured now: {other}; {agent}{times_words(cost, False)}."
    return replace(task, spec=scaled), (words,)


def _write(patch: Patch, target: str, found: Fitted | Tuned) -> None:
    if patch:
        tell(write_patch(Path(patch), target, found.values, found.is_better))


def sweep_result(
    agent: AgentLike, over: Sequence[str], opponent: AgentLike | None, limit: str | None, out: Patch, **keys: Any
) -> Result[Sweep]:
    """Play a sweep, or what is missing of it; for `keys` see `sweep`."""
    axes = [parse_axis(text) for text in over]
    if limit and any(axis.name == "limit" for axis in axes):
        raise ValueError("--over limit=... and --limit exclude each other: use one of them")
    spec, whom, bound = spec_of(agent), spec_of(opponent) if opponent else "", parse_limit(limit or "nodes=1000")
    needs = "limit" if all(axis.name == "limit" for axis in axes) else "heuristic"
    with captured(spec):
        subject = subject_of(spec, bound, needs=needs)
        other = opponent_of(whom) if whom else None
        make_agent(subject)  # its file is imported here, where what it prints is kept back
    with keeping("what was played" if out else "", Path(out or "")):
        play, folder = partial(play_kept_run, command="sweep"), Path(out) if out else None
        swept = sweep(named(parse_spec(spec)), axes, other, bound, out=folder, play=play, **keys)
    name = whom or subject.name
    return Result(swept, (sweep_section(swept, name),), partial(drawn, response_chart(swept, name)))


def feature_sections(selection: Selection) -> tuple[Section, ...]:
    """Return the tables of single features, and of the features chosen one after another."""
    alone = tuple(
        {
            "feature": _label(feature.feature),
            "loss": round(feature.loss, 4),
            "ranked": Share(feature.ranked),
            "meaning": feature.meaning,
        }
        for feature in selection.alone
    )
    chosen = tuple(
        {
            "feature": _label(step.feature),
            "gain": round(step.gain, 1),
            "nanoseconds": round(step.nanoseconds, 1),
            "ranked": Share(step.ranked),
            "weights": ", ".join(f"{weight:.3g}".replace("-", "−") for weight in step.weights),
        }
        for step in selection.chosen
    )
    seen = (
        f"{pluralise(selection.decisions, 'decision')}, searched to {selection.at} with {selection.guide}. Ranked: "
        f"the share of held-out decisions in which the best move keeps the win."
    )
    steps = (
        "Gain: reduction of the loss per decision, in thousandths, on held-out openings. Nanoseconds: added cost per "
        "node. Each row adds the feature with the best gain for its cost to those above it; weights are for all "
        "features so far."
    )
    return (
        Section("alone", "Single features", alone, (seen,)),
        Section("chosen", "Forward selection of features", chosen, (steps,)),
    )


def _label(feature: str) -> str:
    # a function of a script or cell goes by its name, without its file
    path, _, name = feature.rpartition(":")
    return name if is_function_file(path) else feature


def fit_sections(fit: Fit) -> tuple[Section, ...]:
    """Return the parameters before and after, and their profiles."""
    rows = tuple(
        {**_change(parameter), "interval": _interval(parameter), "differs": parameter.differs}
        for parameter in fit.parameters
    )
    kind = "linear in its parameters" if fit.is_linear else "not linear in its parameters (best of several starts)"
    notes = [
        f"{fit.heuristic} is {kind}. {pluralise(fit.decisions, 'decision')} with {pluralise(fit.pairs, 'pair')} of "
        f"moves, searched to {fit.at}. 95 % intervals, clustered by opening up to symmetry. Differs: whether the "
        f"previous value is significantly worse when all others are refitted, at the 5 % level, Holm-adjusted for the "
        f"number of parameters.",
        _ranked("fitted on", fit.ranked),
        _ranked("on held-out openings", fit.ranked_held_out),
        *_remarks(
            fit.parameters, "{} has no significant effect: no value in its range is significantly worse than the best."
        ),
    ]
    return Section("parameters", f"The parameters of {fit.heuristic}, fitted", rows, tuple(notes)), _profiles(fit)


def _profiles(fit: Fit) -> Section:
    rows = tuple(
        {"parameter": parameter.name, "value": short(value), "worse_by": round(worse, 1)}
        for parameter in fit.parameters
        for value, worse in parameter.profile
    )
    note = (
        "Each value with all other parameters refitted. Worse by: twice the loss of log-likelihood, corrected for "
        "clustered openings; values above 3.8 lie outside the 95 % interval."
    )
    return Section("profiles", "Profiles", rows, (note,))


def _ranked(where: str, shares: tuple[float, float]) -> str:
    before, after = (Share(share).text for share in shares)
    return f"Decisions {where} in which the best move keeps the win: {before} before, {after} after."


def _remarks(parameters: Sequence[TunedParameter], no_effect: str) -> list[str]:
    remarks = [no_effect.format(parameter.name) for parameter in parameters if not parameter.matters]
    return remarks + [
        f"{parameter.name} is at the {parameter.end} end of its range, {short(parameter.after)}. Consider a wider "
        f"range, such as Annotated[float, Interval(ge=…, le=…)]."
        for parameter in parameters
        if parameter.end and parameter.matters
    ]


def _change(parameter: TunedParameter) -> dict[str, Any]:
    ends = parameter.range_text or range_text(*parameter.range, short)
    values = {"before": short(parameter.before), "after": short(parameter.after)}
    return {"parameter": parameter.name, "range": ends, **values}


def _interval(parameter: TunedParameter) -> str:
    return f"{short(parameter.low)} to {short(parameter.high)}"


_BARS = "▁▂▃▄▅▆▇█"


@contextmanager
def watching() -> Iterator[Callable[[TuningProgress], None]]:
    """Show the progress of a tuning on the terminal: each parameter's path, round by round."""
    console = Console(stderr=True)
    if not console.is_interactive:
        yield lambda progress: None
        return
    with Live(console=console, transient=True) as live:
        yield lambda progress: live.update(path_table(progress))


def path_table(progress: TuningProgress) -> Table:
    """Return one row per parameter: its first value, its current value, and its path."""
    table = Table("parameter", "began", "now", "path", title=f"round {progress.done} of {progress.rounds}")
    for name, values in zip(progress.names, progress.path.T, strict=True):
        low, high = min(values), max(values)
        sampled = values[:: max(1, len(values) // 40)]
        bars = "".join(_BARS[int((value - low) / (high - low or 1) * (len(_BARS) - 1))] for value in sampled)
        table.add_row(name, short(values[0]), short(values[-1]), bars)
    return table


def tuned_sections(tuned: Tuned, costs: Sequence[str] = ()) -> tuple[Section, ...]:
    """Return the parameters before and after, first with what nodes cost, and the new values on held-out openings."""
    tuning = tuned.tuning
    columns, title = _columns if tuning.vectors is None else _change, "The parameters, tuned"
    notes = (*costs, *_tuning_notes(tuning), *_forfeits(tuning.forfeits))
    first = Section("parameters", title, tuple(map(columns, tuning.parameters)), notes)
    return first, judged_section(tuning, tuned.judgement)


def _columns(parameter: TunedParameter) -> dict[str, Any]:
    best = _interval(parameter) if parameter.matters else "–"
    return {**_change(parameter), "best": best, "adjusted_p": PValue(parameter.p_value)}


def _tuning_notes(tuning: Tuning) -> list[str]:
    if tuning.vectors is not None:
        return [
            f"{tuning.games:,} games: {pluralise(tuning.vectors, 'vector')} of values suggested by Optuna, then "
            f"finals between the best of them on separate openings. After: the values that won most in the finals."
        ]
    return [
        f"{tuning.games:,} games in {pluralise(len(tuning.path) - 1, 'round')} and finals. Best: central 95 % of the "
        f"best values compatible with the games, within the range played, while parameters without a significant "
        f"effect keep their old values. The p-value tests whether the parameter has any effect, Holm-adjusted for the "
        f"number of parameters; above 0.05 the old value stays.",
        *_remarks(tuning.parameters, "No evidence in these games for changing {}."),
    ]


def _forfeits(games: int) -> list[str]:
    return [f"{pluralise(games, 'game')} ended by an error, a timeout or an illegal move."] if games else []


def judged_section(tuning: Tuning, judgement: Judgement | None) -> Section:
    """Compare the gain in training with the result on held-out openings, if any value changed."""
    if judgement is None:
        return Section("judged", "No significant improvement in these games: keep the defaults.", ())
    claims: list[tuple[str, Interval, float | None]] = [
        ("share of games won against the old values", judgement.rate, judgement.p_value)
    ]
    if judgement.gain and judgement.before and judgement.after:
        claims.insert(0, ("gain against the opponent", judgement.gain, judgement.gain_p_value))
        claims.append(("share won against the opponent, before", judgement.before, None))
        claims.append(("share won against the opponent, after", judgement.after, None))
    rows = tuple(
        {
            "what": what,
            "promised": None if number else estimate_of(tuning.promised, Points if judgement.gain else Share),
            "held_out": estimate_of(interval, Points if interval is judgement.gain else Share),
            "p_value": None if p_value is None else PValue(p_value),
        }
        for number, (what, interval, p_value) in enumerate(claims)
    )
    finals = (
        "a cross-validated estimate: each half of the finals judges the best values of the other"
        if tuning.vectors is not None
        else ("the result of the finals on training openings, after selection")
    )
    note = (
        f"Held out: {pluralise(judgement.pairs, 'opening')} from orbits not used for tuning, each played twice. "
        f"Promised: {finals}. The held-out games are in {judgement.run}: {_compare(judgement.run)}"
    )
    return Section("judged", judged_sentence(judgement), rows, (note,))


def sweep_section(swept: Sweep, opponent: str) -> Section:
    """Return one row per combination, with the share of games won."""
    rows = tuple(
        {axis.name: value_text(value) for axis, value in zip(swept.axes, values, strict=True)}
        | {"won": estimate_of(rate)}
        for values, rate in swept.rates.items()
    )
    runs = [run.sources[0].info for run in swept.runs]
    forfeits = sum(group.games for run in swept.runs for group in forfeits_of(run))
    notes = [
        f"{pluralise(runs[0].openings, 'opening')}, the same for all points, each played twice. Individual 95 % "
        f"intervals, clustered by opening up to symmetry. The highest of many estimates is biased upwards.",
        *(f"{name} changed no game: all its values play the same moves." for name in swept.without_effect),
        *_forfeits(forfeits),
        *(sentence for run in swept.runs for sentence in equal_cost_sentences(run)),
        f"The games are in {join_names([str(run.path) for run in runs])}. More: {_compare(runs[0].path)}",
    ]
    return Section("sweep", f"Won against {opponent}", rows, tuple(notes))


def _compare(run: object) -> str:
    return advice(command("results", run), f"ki.results({str(run)!r})")


def new_agent_text(spec: str, values: Mapping[str, float], *options: str) -> str:
    """Return the agent with its new parameters, and how to evaluate it in games."""
    new = f"{spec}{',' if '@' in spec else '@'}{options_text(dict(values))}"
    return f"The new agent: {new}\nNext: {command('match', new, spec, *options)}"


def judged_sentence(judgement: Judgement) -> str:
    """Return the verdict from the held-out openings."""
    word, whom = _word(judgement), "head to head" if judgement.gain is None else "against the opponent"
    if word == "no significant difference":
        return f"On held-out openings: {word} from the old values {whom} yet; keep the old ones."
    end = "." if word == "better" else ": keep the old ones."
    return f"On held-out openings the new values are {word} than the old ones {whom}{end}"


def _word(judgement: Judgement) -> Word:
    lead, p_value = judgement.rate.estimate - 0.5, judgement.p_value
    if judgement.gain is not None:
        lead, p_value = judgement.gain.estimate, judgement.gain_p_value
    return verdict_of(lead, p_value <= ALPHA)


def short(value: float) -> str:
    """Format a number with few digits."""
    return "–" if math.isnan(value) else f"{value:.4g}"
