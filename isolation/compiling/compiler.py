"""Native code from a plain Python heuristic, checked against the function it came from before it is trusted."""

from __future__ import annotations

import json
import math
import random
import time
import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isolation.board import Board
from isolation.compiling import FUNCTIONS_REMEMBERED, library
from isolation.compiling.rewriting import CompileError, Rewritten, rewrite
from isolation.compiling.specialise import NativeFunction, ScoreModule, native_function, pack
from isolation.faults import heeding_ctrl_c, name_of
from isolation.geometry import format_size
from isolation.native import desks
from isolation.native.layout import FAILED
from isolation.parameters import Parameter, Tuned, tuned, values_of
from isolation.patience import TookTooLong, computing_at_most

__all__ = ["CompileError", "CompiledHeuristic", "compile_heuristic"]

Heuristic = Callable[[Any, Any], float]
CHECKED_POSITIONS = 300
LONGEST_CHECK = 3.0
LONGEST_CALL = 2.0
_UNKNOWN = object()
_slow: dict[Path, dict[str, Any]] = {}
"""What took too long to be compared, by the file that would say so: another time, or elsewhere, it may not."""


_LINKED = """
@_isolation.jit
def linked(game, player, parameters):
    return score(game, player{arguments})
"""
"""What compiled searches call, the same for every heuristic: the function given its parameters from an array."""


@dataclass(frozen=True)
class CompiledHeuristic:
    """A heuristic that compiles.

    Attributes:
        function: the heuristic.
        score: the generated module that specialised searches import; heuristics that differ in parameters share it.
        parameters: float64[n], the values of its parameters in the order of `parameters_of`.
    """

    function: Heuristic
    score: ScoreModule
    parameters: NDArray[np.float64] = field(compare=False)

    def evaluate(self, board: Board, player_index: int) -> float:
        """The compiled value of a position with both players placed to player 0 or 1.

        Raises:
            ArithmeticError: the heuristic raised an exception.
        """
        value = self._evaluate(board, player_index)
        if value is None:
            raise ArithmeticError(f"{self.function!r} raised an exception at {board!r}")
        return value

    def _evaluate(self, board: Board, player_index: int) -> float | None:
        with desks.lent() as desk:
            value = self._evaluation(board.height, board.width).call(
                *pack(board), player_index, desk.address, desks.address_of(self.parameters)
            )
            return None if desk.numbers[FAILED] else value

    def _evaluation(self, rows: int, columns: int) -> NativeFunction:
        return native_function("evaluate", self.score, rows, columns)


def compile_heuristic(function: Heuristic, size: tuple[int, int] = (7, 7)) -> CompiledHeuristic:
    """Compile a heuristic for boards of `size` (rows, columns), and check it on some hundred seeded positions.

    Raises:
        CompileError: why it cannot be compiled or must not be trusted, with the line of the reason where known.
    """
    if not isinstance(function, Hashable):  # such as an object of a dataclass, which is no function either
        rewrite(function)
    return _compile_tuned(function, size) if isinstance(function, Tuned) else _compile(function, size)


@lru_cache(maxsize=FUNCTIONS_REMEMBERED)
def _compile_tuned(function: Tuned, size: tuple[int, int]) -> CompiledHeuristic:
    return _with_parameters(_compile(function.function, size), function)


def _with_parameters(compiled: CompiledHeuristic, function: Heuristic) -> CompiledHeuristic:
    """The same compiled code for a function that differs in its parameters only."""
    return CompiledHeuristic(function, compiled.score, np.array(list(values_of(function).values()), np.float64))


def refuse(function: Heuristic, size: tuple[int, int], reason: str) -> None:
    """Let `compile_heuristic` refuse a function from now on, in every process: compiling it does harm."""
    for second_try in (False, True):
        score = _score_module(rewrite(function, second_try))
        library.write(_problem_file(score, size), json.dumps({"reason": reason, "line": None}))


def _score_module(rewritten: Rewritten) -> ScoreModule:
    arguments = [
        f", {'int' if parameter.is_whole else ''}(parameters[{place}])"
        for place, parameter in enumerate(rewritten.parameters)
    ]
    text = rewritten.source + _LINKED.format(arguments="".join(arguments))
    return ScoreModule(library.folder() / library.fingerprint(text), text)


def _problem_file(score: ScoreModule, size: tuple[int, int]) -> Path:
    """The file that says why a heuristic does not compile, and its line; null if it does."""
    return score.folder / f"problem_{format_size(*size)}.json"


@lru_cache(maxsize=FUNCTIONS_REMEMBERED)
def _compile(function: Heuristic, size: tuple[int, int]) -> CompiledHeuristic:
    rewritten = rewrite(function)
    compiled, problem = _tried(function, rewritten, size)
    if problem is not None and not problem.get("is_about_time"):
        wider = rewrite(function, second_try=True)
        widened, remaining = (compiled, problem) if wider.source == rewritten.source else _tried(function, wider, size)
        if remaining is None:
            return widened
    if problem is not None:
        raise CompileError(problem["reason"], rewritten.written_at(problem["line"]))
    return compiled


