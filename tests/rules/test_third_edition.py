"""The third edition: its states, its turns, its scripts, and its players among ours."""

import pickle
import random
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from queue import Empty

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_games import games, random_game

from knights_isolation.experiments.plan import parse_agent
from knights_isolation.experiments.plan.config import Config
from knights_isolation.experiments.plan.tournament_plan import make_plan
from knights_isolation.isolation import (
    Agent,
    Board,
    DebugState,
    Isolation,
    Status,
    StopSearch,
    TimedQueue,
    fork_get_action,
    play,
)
from knights_isolation.isolation.games.match import play_games
from knights_isolation.isolation.isolation import _ACTIONSET, _BLANK_BOARD, _HEIGHT, _SIZE, _WIDTH, Action, E, N, S, W
from knights_isolation.isolation.loading.load_user_code import LoadError, content_hash, load, load_player
from knights_isolation.isolation.rules.edition import edition_of
from knights_isolation.isolation.rules.game import USUAL_SIZE, Limit, Size
from knights_isolation.isolation.rules.third_edition import (
    ERR_INFO,
    from_state_cell,
    state_of,
    to_state_cell,
    unsupported_size_reason,
)
from knights_isolation.isolation.rules.third_sample_players import (
    BasePlayer,
    GreedyPlayer,
    MinimaxPlayer,
    RandomPlayer,
)
from knights_isolation.isolation.search.agents import RandomAgent
from knights_isolation.isolation.search.classic_agent import ClassicAgent

THIRD = Path(__file__).parents[1] / "data" / "classic" / "third"
ROOT = Path(__file__).parents[2]
FILE = THIRD / "my_custom_player.py"
INFINITY = float("inf")
# The exception that stops a player may reach it in a callback of the garbage collector, which hypothesis has; the
# player is then told again.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def board_after(plies):
    return random_game(random.Random(1), 9, 11, plies)


def cornered(own, opponent, *, open_cells):
    """A state after both placements in which hardly any cell is open."""
    return Isolation(board=sum(1 << cell for cell in open_cells), ply_count=2, locs=(own, opponent))


# States


def test_numbers_are_those_that_players_have_written_down():
    assert (_WIDTH, _HEIGHT, _SIZE, E, W, N, S) == (11, 9, 115, -1, 1, 13, -13)
    assert [int(action) for action in Action] == [25, 11, -15, -27, -25, -11, 15, 27]
    assert [action.name for action in Action] == ["NNE", "ENE", "ESE", "SSE", "SSW", "WSW", "WNW", "NNW"]
    assert {int(action) for action in _ACTIONSET} == {11, 15, 25, 27, -11, -15, -25, -27}
    assert f"{_BLANK_BOARD:b}" == "00".join(["1" * 11] * 9)
    start = Isolation()
    assert start == (_BLANK_BOARD, 0, (None, None))
    assert (start.actions()[0], start.actions()[57 - 8], start.actions()[-1], len(start.actions())) == (0, 57, 114, 99)
    assert [DebugState.ind2xy(cell) for cell in (0, 57, 114)] == [(0, 0), (5, 4), (10, 8)]


@given(games(60, sizes=st.tuples(st.integers(1, 9), st.integers(1, 11))))
def test_a_state_moves_as_the_board_does(board):
    state = state_of(board)
    assert (state.ply_count, state.player()) == (board.move_count, board.active_index)
    for player in (0, 1):
        cells = state.liberties(state.locs[player])
        moves = {from_state_cell(cell, board.height, board.width) for cell in cells}
        assert moves == set(board.get_legal_moves(board.players[player]))
        assert [
            to_state_cell(*from_state_cell(cell, board.height, board.width), board.height, board.width)
            for cell in cells
        ] == cells
    for action in state.actions():
        after = state.result(action)
        cell = after.locs[board.active_index]
        assert after == state_of(board.forecast_move(from_state_cell(cell, board.height, board.width)))


