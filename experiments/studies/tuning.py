"""Tune parameters by games: a sampler proposes the values that play, round by round; finals; and a judgement.

Openings are split by orbit: values are tuned on those of one half, and judged on those of the other. The games of a
tuning are kept in a journal, which has the settings, then a line for each batch. It is the only state; a tuning resumes
where it ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from knights_isolation.isolation.rules.game import USUAL_SIZE, Limit, Size

from ..plan import AgentLike, Spec, complete, make_agent, named, parse_limit, parse_spec, settings_text, spec_of
from ..plan.run_keeping import kept_config
from ..play.runner import Play, play_kept, play_tournament
from ..record.checked_lines import append_lines, open_journal
from ..statistics.contender_verdicts import judge as judge_run
from ..statistics.game_pairs import matchups
from ..statistics.paired_differences import compare_directly
from ..statistics.proportions import Floats, Interval
from ..statistics.run_results import load_findings
from .batches import BatchResult, playing, pool_of, prepare
from .parameter_space import TunedParameter, space_of, with_values
from .samplers import (
    SpsaPlan,
    Study,
    check_optuna,
    optuna_facts,
    optuna_search,
    plan_of,
    sampling_plan,
    spsa,
    spsa_facts,
)

if TYPE_CHECKING:
    from knights_isolation.isolation.search.agents import Agent


def subject_of(text: str, limit: Limit | None, *, needs: str = "heuristic") -> Spec:
    """Return the completed spec of an agent that goes by a heuristic; it may `need` a limit to search under instead.

    Raises:
        ValueError: the spec names no agent, or the agent has not what it needs.
    """
    spec = complete(named(parse_spec(text)), limit)
    if needs == "heuristic" and (not spec.method or spec.target in ("", "*")):
        raise ValueError(f"{text} has no heuristic with parameters: name one, as in ID:my.py:score")
    if needs == "limit" and (not spec.method or spec.target == "*" or spec.limit is None):
        raise ValueError(f"--over: {text} has no limit to sweep; use a search such as ID:improved or MCTS")
    return spec


def opponent_of(text: str) -> Spec:
    """Return the spec of an opponent, named.

    Raises:
        ValueError: the spec names no agent, or it is a pattern for many agents.
    """
    spec = named(parse_spec(text))
    if spec.target == "*":
        raise ValueError(f"--opponent: {text} matches many agents; name one of them")
    return spec


OPENINGS = 4000
"""Number of openings to tune on, if the board has as many."""
SamplerName = Literal["spsa", "optuna"]


@dataclass(frozen=True)
class TuningTask:
    """A tuning: agent, opponent, board, random openings and plan.

    Both specs are completed; without an opponent the agent meets itself with other values. `wanted` are the parameters
    to tune, all if empty. `openings` is the largest number of openings to tune on. `sampler` chooses the values.
    """

    spec: Spec
    opponent: Spec | None
    wanted: tuple[str, ...] = ()
    size: Size = USUAL_SIZE
    plies: int = 4
    openings: int = OPENINGS
    plan: SpsaPlan = plan_of(20_000, 1)
    sampler: SamplerName = "spsa"


def tuning_task(
    agent: AgentLike, opponent: AgentLike | None, limit: str, games: int, seed: int, sampler: SamplerName, **asked: Any
) -> TuningTask:
    """Return the task of tuning an agent's parameters by about so many games; `asked` are further fields of it.

    Raises:
        ValueError: a spec or the limit is invalid, the agent has no heuristic, or Optuna is not installed.
    """
    if sampler == "optuna":
        check_optuna()
    bound, plan_games = parse_limit(limit), sampling_plan if sampler == "optuna" else plan_of
    subject = subject_of(spec_of(agent), bound)
    other = complete(opponent_of(spec_of(opponent)), bound) if opponent else None
    plan = plan_games(games // 2 if other else games, seed)
    return TuningTask(subject, other, tuple(asked.pop("wanted", ())), plan=plan, sampler=sampler, **asked)


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
    agent, settings = _prepared(question)
    assert agent.heuristic is not None
    plan, is_optuna = question.plan, question.sampler == "optuna"
    space = space_of(agent.heuristic, question.wanted, with_choices=is_optuna)
    pool = pool_of(question.size, question.plies, question.openings, plan.seed)
    study = Study(question.spec, question.opponent, space, pool, plan)
    facts = {
        **(optuna_facts if is_optuna else spsa_facts)(space), "agents": settings, "size": str(question.size),
        "openings": [question.plies, len(pool)], "plan": asdict(plan),
    }  # fmt: skip
    search = optuna_search(study) if is_optuna else spsa(study)
    path: list[Floats] = []
    with playing(question.size, **where) as play:
        played = open_journal(out, facts, lambda line: BatchResult(**line)) if out else []
        results = {result.key: result for result in played}
        point, batches = next(search)
        while True:
            path.append(point)
            show(TuningProgress(len(path) - 1, plan.rounds, space.names, np.array(path)))
            missing = [batch for batch in batches if batch.key not in results]
            for result in play(missing) if missing else ():
                results[result.key] = result
                if out:
                    append_lines(out, [asdict(result)])
            try:
                point, batches = search.send([results[batch.key] for batch in batches])
            except StopIteration as end:
                parameters, promised, vectors = end.value
                break
    games, forfeits = (sum(getattr(each, name) for each in results.values()) for name in ("games", "forfeits"))
    return Tuning(parameters, promised, games, forfeits, np.array(path), vectors)


def _prepared(question: TuningTask) -> tuple[Agent, list[str]]:
    """Return the agent to tune, and the settings of all agents."""
    specs = [spec for spec in (question.spec, question.opponent) if spec]
    agents = prepare([str(spec) for spec in specs], question.size)
    settings = [settings_text(spec, agent) for spec, agent in zip(specs, agents, strict=True)]
    if len(set(settings)) < len(settings):
        raise ValueError(f"--opponent: {specs[1].name} is the agent itself, which it meets without the option")
    return agents[0], settings


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
