"""Design, run and record tournaments, and draw inferences from the records.

The public names are loaded on first use, so that importing this package stays quick.
"""

from knights_isolation.lazy_package import lazy_package

lazy_package(__name__)
