"""The command line from a checkout: `python cli.py` does what `isolation` does."""

from knights_isolation.command_line import run

__all__ = ["READING", "Commands", "main", "run"]

if __name__ == "__main__":
    run()
else:
    from knights_isolation.command_line.main import Commands, main
    from knights_isolation.registry import READING