@given(games(90, sizes=st.just((9, 11))))
def test_a_game_is_over_as_soon_as_one_side_is_stuck_and_the_one_to_move_wins_if_it_can_move(board):
    state = state_of(board)
    stuck = [not any(state.liberties(state.locs[player])) for player in (0, 1)]
    assert state.terminal_test() == any(stuck)
    if any(stuck):
        winner = 1 - state.player() if stuck[state.player()] else state.player()
        assert [state.utility(player) for player in (0, 1)] == [INFINITY if winner == 0 else -INFINITY,
                                                                INFINITY if winner == 1 else -INFINITY]  # fmt: skip
    else:
        assert [state.utility(player) for player in (0, 1)] == [0, 0]


def test_cell_0_is_an_action_and_no_liberty():
    state = cornered(27, 57, open_cells=[0, 57 + 25])
    assert state.actions() == [Action.SSE]
    assert state.liberties(27) == [0]
    assert state.terminal_test()
    assert (state.utility(0), state.utility(1)) == (-INFINITY, INFINITY)
    assert not cornered(27, 57, open_cells=[0, 2, 57 + 25]).terminal_test()


def test_if_both_are_stuck_the_one_to_move_has_lost():
    state = cornered(0, 114, open_cells=[57])
    assert (state.utility(0), state.utility(1)) == (-INFINITY, INFINITY)


def test_results_are_refused_as_the_edition_refuses_them():
    state = Isolation().result(57).result(0)
    assert state.result(25) == state.result(Action.NNE)
    with pytest.raises(AssertionError):
        state.result(24)
    with pytest.raises(RuntimeError):
        state.result(25).result(15).result(-25)
    with pytest.raises(RuntimeError):
        Isolation().result(11)
    with pytest.raises(RuntimeError):
        Isolation().result(-1)


def test_liberties_of_any_cell_are_open_cells_in_the_order_of_moves():
    state = Isolation().result(57).result(57 + 25)
    assert state.liberties(57) == [57 + step for step in (11, -15, -27, -25, -11, 15, 27)]
    assert state.liberties(10) == [10 + 25, 10 + 11]
    assert len(state.liberties(None)) == 97


def test_states_are_tuples_that_know_no_change():
    state = Isolation().result(57)
    with pytest.raises(AttributeError):
        state.board = 0
    board, ply_count, locs = state
    assert Isolation(board=board, ply_count=ply_count, locs=locs) == state
    assert {state: "book"}[Isolation().result(57)] == "book"
    assert state._replace(ply_count=2).player() == 0
    debug = DebugState.from_state(state)
    assert debug == state
    assert hash(debug) == hash(state)
    assert type(debug.result(0)) is Isolation


def test_pickles_name_the_state_as_the_edition_does():
    state = Isolation().result(57).result(0)
    book = {state: state.actions()[2]}
    for protocol in range(2, 6):
        pickled = pickle.dumps(book, protocol)
        assert b"isolation.isolation" in pickled
        assert b"third" not in pickled
        assert pickle.loads(pickled) == book
    named = b"cisolation.isolation\nAction\n(I25\ntR."
    assert pickle.loads(named) is Action.NNE


def test_a_state_is_drawn_with_cell_0_at_the_bottom_right():
    first, *lines, last = str(DebugState.from_state(Isolation().result(0).result(114).result(27))).split("\n")
    assert (first, last) == ("", "")
    assert lines[0] == lines[-1] == "+ - + - + - + - + - + - + - + - + - + - + - +"
    assert lines[-2].split("|")[-2].strip() == "X"
    assert lines[1].split("|")[1].strip() == "2"
    assert sum(line.count("1") for line in lines) == 1


def test_the_bits_of_a_board_have_no_leading_zeros():
    assert DebugState.from_state(Isolation()).bitboard_string == f"{_BLANK_BOARD:b}"
    assert DebugState.from_state(Isolation().result(114)).bitboard_string == f"{_BLANK_BOARD - (1 << 114):b}"
    assert len(DebugState.from_state(Isolation().result(114)).bitboard_string) == 114


# Boards and states


