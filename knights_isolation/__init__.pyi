from knights_isolation import experiments as experiments
from knights_isolation import heuristics as heuristics
from knights_isolation import isolation as isolation
from knights_isolation import reports as reports
from knights_isolation.catalogues import published as published
from knights_isolation.catalogues import runs as runs
from knights_isolation.catalogues import tried as tried
from knights_isolation.discovery import Discovery as Discovery
from knights_isolation.discovery import discover as discover
from knights_isolation.evaluation import evaluate as evaluate
from knights_isolation.evaluation import evaluate_all as evaluate_all
from knights_isolation.experiments.evaluation.evaluation import Evaluation as Evaluation
from knights_isolation.games import (
    export as export,
)
from knights_isolation.games import (
    games as games,
)
from knights_isolation.games import (
    import_games as import_games,
)
from knights_isolation.games import (
    replay as replay,
)
from knights_isolation.games import (
    sql as sql,
)
from knights_isolation.isolation.games.batch_evaluation import SolvedMoves as SolvedMoves
from knights_isolation.isolation.games.vector_games import VectorGames as VectorGames
from knights_isolation.league import league as league
from knights_isolation.learning import (
    Fitted as Fitted,
)
from knights_isolation.learning import (
    Screened as Screened,
)
from knights_isolation.learning import (
    Tuned as Tuned,
)
from knights_isolation.learning import (
    analyse as analyse,
)
from knights_isolation.learning import (
    features as features,
)
from knights_isolation.learning import (
    fit as fit,
)
from knights_isolation.learning import (
    screen as screen,
)
from knights_isolation.learning import (
    sweep as sweep,
)
from knights_isolation.learning import (
    tune as tune,
)
from knights_isolation.perfect_play import (
    accuracy as accuracy,
)
from knights_isolation.perfect_play import (
    dataset as dataset,
)
from knights_isolation.perfect_play import (
    label as label,
)
from knights_isolation.perfect_play import (
    suite_build as suite_build,
)
from knights_isolation.positions import (
    agent_policy as agent_policy,
)
from knights_isolation.positions import (
    best_moves as best_moves,
)
from knights_isolation.positions import (
    evaluate_positions as evaluate_positions,
)
from knights_isolation.positions import (
    exact as exact,
)
from knights_isolation.positions import (
    move_values as move_values,
)
from knights_isolation.positions import (
    solve as solve,
)
from knights_isolation.positions import (
    solve_moves as solve_moves,
)
from knights_isolation.refutation import refute as refute
from knights_isolation.research import Research as Research
from knights_isolation.research import research as research
from knights_isolation.result import Result as Result
from knights_isolation.runs import (
    Settings as Settings,
)
from knights_isolation.runs import (
    compare as compare,
)
from knights_isolation.runs import (
    diff as diff,
)
from knights_isolation.runs import (
    match as match,
)
from knights_isolation.runs import (
    plan as plan,
)
from knights_isolation.runs import (
    plot as plot,
)
from knights_isolation.runs import (
    ratings as ratings,
)
from knights_isolation.runs import (
    report as report,
)
from knights_isolation.runs import (
    sprt as sprt,
)
from knights_isolation.runs import (
    summary as summary,
)
from knights_isolation.runs import (
    tournament as tournament,
)

__version__: str
