"""Parts of Python and of the board in plain Python, which are compiled like heuristics.

What has a docstring only is compiled to instructions: see `functions.py`.
"""

# mypy: ignore-errors
# ruff: noqa: D103

from statistics import StatisticsError


def number_of_cell(key):
    """The number of a cell of the board, -1 for other pairs of whole numbers, None for all else."""


def padded_blank(game):
    """The blank cells of a game, as floods need them; so are the next three."""


def padded_light(game):
    """The cells of the first cell's colour."""


def padded_moves(game, player):
    """The cells that a player can move to."""


def padded_near(game, cells):
    """The cells a knight's move away from any of some, and others off the board."""


def cell_count():
    """How many cells the board has."""


def zeros(count):
    """A list of so many zeros."""


def hash_of(key):
    """The hash of a key."""


def is_finite(number):
    """Whether a number is finite."""


def in_order_of(names):
    """Demand that the order of these is known."""


def give_up():
    """Let Python be asked."""


def pairs_of(items):
    """The pairs of a dictionary, or those of an iterable."""


def fill(items, cells):
    for cell in cells:
        items.append(cell)


def is_element(items, value):
    for item in items:
        if item == value:
            return True
    return False


def nth(cells, place):
    for cell in cells:
        if place == 0:
            return cell
        place -= 1
    raise IndexError


def part(items, low, high):
    count = len(items)
    first = 0 if low is None else low if low >= 0 else max(0, count + low)
    last = count if high is None else high if high >= 0 else count + high
    taken = []
    place = 0
    for item in items:
        if first <= place < last:
            taken.append(item)
        place += 1
    return taken


def strided(items, low, high, step):
    found = part(items, low, high)
    return [found[place] for place in range(0, len(found), step)]


def backwards(items):
    count = len(items)
    return [items[count - 1 - place] for place in range(count)]


def any_of(items):
    for item in items:
        if item:
            return True
    return False


def all_of(items):
    for item in items:
        if not item:
            return False
    return True


def least(items, key):
    best = None
    value = None
    for item in items:
        worth = item if key is None else key(item)
        if best is None or worth < value:
            best, value = item, worth
    if best is None:
        raise ValueError
    return best


def greatest(items, key):
    best = None
    value = None
    for item in items:
        worth = item if key is None else key(item)
        if best is None or worth > value:
            best, value = item, worth
    if best is None:
        raise ValueError
    return best


def least_or(items, key, default):
    best = None
    value = None
    for item in items:
        worth = item if key is None else key(item)
        if best is None or worth < value:
            best, value = item, worth
    return default if best is None else best


def greatest_or(items, key, default):
    best = None
    value = None
    for item in items:
        worth = item if key is None else key(item)
        if best is None or worth > value:
            best, value = item, worth
    return default if best is None else best


def in_order(items, key, is_backwards):
    sorted_items = []
    worths = []
    for item in items:
        worth = item if key is None else key(item)
        sorted_items.append(item)
        worths.append(worth)
        place = len(sorted_items) - 1
        while place > 0 and ((worths[place - 1] < worth) if is_backwards else (worth < worths[place - 1])):
            sorted_items[place] = sorted_items[place - 1]
            worths[place] = worths[place - 1]
            place -= 1
        sorted_items[place] = item
        worths[place] = worth
    return sorted_items


def first_of(items):
    for item in items:
        return item
    raise StopIteration


def first_of_or(items, default):
    for item in items:
        return item
    return default


def folded(function, items, start):
    for item in items:
        start = function(start, item)
    return start


def place_of(items, value):
    place = 0
    for item in items:
        if item == value:
            return place
        place += 1
    raise ValueError


def occurrences(items, value):
    count = 0
    for item in items:
        if item == value:
            count += 1
    return count


def pairs(items):
    found = []
    count = len(items)
    for first in range(count):
        for second in range(first + 1, count):
            found.append((items[first], items[second]))
    return found


def removed(items, place):
    count = len(items)
    if place < 0:
        place += count
    if not 0 <= place < count:
        raise IndexError
    item = items[place]
    for later in range(place + 1, count):
        items[later - 1] = items[later]
    items.pop()
    return item


