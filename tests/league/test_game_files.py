"""Games that leave and come back: PGN, CSV and JSON of a run, openings and runs from PGN."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from random_games import games
from scripted_pool import Script, ScriptedPool

from cli import main
from knights_isolation.experiments.game_files import exported, import_pgn
from knights_isolation.experiments.plan.config import load_config
from knights_isolation.experiments.plan.openings import file_openings
from knights_isolation.experiments.play.runner import play_tournament
from knights_isolation.experiments.record.log import SCHEMA, read_games
from knights_isolation.experiments.statistics.frames import standings_frame
from knights_isolation.experiments.statistics.run_results import load_findings
from knights_isolation.isolation import Board
from knights_isolation.isolation.games.pgn import read_pgn, write_pgn
from knights_isolation.isolation.rules.game import Size

TAGS = st.dictionaries(
    st.sampled_from(["White", "Black", "Event"]), st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]))
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A small run."""
    path = tmp_path_factory.mktemp("runs") / "one"
    keys = {"board": "5x5", "format": "round-robin", "contenders": ["ID:open@nodes=50", "random", "greedy"]}
    config = load_config(None, {**keys, "pairs": 3, "jobs": 1, "out": str(path)})
    play_tournament(config, pools=lambda jobs: ScriptedPool(Script()))
    return path


@given(games(sizes=st.sampled_from([(3, 4), (7, 7), (9, 11)])), TAGS, st.sampled_from([0, 1, 2]))
def test_a_game_is_read_as_it_was_written(game, tags, winner):
    path = Path("/dev/shm" if Path("/dev/shm").is_dir() else "/tmp") / "isolation-test.pgn"
    comments = tuple(f"+{ply}.00/3" if ply > 1 else "" for ply in range(game.move_count))
    text = write_pgn(tags, Size(game.height, game.width), game.history, comments, winner)
    path.write_text(text + "\n" + text, encoding="utf-8")
    first, second = read_pgn(path)
    path.unlink()
    assert first.cells == second.cells == game.history
    assert (first.size, first.winner, first.comments) == ((game.height, game.width), winner, comments)
    assert {name: first.tags[name] for name in tags} == tags


def read(tmp_path, text):
    path = tmp_path / "games.pgn"
    path.write_text(text)
    return read_pgn(path)


