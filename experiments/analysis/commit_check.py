"""Compare a commit's heuristics with the main branch's: screen them, then play a sequential test at equal cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from knights_isolation.isolation.files.folders import Revision
from knights_isolation.isolation.loading.load_user_code import LoadError
from knights_isolation.isolation.rules.game import USUAL_SIZE, Cost, Size
from knights_isolation.isolation.search.agents import Agent

from ..plan import named_settings, parse_agent
from ..plan.config import load_config
from ..plan.run_keeping import digest_of
from ..play.runner import Play, play_kept
from ..record.run_directory import HOME, games_at_end
from ..record.tries import read_tries
from ..statistics.run_results import load_findings, relative_costs
from ..statistics.sprt import SequentialTest, own_tests
from ..statistics.step_down import level_of
from ..studies.screening import Screening, collect_answers, costs_over_first, screen
from ..suite.suite_file import read_suite
from .quick_trial import read_file

NEW_BASELINE = "ID:improved"
"""What a heuristic is screened against that the main branch does not have."""
COMMITS = "commits"
"""Folder in that of the runs with the files of commits, so that runs can be resumed and their agents asked again."""


@dataclass(frozen=True)
class Terms:
    """How a changed heuristic plays the main branch's.

    The `limit` of a move is in nodes, scaled so that both cost the same processor time. The sequential test decides
    between the two Elo differences `sprt`, after at most so many `pairs`. 0 `jobs` are one per core.
    """

    limit: str
    sprt: tuple[float, float]
    pairs: int
    jobs: int = 0

    @classmethod
    def of(cls, limit: str, sprt: str, pairs: int, jobs: int) -> Terms:
        """Return the terms with two Elo differences as text, such as -20,0; ValueError if it is something else."""
        try:
            low, high = map(float, sprt.split(","))
        except ValueError:
            raise ValueError("sprt: two Elo differences required, such as -20,0") from None
        return cls(limit, (low, high), pairs, jobs)


@dataclass(frozen=True)
class Checked:
    """A heuristic of a commit; `spec` is its agent, named like the function.

    `baseline` is the name of the main branch's version; that of another heuristic if the main branch has none of this
    name (`is_new`). `screening` is None if it is unchanged, or on another board, `cost`, over the baseline's, if it was
    not measured, and the `test` of its games if it is unchanged, new or fails.
    """

    spec: str
    baseline: str
    is_new: bool = False
    screening: Screening | None = None
    cost: Cost | None = None
    test: SequentialTest | None = None

    @property
    def name(self) -> str:
        """The name of its function."""
        return self.spec.partition("=")[0]

    @property
    def failures(self) -> int:
        """Number of solved positions in which it fails."""
        return self.screening.contenders[0][0].failed if self.screening else 0

    @property
    def passes(self) -> bool:
        """Whether it answers everywhere, and the test did not accept the lower difference."""
        return not self.failures and (self.test is None or self.test.path.decision != "H0")


def check_file(
    reference: str,
    main: Revision,
    terms: Terms,
    play: Play,
    guard: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Iterator[Checked]:
    """Check the heuristics of FILE, or the one of FILE:FUNCTION, against those of the main branch.

    `guard` is the context in which user code runs in this process. ValueError if the file cannot be read, or a term is
    invalid; KeyboardInterrupt if it was interrupted: the same call resumes it.
    """
    with guard():
        contents = read_file(reference)
        old = main.unpack(HOME / COMMITS) / Path(contents.path).resolve().relative_to(main.repository)
        try:
            known = read_file(str(old)).functions if old.is_file() else {}
        except LoadError:
            known = {}  # nothing that worked is lost
    for name in contents.functions:
        spec = f"{name}=ID:{contents.path}:{name}@{terms.limit}"
        base = f"{name}_{main.commit}=ID:{old}:{name}@{terms.limit}" if name in known else ""
        yield _check(spec, base, contents.size, terms, play, guard)


def _check(
    spec: str, base: str, size: Size, terms: Terms, play: Play, guard: Callable[[], AbstractContextManager[None]]
) -> Checked:
    against = base or f"{NEW_BASELINE}@{terms.limit}"
    with guard():
        own, other = (parse_agent(each) for each in (spec, against))
        facts = [own.settings(), other.settings()]
        if base and _is_same(spec, base, own, other, size):
            return Checked(spec, other.name)
        screening, cost = _screen(spec, against, terms) if size == USUAL_SIZE else (None, None)
    checked = Checked(spec, other.name, not base, screening, cost)
    if not base or not checked.passes:
        return checked
    findings = load_findings([_play(spec, base, facts, size, terms, play)])
    (test,) = own_tests(findings)
    return Checked(spec, other.name, False, screening, relative_costs(findings).get(own.name, cost), test)


def _is_same(spec: str, base: str, own: Agent, other: Agent, size: Size) -> bool:
    """Return whether two versions play the same: the code that is compiled has all that matters, other code has not."""
    if own.settings() != other.settings():
        return False
    return own.compiled(size) is not None or named_settings(spec)[1] == named_settings(base)[1]


def _screen(spec: str, against: str, terms: Terms) -> tuple[Screening, Cost | None]:
    suite = read_suite("7x7", "screen")
    baseline, own = collect_answers([against, spec], suite.positions, jobs=terms.jobs)
    return screen(suite, baseline, [own]), costs_over_first([against, spec], suite.size).get(own.name)


def _play(spec: str, base: str, facts: list[dict[str, Any]], size: Size, terms: Terms, play: Play) -> Path:
    """Play two versions from openings of their own, and return the run; a finished one is not played again."""
    question = digest_of([facts, str(size), terms.limit, terms.sprt, terms.pairs])
    path, seed = HOME / f"ci-{question}", int(question, 16)
    if games_at_end(path) is not None:
        return path
    keys = {
        "format": "head-to-head", "contenders": (spec,), "baseline": base, "openings": "random:4", "board": str(size),
        "pairs": terms.pairs, "limit": terms.limit, "equal_cost": True, "sprt": (*terms.sprt, error_rate(seed)),
        "seed": seed, "jobs": terms.jobs, "out": str(path),
    }  # fmt: skip
    return play_kept(load_config(None, keys), play)


def error_rate(seed: int) -> float:
    """Return the error rate of the sequential test from the openings of this seed: the rates of all sum to 0.05.

    The log of tries says how many there were before; one that is in it keeps its rate.
    """
    logged = [each.judged_on for each in read_tries() if each.command == "ci"]
    played = list(dict.fromkeys(judged_on for judged_on in logged if judged_on.startswith("openings")))
    earlier = [number for number, judged_on in enumerate(played) if f" with seed {seed} " in judged_on]
    return level_of(1 + (earlier[0] if earlier else len(played)))
