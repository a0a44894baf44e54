"""Tune parameters by games: a search chooses the values that play, round by round; finals; and a judgement.

`spsa_tuning` and `optuna_tuning` are the searches. Both see few games of each vector, so the best of many looks better
than it is. The best values therefore play finals, on openings that they were not chosen by; they are judged on openings
of the half that no tuning sees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..plan.run_keeping import kept_config
from ..play.runner import Play, play_kept, play_tournament
from ..roster import AgentLike, complete, make_agent, parse_limit, settings_text, spec_of
from ..statistics.contender_verdicts import judge as judge_run
from ..statistics.game_pairs import matchups
from ..statistics.paired_differences import compare_directly
from ..statistics.proportions import Interval
from ..statistics.run_results import load_findings
from . import optuna_tuning
from .parameter_space import TunedParameter
from .spsa_tuning import Spsa
from .tuning_games import (
    Floats,
    Sampler,
    TuningTask,
    opened_study,
    opponent_of,
    plan_of,
    subject_of,
    with_values,
)


@dataclass(frozen=True)
class TuningProgress:
    """Progress: rounds done and planned, parameter names, and the path so far, float64[rounds + 1, p]."""

    done: int
    rounds: int
    names: tuple[str, ...]
    path: Floats


@dataclass(frozen=True)
class Tuning:
    """Result of a tuning: the parameters, the result of the finals, the games, and the path of the search.

    `promised` is the share of games that the new values should win against the old, or their gain against the opponent.
    `vectors` is the number of different vectors that Optuna tried; None for SPSA.
    """

    parameters: tuple[TunedParameter, ...]
    promised: Interval
    games: int
    forfeits: int
    path: Floats = field(compare=False)
    vectors: int | None = None

    @property
    def values(self) -> dict[str, float]:
        """The new values of the parameters that change."""
        return {parameter.name: parameter.after for parameter in self.parameters if parameter.after != parameter.before}


def tuning_task(
    agent: AgentLike, opponent: AgentLike | None, limit: str, games: int, seed: int, sampler: Sampler, **asked: Any
) -> TuningTask:
    """Return the task of tuning an agent's parameters by about so many games; `asked` are further fields of it.

    Raises:
        ValueError: a spec or the limit is invalid, the agent has no heuristic, or Optuna is not installed.
    """
    if sampler == "optuna":
        optuna_tuning.check_optuna()
    bound, plan_games = parse_limit(limit), optuna_tuning.sampling_plan if sampler == "optuna" else plan_of
    subject = subject_of(spec_of(agent), bound)
    other = complete(opponent_of(spec_of(opponent)), bound) if opponent else None
    plan = plan_games(games // 2 if other else games, seed)
    return TuningTask(subject, other, tuple(asked.pop("wanted", ())), plan=plan, sampler=sampler, **asked)


def tune(
    question: TuningTask,
    out: Path | None = None,
    *,
    show: Callable[[TuningProgress], None] = lambda progress: None,
    **where: Any,
) -> Tuning:
    """Play the tuning, or its missing batches, and return the best values.

    The result does not depend on the number of jobs, but may depend on the version of Optuna.

    Args:
        out: file of the journal.
        show: called after each round.
        where: `jobs` and `cluster`, see `parallel_mapper`.

    Raises:
        ValueError: there is nothing to tune, `out` has other settings, or Optuna is not installed.
    """
    choice = optuna_tuning.OptunaSearch if question.sampler == "optuna" else Spsa
    with opened_study(question, out, choice.described, **where) as study:
        search: optuna_tuning.OptunaSearch | Spsa = choice(study)
        rounds = question.plan.rounds
        path = [search.point]
        show(TuningProgress(0, rounds, study.space.names, np.array(path)))
        for round_ in range(rounds):
            search.learn(study.meet(search.batches(round_)))
            path.append(search.point)
            show(TuningProgress(round_ + 1, rounds, study.space.names, np.array(path)))
        parameters, promised = search.concluded()
    results = study.results.values()
    games, forfeits = 2 * sum(result.openings for result in results), sum(result.forfeits for result in results)
    vectors = len(search.tried) if isinstance(search, optuna_tuning.OptunaSearch) else None
    return Tuning(parameters, promised, games, forfeits, np.array(path), vectors)


@dataclass(frozen=True)
class Judgement:
    """Results of new values on held-out openings, each played twice, and the directory of the games.

    `rate` is the share of games that the new values won against the old ones, its `p_value` against one half. `before`
    and `after` are the shares of games won against the opponent, if there is one, `gain` is their difference.
    """

    run: Path
    pairs: int
    rate: Interval
    p_value: float
    before: Interval | None = None
    after: Interval | None = None
    gain: Interval | None = None
    gain_p_value: float = float("nan")


def judge(
    question: TuningTask,
    values: Mapping[str, float],
    pairs: int,
    *,
    jobs: int = 0,
    cluster: str | None = None,
    out: Path | None = None,
    play: Play = play_tournament,
) -> Judgement:
    """Play the new values against the old ones, and both against the opponent, on held-out openings.

    Args:
        jobs, cluster: see `Config`; a cluster replaces the processes of this machine.
        out: directory of the run; the default is one below `runs/` that the same call finds again.

    Raises:
        KeyboardInterrupt: the run was interrupted; calling this again with the same arguments resumes it.
    """
    old, opponent = question.spec, question.opponent
    new = replace(with_values(old, values), name=f"{old.name}_tuned")
    keys: dict[str, Any] = {
        "format": "gauntlet" if opponent else "head-to-head", "contenders": (str(new),), "baseline": str(old),
        "board": str(question.size), "openings": f"random:{question.plies},screen", "pairs": pairs,
        "seed": question.plan.seed, "limit": str(old.limit),
    }  # fmt: skip
    if opponent:
        keys |= {"opponents": (str(opponent), str(old)), "control": False}
    players = [settings_text(spec, make_agent(spec)) for spec in (new, old, opponent) if spec]
    where = {"jobs": 0 if cluster else jobs, "cluster": cluster}
    results = load_findings([play_kept(kept_config("tune", keys, players, out, where), play)])
    names = (new.name, old.name)
    duel = compare_directly(results.pairs, *names, pool=results.pool_of(names))
    judgement = Judgement(results.sources[0].info.path, duel.pairs.n, duel.rate, duel.p_value)
    if not opponent:
        return judgement
    (comparison,) = judge_run(results).claims
    after, before = (
        {matchup.opponent: matchup.rate for matchup in matchups(results.pairs, name)}[opponent.name] for name in names
    )
    return replace(judgement, before=before, after=after, gain=comparison.difference, gain_p_value=comparison.p_value)
