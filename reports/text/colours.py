"""Colours of verdicts on a terminal: green, red and dim, as in the report."""

from __future__ import annotations

import os

from click import style

_VERDICTS = ("verdict", "verdict before", "verdict after", "decision", "stands")
"""Headings of columns that contain verdicts."""
_GOOD, _BAD = ("better", "yes"), ("worse", "no ", "control differs")
_OPEN = ("no significant", "no difference")
"""Beginnings of neutral verdicts that start like bad ones."""


def coloured_verdict(heading: str, text: str) -> str:
    """Return a cell with the colour of its verdict, unless NO_COLOR is set; other cells are unchanged.

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