def test_a_small_board_lies_in_the_middle():
    assert [to_state_cell(0, 0, 9, 11), to_state_cell(8, 10, 9, 11), to_state_cell(0, 10, 9, 11)] == [114, 0, 104]
    assert to_state_cell(3, 3, 7, 7) == 57
    state = state_of(Board.from_moves([24], "7x7"))
    assert len(state.liberties(None)) == 48
    assert len(state.liberties(57)) == 8
    assert unsupported_size_reason(9, 11) == ""
    assert unsupported_size_reason(11, 9) == "players of the third edition support boards of up to 9x11, not 11x9"


def test_whose_turn_it_is_shows_in_the_plies_where_old_code_has_set_it():
    board = Board.from_moves([0, 98, 13], "9x11")
    assert state_of(board).player() == 1
    board._active_player, board._inactive_player = 1, 2
    assert state_of(board).player() == 0


# Turns


class Puts(BasePlayer):
    """Puts given actions."""

    actions = ()

    def get_action(self, state):
        for action in self.actions:
            self.queue.put(action)


class Endless(BasePlayer):
    def get_action(self, state):
        self.puts = 0
        while True:
            self.queue.put(57)


class Overrunning(BasePlayer):
    """Puts an action, and then computes for ever, whatever is raised by `Exception` in it."""

    def get_action(self, state):
        self.queue.put(57)
        while True:
            with suppress(Exception):
                sum(range(100))


class Stubborn(BasePlayer):
    """Does not end when it is told so for the first time."""

    told = 0

    def get_action(self, state):
        self.queue.put(57)
        for _ in range(3):
            try:
                while True:
                    pass
            except BaseException:
                Stubborn.told += 1


class Silent(BasePlayer):
    def get_action(self, state):
        pass


class Late(BasePlayer):
    def get_action(self, state):
        started = time.process_time()
        while time.process_time() - started < 0.03:
            pass
        self.queue.put(57)


class Failing(BasePlayer):
    def get_action(self, state):
        raise ZeroDivisionError("by zero")


class FailingLater(BasePlayer):
    def get_action(self, state):
        self.queue.put(57)
        raise ZeroDivisionError("by zero")


def test_the_last_action_put_in_time_counts():
    player = Puts(0)
    player.actions = (1, 2, 3)
    assert fork_get_action(Isolation(), player, 1000) == 3


@pytest.mark.parametrize("kind", [Endless, Overrunning, Stubborn])
def test_a_player_that_goes_on_for_ever_is_stopped_and_its_action_counts(kind):
    assert fork_get_action(Isolation(), kind(0), 300) == 57


def test_a_player_that_will_not_stop_is_told_again():
    Stubborn.told = 0
    fork_get_action(Isolation(), Stubborn(0), 300)
    assert Stubborn.told == 3


def test_an_action_put_late_does_not_count():
    with pytest.raises(Empty):
        fork_get_action(Isolation(), Late(0), 5)


def test_a_queue_refuses_what_is_put_late_and_keeps_what_was_put_before():
    left = [3.0, -1.0]
    queue = TimedQueue(Silent(0), lambda: left.pop(0))
    queue.put(57)
    with pytest.raises(StopSearch):
        queue.put_nowait(58)
    assert (queue.qsize(), queue.full(), queue.empty()) == (1, True, False)
    assert queue.get_nowait() == (None, 57)
    with pytest.raises(Empty):
        queue.get()


def test_a_player_that_puts_nothing_has_no_action():
    with pytest.raises(Empty):
        fork_get_action(Isolation(), Silent(0), 1000)


def test_what_a_player_raises_before_it_has_put_an_action_is_raised_and_later_is_nothing():
    with pytest.raises(ZeroDivisionError):
        fork_get_action(Isolation(), Failing(0), 1000)
    assert fork_get_action(Isolation(), FailingLater(0), 1000) == 57


def test_only_the_context_lasts_from_turn_to_turn():
    player = load(FILE, "Counting").value(player_id=0)
    taken = [fork_get_action(Isolation(), player, 1000) for _ in range(3)]
    assert taken == [1, 2, 3]
    assert (player.context, player.turns) == (3, 0)


def test_what_a_turn_writes_into_a_table_of_the_player_is_gone_in_the_next():
    player = load(FILE, "Hashing").value(player_id=0)
    state = state_of(board_after(6))
    fork_get_action(state, player, 300)
    assert player.table == {}


