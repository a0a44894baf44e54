"""Add contenders or openings to a finished run: a new run that starts with the old games.

Agents meet from the same openings, by the same seeds, as they did in the old run; a game is the same game if it has the
same two agents on the same sides, the same opening and the same seed. The old run is not changed. Game ids are
positions in a schedule, so further contenders change all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from knights_isolation.isolation.games.match import play_many
from knights_isolation.isolation.suggestions import command

from ..plan import run_keeping
from ..plan.config import Config, load_config
from ..plan.schedule import Ids
from ..plan.tournament_plan import Plan, on_the_clock
from ..record import log, log_parts, run_directory
from ..record.columns import Table, numbers, where, with_columns
from ..record.log_validation import check_facts
from ..record.schema import RunInfo
from .finished_games import scheduled_columns

GO_WITH_IT = ("contenders", "pairs", "jobs", "cluster", "out")
"""Keys of the configuration that may be given with a run to extend; all others are taken from the run."""

_VERSION = "knights-isolation"
_REPLAYED = 8
_SAME_GAME = ["agent_1", "agent_2", "opening_id", "seed"]


@dataclass(frozen=True)
class Extension:
    """A plan that extends a run, and for each game of the run's log, in reading order, its id in the plan.

    -1 marks games that the plan does not have.
    """

    run: Path
    plan: Plan
    ids: Ids

    @property
    def games(self) -> int:
        """Number of games that need not be played again."""
        return int(np.count_nonzero(self.ids >= 0))


def extended_config(run: str | Path, keys: Mapping[str, object]) -> Config:
    """Return the configuration of a finished run with further contenders or openings.

    `keys` are those of `GO_WITH_IT`. With `pairs`, all contenders or, by name, those in `contenders` play so many
    openings, and the baseline as well; without, `contenders` are new ones.

    Raises:
        ValueError: there is no finished run there, or other changes are requested.
    """
    info = run_directory.load_run(run)
    run_keeping.check_played_here(info)
    if foreign := [key for key in keys if key not in GO_WITH_IT]:
        option = {"opponents": "opponent"}.get(foreign[0], foreign[0].replace("_", "-"))
        raise ValueError(f"--extend plays by the settings of {info.path}: leave --{option} out")
    if not (keys.get("contenders") or keys.get("pairs")):
        raise ValueError("--extend needs a new --contender, or more openings by --pairs")
    if not run_directory.is_finished(info.path):
        raise ValueError(f"{info.path} is unfinished: resume with {command('tournament', '--resume', info.path)}")
    why = "was played at equal cost measured at its start" if info.requested.get("equal_cost") else ""
    if info.requested["format"] == "best-of":
        why = why or "is a best-of, whose eliminations depend on all contenders,"
    if why:
        raise ValueError(f"{info.path} {why} and cannot be extended: play a new run")
    config = run_keeping.written_config(info)
    known = config.model_dump(exclude={"jobs", "cluster", "out"})
    changes = _with_more_pairs(config, info, keys) if keys.get("pairs") else {}
    added = () if changes else cast("Sequence[str]", keys["contenders"])
    return load_config(None, {**known, **keys, "contenders": (*config.contenders, *added), **changes})


def _with_more_pairs(config: Config, info: RunInfo, keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys that change, besides contenders, if all or those that `keys` name play more openings."""
    pairs, names = keys["pairs"], tuple(keys.get("contenders", ()))
    known = [name for name, entry in info.agents.items() if "contender" in entry.roles]
    if unknown := [name for name in names if name not in known]:
        raise ValueError(
            f"--pairs with --extend: {info.path} has no contender {unknown[0]}; choose among {', '.join(known)}, or "
            f"leave --pairs out to add a contender"
        )
    most = max(int(config.pairs), config.more_pairs or 0)
    if pairs == "all" or pairs <= most:
        raise ValueError(f"--pairs: {info.path} has {most:,} openings a match already; name a larger number")
    if not names:
        return {"pairs": pairs, "more_pairs": None, "more_for": None}
    more_for = tuple(dict.fromkeys((*(config.more_for or ()), *names)))
    return {"pairs": config.pairs, "more_pairs": pairs, "more_for": more_for}


