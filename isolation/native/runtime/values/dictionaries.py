"""Dictionaries, and lists that keep each element once."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.typed import List

from ...decorators import by_type, for_all_types


@for_all_types
def empty_dict(key, value):
    """Return a dictionary of nothing, of such keys and values."""
    table = {key: value}
    table.pop(key)
    return table


@by_type
def kept(items):
    """Return a list as a dictionary can hold it."""
    return (lambda items: kept_list(items)) if isinstance(items, types.List) else (lambda items: items)


@by_type
def kept_list(items):
    """Return a list, a set or cells as a list that a dictionary can hold."""
    element = types.unliteral(items.dtype)

    def kept_list(items):
        elements = List.empty_list(element)
        for item in items:
            elements.append(item)
        return elements

    return kept_list


@for_all_types
def put_once(items, item):
    """Put an element into a kept list that stands for a set."""
    if item not in items:
        items.append(item)


@for_all_types
def put_each_once(items, others):
    """Put elements into a kept list that stands for a set."""
    for item in others:
        if item not in items:
            items.append(item)


@by_type
def set_of_kept(items):
    """Return the set that a kept list stands for."""
    if not isinstance(items, types.ListType):
        return lambda items: items
    return lambda items: set(items)


@by_type
def as_dict(items):
    """Return a dictionary of its own of another's entries, or of pairs."""
    if isinstance(items, types.DictType):
        return lambda items: items.copy()
    return lambda items: dict(items)


@by_type
def count_in(items, item):
    """Return how many of one of these items a counter takes: what a dictionary says, else one."""
    return (lambda items, item: items[item]) if isinstance(items, types.DictType) else (lambda items, item: 1)


@by_type
def counter_of(items):
    """Return Counter(items), of a dictionary of counts, or of items."""
    if isinstance(items, types.DictType):
        return lambda items: items.copy()

    def counter_of(items):
        counts: dict[Any, int] = {}
        for item in items:
            counts[item] = counts.get(item, 0) + 1
        return counts

    return counter_of


@for_all_types
def get_or(table, key, missing):
    """Return what a dictionary has for a key, or what is given for one it lacks."""
    return table.get(key, missing)


@for_all_types
def put_and_get(table, key, missing):
    """Return what a dictionary has for a key, having put in what is given for one it lacks."""
    if key not in table:
        table[key] = missing
    return table[key]
