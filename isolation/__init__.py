"""Knight's Isolation: rules, positions, search and players.

The public names are loaded on first use, so that ``from isolation import Board`` stays quick and imports no compiler.
"""

from knights_isolation.lazy_package import lazy_package

lazy_package(__name__)
