"""A little of each family of attacks; `python -m benchmarks.attacks` tries them all."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.attacks.grammars import mutated
from benchmarks.attacks.targets import SEEDS, TARGETS, refused

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    ("family", "share"),
    [
        pytest.param("places", 0.03, marks=pytest.mark.slow),
        *(
            pytest.param(family, share, marks=pytest.mark.exhaustive)
            for family, share in (("writes", 0.0003), ("files", 0.0005), ("arithmetic", 0.0005))
        ),
    ],
)
def test_what_is_promised_holds_under_a_few_attacks_of_each_family(family: str, share: float) -> None:
    words = [sys.executable, "-m", "benchmarks.attacks", family, "--share", str(share)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.exhaustive
@pytest.mark.parametrize(("family", "share"), [("kills", 0.015), ("players", 0.01)])
def test_what_is_promised_holds_where_processes_die(family: str, share: float) -> None:
    test_what_is_promised_holds_under_a_few_attacks_of_each_family(family, share)


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=40, database=None)
@given(data=st.data())
def test_whatever_is_read_has_a_meaning_or_is_refused(name: str, data: st.DataObject) -> None:
    seed = data.draw(st.sampled_from(SEEDS[name]))
    chance = data.draw(st.integers(0, 2**32))
    refused(TARGETS[name], data.draw(st.sampled_from([seed, mutated(seed, random.Random(chance))])))
