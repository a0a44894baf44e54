"""Run OpenEvolve with a scripted model in place of a real one: python examples/openevolve/dry_run.py."""

from pathlib import Path

from openevolve import run_evolution
from openevolve.config import LLMModelConfig, load_config
from openevolve.llm.base import LLMInterface

HERE = Path(__file__).parent
ANSWER = """```python
# EVOLVE-BLOCK-START
def score(game, player):
    own = game.get_legal_moves(player)
    opponent = game.get_legal_moves(game.get_opponent(player))
    return len(own) - len(opponent) + {weight} * (len(game.reach(own)) - len(game.reach(opponent)))
# EVOLVE-BLOCK-END
```"""


class ScriptedModel(LLMInterface):
    """A model that writes the same program with another weight each time."""

    def __init__(self, config: object) -> None:
        self.model, self.answers = "scripted", 0

    async def generate(self, prompt: str, **options: object) -> str:
        """Return the next program."""
        self.answers += 1
        return ANSWER.format(weight=self.answers / 4)

    async def generate_with_context(self, system_message: str, messages: list, **options: object) -> str:
        """Return the next program."""
        return await self.generate("")


if __name__ == "__main__":
    config = load_config(HERE / "config.yaml")
    config.diff_based_evolution = False
    config.max_iterations = 3
    config.evaluator.parallel_evaluations = 1
    config.llm.models = config.llm.evaluator_models = [LLMModelConfig(name="scripted", init_client=ScriptedModel)]
    result = run_evolution(str(HERE / "initial_program.py"), str(HERE / "evaluator.py"), config)
    print(f"best: {result.best_score:+.2f} points of wins kept compared with ID:learned")
    print(result.best_code)
