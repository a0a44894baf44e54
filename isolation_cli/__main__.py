"""`python -m isolation_cli` does what `isolation` does."""

from knights_isolation_packages import run

run()
