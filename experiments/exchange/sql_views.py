"""SQL over runs by DuckDB: the views `games`, `plays`, `plies`, `agents` and `labels`.

`docs/reference/log.md` lists their columns. What is unknown is NULL: scores that are NaN, searches of opening plies,
labels that the limit left open. Parts of a log that have been merged into others are ignored, as everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..exact.labels import SCHEMA as LABELS
from ..exact.labels import has_labels, read_label_table
from ..record import log
from ..record.run_directory import is_run, load_run, run_called

_OF_GAMES = tuple(name for name in log.SCHEMA.names if not name.startswith("settings_"))
_TEXTS = ("run", "agent", "role", "spec", "settings")
_AGENTS = pa.schema([*((name, pa.string()) for name in _TEXTS), ("deterministic", pa.bool_())])
_PLAYS = """
    SELECT run, game_id, pair_id, side, agent, opponent, role, winner = side AS won,
           CASE WHEN winner <> side THEN reason END AS lost_by, plies, opening_id, orbit, colours
    FROM (SELECT *, 1 AS side, agent_1 AS agent, agent_2 AS opponent FROM games
          UNION ALL SELECT *, 2, agent_2, agent_1 FROM games)
    LEFT JOIN (SELECT run, agent, role FROM agents) USING (run, agent)
"""
_LABELS = """
    SELECT run, game_id, ply, nullif(value, -1) AS value, nullif(winning, -1) AS winning, nullif(legal, -1) AS legal,
           nullif(kept, -1) AS kept
    FROM (SELECT run, game_id, generate_subscripts(value, 1) AS ply, unnest(value) AS value,
                 unnest(winning) AS winning, unnest(legal) AS legal, unnest(kept) AS kept FROM labelled_games)
"""
_PLIES = """
    SELECT run, game_id, ply, side, agent, role, cell, is_opening, CASE WHEN NOT isnan(score) THEN score END AS score,
           CASE WHEN NOT is_opening THEN depth END AS depth, CASE WHEN NOT is_opening THEN nodes END AS nodes,
           CASE WHEN NOT is_opening THEN time_us END AS time_us, CASE WHEN NOT is_opening THEN exact END AS exact,
           value, winning, legal, kept
    FROM (SELECT *, ply <= opening_plies AS is_opening, CASE ply % 2 WHEN 1 THEN 1 ELSE 2 END AS side,
                 CASE ply % 2 WHEN 1 THEN agent_1 ELSE agent_2 END AS agent
          FROM (SELECT run, game_id, agent_1, agent_2, len(opening) AS opening_plies,
                       generate_subscripts(moves, 1) AS ply, unnest(moves) AS cell, unnest(score) AS score,
                       unnest(depth) AS depth, unnest(nodes) AS nodes, unnest(time_us) AS time_us,
                       unnest(exact) AS exact FROM games))
    LEFT JOIN (SELECT run, agent, role FROM agents) USING (run, agent)
    LEFT JOIN labels USING (run, game_id, ply)
"""
VIEWS = {"plays": _PLAYS, "labels": _LABELS, "plies": _PLIES}


def connect_runs(runs: Sequence[str | Path], file: str | Path | None = None) -> Any:
    """Return a DuckDB connection with the views of runs; with `file`, a new database that contains their data.

    Raises:
        ValueError: DuckDB is not installed, there is no such run, or the file exists.
    """
    try:
        duckdb = import_module("duckdb")
    except ImportError:
        raise ValueError("SQL needs DuckDB: pip install 'knights-isolation[sql]'") from None
    if file is not None and Path(file).exists():
        raise ValueError(f"{file} already exists: choose another name, or remove it")
    paths = [run_called(run) for run in runs]
    games = pa.concat_tables(_with_run(path, log.read_table(path, _OF_GAMES)) for path in paths)
    tables = {"games": games, "agents": _agents(paths), "labelled_games": _labels(paths)}
    connection = duckdb.connect(str(file) if file is not None else ":memory:")
    for name, table in tables.items():
        connection.register(f"arrow_{name}", table)
        kind = "TABLE" if file is not None else "TEMP VIEW"
        connection.execute(f"CREATE {kind} {name} AS SELECT * FROM arrow_{name}")
    for name, query in VIEWS.items():
        connection.execute(f"CREATE {'VIEW' if file is not None else 'TEMP VIEW'} {name} AS {query}")
    return connection


def query_runs(query: str, runs: Sequence[str | Path]) -> pa.Table:
    """Return the answer to a query as an Arrow table.

    Raises:
        ValueError: DuckDB is not installed, there is no such run, or the query is wrong.
    """
    connection = connect_runs(runs)
    try:
        answer = connection.sql(query)
        if answer is None:
            raise ValueError("the query has no answer: begin it with SELECT")
        return answer.to_arrow_table()
    except import_module("duckdb").Error as error:
        raise ValueError(str(error).rstrip()) from None
    finally:
        connection.close()


def _labels(paths: Sequence[Path]) -> pa.Table:
    tables = [_with_run(path, read_label_table(path)) for path in paths if has_labels(path)]
    return pa.concat_tables(tables) if tables else _with_run(Path(), LABELS.empty_table())


def _with_run(path: Path, table: pa.Table) -> pa.Table:
    # Names become plain texts: dictionaries differ from run to run.
    for index, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(index, field.name, table.column(index).cast(pa.string()))
    return table.replace_schema_metadata().add_column(0, "run", pa.array([str(path)] * len(table), pa.string()))


def _agents(paths: Sequence[Path]) -> pa.Table:
    rows = [
        {
            "run": str(path),
            "agent": name,
            "role": ", ".join(entry["roles"]),
            "spec": entry["spec"],
            "settings": str(entry["settings"]),
            "deterministic": entry.get("deterministic"),
        }
        for path in paths
        if is_run(path)
        for name, entry in load_run(path).agents.items()
    ]
    return pa.Table.from_pylist(rows, _AGENTS)
