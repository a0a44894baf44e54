"""Screen agents on a suite: their moves, wins kept, trouble, and the difference to a baseline.

Deterministic agents are asked once; others are asked several times, and their results are averaged.

An agent's *kept* is the share of telling positions in which its move keeps the win. Its *trouble* is the error rate of
the reference field after its moves in lost positions, minus the error rate after the average legal move there. *Both*
is their mean over all positions: the average share of a win that a decision is worth compared with an alternative.

The unit is the orbit of the opening, since positions from one opening depend on each other. Intervals resample orbits,
and the test exchanges contender and baseline in whole orbits.
"""

from __future__ import annotations

import math
import os
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from knights_isolation.isolation.checks.answers import unresponsive_reason
from knights_isolation.isolation.checks.search_cost import measure_costs
from knights_isolation.isolation.games.batches import NO_ANSWER, BatchMoves, Positions, choose_moves, join_answers
from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.game import REASON_WORDS, Cost, Limit, Reason, Size
from knights_isolation.isolation.rules.seeds import splitmix64
from knights_isolation.isolation.search.agents import Agent, SearchAgent
from knights_isolation.isolation.usercode.output_capture import WantsToEnd, capture_output, prevent_exit
from knights_isolation.isolation.usercode.timeouts import UserCodeTimeout, cpu_timeout

from ..plan import make_agent, make_agents, parse_spec
from ..play.cluster.cluster_access import UserFile, chosen, files_of, placed_specs
from ..play.equal_cost import specs_at_equal_cost
from ..play.parallel_map import parallel_map
from ..statistics.proportions import ErrorContributions, Floats, Interval, Ints, mean_parts, rate_interval
from ..statistics.step_down import flip, step_down
from ..suite.suite_file import Suite, members, read_suite

REPEATS = 4
"""Number of times that nondeterministic agents are asked in each position."""
LONGEST_SEARCH = 10.0
"""Time limit in CPU seconds for repeating a search that failed."""

Question = tuple[str, int, Positions, NDArray[np.uint64]]
"""The spec of an agent, a number, and positions in which it is asked, with a seed for each."""
_COMPILED_CHUNK = 1000
_INTERPRETED_CHUNK = 10


@dataclass(frozen=True)
class AgentAnswers:
    """Moves of an agent, by its name and its complete spec; the spec is empty if it was given as a function.

    `answers` are its moves, `repeats` in each position, ordered by repetition, then by position.
    """

    name: str
    spec: str
    repeats: int
    answers: BatchMoves

    @property
    def cells(self) -> NDArray[np.int16]:
        """int16[repeats, n], the cells of its moves."""
        return self.answers.cells.reshape(self.repeats, -1)


def collect_answers(
    specs: Sequence[str],
    positions: Positions,
    *,
    limit: Limit | None = None,
    repeats: int = REPEATS,
    seed: int = 1,
    jobs: int = 1,
    cluster: str | None = None,
    show: Callable[[int, int], None] = lambda asked, agents: None,
) -> list[AgentAnswers]:
    """Ask each agent for its move in each position.

    A spec may stand for several agents, as `ID:*` does; duplicates count once.

    Compiled agents are asked in threads of this process, others in worker processes or on a cluster.

    Args:
        limit: for agents without a limit.
        jobs, cluster: see `parallel_map.parallel_mapper`.
        show: called with the number of finished agents, and of all.

    Raises:
        SpecError: a spec names no agent.
        ValueError: user code does not answer in time.
    """
    wanted = agents_of(specs, limit)
    compiled = {spec for spec, agent in wanted.items() if agent.compiled(positions.size) is not None}
    alone = [spec for spec in wanted if spec not in compiled]
    for spec in alone:
        if silence := unresponsive_reason(wanted[spec], positions.size):
            raise ValueError(silence)
    here, apart = list[Question](), list[Question]()
    for spec, agent in wanted.items():
        rows = np.arange(_times(agent, repeats) * len(positions))
        chunk, questions = (_COMPILED_CHUNK, here) if spec in compiled else (_INTERPRETED_CHUNK, apart)
        starts = range(0, len(rows), chunk)
        questions += [
            (spec, number, *_asked(positions, rows[start : start + chunk], seed)) for number, start in enumerate(starts)
        ]
    parts: dict[str, dict[int, BatchMoves]] = {spec: {} for spec in wanted}
    due = Counter(spec for spec, *_ in (*here, *apart))
    files = files_of(alone) if chosen(cluster, jobs) else ()
    calls = ((files, *question) for question in apart)
    show(0, len(wanted))
    for spec, number, answers in chain(_in_threads(wanted, here, jobs), parallel_map(_ask_again, calls, jobs, cluster)):
        parts[spec][number] = answers
        show(sum(len(parts[each]) == due[each] for each in wanted), len(wanted))
    joined = {spec: join_answers([parts[spec][number] for number in range(due[spec])]) for spec in wanted}
    return [AgentAnswers(agent.name, spec, _times(agent, repeats), joined[spec]) for spec, agent in wanted.items()]


