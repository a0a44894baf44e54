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

from ..agent_like import AgentLike as AgentLike
from .agent_kinds import CLASSIC_LIMIT as CLASSIC_LIMIT
from .agent_kinds import DEFAULT_LIMIT as DEFAULT_LIMIT
from .agent_kinds import board_refusal as board_refusal
from .function_files import reference_of as reference_of
from .function_files import spec_of as spec_of
from .spec import Spec as Spec
from .spec import SpecError as SpecError
from .spec import parse_limit as parse_limit
from .spec import split_reference as split_reference
from .spec_parser import complete as complete
from .spec_parser import expand as expand
from .spec_parser import make_agent as make_agent
from .spec_parser import make_agents as make_agents
from .spec_parser import named as named
from .spec_parser import named_settings as named_settings
from .spec_parser import parse_agent as parse_agent
from .spec_parser import parse_spec as parse_spec
from .spec_parser import settings_text as settings_text
from .spec_parser import with_program as with_program
