"""Stages of an evaluation, cheapest first, in the process of one candidate; the last is a sequential test by games.

What is the same for all candidates is prepared once, before the processes of candidates are forked from it.

A test stops where luck has carried it, and only those that pass are looked at further: of candidates 2.9 points better,
those that pass a test of 0 against 20 Elo lead by 5.8 in its games. When it stopped does not even say on which side of
the middle of its hypotheses the truth is. Games from openings that the test has not seen are not selected.

Candidates that beat the baseline are champions, against which later ones play as well. A champion is a folder with its
source and `champion.json`, which is written last. Folders are only ever added.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
from pydantic import TypeAdapter

from knights_isolation.isolation.checks.answers import explain, is_number
from knights_isolation.isolation.checks.search_cost import measure_costs
from knights_isolation.isolation.compiling.compile_heuristic import CompileError, compile_heuristic, sample_positions
from knights_isolation.isolation.files.atomic_write import make_folder
from knights_isolation.isolation.files.received import DamagedFileError
from knights_isolation.isolation.loading.load_user_code import LoadError, load_heuristic, sources
from knights_isolation.isolation.rules.classic_board import Board
from knights_isolation.isolation.rules.game import Cost, Limit, Size
from knights_isolation.isolation.rules.geometry import format_moves
from knights_isolation.isolation.search.agents import SearchAgent
from knights_isolation.isolation.suggestions import CompilerFault
from knights_isolation.isolation.usercode.inputs import NO_FILE, Inputs, changed_input, digest_of_inputs, state_of
from knights_isolation.isolation.usercode.output_capture import WantsToEnd, prevent_exit
from knights_isolation.isolation.usercode.timeouts import UserCodeTimeout, cpu_timeout
from knights_isolation.isolation.usercode.user_exceptions import safe_repr

from ..plan import make_agent, named, parse_spec
from ..plan.spec_parser import complete
from ..play.equal_cost import scaled_nodes
from ..record.checked_json import read_json, write_json
from ..statistics.proportions import Floats, Interval, Ints, count_pairs, mean_parts, pair_interval, score_from_elo
from ..statistics.sprt import Decision, Sprt, sprt_path, stopped_estimate
from ..suite.suite_file import Split, Suite, read_suite, shipped_suites
from .batches import play_pairs, pool_of
from .evaluation import NODES, STAGES, Evaluation, EvaluationTask, Lead, Stage, failed
from .screening import AgentAnswers, Mistake, answer_values, ask, kept_lead, worst_mistakes

PAIRS, PAIRS_AT_ONCE = 2000, 100
FRESH_PAIRS = 1000
"""Most pairs of the test, and pairs after it."""
SPRT = Sprt(0.0, 20.0)
"""The sequential test of games, in Elo."""

PlayPairs = Callable[[range], Ints]
"""Plays openings by their numbers, and returns the games won of each pair."""


def decide_by_games(play: PlayPairs, most: int, play_fresh: PlayPairs, fresh: int) -> tuple[Decision | None, Lead]:
    """Return the decision of the sequential test of `most` pairs, and the lead in points.

    If it accepts H1 it is that of the `fresh` pairs, from openings that the test does not have, if there are any.
    """
    won: list[int] = []
    path = sprt_path(won, SPRT)
    for start in range(0, most, PAIRS_AT_ONCE):
        won += play(range(start, min(start + PAIRS_AT_ONCE, most))).tolist()
        path = sprt_path(won, SPRT)
        if path.decision:
            break
    if path.decision == "H1" and fresh:
        share = pair_interval(count_pairs(play_fresh(range(fresh))))
        return path.decision, _lead(share, fresh)
    elo = stopped_estimate(path)
    assert elo is not None
    estimate, low, high = (float(score_from_elo(end)) for end in (elo.estimate, elo.low, elo.high))
    pairs = path.decided_after or path.outcomes.size
    return path.decision, _lead(Interval(estimate, low, high, elo.confidence), pairs)


def _lead(share: Interval, pairs: int) -> Lead:
    return Lead(200 * (share.estimate - 0.5), 200 * (share.low - 0.5), 200 * (share.high - 0.5), 2 * pairs)


Heuristic = Callable[[Any, Any], float]
VALUES_AT = 20
"""Number of positions in which a candidate is interpreted before it is compiled."""
LONGEST_CALL, LONGEST_IMPORT = 0.5, 2.0
"""Timeouts of one interpreted call and of an import, in seconds of processor time."""
ROUNDS, ROUNDS_FOR_GAMES = 5, 20
"""Rounds in which the cost is measured: first for positions, within 3 %, and again for games, as reports do."""
DEAREST = 30.0
"""Cost over the baseline's beyond which a search of so few nodes is left that nothing can be said."""
FIRST_POSITIONS = 300
PLIES = 4
PAIRS_WITH_CHAMPIONS = 200
MISTAKES = 3


