"""Template that `isolation new` writes."""

from pathlib import Path

from knights_isolation.isolation.files.atomic_write import write_new

TEMPLATE = '''"""A heuristic for knight's Isolation."""


def score(game, player):
    """How good the position is for `player`: the larger, the better.

    `game` can be read, not changed:

        game.get_legal_moves(player)      the cells `player` could move to now, each (row, column)
        game.get_blank_spaces()           all open cells
        game.get_player_location(player)  (row, column), or None before the player is on the board
        game.get_opponent(player)         the other player
        game.active_player                the player to move
        game.width, game.height           columns and rows
        game.reach(cells)                 the blank cells a knight's move away from any of `cells`
        game.links(cells)                 how many pairs of `cells` are a knight's move apart
        game.forecast_move(move)          the position after a move of the player to move

    Sets of cells know len(), in, for, and the operators & (both), | (either) and - (without).
    A finished game need not be looked at: the search knows who has won.
    """
    own = game.get_legal_moves(player)
    opponent = game.get_legal_moves(game.get_opponent(player))

    # The baseline, `improved`, is len(own) - len(opponent). Here, a move that leads on to many others counts more.
    return float(len(own) - len(opponent)) + 0.5 * (len(game.reach(own)) - len(game.reach(opponent)))
'''


def write_template(path: Path) -> Path:
    """Write the template into a new Python file.

    Raises:
        ValueError: the file exists, or is no Python file.
    """
    if path.suffix != ".py":
        raise ValueError(f"{path} is not a Python file: use a name such as {path.with_suffix('.py')}")
    write_new(path, TEMPLATE)
    return path
