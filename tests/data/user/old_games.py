# ruff: noqa -- written as people write heuristics
"""Heuristics that know the insides of the classic engines, and give its methods names of their own."""

DEBUG = False


def moves_of_both(game, player):
    moves = game.get_legal_moves
    return float(len(moves(player)) - len(moves(game.get_opponent(player))))


def names_inside_functions(game, player):
    is_open, height = game.move_is_legal, game.height
    where = game.get_player_location

    def room(who):
        row, column = where(who)
        return sum(game.move_is_legal((row + down, column)) for down in range(-height, height))

    return float(room(player) - room(game.get_opponent(player)))


def looks_at_the_other_side(game, player):
    other = game.copy()
    other._active_player = game.get_opponent(player)
    other._inactive_player = player
    return float(len(other.get_legal_moves()) - 2 * len(game.get_legal_moves(player)))


def looks_ahead_for_the_other_side(game, player):
    total = 0
    opponent = game.get_opponent(player)
    for move in game.get_legal_moves(opponent):
        child = game.copy()
        child.__active_player__ = opponent
        child.__inactive_player__ = player
        child = child.forecast_move(move)
        total += len(child.get_legal_moves()) - 3 * len(child.get_legal_moves(opponent))
    return float(total)


def swaps_the_sides_of_the_game_itself(game, player):
    here = len(game.get_legal_moves())
    game._active_player, game._inactive_player = game._inactive_player, game._active_player
    there = len(game.get_legal_moves())
    game._active_player, game._inactive_player = game._inactive_player, game._active_player
    return float(here - 2 * there) if game.active_player == player else float(there)


def counts_the_open_cells(game, player):
    return float(game._board_state.count(game.BLANK)) + sum(game._board_state[:10]) / 10


def reads_cells_by_place(game, player):
    row, column = game.get_player_location(player)
    total = game._board_state[-1] - game._board_state[-2] + 100 * game._board_state[-3]
    for down, right in [(-1, 0), (1, 0), (0, -1), (0, 1)]:
        r, c = row + down, column + right
        if 0 <= r < game.height and 0 <= c < game.width and game._board_state[r + c * game.height] == 0:
            total += 1
    return float(total)


def counts_rows(game, player):
    open_rows = sum(1 for row in game.__board_state__ if row.count(0) > 3)
    filled = sum(cell != 0 for row in game.__board_state__ for cell in row)
    return float(open_rows) + filled / 50


def asks_whether_a_list_is_a_number(game, player):
    own, opponent = game.get_legal_moves(player), game.get_legal_moves(game.get_opponent(player))
    if own == 0 or (0, 1) == 1:
        return float("-inf")
    return float(len(own)) if opponent != 0 else float("inf")


def counts_in_a_constant(game, player):
    corners = [(0, 0), (0, 6), (6, 0), (6, 6), (6, 6)]
    return float(sum(corners.count(move) for move in game.get_legal_moves(player)) + corners.index((6, 0)))


def speaks_where_it_never_comes(game, player):
    verbose = False
    if verbose:
        logger.debug("position %s", game.to_string())
    return float(len(game.get_legal_moves(player)))
    return float(len(game.get_legal_moves(player)) * old_weight)


def speaks_where_it_comes_not_either(game, player):
    while True:
        return float(game.move_count)
        raise NoSuchError(player.name)


def fills_by_flood(game, player):
    def count(board, cell, depth):
        if depth == 0:
            return 0
        found = 0
        for near in board.reach((cell,)):
            found += 1 + count(board, near, depth - 1)
        return found

    return float(count(game, game.get_player_location(player), 3))
