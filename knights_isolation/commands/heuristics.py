"""Heuristics and players of a file: write, try, analyse, list, check."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from knights_isolation.isolation.suggestions import command as shown_command
from knights_isolation.reports.answers import Result

from ..inputs import Agent, Count, HeuristicFile, Jobs, NewFile, Position, Rival, Seed
from ..parameters import About, command
from . import rooms

if TYPE_CHECKING:
    from knights_isolation.experiments.analysis.analyse_file import Analysis
    from knights_isolation.experiments.analysis.quick_trial import Trial
    from knights_isolation.experiments.plan.catalogue import CatalogueEntry
    from knights_isolation.isolation.checks.answers import CheckResult


@command()
def new(file: str | Path) -> Result[Path]:
    """Write a commented template of a heuristic.

    Examples:
        isolation new my_heuristic.py
        isolation analyse my_heuristic.py
    """
    path = rooms.write_template(Path(file))
    return Result(path, (), text=f"Wrote {path}. Next: {shown_command('try', path)}")


@command("rows")
def try_(
    heuristic: HeuristicFile, *, baseline: Rival | None = None, limit: str | None = None
) -> Result[dict[str, Trial]]:
    """Check a heuristic, or all of a file: compilation, cost, return values, and a quick match.

    Args:
        limit: limit of a move in games and solved positions; nodes=1000 by default.

    Examples:
        isolation try my_heuristic.py
        isolation try game_agent.py:custom_score_2 --limit nodes=300
    """
    return rooms.trials_answer(rooms.reference_of(heuristic), rooms.spec_of(baseline) if baseline else None, limit)


@command("html", "plot")
def analyse(
    heuristic: HeuristicFile,
    *,
    baseline: Rival | None = None,
    limit: str | None = None,
    opponents: Annotated[Sequence[Agent], About(flags=("--opponent", "--opponents"))] = (),
    board: str | None = None,
    pairs: Count | None = None,
    seed: Seed = 1,
    jobs: Jobs = 0,
    quick: bool = False,
    markdown: NewFile | None = None,
) -> Result[Analysis]:
    """Analyse a file: a verdict on each of its heuristics and players, in about a minute.

    Checks, compiles and screens every heuristic, plays them against the seven classic opponents at equal nodes and at
    equal cost, and says how each compares with ID_Improved. Run again, it continues or repeats the answer.

    Args:
        limit: limit of a move: nodes=N, depth=N, ms=N or cpu_ms=N; nodes=10000 by default.
        opponents: an opponent instead of the seven classic ones.
        board: board size, ROWSxCOLUMNS; by default 7x7, or that of the file's edition.
        pairs: openings against each opponent, each with sides swapped.
        quick: only check, compile, and play a quick match: seconds instead of a minute.
        markdown: also write it as Markdown, with a picture beside.

    Examples:
        isolation analyse game_agent.py
        isolation analyse game_agent.py:custom_score --html analysis.html
    """
    if quick:
        if markdown or opponents or pairs:
            raise ValueError("--quick plays no gauntlet: leave out --opponent, --pairs, --markdown and --html")
        return cast("Result[Analysis]", try_(heuristic, baseline=baseline, limit=limit))
    against, rivals = rooms.spec_of(baseline) if baseline else None, tuple(map(rooms.spec_of, opponents))
    bound = rooms.parse_limit(limit) if limit else rooms.TrialConditions.limit
    question = rooms.TrialConditions(against, rivals, bound, pairs=pairs, seed=seed)
    return rooms.analysis_answer(rooms.reference_of(heuristic), board, question, jobs, markdown)


@command("rows")
def evaluate_position(position: Position, *, file: Sequence[HeuristicFile] = ()) -> Result[list[dict[str, object]]]:
    """Evaluate a position with every heuristic, for both players; exit code 1 if one of yours fails.

    Args:
        file: a heuristic of your own.

    Examples:
        isolation eval --moves d3,a2
        isolation eval --fen '7/7/n6/3N3/7/7/7 w - - 0 1' --file my_heuristic.py
    """
    return rooms.values_answer(position, list(map(rooms.reference_of, file)))


@command("rows")
def list_heuristics(
    file: Annotated[str | Path, About(is_code=True, complete="file", place="option")] | None = None,
) -> Result[list[CatalogueEntry]]:
    """List the heuristics: name, meaning, parameters with ranges, and whether they compile.

    Args:
        file: list the functions of this file instead.

    Examples:
        isolation heuristics
        isolation heuristics --file game_agent.py --format json
    """
    return rooms.catalogue_answer(file)


@command()
def check_agent(
    player: Annotated[str, About(metavar="FILE[:CLASS]", complete="file", is_code=True)],
) -> Result[list[CheckResult]]:
    """Check a classic player: signature, legal moves, time limit, fixed-depth search.

    Examples:
        isolation test-agent game_agent.py
        isolation test-agent game_agent.py:AlphaBetaPlayer
    """
    return rooms.checks_answer(player)
