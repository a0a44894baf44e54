"""Checksummed JSON files: a bit flipped anywhere is detected, or changes nothing."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from knights_isolation.experiments.record.checked_json import read_json, write_json
from knights_isolation.isolation.files.received import read_plain

FACTS = {"name": "Ünal", "games": 12, "rate": 0.5, "notes": ["a", None, True], "costs": {"a": 1e300}}


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    write_json(tmp_path / "facts.json", FACTS)
    assert read_json(tmp_path / "facts.json") == FACTS


@pytest.mark.parametrize("read", [read_json, read_plain])
def test_a_sparse_file_of_gigabytes_is_not_read(read: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / "facts.json"
    path.touch()
    os.truncate(path, 3 << 30)
    with pytest.raises(ValueError, match=r"^too large: 3,221,225,472 bytes, at most 67,108,864 are read$"):
        read(path)


def test_a_flipped_bit_is_noticed_or_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "facts.json"
    write_json(path, FACTS)
    data = path.read_bytes()
    noticed = 0
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        try:
            assert read_json(path) == FACTS
        except ValueError:
            noticed += 1
    assert noticed > 7 * len(data)


@pytest.mark.parametrize("text", ["", "[]", "3", '{"a": 1', "[" * 100_000])
def test_what_is_no_object_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "facts.json").write_text(text)
    with pytest.raises(ValueError, match=r"."):
        read_json(tmp_path / "facts.json")


def test_a_file_from_before_there_was_a_seal_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "facts.json").write_text(json.dumps(FACTS))
    assert read_json(tmp_path / "facts.json") == FACTS
