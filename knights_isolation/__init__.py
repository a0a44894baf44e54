"""The functions of the toolkit, named like the commands of `isolation`: each returns a result for a notebook::

    import knights_isolation as ki

    ki.screen(score)                      # score: a function of (game, player)
    ki.compare(score, pairs=200).to_frame()

The public names are loaded on first use, so that importing this package stays quick.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from knights_isolation_packages import LazyPackage, refuse_hidden

if TYPE_CHECKING:
    from experiments.evaluation.evaluation import Evaluation
    from isolation.games.batch_solver import SolvedMoves
    from isolation.games.vector_games import VectorGames
    from knights_isolation.catalogues import heuristics, published, runs, tried
    from knights_isolation.discovery import Discovery, discover
    from knights_isolation.evaluation import evaluate, evaluate_all
    from knights_isolation.games import export, games, import_games, replay, sql
    from knights_isolation.league import league
    from knights_isolation.learning import Fitted, Screened, Tuned, analyse, features, fit, screen, sweep, tune
    from knights_isolation.perfect_play import accuracy, dataset, label, suite_build
    from knights_isolation.positions import (
        agent_policy,
        best_moves,
        evaluate_positions,
        exact,
        move_values,
        solve,
        solve_moves,
    )
    from knights_isolation.refutation import refute
    from knights_isolation.research import Research, research
    from knights_isolation.result import Result
    from knights_isolation.runs import (
        Settings,
        compare,
        diff,
        match,
        plan,
        plot,
        ratings,
        report,
        sprt,
        summary,
        tournament,
    )

__version__: str

__all__ = [
    "Discovery",
    "Evaluation",
    "Fitted",
    "Research",
    "Result",
    "Screened",
    "Settings",
    "SolvedMoves",
    "Tuned",
    "VectorGames",
    "accuracy",
    "agent_policy",
    "analyse",
    "best_moves",
    "compare",
    "dataset",
    "diff",
    "discover",
    "evaluate",
    "evaluate_all",
    "evaluate_positions",
    "exact",
    "export",
    "features",
    "fit",
    "games",
    "heuristics",
    "import_games",
    "label",
    "league",
    "match",
    "move_values",
    "plan",
    "plot",
    "published",
    "ratings",
    "refute",
    "replay",
    "report",
    "research",
    "runs",
    "screen",
    "solve",
    "solve_moves",
    "sprt",
    "sql",
    "suite_build",
    "summary",
    "sweep",
    "tournament",
    "tried",
    "tune",
]

_HOMES = {
    "accuracy": "knights_isolation.perfect_play",
    "dataset": "knights_isolation.perfect_play",
    "label": "knights_isolation.perfect_play",
    "league": "knights_isolation.league",
    "suite_build": "knights_isolation.perfect_play",
    "games": "knights_isolation.games",
    "replay": "knights_isolation.games",
    "plot": "knights_isolation.runs",
    "runs": "knights_isolation.catalogues",
    "tried": "knights_isolation.catalogues",
    "heuristics": "knights_isolation.catalogues",
    "published": "knights_isolation.catalogues",
    "agent_policy": "knights_isolation.positions",
    "Evaluation": "experiments.evaluation.evaluation",
    "Discovery": "knights_isolation.discovery",
    "discover": "knights_isolation.discovery",
    "evaluate": "knights_isolation.evaluation",
    "evaluate_all": "knights_isolation.evaluation",
    "solve": "knights_isolation.positions",
    "solve_moves": "knights_isolation.positions",
    "move_values": "knights_isolation.positions",
    "exact": "knights_isolation.positions",
    "evaluate_positions": "knights_isolation.positions",
    "analyse": "knights_isolation.learning",
    "best_moves": "knights_isolation.positions",
    "Fitted": "knights_isolation.learning",
    "refute": "knights_isolation.refutation",
    "Research": "knights_isolation.research",
    "research": "knights_isolation.research",
    "Result": "knights_isolation.result",
    "Screened": "knights_isolation.learning",
    "Settings": "knights_isolation.runs",
    "SolvedMoves": "isolation.games.batch_solver",
    "VectorGames": "isolation.games.vector_games",
    "Tuned": "knights_isolation.learning",
    "compare": "knights_isolation.runs",
    "diff": "knights_isolation.runs",
    "export": "knights_isolation.games",
    "features": "knights_isolation.learning",
    "fit": "knights_isolation.learning",
    "import_games": "knights_isolation.games",
    "match": "knights_isolation.runs",
    "plan": "knights_isolation.runs",
    "ratings": "knights_isolation.runs",
    "report": "knights_isolation.runs",
    "screen": "knights_isolation.learning",
    "sprt": "knights_isolation.runs",
    "sql": "knights_isolation.games",
    "summary": "knights_isolation.runs",
    "sweep": "knights_isolation.learning",
    "tournament": "knights_isolation.runs",
    "tune": "knights_isolation.learning",
}

refuse_hidden("isolation", "heuristics", "experiments", "reports")
sys.modules[__name__].__class__ = LazyPackage
