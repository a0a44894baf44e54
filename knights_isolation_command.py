"""The command `isolation`, which first looks whether files of the user hide a package that it needs.

It is not part of `knights_isolation_packages`, because all packages import that, and this imports the command line.
"""

from __future__ import annotations

import sys

from knights_isolation.lazy_package import PACKAGES, refuse_hidden


def run() -> None:
    """Run the command line; exit with code 2 and one line if files of the user hide a package that it needs."""
    try:
        refuse_hidden(*PACKAGES)
    except ImportError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(2)
    from knights_isolation.command_line import main

    main.run()