def inserted(items, place, value):
    count = len(items)
    if place < 0:
        place = max(0, place + count)
    items.append(value)
    later = count
    while later > place:
        items[later] = items[later - 1]
        later -= 1
    if place < count:
        items[place] = value


def remove_from(items, value):
    removed(items, place_of(items, value))


def are_equal(first, second):
    if len(first) != len(second):
        return False
    for place in range(len(first)):
        if first[place] != second[place]:
            return False
    return True


def comes_first(first, second, is_equal_enough):
    for place in range(min(len(first), len(second))):
        if first[place] != second[place]:
            return first[place] < second[place]
    return len(first) < len(second) or (is_equal_enough and len(first) == len(second))


def reduced(function, items):
    value = None
    for item in items:
        value = item if value is None else function(value, item)
    if value is None:
        raise TypeError
    return value


def accumulated(items, function, start):
    totals = []
    value = start
    if value is not None:
        totals.append(value)
    for item in items:
        value = item if value is None else function(value, item)
        totals.append(value)
    return totals


def grouped(items, key):
    groups = []
    last = None
    for item in items:
        name = item if key is None else key(item)
        if last is None or name != last:
            groups.append((name, [item]))
        else:
            groups[-1][1].append(item)
        last = name
    return groups


def triples(items):
    found = []
    count = len(items)
    for first in range(count):
        for second in range(first + 1, count):
            for third in range(second + 1, count):
                found.append((items[first], items[second], items[third]))
    return found


def ordered_pairs(items):
    found = []
    count = len(items)
    for first in range(count):
        for second in range(count):
            if first != second:
                found.append((items[first], items[second]))
    return found


def neighbours(items):
    return [(items[place], items[place + 1]) for place in range(len(items) - 1)]


def every(items, start, stop, step):
    taken = []
    place = 0
    for item in items:
        if stop is not None and place >= stop:
            break
        if place >= start and (place - start) % step == 0:
            taken.append(item)
        place += 1
    return taken


def taken_while(test, items):
    taken = []
    for item in items:
        if not test(item):
            break
        taken.append(item)
    return taken


def dropped_while(test, items):
    taken = []
    is_dropping = True
    for item in items:
        if is_dropping and test(item):
            continue
        is_dropping = False
        taken.append(item)
    return taken


def repeated(items, count):
    found = []
    for _ in range(count):
        found.extend(items)
    return found


def exact_sum(items):
    """What `math.fsum` gives: Shewchuk's algorithm, as CPython has it."""
    partials = [0.0]
    partials.clear()
    for item in items:
        x = float(item)
        kept = 0
        for place in range(len(partials)):
            y = partials[place]
            if abs(x) < abs(y):
                x, y = y, x
            high = x + y
            low = y - (high - x)
            if low:
                partials[kept] = low
                kept += 1
            x = high
        while len(partials) > kept:
            partials.pop()
        partials.append(x)
    total = 0.0
    count = len(partials)
    if count > 0:
        count -= 1
        total = partials[count]
        low = 0.0
        while count > 0:
            x = total
            count -= 1
            y = partials[count]
            total = x + y
            low = y - (total - x)
            if low != 0.0:
                break
        if count > 0 and ((low < 0.0 and partials[count - 1] < 0.0) or (low > 0.0 and partials[count - 1] > 0.0)):
            y = low * 2.0
            x = total + y
            if y == x - total:
                total = x
    return total


