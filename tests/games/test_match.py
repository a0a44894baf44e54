"""Games between agents: rules of losing, and compiled play equal to the interpreted loop."""

import math
import signal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knights_isolation import heuristics
from knights_isolation.experiments.plan import parse_agent
from knights_isolation.isolation import Board, Limit, play
from knights_isolation.isolation.checks.search_cost import random_openings
from knights_isolation.isolation.games.match import play_games, play_many
from knights_isolation.isolation.native.layout import ANSWER, CELLS, HIGH, LOW, SLOT, WHO
from knights_isolation.isolation.native.workspaces import MoveCache
from knights_isolation.isolation.rules.game import USUAL_SIZE, Reason, Size
from knights_isolation.isolation.rules.parameters import bind_parameters
from knights_isolation.isolation.search import SearchOptions
from knights_isolation.isolation.search.agents import GreedyAgent, RandomAgent, SearchAgent
from knights_isolation.isolation.search.classic_agent import ClassicAgent
from knights_isolation.isolation.usercode.user_exceptions import LONGEST_LINE


def search_agent(method, name, options=SearchOptions(), **limit):  # noqa: B008
    heuristic = heuristics.get(name) if name else None
    return SearchAgent(f"{method}:{name}", method, heuristic, name, Limit(**limit), options)


AGENTS = [
    RandomAgent(),
    GreedyAgent(),
    search_agent("minimax", "open", depth=2),
    search_agent("alphabeta", "improved", depth=4),
    search_agent("alphabeta", "territory", nodes=150),
    search_agent("alphabeta", "null", SearchOptions(random_ties=True), nodes=80),
    search_agent("bestfirst", "improved", nodes=60),
    search_agent("mcts", "improved", nodes=40),
    search_agent("mcts", "", nodes=30),
]


def columns(games):
    names = ("winner", "reason", "offsets", "moves", "score", "depth", "nodes", "exact")
    return {name: getattr(games, name).tolist() for name in names if name != "score"} | {
        "score": [None if math.isnan(value) else value for value in games.score],
        "detail": games.detail,
    }


@pytest.mark.parametrize("size", [USUAL_SIZE, pytest.param(Size(9, 11), marks=pytest.mark.exhaustive)])
@settings(max_examples=12)
@given(
    agent_1=st.sampled_from(AGENTS),
    agent_2=st.sampled_from(AGENTS),
    plies=st.integers(2, 6),
    seed=st.integers(0, 2**32),
)
def test_compiled_play_records_the_same_games_as_the_interpreted_loop(size, agent_1, agent_2, plies, seed):
    openings = random_openings(3, plies, size, seed=seed)
    seeds = [seed, 2**64 - 1 - seed, seed << 31]
    batch, loop = (play_games(agent_1, agent_2, openings, seeds, size, interpreted=flag) for flag in (False, True))
    assert columns(batch) == columns(loop)


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_every_recorded_game_replays_to_a_position_without_a_move(agent):
    games = play_games(agent, AGENTS[0], random_openings(20, 3), range(20))
    for index in range(len(games)):
        cells = games.moves[games.offsets[index] : games.offsets[index + 1]].tolist()
        outcome = Board.from_moves(cells).outcome()
        assert outcome is not None
        assert outcome.winner == games.winner[index]


def test_the_same_seed_gives_the_same_game_and_another_seed_another():
    games = [play(RandomAgent(), RandomAgent(), [24, 14], seed=seed).moves for seed in (5, 5, 6)]
    assert games[0] == games[1] != games[2]


def test_a_game_can_begin_before_the_placements():
    record = play(search_agent("alphabeta", "improved", depth=2), RandomAgent(), size="5x5")
    assert Board.from_moves(record.moves, "5x5").outcome() is not None
    assert record.opening == ()
    assert record.depth[0] == 2


class Player:
    """A second-edition player that does what its subclass says at its third move."""

    def __init__(self):
        self.moves = 0

    def get_move(self, game, time_left):
        self.moves += 1
        return self.third_move(game, time_left) if self.moves == 3 else game.get_legal_moves()[0]


