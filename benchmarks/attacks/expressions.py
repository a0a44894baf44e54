"""Random heuristics over arithmetic, as readable Python source, in which compiled code might differ."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from textwrap import indent

IMPORTS = "import math\n\nimport numpy as np\n"
_MOVES = {
    "own": "game.get_legal_moves(player)",
    "opp": "game.get_legal_moves(game.get_opponent(player))",
    "blanks": "game.get_blank_spaces()",
    "shared": "own & opp",
}
_PLACES = {
    "r, c": "game.get_player_location(player)",
    "row, column": "game.get_player_location(game.get_opponent(player))",
}
_LISTS = {
    "sums": "[i + 2 * j for i, j in own]",
    "gaps": "[(i - row) ** 2 + (j - column) ** 2 for i, j in own]",
    "edges": "[min(i, 6 - i, j, 6 - j) for i, j in opp]",
    "tenths": "[0.1 * i + 0.3 * j for i, j in own]",
    "thirds": "[i / 3 - j / 7 for i, j in opp]",
    "roots": "[math.sqrt(i * i + j) for i, j in blanks]",
    "falls": "[math.exp(-i) * 0.7**j for i, j in blanks]",
    "near": "[1 / (1 + abs(i - r) + abs(j - c)) for i, j in opp]",
    "huge": "[i * 1e15 + 0.1 * j for i, j in own]",
    "waves": "[math.sin(i + 0.1) - 0.2 * j for i, j in blanks]",
}
_WHOLE_LISTS = ("sums", "gaps", "edges")
_COUNTS = ("len(own)", "len(opp)", "len(blanks)", "len(shared)", "game.move_count", "r", "c", "row", "column")
_OF_CELLS = ("i", "j", "i - 3", "abs(j - 3)", "i * j", "i - r", "j - c", "(i - row) ** 2 + (j - column) ** 2", "i + j")
_FRACTIONS = (
    "0.1 * i + 0.3 * j",
    "i / 3",
    "0.7 ** j",
    "math.sqrt(i)",
    "math.exp(-i)",
    "math.hypot(i - r, j - c)",
    "(i - 3) / (j + 1)",
    "1 / (1 + abs(i - row))",
    "0.2 * i - 0.35 * j",
    "math.sin(i + 0.1)",
    "i * 1e15 + 0.1 * j",
)
_OF_ONE = (
    "sqrt", "log", "log2", "log10", "log1p", "exp", "expm1", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
    "cosh", "tanh", "asinh", "acosh", "atanh", "gamma", "lgamma", "erf", "erfc", "fabs", "degrees", "radians",
)  # fmt: skip
_TO_WHOLE = ("int", "round", "math.floor", "math.ceil", "math.trunc")
_OF_NUMPY = ("sqrt", "log", "exp", "abs", "sign", "floor", "tanh", "log1p")
_COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")
_SHARE_OF_LARGE = 0.15


@dataclass(frozen=True)
class Written:
    """Body of a random heuristic, after the definitions of moves and locations."""

    lines: tuple[str, ...]

    def source(self, name: str = "score") -> str:
        """Return the heuristic as a function of its own; it needs `IMPORTS`."""
        return f"def {name}(game, player):\n{_indented([*_opening(self.lines), *self.lines])}\n"


def heuristics(chance: Random, count: int) -> list[Written]:
    """Return random heuristics over the same few lists, so that they compile together at low cost.

    No two have a variable of the same name.
    """
    lists = [chance.choice(_WHOLE_LISTS), *chance.sample(sorted(_LISTS.keys() - set(_WHOLE_LISTS)), 2)]
    return [Written(tuple(_Writing(chance, f"x{number}", lists).lines())) for number in range(count)]


def module_of(heuristics: Sequence[Written]) -> str:
    """Return a file whose `score` contains all of these heuristics; its parameter `which` selects one.

    Compiling them together takes a third of the time of compiling each one alone.
    """
    every = [line for heuristic in heuristics for line in heuristic.lines]
    numbers = ", ".join(map(str, range(len(heuristics))))
    lines = _opening(every)
    for number, item in enumerate(heuristics):
        lines += [f"if which == {number}:", _indented(item.lines)]
    head = f"from typing import Literal\n\n{IMPORTS}\n\ndef score(game, player, *, which: Literal[{numbers}] = 0):\n"
    return f"{head}{_indented([*lines, 'return 0.0'])}\n"


def _indented(lines: Sequence[str]) -> str:
    return indent("\n".join(lines), "    ")


def _opening(body: Sequence[str]) -> list[str]:
    """Return the definitions of moves and locations that a body uses."""
    used = _words(body)
    lists = [f"{name} = {value}" for name, value in _LISTS.items() if name in used]
    used |= _words(lists) | ({"own", "opp"} if "shared" in used else set())
    moves = [f"{name} = {value}" for name, value in _MOVES.items() if name in used]
    places = [f"{names} = {value}" for names, value in _PLACES.items() if used & set(names.split(", "))]
    return moves + places + lists


def _words(lines: Sequence[str]) -> set[str]:
    return set(re.findall(r"\w+", "\n".join(lines)))


class _Writing:
    """A heuristic being generated, with the names of its numbers so far."""

    def __init__(self, chance: Random, name: str, lists: Sequence[str]) -> None:
        self.chance = chance
        self.name = name
        self.list_of_wholes, *self.lists_of_fractions = lists
        self.wholes: list[str] = []
        self.fractions: list[str] = []

    def lines(self) -> list[str]:
        lines: list[str] = []
        for letter in "ab"[: self.chance.choice((0, 0, 0, 1, 1, 2))]:
            lines += self.statement(f"{self.name}{letter}")
        if self.chance.random() < 0.15:
            lines += [f"if {self.truth(1)}:", f"    return {self.shown(2)}"]
        return [*lines, f"return {self.shown(2)}"]

    def shown(self, depth: int) -> str:
        return f"float({self.number(depth)})"

    def statement(self, name: str) -> list[str]:
        """Return the lines that assign a number to a name."""
        kind = self.chance.randrange(5)
        if kind == 0:
            lines = [f"{name} = {self.whole(2)}"]
            self.wholes.append(name)
        elif kind == 1:
            lines = [f"{name} = {self.fraction(2)}"]
            self.fractions.append(name)
        elif kind == 2:
            lines = [f"{name} = {self.fraction(1)}", f"if {self.truth(1)}:", f"    {name} = {self.fraction(1)}"]
            self.fractions.append(name)
        elif kind == 3:
            start, item = self.chance.choice([("0", self.of_cell), ("1", self.of_cell), ("0.0", self.fraction_of_cell)])
            sign = self.chance.choice(("+=", "-=", "*=") if start == "1" else ("+=", "-="))
            lines = [f"{name} = {start}", f"for i, j in {self.cells()}:", f"    {name} {sign} {item()}"]
            (self.fractions if start == "0.0" else self.wholes).append(name)
        else:
            step = self.chance.choice((f"{name} = {name} * 2 + k", f"{name} = {name} * 9 - 4", f"{name} += k ** 2"))
            times = self.chance.choice(_COUNTS)
            lines = [f"{name} = {self.count()}", f"for k in range({times}):", f"    {step}"]
            self.wholes.append(name)
        return lines

    def number(self, depth: int) -> str:
        return self.whole(depth) if self.chance.random() < 0.4 else self.fraction(depth)

    def count(self) -> str:
        return self.chance.choice([*_COUNTS, *self.wholes])

    def small(self) -> str:
        """Return a difference of counts that may be positive, 0 or negative."""
        return self.chance.choice(
            (
                f"{self.count()} - {self.chance.randint(1, 48)}",
                f"{self.chance.randint(1, 48)} - game.move_count",
                f"{self.count()} - {self.count()}",
                f"{self.chance.choice((2, 3, 5, 12))} * {self.count()} - {self.count()}",
            )
        )

    def constant(self) -> str:
        if self.chance.random() < _SHARE_OF_LARGE:
            return self.chance.choice(("1e19", "1e18", "1e308", "1e-300", "2.0 ** 53", "1e16", "-1e19", "1e300"))
        return self.chance.choice(("0.1", "0.35", "0.5", "1.5", "2.0", "-0.5", "0.3", "1e-3", "2.1", "3.7", "16.0"))

    def large(self) -> str:
        return self.chance.choice(
            ("2 ** 53 + 1", "10 ** 18", "2 ** 62", "3 ** 39", "10 ** 9 + 7", "2 ** 31", "-(2 ** 63)")
        )

    def whole(self, depth: int) -> str:
        chance, below = self.chance, depth - 1
        if depth <= 0:
            return chance.choice((self.count(), self.count(), str(chance.randint(-3, 12))))
        if chance.random() < _SHARE_OF_LARGE / 3:
            return self.large()
        a = lambda: self.whole(below)  # noqa: E731
        return chance.choice(
            (
                lambda: f"({a()} {chance.choice('+-*')} {a()})",
                lambda: f"({a()} {chance.choice('+-*')} {a()})",
                lambda: f"({a()} {chance.choice(('//', '%'))} ({self.small()}))",
                lambda: f"({a()} {chance.choice(('//', '%'))} {chance.choice((-7, -2, 2, 3, 5))})",
                lambda: f"({a()}) ** {chance.choice((2, 3, 4, 7, 12, 20))}",
                lambda: f"({a()} {chance.choice(('<<', '>>'))} ({self.small()}))",
                lambda: f"({a()} {chance.choice(('&', '|', '^'))} {a()})",
                lambda: f"~({a()})",
                lambda: f"abs({a()})",
                lambda: f"-({a()})",
                lambda: f"{chance.choice(_TO_WHOLE)}({self.fraction(below)})",
                lambda: f"{chance.choice(_TO_WHOLE)}({self.fraction(below)})",
                lambda: f"({self.truth(below)})",
                lambda: f"({a()} if {self.truth(below)} else {a()})",
                lambda: f"{chance.choice(('min', 'max'))}({a()}, {a()})",
                lambda: f"sum({self.wholes_listed()})",
                lambda: f"{chance.choice(('min', 'max'))}({self.wholes_listed()})",
                lambda: f"sum(1 for x in {self.wholes_listed()} if x > {self.count()})",
                lambda: f"sorted({self.list_of_wholes})[{chance.choice((0, -1, 1))}]",
                lambda: f"np.{chance.choice(('sum', 'max', 'min'))}({self.wholes_listed()})",
                lambda: f"math.{chance.choice(('gcd',))}({self.count()}, {self.count()})",
                lambda: f"divmod({a()}, {self.small()})[{chance.randint(0, 1)}]",
                lambda: self.count(),
                lambda: self.small(),
            )
        )()

    def fraction(self, depth: int) -> str:
        chance, below = self.chance, depth - 1
        if depth <= 0:
            return chance.choice((self.constant(), f"{self.count()} / 3", f"0.1 * {self.count()}", *self.fractions))
        a, b = (lambda: self.fraction(below)), (lambda: self.whole(below))
        n = lambda: self.number(below)  # noqa: E731
        listed = self.fractions_listed
        return chance.choice(
            (
                lambda: f"({a()} {chance.choice('+-*')} {n()})",
                lambda: f"({n()} {chance.choice('+-*')} {a()})",
                lambda: f"{n()} / ({n()})",
                lambda: f"({self.small()}) / ({self.small()})",
                lambda: f"({a()} {chance.choice(('//', '%'))} {n()})",
                lambda: f"({a()}) ** {chance.choice((2, 3, 0.5, -1, -2, 1.5, 12))}",
                lambda: f"({n()}) ** ({self.small()})",
                lambda: f"{self.constant()} ** ({self.small()})",
                lambda: f"math.{chance.choice(_OF_ONE)}({n()})",
                lambda: f"math.{chance.choice(_OF_ONE)}({self.small()})",
                lambda: f"math.{chance.choice(_OF_ONE)}({self.constant()} * ({self.small()}))",
                lambda: f"math.{chance.choice(('pow', 'atan2', 'copysign', 'hypot'))}({n()}, {self.small()})",
                lambda: f"math.exp({n()} / {chance.choice((2, 7, 40))})",
                lambda: f"math.dist((r, c), (row, {self.count()}))",
                lambda: f"np.{chance.choice(_OF_NUMPY)}({n()})",
                lambda: f"round({n()}, {chance.choice((0, 1, 2, 3, -1))})",
                lambda: f"round({n()} / {chance.choice((16, 8, 3))} - {b()} * 0.35, {chance.choice((1, 2, 3))})",
                lambda: f"abs({a()})",
                lambda: f"-{a()}",
                lambda: f"float({b()})",
                lambda: f"({a()} if {self.truth(below)} else {n()})",
                lambda: f"{chance.choice(('min', 'max'))}({n()}, {a()})",
                lambda: f"max({self.constant()}, min({n()}, {a()}))",
                lambda: f"sum({listed()})",
                lambda: (
                    f"np.{chance.choice(('sum', 'mean', 'std', 'var', 'min', 'max', 'median', 'prod'))}({listed()})"
                ),
                lambda: f"np.mean({self.wholes_listed()})",
                lambda: f"np.linalg.norm({listed()})",
                lambda: f"np.linalg.norm(np.array([r - row, {a()}]))",
                lambda: f"sorted({self.lists_of_fractions[0]})[{chance.choice((0, -1, 2))}]",
                lambda: f"max({listed()})",
                lambda: f"sum({listed()}) / ({self.small()})",
                lambda: f"{a()} * float({self.truth(below)})",
            )
        )()

    def truth(self, depth: int) -> str:
        chance, below = self.chance, depth - 1

        def compare() -> str:
            return f"{self.number(below)} {chance.choice(_COMPARISONS)} {self.number(below)}"

        if depth <= 0:
            return f"{self.count()} {chance.choice(('<', '==', '>'))} {self.count()}"
        return chance.choice(
            (
                compare,
                compare,
                lambda: f"({self.truth(below)} {chance.choice(('and', 'or'))} {self.truth(below)})",
                lambda: f"not ({self.truth(below)})",
                lambda: f"math.{chance.choice(('isfinite', 'isnan', 'isinf'))}({self.fraction(below)})",
                lambda: f"{chance.choice(('any', 'all'))}(x > {self.count()} for x in {self.wholes_listed()})",
                lambda: f"{self.count()} < {self.number(below)} <= {self.number(below)}",
            )
        )()

    def cells(self) -> str:
        return self.chance.choice(("own", "opp", "blanks", "shared", "own", "opp"))

    def wholes_listed(self) -> str:
        """Return a list of whole numbers, sometimes a new one."""
        return self.list_of_wholes if self.chance.random() < 0.8 else f"[{self.of_cell()} for i, j in {self.cells()}]"

    def fractions_listed(self) -> str:
        if self.chance.random() < 0.8:
            return self.chance.choice(self.lists_of_fractions)
        return f"[{self.fraction_of_cell()} for i, j in {self.cells()}]"

    def of_cell(self) -> str:
        return self.chance.choice(_OF_CELLS)

    def fraction_of_cell(self) -> str:
        return self.chance.choice(_FRACTIONS)
