"""``sample_players`` for scripts beside which none lies: that of the edition the importing file was written for."""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from knights_isolation.isolation.loading.edition_detection import sample_players_for


def __getattr__(name: str) -> Any:
    # Python asks from the frame of the code that imports the name, or reads it.
    return getattr(_module_for(sys._getframe(1).f_globals.get("__file__")), name)


@lru_cache
def _module_for(file: str | None) -> ModuleType:
    return import_module(sample_players_for(Path(file).read_bytes() if file and Path(file).is_file() else b""))
