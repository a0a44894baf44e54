"""Games and positions that the analysis board takes in and gives out."""

import base64
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from played_games import random_record, write_run

from knights_isolation.experiments.game_files import exported, load_game, save_game
from knights_isolation.isolation import Board
from knights_isolation.reports.board.game_exchange import export_line, import_games
from knights_isolation.reports.board.resources import ExportQuestion, ImportQuestion, Position, Resources, board_of

EMPTY = {"visited": [], "knights": [None, None], "turn": 1}
SET_UP = Position(size="5x6", visited=[3], knights=(1, 2), turn=2, moves=[13])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "played"
    write_run(path)
    return path


def read(text, size="7x7"):
    return import_games(ImportQuestion(text=text, size=size), Resources())["games"]


def line_of(given):
    """The last position of what was read, through the checks of every question."""
    setup = {**given["setup"], "knights": tuple(given["setup"]["knights"])}
    return board_of(Position(**setup, moves=given["moves"]))


def export(kind, position, resources=Resources(), **options):  # noqa: B008 - a frozen value
    return export_line(ExportQuestion(kind=kind, position=position, **options), resources)


# In


@pytest.mark.parametrize(
    "text",
    [
        "d3,a2,c1", " d3 a2\nc1 ", "24,14,9", "1. d3 2. a2 3. c1", "1.d3 a2 2.c1", "[24, 14, 9]", '["d3", "a2", "c1"]',
        "N@d4 N@a5 Nc6,d4", "N@d4 N@a5 d4c6", "1. N@d4 N@a5 2. d4c6,c6d4 *", '{"moves": [24, 14, 9]}',
        '[Variant "joust"]\n[FEN "7/7/n6/3N3/7/7/7 w - - 0 1"]\n\n1. Nc6,d4 *', '[{"ply": 1, "move": "d3"}, '
        '{"ply": 2, "move": "a2"}, {"ply": 3, "move": "c1"}]', "moves,rows,columns\n24 14 9,7,7\n",
        "% N@c3 of the club\nN@d4 N@a5 Nc6,d4", "% mine\n1. d3 a2\n% then\n2. c1",
    ],
)  # fmt: skip
def test_moves_are_taken_in_every_way_they_are_written(text):
    (given,) = read(text)
    assert given["setup"] == {"size": "7x7", **EMPTY}
    assert given["moves"] == [24, 14, 9]


def test_bare_moves_are_of_the_board_shown():
    assert read("a0,f4", "5x6")[0]["moves"] == [0, 29]
    assert read("N@a5 N@f1", "5x6")[0]["moves"] == [0, 29]


def test_a_fen_is_a_position_and_one_whose_moves_are_known_is_these_moves():
    (given,) = read("7/2N4/n6/3*3/7/7/7 b - - 1 1")
    assert given["setup"] == {"size": "7x7", "visited": [9, 14, 24], "knights": [9, 14], "turn": 2}
    assert line_of(given) == Board.from_fen("7/2N4/n6/3*3/7/7/7 b")
    assert read("7/7/n6/3N3/7/7/7 w")[0]["moves"] == [24, 14]


@pytest.mark.parametrize("kind", ["pgn", "csv", "jsonl"])
def test_every_game_of_an_exported_run_is_read_back(run, kind):
    games = read("".join(exported(run, kind)))
    assert len(games) == 12
    for seed in (0, 5, 11):
        record = random_record(seed, **({"reason": "timeout", "detail": "late at ply 6"} if seed == 5 else {}))
        given = games[seed]
        assert given["setup"]["size"] == "5x5"
        assert tuple(given["moves"]) == record.moves
        message = given["game"]
        assert (message["winner"], message["opening"], message["depth"]) == (record.winner, 2, list(record.depth))
        assert message["score"][:2] == [None, None]
        assert message["score"][2] == pytest.approx(record.score[2])
    assert "late at ply 6" in games[5]["game"]["end"]


