from knights_isolation.experiments.exact.accuracy import accuracies as accuracies
from knights_isolation.experiments.exact.accuracy import run_decisions as run_decisions
from knights_isolation.experiments.exact.board_solving import solve_all as solve_all
from knights_isolation.experiments.exact.labelling import label_run as label_run
from knights_isolation.experiments.exact.labels import read_labels as read_labels
from knights_isolation.experiments.exact.theory import opening_winners as opening_winners
from knights_isolation.experiments.exact.theory import split_by_theory as split_by_theory
from knights_isolation.experiments.plan import parse_agent as parse_agent
from knights_isolation.experiments.plan import spec_of as spec_of
from knights_isolation.experiments.plan.config import Config as Config
from knights_isolation.experiments.plan.config import load_config as load_config
from knights_isolation.experiments.plan.tournament_plan import make_plan as make_plan
from knights_isolation.experiments.play.run_extension import extended_config as extended_config
from knights_isolation.experiments.play.runner import play_tournament as play_tournament
from knights_isolation.experiments.record.log import read_games as read_games
from knights_isolation.experiments.statistics.contender_verdicts import Verdicts as Verdicts
from knights_isolation.experiments.statistics.contender_verdicts import judge as judge
from knights_isolation.experiments.statistics.frames import ratings_frame as ratings_frame
from knights_isolation.experiments.statistics.frames import standings_frame as standings_frame
from knights_isolation.experiments.statistics.frames import verdict_frame as verdict_frame
from knights_isolation.experiments.statistics.move_statistics import measure_effort as measure_effort
from knights_isolation.experiments.statistics.ratings import rate as rate
from knights_isolation.experiments.statistics.run_results import RunResults as RunResults
from knights_isolation.experiments.statistics.run_results import load_findings as load_findings
from knights_isolation.experiments.statistics.sprt import run_tests as run_tests
from knights_isolation.experiments.suite import read_suite as read_suite

__version__: str
