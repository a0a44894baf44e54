"""Facts about agents, read from their logged settings and `run.json`.

Nothing else reads those settings, but `schema` for runs of older versions. They are JSON: `kind`, and where they apply
`method`, `heuristic` (a name), `code` (its hash), `parameters` (values by name), `limit` (one unit and its value),
`options` (a list), `player` and `content_hash`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .schema import AgentEntry, facts_in_settings, read_settings


@dataclass(frozen=True)
class AgentFacts:
    """Facts about an agent.

    Attributes:
        settings: everything that influences its play.
        is_deterministic, is_unknown: see `AgentEntry`.
        name, roles, spec: its name, its roles and its spec as requested, in a run; empty if only its settings are
            known.
    """

    settings: Mapping[str, Any]
    is_deterministic: bool
    is_unknown: bool
    name: str = ""
    roles: tuple[str, ...] = ()
    spec: str = ""

    @property
    def method(self) -> str:
        """Search method: minimax, alphabeta, bestfirst or mcts; empty if it does not search."""
        return str(self.settings.get("method", ""))

    @property
    def heuristic(self) -> str:
        """Name of its heuristic; empty if it has none."""
        return str(self.settings.get("heuristic", ""))

    @property
    def function(self) -> tuple[str, str]:
        """Hash of its heuristic's code, empty if that is unknown, and the parameters."""
        return str(self.settings.get("code", "")), json.dumps(self.settings.get("parameters", {}), sort_keys=True)

    @property
    def limit(self) -> tuple[str, float] | None:
        """Unit and value of its limit; None for players without one."""
        return next(((unit, float(value)) for unit, value in (self.settings.get("limit") or {}).items()), None)

    @property
    def limit_text(self) -> str:
        """Limit in the syntax of specs, `nodes=1000`; empty for players without one."""
        return "" if self.limit is None else f"{self.limit[0]}={self.limit[1]:g}"

    @property
    def apart_from_limit(self) -> str:
        """Settings without the limit: equal for agents that differ only in their limit."""
        return json.dumps({key: value for key, value in self.settings.items() if key != "limit"}, sort_keys=True)


def read_facts(settings: str) -> AgentFacts:
    """Read the facts in an agent's settings, as stored in the log: JSON, may be empty.

    Raises:
        ValueError: the settings have another format.
    """
    return run_facts("", AgentEntry("", [], settings, **facts_in_settings(settings)))


def run_facts(name: str, entry: AgentEntry) -> AgentFacts:
    """Read the facts in an agent's entry in `run.json`."""
    traits = read_settings(entry.settings), entry.deterministic, entry.unknown
    return AgentFacts(*traits, name, tuple(entry.roles), entry.spec)


def differing_settings(settings: str, others: str) -> tuple[str, str]:
    """Return the settings in which two agents differ, for each of them in words: `limit nodes=5000`."""
    mine, theirs = read_facts(settings).settings, read_facts(others).settings
    return _only_in(mine, theirs), _only_in(theirs, mine)


def _only_in(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {format_setting(item)}" for key, item in mine.items() if theirs.get(key) != item) or "–"


def format_setting(value: Any) -> str:
    """Format a value as in configuration files."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return ", ".join(f"{key}={format_setting(item)}" for key, item in value.items()) or "none"
    return ", ".join(map(format_setting, value)) or "none" if isinstance(value, list | tuple) else str(value)
