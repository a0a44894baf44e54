"""Measure the results in docs/explanation/screening.md, and write that page: every number there is computed here.

python examples/screening.py            all games; if interrupted, call it again to resume
python examples/screening.py --quick    few games in another directory, as a test
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from findings import DOCS, HERE, played
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from scipy.stats import pearsonr, spearmanr

from benchmarks.make_gauntlet_agreements import agreement_with, win_rates
from knights_isolation.experiments import RunResults, Verdicts, judge, parse_agent, read_suite
from knights_isolation.experiments.plan import parse_limit
from knights_isolation.experiments.record import log
from knights_isolation.experiments.statistics.proportions import Interval
from knights_isolation.experiments.studies.screening import (
    AgentAnswers,
    Screening,
    answer_values,
    ask,
    collect_answers,
    score,
    screen,
)
from knights_isolation.experiments.suite import Suite, shipped_suites
from knights_isolation.experiments.suite.suite_file import Agreement, known_agreements
from knights_isolation.reports.studies.screening import verdict
from knights_isolation.reports.text.cell_values import Points, Share, pluralise

SIZE = "7x7"
GROUPS = {
    "greedy and AB": ("greedy", "AB"),
    "ID:improved": ("ID:improved",),
    "other ID": ("ID:center", "ID:two", "ID:territory"),
    "MCTS": ("MCTS",),
}
"""Groups of the reference field's members, by prefixes of their specs."""


@dataclass(frozen=True)
class Scale:
    """Extent of the measurement.

    `gauntlets` are node limits with pairs per match; the choice of sources is evaluated at `nodes`; two equal agents
    are compared `equals` times in `positions`; intervals of correlations use `draws` resamples.
    """

    gauntlets: tuple[tuple[int, int], ...] = ((100, 500), (1000, 500), (10_000, 400))
    nodes: int = 1000
    equals: int = 500
    positions: int = 2000
    draws: int = 400
    contenders: tuple[str, ...] = ("ID:*",)


QUICK = Scale(((50, 4), (100, 4)), 100, 20, 300, 20, ("ID:open", "ID:territory", "ID:center"))


@dataclass(frozen=True)
class AtLimit:
    """A gauntlet, and the screening of the same agents at the same limit."""

    nodes: int
    gauntlet: RunResults
    verdicts: Verdicts
    agreement: Agreement
    screening: Screening
    asked: tuple[AgentAnswers, ...]


@click.command()
@click.option("--quick", is_flag=True, help="Few games, only to see that it works; nothing in docs/ changes.")
@click.option("--home", type=click.Path(path_type=Path), help="Where the runs lie; runs/screening by default.")
@click.option("--jobs", type=click.IntRange(min=0), default=0, help="Worker processes; 0: one per core.")
def main(quick: bool, home: Path | None, jobs: int) -> None:
    """Play, screen, and write docs/explanation/screening.md."""
    scale = QUICK if quick else Scale()
    home = home or Path("runs/screening-quick" if quick else "runs/screening")
    docs = home if quick else DOCS
    suite = read_suite(SIZE, "screen")
    results = [_at_limit(home, suite, scale, nodes, pairs, jobs) for nodes, pairs in scale.gauntlets]
    (docs / "screening.md").write_text(page_text(scale, suite, results), encoding="utf-8")
    click.echo(f"Wrote {docs / 'screening.md'}")


