"""Design, run and record tournaments, and draw inferences from the records.

The public names are loaded on first use, so that importing this package stays quick.
"""

import sys

from knights_isolation.lazy_package import LazyPackage, refuse_hidden

refuse_hidden("isolation", "heuristics")
sys.modules[__name__].__class__ = LazyPackage
