"""Players in the shape of the second edition: search returns the move only."""
# ruff: noqa - it stands for code that is not ours to tidy

from scores import chase as custom_score


class SearchTimeout(Exception):
    pass


class IsolationPlayer:
    def __init__(self, search_depth=3, score_fn=custom_score, timeout=10.0):
        self.search_depth = search_depth
        self.score = score_fn
        self.time_left = None
        self.TIMER_THRESHOLD = timeout


class MinimaxPlayer(IsolationPlayer):
    def get_move(self, game, time_left):
        self.time_left = time_left
        best_move = (-1, -1)
        try:
            return self.minimax(game, self.search_depth)
        except SearchTimeout:
            pass
        return best_move

    def minimax(self, game, depth):
        moves = game.get_legal_moves()
        if not moves:
            return (-1, -1)
        return max(moves, key=lambda move: self.min_value(game.forecast_move(move), depth - 1))

    def min_value(self, game, depth):
        if self.time_left() < self.TIMER_THRESHOLD:
            raise SearchTimeout()
        moves = game.get_legal_moves()
        if depth <= 0 or not moves:
            return self.score(game, self)
        return min(self.max_value(game.forecast_move(move), depth - 1) for move in moves)

    def max_value(self, game, depth):
        if self.time_left() < self.TIMER_THRESHOLD:
            raise SearchTimeout()
        moves = game.get_legal_moves()
        if depth <= 0 or not moves:
            return self.score(game, self)
        return max(self.min_value(game.forecast_move(move), depth - 1) for move in moves)


class AlphaBetaPlayer(IsolationPlayer):
    def get_move(self, game, time_left):
        self.time_left = time_left
        best_move = (-1, -1)
        try:
            for depth in range(1, len(game.get_blank_spaces()) + 1):
                best_move = self.alphabeta(game, depth)
        except SearchTimeout:
            pass
        return best_move

    def alphabeta(self, game, depth, alpha=float("-inf"), beta=float("inf")):
        if self.time_left() < self.TIMER_THRESHOLD:
            raise SearchTimeout()
        best_score, best_move = float("-inf"), (-1, -1)
        for move in game.get_legal_moves():
            if best_move == (-1, -1):
                best_move = move
            score = self.value(game.forecast_move(move), depth - 1, alpha, beta, False)
            if score > best_score:
                best_score, best_move = score, move
            alpha = max(alpha, best_score)
        return best_move

    def value(self, game, depth, alpha, beta, maximizing):
        if self.time_left() < self.TIMER_THRESHOLD:
            raise SearchTimeout()
        moves = game.get_legal_moves()
        if depth <= 0 or not moves:
            return self.score(game, self)
        best = float("-inf") if maximizing else float("inf")
        for move in moves:
            score = self.value(game.forecast_move(move), depth - 1, alpha, beta, not maximizing)
            best = max(best, score) if maximizing else min(best, score)
            if best >= beta if maximizing else best <= alpha:
                return best
            if maximizing:
                alpha = max(alpha, best)
            else:
                beta = min(beta, best)
        return best