def test_common_forms_are_read(tmp_path):
    text = """% escaped
    [White "a \\"b\\" c\\\\"]
    [FEN "7/7/n6/3N3/7/7/7 w - - 0 1"] ; a comment
    1. Nc6,d4! {good} (1. Ne6 {not this} (1. Nb5)) 1... a5b7?? $4 2.Na7 *
    1. N@d4 N@a5 2. d4c6,c6d4 1-0
    [White "x"] [Black "y"]
    d4 a5
    """
    first, second, three = read(tmp_path, text)
    assert (first.tags["White"], first.cells, first.comments[2]) == ('a "b" c\\', (24, 14, 9, 1, 0), "good")
    assert (second.cells, second.winner, second.opening) == ((24, 14, 9), 1, (24, 14))
    assert (three.cells, three.opening, three.line) == ((24, 14), (24, 14), 6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "games.pgn: no games in this file"),
        ("1. Nz9 *", "games.pgn:1: move 1 of White: square z9 is not on the 7x7 board"),
        ("\n\n1. Nd4 Nd4 *", "games.pgn:3: move 1 of Black: Nd4 is not legal in"),
        ('d4 a5\nc6 b7 *\n[White "x"]\nd4 a5\nc6\nc6 *', "games.pgn:6: move 2 of Black: c6 is not legal in"),
        ("1. Nb3,d4 *", "; without FEN and Variant the game starts on an empty board of 7x7"),
        ('[FEN "7/7/7/3N3/7/7/7 b"]\n1... Nz9 *', "games.pgn:2: move 1 of Black: square z9 is not on the 7x7 board"),
        ("1. Nd4 ) *", "games.pgn:1: unexpected ')'"),
        ('[FEN "8/8"]\n*', "games.pgn:1: not a FEN"),
        ('[FEN "7/7/n6/3N3/7/7/*6 w"]\n*', "has blocked cells without the moves that blocked them"),
        ('[FEN "7/7/n6/3N3/7/7/7 b"]\n*', "has player 2 to move at the start; player 1 moves first"),
        ('[FEN "7/7/n6/*6/7/7/7 b"]\n*', "player 1 (N) places first"),
        ('[Variant "chess"]\n1. e4 e5 1-0', "games.pgn:1: no variant chess"),
        ('[Result "1-0"] 1. d4 a5 0-1', "Result tag 1-0 contradicts the result after the moves, 0-1"),
        ('[Board "7x8"] [FEN "7/7/n6/3N3/7/7/7 w"]\n*', "the game is on 7x8, but its FEN on 7x7"),
        ("game_id,rows,columns\n0,7,7\n", "games.pgn looks like a table, not PGN"),
        ("[White nobody] *", "unexpected '['"),
    ],
)
def test_what_is_no_game_is_refused_by_file_and_line(tmp_path, text, message):
    with pytest.raises(ValueError, match=r".") as error:
        read(tmp_path, text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("tags", "start"),
    [
        ('[Variant "joust"]', (35, 28)),
        ('[Variant "Joust4x5"]', (0, 19)),
        ('[Variant "placing4x5"]', ()),
        ('[Variant "joust"] [Board "4x5"]', ()),
        ('[Variant "of ours"] [FEN "7/7/n6/3N3/7/7/7 w"]', (24, 14)),
    ],
)
def test_without_a_fen_a_game_begins_as_its_variant_does(tmp_path, tags, start):
    (game,) = read(tmp_path, f"{tags} *")
    assert game.cells == start
    assert read(tmp_path, '[Variant "joust"] 1. Nb3,d4 Nf3,e5 *')[0].cells == (35, 28, 41, 45)


@pytest.mark.parametrize(
    ("size", "plies", "variant"), [(Size(7, 7), 2, "joust7x7"), (Size(8, 8), 3, "joust"), (Size(8, 8), 1, "placing8x8")]
)
def test_a_game_is_written_as_of_the_variant_that_engines_are_told(size, plies, variant):
    cells = Board.from_moves([0, size.cells - 1, 10][:plies], size).history
    assert f'[Variant "{variant}"]' in write_pgn({}, size, cells, ("",) * plies, 1)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1", "utf-8"])
def test_files_of_other_programs_are_read_in_their_encodings(tmp_path, encoding):
    (tmp_path / "games.pgn").write_bytes('[White "Zoë"]\r\n\r\n1. d4 a5 {für\r\nsich} *\r\n'.encode(encoding))
    (game,) = read_pgn(tmp_path / "games.pgn")
    assert (game.tags["White"], game.cells, game.comments[1]) == ("Zoë", (24, 14), "für sich")


def test_a_result_may_stand_in_its_tag_alone(tmp_path):
    first, second, three = read(tmp_path, '[Result "0-1"] d4 a5 * [Result "?"] d4 a5 1-0 [Result "1-0"] d4 a5')
    assert [first.winner, second.winner, three.winner] == [2, 1, 1]


