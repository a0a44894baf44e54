"""Heuristics of the third edition: asked about states, interpreted and compiled alike."""

import pickle
import textwrap

import pytest
from click.testing import CliRunner
from sampling import sampled

from cli import main
from knights_isolation.experiments.plan import parse_agent
from knights_isolation.experiments.plan.user_files import file_catalogue, only_heuristic
from knights_isolation.isolation import Board, Limit, search
from knights_isolation.isolation.compiling.compile_heuristic import CompileError, compile_heuristic, sample_positions
from knights_isolation.isolation.games.match import play_games
from knights_isolation.isolation.loading.load_user_code import LoadError, load, load_heuristic
from knights_isolation.isolation.processes.child import from_bytes, to_bytes
from knights_isolation.isolation.rules.game import Size
from knights_isolation.isolation.rules.parameters import parameter_values
from knights_isolation.isolation.rules.third_edition import state_of

HEAD = """
import math
from collections import namedtuple
from functools import reduce
import numpy as np
from isolation import DebugState, Isolation
from isolation.isolation import Action, _HEIGHT, _WIDTH
from sample_players import DataPlayer

CENTER, CORNERS = 57, (0, 10, 104, 114)
ROWS = [((1 << 11) - 1) << 13 * row for row in range(9)]
PAIRS = {cell: 1 << cell | 1 << 114 for cell in (0, 1, 2, CENTER, 56, 58)}

def distance(a, b):
    ax, ay = DebugState.ind2xy(a)
    return abs(ax - b % 13) + abs(ay - b // 13)

class Side:
    def __init__(self, state, who):
        self.state = state
        self.loc = state.locs[who]
        self.on_move = state.player() == who

    @property
    def moves(self):
        return self.state.liberties(self.loc)

    def __sub__(self, other):
        return len(self.moves) - 2 * len(other.moves) + self.on_move

Seen = namedtuple("Seen", "liberties moving")

class CustomPlayer(DataPlayer):
    K = 1.5

    def __init__(self, player_id):
        super().__init__(player_id)
        self.weights = [1, 2, 3]
        self.seen = {}
        self.calls = 0

    def get_action(self, state):
        self.queue.put(state.actions()[0])

    def moves(self, state, who):
        return len(state.liberties(state.locs[who]))

    def base(self, state):
        return self.moves(state, self.player_id) - 2 * self.moves(state, 1 - self.player_id)

    def spread(self, state, who, sign, grid):
        for cell in state.liberties(state.locs[who]):
            grid[cell] = grid.get(cell, 0) + sign * (who + 2)

    def glance(self, state, who):
        return Seen(liberties=len(state.liberties(state.locs[who])), moving=state.player() == who)

    def score(self, state):
"""
PLAIN = "return self.base(state)"
BODIES = {
    "places": """
        debug = DebugState.from_state(state)
        x, y = debug.ind2xy(state.locs[self.player_id])
        wall = min(x, _WIDTH - 1 - x, y, _HEIGHT - 1 - y)
        far = math.sqrt(distance(state.locs[self.player_id], CENTER))
        in_corner = state.locs[self.player_id] in CORNERS
        weight = self.weights[1] if state.ply_count < 20 else self.K
        return weight * self.base(state) + wall - far - 3 * in_corner""",
    "liberties": """
        own, other = (state.liberties(state.locs[who]) for who in (self.player_id, 1 - self.player_id))
        shared = [cell for cell in own if cell in other]
        total = len(shared) * (1 if state.player() == self.player_id else -1)
        for place, cell in enumerate(own):
            total += (place + 1) * cell * len(state.liberties(cell))
        return total + (own[0] + 100 * own[-1] if own else 0)""",
    "open cells": """
        middle = 5 if state.board & (1 << CENTER) else 0
        total = sum((state.board >> cell & 1) * cell for cell in range(40, 115))
        total += sum(place * cell for place, cell in enumerate(state.liberties(None)))
        return bin(state.board).count('1') + middle + total""",
    "all bits": """
        board, full = state.board, (1 << 115) - 1
        reached = []
        for cell in state.locs:
            bits = 0
            for step in (11, 15, 25, 27):
                bits |= 1 << cell << step | 1 << cell >> step
            reached.append(bits & board & full)
        own, other = reached[self.player_id], reached[1 - self.player_id]
        counted = 0
        while own:
            own &= own - 1
            counted += 1
        lowest = (board & -board).bit_length()
        return counted - bin(other & ~own).count('1') + 0.5 * lowest + (board >> 57 & 1) * 3""",
    "tables of bits": """
        here, board = state.locs[self.player_id], state.board
        value = 100 * bin(ROWS[here // 13] & board).count('1') + bin(ROWS[-2] & ~board).count('1')
        value += sum(place for place, row in enumerate(ROWS) if row & board > (1, 1 << 90)[place % 2])
        for cell in state.liberties(here):
            if cell in PAIRS:
                value += 1000 * (PAIRS[cell] & board == PAIRS[cell])
        return value + bin(PAIRS[CENTER] & board | PAIRS.get(here, 1)).count('1')""",
    "arrays of bits": """
        bits = np.array([(state.board >> cell) & 1 for cell in range(9 * 13)]).reshape(9, 13)[:, :11]
        row, column = divmod(state.locs[self.player_id], 13)
        return 100 * int(bits.sum()) + 10 * int(bits[row].sum()) + int(bits[:, column].sum())""",
    "fields named like methods": """
        own, other = self.glance(state, self.player_id), self.glance(state, 1 - self.player_id)
        return own.liberties - 2 * other.liberties + own.moving""",
    "lists of bits": """
        fronts, areas = [1 << state.locs[self.player_id], 1 << state.locs[1 - self.player_id]], [0, 0]
        for turn in (0, 1, 0, 1):
            grown = (fronts[turn] << 25 | fronts[turn] << 11 | fronts[turn] >> 15 | fronts[turn] >> 27) & state.board
            areas[turn] |= grown
            fronts[turn] = grown & ~areas[1 - turn]
        return bin(areas[0]).count('1') - bin(areas[1]).count('1')""",
    "liberties that are popped": """
        stack, seen = state.liberties(state.locs[self.player_id]), set()
        while stack:
            cell = stack.pop()
            if cell not in seen and len(seen) < 9:
                seen.add(cell)
                stack.extend(state.liberties(cell))
        return len(seen)""",
    "functions that are reduced": """
        terms = [(4, lambda loc: len(state.liberties(loc))), (-1, lambda loc: loc % 13)]
        own, other = state.locs[self.player_id], state.locs[1 - self.player_id]
        return reduce(lambda total, term: total + term[0] * (term[1](own) - term[1](other)), terms, 0)""",
    "filled by a method": """
        grid = {}
        self.spread(state, self.player_id, 1, grid)
        self.spread(state, 1 - self.player_id, -1, grid)
        return len([value for value in grid.values() if value > 0]) + sum(grid.values()) / 8""",
    "objects": "return Side(state, self.player_id) - Side(state, 1 - self.player_id)",
    "the end": """
        if state.terminal_test():
            return state.utility(self.player_id)
        return -9 if not state._has_liberties(self.player_id) else self.base(state)""",
    "a ply ahead": """
        best = len(state.actions()) * (1 if state.actions() else -1)
        for action in state.actions():
            after = state.result(action)
            best = max(best, len(after.liberties(after.locs[1 - state.player()])) + action)
        return best""",
    "states of others": """
        here, there = state.locs
        swapped = Isolation(board=state.board, ply_count=state.ply_count + 1, locs=(there, here))
        passed = state._replace(ply_count=state.ply_count + 1)
        less = passed
        if state.board >> CENTER & 1:
            less = Isolation(state.board & ~(1 << CENTER), state.ply_count + 1, state.locs)
        moved = DebugState(state.board, state.ply_count, (here, CENTER)) if state.board & (1 << CENTER) else state
        found = set()
        for cell in swapped.liberties(swapped.locs[0]):
            found.update(state.liberties(cell))
        value = len(passed.actions()) + 10 * len(less.liberties(here)) + 100 * len(moved.liberties(moved.locs[1]))
        return value + 1000 * len(swapped.actions()) + 10_000 * len(found) + passed.ply_count""",
    "names": """
        here, letters = state.locs[self.player_id], ""
        for action in Action:
            if here + action in state.liberties(here):
                letters += action.name
        return 10 * letters.count("N") + letters.count("E")""",
    "any number": """
        steps = sum((state.locs[0] + a) in state.liberties(state.locs[0]) for a in Action)
        return 100 * steps + sum(len(state.liberties(number)) for number in (state.locs[0] + 13, -20, -3, 120, 999))""",
}