def costs_over_first(specs: Sequence[str], size: Size) -> dict[str, Cost]:
    """Measure the agents' costs per node on this machine, relative to the first, by name; see `measure_costs`.

    Agents whose cost cannot be measured are missing; if the first one is among them, all are.
    """
    agents = [make_agent(parse_spec(spec)) for spec in specs]
    costs = measure_costs(agents, size)
    known = zip(agents, costs, strict=True) if isinstance(costs[0], Cost) else ()
    return {agent.name: cost for agent, cost in known if isinstance(cost, Cost)}


def agents_of(specs: Sequence[str], limit: Limit | None) -> dict[str, Agent]:
    """Return the agents of specs by their completed specs; warn about files that are left out."""
    wanted: dict[str, Agent] = {}
    for text in specs:
        made, left_out = make_agents(text, limit)
        wanted |= {str(spec): agent for spec, agent in made}
        for why in left_out:
            warnings.warn(f"left out: {why}", stacklevel=2)
    return wanted


def ask(agent: Agent, positions: Positions, repeats: int = REPEATS, seed: int = 1) -> AgentAnswers:
    """Ask one agent for its moves in all positions, in this process."""
    rows = np.arange(_times(agent, repeats) * len(positions))
    return AgentAnswers(agent.name, "", _times(agent, repeats), choose_moves(agent, *_asked(positions, rows, seed)))


def failing_position(agent: SearchAgent, root: Board) -> Board | None:
    """Repeat a search in Python, and return the position at which the heuristic fails; None if it does not in time."""
    asked = root

    def watched(game: Any, player: Any) -> float:
        nonlocal asked
        asked = game
        return agent.heuristic(game, player)  # type: ignore[misc]

    try:
        with capture_output(), prevent_exit(), cpu_timeout(LONGEST_SEARCH):
            replace(agent, heuristic=watched).find_in_python(root.copy(), 0)
    except (UserCodeTimeout, WantsToEnd):
        return None
    except Exception:  # any exception of the heuristic
        return asked.copy()
    return None


def failing_positions(asked: Sequence[AgentAnswers], positions: Positions) -> dict[str, tuple[str, Board]]:
    """Return, by agent name, the FILE:FUNCTION of each heuristic that failed in these positions, and where it fails.

    Heuristics with other parameter values than their defaults, and failures that do not recur, are left out.
    """
    first_failures = {}
    for answers in asked:
        first = answers.answers.first_failure
        if first is None or answers.answers.failure[first] != Reason.ERROR:
            continue
        spec = parse_spec(answers.spec)
        agent, root = make_agent(spec), positions.board(first % len(positions))
        if not isinstance(agent, SearchAgent) or not spec.is_file or spec.parameters:
            continue
        if board := failing_position(agent, root):
            first_failures[answers.name] = spec.target, board
    return first_failures


def _times(agent: Agent, repeats: int) -> int:
    return 1 if agent.is_deterministic else repeats


