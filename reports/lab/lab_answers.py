"""Answers of the lab besides the board's, computed in child processes.

Findings, reports, trials and ratings; puzzles from the shipped 7x7 suite that reference players failed, and what two
heuristics see in one position.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from knights_isolation import heuristics
from knights_isolation.experiments.analysis.quick_trial import try_heuristic
from knights_isolation.experiments.exact.labels import has_labels
from knights_isolation.experiments.league.entries import LeagueEntries, read_book
from knights_isolation.experiments.league.league_run import read_results
from knights_isolation.experiments.positions import move_values
from knights_isolation.experiments.statistics.contender_verdicts import judge
from knights_isolation.experiments.statistics.ratings import rate
from knights_isolation.experiments.statistics.run_results import RunResults, load_findings
from knights_isolation.experiments.suite import Suite, read_suite
from knights_isolation.isolation import Limit, solve
from knights_isolation.isolation.loading.load_user_code import inputs_of, load_heuristic
from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.geometry import parse_moves

from ..analysis.file_answers import trial_lines, trial_row
from ..board.handlers import SOLVING_MS
from ..board.resources import AddressModel, Name, Resources, StrictModel, run_of
from ..league import pages
from ..pages.templates import page_with_script
from ..replay import json_score
from ..text.cell_values import Elo, Estimate, Share
from ..text.rendering import show
from .run_lines import RunLine, signature, target_of

_FEWEST_FAILURES = 5
"""Reference players that must have thrown the win away for a position to be a puzzle."""
_EVEN = 1500
"""Rating of a puzzle that half of the reference players fail."""
_ORDER = 7
"""Seed of the order of the puzzles, which must stay the same, since links and days name their numbers."""
_MOST_LOOKED_AT = 400
"""Positions of the suite that one request looks at, which takes interpreted code half a second."""
Number = Annotated[int, Field(ge=0, lt=10**9)]


class PuzzleQuestion(AddressModel):
    """Request for a puzzle by its number."""

    number: Number


class PuzzleAnswer(StrictModel):
    """Request to judge a move in a puzzle; without a move, for the solution."""

    number: Number
    move: Annotated[int, Field(ge=0, lt=10**3)] | None = None


def puzzle(question: PuzzleQuestion, resources: Resources) -> dict[str, Any]:
    """Return a puzzle without its solution; numbers beyond the last start again.

    `rating` is on the Elo scale: 400 times the decimal logarithm of the odds that a reference player fails, above 1500.
    """
    suite, failures, number, row = _chosen(question.number)
    legal, keeping = moves_of(suite, row)
    asked, missed = len(suite.field), int(failures[row])
    return {
        "number": number,
        "count": len(_puzzles()[2]),
        "size": str(suite.size),
        "moves": [int(cell) for cell in suite.positions[row]],
        "legal": len(legal),
        "keeping": len(keeping),
        "asked": asked,
        "missed": missed,
        "rating": round(_EVEN + 400 * math.log10((missed + 0.5) / (asked - missed + 0.5))),
    }


def judge_move(question: PuzzleAnswer, resources: Resources) -> dict[str, Any]:
    """Return whether a move keeps the win, and all that keep it if it does or no move is given."""
    suite, _, _, row = _chosen(question.number)
    legal, solution = moves_of(suite, row)
    if question.move is not None and question.move not in legal:
        raise ValueError("illegal move")
    is_kept = question.move is None or question.move in solution
    return {"keeps": is_kept, "moves": solution if is_kept else []}


def _chosen(number: int) -> tuple[Suite, Any, int, int]:
    suite, failures, order = _puzzles()
    number %= len(order)
    return suite, failures, number, int(order[number])


def moves_of(suite: Suite, row: int) -> tuple[list[int], list[int]]:
    """Return the legal moves of a position, and those that keep the win."""
    part = slice(suite.starts[row], suite.starts[row + 1])
    return suite.legal[part].tolist(), suite.legal[part][suite.keeps[part]].tolist()


@cache
def _puzzles() -> tuple[Suite, Any, Any]:
    """Return the suite, the number of reference players that failed each position, and the puzzles' rows in order."""
    suite = read_suite()
    kept = np.bitwise_count(suite.kept_by.astype(np.uint16))
    failures = len(suite.field) - kept
    rows = np.flatnonzero(suite.is_telling & (failures >= _FEWEST_FAILURES))
    return suite, failures, np.random.default_rng(_ORDER).permutation(rows)