def test_players_of_june_2018_are_given_the_number_of_the_match():
    assert fork_get_action(Isolation(), load(FILE, "MobilityPlayer").value(0), 1000) in Isolation().actions()


# The edition's own game loop


def test_a_game_ends_with_its_winner_and_its_actions():
    agents = (Agent(MinimaxPlayer, "minimax"), Agent(RandomPlayer, "random"))
    winner, history, match_id = play((agents, Isolation(), 10_000, 7))
    state = Isolation()
    for action in history:
        assert not state.terminal_test()
        assert action in state.actions()
        state = state.result(action)
    assert state.terminal_test()
    assert (winner, match_id) == (agents[0 if state.utility(0) > 0 else 1], 7)


@pytest.mark.parametrize("bad", [Silent, Failing, type("Bad", (Puts,), {"actions": (11,)})])
def test_whoever_gives_no_action_loses(bad):
    good = Agent(GreedyPlayer, "good")
    assert play(((Agent(bad, "bad"), good), Isolation(), 10_000, 0))[:2] == (good, [])
    winner, history, _ = play(((good, Agent(bad, "bad")), Isolation(), 10_000, 0))
    assert (winner, len(history)) == (good, 1)


def test_a_game_is_played_on_from_any_state():
    agents = (Agent(GreedyPlayer, "one"), Agent(GreedyPlayer, "two"))
    state = cornered(27, 57, open_cells=[2, 57 + 25])
    assert play((agents, state, 10_000, 0, True)) == (agents[1], [Action.SSW], 0)


def test_names_that_scripts_import_are_there():
    from knights_isolation import isolation

    assert [status.value for status in Status] == [0, 1, 2, 3, 4]
    assert isolation.Empty is Empty
    assert ERR_INFO.count("{}") == 6
    assert isolation.logger.name == "isolation"


@pytest.mark.parametrize(
    "script",
    [
        ["-m", "unittest", "tests.test_my_custom_player"],
        ["run_match.py", "-r", "1", "-t", "10000", "-f", "-o", "GREEDY"],
    ],
)
def test_scripts_of_the_edition_run_unmodified(tmp_path, script):
    shutil.copytree(THIRD, tmp_path / "project")
    (tmp_path / "project" / "sample_players.py").write_text(
        "from isolation.rules.third_sample_players import *\n"
        "from isolation.rules.third_sample_players import BasePlayer, DataPlayer\n"
    )
    result = subprocess.run(
        [sys.executable, *script],
        cwd=tmp_path / "project",
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr


# Files of the edition


def write(folder, name, text):
    (folder / name).write_text(text)
    return folder / name


def test_sample_players_are_those_of_the_edition_that_the_importing_file_is_of(tmp_path):
    third = write(tmp_path, "third.py", "from isolation import Isolation\nfrom sample_players import MinimaxPlayer\n")
    second = write(tmp_path, "second.py", "from isolation import Board\nfrom sample_players import MinimaxPlayer\n")
    calls = write(tmp_path, "calls.py", "import sample_players\ndef ask(player): return player.get_action(None)\n")
    assert load(third, "MinimaxPlayer").value is MinimaxPlayer
    assert hasattr(load(second, "MinimaxPlayer").value, "get_move")
    assert load(calls, "sample_players").value.MinimaxPlayer is MinimaxPlayer


def with_book(folder, book):
    shutil.copy(FILE, folder)
    (folder / "data.pickle").write_bytes(pickle.dumps(book))
    return folder / FILE.name


def test_the_book_of_a_player_is_the_one_in_the_folder_of_its_file(tmp_path, monkeypatch):
    file = with_book(tmp_path, {Isolation(): 3, Isolation().result(3): 5})
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "data.pickle").write_bytes(pickle.dumps({Isolation(): 4}))
    monkeypatch.chdir(elsewhere)
    player = load_player(file, "CustomPlayer").value(0)
    assert fork_get_action(Isolation(), player, 10_000) == 3
    assert fork_get_action(Isolation().result(3), player, 10_000) == 5
    assert load(file, "CustomPlayer").value(0).data == {Isolation(): 3, Isolation().result(3): 5}
    assert load(FILE, "CustomPlayer").value(0).data is None


