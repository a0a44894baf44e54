"""Compile a plain Python heuristic, and compare it with the function before it is used."""

from __future__ import annotations

import json
import logging
import time
import warnings
from collections.abc import Callable, Hashable
from contextlib import suppress
from copy import copy
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codegen.score import score_texts
from ..loading.integrity import ChangedError, unchanged
from ..native import workspaces
from ..native.layout import FAILED
from ..rules.classic_board import Board
from ..rules.parameters import BoundHeuristic, base_function, parameter_values, parameters_of
from ..suggestions import CompilerFault
from . import FUNCTIONS_REMEMBERED, code_cache
from .comparison import Problem, compare, sample_positions, samples_of
from .compile_errors import refuses_heuristic
from .source_rewriter import ATTEMPTS, CompileError, Rewritten, rewrite
from .specialise import NativeFunction, ScoreModule, native_function, pack

__all__ = ["CompileError", "CompiledHeuristic", "compile_heuristic", "sample_positions"]

Heuristic = Callable[[Any, Any], float]
_LOGGER = logging.getLogger(__name__)
_UNKNOWN = object()
_of_this_process: dict[Path, Problem] = {}
"""Problems that are not kept, by the file that would hold them: another time, or elsewhere, there may be none."""


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
        score: the generated module of its code; heuristics that differ in parameters share it. See `score_on`.
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
        value = self.value_of(board, player_index)
        if value is None:
            raise ArithmeticError(f"{self.function!r} raised an exception at {board!r}")
        return value

    def value_of(self, board: Board, player_index: int) -> float | None:
        """The compiled value of a position, as `evaluate` gives it; None if the heuristic raised an exception."""
        with workspaces.borrow_workspace() as desk:
            value = self._evaluation(board.height, board.width).call(
                *pack(board), player_index, desk.address, workspaces.address_of(self.parameters)
            )
            return None if desk.numbers[FAILED] else value

    def score_on(self, size: tuple[int, int]) -> ScoreModule:
        """The generated module that searches on boards of a size are specialised on.

        Raises:
            CompileError: it is for another size, and the heuristic does not compile for this one.
        """
        return self.score if self.score.size in (None, size) else compile_heuristic(self.function, size).score

    def _evaluation(self, rows: int, columns: int) -> NativeFunction:
        return native_function("evaluate", self.score_on((rows, columns)), rows, columns)


def compile_heuristic(function: Heuristic, size: tuple[int, int] = (7, 7)) -> CompiledHeuristic:
    """Compile a heuristic for boards of `size` (rows, columns), and check it on some hundred seeded positions.

    Raises:
        CompileError: why it cannot be compiled or must not be trusted, with the line of the reason where known.
    """
    if not isinstance(function, Hashable):  # such as an object of a dataclass, which is no function either
        rewrite(function)
    return _compile_tuned(function, size) if isinstance(function, BoundHeuristic) else _compile(function, size)


@lru_cache(maxsize=FUNCTIONS_REMEMBERED)
def _compile_tuned(function: BoundHeuristic, size: tuple[int, int]) -> CompiledHeuristic:
    return with_parameters(_compile(function.function, size), function)


def with_parameters(compiled: CompiledHeuristic, function: Heuristic) -> CompiledHeuristic:
    """The same compiled code for a function that differs in its parameters only."""
    return CompiledHeuristic(function, compiled.score, np.array(list(parameter_values(function).values()), np.float64))


def mark_uncompilable(function: Heuristic, size: tuple[int, int], reason: str) -> None:
    """Let `compile_heuristic` refuse a function from now on, in every process: compiling it does harm."""
    refusal = _written(Problem(reason))
    with suppress(CompileError):
        for text in score_texts(base_function(function), *size):
            code_cache.write(_problem_file(_direct_module(text, size), size), refusal)
    for attempt in range(ATTEMPTS):
        with suppress(CompileError):
            code_cache.write(_problem_file(_score_module(rewrite(function, attempt, size)), size), refusal)


def _direct_module(text: str, size: tuple[int, int]) -> ScoreModule:
    """The module of what the compiler in front makes of a heuristic."""
    return ScoreModule(code_cache.folder() / code_cache.fingerprint(text), text, size)


def _score_module(rewritten: Rewritten) -> ScoreModule:
    arguments = [
        f", {'int' if parameter.is_whole else ''}(parameters[{index}])"
        for index, parameter in enumerate(rewritten.parameters)
    ]
    text = rewritten.source + _LINKED.format(arguments="".join(arguments))
    return ScoreModule(code_cache.folder() / code_cache.fingerprint(text), text)


def _problem_file(score: ScoreModule, size: tuple[int, int]) -> Path:
    """The file that says why a heuristic does not compile, and its line; null if it does."""
    return score.folder / "problem_{}x{}.json".format(*size)


def compiled_alone(function: Heuristic, size: tuple[int, int] = (7, 7)) -> CompiledHeuristic:
    """Compile a heuristic without comparing it with Python, which is for those who do so themselves.

    Raises:
        CompileError: why it cannot be compiled, with the line of the reason where known.
    """
    with suppress(CompileError):
        text = next(score_texts(base_function(function), *size))
        return _at_defaults(function, _direct_module(text, size))
    rewritten = rewrite(function, size=size)
    compiled = _uncompiled(function, rewritten)
    if problem := _why_not_compiled(compiled, rewritten, size):
        raise CompileError(problem.reason, rewritten.written_at(problem.line))
    return compiled


def _compile(function: Heuristic, size: tuple[int, int]) -> CompiledHeuristic:
    compiled = _compiled_or_refused(function, size)
    if isinstance(compiled, CompileError):
        raise copy(compiled)  # raised itself, it would collect the tracebacks of all who ask
    return compiled


