"""Studies and what they find, as tables, charts and pages: trials, screenings, plans, solutions, fits and tuning.

What commands ask for is loaded on first use, so that importing this package stays quick.
"""

from knights_isolation.lazy_package import lazy_package

lazy_package(__name__)
