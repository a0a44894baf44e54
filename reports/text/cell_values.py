"""Cell values with display formats: shares, percentage points, p-values, estimates.

In JSON and CSV each is a plain number; `text` is its format in tables.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

_NOISE = 1e-12  # distance from no difference below which an end is rounding noise; open ends are further away (`OPEN`)
_LEAST, _LEAST_ELO = 3e-9, 3e-6  # distances from no difference below which an end is open there
_ALL_NAMED = 3  # number of names in a sentence; of more, only the first is named


class HasEnds(Protocol):
    """Argument of `estimate_of`: an estimate and the ends of its interval."""

    @property
    def estimate(self) -> float:
        """The value."""

    @property
    def low(self) -> float:
        """The lower end."""

    @property
    def high(self) -> float:
        """The upper end."""


class Identifier(int):
    """A number that identifies something, such as a game: its digits are never grouped."""

    @property
    def text(self) -> str:
        """Such as 12824."""
        return str(int(self))


class CopiedName(str):
    """A name that users copy into a command: a table never shortens it."""


class Number(float):
    """A number with a format of its own; NaN is a dash."""

    @property
    def text(self) -> str:
        """Its format in tables."""
        return "–" if math.isnan(self) else self._format()

    def _format(self) -> str:
        return f"{self:.2f}"


class Share(Number):
    """A share of one, shown in per cent, such as 57.3 %."""

    def _format(self) -> str:
        return f"{100 * self:.1f} %"


class Chance(Number):
    """A probability, shown as a whole number of per cent, such as 84; 100 and 0 only if exact."""

    def _format(self) -> str:
        if 0 < self < 0.005:
            return "< 1"
        return "> 99" if 0.995 <= self < 1 else f"{100 * self:.0f}"


class Resampled(Chance):
    """A probability estimated from resamples: 0 and 1 only mean that it was the same in all, and are never shown."""

    def _format(self) -> str:
        return "< 1" if self <= 0 else "> 99" if self >= 1 else super()._format()


class Points(Number):
    """A difference of two shares, shown in percentage points, such as +3.1."""

    def _format(self) -> str:
        text = f"{100 * self:+.1f}".replace("-", "−")
        return "0.0" if text[1:] == "0.0" else text


class Elo(Number):
    """A difference in Elo, such as −12, or −∞."""

    def _format(self) -> str:
        if math.isinf(self):
            return f"{'−' if self < 0 else '+'}∞"
        return f"{self:+.0f}".replace("-", "−") if round(self) else "0"


class Minutes(Number):
    """A time in minutes, such as 4 s, 12 min or 2.5 h."""

    def _format(self) -> str:
        if self < 1:
            return "< 1 s" if self * 60 < 1 else f"{self * 60:.0f} s"
        return f"{self:.2g} min" if self < 99.5 else f"{self / 60:,.2g} h" if self < 5970 else f"{self / 60:,.0f} h"


class Milliseconds(Number):
    """A time in milliseconds, such as 0.46, 12 or 1,204; two significant digits below 100."""

    def _format(self) -> str:
        return f"{self:,.0f}" if self >= 99.5 else f"{self:.2g}" if self >= 0.01 or not self else "< 0.01"


class HeuristicValue(Number):
    """A heuristic's value, such as 4.00 or −0.43; very large and very small ones with four significant digits."""

    def _format(self) -> str:
        if math.isinf(self):
            return "∞" if self > 0 else "−∞"
        is_usual = not self or 0.005 <= abs(self) < 1e6
        return (f"{self:,.2f}" if is_usual else f"{self:.4g}").replace("-", "−", self < 0)


class Ratio(Number):
    """A ratio, such as 2.26 ×, or 104 ×."""

    def _format(self) -> str:
        return f"{self:.2f} ×" if self < 10 else f"{self:,.0f} ×"


class Mean(Number):
    """A mean of counts, such as 0.42."""


class PValue(Number):
    """A p-value, with three decimals; smaller values as an inequality."""

    def _format(self) -> str:
        return "< 0.001" if self < 0.0005 else f"{self:.3f}"


