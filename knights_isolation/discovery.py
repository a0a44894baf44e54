"""Discover evaluation functions: the function is the command `discover`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from knights_isolation.experiments.roster import AgentLike
from knights_isolation.learning import screen
from knights_isolation.result import Result
from knights_isolation.runs import agent_spec, match

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from knights_isolation.experiments.discovery.campaign import Campaign
    from knights_isolation.experiments.discovery.finals import Finalist, Headroom, Strength
    from knights_isolation.experiments.inference.cluster_intervals import Interval
    from knights_isolation.reports.studies.discovery import Verdict

_BASELINE = "ID:improved"
_SECONDS_OF_A_PAGE = 10.0
"""Between two pages of a search that goes on."""


@dataclass(frozen=True)
class Discovery:
    """What a campaign found.

    Attributes:
        finalists: its best programs as files, the champion first.
        verdicts: what the champion achieved on held-out openings and positions.
        headroom: what there is to gain against the opponent.
        strengths: what the best program so far won, by the processor time of the search.
        campaign: the archive, and how it grew.
    """

    finalists: tuple[Finalist, ...]
    verdicts: tuple[Verdict, ...]
    headroom: Headroom
    strengths: tuple[Strength, ...]
    campaign: Campaign


def discover(
    *,
    minutes: float = 5.0,
    seed: int = 1,
    board: str = "7x7",
    against: AgentLike = "ID:learned",
    out: str | Path | None = None,
    pairs: int = 3000,
    jobs: int = 0,
    show: Callable[[str], None] = lambda line: None,
) -> Result[Discovery]:
    """Search for evaluation functions among set programs, and judge the best one at equal cost.

    Programs are fitted to solved positions of the split `fit`, two thirds of them for training. The best twelve are
    written as Python files and play against the opponent; the champion alone is judged, by games from held-out openings
    and on the split `screen`. The same call resumes, or repeats the answer. The page `analysis.html` in the folder is
    written while the search goes on, and lists verdicts in the end; the lab lists it.

    Args:
        minutes: processor minutes of the search; a longer search continues a shorter one.
        board: one with a shipped suite of solved positions.
        against: a search by a heuristic, without a limit.
        out: folder of journal and files; by default one below `runs/`.
        pairs: held-out openings of each verdict, each played twice.
        show: called with a line after each round.

    Raises:
        ValueError: an argument is invalid.
        ChildProcessError: a process of the search died.
    """
    from knights_isolation.experiments.discovery import finals
    from knights_isolation.experiments.discovery.campaign import SearchTask, run_campaign
    from knights_isolation.experiments.record.run_directory import HOME
    from knights_isolation.reports.studies.discovery import (
        discovery_sections,
        headroom_sentences,
        progress_line,
        write_discovery_page,
    )

    opponent = _checked(agent_spec(against), board)
    folder = (Path(out) if out else HOME / f"discover-{board}-seed{seed}").resolve()
    next_page = 0.0

    def after_round(campaign: Campaign) -> None:
        nonlocal next_page
        show(progress_line(campaign))
        if time.monotonic() >= next_page:
            write_discovery_page(campaign, folder, board)
            next_page = time.monotonic() + _SECONDS_OF_A_PAGE

    campaign = run_campaign(SearchTask(board, seed), folder / "journal.jsonl", minutes, jobs=jobs, show=after_round)
    held = finals.hold_finals(campaign.archive.all[: finals.FINALISTS], opponent, board, folder, seed, jobs)
    verdicts = _judged(held[0].spec, opponent, board, pairs, seed, jobs)
    headroom = finals.measure_headroom(opponent, board, seed, jobs)
    evidence = [*map(_evidence, verdicts), *headroom_sentences(headroom, opponent)]
    finals.write_found(held[0].found, held[0].file, evidence)
    strengths = tuple(finals.measure_strength(campaign, opponent, board, folder, seed, jobs))
    write_discovery_page(campaign, folder, board, held, verdicts, strengths)
    found = Discovery(tuple(held), verdicts, headroom, strengths, campaign)
    sections = discovery_sections(campaign, held, verdicts, strengths)
    return Result(found, sections, partial(_draw, campaign, strengths))


def _checked(opponent: str, board: str) -> str:
    """Return the opponent.

    Raises:
        ValueError: it is no search by a heuristic, it has a limit, or there are no solved positions of the board.
    """
    from knights_isolation.experiments.evaluation.cascade import check_question
    from knights_isolation.experiments.evaluation.evaluation import EvaluationTask
    from knights_isolation.experiments.roster import parse_spec
    from knights_isolation.experiments.suite.suite_file import shipped_suites

    if board not in shipped_suites():
        raise ValueError(f"no solved positions ship for {board}: choose one of {', '.join(shipped_suites())}")
    if parse_spec(opponent).limit:
        raise ValueError(f"{opponent}: leave out its limit; games are played at several")
    check_question(EvaluationTask("cost", opponent, board))
    return opponent


def _judged(champion: str, opponent: str, board: str, pairs: int, seed: int, jobs: int) -> tuple[Verdict, ...]:
    """Return verdicts from held-out openings and from the split `screen`, their p-values adjusted for each other.

    All are added to the log of tries.
    """
    from knights_isolation.experiments.discovery.kept_wins import NODES
    from knights_isolation.experiments.inference.cluster_intervals import agree
    from knights_isolation.experiments.inference.contenders.multiple_testing import holm
    from knights_isolation.experiments.verdicts.contender_verdicts import judge
    from knights_isolation.reports.studies.discovery import ALPHA, Verdict

    verdicts = []
    for other, nodes in dict.fromkeys([(opponent, NODES[0]), (opponent, NODES[-1]), (_BASELINE, NODES[-1])]):
        findings = match(
            champion, other, openings="random:4,screen", pairs=pairs, limit=f"nodes={nodes}", equal_cost=True,
            board=board, seed=seed, jobs=jobs,
        ).value  # fmt: skip
        (duel,) = judge(findings).duels
        verdicts.append(Verdict("games", other, nodes, duel.pairs.n, _doubled(duel.rate), duel.p_value))
    screening = screen(
        champion, baseline=opponent, suite=board, limit=f"nodes={NODES[-1]}", equal_cost=True, jobs=jobs
    ).value.screening  # fmt: skip
    ((_, compared),) = screening.contenders
    positions = len(screening.suite)
    verdicts.append(Verdict("positions", opponent, NODES[-1], positions, compared.both, compared.p_value))
    adjusted = holm([verdict.p_value for verdict in verdicts])
    return tuple(
        replace(verdict, p_value=p_value, difference=agree(verdict.difference, p_value <= ALPHA))
        for verdict, p_value in zip(verdicts, adjusted, strict=True)
    )


def _doubled(rate: Interval) -> Interval:
    """Return a share of games won as games won less games lost."""
    return replace(rate, estimate=2 * rate.estimate - 1, low=2 * rate.low - 1, high=2 * rate.high - 1)


def _evidence(verdict: Verdict) -> str:
    from knights_isolation.reports.text.cell_values import Points, estimate_of

    return (
        f"{verdict.judged_on.capitalize()} against {verdict.opponent} at {verdict.nodes:,} nodes, equal cost: "
        f"{estimate_of(verdict.difference, Points).text} points, n = {verdict.n:,}."
    )


def _draw(campaign: Campaign, strengths: Sequence[Strength]) -> Figure:
    from knights_isolation.reports.plots.draw_chart import draw_chart
    from knights_isolation.reports.studies.discovery import growth_chart, strength_chart

    return draw_chart(strength_chart(strengths) or growth_chart(campaign), "One round is no curve yet.")
