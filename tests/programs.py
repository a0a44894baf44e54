"""Programs drawn at random: heuristics of statements over numbers, lists, dictionaries, sets and exceptions."""

import linecache
import random
from collections.abc import Callable
from itertools import count
from typing import Any

_numbers = count()
_INTS = ("a", "b", "c")
_CAUGHT = (
    "IndexError", "KeyError", "ZeroDivisionError", "(KeyError, IndexError, ZeroDivisionError)", "LookupError",
)  # fmt: skip


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def number(self, depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.3:
            return self.pick(
                *_INTS, "len(moves)", "game.move_count", "len(xs)", "len(s)", str(self.random.randint(-3, 9))
            )
        one, two = self.number(depth - 1), self.number(depth - 1)
        return self.pick(
            f"({one} + {two})", f"({one} - {two})", f"({one} * {two}) % 97", f"min({one}, {two})", f"max({one}, {two})",
            f"({one} if {self.test(depth - 1)} else {two})", f"abs({one})", f"({one} // {self.random.randint(1, 5)})",
            f"({one} & 15)", "sum(xs) % 50", f"d.get({one} % 5, {two})", f"(xs[{one} % len(xs)] if xs else {two})",
            f"sum(r * {self.random.randint(1, 3)} for r, c in moves if c != {one})",
            f"len([x for x in xs if x > {one}])",
        )  # fmt: skip

    def test(self, depth: int = 1) -> str:
        one, two = self.number(depth), self.number(depth)
        return self.pick(
            f"{one} < {two}", f"{one} == {two}", f"{one} in xs", f"{one} % 5 in d", "(cell in s)", "not xs",
            "bool(moves)",
            f"{one} >= {two} and {two} > 0", f"any(x > {one} for x in xs)",
        )  # fmt: skip

    def write(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def block(self, indent: int, depth: int) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.statement(indent, depth)

    def statement(self, indent: int, depth: int) -> None:
        name = self.pick(*_INTS)
        kind = self.random.randrange(13 if depth else 8)
        if kind == 0:
            self.write(indent, f"{name} = {self.number()}")
        elif kind == 1:
            self.write(indent, f"{name} += {self.number(1)} % 31")
        elif kind == 2:
            self.write(indent, "if len(xs) < 30:")
            self.write(indent + 1, f"xs.append({self.number(1)} % 23)")
        elif kind == 3:
            self.write(indent, f"d[{self.number(1)} % 5] = {self.number(1)} % 40")
        elif kind == 4:
            self.write(
                indent, self.pick("s.add(cell)", "s.discard(cell)", "s.update(game.reach([cell]))", "s = s | {cell}")
            )
        elif kind == 5:
            self.write(
                indent, self.pick("ys = xs", "ys = xs[:]", "ys = sorted(xs)", "xs = xs[:20] + [1]", "xs, ys = ys, xs")
            )
        elif kind == 6:
            self.write(indent, f"cell = ({self.number(1)} % game.height, {self.number(1)} % game.width)")
        elif kind == 7:
            self.write(
                indent,
                self.pick(f"{name} = xs.pop() if xs else 0", "xs.reverse()", "ys = ys[:9] + [2]", f"{name} = sum(ys)"),
            )
        elif kind == 8:
            self.write(indent, f"if {self.test()}:")
            self.block(indent + 1, depth - 1)
            if self.random.random() < 0.5:
                self.write(indent, "else:")
                self.block(indent + 1, depth - 1)
        elif kind == 9:
            self.write(
                indent,
                self.pick("for r, c in moves:", "for r, c in moves[:3]:", f"for r in range({self.number(1)} % 6):"),
            )
            self.write(indent + 1, f"{name} = ({name} + r) % 211")
            self.block(indent + 1, depth - 1)
        elif kind == 10:
            self.write(indent, "for x in list(xs):")
            self.block(indent + 1, depth - 1)
            if self.random.random() < 0.4:
                self.write(indent + 1, f"if {self.test(0)}:")
                self.write(indent + 2, self.pick("break", "continue"))
        elif kind == 11:
            self.write(indent, "try:")
            self.write(
                indent + 1,
                self.pick(
                    f"{name} = xs[{self.number(1)} % 9]",
                    f"{name} = d[{self.number(1)} % 7]",
                    f"{name} = 60 // ({self.number(1)} % 4)",
                ),
            )
            self.block(indent + 1, depth - 1)
            self.write(indent, f"except {self.pick(*_CAUGHT)}:")
            self.write(indent + 1, f"{name} = -1")
        else:
            self.write(indent, f"n = {self.number(1)} % 6")
            self.write(indent, "while n > 0:")
            self.write(indent + 1, "n -= 1")
            self.block(indent + 1, 0)


def program(seed: int) -> tuple[str, Callable[[Any, Any], float]]:
    """The source of a heuristic, and the heuristic."""
    writer = _Writer(seed)
    writer.write(0, "def score(game, player):")
    writer.write(1, "moves = game.get_legal_moves(player)")
    writer.write(1, "cell = game.get_player_location(player)")
    writer.write(1, "a, b, c, n = len(moves), game.move_count, 3, 0")
    writer.write(1, "xs, ys, d, s = [row for row, _ in moves], [1, 2], {0: 1, 3: 5}, set(game.get_blank_spaces())")
    for _ in range(5):
        writer.statement(1, 3)
    writer.write(1, "return a + 2 * b - c + sum(xs) * 0.5 + 3 * sum(ys) + sum(d.values()) + len(s) + cell[0] / 7")
    source = "\n".join(writer.lines) + "\n"
    name = f"<program {seed} {next(_numbers)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(source, name, "exec"), space)
    return source, space["score"]
