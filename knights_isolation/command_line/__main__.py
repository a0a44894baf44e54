"""`python -m knights_isolation.command_line` does what `isolation` does."""

from knights_isolation.command_line import run

run()
