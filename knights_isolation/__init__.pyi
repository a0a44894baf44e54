from knights_isolation import experiments as experiments
from knights_isolation import heuristics as heuristics
from knights_isolation import isolation as isolation
from knights_isolation import reports as reports
from knights_isolation.commands.commits import *
from knights_isolation.commands.discovery import *
from knights_isolation.commands.engines import *
from knights_isolation.commands.evaluation import *
from knights_isolation.commands.games import *
from knights_isolation.commands.heuristics import *
from knights_isolation.commands.league import *
from knights_isolation.commands.perfect_play import *
from knights_isolation.commands.research import *
from knights_isolation.commands.results import *
from knights_isolation.commands.run_lists import *
from knights_isolation.commands.suites import *
from knights_isolation.commands.system import *
from knights_isolation.commands.tournaments import *
from knights_isolation.commands.tuning import *
from knights_isolation.experiments.positions import *
from knights_isolation.experiments.suite.screen_agents import Screened as Screened
from knights_isolation.isolation.games.batch_evaluation import (
    SolvedMoves as SolvedMoves,
)
from knights_isolation.isolation.games.vector_games import VectorGames as VectorGames
from knights_isolation.reports.answers import Result as Result
from knights_isolation.reports.studies.discovery import Discovery as Discovery
from knights_isolation.reports.studies.tuning import Fitted as Fitted
from knights_isolation.reports.studies.tuning import Tuned as Tuned

__version__: str