WonPositions = tuple[Suite, list[AgentAnswers]]
"""Won positions with a losing move, and the baseline's moves there at each of `NODES`."""


@dataclass(frozen=True)
class Prepared:
    """What all candidates share: positions by the stage that asks them, and openings, as far as the budget reaches."""

    question: EvaluationTask
    baseline: SearchAgent
    positions: Mapping[Stage, WonPositions]
    openings: Sequence[tuple[int, ...]]
    fresh_openings: Sequence[tuple[int, ...]]


class Refusal(Exception):
    """A candidate cannot be evaluated further."""

    def __init__(self, kind: str, why: str, line: int | None = None) -> None:
        super().__init__(why)
        self.kind, self.line = kind, line


def check_question(question: EvaluationTask) -> SearchAgent:
    """Return the baseline of a question.

    Raises:
        ValueError: it is no compiled search by a heuristic, or the board is none.
    """
    agent = make_agent(complete(named(parse_spec(question.baseline)), Limit(nodes=NODES[-1])))
    if not isinstance(agent, SearchAgent) or agent.heuristic is None or agent.compiled(question.size) is None:
        raise ValueError(
            f"the baseline must be a search by a heuristic, as in ID:learned, compiled for {question.size}; "
            f"{agent.name} is not"
        )
    return agent


def prepare(question: EvaluationTask) -> Prepared:
    """Compile the baseline and ask it everything that candidates will be asked."""
    baseline, positions = check_question(question), dict[Stage, WonPositions]()
    if str(question.size) in shipped_suites():
        fit, held_out = (read_suite(str(question.size), split).telling for split in get_args(Split))
        parts: dict[Stage, Suite] = {
            "positions": fit.sample(FIRST_POSITIONS, seed=1), "suite": fit, "held-out": held_out,
        }  # fmt: skip
        for stage, suite in parts.items():
            if question.asks(stage):
                positions[stage] = suite, [ask(_limited(baseline, nodes=nodes), suite.positions) for nodes in NODES]
    openings: list[list[tuple[int, ...]]] = [[], []]
    if question.asks("games"):
        drawn = [pool_of(question.size, PLIES, count, seed).openings for count, seed in ((PAIRS, 1), (FRESH_PAIRS, 2))]
        openings = [[tuple(each[number]) for number in range(len(each))] for each in drawn]
    known = set(openings[0])
    return Prepared(question, baseline, positions, openings[0], [each for each in openings[1] if each not in known])


def run_cascade(
    prepared: Prepared, file: str, name: str, champions: Sequence[Champion], begin: Callable[[Stage], None]
) -> Evaluation:
    """Evaluate the function `name` of a file, until a stage says no; `begin` is called as each stage begins."""
    cascade = _Cascade(prepared, Path(file), name, tuple(champions), begin)
    try:
        return cascade.run()
    except Refusal as refusal:
        return failed(cascade.stage, refusal.kind, str(refusal), refusal.line)
    except MemoryError:
        return failed(cascade.stage, "memory", "it ran out of memory")


