"""Build a tournament plan from a configuration, and estimate how long it takes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from knights_isolation.isolation.loading.load_user_code import expand_path
from knights_isolation.isolation.rules.seeds import SeedsBy

from .agent_kinds import KINDS, METHODS, Spec, parse_limit
from .config import Config
from .openings import OpeningSet, file_openings, placement_openings, random_openings
from .schedule import Match, Schedule
from .spec_parser import make_agent, make_agents, parse_spec, settings_text

if TYPE_CHECKING:
    from knights_isolation.isolation.search.agents import Agent

Role = Literal["baseline", "contender", "control", "opponent"]

CONTROL_SUFFIX = "_control"
_MOST_PAIRS = 2**31
_MOST_DRAWN = 50_000
"""Random openings for a sequential test that plays until it decides; 20 Elo are detected in a few thousand."""


@dataclass(frozen=True)
class Entrant:
    """One agent of a tournament: its completed spec, the player, its settings as text, and its roles."""

    spec: Spec
    agent: Agent
    roles: tuple[Role, ...]
    settings: str


@dataclass(frozen=True)
class Plan:
    """A tournament, ready to run. `config` names every agent in full, so that it makes the same plan again.

    `population` is the number of openings to draw from, 0 if unknown; `notes` are messages for the user.
    `pools_control`: the control's games count as the baseline's too, and their number is optimal (`_control_share`);
    otherwise the control plays as many openings as a contender, as in runs of older versions. `meets_baseline`: each
    contender of a gauntlet also plays the baseline itself; it does not in runs of older versions. `looks` are the
    numbers of openings after which the runs were finished that it extends.
    """

    config: Config
    entrants: tuple[Entrant, ...]
    schedule: Schedule
    population: int
    is_census: bool
    notes: tuple[str, ...]
    pools_control: bool
    meets_baseline: bool
    looks: tuple[int, ...] = ()

    def is_direct(self, match: Match) -> bool:
        """Return whether the match is head to head with the baseline only, and does not count for win rates."""
        of_second = self.entrants[match.second].roles
        return self.config.format == "gauntlet" and "baseline" in of_second and "opponent" not in of_second

    def counted_matches(self, agent: int) -> list[int]:
        """Return the indices of an agent's matches that count for win rates."""
        matches = enumerate(self.schedule.matches)
        return [index for index, match in matches if agent in (match.first, match.second) and not self.is_direct(match)]


def make_plan(
    config: Config, seeds_by: SeedsBy = "opponent", pools_control: bool = True, meets_baseline: bool = True
) -> Plan:
    """Make the plan of a configuration and check it before any game is played.

    `seeds_by` is the rule of `schedule.game_seeds`; for `pools_control` and `meets_baseline` see `Plan`.

    Raises:
        ValueError: an agent cannot be made, or cannot play on the board; two agents share a name, or one player occurs
            twice; an opening is not legal on the board; or nothing is left to play.
    """
    from knights_isolation.isolation.checks.answers import check_determinism
    from knights_isolation.isolation.search.agents import check_board_size

    made, left_out = make_entrants(config)
    check_board_size((entrant.agent for entrant in made), config.size)
    entrants = tuple(replace(entrant, agent=check_determinism(entrant.agent, config.size)) for entrant in made)
    contenders = sum("contender" in entrant.roles for entrant in entrants)
    share = _control_share(config, contenders) if pools_control else 1.0
    shared, own, notes = draw_openings(config, share)
    if config.control and not len(own):
        entrants = tuple(entrant for entrant in entrants if "control" not in entrant.roles)
        notes.append("no control: no openings are left, so it would replay the baseline's games")
    _check_more(config, entrants)
    direct = _direct_meetings(config, entrants)
    if direct and not meets_baseline:
        notes.append(f"no games against {entrants[direct[0][1]].agent.name} itself: the run was planned without them")
    meetings = [*_meetings(config, entrants), *(direct if meets_baseline else [])]
    matches, skipped = _make_matches(config, entrants, meetings, shared, len(own))
    notes += left_out + skipped
    if not matches:
        raise ValueError("nothing to play: fewer than two distinct agents")
    if config.format == "best-of":
        _check_contest(entrants, matches)
    cells = np.concatenate([shared.cells, own])
    names = tuple(entrant.agent.name for entrant in entrants)
    schedule = Schedule(shared.size, config.seed, names, matches, cells, seeds_by)
    is_census = all(
        match.population == match.pairs for match in matches if "control" not in entrants[match.first].roles
    )
    notes += _warnings(entrants, is_census, config)
    resolved = _resolved(config, entrants, _usual_pairs(config, shared))
    return Plan(resolved, entrants, schedule, shared.population, is_census, tuple(notes), pools_control, meets_baseline)


