"""Play against an agent in the terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from ..rules.classic_board import Board
from ..rules.drawing import format_value, standing, to_text
from ..rules.game import USUAL_SIZE, Reason, SizeLike
from ..rules.geometry import cell_name, parse_cell
from ..rules.seeds import move_seed
from ..search import SearchResult
from ..search.agents import Agent, ForfeitError, Player, check_board_size, choose_once, move_or_forfeit, opened_player
from ..usercode.output_capture import capture_output
from ..usercode.user_exceptions import detect_ctrl_c
from .match import BY_PLY, GameRecord, rows_of_plies

HUMAN = "Human"
HELP = """Type a cell, like d3 (column and row) or 3,3 (row,column), or the number of a listed move. Or:
  hint          what a search would play
  undo          take your last move back, and the reply to it
  resign        give the game up
  save FILE     write the game so far to a file
  moves         show the board and the moves again
  quit          leave without a result"""

_MOST_LISTED = 8
Command = Literal["move", "hint", "undo", "resign", "save", "moves", "help", "quit"]


@dataclass(frozen=True)
class Answer:
    """A parsed line of input: a command, with the cell of a move or the file to save to."""

    command: Command
    cell: int = -1
    file: str = ""


@dataclass(frozen=True)
class Seat:
    """A human player's side, opponent, adviser for hints, and input and output.

    Attributes:
        ask: shows a prompt and returns a line; raises EOFError at the end of the input.
        say: prints lines.
        save: writes the game so far to a file; raises OSError on failure.
        ascii_only: whether boards are drawn in plain ASCII.
        seed: random seed of the opponent's choices.
    """

    opponent: Agent
    adviser: Agent
    side: Literal[1, 2]
    ask: Callable[[str], str]
    say: Callable[[str], None]
    save: Callable[[str, GameRecord], None]
    ascii_only: bool = False
    seed: int = 0


@dataclass
class _Game:
    board: Board
    seat: Seat
    opponent: Player
    opening: int
    has_begun: bool = False
    has_printed: bool = False
    results: list[SearchResult] = field(default_factory=list)


def read_answer(text: str, board: Board) -> Answer:
    """Parse a line of input at a position.

    >>> read_answer("c1", Board.from_moves([24, 14])).cell, read_answer("2", Board.from_moves([24, 14])).cell
    (9, 11)

    Raises:
        ValueError: neither a command nor a legal move; the message gives the reason.
    """
    words = text.strip().split(maxsplit=1)
    if not words:
        raise ValueError("empty input; a move looks like d3")
    command = words[0].lower()
    if command in get_args(Command) and command != "move":
        if command == "save" and len(words) == 1:
            raise ValueError("save needs a file name, such as save game.json")
        if command != "save" and len(words) == 2:
            raise ValueError(f"{command} takes no arguments, not {words[1]!r}")
        return Answer(command, file=words[1].strip() if command == "save" else "")  # type: ignore[arg-type]
    legal = board.legal_cells()
    if text.strip().isascii() and text.strip().isdecimal():
        number = int(text)
        if len(legal) > _MOST_LISTED:
            raise ValueError("no numbered moves are listed; name a cell, such as d3")
        if not 1 <= number <= len(legal):
            raise ValueError(f"no move {number}: the listed moves are numbered 1 to {len(legal)}")
        return Answer("move", legal[number - 1])
    try:
        cell = parse_cell(text, board.height, board.width)
    except ValueError as error:
        raise ValueError(f"{error}; or type help") from None
    if cell not in legal:
        raise ValueError(why_illegal(board, cell))
    return Answer("move", cell)


def why_illegal(board: Board, cell: int) -> str:
    """Explain why the player to move cannot move to a cell of the board."""
    name, here = cell_name(cell, board.width), board.locations[board.active_index]
    if cell in board.locations:
        return f"{name} is occupied by a knight"
    if not board.blank >> cell & 1 or here is None:
        return f"{name} was already visited"
    options = ", ".join(cell_name(legal, board.width) for legal in board.legal_cells())
    return f"{name} is not a knight's move from {cell_name(here, board.width)}; from there you reach {options}"


def play_human(seat: Seat, size: SizeLike = USUAL_SIZE, moves: Sequence[int] = ()) -> GameRecord | None:
    """Play a game; return None if the human quits or the input ends before the end of the game.

    In the record, the human's plies have no score and no depth. The reason for resigning is `resigned`.

    Raises:
        ValueError: bad size, size not supported by the opponent, or illegal `moves` to begin with.
    """
    board = Board.from_moves(moves, size)
    check_board_size([seat.opponent], (board.height, board.width))
    with opened_player(seat.opponent.open()) as opponent:
        return _play_out(_Game(board, seat, opponent, len(moves)))


def _play_out(game: _Game) -> GameRecord | None:
    board, seat = game.board, game.seat
    piece, order = ("12" if seat.ascii_only else "♘♞")[seat.side - 1], "first" if seat.side == 1 else "second"
    seat.say(f"You play {piece} against {seat.opponent.name} and move {order}. Type help for a list of commands.")
    try:
        while not board.outcome():
            end = _turn_of_person(game) if board.active_index + 1 == seat.side else _turn_of_agent(game)
            if end is not None:
                return end if end.winner else None
    except (EOFError, KeyboardInterrupt):
        seat.say("\nEnd of input: the game is over. Goodbye.")
        return None
    seat.say(to_text(board, seat.ascii_only))
    winner = 2 - board.active_index
    seat.say("You won." if winner == seat.side else f"{seat.opponent.name} won.")
    return _record(game, winner, Reason.NO_MOVES.word)


def _turn_of_person(game: _Game) -> GameRecord | None:
    """Ask until a move is played or the game ends; return the record of an ended game (winner 0 if the human quit)."""
    board, seat = game.board, game.seat
    seat.say(_situation(board, seat))
    started = time.perf_counter()
    while True:
        try:
            answer = read_answer(seat.ask("Your move: "), board)
            match answer.command:
                case "move":
                    seconds = time.perf_counter() - started
                    _play(game, SearchResult(answer.cell, float("nan"), 0, 0, seconds, (answer.cell,), False))
                    return None
                case "undo":
                    _undo(game)
                    return None
                case "resign":
                    seat.say(f"You have resigned; {seat.opponent.name} won.")
                    return _record(game, 3 - seat.side, Reason.RESIGNED.word)
                case "quit":
                    seat.say("The game ends without a result. Goodbye.")
                    return _record(game, 0, "")
                case "save":
                    seat.save(answer.file, _record(game, 0, ""))
                    seat.say(f"Saved to {answer.file}.")
                case "hint":
                    seat.say(_hint(game))
                case "moves":
                    seat.say(_situation(board, seat))
                case "help":
                    seat.say(HELP)
        except ValueError as error:
            seat.say(f"Not possible: {error}.")
        except OSError as error:
            seat.say(f"Not saved: {error.strerror or error}.")


def _turn_of_agent(game: _Game) -> GameRecord | None:
    """Let the agent move; return the record if it fails to move and so loses."""
    board, seat = game.board, game.seat

    def choose() -> SearchResult:
        with capture_output() as printed:
            result = _choose(game)
        if printed.lines and not game.has_printed:
            game.has_printed = True
            seat.say(f"Note: {printed.sentence(seat.opponent.name)}.")
        return result

    with detect_ctrl_c() as is_ctrl_c:
        given = move_or_forfeit(choose, board, is_ctrl_c)
    if isinstance(given, ForfeitError):
        reason = given.reason.word
        how = "resigned" if given.reason is Reason.RESIGNED else f"lost by {reason.replace('_', ' ')}"
        seat.say(f"{seat.opponent.name} has {how} ({given.detail}). You won.")
        return _record(game, seat.side, reason, given.detail)
    seat.say(f"{seat.opponent.name} {'places' if board.move_count < 2 else 'plays'} {_format_result(given, board)}.")
    _play(game, given)
    return None


def _choose(game: _Game) -> SearchResult:
    agent, board = game.seat.opponent, game.board
    seed = move_seed(game.seat.seed, board.move_count)
    placing = agent.placing() if None in board.locations else agent
    if placing is not agent:
        return choose_once(placing, board, seed)
    if not game.has_begun:
        game.opponent.new_game()
        game.has_begun = True
    return game.opponent.choose(board, seed)


def _play(game: _Game, result: SearchResult) -> None:
    game.board.play_cell(result.move)
    game.results.append(result)


def _undo(game: _Game) -> None:
    """Take back plies up to and including the human's last move."""
    own = [ply for ply in range(len(game.results)) if (game.opening + ply) % 2 + 1 == game.seat.side]
    if not own:
        raise ValueError("you have not moved yet")
    for _ in game.results[own[-1] :]:
        game.board.undo()
    del game.results[own[-1] :]