@dataclass
class _Cascade:
    prepared: Prepared
    file: Path
    name: str
    champions: tuple[Champion, ...]
    show: Callable[[Stage], None]
    stage: Stage = "load"

    def run(self) -> Evaluation:
        steps: dict[Stage, Callable[[Evaluation], Evaluation]] = {
            "load": self._load, "values": self._check_values, "compile": self._compile, "cost": self._measure_cost,
        }  # fmt: skip
        steps |= {stage: partial(self._on_positions, won) for stage, won in self.prepared.positions.items()}
        if self.prepared.openings:
            steps["games"] = self._games
        done = Evaluation(0.0, 0.0, 0.0, None, "parse", True, "", None, "")
        for stage in filter(steps.__contains__, STAGES):
            if done.passed and self.prepared.question.asks(stage):
                self.stage = stage
                self.show(stage)
                done = replace(steps[stage](done), stage=stage)
        return done

    @property
    def agent(self) -> SearchAgent:
        """The baseline's search by the candidate."""
        return replace(self.prepared.baseline, name=self.name, heuristic=self.heuristic, heuristic_name=self.name)

    def _load(self, done: Evaluation) -> Evaluation:
        try:
            with cpu_timeout(LONGEST_IMPORT):
                self.heuristic: Heuristic = load_heuristic(self.file, self.name).value
        except UserCodeTimeout as error:
            raise Refusal("time", f"importing it {error}", self._line_of(error)) from None
        except LoadError as error:
            cause = error.__cause__ or error
            raise Refusal(_kind_of(cause, "import"), str(error), self._line_of(cause)) from None
        return done

    def _check_values(self, done: Evaluation) -> Evaluation:
        for board in sample_positions(self.prepared.question.size, VALUES_AT):
            for player in board.players:
                try:
                    with cpu_timeout(LONGEST_CALL), prevent_exit():
                        value = self.heuristic(board.copy(), player)
                        is_fit = is_number(value)
                except Exception as error:
                    why = f"it {explain(error)} at {board.fen}"
                    raise Refusal(_kind_of(error, "exception"), why, self._line_of(error)) from None
                if not is_fit:
                    raise Refusal("value", f"it returns {safe_repr(value)} instead of a number at {board.fen}")
        return replace(done, feedback="it returned numbers in all test positions")

    def _compile(self, done: Evaluation) -> Evaluation:
        try:
            with prevent_exit():
                compile_heuristic(self.heuristic, self.prepared.question.size)
        except CompileError as error:
            kind = "differs" if error.is_difference else "compile"
            raise Refusal(kind, f"it cannot be compiled: {error.reason}", error.line) from None
        except (CompilerFault, WantsToEnd) as error:
            raise Refusal("compile", f"it cannot be compiled: {error}") from None
        return replace(done, feedback="it compiles, and computes what Python computes")

    def _measure_cost(self, done: Evaluation) -> Evaluation:
        cost = self._cost(ROUNDS)
        return replace(done, cost=cost, feedback=f"a node costs {cost:.2f} times as much as the baseline's")

    def _cost(self, rounds: int) -> float:
        asked = [self.prepared.baseline, self.agent]
        cost = measure_costs(asked, self.prepared.question.size, most_rounds=rounds)[1]
        if not isinstance(cost, Cost):
            raise Refusal("exception", f"it fails in a search: {cost}")
        if cost.times > DEAREST:
            raise Refusal("cost", f"a node costs {cost.times:.0f} times as much as the baseline's, at most {DEAREST:g}")
        return cost.times

    def _line_of(self, error: BaseException) -> int | None:
        """Return the last line of the candidate's file that an exception passed."""
        if isinstance(error, SyntaxError):
            return error.lineno
        line, step = None, error.__traceback__
        while step is not None:
            if Path(step.tb_frame.f_code.co_filename) == self.file:
                line = step.tb_lineno
            step = step.tb_next
        return line

    def _on_positions(self, positions: WonPositions, done: Evaluation) -> Evaluation:
        """Ask a candidate in positions; it is stopped if it is significantly worse than the baseline.

        In those that nothing was learned from, `evaluate` decides whether it passes.
        """
        cost, name = done.cost or 1.0, self.prepared.baseline.name
        lead, answers = self._lead(positions, cost)
        if self.stage == "held-out":
            return replace(done, held_out=lead)
        suite, baseline = positions
        mistakes = worst_mistakes(suite, answers, baseline[-1], MISTAKES)
        feedback = (
            f"{lead} of wins kept compared with {name} at equal cost, in {lead.n:,} won positions; a node costs "
            f"{cost:.2f} times as much.{_describe_mistakes(mistakes, self.prepared.question.size)}"
        )
        done = replace(done, score=lead.estimate, low=lead.low, high=lead.high, positions=lead.n)
        return replace(done, passed=lead.high >= 0, feedback=feedback)

    def _lead(self, positions: WonPositions, cost: float) -> tuple[Lead, AgentAnswers]:
        """Return the lead at equal cost, the mean over `NODES`, and the answers at the last of these."""
        suite, baseline = positions
        gains: list[Floats] = []
        for nodes, own in zip(NODES, baseline, strict=True):
            answers = ask(_limited(self.agent, cost, nodes), suite.positions)
            if answers.answers.first_failure is not None:
                where = suite.positions.board(answers.answers.first_failure).fen
                raise Refusal("exception", f"it fails in a search by {answers.answers.detail} at {where}")
            gains.append(answer_values(suite, answers) - answer_values(suite, own))
        interval, p_value = kept_lead(suite, np.mean(gains, axis=0))
        return Lead.of(interval, len(suite), p_value), answers

    def _games(self, done: Evaluation) -> Evaluation:
        """Play a candidate against the baseline at equal cost, until the sequential test decides; H1 is a yes."""
        openings, fresh, size = self.prepared.openings, self.prepared.fresh_openings, self.prepared.question.size
        done = replace(done, cost=self._cost(ROUNDS_FOR_GAMES))
        contender, baseline = _limited(self.agent, done.cost or 1.0), _limited(self.prepared.baseline)
        play, play_fresh = (partial(_won, contender, baseline, each, size) for each in (openings, fresh))
        decision, lead = decide_by_games(play, len(openings), play_fresh, len(fresh))
        verdict = "not better by 20 Elo than" if decision else "undecided against"
        said = f"{verdict} {baseline.name} in {lead.n:,} games at equal cost: {lead}. "
        if decision == "H1":
            after = f"in {lead.n:,} games after it: {lead}. "
            said = f"better than {baseline.name} by a sequential test at equal cost; {after}"
        done = replace(done, games=lead, passed=decision == "H1", feedback=said + done.feedback)
        return self._against_champions(contender, done) if done.passed else done

    def _against_champions(self, contender: SearchAgent, done: Evaluation) -> Evaluation:
        """Play a candidate that beat the baseline against earlier ones that did, all in the baseline's time."""
        openings, opponents = self.prepared.openings, self._opponents()
        if not opponents:
            return done
        numbers, size = range(min(PAIRS_WITH_CHAMPIONS, len(openings))), self.prepared.question.size
        wins = [_won(contender, opponent, openings, size, numbers) for opponent in opponents]
        lead = mean_parts(np.mean(wins, axis=0) - 1, len(opponents)).alone
        games = Lead.of(lead, 2 * len(numbers) * len(opponents))
        whom = f"the last {len(opponents)} champions" if len(opponents) > 1 else "the last champion"
        feedback = f"{games} in {games.n:,} games at equal cost against {whom}. {done.feedback}"
        return replace(done, champions=games, feedback=feedback)

    def _opponents(self) -> list[SearchAgent]:
        """Return the champions that can still be played, in the baseline's time."""
        agents = []
        for number, champion in enumerate(self.champions):
            with suppress(LoadError, UserCodeTimeout), cpu_timeout(LONGEST_IMPORT):
                code = load_heuristic(champion.file, champion.name).value
                named = replace(self.prepared.baseline, name=f"champion_{number}", heuristic=code)
                agents.append(_limited(replace(named, heuristic_name=champion.name), champion.cost))
        return agents


