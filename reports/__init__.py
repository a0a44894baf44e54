"""Tables, plots, pages and replays of results.

The public names are loaded on first use, so that importing this package stays quick.
"""

import sys

from knights_isolation.lazy_package import LazyPackage, refuse_hidden

refuse_hidden("isolation", "heuristics", "experiments")
sys.modules[__name__].__class__ = LazyPackage
