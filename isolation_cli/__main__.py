"""`python -m isolation_cli` does what `isolation` does."""

from knights_isolation_command import run

run()
