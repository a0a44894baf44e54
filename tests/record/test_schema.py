"""The schema: documents describe its columns, written files have them, and columns of older types become today's."""

import ast
import inspect
import re
from collections.abc import Iterable
from dataclasses import fields
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from knights_isolation.experiments.record.checked_parquet import read_batches, read_parquet
from knights_isolation.experiments.record.schema import (
    DATASET,
    LABELS,
    LOG,
    SOLVED,
    SUITE,
    AgentEntry,
    Column,
    RunInfo,
    lift,
    schema_of,
)

ROOT = Path(__file__).parents[2]
TABLE = re.compile(r"\| column \| type \| unit \| meaning \|\n(?:\|.*\n)+")


def type_text(kind: pa.DataType) -> str:
    """What documents call a type."""
    if pa.types.is_dictionary(kind):
        return "dictionary"
    if pa.types.is_list(kind):
        return f"{kind.value_type} list"
    return "timestamp" if pa.types.is_timestamp(kind) else str(kind)


def table_of(columns: Iterable[Column]) -> str:
    """The table of a document."""
    rows = (f"| `{each.name}` | {type_text(each.type)} | {each.unit} | {each.meaning} |\n" for each in columns)
    return "".join(("| column | type | unit | meaning |\n|---|---|---|---|\n", *rows))


@pytest.mark.parametrize(
    ("page", "tables"),
    [("docs/reference/log.md", (LOG, LABELS)), ("experiments/suite/data/README.md", (SUITE,))],
)
def test_documents_describe_the_columns(page: str, tables: tuple[tuple[Column, ...], ...]) -> None:
    assert TABLE.findall((ROOT / page).read_text(encoding="utf-8")) == [table_of(columns) for columns in tables]


def test_the_page_says_since_when_there_are_the_columns() -> None:
    (version,) = {column.since for columns in (LOG, LABELS, SUITE, SOLVED, DATASET) for column in columns}
    assert f"All columns are there since version {version}." in (ROOT / "docs/reference/log.md").read_text("utf-8")


def test_a_column_has_one_name_and_a_meaning() -> None:
    for columns in (LOG, LABELS, SUITE, SOLVED, DATASET):
        names = [column.name for column in columns]
        assert len(set(names)) == len(names)
        assert all(column.meaning and "|" not in column.meaning for column in columns)


def test_columns_of_older_types_are_lifted_when_a_file_is_read(tmp_path: Path) -> None:
    today = schema_of([Column("winner", pa.int8(), "1 or 2"), Column("agent_1", LOG[4].type, "a name")])
    older = pa.table({"winner": pa.array([1, 2], pa.int64()), "agent_1": ["a", "b"]})
    pq.write_table(older, tmp_path / "older.parquet")
    read = read_parquet(tmp_path / "older.parquet", today)
    assert read.schema.equals(today)
    assert read.to_pylist() == older.to_pylist()
    (batch,) = read_batches(tmp_path / "older.parquet", today, ["agent_1"], 10)
    assert batch.schema.equals(schema_of([LOG[4]]))
    assert lift(read, today) is read
    with pytest.raises(pa.ArrowInvalid):
        lift(pa.table({"winner": [300]}), today)


@pytest.mark.parametrize("described", [RunInfo, AgentEntry])
def test_every_field_of_run_json_has_a_meaning(described: type) -> None:
    (definition,) = ast.parse(inspect.getsource(described)).body
    assert isinstance(definition, ast.ClassDef)
    texts = {
        field.target.id: text.value.value
        for field, text in pairwise(definition.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
    }
    assert [*texts] == [field.name for field in fields(described)]
    assert all(texts.values())
