"""Compare compiled code with the Python function it was made from, in positions chosen from whole games.

Where they differ since an integer exceeds 64 bits, the expression that first does is found and named.
"""

from __future__ import annotations

import ast
import linecache
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from types import CodeType, FunctionType
from typing import Any

from ..rules.classic_board import Board
from ..rules.geometry import move_of
from ..rules.parameters import Parameter, base_function, bind_parameters
from ..usercode.timeouts import UserCodeTimeout, cpu_timeout
from ..usercode.user_exceptions import detect_ctrl_c, name_of, to_one_line

Heuristic = Callable[[Any, Any], float]
Evaluation = Callable[[Board, int], float | None]
"""What compiled code gives for a position and player 0 or 1; None where it raises."""
CHECKED_POSITIONS = 300
LONGEST_CHECK = 3.0
LONGEST_CALL = 2.0
_LAST_DIGITS = 1e-9
"""Up to what relative difference two numbers are said to differ in their last digits only."""


@dataclass(frozen=True)
class Problem:
    """Why a heuristic does not compile, or why what was compiled is not used.

    Attributes:
        reason: in words.
        line: of the generated source: that stays what it is where the function moves in its file.
        is_difference: it compiles, and computes something else than Python.
        is_kept: it is so in every process; what took too long here and now, or is a fault of ours, may not be.
        is_fault: the compiler itself failed, which it may not do on what is written otherwise.
    """

    reason: str
    line: int | None = None
    is_difference: bool = False
    is_kept: bool = True
    is_fault: bool = False


def compare(
    variants: Sequence[tuple[Heuristic, Evaluation]], size: tuple[int, int], count: int = CHECKED_POSITIONS
) -> Problem | None:
    """Return the first difference between compiled code and Python in sampled positions, for both players.

    Values are the same to the last bit. Where either raises, so does the other: compiled code cannot say what, and
    whoever meets an exception there gets Python's, by a call of the function.
    """
    started = time.process_time()
    for number, board in enumerate(sample_positions(size, count)):
        if problem := difference(*variants[number % len(variants)], [board]):
            return problem
        if time.process_time() - started > LONGEST_CHECK:
            break
    return None


def difference(function: Heuristic, evaluate: Evaluation, boards: Iterable[Board]) -> Problem | None:
    """The first of these positions, for either player, at which compiled code does not what Python does."""
    for board in boards:
        for index, player in enumerate(board.players):
            try:
                expected = _interpreted(function, board, player)
            except UserCodeTimeout as error:
                return Problem(f"it {error} at {board!r}", is_kept=False)
            if isinstance(expected, RecursionError):
                # Compiled, this would not be an exception, but the end of the process.
                return Problem(f"infinite recursion for player {index + 1} at {board!r}")
            got = evaluate(board, index)
            if not _is_same(expected, got):
                reason = _differ(expected, got, f"{board!r}", index + 1)
                if got is None:
                    reason += _outgrown(function, board, player)
                return Problem(reason, is_difference=True)
    return None


def samples_of(function: Heuristic, parameters: Sequence[Parameter]) -> list[Heuristic]:
    """The function under other parameters, ends of their ranges among them, by which it is checked as well."""
    if not parameters:
        return []
    generator = random.Random(1)
    ends = [
        {parameter.name: parameter.low for parameter in parameters},
        {parameter.name: parameter.high for parameter in parameters},
    ]
    between = [{parameter.name: _between(parameter, generator) for parameter in parameters} for _ in range(2)]
    return [bind_parameters(function, values) for values in (*ends, *between)]


def _between(parameter: Parameter, generator: random.Random) -> float:
    if parameter.choices:
        return generator.choice(parameter.choices)
    value = parameter.low + generator.random() * (parameter.high - parameter.low)
    return round(value) if parameter.is_whole else value