class Illegal(Player):
    def third_move(self, game, time_left):
        return 0, 0


class AsList(Player):
    def third_move(self, game, time_left):
        return list(game.get_legal_moves()[0])


class OfArrays(Player):
    def third_move(self, game, time_left):
        return np.array([2, 1])


class Incomparable:
    """An object that fails whatever it is asked."""

    def __eq__(self, other):
        raise KeyError("compared")

    __hash__ = __len__ = __iter__ = __bool__ = __repr__ = __float__ = __int__ = __index__ = __eq__


class OfHostiles(Player):
    def third_move(self, game, time_left):
        return Incomparable(), Incomparable()


class Raising(Player):
    def third_move(self, game, time_left):
        raise KeyError("lost my way")


class Late(Player):
    def third_move(self, game, time_left):
        while time_left() > -1:
            pass
        return game.get_legal_moves()[0]


class Leaving(Player):
    def third_move(self, game, time_left):
        raise SystemExit(3)


class OwnError(BaseException):
    pass


class Breaking(Player):
    def third_move(self, game, time_left):
        raise OwnError("no Exception")


class Interrupting(Player):
    def third_move(self, game, time_left):
        raise KeyboardInterrupt


class Exiting(Player):
    def third_move(self, game, time_left):
        raise GeneratorExit


class Surrogate(Player):
    def third_move(self, game, time_left):
        raise ValueError("\ud800\x1b[2J")


class Untellable(Exception):
    def __str__(self):
        raise OwnError


class Endless(Exception):
    def __str__(self):
        return "x" * 5_000_000


class Speechless(Player):
    def third_move(self, game, time_left):
        raise Untellable


class Talkative(Player):
    def third_move(self, game, time_left):
        raise Endless


class LongMove:
    def __repr__(self):
        return "\udcff" * 1_000_000


class Rambling(Player):
    def third_move(self, game, time_left):
        return LongMove()


class Hanging(Player):
    def third_move(self, game, time_left):
        while True:
            pass


class Asking:
    """A player that asks the game about itself, as most do."""

    def get_move(self, game, time_left):
        assert game.active_player is self
        assert game.get_legal_moves(self) == game.get_legal_moves()
        return max(game.get_legal_moves(), key=lambda move: len(game.forecast_move(move).get_legal_moves(self)))


@pytest.mark.parametrize("index", [1, 2])
def test_a_classic_player_finds_itself_in_the_game(index):
    agents = [ClassicAgent("asking", Asking, (), Limit(ms=1000)), GreedyAgent()]
    record = play(*(agents if index == 1 else agents[::-1]), opening=[24, 14])
    assert record.reason == "no_moves", record.detail


@pytest.mark.parametrize(
    ("player", "reason", "detail"),
    [
        (Illegal, "illegal_move", "played (0, 0)"),
        (AsList, "illegal_move", "], not a pair of numbers (test_match.py, line "),
        (OfArrays, "illegal_move", "returned array([2, 1]), not a pair of numbers (test_match.py, line "),
        (OfHostiles, "illegal_move", ", not a pair of numbers (test_match.py, line "),
        (Raising, "error", "KeyError: 'lost my way'"),
        (Leaving, "error", "SystemExit: 3"),
        (Breaking, "error", "OwnError: no Exception"),
        (Interrupting, "error", "KeyboardInterrupt"),
        (Exiting, "error", "GeneratorExit"),
        (Surrogate, "error", "ValueError: \\ud800\\x1b[2J"),
        (Speechless, "error", "Untellable: (unprintable OwnError)"),
        (Talkative, "error", "Endless: xxx"),
        (Rambling, "illegal_move", "returned \\udcff\\udcff"),
        (Late, "timeout", "of 20 ms"),
    ],
)
@pytest.mark.parametrize(
    ("hard_cap", "index"),
    [
        (None, 1),
        (None, 2),
        pytest.param(5.0, 1, marks=pytest.mark.exhaustive),
        pytest.param(5.0, 2, marks=pytest.mark.exhaustive),
    ],
)
def test_a_player_that_fails_loses_with_its_reason(player, reason, detail, hard_cap, index):
    agents = [ClassicAgent("it", player, (), Limit(ms=20 if player is Late else 2000)), GreedyAgent()]
    record = play(*(agents if index == 1 else agents[::-1]), opening=[24, 14], hard_cap=hard_cap)
    assert (record.winner, record.reason) == (3 - index, reason)
    assert detail in record.detail
    assert len(record.detail) <= LONGEST_LINE
    assert ("…" in record.detail) == (player in (Talkative, Rambling))
    assert record.detail.isprintable()
    assert record.plies == 2 + 4 + (index - 1)


