"""From a configuration to a plan: which agents, which matches, which openings, and what is to be said about them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import joblib
import numpy as np

from experiments.config import Config
from experiments.openings import OpeningSet, file_openings, placement_openings, random_openings
from experiments.roster import Spec, complete, expand, make_agent, parse_limit, parse_spec, settings_text
from experiments.schedule import Match, Schedule

if TYPE_CHECKING:
    from isolation.agents import Agent

Role = Literal["baseline", "contender", "control", "opponent"]

CONTROL_SUFFIX = "_control"


@dataclass(frozen=True)
class Entry:
    """One agent of a tournament: its completed spec, the player, its settings as text, and what it is there for."""

    spec: Spec
    agent: Agent
    roles: tuple[Role, ...]
    settings: str


@dataclass(frozen=True)
class Plan:
    """A tournament, ready to run. `config` names every agent in full, so that it makes the same plan again.

    `population` is the number of openings to draw from, 0 if unknown; `notes` are for people.
    """

    config: Config
    entries: tuple[Entry, ...]
    schedule: Schedule
    population: int
    is_census: bool
    notes: tuple[str, ...]


def make_plan(config: Config) -> Plan:
    """Everything a configuration comes to, checked before any game is played.

    Raises:
        ValueError: an agent cannot be made, two agents share a name or are the same player twice, an opening is not
            legal on the board, or nothing is left to play.
    """
    entries = make_entries(config)
    shared, own, notes = draw_openings(config)
    if config.control and not len(own):
        entries = tuple(entry for entry in entries if "control" not in entry.roles)
        notes.append("no control: the openings are all taken, so it would replay the baseline's games")
    matches, skipped = _make_matches(config, entries, shared, len(own))
    notes += skipped
    if not matches:
        raise ValueError("nothing to play: no two different agents are left to meet")
    cells = np.concatenate([shared.cells, own])
    schedule = Schedule(shared.size, config.seed, tuple(entry.agent.name for entry in entries), matches, cells)
    is_census = all(match.population == match.pairs for match in matches if "control" not in entries[match.first].roles)
    notes += _warnings(entries, is_census, config.jobs)
    return Plan(_resolved(config, entries, len(shared)), entries, schedule, shared.population, is_census, tuple(notes))


def make_entries(config: Config) -> tuple[Entry, ...]:
    """The agents of a configuration: baseline, contenders, control, opponents, each once.

    Raises:
        ValueError: a spec is wrong (the message says which key), or two agents share a name or play alike.
    """
    limit = parse_limit(config.limit)
    baseline = [_one(config.baseline, "baseline", config)] if config.baseline else []
    contenders = [
        _entry(spec, "contender", f"contenders[{place}]")
        for place, text in enumerate(config.contenders)
        for spec in _specs(text, f"contenders[{place}]", limit)
    ]
    opponents = [
        _entry(spec, "opponent", f"opponents[{place}]")
        for place, text in enumerate(config.opponents)
        for spec in _specs(text, f"opponents[{place}]", limit)
    ]
    wild = any(parse_spec(text).target == "*" for text in config.contenders)
    if wild and baseline:
        contenders = [entry for entry in contenders if not _same_play(entry, baseline[0])]
    for role, group in (("contenders", baseline + contenders), ("opponents", opponents)):
        _check_distinct(role, group)
    control = [_control_of(baseline[0])] if config.control else []
    return _merged([*baseline, *contenders, *control, *opponents])


def draw_openings(config: Config) -> tuple[OpeningSet, np.ndarray[Any, np.dtype[np.int16]], list[str]]:
    """The openings all matches share, those of the control, and notes for people.

    Placements come in random order, a file's openings in the file's.
    """
    spec = config.opening_spec
    wanted = 2**31 if config.pairs == "all" else config.pairs
    seed = int(np.random.SeedSequence([config.seed, 1]).generate_state(1, np.uint64)[0])
    if spec.kind == "random":
        drawn = random_openings(config.board, spec.plies, wanted * (2 if config.control else 1), seed, spec.colours)
    elif spec.kind == "placements":
        drawn = placement_openings(config.board, spec.colours)
        drawn = replace(drawn, cells=np.random.default_rng(seed).permutation(drawn.cells))
    else:
        drawn = file_openings(Path(spec.path).expanduser(), config.board, spec.colours)
    shared = replace(drawn, cells=drawn.cells[:wanted])
    own = drawn.cells[wanted : 2 * wanted] if config.control else drawn.cells[:0]
    notes = []
    if len(shared) < wanted < 2**31:
        notes.append(f"openings exhausted: {wanted:,} pairs asked for, {len(shared):,} different openings to play")
    if config.control and 0 < len(own) < len(shared):
        notes.append(f"the control plays {len(own):,} openings: no more are left for it alone")
    return shared, own, notes


def _specs(text: str, key: str, limit: Any) -> list[Spec]:
    try:
        return [complete(spec, limit) for spec in expand(parse_spec(text))]
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from None


def _one(text: str, key: str, config: Config) -> Entry:
    specs = _specs(text, key, parse_limit(config.limit))
    if len(specs) != 1:
        raise ValueError(f"{key}: exactly one agent is needed, not {text}")
    return _entry(specs[0], "baseline", key)


def _entry(spec: Spec, role: Role, key: str) -> Entry:
    try:
        agent = make_agent(spec)
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from None
    return Entry(spec, agent, (role,), settings_text(spec, agent))


def _control_of(baseline: Entry) -> Entry:
    spec = replace(baseline.spec, name=baseline.spec.name + CONTROL_SUFFIX)
    return Entry(spec, make_agent(spec), ("control",), baseline.settings)


def _check_distinct(key: str, entries: Iterable[Entry]) -> None:
    """Refuse two agents of one name, and a deterministic agent under two names, which would replay its own games."""
    seen: list[Entry] = []
    for entry in entries:
        for other in seen:
            if other.agent.name == entry.agent.name:
                raise ValueError(
                    f"{key}: two agents are called {entry.agent.name}; name one of them: Name={entry.spec.text}"
                )
            if _same_play(other, entry):
                raise ValueError(
                    f"{key}: {entry.agent.name} plays exactly like {other.agent.name} and would replay its games"
                )
        seen.append(entry)


def _same_play(one: Entry, other: Entry) -> bool:
    """Whether the two play the same game from the same opening, always."""
    return one.agent.is_deterministic and one.settings == other.settings


def _merged(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """The entries with one for each name: an opponent may be a contender too, if it is the same agent."""
    merged: dict[str, Entry] = {}
    for entry in entries:
        name = entry.agent.name
        if name not in merged:
            merged[name] = entry
        elif merged[name].settings == entry.settings:
            merged[name] = replace(merged[name], roles=merged[name].roles + entry.roles)
        else:
            raise ValueError(f"two different agents are called {name}; name one of them: Name={entry.spec.text}")
    return tuple(merged.values())


def _make_matches(
    config: Config, entries: tuple[Entry, ...], shared: OpeningSet, own: int
) -> tuple[tuple[Match, ...], list[str]]:
    matches, notes = [], []
    for first, second in _meetings(config, entries):
        one, other = entries[first], entries[second]
        if first == second or _same_play(one, other):
            notes.append(f"{one.agent.name} does not play {other.agent.name}: they are the same player")
            continue
        determined = one.agent.is_deterministic and other.agent.is_deterministic
        population = shared.population if determined else 0
        if "control" in one.roles:
            matches.append(Match(first, second, len(shared), own, population))
        else:
            matches.append(Match(first, second, 0, len(shared), population))
    return tuple(matches), notes


def _meetings(config: Config, entries: tuple[Entry, ...]) -> list[tuple[int, int]]:
    """Who meets whom, as places among the entries."""

    def having(*roles: Role) -> list[int]:
        return [place for place, entry in enumerate(entries) if set(roles) & set(entry.roles)]

    if config.format == "gauntlet":
        return [(one, other) for one in having("baseline", "contender", "control") for other in having("opponent")]
    if config.format == "head-to-head":
        return [(one, other) for one in having("contender") for other in having("baseline")]
    everyone = having("contender")
    return [(one, other) for place, one in enumerate(everyone) for other in everyone[place + 1 :]]


def _warnings(entries: tuple[Entry, ...], is_census: bool, jobs: int) -> list[str]:
    notes = []
    if is_census:
        notes.append(
            "a census: every opening of its kind is played, both sides, by agents that leave nothing to chance"
        )
    if clocked := on_the_clock(entries):
        notes.append(f"not reproducible to the move: {_names(clocked)} {_think(clocked)} by the clock")
    on_wall = [entry for entry in clocked if entry.spec.limit and entry.spec.limit.ms]
    if on_wall and jobs > joblib.cpu_count():
        while_sharing = (
            "while they share a core they search less, slow ones most"
            if len(on_wall) > 1
            else "while it shares a core it searches less"
        )
        notes.append(
            f"{jobs} jobs on {joblib.cpu_count()} cores bias the results: {_names(on_wall)} {_think(on_wall)} by the "
            f"wall clock, and {while_sharing}; use fewer jobs, or cpu_ms"
        )
    return notes


def on_the_clock(entries: Iterable[Entry]) -> list[Entry]:
    """The agents that are limited by time."""
    return [entry for entry in entries if entry.spec.limit and not entry.spec.limit.is_reproducible]


def _think(entries: list[Entry]) -> str:
    return "thinks" if len(entries) == 1 else "think"


def _names(entries: Iterable[Entry]) -> str:
    return ", ".join(entry.agent.name for entry in entries)


def _resolved(config: Config, entries: tuple[Entry, ...], pairs: int) -> Config:
    def with_role(role: Role) -> tuple[str, ...]:
        return tuple(str(entry.spec) for entry in entries if role in entry.roles)

    spec = config.opening_spec
    path = {"openings": config.openings.replace(spec.path, str(Path(spec.path).expanduser().absolute()))}
    changes: dict[str, Any] = {
        "contenders": with_role("contender"),
        "baseline": next(iter(with_role("baseline")), None),
        "opponents": with_role("opponent"),
        "pairs": pairs,
        **(path if spec.kind == "file" else {}),
    }
    return config.model_copy(update=changes)
