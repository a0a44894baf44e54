"""Answers of `heuristics`, `eval` and `test-agent`: what heuristics and players of files are, before they play."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from knights_isolation import heuristics
from knights_isolation.experiments.plan.catalogue import CatalogueEntry, interpreted_sentences, registry_catalogue
from knights_isolation.isolation.suggestions import tell
from knights_isolation.isolation.usercode.output_capture import captured

from ..answers import Result
from ..text.cell_values import HeuristicValue
from ..text.rendering import Section, render_rows, terminal_width, wrapped

if TYPE_CHECKING:
    from knights_isolation.isolation.checks.answers import CheckResult
    from knights_isolation.isolation.rules.classic_board import Board


def values_answer(position: Board, references: Sequence[str]) -> Result[list[dict[str, object]]]:
    """Evaluate a position with all heuristics, and with those of some files, whose failures are told."""
    from knights_isolation.experiments.plan.user_files import evaluate, failures, user_heuristics
    from knights_isolation.isolation.rules.drawing import to_text

    with captured(", ".join(references)):
        own = user_heuristics(references)
        rows = evaluate({name: heuristics.get(name) for name in heuristics.names()} | own, position)
    shown = tuple(
        {key: HeuristicValue(cell) if isinstance(cell, float) else cell for key, cell in row.items()} for row in rows
    )
    if failed := "; ".join(failures([row for row in rows if row["heuristic"] in own])):
        tell(f"Error: {failed}")
    text = f"{to_text(position)}\n\n{render_rows(shown, 'table')}"
    return Result(rows, (Section("values", "Values of the position", shown),), text=text, passes=not failed)


def catalogue_answer(file: str | Path | None) -> Result[list[CatalogueEntry]]:
    """Return the heuristics of a file, or the shipped ones, and why some do not compile."""
    listings = _of_file(file) if file else registry_catalogue()
    columns = ("name", "compiles", "meaning", "parameters")  # narrow terminals hide the last ones
    rows = [asdict(replace(each, compiles=each.compiles.partition(":")[0])) for each in listings]
    text = render_rows([{name: row[name] for name in columns} for row in rows], "table")
    text = "\n".join([text, *(wrapped(line, terminal_width()) for line in interpreted_sentences(listings))])
    if not listings:
        text = (
            f"{file} has no heuristic: expected a function of (game, player) or of (state, player_id), or a method "
            f"CustomPlayer.METHOD of (self, state), that returns a number"
        )
    title = f"Heuristics of {file}" if file else "Shipped heuristics"
    return Result(listings, (Section("heuristics", title, tuple(map(asdict, listings))),), text=text)


def _of_file(file: str | Path) -> list[CatalogueEntry]:
    from knights_isolation.experiments.plan.user_files import file_catalogue

    from ..watch import counting

    with captured(str(file)), counting("heuristics") as show:
        return file_catalogue(file, show)


def checks_answer(player: str) -> Result[list[CheckResult]]:
    """Return what the checks of a player have found, of FILE:CLASS or of FILE if it has only one."""
    from knights_isolation.experiments.plan.user_files import named_in_file, only_player
    from knights_isolation.isolation.checks.agent_checks import check_player
    from knights_isolation.isolation.loading.load_user_code import load_player

    with captured(player):
        path, name = named_in_file(player, only_player)
        findings = check_player(load_player(path, name).value)
    words = ["ok" if finding.ok else "note" if finding.is_note else "FAIL" for finding in findings]
    rows = [
        {"result": word, "check": each.check, "seen": each.seen} for word, each in zip(words, findings, strict=True)
    ]
    text = "\n".join([f"{path}:{name}", *("  {result:<4}  {check}: {seen}".format(**row) for row in rows)])
    section = Section("checks", f"Checks of {path}:{name}", tuple(rows))
    return Result(findings, (section,), text=text, passes="FAIL" not in words)
