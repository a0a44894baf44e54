"""Load runs for analysis: games as pairs, roles, costs, forfeits, and whether runs can be pooled.

Runs are pooled only if they compare the same things: same board, kind of openings and limit, and every name refers to
the same player. A deterministic player repeats its games; a game that several runs share counts once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.rules.game import ON_THE_BOARD, Cost
from knights_isolation.isolation.suggestions import did_you_mean

from ..record.columns import (
    ArrowColumn,
    Table,
    codes,
    concatenate,
    numbers,
    to_names,
    where,
    with_columns,
)
from ..record.log import SCHEMA, fold_batches, read_games
from ..record.log_validation import read_valid_games
from ..record.run_directory import State, games_at_end, is_imported, load_run, state_of
from ..record.schema import AgentEntry, RunInfo, baseline_of, differing_settings, read_facts
from .game_pairs import PairTable, Standing, opponents_of, pair_games, standings

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")

_COLUMNS = (
    *("game_id", "pair_id", "rows", "columns", "agent_1", "agent_2", "opening_id", "orbit", "colours"),
    *("population", "winner", "reason", "plies"),
)
SIDES = ("agent_1", "agent_2")
_SAME_OPENINGS = ("board", "openings")
_SAME_FAMILY = (*_SAME_OPENINGS, "limit")
_SAME_QUESTION = (*_SAME_OPENINGS, "limit", "equal_cost")


@dataclass(frozen=True)
class LoadedRun:
    """One of the runs read together; `names` maps its agents' names to the names used here."""

    info: RunInfo
    names: Mapping[str, str]

    @property
    def costs(self) -> dict[str, Cost]:
        """Costs of the agents whose costs the run knows, relative to its reference agent."""
        return {self.names[name]: cost for name, cost in self.info.processor_costs.items()}


