"""The functions of the toolkit: each is a command of `isolation`, and returns a result for a notebook.

For example::

    import knights_isolation as ki

    ki.screen(score)                      # score: a function of (game, player)
    ki.compare(score, pairs=200).to_frame()

The public names are loaded on first use, so that importing this package stays quick.
"""

from knights_isolation.lazy_package import lazy_package

lazy_package(__name__)
