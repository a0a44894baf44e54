"""A position as text or as pictures. What pictures need is loaded only for them: most look at text."""

from __future__ import annotations

from pathlib import Path

from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.drawing import to_svg, to_text

from ..text.rendering import speaks_ascii_only


def position_shown(board: Board, ascii_only: bool, svg: str | Path | None, png: str | Path | None) -> str:
    """Return a position as text, or write its picture into files and return their names."""
    if svg:
        Path(svg).write_text(to_svg(board), encoding="utf-8")
    if png:
        from .board_images import write_png

        write_png(Path(png), board)
    written = [f"Wrote {path}" for path in (svg, png) if path]
    return "\n".join(written) or to_text(board, ascii_only or speaks_ascii_only())
