from knights_isolation.experiments.agent_like import AgentLike as AgentLike
from knights_isolation.experiments.plan.agent_kinds import DEFAULT_LIMIT as DEFAULT_LIMIT
from knights_isolation.experiments.plan.agent_kinds import Spec as Spec
from knights_isolation.experiments.plan.agent_kinds import SpecError as SpecError
from knights_isolation.experiments.plan.agent_kinds import board_refusal as board_refusal
from knights_isolation.experiments.plan.agent_kinds import parse_limit as parse_limit
from knights_isolation.experiments.plan.function_files import reference_of as reference_of
from knights_isolation.experiments.plan.function_files import spec_of as spec_of
from knights_isolation.experiments.plan.spec_parser import complete as complete
from knights_isolation.experiments.plan.spec_parser import expand as expand
from knights_isolation.experiments.plan.spec_parser import make_agent as make_agent
from knights_isolation.experiments.plan.spec_parser import make_agents as make_agents
from knights_isolation.experiments.plan.spec_parser import named as named
from knights_isolation.experiments.plan.spec_parser import named_settings as named_settings
from knights_isolation.experiments.plan.spec_parser import parse_agent as parse_agent
from knights_isolation.experiments.plan.spec_parser import parse_spec as parse_spec
from knights_isolation.experiments.plan.spec_parser import settings_text as settings_text
from knights_isolation.experiments.plan.spec_parser import with_program as with_program
from knights_isolation.experiments.plan.user_files import split_reference as split_reference

__version__: str
