"""Arrays of Arrow and of NumPy: the same values either way."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knights_isolation.experiments.record.columns import to_arrow, to_names, to_numpy

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