class Pressing(Player):
    def third_move(self, game, time_left):
        signal.raise_signal(signal.SIGINT)


def test_ctrl_c_ends_a_game_however_its_players_are_doing():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        play(ClassicAgent("pressing", Pressing, (), Limit(ms=1000)), GreedyAgent(), [24, 14])
    assert signal.getsignal(signal.SIGINT) is before


def leaving_late(game, player):
    """Raises what is no Exception once few cells are left."""
    if len(game.get_blank_spaces()) < 30:
        raise OwnError("too late")
    return 0.0


def test_a_heuristic_that_raises_what_is_no_exception_loses_by_error():
    agent = SearchAgent("leaving", "alphabeta", leaving_late, "leaving", Limit(depth=2))
    games = play_games(agent, RandomAgent(), random_openings(4, 2), range(4))
    assert set(games.reason.tolist()) == {Reason.ERROR}
    line = leaving_late.__code__.co_firstlineno + 3
    assert set(games.detail) == {f"OwnError: too late (test_match.py, line {line})"}


def test_a_player_that_hangs_loses_and_the_next_game_is_played():
    hanging = ClassicAgent("hanging", Hanging, (), Limit(ms=50))
    games = play_games(hanging, GreedyAgent(), [(24, 14), (0, 1)], [1, 2], hard_cap=0.3)
    assert games.reason.tolist() == [Reason.HANG, Reason.HANG]
    assert games.detail[0] == "its process died: it was ended, no answer within 0.3 s"
    assert games.winner.tolist() == [2, 2]


def sometimes_failing(game, player):
    """Raises a ZeroDivisionError once few cells are left, in compiled code and in Python."""
    return 1 / max(0, len(game.get_blank_spaces()) - 30)


def test_an_exception_in_compiled_code_loses_by_error_with_its_message():
    agent = SearchAgent("failing", "alphabeta", sometimes_failing, "failing", Limit(depth=2))
    assert agent.compiled((7, 7)) is not None
    batch, loop = (
        play_games(agent, RandomAgent(), random_openings(4, 2), range(4), interpreted=flag) for flag in (False, True)
    )
    assert set(batch.reason.tolist()) == {Reason.ERROR}
    assert all("ZeroDivisionError" in detail for detail in batch.detail)
    assert columns(batch) | {"detail": None} == columns(loop) | {"detail": None}


def sometimes_nan(game, player):
    """NaN once few cells are left."""
    left = float(len(game.get_blank_spaces()))
    return left if left > 30 else math.inf - math.inf


LINE = sometimes_nan.__code__.co_firstlineno + 3
RETURNED_NAN = f"NotANumber: the heuristic returned NaN (test_match.py, line {LINE})"


@pytest.mark.parametrize("method", ["minimax", "alphabeta", "mcts", "greedy"])
def test_a_heuristic_that_returns_nan_loses_by_error_compiled_or_not(method):
    if method == "greedy":
        agent = GreedyAgent("nan", sometimes_nan, "nan")
    else:
        limit = Limit(nodes=100) if method == "mcts" else Limit(depth=2)
        agent = SearchAgent("nan", method, sometimes_nan, "nan", limit)
    assert agent.compiled((7, 7)) is not None
    batch, loop = (
        play_games(agent, RandomAgent(), random_openings(4, 2), range(4), interpreted=flag) for flag in (False, True)
    )
    assert RETURNED_NAN in batch.detail
    assert set(batch.detail) <= {RETURNED_NAN, ""}
    assert columns(batch) == columns(loop)