@dataclass(frozen=True, eq=False)
class RunResults:
    """The games of one or several runs.

    `table` has one row per game: game_id and pair_id (unique over all runs), run (its index in `sources`) and own_id
    (its id there), agent_1, agent_2, winner, reason, plies, size, opening_id, orbit, same_colour, population.
    `repeated` is the number of duplicate games that were skipped; `left_out` is the number that `among` skipped.
    `baseline` is the agent that the others are compared with, if there is one.
    """

    sources: tuple[LoadedRun, ...]
    agents: Mapping[str, AgentEntry]
    table: Table
    baseline: str | None
    repeated: int
    left_out: int = 0

    @cached_property
    def infos(self) -> tuple[RunInfo, ...]:
        """Facts of the runs."""
        return tuple(source.info for source in self.sources)

    @property
    def played(self) -> int:
        """Number of games."""
        return int(self.table.num_rows)

    @cached_property
    def games(self) -> pd.DataFrame:
        """The table as a frame, where speed does not matter: importing pandas takes a third of a second."""
        frame: pd.DataFrame = self.table.to_pandas()
        return frame

    @property
    def counted_games(self) -> pd.DataFrame:
        """The games that count for win rates; see `pairs`."""
        return self.games[~self._is_direct]

    @cached_property
    def all_pairs(self) -> PairTable:
        """The games in pairs; symmetric openings are one cluster."""
        return pair_games(self.table, cluster="orbit")

    @cached_property
    def pairs(self) -> PairTable:
        """The pairs that count for win rates: not those of contenders with a baseline that is no opponent of all."""
        is_counted = ~self._is_direct
        return self.all_pairs if is_counted.all() else pair_games(where(self.table, is_counted), cluster="orbit")

    @cached_property
    def _is_direct(self) -> NDArray[np.bool_]:
        """Which games count for no win rate: between baseline and contenders, where there are common opponents."""
        formats = np.array([info.requested["format"] for info in self.infos])
        apart = {name: facts.roles for name, facts in self.agents.items() if "opponent" not in facts.roles}
        (base_1, base_2), (own_1, own_2) = (
            [codes(self.table, side, [name for name in apart if role in apart[name]]) >= 0 for side in SIDES]
            for role in ("baseline", "contender")
        )
        has_opponents = any("opponent" in facts.roles for facts in self.agents.values())
        counts_apart = (formats == "gauntlet") & has_opponents
        is_direct: NDArray[np.bool_] = counts_apart[numbers(self.table, "run")]
        return is_direct & ((base_1 & own_2) | (own_1 & base_2))

    @cached_property
    def pooled_pairs(self) -> PairTable:
        """The pairs, with games of controls that count as the baseline's, except those with itself, under its name."""
        if not self.pooled_controls:
            return self.pairs
        called = {name: str(self.baseline) if name in self.pooled_controls else name for name in self.agents}
        kinds = list(dict.fromkeys(called.values()))
        counted = where(self.table, ~self._is_direct)
        first, second = (agent_codes(counted, side, called, kinds) for side in SIDES)
        sides = {side: to_names(players, kinds) for side, players in zip(SIDES, (first, second), strict=True)}
        return pair_games(where(with_columns(counted, sides), first != second), cluster="orbit")

    def having(self, *roles: str) -> tuple[str, ...]:
        """Return the agents that have one of these roles and have played."""
        return tuple(
            name for name, facts in self.agents.items() if set(roles) & set(facts.roles) and name in self.pairs.agents
        )

    @property
    def contenders(self) -> tuple[str, ...]:
        """Agents that are compared with the baseline: contenders and controls, or else the opponents."""
        chosen = self.having("contender", "control", "baseline") or self.having("opponent")
        return tuple(name for name in chosen if name != self.baseline)

    @property
    def measured(self) -> tuple[str, ...]:
        """Agents under test: baseline, contenders and controls; all agents if there are none of these."""
        return self.having("baseline", "contender", "control") or self.pairs.agents

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """All agents that have played, by the share of games won in complete pairs, best first: the order of tables."""
        return tuple(standing.agent for standing in self.standings)

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """Results of all agents, best first: exact if all openings were played by deterministic agents."""
        return self.standings_in(self.pairs)

    def standings_in(self, pairs: PairTable) -> tuple[Standing, ...]:
        """Return the results of all agents by some pairs, best first."""
        return standings(pairs, pools={name: self.pool_among(name, pairs) for name in pairs.agents})

    def pool_among(self, name: str, pairs: PairTable | None = None) -> int | None:
        """Return the population if an agent and all its opponents are deterministic; otherwise None."""
        return self.pool_of([name, *opponents_of(pairs or self.pairs, name)]) if self.population else None

    def in_order(self, names: Iterable[str]) -> list[str]:
        """Return these agents in the order of `ranked`; those that have not played come last, in the given order."""
        rank = {name: rank for rank, name in enumerate(self.ranked)}
        return sorted(names, key=lambda name: rank.get(name, len(rank)))

    @property
    def pooled_controls(self) -> tuple[str, ...]:
        """Controls that are the baseline under another name and count as the baseline by their runs' design."""

        def is_pooled(source: LoadedRun, control: str) -> bool:
            settings = {source.names[name]: entry.settings for name, entry in source.info.agents.items()}
            is_baseline = source.info.pools_control and settings.get(control) == settings.get(self.baseline or "")
            return control not in settings or is_baseline

        return tuple(name for name in self.having("control") if all(is_pooled(each, name) for each in self.sources))

    @property
    def unranked(self) -> frozenset[str]:
        """Players of leagues that never made a legal move; they and their games are left out."""
        return frozenset(source.names[name] for source in self.sources for name in source.info.unranked)

    @property
    def looks(self) -> tuple[int, ...]:
        """Openings of each match after which a run that the runs extend was finished, ascending."""
        return tuple(sorted({openings for info in self.infos for openings in info.looks}))

    def spec_and_settings(self, agent: str) -> tuple[str, str]:
        """Return the spec and the settings of an agent, as `run.json` of the first of its runs has them."""
        names = ((source, own) for source in self.sources for own, name in source.names.items() if name == agent)
        source, own = next(names)
        return source.info.agents[own].spec, source.info.agents[own].settings

    @property
    def planned(self) -> int:
        """Planned number of games of the runs, without those left out."""
        return sum(info.games for info in self.infos) - self.left_out

    def among(self, names: Sequence[str]) -> RunResults:
        """Return the games that these agents have played among themselves."""
        players = [codes(self.table, side, names).astype(np.int16) for side in SIDES]
        is_known = (players[0] >= 0) & (players[1] >= 0)
        sides = {side: to_names(own[is_known], names) for side, own in zip(SIDES, players, strict=True)}
        games = with_columns(where(self.table, is_known), sides)
        agents = {name: facts for name, facts in self.agents.items() if name in names}
        left_out = self.left_out + self.played - len(games)
        return replace(self, agents=agents, table=games, left_out=left_out)

    @property
    def population(self) -> int | None:
        """Number of openings from which the games were drawn; None if unknown, or not equal for all runs."""
        sizes = {(info.population, *map(info.requested.get, _SAME_OPENINGS)) for info in self.infos}
        return next(iter(sizes))[0] or None if len(sizes) == 1 else None

    @property
    def formats(self) -> frozenset[str]:
        """Formats of the runs: gauntlet, head-to-head, round-robin, best-of."""
        return frozenset(info.requested["format"] for info in self.infos)

    @property
    def sprt(self) -> Sequence[float]:
        """The two hypotheses of the runs' own sequential test, and its error rate if one was given; empty without."""
        return next(filter(None, (info.requested.get("sprt") for info in self.infos)), ())

    @property
    def stopped_early(self) -> bool:
        """Return whether a stop rule ended a run before all planned games were played."""
        return any(
            (info.requested.get("sprt") or info.requested["format"] == "best-of")
            and (games_at_end(info.path) or info.games) < info.games
            for info in self.infos
        )

    @property
    def state(self) -> State:
        """State of the runs together: stopped if one of them is, or else running if one of them is."""
        states = {state_of(info.path) for info in self.infos}
        return "stopped" if "stopped" in states else "running" if "running" in states else "finished"

    @property
    def is_interim(self) -> bool:
        """Return whether verdicts must hold at any time: games are missing without stop rule, or a run was extended."""
        is_part = 0 < self.played + self.repeated < self.planned
        return (is_part or self.is_extended) and not ("best-of" in self.formats or self.stopped_early)

    @property
    def is_extended(self) -> bool:
        """Return whether a run has more openings than one that it extends."""
        return any(
            before < max(info.requested["pairs"], info.requested.get("more_pairs") or 0)
            for info in self.infos
            for before in info.looks
        )

    @property
    def is_evidence(self) -> bool:
        """Return whether differences are evidence on a question that other runs may ask as well.

        Sequential tests have rules of their own, imported games do not say who played them, and runs with different
        settings do not ask one question.
        """
        is_stopped = any(info.requested.get("sprt") for info in self.infos) or "best-of" in self.formats
        settings = {tuple(map(info.requested.get, _SAME_FAMILY)) for info in self.infos}
        return not is_stopped and not any(map(is_imported, self.infos)) and len(settings) == 1

    def pool_of(self, names: Sequence[str]) -> int | None:
        """Return the population if all these agents are deterministic; otherwise None."""
        return self.population if self.repeats_itself(names) else None

    def repeats_itself(self, names: Sequence[str]) -> bool:
        """Return whether all these agents are deterministic, so that their games are the same every time."""
        return all(name in self.agents and self.agents[name].deterministic for name in names)

    @property
    def is_census(self) -> bool:
        """Return whether every opening of its kind was played by all, and all agents are deterministic."""
        complete = self.played + self.repeated == self.planned and not self.all_pairs.unfinished
        return complete and all(info.is_census for info in self.infos)


