"""Environments: the frameworks' own tests, and what players are told equals what the solver says."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from pettingzoo.test import api_test, max_cycles_test, seed_test  # noqa: E402
from pettingzoo.utils import aec_to_parallel  # noqa: E402

from isolation import Board, Limit  # noqa: E402
from isolation.boards.render import to_text  # noqa: E402
from isolation.exact.solver import SearchBudget, move_results  # noqa: E402
from knights_isolation.environments import isolation_v0  # noqa: E402
from knights_isolation.environments.perfect_play import PerfectPlay  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
FAST = "nodes=1000"


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
    single = gymnasium.make("knights_isolation.environments:Isolation-v0", size="5x5", exact=None)
    observation, _ = single.reset(seed=1)
    _, reward, terminated, _, info = single.step(int(np.flatnonzero(observation["action_mask"] == 0)[0]))
    assert (reward, terminated, info["illegal"]) == (-1.0, True, True)


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
    with pytest.raises(ValueError, match="render_mode must be one of ansi, rgb_array, not 'human'"):
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
