"""Verdicts at equal cost, from a sibling run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..inference.contenders.baseline_comparison import Comparison
from ..inference.contenders.head_to_head import HeadToHead
from ..plan.agent_facts import read_facts, run_facts
from ..record.run_directory import FACTS, RunInfo, load_run
from ..statistics.run_results import RunResults, load_findings
from .contender_verdicts import judge

_SAME = ("board", "format", "openings", "limit")
"""Keys that must be equal in two runs that differ in their cost only."""


@dataclass(frozen=True)
class EqualCost:
    """A run at equal cost, and its verdicts on contenders, by their names in the other run."""

    run: Path
    claims: dict[str, Comparison | HeadToHead]


def equal_cost_verdicts(findings: RunResults, names: Iterable[str]) -> EqualCost | None:
    """Return the verdicts on these contenders of the latest equal-cost run in the same folder; None if there are none.

    That run has the same settings and the same baseline, and its contenders differ from these in their limits only.
    """
    wanted = {findings.agents[name].apart_from_limit: name for name in names}
    for info in _beside(findings):
        facts = [run_facts(name, entry) for name, entry in info.agents.items() if "contender" in entry["roles"]]
        called = {fact.name: wanted[fact.apart_from_limit] for fact in facts if fact.apart_from_limit in wanted}
        verdicts = judge(load_findings([info.path])) if called else None
        claims = verdicts.judged if verdicts else ()
        if claims_by_name := {called[claim.contender]: claim for claim in claims if claim.contender in called}:
            return EqualCost(info.path, claims_by_name)
    return None


def _beside(findings: RunResults) -> Iterator[RunInfo]:
    """Yield runs of the same settings at equal cost in the folder of a run, the latest first."""
    first, baseline = findings.sources[0].info, findings.agents[findings.baseline or ""]
    runs = []
    for facts in first.path.parent.glob(f"*/{FACTS}"):
        with suppress(ValueError):  # unreadable runs are skipped
            runs.append(load_run(facts.parent))
    for info in sorted(runs, key=lambda info: info.created_at, reverse=True):
        asked = info.requested
        is_same = all(asked.get(key) == first.requested.get(key) for key in _SAME)
        settings = read_facts(info.agents[info.baseline]["settings"]).settings if info.baseline else None
        if asked.get("equal_cost") and is_same and settings == baseline.settings:
            yield info
