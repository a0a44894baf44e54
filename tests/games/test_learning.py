"""Games in arrays: every array equals what boards give, step by step, and what is solved equals the solver."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knights_isolation.isolation import Board, Limit
from knights_isolation.isolation.games.batches import solve_moves
from knights_isolation.isolation.games.learning import VectorGames
from knights_isolation.isolation.rules.game import parse_size
from knights_isolation.isolation.rules.geometry import cells_of
from knights_isolation.isolation.search.solver import SearchBudget, move_results

SIZES = st.sampled_from(["5x5", "6x7", "8x9", "9x11"])


def sets(words):
    return [int(low) | int(high) << 64 for low, high in words]


def random_moves(games, rng):
    mask = games.mask()
    return (rng.random(mask.shape) * mask).argmax(axis=1)


def advanced(count, plies, size="7x7", seed=1):
    rng, games = np.random.default_rng(seed), VectorGames(count, size)
    for _ in range(plies):
        games.step(random_moves(games, rng))
    return games


@settings(max_examples=6, deadline=None)
@given(size=SIZES, count=st.integers(1, 5), seed=st.integers(0, 2**32), with_planes=st.booleans())
def test_every_array_equals_what_boards_give_over_whole_games(size, count, seed, with_planes):
    rng, games = np.random.default_rng(seed), VectorGames(count, size, observations=with_planes)
    rows, columns = parse_size(size)
    boards, ended = [Board.from_moves([], size) for _ in range(count)], 0
    for _ in range(60):
        assert sets(games.blank) == [board.blank for board in boards]
        assert sets(games.moves) == [board.moves_mask(board.active_index) for board in boards]
        assert games.plies.tolist() == [board.move_count for board in boards]
        knights = [[board.locations[i] for i in (board.active_index, 1 - board.active_index)] for board in boards]
        assert games.knights.tolist() == [[-1 if cell is None else cell for cell in pair] for pair in knights]
        assert (games.mask() == [board.mask() for board in boards]).all()
        if with_planes:
            assert (games.observations == [board.observation() for board in boards]).all()
        cells = random_moves(games, rng)
        done = games.step(cells)
        boards = [board.successor(int(cell)) for board, cell in zip(boards, cells, strict=True)]
        assert done.tolist() == [board.outcome() is not None for board in boards]
        ended += int(done.sum())
        boards = [Board.from_moves([], size) if over else board for board, over in zip(boards, done, strict=True)]
    assert ended or rows * columns > 60


def test_an_illegal_move_is_refused_and_changes_no_game():
    games = advanced(3, 4)
    before = games.observations.copy(), games.plies.copy(), games.blank.copy()
    cells = random_moves(games, np.random.default_rng(2))
    cells[1] = games.knights[1, 0]
    with pytest.raises(ValueError, match=f"illegal move in game 1: cell {cells[1]}; legal are "):
        games.step(cells)
    for cell in (-1, 49):
        with pytest.raises(ValueError, match="illegal move in game 0"):
            games.step([cell, *cells[1:]])
    after = games.observations, games.plies, games.blank
    assert all((old == new).all() for old, new in zip(before, after, strict=True))


@pytest.mark.parametrize(
    ("cells", "error"),
    [([1, 2], ValueError), ([1], ValueError), (1, ValueError), ([0.5, 1.5, 2.5], TypeError), ([True] * 3, TypeError)],
)
def test_what_is_not_one_integer_a_game_is_refused(cells, error):
    with pytest.raises(error):
        VectorGames(3).step(cells)


def test_no_games_and_boards_too_large_are_refused():
    for count in (0, -1, 2.5, True, "3"):
        with pytest.raises(ValueError, match=f"a whole number of games is needed, at least one, not {count!r}"):
            VectorGames(count)
    with pytest.raises(ValueError, match="128 cells"):
        VectorGames(1, "12x12")


def test_states_are_the_positions_of_the_games_chosen():
    games = advanced(4, 7)
    states = games.states([2, 3])
    assert [states.board(i).observation().tolist() for i in range(2)] == games.observations[2:].tolist()
    games.reset()
    with pytest.raises(ValueError, match="must be placed"):
        games.states()


@pytest.mark.parametrize(("size", "plies"), [("7x7", 14), ("9x11", 54)])
def test_many_positions_are_solved_as_each_by_itself(size, plies):
    games = advanced(30, plies, size)
    states = games.states(games.plies == plies)
    solved = solve_moves(states)
    boards = [states.board(i) for i in range(len(states))]
    winning = [{move.cell for move in move_results(board, SearchBudget()) if move.keeps} for board in boards]
    assert [set(cells_of(mask)) for mask in sets(solved.winning)] == winning
    assert solved.values.tolist() == [1.0 if cells else -1.0 for cells in winning]
    assert {1.0, -1.0} <= set(solved.values.tolist())
    played = np.array([board.legal_cells()[0] for board in boards])
    thrown = [bool(cells) and cell not in cells for cell, cells in zip(played.tolist(), winning, strict=True)]
    assert solved.regrets(played).tolist() == [float(is_thrown) for is_thrown in thrown]


def test_what_a_limit_leaves_undecided_is_unknown_and_what_it_decides_is_right():
    games = advanced(60, 12)
    states = games.states(games.plies == 12)
    known, limited = solve_moves(states), solve_moves(states, Limit(nodes=2000))
    decided = ~np.isnan(limited.values)
    assert 0 < decided.sum() < len(states)
    assert (limited.values[decided] == known.values[decided]).all()
    assert not (limited.winning & ~known.winning).any()
    assert not (known.winning & ~(limited.winning | limited.undecided)).any()
    played = np.array([states.board(i).legal_cells()[-1] for i in range(len(states))])
    regrets, exact = limited.regrets(played), known.regrets(played)
    assert np.isnan(regrets).any()
    assert (regrets == exact)[~np.isnan(regrets)].all()
    with pytest.raises(ValueError, match="to the end of the game"):
        solve_moves(states, Limit(depth=3))