def load_findings(runs: Sequence[str | Path], baseline: str | None = None, mixed: bool = False) -> RunResults:
    """Read runs, finished or not, as one.

    `baseline` overrides the runs' own. With `mixed`, runs of different settings are combined nevertheless, and a name
    that refers to different players is extended by the player's limit or by the run. ValueError if there is no run, it
    contains games that do not belong to it, no agent is called `baseline`, or settings differ without `mixed`.
    """
    if not runs:
        raise ValueError("at least one run is needed")
    infos = [load_run(run) for run in runs]
    paths = Counter(info.path.resolve() for info in infos)
    if len(paths) < len(infos):
        raise ValueError(f"{paths.most_common(1)[0][0]} is named twice")
    if not mixed:
        _check_same_question(infos)
    sources = tuple(LoadedRun(info, names) for info, names in zip(infos, _names(infos), strict=True))
    agents = _merge_agents(sources)
    if baseline is not None and baseline not in agents:
        raise ValueError(f"no agent {baseline!r}; {did_you_mean(baseline, agents)}agents: {', '.join(agents)}")
    columns = (*_COLUMNS, "seed") if len(sources) > 1 else _COLUMNS
    tables = [_read(source, number, columns, sorted(agents)) for number, source in enumerate(sources)]
    games, repeated = (tables[0], 0) if len(tables) == 1 else _pool(concatenate(tables, SCHEMA), agents)
    usual = baseline_of({name: facts.roles for name, facts in agents.items()})
    results = RunResults(sources, agents, games, baseline or usual, repeated)
    unranked = results.unranked
    return results.among([name for name in agents if name not in unranked]) if unranked else results


