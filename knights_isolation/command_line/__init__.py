"""The command line, made from the registry: options from signatures, completion, output, and errors in one line."""

import sys

from knights_isolation.isolation.usercode.imports import refuse_hidden


def run() -> None:
    """Run the command line; exit with code 2 and one line if a file of the user's hides a library that it needs."""
    try:
        refuse_hidden()
    except ImportError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(2)
    from . import main

    main.run()