def test_the_marker_tells_which_game_and_which_mover_were_played_last():
    marker = np.zeros(3, np.int64)
    games = play_games(RandomAgent(), RandomAgent(), random_openings(5, 4), range(5), marker=marker)
    assert marker.tolist() == [4, 2 - games.winner[4], np.diff(games.offsets)[4]]


# Many agents in one call, and searches remembered

SIDES = np.array([[3, 0], [4, 3], [0, 4], [3, 4], [7, 3], [3, 3], [4, 3], [2, 6]])


def played(memory=None, agents=AGENTS, sides=SIDES, size=USUAL_SIZE, **options):
    """Games of several agents, each from an opening of its own but for the last but one, which is the second again."""
    openings = random_openings(len(sides), 2, size, seed=3)
    openings[-2] = openings[1]
    return play_many(agents, sides, openings, range(len(sides)), size, memory=memory, **options)


@pytest.mark.parametrize("size", [USUAL_SIZE, pytest.param(Size(9, 11), marks=pytest.mark.exhaustive)])
def test_many_agents_play_in_one_batch_as_each_two_by_themselves(size):
    openings = random_openings(len(SIDES), 2, size, seed=3)
    openings[-2] = openings[1]
    batch = columns(played(size=size))
    for index, (item, other) in enumerate(SIDES.tolist()):
        alone = play_games(AGENTS[item], AGENTS[other], [openings[index]], [index], size)
        first, last = batch["offsets"][index : index + 2]
        assert batch["moves"][first:last] == alone.moves.tolist()
        assert batch["winner"][index] == alone.winner[0]


def test_games_come_back_in_their_order_where_some_are_interpreted():
    agents = [*AGENTS, ClassicAgent("it", Illegal, (), Limit(ms=5000))]
    sides = np.array([[8, 3], [3, 0], [4, 8], [2, 3], [8, 3], [8, 2]])
    marks = np.arange(10, 16)
    marker = np.zeros(3, np.int64)
    openings = random_openings(6, 2)
    batch = columns(play_many(agents, sides, openings, range(6), marks=marks, marker=marker))
    assert marker[0] in marks
    for index, (item, other) in enumerate(sides.tolist()):
        alone = columns(play_games(agents[item], agents[other], [openings[index]], [index]))
        first, last = batch["offsets"][index : index + 2]
        assert {name: batch[name][first:last] for name in ("moves", "score", "nodes")} == {
            name: alone[name] for name in ("moves", "score", "nodes")
        }


@pytest.mark.parametrize("size", [USUAL_SIZE, pytest.param(Size(9, 11), marks=pytest.mark.slow)])
def test_searches_remembered_change_no_game(size):
    memory, without = MoveCache(), columns(played(size=size))
    assert columns(played(memory, size=size)) == without
    assert columns(played(memory, size=size)) == without


def test_what_is_remembered_is_not_searched_again():
    memory = MoveCache()
    searched = played(memory)
    memory.table.view(np.float64).reshape(-1, SLOT)[:, ANSWER + 1] = -123.0
    recalled = played(memory)
    deterministic = np.array([agent.is_deterministic for agent in AGENTS])
    for index, pair in enumerate(SIDES):
        first, last = searched.offsets[index : index + 2]
        by_memory = deterministic[pair[np.arange(2, last - first) % 2]]
        assert ((recalled.score[first + 2 : last] == -123.0) == by_memory).all()
        assert recalled.moves[first:last].tolist() == searched.moves[first:last].tolist()
        assert recalled.time_us[first + 2 : last][by_memory].tolist() == (
            searched.time_us[first + 2 : last][by_memory].tolist()
        )


