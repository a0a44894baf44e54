"""Determinism: whether a heuristic returns the same value each time, from its code and from a second call."""

import pytest

from knights_isolation.experiments.plan import parse_agent
from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.plan.tournament_plan import make_plan

UNREPEATABLE = {
    "draws": ("import random", "return random.random()", "chance"),
    "draws_by_name": ("from random import gauss", "return gauss(0, 1)", "chance"),
    "draws_with_numpy": ("import numpy as np", "return float(np.random.rand())", "chance"),
    "draws_from_its_own": ("import random\nR = random.Random(3)", "return R.random()", "chance"),
    "draws_behind_what_does_not_compile": ("import random", "class A: pass\n    return random.random()", "chance"),
    "draws_in_a_helper": ("import random\ndef h(): return {'a': random.random()}", "return h()['a']", "chance"),
    "draws_in_a_class": ("import random\nclass A:\n    def v(self): return random.gauss()", "return A().v()", "chance"),
    "imports_late": ("", "from secrets import randbelow\n    return randbelow(9)", "chance"),
    "looks_at_the_clock": ("import time", "return time.perf_counter()", "the time"),
    "looks_at_the_date": ("from datetime import datetime", "return datetime.now().microsecond", "the time"),
    "counts": ("CALLS = 0", "global CALLS\n    CALLS += 1\n    return CALLS", "outlives the call"),
    "collects": ("SEEN = []", "SEEN.append(1)\n    return len(SEEN)", "changes between calls"),
    "goes_through_texts": ("KINDS = {'a', 'bc'}", "return float([len(k) for k in KINDS][0])", "order changes"),
    "notes": ("SEEN = {}", "SEEN[0] = 1\n    return 1.0", "changes between calls"),
}  # fmt: skip
REPEATABLE = {
    "compiles": ("", "return len(game.get_legal_moves(player))"),
    "goes_through_cells": ("CELLS = {(0, 1), (2, 3)}", "return float([r for r, _ in CELLS][0])"),
    "looks_among_texts": ("KINDS = {'a', 'bc'}", "return float('a' in KINDS) + len(sorted(KINDS)[0])"),
    "has_a_class": ("class A:\n    x = 3", "return A().x"),
    "sorts_objects": ("", "return float(sorted({'b': 1, 'a': 2}.items())[0][1])"),
    "has_a_cache": ("from functools import lru_cache\n@lru_cache\ndef f(x): return {'a': x}['a']", "return f(3)"),
}


def write(folder, name, above, body):
    (folder / f"{name}.py").write_text(f"{above}\n\ndef {name}(game, player):\n    {body}\n")
    return f"ID:{folder}/{name}.py:{name}@nodes=20"


@pytest.mark.parametrize("name", UNREPEATABLE)
def test_what_depends_on_chance_time_or_memory_is_not_deterministic(tmp_path, name):
    above, body, why = UNREPEATABLE[name]
    agent = parse_agent(write(tmp_path, name, above, body))
    assert not agent.is_deterministic
    assert why in agent.why_unrepeatable


@pytest.mark.parametrize("name", REPEATABLE)
def test_what_says_the_same_every_time_is_deterministic_compiled_or_not(tmp_path, name):
    agent = parse_agent(write(tmp_path, name, *REPEATABLE[name]))
    assert agent.is_deterministic, agent.why_unrepeatable


HIDDEN = "import itertools\nclass Counter:\n    n = itertools.count()\nC = Counter()"


def test_a_second_look_finds_what_the_code_does_not_tell(tmp_path):
    hidden = write(tmp_path, "hidden", HIDDEN, "return float(next(C.n) * 7919 % 101)")
    assert parse_agent(hidden).is_deterministic
    plan = make_plan(load_config(None, {"contenders": [hidden], "baseline": "greedy", "openings": "placements",
                                        "board": "4x4", "pairs": "all", "format": "head-to-head"}))  # fmt: skip
    assert not plan.is_census
    assert plan.schedule.matches[0].population == 0
    assert any("gave two different answers" in note for note in plan.notes)


def test_a_second_look_leaves_alone_who_repeats_itself(tmp_path):
    honest = write(tmp_path, "honest", *REPEATABLE["has_a_class"])
    plan = make_plan(load_config(None, {"contenders": [honest], "baseline": "greedy", "openings": "placements",
                                        "board": "4x4", "pairs": "all", "format": "head-to-head"}))  # fmt: skip
    assert plan.is_census
