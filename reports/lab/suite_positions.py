"""Positions of the shipped 7x7 suite: puzzles that reference players failed, and what two heuristics see in one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from knights_isolation import heuristics
from knights_isolation.experiments.positions import move_values
from knights_isolation.isolation.editions.classic_board import Board
from knights_isolation.isolation.loading.load_user_code import load_heuristic
from knights_isolation.isolation.rules.notation import parse_moves

from ..board.handlers import SOLVING_MS
from ..board.request_models import AddressModel, Name, StrictModel
from ..board.resources import Resources
from ..replay import json_score

if TYPE_CHECKING:
    from knights_isolation.experiments.suite import Suite

SIZE = "7x7"
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


def puzzle(question: PuzzleQuestion, shelf: Resources) -> dict[str, Any]:
    """Return a puzzle without its solution; numbers beyond the last start again.

    `rating` is on the Elo scale: 400 times the decimal logarithm of the odds that a reference player fails, above 1500.
    """
    suite, failures, number, row = _chosen(question.number)
    legal, keeping = moves_of(suite, row)
    asked, missed = len(suite.field), int(failures[row])
    return {
        "number": number,
        "count": len(_puzzles()[2]),
        "size": suite.size,
        "moves": [int(cell) for cell in suite.positions[row]],
        "legal": len(legal),
        "keeping": len(keeping),
        "asked": asked,
        "missed": missed,
        "rating": round(_EVEN + 400 * math.log10((missed + 0.5) / (asked - missed + 0.5))),
    }


def judge_move(question: PuzzleAnswer, shelf: Resources) -> dict[str, Any]:
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
    from knights_isolation.experiments.suite import read_suite

    suite = read_suite(SIZE)
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


def see(question: SeeingQuestion, shelf: Resources) -> dict[str, Any]:
    """Return the position, the values of moves and the choice of each heuristic, and the moves that keep the win."""
    functions = [loaded(reference) for reference in (question.first, question.second)]
    if question.moves:
        board = Board.from_moves(parse_moves(question.moves, SIZE), SIZE)
        return _answer(board, [_choice(board, function) for function in functions], _kept(board), -1)
    for row, board, kept in _telling(question.after + 1):
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
    """Return the heuristic of a reference: NAME of the registry, or FILE:FUNCTION.

    Raises:
        ValueError: it cannot be loaded.
    """
    path, colon, name = reference.rpartition(":")
    if colon:
        function: Callable[[Any, Any], float] = load_heuristic(path, name).value
        return function
    return heuristics.get(reference)


def _choice(board: Board, heuristic: Callable[[Any, Any], float]) -> tuple[int, dict[int, float]]:
    """Return the move that a heuristic chooses one ply ahead, the first of several best, and the values of all."""
    if not board.legal_cells():
        raise ValueError("the game is over in this position")
    values = move_values(board, heuristic)
    return max(values, key=lambda cell: values[cell]), values


def _kept(board: Board) -> list[int] | None:
    """Return the moves that keep the win; none if the position is lost, None if it is not solved in time."""
    from knights_isolation.isolation import Limit, solve

    solution = solve(board, Limit(ms=SOLVING_MS))
    return None if solution.winner is None else list(solution.moves)


def _telling(first: int) -> Iterator[tuple[int, Board, list[int]]]:
    """Yield telling positions of the suite from a row on, with the moves that keep the win."""
    suite = _suite()
    for row in range(first, min(len(suite), first + _MOST_LOOKED_AT)):
        board = Board.from_moves([int(cell) for cell in suite.positions[row]], SIZE)
        yield row, board, moves_of(suite, row)[1]


@cache
def _suite() -> Suite:
    from knights_isolation.experiments.suite import read_suite

    suite = read_suite(SIZE, split="screen")
    return suite.take(np.flatnonzero(suite.is_telling))


def resolved(reference: str) -> str:
    """Return NAME or the absolute FILE:FUNCTION of a reference."""
    path, colon, name = reference.rpartition(":")
    return f"{Path(path).resolve()}:{name}" if colon else name
