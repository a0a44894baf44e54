"""Knight's Isolation: rules, positions, search and players.

The public names are loaded on first use: ``from knights_isolation.isolation import Board`` is quick and imports no
compiler.
"""

from knights_isolation.lazy_package import lazy_package

lazy_package(__name__)