def make_entrants(config: Config) -> tuple[tuple[Entrant, ...], list[str]]:
    """Return the agents of a configuration (baseline, contenders, control, opponents), each once, and messages.

    The messages list the files that matched a pattern but cannot play.

    Raises:
        ValueError: a spec is wrong (the message names the key), or two agents share a name or play identically.
    """
    baseline = _entrants(config.baseline, "baseline", "baseline", config)[0] if config.baseline else []
    if len(baseline) > 1:
        raise ValueError(f"baseline: exactly one agent required, not {config.baseline}")
    contenders, notes = _group(config, "contender", baseline)
    opponents, more_notes = _group(config, "opponent", [])
    control = []
    if config.control:
        spec = replace(baseline[0].spec, name=baseline[0].spec.name + CONTROL_SUFFIX)
        control.append(Entrant(spec, make_agent(spec), ("control",), baseline[0].settings))
    return _merged([*baseline, *contenders, *control, *opponents]), list(dict.fromkeys(notes + more_notes))


def _group(
    config: Config, role: Literal["contender", "opponent"], others: list[Entrant]
) -> tuple[list[Entrant], list[str]]:
    """Return the contenders or the opponents, without duplicates of `others`, and messages about excluded files."""
    group: list[Entrant] = []
    notes = []
    texts = config.contenders if role == "contender" else config.opponents
    for index, text in enumerate(texts):
        entrants, left_out = _entrants(text, role, f"{role}s[{index}]", config)
        for entrant in entrants:
            twin = next((twin for twin in [*others, *group] if _same_play(twin, entrant)), None)
            if twin and entrant.spec.pattern:
                left_out.append(f"{entrant.agent.name} plays exactly like {twin.agent.name}")
            else:
                group.append(entrant)
        notes += [f"left out: {why}" for why in left_out]
    if any(parse_spec(text).target == "*" for text in texts) and role == "contender":
        group = [entrant for entrant in group if entrant.settings not in {other.settings for other in others}]
    _check_distinct(f"{role}s", [*others, *group])
    return group, notes


def draw_openings(
    config: Config, control_share: float = 1.0
) -> tuple[OpeningSet, np.ndarray[Any, np.dtype[np.int16]], list[str]]:
    """Return the openings that all matches share, those of the control, and messages.

    The control gets `control_share` times as many as a contender, as far as enough are left. Placements are in random
    order, a file's openings in the file's order.
    """
    spec = config.opening_spec
    wanted = _MOST_PAIRS if config.pairs == "all" else config.pairs
    for_control = round(wanted * control_share) if config.control else 0
    wanted = max(wanted, config.more_pairs or 0)
    seed = int(np.random.SeedSequence([config.seed, 1]).generate_state(1, np.uint64)[0])
    if spec.kind == "random":
        wanted = min(wanted, _MOST_DRAWN) if config.pairs == "all" else wanted
        drawn = random_openings(config.size, spec.plies, wanted + for_control, seed, spec.subset)
    elif spec.kind == "placements":
        drawn = placement_openings(config.size, spec.subset)
        drawn = replace(drawn, cells=np.random.default_rng(seed).permutation(drawn.cells))
    else:
        drawn = file_openings(expand_path(spec.path), config.size, spec.subset)
    shared = replace(drawn, cells=drawn.cells[:wanted])
    own = drawn.cells[wanted : wanted + for_control]
    notes = []
    if len(shared) < wanted and config.pairs != "all":
        notes.append(f"only {len(shared):,} distinct openings exist ({wanted:,} requested)")
    if 0 < len(own) < for_control:
        notes.append(f"only {len(own):,} openings are left for the control")
    return shared, own, notes


def _control_share(config: Config, contenders: int) -> float:
    """Return the optimal ratio of the control's number of openings to a contender's."""
    # Each contender is compared with baseline and control together. For a given number of games all comparisons have
    # least variance if these two play √contenders times as much as a contender does (Neyman); at least twice as much,
    # so that they can be compared with each other. If contenders stop early, nothing is gained.
    return 1.0 if config.sprt else max(math.sqrt(contenders) - 1, 1.0)


def _entrants(text: str, role: Role, key: str, config: Config) -> tuple[list[Entrant], list[str]]:
    try:
        made, left_out = make_agents(text, parse_limit(config.limit), config.programs)
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from None
    return [Entrant(spec, agent, (role,), settings_text(spec, agent)) for spec, agent in made], left_out


def _check_distinct(key: str, entrants: list[Entrant]) -> None:
    """Raise an error for duplicates: two agents of one name, or one deterministic agent under two names."""
    for other, entrant in ((other, entrant) for index, entrant in enumerate(entrants) for other in entrants[:index]):
        name = entrant.agent.name
        if other.agent.name == name:
            raise ValueError(f"{key}: two agents are called {name}; name one of them: Name={entrant.spec.text}")
        if _same_play(other, entrant):
            raise ValueError(f"{key}: {name} plays exactly like {other.agent.name} and would replay its games")


