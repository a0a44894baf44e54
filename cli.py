"""The command line from a checkout: `python cli.py` does what `isolation` does."""

from knights_isolation.command_line import run

if __name__ == "__main__":
    run()
else:
    from knights_isolation.command_line.main import main as main
