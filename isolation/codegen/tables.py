"""Dictionaries and iterators in plain Python, which are compiled like heuristics."""

# mypy: ignore-errors

from .library import (
    any_of,
    cell_count,
    in_order,
    in_order_of,
    number_of_cell,
    pairs_of,
    zeros,
)


class Iterator:
    """An iterator that is kept: what it has not given yet are the items from a place on."""

    def __init__(self, items):
        self.items = items
        self.place = 0

    def __next__(self):
        if self.place >= len(self.items):
            raise StopIteration
        self.place += 1
        return self.items[self.place - 1]


def next_or(iterator, default):
    if iterator.place >= len(iterator.items):
        return default
    return iterator.__next__()


class Table:
    """A dictionary whose keys are not known: names and what they hold, in the order in which they came.

    `slots` are where the cells of the board stand among the names, plus one.
    """

    PARTS = ("names", "held", "slots")

    def __init__(self):
        self.names = []
        self.held = []
        self.slots = []

    def place(self, key):
        cell = number_of_cell(key)
        if cell is not None and cell >= 0:
            return self.slots[cell] - 1 if self.slots else -1
        for place in range(len(self.names)):
            if self.names[place] == key:
                return place
        return -1

    def append(self, key, value):
        cell = number_of_cell(key)
        if cell is not None and cell >= 0:
            if not self.slots:
                self.slots = zeros(cell_count())
            self.slots[cell] = len(self.names) + 1
        self.names.append(key)
        self.held.append(value)

    def remove(self, place):
        self.names.pop(place)
        self.held.pop(place)
        self.slots.clear()
        later = 0
        for place in range(len(self.names)):
            cell = number_of_cell(self.names[place])
            later += 1
            if cell is not None and cell >= 0:
                if not self.slots:
                    self.slots = zeros(cell_count())
                self.slots[cell] = later

    def __len__(self):
        return len(self.names)

    def __contains__(self, key):
        return self.place(key) >= 0

    def __missing__(self, key):
        raise KeyError

    def __getitem__(self, key):
        place = self.place(key)
        if place < 0:
            return self.__missing__(key)
        return self.held[place]

    def __setitem__(self, key, value):
        place = self.place(key)
        if place < 0:
            self.append(key, value)
        else:
            self.held[place] = value

    def __delitem__(self, key):
        place = self.place(key)
        if place < 0:
            raise KeyError
        self.remove(place)

    def get(self, key, default=None):
        place = self.place(key)
        if place < 0:
            return default
        return self.held[place]

    def setdefault(self, key, value=None):
        place = self.place(key)
        if place < 0:
            self.append(key, value)
            return value
        return self.held[place]

    def pop(self, key, *default):
        place = self.place(key)
        if place < 0:
            if len(default) == 0:
                raise KeyError
            return default[0]
        value = self.held[place]
        self.remove(place)
        return value

    def popitem(self):
        if not self.names:
            raise KeyError
        in_order_of(self.names)
        pair = self.names[-1], self.held[-1]
        self.remove(len(self.names) - 1)
        return pair

    def clear(self):
        self.names.clear()
        self.held.clear()
        self.slots.clear()

    def copy(self):
        other = Table()
        other.update(self)
        return other

    def update(self, items):
        for key, value in pairs_of(items):
            self[key] = value

    def keys(self):
        return Keys(self)

    def values(self):
        in_order_of(self.names)
        return self.held

    def items(self):
        in_order_of(self.names)
        return [(self.names[place], self.held[place]) for place in range(len(self.names))]


class Keys:
    """The keys of a dictionary."""

    def __init__(self, table):
        self.table = table

    def __len__(self):
        return len(self.table.names)

    def __contains__(self, key):
        return key in self.table

    def __or__(self, other):
        made = set(self.table.names)
        made.update(other)
        return made

    def __sub__(self, other):
        made = set(self.table.names)
        made.difference_update(other)
        return made

    def __and__(self, other):
        made = set()
        if isinstance(other, (set, frozenset)) and len(self) <= len(other):
            return other.intersection(self.table.names)
        if isinstance(other, Keys) and len(other) > len(self):
            for key in self.table.names:
                if key in other:
                    made.add(key)
        else:
            for key in other:
                if key in self.table:
                    made.add(key)
        return made

    def isdisjoint(self, other):
        return not any_of(key in self.table for key in other)


def filled_table(table, keys, value):
    for key in keys:
        table[key] = value
    return table


class Counted(Table):
    """A `Counter`."""

    def __missing__(self, key):
        return 0

    def update(self, items):
        if isinstance(items, dict):
            for key, count in pairs_of(items):
                self[key] = self.get(key, 0) + count
            return
        for item in items:
            place = self.place(item)
            if place < 0:
                self.append(item, 1)
            else:
                self.held[place] += 1

    def most_common(self, count=None):
        ranked = in_order(self.items(), lambda pair: pair[1], True)
        return ranked if count is None else ranked[:count]

    def subtract(self, items):
        if isinstance(items, dict):
            for key, count in pairs_of(items):
                self[key] = self.get(key, 0) - count
            return
        for item in items:
            self[item] = self.get(item, 0) - 1

    def copy(self):
        made = Counted()
        made.update(self)
        return made

    def __add__(self, other):
        made = Counted()
        for key in self:
            made.note(key, self[key] + other[key])
        for key in other:
            if key not in self:
                made.note(key, other[key])
        return made

    def __sub__(self, other):
        made = Counted()
        for key in self:
            made.note(key, self[key] - other[key])
        for key in other:
            if key not in self:
                made.note(key, 0 - other[key])
        return made

    def __and__(self, other):
        made = Counted()
        for key in self:
            made.note(key, min(self[key], other[key]))
        return made

    def __or__(self, other):
        made = Counted()
        for key in self:
            made.note(key, max(self[key], other[key]))
        for key in other:
            if key not in self:
                made.note(key, other[key])
        return made

    def note(self, key, count):
        if count > 0:
            self[key] = count

    def total(self):
        return sum(self.held)

    def elements(self):
        found = []
        for place in range(len(self.names)):
            for _ in range(self.held[place]):
                found.append(self.names[place])
        return found


class Defaulted(Table):
    """A `defaultdict`."""

    def __init__(self, make):
        self.names = []
        self.held = []
        self.slots = []
        self.make = make

    def __missing__(self, key):
        self.append(key, self.make())
        return self.held[len(self.held) - 1]
