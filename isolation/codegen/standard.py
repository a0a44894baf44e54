"""Parts of Python's standard library in plain Python, which are compiled like heuristics."""

# mypy: ignore-errors

from statistics import StatisticsError

from .library import in_order, inserted, is_finite


def folded(function, items, start):
    for item in items:
        start = function(start, item)
    return start


def pairs(items):
    found = []
    count = len(items)
    for first in range(count):
        for second in range(first + 1, count):
            found.append((items[first], items[second]))
    return found


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
