from knights_isolation.heuristics.features import FEATURES as FEATURES
from knights_isolation.heuristics.registry import Composite as Composite
from knights_isolation.heuristics.registry import Weight as Weight
from knights_isolation.heuristics.registry import canonical_name as canonical_name
from knights_isolation.heuristics.registry import get as get
from knights_isolation.heuristics.registry import meaning as meaning
from knights_isolation.heuristics.registry import names as names

__version__: str
