"""Answers of commands: of studies, from screenings to discoveries; of runs and their lists; of checks of engines.

What commands ask for is loaded on first use, so that importing this package stays quick.
"""

from knights_isolation.lazy_package import lazy_package

lazy_package(__name__)
