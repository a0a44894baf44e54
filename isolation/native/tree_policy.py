"""What Monte-Carlo tree search computes with, compiled or not: plain Python, which compiled code takes as it is."""

from __future__ import annotations

EXPLORATION = 1.0
"""The weight of the bound's second term, which sends simulations to moves seldom tried."""


def natural_log(n: int) -> float:
    """ln n, by arithmetic alone, so that it is the same to the last bit on every machine; error below 1e-9."""
    halvings, mantissa = 0, float(n)
    while mantissa > 1.5:
        mantissa *= 0.5
        halvings += 1
    z = (mantissa - 1.0) / (mantissa + 1.0)
    total, power = 0.0, z
    for k in range(1, 24, 2):
        total += power / k
        power *= z * z
    return halvings * 0.6931471805599453 + 2.0 * total
