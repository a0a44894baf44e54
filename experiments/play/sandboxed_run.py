"""Runs of code that nobody vouches for: a whole run is played in one sandboxed process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from knights_isolation.isolation.loading.load_user_code import expand_path
from knights_isolation.isolation.processes.child import Setup, recipe

from ..plan import complete, make_agent, parse_spec
from ..plan.agent_kinds import runs_code
from ..plan.config import Config, load_config
from .pools.pool import HerePool
from .run_extension import extended_config
from .runner import play_tournament

_IMPORTS = (
    "knights_isolation.experiments.play.sandboxed_run",
    "knights_isolation.isolation.native.position",
    "knights_isolation.isolation.native.workspaces",
)


def user_files(config: Config) -> tuple[Path, ...]:
    """Return the files with heuristics that a run loads; raise ValueError if it loads players or starts engines."""
    specs = [parse_spec(text) for text in (config.baseline, *config.contenders, *(config.opponents or ())) if text]
    for spec in specs:
        if runs_code(spec):
            raise ValueError(f"{spec.text}: the lab plays heuristics only; isolation tournament plays this run")
    return tuple(expand_path(spec.path) for spec in specs if spec.is_file)


def setup_of(
    keys: Mapping[str, Any], out: Path, scratch: Path, files: Sequence[Path], extends: Path | None = None
) -> Setup:
    """Return the setup of a process that plays a run, which loads `files`, or extends another one.

    It writes into the empty folder `out`, and compiles in `scratch`.
    """
    make = recipe(play_here, dict(keys), str(out), str(extends.resolve()) if extends else "")
    readable = tuple(str(path.resolve()) for path in (*files, *([extends] if extends else [])))
    folder = str(Path().resolve()) if extends else str(scratch)
    return Setup(make, "sandboxed", folder, _IMPORTS, (str(scratch), str(out)), readable, processor=0)


def play_here(keys: Mapping[str, Any], out: str, extends: str) -> None:
    """Play a run in this process.

    Raises:
        ValueError: it cannot be played, or an agent does not compile: code that does not would take hours.
    """
    wanted = {**keys, "out": out, "jobs": 1}
    config = extended_config(extends, wanted) if extends else load_config(None, wanted)
    for spec in map(parse_spec, config.contenders):
        agent = make_agent(complete(spec)) if spec.is_file else None
        if agent and (why := agent.why_interpreted(config.size)):
            raise ValueError(f"it does not compile: {why}; isolation match plays it in Python")
    play_tournament(config, extends=Path(extends) if extends else None, pools=HerePool)