def _hint(game: _Game) -> str:
    adviser, board = game.seat.adviser, game.board
    chooser = adviser.placing() if None in board.locations else adviser
    result = choose_once(chooser, board, move_seed(game.seat.seed, board.move_count))
    return f"Hint: {adviser.name} would play {_format_result(result, board)}."


def _format_result(result: SearchResult, board: Board) -> str:
    name = cell_name(result.move, board.width)
    return f"{name} (score {format_value(result.score)}, {result.depth} plies deep)" if result.depth else name


def _situation(board: Board, seat: Seat) -> str:
    picture = to_text(board, seat.ascii_only).removesuffix(standing(board)).rstrip("\n")
    legal = board.legal_cells()
    if len(legal) > _MOST_LISTED:
        return f"{picture}\nPlace your knight on any of {len(legal)} open cells."
    options = (f"{number}: {cell_name(cell, board.width)}" for number, cell in enumerate(legal, start=1))
    return f"{picture}\nYou can go to  {'   '.join(options)}"


def _record(game: _Game, winner: int, reason: str, detail: str = "") -> GameRecord:
    opening, name = game.board.history[: game.opening], game.seat.opponent.name
    names = (HUMAN, name) if game.seat.side == 1 else (name, HUMAN)
    plies = list(zip(*rows_of_plies(opening, game.results), strict=True)) or [()] * len(BY_PLY)
    return GameRecord(game.board.size, opening, *names, winner, reason, detail, *plies)