@pytest.mark.slow
def test_a_run_goes_out_as_pgn_and_comes_back_with_the_same_results(run, tmp_path):
    (tmp_path / "x.pgn").write_text("".join(exported(run, "pgn")))
    games_imported, _ = import_pgn(tmp_path / "x.pgn", tmp_path / "back")
    before, after = read_games(run), read_games(tmp_path / "back")
    assert games_imported == len(before) == 18
    columns = ("agent_1", "agent_2", "winner", "reason", "opening_id", "orbit", "colours", "plies")
    keys = [list(zip(*(frame[column].astype(str) for column in columns), strict=True)) for frame in (before, after)]
    assert sorted(keys[0]) == sorted(keys[1])
    moves = [sorted(tuple(cells) for cells in frame["moves"]) for frame in (before, after)]
    assert moves[0] == moves[1]
    assert sum(depth.sum() for depth in before["depth"]) == sum(depth.sum() for depth in after["depth"])
    frames = [standings_frame(load_findings([path])).set_index("agent") for path in (run, tmp_path / "back")]
    assert frames[0]["win_rate"].to_dict() == frames[1]["win_rate"].to_dict()
    assert frames[0]["split"].to_dict() == frames[1]["split"].to_dict()


def test_games_from_one_start_are_all_kept_and_what_repeats_another_is_not(tmp_path):
    head = '[White "{}"] [Black "{}"] [Variant "joust"]\n'
    played = [("x", "y", "Nb3"), ("y", "x", "Nf3"), ("x", "y", "Nc2"), ("x", "y", "Nb3"), ("y", "x", "Nb3")]
    (tmp_path / "x.pgn").write_text("\n".join(head.format(*two) + f"1. {move} 1-0\n" for *two, move in played))
    games_imported, notes = import_pgn(tmp_path / "x.pgn", tmp_path / "run")
    assert games_imported == 4
    assert notes[1:] == ("games skipped: 1; duplicates of other games",)
    frame = read_games(tmp_path / "run")
    assert [moves[2] for moves in frame["moves"]] == [41, 45, 50, 41]
    assert frame["pair_id"].tolist() == [0, 0, 1, 1]
    assert frame["agent_1"].tolist() == ["x", "y", "x", "y"]
    import_pgn(tmp_path / "x.pgn", tmp_path / "again")
    pooled = load_findings([tmp_path / "run", tmp_path / "again"])
    assert (len(pooled.games), pooled.repeated) == (4, 4)


@pytest.mark.slow
def test_an_imported_run_is_not_gone_on_with(run, tmp_path):
    (tmp_path / "x.pgn").write_text("".join(exported(run, "pgn")))
    import_pgn(tmp_path / "x.pgn", tmp_path / "back")
    resumed = CliRunner().invoke(main, ["tournament", "--resume", str(tmp_path / "back")])
    assert resumed.exit_code == 2
    assert len(resumed.output.splitlines()) == 1


GAME = '[White "{}"] [Black "{}"] [FEN "7/7/n6/3N3/7/7/7 w"] [Termination "{}"]\n1. Nc6 {{+1.5/7 2.5s}} Nb7 {}\n'


def test_games_that_ended_early_keep_their_reasons_and_others_are_left_out(tmp_path):
    path = tmp_path / "x.pgn"
    games = [
        *(("a", "b", "time forfeit", "1-0"), ("b", "a", "hang", "0-1"), ("a", "b", "adjudication", "0-1")),
        *(("a", "b", "", "*"), ("c", "b", "adjudication", "1/2-1/2"), ("c", "b", "adjudication", "0-1")),
    ]
    path.write_text("\n".join(GAME.format(*game) for game in games))
    _, notes = import_pgn(path, tmp_path / "run")
    assert notes[1:] == (
        "games skipped: 2; no result",
        "games skipped: 1; duplicates of other games",
    )
    frame = read_games(tmp_path / "run")
    assert frame["reason"].tolist() == ["timeout", "hang", "error"]
    assert frame["detail"].tolist() == ["ended before its end: time forfeit", "", "ended before its end: adjudication"]
    assert frame["pair_id"].tolist() == [0, 0, 1]
    assert (frame["score"][0][2], frame["depth"][0][2], frame["time_us"][0][2]) == (1.5, 7, 2_500_000)
    assert np.isnan(frame["score"][0][0])


