"""Checks of engines in words."""

from __future__ import annotations

from dataclasses import asdict

from knights_isolation.isolation.checks.engine_checks import EngineCheckResult, check_engine
from knights_isolation.isolation.engines.protocol import Program
from knights_isolation.isolation.suggestions import tell

from ..answers import Result
from ..text.rendering import Section


def checked_engine(program: Program) -> Result[list[EngineCheckResult]]:
    """Take an engine through all steps, and tell each when it is done."""
    steps = []
    for step in check_engine(program):
        steps.append(step)
        tell(_described(step))
    failed = [step for step in steps if not step.passed]
    text = f"{len(steps) - len(failed)} of {len(steps)} steps passed."
    is_usable = not any(step.is_needed for step in failed)
    if failed and is_usable:
        text += "\nIt can play here; the failed steps matter only to other programs."
    section = Section("steps", f"Checks of {' '.join(program.command)}", tuple(map(asdict, steps)))
    return Result(steps, (section,), text=text, passes=is_usable)


def _described(step: EngineCheckResult) -> str:
    """Describe a step in one line; a failed one with what was sent, expected and seen."""
    if step.passed or not step.sent:
        return f"{'ok     ' if step.passed else 'untried'} {step.step}"
    return (
        f"{'FAILED ' if step.is_needed else 'lacking'} {step.step}\n        sent      {step.sent}\n"
        f"        expected  {step.expected}\n        seen      {step.seen}"
    )
