"""Agent specs: `ID:improved@nodes=2000`, `my_agent.py:CustomPlayer` -> a player. The only place where names meet code.

    spec      = [ NAME "=" ] player [ "@" option { "," option } ]
    player    = "random" | "greedy" | "perfect" | "MCTS" | method ":" heuristic | FILE ".py" [ ":" CLASS ]
              | "apart:" FILE ".py:" CLASS | "engine:" PROGRAM
    method    = "MM" | "AB" | "ID" | "BF" | "MCTS"
    heuristic = a name of the registry | "*" | FILE ".py" [ ":" FUNCTION ]
    option    = "depth=" N | "nodes=" N | "ms=" X | "cpu_ms=" X | "order" | "quiescence" | "agree" | "ties"
              | "option." NAME "=" VALUE

`docs/reference/agents.md` says what each means. `spec` holds what a spec says, `kinds` is the table of what can play,
and `grammar` reads specs by it. Parsing and completing touch no file; `expand` looks for the files of a pattern,
`make_agent` loads what a spec names, and `named` a file that stands alone, of which `naming` tells what is meant.
"""

from experiments.roster.agent_kinds import CLASSIC_LIMIT, DEFAULT_LIMIT, board_refusal
from experiments.roster.spec import Spec, SpecError, parse_limit
from experiments.roster.spec_parser import (
    complete,
    expand,
    make_agent,
    make_agents,
    named,
    parse_agent,
    parse_spec,
    settings_text,
    with_program,
)

__all__ = [
    "CLASSIC_LIMIT",
    "DEFAULT_LIMIT",
    "Spec",
    "SpecError",
    "board_refusal",
    "complete",
    "expand",
    "make_agent",
    "make_agents",
    "named",
    "parse_agent",
    "parse_limit",
    "parse_spec",
    "settings_text",
    "with_program",
]
