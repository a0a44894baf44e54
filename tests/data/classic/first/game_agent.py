"""A player in the shape of the first edition: search returns (value, move)."""
# ruff: noqa - it stands for code that is not ours to tidy

import scores


class Timeout(Exception):
    pass


def custom_score(game, player):
    return scores.mobility(game, player)


class CustomPlayer:
    def __init__(self, search_depth=3, score_fn=custom_score, iterative=True, method="minimax", timeout=10.0):
        self.search_depth = search_depth
        self.iterative = iterative
        self.score = score_fn
        self.method = method
        self.time_left = None
        self.TIMER_THRESHOLD = timeout

    def get_move(self, game, legal_moves, time_left):
        self.time_left = time_left
        if not legal_moves:
            return (-1, -1)
        best = legal_moves[0]
        search = self.minimax if self.method == "minimax" else self.alphabeta
        try:
            if not self.iterative:
                return search(game, self.search_depth)[1]
            depth = 1
            while depth <= game.width * game.height:
                _, best = search(game, depth)
                depth += 1
        except Timeout:
            pass
        return best

    def minimax(self, game, depth, maximizing_player=True):
        if self.time_left() < self.TIMER_THRESHOLD:
            raise Timeout()
        if depth == 0:
            return float(self.score(game, self)), (-1, -1)
        moves = game.get_legal_moves()
        if not moves:
            return game.utility(self), (-1, -1)
        choose = max if maximizing_player else min
        return choose(
            ((self.minimax(game.forecast_move(move), depth - 1, not maximizing_player)[0], move) for move in moves),
            key=lambda scored: scored[0],
        )

    def alphabeta(self, game, depth, alpha=float("-inf"), beta=float("inf"), maximizing_player=True):
        if self.time_left() < self.TIMER_THRESHOLD:
            raise Timeout()
        if depth == 0:
            return float(self.score(game, self)), (-1, -1)
        moves = game.get_legal_moves()
        if not moves:
            return game.utility(self), (-1, -1)
        best_move = moves[0]
        best = float("-inf") if maximizing_player else float("inf")
        for move in moves:
            value, _ = self.alphabeta(game.forecast_move(move), depth - 1, alpha, beta, not maximizing_player)
            if maximizing_player:
                if value > best:
                    best, best_move = value, move
                if best >= beta:
                    break
                alpha = max(alpha, best)
            else:
                if value < best:
                    best, best_move = value, move
                if best <= alpha:
                    break
                beta = min(beta, best)
        return best, best_move