def _asked(positions: Positions, rows: Ints, seed: int) -> tuple[Positions, NDArray[np.uint64]]:
    """Return the positions of some answers, which are ordered by repetition, then by position, and a seed for each."""
    seeds = splitmix64(np.uint64(splitmix64(seed)) ^ splitmix64(rows.astype(np.uint64) + np.uint64(1)))
    return positions.take(rows % len(positions)), seeds


def _in_threads(
    agents: Mapping[str, Agent], questions: Sequence[Question], jobs: int
) -> Iterator[tuple[str, int, BatchMoves]]:
    if not questions:
        return
    is_cancelled = threading.Event()
    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        running = {
            pool.submit(choose_moves, agents[spec], asked, seeds, is_cancelled.is_set): (spec, number)
            for spec, number, asked, seeds in questions
        }
        try:
            for done in as_completed(running):
                yield *running[done], done.result()
        except BaseException:
            is_cancelled.set()
            pool.shutdown(cancel_futures=True)
            raise


def _ask_again(
    files: Sequence[UserFile], spec: str, number: int, positions: Positions, seeds: NDArray[np.uint64]
) -> tuple[str, int, BatchMoves]:
    """Recreate an agent in another process, perhaps on another machine with transferred user files, and ask it."""
    (here,) = placed_specs([spec], files)
    return spec, number, choose_moves(make_agent(parse_spec(here)), positions, seeds)


PLY_BAND = 6
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Score:
    """Score of an agent on a suite.

    Attributes:
        repeats: number of answers in each position.
        kept: share of wins kept in telling positions.
        trouble: share of the field that errs after its moves in lost positions, minus that for the average move.
        both: mean of both over all positions.
        failures: number of forfeits, by the words of reasons, most frequent first.
        detail: detail of the first failure; of the first error if there are any.
        failed_at: moves that lead to that position; empty if it never failed.
    """

    agent: str
    repeats: int
    kept: Interval
    trouble: float
    both: float
    failures: tuple[tuple[str, int], ...]
    detail: str
    failed_at: tuple[int, ...]

    @property
    def failed(self) -> int:
        """Number of forfeits."""
        return sum(count for _, count in self.failures)


@dataclass(frozen=True)
class SuiteComparison:
    """A contender compared with the baseline, in the same positions.

    Attributes:
        kept, trouble: individual differences; exactly 0 if they never differ.
        both: difference of all, with an interval that holds for all contenders together.
        p_value: two-sided p-value of `both` alone: contender and baseline are exchangeable in every orbit.
        adjusted: the same, adjusted by the step-down procedure over all contenders that also gives `both`'s interval.
        differs: number of positions in which their moves differ at least once.
    """

    kept: Interval
    trouble: Interval
    both: Interval
    p_value: float
    adjusted: float
    differs: int


@dataclass(frozen=True)
class SuiteSlice:
    """Wins kept in some of the telling positions, by the contender and by the baseline."""

    name: str
    positions: int
    contender: float
    baseline: float


@dataclass(frozen=True)
class Mistake:
    """A win thrown away: the moves that led to the position, the cell `played`, and those that keep the win.

    `field` is the share of the reference field that keeps it.
    """

    moves: tuple[int, ...]
    played: int
    winning: tuple[int, ...]
    field: float
    baseline_keeps: bool


@dataclass(frozen=True)
class Screening:
    """Scores of a baseline and of contenders on a suite, in the given order, each with its comparison."""

    suite: Suite
    baseline: Score
    contenders: tuple[tuple[Score, SuiteComparison], ...]


MISTAKES = 5
"""Number of mistakes that are shown of each contender."""


@dataclass(frozen=True)
class Screened:
    """Scores on a suite, by contender the clearest mistakes, and by agent the cost of a node.

    `own` and `others` are the answers of baseline and contenders; for `failing` see `failing_positions`. `part` says in
    words which positions of the suite were asked.
    """

    screening: Screening
    mistakes: dict[str, list[Mistake]]
    costs: dict[str, Cost]
    own: AgentAnswers
    others: tuple[AgentAnswers, ...]
    failing: dict[str, tuple[str, Board]]
    part: str
    is_at_equal_cost: bool


