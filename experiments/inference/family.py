"""All contenders of one report beside the baseline: several claims, and the chance that any of them is false."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from experiments.inference.clusters import stretch
from experiments.inference.comparison import Comparison, compare
from experiments.inference.duel import Duel, compare_directly
from experiments.inference.multiplicity import holm, joint_stretch
from experiments.inference.pairing import PairTable, opponents_of


def compare_all(
    table: PairTable,
    baseline: str,
    contenders: Sequence[str] | None = None,
    controls: Collection[str] = (),
    *,
    seed: int = 0,
    confidence: float = 0.95,
    alpha: float = 0.05,
    pools: Mapping[str, int] | None = None,
    chance: Mapping[str, Collection[str]] | None = None,
    also: Collection[str] = (),
) -> tuple[Comparison | Duel, ...]:
    """Every contender beside the baseline, in the order given: p-values Holm-adjusted over all but the `controls`, and
    intervals that hold together beside those that hold each by itself.

    A contender that shares opponents with the baseline is compared over those, one that only met the baseline head to
    head. Without `contenders` these are all other agents that met one of the baseline's opponents. `pools` has, by
    contender, how many openings the schedule draws from without replacement: for those only that, like the baseline
    and the opponents they share, play an opening the same way every time. `chance` has, by contender, the opponents in
    whose games with it or with the baseline chance has a part. `also` are controls whose games count as the baseline's
    wherever somebody else is compared with it.

    Raises:
        ValueError: an agent is unknown, a contender has met neither the baseline nor one of its opponents, or a pool
            is smaller than the openings of a comparison.
    """
    met = {name: opponents_of(table, name) for name in (baseline, *(contenders or table.agents))}
    shared = {name: met[name] & met[baseline] - {name, baseline} for name in met}
    if contenders is None:
        contenders = [name for name in table.agents if name != baseline and shared[name]]
    found: list[Comparison | Duel] = []
    for name in contenders:
        pool = (pools or {}).get(name)
        if shared[name] or baseline not in met[name]:
            luck = (chance or {}).get(name, ())
            more = [] if name in controls else also
            found.append(
                compare(
                    table, name, baseline,
                    seed=seed, confidence=confidence, alpha=alpha, pool=pool, chance=luck, also=more,
                )
            )  # fmt: skip
        else:
            found.append(compare_directly(table, name, baseline, confidence=confidence, alpha=alpha, pool=pool))
    return _adjusted(found, controls, confidence)


def compare_each(
    table: PairTable,
    meetings: Sequence[tuple[str, str]],
    *,
    confidence: float = 0.95,
    alpha: float = 0.05,
    pools: Sequence[int | None],
) -> tuple[Duel, ...]:
    """Both agents of every meeting head to head, p-values Holm-adjusted, and joint intervals, over all meetings.

    `pools` has one for each meeting; see `compare_directly`.

    Raises:
        ValueError: an agent is unknown.
    """
    found = [
        compare_directly(table, one, other, confidence=confidence, alpha=alpha, pool=pool)
        for (one, other), pool in zip(meetings, pools, strict=True)
    ]
    return tuple(one for one in _adjusted(found, (), confidence) if isinstance(one, Duel))


def _adjusted(
    found: Sequence[Comparison | Duel], controls: Collection[str], confidence: float
) -> tuple[Comparison | Duel, ...]:
    """The results, those that are claims adjusted for how many there are; a control makes no claim."""
    claims = [place for place, one in enumerate(found) if one.contender not in controls]
    if not claims:
        return tuple(found)
    adjusted = holm([found[place].p_value for place in claims]).adjusted
    wider = joint_stretch([found[place].parts for place in claims], confidence)
    results = list(found)
    for place, p_value in zip(claims, adjusted, strict=True):
        one = found[place]
        by_itself, least = (one.rate, 0.0) if isinstance(one, Duel) else (one.difference, -1.0)
        jointly = stretch(by_itself, wider, least)
        results[place] = replace(one, adjusted_p=float(p_value), family=len(claims), jointly=jointly)
    return tuple(results)
