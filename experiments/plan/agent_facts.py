"""Facts about agents, read from their logged settings and `run.json`.

Nothing else reads those settings. They are JSON: `kind`, and where they apply `method`, `heuristic` (a name), `code`
(its hash), `parameters` (values by name), `limit` (one unit and its value), `options` (a list), `player` and
`content_hash`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from experiments.roster.agent_kinds import KINDS, Kind

_REPRODUCIBLE = ("depth", "nodes")


@dataclass(frozen=True)
class AgentFacts:
    """Who an agent is.

    Attributes:
        settings: all that influences its play.
        is_deterministic: whether it plays an opening the same way every time.
        name, roles, spec: what it is called, is there for, and was asked for as, in a run; empty if only its settings
            are known.
    """

    settings: Mapping[str, Any]
    is_deterministic: bool
    name: str = ""
    roles: tuple[str, ...] = ()
    spec: str = ""

    @property
    def is_unknown(self) -> bool:
        """Whether nothing is known of how it plays: an engine, or a player of games that were played elsewhere."""
        kind = _kind_of(self.settings)
        return kind.is_program if kind else "kind" in self.settings

    @property
    def is_restricted(self) -> bool:
        """Whether it plays from a file in a restricted process, as submissions to a league do."""
        kind = _kind_of(self.settings)
        return bool(kind and kind.is_restricted)

    @property
    def method(self) -> str:
        """How it searches: minimax, alphabeta, bestfirst or mcts; empty if it does not."""
        return str(self.settings.get("method", ""))

    @property
    def heuristic(self) -> str:
        """The name of the heuristic it goes by; empty if it has none."""
        return str(self.settings.get("heuristic", ""))

    @property
    def limit(self) -> tuple[str, float] | None:
        """Unit and value of its limit; None for players without one."""
        return next(((unit, float(value)) for unit, value in (self.settings.get("limit") or {}).items()), None)

    @property
    def limit_text(self) -> str:
        """The limit as specs have it, `nodes=1000`; empty for players without one."""
        return "" if self.limit is None else f"{self.limit[0]}={self.limit[1]:g}"

    @property
    def apart_from_limit(self) -> str:
        """What it has in common with agents that differ from it in their limit only."""
        return json.dumps({key: value for key, value in self.settings.items() if key != "limit"}, sort_keys=True)


def read_facts(settings: str, deterministic: bool | None = None) -> AgentFacts:
    """The facts in an agent's settings, as the log has them.

    Args:
        settings: JSON; empty says nothing.
        deterministic: what `run.json` says of it; None if it does not, and in the log alone.

    Raises:
        ValueError: they are something else.
    """
    known = json.loads(settings or "{}")
    if not isinstance(known, dict):
        raise ValueError(f"an agent's settings are an object of JSON, not {settings}")
    return AgentFacts(known, _is_deterministic(known) if deterministic is None else deterministic)


def run_facts(name: str, entry: Mapping[str, Any]) -> AgentFacts:
    """The facts of an agent's entry in `run.json`: `spec`, `roles`, `settings` and, in later runs, `deterministic`."""
    known = read_facts(entry["settings"], entry.get("deterministic"))
    return AgentFacts(known.settings, known.is_deterministic, name, tuple(entry["roles"]), entry["spec"])


def differing_settings(settings: str, others: str) -> tuple[str, str]:
    """What each of two agents says of itself that the other does not say, in words: `limit nodes=5000`."""
    mine, theirs = read_facts(settings).settings, read_facts(others).settings
    return _only_in(mine, theirs), _only_in(theirs, mine)


def _only_in(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {format_setting(item)}" for key, item in mine.items() if theirs.get(key) != item) or "–"


def format_setting(value: Any) -> str:
    """A value as people write it in a configuration."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return ", ".join(f"{key}={format_setting(item)}" for key, item in value.items()) or "none"
    return ", ".join(map(format_setting, value)) or "none" if isinstance(value, list | tuple) else str(value)


def _kind_of(settings: Mapping[str, Any]) -> Kind | None:
    """The row of an agent's kind; None of those that no spec names, such as people and players of imported games."""
    return KINDS.get(str(settings.get("kind")))


def _is_deterministic(settings: Mapping[str, Any]) -> bool:
    """What agents of runs from before they said so themselves would have said."""
    kind = _kind_of(settings)
    if not (kind and kind.can_repeat) or "random_ties" in settings.get("options", ()):
        return False
    has_playouts = settings.get("method") == "mcts" and "heuristic" not in settings
    return not has_playouts and set(settings.get("limit", {})) <= set(_REPRODUCIBLE)
