"""What commands take: agents, files of heuristics, runs, and the parameters that several of them share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from knights_isolation.experiments.agent_like import AgentLike as AgentLike
from knights_isolation.reports.answers import RunLike as RunLike

from .parameters import About

if TYPE_CHECKING:
    from knights_isolation.isolation import Board

SIZE = About(help="Board size, ROWSxCOLUMNS.", metavar="SIZE")
MOVES = About(help="Moves so far, as in d3,a2 or as cells 24,14 (row * columns + column).", metavar="MOVES")
Run = Annotated[RunLike, About(metavar="RUN", complete="run")]
Agent = Annotated[AgentLike, About(metavar="SPEC", complete="agent")]
CodeAgent = Annotated[Agent, About(is_code=True)]
"""An agent whose code runs in the process of the command."""
AnyHeuristic = Annotated[AgentLike, About(metavar="FILE[:FUNCTION]", complete="file")]
HeuristicFile = Annotated[AnyHeuristic, About(is_code=True)]
"""A function of (game, player), FILE.py:FUNCTION, or FILE.py for the only heuristic there or all of them."""
Size = Annotated[str, SIZE]
Moves = Annotated[str, MOVES]
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