@pytest.mark.parametrize(
    ("part", "size"),
    [
        (WHO, USUAL_SIZE),
        (LOW, USUAL_SIZE),
        (CELLS, USUAL_SIZE),
        pytest.param(HIGH, Size(9, 11), marks=pytest.mark.slow),
    ],
)
def test_only_the_very_question_is_answered_from_memory(part, size):
    memory = MoveCache()
    searched = columns(played(memory, size=size))
    slots = memory.table.reshape(-1, SLOT)
    slots[:, part] += 1
    slots[:, ANSWER] = 0
    assert columns(played(memory, size=size)) == searched


def test_the_same_code_under_another_limit_is_another_player_and_under_another_name_the_same():
    memory = MoveCache()
    item, other = (search_agent("alphabeta", "improved", nodes=nodes) for nodes in (60, 600))
    again = SearchAgent("again", "alphabeta", item.heuristic, "improved", item.limit)
    agents, sides = (RandomAgent(), item, other, again), np.array([[1, 0], [2, 0], [3, 0]])
    opening = random_openings(1, 2) * 3
    games = play_many(agents, sides, opening, [5] * 3, memory=memory)
    for index, agent in enumerate((item, other, again)):
        alone = play_games(agent, RandomAgent(), opening[:1], [5])
        first, last = games.offsets[index : index + 2]
        assert games.nodes[first:last].tolist() == alone.nodes.tolist()
    length = games.offsets[1]
    assert games.time_us[:length][2::2].tolist() == games.time_us[-length:][2::2].tolist()


def weighing(game, player, *, weight: float = 1.0):
    return len(game.get_legal_moves(player)) - weight * len(game.get_legal_moves(game.get_opponent(player)))


def test_the_same_code_with_other_parameters_is_another_player():
    agents = [
        SearchAgent("it", "alphabeta", bind_parameters(weighing, {"weight": w}), "it", Limit(nodes=90))
        for w in (0.2, 2.0)
    ]
    opening, sides = random_openings(1, 2) * 2, np.array([[0, 0], [1, 1]])
    games = play_many(agents, sides, opening, [0, 0], memory=MoveCache())
    alone = play_many(agents, sides, opening, [0, 0])
    assert columns(games) == columns(alone)
    assert games.score[games.offsets[1] :].tolist() != games.score[: games.offsets[1]].tolist()


def test_a_heuristic_that_fails_fails_again_where_searches_are_remembered():
    agent, memory = SearchAgent("nan", "alphabeta", sometimes_nan, "nan", Limit(depth=2)), MoveCache()
    once, twice = (played(memory, [agent, RandomAgent()], np.array([[0, 1]] * 4)) for _ in range(2))
    assert RETURNED_NAN in once.detail
    assert columns(once) == columns(twice)


def test_an_illegal_opening_is_refused():
    with pytest.raises(ValueError, match="illegal move at ply 3"):
        play(RandomAgent(), RandomAgent(), [24, 14, 0])


def test_a_classic_player_cannot_be_limited_by_nodes():
    with pytest.raises(ValueError, match="needs a limit of ms or cpu_ms"):
        ClassicAgent("it", Illegal, (), Limit(nodes=5))


def test_settings_tell_agents_apart_that_differ_in_anything():
    agents = [*AGENTS, search_agent("alphabeta", "improved", depth=5), search_agent("alphabeta", "improved", nodes=4)]
    assert len({str(agent.settings()) for agent in agents}) == len(agents)


@pytest.mark.parametrize(
    ("agent", "expected"),
    [(RandomAgent(), False), (GreedyAgent(), True), (AGENTS[3], True), (AGENTS[5], False), (AGENTS[-1], False),
     (search_agent("alphabeta", "improved", ms=5), False)],
)  # fmt: skip
def test_only_agents_without_clock_and_chance_are_deterministic(agent, expected):
    assert agent.is_deterministic is expected


@pytest.mark.parametrize("size", ["5x5", "13x14"])  # compiled, and beyond what is compiled
def test_a_move_at_random_has_no_score(size):
    record = play(parse_agent("random"), parse_agent("greedy"), opening=[6, 1], size=size)
    own, others = record.score[2::2], record.score[3::2]
    assert own
    assert all(math.isnan(score) for score in own)
    assert not any(math.isnan(score) for score in others)
