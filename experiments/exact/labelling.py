"""Label the moves of a run with exact values, into its `labels.parquet`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import chain, starmap
from pathlib import Path

import numpy as np

from knights_isolation.isolation.compiling.specialise import native_function
from knights_isolation.isolation.files.atomic_write import sweep, written_often
from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.game import MOST_COMPILED_CELLS, ON_THE_BOARD, Limit, Size
from knights_isolation.isolation.rules.seeds import mixed
from knights_isolation.isolation.search.solver import SearchBudget, known_value, order_moves, value

from ..plan.run_keeping import locked
from ..play.parallel_map import parallel_map
from ..record import log
from ..record.checked_parquet import write_parquet
from ..record.columns import Table, codes, concatenate, lists, numbers, table_of, take, where
from ..record.run_directory import LABELS_FILE
from .labels import PER_PLY, SCHEMA, check_fit, read_file

DEFAULT_LIMIT = Limit(nodes=20_000_000)
"""Limit per position: about a third of a second. All moves of a 7x7 placement pair take five million nodes."""
LEAST_DECIDED = 0.25
"""If the limit decides a smaller share of the first games' positions than this, the board counts as out of reach."""

_MADE = b"isolation.labels"
_BATCH = 10
_GIVE_UP_AFTER = 2

Ply = tuple[int, int, int, int]
"""Labels of a ply: value, winning, legal, kept."""


class UnsolvableRunError(ValueError):
    """Hardly any position of a run can be solved within the limit."""


def label_run(
    run: str | Path,
    *,
    sample: int | None = None,
    forfeits: bool = True,
    first_ply: int = 0,
    limit: Limit = DEFAULT_LIMIT,
    jobs: int = 1,
    cluster: str | None = None,
    show: Callable[[int, int], None] = lambda labelled, games: None,
) -> int:
    """Label the games of a run that have no labels yet, and return how many of the requested games have labels now.

    The file is rewritten as a whole every few seconds, so an interrupted call loses little work.

    Args:
        sample: label only this many random games; a larger sample contains the smaller ones.
        forfeits: also label games that were not decided on the board, many of which ended early.
        first_ply: skip the plies before this one (the first placement is ply 0); they take most of the time.
        limit: nodes or time for each position.
        jobs, cluster: see `parallel_map`.
        show: called with the number of labelled games and of requested games.

    Raises:
        ValueError: there is no such run or it has no games, existing labels were made with other settings, the board is
            out of reach of the limit, or another process is writing to the run.
    """
    games = log.read_table(run, ("game_id", "rows", "columns", "opening", "opening_id", "moves", "plies", "reason"))
    decided = games if forfeits else where(games, codes(games, "reason", ON_THE_BOARD) >= 0)
    table = _sampled(decided, sample)
    size = _size(run, table)
    SearchBudget(limit)
    path, marked = Path(run) / LABELS_FILE, {_MADE: f"first_ply={first_ply} {limit}".encode()}
    with locked(Path(run)):
        sweep(path)
        labels = _resumed(path, marked)
        check_fit(run, labels, games)
        # games of the same opening share a batch, and the values of positions that are known there
        missing = where(table, ~np.isin(numbers(table, "game_id"), numbers(labels, "game_id"))).sort_by("opening_id")
        calls = [(missing.slice(start, _BATCH), first_ply, size, limit) for start in range(0, len(missing), _BATCH)]
        done = len(table) - len(missing)

        def write() -> None:
            if len(labels):
                write_parquet(path, labels.sort_by("game_id").replace_schema_metadata(marked))

        show(done, len(table))
        if calls:  # compile here once, so that the workers find the code in the cache
            native_function("solve", None, *size)
        with written_often(write) as look:
            others = parallel_map(_label_batch, calls[1:], jobs, cluster) if calls[1:] else ()
            # the first batch by itself: it may show that the board is out of reach
            for batch in chain(starmap(_label_batch, calls[:1]), others):
                if not len(labels):
                    _check_reach(run, batch, size, limit)
                labels = concatenate([labels, batch], SCHEMA)
                done += len(batch)
                show(done, len(table))
                look()
    return done


