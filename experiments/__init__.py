"""Design, run and record tournaments, and draw inferences from the records.

The public names are loaded on first use, so that importing this package stays quick.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from knights_isolation_packages import LazyPackage, refuse_hidden

if TYPE_CHECKING:
    from experiments.exact.accuracy import accuracies, run_decisions
    from experiments.exact.board_solving import solve_all
    from experiments.exact.labels import label_run, read_labels
    from experiments.exact.theoretical_results import opening_winners, split_by_theory
    from experiments.plan.config import Config, load_config
    from experiments.plan.tournament_plan import make_plan
    from experiments.play.run_extension import extended_config
    from experiments.play.runner import play_tournament
    from experiments.record.log import read_games
    from experiments.roster import parse_agent, spec_of
    from experiments.statistics.effort import measure_effort
    from experiments.statistics.run_results import RunResults, load_findings
    from experiments.suite import read_suite
    from experiments.verdicts.contender_verdicts import Verdicts, judge, rate
    from experiments.verdicts.frames import ratings_frame, standings_frame, verdict_frame
    from experiments.verdicts.sprt_tests import run_tests

__version__: str

__all__ = [
    "Config",
    "RunResults",
    "Verdicts",
    "accuracies",
    "extended_config",
    "judge",
    "label_run",
    "load_config",
    "load_findings",
    "make_plan",
    "measure_effort",
    "opening_winners",
    "parse_agent",
    "play_tournament",
    "rate",
    "ratings_frame",
    "read_games",
    "read_labels",
    "read_suite",
    "run_decisions",
    "run_tests",
    "solve_all",
    "spec_of",
    "split_by_theory",
    "standings_frame",
    "verdict_frame",
]

_HOMES = {
    "Config": "experiments.plan.config",
    "RunResults": "experiments.statistics.run_results",
    "Verdicts": "experiments.verdicts.contender_verdicts",
    "accuracies": "experiments.exact.accuracy",
    "extended_config": "experiments.play.run_extension",
    "judge": "experiments.verdicts.contender_verdicts",
    "label_run": "experiments.exact.labels",
    "load_config": "experiments.plan.config",
    "load_findings": "experiments.statistics.run_results",
    "make_plan": "experiments.plan.tournament_plan",
    "measure_effort": "experiments.statistics.effort",
    "opening_winners": "experiments.exact.theoretical_results",
    "parse_agent": "experiments.roster",
    "play_tournament": "experiments.play.runner",
    "rate": "experiments.verdicts.contender_verdicts",
    "ratings_frame": "experiments.verdicts.frames",
    "read_games": "experiments.record.log",
    "read_labels": "experiments.exact.labels",
    "read_suite": "experiments.suite",
    "run_decisions": "experiments.exact.accuracy",
    "run_tests": "experiments.verdicts.sprt_tests",
    "solve_all": "experiments.exact.board_solving",
    "spec_of": "experiments.roster",
    "split_by_theory": "experiments.exact.theoretical_results",
    "standings_frame": "experiments.verdicts.frames",
    "verdict_frame": "experiments.verdicts.frames",
}

refuse_hidden("isolation", "heuristics")
sys.modules[__name__].__class__ = LazyPackage
