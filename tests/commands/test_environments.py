"""Environments: the frameworks' own tests, and what players are told equals what the solver says."""

import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from pettingzoo.test import api_test, max_cycles_test, seed_test  # noqa: E402
from pettingzoo.utils import aec_to_parallel  # noqa: E402

from knights_isolation.environments import isolation_v0  # noqa: E402
from knights_isolation.environments.single_agent import IsolationEnv  # noqa: E402
from knights_isolation.isolation import Board, Limit  # noqa: E402
from knights_isolation.isolation.games.learning import PerfectPlay  # noqa: E402
from knights_isolation.isolation.rules.drawing import to_text  # noqa: E402
from knights_isolation.isolation.search.solver import SearchBudget, move_results  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
FAST = "nodes=1000"
ROOT = Path(__file__).parents[2]


def random_game(board, seed):
    """The cells of a random game from a position."""
    rng, cells = np.random.default_rng(seed), []
    while legal := board.legal_cells():
        cells.append(int(rng.choice(legal)))
        board = board.successor(cells[-1])
    return cells


def winning(board):
    return tuple(sorted(move.cell for move in move_results(board, SearchBudget()) if move.keeps))


@pytest.mark.parametrize("size", ["5x5", pytest.param("9x11", marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("placements", ["played", "random"])
def test_pettingzoo_passes_its_own_tests(size, placements, capsys):
    make = partial(isolation_v0.env, size, placements=placements, exact=FAST)
    api_test(make(), num_cycles=60)
    seed_test(make, num_cycles=40)


def test_games_are_truncated_after_max_cycles():
    def together(max_cycles):
        raw = isolation_v0.raw_env("9x11", illegal="replace", max_cycles=max_cycles, exact=None)
        raw.metadata["is_parallelizable"] = True
        return aec_to_parallel(raw)

    max_cycles_test(
        SimpleNamespace(env=partial(isolation_v0.env, "9x11", illegal="replace", exact=None), parallel_env=together)
    )


@pytest.mark.parametrize("opponent", ["random", pytest.param("ID:improved@depth=3", marks=pytest.mark.exhaustive)])
def test_gymnasium_passes_its_checker(opponent):
    env = gymnasium.make(
        "knights_isolation.environments:Isolation-v0", opponent=opponent, size="5x5", exact=FAST, render_mode="ansi"
    )
    check_env(env.unwrapped)


def test_gymnasium_runs_several_at_once_though_some_infos_are_unknown():
    several = gymnasium.make_vec(
        "knights_isolation.environments:Isolation-v0",
        num_envs=4,
        vectorization_mode="sync",
        size="7x7",
        exact="nodes=1000",
    )
    observations, infos = several.reset(seed=1)
    unknown: set[bool] = set()
    assert "ansi" in several.metadata["render_modes"]
    for _ in range(12):
        observations, *_, infos = several.step(observations["action_mask"].argmax(axis=1))
        unknown |= set(np.isnan(infos["value"].astype(float)).tolist())
    assert unknown == {False, True}


def test_players_are_told_what_the_solver_says_and_the_winner_is_rewarded():
    env = isolation_v0.env("5x5", exact="nodes=100000000")
    env.reset()
    board = Board.from_moves([], "5x5")
    for cell in random_game(board, 3):
        keeps = winning(board)
        mover, other = board.active_index, 1 - board.active_index
        told = [env.infos[player] for player in isolation_v0.PLAYERS]
        assert told[mover]["winning_moves"] == told[other]["winning_moves"] == keeps
        assert (told[mover]["value"], told[other]["value"]) == ((1, -1) if keeps else (-1, 1))
        observed = env.observe(isolation_v0.PLAYERS[mover])
        assert (observed["observation"] == board.observation()).all()
        assert (observed["action_mask"] == board.mask()).all()
        assert not env.observe(isolation_v0.PLAYERS[other])["action_mask"].any()
        env.step(cell)
        assert env.infos[isolation_v0.PLAYERS[mover]]["regret"] == float(bool(keeps) and cell not in keeps)
        board = board.successor(cell)
    winner = isolation_v0.PLAYERS[1 - board.active_index]
    assert env.rewards == {player: 1.0 if player == winner else -1.0 for player in isolation_v0.PLAYERS}
    assert env.terminations == dict.fromkeys(isolation_v0.PLAYERS, True)


@pytest.mark.parametrize("seed", range(2))
def test_what_a_limit_leaves_known_is_right(seed):
    board = Board.from_moves([24, 9])
    limited = PerfectPlay(board, Limit(nodes=20_000))
    for cell in random_game(board, seed):
        keeps = winning(board) if board.move_count > 9 else None
        board = board.successor(cell)
        limited.follow(cell, board)
        if keeps is not None and limited.regret is not None:
            assert limited.regret == float(bool(keeps) and cell not in keeps)
        if board.move_count > 9:
            known = winning(board)
            assert limited.now.value in (None, 1 if known else -1)
            assert limited.now.winning_moves in (None, known)
            assert set(limited.now.winning) <= set(known)
    assert limited.regret is not None


@pytest.mark.parametrize("size", ["4x5", "7x7"])
def test_placements_are_known_from_the_table(size):
    board = Board.from_moves([], size)
    perfect = PerfectPlay(board, Limit(nodes=1))
    for cell in (7, 0):
        keeps = winning(board)
        assert perfect.now.winning_moves == keeps
        assert perfect.now.value == (1 if keeps else -1)
        board = board.successor(cell)
        perfect.follow(cell, board)
        assert perfect.regret == float(bool(keeps) and cell not in keeps)
    assert perfect.now.value == (1 if winning(board) else -1)


def test_an_illegal_action_loses_in_both_environments():
    env = isolation_v0.env("5x5", exact=None)
    env.reset()
    env.step(0)
    env.step(0)
    assert env.rewards == {"player_1": 1.0, "player_2": -1.0}
    assert env.infos == {"player_1": {}, "player_2": {"illegal": True}}
    single = gymnasium.make("knights_isolation.environments:Isolation-v0", size="5x5", exact=None)
    observation, _ = single.reset(seed=1)
    _, reward, terminated, _, info = single.step(int(np.flatnonzero(observation["action_mask"] == 0)[0]))
    assert (reward, terminated, info["illegal"]) == (-1.0, True, True)


def test_the_player_of_a_replaced_action_is_told_so_at_its_next_turn():
    env = isolation_v0.env("5x5", illegal="replace", exact=None)
    env.reset(seed=1)
    told = []
    for action in (0, 0, -1, 99):
        env.step(action)
        told.append(sorted(player for player in env.infos if env.infos[player].get("illegal")))
    assert told == [[], ["player_2"], ["player_1", "player_2"], ["player_1", "player_2"]]
    env.reset(seed=1)
    assert env.infos == {"player_1": {}, "player_2": {}}


NUMBERS = [-1, 0, 2.5, True, "3", float("nan")]
OF_BOTH = {
    "size": ["2x2", "1x9", "0x7", "7", "", 7, None, (7, 7)],
    "exact": ["", "depth=3", "nodes=0", "1000", 1000, False, "nodes=1.5"],
    "render_mode": ["human", "", 1, ["ansi"]],
}
WRONG = [
    *((make, argument, value) for argument, values in OF_BOTH.items() for value in values for make in ("both", "one")),
    *(("both", "placements", value) for value in ("Random", "", None, True)),
    *(("both", "illegal", value) for value in ("Lose", "", None, ["lose"])),
    *(("both", "max_cycles", value) for value in NUMBERS),
    *(("one", "opponent", value) for value in ("nobody", "", "ID:improved@nodes=0", 3, None)),
]


@pytest.mark.parametrize(("which", "argument", "value"), WRONG, ids=str)
def test_an_environment_refuses_a_wrong_argument_when_it_is_made(which, argument, value):
    usual = {"placements": "random", "size": "5x5"} if which == "both" else {"size": "5x5"}
    make = isolation_v0.env if which == "both" else IsolationEnv
    with pytest.raises(ValueError, match=r".+"):
        make(**{**usual, argument: value})


NOT_CELLS = [3.9, 3.0, "3", None, True, (1, 2), [], np.array([1, 2]), np.float64(1)]


@pytest.mark.parametrize("action", NOT_CELLS, ids=repr)
def test_an_action_that_is_no_whole_number_is_refused_and_changes_nothing(action):
    both, one = isolation_v0.env("5x5", exact=None), IsolationEnv(size="5x5", exact=None)
    both.reset(seed=1)
    one.reset(seed=1)
    before = both.terminations, both.observe("player_1")["observation"].tolist()
    for env in (both, one):
        with pytest.raises(ValueError, match="an action must be the number of a cell"):
            env.step(action)
    assert (both.terminations, both.observe("player_1")["observation"].tolist()) == before
    both.step(np.array([3]))
    assert both.terminations == {"player_1": False, "player_2": False}


@pytest.mark.parametrize("size", ["2x3", "3x3", "3x4"])
def test_a_game_is_never_over_at_reset(size):
    both, one = isolation_v0.env(size, placements="random", exact=None), IsolationEnv(size=size, exact=None)
    for seed in range(40):
        both.reset(seed=seed)
        observation, _ = one.reset(seed=seed)
        assert both.observe("player_1")["action_mask"].any()
        assert observation["action_mask"].any()


@settings(max_examples=30, deadline=None)
@given(
    size=st.sampled_from(["2x3", "3x3", "4x5"]),
    seed=st.integers(0, 99),
    actions=st.lists(st.integers(-2, 21), max_size=20),
)
def test_whatever_is_played_against_an_opponent_ends_once_and_only_reset_begins_anew(size, seed, actions):
    env = IsolationEnv(size=size, exact=None)
    with pytest.raises(RuntimeError, match="call reset"):
        env.step(0)
    observation, _ = env.reset(seed=seed)
    is_over = False
    for action in actions:
        is_legal = 0 <= action < observation["action_mask"].size and bool(observation["action_mask"][action])
        if is_over:
            with pytest.raises(RuntimeError, match="call reset"):
                env.step(action)
            continue
        observation, reward, is_over, _, info = env.step(action)
        assert is_over == (reward != 0.0)
        assert info.get("illegal", False) == (not is_legal)
        assert is_legal or reward == -1.0
    env.reset(seed=seed)
    env.close()
    with pytest.raises(RuntimeError, match="call reset"):
        env.step(0)


@settings(max_examples=30, deadline=None)
@given(
    size=st.sampled_from(["1x1", "2x2", "3x3", "4x5"]),
    illegal=st.sampled_from(["lose", "replace"]),
    max_cycles=st.sampled_from([None, 1, 3]),
    seed=st.integers(0, 99),
    actions=st.lists(st.integers(-2, 21), max_size=20),
)
def test_every_state_of_a_game_of_two_has_an_answer(size, illegal, max_cycles, seed, actions):
    env = isolation_v0.raw_env(size, illegal=illegal, max_cycles=max_cycles, exact=None)
    with pytest.raises(RuntimeError, match="call reset"):
        env.step(0)
    env.reset(seed=seed)
    for action in actions:
        if not env.agents:
            with pytest.raises(RuntimeError, match="call reset"):
                env.step(action)
            break
        mover = env.agent_selection
        if env.terminations[mover] or env.truncations[mover]:
            with pytest.raises(ValueError, match="None"):
                env.step(action)
            env.step(None)
            continue
        legal = np.flatnonzero(env.observe(mover)["action_mask"])
        env.step(action)
        assert env.infos[mover].get("illegal", False) == (action not in legal)
        assert any(env.terminations.values()) == (set(env.rewards.values()) == {1.0, -1.0})
        if illegal == "lose" and action not in legal:
            assert env.rewards[mover] == -1.0
    with pytest.raises(ValueError, match="agent must be one of 'player_1', 'player_2', not 'player_3'"):
        env.observe("player_3")


def test_pictures_show_the_position():
    board = Board.from_moves([0, 7], "5x5")
    pictures = {}
    for mode in ("ansi", "rgb_array", None):
        env = isolation_v0.env("5x5", render_mode=mode, exact=None)
        env.reset()
        env.step(0)
        env.step(7)
        pictures[mode] = env.render()
    assert pictures["ansi"] == to_text(board)
    assert pictures["rgb_array"].dtype == np.uint8
    assert pictures["rgb_array"].shape[2] == 3
    assert pictures[None] is None
    with pytest.raises(ValueError, match="render_mode must be one of 'ansi', 'rgb_array', None, not 'human'"):
        isolation_v0.env(render_mode="human")


def test_an_opponent_that_fails_loses_and_the_info_says_why():
    def failing(game, player):
        raise ZeroDivisionError("nothing to divide by")

    env = gymnasium.make("knights_isolation.environments:Isolation-v0", opponent=failing, size="5x5", exact=None)
    with pytest.raises(RuntimeError, match=r"failed at its first move: .*nothing to divide by"):
        [env.reset(seed=seed) for seed in range(20)]
    seed = next(seed for seed in range(20) if is_first(env, seed))
    observation, _ = env.reset(seed=seed)
    _, reward, terminated, _, info = env.step(int(np.argmax(observation["action_mask"])))
    assert (reward, terminated) == (1.0, True)
    assert "nothing to divide by" in info["forfeit"]


def is_first(env, seed):
    """Whether the learner moves first after a reset with this seed."""
    try:
        env.reset(seed=seed)
    except RuntimeError:
        return False
    return True


@pytest.mark.parametrize("size", [(5, 5), (7, 7), (9, 11)])
def test_openspiel_passes_its_own_tests(size, capfd):
    pyspiel = pytest.importorskip("pyspiel")
    import knights_isolation.environments.openspiel  # noqa: F401

    game = pyspiel.load_game(f"knights_isolation(rows={size[0]},columns={size[1]})")
    assert game.num_distinct_actions() == size[0] * size[1]
    pyspiel.random_sim_test(game, num_sims=3, serialize=False, verbose=False)
    state = game.new_initial_state()
    cells = random_game(state.board, 1)
    for cell in cells:
        assert state.legal_actions() == list(state.board.legal_cells())
        assert state.observation_tensor() == state.board.observation().ravel().tolist()
        state.apply_action(cell)
    assert state.is_terminal()
    assert state.returns()[len(cells) % 2] == -1.0


def test_openspiel_can_be_removed():
    importing = re.compile(r"^\s*(from|import)\s.*openspiel", re.MULTILINE)
    rooms = ("isolation", "heuristics", "experiments", "reports", "knights_isolation")
    files = [path for room in rooms for path in (ROOT / room).rglob("*.py")]
    assert len(files) > 200
    found = [path.name for path in files if importing.search(path.read_text(encoding="utf-8"))]
    assert found == ["openspiel.py"]  # in its docstring
