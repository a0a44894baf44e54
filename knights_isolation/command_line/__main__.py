"""`python -m knights_isolation.command_line` does what `isolation` does."""

from . import run

run()