class SeeingQuestion(StrictModel):
    """Request for the values of two heuristics: in a position, or in the next one of the suite where one errs.

    Heuristics are names of the registry, or FILE:FUNCTION. `after` is the last position of the suite that was shown.
    """

    first: Name
    second: Name
    moves: Annotated[str, Field(max_length=600)] = ""
    after: Annotated[int, Field(ge=-1, lt=10**9)] = -1


def see(question: SeeingQuestion, resources: Resources) -> dict[str, Any]:
    """Return the position, the values of moves and the choice of each heuristic, and the moves that keep the win."""
    functions = [loaded(reference) for reference in (question.first, question.second)]
    if question.moves:
        board = Board.from_moves(parse_moves(question.moves))
        return _answer(board, [_choice(board, function) for function in functions], _kept(board), -1)
    suite = _suite()
    for row in range(question.after + 1, min(len(suite), question.after + 1 + _MOST_LOOKED_AT)):
        board, kept = suite.positions.board(row), moves_of(suite, row)[1]
        choices = [_choice(board, function) for function in functions]
        if (choices[0][0] in kept) != (choices[1][0] in kept):
            return _answer(board, choices, kept, row)
    raise ValueError(f"no further position among {_MOST_LOOKED_AT} in which only one of the two keeps the win")


def _answer(
    board: Board, choices: list[tuple[int, dict[int, float]]], kept: list[int] | None, row: int
) -> dict[str, Any]:
    values = [{cell: json_score(value) for cell, value in values.items()} for _, values in choices]
    return {
        "size": board.size,
        "moves": list(board.history),
        "choices": [choice for choice, _ in choices],
        "values": values,
        "kept": kept,
        "row": row,
    }


def loaded(reference: str) -> Callable[[Any, Any], float]:
    """Return the heuristic of a reference, NAME of the registry or FILE:FUNCTION; ValueError if it cannot be loaded."""
    path, colon, name = reference.rpartition(":")
    function: Callable[[Any, Any], float] = load_heuristic(path, name).value if colon else heuristics.get(reference)
    return function


def _choice(board: Board, heuristic: Callable[[Any, Any], float]) -> tuple[int, dict[int, float]]:
    """Return the move that a heuristic chooses one ply ahead, the first of several best, and the values of all."""
    if not board.legal_cells():
        raise ValueError("the game is over in this position")
    values = move_values(board, heuristic)
    return max(values, key=lambda cell: values[cell]), values


def _kept(board: Board) -> list[int] | None:
    """Return the moves that keep the win; none if the position is lost, None if it is not solved in time."""
    solution = solve(board, Limit(ms=SOLVING_MS))
    return None if solution.winner is None else list(solution.moves)


@cache
def _suite() -> Suite:
    suite = read_suite(split="screen")
    return suite.take(np.flatnonzero(suite.is_telling))


def resolved(reference: str) -> str:
    """Return NAME or the absolute FILE:FUNCTION of a reference."""
    path, colon, name = reference.rpartition(":")
    return f"{Path(path).resolve()}:{name}" if colon else name


MOST_RUNS = 8


def finding(resources: Resources, run: str) -> dict[str, Any]:
    """Return the finding, and for each contender low, estimate, high in percentage points, the verdict and its name.

    The interval is that of the verdict.
    """
    from ..pages.report_page import finding_of  # here, since it takes long to import

    results = load_findings([run_of(resources, run)])
    verdicts = judge(results) if results.baseline is not None else None
    claims = [claim for claim in verdicts.judged if not claim.is_empty] if verdicts else []
    bars: list[list[Any]] = [
        [*(100 * value for value in (claim.lead[0], claim.estimate, claim.lead[1])), claim.verdict, claim.contender]
        for claim in sorted(claims, key=lambda claim: -claim.estimate)
    ]
    if verdicts is None:  # win rates, above one half
        measured = [(one.agent, one.rate) for one in results.standings if one.agent in results.measured]
        bars = [[*(100 * x - 50 for x in (rate.low, rate.estimate, rate.high)), "", name] for name, rate in measured]
    return {"finding": finding_of(results, verdicts), "bars": bars}


def report(resources: Resources, runs: Sequence[str]) -> dict[str, Any]:
    """Return the page with the report of a run, or of several that can be pooled."""
    from ..pages.report_page import report_page

    if len(runs) > MOST_RUNS:
        raise ValueError(f"a report has at most {MOST_RUNS} runs")
    return {"page": report_page(load_findings([run_of(resources, run) for run in runs]))}


