"""The classic game loop, and the sample players."""

import builtins

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_games import games

from knights_isolation.isolation import Board, game_as_text, sample_players
from knights_isolation.isolation.rules.edition import edition_of, is_first_edition
from knights_isolation.isolation.sample_players import (
    AlphaBetaPlayer,
    CustomPlayer,
    GreedyPlayer,
    HumanPlayer,
    MinimaxPlayer,
    RandomPlayer,
    SearchTimeout,
    Timeout,
    center_score,
    improved_score,
    null_score,
    open_move_score,
)

INFINITY = float("inf")


class FirstEdition:
    """Plays given moves; remembers what it was given."""

    def __init__(self, *moves):
        self.moves = list(moves)
        self.seen = []

    def get_move(self, game, legal_moves, time_left):
        self.seen.append((game, list(legal_moves), time_left()))
        return self.moves.pop(0)


class SecondEdition(FirstEdition):
    def get_move(self, game, time_left):
        self.seen.append((game, None, time_left()))
        return self.moves.pop(0)


class Late(SecondEdition):
    def get_move(self, game, time_left):
        while time_left() >= 0:
            pass
        return super().get_move(game, time_left)


# Signatures


@pytest.mark.parametrize(
    ("get_move", "first"),
    [
        (lambda game, legal_moves, time_left: None, True),
        (lambda game, moves, clock: None, True),
        (lambda game, legal_moves=None, time_left=None: None, True),
        (lambda game, time_left: None, False),
        (lambda game, time_left, verbose=False: None, False),
        (lambda game, *remaining: None, False),
        (lambda *args, **kwargs: None, False),
    ],
)
def test_the_edition_of_a_player_shows_in_its_signature(get_move, first):
    class Player:
        pass

    Player.get_move = staticmethod(get_move)
    assert is_first_edition(Player()) is first
    assert edition_of(Player()).name == ("first" if first else "second")


def test_players_of_both_editions_are_called_as_they_expect():
    game = Board("a", "b")
    first, second = FirstEdition((0, 0)), SecondEdition((1, 1))
    assert edition_of(first).ask(first, game, lambda: 7.0) == (0, 0)
    assert edition_of(second).ask(second, game, lambda: 7.0) == (1, 1)
    assert first.seen == [(game, game.get_legal_moves(), 7.0)]
    assert second.seen == [(game, None, 7.0)]


# The game loop; on 3x3, after (0, 0) and (1, 1), player 1 moves to (1, 2) and player 2, in the middle, has no move


def test_a_second_edition_game_ends_normally_with_illegal_move_and_a_flat_history():
    first, second = SecondEdition((0, 0), (1, 2)), SecondEdition((1, 1), (-1, -1))
    assert Board(first, second, 3, 3).play() == (first, [[0, 0], [1, 1], [1, 2]], "illegal move")


def test_a_first_edition_game_has_a_history_of_turns_with_the_losing_move():
    first, second = FirstEdition((0, 0), (1, 2)), FirstEdition((1, 1), None)
    assert Board(first, second, 3, 3).play() == (first, [[(0, 0), (1, 1)], [(1, 2), None]], "illegal move")


def test_a_bad_move_while_moves_remain_is_a_forfeit_in_the_second_edition_only():
    for bad in [(0, 0), (9, 9), None, [1, 1], "x"]:
        first, second = SecondEdition((0, 0)), SecondEdition(bad)
        assert Board(first, second).play() == (first, [[0, 0]], "forfeit")
        first, second = FirstEdition((0, 0)), FirstEdition(bad)
        assert Board(first, second).play() == (first, [[(0, 0), bad]], "illegal move")


def test_a_late_move_loses_by_timeout_even_if_it_is_bad():
    for move in [(1, 1), (0, 0)]:
        first, second = SecondEdition((0, 0)), Late(move)
        assert Board(first, second).play(time_limit=50) == (first, [[0, 0]], "timeout")


def test_the_default_limits_are_those_of_the_editions():
    for player, limit in ((SecondEdition(None), 150), (FirstEdition(None), 200)):
        Board(player, "nobody").play()
        assert limit - 50 < player.seen[0][2] <= limit