def written(folder, body):
    file = folder / "my_custom_player.py"
    file.write_text(HEAD + textwrap.indent(textwrap.dedent(body).strip(), " " * 8) + "\n")
    return file


@pytest.mark.parametrize(
    ("body", "size"), sampled([("places", (7, 7)), ("the end", (7, 7)), *((body, (9, 11)) for body in BODIES)], slow=4)
)
def test_what_reads_states_compiles_and_says_the_same(tmp_path, body, size):
    heuristic = load_heuristic(written(tmp_path, BODIES[body]), "CustomPlayer.score").value
    compiled = compile_heuristic(heuristic, size)
    for board in sample_positions(size, 60, seed=7):
        for index, player in enumerate(board.players):
            assert compiled.evaluate(board, index) == heuristic(board, player)


def test_the_heuristic_is_asked_for_the_side_it_is_to_speak_for(tmp_path):
    heuristic = load_heuristic(written(tmp_path, "return 1000 * self.player_id + state.locs[self.player_id]"),
                               "CustomPlayer.score").value  # fmt: skip
    board = Board.from_moves([0, 98], "9x11")
    assert [heuristic(board, player) for player in board.players] == [114, 1000]


def test_what_a_heuristic_of_states_declares_as_parameters_are_its_parameters(tmp_path):
    file = tmp_path / "scores.py"
    file.write_text(
        "def score(state, player_id, *, weight=1.5, near: int = 2):\n"
        "    own, other = (state.liberties(state.locs[who]) for who in (player_id, 1 - player_id))\n"
        "    return len(own) - weight * len(other) + near * (state.ply_count % 3)\n"
    )
    heuristic = load_heuristic(file, "score").value
    assert parameter_values(heuristic) == {"weight": 1.5, "near": 2}
    other = parse_agent(f"ID:{file}:score@nodes=10,option.weight=0.25").heuristic
    board = Board.from_moves([24, 14, 9])
    own, their = (len(board.get_legal_moves(player)) for player in board.players)
    assert (heuristic(board, 1), other(board, 1)) == (own - 1.5 * their, own - 0.25 * their)
    assert compile_heuristic(other).evaluate(board, 0) == other(board, 1)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("self.calls += 1\nreturn self.calls", "it changes self.calls, which outlives the call"),
        ("self.seen[state.board] = 1\nreturn 0", "it changes self.seen, which outlives the call"),
        ("self.weights.append(1)\nreturn 0", "it changes self.weights, which outlives the call"),
        ("return self.nothing", "self has no nothing"),
        ("return len(Isolation().actions())", "it makes an empty state, which compiled code does not support"),
        ("return len(Isolation(7, 2, (0, 1)).actions())", "it makes a state of a board of its own: write state.board"),
        ("import random\nreturn random.random()", "so its value depends on chance"),
    ],
)
def test_what_does_more_than_read_runs_interpreted_and_says_why(tmp_path, body, reason):
    heuristic = load_heuristic(written(tmp_path, body), "CustomPlayer.score").value
    with pytest.raises(CompileError) as refused:
        compile_heuristic(heuristic, (9, 11))
    assert reason in str(refused.value)