def _interpreted(function: Heuristic, board: Board, player: Any) -> float | BaseException:
    with detect_ctrl_c() as is_ctrl_c:
        try:
            with cpu_timeout(LONGEST_CALL):
                return float(function(board.copy(), player))
        except UserCodeTimeout:
            raise
        except BaseException as error:
            if is_ctrl_c(error):
                raise
            return error


def _is_same(expected: float | BaseException, got: float | None) -> bool:
    if isinstance(expected, BaseException) or got is None:
        return isinstance(expected, BaseException) and got is None
    return expected == got or (math.isnan(expected) and math.isnan(got))


def _differ(expected: float | BaseException, got: float | None, board: str, player: int) -> str:
    if isinstance(expected, float) and got is not None:
        apart = abs(expected - got) / max(abs(expected), abs(got))
        if apart <= _LAST_DIGITS:
            digit = math.floor(-math.log10(apart)) + 1
            numbers = f"{expected!r} in Python, {got!r} compiled"
            return f"compiled, it differs from Python in the {digit}th digit at {board}, for player {player}: {numbers}"
    return f"compiled, it {_does(got)} where Python {_does(expected)}, for player {player} at {board}"


def _outgrown(function: Heuristic, board: Board, player: Any) -> str:
    """Explain a number beyond 64 bits, at which compiled code gives up and Python does not; empty if unknown.

    It is told by its text: a line would not hold for another file with the same function, whose problem is this one.
    """
    try:
        outgrown = expression_outgrown(base_function(function), lambda watched: _interpreted(watched, board, player))
    except Exception:  # the function is one that cannot be watched: the difference itself is told all the same
        return ""
    if outgrown is None:
        return ""
    return f": {outgrown} exceeds 64 bits, all that compiled code has for integers; write float(x) ** n, float(x) * y"


def _does(outcome: float | BaseException | None) -> str:
    """Return the result of a call: a value, an exception, or None for one that compiled code cannot name."""
    if isinstance(outcome, BaseException):
        return f"raises {name_of(outcome)}"
    return "raises an exception" if outcome is None else f"gives {outcome!r}"


_CANDIDATES = 8
"""How many positions are played for each that is chosen."""


def sample_positions(size: tuple[int, int], count: int, seed: int = 1) -> Iterator[Board]:
    """Positions with both players placed, finished ones included, those that show most first.

    They are from whole games, in turn games between players who avoid running out of moves, which on 7x7 reach the
    last cells, and games of random moves; the first begin in the corners. What occurs in these games is among the
    positions: each number of plies, each pair of numbers of moves, each cell that either player stands on, also with
    eight moves, and each distance of the two.
    """
    for board in _chosen(size, count, seed):
        yield board.copy()


@lru_cache(maxsize=32)
def _chosen(size: tuple[int, int], count: int, seed: int) -> tuple[Board, ...]:
    generator = random.Random(seed)
    rows, columns = size
    corners = dict.fromkeys((rows * columns - 1, (rows - 1) * columns, columns - 1, 0))
    games = positions_of_games(size, _CANDIDATES * count, generator, list(permutations(corners, 2)))
    candidates = [(board, _features(board)) for board in games]
    frequencies = Counter(feature for _, features in candidates for feature in features)
    chosen, others, seen = [], [], set[Hashable]()
    for board, features in candidates:
        if features <= seen:
            # Drawn by rarity without replacement: Efraimidis & Spirakis 2006.
            others.append((generator.random() ** (1 / sum(1 / frequencies[feature] for feature in features)), board))
        else:
            chosen.append(board)
        seen |= features
    others.sort(key=lambda drawn: -drawn[0])
    return tuple([*chosen, *(board for _, board in others)][:count])


def _features(board: Board) -> set[Hashable]:
    moves = tuple(board.moves_mask(index).bit_count() for index in (0, 1))
    cells = ((index, board.locations[index], moves[index] == 8) for index in (0, 1))
    (row, column), (other_row, other_column) = (move_of(cell or 0, board.width) for cell in board.locations)
    return {board.move_count, moves, *cells, ("apart", abs(row - other_row), abs(column - other_column))}


