"""Dictionaries, and lists that keep each element once."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import overload
from numba.typed import List


def empty_dict(key, value):
    """Return a dictionary of nothing, of such keys and values."""


@overload(empty_dict)
def _empty_dict(key, value):
    def empty_dict(key, value):
        table = {key: value}
        table.pop(key)
        return table

    return empty_dict


def kept(items):
    """Return a list as a dictionary can hold it."""


@overload(kept)
def _kept(items):
    return (lambda items: kept_list(items)) if isinstance(items, types.List) else (lambda items: items)


def kept_list(items):
    """Return a list, a set or cells as a list that a dictionary can hold."""


@overload(kept_list)
def _kept_list(items):
    element = types.unliteral(items.dtype)

    def kept_list(items):
        elements = List.empty_list(element)
        for item in items:
            elements.append(item)
        return elements

    return kept_list


def put_once(items, item):
    """Put an element into a kept list that stands for a set."""


def put_each_once(items, others):
    """Put elements into a kept list that stands for a set."""


def set_of_kept(items):
    """Return the set that a kept list stands for."""


@overload(put_once)
def _put_once(items, item):
    def put_once(items, item):
        if item not in items:
            items.append(item)

    return put_once


@overload(put_each_once)
def _put_each_once(items, others):
    def put_each_once(items, others):
        for item in others:
            if item not in items:
                items.append(item)

    return put_each_once


@overload(set_of_kept)
def _set_of_kept(items):
    if not isinstance(items, types.ListType):
        return lambda items: items
    return lambda items: set(items)


def as_dict(items):
    """Return a dictionary of its own of another's entries, or of pairs."""


@overload(as_dict)
def _as_dict(items):
    if isinstance(items, types.DictType):
        return lambda items: items.copy()
    return lambda items: dict(items)


def count_in(items, item):
    """Return how many of one of these items a counter takes: what a dictionary says, else one."""


@overload(count_in)
def _count_in(items, item):
    return (lambda items, item: items[item]) if isinstance(items, types.DictType) else (lambda items, item: 1)


def counter_of(items):
    """Return Counter(items), of a dictionary of counts, or of items."""


@overload(counter_of)
def _counter_of(items):
    if isinstance(items, types.DictType):
        return lambda items: items.copy()

    def counter_of(items):
        counts: dict[Any, int] = {}
        for item in items:
            counts[item] = counts.get(item, 0) + 1
        return counts

    return counter_of


def get_or(table, key, missing):
    """Return what a dictionary has for a key, or what is given for one it lacks."""


def put_and_get(table, key, missing):
    """Return what a dictionary has for a key, having put in what is given for one it lacks."""


@overload(get_or)
def _get_or(table, key, missing):
    return lambda table, key, missing: table.get(key, missing)


@overload(put_and_get)
def _put_and_get(table, key, missing):
    def put_and_get(table, key, missing):
        if key not in table:
            table[key] = missing
        return table[key]

    return put_and_get