def fold_counted(source: LoadedRun, columns: Sequence[str], fold: Callable[[Iterator[Table]], T]) -> T:
    """Do as `fold_batches`, with the agents besides `columns`, without games of players without a rank."""
    unranked = source.info.unranked

    def ranked(table: Table) -> Table:
        return where(table, np.all([codes(table, side, unranked) < 0 for side in SIDES], axis=0)) if unranked else table

    return fold_batches(source.info.path, (*SIDES, *columns), lambda games: fold(map(ranked, games)))


def _check_same_question(infos: Sequence[RunInfo]) -> None:
    first = infos[0]
    for other in infos[1:]:
        for key in _SAME_QUESTION:
            first_value, two = first.requested.get(key), other.requested.get(key)
            if first_value != two:
                raise ValueError(
                    f"{other.path} has {key} = {json.dumps(two)} and {first.path} {json.dumps(first_value)}: their "
                    f"results are not comparable; analyse them separately, or pool them with --mixed"
                )
    for name, holders in _holders(infos).items():
        for run, settings in holders[1:]:
            if settings != holders[0][1]:
                first_value, two = differing_settings(holders[0][1], settings)
                raise ValueError(
                    f"{name} is not the same player in {infos[holders[0][0]].path} and {infos[run].path}: "
                    f"{first_value} and {two}; analyse them separately, or pool them with --mixed"
                )


def _holders(infos: Sequence[RunInfo]) -> dict[str, list[tuple[int, str]]]:
    holders: dict[str, list[tuple[int, str]]] = {}
    for run, info in enumerate(infos):
        for name, entry in info.agents.items():
            holders.setdefault(name, []).append((run, entry.settings))
    return holders


def _names(infos: Sequence[RunInfo]) -> list[dict[str, str]]:
    """Return the names of each run's agents, extended by limit or run where agents of the same name differ."""
    names: list[dict[str, str]] = [{} for _ in infos]
    for name, holders in _holders(infos).items():
        kinds = list(dict.fromkeys(settings for _, settings in holders))
        labels = dict.fromkeys(kinds, name)
        if len(kinds) > 1:
            limits = {kind: read_facts(kind).limit_text for kind in kinds}
            by_limit = len({limit for limit in limits.values() if limit}) == len(kinds)
            labels = {
                kind: f"{name}@{limits[kind]}" if by_limit else f"{name} (settings {number})"
                for number, kind in enumerate(kinds, start=1)
            }
        for run, settings in holders:
            names[run][name] = labels[settings]
    return names


def _merge_agents(sources: Sequence[LoadedRun]) -> dict[str, AgentEntry]:
    agents: dict[str, AgentEntry] = {}
    for source in sources:
        for own_name, entry in source.info.agents.items():
            name = source.names[own_name]
            before = agents[name].roles if name in agents else []
            agents[name] = replace(entry, roles=list(dict.fromkeys([*before, *entry.roles])))
    return agents


def _read(source: LoadedRun, number: int, columns: Sequence[str], kinds: Sequence[str]) -> Table:
    read = read_valid_games(source.info, columns)
    changed: dict[str, NDArray[Any] | ArrowColumn] = {
        **{side: to_names(agent_codes(read, side, source.names, kinds), kinds) for side in SIDES},
        "run": np.full(len(read), number, np.int16),
        "own_id": read["game_id"],
        "size": numbers(read, "rows").astype(np.int32) * 1000 + numbers(read, "columns"),
        "same_colour": codes(read, "colours", ("same",)) == 0,
    }
    return with_columns(read, changed).drop_columns(["rows", "columns", "colours"])


