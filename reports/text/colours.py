"""Colours of verdicts on a terminal: green, red and dim, as in the report."""

from __future__ import annotations

import os

from click import style

_VERDICTS = ("verdict", "verdict before", "verdict after", "decision", "stands")
"""The headings of columns that hold verdicts."""
_GOOD, _BAD = ("better", "yes"), ("worse", "no ", "control differs")
_OPEN = ("no significant", "no difference")
"""How verdicts begin that begin as bad ones do."""


def coloured_verdict(heading: str, text: str) -> str:
    """A cell as a terminal shows it: a verdict in its colour, unless NO_COLOR is set; anything else as it is.

    >>> coloured_verdict("verdict", "better ") != "better ", coloured_verdict("agent", "better")
    (True, 'better')
    """
    if heading not in _VERDICTS or not text.strip() or heading == text.strip() or os.environ.get("NO_COLOR"):
        return text
    if text.startswith(_GOOD) or "(H1)" in text:
        return style(text, fg="green")
    if (f"{text} ".startswith(_BAD) and not text.startswith(_OPEN)) or "(H0)" in text:
        return style(text, fg="red")
    return style(text, dim=True)
