"""Checksummed JSON files, written atomically.

An object's first key says that it is sealed, its last holds the CRC-32 of all others. Files with neither, from before
there was a seal or written by others, are read as they are.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from isolation.files.atomic_write import write_text

SEALED, CHECKSUM = "sealed", "checksum"


def write_json(path: Path, facts: Mapping[str, Any]) -> None:
    """Write an object, sealed; when this returns it is on the disk for good, and until then nothing changes.

    Raises:
        OSError: the disk is full, or the folder cannot be written.
    """
    sealed = {SEALED: True, **facts, CHECKSUM: _checksum(facts)}
    write_text(path, json.dumps(sealed, indent=1, ensure_ascii=False) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """The object in a file, without its seal.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is damaged, or holds no object.
    """
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(facts, dict):
        raise ValueError("it does not contain an object")
    is_sealed, checksum = facts.pop(SEALED, None), facts.pop(CHECKSUM, None)
    # The two places that say so keep each other: a bit flipped in one does not unseal a file.
    if (is_sealed, checksum) != (None, None) and (is_sealed, checksum) != (True, _checksum(facts)):
        raise ValueError("checksum mismatch: the file was damaged or edited by hand")
    return facts


def _checksum(facts: Mapping[str, Any]) -> str:
    return f"{zlib.crc32(json.dumps(facts, sort_keys=True).encode()):08x}"
