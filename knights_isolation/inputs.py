"""What commands take: agents, files of heuristics, runs, and the parameters that several of them share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

from knights_isolation.experiments.agent_like import AgentLike as AgentLike
from knights_isolation.reports.answers import Result

from .parameters import About
from .surface import tell

if TYPE_CHECKING:
    from knights_isolation.experiments.statistics.run_results import RunResults
    from knights_isolation.isolation import Board

RunLike: TypeAlias = "str | Path | RunResults | Result[RunResults]"
"""A run: its directory, its name below `runs/`, what was read of it, or the result of a function that played it."""
Run = Annotated[RunLike, About(metavar="RUN", complete="run")]
Agent = Annotated[AgentLike, About(metavar="SPEC", complete="agent")]
CodeAgent = Annotated[Agent, About(is_code=True)]
"""An agent whose code runs in the process of the command."""
AnyHeuristic = Annotated[AgentLike, About(metavar="FILE[:FUNCTION]", complete="file")]
HeuristicFile = Annotated[AnyHeuristic, About(is_code=True)]
"""A function of (game, player), FILE.py:FUNCTION, or FILE.py for the only heuristic there or all of them."""
Size = Annotated[str, About(help="Board size, ROWSxCOLUMNS.")]
LimitText = Annotated[str, About(help="Limit of agents without one: nodes=N, depth=N, ms=N or cpu_ms=N.")]
Rival = Annotated[Agent, About(help="Compare with this agent instead of ID_Improved.")]
Jobs = Annotated[int, About(help="Worker processes; 0: one per core.", low=0)]
Seed = Annotated[int, About(help="Random seed.", low=0)]
Count = Annotated[int, About(low=1)]
Cluster = Annotated[
    str, About(help="Use a cluster: address of its scheduler, or the scheduler's file.", metavar="ADDRESS|FILE")
]
EqualCost = Annotated[bool, About(help="Scale node limits so that all agents cost the same CPU time.")]
SuiteName = Annotated[str | Path, About(help="A shipped suite, or a file.", metavar="NAME|FILE")]
Agents = Annotated[Agent, About(is_needed=True)]
"""Any number of agents, but one at least."""
SolvingLimit = Annotated[str, About(help="Limit per position: nodes=N, ms=N or cpu_ms=N.")]
SolvingNodes = Annotated[
    int, About(help="Node limit per solved position; unsolved positions are excluded.", low=1, flags=("--limit",))
]
Ply = Annotated[int, About(low=3)]
Position = Annotated["Board", About(is_position=True)]
"""A board; on the command line that after --moves on a --board, or of a --fen."""
NewFile = Annotated[str | Path, About(suffixes=("",), metavar="FILE")]
"""A file to write, in a folder that there is."""
Output = Annotated[str | Path, About(suffixes=("",), is_folder=True)]
"""A file or folder to write, with its parents."""
Port = Annotated[int, About(help="Port to serve on; any free one by default.", low=0, high=65535)]
NoOpen = Annotated[bool, About(help="Do not open a browser.")]
Worth = Annotated[
    float, About(help="Smallest difference that matters, in percentage points.", low=0, high=50, is_open=True)
]
Baseline = Annotated[str, About(help="Compare with this agent instead of the run's own baseline.", metavar="AGENT")]
Mixed = Annotated[bool, About(help="Pool runs even if limits, boards or openings differ.")]


def agent_spec(agent: AgentLike) -> str:
    """Return the spec of an agent; see `roster.spec_of`, which is loaded when it is asked."""
    from knights_isolation.experiments.roster import spec_of

    return spec_of(agent)


def is_run_like(what: object) -> bool:
    """Return whether something names a run: results, a path, or a text that is a run's directory or name."""
    from knights_isolation.experiments.record.run_directory import is_run, run_called
    from knights_isolation.experiments.statistics.run_results import RunResults

    if isinstance(what, str):
        return is_run(run_called(what))
    return isinstance(what, Path | RunResults | Result)


def read_runs(runs: Sequence[RunLike], baseline: str | None = None, mixed: bool = False) -> RunResults:
    """Read runs for analysis; the latest one if none is named.

    Raises:
        ValueError: there is no such run, or runs cannot be pooled.
    """
    from knights_isolation.experiments.statistics.run_results import RunResults, load_findings

    read = runs[0].value if len(runs) == 1 and isinstance(runs[0], Result) else runs[0] if len(runs) == 1 else None
    if isinstance(read, RunResults) and baseline is None:
        return read
    return load_findings(run_paths(runs), baseline, mixed)


def run_paths(runs: Sequence[RunLike]) -> list[Path]:
    """Return the directories of runs; that of the latest one if none is named.

    Raises:
        ValueError: none is named, and there is none; or something else is named, such as a function.
    """
    from knights_isolation.experiments.record.run_directory import load_run, run_called
    from knights_isolation.experiments.statistics.run_results import RunResults

    paths: list[Path] = []
    for run in runs:
        read = run.value if isinstance(run, Result) else run
        if callable(read):
            raise ValueError(
                f"{getattr(read, '__name__', read)} is a function, not a run: play it first, with compare() or match()"
            )
        if isinstance(read, RunResults):
            paths += [source.info.path for source in read.sources]
        elif isinstance(read, str | Path):
            named = run_called(read)
            paths.append(named if named.exists() else load_run(named).path)
        else:
            raise ValueError(
                f"a run is needed: its directory, or a result of compare() or match(), not {type(read).__name__}"
            )
    return paths or [_latest_run()]


def run_path(run: RunLike | None) -> Path:
    """Return the directory of one run; that of the latest one if none is named.

    Raises:
        ValueError: none is named and there is none, or several were pooled.
    """
    paths = run_paths([] if run is None else [run])
    if len(paths) > 1:
        raise ValueError(f"one run is needed, not {len(paths)}")
    return paths[0]


def _latest_run() -> Path:
    """Return the latest run, whose name the command line prints."""
    from knights_isolation.experiments.record.run_directory import games_in, has_games, is_finished, latest_run

    latest, without_games = latest_run()
    state = "" if is_finished(latest) else f", which is not finished ({games_in(latest)})"
    skipped = f"; no games yet in {', '.join(map(str, without_games))}" if without_games else ""
    kind = "the latest with games" if has_games(latest) else "the latest"
    tell(f"No run named: using {kind}, {latest}{state}{skipped}.")
    return latest


def position_of(size: str | None = None, moves: str = "", fen: str | None = None) -> Board:
    """Return the board after `moves` on a board of a size, 7x7 by default, or that of a FEN.

    Raises:
        ValueError: one is invalid, or a FEN was given with another.
    """
    from knights_isolation.isolation import Board
    from knights_isolation.isolation.games.transcript import board_after

    if fen is None:
        return board_after(moves, size or "7x7")
    if moves:
        raise ValueError("--moves and --fen exclude each other: use one of them")
    if size:
        raise ValueError("a FEN contains its board: omit --board")
    return Board.from_fen(fen)
