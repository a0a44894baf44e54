"""Discover evaluation functions."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from knights_isolation.reports.answers import Result, drawn

from ..inputs import Agent, Jobs, Seed, Size, agent_spec
from ..parameters import About, command
from ..surface import keeping, nested, tell
from .suites import screen
from .tournaments import match

if TYPE_CHECKING:
    from knights_isolation.experiments.discovery.campaign import Campaign
    from knights_isolation.reports.studies.discovery import Discovery, Verdict

_BASELINE = "ID:improved"
_SECONDS_OF_A_PAGE = 10.0
"""Between two pages of a search that goes on."""
Opponent = Annotated[Agent, About(help="A search by a heuristic, to be beaten at equal cost.")]


@command("tables", "plot")
def discover(
    *,
    minutes: Annotated[float, About(low=0, is_open=True)] = 5.0,
    seed: Seed = 1,
    board: Size = "7x7",
    against: Opponent = "ID:learned",
    out: Annotated[str | Path, About(is_folder=True, metavar="DIR")] | None = None,
    pairs: Annotated[int, About(low=10)] = 3000,
    jobs: Jobs = 0,
    show: Annotated[Callable[[str], None], About(place="python")] = tell,
) -> Result[Discovery]:
    """Search for evaluation functions among set programs, and judge the best one at equal cost.

    Programs are fitted to solved positions of the split fit, two thirds of them for training. The best twelve are
    written as Python files and play against the opponent; the champion alone is judged, by games from held-out openings
    and on the split screen. Ctrl-C keeps the search; run again, it continues, or repeats the answer. The lab lists its
    page, which is written meanwhile.

    Args:
        minutes: processor minutes of the search; more of them continue a shorter search.
        board: board size with a shipped suite of solved positions, 7x7 or 6x6.
        out: folder of the journal and of what is found; default: one below runs/.
        pairs: held-out openings of each verdict, each played twice.
        show: called with a line after each round.

    Examples:
        isolation discover --minutes 5 --seed 1
        isolation discover --minutes 2 --board 6x6 --against ID:territory

    Raises:
        ChildProcessError: a process of the search died.
    """
    from knights_isolation.experiments.discovery import finals
    from knights_isolation.experiments.record.run_directory import HOME
    from knights_isolation.reports.studies import discovery as words

    opponent = agent_spec(against)
    finals.check_opponent(opponent, board)
    folder = (Path(out) if out else HOME / f"discover-{board}-seed{seed}").resolve()
    with keeping("what was searched is in the journal"), nested():
        campaign = _searched(board, seed, folder, minutes, jobs, show)
        held = finals.hold_finals(campaign.archive.all[: finals.FINALISTS], opponent, board, folder, seed, jobs)
        verdicts = _judged(held[0].spec, opponent, board, pairs, seed, jobs)
        headroom = finals.measure_headroom(opponent, board, seed, jobs)
        evidence = [*map(words.evidence_sentence, verdicts), *words.headroom_sentences(headroom, opponent)]
        finals.write_found(held[0].found, held[0].file, evidence)
        strengths = tuple(finals.measure_strength(campaign, opponent, board, folder, seed, jobs))
        found = words.Discovery(campaign, tuple(held), verdicts, headroom, strengths)
        words.write_discovery_page(found, folder, board)
    chart = words.strength_chart(strengths) or words.growth_chart(campaign)
    return Result(found, words.discovery_sections(found), partial(drawn, chart, "One round is no curve yet."))


def _searched(board: str, seed: int, folder: Path, minutes: float, jobs: int, show: Callable[[str], None]) -> Campaign:
    """Search, and write the page meanwhile."""
    from knights_isolation.experiments.discovery.campaign import SearchTask, run_campaign
    from knights_isolation.reports.studies.discovery import Discovery, progress_line, write_discovery_page

    next_page = 0.0

    def after_round(campaign: Campaign) -> None:
        nonlocal next_page
        show(progress_line(campaign))
        if time.monotonic() >= next_page:
            write_discovery_page(Discovery(campaign), folder, board)
            next_page = time.monotonic() + _SECONDS_OF_A_PAGE

    return run_campaign(SearchTask(board, seed), folder / "journal.jsonl", minutes, jobs=jobs, show=after_round)


def _judged(champion: str, opponent: str, board: str, pairs: int, seed: int, jobs: int) -> tuple[Verdict, ...]:
    """Return verdicts from held-out openings and from the split `screen`, their p-values adjusted for each other.

    All are added to the log of tries.
    """
    from knights_isolation.experiments.discovery.kept_wins import NODES
    from knights_isolation.experiments.statistics.contender_verdicts import judge
    from knights_isolation.experiments.statistics.proportions import ALPHA, agree
    from knights_isolation.experiments.statistics.step_down import holm
    from knights_isolation.reports.studies.discovery import Verdict

    verdicts = []
    for other, nodes in dict.fromkeys([(opponent, NODES[0]), (opponent, NODES[-1]), (_BASELINE, NODES[-1])]):
        findings = match(
            champion, other, openings="random:4,screen", pairs=pairs, limit=f"nodes={nodes}", equal_cost=True,
            board=board, seed=seed, jobs=jobs,
        ).value  # fmt: skip
        (duel,) = judge(findings).duels
        less_lost = {end: 2 * getattr(duel.rate, end) - 1 for end in ("estimate", "low", "high")}
        verdicts.append(Verdict("games", other, nodes, duel.pairs.n, replace(duel.rate, **less_lost), duel.p_value))
    limit = f"nodes={NODES[-1]}"
    screened = screen(champion, baseline=opponent, suite=board, limit=limit, equal_cost=True, jobs=jobs).value.screening
    ((_, compared),) = screened.contenders
    verdicts.append(Verdict("positions", opponent, NODES[-1], len(screened.suite), compared.both, compared.p_value))
    adjusted = holm([verdict.p_value for verdict in verdicts])
    return tuple(
        replace(verdict, p_value=p_value, difference=agree(verdict.difference, p_value <= ALPHA))
        for verdict, p_value in zip(verdicts, adjusted, strict=True)
    )
