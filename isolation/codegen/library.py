"""Parts of Python and of the board in plain Python, which are compiled like heuristics.

What has a docstring only is compiled to instructions: see `functions.py`.
"""

# mypy: ignore-errors


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


def repeated(items, count):
    found = []
    for _ in range(count):
        found.extend(items)
    return found


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
