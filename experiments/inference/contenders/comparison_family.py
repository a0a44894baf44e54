"""Comparisons of all contenders with the baseline, with joint intervals and adjusted p-values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ..game_pairs import PairTable, opponents_of
from .baseline_comparison import Comparison, compare
from .head_to_head import HeadToHead, compare_directly, rate_of
from .multiple_testing import step_down


def compare_all(
    table: PairTable,
    baseline: str,
    contenders: Sequence[str] | None = None,
    controls: Collection[str] = (),
    *,
    alpha: float = 0.05,
    pools: Mapping[str, int] | None = None,
    chance: Mapping[str, Collection[str]] | None = None,
    also: Collection[str] = (),
) -> tuple[Comparison | HeadToHead, ...]:
    """Compare every contender with the baseline, with individual and joint p-values and intervals, in the given order.

    The joint ones hold with 1 − `alpha` for all contenders except the `controls` together
    (`multiple_testing.step_down`). A contender that shares opponents with the baseline is compared over those; one that
    only met the baseline is compared head to head. By default `contenders` are all other agents that met one of the
    baseline's opponents. `pools` has, by contender, the number of openings that the schedule draws from without
    replacement. `chance` has, by contender, the opponents whose games with it or with the baseline depend on chance,
    and the baseline itself if its games do. `also` are controls whose games count as the baseline's whenever another
    agent is compared with it.

    Raises:
        ValueError: an agent is unknown, a contender has met neither the baseline nor one of its opponents, or a pool
            is smaller than the openings of a comparison.
    """
    met = {name: opponents_of(table, name) for name in (baseline, *(contenders or table.agents))}
    shared = {name: met[name] & met[baseline] - {name, baseline} for name in met}
    if contenders is None:
        contenders = [name for name in table.agents if name != baseline and shared[name]]
    results: list[Comparison | HeadToHead] = []
    for name in contenders:
        pool, luck = (pools or {}).get(name), (chance or {}).get(name, ())
        if shared[name] or baseline not in met[name]:
            extra = [] if name in controls else also
            results.append(compare(table, name, baseline, alpha=alpha, pool=pool, chance=luck, also=extra))
        else:
            results.append(
                compare_directly(table, name, baseline, alpha=alpha, pool=None if baseline in luck else pool)
            )
    return _adjusted(results, controls, alpha)


def compare_each(
    table: PairTable, meetings: Sequence[tuple[str, str]], *, alpha: float = 0.05, pools: Sequence[int | None]
) -> tuple[HeadToHead, ...]:
    """Compare the two agents of every meeting head to head, with p-values and intervals that hold jointly.

    `pools` has one entry per meeting; see `compare_directly`.

    Raises:
        ValueError: an agent is unknown.
    """
    duels = [
        compare_directly(table, agent, other, alpha=alpha, pool=pool)
        for (agent, other), pool in zip(meetings, pools, strict=True)
    ]
    return tuple(result for result in _adjusted(duels, (), alpha) if isinstance(result, HeadToHead))


def _adjusted(
    results_so_far: Sequence[Comparison | HeadToHead], controls: Collection[str], alpha: float
) -> tuple[Comparison | HeadToHead, ...]:
    """Return the results with p-values and intervals of all claims adjusted; a control makes no claim."""
    claims = [index for index, comparison in enumerate(results_so_far) if comparison.contender not in controls]
    judged = step_down(
        [results_so_far[index].parts for index in claims], [results_so_far[index].p_value for index in claims], alpha
    )
    results = list(results_so_far)
    for index, p_value, interval in zip(claims, *judged, strict=True):
        comparison = results_so_far[index]
        jointly = rate_of(interval) if isinstance(comparison, HeadToHead) else interval
        results[index] = replace(comparison, adjusted_p=p_value, family=len(claims), jointly=jointly)
    return tuple(results)
