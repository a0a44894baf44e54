import importlib.util
import sys
from pathlib import Path

import pytest
from invented_runs import Invented, gauntlet, random_wins

from reports.compare import judge
from reports.findings import load_findings
from reports.published import analyse_file


@pytest.fixture(scope="module")
def script():
    path = Path(__file__).parent.parent / "examples" / "findings.py"
    spec = importlib.util.spec_from_file_location("findings_example", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclasses look up their module
    spec.loader.exec_module(module)
    return module


def at_limit(script, path, nodes):
    run = gauntlet(
        40, random_wins({"ID_Improved": 0.4, "Base": 0.4, "ID_Territory": 0.9}), contenders=("ID_Territory",)
    )
    run.agent("ID_Territory", "contender", limit={"nodes": nodes})
    duel = Invented(config={"format": "head-to-head", "contenders": ["random"], "baseline": "greedy"}, population=30)
    duel.is_census = True
    duel.agent("ID_Territory", "contender").agent("Base", "baseline")
    for opening in range(30):
        duel.pair("ID_Territory", "Base", opening, 2 if opening < 20 else 1)
    found = [load_findings([one.write(path / f"{nodes}-{name}")]) for name, one in (("g", run), ("d", duel))]
    return script.AtLimit(nodes, *found, *(judge(one) for one in found))


def test_the_findings_say_at_each_limit_who_is_better_and_what_is_exact(script, tmp_path):
    results = [at_limit(script, tmp_path, nodes) for nodes in (300, 1000)]
    text = script.findings_text(results, results[0].gauntlet, analyse_file(None))
    assert text.count("Better: `territory` by +") == 2
    assert "exact for these openings, without sampling error" in text
    assert "| `territory` | 83.3 % ▲ | 83.3 % ▲ |" in text
    assert "`edge_distance_dynamic`, table7 and table8" in text
    assert "2 of 11 published differences" in text


def test_every_published_agent_is_known_by_its_heuristic(script):
    published = {claim.agent for claim in analyse_file(None).claims}
    assert published == set(script.PUBLISHED_NAMES)
