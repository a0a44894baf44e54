"""Facts about agents: what an agent says of itself is read of it, from run.json, from the log, from old runs."""

import json
import re
import shutil
from pathlib import Path

import pytest
from scripted_pool import here

from knights_isolation.experiments.plan import complete, make_agent, parse_spec, run_keeping, settings_text
from knights_isolation.experiments.plan.agent_kinds import KINDS
from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.plan.tournament_plan import make_plan
from knights_isolation.experiments.play.runner import play_tournament
from knights_isolation.experiments.record import run_directory
from knights_isolation.experiments.record.checked_json import read_json, write_json
from knights_isolation.experiments.record.schema import RUN_VERSION, AgentEntry, facts_in_settings, lifted, read_facts
from knights_isolation.experiments.statistics.contender_verdicts import judge
from knights_isolation.experiments.statistics.run_results import load_findings
from knights_isolation.experiments.verification import verify

SPECS = [
    "random", "greedy", "perfect", "perfect@ms=50", "ID:improved@nodes=2000", "AB:open@depth=4", "MM:null",
    "ID:improved@nodes=50,ties", "ID:improved@cpu_ms=5", "MCTS@nodes=30", "MCTS:improved@nodes=30", "MCTS:open@ms=3",
    "ID:improved@ms=7,order,quiescence", "BF:open@nodes=30", "BF:open@ms=3",
]  # fmt: skip


def described(text):
    spec = complete(parse_spec(text))
    agent = make_agent(spec)
    return spec, agent, settings_text(spec, agent)


def read_entry(entry):
    """The facts in an agent's entry in a run.json of before its versions were numbered."""
    return AgentEntry(**lifted({"agents": {"it": entry}})["agents"]["it"])


@pytest.mark.parametrize("text", SPECS)
def test_facts_are_what_the_agent_says_of_itself(text):
    spec, agent, settings = described(text)
    entry = {"spec": str(spec), "roles": ["opponent"], "settings": settings, "deterministic": agent.is_deterministic}
    facts = read_entry(entry)
    assert (facts.roles, facts.spec) == (["opponent"], str(spec))
    assert facts.parsed_settings == json.loads(settings)
    assert facts.deterministic == agent.is_deterministic
    assert facts.method == getattr(agent, "method", "")
    assert facts.heuristic == getattr(agent, "heuristic_name", "")
    assert facts.limit == ((spec.limit.unit, spec.limit.value) if spec.limit else None)
    assert facts.limit_text == (f"{spec.limit.unit}={spec.limit.value:g}" if spec.limit else "")


@pytest.mark.parametrize("text", SPECS)
def test_what_agents_of_old_runs_left_to_chance_is_told_from_their_settings(text):
    spec, agent, settings = described(text)
    old = {"spec": str(spec), "roles": [], "settings": settings}
    assert read_entry(old).deterministic == read_facts(settings).deterministic == agent.is_deterministic


def test_a_player_of_a_file_or_of_no_known_kind_is_not_deterministic_unless_it_says_so():
    engine = '{"kind": "ugi", "limit": {"nodes": 10}}'
    for settings in ('{"kind": "classic", "limit": {"ms": 150.0}}', engine, "{}", ""):
        assert not read_facts(settings).deterministic
    assert read_entry({"spec": "", "roles": [], "settings": engine, "deterministic": True}).deterministic


def test_what_run_json_says_counts_more_than_the_rule_for_old_runs():
    _, _, settings = described("greedy")
    assert not read_entry({"spec": "", "roles": [], "settings": settings, "deterministic": False}).deterministic


def test_agents_that_differ_in_their_limit_only_have_the_rest_in_common():
    first, second, third = (
        read_facts(described(text)[2]) for text in ("ID:open@nodes=5", "ID:open@ms=7", "ID:null@nodes=5")
    )
    assert first.apart_from_limit == second.apart_from_limit != third.apart_from_limit


def test_a_run_writes_what_its_agents_say_and_findings_read_it(tmp_path):
    keys = {
        "contenders": ["Noisy=ID:open@nodes=5,ties"],
        "opponents": ["random", "greedy"],
        "pairs": 2,
        "control": False,
    }
    config = load_config(None, keys)
    plan = make_plan(config)
    run_keeping.create(tmp_path / "run", plan, config)
    entries = run_directory.load_run(tmp_path / "run").agents
    expected = {entrant.agent.name: entrant.agent.is_deterministic for entrant in plan.entrants}
    assert {name: entry.deterministic for name, entry in entries.items()} == expected
    assert expected["Noisy"] is expected["Random"] is False
    assert expected["Greedy"] is True
    assert dict(load_findings([tmp_path / "run"]).agents) == entries


