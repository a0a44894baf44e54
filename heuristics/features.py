"""Features: small scores to weight in composites and fits.

Each is an evaluation function, usable by name like any other: the player's count minus the opponent's. Features that
favour the side to move count for the player to move and against the other. A player's *nearer* cells are those within
five jumps that it reaches in fewer jumps than the other, or in equally many if it moves first.
"""

from __future__ import annotations

from math import sqrt

from .game_protocol import Cells, Game, Heuristic, Player

MAX_DISTANCE = 5
"""Largest distance of nearer cells, in jumps."""


def nearer_cells(game: Game, jumps: int = MAX_DISTANCE) -> tuple[Cells, Cells]:
    """Return the cells nearer to the player to move and those nearer to the waiting player, within `jumps` jumps."""
    movers = game.get_legal_moves(game.active_player)
    waiters = game.get_legal_moves(game.inactive_player) - movers
    for _ in range(jumps - 1):
        movers = movers | game.reach(movers) - waiters
        waiters = waiters | game.reach(waiters) - movers
    return movers, waiters


# --- distance layers ----------------------------------------------------------------------------------------------


def nearer(game: Game, player: Player) -> float:
    """Cells nearer to the player minus those nearer to the opponent."""
    movers, waiters = nearer_cells(game)
    return _for_player(game, player, float(len(movers) - len(waiters)))


def nearer_in_1(game: Game, player: Player) -> float:
    """Nearer cells one jump away."""
    return _in_layer(game, player, 1)


def nearer_in_2(game: Game, player: Player) -> float:
    """Nearer cells two jumps away."""
    return _in_layer(game, player, 2)


def nearer_in_3(game: Game, player: Player) -> float:
    """Nearer cells three jumps away."""
    return _in_layer(game, player, 3)


def nearer_in_4(game: Game, player: Player) -> float:
    """Nearer cells four jumps away."""
    return _in_layer(game, player, 4)


def nearer_in_5(game: Game, player: Player) -> float:
    """Nearer cells five jumps away."""
    return _in_layer(game, player, 5)


def ties(game: Game, player: Player) -> float:
    """Cells that both players reach in the same number of jumps, counted for the player to move."""
    movers = own = game.get_legal_moves(game.active_player)
    waiters = other = game.get_legal_moves(game.inactive_player)
    shared = len(own & other)
    for _ in range(MAX_DISTANCE - 1):
        taken = movers | waiters
        own, other = game.reach(own) - taken, game.reach(other) - taken
        shared += len(own & other)
        movers, waiters = movers | own, waiters | other
    return _for_player(game, player, float(shared))


# --- moves --------------------------------------------------------------------------------------------------------


def mobility(game: Game, player: Player) -> float:
    """Number of moves."""
    return _difference(game, player, _moves)


def cramped(game: Game, player: Player) -> float:
    """1 with fewer than two moves, else 0."""
    return _difference(game, player, _is_cramped)


def free(game: Game, player: Player) -> float:
    """1 with more than three moves, else 0."""
    return _difference(game, player, _is_free)


def contested(game: Game, player: Player) -> float:
    """Cells that both players could move to now, counted for the player to move."""
    shared = game.get_legal_moves(game.active_player) & game.get_legal_moves(game.inactive_player)
    return _for_player(game, player, float(len(shared)))


def second_moves(game: Game, player: Player) -> float:
    """Cells that can be reached with the second move."""
    return _difference(game, player, _second_moves)


def stranded(game: Game, player: Player) -> float:
    """1 if no move follows the next one, else 0."""
    return _difference(game, player, _is_stranded)


# --- connections between nearer cells -----------------------------------------------------------------------------


def links(game: Game, player: Player) -> float:
    """Links within nearer cells: pairs of cells a knight's move apart."""
    movers, waiters = nearer_cells(game)
    return _for_player(game, player, float(game.links(movers) - game.links(waiters)))


def link_roots(game: Game, player: Player) -> float:
    """Square root of the number of links within nearer cells: the first links count most."""
    movers, waiters = nearer_cells(game)
    return _for_player(game, player, sqrt(game.links(movers)) - sqrt(game.links(waiters)))


def links_a_cell(game: Game, player: Player) -> float:
    """Links per nearer cell: how well the nearer cells are connected, whatever their number."""
    movers, waiters = nearer_cells(game)
    return _for_player(game, player, _links_a_cell(game, movers) - _links_a_cell(game, waiters))


def dead_ends(game: Game, player: Player) -> float:
    """Nearer cells with at most one link to other nearer cells: a walk can only end there."""
    movers, waiters = nearer_cells(game)
    return _for_player(game, player, float(_dead_ends(game, movers) - _dead_ends(game, waiters)))


def cut_cells(game: Game, player: Player) -> float:
    """Nearer cells whose loss would make other nearer cells unreachable."""
    movers, waiters = nearer_cells(game)
    first_movers = game.get_legal_moves(game.active_player) & movers
    first_waiters = game.get_legal_moves(game.inactive_player) & waiters
    return _for_player(game, player, float(_cuts(game, first_movers, movers) - _cuts(game, first_waiters, waiters)))


def walks(game: Game, player: Player) -> float:
    """Longest walk that the colours of nearer cells allow: a knight changes colour with every move."""
    movers, waiters = nearer_cells(game)
    return _for_player(
        game, player, float(_walk(game, game.active_player, movers) - _walk(game, game.inactive_player, waiters))
    )