@dataclass(frozen=True)
class Estimate:
    """An estimate with its interval; in JSON and CSV three values, `name`, `name_low` and `name_high`."""

    value: Any
    low: Any
    high: Any

    @property
    def text(self) -> str:
        """Such as 57.3 % (55.0 to 59.6)."""
        if isinstance(self.value, float) and math.isnan(self.value):
            return "–"
        if self.low == self.high:
            return cell_text(self.value) if isinstance(self.value, Elo) else f"{cell_text(self.value)} exactly"
        return f"{cell_text(self.value)} ({' to '.join(end_text(end) for end in (self.low, self.high))})"


@dataclass(frozen=True)
class Range:
    """An interval by itself; in JSON and CSV two values, `name_low` and `name_high`."""

    low: Any
    high: Any

    @property
    def text(self) -> str:
        """Such as +0.4 to +3.1."""
        if isinstance(self.low, float) and math.isnan(self.low):
            return "–"
        return "exact" if self.low == self.high else f"{end_text(self.low)} to {end_text(self.high)}"


@dataclass(frozen=True)
class WordedCell:
    """A sentence in tables; in JSON and CSV `value` under the column's name, and `details` as further columns."""

    text: str
    value: Any
    details: Mapping[str, Any]


def plain_number(value: Any) -> Any:
    """Return a cell's value for programs: an end of an interval that is open at no difference is no difference itself.

    >>> plain_number(Points(1e-9)), plain_number(Share(0.25)), plain_number("better")
    (0.0, 0.25, 'better')
    """
    if not isinstance(value, Share | Points | Elo):
        return value
    null = 0.5 if isinstance(value, Share) else 0.0
    return null if abs(value - null) < (_LEAST_ELO if isinstance(value, Elo) else _LEAST) else float(value)


def estimate_of(interval: HasEnds, kind: type[Number] = Share) -> Estimate:
    """Return an interval as a cell."""
    return Estimate(kind(interval.estimate), kind(interval.low), kind(interval.high))


def pluralise(number: int, thing: str) -> str:
    """Return a number with its noun.

    >>> pluralise(1, "pair"), pluralise(2000, "pair"), pluralise(3, "match")
    ('1 pair', '2,000 pairs', '3 matches')
    """
    return f"{number:,} {thing}{'' if number == 1 else 'es' if thing.endswith('ch') else 's'}"


def speed_words(rate: float) -> str:
    """Format games per second, or per minute if they are slow.

    >>> speed_words(1234.5), speed_words(0.05)
    ('1,234 games/s', '3 games/min')
    """
    return f"{rate:,.0f} games/s" if rate >= 1 else f"{60 * rate:.2g} games/min"


def time_words(seconds: float) -> str:
    """Format a duration in its largest unit of which there are at least two.

    >>> time_words(89.0), time_words(300.0)
    ('89 s', '5 min')
    """
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def join_names(names: Sequence[str]) -> str:
    """Join names in a sentence: all of them, or if they are many the first and the number of others; empty for none.

    >>> join_names(["ada"]), join_names(["ada", "ben"]), join_names(["ada", "ben", "cy"]), join_names("abcde")
    ('ada', 'ada and ben', 'ada, ben and cy', 'a and 4 others')
    """
    if len(names) > _ALL_NAMED:
        return f"{names[0]} and {len(names) - 1} others"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def cell_text(value: Any) -> str:
    """Return the text of a cell of this module, or of a plain number."""
    return str(value.text) if hasattr(value, "text") else f"{value:.4g}"


def end_text(value: Any) -> str:
    """Format an end of an interval; if it would be rounded to no difference, as above or below it.

    >>> end_text(Points(0.031)), end_text(Points(0.0003)), end_text(Share(0.49996))
    ('+3.1', 'above 0', 'below 50')
    """
    null = 0.5 if isinstance(value, Share) else 0.0
    is_rounded = isinstance(value, (Share, Points, Elo)) and cell_text(value) == cell_text(type(value)(null))
    if is_rounded and abs(value - null) > _NOISE:
        return f"{'above' if value > null else 'below'} {'50' if null else '0'}"
    return cell_text(value).removesuffix(" %").removesuffix(" ×")


def signed(value: float) -> str:
    """Format a difference with its sign, such as +5 or −5; zero has no sign."""
    return f"{value:+g}".replace("-", "−") if value else "0"