def diff(resources: Resources, names: tuple[str, str]) -> dict[str, Any]:
    """Return the page with the differences of two runs."""
    from ..tables.compare import change_sections

    before, after = (load_findings([run_of(resources, run)]) for run in names)
    title, sections = " and ".join(names), change_sections(before, after)
    return {"page": page_with_script("diff.html", title=title, runs=names, sections=sections)}


def league(resources: Resources, name: str, page: str) -> dict[str, Any]:
    """Return a page of a league as it is now; the pages in its folder are not read."""
    run = run_of(resources, name)
    made = _league_pages(run, signature(run), has_labels(run))
    if page not in made:
        raise ValueError(f"there is no page {page}")
    return {"page": made[page]()}


@lru_cache(maxsize=1)
def _league_pages(run: Path, seen: str, is_labelled: bool) -> dict[str, Callable[[], str]]:
    return pages(run, read_book(run) or LeagueEntries((), ()), read_results(run))


def trial(resources: Resources, heuristic: str) -> dict[str, Any]:
    """Return what a trial of a heuristic found: figures for the gallery, and all of it as sentences."""
    path, colon, name = heuristic.rpartition(":")
    tried = try_heuristic(loaded(heuristic))
    row, screening = trial_row(name, tried), tried.screening
    return {
        "lines": trial_lines(Path(path).name + colon + name, tried),
        "compiles": row["compiles"],
        "isSound": tried.is_sound,
        "cost": "–" if row["cost"] is None else f"{row['cost']:.2g} ×",
        "kept": Share(screening.contenders[0][0].kept.estimate).text if screening else "–",
        "screening": show(row["solved_positions"]),
        "games": show(row["won"]),
        "inputs": inputs_of(path) if colon else {},
    }


MOST_GAMES = 1_000_000
"""Games that a pool reads; older runs beyond that are left out."""
_USUAL = "improved"
"""Heuristic whose rating is zero in pools without one baseline."""


@dataclass(frozen=True)
class RunPool:
    """Runs with one board and limit, the latest first, and the signatures of their files."""

    board: str
    limit: str
    runs: tuple[str, ...]
    seen: tuple[str, ...]


def pools(lines: Iterable[RunLine]) -> list[RunPool]:
    """Return the pools of runs that have games, those of most runs first."""
    by_question: dict[tuple[str, str], list[RunLine]] = defaultdict(list)
    for line in sorted(lines, key=lambda line: line.begun, reverse=True):
        if line.played and line.limit:
            by_question[line.board, line.limit].append(line)
    found = []
    for (board, limit), of_pool in by_question.items():
        read = np.cumsum([line.played for line in of_pool])
        latest = of_pool[: max(int(np.searchsorted(read, MOST_GAMES, side="right")), 1)]
        found.append(RunPool(board, limit, tuple(line.name for line in latest), tuple(line.seen for line in latest)))
    return sorted(found, key=lambda pool: -len(pool.runs))


def rated(resources: Resources, runs: Sequence[str], limit: str) -> dict[str, Any]:
    """Return the ratings of the heuristics that agents with `limit` played.

    Each has a 95 % interval as text, what it is relative to, and the number of its runs and games.
    """
    findings = load_findings([run_of(resources, run) for run in runs], mixed=True)
    agents = _most_played(findings, limit)
    ratings = rate(findings, None if findings.baseline else agents.get(_USUAL))
    known = {rating.agent: rating for rating in ratings.ratings}
    zero = f"compared with {ratings.zero}" if ratings.zero else "above the mean of its pool"
    rows = {}
    for reference, agent in agents.items():
        if agent in known:
            rating = known[agent]
            text = Estimate(*map(Elo, (rating.elo, rating.low, rating.high))).text
            played = sum(agent in source.names.values() for source in findings.sources)
            scale = "the zero of its pool" if agent == ratings.zero else zero
            rows[reference] = {"elo": text, "zero": scale, "runs": played, "games": rating.games}
    return {"ratings": rows}


def _most_played(findings: RunResults, limit: str) -> dict[str, str]:
    """Return for each heuristic, as the gallery calls it, its agent of this limit: the baseline, or else of most games.

    A control stands for no heuristic: it is the baseline on other openings.
    """
    pairs = findings.all_pairs
    games = np.bincount(np.concatenate([pairs.first, pairs.second]), minlength=len(pairs.agents))
    found: dict[str, str] = {}
    for name in sorted(pairs.agents, key=lambda name: (name == findings.baseline, games[pairs.code(name)])):
        facts = findings.agents[name]
        is_shown = facts.limit_text == limit and "control" not in facts.roles
        if is_shown and (reference := target_of(facts.spec).rpartition("/")[2]):
            found[reference] = name
    return found
