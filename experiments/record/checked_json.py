"""Files of checksummed JSON, written atomically.

An object's first key marks it as sealed, and its last is a CRC-32 of all its other keys. Objects with neither key, from
older versions or other programs, are read without verification.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from knights_isolation.isolation.files.received import check_size

SEALED, CHECKSUM = "sealed", "checksum"


def write_json(path: Path, facts: Mapping[str, Any]) -> None:
    """Write an object with a checksum, atomically and durably: it is synced to the disk, or OSError is raised."""
    from knights_isolation.isolation.files.atomic_write import write_text  # here, since reading needs none of it

    sealed = {SEALED: True, **facts, CHECKSUM: _checksum(facts)}
    write_text(path, json.dumps(sealed, indent=1, ensure_ascii=False) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """Read the object in a file, without its checksum keys; ValueError if it is damaged, too large, or no object."""
    check_size(path)
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(facts, dict):
        raise ValueError("it does not contain an object")
    is_sealed, checksum = facts.pop(SEALED, None), facts.pop(CHECKSUM, None)
    # Both keys mark a sealed file: a bit flipped in one of them cannot make it look unsealed.
    if (is_sealed, checksum) != (None, None) and (is_sealed, checksum) != (True, _checksum(facts)):
        raise ValueError("checksum mismatch: the file was damaged or edited by hand")
    return facts


def _checksum(facts: Mapping[str, Any]) -> str:
    return f"{zlib.crc32(json.dumps(facts, sort_keys=True).encode()):08x}"
