from knights_isolation import experiments as experiments
from knights_isolation import heuristics as heuristics
from knights_isolation import isolation as isolation
from knights_isolation import reports as reports
from knights_isolation.commands.games import *
from knights_isolation.commands.heuristics import *
from knights_isolation.commands.perfect_play import *
from knights_isolation.commands.results import *
from knights_isolation.commands.studies import *
from knights_isolation.commands.studies import evaluate as evaluate
from knights_isolation.commands.system import *
from knights_isolation.commands.tournaments import *
from knights_isolation.commands.tournaments import Settings as Settings
from knights_isolation.commands.tournaments import compare as compare
from knights_isolation.experiments.positions import agent_policy as agent_policy
from knights_isolation.experiments.positions import best_moves as best_moves
from knights_isolation.experiments.positions import evaluate_positions as evaluate_positions
from knights_isolation.experiments.positions import exact as exact
from knights_isolation.experiments.positions import move_values as move_values
from knights_isolation.experiments.positions import solve_moves as solve_moves
from knights_isolation.experiments.record.log import read_games as read_games
from knights_isolation.experiments.studies.evaluation import Evaluation as Evaluation
from knights_isolation.experiments.studies.screening import Screened as Screened
from knights_isolation.isolation.games.batches import SolvedMoves as SolvedMoves
from knights_isolation.isolation.games.learning import VectorGames as VectorGames
from knights_isolation.reports.answers import Result as Result
from knights_isolation.reports.studies.discovery import Discovery as Discovery
from knights_isolation.reports.studies.research import Research as Research
from knights_isolation.reports.studies.tuning import Fitted as Fitted
from knights_isolation.reports.studies.tuning import Tuned as Tuned

__version__: str
