"""Agent specs: `ID:improved@nodes=2000`, `my_agent.py:CustomPlayer` -> a player. The only place where names meet code.

    spec      = [ NAME "=" ] player [ "@" option { "," option } ]
    player    = "random" | "greedy" | "perfect" | "MCTS" | method ":" heuristic | FILE ".py" [ ":" CLASS ]
              | "apart:" FILE ".py:" CLASS | "engine:" PROGRAM
    method    = "MM" | "AB" | "ID" | "BF" | "MCTS"
    heuristic = a name of the registry | "*" | FILE ".py" [ ":" FUNCTION ]
    option    = "depth=" N | "nodes=" N | "ms=" X | "cpu_ms=" X | "order" | "quiescence" | "agree" | "ties"
              | "option." NAME "=" VALUE

`docs/reference/agents.md` explains each of them. `spec` defines parsed specs, `agent_kinds` is the table of agent
kinds, and `spec_parser` parses specs with it. Parsing and completing access no file; `expand` finds the files of a
pattern, `make_agent` loads the code that a spec names, and `named` loads a file without a name, in which
`default_names` chooses the player or heuristic.
"""

from experiments.roster.agent_kinds import CLASSIC_LIMIT, DEFAULT_LIMIT, board_refusal
from experiments.roster.function_files import AgentLike, reference_of, spec_of
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
    "AgentLike",
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
    "reference_of",
    "settings_text",
    "spec_of",
    "with_program",
]
