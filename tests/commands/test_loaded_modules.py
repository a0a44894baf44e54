"""What commands load: only what their answers need."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from invented_runs import gauntlet

_PROGRAM = """
import contextlib, io, json, sys
from knights_isolation.command_line.main import main
with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
    main(sys.argv[1:])
assert printed.getvalue().strip()
files = {name: module.__file__ for name, module in sys.modules.items() if name.startswith("knights_isolation")}
print(json.dumps({name: file for name, file in files.items() if file and file.endswith(".py")}))
"""
NEVER = (
    *("experiments.plan.", "experiments.play.runner", "isolation.compiling", "isolation.engines"),
    *("isolation.native", "isolation.processes", "isolation.search"),
)


def loaded(folder: Path, *words: str) -> dict[str, int]:
    """Return the modules that a command loads, each with its lines that are neither blank nor comments."""
    settings = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    run = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *words], cwd=folder, env=settings, capture_output=True, text=True, check=True
    )
    lines = {}
    for name, file in json.loads(run.stdout).items():
        code = map(str.strip, Path(file).read_text(encoding="utf-8").splitlines())
        lines[name.removeprefix("knights_isolation.")] = sum(bool(line) and not line.startswith("#") for line in code)
    return lines


@pytest.mark.parametrize(
    ("words", "most"),
    [
        (("results", "runs/a"), 6_300),
        (("ratings", "runs/a"), 6_500),
        (("runs",), 3_600),
        (("heuristics",), 3_500),
    ],
)
def test_reading_and_listing_load_neither_agents_nor_search_and_little_else(
    words: tuple[str, ...], most: int, tmp_path: Path
) -> None:
    gauntlet().write(tmp_path / "runs" / "a")
    lines = loaded(tmp_path, *words)
    allowed = "experiments.plan.catalogue" if words == ("heuristics",) else ""
    assert [name for name in lines if name.startswith(NEVER) and name != allowed] == []
    assert sum(lines.values()) <= most


@pytest.mark.parametrize("command", ["results", "ratings"])
def test_a_kept_answer_loads_no_statistics(command: str, tmp_path: Path) -> None:
    gauntlet().write(tmp_path / "runs" / "a")
    loaded(tmp_path, command, "runs/a")
    lines = loaded(tmp_path, command, "runs/a")
    assert [name for name in lines if name.startswith((*NEVER, "experiments.statistics."))] == []
    assert sum(lines.values()) <= 3_700


@pytest.mark.parametrize("words", [("plot", "runs/a", "forest", "--out", "forest.svg"), ("report", "runs/a")])
def test_drawing_loads_neither_agents_nor_compiler(words: tuple[str, ...], tmp_path: Path) -> None:
    gauntlet().write(tmp_path / "runs" / "a")
    assert [name for name in loaded(tmp_path, *words) if name.startswith(NEVER)] == []
