"""Every heuristic against its definition, worked out cell by cell from the open cells, the locations and the turn."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knights_isolation import heuristics
from knights_isolation.heuristics import Composite
from knights_isolation.isolation import Board

STEPS = [(dr, dc) for dr, dc in product((-2, -1, 1, 2), repeat=2) if abs(dr) != abs(dc)]
Cell = tuple[int, int]


class Facts:
    """What the definitions speak of, for one position and the player whose point of view is asked."""

    def __init__(self, board: Board, player: str) -> None:
        opponent = "second" if player == "first" else "first"
        self.h, self.w = board.height, board.width
        self.cells = self.h * self.w
        self.blank = {cell for cell in product(range(self.h), range(self.w)) if board.move_is_legal(cell)}
        self.filled = self.cells - len(self.blank)
        self.to_move = board.active_player == player
        self.p, self.o = board.get_player_location(player), board.get_player_location(opponent)
        self.moves_p, self.moves_o = self.moves(self.p), self.moves(self.o)
        self.own, self.opp = len(self.moves_p), len(self.moves_o)

    def moves(self, cell: Cell | None) -> set[Cell]:
        if cell is None:
            return self.blank
        return self.blank & {(cell[0] + dr, cell[1] + dc) for dr, dc in STEPS}

    def terminal(self) -> float | None:
        if not (self.moves_p if self.to_move else self.moves_o):
            return -inf if self.to_move else inf
        return None

    def distances(self, cell: Cell | None) -> dict[Cell, int]:
        """Knight's moves over blank cells from a piece to every blank cell it can get to."""
        result: dict[Cell, int] = {}
        front, steps = self.moves(cell), 1
        while front:
            result |= dict.fromkeys(front, steps)
            front = {target for source in front for target in self.moves(source)} - result.keys()
            steps += 1
        return result


def hop(a: Cell, b: Cell) -> int:
    return max(abs(a[0] - b[0]), abs(a[1] - b[1])) // 2


def net_mobility(f: Facts) -> float:
    if f.own == f.opp:
        return 0
    if f.to_move:
        return 2 if f.own > f.opp else -1
    return 1 if f.own > f.opp else -2


def accessibility(f: Facts) -> float:
    if f.p is None:
        return 0
    middle = (round(f.h / 2), round(f.w / 2))
    d, t = hop(f.p, middle), round(middle[0] / 2)
    return (d < t) - (d > t)


def offensive(f: Facts) -> float:
    return 0 if not f.moves_p & f.moves_o else 1 if f.to_move else -1


def proximity(f: Facts) -> float:
    return 0 if f.p is None or f.o is None else -hop(f.p, f.o)


def net_advantage(f: Facts) -> float:
    return f.own - f.opp if f.to_move else len(f.moves_p - f.moves_o) - f.opp


def horizon(f: Facts) -> float:
    def mean(cell: Cell | None) -> float:
        distances = f.distances(cell)
        return sum(distances.get(blank, f.cells) for blank in f.blank) / len(f.blank)

    return mean(f.o) - mean(f.p)


def territory(f: Facts) -> float:
    mine, theirs = f.distances(f.p), f.distances(f.o)
    score = 0
    for cell in mine.keys() | theirs.keys():
        d_p, d_o = mine.get(cell, inf), theirs.get(cell, inf)
        score += 1 if d_p < d_o or (d_p == d_o and f.to_move) else -1
    return score


def nearer_to(f: Facts, jumps: int = 5) -> tuple[set[Cell], set[Cell]]:
    """The cells the player gets to first, and the opponent, within so many jumps; at the same time: who is to move."""
    mine, theirs = f.distances(f.p), f.distances(f.o)
    own, other = set(), set()
    for cell in mine.keys() | theirs.keys():
        d_p, d_o = mine.get(cell, inf), theirs.get(cell, inf)
        if min(d_p, d_o) <= jumps:
            (own if d_p < d_o or (d_p == d_o and f.to_move) else other).add(cell)
    return own, other


def links(cells: set[Cell]) -> int:
    return sum((r + dr, c + dc) in cells for r, c in cells for dr, dc in STEPS) // 2


def learned(f: Facts) -> float:
    cells, near = nearer_to(f), nearer_to(f, 3)
    (mover, waiter), (near_mover, near_waiter) = (cells, near) if f.to_move else (cells[::-1], near[::-1])
    moves, replies = (f.moves_p, f.moves_o) if f.to_move else (f.moves_o, f.moves_p)
    shared = 0.25 * (links(mover | waiter) - links(mover) - links(waiter))
    value = (links(mover) + shared) / (len(mover) + 1) - (links(waiter) + shared) / (len(waiter) + 1)
    value += 0.037 * len(moves) - 0.083 * len(replies - moves) - 0.014 * (len(near_mover) - len(near_waiter))
    return value if f.to_move else -value


def edge(f: Facts, term: Callable[[float, float], float]) -> float:
    h, w = f.h / 2, f.w / 2

    def total(moves: set[Cell]) -> float:
        return sum(term((h - abs(h - r)) / h, (w - abs(w - c)) / w) for r, c in moves)

    return total(f.moves_p) - total(f.moves_o)


def edge_dynamic(f: Facts) -> float:
    beta = len(f.blank) / f.cells
    return edge(f, lambda row, column: (1 - beta) + beta / 2 * row + beta / 2 * column)


def phased(f: Facts) -> float:
    return territory(f) + (0.5 * (f.own - f.opp) if f.filled / f.cells < 0.5 else 0)


def two_step_mobility(f: Facts) -> float:
    return sum(len(f.moves(cell)) for cell in f.moves_p) - sum(len(f.moves(cell)) for cell in f.moves_o)


