"""What is an agent where one is asked for."""

from collections.abc import Callable

AgentLike = str | Callable[..., float] | type[object]
"""Its spec; or a function of (game, player), which ID searches with, or a class of players."""