def screen_agents(
    specs: Sequence[str],
    suite: str | Path,
    limit: Limit,
    *,
    split: Literal["screen", "fit", "all"] = "screen",
    sample: int | None = None,
    seed: int = 1,
    equal_cost: bool = False,
    **settings: Any,
) -> Screened:
    """Compare agents with the first, the baseline, in a suite's positions; `settings` are of `collect_answers`.

    Raises:
        ValueError: an agent or the suite is invalid, the baseline is alone, or user code does not answer in time.
    """
    positions = read_suite(suite, None if split == "all" else split)
    positions = positions if sample is None else positions.sample(sample, seed)
    if equal_cost:
        completed = [parse_spec(spec) for spec in agents_of(specs, limit)]
        specs = [str(spec) for spec in specs_at_equal_cost(completed, positions.size)[0]]
    own, *others = collect_answers(specs, positions.positions, limit=limit, seed=seed, **settings)
    if not others:
        raise ValueError(f"{own.name} is the baseline itself: name another contender or another --baseline")
    costs = costs_over_first([own.spec, *(other.spec for other in others)], positions.size)
    failing = failing_positions([own, *others], positions.positions)
    mistakes = {other.name: worst_mistakes(positions, other, own, MISTAKES) for other in others}
    part = f"split {split}" + (f", {sample} of them with seed {seed}" if sample else "")
    return Screened(screen(positions, own, others), mistakes, costs, own, tuple(others), failing, part, equal_cost)


def screen(suite: Suite, baseline: AgentAnswers, contenders: Sequence[AgentAnswers]) -> Screening:
    """Compare the answers of contenders in a suite with the baseline's."""
    own = answer_values(suite, baseline)
    gains = [answer_values(suite, asked) - own for asked in contenders]
    whole = [_mean(suite, gain, np.ones(len(suite), bool)) for gain in gains]
    p_values = [flip(parts).p_value for parts in whole]
    judged = step_down(whole, p_values, 1 - CONFIDENCE)
    comparisons = []
    for asked, gain, p_value, adjusted, interval in zip(
        contenders, gains, p_values, judged.adjusted, judged.intervals, strict=True
    ):
        first, second = asked.cells, baseline.cells
        differs = int(((first != second[:1]).any(axis=0) | (second != first[:1]).any(axis=0)).sum())
        kept, trouble = (_mean(suite, gain, part).alone for part in (suite.is_telling, ~suite.is_telling))
        if not differs:
            kept = trouble = interval = Interval(0.0, 0.0, 0.0, CONFIDENCE)
        comparisons.append((score(suite, asked), SuiteComparison(kept, trouble, interval, p_value, adjusted, differs)))
    return Screening(suite, score(suite, baseline), tuple(comparisons))


def score(suite: Suite, asked: AgentAnswers) -> Score:
    """Return the score of one agent on a suite."""
    shares, telling, clusters = answer_values(suite, asked), suite.is_telling, _clusters(suite)
    kept, met = (np.bincount(clusters[telling], weights) for weights in (shares[telling], None))
    spread = max(1.0, float(met.mean()) if len(met) else 1.0)
    answers, first = asked.answers, asked.answers.first_failure
    reasons = Counter(REASON_WORDS[reason] for reason in answers.failure[answers.failure != 0].tolist())
    return Score(
        agent=asked.name,
        repeats=asked.repeats,
        kept=rate_interval(kept[met > 0], met[met > 0], spread, CONFIDENCE),
        trouble=math.nan if telling.all() else float(shares[~telling].mean()),
        both=float(shares.mean()) if len(suite) else math.nan,
        failures=tuple(reasons.most_common()),
        detail=answers.detail,
        failed_at=() if first is None else suite.positions[first % len(suite)],
    )