def label_moves(
    moves: Sequence[int], first: int, size: Size, limit: Limit, known: dict[Hashable, bool] | None = None
) -> list[Ply]:
    """Label a game's plies, from the last to the first; plies before `first` are skipped.

    After two positions in a row that the limit leaves unknown, the earlier ones are not tried.

    Args:
        known: cache of known position values, shared between games; new values are added.
    """
    known = {} if known is None else known
    board = Board.from_moves(moves, size)
    plies: list[Ply] = []
    unknown = 0
    while board.move_count > first:
        played = board.undo()
        out_of_reach = unknown == _GIVE_UP_AFTER
        ply = (-1, -1, len(board.legal_cells()), -1) if out_of_reach else _label(board, played, limit, known)
        unknown = min(unknown + 1, _GIVE_UP_AFTER) if ply[0] < 0 else 0
        plies.append(ply)
    return [(-1, -1, -1, -1)] * (len(moves) - len(plies)) + plies[::-1]


def label_table(game_ids: Sequence[int], labels: Sequence[Sequence[Ply]]) -> Table:
    """Return the labels that `label_moves` made for some games as rows of the file."""
    columns = {name: [[ply[index] for ply in plies] for plies in labels] for index, name in enumerate(PER_PLY)}
    return table_of({"game_id": list(game_ids), **columns}, SCHEMA)


def _label(board: Board, played: int, limit: Limit, known: dict[Hashable, bool]) -> Ply:
    meter, at_once = SearchBudget(limit), known_value(board)
    if at_once is False:
        return 0, 0, len(board.legal_cells()), -1
    keeps: dict[int, bool | None] = {}
    for cell in order_moves(board):
        child = board.successor(cell)
        position = (child.blank, child.locations)
        if position not in known and (wins := value(child, meter)) is not None:
            known[position] = wins
        keeps[cell] = not known[position] if position in known else None
    is_won, kept = at_once or any(keeps.values()), keeps[played]
    code = -1 if kept is None or not is_won else int(kept)
    if None in keeps.values():
        return int(is_won) or -1, -1, len(keeps), code
    return int(is_won), sum(map(bool, keeps.values())), len(keeps), code


def _label_batch(games: Table, first_ply: int, size: Size, limit: Limit) -> Table:
    known: dict[Hashable, bool] = {}
    rows = games.to_pylist()
    labels = [label_moves(row["moves"], max(first_ply, len(row["opening"])), size, limit, known) for row in rows]
    return label_table([row["game_id"] for row in rows], labels)


def _sampled(games: Table, sample: int | None) -> Table:
    """Return a pseudo-random sample of games, in an order that depends on their ids alone."""
    if sample is None or sample >= len(games):
        return games
    if sample < 1:
        raise ValueError(f"the sample must have at least 1 game, not {sample}")
    order = np.argsort(mixed(numbers(games, "game_id").astype(np.uint64)), kind="stable")
    return take(games, order[:sample])


def _size(run: str | Path, games: Table) -> Size:
    if not len(games):
        raise ValueError(f"{run} has no games to label")
    sizes = {Size(*pair) for pair in zip(games["rows"].to_pylist(), games["columns"].to_pylist(), strict=True)}
    if len(sizes) > 1:
        raise ValueError(f"{run} has games on boards of several sizes: {', '.join(sorted(map(str, sizes)))}")
    (size,) = sizes
    if size.cells > MOST_COMPILED_CELLS:
        raise ValueError(
            f"{run}: {size} is too large for exact values; the solver supports up to {MOST_COMPILED_CELLS} cells"
        )
    return size


def _check_reach(run: str | Path, batch: Table, size: Size, limit: Limit) -> None:
    asked, decided = (int((lists(batch, name)[0] >= 0).sum()) for name in ("legal", "value"))
    if not asked:
        raise UnsolvableRunError(f"{run}: the first games end before the first ply to label: lower --first-ply")
    if decided < LEAST_DECIDED * asked:
        raise UnsolvableRunError(
            f"{run}: with {limit} only {decided} of the first {asked} positions on {size} can be solved: raise "
            f"--limit or start at a later ply (--first-ply)"
        )


def _resumed(path: Path, marked: dict[bytes, bytes]) -> Table:
    labels = read_file(path) if path.exists() else SCHEMA.empty_table().replace_schema_metadata(marked)
    before, made = ((table or {}).get(_MADE, b"").decode() for table in (labels.schema.metadata, marked))
    if before != made:
        raise ValueError(f"{path} was made with {before}, not with {made}: delete it and label again")
    return labels.replace_schema_metadata(None)