DEFINITIONS: dict[str, Callable[[Facts], float]] = {
    "null": lambda f: 0,
    "open": lambda f: f.own,
    "improved": lambda f: f.own - f.opp,
    "center": lambda f: 0 if f.p is None else (f.h / 2 - f.p[0]) ** 2 + (f.w / 2 - f.p[1]) ** 2,
    "net_advantage": net_advantage,
    "net_mobility": net_mobility,
    "accessibility": accessibility,
    "offensive": offensive,
    "proximity": proximity,
    "horizon": horizon,
    "offensive_proximity_net_mobility": lambda f: offensive(f) + proximity(f) + net_mobility(f),
    "net_advantage_proximity": lambda f: net_advantage(f) + proximity(f),
    "phased": phased,
    "edge_distance": lambda f: edge(f, lambda row, column: f.h / 2 * row + f.w / 2 * column),
    "edge_distance_weighted": lambda f: edge(f, lambda row, column: 1 + 0.5 * row + 0.5 * column),
    "edge_distance_dynamic": edge_dynamic,
    "mobility_filled_half": lambda f: (f.own - f.opp) * f.filled * 0.5,
    "mobility_filled": lambda f: (f.own - f.opp) * f.filled,
    "late_own": lambda f: f.own - f.opp if f.filled / f.cells < 0.8 else f.own,
    "territory": territory,
    "two_step_mobility": two_step_mobility,
    "learned": learned,
}


@st.composite
def positions(draw: st.DrawFn) -> Board:
    rows, columns = draw(st.sampled_from([(7, 7), (5, 6), (3, 8), (9, 9), (9, 11), (4, 4)]))
    board = Board("first", "second", width=columns, height=rows)
    chance = draw(st.randoms(use_true_random=False))
    for _ in range(draw(st.integers(0, rows * columns))):
        if moves := board.get_legal_moves():
            board.apply_move(chance.choice(moves))
    return board


@pytest.mark.parametrize("name", heuristics.names())
@given(board=positions())
@settings(max_examples=60, deadline=None)
def test_a_heuristic_has_its_defined_value_from_both_sides(name: str, board: Board) -> None:
    for player in ("first", "second"):
        facts = Facts(board, player)
        over = facts.terminal()
        expected = DEFINITIONS[name](facts) if over is None else over
        value = heuristics.get(name)(board, player)
        assert type(value) is float
        assert value == pytest.approx(expected, rel=1e-12, abs=1e-9)


def test_a_finished_game_is_won_or_lost_for_every_heuristic() -> None:
    board = Board("first", "second", width=1, height=2)
    board.apply_move((0, 0))
    board.apply_move((1, 0))
    for name in heuristics.names():
        assert heuristics.get(name)(board, "first") == -inf
        assert heuristics.get(name)(board, "second") == inf


def test_every_definition_has_a_name_and_one_line_of_meaning() -> None:
    assert set(heuristics.names()) == set(DEFINITIONS)
    for name in heuristics.names():
        assert 5 < len(heuristics.meaning(name)) < 110


@pytest.mark.parametrize(
    ("published", "name"),
    [
        ("null_score", "null"),
        ("open_move_score", "open"),
        ("ID_improved_score", "improved"),
        ("ID_Improved", "improved"),
        ("center_score", "center"),
        ("ID_net_advantage_score", "net_advantage"),
        ("ID_net_mobility_score", "net_mobility"),
        ("ID_accessibility_score", "accessibility"),
        ("ID_offensive_score", "offensive"),
        ("ID_proximity_score", "proximity"),
        ("horizon_score", "horizon"),
        ("ID_combo_offensive_nearopponent_netmobility_score", "offensive_proximity_net_mobility"),
        ("ID_combo_netadvantage_nearopponent_score", "net_advantage_proximity"),
        ("edge_distance_dynamic", "edge_distance_dynamic"),
    ],
)
def test_published_names_lead_to_the_same_function(published: str, name: str) -> None:
    assert heuristics.get(published) is heuristics.get(name)


def test_an_unknown_name_is_answered_with_the_nearest_ones() -> None:
    with pytest.raises(ValueError, match=r"no heuristic 'improve'.*improved"):
        heuristics.get("improve")


def constant(value: float) -> Callable[[Board, str], float]:
    return lambda game, player: value


def test_a_composite_uses_the_first_phase_whose_share_is_not_yet_filled() -> None:
    composite = Composite(phases=((0.25, ((2.0, constant(1)), (3.0, constant(10)))), (1.0, ((1.0, constant(7)),))))
    board = Board("first", "second", width=3, height=4)
    board.apply_move((0, 0))
    board.apply_move((0, 1))
    assert composite(board, "first") == 32
    board.apply_move((2, 1))
    assert composite(board, "first") == 7


def test_a_composite_judges_the_end_before_any_weight() -> None:
    composite = Composite(phases=((1.0, ((-1.0, constant(5)), (0.0, constant(inf)))),))
    board = Board("first", "second", width=1, height=2)
    board.apply_move((0, 0))
    board.apply_move((1, 0))
    assert composite(board, "first") == -inf


@pytest.mark.parametrize(
    ("phases", "message"),
    [
        ((), "phases must end with share 1"),
        (((0.5, ((1.0, constant(1)),)),), "phases must end with share 1, not 0.5"),
        (((0.9, ((1.0, constant(1)),)), (0.5, ((1.0, constant(1)),))), "must increase"),
        (((1.0, ()),), "no functions"),
        (((1.0, ((inf, constant(1)),)),), "a finite weight"),
        (((1.0, ((1.0, "improved"),)),), "a function"),
    ],
)
def test_a_composite_that_makes_no_sense_is_refused(phases: tuple[()], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Composite(phases=phases)