@pytest.mark.parametrize(
    "name", ["random", "greedy", "perfect", "search", "engine", "policy", "apart", "classic"]
)  # those of version 0
def test_runs_of_before_are_read_as_the_table_of_kinds_says(name):
    kind, facts = KINDS[name], facts_in_settings(json.dumps({"kind": name}))
    assert (facts["unknown"], facts["restricted"], facts["imported"]) == (kind.is_program, kind.is_restricted, False)


def test_a_run_that_an_older_version_played_is_read_judged_and_verified_as_it_was(tmp_path):
    old = shutil.copytree(Path(__file__).parents[1] / "data" / "run_version_0", tmp_path / "old")
    assert "version" not in read_json(old / "run.json")
    findings = load_findings([old])
    player = run_directory.load_run(old).agents["player.CustomPlayer"]
    assert (player.deterministic, player.unknown, player.restricted, player.imported) == (False, False, True, False)
    assert findings.played == 84
    rates = {result.contender: round(100 * result.estimate, 1) for result in judge(findings).results[:3]}
    assert rates == {"AB_Improved_depth2_control": 5.6, "ID_Open_50nodes": -13.9, "player.CustomPlayer": -41.7}
    assert not any(each.is_damaged for each in verify(tmp_path))


def test_a_run_that_an_older_version_began_is_resumed(tmp_path):
    keys = {"contenders": ["ID:open@nodes=5"], "opponents": ["random", "greedy"], "board": "5x5", "pairs": 2}
    config = load_config(None, {**keys, "jobs": 1, "out": str(tmp_path)})
    run_keeping.create(tmp_path, make_plan(config), config)
    facts = read_json(tmp_path / "run.json")
    del facts["version"]
    for entry in facts["agents"].values():
        del entry["unknown"], entry["restricted"], entry["imported"]
    write_json(tmp_path / "run.json", facts)
    info = run_directory.load_run(tmp_path)
    outcome = play_tournament(run_keeping.requested_config(info, jobs=1), resume=True, pools=here)
    assert (outcome.finished, outcome.logged) == (True, info.games)


def test_a_run_of_before_is_read_like_one_of_today_and_written_again_as_one(tmp_path):
    config = load_config(None, {"contenders": ["ID:open@nodes=5"], "opponents": ["random", "greedy"], "pairs": 2})
    run_keeping.create(tmp_path, make_plan(config), config)
    facts, info = read_json(tmp_path / "run.json"), run_directory.load_run(tmp_path)
    assert facts.pop("version") == RUN_VERSION
    for entry in facts["agents"].values():
        for later in ("deterministic", "unknown", "restricted", "imported"):
            del entry[later]
    write_json(tmp_path / "run.json", facts)
    assert run_directory.load_run(tmp_path) == info
    run_keeping.note_unranked(tmp_path, ["Greedy"])
    assert read_json(tmp_path / "run.json")["version"] == RUN_VERSION
    assert run_directory.load_run(tmp_path).agents == info.agents


def test_a_run_json_of_a_later_version_is_refused_and_not_misread(tmp_path):
    config = load_config(None, {"contenders": ["greedy"], "opponents": ["random"], "pairs": 1, "control": False})
    run_keeping.create(tmp_path, make_plan(config), config)
    facts = read_json(tmp_path / "run.json")
    write_json(tmp_path / "run.json", {**facts, "version": RUN_VERSION + 1})
    with pytest.raises(ValueError, match=r"run\.json: cannot be read: it has version 2, and this installation reads"):
        run_directory.load_run(tmp_path)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"version": "1"}, "version must be a whole number, not '1'"),
        ({"version": -1}, "version must be a whole number, not -1"),
        ({"version": 0, "agents": [1]}, "agents: input should be a valid dictionary"),
    ],
)
def test_a_damaged_run_json_is_refused_with_what_is_wrong(tmp_path, change, why):
    config = load_config(None, {"contenders": ["greedy"], "opponents": ["random"], "pairs": 1, "control": False})
    run_keeping.create(tmp_path, make_plan(config), config)
    write_json(tmp_path / "run.json", {**read_json(tmp_path / "run.json"), **change})
    with pytest.raises(ValueError, match=re.escape(f"run.json: cannot be read: {why}")):
        run_directory.load_run(tmp_path)
