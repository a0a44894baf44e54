"""Knight's Isolation: rules, positions, search and players.

The public names are loaded on first use, so that ``from isolation import Board`` stays quick and imports no compiler.
"""

import sys

from knights_isolation.lazy_package import LazyPackage

sys.modules[__name__].__class__ = LazyPackage
