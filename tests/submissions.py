"""Classes of submissions: their sources, and the command that plays them."""

from pathlib import Path

from click.testing import CliRunner, Result

from cli import main

HONEST = """
class CustomPlayer:
    def get_move(self, game, time_left):
        return max(game.get_legal_moves(), key=lambda move: ({prefers}), default=(-1, -1))
"""
THIRD = """
from sample_players import DataPlayer
class CustomPlayer(DataPlayer):
    def get_action(self, state):
        self.queue.put(min(state.actions()))
"""


def submit(home: Path, name: str, source: str, file: str = "game_agent.py") -> Path:
    """Put a submission into a class."""
    path = home / name / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)
    return path


def league(*words: object) -> Result:
    """What the command says."""
    return CliRunner().invoke(main, ["league", *map(str, words)], prog_name="isolation", catch_exceptions=False)