def _same_play(entrant: Entrant, other: Entrant) -> bool:
    return entrant.settings == other.settings and entrant.agent.is_deterministic


def _merged(entrants: Iterable[Entrant]) -> tuple[Entrant, ...]:
    """Return the entrants with one for each name: an opponent may be a contender too, if it is the same agent."""
    merged: dict[str, Entrant] = {}
    for entrant in entrants:
        name = entrant.agent.name
        if name not in merged:
            merged[name] = entrant
        elif merged[name].settings == entrant.settings:
            merged[name] = replace(merged[name], roles=merged[name].roles + entrant.roles)
        else:
            raise ValueError(f"two different agents are called {name}; name one of them: Name={entrant.spec.text}")
    return tuple(merged.values())


def _check_more(config: Config, entrants: tuple[Entrant, ...]) -> None:
    known = [entrants[index].agent.name for index in having(entrants, "contender")]
    if unknown := [name for name in config.more_for or () if name not in known]:
        raise ValueError(f"more_for: no contender is called {unknown[0]}; choose among {', '.join(known)}")


def _usual_pairs(config: Config, shared: OpeningSet) -> int:
    return len(shared) if config.pairs == "all" else min(config.pairs, len(shared))


def _make_matches(
    config: Config, entrants: tuple[Entrant, ...], meetings: Iterable[tuple[int, int]], shared: OpeningSet, own: int
) -> tuple[tuple[Match, ...], list[str]]:
    matches, notes = [], []
    usual, more_for = _usual_pairs(config, shared), config.more_for or ()
    for first, second in meetings:
        entrant, other = entrants[first], entrants[second]
        if first == second or _same_play(entrant, other):
            notes.append(f"{entrant.agent.name} does not meet {other.agent.name}: they are the same player")
            continue
        determined = entrant.agent.is_deterministic and other.agent.is_deterministic
        population = shared.population if determined else 0
        if "control" in entrant.roles:
            matches.append(Match(first, second, len(shared), own, population))
        else:
            plays_more = "baseline" in entrant.roles or entrant.agent.name in more_for
            matches.append(Match(first, second, 0, len(shared) if plays_more else usual, population))
    return tuple(matches), notes


def _check_contest(entrants: tuple[Entrant, ...], matches: tuple[Match, ...]) -> None:
    contenders, opponents = having(entrants, "contender"), set(having(entrants, "opponent"))
    if len(contenders) < 2:
        raise ValueError("contenders: a best-of needs at least two to choose from")
    for contender in contenders:
        if opponents - {match.second for match in matches if match.first == contender}:
            raise ValueError(
                f"contenders: {entrants[contender].agent.name} is also an opponent; in a best-of all contenders must "
                f"meet the same opponents"
            )


def _meetings(config: Config, entrants: tuple[Entrant, ...]) -> list[tuple[int, int]]:
    contenders = having(entrants, "contender")
    if config.format in ("gauntlet", "best-of"):
        return [*product(having(entrants, "baseline", "contender", "control"), having(entrants, "opponent"))]
    if config.format == "head-to-head":
        return [*product(contenders, having(entrants, "baseline"))]
    return [*combinations(contenders, 2)]


def _direct_meetings(config: Config, entrants: tuple[Entrant, ...]) -> list[tuple[int, int]]:
    """Return a gauntlet's contenders with the baseline, unless one is an opponent of the other and they meet already.

    The control, which is the baseline, would split every pair with it.
    """
    pairs = product(having(entrants, "contender"), having(entrants, "baseline"))
    opponents = {*having(entrants, "opponent")}
    return [pair for pair in pairs if config.format == "gauntlet" and not {*pair} & opponents]


def having(entrants: tuple[Entrant, ...], *roles: Role) -> list[int]:
    """Return the indices of the entrants that have any of these roles."""
    return [index for index, entrant in enumerate(entrants) if set(roles) & set(entrant.roles)]


def _warnings(entrants: tuple[Entrant, ...], is_census: bool, config: Config) -> list[str]:
    from joblib import cpu_count

    notes, jobs = [], config.jobs
    if is_census:
        notes.append("census: deterministic agents play every opening of this kind from both sides")
    if clocked := on_the_clock(entrants):
        notes.append(f"not exactly reproducible: {_names(clocked)} {_think(clocked)} by the clock")
    for why in filter(None, dict.fromkeys(entrant.agent.why_unrepeatable for entrant in entrants)):
        names = _names(entrant for entrant in entrants if entrant.agent.why_unrepeatable == why)
        notes.append(f"not reproducible: {names} may play differently in another run: {why}")
    on_wall = [entrant for entrant in clocked if entrant.spec.limit and entrant.spec.limit.ms]
    if on_wall and jobs > cpu_count():
        whose_search = "their search, slow agents most" if len(on_wall) > 1 else "its search"
        notes.append(
            f"{jobs} jobs on {cpu_count()} cores bias the results: {_names(on_wall)} {_think(on_wall)} by wall time, "
            f"and sharing a core reduces {whose_search}; use fewer jobs, or cpu_ms"
        )
    return notes