@lru_cache(maxsize=FUNCTIONS_REMEMBERED)
def _compiled_or_refused(function: Heuristic, size: tuple[int, int]) -> CompiledHeuristic | CompileError:
    with suppress(CompileError):
        for text in score_texts(function, *size):
            compiled = _at_defaults(function, _direct_module(text, size))
            if _judged(compiled, size, partial(_find_problem, compiled, None, size)) is None:
                return compiled
    return _rewritten_or_refused(function, size)


def _rewritten_or_refused(function: Heuristic, size: tuple[int, int]) -> CompiledHeuristic | CompileError:
    reason: CompileError | None = None
    seen: set[str] = set()
    is_fault = False
    for attempt in range(ATTEMPTS):
        try:
            rewritten = rewrite(function, attempt, size)
        except CompileError as error:
            reason = _more_useful(reason, error)
            if error.is_unrepeatable:
                break
            continue
        if rewritten.source in seen:
            continue
        seen.add(rewritten.source)
        compiled, problem = _tried(function, rewritten, size)
        if problem is None:
            return compiled
        line = rewritten.written_at(problem.line)
        reason = _more_useful(reason, CompileError(problem.reason, line, is_difference=problem.is_difference))
        if problem.is_fault:
            is_fault = True
        elif not problem.is_kept:
            break
    assert reason is not None
    if is_fault:  # of this process, perhaps: it is not remembered
        raise reason
    return reason


def _more_useful(first: CompileError | None, later: CompileError) -> CompileError:
    """The reason that is reported: that of the first attempt, unless it names no line and a later one does."""
    is_vague = first is not None and first.is_difference and not later.is_difference and later.line is not None
    return later if first is None or is_vague else first


def _tried(
    function: Heuristic, rewritten: Rewritten, size: tuple[int, int]
) -> tuple[CompiledHeuristic, Problem | None]:
    """A heuristic as it was rewritten, and what keeps it from being used so."""
    compiled = _uncompiled(function, rewritten)
    return compiled, _judged(compiled, size, lambda: _find_problem(compiled, rewritten, size))


def _judged(compiled: CompiledHeuristic, size: tuple[int, int], find: Callable[[], Problem | None]) -> Problem | None:
    """What keeps a compiled heuristic from being used: as it is known, or is found."""
    file = _problem_file(compiled.score, size)
    problem = _of_this_process.get(file) or _known_problem(file)
    if problem is _UNKNOWN:
        started = time.perf_counter()
        try:
            with unchanged():
                problem = find()
        except ChangedError as error:
            problem = Problem(str(error))
        verdict = f"refused: {problem.reason}" if problem else "compiled and compared with Python"
        name = getattr(compiled.function, "__name__", repr(compiled.function))
        _LOGGER.debug("%s: %s in %.2f s", name, verdict, time.perf_counter() - started)
        if problem is None or problem.is_kept:
            code_cache.write(file, _written(problem))
        else:
            _of_this_process[file] = problem
    return problem


def _uncompiled(function: Heuristic, rewritten: Rewritten) -> CompiledHeuristic:
    """A heuristic as it was rewritten, of which nothing is compiled so far."""
    return _at_defaults(function, _score_module(rewritten))


def _at_defaults(function: Heuristic, score: ScoreModule) -> CompiledHeuristic:
    defaults = [parameter.default for parameter in parameters_of(function)]
    return CompiledHeuristic(function, score, np.array(defaults, np.float64))


def _written(problem: Problem | None) -> str:
    """The text of the file that keeps a problem, or that there is none."""
    return json.dumps(
        problem and {key: value for key, value in asdict(problem).items() if key not in ("is_kept", "is_fault")}
    )


def _known_problem(file: Path) -> Any:
    """Return the problem saved in a file; `_UNKNOWN` if there is none, or if it is damaged and was removed."""
    if not file.exists():
        return _UNKNOWN
    with suppress(OSError, ValueError, TypeError):
        known = json.loads(file.read_text(encoding="utf-8"))
        problem = known if known is None else Problem(**known)
        if problem is None or (
            isinstance(problem.reason, str)
            and isinstance(problem.line, int | None)
            and isinstance(problem.is_difference, bool)
        ):
            return problem
    warnings.warn(f"damaged cache entry; checking the heuristic again: {file}", stacklevel=2)
    code_cache.discard(file)
    return _UNKNOWN


def _find_problem(compiled: CompiledHeuristic, rewritten: Rewritten | None, size: tuple[int, int]) -> Problem | None:
    """Why a heuristic does not compile or computes something else than its source; None if all is well.

    `rewritten` is what it was compiled from, None if that is its own source.
    """
    if problem := _why_not_compiled(compiled, rewritten, size):
        return problem
    others = samples_of(compiled.function, parameters_of(compiled.function))
    variants = [compiled, *(with_parameters(compiled, other) for other in others)]
    return compare([(variant.function, variant.value_of) for variant in variants], size)


def _why_not_compiled(
    compiled: CompiledHeuristic, rewritten: Rewritten | None, size: tuple[int, int]
) -> Problem | None:
    try:
        compiled._evaluation(*size)
    except CompilerFault as fault:
        return Problem(str(fault), is_kept=False, is_fault=True)
    except RecursionError:  # how deep is too deep depends on who calls, and on how it is written
        return Problem("it is nested too deeply to be compiled", is_kept=False, is_fault=True)
    except CompileError as error:
        return Problem(error.reason)
    except Exception as error:
        if rewritten is None or not refuses_heuristic(error):
            raise
        return Problem(*rewritten.explain(error))
    return None
