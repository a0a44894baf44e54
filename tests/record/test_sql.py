"""SQL over runs: views that count each game once, also while parts wait to be merged."""

import re
from pathlib import Path
from typing import Any

import pytest
from invented_runs import gauntlet

import knights_isolation as ki
from knights_isolation.experiments import read_games
from knights_isolation.experiments.record import log, log_parts

pytest.importorskip("duckdb")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with a baseline and contenders."""
    return Path(gauntlet(8).write(tmp_path / "run"))


def test_plays_have_a_row_a_player_a_game_and_roles(run: Path) -> None:
    games = read_games(run)
    query = "SELECT agent, count(*) AS played, count_if(won) AS won, any_value(role) AS role FROM plays GROUP BY agent"
    rows = ki.sql(query, run).to_dict("records")
    assert sum(row["played"] for row in rows) == 2 * len(games)
    winners = games["agent_1"].astype(str).where(games["winner"] == 1, games["agent_2"].astype(str)).tolist()
    assert {row["agent"]: row["won"] for row in rows} == {row["agent"]: winners.count(row["agent"]) for row in rows}
    assert {row["role"] for row in rows if row["agent"] == "Base"} == {"baseline"}


def test_plies_have_null_for_what_is_unknown(run: Path) -> None:
    games = read_games(run)
    plies = ki.sql("SELECT * FROM plies ORDER BY game_id, ply", run)
    assert len(plies) == games["plies"].sum()
    assert plies["ply"].tolist() == [ply for count in games["plies"] for ply in range(1, count + 1)]
    assert plies["is_opening"].sum() == games["opening"].map(len).sum()
    assert plies.loc[plies["is_opening"], ["score", "nodes"]].isna().all(axis=None)
    assert plies["kept"].isna().all()
    first = games.iloc[0]
    assert plies.loc[plies["game_id"] == first["game_id"], "cell"].tolist() == list(first["moves"])


def test_merged_parts_beside_their_originals_are_counted_once(run: Path) -> None:
    before = len(read_games(run))
    (part,) = log.live_files(log.games_folder(run))
    part.rename(part.with_name("games-000001-000002.parquet"))
    table = log.read_part(log.live_files(log.games_folder(run))[0])
    log_parts.append(log.games_folder(run), table)
    (later,) = set(log.games_folder(run).iterdir()) - {part.with_name("games-000001-000002.parquet")}
    later.rename(later.with_name("games-000002-000002.parquet"))
    assert len(list(log.games_folder(run).iterdir())) == 2
    assert ki.sql("SELECT count(*) AS games FROM games", run)["games"].tolist() == [before]
    assert ki.sql("SELECT count(*) AS games FROM games", ki.results(run))["games"].tolist() == [before]


def test_a_database_holds_the_same_views_and_errors_are_one_line(run: Path) -> None:
    path = ki.export(run, "duckdb", "run.duckdb")
    import duckdb

    with duckdb.connect(str(path), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM plays").fetchall() == [(2 * len(read_games(run)),)]
    with pytest.raises(ValueError, match="already exists"):
        ki.export(run, "duckdb", path)
    pytest.importorskip("polars")
    page = (Path(__file__).parents[2] / "docs" / "reference" / "log.md").read_text()
    found: dict[str, Any] = {}
    exec(re.search(r"```python\n(import duckdb.*?)```", page, re.DOTALL)[1], found)  # type: ignore[index]
    assert found["plays"].height == 2 * len(read_games(run))
    assert dict(zip(found["plays"]["agent"], found["plays"]["won"], strict=True)).keys() == set(
        found["by_agent"]["agent"]
    )
    with pytest.raises(ValueError, match="agnt"):
        ki.sql("SELECT agnt FROM plays", run)