def answer_values(suite: Suite, asked: AgentAnswers) -> Floats:
    """Return the value of an agent's answers in each position: the share of repeats that keep the win.

    In lost positions, it is the share of the field that errs after its move, minus that for the average move.
    """
    size = max(1, len(suite.field))
    worth = np.where(suite.keeps, size, members(suite.errs))
    whole = np.zeros(len(suite), np.int64)
    for row in asked.cells:
        whole += np.add.reduceat(np.where(suite.legal == row[suite.position_of], worth, 0), suite.starts[:-1])
    average = np.add.reduceat(worth, suite.starts[:-1]) / np.diff(suite.starts) * ~suite.is_telling
    shares: Floats = (whole / asked.repeats - average) / size
    return shares


def kept_lead(suite: Suite, gains: Floats) -> tuple[Interval, float]:
    """Return the mean of gains, float64[n], in the telling positions, with its interval and the p-value of none."""
    parts = _mean(suite, gains, suite.is_telling)
    return parts.alone, float(flip(parts).p_value)


def where_it_errs(suite: Suite, contender: AgentAnswers, baseline: AgentAnswers) -> list[SuiteSlice]:
    """Return wins kept by ply, by player, and by the theoretical result of the opening for the mover."""
    plies, telling, winner = suite.positions.plies, suite.is_telling, suite.opening_winner
    theirs, own = (answer_values(suite, asked) for asked in (contender, baseline))
    mover, last = 1 + plies % 2, int(plies.max())
    bands = [(first, min(first + PLY_BAND - 1, last)) for first in range(int(plies.min()), last + 1, PLY_BAND)]
    parts = [(f"plies {first + 1}–{end + 1}", (plies >= first) & (plies <= end)) for first, end in bands]
    parts += [(f"player {player} to move", mover == player) for player in (1, 2)]
    parts += [
        ("the opening was won for the mover", winner == mover),
        ("the opening was lost for the mover", (winner > 0) & (winner != mover)),
    ]
    return [
        SuiteSlice(name, int(chosen.sum()), float(theirs[chosen].mean()), float(own[chosen].mean()))
        for name, where in parts
        if (chosen := where & telling).any()
    ]


def worst_mistakes(suite: Suite, contender: AgentAnswers, baseline: AgentAnswers, most: int = 5) -> list[Mistake]:
    """Return the contender's mistakes that the field avoids most often; ties: those the baseline avoids first."""
    theirs, own = (answer_values(suite, asked) for asked in (contender, baseline))
    field = members(suite.kept_by) / max(1, len(suite.field))
    wrong = np.flatnonzero(suite.is_telling & (theirs < 1))
    order = np.lexsort((suite.positions.plies[wrong], -own[wrong], theirs[wrong], -field[wrong]))
    mistakes: list[Mistake] = []
    for row in wrong[order].tolist():
        moves = slice(suite.starts[row], suite.starts[row + 1])
        winning = tuple(suite.legal[moves][suite.keeps[moves]].tolist())
        played = contender.cells[:, row].tolist()
        losing = [cell for cell in played if cell not in (NO_ANSWER, *winning)]
        if losing and len(mistakes) < most:
            mistakes.append(Mistake(suite.positions[row], losing[0], winning, float(field[row]), bool(own[row] == 1)))
    return mistakes


def _mean(suite: Suite, values: Floats, where: NDArray[np.bool_]) -> ErrorContributions:
    """Return the mean over some positions, with the contributions of orbits."""
    clusters = _clusters(suite)[where]
    sums, counts = np.bincount(clusters, values[where]), np.bincount(clusters)
    had = np.flatnonzero(counts)
    mean = sums.sum() / max(counts.sum(), 1)
    # one number per orbit: their mean is the mean over positions, and their spread is that of the ratio
    numbers = mean + (sums[had] - mean * counts[had]) * had.size / max(counts.sum(), 1)
    opponents = max(1.0, float(counts[had].mean())) if had.size else 1.0
    # an orbit's positions are exchanged with the baseline's, not its share of the mean
    return replace(mean_parts(numbers, opponents, CONFIDENCE, had), score=sums[had] / max(counts.sum(), 1))


def _clusters(suite: Suite) -> Ints:
    return np.unique(suite.orbit, return_inverse=True)[1]