def extend(run: Path, config: Config) -> Extension:
    """Plan a configuration made by `extended_config`, and find which of its games the run has.

    Raises:
        ValueError: the configuration cannot be played, or the run's games must not be mixed with new ones: the code of
            an agent or the engine has changed since, or the log contains rows that do not belong to it.
    """
    info = run_directory.load_run(run)
    plan = run_keeping.planned_like(info, config)
    run_keeping.check_unchanged(info, plan)
    check_facts(info)
    if info.versions.get(_VERSION) != log_parts.versions()[_VERSION]:
        raise ValueError(
            f"{run} was played with engine version {info.versions.get(_VERSION)} and cannot be extended: play a new run"
        )
    games = log.read_table(run, ["game_id", *_SAME_GAME])
    ids = _ids_in(plan, games)
    _replay(run, plan, numbers(games, "game_id")[ids >= 0], ids[ids >= 0])
    extension = Extension(run, plan, ids)
    note = f"{extension.games:,} games come from {run}, which this run extends"
    before = run_keeping.written_config(info)
    looks = {*info.looks, int(before.pairs), before.more_pairs or int(before.pairs)}
    return replace(extension, plan=replace(plan, notes=(*plan.notes, note), looks=tuple(sorted(looks))))


def carry_over(extension: Extension, path: Path) -> None:
    """Copy the games of the extended run into the log of the run at `path`, which has none yet.

    If it is killed at any moment, the log can be resumed: games that have not been copied are played again.
    """
    schedule, settings = extension.plan.schedule, [entrant.settings for entrant in extension.plan.entrants]
    first = 0
    for part in log.live_files(log.games_folder(extension.run)):
        table = log.read_part(part)
        ids = extension.ids[first : first + len(table)]
        first += len(table)
        scheduled = scheduled_columns(schedule, settings, ids[ids >= 0])
        if len(scheduled):
            kept = with_columns(where(table, ids >= 0), {name: scheduled[name] for name in log.SCHEDULED})
            log_parts.append(log.games_folder(path), kept)


def _ids_in(plan: Plan, games: Table) -> Ids:
    schedule = plan.schedule
    ids = np.arange(schedule.bound)
    ids = ids[schedule.exists(ids)]
    scheduled = scheduled_columns(schedule, [entrant.settings for entrant in plan.entrants], ids)
    planned = scheduled.select(_SAME_GAME).to_pandas().assign(game_id=ids)
    asked = games.select(_SAME_GAME).to_pandas()
    for name in ("agent_1", "agent_2"):
        planned[name], asked[name] = planned[name].astype(str), asked[name].astype(str)
    game_ids: Ids = asked.merge(planned, "left", _SAME_GAME)["game_id"].fillna(-1).to_numpy(np.int64)
    return game_ids


def _replay(run: Path, plan: Plan, logged: Ids, ids: Ids) -> None:
    """Replay some of a run's games; raise an error if one replays differently, since the engine has changed then."""
    # `logged` are the games' ids in the run's log, `ids` those in the plan.
    schedule, size, clocked = plan.schedule, plan.schedule.size, on_the_clock(plan.entrants)
    ours = [
        index
        for index, entrant in enumerate(plan.entrants)
        if not (entrant.agent.is_user_code or entrant in clocked) and entrant.agent.compiled(size)
    ]
    repeatable = np.flatnonzero(np.isin(schedule.players(ids), ours).all(axis=1))
    indices = repeatable[np.linspace(0, len(repeatable) - 1, min(_REPLAYED, len(repeatable))).astype(np.int64)]
    chosen, agents = ids[indices], [entrant.agent for entrant in plan.entrants]
    of_each = (schedule.players(chosen), schedule.openings(chosen), schedule.seeds(chosen).tolist())
    games = play_many(agents, *of_each, size)
    for index, id_ in enumerate(logged[indices].tolist()):
        row = log.find_row(run, id_) or {}
        plies = slice(games.offsets[index], games.offsets[index + 1])
        if row["moves"] != games.moves[plies].tolist() or row["nodes"] != games.nodes[plies].tolist():
            raise ValueError(f"{run}: game {id_} replays differently with this engine version: play a new run")
