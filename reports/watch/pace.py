"""Pace of a run: games a second, and the time left."""

from __future__ import annotations

from collections import deque

_WINDOW = 60.0
"""Seconds over which games are counted."""


class Pace:
    """Games played over the last minute, noted whenever somebody looks."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def words(self, now: float, played: int, total: int) -> str:
        """Note the games played at `now`, in seconds; return speed and time left, empty while no game is added.

        >>> pace = Pace()
        >>> pace.words(0.0, 10, 1000), pace.words(10.0, 110, 1000)
        ('', '10 games/s, about 89 s left')
        """
        if self._seen and played < self._seen[-1][1]:  # another run took the place
            self._seen.clear()
        self._seen.append((now, played))
        while len(self._seen) > 2 and now - self._seen[1][0] >= _WINDOW:
            self._seen.popleft()
        then, before = self._seen[0]
        if played == before or now == then:
            return ""
        rate = (played - before) / (now - then)
        left = f", about {time_words((total - played) / rate)} left" if total > played else ""
        return speed_words(rate) + left


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