def _won(
    first: SearchAgent, second: SearchAgent, openings: Sequence[tuple[int, ...]], size: Size, numbers: range
) -> Ints:
    """Return the games of some openings' two that the first agent wins."""
    return play_pairs(first, second, [openings[n] for n in numbers], numbers, size)[0]


def _describe_mistakes(mistakes: Sequence[Mistake], size: Size) -> str:
    """Return mistakes as sentences with the FEN of their positions."""
    columns = size.columns
    return "".join(
        f" At {Board.from_moves(mistake.moves, size).fen} it plays {format_moves([mistake.played], columns)}; "
        f"{format_moves(mistake.winning, columns)} {'keeps' if len(mistake.winning) == 1 else 'keep'} the win."
        for mistake in mistakes
    )


def _limited(agent: SearchAgent, cost: float = 1.0, nodes: int = NODES[-1]) -> SearchAgent:
    """Return an agent with the limit that takes the time of so many nodes of the baseline."""
    return replace(agent, limit=Limit(nodes=scaled_nodes(nodes, cost)))


def _kind_of(error: BaseException, otherwise: str) -> str:
    kinds = {SyntaxError: "syntax", UserCodeTimeout: "time", MemoryError: "memory", WantsToEnd: "exit"}
    return next((kind for what, kind in kinds.items() if isinstance(error, what)), otherwise)