def test_the_book_is_part_of_what_a_run_recognises_a_player_by(tmp_path):
    file = with_book(tmp_path, {Isolation(): 3})
    before = content_hash(file)
    with_book(tmp_path, {Isolation(): 4})
    assert content_hash(file) != before


def test_a_file_opens_what_lies_beside_it_and_other_files_by_their_own_path(tmp_path, monkeypatch):
    (tmp_path / "book.txt").write_text("beside")
    source = "with open('book.txt') as file: BOOK = file.read()\nwith open('here.txt') as file: HERE = file.read()\n"
    file = write(tmp_path, "reads.py", source)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "book.txt").write_text("elsewhere")
    (elsewhere / "here.txt").write_text("here")
    monkeypatch.chdir(elsewhere)
    assert load(file, "BOOK").value == "beside"
    assert load(file, "HERE").value == "here"


def test_what_a_file_writes_goes_where_it_says(tmp_path, monkeypatch):
    (tmp_path / "log.txt").write_text("old")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    load(write(tmp_path, "writes.py", "with open('log.txt', 'w') as file: file.write('new')\nDONE = True"), "DONE")
    assert ((tmp_path / "log.txt").read_text(), (elsewhere / "log.txt").read_text()) == ("old", "new")


@pytest.mark.parametrize(
    ("source", "part"),
    [
        ("class P:\n    def get_action(self): ...", "P needs a method get_action(self, state), not get_action(self)"),
        ("class P:\n    get_action = 3", "p.py:P needs a method get_action(self, state), not an int"),
        (
            "class P:\n    def __init__(self, one, two): ...\n    def get_action(self, state): ...",
            "p.py:P, a player of the third edition, is made with a player_id alone, not as the class P(one, two)",
        ),
    ],
)
def test_a_class_that_is_no_player_of_the_edition_is_refused(tmp_path, source, part):
    with pytest.raises(LoadError) as refused:
        load_player(write(tmp_path, "p.py", source), "P")
    assert part in str(refused.value)


# Among other agents


@pytest.mark.parametrize("name", ["Deepening", "FixedDepth", "Hashing", "TreeSearch", "Counting", "MobilityPlayer"])
@pytest.mark.parametrize("size", [pytest.param(Size(9, 11), marks=pytest.mark.exhaustive), USUAL_SIZE])
def test_players_of_every_shape_play_agents_of_every_kind(name, size):
    player = parse_agent(f"{FILE}:{name}@cpu_ms={60 if name in ('Deepening', 'Hashing', 'TreeSearch') else 5000}")
    classic = parse_agent(f"{THIRD.parent / 'second' / 'game_agent.py'}:MinimaxPlayer@cpu_ms=5000")
    opening = random_game(random.Random(7), *size, plies=20 if size == USUAL_SIZE else 50).history
    for number, opponent in enumerate([parse_agent("AB:improved@depth=2"), classic]):
        sides = (player, opponent) if number else (opponent, player)
        games = play_games(*sides, [opening], [number], size)
        assert games.reason.tolist() == [0], games.detail


def agent_of(kind, **limit):
    return ClassicAgent(kind.__name__, kind, (), Limit(**limit or {"ms": 10_000}))


@pytest.mark.parametrize(
    ("kind", "limit", "reason", "detail"),
    [
        (Silent, {}, "timeout", "put no action on its queue within 10000 ms"),
        (Late, {"ms": 5}, "timeout", "put no action on its queue within 5 ms"),
        (Late, {"cpu_ms": 5}, "timeout", "put no action on its queue within 5 ms of processor time"),
        (Failing, {}, "error", "ZeroDivisionError: by zero"),
        (type("Bad", (Puts,), {"actions": (11,)}), {}, "illegal_move", "played action 11"),
        (type("Odd", (Puts,), {"actions": ("57",)}), {}, "illegal_move", "played action '57'"),
        (type("None_", (Puts,), {"actions": (None,)}), {}, "illegal_move", "played action None"),
    ],
)
def test_what_no_engine_of_the_edition_takes_loses_the_game(kind, limit, reason, detail):
    from knights_isolation.isolation.games.match import play as play_one

    record = play_one(agent_of(kind, **limit), RandomAgent(), size="9x11")
    text = record.detail.partition(" (test_third_edition.py, line ")[0]
    assert (record.winner, record.reason, text) == (2, reason, detail)


