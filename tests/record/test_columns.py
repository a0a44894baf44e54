"""Arrays of Arrow and of NumPy: the same values either way."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knights_isolation.experiments.record.columns import (
    among,
    codes,
    concatenate,
    distinct,
    lengths,
    lists,
    numbers,
    table_of,
    table_of_rows,
    take,
    texts,
    to_arrow,
    to_lists,
    to_names,
    to_numpy,
    where,
    with_columns,
    with_plain_texts,
)

KINDS = (np.int8, np.int16, np.int32, np.int64, np.uint64, np.float64, np.bool_)


@given(st.lists(st.integers(0, 100)), st.sampled_from(KINDS))
def test_what_goes_to_arrow_and_back_stays_as_it_is(values, kind):
    array = np.array(values, kind)
    column = to_arrow(array)
    assert column.equals(pa.array(array))
    back = to_numpy(column)
    assert back.dtype == array.dtype
    assert back.tolist() == array.tolist()


def test_only_every_other_value_of_an_array_goes_as_well():
    assert to_arrow(np.arange(10)[::2]).to_pylist() == [0, 2, 4, 6, 8]


@given(st.lists(st.lists(st.integers(-5, 5))), st.integers(0, 3))
def test_a_column_in_chunks_is_one_array(chunks, first):
    column = pa.chunked_array([pa.array(chunk, pa.int16()) for chunk in chunks], pa.int16()).slice(first)
    assert to_numpy(column).dtype == np.int16
    assert to_numpy(column).tolist() == column.to_pylist()


@pytest.mark.parametrize("values", [[1, None], [True, None], ["a", "b"], [1.5, None]])
def test_what_is_missing_and_what_is_no_number_is_as_pyarrow_has_it(values):
    array = pa.array(values)
    assert repr(to_numpy(array)) == repr(array.to_numpy(zero_copy_only=False))


def test_names_stand_where_their_places_were():
    assert to_names(np.array([1, 0, 1], np.int16), ["a", "ß"]).to_pylist() == ["ß", "a", "ß"]


SCHEMA = pa.schema(
    [("game_id", pa.int64()), ("name", pa.dictionary(pa.int8(), pa.string())), ("moves", pa.list_(pa.int16()))]
)
GAMES = st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abc"), st.lists(st.integers(0, 48), max_size=3)))


def games_of(chunks, first=0):
    """A table in these chunks, from a row on."""
    tables = [table_of_rows([dict(zip(SCHEMA.names, row, strict=True)) for row in chunk], SCHEMA) for chunk in chunks]
    return concatenate(tables, SCHEMA).slice(first)


@given(st.lists(GAMES), st.integers(0, 3))
def test_columns_of_a_table_in_chunks_are_those_of_its_rows(chunks, first):
    table = games_of(chunks, first)
    rows = [row for chunk in chunks for row in chunk][first:]
    assert numbers(table, "game_id").tolist() == [number for number, _, _ in rows]
    assert texts(table, "name").tolist() == [name for _, name, _ in rows]
    assert codes(table, "name", ("c", "a")).tolist() == ["ca".find(name) for _, name, _ in rows]
    values, starts = lists(table, "moves")
    assert values.dtype == np.int16
    assert [values[low:high].tolist() for low, high in itertools.pairwise(starts)] == [m for *_, m in rows]
    assert lengths(table, "moves").tolist() == [len(moves) for *_, moves in rows]
    assert to_lists(starts, values).to_pylist() == table["moves"].to_pylist()
    indices, kinds = distinct(table["game_id"])
    assert [kinds[index] for index in indices] == numbers(table, "game_id").tolist()
    assert list(kinds) == list(dict.fromkeys(number for number, _, _ in rows))
    assert with_plain_texts(table).to_pylist() == table.to_pylist()


@given(GAMES, st.data())
def test_rows_are_chosen_by_mask_by_order_and_by_ids(games, data):
    table = games_of([games])
    rows = table.to_pylist()
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))), bool)
    order = np.array(data.draw(st.permutations(range(len(rows)))), np.int64)
    ids = np.array(data.draw(st.lists(st.integers(0, 9))), np.int64)
    assert where(table, mask).to_pylist() == [row for row, is_kept in zip(rows, mask, strict=True) if is_kept]
    assert take(table, order).to_pylist() == [rows[index] for index in order]
    assert among(table, ids).to_pylist() == [row for row in rows if row["game_id"] in ids]


def test_columns_are_replaced_where_they_stand_and_added_behind():
    table = with_columns(
        games_of([[(1, "a", []), (2, "b", [3])]]), {"game_id": np.array([5, 6]), "won": np.array([1, 0])}
    )
    assert table.column_names == [*SCHEMA.names, "won"]
    assert table["game_id"].to_pylist() == [5, 6]
    assert table["name"].to_pylist() == ["a", "b"]


def test_names_keep_their_numbers_in_a_table_though_some_do_not_occur():
    columns = {"moves": [[1], []], "name": to_names(np.array([2, 0], np.int8), "xyz"), "game_id": np.array([0, 1])}
    table = table_of(columns, SCHEMA)
    assert table.schema.equals(SCHEMA)
    (chunk,) = table["name"].chunks
    assert (chunk.dictionary.to_pylist(), chunk.indices.to_pylist()) == (["x", "y", "z"], [2, 0])


def test_missing_names_are_none_of_the_words():
    table = pa.table({"name": pa.array(["a", None, "b"]).dictionary_encode()})
    assert codes(table, "name", ("b", "a")).tolist() == [1, -1, 0]
