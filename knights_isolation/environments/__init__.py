"""Environments for learning agents, with perfect play inside: PettingZoo, Gymnasium and OpenSpiel.

Importing this package registers `Isolation-v0` with Gymnasium:

    gymnasium.make("knights_isolation.environments:Isolation-v0", opponent="ID:improved@nodes=2000")
"""

try:
    import gymnasium
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        "environments need Gymnasium and PettingZoo: pip install 'knights-isolation[envs]'"
    ) from None

gymnasium.register("Isolation-v0", "knights_isolation.environments.single_agent:IsolationEnv")