def test_a_row_without_its_head_and_a_saved_game_are_read(run, tmp_path):
    row = "".join(exported(run, "csv")).splitlines()[1]
    assert tuple(read(row)[0]["moves"]) == random_record(0).moves
    save_game(tmp_path / "game.json", random_record(4))
    (given,) = read((tmp_path / "game.json").read_text())
    assert (tuple(given["moves"]), given["game"]["winner"]) == (random_record(4).moves, random_record(4).winner)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "empty text: expected moves like d3,a2"),
        ("% only a remark", "empty text: expected moves like d3,a2"),
        ("hello", "cannot read 'hello': expected "),
        ("x9", "x9 is not on the 7x7 board"),
        ("d3," * 5000, "too many moves (5,000): boards here have at most 128"),
        ('{"moves": [true, false]}', "moves: true and false are not numbers"),
        ('{"moves": [], "winner": true}', "winner: true and false are not numbers"),
        ('{"rows": 1000000000, "moves": []}', "size: "),
        ('{"moves": []}\n' * 5001, "more than 5,000 games: paste fewer"),
        ("d3,d3", "illegal move 2 (d3): cell 24 is already visited"),
        ("[1, 2", "invalid JSON:"),
        ("[" * 100_000, "the JSON does not contain a game"),
        ('{"a": 1}', "moves: Field required"),
        ('{"moves": [24, 24]}', "illegal move 2 (d3)"),
        ('{"moves": [24], "depth": [1, 2]}', "depth: 2 values for 1 moves"),
        ('{"moves": "d3"}', "moves.0: "),
        ('{"size": "40x40", "moves": []}', "at most 128"),
        ('{"size": "7x7", "knights": [1, 1]}', "both knights stand on b0"),
        ('{"size": "7x7", "turn": 3}', "turn: "),
        ('{"size": "7x7", "turn": 1, "path": "/etc/passwd"}', "path: "),
        ('{"moves": [], "settings_1": "3"}', "an agent's settings are an object of JSON"),
        ('{"moves": [], "settings_1": "{"}', "Expecting property name"),
        ("40/40/40/40 w", "at most 128"),
        ("7/7/7/3NN2/7/7/7 w", "each player must have one knight"),
        ("% of the club\nN@d4 N@d4", "the text:2: move 1 of Black: "),
        ('[White "x"]\n1. Nc9', "the text:2: move 1 of White: square c9 is not on the 7x7 board"),
        ('{"moves": []', "invalid JSON:"),
        ("a,moves\n", "cannot read"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(text, complaint):
    with pytest.raises(ValueError, match=r"^[^\n]+$") as error:
        read(text)
    assert complaint in str(error.value)


KEYS = ["moves", "size", "rows", "visited", "knights", "turn", "move", "score", "depth", "winner", "settings_1"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda part: st.lists(part, max_size=4) | st.dictionaries(st.sampled_from(KEYS), part, max_size=5),
    max_leaves=12,
)


@pytest.mark.exhaustive
@given(VALUES.map(json.dumps) | st.text('[]{}",:0123456789abgN@*/ wb-.\n', max_size=60) | st.text(max_size=40))
def test_any_text_is_read_or_refused_in_one_line(text):
    refused = ""
    try:
        read(text)
    except ValueError as error:
        refused = str(error)
    assert "\n" not in refused


# Out


@pytest.mark.parametrize("kind", ["moves", "json", "pgn"])
def test_what_is_given_out_is_taken_in_again(kind):
    position = Position(size="5x6", moves=[0, 29, 8, 21])
    (given,) = read(export(kind, position, names=("me", 'a "friend"'))["text"], "5x6")
    assert line_of(given).history == (0, 29, 8, 21)
    if kind != "moves":
        assert given["game"]["agents"] == ["me", 'a "friend"']


@pytest.mark.parametrize("kind", ["fen", "json"])
def test_a_position_that_was_set_up_is_given_out_and_taken_in_again(kind):
    (given,) = read(export(kind, SET_UP)["text"])
    assert line_of(given) == board_of(SET_UP)


@pytest.mark.parametrize("kind", ["moves", "csv", "pgn", "gif", "html"])
def test_a_game_whose_beginning_is_not_known_is_refused_by_forms_that_tell_it(kind):
    with pytest.raises(ValueError, match=r"this game starts from a set-up position: export it as FEN, JSON or PNG"):
        export(kind, SET_UP)


@pytest.mark.parametrize(
    ("knights", "turn", "known"),
    [((24, 14), 1, True), ((24, 14), 2, False), ((24, None), 2, True), ((24, None), 1, False), ((None, 14), 2, False)],
)
def test_knights_that_were_only_placed_are_the_first_moves(knights, turn, known):
    position = Position(size="7x7", knights=knights, turn=turn)
    if known:
        assert export("moves", position)["text"] == ("d3,a2" if None not in knights else "d3")
        return
    with pytest.raises(ValueError, match="a set-up position"):
        export("moves", position)


def test_a_saved_game_is_what_the_command_line_shows(tmp_path):
    position = Position(size="2x3", moves=[0, 5])
    (tmp_path / "game.json").write_text(export("json", position, names=("a", "b"))["text"])
    game = load_game(tmp_path / "game.json")
    assert (game.moves, game.agent_1, game.winner, game.reason) == ((0, 5), "a", 2, "no_moves")


def test_a_row_of_a_log_is_of_a_finished_game():
    (given,) = read(export("csv", Position(size="2x3", moves=[0, 5]))["text"])
    assert given["game"]["winner"] == 2
    with pytest.raises(ValueError, match="a log row needs a finished game"):
        export("csv", Position(size="2x3", moves=[0]))


def test_a_game_of_the_run_is_given_out_with_its_scores_and_a_line_beside_it_without(run):
    record = random_record(1)
    position = Position(size="5x5", moves=list(record.moves))
    resources = Resources((run,))
    data = json.loads(export("json", position, resources, run="played", game="1")["text"])
    assert (data["agent_1"], data["depth"]) == ("Random", list(record.depth))
    assert "played, game 1" in export("html", position, resources, run="played", game="1")["text"]
    assert '[GameId "1"]' in export("pgn", position, resources, run="played", game="1")["text"]
    shorter = Position(size="5x5", moves=list(record.moves[:4]))
    assert json.loads(export("json", shorter, resources, run="played", game="1")["text"])["agent_1"] == "Player 1"


def test_pictures_are_of_the_position_and_of_the_whole_line():
    position = Position(size="7x7", moves=[24, 14, 9])
    picture = export("png", position)
    with Image.open(io.BytesIO(base64.b64decode(picture["base64"]))) as image:
        assert (picture["type"], image.format) == ("image/png", "PNG")
    with Image.open(io.BytesIO(base64.b64decode(export("gif", position)["base64"]))) as image:
        assert (image.format, image.n_frames) == ("GIF", 4)
