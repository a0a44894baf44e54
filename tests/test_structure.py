"""The house: imports run downwards, and starting costs little."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def test_imports_run_downwards():
    linter = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("module", ["isolation", "heuristics", "experiments", "reports", "commands", "cli"])
def test_importing_loads_no_heavy_library(module):
    heavy = "{'numba', 'pandas', 'matplotlib', 'scipy', 'pyarrow', 'joblib'}"
    code = f"import sys, {module}; print(sorted({heavy} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_nothing_imports_the_command_line_but_what_starts_it():
    packages = ("isolation", "heuristics", "experiments", "reports", "commands")
    sources = [source for package in packages for source in (ROOT / package).rglob("*.py")]
    imports = re.compile(r"^\s*(from|import) cli\b", re.MULTILINE)
    assert [source for source in sources if imports.search(source.read_text(encoding="utf-8"))] == []


def test_the_public_names_are_those_that_scripts_rely_on():
    code = "from isolation import Board, Limit, search, perft, play, solve; print(callable(search), callable(perft))"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["True", "True"]
