"""Facts about agents, read from their logged settings and `run.json`.

Nothing else reads those settings. They are JSON: `kind`, and where they apply `method`, `heuristic` (a name), `code`
(its hash), `parameters` (values by name), `limit` (one unit and its value), `options` (a list), `player` and
`content_hash`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..roster.agent_kinds import KINDS, AgentKind

IMPORTED = "imported"
"""Kind of players of whom only the names are known, since their games were played elsewhere."""
_REPRODUCIBLE = ("depth", "nodes")


@dataclass(frozen=True)
class AgentFacts:
    """Facts about an agent.

    Attributes:
        settings: everything that influences its play.
        is_deterministic: whether it plays an opening the same way every time.
        name, roles, spec: its name, its roles and its spec as requested, in a run; empty if only its settings are
            known.
    """

    settings: Mapping[str, Any]
    is_deterministic: bool
    name: str = ""
    roles: tuple[str, ...] = ()
    spec: str = ""

    @property
    def is_unknown(self) -> bool:
        """Return whether its way of playing is unknown: an engine, or a player of games that were played elsewhere."""
        kind = _kind_of(self.settings)
        return kind.is_program if kind else "kind" in self.settings

    @property
    def is_imported(self) -> bool:
        """Return whether its games were played elsewhere."""
        return self.settings.get("kind") == IMPORTED

    @property
    def is_restricted(self) -> bool:
        """Return whether it plays from a file in a sandboxed process, as league submissions do."""
        kind = _kind_of(self.settings)
        return bool(kind and kind.is_restricted)

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


def read_facts(settings: str, deterministic: bool | None = None) -> AgentFacts:
    """Read the facts in an agent's settings, as stored in the log.

    Args:
        settings: JSON; may be empty.
        deterministic: the value in `run.json`; None if it has none, or if only the log is known.

    Raises:
        ValueError: the settings have another format.
    """
    known = json.loads(settings or "{}")
    if not isinstance(known, dict):
        raise ValueError(f"an agent's settings are an object of JSON, not {settings}")
    return AgentFacts(known, _is_deterministic(known) if deterministic is None else deterministic)


def run_facts(name: str, entry: Mapping[str, Any]) -> AgentFacts:
    """Read an agent's entry in `run.json`: `spec`, `roles`, `settings` and, in later runs, `deterministic`."""
    known = read_facts(entry["settings"], entry.get("deterministic"))
    return AgentFacts(known.settings, known.is_deterministic, name, tuple(entry["roles"]), entry["spec"])


def baseline_of(roles: Mapping[str, Iterable[str]]) -> str | None:
    """Return the only agent that is the baseline, given the roles of each; None if there is none, or several.

    Every place that needs the baseline asks this function: a control plays like the baseline, and is not it.
    """
    baselines = [name for name, of_agent in roles.items() if "baseline" in of_agent]
    return baselines[0] if len(baselines) == 1 else None


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


def _kind_of(settings: Mapping[str, Any]) -> AgentKind | None:
    """Return the row of an agent's kind; None for kinds without a spec, such as people and imported players."""
    return KINDS.get(str(settings.get("kind")))


def _is_deterministic(settings: Mapping[str, Any]) -> bool:
    """Return whether an agent is deterministic, for runs that did not record it."""
    kind = _kind_of(settings)
    if not (kind and kind.can_repeat) or "random_ties" in settings.get("options", ()):
        return False
    has_playouts = settings.get("method") == "mcts" and "heuristic" not in settings
    return not has_playouts and set(settings.get("limit", {})) <= set(_REPRODUCIBLE)
