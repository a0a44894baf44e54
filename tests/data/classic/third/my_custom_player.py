"""Players in the shapes that students of the third edition write."""
# ruff: noqa - it stands for code that is not ours to tidy

import math
import random

from isolation import DebugState
from isolation.isolation import _HEIGHT, _WIDTH, Action
from sample_players import BasePlayer, DataPlayer

CENTER = 57


class CustomPlayer(DataPlayer):
    """Alpha-beta, deepened to two plies; the opening comes from a book of states."""

    deepest = 2

    def get_action(self, state):
        if self.data and state in self.data:
            self.queue.put(self.data[state])
            return
        if state.ply_count < 2:
            self.queue.put(CENTER if CENTER in state.actions() else random.choice(state.actions()))
            return
        depth = 1
        while depth <= self.deepest:
            self.queue.put(self.alpha_beta(state, depth))
            depth += 1

    def alpha_beta(self, state, depth):
        def min_value(state, alpha, beta, depth):
            if state.terminal_test():
                return state.utility(self.player_id)
            if depth <= 0:
                return self.score(state)
            value = float("inf")
            for action in state.actions():
                value = min(value, max_value(state.result(action), alpha, beta, depth - 1))
                if value <= alpha:
                    return value
                beta = min(beta, value)
            return value

        def max_value(state, alpha, beta, depth):
            if state.terminal_test():
                return state.utility(self.player_id)
            if depth <= 0:
                return self.score(state)
            value = float("-inf")
            for action in state.actions():
                value = max(value, min_value(state.result(action), alpha, beta, depth - 1))
                if value >= beta:
                    return value
                alpha = max(alpha, value)
            return value

        return max(state.actions(), key=lambda x: min_value(state.result(x), float("-inf"), float("inf"), depth - 1))

    def score(self, state):
        own_loc = state.locs[self.player_id]
        opp_loc = state.locs[1 - self.player_id]
        own_liberties = state.liberties(own_loc)
        opp_liberties = state.liberties(opp_loc)
        return len(own_liberties) - 2 * len(opp_liberties)


class Deepening(CustomPlayer):
    """The same, deepened until it is stopped."""

    deepest = float("inf")


class FixedDepth(CustomPlayer):
    """Alpha-beta to three plies."""

    def get_action(self, state):
        if state.ply_count < 2:
            self.queue.put(random.choice(state.actions()))
        else:
            self.queue.put(self.alpha_beta(state, depth=3))


class Hashing(Deepening):
    """Remembers values by the board's number and the knights' cells, and looks at the walls."""

    def __init__(self, player_id):
        super().__init__(player_id)
        self.table = {}

    def score(self, state):
        key = (state.board, state.locs)
        if key not in self.table:
            x, y = DebugState.ind2xy(state.locs[self.player_id])
            wall = min(x, _WIDTH - 1 - x, y, _HEIGHT - 1 - y)
            self.table[key] = super().score(state) + 0.1 * wall
        return self.table[key]


class Node:
    def __init__(self, state, parent=None, action=None):
        self.state, self.parent, self.action = state, parent, action
        self.children, self.untried = [], [] if state.terminal_test() else state.actions()
        self.wins, self.visits = 0.0, 0

    def best(self):
        log = math.log(self.visits)
        return max(self.children, key=lambda c: c.wins / c.visits + math.sqrt(2 * log / c.visits))


class TreeSearch(BasePlayer):
    """MCTS that takes its tree along to the next turn."""

    def get_action(self, state):
        if state.ply_count < 2:
            self.queue.put(random.choice(state.actions()))
            return
        root = self.known(state) or Node(state)
        root.parent = None
        while True:
            self.simulate(root)
            best = max(root.children, key=lambda child: child.visits)
            self.context = best
            self.queue.put(best.action)

    def known(self, state):
        children = self.context.children if self.context else []
        return next((child for child in children if child.state == state), None)

    def simulate(self, node):
        while not node.untried and node.children:
            node = node.best()
        if node.untried:
            action = node.untried.pop()
            child = Node(node.state.result(action), node, action)
            node.children.append(child)
            node = child
        state = node.state
        while not state.terminal_test():
            state = state.result(random.choice(state.actions()))
        while node is not None:
            mover = 1 - node.state.player()
            node.visits += 1
            node.wins += state.utility(mover) > 0
            node = node.parent


class Counting(BasePlayer):
    """Counts its turns in its context, and in an attribute that no turn hands on."""

    turns = 0

    def get_action(self, state):
        self.turns += 1
        self.context = (self.context or 0) + 1
        self.queue.put(state.actions()[min(self.context + self.turns, len(state.actions())) - 1])


class MobilityPlayer(BasePlayer):
    """The most liberties a ply ahead, asked for the number of the match as in June 2018."""

    def get_action(self, state, match_id):
        actions = state.actions()
        self.queue.put(max(actions, key=lambda action: len(state.result(action).liberties(state.locs[self.player_id]))))
