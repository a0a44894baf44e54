"""Judge tuned values on held-out openings: a run in which the old values are the baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..inference.cluster_intervals import Interval
from ..inference.contenders.head_to_head import compare_directly
from ..inference.standings import matchups
from ..play.runner import Play, play_kept, play_tournament
from ..record.run_directory import kept_config
from ..roster import make_agent, settings_text
from ..statistics.run_results import load_findings
from ..verdicts.contender_verdicts import judge as judge_run
from .spsa_tuning import TuningTask
from .tuning_games import with_values


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
        "board": question.size, "openings": f"random:{question.plies},screen", "pairs": pairs,
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