def on_the_clock(entrants: Iterable[Entrant]) -> list[Entrant]:
    """Return the agents that are limited by time."""
    return [entrant for entrant in entrants if entrant.spec.limit and not entrant.spec.limit.is_reproducible]


def _think(entrants: list[Entrant]) -> str:
    return "thinks" if len(entrants) == 1 else "think"


def _names(entrants: Iterable[Entrant]) -> str:
    return ", ".join(entrant.agent.name for entrant in entrants)


def _resolved(config: Config, entrants: tuple[Entrant, ...], pairs: int) -> Config:
    def with_role(role: Role) -> tuple[str, ...]:
        return tuple(str(entrants[index].spec) for index in having(entrants, role))

    changes: dict[str, Any] = {
        "contenders": with_role("contender"),
        "baseline": next(iter(with_role("baseline")), None),
        "opponents": with_role("opponent"),
        "pairs": pairs,
        "cluster": None,  # where a run is played does not matter for its result
    }
    if config.engines:
        folders = [str(expand_path(engine.directory or ".").absolute()) for engine in config.engines]
        engines = zip(config.engines, folders, strict=True)
        changes["engines"] = tuple(engine.model_copy(update={"directory": folder}) for engine, folder in engines)
    if path := config.opening_spec.path:
        changes["openings"] = config.openings.replace(path, str(expand_path(path).absolute()))
    return config.model_copy(update=changes)


WITHIN = 2.5
"""Factor by which the forecast may be wrong in either direction: heuristics and machines differ."""
_NODE = 20e-9
"""Seconds per node: `improved` needs 14e-9 on one core, the shipped heuristics more on average."""
_SHARE_OF_NODES = 0.65
"""Mean share of a node limit that moves use: late in the game trees are smaller."""
_TREE_NODES = {"mcts": 2e-6, "bestfirst": 0.2e-6}
"""Seconds per simulation, and per position of best-first search: both descend a tree for each."""
_BRANCHING = {"minimax": 3.7, "alphabeta": 2.7}
"""Branching factor: the nodes of a search of depth d are about this to the power of d."""
_GAME = 150e-6
"""Seconds per game besides its moves: logging it and transferring it."""
_SHARE_OF_CELLS = 0.62
"""Share of the board's cells that are visited when a game ends."""


def seconds_to_play(plan: Plan, games: int | None = None) -> float:
    """Estimate the CPU seconds that a plan, or `games` of its games, takes, within a factor of `WITHIN`.

    Code that cannot be compiled is slower, which is unknown before it has been tried. Moves of
    the agents in `of_unknown_speed` are not included.
    """
    moves = max(_SHARE_OF_CELLS * plan.schedule.size.cells - plan.schedule.cells.shape[1], 1) / 2
    costs = [_seconds_a_move(entrant.spec) for entrant in plan.entrants]
    total = math.fsum(
        2 * match.pairs * (_GAME + moves * (costs[match.first] + costs[match.second]))
        for match in plan.schedule.matches
    )
    return total if games is None else total * games / len(plan.schedule)


def of_unknown_speed(plan: Plan) -> list[str]:
    """Return the engines whose speed is unknown: those without a time limit."""
    return [entrant.agent.name for entrant in plan.entrants if _has_unknown_speed(entrant.spec)]


def whole_limits(plan: Plan) -> list[str]:
    """Return notes about classic players, which may use less than the time limit that the forecast assumes."""
    classic = [entrant for entrant in plan.entrants if entrant.agent.is_user_code and not entrant.agent.is_compilable]
    return [f"{each.agent.name} uses its full {_seconds_a_move(each.spec) * 1000:g} ms per move" for each in classic]


def _has_unknown_speed(spec: Spec) -> bool:
    return KINDS[spec.kind].is_program and (spec.limit is None or spec.limit.is_reproducible)


def _seconds_a_move(spec: Spec) -> float:
    if _has_unknown_speed(spec):
        return 0.0
    if spec.limit is None:
        return 1e-6
    unit, value, method = spec.limit.unit, spec.limit.value, METHODS.get(spec.method, "")
    if unit in ("ms", "cpu_ms"):
        return value / 1000
    if unit == "depth":
        return _NODE * math.exp(value * math.log(_BRANCHING.get(method, 3.0)))
    return value * _TREE_NODES.get(method, _SHARE_OF_NODES * _NODE)
