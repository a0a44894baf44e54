"""Evaluation functions: by moves, by places, and `learned`, the best so far.

Near the edges, a move counts by its nearness to the middle rows and columns, with h = height / 2 and w = width / 2.
"""

from __future__ import annotations

from typing import Annotated

from annotated_types import Interval

from .features import nearer_cells
from .game_protocol import Game, Location, Player


def null(game: Game, player: Player) -> float:
    """Won and lost positions only; 0 in all others."""
    return game.utility(player)


def open_moves(game: Game, player: Player) -> float:
    """Number of the player's moves."""
    if over := game.utility(player):
        return over
    return float(len(game.get_legal_moves(player)))


def improved(game: Game, player: Player) -> float:
    """Number of the player's moves minus the opponent's."""
    if over := game.utility(player):
        return over
    own = game.get_legal_moves(player)
    opp = game.get_legal_moves(game.get_opponent(player))
    return float(len(own) - len(opp))


def center(game: Game, player: Player) -> float:
    """Squared distance from the middle of the board, (height/2, width/2); 0 before the player is on the board."""
    if over := game.utility(player):
        return over
    location = game.get_player_location(player)
    if location is None:
        return 0.0
    row, column = location
    return float((game.height / 2 - row) ** 2 + (game.width / 2 - column) ** 2)


def net_advantage(game: Game, player: Player) -> float:
    """Own moves minus the opponent's; while waiting, own moves that the opponent could take first do not count."""
    if over := game.utility(player):
        return over
    own = game.get_legal_moves(player)
    opp = game.get_legal_moves(game.get_opponent(player))
    if player == game.active_player:
        return float(len(own) - len(opp))
    return float(len(own - opp) - len(opp))


def net_mobility(game: Game, player: Player) -> float:
    """Side with more moves: +2 or -1 for the player to move, +1 or -2 for the waiting player, 0 if equal."""
    if over := game.utility(player):
        return over
    own = len(game.get_legal_moves(player))
    opp = len(game.get_legal_moves(game.get_opponent(player)))
    if own == opp:
        return 0.0
    if player == game.active_player:
        return 2.0 if own > opp else -1.0
    return 1.0 if own > opp else -2.0


def mobility_filled(game: Game, player: Player) -> float:
    """Own moves minus the opponent's, times the number of filled cells."""
    if over := game.utility(player):
        return over
    own = game.get_legal_moves(player)
    opp = game.get_legal_moves(game.get_opponent(player))
    filled = game.width * game.height - len(game.get_blank_spaces())
    return float((len(own) - len(opp)) * filled)


def mobility_filled_half(game: Game, player: Player) -> float:
    """Own moves minus the opponent's, times half the number of filled cells."""
    if over := game.utility(player):
        return over
    own = game.get_legal_moves(player)
    opp = game.get_legal_moves(game.get_opponent(player))
    filled = game.width * game.height - len(game.get_blank_spaces())
    return (len(own) - len(opp)) * filled * 0.5


def late_own(game: Game, player: Player) -> float:
    """Own moves minus the opponent's; own moves only once 80 % of the board is filled."""
    if over := game.utility(player):
        return over
    own = len(game.get_legal_moves(player))
    cells = game.width * game.height
    filled = cells - len(game.get_blank_spaces())
    if filled / cells < 0.8:
        return float(own - len(game.get_legal_moves(game.get_opponent(player))))
    return float(own)


def two_step_mobility(game: Game, player: Player) -> float:
    """Two-move paths of the player minus the opponent's; a cell counts once for each path that leads to it."""
    if over := game.utility(player):
        return over
    return float(_two_step_paths(game, player) - _two_step_paths(game, game.get_opponent(player)))


def _two_step_paths(game: Game, player: Player) -> int:
    paths = 0
    for cell in game.get_legal_moves(player):
        paths += len(game.reach((cell,)))
    return paths


def accessibility(game: Game, player: Player) -> float:
    """+1 near the middle of the board, -1 far from it, 0 between; 0 before the player is on the board."""
    if over := game.utility(player):
        return over
    middle = (round(game.height / 2), round(game.width / 2))
    distance = _hops(game.get_player_location(player), middle)
    threshold = round(middle[0] / 2)
    if distance < 0 or distance == threshold:
        return 0.0
    return 1.0 if distance < threshold else -1.0


def proximity(game: Game, player: Player) -> float:
    """Minus the distance between the players, in steps of two cells; 0 until both are on the board."""
    if over := game.utility(player):
        return over
    distance = _hops(game.get_player_location(player), game.get_player_location(game.get_opponent(player)))
    return float(-max(distance, 0))


