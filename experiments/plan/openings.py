"""Opening sets: random plies, all placement pairs, or a file; distinct positions, none finished.

An *opening* is the sequence of cells a game starts with; players 1 and 2 alternate, so its first two cells are their
placements. If the side to move has no move after it, it is a finished game, not an opening: it is ignored everywhere
and never counted. Two openings that reach the same position are one opening.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.games.pgn import read_pgn
from knights_isolation.isolation.rules.game import Size
from knights_isolation.isolation.rules.geometry import cells_of, full_mask, knight_masks, symmetries
from knights_isolation.isolation.rules.seeds import mixed

Cells = NDArray[np.int16]
Ids = NDArray[np.uint64]
Subset = Literal["any", "same", "other", "fit", "screen"]
"""Subset of openings: all; placements on cells of one colour, or of two; or one half, by `split_of`."""

ENUMERATED = 200_000
"""Number of ply sequences up to which openings are enumerated and drawn uniformly, instead of by random walks."""

_NOWHERE = -1
_WALKERS = 4096
_WALKED_CELLS = 10_000_000
_DRY_WALKS = 8


@dataclass(frozen=True)
class OpeningSet:
    """Distinct openings of one board, in playing order.

    `cells` holds one opening per row, padded at the end with -1 if openings differ in length. `population` is the
    number of existing openings of this kind on this board, or 0 if unknown.
    """

    size: Size
    cells: Cells
    population: int

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, index: int) -> tuple[int, ...]:
        row = self.cells[index]
        return tuple(int(cell) for cell in row[row != _NOWHERE])


def random_openings(size: Size, plies: int, count: int, seed: int, subset: Subset = "any") -> OpeningSet:
    """Draw at most `count` openings of `plies` random plies, without replacement and distinct as positions.

    If the board has few enough (`ENUMERATED`; two plies of 7x7 have 2,352), all positions are equally likely, and
    `population` is their number. Otherwise each is the end of a walk of uniformly random legal plies, and finished or
    duplicate ones are drawn again. Fewer than `count` are returned if the board has no more. A larger draw starts with
    the openings of a smaller one.

    Raises:
        ValueError: `plies` is negative, `count` is below 1, or the board has no such opening.
    """
    if plies < 0:
        raise ValueError(f"an opening must have at least 0 plies, not {plies}")
    if count < 1:
        raise ValueError(f"at least 1 opening required, not {count}")
    generator = np.random.default_rng(seed)
    every = _enumerate(size, plies)
    if every is None:
        drawn, population = _walk(size, plies, count, generator, subset), 0
    else:
        every = _of_subset(every, size, subset)
        drawn, population = generator.permutation(every)[:count], len(every)
    if not len(drawn):
        raise ValueError(
            f"a {size} board has no opening of {plies} plies{_DESCRIBED[subset]} after which the game continues: use "
            f"a larger board, or another number of plies"
        )
    return OpeningSet(size, drawn, population)


def placement_openings(size: Size, subset: Subset = "any") -> OpeningSet:
    """Return every pair of placements after which player 1 has a move, in row-major order: 2,352 of them on 7x7.

    Raises:
        ValueError: there are none, or there are too many to enumerate.
    """
    every = _enumerate(size, 2)
    if every is None:
        raise ValueError(f"a {size} board has more than {ENUMERATED:,} placement pairs; draw random openings instead")
    every = _of_subset(every, size, subset)
    if not len(every):
        raise ValueError(
            f"a {size} board has no placement pair{_DESCRIBED[subset]} that leaves player 1 a move: use a larger board"
        )
    return OpeningSet(size, every, len(every))


def file_openings(path: Path, size: Size, subset: Subset = "any") -> OpeningSet:
    """Read the openings of a text file: one per line, its cells as row-major integers separated by commas or spaces.

    Empty lines and text after `#` are ignored. For a file of games, `.pgn`, the opening of each game counts: the one
    that its tags state, the whole of a game without a result, or else the placements. Duplicate positions count once.

    Raises:
        ValueError: the file cannot be read, or a line is not a legal opening of this board.
    """
    openings = []
    for number, cells in _of_games(path, size) if path.suffix == ".pgn" else _of_lines(path):
        try:
            openings.append(check_opening([_cell(cell) for cell in cells], size))
        except ValueError as error:
            raise ValueError(f"{path}:{number}: {error}") from None
    if not openings:
        raise ValueError(f"{path}: no openings in this file")
    chosen = _of_subset(_distinct(padded(openings), size), size, subset)
    if not len(chosen):
        raise ValueError(f"{path}: no openings in this file{_DESCRIBED[subset]}")
    return OpeningSet(size, chosen, _population_like(chosen, size, subset))


def _of_lines(path: Path) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the number and the words of each line with an opening."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise ValueError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise ValueError(f"{path}: cannot read openings: {why}") from None
    for number, line in enumerate(lines, start=1):
        if words := line.partition("#")[0].replace(",", " ").split():
            yield number, words


def _of_games(path: Path, size: Size) -> Iterator[tuple[int, Sequence[int]]]:
    """Yield the line and the opening of each game."""
    for game in read_pgn(path):
        if game.size != size:
            raise ValueError(f"{path}:{game.line}: the game is on {game.size}, not on {size}")
        yield game.line, game.opening


def check_opening(cells: Sequence[int], size: Size) -> tuple[int, ...]:
    """Validate an opening and return it as a tuple of cells.

    Raises:
        ValueError: it is not a sequence of legal plies on this board, or it ends the game; the message names the ply.
    """
    near = knight_masks(*size)
    visited, locations = 0, [_NOWHERE, _NOWHERE]
    for ply, cell in enumerate(cells):
        if not 0 <= cell < size.cells:
            raise ValueError(f"ply {ply + 1}: a {size} board has no cell {cell}, only 0 to {size.cells - 1}")
        if visited >> cell & 1:
            raise ValueError(f"ply {ply + 1}: cell {cell} is already visited")
        if ply > 1 and not near[locations[ply % 2]] >> cell & 1:
            raise ValueError(f"ply {ply + 1}: cell {cell} is not a knight's move from cell {locations[ply % 2]}")
        locations[ply % 2] = cell
        visited |= 1 << cell
    to_move = locations[len(cells) % 2]
    blank = ~visited & full_mask(*size)
    if not blank & (near[to_move] if to_move != _NOWHERE else blank):
        raise ValueError(f"the opening ends the game: player {len(cells) % 2 + 1} has no move after it")
    return tuple(int(cell) for cell in cells)


def opening_ids(cells: Cells, size: Size) -> Ids:
    """Return a 63-bit id of the position after each opening, the same in every run and on every machine."""
    return _last(cells, _hashes(cells, _position_keys(size)))


def orbit_ids(cells: Cells, size: Size) -> Ids:
    """Return a 63-bit id of the position after each opening, up to the symmetries of the board.

    Symmetric openings (by rotation or reflection) share it, and are best treated as one cluster.
    """
    return _last(cells, orbit_ids_by_ply(cells, size))


def distinct_positions(games: Sequence[Sequence[int]], size: Size) -> NDArray[np.int64]:
    """Return the indices of the first game that leads to each position, up to symmetry, in ascending order."""
    if not games:
        return np.empty(0, np.int64)
    return np.sort(np.unique(orbit_ids(padded(games), size), return_index=True)[1])


def orbit_ids_by_ply(cells: Cells, size: Size) -> Ids:
    """Return the `orbit_ids` of all positions of games, one row per game: at the start and after every ply.

    Column p is the position after p plies; it is 0 if the game, padded with -1, was over before.
    """
    keys = _position_keys(size)
    images = (np.append(np.array(image, np.int16), np.int16(_NOWHERE)) for image in symmetries(*size))
    smallest: Ids = reduce(np.minimum, (_hashes(image[cells], keys) for image in images))
    smallest[:, 1:][cells == _NOWHERE] = 0
    return smallest


def colour_roles(cells: Cells, size: Size) -> NDArray[np.int8]:
    """For each opening, 0 if both placements are on cells of one colour, 1 if not, 2 if a placement is missing."""
    if cells.shape[1] < 2:
        return np.full(len(cells), 2, np.int8)
    columns = size.columns
    row, column = np.divmod(cells[:, :2].astype(np.int64), columns)
    differ = ((row + column).sum(axis=1) % 2).astype(np.int8)
    return np.where((cells[:, :2] == _NOWHERE).any(axis=1), np.int8(2), differ)


def split_of(orbits: Ids) -> NDArray[np.str_]:
    """Return the half, fit or screen, that openings belong to. It depends only on their `orbit_ids`."""
    return np.where(mixed(orbits) & np.uint64(1), "fit", "screen")


_DESCRIBED: dict[Subset, str] = {
    "any": "",
    "same": " with placements on cells of the same colour",
    "other": " with placements on cells of another colour",
    "fit": " in the half for fitting",
    "screen": " in the held-out half",
}


def _cell(word: str | int) -> int:
    try:
        return int(word)
    except ValueError:
        raise ValueError(f"a cell must be a row-major whole number, not {word!r}") from None


def padded(openings: Sequence[Sequence[int]]) -> Cells:
    """Return openings as rows of cells, padded at the end with -1."""
    longest = max(len(opening) for opening in openings)
    rows: Cells = np.full((len(openings), longest), _NOWHERE, np.int16)
    for row, opening in zip(rows, openings, strict=True):
        row[: len(opening)] = opening
    return rows


def _of_subset(cells: Cells, size: Size, subset: Subset) -> Cells:
    if subset == "any":
        return cells
    is_half = subset in ("fit", "screen")
    kind = split_of(orbit_ids(cells, size)) if is_half else np.array(["same", "other", ""])[colour_roles(cells, size)]
    chosen: Cells = cells[kind == subset]
    return chosen


def _distinct(cells: Cells, size: Size) -> Cells:
    first = np.unique(opening_ids(cells, size), return_index=True)[1]
    return cells[np.sort(first)]


def _population_like(cells: Cells, size: Size, subset: Subset) -> int:
    """Return the number of openings of the length and subset of these, if they share one length; otherwise 0."""
    lengths = np.unique((cells != _NOWHERE).sum(axis=1))
    every = _enumerate(size, int(lengths[0])) if len(lengths) == 1 else None
    return 0 if every is None else len(_of_subset(every, size, subset))


def _enumerate(size: Size, plies: int) -> Cells | None:
    """Return every unfinished position after `plies` plies, one opening each; None if there are too many sequences."""
    if plies >= 2 and size.cells * (size.cells - 1) > ENUMERATED:
        return None
    sequences = _sequences(size, plies)
    return None if sequences is None else _distinct(sequences, size)


def _walk(size: Size, plies: int, count: int, generator: np.random.Generator, subset: Subset) -> Cells:
    """Collect distinct ends of uniformly random walks, until `count`, or until thousands in a row lead nowhere new."""
    most = max(1, _WALKED_CELLS // size.cells)
    openings = np.empty((0, plies), np.int16)
    dry = 0
    while len(openings) < count and dry < _DRY_WALKS:
        before = len(openings)
        walks = _sequences(size, plies, min(most, max(_WALKERS, before)), generator)
        assert walks is not None
        openings = _distinct(np.concatenate([openings, _of_subset(walks, size, subset)]), size)
        dry = 0 if len(openings) > before else dry + 1
    return openings[:count]


def _sequences(size: Size, plies: int, walkers: int = 1, generator: np.random.Generator | None = None) -> Cells | None:
    """Return all sequences of legal plies that do not end the game, or with a generator as many random walks.

    None if there are more than `ENUMERATED`; walks that end before are left out.
    """
    targets, cells = _targets(size), np.empty((walkers, 0), np.int16)
    blank = np.ones((walkers, size.cells + 1), bool)
    blank[:, -1] = False  # for the padding -1 of the targets
    for _ in range(plies):
        choices, legal = _choices(cells, blank, targets)
        if generator:
            row = np.flatnonzero(legal.any(axis=1))
            rank = (generator.random(len(row)) * legal[row].sum(axis=1)).astype(np.int64)
            choice = (legal[row].cumsum(axis=1, dtype=np.int32) <= rank[:, None]).sum(axis=1)
        else:
            row, choice = np.nonzero(legal)
            if len(row) > ENUMERATED:
                return None
        cells, blank = np.column_stack([cells[row], choices[row, choice]]), blank[row]
        blank[np.arange(len(blank)), cells[:, -1]] = False
    return cells[_choices(cells, blank, targets)[1].any(axis=1)]


def _choices(cells: Cells, blank: NDArray[np.bool_], targets: Cells) -> tuple[Cells, NDArray[np.bool_]]:
    """Return, for each row, the candidate cells of the side to move, and a mask of the legal ones."""
    if cells.shape[1] < 2:
        everywhere = np.broadcast_to(np.arange(len(targets), dtype=np.int16), (len(cells), len(targets)))
        return everywhere, blank[:, :-1]
    near = targets[cells[:, -2]]
    return near, np.take_along_axis(blank, near.astype(np.int64), axis=1)


def _targets(size: Size) -> Cells:
    """Return the cells a knight's move away from each cell, padded with -1 to eight."""
    return padded([[*cells_of(mask)] + [_NOWHERE] * 8 for mask in knight_masks(*size)])[:, :8]