def test_a_function_of_a_state_and_a_player_id_is_a_heuristic_too(tmp_path):
    file = tmp_path / "scores.py"
    file.write_text(
        "from isolation import Isolation\n"
        "def score(state, player_id):\n"
        "    return len(state.liberties(state.locs[player_id])) + 100 * player_id\n"
    )
    heuristic = load_heuristic(file, "score").value
    board = Board.from_moves([0, 98], "9x11")
    assert [heuristic(board, player) for player in board.players] == [2, 102]
    assert compile_heuristic(heuristic, (9, 11)).evaluate(board, 1) == 102


@pytest.mark.parametrize(
    "source",
    [
        "def score(state, player_id):\n    return 2 + 100 * player_id\n",
        "def score(state, who):\n    return len(state.liberties(state.locs[who])) + 100 * who\n",
    ],
    ids=["by its arguments", "by what it reads"],
)
def test_a_function_of_a_state_is_known_in_a_file_that_imports_nothing(tmp_path, source):
    file = tmp_path / "scores.py"
    file.write_text(source)
    heuristic = load_heuristic(file, only_heuristic(file)).value
    board = Board.from_moves([0, 98], "9x11")
    assert [heuristic(board, player) for player in board.players] == [2, 102]


def test_a_function_that_asks_a_board_is_of_no_state_whatever_its_arguments_are_called(tmp_path):
    file = tmp_path / "scores.py"
    file.write_text("def score(state, player_id):\n    return len(state.get_legal_moves(player_id))\n")
    assert load_heuristic(file, "score").value(Board.from_moves([0, 24]), 1) == 2


