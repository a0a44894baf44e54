"""The folder of what can be made again: compiled code, and answers about runs."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from platformdirs import user_cache_path

ENVIRONMENT_VARIABLE = "ISOLATION_CACHE"


@cache
def folder() -> Path:
    """Return $ISOLATION_CACHE, or `isolation` in the user's cache folder; made if missing.

    A folder that cannot be written is replaced by a temporary one for this process.
    """
    chosen = os.environ.get(ENVIRONMENT_VARIABLE)
    path = Path(os.path.expanduser(chosen)) if chosen else user_cache_path("isolation", appauthor=False)
    try:
        path.mkdir(parents=True, exist_ok=True)
        if os.access(path, os.W_OK):
            return path.resolve()
    except OSError:
        pass
    from .folders import temporary_folder

    return temporary_folder("cache").path
