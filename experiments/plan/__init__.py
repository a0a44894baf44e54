"""Plans: agents by their specs, configuration, openings, schedules, run directories, lists of heuristics.

    spec      = [ NAME "=" ] player [ "@" option { "," option } ]
    player    = "random" | "greedy" | "perfect" | "MCTS" | method ":" heuristic | FILE ".py" [ ":" CLASS ]
              | "apart:" FILE ".py:" CLASS | "engine:" PROGRAM
    method    = "MM" | "AB" | "ID" | "BF" | "MCTS"
    heuristic = a name of the registry | "*" | FILE ".py" [ ":" FUNCTION ]
    option    = "depth=" N | "nodes=" N | "ms=" X | "cpu_ms=" X | "order" | "quiescence" | "agree" | "ties"
              | "option." NAME "=" VALUE

`docs/reference/agents.md` explains each part. `agent_kinds` is the table of agent kinds; `spec_parser` parses specs
with it, which accesses no file: `expand` finds the files of a pattern, `named` loads a file without a name, in which
`user_files` chooses the player or heuristic, and `make_agent` loads the code that a spec names.
"""

from knights_isolation.lazy_package import lazy_package

lazy_package(__name__)
