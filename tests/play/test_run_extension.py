"""A finished run with one contender more: what it would have been from the start, and only what is new is played."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from scripted_pool import here

from cli import main
from knights_isolation.experiments.plan import run_keeping
from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.play import runner
from knights_isolation.experiments.play.run_extension import extended_config
from knights_isolation.experiments.play.runner import RunOutcome, play_tournament
from knights_isolation.experiments.record import log, log_parts, run_directory
from knights_isolation.experiments.record.checked_json import read_json, write_json
from knights_isolation.experiments.verification import verify

FEW: dict[str, Any] = {"board": "5x5", "limit": "nodes=40", "pairs": 5, "jobs": 1}
GAUNTLET: dict[str, Any] = {"contenders": ["ID:center", "greedy"], "opponents": ["random", "MM:open@depth=2"]}
OTHERS: list[dict[str, Any]] = [
    {**GAUNTLET, "contenders": ["ID:center"], "openings": "placements", "board": "4x4", "pairs": 20},
    {**GAUNTLET, "sprt": [0, 20], "pairs": 40},
    {"format": "head-to-head", "contenders": ["greedy"], "openings": "random:4"},
    {"format": "round-robin", "contenders": ["greedy", "random", "ID:center"]},
]
NEW = "ID:open@nodes=30"


def play(out: Path, **keys: Any) -> RunOutcome:
    return play_tournament(load_config(None, {**FEW, **keys, "out": str(out)}), pools=here)


def extend(run: Path, out: Path, **keys: Any) -> RunOutcome:
    config = extended_config(run, {"contenders": (NEW,), "jobs": 1, "out": str(out), **keys})
    return play_tournament(config, extends=run, pools=here)


def games(run: Path) -> pd.DataFrame:
    return log.read_games(run).drop(columns=["time_us", "started_at"])


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def gauntlet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("extension") / "run"
    assert play(run, **GAUNTLET).finished
    return run


@pytest.fixture
def run(gauntlet: Path, tmp_path: Path) -> Path:
    return shutil.copytree(gauntlet, tmp_path / "run")


def assert_as_from_the_start(extended: Path, anew: Path) -> None:
    pd.testing.assert_frame_equal(games(extended), games(anew), check_categorical=False)
    first, second = (run_directory.load_run(path) for path in (extended, anew))
    assert (first.fingerprint, first.agents, first.games) == (second.fingerprint, second.agents, second.games)


def test_an_edited_configuration_is_named_and_no_run_goes_on_by_it(run: Path, tmp_path: Path) -> None:
    assert not any(each.is_damaged for each in verify(run.parent))
    file = run / run_directory.CONFIG
    file.write_text(file.read_text().replace("seed = 1", "seed = 2"))
    assert [Path(each.file) for each in verify(run.parent) if each.is_damaged] == [file]
    with pytest.raises(ValueError, match=r"config\.toml: damaged or edited by hand"):
        extend(run, tmp_path / "more")


@pytest.mark.slow
def test_an_extended_gauntlet_is_what_it_would_have_been_from_the_start(run: Path, tmp_path: Path) -> None:
    before = contents(run)
    assert extend(run, tmp_path / "more").finished
    play(tmp_path / "anew", **{**GAUNTLET, "contenders": [*GAUNTLET["contenders"], NEW]})
    assert_as_from_the_start(tmp_path / "more", tmp_path / "anew")
    assert contents(run) == before


@pytest.mark.exhaustive
@pytest.mark.parametrize("keys", OTHERS, ids=["placements", "sprt", "head-to-head", "round-robin"])
def test_so_is_a_run_of_any_other_kind(keys: dict[str, Any], tmp_path: Path) -> None:
    assert play(tmp_path / "run", **keys).finished
    assert extend(tmp_path / "run", tmp_path / "more").finished
    play(tmp_path / "anew", **{**keys, "contenders": [*keys["contenders"], NEW]})
    assert_as_from_the_start(tmp_path / "more", tmp_path / "anew")


@pytest.mark.slow
def test_only_what_is_new_is_played_and_the_note_says_how_much_is_not(run: Path, tmp_path: Path) -> None:
    outcome = extend(run, tmp_path / "more")
    old, new = log.read_games(run), log.read_games(tmp_path / "more")
    taken_over = new[new.started_at <= old.started_at.max()]
    assert len(taken_over) == len(old)
    assert "ID_Open_30nodes" not in set(taken_over.agent_1) | set(taken_over.agent_2)
    assert any(note == f"{len(old):,} games come from {run}, which this run extends" for note in outcome.notes)


@pytest.mark.slow
def test_an_extended_run_is_extended_again_by_the_rules_of_the_first(run: Path, tmp_path: Path) -> None:
    assert extend(run, tmp_path / "more").finished
    assert extend(tmp_path / "more", tmp_path / "most", contenders=("ID:null",)).finished
    play(tmp_path / "anew", **{**GAUNTLET, "contenders": [*GAUNTLET["contenders"], NEW, "ID:null"]})
    assert_as_from_the_start(tmp_path / "most", tmp_path / "anew")


@pytest.mark.slow
def test_an_extension_that_is_interrupted_is_resumed(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "carry_over", interrupted)
    with pytest.raises(KeyboardInterrupt):
        extend(run, tmp_path / "more")
    monkeypatch.undo()
    config = run_keeping.requested_config(run_directory.load_run(tmp_path / "more"), jobs=1)
    assert play_tournament(config, resume=True, pools=here).finished
    play(tmp_path / "anew", **{**GAUNTLET, "contenders": [*GAUNTLET["contenders"], NEW]})
    assert_as_from_the_start(tmp_path / "more", tmp_path / "anew")


@pytest.mark.slow
def test_a_run_by_the_old_rule_of_seeds_is_extended_by_it(run: Path, tmp_path: Path) -> None:
    write_json(run / run_directory.FACTS, {**read_json(run / run_directory.FACTS), "seeds_by": "agents"})
    for part in log.live_files(log.games_folder(run)):
        part.unlink()
    run_keeping.reopen(run)
    assert play_tournament(
        run_keeping.requested_config(run_directory.load_run(run), jobs=1), resume=True, pools=here
    ).finished
    assert extend(run, tmp_path / "more").finished
    assert run_directory.load_run(tmp_path / "more").seeds_by == "agents"
    shared = games(tmp_path / "more").merge(games(run), on=["agent_1", "agent_2", "opening_id", "seed"])
    assert len(shared) == len(games(run))


# What cannot be extended


def change_facts(run: Path, **changes: Any) -> None:
    write_json(run / run_directory.FACTS, {**read_json(run / run_directory.FACTS), **changes})


def change_games(run: Path, change: Callable[[dict[str, Any]], None]) -> None:
    (part,) = log.live_files(log.games_folder(run))
    rows = log.read_part(part).to_pylist()
    for row in rows:
        change(row)
    part.unlink()
    log_parts.append(log.games_folder(run), pa.Table.from_pylist(rows, log.SCHEMA))


def foreign_seed(row: dict[str, Any]) -> None:
    row["seed"] ^= 1


def other_nodes(row: dict[str, Any]) -> None:
    row["nodes"][-1] += 1


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (run_keeping.reopen, "is unfinished: resume with isolation tournament --resume"),
        (
            lambda run: change_facts(run, versions={"knights-isolation": "0.0.1"}),
            "was played with engine version 0.0.1",
        ),
        (lambda run: change_games(run, foreign_seed), "its seed is not one of the run's"),
        (lambda run: change_games(run, other_nodes), "replays differently with this engine version"),
        (
            lambda run: change_facts(
                run, requested={**read_json(run / run_directory.FACTS)["requested"], "equal_cost": True}
            ),
            "was played at equal cost measured at its start and cannot be extended: play a new run",
        ),
    ],
)
def test_what_must_not_mix_is_refused_and_nothing_is_written(
    harm: Callable[[Path], None], message: str, run: Path, tmp_path: Path
) -> None:
    harm(run)
    with pytest.raises(ValueError, match=message) as output:
        extend(run, tmp_path / "more")
    assert "\n" not in str(output.value)
    assert not (tmp_path / "more").exists()


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"contenders": ()}, "--extend needs a new --contender"),
        ({"contenders": ("Same=ID:center",)}, "Same plays exactly like ID_Center"),
        ({"contenders": ("ID:zentrum",)}, "no heuristic .zentrum."),
        ({"seed": 9}, "--extend plays by the settings of .*: leave --seed out"),
        ({"opponents": ("greedy",)}, "leave --opponent out"),
        ({"hard_cap": 2.0}, "leave --hard-cap out"),
    ],
)
def test_only_somebody_new_can_be_added(keys: dict[str, Any], message: str, run: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        extend(run, tmp_path / "more", **keys)
    assert not (tmp_path / "more").exists()


def test_changed_code_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "my.py"
    file.write_text("def score(game, player):\n    return 1.0\n")
    play(tmp_path / "run", **{**GAUNTLET, "contenders": [f"X=ID:{file}:score"]})
    file.write_text("def score(game, player):\n    return 2.0\n")
    with pytest.raises(ValueError, match="the code of X has changed since the run began"):
        extend(tmp_path / "run", tmp_path / "more")


def test_a_dry_run_says_how_many_games_are_played_already(run: Path) -> None:
    result = CliRunner().invoke(main, ["tournament", "--extend", str(run), "--contender", NEW, "--dry-run"])
    assert result.exit_code == 0
    assert f"30 games would be played in addition to {len(games(run))} already played" in " ".join(
        result.output.split()
    )


@pytest.mark.parametrize("names", [(), ("ID_Center",)], ids=["all", "one"])
def test_more_openings_are_played_by_all_or_by_the_named_and_the_baseline(
    run: Path, tmp_path: Path, names: tuple[str, ...]
) -> None:
    config = extended_config(run, {"pairs": 8, "contenders": names, "jobs": 1, "out": str(tmp_path / "more")})
    assert play_tournament(config, extends=run, pools=here).finished
    keys: dict[str, Any] = {**GAUNTLET, "pairs": 5, "more_pairs": 8, "more_for": list(names)} if names else {"pairs": 8}
    play(tmp_path / "anew", **{**GAUNTLET, **keys})
    assert_as_from_the_start(tmp_path / "more", tmp_path / "anew")
    played = games(tmp_path / "more")
    openings = {
        name: played[(played.agent_1 == name) | (played.agent_2 == name)].opening_id.nunique()
        for name in ("ID_Center", "Greedy", "ID_Improved")
    }
    assert openings == {"ID_Center": 8, "Greedy": 5 if names else 8, "ID_Improved": 8}


def test_fewer_openings_and_unknown_contenders_are_refused(run: Path) -> None:
    with pytest.raises(ValueError, match="has 5 openings a match already; name a larger number"):
        extended_config(run, {"pairs": 5})
    with pytest.raises(ValueError, match="has no contender ID_Null; choose among ID_Center, Greedy"):
        extended_config(run, {"pairs": 9, "contenders": ("ID_Null",)})
