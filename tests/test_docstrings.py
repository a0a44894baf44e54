"""The examples in docstrings print what they say."""

import doctest
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("isolation", "experiments", "reports", "knights_isolation", "heuristics")
EXAMPLE = re.compile(r"^\s*>>> ", re.MULTILINE)
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
    if EXAMPLE.search(path.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_say(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