def median(items):
    ranked = sorted(items)
    count = len(ranked)
    if count == 0:
        raise StatisticsError
    if count % 2 == 1:
        return ranked[count // 2]
    return (ranked[count // 2 - 1] + ranked[count // 2]) / 2


def zipped_to_longest(first, second, fill):
    return [
        (first[place] if place < len(first) else fill, second[place] if place < len(second) else fill)
        for place in range(max(len(first), len(second)))
    ]


def heappush(heap, item):
    heap.append(item)
    sift_down(heap, 0, len(heap) - 1)


def heappop(heap):
    last = heap.pop()
    if not heap:
        return last
    least = heap[0]
    heap[0] = last
    sift_up(heap, 0)
    return least


def heappushpop(heap, item):
    if heap and heap[0] < item:
        item, heap[0] = heap[0], item
        sift_up(heap, 0)
    return item


def heapify(heap):
    for place in range(len(heap) // 2 - 1, -1, -1):
        sift_up(heap, place)


def sift_down(heap, start, place):
    item = heap[place]
    while place > start:
        above = (place - 1) >> 1
        if item < heap[above]:
            heap[place] = heap[above]
            place = above
        else:
            break
    heap[place] = item


def sift_up(heap, place):
    end = len(heap)
    start = place
    item = heap[place]
    below = 2 * place + 1
    while below < end:
        right = below + 1
        if right < end and not heap[below] < heap[right]:
            below = right
        heap[place] = heap[below]
        place = below
        below = 2 * place + 1
    heap[place] = item
    sift_down(heap, start, place)


def nsmallest(count, items, key=None):
    return in_order(items, key, False)[: max(0, count)]


def nlargest(count, items, key=None):
    return in_order(items, key, True)[: max(0, count)]


def bisect_left(items, value, low=0, high=None):
    if high is None:
        high = len(items)
    while low < high:
        middle = (low + high) // 2
        if items[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


def bisect_right(items, value, low=0, high=None):
    if high is None:
        high = len(items)
    while low < high:
        middle = (low + high) // 2
        if value < items[middle]:
            high = middle
        else:
            low = middle + 1
    return low


def insort(items, value):
    inserted(items, bisect_right(items, value), value)


def sum_of_floats(items, total):
    """The sum as CPython adds floats from 3.12 on: Neumaier's."""
    rest = 0.0
    for item in items:
        after = total + item
        if abs(total) >= abs(item):
            rest += (total - after) + item
        else:
            rest += (item - after) + total
        total = after
    return total + rest if rest and is_finite(rest) else total


def territory(game, player):
    """Both floods in one pass: see `native/floods.py`."""
    light = padded_light(game)
    movers = padded_moves(game, game.active_player)
    waiters = padded_moves(game, game.inactive_player)
    movers_are_light = bool(movers & light)
    if movers_are_light == bool(waiters & light):
        odd = movers
        left = padded_blank(game) - odd
        front = (padded_near(game, odd) | waiters) & left
    else:
        odd = movers | waiters
        left = padded_blank(game) - odd
        front = padded_near(game, odd) & left
    even = odd - odd
    for _ in range(2):
        left, even = left - front, even | front
        front = padded_near(game, front) & left
        left, odd = left - front, odd | front
        front = padded_near(game, front) & left
    while front:
        left, even = left - front, even | front
        front = padded_near(game, front) & left
        left, odd = left - front, odd | front
        front = padded_near(game, front) & left
    claimed = ((odd & light) | (even - light)) if movers_are_light else ((odd - light) | (even & light))
    own = len(claimed)
    other = len(odd | even) - own
    if player == game.active_player:
        return own, other
    return other, own


def distances(game, player):
    """Both floods in one pass: see `native/floods.py`."""
    blank, light = padded_blank(game), padded_light(game)
    front = padded_moves(game, player)
    others = padded_moves(game, game.get_opponent(player))
    own = (blank & light) if front & light else (blank - light)
    odd = even = blank
    total, total_of_other, ahead, step = 0, 0, 0, 0
    if others & own:
        total, ahead = len(front), 1
        odd = odd - front
        front = padded_near(game, front) & even
        odd, even, own = even, odd, blank - own
    front = front | others
    while front:
        step += 1
        total += (step + ahead) * len(front & own)
        total_of_other += step * len(front - own)
        odd = odd - front
        front = padded_near(game, front) & even
        step += 1
        total += (step + ahead) * len(front - own)
        total_of_other += step * len(front & own)
        even = even - front
        front = padded_near(game, front) & odd
    size = game.width * game.height
    unreached = (odd & own) | (even - own)
    unreached_by_other = (odd - own) | (even & own)
    return total + size * len(unreached), total_of_other + size * len(unreached_by_other)


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
        slot = self.slot(key, code)
        if self.slots[slot] > 0:
            return
        self.put(slot, key, code)
        if self.filled * 5 >= (len(self.slots) - 1) * 3:
            self.resize(self.used * 4)

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
