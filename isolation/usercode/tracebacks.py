"""Where in somebody's code an exception came from: what a player's author needs to mend it."""

from __future__ import annotations

import traceback
from contextlib import suppress

from isolation.usercode.user_exceptions import format_exception, to_one_line

MOST_FRAMES = 20
MOST_LINES = 60


def user_traceback(error: BaseException, folder: str) -> str:
    """The traceback from where the folder's code begins, its paths relative to the folder; empty if it has no part."""
    frames = _own_frames(error, folder)
    if not frames:
        return ""
    lines = ["Traceback (most recent call last):"]
    with suppress(Exception):  # whatever a source is that lies there
        for text in traceback.format_list(frames[:MOST_FRAMES]):
            lines += [_plain(line, folder) for line in text.splitlines()]
    if len(frames) > MOST_FRAMES:
        lines.append(f"  … and {len(frames) - MOST_FRAMES} calls more")
    return "\n".join([*lines[:MOST_LINES], format_exception(error)])


def _own_frames(error: BaseException, folder: str) -> list[traceback.FrameSummary]:
    """The calls from the first in a folder's file on, our own between them left out."""
    try:
        frames = traceback.extract_tb(error.__traceback__)
    except Exception:
        return []
    return [frame for frame in frames if frame.filename.startswith(f"{folder}/")]


def _plain(line: str, folder: str) -> str:
    indented = line[: len(line) - len(line.lstrip())]
    return indented + to_one_line(line.replace(f"{folder}/", ""))
