"""Quantiles and tails of the usual distributions, from scipy.special: scipy.stats takes a second to be imported."""

from __future__ import annotations

from scipy.special import chdtrc, fdtrc, gammaincinv, ndtr, ndtri, stdtrit


def normal_quantile(probability: float) -> float:
    """The value that a standard normal variable stays below with this probability.

    >>> round(normal_quantile(0.975), 4)
    1.96
    """
    return float(ndtri(probability))


def normal_below(value: float) -> float:
    """The probability that a standard normal variable stays below a value."""
    return float(ndtr(value))


def student_quantile(probability: float, degrees: float) -> float:
    """The value that a variable of Student's t with these degrees of freedom stays below with this probability."""
    return float(stdtrit(degrees, probability))


def chi_square_quantile(probability: float, degrees: float) -> float:
    """The value that a chi-square variable with these degrees of freedom stays below with this probability."""
    return float(2 * gammaincinv(degrees / 2, probability))


def chi_square_above(value: float, degrees: float) -> float:
    """The probability that a chi-square variable with these degrees of freedom exceeds a value."""
    return float(chdtrc(degrees, value))


def f_above(value: float, numerator: float, denominator: float) -> float:
    """The probability that a variable of Fisher's F with these degrees of freedom exceeds a value."""
    return float(fdtrc(numerator, denominator, value))