def test_games_whose_told_result_is_not_that_of_their_last_position_are_counted_in_a_note(tmp_path):
    board = Board.from_moves([], "3x4")
    while (outcome := board.outcome()) is None:
        board.play_cell(next(iter(board.legal_cells())))
    first, second = ({"White": "a", "Black": "b"}, {"White": "b", "Black": "a"})
    games = [(first, outcome.winner), (second, 3 - outcome.winner)]
    output = ("",) * board.move_count
    (tmp_path / "x.pgn").write_text(
        "\n".join(write_pgn(who, Size(3, 4), board.history, output, won) for who, won in games)
    )
    _, notes = import_pgn(tmp_path / "x.pgn", tmp_path / "run")
    text = "games whose result contradicts their last position: 1; the result of the file counts"
    assert notes[1:] == (text,)
    assert read_games(tmp_path / "run")["detail"].tolist() == ["", "the result contradicts its last position"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1. Nd4 *", "none of its games has a result"),
        ("1. Nd4 1-0", "x.pgn:1: a game needs two different players, White and Black"),
        ('[White "a"] [Black "a"] 1-0', "x.pgn:1: a game needs two different players, White and Black"),
        (GAME.format("a", "b", "", "1-0") + '[Board "5x5"] 1. Na1 1-0', "games on several boards (5x5 and 7x7"),
    ],
)
def test_what_makes_no_run_is_refused_and_nothing_is_written(tmp_path, text, message):
    (tmp_path / "x.pgn").write_text(text)
    with pytest.raises(ValueError, match=r".") as error:
        import_pgn(tmp_path / "x.pgn", tmp_path / "run")
    assert message in str(error.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_csv_and_json_have_every_column_of_every_game(run):
    frame = read_games(run)
    rows = list(csv.DictReader(io.StringIO("".join(exported(run, "csv")))))
    assert list(rows[0]) == SCHEMA.names
    assert [int(row["game_id"]) for row in rows] == frame["game_id"].tolist()
    assert [[int(cell) for cell in row["moves"].split()] for row in rows] == [
        cells.tolist() for cells in frame["moves"]
    ]
    lines = [json.loads(line) for line in exported(run, "jsonl")]
    assert list(lines[0]) == SCHEMA.names
    assert [line["moves"] for line in lines] == [cells.tolist() for cells in frame["moves"]]
    scores = [[float("nan") if score is None else float(score) for score in line["score"]] for line in lines]
    assert all(np.array_equal(*pair, equal_nan=True) for pair in zip(scores, frame["score"], strict=True))


def test_openings_come_from_pgn(run, tmp_path):
    path = tmp_path / "openings.pgn"
    path.write_text("".join(exported(run, "pgn")))
    result = file_openings(path, Size(5, 5))
    assert {result[index] for index in range(len(result))} == {tuple(cells) for cells in read_games(run)["opening"]}
    with pytest.raises(ValueError, match=r"openings\.pgn:1: the game is on 5x5, not on 7x7"):
        file_openings(path, Size(7, 7))
    path.write_text("1. d4 a5 2. d4c6 *\n1. d4 a5 *")
    openings = file_openings(path, Size(7, 7))
    assert [openings[index] for index in range(2)] == [(24, 14, 9), (24, 14)]
    assert Board.from_moves(openings[0]).fen


def test_the_commands_write_files_that_are_not_there_yet(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = CliRunner().invoke(main, ["export", str(run), "--to", "pgn", "--out", "x.pgn"])
    assert (first.output, first.exit_code) == ("Wrote x.pgn\n", 0)
    again = CliRunner().invoke(main, ["export", str(run), "--to", "pgn", "--out", "x.pgn"])
    assert "x.pgn already exists" in again.output
    assert CliRunner().invoke(main, ["export", str(run), "--to", "pgn"]).output == Path("x.pgn").read_text()
    assert "18 games in back" in CliRunner().invoke(main, ["import", "x.pgn", "--out", "back"]).output
    assert "already holds a run" in CliRunner().invoke(main, ["import", "x.pgn", "--out", "back"]).output