def imbalance(game: Game, player: Player) -> float:
    """Surplus of nearer cells of one colour over the other: a walk has to leave such cells out."""
    movers, waiters = nearer_cells(game)
    return _for_player(game, player, float(_imbalance(movers) - _imbalance(waiters)))


# --- regions out of the opponent's reach --------------------------------------------------------------------------


def own_region(game: Game, player: Player) -> float:
    """Cells that the opponent can never reach."""
    own, other = reachable_cells(game, player), reachable_cells(game, game.get_opponent(player))
    return float(len(own - other) - len(other - own))


def own_walks(game: Game, player: Player) -> float:
    """Longest walk that the colours of the player's region allow, once the players are separated; 0 before."""
    opponent = game.get_opponent(player)
    own, other = reachable_cells(game, player), reachable_cells(game, opponent)
    if own & other:
        return 0.0
    return float(_walk(game, player, own) - _walk(game, opponent, other))


# --- location and phase -------------------------------------------------------------------------------------------


def edge(game: Game, player: Player) -> float:
    """Nearer cells at the edge of the board."""
    movers, waiters = nearer_cells(game)
    return _for_player(game, player, float(_at_edge(game, movers) - _at_edge(game, waiters)))


def centre(game: Game, player: Player) -> float:
    """Nearer cells at least two cells away from every edge."""
    movers, waiters = nearer_cells(game)
    return _for_player(game, player, float(_in_centre(game, movers) - _in_centre(game, waiters)))


def late_nearer(game: Game, player: Player) -> float:
    """Nearer cells, times the filled share of the board."""
    return nearer(game, player) * _filled(game)


def late_links(game: Game, player: Player) -> float:
    """Links within nearer cells, times the filled share of the board."""
    return links(game, player) * _filled(game)


def late_mobility(game: Game, player: Player) -> float:
    """Number of moves, times the filled share of the board."""
    return mobility(game, player) * _filled(game)


FEATURES: dict[str, Heuristic] = {
    function.__name__: function
    for function in (
        nearer, nearer_in_1, nearer_in_2, nearer_in_3, nearer_in_4, nearer_in_5, ties,
        mobility, cramped, free, contested, second_moves, stranded,
        links, link_roots, links_a_cell, dead_ends, cut_cells, walks, imbalance,
        own_region, own_walks,
        edge, centre, late_nearer, late_links, late_mobility,
    )
}  # fmt: skip
"""All features by name, in the order of the documentation."""


def _for_player(game: Game, player: Player, value: float) -> float:
    """Return a value for the player to move as `player` sees it."""
    return value if player == game.active_player else -value


def _difference(game: Game, player: Player, count) -> float:  # type: ignore[no-untyped-def]
    return float(count(game, player) - count(game, game.get_opponent(player)))


def _moves(game: Game, player: Player) -> int:
    return len(game.get_legal_moves(player))


def _is_cramped(game: Game, player: Player) -> int:
    return 1 if len(game.get_legal_moves(player)) < 2 else 0


def _is_free(game: Game, player: Player) -> int:
    return 1 if len(game.get_legal_moves(player)) > 3 else 0


def _second_moves(game: Game, player: Player) -> int:
    return len(game.reach(game.get_legal_moves(player)))


def _is_stranded(game: Game, player: Player) -> int:
    return 0 if game.reach(game.get_legal_moves(player)) else 1


def _in_layer(game: Game, player: Player, jumps: int) -> float:
    movers, waiters = nearer_cells(game, jumps)
    value = len(movers) - len(waiters)
    if jumps > 1:
        movers, waiters = nearer_cells(game, jumps - 1)
        value -= len(movers) - len(waiters)
    return _for_player(game, player, float(value))


def _links_a_cell(game: Game, cells: Cells) -> float:
    return game.links(cells) / (len(cells) + 1)


def _dead_ends(game: Game, cells: Cells) -> int:
    count = 0
    for cell in cells:
        count += len(game.reach((cell,)) & cells) < 2
    return count


def _cuts(game: Game, first: Cells, cells: Cells) -> int:
    """Return how many cells disconnect others from the `first` cells when removed."""
    count = 0
    for cut in cells:
        reached = first
        further = cells
        while further:
            further = game.reach([cell for cell in reached if cell != cut]) & cells - reached
            reached = reached | further
        count += len(reached) < len(cells)
    return count


def _walk(game: Game, player: Player, cells: Cells) -> int:
    """Bound the player's longest walk over `cells` by their colours, which alternate from the other colour on."""
    location = game.get_player_location(player)
    if location is None:
        return 0
    other = 0
    for row, column in cells:
        other += (row + column + location[0] + location[1]) % 2
    return min(2 * other, 2 * (len(cells) - other) + 1)


def _imbalance(cells: Cells) -> int:
    odd = 0
    for row, column in cells:
        odd += (row + column) % 2
    return abs(len(cells) - 2 * odd)


def reachable_cells(game: Game, player: Player) -> Cells:
    """Return all cells that a player could ever reach."""
    cells = game.get_legal_moves(player)
    for _ in range(game.width * game.height):
        further = game.reach(cells) - cells
        if not further:
            break
        cells = cells | further
    return cells


def _at_edge(game: Game, cells: Cells) -> int:
    count = 0
    for row, column in cells:
        count += row == 0 or column == 0 or row == game.height - 1 or column == game.width - 1
    return count


def _in_centre(game: Game, cells: Cells) -> int:
    count = 0
    for row, column in cells:
        count += 2 <= row < game.height - 2 and 2 <= column < game.width - 2
    return count


def _filled(game: Game) -> float:
    return 1 - len(game.get_blank_spaces()) / (game.width * game.height)