def _tried(
    function: Heuristic, rewritten: Rewritten, size: tuple[int, int]
) -> tuple[CompiledHeuristic, dict[str, Any] | None]:
    """A heuristic as it was rewritten, and what keeps it from being used so."""
    score = _score_module(rewritten)
    defaults = [parameter.default for parameter in rewritten.parameters]
    compiled = CompiledHeuristic(function, score, np.array(defaults, np.float64))
    file = _problem_file(score, size)
    problem = _slow.get(file) or _known_problem(file)
    if problem is _UNKNOWN:
        problem = _find_problem(compiled, rewritten, size)
        if problem and problem.get("is_about_time"):
            _slow[file] = problem
        else:
            library.write(file, json.dumps(problem))
    return compiled, problem


def _known_problem(file: Path) -> Any:
    """What the file says; `_UNKNOWN` if there is none, or it is damaged and was removed."""
    if not file.exists():
        return _UNKNOWN
    with suppress(OSError, ValueError):
        problem = json.loads(file.read_text(encoding="utf-8"))
        if problem is None or (
            isinstance(problem, dict)
            and isinstance(problem.get("reason"), str)
            and isinstance(problem.get("line"), int | None)
        ):
            return problem
    warnings.warn(f"what was known of a heuristic is damaged and is found out anew: {file}", stacklevel=2)
    library.discard(file)
    return _UNKNOWN


def _find_problem(compiled: CompiledHeuristic, rewritten: Rewritten, size: tuple[int, int]) -> dict[str, Any] | None:
    """Why a heuristic does not compile or computes something else than its source; None if all is well.

    The line is one of the generated source: that stays what it is where the function moves in its file.
    """
    try:
        compiled._evaluation(*size)
    except (MemoryError, OSError):
        raise
    except Exception as error:  # numba refuses a function with errors of many kinds
        reason, line = rewritten.explain(error)
        return {"reason": reason, "line": line}
    started = time.process_time()
    variants = [
        compiled,
        *(_with_parameters(compiled, one) for one in _variants(compiled.function, rewritten.parameters)),
    ]
    for number, board in enumerate(sample_positions(size, CHECKED_POSITIONS)):
        compiled = variants[number % len(variants)]
        for index, player in enumerate(board.players):
            try:
                expected = _interpreted(compiled.function, board, player)
            except TookTooLong as error:
                return {"reason": f"it {error} at {board!r}", "line": None, "is_about_time": True}
            if isinstance(expected, RecursionError):
                # Compiled, this would not be an exception, but the end of the process.
                return {"reason": f"it calls itself without end, for player {index + 1} at {board!r}", "line": None}
            got = compiled._evaluate(board, index)
            if not _same(expected, got):
                differ = f"it {_does(got)} where Python {_does(expected)}"
                return {"reason": f"compiled, {differ}, for player {index + 1} at {board!r}", "line": None}
        if time.process_time() - started > LONGEST_CHECK:
            break
    return None


def _variants(function: Heuristic, parameters: Sequence[Parameter]) -> list[Heuristic]:
    """The function under other parameters, ends of their ranges among them, by which it is checked as well."""
    if not parameters:
        return []
    generator = random.Random(1)
    ends = [{one.name: one.low for one in parameters}, {one.name: one.high for one in parameters}]
    between = [{one.name: _between(one, generator) for one in parameters} for _ in range(2)]
    return [tuned(function, values) for values in (*ends, *between)]


def _between(parameter: Parameter, generator: random.Random) -> float:
    """A value at random."""
    if parameter.choices:
        return generator.choice(parameter.choices)
    value = parameter.low + generator.random() * (parameter.high - parameter.low)
    return round(value) if parameter.is_whole else value


def _interpreted(function: Heuristic, board: Board, player: Any) -> float | BaseException:
    with heeding_ctrl_c() as is_ctrl_c:
        try:
            with computing_at_most(LONGEST_CALL):
                return float(function(board.copy(), player))
        except TookTooLong:
            raise
        except BaseException as error:
            if is_ctrl_c(error):
                raise
            return error


def _same(expected: float | BaseException, got: float | None) -> bool:
    if isinstance(expected, BaseException) or got is None:
        return isinstance(expected, BaseException) and got is None
    return expected == got or (math.isnan(expected) and math.isnan(got))


def _does(outcome: float | BaseException | None) -> str:
    """What became of a call: a value, an exception, or None for one that compiled code cannot name."""
    if isinstance(outcome, BaseException):
        return f"raises {name_of(outcome)}"
    return "raises an exception" if outcome is None else f"gives {outcome!r}"


def sample_positions(size: tuple[int, int], count: int, seed: int = 1) -> Iterator[Board]:
    """Positions of random games with both players placed, finished ones included."""
    generator = random.Random(seed)
    found = 0
    while found < count:
        board = Board(1, 2, width=size[1], height=size[0])
        while True:
            if board.move_count >= 2:
                yield board.copy()
                found += 1
            cells = board.legal_cells()
            if not cells or found >= count:
                break
            board.play_cell(generator.choice(cells))
        if board.move_count < 2:
            return
