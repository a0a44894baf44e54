"""Parts of Python and of the board in plain Python, which are compiled like heuristics."""

# mypy: ignore-errors
# ruff: noqa: D103


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


def zipped(first, second):
    found = []
    for place in range(min(len(first), len(second))):
        found.append((first[place], second[place]))
    return found


def territory(game, player):
    movers = game.get_legal_moves(game.active_player)
    waiters = game.get_legal_moves(game.inactive_player) - movers
    front, other = movers, waiters
    while front or other:
        front = game.reach(front) - movers - waiters
        movers = movers | front
        other = game.reach(other) - movers - waiters
        waiters = waiters | other
    if player == game.active_player:
        return len(movers), len(waiters)
    return len(waiters), len(movers)


def distances(game, player):
    return _distance(game, player), _distance(game, game.get_opponent(player))


def _distance(game, player):
    front = game.get_legal_moves(player)
    seen = front
    total, step = 0, 1
    while front:
        total += step * len(front)
        front = game.reach(front) - seen
        seen = seen | front
        step += 1
    return total + game.width * game.height * (len(game.get_blank_spaces()) - len(seen))


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
        place = 0
        for name in self.names:
            if name == key:
                return place
            place += 1
        return -1

    def __len__(self):
        return len(self.names)

    def __contains__(self, key):
        return self.place(key) >= 0

    def __getitem__(self, key):
        place = self.place(key)
        if place < 0:
            raise KeyError
        return self.held[place]

    def __setitem__(self, key, value):
        place = self.place(key)
        if place < 0:
            self.names.append(key)
            self.held.append(value)
        else:
            self.held[place] = value

    def get(self, key, default=None):
        place = self.place(key)
        if place < 0:
            return default
        return self.held[place]

    def setdefault(self, key, value):
        place = self.place(key)
        if place < 0:
            self.names.append(key)
            self.held.append(value)
            return value
        return self.held[place]

    def keys(self):
        return self.names

    def values(self):
        return self.held

    def items(self):
        return [(self.names[place], self.held[place]) for place in range(len(self.names))]


class Counted(Table):
    def __getitem__(self, key):
        place = self.place(key)
        if place < 0:
            return 0
        return self.held[place]

    def update(self, items):
        for item in items:
            place = self.place(item)
            if place < 0:
                self.names.append(item)
                self.held.append(1)
            else:
                self.held[place] += 1

    def most_common(self, count=None):
        ranked = in_order(self.items(), lambda pair: pair[1], True)
        return ranked if count is None else ranked[:count]

    def total(self):
        return sum(self.held)


class Defaulted(Table):
    def __init__(self, make):
        self.names = []
        self.held = []
        self.slots = []
        self.make = make

    def __getitem__(self, key):
        place = self.place(key)
        if place < 0:
            self.names.append(key)
            self.held.append(self.make())
            return self.held[len(self.held) - 1]
        return self.held[place]
