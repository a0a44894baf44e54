"""`python -m isolation_cli` does what `isolation` does."""

from isolation_cli.start import run

run()
