"""Draw what the features count, and write docs/reference/features.md.

python examples/features.py
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from knights_isolation.heuristics import FEATURES, meaning
from knights_isolation.heuristics.features import MAX_DISTANCE, nearer_cells, reachable_cells
from knights_isolation.heuristics.game_protocol import Cells, Location
from knights_isolation.isolation import Annotations, Board, to_svg

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs" / "reference"
POSITION = (24, 16, 9, 29, 18, 14, 5, 23, 20, 28, 33, 15, 38, 30)
"""A middle game of 7x7, the cells as played."""


@click.command()
@click.option("--out", type=click.Path(path_type=Path), default=DOCS, help="The folder of documents.")
def main(out: Path) -> None:
    """Write the page and a picture for each feature."""
    pictures = out / "images" / "features"
    pictures.mkdir(parents=True, exist_ok=True)
    board = Board.from_moves(POSITION)
    rows = []
    for name, feature in FEATURES.items():
        (pictures / f"{name}.svg").write_text(picture(board, name), encoding="utf-8")
        rows.append((name, meaning(name), f"{feature(board, board.active_player):.3g}".replace("-", "−")))
    templates = Environment(
        loader=FileSystemLoader(HERE), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
    text = templates.get_template("features.md.jinja").render(rows=rows, jumps=MAX_DISTANCE)
    (out / "features.md").write_text(text, encoding="utf-8")
    click.echo(f"Wrote {out / 'features.md'}")


def picture(board: Board, name: str) -> str:
    """Draw the position as SVG: cells counted for the side to move in blue, cells counted against it in orange."""
    own, other = counted_cells(board, name)
    values = {board.width * row + column: 1.0 for row, column in own}
    values |= {board.width * row + column: -1.0 for row, column in other}
    return to_svg(board, marks=Annotations(legal=False, numbers=False, values=values, caption=name))


def counted_cells(board: Board, name: str) -> tuple[Iterable[Location], Iterable[Location]]:
    """Return the cells that a feature counts, for and against the side to move."""
    mover, waiter = board.active_player, board.inactive_player
    moves, replies = board.get_legal_moves(mover), board.get_legal_moves(waiter)
    if name.startswith("nearer_in_"):
        jumps = int(name[-1])
        outer, inner = nearer_cells(board, jumps), nearer_cells(board, jumps - 1) if jumps > 1 else ([], [])
        return outer[0] - inner[0], outer[1] - inner[1]
    if name in ("mobility", "cramped", "free", "late_mobility"):
        return moves, replies - moves
    if name in ("second_moves", "stranded"):
        own = board.reach(moves)
        return own, board.reach(replies) - own
    if name == "contested":
        return moves & replies, moves - moves
    if name == "ties":
        layers = [(_layer(board, mover, jumps), _layer(board, waiter, jumps)) for jumps in range(1, MAX_DISTANCE + 1)]
        return [cell for own, other in layers for cell in own & other], []
    if name in ("own_region", "own_walks"):
        own, other = reachable_cells(board, mover), reachable_cells(board, waiter)
        return own - other, other - own
    own, other = nearer_cells(board)
    if name == "edge":
        return _at_edge(board, own), _at_edge(board, other)
    if name == "centre":
        return _in_centre(board, own), _in_centre(board, other)
    return own, other


def _layer(board: Board, player: object, jumps: int) -> Cells:
    """Return the cells that a player reaches in exactly this number of jumps, and not in fewer."""
    cells = board.get_legal_moves(player)
    seen = cells
    for _ in range(jumps - 1):
        cells = board.reach(cells) - seen
        seen = seen | cells
    return cells


def _at_edge(board: Board, cells: Cells) -> list[Location]:
    last = (board.height - 1, board.width - 1)
    return [cell for cell in cells if 0 in cell or cell[0] == last[0] or cell[1] == last[1]]


def _in_centre(board: Board, cells: Cells) -> list[Location]:
    return [(r, c) for r, c in cells if 2 <= r < board.height - 2 and 2 <= c < board.width - 2]


if __name__ == "__main__":
    main()