def _position_keys(size: Size) -> Callable[[int], NDArray[np.uint64]]:
    """Return tables of random keys (Zobrist, 1970): 0 for visited cells, 1 and 2 for players' cells; [-1] is 0."""
    rows, columns = size
    cells = np.arange(rows * columns, dtype=np.uint64)

    def table(kind: int) -> NDArray[np.uint64]:
        start = np.uint64(kind << 48 | rows << 32 | columns << 16)
        return np.append(mixed(mixed(np.full(len(cells), start)) ^ cells), np.uint64(0))

    return table


def _hashes(cells: Cells, table: Callable[[int], NDArray[np.uint64]]) -> Ids:
    """Return ids of the positions at the start and after every ply, one row per game.

    Each is the exclusive or of the position's keys: visited cells, both players' cells, and the side to move.
    """
    plies = cells.shape[1]
    hashes = np.full((len(cells), plies + 1), mixed(table(3)[:1])[0], np.uint64)
    hashes[:, 1:] ^= np.bitwise_xor.accumulate(table(0)[cells], axis=1)
    hashes ^= mixed((np.arange(plies + 1) % 2).astype(np.uint64))
    for ply in range(plies):
        stands = table(1 + ply % 2)[cells[:, ply]]
        hashes[:, ply + 1 : ply + 3] ^= stands[:, None]
    return mixed(hashes) >> np.uint64(1)


def _last(cells: Cells, ids: Ids) -> Ids:
    """Return of the ids by ply the one of each opening's last position."""
    last: Ids = ids[np.arange(len(cells)), (cells != _NOWHERE).sum(axis=1)]
    return last