def positions_of_games(
    size: tuple[int, int], count: int, generator: random.Random, placements: Sequence[tuple[int, ...]] = ()
) -> list[Board]:
    """The positions of whole games, at least so many; of one that is longer than this, its beginning.

    In turn a game is long and of random moves; the first begin with these placements, all others at random.
    """
    boards: list[Board] = []
    remaining, is_long = iter(placements), False
    while len(boards) < count:
        board, first, is_long = Board(1, 2, width=size[1], height=size[0]), len(boards), not is_long
        placement = next(remaining, ())
        while True:
            if board.move_count >= 2:
                boards.append(board.copy())
            cells = board.legal_cells()
            if not cells or len(boards) - first >= count:
                break
            if board.move_count < len(placement):
                board.play_cell(placement[board.move_count])
            else:
                board.play_cell(_narrowest(board, cells, generator) if is_long else generator.choice(cells))
        if board.move_count < 2:
            break
    return boards


def _narrowest(board: Board, cells: tuple[int, ...], generator: random.Random) -> int:
    """A move that leaves both players a way on, if one does, and the mover few: Warnsdorff's rule of knight's tours."""
    if board.move_count < 2:
        return generator.choice(cells)

    def ways_on(cell: int) -> tuple[bool, int, float]:
        after = board.successor(cell)
        own, other = (after.moves_mask(index).bit_count() for index in (board.active_index, after.active_index))
        return own == 0 or other == 0, own, generator.random()

    return min(cells, key=ways_on)


_WIDEST = 1 << 63
_SEEN = "_isolation_seen"


def expression_outgrown(function: Heuristic, ask: Callable[[Heuristic], object]) -> str | None:
    """The expression that first gives an integer of more than 64 bits; None if none is seen.

    Args:
        function: a function of a file, with helpers of the same file.
        ask: calls what it is given as it would call the function.
    """
    if not isinstance(function, FunctionType):
        return None
    outgrown: list[str] = []

    def seen(value: Any, expression: str) -> Any:
        if type(value) is int and not -_WIDEST <= value < _WIDEST:
            outgrown.append(expression)
        return value

    watched = _watched(function, seen)
    if watched is not None:
        ask(watched)
    return outgrown[0] if outgrown else None


def _watched(function: FunctionType, seen: Callable[[Any, str], Any]) -> Heuristic | None:
    """A function that tells of what its operators and calls give; None if its file does not define it at its top."""
    source = "".join(linecache.getlines(function.__code__.co_filename))
    tree = _Watching().visit(ast.parse(source))
    space = {**function.__globals__, _SEEN: seen}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and isinstance(space.get(node.name), FunctionType):
            given = space[node.name]
            code = compile(ast.fix_missing_locations(ast.Module([node], [])), given.__code__.co_filename, "exec")
            body = next(part for part in code.co_consts if isinstance(part, CodeType) and part.co_name == node.name)
            again = FunctionType(body, space, node.name, given.__defaults__, given.__closure__)
            again.__kwdefaults__ = given.__kwdefaults__
            space[node.name] = again
    own = space.get(function.__name__)
    is_own = isinstance(own, FunctionType) and own.__code__.co_firstlineno == function.__code__.co_firstlineno
    return own if is_own else None


class _Watching(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        return self._watch(node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        return self._watch(node)

    def _watch(self, node: ast.expr) -> ast.expr:
        text = ast.unparse(node)
        return _seen(self.generic_visit(node), text)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        text = ast.unparse(node)
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        both = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
        value = _seen(ast.copy_location(both, node), text)
        return ast.copy_location(ast.Assign([node.target], value), node)


def _seen(node: Any, text: str) -> ast.expr:
    return ast.copy_location(
        ast.Call(ast.Name(_SEEN, ast.Load()), [node, ast.Constant(to_one_line(text, 60))], []), node
    )
