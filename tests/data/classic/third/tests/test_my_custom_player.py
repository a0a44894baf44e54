"""Unit tests in the shape of the third edition's: one action at several plies, and a whole game."""
# ruff: noqa - it stands for code that is not ours to tidy

import random
import unittest
from collections import deque

from isolation import Agent, DebugState, Isolation, fork_get_action, play
from my_custom_player import CustomPlayer


class ActionTest(unittest.TestCase):
    time_limit = 10000

    def setUp(self):
        random.seed(7)
        self.states = [Isolation()]
        while not self.states[-1].terminal_test():
            state = self.states[-1]
            self.states.append(state.result(random.choice(state.actions())))
        self.terminal = next(
            state for state in reversed(self.states) if state.actions() and state.liberties(state.locs[state.player()])
        )

    def ask(self, state):
        agent = CustomPlayer(state.ply_count % 2)
        action = fork_get_action(state, agent, self.time_limit)
        self.assertIsInstance(action, int)
        self.assertIn(action, state.actions(), DebugState.from_state(state))

    def test_first(self):
        self.ask(self.states[0])

    def test_second(self):
        self.ask(self.states[1])

    def test_later(self):
        self.ask(self.states[2])

    def test_at_the_end(self):
        self.ask(self.terminal)


class GameTest(unittest.TestCase):
    def test_against_itself(self):
        agents = (Agent(CustomPlayer, "Player 1"), Agent(CustomPlayer, "Player 2"))
        winner, history, match_id = play((agents, Isolation(), 10000, 3))
        self.assertIn(winner, agents)
        self.assertEqual(match_id, 3)
        state, moves = Isolation(), deque(history)
        while moves:
            self.assertIn(moves[0], state.actions())
            state = state.result(moves.popleft())
        self.assertTrue(state.terminal_test())


if __name__ == "__main__":
    unittest.main()