def offensive(game: Game, player: Player) -> float:
    """+1 for the player to move and -1 for the waiting player if both could move to the same cell, else 0."""
    if over := game.utility(player):
        return over
    if not game.get_legal_moves(player) & game.get_legal_moves(game.get_opponent(player)):
        return 0.0
    return 1.0 if player == game.active_player else -1.0


def _hops(a: Location | None, b: Location | None) -> int:
    """Return the larger of the row and column distances, halved and rounded down; -1 if either location is None."""
    if a is None or b is None:
        return -1
    return max(abs(a[0] - b[0]), abs(a[1] - b[1])) // 2


def edge_distance(game: Game, player: Player) -> float:
    """Distances of own moves from the edges minus those of the opponent's moves."""
    if over := game.utility(player):
        return over
    return _distances(game, player) - _distances(game, game.get_opponent(player))


def edge_distance_weighted(game: Game, player: Player) -> float:
    """Own moves minus the opponent's, each weighted from 1 at the edge to 2 in the middle."""
    if over := game.utility(player):
        return over
    return _weighted(game, player, 1.0, 0.5) - _weighted(game, game.get_opponent(player), 1.0, 0.5)


def edge_distance_dynamic(game: Game, player: Player) -> float:
    """Own moves minus the opponent's: by their place early in the game, by their number late."""
    if over := game.utility(player):
        return over
    share = len(game.get_blank_spaces()) / (game.width * game.height)
    opponent = game.get_opponent(player)
    return _weighted(game, player, 1 - share, share / 2) - _weighted(game, opponent, 1 - share, share / 2)


def _distances(game: Game, player: Player) -> float:
    h, w = game.height / 2, game.width / 2
    total = 0.0
    for row, column in game.get_legal_moves(player):
        total += (h - abs(h - row)) + (w - abs(w - column))
    return total


def _weighted(game: Game, player: Player, base: float, weight: float) -> float:
    h, w = game.height / 2, game.width / 2
    total = 0.0
    for row, column in game.get_legal_moves(player):
        total += base + weight * (h - abs(h - row)) / h + weight * (w - abs(w - column)) / w
    return total


def territory(game: Game, player: Player) -> float:
    """Cells the player reaches before the opponent minus those the opponent reaches first."""
    if over := game.utility(player):
        return over
    own, opponent = game.territory(player)
    return float(own - opponent)


def horizon(game: Game, player: Player) -> float:
    """Nearness to the open board: the opponent's mean distance to the blank cells minus the player's."""
    if over := game.utility(player):
        return over
    own, opponent = game.distances(player)
    blank = len(game.get_blank_spaces())
    return opponent / blank - own / blank


NEAR = 3
"""Largest distance of near cells, in jumps."""


def learned(
    game: Game,
    player: Player,
    *,
    moves: Annotated[float, Interval(ge=0, le=0.2)] = 0.037,
    waiting_moves: Annotated[float, Interval(ge=0, le=0.2)] = 0.083,
    near: Annotated[float, Interval(ge=-0.05, le=0.05)] = 0.014,
    across: Annotated[float, Interval(ge=0, le=1)] = 0.25,
) -> float:
    """Links per cell among the cells nearer to the player, and a few further terms, minus the opponent's.

    A territory is worth how well it is connected, not how large it is: a walk needs an exit from each of its cells.
    Links into the other's territory count in part. A walk visits few of the near cells, so these count against their
    owner. The weights are relative to links per cell, whose weight is 1.

    Args:
        moves: weight of a move of the side to move.
        waiting_moves: weight of a move of the waiting side to a cell that the other cannot move to first.
        near: weight of each nearer cell within three jumps, counted against its owner.
        across: weight of a link between the two territories, counted for both.
    """
    if over := game.utility(player):
        return over
    own = game.get_legal_moves(game.active_player)
    other = game.get_legal_moves(game.inactive_player) - own
    near_movers, near_waiters = nearer_cells(game, NEAR)
    movers, waiters = nearer_cells(game)
    share, waiting_share = 1 / (len(movers) + 1), 1 / (len(waiters) + 1)
    links, waiting_links = game.links(movers), game.links(waiters)
    shared = across * (game.links(movers | waiters) - links - waiting_links)
    value = moves * len(own) - waiting_moves * len(other) - near * (len(near_movers) - len(near_waiters))
    value += share * (links + shared) - waiting_share * (waiting_links + shared)
    return value if player == game.active_player else -value
