"""Sets in plain Python, with the order of CPython's, which are compiled like heuristics."""

# mypy: ignore-errors

from .library import give_up, hash_of, zeros


class Group:
    """A set, with the order of CPython's: `setobject.c`.

    `slots` is the hash table: 0 where it is empty, -1 where a member was, else the place among `names`, plus one.
    """

    PARTS = ("names", "hashes", "slots", "filled", "used", "finger")

    def __init__(self):
        self.names = []
        self.hashes = []
        self.slots = [0, 0, 0, 0, 0, 0, 0, 0]
        self.filled = 0
        self.used = 0
        self.finger = 0

    def slot(self, key, code):
        mask = len(self.slots) - 1
        home, rest = code & mask, code
        while True:
            for slot in range(home, home + (10 if home + 9 <= mask else 1)):
                found = self.slots[slot]
                if found == 0 or (found > 0 and self.hashes[found - 1] == code and self.names[found - 1] == key):
                    return slot
            rest = (rest >> 5) & 0x7FFFFFFFFFFFFFF
            home = (home * 5 + 1 + rest) & mask

    def free_slot(self, code):
        mask = len(self.slots) - 1
        home, rest = code & mask, code
        while True:
            for slot in range(home, home + (10 if home + 9 <= mask else 1)):
                if self.slots[slot] == 0:
                    return slot
            rest = (rest >> 5) & 0x7FFFFFFFFFFFFFF
            home = (home * 5 + 1 + rest) & mask

    def __len__(self):
        return self.used

    def __contains__(self, key):
        return self.slots[self.slot(key, hash_of(key))] > 0

    def add(self, key):
        self.insert(key, hash_of(key))

    def insert(self, key, code):
        mask = len(self.slots) - 1
        home, rest, dummy = code & mask, code, -1
        while True:
            for slot in range(home, home + (10 if home + 9 <= mask else 1)):
                found = self.slots[slot]
                if found == 0:
                    self.put(slot if dummy < 0 else dummy, key, code)
                    if dummy >= 0:
                        self.filled -= 1
                    elif self.filled * 5 >= mask * 3:
                        self.resize(self.used * 4)
                    return
                if found < 0:
                    dummy = slot
                elif self.hashes[found - 1] == code and self.names[found - 1] == key:
                    return
            rest = (rest >> 5) & 0x7FFFFFFFFFFFFFF
            home = (home * 5 + 1 + rest) & mask

    def put(self, slot, key, code):
        self.names.append(key)
        self.hashes.append(code)
        self.slots[slot] = len(self.names)
        self.filled += 1
        self.used += 1

    def resize(self, least):
        size = 8
        while size <= least:
            size *= 2
        before = self.slots
        self.slots = zeros(size)
        for place in before:
            if place > 0:
                self.slots[self.free_slot(self.hashes[place - 1])] = place
        self.filled = self.used

    def make_room(self, count):
        if (self.filled + count) * 5 >= (len(self.slots) - 1) * 3:
            self.resize((self.used + count) * 2)

    def merge(self, other):
        if other.used == 0:
            return
        self.make_room(other.used)
        if self.filled == 0 and len(self.slots) == len(other.slots) and other.filled == other.used:
            self.names = other.names.copy()
            self.hashes = other.hashes.copy()
            self.slots = other.slots.copy()
            self.filled = self.used = other.used
            return
        is_clean = self.filled == 0
        for place in other.slots:
            if place > 0:
                key, code = other.names[place - 1], other.hashes[place - 1]
                if is_clean:
                    self.put(self.free_slot(code), key, code)
                else:
                    self.insert(key, code)

    def update(self, *others):
        for other in others:
            if isinstance(other, Group):
                self.merge(other)
            else:
                if isinstance(other, dict):
                    self.make_room(len(other))
                elif isinstance(other, (set, frozenset)):
                    if self.filled == 0 and len(other) > 0:
                        give_up()
                    self.make_room(len(other))
                for item in other:
                    self.add(item)

    def discard(self, key):
        slot = self.slot(key, hash_of(key))
        if self.slots[slot] > 0:
            self.slots[slot] = -1
            self.used -= 1

    def remove(self, key):
        if key not in self:
            raise KeyError
        self.discard(key)

    def pop(self):
        if self.used == 0:
            raise KeyError
        mask = len(self.slots) - 1
        slot = self.finger & mask
        while self.slots[slot] <= 0:
            slot = slot + 1 if slot < mask else 0
        key = self.names[self.slots[slot] - 1]
        self.slots[slot] = -1
        self.used -= 1
        self.finger = slot + 1
        return key

    def clear(self):
        self.names.clear()
        self.hashes.clear()
        self.slots = zeros(8)
        self.filled = 0
        self.used = 0

    def copy(self):
        made = Group()
        made.merge(self)
        return made

    def union(self, *others):
        made = self.copy()
        made.update(*others)
        return made

    def __or__(self, other):
        return self.union(other)

    def __ior__(self, other):
        self.update(other)
        return self

    def intersection(self, *others):
        made = self
        for other in others:
            made = made & other
        return made.copy() if len(others) == 0 else made

    def __and__(self, other):
        made = Group()
        if isinstance(other, Group) and other.used > self.used:
            for item in self:
                if item in other:
                    made.add(item)
        else:
            if isinstance(other, (set, frozenset)) and len(other) > self.used:
                give_up()
            for item in other:
                if item in self:
                    made.add(item)
        return made

    def intersection_update(self, *others):
        self.take(self.intersection(*others))

    def __iand__(self, other):
        self.take(self & other)
        return self

    def take(self, other):
        self.names = other.names
        self.hashes = other.hashes
        self.slots = other.slots
        self.filled = other.filled
        self.used = other.used

    def difference_update(self, *others):
        for other in others:
            for item in other:
                self.discard(item)
            if self.filled - self.used > (len(self.slots) - 1) // 4:
                self.resize(self.used * 4)

    def __isub__(self, other):
        self.difference_update(other)
        return self

    def difference(self, *others):
        made = self
        for other in others:
            if isinstance(other, (Group, set, frozenset, dict)):
                made = made - other
            else:
                made = made.copy()
                made.difference_update(other)
        return made.copy() if len(others) == 0 else made

    def __sub__(self, other):
        if self.used // 4 > len(other):
            made = self.copy()
            made.difference_update(other)
            return made
        made = Group()
        for item in self:
            if item not in other:
                made.add(item)
        return made

    def __xor__(self, other):
        made = Group()
        made.update(other)
        for item in self:
            if item in made:
                made.discard(item)
            else:
                made.add(item)
        return made

    def symmetric_difference(self, other):
        return self ^ other

    def issubset(self, other):
        for item in self:
            if item not in other:
                return False
        return True

    def issuperset(self, other):
        for item in other:
            if item not in self:
                return False
        return True

    def isdisjoint(self, other):
        for item in other:
            if item in self:
                return False
        return True

    def __le__(self, other):
        return self.issubset(other)

    def __ge__(self, other):
        return self.issuperset(other)

    def __lt__(self, other):
        return self.used < len(other) and self.issubset(other)

    def __gt__(self, other):
        return self.used > len(other) and self.issuperset(other)

    def __eq__(self, other):
        return self.used == len(other) and self.issubset(other)

    def __ne__(self, other):
        return not self == other