def test_players_get_copies_they_may_spoil():
    class Spoiler(SecondEdition):
        def get_move(self, game, time_left):
            move = super().get_move(game, time_left)
            game.apply_move((2, 2))
            game.width = 0
            return move

    first, second = Spoiler((0, 0), (1, 2)), Spoiler((1, 1), (-1, -1))
    board = Board(first, second, 3, 3)
    assert board.play() == (first, [[0, 0], [1, 1], [1, 2]], "illegal move")
    assert board.outcome().winner == 1


def test_play_goes_on_from_an_opening():
    first, second = SecondEdition((1, 2)), SecondEdition((-1, -1))
    board = Board(first, second, 3, 3)
    board.apply_move((0, 0))
    board.apply_move((1, 1))
    assert board.play() == (first, [[1, 2]], "illegal move")


def test_a_turn_that_player_2_begins_has_no_first_move():
    first, second = FirstEdition((-1, -1)), FirstEdition((1, 1))
    board = Board(first, second, 2, 2)
    board.apply_move((0, 0))
    assert board.play() == (second, [[None, (1, 1)], [(-1, -1)]], "illegal move")


def test_an_exception_of_a_player_is_not_hidden():
    with pytest.raises(IndexError):
        Board(SecondEdition(), "b").play()


# Text


def test_a_game_is_told_move_by_move():
    board = Board("a", "b", 3, 3)
    flat = game_as_text("a", [[0, 0], [1, 1], [1, 2]], "illegal move", board)
    turns = game_as_text("a", [[(0, 0), (1, 1)], [(1, 2), (-1, -1)]], "illegal move", board)
    last = board.copy()
    for move in [(0, 0), (1, 1), (1, 2)]:
        last.apply_move(move)
    assert flat.startswith("0. (0, 0)\r\n")
    assert "0. ... (1, 1)\r\n" in flat
    assert f"1. (1, 2)\r\n{last.to_string()}illegal move\r\nWinner: a\r\n" in flat
    assert "1. ... (-1, -1)\r\n" in turns
    assert board == Board("a", "b", 3, 3)
    assert game_as_text("a", []) == "\r\nWinner: a\r\n"
    assert "0. (6, 6)" in game_as_text("a", [[6, 6]])


def test_a_board_is_printed_as_the_classic_engines_did():
    board = Board("a", "b", width=3, height=11)
    for move in [(0, 0), (10, 2), (2, 1)]:
        board.apply_move(move)
    lines = board.to_string().split("\n\r")
    assert lines[0] == "      0   1   2"
    assert lines[1] == "0   | - |   |   | "
    assert lines[3] == "2   |   | 1 |   | "
    assert lines[11] == "10  |   |   | 2 | "
    assert lines[12] == ""
    assert board.print_board() == board.to_string()
    assert "| X |" in board.to_string(symbols=["X", "Y"])


# Sample players


@given(games())
def test_sample_scores_are_terminal_values_first(game):
    for player in game.players:
        own, other = (len(game.get_legal_moves(name)) for name in (player, game.get_opponent(player)))
        ended = game.utility(player)
        expected = [ended] * 3 if ended else [0.0, float(own), float(own - other)]
        scores = [score(game, player) for score in (null_score, open_move_score, improved_score)]
        assert scores == expected
        assert all(type(score) is float for score in scores)


def test_center_score_is_the_squared_distance_from_half_the_sides():
    board = Board.from_moves([0, 24], players=("a", "b"))
    assert center_score(board, "a") == 2 * 3.5**2
    assert center_score(board, "b") == 2 * 0.5**2
    with pytest.raises(TypeError):
        center_score(Board("a", "b"), "a")
    assert center_score(Board.from_moves([0], size="1x1", players=("a", "b")), "b") == -INFINITY


@given(games())
def test_random_players_play_legal_moves_of_either_edition(game):
    for time in ([lambda: 1], [game.get_legal_moves(), lambda: 1]):
        move = RandomPlayer().get_move(game, *time)
        assert move in (game.get_legal_moves() or [(-1, -1)])