def test_a_player_knows_its_side():
    asked = set()

    class Asking(BasePlayer):
        def get_action(self, state):
            asked.add((self.player_id, state.player()))
            self.queue.put(state.actions()[0])

    play_games(agent_of(Asking), RandomAgent(), [()], [1], Size(9, 11))
    play_games(RandomAgent(), agent_of(Asking), [()], [1], Size(9, 11))
    assert asked == {(0, 0), (1, 1)}


@pytest.mark.parametrize(
    ("own", "opponent", "open_cells", "played"),
    [
        (57, 0, [82, 42], 82),  # the opponent is stuck: any move wins
        (57, 27, [82, 30, 0], 82),  # to the edition it is, and cannot be kept from cell 0
        (15, 27, [40, 0], 0),  # it can
        (27, 114, [0], 0),  # the only move, which is none to the edition
    ],
)
def test_in_a_game_that_its_edition_calls_finished_a_player_is_not_asked(own, opponent, open_cells, played):
    cells = {to_state_cell(row, column, 9, 11): row * 11 + column for row in range(9) for column in range(11)}
    player = Failing(0)
    board = Board(player, "other", 11, 9)
    board.blank = sum(1 << cells[cell] for cell in open_cells)
    board.locations, board.move_count = (cells[own], cells[opponent]), 2
    assert state_of(board).terminal_test()
    assert edition_of(player).ask(player, board, lambda: 1000.0) == divmod(cells[played], 11)


@pytest.mark.parametrize("size", [Size(11, 9), Size(10, 10)])
def test_a_larger_board_is_refused_before_anything_is_played(size):
    with pytest.raises(ValueError, match=f"^Silent: players of the third edition support .* up to 9x11, not {size}$"):
        play_games(agent_of(Silent), RandomAgent(), [()], [1], size)
    config = Config(contenders=[f"{FILE}:FixedDepth"], opponents=["random"], board=str(size), pairs=1)
    with pytest.raises(ValueError, match="support boards of up to 9x11"):
        make_plan(config)


@pytest.mark.parametrize("name", ["TreeSearch", "FixedDepth"])
def test_a_hard_cap_puts_a_player_into_a_process_of_its_own(name):
    player = parse_agent(f"{FILE}:{name}@cpu_ms={100 if name == 'TreeSearch' else 5000}")
    games = play_games(player, RandomAgent(), [(0, 5)], [1], Size(7, 7), hard_cap=30.0)
    assert games.reason.tolist() == [0], games.detail


def test_a_player_that_no_exception_stops_hangs_and_the_hard_cap_ends_it(tmp_path):
    source = """
import time
from sample_players import BasePlayer
class CustomPlayer(BasePlayer):
    def get_action(self, state):
        self.queue.put(state.actions()[0])
        time.sleep(1000)
"""
    player = parse_agent(f"{write(tmp_path, 'sleeps.py', source)}@ms=20")
    games = play_games(player, RandomAgent(), [(0, 5)], [1], Size(7, 7), hard_cap=1.0)
    assert (games.reason.tolist(), games.detail) == ([4], ["its process died: it was ended, no answer within 1 s"])


def test_a_board_plays_a_game_between_players_of_the_edition():
    first, second = GreedyPlayer(0), GreedyPlayer(1)
    board = Board(first, second, 11, 9)
    winner, history, outcome = board.play(time_limit=10_000)
    assert (winner in (first, second), outcome) == (True, "illegal move")
    assert history == [list(divmod(cell, 11)) for cell in board.history]
    assert edition_of(first).name == "third"
    assert Board(Silent(0), second, 11, 9).play(time_limit=10_000)[1:] == ([], "timeout")