def agent_codes(table: Table, side: str, called: Mapping[str, str], names: Sequence[str]) -> NDArray[np.int16]:
    """Return the agents of a side as indices in `names`, after renaming them by `called`; −1 for others."""
    indices = [names.index(name) if name in names else -1 for name in called.values()]
    return np.array([*indices, -1], np.int16)[codes(table, side, tuple(called))]


def _pool(games: Table, agents: Mapping[str, AgentEntry]) -> tuple[Table, int]:
    """Merge the games of several runs, each once even if several runs played it, and count the duplicates."""
    # Pairs whose games are in different runs are joined. Two games are the same if agents, sides and opening are equal,
    # and either both agents are deterministic or the seeds are equal. Games that were played elsewhere may agree in all
    # of that within one run and still be different; then the first corresponds to the first of another run.
    import pandas as pd

    names = tuple(agents)
    fixed = np.array([agents[name].deterministic for name in names], dtype=bool)
    left, right = (codes(games, side, names) for side in SIDES)
    determined = fixed[left] & fixed[right]
    seed = np.where(determined, 0, numbers(games, "seed"))
    openings = {"opening": numbers(games, "opening_id"), "size": numbers(games, "size")}
    what = pd.DataFrame({"agent_1": left, "agent_2": right, **openings, "seed": seed})
    repeated = what.duplicated().to_numpy()
    if (repeated & ~determined).any():
        own = what.assign(run=numbers(games, "run")).groupby([*what.columns, "run"], sort=False).cumcount()
        repeated = what.assign(nth=np.where(determined, 0, own)).duplicated().to_numpy()
    sides = {"agent_1": np.minimum(left, right), "agent_2": np.maximum(left, right)}
    meeting = what.assign(**sides).drop(columns="seed")
    # a pair with nondeterministic players is identified by its run and number there
    meeting["run"] = np.where(determined, -1, numbers(games, "run"))
    meeting["pair"] = np.where(determined, -1, numbers(games, "pair_id"))
    pairs = meeting.groupby(list(meeting.columns), sort=False).ngroup().to_numpy()
    kept = where(with_columns(games, {"pair_id": pairs}), ~repeated)
    return with_columns(kept, {"game_id": np.arange(len(kept))}).drop_columns("seed"), int(repeated.sum())


def node_costs(findings: RunResults) -> dict[str, Cost]:
    """Return the costs of all agents whose runs know them, relative to the reference agent of each run."""
    return {name: cost for source in reversed(findings.sources) for name, cost in source.costs.items()}


def relative_costs(findings: RunResults) -> dict[str, Cost]:
    """Return the costs relative to the baseline's, for agents whose run knows both."""
    return {
        name: cost.over(usual)
        for source in reversed(findings.sources)
        if (usual := source.costs.get(findings.baseline or ""))
        for name, cost in source.costs.items()
    }


@dataclass(frozen=True)
class ForfeitGroup:
    """Games an agent lost for one reason: their number, and run, id and details of the first one."""

    agent: str
    reason: str
    games: int
    run: Path
    game_id: int
    detail: str


def forfeits_of(findings: RunResults) -> tuple[ForfeitGroup, ...]:
    """Group the games that were not decided on the board by loser and reason, largest group first."""
    is_forfeit = codes(findings.table, "reason", ON_THE_BOARD) < 0
    if not is_forfeit.any():
        return ()
    lost = findings.games[is_forfeit]
    loser = np.where(lost["winner"] == 1, lost["agent_2"].astype(str), lost["agent_1"].astype(str))
    details = {number: _details(findings.sources[number].info.path) for number in lost["run"].unique()}
    groups = []
    for (agent, reason), group in lost.groupby([loser, lost["reason"].astype(str)]):
        run, own_id = int(group["run"].iloc[0]), int(group["own_id"].iloc[0])
        path = findings.sources[run].info.path
        groups.append(ForfeitGroup(str(agent), str(reason), len(group), path, own_id, details[run].get(own_id, "")))
    return tuple(sorted(groups, key=lambda group: -group.games))


def _details(run: Path) -> dict[int, str]:
    frame = read_games(run, ["game_id", "detail"])
    with_detail = frame[(frame["detail"] != "").to_numpy()]
    return dict(zip(with_detail["game_id"].tolist(), with_detail["detail"].tolist(), strict=True))
