"""What commands call in the rooms below, loaded on first use, so that `isolation --help` stays quick."""

from knights_isolation.lazy_package import lazy_package

lazy_package(__name__)
