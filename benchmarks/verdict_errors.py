"""How often verdicts are right and intervals hold, in samples of a census.

    isolation tournament --openings placements --pairs all --limit nodes=1000 --out runs/census
    python -m benchmarks.verdict_errors runs/census --openings 20 --more 92 --samples 400

A census knows the true differences. Openings are drawn from it, judged as a run's would be, and compared with the
truth. With --tilted they are drawn with weights under which the contenders nearest to the baseline are exactly as good
as it is, so that every verdict on one of these is false.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from knights_isolation.experiments.statistics.game_pairs import PairTable, record_of
from knights_isolation.experiments.statistics.paired_differences import Comparison, compare_all
from knights_isolation.experiments.statistics.run_results import RunResults, load_findings
from knights_isolation.experiments.statistics.step_down import holm

CONTROL = "~control"
"""Name of the baseline in its further openings."""
NEAR = 0.04
"""Contenders whose true difference is smaller are made equal by --tilted."""
_COLUMNS = ("first", "second", "same_colour", "won_placing_first", "won_placing_second")


def main() -> None:
    """Print the rates of verdicts, of false verdicts, and of coverage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="a census")
    parser.add_argument("--openings", type=int, default=180, help="of each contender")
    parser.add_argument("--more", type=int, default=645, help="that the baseline alone plays")
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--tilted", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    findings = load_findings([asked.run])
    names = [name for name in findings.contenders if "control" not in findings.agents[name].roles]
    truth = leads(findings, names)
    weights = np.full(len(truth), 1 / len(truth))
    near = np.abs(truth.mean(axis=0)) < NEAR
    if asked.tilted:
        weights = tilt(truth[:, near])
    true = np.where(near & asked.tilted, 0.0, weights @ truth)
    rng = np.random.default_rng(asked.seed)
    counts = np.zeros(5)
    covered, widths = np.zeros(len(names)), []
    for _ in range(asked.samples):
        drawn = rng.choice(len(truth), asked.openings + asked.more, replace=asked.tilted, p=weights)
        table = sample(findings, drawn, asked.openings)
        verdicts = judge(findings, table, names, None if asked.tilted else len(truth))
        flags = np.array([{"better": 1, "worse": -1}.get(verdict.verdict, 0) for verdict in verdicts])
        by_holm = np.array(holm([verdict.p_value for verdict in verdicts]).adjusted) <= 0.05
        is_false = (flags != 0) & (flags != np.sign(np.round(true, 12)))
        holds = np.array(
            [verdict.jointly.low <= at <= verdict.jointly.high for verdict, at in zip(verdicts, true, strict=True)]
        )
        covered += [
            verdict.difference.low <= at <= verdict.difference.high for verdict, at in zip(verdicts, true, strict=True)
        ]
        widths.append([verdict.jointly.high - verdict.jointly.low for verdict in verdicts])
        crossing = [
            verdict.verdict != "no significant difference" and verdict.lead[0] <= 0 <= verdict.lead[1]
            for verdict in verdicts
        ]
        counts += (flags != 0).sum(), by_holm.sum(), is_false.any(), holds.all(), sum(crossing)
    share, singly = counts / asked.samples, covered / asked.samples
    print(f"{asked.openings} openings, {asked.more} more of the baseline's, {len(names)} contenders")
    print(f"told {share[0]:.2f}, by Holm's adjustment {share[1]:.2f}; any false verdict {share[2]:.3f}")
    print(f"joint intervals cover {share[3]:.3f}, single ones {singly.mean():.3f}, at the least {singly.min():.3f}")
    print(f"mean width of joint intervals {100 * np.mean(widths):.2f} points")
    print(f"verdicts beside an interval that contains 0: {share[4]:.0f}")


def leads(findings: RunResults, names: list[str]) -> NDArray[np.float64]:
    """Return an array (openings, contenders) of surplus shares of games won, mean over opponents."""
    return np.column_stack([rates(findings, name) for name in names]) - rates(findings, str(findings.baseline))[:, None]


def rates(findings: RunResults, name: str) -> NDArray[np.float64]:
    """Return an agent's share of games won, by opening."""
    record = record_of(findings.pairs, name)
    return np.asarray(np.bincount(record.opening, record.wins) / (2 * np.bincount(record.opening)))


def tilt(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights of openings, as even as possible, under which all differences are 0 on average."""

    def entropy(by: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        exponent = differences @ by
        weights = np.exp(exponent - exponent.max())
        return float(np.log(weights.sum()) + exponent.max()), weights @ differences / weights.sum()

    by = minimize(entropy, np.zeros(differences.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-10}).x
    weights = np.exp(differences @ by)
    return np.asarray(weights / weights.sum())


def sample(findings: RunResults, drawn: NDArray[np.int64], shared: int) -> PairTable:
    """Return the pairs from the drawn openings; after the first `shared` only the baseline plays, as its control."""
    table = findings.pairs
    code = table.code(str(findings.baseline))
    order = np.argsort(table.opening, kind="stable")
    starts = np.searchsorted(table.opening[order], np.arange(int(table.opening.max()) + 2))
    rows = [order[starts[opening] : starts[opening + 1]] for opening in drawn]
    numbers = np.repeat(np.arange(len(drawn)), [len(row) for row in rows])
    chosen = np.concatenate(rows)
    is_base = (table.first[chosen] == code) | (table.second[chosen] == code)
    kept = (numbers < shared) | is_base
    chosen, numbers, is_base = chosen[kept], numbers[kept], is_base[kept]
    first, second, same, won_first, won_second = (getattr(table, name)[chosen] for name in _COLUMNS)
    is_more = numbers >= shared
    is_first = first == code
    other = np.where(is_first, second, first)
    control = len(table.agents)
    # the control is the last name, and therefore the second agent of its pairs
    turned = is_more & is_first
    return PairTable(
        agents=(*table.agents, CONTROL),
        first=np.where(is_more, other, first).astype(np.int16),
        second=np.where(is_more, control, second).astype(np.int16),
        opening=numbers.astype(np.int32),
        cluster=numbers.astype(np.int32),
        cluster_ids=np.arange(len(drawn)),
        same_colour=same,
        won_placing_first=np.where(turned, 1 - won_second, won_first).astype(np.int8),
        won_placing_second=np.where(turned, 1 - won_first, won_second).astype(np.int8),
    )


def judge(findings: RunResults, table: PairTable, names: list[str], pool: int | None) -> list[Comparison]:
    """Return the verdicts on these contenders, treating no agent as random, since the census is the truth."""
    comparisons = compare_all(
        table, str(findings.baseline), names, pools=dict.fromkeys(names, pool) if pool else {}, also=[CONTROL]
    )
    return [comparison for comparison in comparisons if isinstance(comparison, Comparison)]


if __name__ == "__main__":
    main()
