"""Mark a few of very many alike cases for every run, and the others for the weekly one."""

from collections.abc import Sequence
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet


def sampled(cases: Sequence[tuple[Any, ...]], slow: int, fast: int = 0) -> list[ParameterSet]:
    """Return the cases, one in `fast` without a mark (none for 0), one in `slow` slow, the others exhaustive."""
    marks = [pytest.mark.exhaustive] * len(cases)
    marks[::slow] = [pytest.mark.slow] * len(marks[::slow])
    return [
        pytest.param(*case, marks=() if fast and place % fast == 0 else mark)
        for place, (case, mark) in enumerate(zip(cases, marks, strict=True))
    ]
