# ruff: noqa -- written as people write heuristics
"""Texts: keys of tables, and texts that are made of numbers."""

PHASES = {"opening": (1.0, 1), "middle": (1, 2.0), "end": (2, 1)}
WEIGHTS = {"own": 1.0, "opp": -1.5, "centre": 0.1}
BY_COUNT = {"10": 0.5, "11": 0.6, "12": 0.75, "007": 9.0, "x": 1.0}
BY_CELL = {"(3, 3)": 4, "(2, 4)": 2, "(4, 2)": 2}
BY_BOTH = {("early", 1): 2, ("late", 1): 3, ("late", 2): 5}
BY_TRUTH = {True: 2, False: 0.5}
BY_FRACTION = {0.5: 1, 1.0: 2, 1.5: 3}
BY_PAIRS = {"8-1": 50, "3-2": 30, "2-3": -20, "4-4": 7}
BY_THREE = {(0, 1, 2): 5, (1, 1, 1): 7, (2, 0, 0): 11}


def phase_of(game):
    left = len(game.get_blank_spaces())
    if left > 35:
        return "opening"
    elif left > 15:
        return "middle"
    return "end"


def by_phase(game, player):
    own, opp = PHASES[phase_of(game)]
    return own * len(game.get_legal_moves(player)) - opp * len(game.get_legal_moves(game.get_opponent(player)))


def by_name(game, player):
    own = game.get_legal_moves(player)
    features = {
        "own": len(own),
        "opp": len(game.get_legal_moves(game.get_opponent(player))),
        "centre": int((3, 3) in own),
    }
    return sum(WEIGHTS[name] * features[name] for name in WEIGHTS)


def by_text_of_number(game, player):
    count = str(game.move_count)
    value = BY_COUNT.get(str(game.move_count), 1.0) + (str(game.move_count) in BY_COUNT) + BY_COUNT.get(count, 2.0)
    return value + BY_COUNT.get(f"{game.move_count}", 3.0)


def by_text_of_cell(game, player):
    return sum(BY_CELL.get(str(move), 0) for move in game.get_legal_moves(player))


def by_text_of_counts(game, player):
    own, opp = len(game.get_legal_moves(player)), len(game.get_legal_moves(game.get_opponent(player)))
    value = BY_PAIRS.get("{}-{}".format(own, opp), 0) + 2 * BY_PAIRS.get("%d-%s" % (own, opp), 0)
    return value + 3 * BY_PAIRS.get(f"{own}-{opp}", 0)


def by_other_keys(game, player):
    stage = "late" if game.move_count > 20 else "early"
    value = BY_BOTH.get((stage, game.move_count % 3), 1) + BY_TRUTH[game.active_player == player]
    row, column = game.get_player_location(player)
    return value + BY_FRACTION.get(row / 2, -1) + BY_THREE.get((row % 3, column % 3, game.move_count % 3), 0)


def lengths_of_texts(game, player):
    text = ""
    for row, column in game.get_legal_moves(player):
        text += "x" if row == column else str(row - 3)
    return len(text) + text.count("x") * 100 + len(str(game.move_count))


def joined_texts(game, player):
    line = "".join("1" if game.move_is_legal((row, 3)) else "0" for row in range(game.height))
    return line.count("1") + len("-".join(["a", line, "bc"])) / 8


PROFILES = {"opening": {"own": 1, "opp": 1.5}, "middle": {"own": 1, "opp": 2}, "end": {"own": 2, "opp": 1}}


def by_phase_and_name(game, player):
    own, opp = len(game.get_legal_moves(player)), len(game.get_legal_moves(game.get_opponent(player)))
    return PROFILES[phase_of(game)]["own"] * own - PROFILES[phase_of(game)]["opp"] * opp


SIGNED = {"+1": 5, "-1": 7, "+0": 2, "  2": 4, "003": 9, "-03": 11, "2  ": 6, " 3 ": 8, "x2": 1, "1,+2": 12, " 1%": 13}
NAMES = {"wide  ": 1, "  wide": 2, " wide ": 3, "1": 4, "    1": 5}


def by_signed_and_padded_numbers(game, player):
    row, column = game.get_player_location(player)
    lead = row - column
    value = SIGNED.get(f"{lead:+}", 0) + 3 * SIGNED.get("%+d" % lead, 0) + 5 * SIGNED.get(f"{row:3d}", 0)
    value += 7 * SIGNED.get("%03d" % lead, 0) + 11 * SIGNED.get("%-3d" % row, 0) + 13 * SIGNED.get(f"{column:^3}", 0)
    value += 17 * SIGNED.get("{1},{0:+d}".format(row, column), 0) + 19 * SIGNED.get("{a:=03d}".format(a=lead), 0)
    value += 23 * SIGNED.get(f"{row:x>2}", 0) + 29 * SIGNED.get("% d%%" % lead, 0)
    name = "wide" if row > 2 else "low"
    value += NAMES.get(f"{name:6}", 0) + 2 * NAMES.get(f"{name:>6}", 0) + 3 * NAMES.get(f"{name:^6}", 0)
    return value + NAMES.get("%6s" % name, 0) / 8 + len(f"{row > 3:5}")