def test_a_function_of_a_classic_file_is_asked_about_the_game_whatever_its_arguments_are_called(tmp_path):
    file = tmp_path / "scores.py"
    file.write_text("def score(state, player):\n    return state.width\n")
    assert load_heuristic(file, "score").value(Board(1, 2), 1) == 7


@pytest.mark.exhaustive
def test_it_plays_by_search_on_every_board_that_states_know(tmp_path):
    file = written(tmp_path, PLAIN)
    agent = parse_agent(f"ID:{file}:CustomPlayer.score@depth=3")
    assert agent.heuristic_name == "my_custom_player.py:CustomPlayer.score"
    assert play_games(agent, parse_agent("random"), [(0, 20)], [1], Size(7, 7)).reason.tolist() == [0]
    assert play_games(agent, parse_agent("random"), [(0, 20)], [1], Size(9, 11), interpreted=True).reason.tolist() == [
        0
    ]
    with pytest.raises(ValueError, match="players of the third edition support boards of up to 9x11, not 10x10"):
        play_games(agent, parse_agent("random"), [(0, 20)], [1], Size(10, 10))


def test_interpreted_and_compiled_searches_agree(tmp_path):
    heuristic = load_heuristic(written(tmp_path, BODIES["the end"]), "CustomPlayer.score").value
    for board in list(sample_positions((7, 7), 40, seed=3))[::8]:
        if board.legal_cells():
            results = [
                search(board, heuristic, Limit(depth=2), interpreted=interpreted) for interpreted in (True, False)
            ]
            assert (results[0].move, results[0].score) == (results[1].move, results[1].score)


def test_it_goes_to_other_processes_by_its_name(tmp_path):
    file = written(tmp_path, PLAIN)
    heuristic = load_heuristic(file, "CustomPlayer.score").value
    assert load_heuristic(file, "CustomPlayer.score").value is heuristic
    assert from_bytes(to_bytes(heuristic)) is heuristic


def test_a_file_alone_means_the_score_of_its_player(tmp_path):
    assert only_heuristic(written(tmp_path, PLAIN)) == "CustomPlayer.score"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("CustomPlayer", "is a player of the third edition, not a heuristic; it plays as"),
        ("CustomPlayer.scor", "CustomPlayer has no 'scor'; did you mean score?"),
        ("CustomPlayer.moves", "must be a method (self, state) of a third-edition player's class"),
    ],
)
def test_what_is_no_heuristic_of_the_edition_is_refused_by_name(tmp_path, name, message):
    with pytest.raises(LoadError) as refused:
        load_heuristic(written(tmp_path, PLAIN), name)
    assert message in str(refused.value)


