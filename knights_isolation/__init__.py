"""The functions of the toolkit, named like the commands of `isolation`: each returns a result for a notebook::

    import knights_isolation as ki

    ki.screen(score)                      # score: a function of (game, player)
    ki.compare(score, pairs=200).to_frame()

The public names are loaded on first use, so that importing this package stays quick.
"""

import sys

from knights_isolation.lazy_package import LazyPackage, refuse_hidden

refuse_hidden("isolation", "heuristics", "experiments", "reports")
sys.modules[__name__].__class__ = LazyPackage