def test_a_greedy_player_takes_the_best_and_then_largest_move():
    greedy = GreedyPlayer()
    board = Board.from_moves([24, 0], players=(greedy, "b"))
    best = max((open_move_score(board.forecast_move(move), greedy), move) for move in board.get_legal_moves())
    assert greedy.get_move(board, lambda: 1) == best[1]
    assert GreedyPlayer(lambda game, player: 0.0).get_move(board, lambda: 1) == (5, 4)
    assert greedy.get_move(Board.from_moves([0], size="1x1"), lambda: 1) == (-1, -1)


def test_a_human_picks_a_number_and_is_asked_again(monkeypatch, capsys):
    answers = iter(["", "x", "99", "-1", " 2 "])
    monkeypatch.setattr(builtins, "input", lambda prompt: next(answers))
    board = Board.from_moves([24, 0])
    assert HumanPlayer().get_move(board, lambda: 1) == board.get_legal_moves()[2]
    assert "'99' is not one of the numbers 0 to 7" in capsys.readouterr().out


def test_a_human_whose_input_ends_gives_no_move(monkeypatch):
    def end(prompt):
        raise EOFError

    monkeypatch.setattr(builtins, "input", end)
    assert HumanPlayer().get_move(Board("a", "b"), lambda: 1) == (-1, -1)
    assert HumanPlayer().get_move(Board.from_moves([0], size="1x1"), lambda: 1) == (-1, -1)


def naive_value(game, depth, player, score):
    """Minimax as one reads it in a book."""
    moves = game.get_legal_moves()
    if not moves:
        return game.utility(player)
    if depth == 0:
        return score(game, player)
    choose = max if game.active_player is player else min
    return choose(naive_value(game.forecast_move(move), depth - 1, player, score) for move in moves)


@given(st.randoms(use_true_random=False), st.integers(1, 3), st.sampled_from([(3, 4), (4, 4), (5, 5)]))
def test_minimax_and_alphabeta_of_both_editions_find_the_first_best_move(random, depth, size):
    players = [MinimaxPlayer(depth), AlphaBetaPlayer(depth), CustomPlayer(depth, method="alphabeta")]
    cells = random.sample(range(size[0] * size[1]), 2)
    for player in players:
        board = Board.from_moves(cells, size=f"{size[0]}x{size[1]}", players=(player, "other"))
        if not board.get_legal_moves():
            return
        values = [
            naive_value(board.forecast_move(move), depth - 1, player, improved_score)
            for move in board.get_legal_moves()
        ]
        first_best = board.get_legal_moves()[values.index(max(values))]
        if isinstance(player, MinimaxPlayer):
            assert player.minimax(board, depth) == first_best
            assert player.get_move(board, lambda: 1000) == first_best
        elif isinstance(player, AlphaBetaPlayer):
            assert player.alphabeta(board, depth) == first_best
        else:
            assert player.minimax(board, depth) == player.alphabeta(board, depth) == (max(values), first_best)


def test_iterative_deepening_ends_at_the_end_of_the_game():
    for player in (AlphaBetaPlayer(), CustomPlayer(method="alphabeta")):
        board = Board.from_moves([0, 5], size="3x4", players=(player, "other"))
        winning = [
            m for m in board.get_legal_moves() if naive_value(board.forecast_move(m), 12, player, null_score) > 0
        ]
        assert player.get_move(board, lambda: 1000) in (winning or board.get_legal_moves())


def test_a_search_out_of_time_plays_the_first_legal_move_or_the_last_finished():
    board = Board.from_moves([24, 0], players=("a", "b"))
    for player in (MinimaxPlayer(), AlphaBetaPlayer(), CustomPlayer()):
        assert player.get_move(board, lambda: 0) == (1, 2)
        with pytest.raises(SearchTimeout):
            (getattr(player, "minimax", None) or player.alphabeta)(board, 2)
    assert Timeout is SearchTimeout


def test_a_player_without_a_move_says_so():
    lost = Board.from_moves([0], size="1x1", players=("a", "b"))
    for player in (MinimaxPlayer(), AlphaBetaPlayer(), CustomPlayer(), CustomPlayer(iterative=False)):
        lost.players = ("a", player)
        assert player.get_move(lost, lambda: 1000) == (-1, -1)


def test_every_name_old_code_imports_is_there():
    names = "RandomPlayer GreedyPlayer HumanPlayer null_score open_move_score improved_score center_score"
    assert all(hasattr(sample_players, name) for name in names.split())