def test_a_file_whose_player_has_no_score_is_told_so_by_its_edition_and_what_works(tmp_path):
    file = written(tmp_path, PLAIN)
    file.write_text(file.read_text().replace("def score(self, state)", "def score(self, state, depth)"))
    result = CliRunner().invoke(main, ["try", str(file)])
    assert result.exit_code == 2, result.output
    assert f"its player, of the third edition, plays as {file}:CustomPlayer" in result.output
    assert f", its evaluation as ID:{file}:CustomPlayer.base" in result.output


MANY = """
from sample_players import DataPlayer

def utility_score(state, player_id):
    return len(state.liberties(state.locs[player_id]))

def minimax(state, depth):
    return 0

class CustomPlayer(DataPlayer):
    def get_action(self, state):
        self.queue.put(self.alpha_beta_search(state))

    def alpha_beta_search(self, state, depth=1):
        return max(state.actions(), key=lambda action: self.minimax(state.result(action), depth - 1))

    def minimax(self, state, depth):
        return self.utility(state)

    def best_reply(self, state):
        return state.actions()[0]

    def utility(self, state):
        return self.heuristic_score(state, self.player_id)

    def heuristic_score(self, state, player_id):
        return len(state.liberties(state.locs[player_id])) + self.score_quadrant(state, player_id)

    def score_quadrant(self, state, player_id):
        return 1 if state.locs[player_id] % 13 > 5 else 0
"""


def test_all_evaluations_of_a_file_are_listed_and_its_searches_are_not(tmp_path):
    file = tmp_path / "my_custom_player.py"
    file.write_text(MANY)
    names = [entry.name for entry in file_catalogue(file)]
    methods = [f"CustomPlayer.{name}" for name in ("utility", "heuristic_score", "score_quadrant")]
    assert names == ["utility_score", *methods]
    value = load_heuristic(file, "CustomPlayer.heuristic_score").value
    board = Board.from_moves([24, 74], size="9x11")
    state = state_of(board)
    expected = [len(state.liberties(cell)) + (cell % 13 > 5) for cell in state.locs]
    assert [value(board, player) for player in board.players] == expected


def test_a_file_without_functions_names_the_methods_that_evaluate(tmp_path):
    file = tmp_path / "my_custom_player.py"
    file.write_text(MANY.replace("def utility_score(state, player_id)", "def utility_score(state, player_id, more)"))
    result = CliRunner().invoke(main, ["try", str(file)])
    assert result.exit_code == 2, result.output
    named = f"ID:{file}:CustomPlayer"
    assert f"its evaluation as {named}.utility or {named}.heuristic_score or {named}.score_quadrant" in result.output


def test_a_player_that_cannot_be_made_is_told(tmp_path):
    file = written(tmp_path, PLAIN)
    file.write_text(file.read_text().replace("self.calls = 0", "self.calls = 1 / 0"))
    with pytest.raises(LoadError, match=r"making a CustomPlayer .*ZeroDivisionError"):
        load_heuristic(file, "CustomPlayer.score")


@pytest.mark.slow
def test_it_is_tried_like_any_other(tmp_path):
    file = written(tmp_path, PLAIN)
    result = CliRunner().invoke(main, ["heuristics", "--file", str(file)])
    assert result.exit_code == 0
    assert "CustomPlayer.score" in result.output


@pytest.mark.slow
def test_the_data_of_a_player_is_there_for_its_heuristic(tmp_path):
    file = written(tmp_path, "return self.data['weight'] * self.base(state)")
    (tmp_path / "data.pickle").write_bytes(pickle.dumps({"weight": 3}))
    heuristic = load(file, "CustomPlayer.score").value
    board = Board.from_moves([0, 98], "9x11")
    assert heuristic(board, 1) == 3 * (2 - 2 * 2)
    assert compile_heuristic(heuristic, (9, 11)).evaluate(board, 0) == heuristic(board, 1)