def page_text(scale: Scale, suite: Suite, results: Sequence[AtLimit]) -> str:
    """Return the page as Markdown."""
    templates = Environment(
        loader=FileSystemLoader(HERE), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
    middle = next(result for result in results if result.nodes == scale.nodes)
    wrong, covered = _equals(suite, scale)
    return templates.get_template("screening.md.jinja").render(
        size=SIZE,
        suites=[_suite_row(read_suite(name)) for name in shipped_suites()],
        screen_positions=f"{len(suite):,}",
        screen_orbits=len(np.unique(suite.orbit)),
        field=", ".join(f"`{spec}`" for spec in suite.field),
        agreement_rows=[_agreement_row(result, suite, scale.draws) for result in results],
        other_rows=[
            _other_row(known_agreement)
            for name in shipped_suites()
            if name != SIZE
            for known_agreement in known_agreements(name)
        ],
        ranks=[_rank_row(result, "ID_Horizon") for result in results if "ID_Horizon" in result.gauntlet.measured],
        information=[_information_row(result) for result in results],
        nodes=f"{scale.nodes:,}",
        found=_found(middle),
        source_rows=_source_rows(suite, middle),
        field_rows=_field_rows(suite, middle),
        equals=f"{scale.equals:,}",
        equal_positions=f"{scale.positions:,}",
        wrong=Share(wrong).text,
        covered=Share(covered).text,
    )


def _at_limit(home: Path, suite: Suite, scale: Scale, nodes: int, pairs: int, jobs: int) -> AtLimit:
    path = home / f"gauntlet-{nodes}"
    gauntlet = played(path, {"contenders": scale.contenders, "limit": f"nodes={nodes}", "pairs": pairs, "jobs": jobs})
    cores = jobs or os.cpu_count() or 1
    facts = [gauntlet.agents[name] for name in gauntlet.having("baseline", "contender")]
    asked = collect_answers([fact.spec for fact in facts], suite.positions, jobs=cores)
    own = next(question for question in asked if question.name == gauntlet.baseline)
    others = [question for question in asked if question is not own]
    agreement = agreement_with(path, suite, cores)
    return AtLimit(nodes, gauntlet, judge(gauntlet), agreement, screen(suite, own, others), (own, *others))


def _suite_row(suite: Suite) -> list[str]:
    telling = int(suite.is_telling.sum())
    plies = suite.positions.plies
    won = np.bincount(suite.opening_winner, minlength=3)
    return [
        suite.name, f"{telling:,}", f"{len(suite) - telling:,}", f"{len(np.unique(suite.orbit)):,}",
        f"{plies.min() + 1}–{plies.max() + 1}", Share(math.nan if won[0] else won[1] / len(suite)).text,
        Share(float((suite.split == "screen").mean())).text,
    ]  # fmt: skip


def _agreement_row(result: AtLimit, suite: Suite, draws: int) -> list[str]:
    """Return rank correlations, the gauntlet's reliability, linear correlations, and the gain by trouble."""
    accuracy = result.agreement
    sums = _Sums.of(result, suite)
    kept, both = (float(pearsonr(sums.rates(), scores).statistic) for scores in sums.scores())
    generator = np.random.default_rng(1)
    gains = [sums.drawn(generator).gain() for _ in range(draws)]
    low, high = np.quantile(gains, [0.025, 0.975])
    return [
        f"{result.nodes:,}", f"{accuracy.pairs:,}", f"{sums.with_itself(generator, draws):.3f}",
        *(f"{value:.3f}" for value in (accuracy.kept, accuracy.trouble, accuracy.both, kept, both)),
        f"{both - kept:+.3f} ({low:+.3f} to {high:+.3f})".replace("-", "−"),
    ]  # fmt: skip


def _other_row(accuracy: Agreement) -> list[str]:
    """Return the known correlations of another board's suite."""
    nodes = parse_limit(accuracy.limit).nodes
    return [
        accuracy.size,
        f"{nodes:,}",
        f"{accuracy.pairs:,}",
        *(f"{value:.3f}" for value in (accuracy.kept, accuracy.trouble, accuracy.both)),
    ]


@dataclass(frozen=True)
class _Sums:
    """Sums by agent: games won and played in a gauntlet by opening, and wins kept and trouble in a suite by orbit."""

    won: Any
    played: Any
    kept: Any
    trouble: Any
    telling: Any
    lost: Any

    @classmethod
    def of(cls, result: AtLimit, suite: Suite) -> _Sums:
        games = result.gauntlet.games
        names = games[["agent_1", "agent_2"]].astype(str).to_numpy()
        winner = names[np.arange(len(games)), games["winner"].to_numpy() - 1]
        opening = np.unique(games["opening_id"], return_inverse=True)[1]
        agents = [question.name for question in result.asked]
        orbit = np.unique(suite.orbit, return_inverse=True)[1]
        worths = [answer_values(suite, question) for question in result.asked]
        return cls(
            np.array([np.bincount(opening, winner == name) for name in agents]),
            np.array([np.bincount(opening, (names == name).any(axis=1)) for name in agents]),
            np.array([np.bincount(orbit, values * suite.is_telling) for values in worths]),
            np.array([np.bincount(orbit, values * ~suite.is_telling) for values in worths]),
            np.bincount(orbit, suite.is_telling),
            np.bincount(orbit, ~suite.is_telling),
        )

    def rates(self) -> Any:
        return self.won.sum(axis=1) / self.played.sum(axis=1)

    def scores(self) -> tuple[Any, Any]:
        """Return the shares of wins kept, and the scores of both."""
        kept, trouble = self.kept.sum(axis=1), self.trouble.sum(axis=1)
        return kept / self.telling.sum(), (kept + trouble) / (self.telling.sum() + self.lost.sum())

    def gain(self) -> float:
        """Return the gain in linear correlation with the gauntlet from using both instead of wins kept alone."""
        kept, both = (pearsonr(self.rates(), scores).statistic for scores in self.scores())
        return float(both - kept)

    def drawn(self, generator: np.random.Generator) -> _Sums:
        """Return sums over openings and orbits drawn with replacement."""
        openings = generator.integers(self.won.shape[1], size=self.won.shape[1])
        orbits = generator.integers(self.kept.shape[1], size=self.kept.shape[1])
        games = (self.won[:, openings], self.played[:, openings])
        return _Sums(*games, self.kept[:, orbits], self.trouble[:, orbits], self.telling[orbits], self.lost[orbits])

    def with_itself(self, generator: np.random.Generator, draws: int) -> float:
        """Return the rank correlation of two such gauntlets, from halves of this one (Spearman and Brown)."""
        result = []
        for _ in range(draws):
            half = generator.permutation(self.won.shape[1]) < self.won.shape[1] // 2
            first, second = (self.won[:, part].sum(axis=1) / self.played[:, part].sum(axis=1) for part in (half, ~half))
            result.append(spearmanr(first, second).statistic)
        mean = float(np.mean(result))
        return 2 * mean / (1 + mean)


def _rank_row(result: AtLimit, name: str) -> list[str]:
    """Return the ranks of an agent by the gauntlet, by wins kept and by both."""
    scores = {score.agent: score for score, _ in result.screening.contenders}
    scores[result.screening.baseline.agent] = result.screening.baseline
    rates = dict(zip(scores, _rates(result, scores), strict=True))
    kept = {agent: accuracy.kept.estimate for agent, accuracy in scores.items()}
    both = {agent: accuracy.both for agent, accuracy in scores.items()}
    return [
        f"{result.nodes:,}",
        *(str(1 + sum(value > order[name] for value in order.values())) for order in (rates, kept, both)),
    ]


def _rates(result: AtLimit, names: Iterable[str]) -> list[float]:
    return win_rates(result.gauntlet.sources[0].info.path, [result.gauntlet.agents[name] for name in names])


def _information_row(result: AtLimit) -> list[str]:
    """Return the information, (difference / standard error)² minus its expectation by luck, per node, of both methods.

    It is summed over contenders; a gauntlet's nodes are all that its games searched, divided by the measured agents.
    """
    effects = [
        comparison.difference
        for comparison in result.verdicts.comparisons
        if comparison.contender not in result.verdicts.controls
    ]
    screened = [against.both for _, against in result.screening.contenders]
    spent = [
        sum(int(part["nodes"].combine_chunks().flatten().sum()) for part in (_nodes(result),))
        / len(result.gauntlet.measured),
        sum(float(question.answers.nodes.sum()) for question in result.asked) / len(result.asked),
    ]
    message = [sum(_signal(interval) for interval in intervals) / len(effects) for intervals in (effects, screened)]
    ratio = (message[1] / spent[1]) / (message[0] / spent[0])
    return [
        f"{result.nodes:,}", *(f"{value:,.0f}" for value in message), *(f"{value / 1e6:,.1f}" for value in spent),
        f"{ratio:,.0f}",
    ]  # fmt: skip


def _nodes(result: AtLimit) -> Any:
    return log.read_table(result.gauntlet.sources[0].info.path, ("nodes",))


def _signal(interval: Interval) -> float:
    error = (interval.high - interval.low) / (2 * 1.96)
    return (interval.estimate / error) ** 2 - 1 if error else 0.0


def _found(result: AtLimit) -> dict[str, Any]:
    """Return which agents are better than the baseline by the gauntlet and by the screening."""
    by_games = {claim.contender for claim in result.verdicts.claims if claim.verdict == "better"}
    by_moves = {score.agent for score, against in result.screening.contenders if verdict(against) == "better"}
    worse = [
        {claim.contender for claim in result.verdicts.claims if claim.verdict == "worse"},
        {score.agent for score, against in result.screening.contenders if verdict(against) == "worse"},
    ]
    return {
        "games": pluralise(len(by_games), "contender"),
        "moves": len(by_moves),
        "shared": len(by_games & by_moves),
        "only_games": ", ".join(f"`{name}`" for name in sorted(by_games - by_moves)) or "none",
        "only_moves": ", ".join(f"`{name}`" for name in sorted(by_moves - by_games)) or "none",
        "contrary": len(by_games & worse[1]) + len(by_moves & worse[0]),
        "total": f"{len(result.gauntlet.games):,}",
    }


def _source_rows(suite: Suite, result: AtLimit) -> list[list[str]]:
    """Return rows for all sources and without each: positions, kept and both of two agents, and rank correlations."""
    everything = np.ones(len(suite), bool)
    chosen = [("all", everything)] + [(f"without {name}", suite.source != name) for name in np.unique(suite.source)]
    chosen += [(f"{name} alone", suite.source == name) for name in np.unique(suite.source)]
    return [_variant_row(name, suite.take(np.flatnonzero(where)), where, suite, result) for name, where in chosen]


def _field_rows(suite: Suite, result: AtLimit) -> list[list[str]]:
    """Return the same rows for the whole reference field, and without each group of its members."""
    rows = [_variant_row("all", suite, np.ones(len(suite), bool), suite, result)]
    for name, beginnings in GROUPS.items():
        stays = [not spec.startswith(beginnings) for spec in suite.field]
        mask = np.int16(sum(1 << index for index, stay in enumerate(stays) if stay))
        field = tuple(spec for spec, stay in zip(suite.field, stays, strict=True) if stay)
        other = replace(suite, errs=suite.errs & mask, kept_by=suite.kept_by & mask, field=field)
        rows.append(_variant_row(f"without {name}", other, np.ones(len(suite), bool), suite, result))
    return rows


def _variant_row(name: str, variant: Suite, where: Any, suite: Suite, result: AtLimit) -> list[str]:
    now = [score(variant, _only(question, where)) for question in result.asked]
    order = [question.both for question in now]
    whole = [score(suite, question).both for question in result.asked]
    rates = _rates(result, [question.agent for question in now])
    base, best = now[0], next(question for question in now if question.agent == "ID_Territory")
    return [
        name, f"{len(variant):,}", Share(base.kept.estimate).text, Share(best.kept.estimate).text,
        Points(base.trouble).text, Points(best.trouble).text, f"{spearmanr(order, whole).statistic:.3f}",
        f"{spearmanr(order, rates).statistic:.3f}",
    ]  # fmt: skip


def _only(asked: AgentAnswers, where: Any) -> AgentAnswers:
    """Return the answers in some of the positions."""
    rows = np.flatnonzero(np.tile(where, asked.repeats))
    answers = asked.answers
    return replace(
        asked,
        answers=replace(
            answers, cells=answers.cells[rows], failure=answers.failure[rows], nodes=answers.nodes[rows],
            nanoseconds=answers.nanoseconds[rows],
        ),
    )  # fmt: skip


def _equals(suite: Suite, scale: Scale) -> tuple[float, float]:
    """Return how often equal agents differ significantly at 5 %, and how often the interval covers 0."""
    agent = parse_agent("ID:improved@nodes=100,ties")
    wrong, covered = 0, 0
    for trial in range(scale.equals):
        some = suite.sample(scale.positions, trial)
        first, second = (ask(agent, some.positions, 1, 2 * trial + side) for side in (0, 1))
        ((_, against),) = screen(some, first, [second]).contenders
        wrong += against.p_value <= 0.05
        covered += against.both.low <= 0 <= against.both.high
    return wrong / scale.equals, covered / scale.equals


if __name__ == "__main__":
    main()