HALL, FACTS = "champions", "champion.json"
_REMEDY = "delete the folder, and later candidates do not meet it"
MOST = 3
"""Number of champions that a candidate meets, the latest ones."""


@dataclass(frozen=True)
class Champion:
    """A candidate that beat the baseline: the copy of its file, the function, a node's cost, and when it was admitted.

    `inputs` are its sources and all else that it depends on; none in those of older versions.
    """

    file: str
    name: str
    cost: float
    when: str
    inputs: Inputs = field(default_factory=dict)


_CHAMPION = TypeAdapter(Champion)


def champions(home: Path, question: EvaluationTask) -> tuple[Champion, ...]:
    """Return the latest champions of a baseline and a board, the latest last.

    Raises:
        DamagedFileError: one of them was damaged or edited, or something else that it depends on is not as it was.
    """
    found = []
    for path in _hall(home, question).glob(f"*/{FACTS}"):
        try:
            champion = _CHAMPION.validate_python(read_json(path))
        except (OSError, ValueError):
            raise DamagedFileError(f"{path}: damaged or edited by hand; {_REMEDY}") from None
        if changed := changed_input(champion.inputs, path.parent):
            raise DamagedFileError(f"{path.parent}: {changed} is not as it was when this won; {_REMEDY}")
        found.append(replace(champion, file=str((path.parent / Path(champion.file).name).resolve())))
    return tuple(sorted(found, key=lambda champion: (champion.when, champion.file))[-MOST:])


def is_champion(evaluation: Evaluation) -> bool:
    """Return whether a candidate beat the baseline in games, and won at least as many against champions as they did."""
    has_won = evaluation.games is not None and (evaluation.passed or evaluation.held_out is not None)
    return has_won and (evaluation.champions is None or evaluation.champions.estimate >= 0)


def admit(home: Path, question: EvaluationTask, file: Path, name: str, cost: float, inputs: Inputs) -> str:
    """Add a candidate to the champions, with its source and the files in its folder that it reads.

    Return why it cannot be added, if so: it depends on something that is not the same there; otherwise "".
    """
    read = (each.split(" ", 1)[1] for each, was in inputs.items() if each.startswith("file ") and was not in NO_FILE)
    own = [path for path in read if not Path(path).is_absolute()]
    owned = {path: (file.parent / path).read_bytes() for path in (*sources(file), *own)}
    inputs = inputs | {f"file {path}": state_of("file", path, file.parent) for path in owned}
    folder = _hall(home, question) / digest_of_inputs(inputs)
    for path, content in owned.items():
        make_folder((folder / path).parent)
        (folder / path).write_bytes(content)
    if changed := changed_input(inputs, folder):
        return f"it depends on {changed}"
    when = datetime.now(UTC).isoformat(timespec="microseconds")
    write_json(folder / FACTS, asdict(Champion(file.name, name, cost, when, inputs)))
    return ""


def _hall(home: Path, question: EvaluationTask) -> Path:
    """Return the folder of the champions of a baseline, whose code is part of its name if it is a user's."""
    code = question.code if parse_spec(question.baseline).is_file else ""
    digest = hashlib.sha256(f"{question.baseline}\0{question.size}{code}".encode()).hexdigest()[:12]
    return home / HALL / digest
